"""Descent in the space of statistics: where a place does well, and what a step leaves valid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, cast

import numpy as np

from suffice._vector import Array, select
from suffice.data import Data
from suffice.learners._base import Ask, Course, Evaluate, Evaluation
from suffice.learners._descent import Place, no_pass
from suffice.learners._stopping import Iterate
from suffice.losses import Loss, Losses
from suffice.models import AnyModel, AnyStatistics, Joint, Sums

Summed: TypeAlias = Iterate[AnyStatistics, AnyStatistics]


class Step(NamedTuple):
    """What was left of a step: where it leads, its rate, and which classes it moved (k,)."""

    place: Place[AnyStatistics]
    rate: float
    moved: Array


@dataclass(frozen=True, eq=False)
class Calibration:
    """Descent in the space of statistics: s <- s + rate (S(X, W) + anchor (S(X, Y) - s)), theta(s) in closed form."""

    model: AnyModel  # resolved
    data: Data
    whole: AnyStatistics  # S(X, Y)
    loss: Loss
    anchor: float = 0.0
    freeze: str = "block"
    only_adds: bool = False
    best: object = None  # theta(whole), where there is an anchor

    def evaluate(self, place: Place[AnyStatistics]) -> Course[Summed]:
        """Losses, direction and objective, in one pass."""
        return (yield from self.evaluate_on(self.data, place))

    def evaluate_on(self, data: Data, place: Place[AnyStatistics]) -> Course[Summed]:
        """Losses, direction and objective from one pass over some rows; the direction is scaled up to all."""
        s, theta = place
        classes = self.whole.domain.classes
        got: Evaluation = yield Ask(data, Evaluate(self.model, theta, classes, self.loss, self.only_adds))
        direction, residual = got.direction, None if self.only_adds else got.direction.mass / got.losses.mass
        if data is not self.data:
            direction = (self.whole.mass.sum() / max(got.losses.mass, 1e-300)) * direction
        if self.anchor:
            direction = direction + self.anchor * (self.whole - s)
        return Iterate(s, theta, got.losses, direction, self.objective(theta, got.losses), residual=residual)

    def objective(self, theta: object, losses: Losses) -> float:
        """Log loss plus anchor times negative joint log-likelihood, per row."""
        value = losses.means()[self.loss.judge]
        if not self.anchor:
            return value
        likelihood = cast(Joint[Sums, object], self.model).log_likelihood(self.whole, self.best, theta)
        return value - self.anchor * likelihood / float(self.whole.mass.sum())

    def step(self, at: Summed, rate: float) -> Course[Place[AnyStatistics]]:
        return no_pass(self.moved(at, rate))

    def moved(self, at: Summed, rate: float) -> Place[AnyStatistics]:
        """A step, but for what it would leave without parameters: the block concerned stays, or everything does."""
        return self.tried(at, rate).place

    def tried(self, at: Summed, rate: float) -> Step:
        """The same, with what became of the step."""
        here = at.point
        for _ in range(40):
            new = here + rate * at.direction
            got = self.model.attempt(new)
            valid = got.valid.leaves()
            if all(np.all(leaf) for leaf in valid):
                return Step(Place(new, got.parameters), rate, got.valid.mass)
            if self.freeze == "all":
                break
            if all(np.any(leaf) for leaf in valid):
                mixed = select(got.valid, new, here)
                return Step(Place(mixed, self.model.parameters(mixed)), rate, got.valid.mass)
            rate /= 2  # a covariance that all classes share: only a shorter step keeps it
        return Step(Place(here, at.theta), 0.0, np.zeros(len(here.mass), dtype=bool))


@dataclass(frozen=True, eq=False)
class Minibatches(Calibration):
    """A step goes through all rows, piece by piece."""

    pieces: tuple[Data, ...] = ()

    def step(self, at: Summed, rate: float) -> Course[Place[AnyStatistics]]:
        place = Place(at.point, at.theta)
        for piece in self.pieces:
            place = self.moved((yield from self.evaluate_on(piece, place)), rate)
        return place
