"""A race: methods on the same folds of one table within a time, to compare them or to choose one to fit."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from threadpoolctl import threadpool_limits

from suffice._core.vector import Array
from suffice._runtime.messages import join_words
from suffice.compare.race.methods import AUTO_METHODS, METHODS, TableRows
from suffice.compare.race.schedule import (
    MIN_FIT_SECONDS,
    Agenda,
    ChoiceRounds,
    Clock,
    Findings,
    Rounds,
    SampleRounds,
    about,
    affordable,
    folds_in_time,
    row_counts,
    trial_sizes,
)
from suffice.compare.race.table import ComparedTable
from suffice.compare.race.trial import Bench, Compile, Importances, forecast, perform
from suffice.compare.race.workers import FAILED, Opened, Workers, scratch, warm_up
from suffice.data.files.values import NUMBER, kind_of
from suffice.model_selection.measures import Dataset, Result, StratifiedFolds, sample_rows

COMPILING = "compiling, once: later runs start at once"
MAX_COMPILE_SECONDS = 300.0
SHOWN_SECONDS = 2.0  # of compiling, before it is shown
MIN_COMPILE_WORK = 5.0  # processor seconds from which it has compiled, and not only loaded what is on disk
ENOUGH_METHODS = 0.6  # the share of the methods that must fit the time, or fewer rows take part
MAX_IMPORTANCES_SECONDS = 20.0
CHOICE_FOLDS, MAX_CHOICE_ROWS = 5, 20_000

Watch = Callable[[Findings, str], None]  # called with the findings, and the method with news, if any
Winner = Callable[[Findings], str | None]


@dataclass(frozen=True, eq=False)
class Race:
    """Methods on the same folds of one table; all preprocessing is learned from the training part.

    Parameters
    ----------
    table : ComparedTable
        The rows.
    methods : tuple of str
        In the order in which they start.
    folds, seed : int
        Of the cross-validation; there are fewer folds if the smallest class, or the time, requires it.
    seconds : float
        The time for everything that `run` does; compiling does not count.
    opening : callable, optional
        Called first by each worker with the folder of the rows; by default it opens them.
    """

    table: ComparedTable
    methods: tuple[str, ...]
    folds: int = 10
    seed: int = 0
    seconds: float = 120.0
    opening: Callable[[Path], Opened] | None = None

    def most_folds(self) -> int:
        """Return the folds that were requested, or fewer if the smallest class has fewer rows."""
        return folds_of(self.table.data.y, self.folds)

    def run(self, jobs: int = 1, watch: Watch = lambda *_: None, winner: Winner | None = None) -> Findings:
        """Measure until all is done, the time is up, or the user interrupts.

        Parameters
        ----------
        jobs : int
            The number of processes.
        watch : callable
            Called with all news.
        winner : callable, optional
            Names the winner of the findings, whose important columns are measured last.
        """
        began, data = time.monotonic(), self.table.data
        found = Findings(self.methods, self.most_folds(), len(data.y))
        found.mixed = bool(data.categorical.any() or np.isnan(data.X).any())
        reserve = min(MAX_IMPORTANCES_SECONDS, 0.1 * self.seconds) if winner else 0.0
        with scratch() as folder:
            opening = self.opening or partial(_open, data.rows(np.arange(0)), self.seed, True)
            try:
                warm_up([__name__])
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


def choose(
    X: pa.Table, y: Array, kinds: dict[str, str], seed: int, seconds: float, step: Callable[[str], None]
) -> ChoiceRounds:
    """Race the models that take a table on at most 20,000 of its rows, leaving time to learn all rows.

    Parameters
    ----------
    X, y : pa.Table, array (n,)
        The rows, with columns of any type.
    kinds : dict
        What columns are to be read as, where that differs from their type.
    seed : int
        Of the sample, the folds and the models.
    seconds : float
        For the race and for learning all rows; compiling does not count.
    step : callable
        Called with what is being done.
    """
    end, total = time.monotonic() + seconds, len(y)
    data = _sample(X, y, kinds, seed)
    usable = len(np.unique(data.y)) > 1
    folds = folds_of(data.y, CHOICE_FOLDS) if usable else 0
    names = [name for name in AUTO_METHODS if METHODS[name].takes_tables or not data.categorical.any()]
    quick = next(name for name in ("GaussianNB", "NaiveBayes") if name in names)
    names.sort(key=lambda name: name != quick)  # a quick one first, so that something is measured
    found = Findings(tuple(names), folds, len(data.y))
    if not usable:
        found.notes.append("fewer than two classes have two rows")
        return ChoiceRounds(found, 1.0, Clock(end, seconds))
    growth = total / found.train(folds)

    def watch(found: Findings, _: str) -> None:
        step(found.doing)

    warm_up([__name__])
    with scratch() as folder:
        Bench.lay_out(data, folder, seed)
        _lay_out_folds(found, folder, seed)
        # one process with all threads, as when the chosen model is fitted
        with Workers(1, partial(_open, data.rows(np.arange(0)), seed, False, folder)) as workers:
            _compile(found, workers, watch)
            rounds = ChoiceRounds(found, growth, Clock(end + found.compiling, seconds))
            # the rounds end by themselves: the first fold has its time even when there is none left
            work(rounds, Clock(float("inf"), seconds), workers, found, watch)
    return rounds


def folds_of(y: Array, folds: int) -> int:
    """Return the number of folds, or fewer (at least 2) if the smallest class has fewer rows."""
    return max(2, min(folds, int(np.unique(y, return_counts=True)[1].min())))


def _sample(X: pa.Table, y: Array, kinds: dict[str, str], seed: int) -> TableRows:
    """Draw at most 20,000 rows, without the classes that are too small to be in two folds."""
    _, codes, size = np.unique(y, return_inverse=True, return_counts=True)
    rows = np.flatnonzero(size[codes] >= 2)
    names = tuple(X.column_names)
    words = np.array([kind_of(X[name]) != NUMBER for name in names])
    data = TableRows("", X, y, names, words, kinds=kinds)
    return data.rows(np.sort(np.random.default_rng(seed).permutation(rows)[:MAX_CHOICE_ROWS]))


def _compile(found: Findings, workers: Workers, watch: Watch) -> None:
    """Let one process compile the inner loops of all methods, so that no method is charged for it."""
    workers.start(Compile(tuple(method for method in found.methods if METHODS[method].ours)), MAX_COMPILE_SECONDS)
    began, work_done = time.monotonic(), 0.0
    while workers.busy:
        for _, result in workers.wait(0.25):
            work_done = (result or {}).get("work", 0.0)
        if not workers.ready:
            began = time.monotonic()
        elif time.monotonic() - began > SHOWN_SECONDS and not found.doing:
            found.doing = COMPILING
            watch(found, "")
    found.doing = ""
    if work_done > MIN_COMPILE_WORK:
        found.compiling = time.monotonic() - began


def work(agenda: Agenda[Any], clock: Clock, workers: Workers, found: Findings, watch: Watch) -> None:
    """Keep the workers busy until nothing is left to do or the time is up."""
    watch(found, "")
    while clock.left() > 0 and (agenda.tasks or workers.busy):
        while workers.free and agenda.tasks:
            task = agenda.next()
            if task is not None:
                workers.start(task, agenda.limit(task))
        for task, result in workers.wait(min(0.25, max(0.0, clock.left()))):
            agenda.hear(task, result)
            watch(found, task.method)
        watch(found, "")
    for task, result in [*workers.wait(0.0), *workers.drop()]:
        agenda.hear(task, result)
    agenda.close()


def _open(columns: Dataset, seed: int, one_thread: bool, folder: Path) -> Opened:
    """Open the rows in a worker; if it is one of several, all methods have one thread."""
    if one_thread:
        os.environ["OMP_NUM_THREADS"] = "1"  # for libraries that are loaded later, and for our own threads
        threadpool_limits(1)
    return partial(perform, Bench.open(folder, columns, seed))


def _lay_out_folds(found: Findings, folder: Path, seed: int) -> None:
    """Write the fold of every row to a file for the workers; -1 for rows that take no part."""
    labels = np.load(folder / "y.npy")
    rows = sample_rows(labels, found.rows, seed)
    found.fold_of = np.full(len(labels), -1, dtype=np.int16)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class may have fewer rows in a sample than there are folds
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
    """A comparison as it goes: trials on samples, a plan of rows and folds, then the folds."""

    found: Findings
    workers: Workers
    watch: Watch
    clock: Clock
    costs: dict[str, float] = field(default_factory=dict)  # seconds of one fold by method, as far as they are known
    forecasts: dict[str, float] = field(default_factory=dict)  # of these, by the trials

    def run(self, lay_out: Callable[[], None]) -> None:
        found, wanted, sizes = self.found, self.found.methods, trial_sizes(self.found.train(self.found.folds))
        if sizes:
            trials = SampleRounds(found, sizes, self.clock.third(), self.workers.count)
            work(trials, trials.clock, self.workers, found, self.watch)
            wanted = self._plan(trials.seconds)
        lay_out()
        while wanted:
            work(Rounds(found, wanted, self.costs, self.clock), self.clock, self.workers, found, self.watch)
            wanted = self._with_time_left()

    def _plan(self, trials: dict[str, dict[int, float]]) -> tuple[str, ...]:
        """Fix the numbers of rows and folds, and return the methods that can be measured on them in time."""
        found, budget = self.found, 0.9 * self.clock.left() * self.workers.count
        known = [method for method in found.methods if method not in found.skipped]
        total, requested = found.rows, found.folds
        pace = float(np.median([sample["pace"] for sample in found.samples.values()])) if found.samples else 1.0

        def costs(folds: int) -> dict[str, float]:
            """Return the seconds of a fold; a method without a trial has failed there, and will fail at once."""
            return {m: pace * forecast(trials[m], found.train(folds)) if m in trials else 0.0 for m in known}

        taken: list[str] = []
        for rows in row_counts(total):
            found.rows = rows
            found.folds = folds_in_time(costs(requested), requested, budget)
            self.forecasts = costs(found.folds)
            taken = affordable(self.forecasts, found.folds, budget)
            if len(taken) >= ENOUGH_METHODS * len(known):
                break
        self.costs |= self.forecasts
        if found.rows < total:
            found.notes.append(
                f"a sample of {found.rows:,} of {total:,} rows, as few methods would be done in time on all of them; "
                "--max-time gives more, and --sample says how many rows"
            )
        if found.folds < requested:
            found.notes.append(f"{found.folds} folds instead of {requested}, so that more methods are done in time")
        for method in (name for name in known if name not in taken):
            tried = join_words([f"{size:,}" for size in sorted(trials[method])], last=" and ")
            found.skipped[method] = (
                f"a fold of {found.train(found.folds):,} rows would take about {about(self.costs[method])}, "
                f"judged by {tried} rows"
            )
        return tuple(taken)

    def _with_time_left(self) -> tuple[str, ...]:
        """Return the cheapest skipped method that has time after all, or else one that was not tried."""
        found, forecasts = self.found, self.forecasts
        begun = {method for method, _ in found.results}
        # of folds that were measured, as a share of their forecasts
        shares = [self.costs[name] / forecasts[name] for name, _ in found.results if forecasts.get(name)]
        pace = float(np.clip(np.median(shares), 0.2, 1.0)) if shares else 1.0
        out = {name: pace * forecasts[name] for name in found.skipped if name in forecasts and name not in begun}
        taken = affordable(out, found.folds, 0.9 * self.clock.left() * self.workers.count)[:1]
        if not taken and self.clock.left() > MIN_FIT_SECONDS:
            taken = [name for name in found.skipped if name in found.untried][:1]
        for method in taken:
            self.costs[method] = out.get(method, 0.0)
            del found.skipped[method]
            found.untried.discard(method)
        return tuple(taken)
