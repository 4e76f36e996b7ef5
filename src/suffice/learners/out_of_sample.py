"""Calibration by what each row would be predicted without itself: the problem that `RiskCalibration` then descends."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast

import numpy as np

from suffice._core.features import Encoded
from suffice._core.labels import dense
from suffice._core.vector import Array, Vector
from suffice.data import Batch, Data, Memory
from suffice.learners.base import Ask, Course, Measured
from suffice.learners.descent import Calibration, Place, no_pass
from suffice.learners.stopping import Iterate
from suffice.losses import Loss
from suffice.models import AnyStatistics
from suffice.models.base import LeaveOneOut

GAMMA = 0.75  # of what learning has added to a row's weight, the share that is taken out with the row
BOUND = float(-np.log(1e-15))  # of log-odds: else one row that nothing else is like outweighs all others in the loss


@dataclass(frozen=True, eq=False, repr=False)
class Weighed(Vector):
    """Statistics s, and what each row counts for in them, V (n, k): s = S(X, V), except for blocks that were frozen."""

    statistics: AnyStatistics
    weights: Array


Point: TypeAlias = Iterate[Weighed, Weighed]


@dataclass(frozen=True, eq=False)
class NumberedRows(Encoded):
    """Encoded rows that know their places (n,) in the data set."""

    at: Array

    def __getitem__(self, rows: Any) -> NumberedRows:
        return NumberedRows(self.features, super().__getitem__(rows).values, self.at[rows])


@dataclass(frozen=True, eq=False, repr=False)
class Honest(Measured):
    """The losses of rows that are predicted without themselves, and the direction that lowers them."""

    direction: Weighed


@dataclass(frozen=True)
class Without:
    """Losses and direction of a batch, each row with its own weight O = Y + gamma (V - Y) taken out of s.

    Not all of V is taken out: the weights of other rows have answered to it, and stay.
    """

    model: LeaveOneOut[Any, Any]  # resolved
    theta: object
    point: Weighed
    loss: Loss

    def __call__(self, batch: Batch) -> Honest:
        s, V = self.point.statistics, self.point.weights
        rows, labels = cast(NumberedRows, batch.X), batch.Y.onto(s.domain.classes)
        Y = dense(labels)
        own = Y + GAMMA * (V[rows.at] - Y)
        scores = self.model.log_joint_without(rows, own, self.theta, s)
        least = scores.max(axis=1, keepdims=True) - BOUND
        losses, W = self.loss(np.maximum(scores, least), labels)
        moves = np.zeros(V.shape)
        moves[rows.at] = W
        return Honest(losses, Weighed(cast(Any, self.model).statistics(rows, W), moves))


@dataclass(frozen=True, eq=False)
class OutOfSample:
    """Descent in what rows count for: V <- V + rate (Y - P⁻ + anchor (Y - V)), s = S(X, V), theta(s) in closed form."""

    within: Calibration  # of the same rows, numbered
    start: Weighed  # S(X, Y) and Y

    @classmethod
    def of(cls, problem: Calibration) -> OutOfSample:
        """The same problem with every row predicted without itself."""
        rows = numbered(problem.data)
        Y = dense(cast(Any, rows.Y).onto(problem.whole.domain.classes))
        return cls(replace(problem, data=rows), Weighed(problem.whole, Y))

    def evaluate(self, place: Place[Weighed]) -> Course[Point]:
        """Losses, direction and objective, in one pass."""
        point, theta = place
        problem = self.within
        got: Honest = yield Ask(problem.data, Without(cast(Any, problem.model), theta, point, problem.loss))
        direction = got.direction
        if problem.anchor:
            direction = direction + problem.anchor * (self.start - point)
        residual = got.direction.statistics.mass / got.losses.mass
        objective = problem.objective(theta, got.losses)
        return Iterate(point, theta, got.losses, direction, objective, residual=residual)

    def step(self, at: Point, rate: float) -> Course[Place[Weighed]]:
        """The weights go where the statistics go: a class that has to stay keeps those of all rows."""
        point, direction = at.point, at.direction
        got = self.within.tried(
            Iterate(point.statistics, at.theta, at.losses, direction.statistics, at.objective), rate
        )
        weights = point.weights + got.rate * np.where(got.moved, direction.weights, 0.0)
        return no_pass(Place(Weighed(got.place.point, weights), got.place.theta))


def numbered(data: Data) -> Memory:
    """Rows in memory that know their places; TypeError for any others."""
    if not isinstance(data, Memory):
        raise TypeError(
            "out_of_sample=True needs rows in memory, since it keeps what each of them counts for: give arrays or a "
            "data frame, and no checkpoint, or leave out_of_sample=False"
        )
    X = cast(Encoded, data.X)
    return Memory(NumberedRows(X.features, X.values, np.arange(len(X))), data.Y, batch_size=data.batch_size)
