"""Data sets, splits, and the measures of a classifier on rows that it has not learned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.metrics import auc, roc_curve
from sklearn.model_selection import StratifiedKFold, train_test_split

from suffice._core.vector import Array

TARGET = "target"


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows of a data set: features X (n, d), with NaN where missing and codes for categories, and labels y (n,)."""

    name: str
    X: Array
    y: Array
    names: tuple[str, ...]
    categorical: Array  # (d,) of bool
    source: str = ""

    def rows(self, which: Array) -> Dataset:
        """Select rows by their numbers."""
        return replace(self, X=self.X[which], y=self.y[which])

    def columns(self, which: Array) -> Dataset:
        """Select features by their numbers."""
        names = tuple(np.array(self.names, dtype=object)[which])
        return replace(self, X=self.X[:, which], names=names, categorical=self.categorical[which])

    @classmethod
    def of(cls, name: str, table: pa.Table, target: str = TARGET, source: str = "") -> Dataset:
        """Build from a table whose column `target` holds the labels; text becomes codes in alphabetical order."""
        names = tuple(column for column in table.column_names if column != target)
        columns, categorical = zip(*(_numbers(table[column]) for column in names), strict=True)
        y = np.asarray(table[target].cast(pa.string()).to_numpy(zero_copy_only=False), dtype=str)
        return cls(name, np.column_stack(columns), y, names, np.array(categorical), source)


def _numbers(column: pa.ChunkedArray) -> tuple[Array, bool]:
    """Return a column as floats, and True if they are codes of categories."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        values = pc.unique(column).drop_null().sort()
        return np.asarray(pc.index_in(column, values).cast(pa.float64()).to_numpy(zero_copy_only=False), float), True
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), float), False


class Split(NamedTuple):
    """Training rows and test rows."""

    train: Array
    test: Array


@dataclass(frozen=True)
class StratifiedFolds:
    """Stratified, shuffled cross-validation: every row is tested once in each run of `n` folds."""

    n: int = 10
    runs: int = 1
    seed: int = 0

    @property
    def repeats(self) -> int:
        """The number of folds in all runs."""
        return self.n * self.runs

    def numbers(self, y: Array, run: int = 0) -> Array:
        """Return the fold of every row (n,)."""
        number = np.empty(len(y), dtype=np.int16)
        folds = StratifiedKFold(self.n, shuffle=True, random_state=self.seed + run)
        for at, (_, test) in enumerate(folds.split(np.zeros((len(y), 1)), y)):
            number[test] = at
        return number

    def split(self, y: Array, number: int) -> Split:
        """Return the split of that number."""
        run, fold = divmod(number, self.n)
        return part(self.numbers(y, run), fold)


def part(numbers: Array, fold: int) -> Split:
    """Test the rows of one fold and train on those of all others; rows of fold -1 take no part."""
    return Split(np.flatnonzero((numbers != fold) & (numbers >= 0)), np.flatnonzero(numbers == fold))


def sample_rows(y: Array, size: int, seed: int) -> Array:
    """Draw n rows, in their order, with the classes in their shares.

    >>> sample_rows(np.array(["a", "b"] * 4), 4, 0).tolist()
    [1, 4, 5, 6]
    """
    if size >= len(y):
        return np.arange(len(y))
    rows, _ = train_test_split(np.arange(len(y)), train_size=size, stratify=y, random_state=seed)
    return np.sort(rows)


Result = dict[str, Any]

MIN_PROBABILITY = 1e-15  # in the log loss
BINS = 10  # of the reliability diagram and the calibration error
FALSE_POSITIVE_RATES = np.linspace(0.0, 1.0, 101)  # at which a ROC curve is kept
CLEAR_STANDARD_ERRORS = 2.0  # by which a gain over chance is clear


def last_step(model: Any) -> Any:
    """Return the classifier at the end of a pipeline, or the model itself."""
    return model[-1] if hasattr(model, "steps") else model


def curves_of(model: Any) -> dict[str, list[float]]:
    """Return the training losses by iteration, of the accepted steps; empty unless the model has all three losses."""
    history, wanted = getattr(last_step(model), "history_", None) or {}, ("error", "soft_error", "log_loss")
    if not all(name in history for name in wanted):
        return {}
    return {name: [round(v, 10) for v in history[name]] for name in wanted}


def calibration_error(points: Iterable[Sequence[float]]) -> float:
    """Return the mean gap between confidence and accuracy over bins, sum_b n_b |confidence_b - accuracy_b| / n.

    >>> calibration_error([(2, 0.75, 1.0), (2, 0.5, 0.0)])
    0.375
    """
    points = list(points)
    return sum(n * abs(a - b) for n, a, b in points) / (sum(n for n, _, _ in points) or 1)


def of_truth(p: Array, classes: Array, truth: Array) -> Array:
    """Return the probability (n,) of the true class from probabilities (n, k); 0 for a class that was not learned."""
    order = np.argsort(classes)
    at = order[np.minimum(np.searchsorted(classes[order], truth), len(classes) - 1)]
    return np.where(classes[at] == truth, p[np.arange(len(p)), at], 0.0)


def log_losses(p: Array, classes: Array, truth: Array) -> Array:
    """Return the log loss -log p(y | x) of every row (n,) from probabilities (n, k)."""
    return np.asarray(-np.log(np.clip(of_truth(p, classes, truth), MIN_PROBABILITY, 1)))


def of_probabilities(p: Array, classes: Array, truth: Array) -> Result:
    """Return log loss, Brier score, calibration error and reliability of probabilities (n, k).

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


def roc(scores: Array, positive: Array) -> Result:
    """Return the ROC curve of scores (n,) of the positive class, on a grid of false positive rates, and its area."""
    false, true, _ = roc_curve(positive, scores)
    return {"roc": np.interp(FALSE_POSITIVE_RATES, false, true), "auc": float(auc(false, true))}


def gains_over_chance(p: Array, classes: Array, truth: Array, shares: Array) -> Array:
    """Return how much smaller log loss and error are than those of chance, for every row (n, 2).

    Chance knows the shares (k,) of the classes among the training rows only, the probabilities p are (n, k).

    >>> p, classes = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array(["a", "b"])
    >>> gains_over_chance(p, classes, np.array(["a", "b"]), np.array([0.6, 0.4])).round(2).tolist()
    [[0.41, 0.0], [0.69, 1.0]]
    """
    chance = np.tile(shares, (len(truth), 1))
    loss = log_losses(chance, classes, truth) - log_losses(p, classes, truth)
    right = [(classes[q.argmax(axis=1)] == truth).astype(float) for q in (p, chance)]
    return np.stack([loss, right[0] - right[1]], axis=1)


def clearly_positive(gains: Array) -> Array:
    """True where the mean (m,) of gains (n, m) exceeds zero by more than two standard errors."""
    error: Array = gains.std(axis=0) / np.sqrt(len(gains))
    return np.asarray(gains.mean(axis=0) > CLEAR_STANDARD_ERRORS * error)


def no_better_than_chance(gains: Array) -> bool:
    """True if, by gains (n, 2), log loss is not smaller than that of chance and the error not clearly smaller."""
    return bool(gains[:, 0].mean() <= 0 and not clearly_positive(gains)[1])
