"""Rows in memory."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from itertools import chain, pairwise
from typing import Any

import narwhals as nw
import numpy as np
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from suffice._core.features import Encoded, Rows
from suffice._core.labels import OneHot, unlabelled
from suffice._core.vector import Array
from suffice._runtime.messages import COUNT, check_value, emit, join_words, or_else
from suffice._runtime.progress import reading
from suffice._runtime.threads import few_threads, spread_in_order
from suffice.data.base import Batch, Between, Both, Change, Changed, Data, R
from suffice.data.fingerprint import digest
from suffice.data.layout import no_labels

ORIGIN_ROWS = 64  # of each class, for the origin of its sums
ENTRIES = 1 << 21  # of a batch: large enough for BLAS, small enough for the temporaries of a model
MIN_ENTRIES_SHARED = 1 << 19  # above it, threads are worth their cost
BATCHES_SHARED = 4  # the number of batches is then a multiple of it
MIN_STEP = 4  # a cheap sample is at most one row of this many
MIN_LONG_BATCH = 1 << 15  # rows
MAX_SERIAL_ENTRIES = 1 << 14  # linear algebra of fewer entries uses one thread


class Memory(Data):
    """Features X (n, d) and labels y (n,), with row weights, summed in batches.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n, d)
        Features, or whatever a model's encoder takes that has a length and can be indexed by rows.
    y : array of shape (n,), default=None
        Labels; rows without labels can be predicted, not learned from. If only some lack one, they are left out of
        sums, with a warning.
    weight : array of shape (n,) or the name of a column, default=None
        Row weights; a row of weight zero counts for nothing.
    batch_size : int, default=None
        Rows in a batch; by default as many as have about two million cells, of sparse rows stored ones.
    target : name of a column, default=None
        The column of a data frame X with the labels, instead of y.
    verbose : int, default=0
        1 shows the rows of each pass.

    Examples
    --------
    >>> data = Memory(np.array([[1.0], [2.0], [4.0]]), np.array([0, 1, 1]), batch_size=2)
    >>> data.sum(lambda batch: batch.X.sum())
    np.float64(7.0)
    """

    def __init__(
        self,
        X: Any,
        y: Any = None,
        weight: Any = None,
        batch_size: int | None = None,
        target: str | None = None,
        verbose: int = 0,
    ) -> None:
        check_value(batch_size, "Memory: batch_size", or_else(None, COUNT))
        X, y, weight = _named_columns(X, y, weight, target)
        X = by_rows(table(X))
        n = _num_samples(X)
        Y = None if y is None else y if isinstance(y, OneHot) else OneHot.of(y, checked_weights(weight, n))
        if Y is not None and n != len(Y):
            raise ValueError(f"X has {n} rows, but there are {len(Y)} labels")
        self._every: Memory | None = None  # rows, with those of weight zero, which are predicted
        if y is not None and not isinstance(y, OneHot) and Y is not None:
            emit(unlabelled(Y.unlabelled))
        if Y is not None and not Y.whole:
            self._every = Memory(X, batch_size=batch_size, verbose=verbose)
            rows = np.flatnonzero(Y.weight)
            X, Y = _safe_indexing(X, rows), replace(Y[rows], unlabelled=Y.unlabelled)
        self.X, self.Y, self.batch_size, self.verbose = X, Y, batch_size, verbose

    def _labels(self) -> OneHot:
        if self.Y is None:
            raise ValueError(no_labels("y, or target= with the name of a column"))
        return self.Y

    def _like(self, X: Any, Y: OneHot | None) -> Memory:
        """Other rows with the settings of these."""
        return Memory(X, Y, batch_size=self.batch_size, verbose=self.verbose)

    def fingerprint(self) -> dict[str, Any]:
        """The number of rows and columns, and digests of their values."""
        parts = () if self.Y is None else (self.Y.classes, self.Y.codes, self.Y.weight)
        rows, labels = (digest(*values) for values in ((self.X,), parts))
        return {"rows": _num_samples(self.X), "columns": _width(self.X), "values": rows, "labels": labels}

    def sum(self, f: Callable[[Batch], R]) -> R:
        """The sum of f over the batches, in order."""
        Y, f = self._labels(), self._near(f)
        return reduce(operator.add, self._spread(lambda rows: f(Batch(rows_of(self.X, rows), Y[rows]))))

    def several(self) -> bool:
        """True if there is more than one batch."""
        return len(row_slices(self.X, self.batch_size)) > 1

    def long(self) -> bool:
        """True if there are several batches, so long that work once a column costs little."""
        slices = row_slices(self.X, self.batch_size)
        return len(slices) > 1 and slices[0].stop >= MIN_LONG_BATCH

    def first(self) -> Any:
        """The features of the first row; all of X if it has no columns."""
        return rows_of(self.X, slice(0, 1)) if len(self.X.shape) > 1 else self.X

    def _near(self, f: Callable[[Batch], R]) -> Callable[[Batch], R]:
        """f with origins from rows of all batches, if it has origins: so all batches have the same."""
        Y = self._labels()
        if not hasattr(f, "with_origin_of") or not self.several():
            return f
        few = np.sort(Y.spaced_rows(ORIGIN_ROWS))
        with few_threads(_width(self.X)):
            near: Callable[[Batch], R] = f.with_origin_of(f(Batch(_safe_indexing(self.X, few), Y[few])))
        return near

    def transform(self, f: Callable[[Any], Any]) -> Any:
        """f of the features, batch by batch, as one array; a few batches at a time are in memory."""
        every = self if self._every is None else self._every
        return _stacked(every._spread(lambda rows: f(rows_of(every.X, rows))), _num_samples(every.X))

    def _spread(self, f: Callable[[slice], R]) -> Iterator[R]:
        """f of the rows of each batch, in order, several at a time; shown if `verbose`."""
        slices, n = row_slices(self.X, self.batch_size), _num_samples(self.X)
        if not self.verbose and len(slices) == 1 and n * _width(self.X) < MAX_SERIAL_ENTRIES:
            yield f(slices[0])
            return
        with few_threads(_width(self.X)), reading("rows in memory", n, self.verbose) as advance:
            for found, rows in zip(spread_in_order(f, slices), slices, strict=True):
                advance(min(rows.stop, n) - rows.start)
                yield found

    def map(
        self, features: Callable[[Any], Any] | None = None, labels: Callable[[OneHot], OneHot] | None = None
    ) -> Memory:
        """The same rows with a function applied, once, to their features, their labels or both."""
        X = self.X if features is None else features(self.X)
        return self._like(X, self.Y if labels is None else labels(self._labels()))

    def later(self, features: Callable[[Any], Any]) -> Data:
        """The same rows with a function applied to the features of each batch, again in every pass."""
        return Changed(self, Both(features), features)

    def changed(self, change: Change) -> Memory:
        """The same rows after a change of each batch, made once."""
        Y = self._labels()
        batches = list(self._spread(lambda rows: change(Batch(rows_of(self.X, rows), Y[rows]))))
        codes, weight = (np.concatenate([getattr(b.Y, name) for b in batches]) for name in ("codes", "weight"))
        return self._like(np.concatenate([b.X for b in batches]), OneHot(batches[0].Y.classes, codes, weight))

    def materialise(self, change: Change) -> Memory:
        """The rows after a change of all rows at once."""
        return self._like(*change(Batch(self.X, self._labels())))

    def sample(self, share: float, seed: int = 0) -> Memory:
        """About this share of the rows, those of smallest hash: the same rows in any order."""
        return self.materialise(Between(0.0, share, seed))

    def cheap_sample(self, rows: int) -> Memory:
        """A random row of each of `rows` equal stretches; all rows if that is more than a quarter of them."""
        Y = self._labels()
        step = len(Y) // rows
        if step < MIN_STEP:
            return self
        at = step * np.arange(rows) + np.random.default_rng(0).integers(step, size=rows)
        return self._like(_safe_indexing(self.X, at), Y[at])

    def resample(self, seed: int) -> Memory:
        """A bootstrap sample: every row with a weight from Poisson(1), times its own."""
        Y = self._labels()
        times = np.random.default_rng(seed).poisson(1.0, len(Y))
        return self._like(self.X, replace(Y, given=Y.weight * times))

    def split(self, shares: Sequence[float], seed: int) -> list[Memory]:
        """Disjoint random parts that sum to the whole, each with its share of the rows (as near as rows allow)."""
        Y = self._labels()
        order = np.random.default_rng(seed).permutation(len(Y))
        ends = np.round(np.cumsum(shares)[:-1] / np.sum(shares) * len(order)).astype(int)
        rows = [np.sort(part) for part in np.split(order, ends)]
        return [self._like(_safe_indexing(self.X, part), Y[part]) for part in rows]


def _stacked(parts: Iterator[Array], n: int) -> Array:
    """Parts of n rows in all as one array."""
    first = np.asarray(next(parts))
    whole, end = np.empty((n, *first.shape[1:]), first.dtype), 0
    for part in chain([first], parts):
        start, end = end, end + len(part)
        np.copyto(whole[start:end], part, casting="safe")  # never cut text or numbers short
    return whole


def table(X: Any) -> Any:
    """X itself if it has a shape; nested lists as an array of objects, so that cells keep their types.

    >>> table([[1, "a"], [float("nan"), "b"]]).tolist()
    [[1, 'a'], [nan, 'b']]
    """
    if not isinstance(X, list | tuple):
        return X if hasattr(X, "shape") else np.asarray(X)
    array = np.array(X, dtype=object)
    if array.ndim == 1 and len(lengths := {len(row) for row in X if isinstance(row, list | tuple)}) > 1:
        raise ValueError(
            f"X has rows of different lengths, from {min(lengths)} to {max(lengths)}: all need the same length"
        )
    return array


def by_rows(X: Any) -> Any:
    """Sparse or encoded rows in row order; anything else unchanged."""
    return X.tocsr() if issparse(X) else X.by_rows() if isinstance(X, Encoded) else X


def _named_columns(X: Any, y: Any, weight: Any, target: str | None) -> tuple[Any, Any, Any]:
    """Features, labels and weights; labels and weights given as names of columns of X are taken out of X."""
    columns = {"target": target, "weight": weight if isinstance(weight, str) else None}
    named = {what: name for what, name in columns.items() if name is not None}
    if not named:
        return X, y, weight
    if y is not None and target is not None:
        raise ValueError("give the labels either as y or as target, the name of a column, not both")
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise TypeError(
            f"{join_words(named, last=' and ')} name columns of a data frame, but X is a {type(X).__name__}"
        )
    for what, name in named.items():
        if name not in frame.columns:
            raise ValueError(f"{what}={name!r} is not a column; the columns are {list(frame.columns)}")
    y = y if target is None else frame.get_column(target).to_numpy()
    weight = frame.get_column(weight).to_numpy() if isinstance(weight, str) else weight
    return frame.drop(list(named.values())).to_native(), y, weight


def checked_weights(weight: Any, n: int) -> Any:
    """Weights (n,) of rows; ValueError unless they are finite numbers of at least 0."""
    if weight is None:
        return None
    weight = np.asarray(weight, dtype=float)
    if weight.shape != (n,):
        raise ValueError(f"weight has shape {weight.shape}, but there are {n} rows")
    if not (weight >= 0).all() or not np.isfinite(weight).all():
        raise ValueError("weights must be finite numbers of at least 0")
    return weight


def rows_of(X: Any, rows: slice) -> Any:
    """A slice of the rows of X; X itself if these are all."""
    if isinstance(X, Encoded) and not rows.start and rows.stop >= len(X):
        return X
    return X[rows] if isinstance(X, Encoded | np.ndarray) else _safe_indexing(X, rows)


def _width(X: Any) -> int:
    return int(X.shape[1]) if len(X.shape) > 1 else 1


def row_slices(X: Any, batch_size: int | None = None) -> list[slice]:
    """Slices that cover the rows of X in order, at least one."""
    values: Rows = X.values if isinstance(X, Encoded) else X
    if batch_size is None and issparse(values):
        return _slices_of_stored(values.indptr, values.shape[1])
    size = batch_size or _batch_rows(X.shape[0], _width(X))
    return [slice(i, i + size) for i in range(0, max(1, X.shape[0]), size)]


def _batch_rows(n: int, width: int) -> int:
    """Rows of a batch, for any number of threads; a few batches of unequal size would leave threads idle."""
    entries = n * width
    batches = -(-entries // ENTRIES)
    if entries > MIN_ENTRIES_SHARED:
        batches = BATCHES_SHARED * -(-batches // BATCHES_SHARED)
    return max(1, -(-n // max(1, batches)))


def _slices_of_stored(starts: Array, width: int) -> list[slice]:
    """Slices of sparse rows, whose entries begin at `starts` (n + 1,), with at least as many entries as columns."""
    cost = starts + np.arange(len(starts))  # a row without entries costs time, too
    size = max(ENTRIES, width)
    cuts = np.searchsorted(cost, np.arange(size, cost[-1], size))
    ends = np.unique([0, *cuts, len(starts) - 1])
    return [slice(int(a), int(b)) for a, b in pairwise(ends)] or [slice(0, 0)]
