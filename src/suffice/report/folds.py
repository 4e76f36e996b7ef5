"""Which rows are learned from and which are asked about, the same for every method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split

from suffice._vector import Array


class Split(NamedTuple):
    """Rows to learn from and rows to ask about."""

    train: Array
    test: Array


@dataclass(frozen=True)
class Folds:
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
