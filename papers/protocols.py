"""Protocols: which rows are learned from and which are asked about. The same for every method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit

from papers import Array
from suffice.model_selection.measures import Split


class Splitter(Protocol):
    """A way to split rows by their labels, always the same one."""

    @property
    def repeats(self) -> int:
        """How many splits there are."""
        ...

    def split(self, y: Array, number: int) -> Split:
        """The split of that number."""
        ...


@dataclass(frozen=True)
class WholeSet:
    """Training error: all rows are learned from and asked about."""

    repeats: int = 1

    def split(self, y: Array, number: int) -> Split:  # noqa: ARG002 - there is one
        return Split(np.arange(len(y)), np.arange(len(y)))


@dataclass(frozen=True)
class Shuffled:
    """Repeated random splits, stratified by class.

    >>> Shuffled(2, test=0.25).split(np.repeat(["a", "b"], 8), 0).test.shape
    (4,)
    """

    repeats: int
    test: float
    seed: int = 0

    def split(self, y: Array, number: int) -> Split:
        one = StratifiedShuffleSplit(1, test_size=self.test, random_state=self.seed + number)
        return Split(*next(one.split(np.zeros((len(y), 1)), y)))


@dataclass(frozen=True)
class ClassFolds:
    """The folds of nblr: each tests max(1, floor(n_c / 10)) rows of every class, in the order of the file.

    A class with fewer than two rows is only learned from.

    >>> [ClassFolds(3).split(np.array(["a"] * 7), number).test.tolist() for number in range(3)]
    [[0, 1], [2, 3], [4, 5]]
    """

    n: int = 10

    @property
    def repeats(self) -> int:
        """One a fold."""
        return self.n

    def split(self, y: Array, number: int) -> Split:
        test = []
        for label in np.unique(y):
            rows = np.flatnonzero(y == label)
            size = max(1, len(rows) // self.n)
            if len(rows) > size:
                test.append(rows[(number * size) % len(rows) :][:size])
        asked = np.sort(np.concatenate(test))
        return Split(np.setdiff1d(np.arange(len(y)), asked), asked)
