"""Scores of estimators whose parameters come from the sums of all other folds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.model_selection._validation import _score
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params

from suffice._vector import Array
from suffice.model_selection._folds import Folds, Split, keeping


def as_numbers(splits: Iterable[Any]) -> list[Split]:
    """Splits with rows by their numbers, not by masks.

    >>> as_numbers([([True, False], [1])])
    [(array([0]), array([1]))]
    """
    return [(_numbers(train), _numbers(test)) for train, test in splits]


def _numbers(rows: Any) -> Array:
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool else rows


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be measured: splits of rows X with labels y (n,), and a score."""

    X: Any
    y: Array
    splits: Sequence[Split]
    scorer: Any
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the scorer; what there is for each row is split, too
    error_score: Any = "raise"

    def score(self, fit: Any, rows: Array, X: Any = None) -> Any:
        """The scores of a fitted estimator on some rows, which may be given."""
        X = _safe_indexing(self.X, rows) if X is None else X
        settings = _check_method_params(self.X, params=self.settings, indices=rows)
        return _score(fit, X, self.y[rows], self.scorer, settings, self.error_score)


@dataclass(frozen=True, eq=False)
class Tested:
    """The test rows of a split, encoded once for all estimators that have the sums of its training rows in common."""

    task: Task
    folds: Folds
    split: int
    X: Any
    encoded: Any

    @classmethod
    def of(cls, task: Task, folds: Folds, split: int) -> Tested:
        """The test rows of a split by its number."""
        _, rows = task.splits[split]
        X = _safe_indexing(task.X, rows)
        return cls(task, folds, split, X, folds.read.encoded(rows, X))

    def measure(self, estimator: Any, train: bool = False) -> dict[str, Any]:
        """What scikit-learn measures of an estimator: scores and times; also on the training rows if asked for."""
        rows, begun = self.task.splits[self.split], perf_counter()
        fit = self.folds.fit(estimator, self.split)
        fitted = perf_counter()
        with keeping(fit, self.X, self.encoded):
            scores = self.task.score(fit, rows[1], self.X)
        found = {
            "fit_time": self.folds.times[self.split] + fitted - begun,
            "score_time": perf_counter() - fitted,
            "estimator": fit,
            "test_scores": scores,
        }
        return {**found, "train_scores": self.task.score(fit, rows[0])} if train else found
