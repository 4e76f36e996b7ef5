"""A comparison on one table within a time: every method on every fold, the cheap ones first."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from suffice._core.vector import Array
from suffice._runtime.messages import join_words
from suffice.compare.race.agenda import LEAST, Agenda, Clock, Rounds, SampleRounds
from suffice.compare.race.methods import METHODS
from suffice.compare.race.own import OwnTable
from suffice.compare.race.schedule import ENOUGH, about, affordable, folds_in_time, forecast, row_counts, sizes
from suffice.compare.race.trial import Bench, Compile, Importances, perform
from suffice.compare.race.workers import FAILED, Opened, Workers, scratch, warm_up
from suffice.model_selection.measures import Result, StratifiedFolds, sample_rows

Results = dict[tuple[str, int], Result]  # by method and fold
COMPILING = "compiling, once: later runs begin at once"
LONGEST = 300.0  # seconds for compiling
NOTICED = 2.0  # seconds of compiling from which on that is said
PATIENCE = 20.0  # seconds at most for importances, after all else


@dataclass(eq=False)
class Findings:
    """What has been measured so far, and what has not, with the reasons."""

    methods: tuple[str, ...]
    folds: int
    rows: int  # that take part
    results: Results = field(default_factory=dict)
    samples: dict[str, Result] = field(default_factory=dict)  # of the largest trial, with its `size`
    skipped: dict[str, str] = field(default_factory=dict)  # methods, and why they are not on all folds
    untried: set[str] = field(default_factory=set)  # of these, the methods without time for a trial
    notes: list[str] = field(default_factory=list)
    fold_of: Array | None = None  # (n,) the fold of every row of the table, once that is known; -1 without part
    importances: tuple[str, Result] | None = None  # of the winner
    interrupted: bool = False
    doing: str = ""  # what is done before anything is measured
    mixed: bool = False  # whether the table has categories or missing values, which methods are given in several ways
    compiling: float = 0.0  # seconds that do not count, as they come once
    seconds: float = 0.0

    @property
    def failures(self) -> dict[str, str]:
        """Methods that could not learn, and why."""
        return {method: result[FAILED] for (method, _), result in self.results.items() if FAILED in result}

    def done(self, method: str) -> list[int]:
        """The folds that a method has been measured on."""
        return sorted(fold for (name, fold), result in self.results.items() if name == method and FAILED not in result)

    def trial(self, method: str) -> str:
        """In brackets what came of the largest trial of a method, if there was one and there is no fold."""
        sample = self.samples.get(method)
        if sample is None or self.done(method):
            return ""
        return f" ({sample['error']:.1%} of rows wrong after {sample['size']:,} rows)"

    def interrupt(self) -> None:
        """Nothing more comes: what is not done will not be."""
        self.interrupted = True
        for method in self.methods:
            folds = len(self.done(method))
            if folds < self.folds and method not in self.failures:
                self.skipped.setdefault(method, f"{folds} of {self.folds} folds, as it was interrupted")

    def train(self, folds: int) -> int:
        """The rows that are learned from with so many folds."""
        return int(self.rows * (1 - 1 / folds))


Watch = Callable[[Findings, str], None]  # is told what there is, and of whom there is something new
Winner = Callable[[Findings], str | None]


@dataclass(frozen=True, eq=False)
class Race:
    """Methods on one table: the same folds for all of them, all preprocessing learned from the training part.

    Parameters
    ----------
    table : Read
        The rows.
    methods : tuple of str
        In the order in which they begin.
    folds, seed : int
        Of the cross-validation; there are fewer folds where the smallest class or the time asks for it.
    seconds : float
        After which nothing is measured any more, from the moment of `run`; compiling does not count.
    opening : callable, optional
        What workers call first, given the folder with the rows; by default what opens these.
    """

    table: OwnTable
    methods: tuple[str, ...]
    folds: int = 10
    seed: int = 0
    seconds: float = 120.0
    opening: Callable[[Path], Opened] | None = None

    def most_folds(self) -> int:
        """As many folds as were asked for, or as the smallest class has rows."""
        smallest = int(np.unique(self.table.data.y, return_counts=True)[1].min())
        return max(2, min(self.folds, smallest))

    def run(self, jobs: int = 1, watch: Watch = lambda *_: None, winner: Winner | None = None) -> Findings:
        """Measure until all is done, time is up, or the user interrupts.

        Parameters
        ----------
        jobs : int
            Processes.
        watch : callable
            Is told of everything new.
        winner : callable, optional
            Says of the findings who wins, for whom the columns that matter are sought in the end.
        """
        began, data = time.monotonic(), self.table.data
        found = Findings(self.methods, self.most_folds(), len(data.y))
        found.mixed = bool(data.categorical.any() or np.isnan(data.X).any())
        reserve = min(PATIENCE, 0.1 * self.seconds) if winner else 0.0
        with scratch() as folder:
            opening = self.opening or partial(_open, data.names, data.categorical, self.seed)
            try:
                warm_up([Bench.__module__])
                Bench.lay_out(data, folder, self.seed)
                with Workers(jobs, partial(opening, folder)) as workers:
                    _compile(found, workers, watch)
                    clock = Clock(began + found.compiling + self.seconds - reserve, self.seconds - reserve)
                    _Race(found, workers, watch, clock).run(partial(_lay_out_folds, found, folder, self.seed))
                    best = winner(found) if winner else None
                    if best is not None:
                        found.importances = _importances(best, workers, reserve)
            except KeyboardInterrupt:
                found.interrupt()
        found.seconds = time.monotonic() - began
        return found


def _compile(found: Findings, workers: Workers, watch: Watch) -> None:
    """Let one process compile the inner loops of all methods, so that this is no method's time."""
    workers.start(Compile(tuple(method for method in found.methods if METHODS[method].ours)), LONGEST)
    began = time.monotonic()
    while workers.busy:
        workers.wait(0.25)
        if not workers.ready:
            began = time.monotonic()
        elif time.monotonic() - began > NOTICED and not found.doing:
            found.doing = COMPILING
            watch(found, "")
    if found.doing:
        found.doing, found.compiling = "", time.monotonic() - began


def _open(names: tuple[str, ...], categorical: Array, seed: int, folder: Path) -> Opened:
    os.environ["OMP_NUM_THREADS"] = "1"  # of what is loaded later, and of our own threads
    threadpool_limits(1)  # of what is there
    return partial(perform, Bench.open(folder, names, categorical, seed))


def _lay_out_folds(found: Findings, folder: Path, seed: int) -> None:
    """The number of the fold of every row, in a file for the workers; -1 for rows that take no part."""
    labels = np.load(folder / "y.npy")
    rows = sample_rows(labels, found.rows, seed)
    found.fold_of = np.full(len(labels), -1, dtype=np.int16)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes that a sample has fewer rows of than there are folds
        found.fold_of[rows] = StratifiedFolds(found.folds, seed=seed).numbers(labels[rows])
    np.save(folder / "folds.npy", found.fold_of)


def _importances(method: str, workers: Workers, seconds: float) -> tuple[str, Result] | None:
    workers.start(Importances(method), max(1.0, seconds))
    while workers.busy:
        for _, result in workers.wait(1.0):
            if result is not None and FAILED not in result:
                return method, result
    return None


@dataclass(eq=False)
class _Race:
    """The course of a contest: trials on samples, a plan, folds."""

    found: Findings
    workers: Workers
    watch: Watch
    clock: Clock
    costs: dict[str, float] = field(default_factory=dict)  # seconds of one fold, by method, as far as known
    forecasts: dict[str, float] = field(default_factory=dict)  # the same by trials

    def run(self, lay_out: Callable[[], None]) -> None:
        wanted, size = self.found.methods, sizes(self.found.train(self.found.folds))
        if size:
            trials = SampleRounds(self.found, size, self.clock.third(), self.workers.count)
            self._work(trials, trials.clock)
            wanted = self._plan(trials.seconds)
        lay_out()
        while wanted:
            self._work(Rounds(self.found, wanted, self.costs, self.clock), self.clock)
            wanted = self._with_time_left()

    def _work(self, agenda: Agenda, clock: Clock) -> None:
        """Keep the workers busy until nothing is left to do or the time is up."""
        self.watch(self.found, "")
        while clock.left() > 0 and (agenda.waits() or self.workers.busy):
            while self.workers.free and agenda.waits():
                task = agenda.next()
                if task is not None:
                    self.workers.start(task, agenda.limit(task))
            for task, result in self.workers.wait(min(0.25, max(0.0, clock.left()))):
                agenda.hear(task, result)
                self.watch(self.found, task.method)
            self.watch(self.found, "")
        for task, result in [*self.workers.wait(0.0), *self.workers.drop()]:
            agenda.hear(task, result)
        agenda.close()

    def _plan(self, trials: dict[str, dict[int, float]]) -> tuple[str, ...]:
        """How many rows and folds there are, and the methods that have time for them."""
        found, budget = self.found, 0.9 * self.clock.left() * self.workers.count
        known = [method for method in found.methods if method not in found.skipped]
        total, asked = found.rows, found.folds
        pace = float(np.median([sample["pace"] for sample in found.samples.values()])) if found.samples else 1.0

        def costs(folds: int) -> dict[str, float]:
            """A method without a trial has failed there, and will at once."""
            return {m: pace * forecast(trials[m], found.train(folds)) if m in trials else 0.0 for m in known}

        taken: list[str] = []
        for rows in row_counts(total):
            found.rows = rows
            found.folds = folds_in_time(costs(asked), asked, budget)
            self.forecasts = costs(found.folds)
            taken = affordable(self.forecasts, found.folds, budget)
            if len(taken) >= ENOUGH * len(known):
                break
        self.costs |= self.forecasts
        self._say_what_is_less(total, asked)
        for method in (name for name in known if name not in taken):
            tried = join_words([f"{size:,}" for size in sorted(trials[method])], last=" and ")
            found.skipped[method] = (
                f"a fold of {found.train(found.folds):,} rows would take about {about(self.costs[method])}, "
                f"judged by {tried} rows"
            )
        return tuple(taken)

    def _say_what_is_less(self, total: int, asked: int) -> None:
        if self.found.rows < total:
            self.found.notes.append(
                f"a sample of {self.found.rows:,} of {total:,} rows, as few methods would be done in time on all of "
                "them; --max-time gives more, and --sample says how many rows"
            )
        if self.found.folds < asked:
            self.found.notes.append(
                f"{self.found.folds} folds instead of {asked}, so that more methods are done in time"
            )

    def _with_time_left(self) -> tuple[str, ...]:
        """The cheapest method that was left out and has time after all, or else one of which nothing is known."""
        begun = {method for method, _ in self.found.results}
        pace = self._pace()
        out = {name: pace * self.forecasts[name] for name in self.found.skipped if name in self.forecasts}
        out = {name: cost for name, cost in out.items() if name not in begun}
        taken = affordable(out, self.found.folds, 0.9 * self.clock.left() * self.workers.count)[:1]
        if not taken and self.clock.left() > LEAST:
            taken = [name for name in self.found.skipped if name in self.found.untried][:1]
        for method in taken:
            self.costs[method] = out.get(method, 0.0)
            del self.found.skipped[method]
            self.found.untried.discard(method)
        return tuple(taken)

    def _pace(self) -> float:
        """What folds took in the middle, as a share of their forecasts."""
        shares = [self.costs[name] / self.forecasts[name] for name, _ in self.found.results if self.forecasts.get(name)]
        return float(np.clip(np.median(shares), 0.2, 1.0)) if shares else 1.0
