"""Centres of rows, and the columns of a radial basis function network that they make."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Self

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, clone
from sklearn.cluster import KMeans
from sklearn.utils import check_array, check_random_state, gen_batches
from sklearn.utils.validation import check_is_fitted, validate_data

from suffice._core.vector import Array
from suffice._runtime.lazy import compiled
from suffice._runtime.messages import COUNT, POSITIVE, SettingRule, all_or_nothing, check, is_number, one_of
from suffice._runtime.progress import progress
from suffice.encoders.base import check_finite_for
from suffice.persistence import Savable

ROWS_TRANSFORMED = 4096  # rows of RBF columns at a time, which stay in the cache between the steps
DECAYS = ("exponential", "linear")
SHARE = SettingRule(lambda v: is_number(v) and 0 < v <= 1, "a number above 0 and at most 1")


def learning_rate(k: Any, N: int, initial: float = 0.3, decay: str = "exponential") -> Array:
    """The share of the way to its row that the winner of visit k of N moves: from `initial` at first to 0 at last.

        exponential:  initial (e^(-tau k) - e^(-tau N)) / (e^(-tau) - e^(-tau N)),   tau = 2 / N
        linear:       by straight lines through initial, initial/2, initial/6 and 0 at 0, N/8, N/2 and N

    for one or several visits k from 1 to N, rows x epochs in all.

    >>> learning_rate([1, 500, 1000], 1000).round(3)
    array([0.3  , 0.081, 0.   ])
    """
    k, N = np.asarray(k, dtype=float), max(N, 2)  # a single visit has the first rate
    if decay == "linear":
        return np.asarray(np.interp(k, [0, N / 8, N / 2, N], [initial, initial / 2, initial / 6, 0]))
    if decay == "exponential":
        last = np.exp(-2.0)
        return np.asarray(initial * (np.exp(-2 * k / N) - last) / (np.exp(-2 / N) - last))
    raise ValueError(f"learning_rate: decay must be one of {DECAYS}, got {decay!r}")


def distinct_rows(X: Array, count: int, rng: np.random.RandomState, called: str) -> Array:
    """Draw `count` distinct rows at random: (count, d)."""
    found: dict[bytes, int] = {}
    for i in rng.permutation(len(X)):
        found.setdefault((X[i] + 0.0).tobytes(), i)  # -0.0 is 0.0
        if len(found) == count:
            return np.asarray(X[list(found.values())])
    raise ValueError(
        f"{called}={count} centres start at different rows, but n_samples={len(X)} rows hold {len(found)} different "
        f"ones: ask for at most {len(found)}"
    )


@dataclass(eq=False, repr=False)
class FSCL(Savable, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """Frequency-sensitive competitive learning: a centre that has often won must be nearer to win again.

        winner = argmin_j wins_j ||x - c_j||,    c_winner <- c_winner + rate_k (x - c_winner),    wins_winner <- + 1

    Centres start at distinct rows with wins_j = 1; every epoch visits all n rows in a new order. The handicap keeps all
    centres in use and puts more of them where rows are dense: they win about equally often, and the sum of squared
    distances is above that of k-means, the more so the longer the tails. A row belongs to the nearest centre.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of centres, m.
    epochs : int, default=100
        The number of visits to every row.
    decay : {"exponential", "linear"}, default="exponential"
        How the rate falls to zero; see `learning_rate`.
    rate : float, default=0.3
        The first rate, at most 1.
    random_state : int, RandomState or None, default=None
        Seed of the first centres and the order of the rows; an int makes the result repeatable.
    verbose : int, default=0
        Show progress if above 0.

    Attributes
    ----------
    cluster_centers_ : array of shape (m, d)
    labels_ : array of shape (n,)
        The nearest centre of each row.
    counts_ : array of shape (m,)
        Visits that each centre won; n x epochs in all.
    inertia_ : float
        Sum of the squared distances of the rows to their nearest centres.
    n_iter_ : int
        Epochs.

    Examples
    --------
    >>> X = [[0.0], [0.1], [5.0], [5.1], [9.0], [9.1]]
    >>> fscl = FSCL(3, random_state=0).fit(X)
    >>> np.sort(fscl.cluster_centers_.ravel()).round()
    array([0., 5., 9.])
    >>> fscl.counts_
    array([200, 200, 200])

    References
    ----------
    Ahalt, Krishnamurthy, Chen, Melton: Competitive learning algorithms for vector quantization. Neural Networks 3
    (1990), doi:10.1016/0893-6080(90)90071-R. The rates are those of Martinez-Garcia: doctoral thesis, Cartagena, 2019,
    appendix C, with the time constant in both exponentials and visits counted over all epochs.
    """

    n_clusters: int = 8
    epochs: int = 100
    decay: str = "exponential"
    rate: float = 0.3
    random_state: Any = None
    verbose: int = 0

    cluster_centers_: Annotated[Array, "m d"] = field(init=False)
    labels_: Annotated[Array, "int n"] = field(init=False)
    counts_: Annotated[Array, "int m"] = field(init=False)
    inertia_: float = field(init=False)
    n_iter_: int = field(init=False)

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - as scikit-learn calls it
        """Place the centres; `y` is ignored.

        Parameters
        ----------
        X : array or data frame of shape (n, d)
            Features.
        """
        check(self, n_clusters=COUNT, epochs=COUNT, decay=one_of(*DECAYS), rate=SHARE)
        with all_or_nothing(self):
            X = _read(self, X, reset=True)
            centers, wins = self._compete(X)
            labels, squared = nearest(X, centers)
            self.cluster_centers_, self.counts_ = centers, wins.astype(np.int64) - 1
            self.labels_, self.inertia_, self.n_iter_ = labels, float(squared.sum()), self.epochs
            return self

    def _compete(self, X: Array) -> tuple[Array, Array]:
        """The centres (m, d) after all epochs, and their wins (m,)."""
        rng, n = check_random_state(self.random_state), len(X)
        centers = distinct_rows(X, self.n_clusters, rng, "FSCL: n_clusters").T.copy()
        wins = np.ones(self.n_clusters)
        with progress("FSCL", self.epochs, bool(self.verbose)) as show:
            for epoch in range(self.epochs):
                visits = epoch * n + np.arange(1, n + 1)
                rates = learning_rate(visits, n * self.epochs, self.rate, self.decay)
                compete(X, rng.permutation(n), rates, centers, wins)
                show("")
        return centers.T.copy(), wins

    def predict(self, X: Any) -> Array:
        """The index of the nearest centre of each row: (n,)."""
        check_is_fitted(self)
        return nearest(_read(self, X), self.cluster_centers_)[0]

    def transform(self, X: Any) -> Array:
        """The distance of each row to each centre: (n, m)."""
        check_is_fitted(self)
        return np.asarray(cdist(_read(self, X), self.cluster_centers_))

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)


@compiled
def compete(X: Array, order: Array, rates: Array, centers: Array, wins: Array) -> None:
    """Each row in turn pulls the centre of least wins x distance; `centers` (d, m) and `wins` (m,) change in place."""
    d, m = centers.shape  # features first, so that the loop over centres compiles to vector instructions
    distance = np.empty(m)
    for t in range(len(order)):
        i = order[t]
        distance[:] = 0.0
        for j in range(d):
            x = X[i, j]
            for c in range(m):
                gap = x - centers[j, c]
                distance[c] += gap * gap
        winner, least = 0, np.inf
        for c in range(m):
            handicapped = wins[c] * wins[c] * distance[c]
            if handicapped < least:
                winner, least = c, handicapped
        for j in range(d):
            centers[j, winner] += rates[t] * (X[i, j] - centers[j, winner])
        wins[winner] += 1.0


@compiled
def nearest(X: Array, centers: Array) -> tuple[Array, Array]:
    """The nearest centre (m, d) of each row, the first of several, and the squared distance: (n,), (n,)."""
    n, d = X.shape
    m = len(centers)
    label, distance = np.zeros(n, np.int32), np.full(n, np.inf)
    for i in range(n):
        for c in range(m):
            total = 0.0
            for j in range(d):
                gap = X[i, j] - centers[c, j]
                total += gap * gap
            if total < distance[i]:
                label[i], distance[i] = c, total
    return label, distance


CLUSTERERS = {"fscl": FSCL, "kmeans": KMeans}


@dataclass(eq=False, repr=False)
class RBF(Savable, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Gaussian radial basis columns: the nearness of a row to each of m centres, between 0 and 1.

        h_j(x) = exp(-||x - c_j||^2 / (2 sigma_j^2)),    sigma_j = width x spread_j

    The spread of a learned centre is the mean distance of the rows nearest to it, and at least a quarter of the
    distance to the next centre. The spread of a given centre is half that distance: with given centres the columns of a
    row depend on that row alone, so that the statistics of a classifier after them still add up. Features should be of
    similar scale. The columns are neither scaled nor centred; the classifiers here need neither.

    Parameters
    ----------
    n_centers : int, default=10
        The number of centres that "fscl" or "kmeans" learn.
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

    n_centers: int = 10
    centers: Any = "fscl"
    width: float = 4.0
    sigma: Any = None
    random_state: Any = None

    centers_: Annotated[Array, "m d"] = field(init=False)
    sigma_: Annotated[Array, "m"] = field(init=False)

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - as scikit-learn calls it
        """Place the centres and measure their widths; `y` is ignored.

        Parameters
        ----------
        X : array or data frame of shape (n, d)
            Features.
        """
        check(self, n_centers=COUNT, width=POSITIVE)
        with all_or_nothing(self):
            X = _read(self, X, reset=True)
            clusterer = self._clusterer(X)
            centers = self._given_centers(X.shape[1]) if clusterer is None else _cluster_centers(clusterer, X)
            if self.sigma is None:
                sigma = self.width * (_half_gaps(centers) if clusterer is None else _spread(X, centers))
            else:
                m, sigma = len(centers), np.asarray(self.sigma, dtype=np.float64)
                if sigma.shape not in ((), (m,)) or not np.all((sigma > 0) & np.isfinite(sigma)):
                    raise ValueError(
                        f"RBF: sigma must be None or positive, one number or {m} of them, got {self.sigma!r}"
                    )
                sigma = np.full(m, sigma)
            self.centers_, self.sigma_ = centers, sigma
            return self

    def transform(self, X: Any) -> Array:
        """The columns of each row: (n, m)."""
        check_is_fitted(self)
        X = _read(self, X)
        out = np.empty((len(X), len(self.centers_)))
        for rows in gen_batches(len(X), ROWS_TRANSFORMED):
            columns = cdist(X[rows], self.centers_, "sqeuclidean", out=out[rows])
            columns *= -0.5 / self.sigma_**2
            np.exp(columns, out=columns)
        return out

    def _clusterer(self, X: Array) -> Any:
        """The clusterer that finds the centres, or None if they are given."""
        if isinstance(self.centers, str) and self.centers in CLUSTERERS:
            distinct_rows(X, self.n_centers, check_random_state(0), "RBF: n_centers")
            return CLUSTERERS[self.centers](self.n_centers, random_state=self.random_state)
        if hasattr(self.centers, "fit_predict") and not isinstance(self.centers, type):
            return clone(self.centers)
        if isinstance(self.centers, str | type) or self.centers is None:
            allowed = f"one of {tuple(CLUSTERERS)}, an array of shape (m, d) or a clusterer"
            raise ValueError(f"RBF: centers must be {allowed}, got {self.centers!r}")
        return None

    def _given_centers(self, d: int) -> Array:
        centers = check_array(self.centers, dtype=np.float64, order="C", copy=True, input_name="centers")
        if centers.shape[1] != d:
            raise ValueError(f"RBF: centers have {centers.shape[1]} features, but X has {d}")
        return np.asarray(centers)

    @property
    def _n_features_out(self) -> int:
        return len(self.centers_)


def _read(estimator: Any, X: Any, reset: bool = False) -> Array:
    """Rows (n, d) of finite numbers, with the checks of scikit-learn."""
    X = validate_data(estimator, X, reset=reset, dtype=np.float64, order="C", ensure_all_finite=False)
    return check_finite_for(estimator, X)


def _cluster_centers(clusterer: Any, X: Array) -> Array:
    """The centres that a clusterer finds: (m, d)."""
    found = getattr(clusterer.fit(X), "cluster_centers_", None)
    if found is None:
        raise ValueError(f"RBF: centers is a clusterer without cluster_centers_, got {clusterer!r}")
    return np.array(found, dtype=np.float64, order="C")


def _gaps(centers: Array) -> Array:
    """The distance of each centre to the nearest other one, infinite for a single centre: (m,)."""
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
    """The mean distance to each centre of the rows nearest to it, at least a quarter of the gap: (m,).

    Rows that fill the space up to the neighbours are at least that far away on average (on a line, and further in more
    dimensions); if they are nearer, the centre is on an outlier or on repeated rows.
    """
    label, squared = nearest(X, centers)
    m, gaps = len(centers), _gaps(centers)
    rows = np.maximum(np.bincount(label, minlength=m), 1)
    spread = np.bincount(label, np.sqrt(squared), minlength=m) / rows
    spread = np.maximum(spread, np.where(np.isfinite(gaps), gaps / 4, 0.0))
    return np.where(spread > 0, spread, 1.0)  # if all rows are one point, any width will do
