"""One method on some rows, as a worker measures it: errors, probabilities, times, and what it warned of."""

from __future__ import annotations

import time
import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from sklearn.metrics import auc, roc_curve

from suffice._core.vector import Array
from suffice.compare.race.methods import METHODS
from suffice.compare.race.schedule import forecast
from suffice.model_selection.measures import Dataset, Result, Split, curves_of, of_probabilities, part

GRID = np.linspace(0.0, 1.0, 101)  # shares of false alarms at which a ROC curve is kept
ASKED = 2000  # rows at most that importances are measured on
TAUGHT = 20_000  # rows at most that they are learned from
SHORT, NARROW = 60, 5  # rows, and columns of either kind, that loops are compiled on
QUICK = 1.5  # seconds up to which a first trial is done again


@dataclass(frozen=True, eq=False)
class Bench:
    """The rows in files that all workers share: features, codes of the classes, and an order to draw samples by."""

    data: Dataset  # its labels are the numbers of the classes
    order: Array  # (n,) rows, shuffled so that the first ones of any number have all classes in their shares
    folder: Path
    seed: int

    @classmethod
    def lay_out(cls, data: Dataset, folder: Path, seed: int) -> None:
        """Write the rows of a table where workers find them."""
        labels = np.unique(data.y, return_inverse=True)[1]
        np.save(folder / "X.npy", data.X)
        np.save(folder / "y.npy", labels)
        np.save(folder / "order.npy", stratified_order(labels, seed))

    @classmethod
    def open(cls, folder: Path, names: tuple[str, ...], categorical: Array, seed: int) -> Bench:
        """What was written there; the system keeps one copy of the features for all processes."""
        X, y = np.load(folder / "X.npy", mmap_mode="r"), np.load(folder / "y.npy")
        return cls(Dataset("", X, y, names, categorical), np.load(folder / "order.npy"), folder, seed)

    def fold(self, number: int) -> Split:
        """The rows of a fold."""
        return part(np.load(self.folder / "folds.npy"), number)


def stratified_order(labels: Array, seed: int) -> Array:
    """All rows, each class spread evenly: any first part of them has the classes in their shares.

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


class Task(Protocol):
    """Something that a worker does with the rows."""

    @property
    def method(self) -> str:
        """Of whom."""

    def run(self, bench: Bench) -> Result:
        """Do it."""


@dataclass(frozen=True)
class Fold:
    """Learn from all folds but one, and ask about that one."""

    method: str
    number: int

    def run(self, bench: Bench) -> Result:
        """All measures."""
        return measured(self.method, bench, bench.fold(self.number))


@dataclass(frozen=True)
class SampleTrial:
    """Learn from growing samples, to see how long that takes, as long as the next one will end in so many seconds."""

    method: str
    sizes: tuple[int, ...]
    seconds: float

    def run(self, bench: Bench) -> Result:
        """All measures of the largest sample, of at most 1,000 other rows, and the seconds of each by its `size`.

        These are seconds of the processor; `pace` says how much longer it took on a machine that has more to do. A
        process's first fit of a method loads code besides: a quick one is done again.
        """
        first, *larger = self.sizes
        wall, work = time.perf_counter(), time.process_time()
        took: dict[int, float] = {}
        result = self._timed(bench, first, took)
        if took[first] < QUICK:
            result = self._timed(bench, first, took)
        for size in larger:
            if forecast(took, size) > self.seconds:
                break
            result = self._timed(bench, size, took)
        pace = (time.perf_counter() - wall) / max(time.process_time() - work, 1e-3)
        return {**result, "trials": took, "size": max(took), "pace": max(1.0, pace)}

    def _timed(self, bench: Bench, size: int, took: dict[int, float]) -> Result:
        began, asked = time.process_time(), max(1, min(1000, len(bench.order) - size))
        result = measured(self.method, bench, Split(bench.order[:size], bench.order[-asked:]))
        took[size] = time.process_time() - began
        return result


@dataclass(frozen=True)
class Compile:
    """Fit methods to a few rows and columns, so that their inner loops are compiled, and kept on disk for all."""

    methods: tuple[str, ...]
    method: str = ""

    def run(self, bench: Bench) -> Result:
        """Nothing; a method that cannot learn from so little is not reported, as its folds will tell."""
        whole = bench.data
        which = [*np.flatnonzero(~whole.categorical)[:NARROW], *np.flatnonzero(whole.categorical)[:NARROW]]
        rows = bench.order[: max(SHORT, 3 * (int(whole.y.max()) + 1))]
        data = whole.rows(rows).columns(np.array(which))
        X = np.ascontiguousarray(data.X)
        for method in self.methods:
            with suppress(Exception):
                model = METHODS[method].build(data, bench.seed).fit(X, data.y)
                model.predict(X)
                model.predict_proba(X)
        return {}


@dataclass(frozen=True)
class Importances:
    """How much each column matters to a method, on rows that it has not learned."""

    method: str

    def run(self, bench: Bench) -> Result:
        """By how much worse it gets where a column is shuffled: the same for every method."""
        data, half = bench.data, len(bench.order) // 2
        train, test = bench.order[: max(half, len(bench.order) - ASKED)][:TAUGHT], bench.order[-min(half, ASKED) :]
        model = METHODS[self.method].build(data, bench.seed)
        model.fit(data.X[train], data.y[train])
        from sklearn.inspection import permutation_importance  # only here: workers should be there soon

        got = permutation_importance(model, data.X[test], data.y[test], n_repeats=5, random_state=bench.seed)
        return {"mean": got.importances_mean, "rows": len(test)}


def perform(bench: Bench, task: Task) -> Result:
    """Do a task; a method that cannot do it has failed, with a reason."""
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", "X does not have valid feature names")  # which LightGBM says of its own names
        try:
            result = task.run(bench)
        except MemoryError:
            return {"failed": "there is not enough memory"}
        except Exception as error:  # of a library that may raise anything
            return {"failed": f"{type(error).__name__}: {' '.join(str(error).split())}"}
    warned = list(dict.fromkeys(" ".join(str(one.message).split()) for one in said))
    return {**result, "warnings": warned, "wall": time.perf_counter() - began}


def measured(method: str, bench: Bench, split: Split) -> Result:
    """Seconds, wrong rows, confusions and curves; of probabilities what `of_probabilities` says."""
    data, k = bench.data, int(bench.data.y.max()) + 1
    model = METHODS[method].build(data, bench.seed)
    X, y = np.asarray(data.X[split.train]), data.y[split.train]
    asked, truth = np.asarray(data.X[split.test]), data.y[split.test]
    started = time.perf_counter()
    model.fit(X, y)
    fitted = time.perf_counter()
    said = np.asarray(model.predict(asked))
    ended = time.perf_counter()
    wrong = said != truth
    result: Result = {
        "error": float(wrong.mean()),
        "asked": len(truth),
        "wrong": split.test[wrong].astype(np.int32),
        "confusion": np.bincount(truth * k + said, minlength=k * k).reshape(k, k),
        "seconds": {"fit": fitted - started, "predict": ended - fitted},
    }
    if hasattr(model, "predict_proba"):
        result |= of_probabilities(np.asarray(model.predict_proba(asked)), np.asarray(model.classes_), truth)
    if k == 2:
        result |= _roc(model, asked, truth)
    curves = curves_of(model[-1] if hasattr(model, "steps") else model)
    return {**result, "curves": curves["log_loss"]} if curves else result


def _roc(model: Any, asked: Array, truth: Array) -> Result:
    """The share of the second class that is found for each share of false alarms, and the area below."""
    if len(np.unique(truth)) < 2 or (not hasattr(model, "predict_proba") and not hasattr(model, "decision_function")):
        return {}
    score = model.predict_proba(asked)[:, -1] if hasattr(model, "predict_proba") else model.decision_function(asked)
    false, true, _ = roc_curve(truth, score)
    return {"roc": np.interp(GRID, false, true), "auc": float(auc(false, true))}
