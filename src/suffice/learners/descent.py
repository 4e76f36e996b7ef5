"""The loop of every iterative learner, and the rules by which it stops.

`descend` alternates `problem.evaluate` (one pass over the data: losses, direction, objective) and `problem.step` (where
a step of some rate leads, mostly without a pass). A `Rate` says how long steps are. A `Watch` follows a stopping rule:
it decides whether an iterate is the last, and which iterate is returned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Generic, NamedTuple, Protocol, TypeAlias, TypeVar, cast

import numpy as np

from suffice._core.vector import Array, Vector, total
from suffice.learners.base import Course, Outcome, V
from suffice.losses import Losses
from suffice.models import AnyStatistics

P = TypeVar("P", bound=Vector)  # points
G = TypeVar("G", bound=Vector)  # directions
P_co = TypeVar("P_co", bound=Vector, covariant=True)
G_co = TypeVar("G_co", bound=Vector, covariant=True)
Elsewhere: TypeAlias = Callable[[object], Course[float]]  # the loss of parameters on held-out rows
SHRINK = 0.4  # factor of an adaptive rate after a rejected step
MIN_RATE = 1e-10  # a shorter step changes nothing
PATIENCE = 5  # iterations without a better log loss on held-out rows


@dataclass(frozen=True, eq=False)
class Iterate(Generic[P_co, G_co]):
    """A point of the descent: its parameters, its losses and direction from one pass, and the objective."""

    point: P_co
    theta: object
    losses: Losses
    direction: G_co
    objective: float
    cache: dict[str, Array] = field(default_factory=dict)  # results of a step, for shorter ones from the same point
    residual: Array | None = None  # (k,) the mean of Y - P over the rows, if directions come from it
    promised: float = np.inf  # predicted fall of the objective in the next step, if the problem can predict it


AnyIterate: TypeAlias = Iterate[Vector, Vector]


@dataclass(frozen=True)
class StoppingRule:
    """When a descent ends, and which iterate is returned: that of least `value`, or the last.

    `ended(before, at, pace)` is true if the iterate `at` is the last; `pace` is the rate as a share of the first one.
    """

    ended: Callable[[AnyIterate, AnyIterate, float], bool]
    value: Callable[[AnyIterate], float] = lambda at: at.objective
    keeps_last: bool = False  # the last iterate is returned
    drops_last: bool = False  # the iterate that ends the descent is not returned
    settles: bool = False  # warn if `max_iter` comes first
    patient: bool = False  # the objective may rise for a while
    falls: bool = False  # it ends where the objective does not fall


def settled(tol: float) -> StoppingRule:
    """The objective falls by no more than `tol`, or rises; the least is returned."""

    def ended(before: AnyIterate, at: AnyIterate, pace: float) -> bool:
        # A short step changes little, so that it needs a smaller tolerance.
        return not before.objective - at.objective > tol * min(1.0, pace)

    return StoppingRule(ended, settles=True, falls=True)


def near(tol: float, most: float = np.inf) -> StoppingRule:
    """The step after the next one is predicted to lower the objective by no more than `tol`; the least is returned.

    Predicted falls are assumed to go on shrinking by the same factor. The next step may promise no more than `most`.
    """

    def ended(before: AnyIterate, at: AnyIterate, _: float) -> bool:
        ahead = at.promised * min(before.promised, at.promised)  # both sides are multiplied by before.promised
        return at.promised <= most and ahead <= tol * before.promised

    return StoppingRule(ended, settles=True)


def calm(tol: float) -> StoppingRule:
    """The objective changes by no more than `tol`: for steps that may go uphill for a while; the least is returned."""
    return StoppingRule(lambda before, at, _: abs(before.objective - at.objective) <= tol, settles=True, patient=True)


def soft_error_rises(_: float) -> StoppingRule:
    """The soft error rises; the iterate before that is returned."""
    return StoppingRule(
        lambda before, at, _: bool(at.losses.soft_error > before.losses.soft_error),
        lambda at: at.losses.means()["soft_error"],
        keeps_last=True,
        drops_last=True,
    )


def small_change(tol: float) -> StoppingRule:
    """The parameters change by no more than `tol` of their size, as in nblr; the last is returned."""

    def ended(before: AnyIterate, at: AnyIterate, _: float) -> bool:
        change = total((at.point - before.point).map(abs))
        return change / total(before.point.map(lambda value: abs(value) + 1e-6)) <= tol

    return StoppingRule(ended, keeps_last=True, settles=True)


def never(*_: object) -> bool:
    """A descent that only `max_iter` ends."""
    return False


RULES: dict[str | None, Callable[[float], StoppingRule]] = {
    "log-loss": settled,
    "soft-error": soft_error_rises,
    "best-error": lambda _: StoppingRule(never, lambda at: at.losses.means()["error"]),
    "change": small_change,
    None: lambda _: StoppingRule(never, keeps_last=True),
}
STOPS = ("log-loss", "soft-error", "best-error", None)


@dataclass
class Watch:
    """A stopping rule at work: the best iterate so far, and how the objective has been falling."""

    rule: StoppingRule
    tol: float  # change of the objective that counts as none where the rule is not asked
    first_rate: float = 1.0
    held_out: bool = False  # iterates are judged by their loss on held-out rows, of which the least is returned
    kept: AnyIterate | None = None
    last: AnyIterate | None = None
    value: float = np.inf  # of `kept`
    first: float = np.inf  # of the start
    since: int = 0  # iterations since a better one
    fall: float = np.inf

    def see(self, at: AnyIterate, rate: float, elsewhere: float | None = None) -> bool:
        """Record an iterate, with its loss on held-out rows if there are any; True if it is the last."""
        before, self.last = self.last, at
        ended = False
        if before is not None:
            self.fall = before.objective - at.objective
            ended = self.rule.ended(before, at, rate / self.first_rate)
        if ended and not self.held_out and self.rule.drops_last:
            return True
        self.first = self.rule.value(at) if before is None else self.first
        value = self.rule.value(at) if elsewhere is None else elsewhere
        better = self.kept is None or value < self.value
        if better or (self.rule.keeps_last and not self.held_out):
            self.kept, self.value = at, value
        self.since = 0 if better else self.since + 1
        return ended or ((self.held_out or self.rule.patient) and self.since >= PATIENCE)

    @property
    def settles(self) -> bool:
        """True if reaching `max_iter` before the end is worth a warning."""
        return self.rule.settles and not self.held_out


class Place(NamedTuple, Generic[P]):
    """A point, and its parameters."""

    point: P
    theta: object


class Problem(Protocol[P, G]):
    """A descent problem: how good a place is, and where a step of some rate leads."""

    def evaluate(self, place: Place[P]) -> Course[Iterate[P, G]]:
        """One pass over the data."""
        ...

    def step(self, at: Iterate[P, G], rate: float) -> Course[Place[P]]:
        """Return the point and parameters that a step of this rate leads to; the objective is not yet known."""
        ...


def no_pass(value: V) -> Course[V]:
    """A course that asks for nothing."""
    return value
    yield  # makes this function a generator


@dataclass(frozen=True)
class Rate:
    """The lengths of steps: fixed, falling, or adaptive, where a step that raises the objective is rejected."""

    first: float
    adaptive: bool = False
    grow: float = 1.5
    most: float = np.inf
    momentum: float = 0.0  # share of the last step that is added to the next, as long as the objective falls
    falling: bool = False  # divide by the square root of the iteration
    # End once the rate is below this share of the first: where directions are not gradients, shorter steps do not help.
    enough: float = 0.0

    def after(self, length: float, iteration: int) -> float:
        """Return the length of the step after an accepted one."""
        if self.falling:
            return float(self.first / np.sqrt(iteration + 1))
        return min(length * self.grow, self.most) if self.adaptive else length


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
    """Descend from `start`, and return the iterate that the stopping rule chooses.

    `elsewhere` is the loss of parameters on held-out rows. With `moves`, points are statistics, which the outcome gets
    as `moved`. `if_stuck` is the advice if no step lowers the objective.
    """
    passes: dict[str, list[float]] = {}

    def record(at: AnyIterate, rate: float, accepted: bool) -> None:
        for name, value in {**at.losses.means(), "objective": at.objective, "rate": rate, "accepted": accepted}.items():
            passes.setdefault(name, []).append(float(value))

    at = yield from problem.evaluate(start)
    record(at, 0.0, accepted=True)
    watch.see(at, rate.first, (yield from elsewhere(at.theta)) if elsewhere else None)
    length, ended, before = rate.first, False, None
    for iteration in range(max_iter - 1):
        place = yield from problem.step(_pushed(at, before, rate.momentum / length), length)
        new = yield from problem.evaluate(place)
        accepted = not rate.adaptive or new.objective <= at.objective
        record(new, length, accepted)
        if not accepted:
            # A plain step (without momentum) that goes hardly uphill: this is the bottom.
            flat = before is None and new.objective - at.objective <= watch.tol * length / rate.first
            if flat:
                ended = True
                break
            # Try again from the same point, shorter and without momentum.
            length, before = length * SHRINK, None
            if length < rate.enough * rate.first:
                ended = True
                break
            if length < MIN_RATE:
                # Rounding hides any further fall; it is the bottom only if the last fall was as small.
                ended = watch.fall <= max(watch.tol, 1e-9)
                break
            continue
        ended = watch.see(new, length, (yield from elsewhere(new.theta)) if elsewhere else None)
        at, before = new, at.point
        if ended:
            break
        length = rate.after(length, iteration + 1)
    complaints = []
    if length < MIN_RATE and not ended:
        complaints.append(("no step lowers the objective", if_stuck))
    elif not ended and watch.settles:
        complaints.append(("still falling", "raise max_iter or tol"))
    elif ended and watch.rule.falls and watch.fall < -watch.tol:
        # A fixed rate that was too high: the rule saw no fall because the objective went up.
        ended = False
        complaints.append(("the objective rose", "lower the rate"))
    best = watch.kept or at
    if watch.rule.value(best) > watch.first + watch.tol and not complaints:
        complaints.append(("it ended above its start", "lower the rate, or let stop be 'log-loss'"))
    error = best.losses.means()["error"]
    moved = cast(AnyStatistics, best.point) if moves else None
    return Outcome(best.theta, moved, passes, ended, error, tuple(complaints), residual=best.residual)


def _pushed(at: Iterate[P, G], before: P | None, weight: float) -> Iterate[P, G]:
    """Add a share of the last step to the direction of an iterate."""
    if before is None or not weight:
        return at
    return replace(at, direction=at.direction + weight * cast(G, at.point - before))
