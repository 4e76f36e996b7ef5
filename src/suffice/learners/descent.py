"""The loop of every iterative learner, and descent in the space of statistics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Generic, NamedTuple, Protocol, TypeAlias, TypeVar, cast

import numpy as np

from suffice._core.vector import Array, Vector, select
from suffice.data import Data
from suffice.learners.base import Ask, Course, Evaluate, Evaluation, Outcome, V
from suffice.learners.stopping import AnyIterate, Iterate, Settled, Watch
from suffice.losses import Loss, Losses
from suffice.models import AnyModel, AnyStatistics, Joint, Sums

P = TypeVar("P", bound=Vector)  # points
G = TypeVar("G", bound=Vector)  # directions
Elsewhere: TypeAlias = Callable[[object], Course[float]]  # the loss of parameters on other rows
SHRINK = 0.4  # of an adaptive rate after a step that had to be taken back
LEAST = 1e-10  # a rate below this goes nowhere


class Place(NamedTuple, Generic[P]):
    """Where a step leads: a point, and its parameters."""

    point: P
    theta: object


class Problem(Protocol[P, G]):
    """What is descended: how a place does, and where a step of some rate leads."""

    def evaluate(self, place: Place[P]) -> Course[Iterate[P, G]]:
        """One pass over the data."""
        ...

    def step(self, at: Iterate[P, G], rate: float) -> Course[Place[P]]:
        """The next place."""
        ...


def no_pass(value: V) -> Course[V]:
    """A course that asks for nothing."""
    return value
    yield  # what makes it a course


@dataclass(frozen=True)
class Rate:
    """How long steps are: fixed, falling, or adaptive, where a step that raises the objective is taken back."""

    first: float
    adaptive: bool = False
    grow: float = 1.5
    most: float = np.inf
    momentum: float = 0.0  # share of the last step that goes into the next, as long as the objective falls
    falling: bool = False  # with one over the square root of the iteration
    enough: float = 0.0  # share of the first: shorter steps need not be tried, where directions are no gradients

    def after(self, length: float, iteration: int) -> float:
        """The length of the step after one that was kept."""
        if self.falling:
            return float(self.first / np.sqrt(iteration + 1))
        return min(length * self.grow, self.most) if self.adaptive else length


@dataclass
class LossRecord:
    """The losses of every pass, and whether its step was kept."""

    passes: dict[str, list[float]] = field(
        default_factory=lambda: {
            name: [] for name in ("log_loss", "soft_error", "error", "objective", "rate", "accepted")
        }
    )

    def add(self, at: AnyIterate, rate: float, accepted: bool) -> None:
        """One more pass."""
        row = {**at.losses.means(), "objective": at.objective, "rate": rate, "accepted": accepted}
        for name, value in row.items():
            self.passes[name].append(float(value))


def descend(
    problem: Problem[P, G],
    start: Place[P],
    rate: Rate,
    watch: Watch,
    max_iter: int,
    elsewhere: Elsewhere | None = None,
    moves: bool = False,
    if_stuck: str = "lower the rate, or standardise the features",
) -> Course[Outcome]:
    """The iterate that the stopping rule keeps; `elsewhere` is the loss of parameters on other rows.

    `moves` tells whether points are statistics, which the outcome then has as `moved`; `if_stuck` says what to do if no
    step leads down.
    """
    record = LossRecord()
    at = yield from problem.evaluate(start)
    record.add(at, 0.0, accepted=True)
    watch.see(at, rate.first, (yield from elsewhere(at.theta)) if elsewhere else None)
    length, ended, before = rate.first, False, None
    for iteration in range(max_iter - 1):
        place = yield from problem.step(_pushed(at, before, rate.momentum / length), length)
        new = yield from problem.evaluate(place)
        kept = not rate.adaptive or new.objective <= at.objective
        record.add(new, length, kept)
        if not kept:
            flat = before is None and new.objective - at.objective <= watch.tol * length / rate.first
            if flat:  # no further down from here, and hardly up
                ended = True
                break
            length, before = length * SHRINK, None
            if length < rate.enough * rate.first:
                ended = True
                break
            if length < LEAST:
                ended = watch.fall <= max(watch.tol, 1e-9)  # at the bottom, as far as numbers go
                break
            continue
        ended = watch.see(new, length, (yield from elsewhere(new.theta)) if elsewhere else None)
        at, before = new, at.point
        if ended:
            break
        length = rate.after(length, iteration + 1)
    complaints = []
    if length < LEAST and not ended:
        complaints.append(("no step lowers the objective", if_stuck))
    elif not ended and watch.settles:
        complaints.append(("still falling", "raise max_iter or tol"))
    elif ended and isinstance(watch.rule, Settled) and watch.fall < -watch.tol:
        ended = False
        complaints.append(("the objective rose", "lower the rate"))
    best = watch.kept or at
    if watch.rule.value(best) > watch.first + watch.tol and not complaints:
        complaints.append(("it ended above its start", "lower the rate, or let stop be 'log-loss'"))
    error = best.losses.means()["error"]
    moved = cast(AnyStatistics, best.point) if moves else None
    return Outcome(best.theta, moved, record.passes, ended, error, tuple(complaints), residual=best.residual)


def _pushed(at: Iterate[P, G], before: P | None, weight: float) -> Iterate[P, G]:
    """An iterate whose direction goes on where the last step went."""
    if before is None or not weight:
        return at
    return replace(at, direction=at.direction + weight * cast(G, at.point - before))


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
        """A step, except for what it would leave without parameters: the block concerned stays, or everything does."""
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
