"""What a worker measures: one method on some rows, with errors, probabilities, times and warnings."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from math import log
from pathlib import Path

import numpy as np
import pyarrow.feather as feather

from suffice._core.vector import Array
from suffice.compare.race.methods import METHODS, TableRows
from suffice.compare.race.workers import FAILED
from suffice.model_selection.measures import (
    Dataset,
    Result,
    Split,
    curves_of,
    gains_over_chance,
    of_probabilities,
    part,
    roc,
)

MAX_ROWS_SHUFFLED, MAX_ROWS_LEARNED = 2000, 20_000  # for importances
COMPILED_ROWS, COMPILED_COLUMNS = 60, 5  # a few rows, and columns of either kind, that inner loops are compiled on
MAX_SECONDS_REPEATED = 1.5  # a first trial up to this long is run again
MAX_POWER, MIN_POWER, DEFAULT_POWER = 3.0, 0.8, 1.2  # of the number of rows in forecasts; the last without two trials
MIN_SECONDS = 1e-3  # shorter times say nothing


@dataclass(frozen=True, eq=False)
class Bench:
    """Rows in files that all workers share, with an order to draw samples by."""

    data: Dataset  # the labels are the numbers of the classes
    order: Array  # (n,) row numbers, shuffled so that every prefix has the class proportions
    folder: Path
    seed: int

    @classmethod
    def lay_out(cls, data: Dataset, folder: Path, seed: int) -> None:
        """Write the rows of a table where workers find them."""
        labels = np.unique(data.y, return_inverse=True)[1]
        if isinstance(data, TableRows):
            feather.write_feather(data.X, folder / "X.arrow", compression="uncompressed")
        else:
            np.save(folder / "X.npy", data.X)
        np.save(folder / "y.npy", labels)
        np.save(folder / "order.npy", stratified_order(labels, seed))

    @classmethod
    def open(cls, folder: Path, columns: Dataset, seed: int) -> Bench:
        """Map the files into memory, of which the system keeps one copy; `columns` is the table without its rows."""
        X = (
            feather.read_table(folder / "X.arrow", memory_map=True)
            if isinstance(columns, TableRows)
            else np.load(folder / "X.npy", mmap_mode="r")
        )
        data = replace(columns, X=X, y=np.load(folder / "y.npy"))
        return cls(data, np.load(folder / "order.npy"), folder, seed)

    def fold(self, number: int) -> Split:
        """Return the rows of a fold."""
        return part(np.load(self.folder / "folds.npy"), number)


def stratified_order(labels: Array, seed: int) -> Array:
    """Return all row numbers, shuffled so that every prefix has about the class proportions of the whole.

    >>> labels = np.repeat([0, 1], [6, 2])
    >>> labels[stratified_order(labels, 0)][:4].sum()
    np.int64(1)
    """
    rng = np.random.default_rng(seed)
    place = np.empty(len(labels))
    for label in range(int(labels.max()) + 1):
        rows = np.flatnonzero(labels == label)
        place[rows] = (rng.permutation(len(rows)) + rng.random()) / max(len(rows), 1)
    return np.argsort(place, kind="stable")


def forecast(trials: Mapping[int, float], rows: int) -> float:
    """Forecast the seconds for n rows, by the power law through the two largest trials.

        t(n) = t_2 (n / n_2)^b,     b = log(t_2 / t_1) / log(n_2 / n_1), between 0.8 and 3

    >>> forecast({1000: 1.0, 4000: 16.0}, 8000)
    64.0
    """
    *_, last = sorted(trials)
    power = DEFAULT_POWER
    if len(trials) > 1:
        before = sorted(trials)[-2]
        ratio = max(trials[last], MIN_SECONDS) / max(trials[before], MIN_SECONDS)
        power = min(MAX_POWER, max(MIN_POWER, log(ratio) / log(last / before)))
    return float(trials[last] * (rows / last) ** power)


@dataclass(frozen=True)
class Fold:
    """Learn from all folds except one, and predict that one."""

    method: str
    number: int

    def run(self, bench: Bench) -> Result:
        """Return all measures."""
        return measured(self.method, bench, bench.fold(self.number))


@dataclass(frozen=True)
class SampleTrial:
    """Time fits on growing samples; stop when the next one is predicted to exceed the time limit."""

    method: str
    sizes: tuple[int, ...]
    seconds: float

    def run(self, bench: Bench) -> Result:
        """Return the measures of the largest sample, on at most 1,000 other rows, and the seconds of each by its size.

        These are processor seconds; `pace` is how much longer it took by the clock. The first fit of a method in a
        process also loads code, so that a quick one is run again.
        """
        first, *larger = self.sizes
        wall, work = time.perf_counter(), time.process_time()
        took: dict[int, float] = {}
        result = self._timed(bench, first, took)
        if took[first] < MAX_SECONDS_REPEATED:
            result = self._timed(bench, first, took)
        for size in larger:
            if forecast(took, size) > self.seconds:
                break
            result = self._timed(bench, size, took)
        pace = (time.perf_counter() - wall) / max(time.process_time() - work, 1e-3)
        return {**result, "trials": took, "size": max(took), "pace": max(1.0, pace)}

    def _timed(self, bench: Bench, size: int, took: dict[int, float]) -> Result:
        began, tested = time.process_time(), max(1, min(1000, len(bench.order) - size))
        result = measured(self.method, bench, Split(bench.order[:size], bench.order[-tested:]))
        took[size] = time.process_time() - began
        return result


@dataclass(frozen=True)
class Compile:
    """Fit methods to a few rows and columns, so that their inner loops are compiled and cached on disk."""

    methods: tuple[str, ...]
    method: str = ""

    def run(self, bench: Bench) -> Result:
        """Return the processor seconds; a method that cannot learn from so few rows is reported by its folds."""
        began, whole = time.process_time(), bench.data
        kinds = (np.flatnonzero(whole.categorical == words)[:COMPILED_COLUMNS] for words in (False, True))
        rows = bench.order[: max(COMPILED_ROWS, 3 * (int(whole.y.max()) + 1))]
        data = whole.rows(rows).columns(np.concatenate([*kinds]))
        X = data.X if isinstance(data, TableRows) else np.ascontiguousarray(data.X)
        for method in self.methods:
            with suppress(Exception):
                model = METHODS[method].build(data, bench.seed).fit(X, data.y)
                model.predict(X)
                model.predict_proba(X)
        return {"work": time.process_time() - began}


@dataclass(frozen=True)
class Importances:
    """How much each column matters to a method, on rows that it has not learned."""

    method: str

    def run(self, bench: Bench) -> Result:
        """Return the accuracy lost when a column is shuffled, which is defined for every method."""
        data, half = bench.data, len(bench.order) // 2
        train = bench.order[: max(half, len(bench.order) - MAX_ROWS_SHUFFLED)][:MAX_ROWS_LEARNED]
        test = bench.order[-min(half, MAX_ROWS_SHUFFLED) :]
        model = METHODS[self.method].build(data, bench.seed)
        model.fit(data.X[train], data.y[train])
        # imported here so that workers start quickly
        from sklearn.inspection import permutation_importance

        got = permutation_importance(model, data.X[test], data.y[test], n_repeats=5, random_state=bench.seed)
        return {"mean": got.importances_mean, "rows": len(test)}


Task = Fold | SampleTrial | Compile | Importances  # what a worker does


def perform(bench: Bench, task: Task) -> Result:
    """Do a task and return its measurements, or the reason why the method failed."""
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", "X does not have valid feature names")  # LightGBM, of names it made itself
        try:
            result = task.run(bench)
        except MemoryError:
            return {FAILED: "there is not enough memory"}
        except Exception as error:  # libraries may raise anything
            return {FAILED: f"{type(error).__name__}: {' '.join(str(error).split())}"}
    warned = list(dict.fromkeys(" ".join(str(one.message).split()) for one in caught))
    return {**result, "warnings": warned, "wall": time.perf_counter() - began}


def measured(method: str, bench: Bench, split: Split) -> Result:
    """Fit a method and return its errors, confusions, times and curves; `of_probabilities` if it has probabilities."""
    k = int(bench.data.y.max()) + 1
    train, test = bench.data.rows(split.train), bench.data.rows(split.test)
    model = METHODS[method].build(bench.data, bench.seed)
    started = time.perf_counter()
    model.fit(train.X, train.y)
    fitted = time.perf_counter()
    predicted = np.asarray(model.predict(test.X))
    ended = time.perf_counter()
    wrong = predicted != test.y
    result: Result = {
        "error": float(wrong.mean()),
        "asked": len(test.y),
        "wrong": split.test[wrong].astype(np.int32),
        "confusion": np.bincount(test.y * k + predicted, minlength=k * k).reshape(k, k),
        "seconds": {"fit": fitted - started, "predict": ended - fitted},
    }
    scores = None
    if hasattr(model, "predict_proba"):
        p, classes = np.asarray(model.predict_proba(test.X)), np.asarray(model.classes_)
        result |= of_probabilities(p, classes, test.y)
        scores = p[:, -1]
        if isinstance(test, TableRows):  # of few rows: gains are kept row by row
            shares = (train.y[:, None] == classes).mean(axis=0)
            result["gains"] = gains_over_chance(p, classes, test.y, shares)
    elif k == 2 and hasattr(model, "decision_function"):
        scores = model.decision_function(test.X)
    if k == 2 and scores is not None and len(np.unique(test.y)) == 2:
        result |= roc(scores, test.y)
    curves = curves_of(model)
    return {**result, "curves": curves["log_loss"]} if curves else result
