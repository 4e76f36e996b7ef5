"""What a contest has to do next: trials on samples, or folds; and what comes of each."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from suffice.compare.race.trial import Fold, SampleTrial
from suffice.compare.race.workers import FAILED
from suffice.model_selection.measures import Result

if TYPE_CHECKING:
    from suffice.compare.race.contest import Findings

LEAST = 5.0  # seconds that a fit has in any case before it is ended
UNTRIED = "there was no time for a trial"
SHARE = 1.0  # seconds that the trials of a method may take in any case


@dataclass(frozen=True)
class Clock:
    """When time is up, and how much there is in all."""

    deadline: float
    whole: float

    def left(self) -> float:
        """Seconds."""
        return self.deadline - time.monotonic()

    def third(self) -> Clock:
        """A third of what is left."""
        return Clock(time.monotonic() + self.left() / 3, self.left() / 3)


class Agenda(Protocol):
    """Tasks in an order that may change with what has been heard."""

    def waits(self) -> bool:
        """Whether something is left to start."""

    def next(self) -> Any:
        """The task to start now; None if the one that was due is not to be done after all."""

    def limit(self, task: Any) -> float:
        """The seconds that it has."""

    def hear(self, task: Any, result: Result | None) -> None:
        """What came of it; None where it took too long."""

    def close(self) -> None:
        """There is no more time, or nothing more to do."""


class SampleRounds:
    """Growing samples for every method, to see how long fits take: each has an equal share of the time for trials."""

    def __init__(self, found: Findings, sizes: list[int], clock: Clock, jobs: int) -> None:
        self.found, self.clock = found, clock
        share = max(SHARE, clock.whole * jobs / len(found.methods))
        self.tasks = deque(SampleTrial(method, tuple(sizes), share) for method in found.methods)
        self.seconds: dict[str, dict[int, float]] = {}  # by method and rows
        self.failed: set[str] = set()

    def waits(self) -> bool:
        return bool(self.tasks)

    def next(self) -> SampleTrial:
        return self.tasks.popleft()

    def limit(self, task: SampleTrial) -> float:
        return min(self.clock.left(), max(2 * LEAST, task.seconds))

    def hear(self, task: SampleTrial, result: Result | None) -> None:
        if result is None:
            if self.clock.left() > 0:
                self.found.skipped[task.method] = f"{task.sizes[0]:,} rows alone take too long for the time there is"
            else:
                self._leave_untried(task.method)
        elif FAILED in result:
            self.failed.add(task.method)  # as a fold will tell
        else:
            self.found.samples[task.method] = result
            self.seconds[task.method] = result["trials"]

    def close(self) -> None:
        for method in self.found.methods:
            if method not in self.seconds and method not in self.failed:
                self._leave_untried(method)

    def _leave_untried(self, method: str) -> None:
        if method not in self.found.skipped:
            self.found.skipped[method] = UNTRIED
            self.found.untried.add(method)


class Rounds:
    """First one fold of every method, then always the fold that brings a method to the least time spent on it.

    So cheap methods are through while expensive ones begin, and everybody has a first fold early.
    """

    def __init__(self, found: Findings, methods: tuple[str, ...], costs: dict[str, float], clock: Clock) -> None:
        self.found, self.methods, self.costs, self.clock = found, methods, costs, clock
        self.why: dict[str, str] = {}  # methods do not come to all folds
        self.tasks = [Fold(name, at) for at in range(found.folds) for name in methods]

    def waits(self) -> bool:
        return bool(self.tasks)

    def next(self) -> Fold | None:
        task = min(self.tasks, key=self._due)
        self.tasks.remove(task)
        if task.method in self.found.failures or task.method in self.found.skipped:
            return None
        if self.costs.get(task.method, 0.0) > self.clock.left():
            self._unfinished(task.method, "the next would not end in time")
            return None
        return task

    def _due(self, task: Fold) -> tuple[bool, float]:
        known = not task.number or any(name == task.method for name, _ in self.found.results)
        return task.number > 0, (task.number + 1) * self.costs.get(task.method, 0.0) if known else float("inf")

    def limit(self, task: Fold) -> float:  # noqa: ARG002 - all folds are alike
        return min(self.clock.left(), max(LEAST, self.clock.whole / 5))

    def hear(self, task: Fold, result: Result | None) -> None:
        found, method = self.found, task.method
        if result is None:
            self._unfinished(method, "the time was up" if self.clock.left() <= 1 else "the next takes too long")
            return
        found.results[method, task.number] = result
        if method in self.why:  # a fold that was under way when another one was ended
            self._unfinished(method, self.why[method])
        if FAILED not in result:
            self.costs[method] = float(np.median([found.results[method, fold]["wall"] for fold in found.done(method)]))

    def close(self) -> None:
        for method in self.methods:
            if len(self.found.done(method)) < self.found.folds and method not in self.found.failures:
                self._unfinished(method, "the time was up")

    def _unfinished(self, method: str, why: str) -> None:
        done = f"{len(self.found.done(method))} of {self.found.folds} folds"
        self.found.skipped[method] = f"{done}, as {self.why.setdefault(method, why)}"
