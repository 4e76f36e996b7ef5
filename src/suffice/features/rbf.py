"""The hidden layer of a radial basis function network, as a transformer."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.cluster import KMeans
from sklearn.utils import check_array, check_random_state, gen_batches
from sklearn.utils.validation import check_is_fitted, validate_data

from suffice._core.vector import Array
from suffice._runtime.messages import COUNT, POSITIVE, check
from suffice._runtime.transaction import all_or_nothing
from suffice.encoders.numbers import check_finite_for
from suffice.features.fscl import FSCL, distinct_rows
from suffice.features.kernels import nearest
from suffice.persistence import Savable

BLOCK = 4096  # rows that are transformed at a time: their columns stay in the cache between the steps
CLUSTERERS = {"fscl": FSCL, "kmeans": KMeans}


class RBF(Savable, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Gaussian radial basis columns: how near a row is to each of m centres, between 0 and 1.

        h_j(x) = exp(-||x - c_j||^2 / (2 sigma_j^2)),    sigma_j = width x spread_j

    The spread of a learned centre is the mean distance to it of the rows that are nearest to it, and at least a quarter
    of its distance to the next centre. That of a given centre is half its distance to the next one: with given centres
    the columns of a row depend on nothing but that row, so the statistics of a classifier after them still add up.
    Features should be of like scale. Columns are neither scaled nor centred: the classifiers here do not mind.

    Parameters
    ----------
    n_centers : int, default=10
        How many centres "fscl" or "kmeans" learn.
    centers : {"fscl", "kmeans"}, array of shape (m, d) or clusterer, default="fscl"
        How centres are learned, the centres themselves, or a clusterer that finds `cluster_centers_`.
    width : float, default=4.0
        Standard deviation of a column in units of the spread.
    sigma : None, float or array of shape (m,), default=None
        Standard deviations, in place of those by `width`. Together with `centers` it repeats a fitted layer elsewhere.
    random_state : int, RandomState or None, default=None
        Passed to "fscl" or "kmeans"; an int makes the result repeatable.

    Attributes
    ----------
    centers_ : array of shape (m, d)
    sigma_ : array of shape (m,)

    Examples
    --------
    >>> RBF(centers=[[0.0], [2.0]], width=1.0).fit_transform([[0.0], [1.0]]).round(2)
    array([[1.  , 0.14],
           [0.61, 0.61]])

    References
    ----------
    Martinez-Garcia: doctoral thesis, Cartagena, 2019, (3.5) and 4.3; the factor 1 / (sigma_j sqrt(2 pi)) of its (3.6)
    is a unit of the column, which the discriminants do not see.
    """

    centers_: Array
    sigma_: Array

    def __init__(
        self,
        n_centers: int = 10,
        centers: Any = "fscl",
        width: float = 4.0,
        sigma: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_centers = n_centers
        self.centers = centers
        self.width = width
        self.sigma = sigma
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - as scikit-learn calls it
        """Place the centres and measure their widths; `y` is not looked at.

        Parameters
        ----------
        X : array or data frame of shape (n, d)
            Features.
        """
        check(self, n_centers=COUNT, width=POSITIVE)
        with all_or_nothing(self):
            X = self._read(X, reset=True)
            clusterer = self._clusterer(X)
            centers = self._given(X.shape[1]) if clusterer is None else _learned(clusterer, X)
            if self.sigma is not None:
                sigma = self._given_sigma(len(centers))
            else:
                sigma = self.width * (_half_gaps(centers) if clusterer is None else _spread(X, centers))
            self.centers_, self.sigma_ = centers, sigma
            return self

    def transform(self, X: Any) -> Array:
        """The columns of each row: (n, m)."""
        check_is_fitted(self)
        X = self._read(X)
        out = np.empty((len(X), len(self.centers_)))
        for rows in gen_batches(len(X), BLOCK):
            columns = cdist(X[rows], self.centers_, "sqeuclidean", out=out[rows])
            columns *= -0.5 / self.sigma_**2
            np.exp(columns, out=columns)
        return out

    def _clusterer(self, X: Array) -> Any:
        """What is to find the centres, or None if they are given."""
        if isinstance(self.centers, str) and self.centers in CLUSTERERS:
            distinct_rows(X, self.n_centers, check_random_state(0), "RBF: n_centers")
            return CLUSTERERS[self.centers](self.n_centers, random_state=self.random_state)
        if hasattr(self.centers, "fit_predict") and not isinstance(self.centers, type):
            return clone(self.centers)
        if isinstance(self.centers, str | type) or self.centers is None:
            allowed = f"one of {tuple(CLUSTERERS)}, an array of shape (m, d) or a clusterer"
            raise ValueError(f"RBF: centers must be {allowed}, got {self.centers!r}")
        return None

    def _given(self, d: int) -> Array:
        centers = check_array(self.centers, dtype=np.float64, order="C", copy=True, input_name="centers")
        if centers.shape[1] != d:
            raise ValueError(f"RBF: centers have {centers.shape[1]} features, but X has {d}")
        return np.asarray(centers)

    def _given_sigma(self, m: int) -> Array:
        sigma = np.asarray(self.sigma, dtype=np.float64)
        if sigma.shape not in ((), (m,)) or not np.all((sigma > 0) & np.isfinite(sigma)):
            raise ValueError(f"RBF: sigma must be None or positive, one number or {m} of them, got {self.sigma!r}")
        return np.full(m, sigma)

    def _read(self, X: Any, reset: bool = False) -> Array:
        X = validate_data(self, X, reset=reset, dtype=np.float64, order="C", ensure_all_finite=False)
        return check_finite_for(self, X)

    @property
    def _n_features_out(self) -> int:
        return len(self.centers_)


def _learned(clusterer: Any, X: Array) -> Array:
    """The centres that a clusterer finds: (m, d)."""
    found = getattr(clusterer.fit(X), "cluster_centers_", None)
    if found is None:
        raise ValueError(f"RBF: centers is a clusterer without cluster_centers_, got {clusterer!r}")
    return np.array(found, dtype=np.float64, order="C")


def _gaps(centers: Array) -> Array:
    """The distance of each centre to the next one, infinite if it is the only one: (m,)."""
    distance = cdist(centers, centers)
    np.fill_diagonal(distance, np.inf)
    return np.asarray(distance.min(axis=1))


def _half_gaps(centers: Array) -> Array:
    """The spread of given centres: (m,)."""
    gaps = _gaps(centers)
    if not np.all((gaps > 0) & np.isfinite(gaps)):
        raise ValueError("RBF: a centre that is alone, or equal to another, has no distance to the next: give sigma")
    return gaps / 2


def _spread(X: Array, centers: Array) -> Array:
    """The mean distance to each centre of the rows nearest to it, but never a spike: (m,).

    Rows that fill the space up to the neighbours are at least a quarter of the gap away on average (on a line, and
    further in more dimensions); less than that is a centre on an outlier or on repeated rows.
    """
    label, squared = nearest(X, centers)
    m, gaps = len(centers), _gaps(centers)
    rows = np.maximum(np.bincount(label, minlength=m), 1)
    spread = np.bincount(label, np.sqrt(squared), minlength=m) / rows
    spread = np.maximum(spread, np.where(np.isfinite(gaps), gaps / 4, 0.0))
    return np.where(spread > 0, spread, 1.0)  # all rows are one point: any width will do
