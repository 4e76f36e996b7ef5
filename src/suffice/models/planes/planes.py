"""Planes between two classes that are known by their moments, and the rules that choose one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, Self, cast

import numpy as np
from scipy.linalg import lapack
from scipy.optimize import brentq, minimize, minimize_scalar
from scipy.special import expit, log_ndtr

from suffice._core.features import Domain, Encoded, Features
from suffice._core.labels import OneHot
from suffice._core.vector import Array
from suffice._runtime.messages import Notice
from suffice.data.queries import DatabaseRows
from suffice.encoders import Encoder, Numbers
from suffice.models.base import Attempt, DegenerateError, Model, Read, SqlSummable
from suffice.models.gaussian.base import check_range, left_out, spread_of
from suffice.models.gaussian.full import FullGaussian
from suffice.models.gaussian.moments import Moments, ratio
from suffice.models.gaussian.patterns import (
    by_pattern,
    columns_of,
    complete,
    groups,
    guessed,
    patterns_asked,
    some_of,
    terms_by_pattern,
)
from suffice.models.planes.pencil import AlikeError, Pencil, Plane, Source, no_plane, worst_error
from suffice.models.statistics import Statistics
from suffice.models.terms import HALVES, HasNomogram, Needed, Nomogram, Terms, keys_of
from suffice.priors import GaussianPrior

# Values of logit(s) from which a search starts: the best s is often below 1e-3.
LOGIT_GRID = np.linspace(-30.0, 30.0, 257)
# A plane must have less than this share of the error of the constant rule.
MAX_ERROR_SHARE = 1.0 - 1e-9
# The greatest ratio of the two weights.
MAX_RATIO = 1e12

OfOne = Callable[[Array], Array]
Stretch = Callable[[Array], tuple[Array, Array]]  # from logit(s) to two weights
Criterion = Callable[[Array, Array, Array, Array], Array]


def fisher(pencil: Pencil) -> Plane:
    """s = 1/2."""
    return pencil.solved(0.0)


def scatter(pencil: Pencil) -> Plane:
    """s = P1."""
    return pencil.solved(float(pencil.class_log_prob[0] - pencil.class_log_prob[1]))


def minimax(pencil: Pencil) -> Plane:
    """D1 = D2: the distances, and so the worst cases, of both classes are equal."""
    return pencil.tangent(*pencil.where(0.0))


def quasi_bayes(pencil: Pencil) -> Plane:
    """D1^2 - D2^2 = 2 ln(P1/P2) + ln |S2| - ln |S1|: the point of contact is on the border of the quadratic rule."""
    log_dets = np.log(pencil.b).sum() - np.log(pencil.a).sum()
    return pencil.tangent(*pencil.where(float(2.0 * (pencil.class_log_prob[0] - pencil.class_log_prob[1]) + log_dets)))


def minimum_error(pencil: Pencil) -> Plane:
    """The least sum_j P_j / (1 + D_j^2), or no plane at all if that is not below the smaller P_j."""
    share = np.exp(pencil.class_log_prob)

    def risk(logit: Array) -> Array:
        d1, d2 = pencil.distances(expit(logit), expit(-logit))
        return np.asarray(share[0] * worst_error(d1) + share[1] * worst_error(d2))

    logit, least = _least(risk)
    return pencil.tangent(logit) if least < MAX_ERROR_SHARE * share.min() else pencil.constant()


def linear_bayes(pencil: Pencil) -> Plane:
    """The least sum_j P_j Phi(-D_j) of planes between the means, beyond either of them, or none.

    Planes worth having are those with t1 S1 + t2 S2 positive definite (Anderson and Bahadur): three stretches, on each
    of which the weights follow from one number. Logarithms, because well separated classes have errors below all
    numbers.
    """
    stretches = (_between, _beyond(pencil, 1), _beyond(pencil, 0))

    def risk(weights: Stretch, logit: Array) -> Array:
        d1, d2 = pencil.distances(*weights(logit))
        first, second = pencil.class_log_prob
        return np.asarray(np.logaddexp(first + log_ndtr(-d1), second + log_ndtr(-d2)))

    best = [_least(partial(risk, weights)) for weights in stretches]
    which = int(np.argmin([least for _, least in best]))
    if best[which][1] >= np.log(MAX_ERROR_SHARE) + pencil.class_log_prob.min():
        return pencil.constant()
    t1, t2 = stretches[which](np.asarray(best[which][0]))
    return pencil.plane(float(t1), float(t2), tangent=which == 0)


@dataclass(frozen=True)
class Designed:
    """The plane of the greatest criterion f(mu1, mu2, var1, var2) of the projected classes, for s in (0, 1).

    s and the cut are searched for. A criterion that does not depend on the cut leaves it where the plane is tangent.
    """

    criterion: Criterion

    def __call__(self, pencil: Pencil) -> Plane:
        logits, cuts = LOGIT_GRID[::4], np.linspace(-0.5, 1.5, 81)  # the cut as a share of the way between the means
        value = self._at(pencil, logits[:, None], cuts)
        if not np.isfinite(value).any() or np.isposinf(value).any():
            raise ValueError("the criterion must be a finite number, or -inf or NaN for what is not to be chosen")
        if np.nanmax(value) - np.nanmin(value) <= 1e-12 * abs(np.nanmax(value)):
            return fisher(pencil)  # as with one feature, or equal covariances: all s are one direction
        if np.allclose(value, value[:, :1], rtol=1e-9, atol=0.0, equal_nan=True):
            risk = partial(self._minus, pencil)
            return pencil.tangent(_centred(risk, _least(risk)[0]))
        at = np.unravel_index(np.nanargmax(value), value.shape)
        start = np.array([logits[at[0]], cuts[at[1]]])
        best = minimize(
            lambda p: -float(self._at(pencil, p[0], p[1])),
            start,
            method="Nelder-Mead",
            bounds=[(LOGIT_GRID[0], LOGIT_GRID[-1]), (cuts[0], cuts[-1])],
            options={"xatol": 1e-10, "fatol": 1e-15, "maxiter": 2000},
        ).x
        if not cuts[0] + 1e-6 < best[1] < cuts[-1] - 1e-6:
            raise ValueError(
                "the criterion grows without end as the plane moves beyond the means: it has no best plane"
            )
        t1, t2 = float(expit(best[0])), float(expit(-best[0]))
        gap = float(pencil.directions(np.asarray(t1), np.asarray(t2)) @ pencil.z)
        return pencil.plane(t1, t2, cut=float(best[1]) * gap, tangent=bool(0 < best[1] < 1))

    def _minus(self, pencil: Pencil, logit: Array) -> Array:
        """Minus the criterion, where it does not depend on the cut."""
        return -self._at(pencil, logit, np.asarray(0.5))

    def _at(self, pencil: Pencil, logit: Array, cut: Array) -> Array:
        """The criterion in units of the distance between the projected means."""
        g = pencil.directions(expit(logit), expit(-logit))
        gap = g @ pencil.z
        v1, v2 = (g**2 @ pencil.a) / gap**2, (g**2 @ pencil.b) / gap**2
        means_and_variances = [np.array(value) for value in np.broadcast_arrays(-cut, 1.0 - cut, v1, v2)]
        value = np.asarray(self.criterion(*means_and_variances), dtype=float)
        if value.shape != means_and_variances[0].shape:
            raise ValueError(
                f"the criterion must return one number for each plane, of shape {means_and_variances[0].shape}, "
                f"got {value.shape}: write it with NumPy operations on (mu1, mu2, var1, var2)"
            )
        return value


def _between(logit: Array) -> tuple[Array, Array]:
    """Weights whose plane lies between the means."""
    return expit(logit), expit(-logit)


def _beyond(pencil: Pencil, which: int) -> Stretch:
    """Weights whose plane lies beyond the mean of class `which`, up to where t1 S1 + t2 S2 is singular."""
    ahead, behind = (pencil.a, pencil.b) if which else (pencil.b, pencil.a)
    most = np.min(np.divide(ahead, behind, out=np.full(len(behind), MAX_RATIO), where=behind > ahead / MAX_RATIO))

    def weights(logit: Array) -> tuple[Array, Array]:
        back = -most * (1.0 - 1e-9) * expit(logit)
        return (np.ones_like(back), back) if which else (back, np.ones_like(back))

    return weights


def _centred(risk: OfOne, near: float, step: float = 1e-4, reach: float = 1e-2) -> float:
    """The minimum near a point, where both sides are alike: exact where values alone, near a flat minimum, are not."""

    def slope(logit: float) -> float:
        return float(risk(np.asarray(logit + step))) - float(risk(np.asarray(logit - step)))

    low, high = near - reach, near + reach
    return float(brentq(slope, low, high, xtol=1e-13)) if slope(low) < 0 < slope(high) else near


def _least(risk: OfOne) -> tuple[float, float]:
    """Where a function of logit(s) that may have several minima is least, and how small: a grid, then Brent."""
    value = risk(LOGIT_GRID)
    at = int(np.nanargmin(value))
    step = LOGIT_GRID[1] - LOGIT_GRID[0]
    found = minimize_scalar(
        lambda logit: float(risk(np.asarray(logit))),
        bounds=(LOGIT_GRID[at] - step, LOGIT_GRID[at] + step),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return min((float(found.x), float(found.fun)), (float(LOGIT_GRID[at]), float(value[at])), key=lambda pair: pair[1])


# The rows of the covariances' prior if entries are missing: EM needs more than a ridge.
EM_PRIOR_ROWS = 10.0


@dataclass(frozen=True, eq=False)
class TangentPlane(Model[Moments, Plane], HasNomogram[Plane], SqlSummable[Moments]):
    """A plane between two classes as a function of their moments; which plane is the rule's choice."""

    rule: Callable[[Pencil], Plane] | Designed = fisher
    ridge: float = 1e-6
    origin: Annotated[Array | None, "k d"] = field(default=None, kw_only=True)  # of the sums
    # of all rows; 0 is a feature that does not vary
    spread: Annotated[Array | None, "nonneg d"] = field(default=None, kw_only=True)

    encoder: Encoder = field(default=Numbers(missing=True), kw_only=True)

    def sums(self, X: Encoded, W: OneHot | Array, domain: Domain) -> Any:
        """Moments; by pattern where entries are missing."""
        return by_pattern(domain.features.read(X), W, self.origin)

    @property
    def statistics_key(self) -> object | None:
        return by_pattern

    def sql_statistics(self, rows: DatabaseRows, features: Features | None) -> tuple[Features, Any]:
        return features or rows.features, patterns_asked(rows, self.origin)

    def with_origin_of(self, s: Statistics[Any]) -> Self:
        return replace(self, origin=s.sums.origin) if isinstance(s.sums, Moments) else self

    def resolve(self, s: Statistics[Any]) -> Self:
        s = replace(s, sums=guessed(s.sums))
        check_range(s)
        return replace(self, domain=s.domain, origin=s.sums.origin, spread=spread_of(s.sums.diagonals().total()))

    def restrict(self, s: Statistics[Any]) -> Statistics[Moments]:
        """Where entries are missing: the moments that normal classes are expected to have."""
        return s if isinstance(s.sums, Moments) else self._normal(s).restrict(s)

    def revisit(self, s: Statistics[Any], read: Read) -> Statistics[Moments]:
        return s if isinstance(s.sums, Moments) else self._normal(s).revisit(s, read)

    def _normal(self, s: Statistics[Any]) -> FullGaussian:
        """The normal classes under which missing entries are expected to be what they are."""
        unknown = np.argwhere((s.sums.entries().count == 0) & (s.mass > 0)[:, None])
        if len(unknown):
            c, j = unknown[0].tolist()
            raise DegenerateError(
                f"{s.label(c)} has no values in {s.domain.name(j)}: its mean is unknown. Leave the column out"
            )
        return FullGaussian(GaussianPrior(0.0, EM_PRIOR_ROWS)).resolve(s)

    def notices(self) -> tuple[Notice, ...]:
        return () if self.spread is None or self.domain is None else left_out(self.spread, self.domain)

    def _used(self, s: Statistics[Moments]) -> Array:
        return np.ones(s.domain.width, dtype=bool) if self.spread is None else self.spread > 0

    def attempt(self, s: Statistics[Moments]) -> Attempt[Moments, Plane]:
        """A block is a class: one of some mass, whose covariance with the ridge is positive definite."""
        ok = (s.mass > 0) & self._regular(s)
        mask = replace(s.sums, count=ok[:, None], first=ok[:, None], second=ok[:, None, None])
        valid = replace(s, mass=ok, sums=mask)
        try:
            return Attempt(replace(self.rule(self.pencil(s)), source=Source(s)), valid)
        except DegenerateError as error:
            nowhere = np.full(s.domain.width, np.nan)
            none = Plane(s.domain, np.zeros(2), nowhere, nowhere, np.nan, np.nan, nowhere, np.full(2, np.nan), False)
            return Attempt(none, valid, str(error))

    def _regular(self, s: Statistics[Moments]) -> Array:
        total = s.sums.diagonals().total()
        scaled = ratio(s.sums.scatter(), s.sums.count[:, :, None])
        size = ratio(total.scatter(), total.count)[0]
        inverse = np.where(self._used(s), ratio(1.0, np.sqrt(np.maximum(size, 0.0))), 0.0)
        scaled *= np.outer(inverse, inverse)
        at = np.arange(len(inverse))
        scaled[:, at, at] += np.where(inverse > 0, self.ridge, 1.0)
        return np.array([lapack.dpotrf(one.T, lower=1, clean=0, overwrite_a=1)[1] == 0 for one in scaled])

    def pencil(self, s: Statistics[Moments]) -> Pencil:
        """The two classes taken apart: all planes between them follow from it."""
        if len(s.mass) != 2:
            raise DegenerateError(f"a plane tells two classes apart, got {len(s.mass)}")
        for c in range(2):
            if s.mass[c] <= 0:
                raise DegenerateError(f"{s.label(c)} has no rows: its mean and covariance are unknown")
        return Pencil.of(s, self._used(s), self.ridge)

    def attach(self, theta: Plane, s: Statistics[Moments], group: Array) -> Plane:
        return replace(theta, source=Source(s, group))

    def log_joint(self, X: Encoded, theta: Plane) -> Array:
        """The log-odds of the second class; where entries are missing, those of the plane of the other columns."""
        values = theta.domain.features.read(X)
        odds = theta.log_odds(values)
        if not complete(values):
            s = self._behind(theta)
            for rows, has in groups(np.isnan(values)):
                if len(has) < values.shape[1]:
                    odds[rows] = self._without(s, has).log_odds(values[rows][:, has])
        return np.column_stack([np.zeros(len(odds)), odds])

    def nomogram(self, theta: Plane) -> Nomogram:
        return _slopes(theta, self._centre(theta), keys_of(self))

    def terms(self, X: Encoded, theta: Plane) -> Terms:
        """Where entries are missing, those of the plane of the other columns."""
        values = np.asarray(theta.domain.features.read(X), dtype=float)
        centre, keys = self._centre(theta), keys_of(self)
        s = None if complete(values) else self._behind(theta)

        def without(has: Array) -> Nomogram:
            return _slopes(self._without(cast(Any, s), has), centre[has], tuple(keys[j] for j in has))

        return terms_by_pattern(values, keys, self.nomogram(theta), without)

    def _centre(self, theta: Plane) -> Array:
        """The mean of all rows (d,), if the moments are known."""
        if theta.source is None:
            return theta.origin
        total = self._behind(theta).sums.total()
        return np.asarray(total.mean()[0] + total.origin[0])

    def _behind(self, theta: Plane) -> Statistics[Moments]:
        if theta.source is None:
            raise ValueError("rows with missing values need a plane that knows the moments it was taken from")
        return theta.source.statistics()

    def _without(self, s: Statistics[Moments], has: Array) -> Plane:
        """The plane of some columns; where these do not tell the classes apart, no plane at all."""
        some = Statistics(some_of(s.domain, has), s.mass, columns_of(s.sums, has))
        model = replace(self, spread=None if self.spread is None else self.spread[has])
        try:
            if model._used(some).any():
                return self.rule(model.pencil(some))
        except AlikeError:
            pass
        return no_plane(some.domain, np.log(some.mass / some.mass.sum()), some.sums.origin[0])


def _slopes(plane: Plane, centre: Array, keys: tuple[Any, ...]) -> Nomogram:
    """coef_j (x_j - centre_j) in the log-odds of the second class, half for each class."""
    coef = HALVES[:, None] * plane.coef
    return Nomogram(plane.log_odds(centre[None])[0] * HALVES, (Needed(keys, centre, coef, 0.0 * coef),))
