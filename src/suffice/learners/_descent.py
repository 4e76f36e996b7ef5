"""The loop of every iterative learner: evaluate, step, keep or take back, and know when to stop."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from sklearn.exceptions import ConvergenceWarning

from suffice._vector import Vector
from suffice.losses import Losses

SHRINK = 0.4  # of an adaptive rate after a step that had to be taken back
LEAST = 1e-10  # a rate below this goes nowhere
PATIENCE = 5  # iterations without a better log loss on held-out rows
STOPS = ("log-loss", "soft-error", "best-error", None)


@dataclass(frozen=True, eq=False)
class Iterate:
    """A point of the descent: its parameters, its losses and direction from one pass, and the objective."""

    point: Any
    theta: Any
    losses: Losses
    direction: Any
    objective: float


class Problem(Protocol):
    """What is descended: how a point does, and where a step of some rate leads."""

    def evaluate(self, point: Any) -> Iterate:
        """One pass over the data."""
        ...

    def step(self, at: Iterate, rate: float) -> Any:
        """The next point; no pass."""
        ...


@dataclass(frozen=True)
class Rate:
    """How long steps are: fixed, or adaptive between bounds, where a step that raises the objective is taken back."""

    first: float
    adaptive: bool = False
    grow: float = 1.5
    most: float = np.inf
    momentum: float = 0.0  # share of the last step that goes into the next, as long as the objective falls


@dataclass
class Watch:
    """A stopping rule: which iterate is kept, and whether the descent is at its end.

    "log-loss": ends when the objective settles or rises, keeps the least. "soft-error": ends when that rises, keeps the
    iterate before. "change": ends when the parameters hardly change, keeps the last. "best-error": keeps the iterate of
    least error. None: keeps the last. With `held_out`, a function to the log loss on other rows, the least of that is
    kept, and it ends when that has not fallen for a while.
    """

    stop: str | None
    tol: float
    first_rate: float
    held_out: Callable[[Any], float] | None = None
    kept: Iterate | None = None
    last: Iterate | None = None
    value: float = np.inf
    since: int = 0
    slack: float = 0.0  # share of the whole fall by which the objective may still be falling without a warning
    fallen: float = 0.0
    fall: float = np.inf

    def see(self, at: Iterate, rate: float) -> bool:
        """Take notice of an iterate; whether it is the last."""
        before, self.last = self.last, at
        if before is not None:
            self.fall = before.objective - at.objective
            self.fallen += self.fall
        ended = before is not None and self._ended(before, at, rate)
        if self.held_out is None and self.stop == "soft-error" and ended:
            return True
        value = self._value(at)
        better = self.kept is None or value < self.value
        if better or (self.held_out is None and self.stop in (None, "change", "soft-error")):
            self.kept, self.value = at, value
        self.since = 0 if better else self.since + 1
        return ended or (self.held_out is not None and self.since >= PATIENCE)

    def warn(self, record: Record) -> None:
        """Say that `max_iter` came before the end, if it matters."""
        settles = self.stop in ("log-loss", "change") and self.held_out is None
        if settles and not self.fall <= max(self.tol, self.slack * self.fallen):
            record.warn("still falling", "raise max_iter or tol")

    def _value(self, at: Iterate) -> float:
        if self.held_out is not None:
            return self.held_out(at.theta)
        return at.losses.means()["error"] if self.stop == "best-error" else at.objective

    def _ended(self, before: Iterate, at: Iterate, rate: float) -> bool:
        if self.stop == "soft-error":
            return bool(at.losses.soft_error > before.losses.soft_error)
        if self.stop == "change":
            return relative_change(before.point, at.point) <= self.tol
        if self.stop == "log-loss":  # a short step changes little without being near the end
            return not before.objective - at.objective > self.tol * min(1.0, rate / self.first_rate)
        return False


def relative_change(before: Vector, after: Vector, eps: float = 1e-6) -> float:
    """The prospective parameter change of nblr: sum |dw| / sum (|w| + eps)."""
    moved = (after - before).map(lambda value: abs(value).sum())
    size = before.map(lambda value: (abs(value) + eps).sum())
    return total(moved) / total(size)


def total(v: Vector) -> float:
    """The sum of all numbers of a vector."""
    parts: list[float] = []
    v.map(lambda value: parts.append(float(np.sum(value))))
    return sum(parts)


@dataclass
class Record:
    """The losses of every pass, shown as they come if the learner is verbose."""

    learner: Any
    show: Callable[[float, float], None]
    history: dict[str, list[float]] = field(
        default_factory=lambda: {name: [] for name in ("log_loss", "soft_error", "error", "objective", "rate")}
    )

    def add(self, at: Iterate, rate: float) -> None:
        """One more pass."""
        means = at.losses.means()
        for name, value in {**means, "objective": at.objective, "rate": rate}.items():
            self.history[name].append(float(value))
        self.show(means["log_loss"], means["error"])

    def __len__(self) -> int:
        return len(self.history["error"])

    def warn(self, what: str, do: str) -> None:
        """Say that learning did not end as it should, and which knob to turn."""
        who = type(self.learner).__name__
        warnings.warn(f"{who}: {what} after {len(self)} iterations; {do}", ConvergenceWarning, stacklevel=3)


@contextmanager
def recording(learner: Any) -> Iterator[Record]:
    """A record for a learner with `verbose` and `max_iter`."""
    if not learner.verbose:
        yield Record(learner, lambda *_: None)
        return
    name = type(learner).__name__
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(name, total=learner.max_iter)

        def show(log_loss: float, error: float) -> None:
            progress.update(task, advance=1, description=f"{name}: log loss {log_loss:.4f}, error {error:.4f}")

        yield Record(learner, show)


def descend(problem: Problem, start: Any, rate: Rate, watch: Watch, record: Record) -> tuple[Iterate, bool]:
    """The iterate that the stopping rule keeps, and whether it came to its end before `max_iter` passes."""
    at = problem.evaluate(start)
    record.add(at, 0.0)
    watch.see(at, rate.first)
    length, ended, before = rate.first, False, None
    for _ in range(record.learner.max_iter - 1):
        new = problem.evaluate(problem.step(pushed(at, before, rate.momentum / length), length))
        record.add(new, length)
        if rate.adaptive and not new.objective <= at.objective:
            length, before = length * SHRINK, None
            if length < LEAST:
                ended = watch.fall <= max(watch.tol, 1e-9)  # at the bottom, as far as numbers go
                break
            continue
        ended = watch.see(new, length)
        at, before = new, at.point
        if ended:
            break
        length = min(length * rate.grow, rate.most) if rate.adaptive else length
    kept = watch.kept or at
    if length < LEAST and not ended:
        record.warn("no step lowers the objective", "set the rate, or standardise the features")
    elif not ended:
        watch.warn(record)
    elif watch.stop == "log-loss" and watch.fall < -watch.tol:
        ended = False
        record.warn("the objective rose", "lower the rate, or leave it adaptive")
    return kept, ended


def pushed(at: Iterate, before: Any, weight: float) -> Iterate:
    """An iterate whose direction goes on where the last step went."""
    if before is None or not weight:
        return at
    return replace(at, direction=at.direction + weight * (at.point - before))


def check(learner: Any, **allowed: tuple[Callable[[Any], bool], str]) -> None:
    """ValueError unless each named parameter passes its test; the words say what is allowed."""
    for name, (test, words) in allowed.items():
        value = getattr(learner, name)
        if not test(value):
            raise ValueError(f"{type(learner).__name__}: {name} must be {words}, got {value!r}")


def _whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value > 0)


def _number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool) and bool(np.isfinite(value))


POSITIVE = (lambda v: _number(v) and v > 0, "a positive number")
NOT_NEGATIVE = (lambda v: _number(v) and v >= 0, "a number of at least 0")
COUNT = (_whole, "a whole number of at least 1")


def one_of(*values: Any) -> tuple[Callable[[Any], bool], str]:
    """A parameter that has one of some values."""
    return lambda v: any(v is value or (isinstance(v, str) and v == value) for value in values), f"one of {values}"


def or_else(value: Any, rule: tuple[Callable[[Any], bool], str]) -> tuple[Callable[[Any], bool], str]:
    """A parameter that may have a special value besides."""
    return lambda v: v is value or (isinstance(v, str) and v == value) or rule[0](v), f"{value!r} or {rule[1]}"
