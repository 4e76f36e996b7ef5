"""What is measured of a fitted classifier."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.model_selection import StratifiedKFold, train_test_split

from suffice._core.vector import Array

TARGET = "target"


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows of a data set: features X (n, d), NaN where missing, codes where they are categories, and labels y (n,)."""

    name: str
    X: Array
    y: Array
    names: tuple[str, ...]
    categorical: Array  # (d,) of bool
    source: str = ""

    def rows(self, which: Array) -> Dataset:
        """Some of the rows."""
        return replace(self, X=self.X[which], y=self.y[which])

    def columns(self, which: Array) -> Dataset:
        """Some of the features."""
        names = tuple(np.array(self.names, dtype=object)[which])
        return replace(self, X=self.X[:, which], names=names, categorical=self.categorical[which])

    @classmethod
    def of(cls, name: str, table: pa.Table, target: str = TARGET, source: str = "") -> Dataset:
        """A table whose column `target` holds the labels; text becomes codes in the order of the alphabet."""
        names = tuple(column for column in table.column_names if column != target)
        columns, categorical = zip(*(_numbers(table[column]) for column in names), strict=True)
        y = np.asarray(table[target].cast(pa.string()).to_numpy(zero_copy_only=False), dtype=str)
        return cls(name, np.column_stack(columns), y, names, np.array(categorical), source)


def _numbers(column: pa.ChunkedArray) -> tuple[Array, bool]:
    """A column as floats, and whether they are codes of categories."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        values = pc.unique(column).drop_null().sort()
        return np.asarray(pc.index_in(column, values).cast(pa.float64()).to_numpy(zero_copy_only=False), float), True
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), float), False


class Split(NamedTuple):
    """Rows to learn from and rows to ask about."""

    train: Array
    test: Array


@dataclass(frozen=True)
class StratifiedFolds:
    """Cross-validation, stratified and shuffled: every row is asked about once in each run of `n` folds."""

    n: int = 10
    runs: int = 1
    seed: int = 0

    @property
    def repeats(self) -> int:
        """Folds of all runs."""
        return self.n * self.runs

    def numbers(self, y: Array, run: int = 0) -> Array:
        """The fold of every row (n,)."""
        number = np.empty(len(y), dtype=np.int16)
        folds = StratifiedKFold(self.n, shuffle=True, random_state=self.seed + run)
        for at, (_, test) in enumerate(folds.split(np.zeros((len(y), 1)), y)):
            number[test] = at
        return number

    def split(self, y: Array, number: int) -> Split:
        """The split of that number."""
        run, fold = divmod(number, self.n)
        return part(self.numbers(y, run), fold)


def part(numbers: Array, fold: int) -> Split:
    """The rows of one fold are asked about, those of all others are learned from; -1 is no fold."""
    return Split(np.flatnonzero((numbers != fold) & (numbers >= 0)), np.flatnonzero(numbers == fold))


def sample_rows(y: Array, size: int, seed: int) -> Array:
    """So many rows, in their order, with the classes in their shares.

    >>> sample_rows(np.array(["a", "b"] * 4), 4, 0).tolist()
    [1, 4, 5, 6]
    """
    if size >= len(y):
        return np.arange(len(y))
    rows, _ = train_test_split(np.arange(len(y)), train_size=size, stratify=y, random_state=seed)
    return np.sort(rows)


Result = dict[str, Any]

FLOOR = 1e-15  # of a probability in the log loss
BINS = 10  # of the reliability diagram and the calibration error


def fit_and_measure(model: Any, data: Dataset, split: Split, keep_wrong: bool) -> tuple[Result, dict[str, float]]:
    """Learn from one part of the rows and ask about the other; a method that cannot learn from them has failed."""
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fits that are reported as results
        warnings.filterwarnings("error", "Training interrupted by user")  # which a neural network makes of Ctrl-C
        try:
            model.fit(data.X[split.train], data.y[split.train])
            fitted = time.perf_counter()
            result = measure(model, data, split, keep_wrong)
        except UserWarning as interrupted:
            raise KeyboardInterrupt from interrupted
        except (ValueError, np.linalg.LinAlgError, MemoryError) as error:
            return {"failed": f"{type(error).__name__}: {error}"}, {"fit": time.perf_counter() - started}
    last = model[-1] if hasattr(model, "steps") else model
    seconds = getattr(last, "seconds_", {})  # what a method knows of its own time, as that of its last fit in a search
    return result, {"fit": fitted - started, "predict": time.perf_counter() - fitted, **seconds}


def measure(model: Any, data: Dataset, split: Split, keep_wrong: bool = False) -> Result:
    """Errors on both parts; log loss, calibration error and reliability of the rows asked about; curves of learning."""
    truth = data.y[split.test]
    said = np.asarray(model.predict(data.X[split.test]), dtype=str)
    result: Result = {"error": float(np.mean(said != truth))}
    if len(split.train) != len(split.test):
        at_home = np.asarray(model.predict(data.X[split.train]), dtype=str)
        result["train_error"] = float(np.mean(at_home != data.y[split.train]))
    if hasattr(model, "predict_proba"):
        result.update(of_probabilities(model.predict_proba(data.X[split.test]), np.asarray(model.classes_, str), truth))
    last = model[-1] if hasattr(model, "steps") else model
    curves = curves_of(last)
    if curves:
        result["curves"], result["iterations"] = curves, int(last.n_iter_)
    if hasattr(last, "best_params_"):
        result["chosen"] = {name: value for name, value in last.best_params_.items() if np.isscalar(value)}
    if keep_wrong:
        result["wrong"] = split.test[said != truth].tolist()
    return result


def curves_of(model: Any) -> dict[str, list[float]]:
    """Losses on the training rows by iteration, of the steps that were kept, where the model knows all of them."""
    history, wanted = getattr(model, "history_", None) or {}, ("error", "soft_error", "log_loss")
    if not all(name in history for name in wanted):
        return {}
    return {name: [round(v, 10) for v in history[name]] for name in wanted}


def calibration_error(points: Iterable[Sequence[float]]) -> float:
    """The mean gap between confidence and accuracy, sum_b n_b |confidence_b - accuracy_b| / n, over bins of rows.

    >>> calibration_error([(2, 0.75, 1.0), (2, 0.5, 0.0)])
    0.375
    """
    points = list(points)
    return sum(n * abs(a - b) for n, a, b in points) / (sum(n for n, _, _ in points) or 1)


def of_truth(p: Array, classes: Array, truth: Array) -> Array:
    """The probability (n,) of the true class, of probabilities (n, k); 0 if the class was not learned."""
    order = np.argsort(classes)
    at = order[np.minimum(np.searchsorted(classes[order], truth), len(classes) - 1)]
    return np.where(classes[at] == truth, p[np.arange(len(p)), at], 0.0)


def log_losses(p: Array, classes: Array, truth: Array) -> Array:
    """The log loss -log p(y | x) of every row (n,), of probabilities (n, k)."""
    return np.asarray(-np.log(np.clip(of_truth(p, classes, truth), FLOOR, 1)))


def of_probabilities(p: Array, classes: Array, truth: Array) -> Result:
    """Log loss, Brier score, calibration error and reliability of probabilities (n, k).

    >>> got = of_probabilities(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array(["a", "b"]), np.array(["a", "a"]))
    >>> round(got["log_loss"], 3), got["reliability"]
    (0.857, [[1, 0.8, 0.0], [1, 0.9, 1.0]])
    """
    top, right = p.max(axis=1), classes[p.argmax(axis=1)] == truth
    bins = np.minimum((BINS * top).astype(int), BINS - 1)
    parts = [(int((bins == b).sum()), float(top[bins == b].mean()), float(right[bins == b].mean())) for b in set(bins)]
    brier = (p**2).sum(axis=1) - 2 * of_truth(p, classes, truth) + 1
    return {
        "log_loss": float(log_losses(p, classes, truth).mean()),
        "brier": float(brier.mean()),
        "calibration_error": calibration_error(parts),
        "reliability": [[n, round(a, 6), round(b, 6)] for n, a, b in sorted(parts, key=lambda part: part[1])],
    }
