"""Rows in memory."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from suffice._domain import OneHot
from suffice.data._protocol import Batch, R

ENTRIES = 1 << 21  # of a batch: large enough for BLAS, small enough for the temporaries of a model


class Memory:
    """Features X (n, d) and labels y (n,), with row weights, summed in batches.

    Parameters
    ----------
    X : array of shape (n, d)
        Features, or whatever a model's `statistics` takes that has a length and can be indexed by rows.
    y : array of shape (n,), or OneHot
        Labels.
    weight : array of shape (n,), default=None
        Row weights; a row of weight zero counts for nothing.
    batch_size : int, default=None
        Rows in a batch; by default about two million entries' worth.

    Examples
    --------
    >>> data = Memory(np.array([[1.0], [2.0], [4.0]]), np.array([0, 1, 1]), batch_size=2)
    >>> data.sum(lambda batch: batch.X.sum())
    np.float64(7.0)
    """

    def __init__(self, X: Any, y: Any, weight: Any = None, batch_size: int | None = None) -> None:
        self.X = X
        self.Y = y if isinstance(y, OneHot) else OneHot.of(y, weight)
        self.batch_size = batch_size
        if len(X) != len(self.Y):
            raise ValueError(f"X has {len(X)} rows, but there are {len(self.Y)} labels")

    def sum(self, f: Callable[[Batch], R]) -> R:
        """The sum of f over the batches, in order."""
        batches = (f(Batch(self.X[rows], self.Y[rows])) for rows in row_slices(self.X, self.batch_size))
        return reduce(operator.add, batches)

    def map(self, f: Callable[[Any], Any]) -> Memory:
        """The same rows with f applied to their features, once."""
        return Memory(f(self.X), self.Y, batch_size=self.batch_size)

    def parts(self, n: int, seed: int) -> list[Memory]:
        """N disjoint random parts of sizes that differ by one row at most."""
        order = np.random.default_rng(seed).permutation(len(self.Y))
        rows = [np.sort(part) for part in np.array_split(order, n)]
        return [Memory(self.X[part], self.Y[part], batch_size=self.batch_size) for part in rows]


def row_slices(X: Any, batch_size: int | None = None) -> list[slice]:
    """Slices that cover the rows of X in order, at least one."""
    size = batch_size or max(1, ENTRIES // max(1, X.shape[1]))
    return [slice(i, i + size) for i in range(0, max(1, X.shape[0]), size)]
