"""Frequency-sensitive competitive learning: centres that win about equally many rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from suffice._core.vector import Array
from suffice._runtime.messages import COUNT, SettingRule, check, is_number, one_of
from suffice._runtime.progress import progress
from suffice._runtime.transaction import all_or_nothing
from suffice.encoders.numbers import check_finite_for
from suffice.features.kernels import compete, nearest
from suffice.persistence import Savable

DECAYS = ("exponential", "linear")
SHARE = SettingRule(lambda v: is_number(v) and 0 < v <= 1, "a number above 0 and at most 1")


def learning_rate(k: Any, N: int, initial: float = 0.3, decay: str = "exponential") -> Array:
    """How far the winner of visit k of N goes towards its row; from `initial` at the first visit to 0 at the last.

        exponential:  initial (e^(-tau k) - e^(-tau N)) / (e^(-tau) - e^(-tau N)),   tau = 2 / N
        linear:       by straight lines through initial, initial/2, initial/6 and 0 at 0, N/8, N/2 and N

    Parameters
    ----------
    k : int or array of int, from 1 to N
        Which visit.
    N : int
        Visits in all: rows x epochs.
    initial : float, default=0.3
        The first rate.
    decay : {"exponential", "linear"}, default="exponential"
        The course.

    Returns
    -------
    rate : array of the shape of `k`

    Examples
    --------
    >>> learning_rate([1, 500, 1000], 1000).round(3)
    array([0.3  , 0.081, 0.   ])
    """
    k, N = np.asarray(k, dtype=float), max(N, 2)  # a visit that is first and last goes at the first rate
    if decay == "linear":
        return np.asarray(np.interp(k, [0, N / 8, N / 2, N], [initial, initial / 2, initial / 6, 0]))
    if decay == "exponential":
        last = np.exp(-2.0)
        return np.asarray(initial * (np.exp(-2 * k / N) - last) / (np.exp(-2 / N) - last))
    raise ValueError(f"learning_rate: decay must be one of {DECAYS}, got {decay!r}")


def distinct_rows(X: Array, count: int, rng: np.random.RandomState, called: str) -> Array:
    """So many rows, no two of them equal, drawn at random: (count, d)."""
    found: dict[bytes, int] = {}
    for i in rng.permutation(len(X)):
        found.setdefault((X[i] + 0.0).tobytes(), i)  # -0.0 is 0.0
        if len(found) == count:
            return np.asarray(X[list(found.values())])
    raise ValueError(
        f"{called}={count} centres start at different rows, but n_samples={len(X)} rows hold {len(found)} different "
        f"ones: ask for at most {len(found)}"
    )


class FSCL(Savable, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """Centres found by competition with a handicap: who has often won must be nearer to win again.

        winner = argmin_j wins_j ||x - c_j||,    c_winner <- c_winner + rate_k (x - c_winner),    wins_winner <- + 1

    Centres start at different rows with wins_j = 1; every epoch visits all n rows in a new order. The handicap keeps
    all centres in play and puts more of them where rows are dense: wins are even, and the sum of squared distances is
    above that of k-means, the more so the longer the tails. A row belongs to the nearest centre, without handicap.

    Parameters
    ----------
    n_clusters : int, default=8
        How many centres, m.
    epochs : int, default=100
        How often every row is visited.
    decay : {"exponential", "linear"}, default="exponential"
        How the rate falls to zero; see `learning_rate`.
    rate : float, default=0.3
        The first rate, at most 1.
    random_state : int, RandomState or None, default=None
        Draws the first centres and the order of the rows; an int makes the result repeatable.
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

    cluster_centers_: Array
    labels_: Array
    counts_: Array
    inertia_: float
    n_iter_: int

    def __init__(
        self,
        n_clusters: int = 8,
        epochs: int = 100,
        decay: str = "exponential",
        rate: float = 0.3,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.epochs = epochs
        self.decay = decay
        self.rate = rate
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - as scikit-learn calls it
        """Place the centres; `y` is not looked at.

        Parameters
        ----------
        X : array or data frame of shape (n, d)
            Features.
        """
        check(self, n_clusters=COUNT, epochs=COUNT, decay=one_of(*DECAYS), rate=SHARE)
        with all_or_nothing(self):
            X = self._read(X, reset=True)
            centers, wins = self._compete(X)
            labels, squared = nearest(X, centers)
            self.cluster_centers_, self.counts_ = centers, wins.astype(np.int64) - 1
            self.labels_, self.inertia_, self.n_iter_ = labels, float(squared.sum()), self.epochs
            return self

    def _compete(self, X: Array) -> tuple[Array, Array]:
        """The centres (m, d) after all epochs, and their frequencies (m,)."""
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
        return nearest(self._read(X), self.cluster_centers_)[0]

    def transform(self, X: Any) -> Array:
        """The distance of each row to each centre: (n, m)."""
        check_is_fitted(self)
        return np.asarray(cdist(self._read(X), self.cluster_centers_))

    def _read(self, X: Any, reset: bool = False) -> Array:
        X = validate_data(self, X, reset=reset, dtype=np.float64, order="C", ensure_all_finite=False)
        return check_finite_for(self, X)

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)
