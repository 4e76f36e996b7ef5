"""Sums of rows by fold, and the sums of all other folds."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import clone

from suffice._classifier import Classifier
from suffice._vector import Array
from suffice.data import Memory
from suffice.encoders import Encoder
from suffice.learners import Observed
from suffice.models import AnyModel, AnyStatistics

Split: TypeAlias = tuple[Array, Array]  # the training rows and the test rows


def adds_up(estimator: Any, X: Any, y: Any) -> bool:
    """Whether what an estimator learns is a function of sums, which it reads as they are: nothing is learned before."""
    if not isinstance(estimator, Classifier) or not hasattr(estimator, "partial_fit"):
        return False
    encoder = estimator._model().encoder
    learns = type(encoder).prepare is not Encoder.prepare
    return not learns or encoder.prepare(Memory(X, y)) is encoder


@dataclass(frozen=True, eq=False)
class Read:
    """Rows that an estimator has read: encoded once, to be summed by fold."""

    reader: Classifier
    model: AnyModel
    rows: Memory  # without those of weight zero
    at: Array  # (n,) where each row stands among these; -1 for one of weight zero

    @classmethod
    def of(cls, estimator: Classifier, X: Any, y: Any, weight: Array) -> Read:
        """Read rows as `fit` does."""
        reader = clone(estimator)
        rows = reader._read(X, y, weight, reset=True)
        if not isinstance(rows, Memory):
            raise TypeError("cross-validation takes rows in memory: give arrays or data frames X and y")
        return cls(reader, reader._prepared(), rows, np.where(weight > 0, np.cumsum(weight > 0) - 1, -1))

    def sum(self, which: Array) -> AnyStatistics:
        """S(X, Y) of some rows."""
        at = self.at[which]
        at = at[at >= 0]
        Y = self.rows._labels()
        return Memory(self.rows.X[at], Y[at]).sum(Observed(self.model))


def trained(read: Read, splits: Sequence[Split]) -> tuple[list[AnyStatistics], list[float]]:
    """The sums of the training rows of every split, and how long each took.

    Where splits follow each other whose test rows are all rows, and whose training rows are all others, each fold is
    summed once: s of a split is the sum over the other folds (added up, not subtracted from the total, which loses no
    digits). Other training rows are summed as they are.
    """
    sums: list[AnyStatistics] = []
    times: list[float] = []
    for start, end in rounds(splits, len(read.at)):
        begun = perf_counter()
        whole = end - start > 1
        each = [read.sum(test if whole else train) for train, test in splits[start:end]]
        sums += [s.settled().seen() for s in (others(each) if whole else each)]
        times += [(perf_counter() - begun) / (end - start)] * (end - start)
    return sums, times


def rounds(splits: Sequence[Split], n: int) -> list[tuple[int, int]]:
    """Where rounds of splits begin and end, by number: a round's test rows are all rows, each once; else one by one.

    >>> halves = [(np.array([1]), np.array([0])), (np.array([0]), np.array([1]))]
    >>> rounds([*halves, halves[0], *halves], 2)
    [(0, 2), (2, 3), (3, 5)]
    """
    found, start = [], 0
    while start < len(splits):
        end = _round(splits, start, n)
        found.append((start, end))
        start = end
    return found


def _round(splits: Sequence[Split], start: int, n: int) -> int:
    """Where the round that begins at a split ends; after this split if there is none."""
    seen = np.zeros(n, dtype=bool)
    for end, (train, test) in enumerate(splits[start:], start + 1):
        own = np.zeros(n, dtype=bool)
        own[test] = True
        others = np.zeros(n, dtype=bool)
        others[train] = True
        exact = own.sum() == len(test) and len(train) + len(test) == n and (own ^ others).all()
        if not exact or (seen & own).any():
            break
        seen |= own
        if seen.all():
            return end
    return start + 1


def others(parts: Sequence[AnyStatistics]) -> list[AnyStatistics]:
    """For each of several sums, the sum of all others: from the left and from the right, in 3 n additions."""
    left = list(accumulate(parts[:-1], operator.add))
    right = list(accumulate(parts[:0:-1], operator.add))[::-1]
    between = [a + b for a, b in zip(left[:-1], right[1:], strict=True)]
    return [right[0], *between, left[-1]]
