"""Rows in dask data frames and arrays: workers sum the partitions that they hold, and only sums come back."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import cloudpickle
import narwhals as nw
import numpy as np
import pandas as pd
from dask import compute, config, delayed, persist
from dask.array import Array as DaskArray
from dask.base import get_scheduler
from dask.callbacks import Callback
from dask.dataframe import DataFrame, Series
from dask.sizeof import sizeof
from scipy.sparse import issparse

from suffice._core.kinds import ColumnContent, temporal
from suffice._core.labels import OneHot
from suffice._core.vector import Array
from suffice._runtime.lazy import cached_property
from suffice._runtime.progress import reading
from suffice._runtime.threads import undivided
from suffice.data.base import Batch, R
from suffice.data.layout import DataError, Layout, Unlabelled, located, no_labels
from suffice.data.memory import Memory, checked_weights
from suffice.data.partitioned import (
    FAN_IN,
    ChangeBatch,
    Partial,
    PartialSum,
    Partitioned,
    add_in_order,
    partition_name,
    projected,
)

READ_ERRORS = (ValueError, TypeError, LookupError, OSError)  # of partitions that dask itself cannot read
LARGE_GRAPH = "distributed.admin.large-graph-warning-threshold"
Lazy = Any  # a dask.delayed.Delayed, which has no types
Reader = Callable[..., Batch]  # makes a batch of a partition as dask has it; it is sent to the workers


def as_node(value: object) -> Lazy:
    """A value as a node of a graph: it is sent once, and again if the worker that has it is lost."""
    return delayed(pickle.loads, pure=False)(cloudpickle.dumps(value))


class Dask(Partitioned):
    """A dask data frame, or dask arrays, whose partitions are summed by the workers that hold them.

        S = sum over partitions p of S_p,     added eight at a time, in the order of the partitions

    A pass is one graph: parameters go out once, partial sums are added by the workers, and one sum comes back, whose
    size does not depend on the number of rows. While a classifier is fitted, encoded partitions stay on the workers;
    the partitions of a worker that is lost are read again by others.

    Parameters
    ----------
    collection : dask data frame, or dask array of shape (n, d)
        The rows.
    target : str, or dask array of shape (n,), default=None
        The labels: the name of a column or, where the rows are an array, an array.
    weight : str, or dask array of shape (n,), default=None
        The row weights, likewise.
    columns : list of str, default=None
        The columns of a data frame with the features; by default all other columns.
    keys : str or list of str, default=()
        Columns of a data frame that identify rows: they are returned with the predictions, and are not features.
    client : distributed.Client, default=None
        Where to compute; by default the current client, and without one dask's own scheduler.
    verbose : int, default=0
        1 shows the partitions of each pass.

    Examples
    --------
    >>> import pandas as pd
    >>> from dask.dataframe import from_pandas
    >>> from suffice import GaussianNB
    >>> rows = from_pandas(pd.DataFrame({"x": [0.0, 1.0, 4.0, 5.0], "label": list("aabb")}), npartitions=2)
    >>> model = GaussianNB().fit(Dask(rows, target="label"))
    >>> model.predict(rows[["x"]]).compute()["prediction"].tolist()
    ['a', 'a', 'b', 'b']
    """

    def __init__(
        self,
        collection: Any,
        target: Any = None,
        weight: Any = None,
        columns: Sequence[str] | None = None,
        keys: str | Sequence[str] = (),
        client: Any = None,
        verbose: int = 0,
    ) -> None:
        self._form = _form(collection, target, weight, columns, keys)
        self._numbers: Sequence[int] = range(self._form.count)  # of the selected partitions
        self.client, self.verbose = client, verbose
        self._warned: list[bool] = []

    def sum(self, f: Callable[[Batch], R]) -> R:
        """The sum of f over the partitions, added by the workers in a fixed order."""
        leaves = self._tasks("sum", Partial(f, self.change))
        with _data_errors(self), self._quiet():
            total: PartialSum[R] = self._computed(leaves, _tree(self._numbers, leaves))
        return self._value(total)

    def transform(self, f: Callable[[Any], Any]) -> Any:
        """A lazy data frame of the keys and of the answers by name, with the same divisions; of an array an array."""
        return self._form.transform(self._of_features(f))

    def without_labels(self) -> Dask:
        """The same rows, all of one class: labels are not read, unless they have been."""
        other = copy.copy(self)
        other._form = self._form.without_labels()
        return other

    def _empty_batch(self) -> Batch:
        return self._form.empty

    def _cache_batches(self, change: ChangeBatch) -> dict[int, Lazy]:
        tasks = self._tasks("keep", change)
        with _data_errors(self), self._quiet():
            batches = persist(*tasks) if self.client is None else self.client.persist(tasks)
        return dict(zip(self._numbers, batches, strict=True))

    def _partition_count(self) -> int:
        return len(self._numbers)

    def _select(self, numbers: list[int]) -> Dask:
        other = copy.copy(self)
        other._numbers = [self._numbers[at] for at in numbers]
        return other

    def _tasks(self, name: str, work: Callable[[int, Batch], Any]) -> list[Lazy]:
        """A task for each partition; the value that all of them need is one node of the graph."""
        if self._cache is None:
            read, parts = self._form.reader, dict(enumerate(self._form.parts))
        else:
            read, parts = _identity, {number: (batch,) for number, batch in self._cache.batches.items()}
        job, task, token = as_node((read, work)), delayed(_work, pure=False), uuid4().hex
        return [
            task(job, number, *parts[number], dask_key_name=f"suffice_{name}-{token}-{number}")
            for number in self._numbers
        ]

    def _client(self) -> Any:
        """The client that computes; None if dask's own scheduler does."""
        return getattr(get_scheduler(), "__self__", None) if self.client is None else self.client

    def _quiet(self) -> AbstractContextManager[Any]:
        """No warning of large parameters, which are sent once. The setting exists only with a client."""
        return nullcontext() if self._client() is None else config.set({LARGE_GRAPH: "100MB"})

    def _computed(self, leaves: list[Lazy], total: Lazy) -> Any:
        """Compute a total; with `verbose`, partitions are counted as they are done."""
        client = self._client()
        with reading("partitions", len(leaves), self.verbose and leaves, "partitions") as advance:
            if client is None:
                with Callback(posttask=lambda key, *_: advance(str(key).startswith("suffice_sum"))):
                    return compute(total)[0]
            if not self.verbose:
                return client.compute(total, sync=True)
            from distributed import as_completed

            *each, last = client.compute([*leaves, total])
            for _ in as_completed(each):
                advance(1)
            return last.result()


def _identity(batch: Batch) -> Batch:
    return batch


def _work(job: tuple[Reader, Callable[[int, Batch], Any]], number: int, *rows: Any) -> Any:
    read, work = job
    with located(partition_name(number)):
        batch = read(*rows)
    return work(number, batch)


def _tree(numbers: Sequence[int], sums: list[Lazy]) -> Lazy:
    """The total of partial sums: neighbours are added until one is left."""
    if len(sums) == 1:
        return sums[0]
    groups = [slice(i, i + FAN_IN) for i in range(0, len(sums), FAN_IN)]
    add = delayed(_add, pure=False)
    return _tree([numbers[group][0] for group in groups], [add(list(numbers[g]), *sums[g]) for g in groups])


def _add(numbers: list[int], *partial: Any) -> Any:
    return add_in_order(numbers, partial)


@contextmanager
def _data_errors(data: Dask) -> Iterator[None]:
    """Raise errors of a partition as a DataError that names it, without the tracebacks of the engine."""
    try:
        yield
    except DataError as error:
        raise DataError(str(error)) from None
    except READ_ERRORS as error:
        number = _unreadable(data)
        if number is None:
            raise
        raise DataError(f"{partition_name(number)}: {type(error).__name__}: {error}") from None


def _unreadable(data: Dask) -> int | None:
    """The first partition that dask cannot read; None if it can read all."""
    for number in data._numbers:
        try:
            data._computed([], delayed(_lengths, pure=False)(*data._form.parts[number]))
        except READ_ERRORS:
            return number
    return None


def _lengths(*rows: Any) -> list[int]:
    return [len(one) for one in rows]


def _form(collection: Any, target: Any, weight: Any, columns: Any, keys: Any) -> DaskFrames | DaskArrays:
    if isinstance(collection, DataFrame):
        return DaskFrames(collection, Layout.of(target, weight, columns, keys))
    if not isinstance(collection, DaskArray):
        raise TypeError(f"Dask takes a dask data frame or a dask array, got a {type(collection).__name__}")
    if columns is not None or keys:
        raise TypeError("columns and keys name columns of a data frame, and the rows are an array: give neither")
    arrays = [one.values if isinstance(one, Series) else one for one in (target, weight)]
    for argument, one in zip(("target", "weight"), arrays, strict=True):
        if one is not None and not isinstance(one, DaskArray):
            raise TypeError(f"with rows in a dask array, {argument} is a dask array, got a {type(one).__name__}")
    return DaskArrays(collection, *arrays)


@sizeof.register(Batch)
def _size(batch: Batch) -> int:
    """Bytes of a batch, by which the scheduler decides where to work and what to write to disk."""
    sizes: list[int] = []
    rest = pickle.dumps(batch, protocol=5, buffer_callback=lambda buffer: sizes.append(buffer.raw().nbytes))
    return len(rest) + sum(sizes)


# The two forms of rows. Each has `count` partitions; the `reader` makes a batch of the lazy `parts` of one.


@dataclass(frozen=True)
class ReadTable:
    """Read a partition of a data frame as a batch, if its columns hold the same as those of the whole frame."""

    layout: Layout
    contents: tuple[tuple[str, ColumnContent | None], ...]  # of the needed columns, by name

    def check(self, table: pd.DataFrame) -> None:
        """ValueError if a column is not there, or holds something else."""
        self.layout.check(list(table.columns), [name for name, _ in self.contents])
        for name, expected in self.contents:
            found = _content(table[name])
            if expected is not None and found not in (expected, None) and not table[name].isna().all():
                raise ValueError(
                    f"column {name!r} holds {found} here, but {expected} by the types of the data frame: convert it"
                )

    def __call__(self, table: pd.DataFrame) -> Batch:
        self.check(table)
        return self.layout.batch(table)

    def answers(self, table: pd.DataFrame, f: Callable[[Any], Any]) -> pd.DataFrame:
        """Keys and answers, with the index of the rows."""
        self.check(table)
        found = self.layout.answers(table.reset_index(drop=True), f)
        return pd.DataFrame(found, index=pd.RangeIndex(len(table))).set_axis(table.index)


class DaskFrames:
    """A data frame."""

    def __init__(self, frame: Any, layout: Layout) -> None:
        self.layout = layout
        self.frame = frame
        layout.needed(list(frame.columns), labels=layout.target is not None)

    @cached_property
    def count(self) -> int:
        """Partitions as they are read for learning: dask joins some if few columns are needed."""
        learned = self.layout.target is not None or isinstance(self.layout, Unlabelled)
        return len(self.parts) if learned else int(self.frame.npartitions)

    def _projected(self, labels: bool) -> tuple[Any, ReadTable]:
        """The needed columns, and their reader."""
        columns = list(self.frame.columns)
        names = self.layout.needed(columns, labels)
        table, layout = self.frame[names], projected(self.layout, columns, labels)
        return table, ReadTable(layout, tuple((name, _content(table._meta[name])) for name in names))

    @cached_property
    def _labelled(self) -> tuple[Any, ReadTable]:
        self.layout.check_labels()
        return self._projected(labels=True)

    @cached_property
    def parts(self) -> list[tuple[Lazy, ...]]:
        """The arguments of the reader, for each partition."""
        return [(part,) for part in self._labelled[0].to_delayed()]

    @property
    def reader(self) -> Reader:
        """Makes a batch of a partition; ValueError if there are no labels."""
        return self._labelled[1]

    @property
    def empty(self) -> Batch:
        """A batch without rows."""
        table, read = self._labelled
        return read(table._meta)

    def without_labels(self) -> DaskFrames:
        """The same rows, all of one class."""
        return DaskFrames(self.frame, self.layout.without_labels())

    def transform(self, f: Callable[[Any], Any]) -> Any:
        """f of the features, as a data frame."""
        table, read = self._projected(labels=False)
        return table.map_partitions(_table_answers, as_node((read, f)), meta=read.answers(table._meta, f))


def _table_answers(table: pd.DataFrame, job: tuple[ReadTable, Any], partition_info: Any = None) -> pd.DataFrame:
    read, f = job
    with located(partition_name((partition_info or {"number": 0})["number"])), undivided(table.shape[1]):
        return read.answers(table, f)


def _content(column: pd.Series) -> ColumnContent | None:
    """What a column holds; None if its type does not tell."""
    if column.dtype == object:
        return None
    dtype = nw.from_native(column, series_only=True).dtype
    if dtype.is_numeric():
        return ColumnContent.NUMBERS
    if dtype == nw.Boolean:
        return ColumnContent.BOOLEANS
    text = dtype in (nw.String, nw.Categorical, nw.Enum)
    return ColumnContent.TEXT if text else temporal(dtype)


@dataclass(frozen=True)
class ReadBlock:
    """Read blocks of features (n, d), labels (n,) and weights (n,) as a batch."""

    width: int
    letters: str  # the kinds of NumPy types that the features may have

    def check(self, X: Any) -> None:
        """ValueError unless these are features of the same width and type."""
        if X.ndim != 2 or X.shape[1] != self.width:
            raise ValueError(f"features have the shape {X.shape} here, but {self.width} columns in the whole array")
        if X.dtype.kind not in self.letters and X.size:
            raise ValueError(f"features are of type {X.dtype} here, and of another in the whole array: convert them")

    def __call__(self, X: Any, y: Any, weight: Any = None) -> Batch:
        self.check(X)
        data = Memory(X, OneHot.of(np.asarray(y), checked_weights(weight, len(X))))
        return Batch(data.X, data._labels())


class DaskArrays:
    """An array of features, one of labels and one of weights."""

    def __init__(self, X: Any, y: Any, weight: Any) -> None:
        if X.ndim != 2:
            raise ValueError(f"features are an array (n, d) of rows, got one of {X.ndim} dimensions")
        self.X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
        self.y, self.weight = (None if one is None else _aligned(one, self.X) for one in (y, weight))
        self.count = int(self.X.numblocks[0])
        kind = X.dtype.kind
        self.read = ReadBlock(int(X.shape[1]), "biuf" if kind in "biuf" else "UTO" if kind in "UTO" else kind)

    @cached_property
    def parts(self) -> list[tuple[Lazy, ...]]:
        """The arguments of the reader, for each partition."""
        others = [one.to_delayed() for one in (self.y, self.weight) if one is not None]
        return list(zip(self.X.to_delayed()[:, 0], *others, strict=True))

    @property
    def reader(self) -> Reader:
        """Makes a batch of a partition; ValueError if there are no labels."""
        if self.y is None:
            raise ValueError(no_labels("target= with a dask array of labels"))
        return self.read

    @property
    def empty(self) -> Batch:
        """A batch without rows."""
        return Batch(self._no_rows(), OneHot.of(np.empty(0)))

    def _no_rows(self) -> Any:
        rows = self.X._meta
        return rows if issparse(rows) else np.empty((0, self.read.width), dtype=self.X.dtype)

    def without_labels(self) -> DaskArrays:
        """The same rows, all of one class."""
        return DaskArrays(self.X, self.X.map_blocks(_one_class, drop_axis=1, dtype=int), self.weight)

    def transform(self, f: Callable[[Any], Any]) -> Any:
        """f of the features, as an array."""
        meta = np.asarray(f(self._no_rows()))
        shape = {"drop_axis": 1} if meta.ndim == 1 else {"chunks": (self.X.chunks[0], (meta.shape[1],))}
        return self.X.map_blocks(_block_answers, job=as_node((self.read, f)), dtype=meta.dtype, meta=meta, **shape)


def _one_class(X: Any) -> Array:
    return np.zeros(X.shape[0], dtype=int)


def _block_answers(X: Any, job: tuple[ReadBlock, Any], block_id: Any = None) -> Array:
    read, f = job
    with located(partition_name((block_id or (0,))[0])), undivided(X.shape[1]):
        read.check(X)
        return np.asarray(f(X))


def _aligned(one: Any, X: Any) -> Any:
    """Labels or weights, divided into the same blocks as the rows."""
    if one.ndim != 1:
        raise ValueError(f"labels and weights are arrays (n,), got one of {one.ndim} dimensions")
    known = not np.isnan([*one.chunks[0], *X.chunks[0]]).any()
    if known and one.shape[0] != X.shape[0]:
        raise ValueError(f"there are {X.shape[0]} rows, but {one.shape[0]} labels or weights")
    if not known and one.numblocks[0] != X.numblocks[0]:
        raise ValueError(
            f"rows are in {X.numblocks[0]} blocks of unknown length, labels or weights in {one.numblocks[0]}: make the "
            "lengths known with compute_chunk_sizes()"
        )
    return one.rechunk((X.chunks[0],)) if known and one.chunks[0] != X.chunks[0] else one


__all__ = ["Dask"]
