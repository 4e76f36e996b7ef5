"""Metrics: curvatures that Newton's equations H x = g are solved with, and conjugate gradients where there is none."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from scipy import linalg

from suffice._vector import Array
from suffice.learners._base import Course
from suffice.learners._curved import Squared

LEAST = 1e-3  # share of uncorrelated columns in a metric from a sample, so that no direction is thought to be flat
KEPT = 12  # secants that correct a metric


class Metric(Protocol):
    """A curvature that can be divided by."""

    def solve(self, g: Array) -> Array:
        """H^-1 g (k, p) of a gradient (k, p) that adds up to zero over the classes."""
        ...


@dataclass(frozen=True, eq=False)
class Factored:
    """A factor of a curvature: of one block that holds for every class, or of all classes together."""

    factor: Array
    each: bool  # whether it is the factor for every class

    @classmethod
    def whole(cls, H: Array) -> Metric:
        """Of a whole curvature (k, p, k, p)."""
        k, p = H.shape[:2]
        if k == 2:  # one class is minus the other: half the unknowns
            return cls(_factor(H[1, :, 1] - H[1, :, 0], 0), each=True)
        return cls(_factor(H.reshape(k * p, k * p), k), each=False)

    @classmethod
    def even(cls, seen: Squared, mass: float, ridge: Array) -> Metric:
        """Of the curvature where all classes are alike, from D'D of a sample of rows of the given mass.

            H = (1 / k - 1 / k^2 1 1') x D'D,     H^-1 g = k (D'D)^-1 g where g adds up to zero over the classes

        Its correlations are shrunk by as much as chance explains of them: (1 - s) D'D + s diag(D'D). `ridge` (k, p) is
        what a penalty adds to the diagonal.
        """
        S, own = seen.gram / seen.mass, np.diagonal(seen.gram) / seen.mass
        scale = np.sqrt(np.outer(own, own))
        beside = np.sum(np.divide(S, scale, out=np.zeros_like(S), where=scale > 0) ** 2) - np.count_nonzero(own)
        chance = len(own) * (len(own) - 1) / max(1, seen.count)
        shrink = np.clip(chance / max(beside, 1e-300), LEAST, 1.0)
        H = (1.0 - shrink) * S + shrink * np.diag(own)
        return cls(_factor(H * (mass / len(ridge)) + np.diag(ridge[0]), 0), each=True)

    def solve(self, g: Array) -> Array:
        right = g.T if self.each else g.reshape(-1, 1)
        got = linalg.lapack.dpotrs(self.factor, right, lower=1)[0]
        return np.asarray(got.T if self.each else got).reshape(g.shape)


def _factor(H: Array, k: int) -> Array:
    """The Cholesky factor of H, damped as far as it takes, for the slopes of k classes.

    The same slopes added to all classes change nothing, so that H is singular in that direction, in which gradients are
    zero: a ridge there makes H regular and leaves the solution as it is.
    """
    level = max(np.trace(H) / len(H), 1e-300)
    same = np.kron(np.full((k, k), level / k), np.eye(len(H) // k)) if k else 0.0
    damping = 1e-12
    while True:
        factor, failed = linalg.lapack.dpotrf(H + same + damping * level * np.eye(len(H)), lower=1)
        if not failed:
            return np.asarray(factor)
        damping *= 100


@dataclass(eq=False)
class Corrected:
    """A metric, corrected by how gradients were seen to change: the inverse of L-BFGS that begins with it.

    References
    ----------
    Nocedal, Wright: Numerical optimization, 2006, Algorithm 7.4.
    """

    first: Metric
    last: tuple[Array, Array] | None = None
    secants: deque[tuple[Array, Array]] = field(default_factory=lambda: deque(maxlen=KEPT))

    def see(self, point: Array, downhill: Array) -> None:
        """Take notice of minus the gradient (k, p) at a point (k, p)."""
        if self.last is not None:
            step, change = point - self.last[0], self.last[1] - downhill
            if np.vdot(step, change) > 1e-12 * np.linalg.norm(step) * np.linalg.norm(change):  # else it is rounding
                self.secants.append((step, change))
        self.last = point, downhill

    def solve(self, g: Array) -> Array:
        """H^-1 g (k, p)."""
        shares = []
        for step, change in reversed(self.secants):
            share = np.vdot(step, g) / np.vdot(step, change)
            g = g - share * change
            shares.append(share)
        x = self._scale() * self.first.solve(g)
        for (step, change), share in zip(self.secants, reversed(shares), strict=True):
            x = x + (share - np.vdot(change, x) / np.vdot(step, change)) * step
        return x

    def _scale(self) -> float:
        """By how much steps of the first metric are too short, as the last secant has it."""
        if not self.secants:
            return 1.0
        step, change = self.secants[-1]
        return float(np.vdot(step, change) / np.vdot(change, self.first.solve(change)))


def conjugate_gradients(
    product: Callable[[Array], Course[Array]], g: Array, scale: Array, rtol: float = 1e-3, max_iter: int = 100
) -> Course[Array]:
    """x of H x = g where only products with H can be asked for, preconditioned by 1 / scale."""
    x, r = np.zeros_like(g), g.copy()
    z = r / scale
    p, rz = z.copy(), float(r @ z)
    for _ in range(max_iter):
        if np.linalg.norm(r) <= rtol * np.linalg.norm(g):
            break
        q = yield from product(p)
        curvature = float(p @ q)
        if curvature <= 0:  # rounding: no further in this direction
            break
        length = rz / curvature
        x, r = x + length * p, r - length * q
        z = r / scale
        rz, before = float(r @ z), rz
        p = z + (rz / before) * p
    return x
