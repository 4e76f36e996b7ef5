"""Rules: which of the planes that touch an ellipsoid of each of two classes to take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.optimize import brentq, minimize, minimize_scalar
from scipy.special import expit, log_ndtr

from suffice._core.vector import Array
from suffice.models.planes.pencil import Pencil, Plane, worst_error

# Values of logit(s) from which a search starts: the best s is often below 1e-3.
LOGIT_GRID = np.linspace(-30.0, 30.0, 257)
# A plane must have less than this share of the error of the constant rule.
MAX_ERROR_SHARE = 1.0 - 1e-9
# The greatest ratio of the two weights.
MAX_RATIO = 1e12

Rule = Callable[[Pencil], Plane]
OfOne = Callable[[Array], Array]
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

    def risk(t1: Array, t2: Array) -> Array:
        d1, d2 = pencil.distances(t1, t2)
        first, second = pencil.class_log_prob
        return np.asarray(np.logaddexp(first + log_ndtr(-d1), second + log_ndtr(-d2)))

    best = [_least(_after(stretch, risk)) for stretch in stretches]
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


def _after(weights: Callable[[Array], tuple[Array, Array]], f: Callable[[Array, Array], Array]) -> OfOne:
    return lambda logit: f(*weights(logit))


def _beyond(pencil: Pencil, which: int) -> Callable[[Array], tuple[Array, Array]]:
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
