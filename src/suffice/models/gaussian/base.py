"""Gaussian classes: what diagonal and full covariances share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, NamedTuple, Self, TypeVar, cast

import numpy as np

from suffice._core.features import Domain, Encoded, Features
from suffice._core.kinds import LeftOut
from suffice._core.labels import OneHot
from suffice._core.vector import Array
from suffice._runtime.messages import Notice
from suffice.data.queries import DatabaseRows
from suffice.encoders.base import stored_of
from suffice.models.base import ColumnSummary, DegenerateError, Density, Joint, SqlSummable
from suffice.models.gaussian.leave_one_out import Held
from suffice.models.gaussian.moments import Moments, diagonal, moments, moments_asked, ratio
from suffice.models.gaussian.patterns import patterns_asked
from suffice.models.natural import Quadratic
from suffice.models.statistics import Statistics
from suffice.priors import GaussianPrior
from suffice.priors.gaussian import FLAT, PriorSums


class ConstantColumnWarning(UserWarning):
    """A column takes no part because it does not vary."""


# Rows whose densities underflow in all classes are shrunk by this factor, repeatedly.
SHRINK_FACTOR = 1e-50
# Products of larger sums of squares would overflow.
MAX_SQUARES = 1e290
# The least variance in gradient descent, as a share of that of all rows (rc1).
MIN_VARIANCE_SHARE = 1e-2


@dataclass(frozen=True, eq=False)
class Normal:
    """Parameters of Gaussian classes: log p(y), and means (k, d) about the classes' origins (k, d).

    A subclass has the `covariance`, `misfit(scatter, count)`, which is sum count log|cov| + tr(cov^-1 scatter) over the
    covariances, and, if the classes share one, `solve(b)`: cov^-1 b for rows b (k, d).
    """

    domain: Domain
    class_log_prob: Annotated[Array, "inf k"]
    origin: Annotated[Array, "k d"]
    mean: Annotated[Array, "k d"]


N = TypeVar("N", bound=Normal)


class PooledScatter(NamedTuple):
    """The scatter of each class, or of all classes together."""

    scatter: Array  # (k or 1, d) or (k or 1, d, d)
    nothing: Array  # (k or 1, d) how much of it counts as none
    noise: Array  # (k or 1, d) its rounding, where rows were taken back
    rows: Array  # (k or 1, d or 1)


@dataclass(frozen=True, eq=False)
class Gaussian(Density[Moments, N], Joint[Moments, N], SqlSummable[Moments]):
    """What all share: the prior, the pooled covariance, and which features vary at all."""

    tied: ClassVar[bool] = False
    full: ClassVar[bool] = False

    prior: GaussianPrior = FLAT
    believed: GaussianPrior | None = field(default=None, kw_only=True)  # the prior with what it takes from all rows
    origin: Annotated[Array | None, "k d"] = field(default=None, kw_only=True)  # of the sums
    centre: Annotated[Array | None, "d"] = field(default=None, kw_only=True)  # mean of all rows
    # standard deviation of all rows; 0: does not vary
    spread: Annotated[Array | None, "nonneg d"] = field(default=None, kw_only=True)

    def sums(self, X: Encoded, W: OneHot | Array, domain: Domain) -> Moments:
        return moments(domain.features.stored(X), W, self.full, self.origin)

    @property
    def statistics_key(self) -> object | None:
        return moments, self.full

    def sql_statistics(self, rows: DatabaseRows, features: Features | None) -> tuple[Features, Any]:
        of = patterns_asked if self.full else moments_asked
        return features or rows.features, of(rows, self.origin)

    def with_origin_of(self, s: Statistics[Moments]) -> Self:
        """Where a few rows have no value of a class, there is no origin (NaN) but that of each batch."""
        if not isinstance(s.sums, Moments):
            return self
        return replace(self, origin=np.where(s.sums.count > 0, s.sums.origin, np.nan))

    def resolve(self, s: Statistics[Moments]) -> Self:
        check_range(s)
        total = s.sums.diagonals().total()
        spread = spread_of(total)
        centre = total.mean()[0] + total.origin[0]
        mean = s.sums.mean() + s.sums.origin
        seen = PriorSums(s.domain.classes, s.sums.count, mean, s.sums.scatter(), centre, spread**2, self.tied)
        believed = self.prior.resolve(seen)
        return replace(self, domain=s.domain, origin=s.sums.origin, centre=centre, spread=spread, believed=believed)

    def log_relative(self, X: Encoded, theta: N) -> Array:
        """Return `log_density`. Where it underflows for all classes, the row is first shrunk towards zero.

        So far-away rows have the class of the limit, in which only the covariances count.
        """
        scores = self.log_density(X, theta)
        lost = np.flatnonzero(~np.isfinite(scores).any(axis=1))
        if len(lost) and (abs(stored_of(X.values[lost])) > 0).any():
            scores[lost] = self.log_relative(Encoded(X.features, X.values[lost] * SHRINK_FACTOR), theta)
        return scores

    @property
    def prior_rows(self) -> float:
        return float(max(self._prior.mean_weight, self._prior.cov_weight))

    @property
    def _prior(self) -> GaussianPrior:
        return self.believed or self.prior

    def notices(self) -> tuple[Notice, ...]:
        return () if self.spread is None or self.domain is None else left_out(self.spread, self.domain)

    def column_summaries(self, s: Statistics[Moments]) -> tuple[ColumnSummary, ...]:
        used, constant = ColumnSummary("a normal density by class"), ColumnSummary(left_out=LeftOut.CONSTANT)
        return tuple(used if one else constant for one in self._used(s))

    def _used(self, s: Statistics[Moments]) -> Array:
        return np.ones(s.domain.width, dtype=bool) if self.spread is None else self.spread > 0

    def _mean0(self, s: Statistics[Moments]) -> Array:
        """The prior mean about the origins (k, d)."""
        at = s.sums.origin if self._prior.mean is None else self._prior.mean
        return np.asarray(at - s.sums.origin)

    def _mean(self, s: Statistics[Moments]) -> Array:
        """(m1 mean0 + first) / (m1 + count), about the origin (k, d); mean0 where there is nothing else to go by."""
        at, weight = self._mean0(s), s.sums.count + self._prior.mean_weight
        return np.where(weight == 0, at, ratio(s.sums.first + self._prior.mean_weight * at, weight))

    def _known_mean(self, s: Statistics[Moments]) -> Array:
        """Where the rows or the prior tell a mean (k, d or 1)."""
        count = s.sums.count
        return np.asarray((count + self._prior.mean_weight > 0) | (count == 0) & (self._prior.cov_weight > 0))

    def _unknown_mean(self, s: Statistics[Moments]) -> str | None:
        empty = (s.mass == 0) & ~np.isfinite(self.class_log_prob(s))
        known = self._known_mean(s) & (s.mass >= 0)[:, None] | empty[:, None]
        if known.all():
            return None
        c, j = np.argwhere(~known)[0].tolist()
        where = f" in {s.domain.name(j)}" if s.sums.count.shape[1] > 1 else ""
        return f"{s.label(c)} has no values{where}: its mean is unknown. Use prior='default'"

    def pooled(self, s: Statistics[Moments]) -> PooledScatter:
        """The scatter of each class, or of all classes together if they are tied."""
        own = PooledScatter(s.sums.scatter() + self._shift(s), s.sums.nothing(), s.sums.left_over(), s.sums.count)
        return PooledScatter(*(part.sum(axis=0, keepdims=True) for part in own)) if self.tied else own

    def _shift(self, s: Statistics[Moments]) -> Array | float:
        """m1 n / (m1 + n) (mean - mean0)(mean - mean0)', if the prior says that it counts."""
        m1, count = self._prior.mean_weight, s.sums.count
        if self._prior.kind != "niw" or m1 == 0:
            return 0.0
        gap = s.sums.mean() - self._mean0(s)
        return s.sums.square(ratio(m1 * count, m1 + count) * gap, gap)

    def held(self, s: Statistics[Moments]) -> Held:
        """What estimates without a row are made of (`suffice.models.gaussian.leave_one_out`)."""
        prior, count = self._prior, s.sums.count
        counts = prior.kind == "niw"
        rows, about = (count + prior.mean_weight, self._mean(s)) if counts else (count, s.sums.mean())
        total = (count.sum(axis=0, keepdims=True) if self.tied else count) + prior.cov_weight
        at = np.broadcast_to(self._mean0(s), s.sums.first.shape)
        return Held(count, s.sums.first, at, prior.mean_weight, prior.cov_weight, rows, about, total)

    def _needed(self, s: Statistics[Moments]) -> Array:
        """Which covariances take part: not those of classes without a row, whose probability is zero (k or 1,)."""
        return np.ones(1, dtype=bool) if self.tied else (s.mass != 0) | np.isfinite(self.class_log_prob(s))

    def log_likelihood(self, target: Statistics[Moments], best: Any, theta: Any) -> float:
        """log p(X, Y) of data with the statistics `target` and of the prior's rows, up to a constant.

        Written about the closed form best = theta(target) = (mean*, cov*), which is where it is greatest:
        -1/2 sum_y n_y (log|cov_y| + tr cov_y^-1 (cov*_y + (mean*_y - mean_y)(mean*_y - mean_y)')) + sum_y n_y log p(y).
        """
        gap = (best.mean - theta.mean) + (best.origin - theta.origin)
        count = target.sums.count
        means = target.sums.square((count + self._prior.mean_weight) * gap, gap)
        if self.tied:
            means, count = means.sum(axis=0, keepdims=True), count.sum(axis=0, keepdims=True)
        count = count + self._prior.cov_weight
        scatter = means + (count[:, :, None] if means.ndim == 3 else count) * best.covariance
        return float(self.class_log_likelihood(target, best, theta) - 0.5 * theta.misfit(scatter, count))

    def standard(self) -> tuple[Array, Array]:
        """The mean of all rows and their spread: what standardises features (d,), (d,)."""
        if self.centre is None or self.spread is None:
            raise ValueError("features can be standardised once the model is resolved")
        return self.centre, self.spread


class Free(Gaussian[N]):
    """Every class has a covariance of its own, so that natural parameters are those of one class at a time."""

    @abstractmethod
    def natural(self, theta: N) -> Quadratic:
        """Of standardised features."""

    def gradient(self, s: Statistics[Moments], eta: Quadratic) -> Quadratic:
        """Minus the gradient of the log loss in natural parameters of standardised features, from S(X, Y - P)."""
        centre, spread = self.standard()
        return eta.gradient(s.mass * (not self.classes_given), s.sums.about(centre), spread)

    def feasible(self, eta: Quadratic, start: Quadratic) -> Quadratic:
        """Probabilities on the simplex, and no variance below 1/100 of the whole, or below those it began with."""
        nearest = eta.feasible(min(MIN_VARIANCE_SHARE, start.least_variance()))
        return replace(nearest, intercept=start.intercept) if self.classes_given else nearest

    def _frame(self) -> tuple[Domain, Array, Array, Array]:
        """The domain, the origins (k, d), and where standardised features are zero about these, with their spread."""
        centre, spread = self.standard()
        origin = cast(Array, self.origin)
        return self.resolved_domain, origin, centre - origin, spread


def spread_of(total: Moments) -> Array:
    """The standard deviation of all rows (d,), given as one class; 0 where a feature does not vary."""
    variance, nothing = (ratio(part, total.count)[0] for part in (diagonal(total.scatter()), total.nothing()))
    return np.asarray(np.sqrt(np.where(variance > nothing, variance, 0.0)))


def check_range(s: Statistics[Moments]) -> None:
    """Refuse features whose squares are beyond the range of numbers."""
    first, second = s.sums.first, diagonal(s.sums.second)
    huge = ~(np.isfinite(first) & (second < MAX_SQUARES)).all(axis=0)
    tiny = ((first != 0) & (second < 1.0 / MAX_SQUARES)).all(axis=0)
    for bad, what in ((huge, "large"), (tiny, "small")):
        if bad.any():
            where = s.domain.name(int(np.flatnonzero(bad)[0]))
            raise DegenerateError(f"{where} has values too {what} for their squares to be numbers: scale it")


def left_out(spread: Array, domain: Domain) -> tuple[Notice, ...]:
    """A notice of the features that do not vary, if there are any."""
    constant = np.flatnonzero(spread == 0)
    if not len(constant):
        return ()
    said = f"left out, as it has one value only: {domain.features.listed(constant)}"
    return (Notice(said, ConstantColumnWarning),)


def empty(s: Statistics[Moments]) -> Array:
    """Which classes have no rows at all (k,)."""
    return np.asarray((s.mass == 0) & ~s.sums.count.any(axis=1))


def prior_covariance(prior: GaussianPrior, ndim: int) -> Array:
    """cov0 as the structure keeps it: diagonals (1 or k, d) (ndim 1) or matrices (1 or k, d, d) (ndim 2)."""
    if isinstance(prior.covariance, str):  # which is to be resolved, so that there is none yet
        return np.zeros((1,) * (ndim + 1))
    at = np.asarray(prior.covariance)
    return at if at.ndim == ndim + 1 else np.stack([np.diag(one) for one in at])
