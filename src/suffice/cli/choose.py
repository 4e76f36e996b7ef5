"""Choosing a model by cross-validation, within a time that also does for learning it from all rows.

A fit cannot be stopped from within, so that models are tried in a process that can be ended.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather

from suffice._core.vector import Array
from suffice.cli.models import MODELS, Columns
from suffice.compare.race.workers import FAILED, Opened, Workers, scratch, warm_up
from suffice.data.files.values import NUMBER, kind_of
from suffice.model_selection.measures import Result, Split, StratifiedFolds, log_losses

CLEAR = 2.0  # standard errors


def gains(p: Array, classes: Array, truth: Array, share: Array) -> Array:
    """How much smaller log loss and error are than those of chance, for every row (n, 2).

    Parameters
    ----------
    p : array (n, k)
        Probabilities of the classes.
    classes : array (k,)
    truth : array (n,)
    share : array (k,)
        The classes' shares among the rows learned.

    >>> p, classes = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array(["a", "b"])
    >>> gains(p, classes, np.array(["a", "b"]), np.array([0.6, 0.4])).round(2).tolist()
    [[0.41, 0.0], [0.69, 1.0]]
    """
    chance = np.tile(share, (len(truth), 1))
    loss = log_losses(chance, classes, truth) - log_losses(p, classes, truth)
    right = [(classes[q.argmax(axis=1)] == truth).astype(float) for q in (p, chance)]
    return np.stack([loss, right[0] - right[1]], axis=1)


def clear(gain: Array) -> Array:
    """Whether mean gains (m,) of rows (n, m) are above zero by more than two standard errors."""
    error: Array = gain.std(axis=0) / np.sqrt(len(gain))
    return np.asarray(gain.mean(axis=0) > CLEAR * error)


def worse(gain: Array) -> bool:
    """Whether log loss is no smaller than that of chance, and the error not clearly smaller, by gains (n, 2)."""
    return bool(gain[:, 0].mean() <= 0 and not clear(gain)[1])


FIRST = ("gaussian-nb", "nb")  # the first of these that suits the table is tried first, so that something is measured
ORDER = ("tabular", "nb", "additive", "lda", "logistic", "qda", "gaussian-nb", "nb-calibrated")  # promising and quick
FOLDS = 5
MOST_ROWS = 20_000  # that are chosen by
FIRST_SECONDS, SHORTEST = 5.0, 0.2  # that the first trial has in any case, and that others have at least
SURE = 1.2  # times a forecast that it is safe to count on
STARTING = 1.0  # seconds to start a process, once others were ended
COMPILING, NARROW, SHORT = 300.0, 5, 60  # seconds at most, columns of each kind and rows that loops are compiled on
UNCOUNTED = 5.0  # seconds of the processor from which on it was compiling, which does not count: it comes once
NO_TIME = "no time was left"


class Score(NamedTuple):
    """What was measured on the rows of a fold."""

    error: float
    log_loss: float
    seconds: float
    learning: float  # seconds of these


@dataclass
class Trial:
    """A model that was tried: a score for every fold, or why there is none."""

    name: str
    scores: list[Score] = field(default_factory=list)
    gains: list[Array] = field(default_factory=list)  # of the rows of each fold, against chance
    why: str = ""
    late: bool = False  # whether that is for lack of time

    def mean(self, folds: int) -> Score:
        """The mean over the first folds, which all have."""
        return Score(*np.mean(self.scores[:folds], axis=0).tolist())

    def against_chance(self, folds: int) -> Array:
        """How much smaller log loss and error are than those of chance, for every row of the first folds (n, 2)."""
        return np.concatenate(self.gains[:folds])


@dataclass(frozen=True)
class Choice:
    """All trials, those with the least log loss first, the folds that they are compared on, the rows, and the best.

    The best has the least log loss of those that can learn all rows in time; None if none could be measured.
    """

    trials: list[Trial]
    folds: int
    rows: int
    times: float  # as many rows are to be learned in the end as in a fold
    best: Trial | None

    @property
    def slower(self) -> list[tuple[Trial, float]]:
        """The trials with less log loss than the best, and the seconds that they would take to learn all rows."""
        better = [] if self.best is None else self.trials[: self.trials.index(self.best)]
        return [(trial, self.times * trial.mean(self.folds).learning) for trial in better]

    @property
    def late(self) -> bool:
        """Whether nothing could be measured for lack of time."""
        return self.best is None and any(trial.late for trial in self.trials)


class ChoiceTask(NamedTuple):
    """A model to be tried on a fold; or, without a number, to be compiled."""

    name: str
    fold: int | None = None


def choose(X: pa.Table, y: Array, columns: Columns, seed: int, seconds: float, step: Callable[[str], None]) -> Choice:
    """Try models on the same folds of at most 20,000 rows, as long as there is time."""
    end, total = time.monotonic() + seconds, len(y)
    rows = _some(y, seed)
    X, y = X.take(pa.array(rows)), y[rows]
    trials = [Trial(name) for name in _suitable(X)]
    splits = list(_splits(y, seed))
    if not splits:
        for trial in trials:
            trial.why = "fewer than two classes have two rows"
        return Choice(trials, 0, len(y), 1.0, None)
    race = _ChoiceRace(trials, len(splits), total / len(splits[0].train), end, step)
    prepare()
    with scratch() as folder:
        feather.write_feather(X, folder / "X", compression="uncompressed")
        np.save(folder / "y.npy", y)
        with Workers(1, partial(_open, folder, columns, seed)) as workers:
            race.run(workers)
    order = sorted(race.tried, key=lambda trial: trial.mean(race.folds).log_loss)
    return Choice([*order, *(one for one in trials if one not in order)], race.folds, len(y), race.times, race.best)


def prepare() -> None:
    """Let the server of processes import what they need while something else is done."""
    warm_up([__name__])


@dataclass
class _ChoiceRace:
    """Trials one after another: those of a fold, then those of the next, if there is time for all of them."""

    trials: list[Trial]
    most_folds: int
    times: float
    end: float
    step: Callable[[str], None]
    best: Trial | None = None  # of those that can learn all rows in time, the one with the least log loss

    @property
    def tried(self) -> list[Trial]:
        return [trial for trial in self.trials if trial.scores and not trial.why]

    @property
    def folds(self) -> int:
        return min((len(trial.scores) for trial in self.tried), default=0)

    def left(self) -> float:
        return self.end - time.monotonic()

    def learning(self, trial: Trial) -> float:
        """Seconds to learn all rows: at most as many times those of a fold as there are rows, and some to be sure."""
        return SURE * self.times * trial.mean(self.folds).learning

    def judge(self) -> None:
        """Find the best, or if none can learn all rows in time, the quickest."""
        in_time = [trial for trial in self.tried if self.learning(trial) <= self.left()]
        quickest = sorted(self.tried, key=self.learning)[:1]
        self.best = min(in_time or quickest, key=lambda trial: trial.mean(self.folds).log_loss, default=None)

    def spare(self) -> float:
        """The seconds left beside those that the best needs to learn all rows, and a process to start."""
        return self.left() - STARTING - (0.0 if self.best is None else self.learning(self.best))

    def run(self, workers: Workers) -> None:
        self._compile(workers)
        for trial in self.trials:
            first = trial is self.trials[0]
            limit = max(self.spare() / 2, FIRST_SECONDS * first)  # the rest is for the others
            if limit < SHORTEST:
                trial.why, trial.late = NO_TIME, True
            elif not self._ended(workers, trial, 0, limit):
                trial.why, trial.late = f"it was ended after {limit:.1f} seconds, more than its share", True
        for fold in range(1, self.most_folds):
            if sum(trial.scores[-1].seconds for trial in self.tried) > self.spare():
                return
            if not all(self._ended(workers, trial, fold, self.spare()) for trial in self.tried):
                return

    def _compile(self, workers: Workers) -> None:
        """Once on a machine, which takes longer than all else; the results are kept on disk."""
        begun, work = time.monotonic(), 0.0
        for trial in self.trials:
            self.step("compiling, once")
            work += (_asked(workers, ChoiceTask(trial.name), COMPILING) or {}).get("work", 0.0)
        if work > UNCOUNTED:
            self.end += time.monotonic() - begun

    def _ended(self, workers: Workers, trial: Trial, fold: int, limit: float) -> bool:
        """Whether a trial on a fold came to an end in time: it was measured, or says why not."""
        self.step(trial.name)
        result = _asked(workers, ChoiceTask(trial.name, fold), limit)
        if result is not None and FAILED in result:
            trial.why = result[FAILED]
        elif result is not None:
            trial.scores.append(result["score"])
            trial.gains.append(result["gains"])
        self.judge()
        return result is not None


def _asked(workers: Workers, task: ChoiceTask, seconds: float) -> Result | None:
    """What comes of a task; None if it takes too long."""
    workers.start(task, seconds)
    while True:
        for _, result in workers.wait(1.0):
            return result  # type: ignore[no-any-return]


def _suitable(X: pa.Table) -> list[str]:
    """The models that take a table, in the order in which they are tried."""
    numbers = all(kind_of(X[name]) == NUMBER for name in X.column_names)
    names = [name for name in ORDER if MODELS[name].takes_all or numbers]
    first = next(name for name in FIRST if name in names)
    return [first, *(name for name in names if name != first)]


def _some(y: Array, seed: int) -> Array:
    """At most so many rows, drawn at random, without classes that are too small to be in two folds."""
    _, codes, size = np.unique(y, return_inverse=True, return_counts=True)
    rows = np.flatnonzero(size[codes] >= 2)
    return np.sort(np.random.default_rng(seed).permutation(rows)[:MOST_ROWS])


def _splits(y: Array, seed: int) -> Iterator[Split]:
    smallest = int(np.unique(y, return_counts=True)[1].min()) if len(y) else 0
    if len(np.unique(y)) < 2:
        return
    folds = StratifiedFolds(max(2, min(FOLDS, smallest)), seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from (folds.split(y, number) for number in range(folds.n))


def _open(folder: Path, columns: Columns, seed: int) -> Opened:
    """What a process does first: the rows are in files, of which the system keeps one copy."""
    X, y = feather.read_table(folder / "X", memory_map=True), np.load(folder / "y.npy")
    return partial(_perform, X, y, list(_splits(y, seed)), columns, seed)


def _perform(X: pa.Table, y: Array, splits: list[Split], columns: Columns, seed: int, task: ChoiceTask) -> Result:
    """Learn from one part and measure the other; a model that cannot is out of the contest."""
    if task.fold is None:
        X, y, split = _few(X, y)
        columns = {name: kind for name, kind in columns.items() if name in X.column_names}
    else:
        split = splits[task.fold]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _measured(MODELS[task.name].make(columns, seed), X, y, split)
    except Exception as error:  # whatever it is, it is the model that cannot
        return {FAILED: " ".join(str(error).split()) or type(error).__name__}


def _few(X: pa.Table, y: Array) -> tuple[pa.Table, Array, Split]:
    """A few rows of every class and a few columns of numbers and of others, all to be learned and to be asked about."""
    numbers = {name: kind_of(X[name]) == NUMBER for name in X.column_names}
    names = [name for kind in (True, False) for name in [one for one in numbers if numbers[one] == kind][:NARROW]]
    rows = np.concatenate([np.flatnonzero(y == label)[: max(2, SHORT // len(np.unique(y)))] for label in np.unique(y)])
    every = np.arange(len(rows))
    return X.select(names).take(pa.array(rows)), y[rows], Split(every, every)


def _measured(model: Any, X: pa.Table, y: Array, split: Split) -> Result:
    begun, work = time.perf_counter(), time.process_time()
    model.fit(X.take(pa.array(split.train)), y[split.train])
    learning = time.perf_counter() - begun
    p = model.predict_proba(X.take(pa.array(split.test)))
    truth, classes = y[split.test].astype(str), model.classes_.astype(str)
    wrong = float(np.mean(classes[p.argmax(axis=1)] != truth))
    loss = float(log_losses(p, classes, truth).mean())
    share = (y[split.train].astype(str)[:, None] == classes).mean(axis=0)
    score = Score(wrong, loss, time.perf_counter() - begun, learning)
    return {"score": score, "gains": gains(p, classes, truth, share), "work": time.process_time() - work}
