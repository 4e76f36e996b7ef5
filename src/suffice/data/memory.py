"""Rows in memory."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.utils import _safe_indexing

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
        Y = y if isinstance(y, OneHot) else OneHot.of(y, weight)
        if len(X) != len(Y):
            raise ValueError(f"X has {len(X)} rows, but there are {len(Y)} labels")
        if not (Y.weight >= 0).all() or not np.isfinite(Y.weight).all():
            raise ValueError("weights must be finite numbers of at least 0")
        if Y.classes.dtype.kind == "f" and np.isnan(Y.classes).any():
            raise ValueError("labels must not be NaN")
        if not Y.weight.all():
            rows = np.flatnonzero(Y.weight)
            X, Y = _safe_indexing(X, rows), Y[rows]
        self.X, self.Y, self.batch_size = X, Y, batch_size

        frame = nw.from_native(X, eager_only=True, pass_through=True)
        self.names = tuple(map(str, frame.columns)) if isinstance(frame, nw.DataFrame) else None

    def sum(self, f: Callable[[Batch], R]) -> R:
        """The sum of f over the batches, in order."""
        batches = (f(Batch(self.X[rows], self.Y[rows])) for rows in row_slices(self.X, self.batch_size))
        return reduce(operator.add, batches)

    def map(
        self, features: Callable[[Any], Any] | None = None, labels: Callable[[OneHot], OneHot] | None = None
    ) -> Memory:
        """The same rows with a function applied, once, to their features, their labels or both."""
        X = self.X if features is None else features(self.X)
        return Memory(X, self.Y if labels is None else labels(self.Y), batch_size=self.batch_size)

    def resample(self, seed: int) -> Memory:
        """A bootstrap sample: every row with a weight from Poisson(1), times its own."""
        times = np.random.default_rng(seed).poisson(1.0, len(self.Y))
        return self.map(labels=lambda Y: replace(Y, weight=Y.weight * times))

    def parts(self, shares: Sequence[float], seed: int) -> list[Memory]:
        """Disjoint random parts that sum to the whole, each with its share of the rows (as near as rows allow)."""
        order = np.random.default_rng(seed).permutation(len(self.Y))
        ends = np.round(np.cumsum(shares)[:-1] / np.sum(shares) * len(order)).astype(int)
        rows = [np.sort(part) for part in np.split(order, ends)]
        return [Memory(self.X[part], self.Y[part], batch_size=self.batch_size) for part in rows]


def row_slices(X: Any, batch_size: int | None = None) -> list[slice]:
    """Slices that cover the rows of X in order, at least one."""
    size = batch_size or max(1, ENTRIES // max(1, X.shape[1]))
    return [slice(i, i + size) for i in range(0, max(1, X.shape[0]), size)]
