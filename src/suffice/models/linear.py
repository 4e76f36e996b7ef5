"""Linear scores, which Gaussians with one covariance have too, and logistic regression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Self

import numpy as np

from suffice._core.features import Domain, Encoded, Features
from suffice._core.labels import OneHot
from suffice._core.vector import Array
from suffice._runtime.lazy import compiled, in_any_order
from suffice._runtime.messages import Notice
from suffice.data.queries import DatabaseRows
from suffice.models.base import Attempt, Curved, Joint, Model, SqlSummable
from suffice.models.gaussian.base import Normal
from suffice.models.gaussian.diagonal import TiedDiagonalGaussian, less
from suffice.models.gaussian.moments import Moments, gram, ratio
from suffice.models.natural import Slopes
from suffice.models.statistics import Statistics
from suffice.models.terms import HasNomogram, Needed, Nomogram, keys_of

# Entries of the rows that are squared at a time, which stay in the cache.
CACHED_ENTRIES = 1 << 17
# Up to this number of classes a compiled loop over rows is faster than a product of matrices.
MAX_LOOP_CLASSES = 8
# Rows whose centre is at most this many spreads from zero need not be shifted before a product.
MAX_SHIFT = 2.0**10


ROWS_OF_PART = 4096  # rows of a partial sum, which keep rounding from growing with the number of rows


@in_any_order
def linear_scores(X: Array, origin: Array, coef: Array, intercept: Array, first: int) -> Array:
    """coef_c'(x_i - origin) + intercept_c: (n, k); the first `first` classes have a score of zero."""
    n, d = X.shape
    k = coef.shape[0]
    out = np.empty((n, k))
    for i in range(n):
        for c in range(first):
            out[i, c] = 0.0
        for c in range(first, k):
            total = 0.0
            for j in range(d):
                total += less(X[i, j], origin[j]) * coef[c, j]
            out[i, c] = total + intercept[c]
    return out


@in_any_order
def contrast_sums(X: Array, origin: Array, W: Array) -> Array:
    """sum_i W[i, c], then sum_i W[i, c] (x_i - origin): (k, d + 1), for weights that add up to zero in every row."""
    n, d = X.shape
    k = W.shape[1]
    sums, part = np.zeros((k, d + 1)), np.zeros((k, d + 1))
    for begin in range(0, n, ROWS_OF_PART):
        part[:] = 0.0
        for i in range(begin, min(n, begin + ROWS_OF_PART)):
            for c in range(1, k):
                w = W[i, c]
                part[c, 0] += w
                for j in range(d):
                    part[c, j + 1] += w * less(X[i, j], origin[j])
        sums += part
    for c in range(1, k):
        sums[0] -= sums[c]
    return sums


@compiled
def standardised(X: Array, origin: Array, scale: Array, times: Array) -> Array:
    """The row (1, (x_i - origin) scale) times a number for each row (n,): (n, d + 1)."""
    n, d = X.shape
    out = np.empty((n, d + 1))
    for i in range(n):
        out[i, 0] = times[i]
        for j in range(d):
            out[i, j + 1] = (X[i, j] - origin[j]) * scale[j] * times[i]
    return out


@dataclass(frozen=True, eq=False)
class Design:
    """D (n, d + 1): a one, then (x - centre) scale, of rows x (n, d) with centre and scale (d,).

    >>> D = Design(np.array([[1.0], [4.0]]), np.array([2.0]), np.array([0.5]))
    >>> D.matrix()
    array([[ 1. , -0.5],
           [ 1. ,  1. ]])
    >>> D.scores(np.array([[0.0, 0.0], [1.0, 2.0]]))
    array([[0., 0.],
           [0., 3.]])
    """

    values: Array  # (n, d)
    centre: Array  # (d,)
    scale: Array  # (d,)

    def __len__(self) -> int:
        return len(self.values)

    def matrix(self) -> Array:
        """Return D (n, d + 1)."""
        return np.asarray(standardised(self.values, self.centre, self.scale, np.ones(len(self))))

    def scores(self, slopes: Array) -> Array:
        """Return the scores (n, k) of slopes (k, d + 1), less that of the first class, which changes no probability."""
        slopes = slopes - slopes[0]
        coef = np.ascontiguousarray(slopes[:, 1:] * self.scale)
        if len(slopes) <= MAX_LOOP_CLASSES:
            return np.asarray(linear_scores(self.values, self.centre, coef, slopes[:, 0].copy(), 1))
        values, centre = self._near()
        # This takes half the time of its transpose.
        across = coef @ values.T
        across += (slopes[:, 0] - coef @ centre)[:, None]
        return np.asarray(across.T)

    def sums(self, W: Array) -> Array:
        """Return W'D (k, d + 1) for weights W (n, k) that add up to zero in every row."""
        if W.shape[1] <= MAX_LOOP_CLASSES:
            sums = contrast_sums(self.values, self.centre, W)
        else:
            values, centre = self._near()
            mass = W.sum(axis=0)
            sums = np.column_stack([mass, W.T @ values - np.outer(mass, centre)])
        return np.asarray(sums * np.append(1.0, self.scale))

    def gram(self, weight: Array) -> Array:
        """Return D' diag(weight) D (d + 1, d + 1) for weights (n,) >= 0, in batches that stay in the cache."""
        width = len(self.centre) + 1
        root, some, total = np.sqrt(weight), max(256, CACHED_ENTRIES // width), np.zeros((width, width))
        for rows in (slice(i, i + some) for i in range(0, len(self), some)):
            total += gram(standardised(self.values[rows], self.centre, self.scale, root[rows]))
        return total

    def _near(self) -> tuple[Array, Array]:
        """Rows about an origin that costs a product few digits, and the centre about that origin."""
        near = (abs(self.centre * self.scale) <= MAX_SHIFT).all()
        if near and self.values.dtype == np.float64:
            return self.values, self.centre
        return self.values - self.centre, np.zeros_like(self.centre)


@dataclass(frozen=True, eq=False)
class Linear:
    """Parameters of log p(y | x) = coef_y'(x - o) + intercept_y + const: coef (k, d), intercept (k,), o (d,).

    `source` are the Gaussian parameters with these scores, if there are any.
    """

    domain: Domain
    origin: Annotated[Array, "d"]
    coef: Annotated[Array, "k d"]
    intercept: Annotated[Array, "k"]
    source: Normal | None = None

    @classmethod
    def of(cls, theta: Any) -> Linear:
        """Return the scores of Gaussians with one covariance: coef = cov^-1 m, intercept = log p - m' cov^-1 m / 2."""
        # About the origin of the likeliest class, which is near most rows, so that differences keep their digits.
        origin = theta.origin[np.argmax(theta.class_log_prob)]
        mean = theta.mean + (theta.origin - origin)
        coef = theta.solve(mean)
        return cls(theta.domain, origin, coef, theta.class_log_prob - 0.5 * (mean * coef).sum(axis=1), theta)

    def log_odds(self) -> tuple[Array, Array]:
        """Return coefficients and intercepts of x itself, which do not depend on the origin.

        They are those of the second class against the first (1, ...) if there are two, else of each class against the
        mean of all (k, ...).
        """
        at_zero = self.intercept - self.coef @ self.origin
        if len(at_zero) == 2:
            return self.coef[1:] - self.coef[:1], at_zero[1:] - at_zero[:1]
        return self.coef - self.coef.mean(axis=0), at_zero - at_zero[np.isfinite(at_zero)].mean()

    def nomogram(self, keys: Sequence[Any], centre: Array) -> Nomogram:
        """Return the scores as slopes of columns about a centre (d,)."""
        return Nomogram(self.scores(centre[None])[0], (Needed(tuple(keys), centre, self.coef, 0.0 * self.coef),))

    def scores(self, X: Array) -> Array:
        """Scores (n, k) of rows (n, d)."""
        if len(self.coef) <= MAX_LOOP_CLASSES:
            coef = np.ascontiguousarray(self.coef)
            return np.asarray(linear_scores(X, self.origin, coef, self.intercept, 0))
        return np.asarray((X - self.origin) @ self.coef.T + self.intercept)


# A class without probability starts this far below all others, so that its slopes are numbers.
IMPOSSIBLE_GAP = 30.0


@dataclass(frozen=True, eq=False)
class Softmax(
    Model[Moments, Linear],
    Joint[Moments, Linear],
    Curved[Moments, Linear, Slopes],
    HasNomogram[Linear],
    SqlSummable[Moments],
):
    """p(y | x) = softmax_y(coef_y'x + intercept_y), in closed form from tied moments (rc1 VI-A).

        coef_yj = mean_yj / var_j,     intercept_y = log p(y) - 1/2 sum_j mean_yj^2 / var_j

    This equals tied naive Bayes exactly.
    """

    gaussian: TiedDiagonalGaussian = field(default_factory=TiedDiagonalGaussian)

    def sums(self, X: Encoded, W: OneHot | Array, domain: Domain) -> Moments:
        return self.gaussian.sums(X, W, domain)

    @property
    def statistics_key(self) -> object | None:
        return self.gaussian.statistics_key

    def sql_statistics(self, rows: DatabaseRows, features: Features | None) -> tuple[Features, Moments]:
        return self.gaussian.sql_statistics(rows, features)

    def with_origin_of(self, s: Statistics[Moments]) -> Self:
        return replace(self, gaussian=self.gaussian.with_origin_of(s))

    def resolve(self, s: Statistics[Moments]) -> Self:
        return replace(self, domain=s.domain, gaussian=self.gaussian.resolve(s))

    @property
    def display_name(self) -> str:
        return "LogisticRegression"

    def notices(self) -> tuple[Notice, ...]:
        return self.gaussian.notices()

    @property
    def prior_rows(self) -> float:
        return self.gaussian.prior_rows

    def attempt(self, s: Statistics[Moments]) -> Attempt[Moments, Linear]:
        got = self.gaussian.attempt(s)
        return Attempt(Linear.of(got.parameters), got.valid, got.problem)

    def log_likelihood(self, target: Statistics[Moments], best: Linear, theta: Linear) -> float:
        """The log-likelihood of the Gaussians with these scores."""
        return self.gaussian.log_likelihood(target, best.source, theta.source)

    def log_joint(self, X: Encoded, theta: Linear) -> Array:
        return theta.scores(theta.domain.features.read(X))

    def nomogram(self, theta: Linear) -> Nomogram:
        """coef_yj (x_j - mean_j), about the mean of all rows, whose scores are the base."""
        return theta.nomogram(keys_of(self), self.gaussian.standard()[0])

    def natural(self, theta: Linear) -> Slopes:
        """Slopes of standardised features, less their mean over the classes, which changes no probability."""
        centre, spread = self.gaussian.standard()
        intercept, coef = theta.intercept + theta.coef @ (centre - theta.origin), theta.coef * spread
        possible = np.isfinite(intercept)
        intercept = np.where(possible, intercept, intercept[possible].min() - IMPOSSIBLE_GAP)
        return Slopes(intercept - intercept.mean(), coef - coef.mean(axis=0))

    def from_natural(self, eta: Slopes) -> Linear:
        """The inverse of `natural`, except for that mean."""
        centre, spread = self.gaussian.standard()
        return Linear(self.resolved_domain, centre, eta.coef * ratio(1.0, spread), eta.intercept)

    def zero(self, s: Statistics[Moments]) -> Slopes:
        """All classes alike."""
        return Slopes(np.zeros(len(s.mass)), np.zeros(s.sums.first.shape))

    def gradient(self, s: Statistics[Moments], eta: Slopes) -> Slopes:  # noqa: ARG002 - scores are linear in slopes
        """Minus the gradient of the log loss: S(X, Y - P) of standardised features."""
        centre, spread = self.gaussian.standard()
        return Slopes(s.mass, s.sums.about(centre).first * ratio(1.0, spread))

    def feasible(self, eta: Slopes, start: Slopes) -> Slopes:  # noqa: ARG002 - slopes have no bounds
        """eta itself, as all slopes are allowed."""
        return eta

    def penalised(self, eta: Slopes) -> Slopes:
        """What an l2 penalty weighs: the slopes of standardised features, without the intercept.

        With two classes the penalty is that of the one vector of log-odds, as elsewhere: 1/2 |w|^2 = sum_y |w_y|^2.
        """
        return Slopes(np.zeros_like(eta.intercept), (2.0 if len(eta.coef) == 2 else 1.0) * eta.coef)

    def design(self, X: Encoded) -> Design:
        """Standardised features with a leading column of ones (n, d + 1)."""
        centre, spread = self.gaussian.standard()
        return Design(X.features.read(X), centre, ratio(1.0, spread))
