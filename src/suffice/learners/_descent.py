"""The loop of every iterative learner: evaluate, step, keep or take back, and know when to stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Generic, NamedTuple, Protocol, TypeAlias, TypeVar, cast

import numpy as np

from suffice._vector import Vector
from suffice.learners._base import Course, Outcome, V
from suffice.learners._stopping import AnyIterate, Iterate, Settled, Watch
from suffice.models import AnyStatistics

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
class Record:
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
    record = Record()
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
