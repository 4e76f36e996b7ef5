"""What Newton's method asks of a batch: sums of the design D of linear scores, weighted by the posterior P."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np

from suffice._labels import OneHot
from suffice._vector import Array, Vector
from suffice.data import Batch
from suffice.learners._base import Measured
from suffice.losses import Loss, Losses
from suffice.models import Slopes, Sums
from suffice.models._base import CurvedModel
from suffice.models._design import Design

Scored: TypeAlias = CurvedModel[Sums, object, Slopes]  # whatever its sums and parameters are


def flat(eta: Slopes) -> Array:
    """Intercepts and coefficients side by side (k, d + 1), in the order of the columns of the design."""
    return np.column_stack([eta.intercept, eta.coef])


@dataclass(frozen=True, eq=False, repr=False)
class Sloped(Measured):
    """Losses, and minus the gradient of the log loss D'(Y - P) (k, d + 1)."""

    gradient: Array


@dataclass(frozen=True, eq=False, repr=False)
class Bent(Sloped):
    """The same, and the curvature: whole (k, d + 1, k, d + 1), or its diagonal (k, d + 1)."""

    curvature: Array


@dataclass(frozen=True)
class _At:
    """Slopes (k, d + 1) at which something is asked for; the posterior is worked out once."""

    model: Scored
    slopes: Array
    classes: Array

    def _weighed(self, batch: Batch) -> tuple[Design, Losses, Array, Array]:
        """The design, the losses of the rows, Y - P, and P."""
        D = self.model.design(batch.X)
        return D, *Loss.equal(len(self.classes)).weighed(D.scores(self.slopes), batch.Y.onto(self.classes))


@dataclass(frozen=True)
class Slope(_At):
    """Losses and gradient."""

    def __call__(self, batch: Batch) -> Sloped:
        D, losses, W, _ = self._weighed(batch)
        return Sloped(losses, D.sums(W))


@dataclass(frozen=True)
class Bend(_At):
    """Losses, gradient, and curvature.

    H[a, b] = D' diag(p_a (1(a = b) - p_b)) D
    """

    whole: bool = True  # or its diagonal

    def __call__(self, batch: Batch) -> Bent:
        (D, losses, W, P), weight = self._weighed(batch), _weight(batch.Y.onto(self.classes))
        curvature = _curvature(D, P, weight) if self.whole else (weight[:, None] * P * (1 - P)).T @ D.matrix() ** 2
        return Bent(losses, D.sums(W), curvature)


def _curvature(D: Design, P: Array, weight: Array) -> Array:
    """H (k, p, k, p): the blocks beside the diagonal are symmetric, and each row of blocks sums to zero."""
    k, width = P.shape[1], len(D.centre) + 1
    H = np.zeros((k, width, k, width))
    for a, b in combinations(range(k), 2):
        H[a, :, b, :] = H[b, :, a, :] = -D.gram(weight * P[:, a] * P[:, b])
    for a in range(k):
        H[a, :, a, :] = -H[a].sum(axis=1)
    return H


@dataclass(frozen=True)
class Along(_At):
    """The product of the curvature with a change of the slopes (k, d + 1)."""

    change: Array

    def __call__(self, batch: Batch) -> Array:
        (D, _, _, P), weight = self._weighed(batch), _weight(batch.Y.onto(self.classes))
        moved = P * D.scores(self.change)
        return D.sums(weight[:, None] * (moved - P * moved.sum(axis=1, keepdims=True)))


@dataclass(frozen=True, eq=False, repr=False)
class Squared(Vector):
    """Rows, their weight, and D'D (d + 1, d + 1) of them."""

    count: int
    mass: float
    gram: Array


@dataclass(frozen=True)
class Square:
    """`Squared` of the rows of some classes."""

    model: Scored
    classes: Array

    def __call__(self, batch: Batch) -> Squared:
        weight = _weight(batch.Y.onto(self.classes))
        squares = self.model.design(batch.X).gram(weight)
        return Squared(int(np.count_nonzero(weight)), float(weight.sum()), squares)


def _weight(Y: OneHot) -> Array:
    return np.where(Y.codes >= 0, Y.weight, 0.0)
