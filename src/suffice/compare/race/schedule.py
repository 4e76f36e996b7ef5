"""What a race has measured so far, and what it does next: trials on samples, folds, and which of them fit its time."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from suffice._core.vector import Array
from suffice.compare.race.trial import Fold, SampleTrial
from suffice.compare.race.workers import FAILED
from suffice.model_selection.measures import Result

T = TypeVar("T", SampleTrial, Fold)

MAX_ROWS_WITHOUT_TRIAL = 2000  # with no more training rows, the first fold is the trial
TRIAL_SIZES = {1000: 2, 4000: 2, 16_000: 8}  # rows of a trial: the training rows must be at least this many times more
FEWER_FOLDS = (5, 3, 2)  # if there is no time for as many as requested
MIN_SAMPLE = 10_000  # rows
NEARLY_ALL = 0.9  # the share of the affordable methods that must stay affordable with more folds
MIN_FIT_SECONDS = 5.0  # before a fit is ended
MIN_TRIAL_SECONDS = 1.0  # for all trials of a method
UNTRIED = "there was no time for a trial"

# for choosing a model that is then fitted to all rows
FIRST_SECONDS, MIN_SECONDS = 5.0, 0.2  # for the first fold of the first method, and of any other
SAFETY = 1.2  # times a forecast
RESTART_SECONDS = 1.0  # to start a process after another was ended
NO_TIME = "no time was left"


@dataclass(eq=False)
class Findings:
    """The measurements of a race so far, and the reasons for those that are missing."""

    methods: tuple[str, ...]
    folds: int
    rows: int  # that take part
    results: dict[tuple[str, int], Result] = field(default_factory=dict)  # by method and fold
    samples: dict[str, Result] = field(default_factory=dict)  # of the largest trial, with its `size`
    skipped: dict[str, str] = field(default_factory=dict)  # why a method is not on all folds
    untried: set[str] = field(default_factory=set)  # skipped methods without time for a trial
    notes: list[str] = field(default_factory=list)
    fold_of: Array | None = None  # (n,) the fold of every row once it is known; -1 for rows that take no part
    importances: tuple[str, Result] | None = None  # of the winner
    interrupted: bool = False
    doing: str = ""  # what is under way, if it is worth showing
    mixed: bool = False  # True if the table has categories or missing values, which methods receive in several ways
    compiling: float = 0.0  # seconds that do not count, since they are spent once on a machine
    seconds: float = 0.0

    @property
    def failures(self) -> dict[str, str]:
        """The methods that could not learn, and why."""
        return {method: result[FAILED] for (method, _), result in self.results.items() if FAILED in result}

    def done(self, method: str) -> list[int]:
        """Return the folds on which a method has been measured."""
        return sorted(fold for (name, fold), result in self.results.items() if name == method and FAILED not in result)

    def trial(self, method: str) -> str:
        """Return the result of a method's largest trial in brackets; empty without one, or if there are folds."""
        sample = self.samples.get(method)
        if sample is None or self.done(method):
            return ""
        return f" ({sample['error']:.1%} of rows wrong after {sample['size']:,} rows)"

    def interrupt(self) -> None:
        """Record that the user has interrupted the race."""
        self.interrupted = True
        for method in self.methods:
            folds = len(self.done(method))
            if folds < self.folds and method not in self.failures:
                self.skipped.setdefault(method, f"{folds} of {self.folds} folds, as it was interrupted")

    def train(self, folds: int) -> int:
        """Return the number of training rows with this number of folds."""
        return int(self.rows * (1 - 1 / folds))


@dataclass(frozen=True)
class Clock:
    """A deadline, and the seconds from the start to it."""

    deadline: float
    whole: float

    def left(self) -> float:
        """Return the seconds until the deadline."""
        return self.deadline - time.monotonic()

    def third(self) -> Clock:
        """Return a clock for a third of the time left."""
        return Clock(time.monotonic() + self.left() / 3, self.left() / 3)


class Agenda(ABC, Generic[T]):
    """Tasks in an order that may depend on the results so far."""

    def __init__(self, found: Findings, clock: Clock, tasks: Iterable[T]) -> None:
        self.found, self.clock = found, clock
        self.tasks: deque[T] = deque(tasks)

    @abstractmethod
    def next(self) -> T | None:
        """Return the task to start now; None if the next one in line has become pointless."""

    @abstractmethod
    def limit(self, task: T) -> float:
        """Return the seconds that a task may take."""

    @abstractmethod
    def hear(self, task: T, result: Result | None) -> None:
        """Take the result of a task; None if it took too long."""

    @abstractmethod
    def close(self) -> None:
        """Record that nothing more will be started."""

    def is_out(self, method: str) -> bool:
        """True if a method has failed or was skipped."""
        return method in self.found.failures or method in self.found.skipped


class SampleRounds(Agenda[SampleTrial]):
    """Growing samples for every method, to see how long fits take; each method has an equal share of the time."""

    def __init__(self, found: Findings, sizes: list[int], clock: Clock, jobs: int) -> None:
        share = max(MIN_TRIAL_SECONDS, clock.whole * jobs / len(found.methods))
        super().__init__(found, clock, (SampleTrial(method, tuple(sizes), share) for method in found.methods))
        self.seconds: dict[str, dict[int, float]] = {}  # by method and rows
        self.failed: set[str] = set()

    def next(self) -> SampleTrial:
        return self.tasks.popleft()

    def limit(self, task: SampleTrial) -> float:
        return min(self.clock.left(), max(2 * MIN_FIT_SECONDS, task.seconds))

    def hear(self, task: SampleTrial, result: Result | None) -> None:
        if result is None:
            if self.clock.left() > 0:
                self.found.skipped[task.method] = f"{task.sizes[0]:,} rows alone take too long for the time there is"
            else:
                self._leave_untried(task.method)
        elif FAILED in result:
            self.failed.add(task.method)  # its first fold will say why
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


class Rounds(Agenda[Fold]):
    """One fold of every method first, then always the next fold of the method that will have taken the least time.

    So cheap methods finish while expensive ones begin, and every method has a first fold early.
    """

    def __init__(self, found: Findings, methods: tuple[str, ...], costs: dict[str, float], clock: Clock) -> None:
        super().__init__(found, clock, (Fold(name, at) for at in range(found.folds) for name in methods))
        self.methods, self.costs = methods, costs
        self.why: dict[str, str] = {}  # methods are not measured on all folds

    def next(self) -> Fold | None:
        task = min(self.tasks, key=self._due)
        self.tasks.remove(task)
        if self.is_out(task.method):
            return None
        if self.costs.get(task.method, 0.0) > self.clock.left():
            self._unfinished(task.method, "the next would not end in time")
            return None
        return task

    def _due(self, task: Fold) -> tuple[bool, float]:
        known = not task.number or any(name == task.method for name, _ in self.found.results)
        return task.number > 0, (task.number + 1) * self.costs.get(task.method, 0.0) if known else float("inf")

    def limit(self, task: Fold) -> float:  # noqa: ARG002 - all folds are alike
        return min(self.clock.left(), max(MIN_FIT_SECONDS, self.clock.whole / 5))

    def hear(self, task: Fold, result: Result | None) -> None:
        found, method = self.found, task.method
        if result is None:
            self._unfinished(method, "the time was up" if self.clock.left() <= 1 else "the next takes too long")
            return
        found.results[method, task.number] = result
        if method in self.why:  # this fold was under way when another one was ended
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


class ChoiceRounds(Agenda[Fold]):
    """All methods on one fold after another, as long as the best still has time to learn all rows.

    `best` is the method of least log loss among those that can learn all rows in time; None if nothing was measured.

    Parameters
    ----------
    found : Findings
        The first method should be a quick one, so that something is measured.
    growth : float
        All rows, as a multiple of the training rows of a fold.
    clock : Clock
        The time for the folds and for learning all rows.
    """

    def __init__(self, found: Findings, growth: float, clock: Clock) -> None:
        super().__init__(found, clock, (Fold(name, at) for at in range(found.folds) for name in found.methods))
        self.growth, self.began = growth, 0.0  # the latter of the task under way
        self.best: str | None = None

    @property
    def measured(self) -> list[str]:
        """The methods that take part in the comparison."""
        return [method for method in self.found.methods if not self.is_out(method) and self.found.done(method)]

    @property
    def ranking(self) -> list[str]:
        """These methods, by log loss."""
        return sorted(self.measured, key=self.log_loss)

    @property
    def folds(self) -> int:
        """The number of folds that all of them have been measured on."""
        return min((len(self.found.done(method)) for method in self.measured), default=0)

    def results(self, method: str) -> list[Result]:
        """Return the results of a method on these folds."""
        return [self.found.results[method, fold] for fold in range(self.folds)]

    def refit_seconds(self, method: str) -> float:
        """Forecast the seconds to learn all rows, which grow at most in proportion to the rows."""
        return self.growth * float(np.mean([result["seconds"]["fit"] for result in self.results(method)]))

    def mean(self, method: str, measure: str) -> float:
        """Return the mean of a measure over these folds."""
        return float(np.mean([result[measure] for result in self.results(method)]))

    def log_loss(self, method: str) -> float:
        """Return the mean log loss over these folds."""
        return self.mean(method, "log_loss")

    def gains(self, method: str) -> Array:
        """Return the gains of a method over chance, for every row of these folds (n, 2)."""
        return np.concatenate([result["gains"] for result in self.results(method)])

    def next(self) -> Fold | None:
        task = self.tasks.popleft()
        if self.is_out(task.method):
            return None
        if task.number == 0 and self.limit(task) < MIN_SECONDS:
            self.found.skipped[task.method] = NO_TIME
            return None
        if task.number > 0 and self._rest_of_round(task) > self._spare():
            self.tasks.clear()
            return None
        self.found.doing, self.began = task.method, time.monotonic()
        return task

    def limit(self, task: Fold) -> float:
        if task.number > 0:
            return self._spare()
        # half of the time is left to the methods that follow
        return max(self._spare() / 2, FIRST_SECONDS if task.method == self.found.methods[0] else 0.0)

    def hear(self, task: Fold, result: Result | None) -> None:
        if result is not None:
            self.found.results[task.method, task.number] = result
        elif task.number > 0:
            self.tasks.clear()
        else:
            seconds = time.monotonic() - self.began
            self.found.skipped[task.method] = f"it was ended after {seconds:.1f} seconds, more than its share"
        self._judge()

    def close(self) -> None:
        self.found.doing = ""

    def _rest_of_round(self, task: Fold) -> float:
        """Forecast the seconds for this fold of the methods that are still to be measured on it."""
        later = [task.method, *(other.method for other in self.tasks if other.number == task.number)]
        walls = [self.found.results[method, task.number - 1]["wall"] for method in later if method in self.measured]
        return float(sum(walls))

    def _spare(self) -> float:
        """Return the seconds left, less those that the best needs to learn all rows."""
        refit = 0.0 if self.best is None else SAFETY * self.refit_seconds(self.best)
        return self.clock.left() - RESTART_SECONDS - refit

    def _judge(self) -> None:
        """Choose the method of least log loss among those with time to learn all rows, or else the quickest."""
        in_time = [m for m in self.measured if SAFETY * self.refit_seconds(m) <= self.clock.left()]
        quickest = sorted(self.measured, key=self.refit_seconds)[:1]
        self.best = min(in_time or quickest, key=self.log_loss, default=None)


def trial_sizes(train: int) -> list[int]:
    """Return the sample sizes of the trials for this number of training rows; none if a fold is as quick.

    >>> trial_sizes(1500), trial_sizes(9000), trial_sizes(900_000)
    ([], [1000, 4000], [1000, 4000, 16000])
    """
    enough = train > MAX_ROWS_WITHOUT_TRIAL
    return [size for size, times in TRIAL_SIZES.items() if times * size <= train] if enough else []


def row_counts(total: int) -> list[int]:
    """Return all rows, a third of them, a ninth, and so on.

    >>> row_counts(5000), row_counts(100_000)
    ([5000], [100000, 33333, 11111])
    """
    counts = [total]
    while counts[-1] // 3 >= MIN_SAMPLE:
        counts.append(counts[-1] // 3)
    return counts


def affordable(costs: Mapping[str, float], folds: int, budget: float) -> list[str]:
    """Return the methods, cheapest first, that can be measured on all folds within the budget.

    >>> affordable({"slow": 9.0, "quick": 1.0, "fair": 2.0}, 3, 10.0)
    ['quick', 'fair']
    """
    taken, spent = [], 0.0
    for method in sorted(costs, key=lambda name: costs[name]):
        spent += folds * costs[method]
        if spent > budget:
            break
        taken.append(method)
    return taken


def folds_in_time(costs: Mapping[str, float], wanted: int, budget: float) -> int:
    """Return the most folds that lose no more than a tenth of the methods that the fewest folds can afford.

    >>> folds_in_time({"a": 1.0, "b": 1.0}, 10, 100.0), folds_in_time({"a": 1.0, "b": 1.0}, 10, 12.0)
    (10, 5)
    """
    choices: Sequence[int] = [wanted, *(folds for folds in FEWER_FOLDS if folds < wanted)]
    most = len(affordable(costs, choices[-1], budget))
    return next(folds for folds in choices if len(affordable(costs, folds, budget)) >= NEARLY_ALL * most)


def about(seconds: float) -> str:
    """Write a time with two digits.

    >>> about(0.4), about(34.2), about(400)
    ('1 s', '34 s', '7 min')
    """
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.0f} h"
