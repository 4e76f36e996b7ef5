"""Stopping rules: when a descent is at its end, and which of its iterates is kept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Generic, TypeAlias, TypeVar

import numpy as np

from suffice._core.vector import Array, Vector, total
from suffice.losses import Losses

P_co = TypeVar("P_co", bound=Vector, covariant=True)  # points
G_co = TypeVar("G_co", bound=Vector, covariant=True)  # directions
PATIENCE = 5  # iterations without a better log loss on held-out rows


@dataclass(frozen=True, eq=False)
class Iterate(Generic[P_co, G_co]):
    """A point of the descent: its parameters, its losses and direction from one pass, and the objective."""

    point: P_co
    theta: object
    losses: Losses
    direction: G_co
    objective: float
    cache: dict[str, Array] = field(default_factory=dict)  # what a step has worked out, for shorter ones from here
    residual: Array | None = None  # (k,) the mean of Y - P over the rows, where directions come from these
    promised: float = np.inf  # by how much the objective should fall in the next step, where that can be told


AnyIterate: TypeAlias = Iterate[Vector, Vector]


@dataclass(frozen=True)
class Rule(ABC):
    """When a descent ends, and which iterate is kept: the last one, or that of least `value`."""

    keeps_last: ClassVar[bool] = False
    settles: ClassVar[bool] = False  # whether a descent that has not come to this end is worth a warning
    patient: ClassVar[bool] = False  # whether it may rise for a while
    drops_last: ClassVar[bool] = False  # whether the iterate that ends it is not kept

    @abstractmethod
    def ended(self, before: AnyIterate, at: AnyIterate, pace: float) -> bool:
        """Whether this iterate is the last; `pace` is the rate as a share of the first one."""

    def value(self, at: AnyIterate) -> float:
        """What the kept iterate has least of."""
        return at.objective


@dataclass(frozen=True)
class Settled(Rule):
    """The objective falls by no more than `tol`, or rises; the least is kept."""

    settles: ClassVar[bool] = True
    tol: float = 1e-4

    def ended(self, before: AnyIterate, at: AnyIterate, pace: float) -> bool:
        return not before.objective - at.objective > self.tol * min(1.0, pace)  # a short step changes little


@dataclass(frozen=True)
class Near(Rule):
    """After the next step, the one that follows promises to lower the objective by no more than `tol`.

    What is promised is taken to fall by the same factor as before. The least is kept.
    """

    settles: ClassVar[bool] = True
    tol: float = 1e-4
    most: float = np.inf  # that the next step may promise

    def ended(self, before: AnyIterate, at: AnyIterate, pace: float) -> bool:  # noqa: ARG002 - as all rules are asked
        ahead = at.promised * min(before.promised, at.promised)  # times what was promised before
        return at.promised <= self.most and ahead <= self.tol * before.promised


@dataclass(frozen=True)
class Calm(Rule):
    """The objective changes by no more than `tol`: for steps that may lead up for a while; the least is kept."""

    settles: ClassVar[bool] = True
    patient: ClassVar[bool] = True
    tol: float = 1e-4

    def ended(self, before: AnyIterate, at: AnyIterate, pace: float) -> bool:  # noqa: ARG002 - steps get short by plan
        return abs(before.objective - at.objective) <= self.tol


@dataclass(frozen=True)
class SoftErrorRises(Rule):
    """The soft error rises; the iterate before that is kept."""

    keeps_last: ClassVar[bool] = True
    drops_last: ClassVar[bool] = True

    def ended(self, before: AnyIterate, at: AnyIterate, pace: float) -> bool:  # noqa: ARG002 - as all rules are asked
        return bool(at.losses.soft_error > before.losses.soft_error)

    def value(self, at: AnyIterate) -> float:
        return at.losses.means()["soft_error"]


@dataclass(frozen=True)
class SmallChange(Rule):
    """The parameters change by no more than `tol` of their size; the last is kept."""

    keeps_last: ClassVar[bool] = True
    settles: ClassVar[bool] = True
    tol: float = 1e-4

    def ended(self, before: AnyIterate, at: AnyIterate, pace: float) -> bool:  # noqa: ARG002 - as all rules are asked
        return relative_change(before.point, at.point) <= self.tol


@dataclass(frozen=True)
class Never(Rule):
    """After `max_iter`; the last is kept."""

    keeps_last: ClassVar[bool] = True

    def ended(self, before: AnyIterate, at: AnyIterate, pace: float) -> bool:  # noqa: ARG002 - as all rules are asked
        return False


@dataclass(frozen=True)
class LeastError(Never):
    """After `max_iter`; the iterate of least training error is kept."""

    keeps_last: ClassVar[bool] = False

    def value(self, at: AnyIterate) -> float:
        return at.losses.means()["error"]


RULES: dict[str | None, Callable[[float], Rule]] = {
    "log-loss": Settled,
    "soft-error": lambda _: SoftErrorRises(),
    "best-error": lambda _: LeastError(),
    "change": SmallChange,
    None: lambda _: Never(),
}
STOPS = ("log-loss", "soft-error", "best-error", None)


def relative_change(before: Vector, after: Vector, eps: float = 1e-6) -> float:
    """The prospective parameter change of nblr: sum |dw| / sum (|w| + eps)."""
    return total((after - before).map(abs)) / total(before.map(lambda value: abs(value) + eps))


@dataclass
class Watch:
    """A rule at work: what was kept so far, and how the objective has been falling."""

    rule: Rule
    tol: float
    first_rate: float = 1.0
    held_out: bool = False  # whether iterates are judged by their loss on other rows, of which the least is kept
    kept: AnyIterate | None = None
    last: AnyIterate | None = None
    value: float = np.inf
    first: float = np.inf  # what the start had
    since: int = 0
    fall: float = np.inf

    def see(self, at: AnyIterate, rate: float, elsewhere: float | None = None) -> bool:
        """Take notice of an iterate, with its loss on other rows if it is judged by that; whether it is the last."""
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
        """Whether `max_iter` before the end is worth a warning."""
        return self.rule.settles and not self.held_out
