"""The two forms in which dask has rows, data frames and arrays: how their partitions are read and answered for."""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cloudpickle
import narwhals as nw
import numpy as np
import pandas as pd
from dask import delayed
from scipy.sparse import issparse

from suffice._core.kinds import ColumnContent, temporal
from suffice._core.labels import OneHot
from suffice._core.vector import Array
from suffice._runtime.lazy import cached_property
from suffice._runtime.threads import undivided
from suffice.data.base import Batch
from suffice.data.layout import Layout, Unlabelled, located, no_labels
from suffice.data.memory import Memory
from suffice.data.partitioned import called, narrowed

Lazy = Any  # a dask.delayed.Delayed, which has no types
Reader = Callable[..., Batch]  # of a partition as dask has it; travels


def sent(value: object) -> Lazy:
    """A value as a node of a graph: it travels once, and is made again if the worker that has it is lost."""
    return delayed(pickle.loads, pure=False)(cloudpickle.dumps(value))


class DaskForm(ABC):
    """Rows as dask has them."""

    count: int  # of partitions

    @property
    @abstractmethod
    def parts(self) -> list[tuple[Lazy, ...]]:
        """What the reader takes, for each partition."""

    @property
    @abstractmethod
    def reader(self) -> Reader:
        """What makes a batch of a partition; ValueError if there are no labels."""

    @property
    @abstractmethod
    def empty(self) -> Batch:
        """A batch without rows."""

    @abstractmethod
    def without_labels(self) -> DaskForm:
        """The same rows, all of one class."""

    @abstractmethod
    def transform(self, f: Callable[[Any], Any]) -> Any:
        """f of the features, in the same form."""


@dataclass(frozen=True)
class ReadTable:
    """A partition of a data frame as a batch, if its columns hold what those of the whole frame do."""

    layout: Layout
    holds: tuple[tuple[str, ColumnContent | None], ...]  # the columns that are needed, and what each holds

    def check(self, table: pd.DataFrame) -> None:
        """ValueError if a column is not there, or holds something else."""
        self.layout.check(list(table.columns), [name for name, _ in self.holds])
        for name, expected in self.holds:
            found = _holds(table[name])
            if expected is not None and found not in (expected, None) and not table[name].isna().all():
                raise ValueError(
                    f"column {name!r} holds {found} here, but {expected} by the types of the data frame: convert it"
                )

    def __call__(self, table: pd.DataFrame) -> Batch:
        self.check(table)
        return self.layout.batch(table)

    def answered(self, table: pd.DataFrame, f: Callable[[Any], Any]) -> pd.DataFrame:
        """Keys and answers, with the index of the rows."""
        self.check(table)
        said = self.layout.answered(table.reset_index(drop=True), f)
        return pd.DataFrame(said, index=pd.RangeIndex(len(table))).set_axis(table.index)


class DaskFrames(DaskForm):
    """A data frame."""

    def __init__(self, frame: Any, layout: Layout) -> None:
        self.layout = layout
        self.frame = frame
        layout.needed(list(frame.columns), labels=layout.target is not None)

    @cached_property
    def count(self) -> int:
        """As they are read for learning: dask joins some where few columns are needed."""
        learned = self.layout.target is not None or isinstance(self.layout, Unlabelled)
        return len(self.parts) if learned else int(self.frame.npartitions)

    def _part(self, labels: bool) -> tuple[Any, ReadTable]:
        """The columns that are needed, and what reads them."""
        columns = list(self.frame.columns)
        names = self.layout.needed(columns, labels)
        table, layout = self.frame[names], narrowed(self.layout, columns, labels)
        return table, ReadTable(layout, tuple((name, _holds(table._meta[name])) for name in names))

    @cached_property
    def _labelled(self) -> tuple[Any, ReadTable]:
        self.layout.check_labels()
        return self._part(labels=True)

    @cached_property
    def parts(self) -> list[tuple[Lazy, ...]]:
        return [(part,) for part in self._labelled[0].to_delayed()]

    @property
    def reader(self) -> Reader:
        return self._labelled[1]

    @property
    def empty(self) -> Batch:
        table, read = self._labelled
        return read(table._meta)

    def without_labels(self) -> DaskFrames:
        return DaskFrames(self.frame, self.layout.without_labels())

    def transform(self, f: Callable[[Any], Any]) -> Any:
        table, read = self._part(labels=False)
        return table.map_partitions(_answered, sent((read, f)), meta=read.answered(table._meta, f))


def _answered(table: pd.DataFrame, job: tuple[ReadTable, Any], partition_info: Any = None) -> pd.DataFrame:
    read, f = job
    with located(called((partition_info or {"number": 0})["number"])), undivided(table.shape[1]):
        return read.answered(table, f)


def _holds(column: pd.Series) -> ColumnContent | None:
    """What a column holds; None where its type does not say."""
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
    """Blocks of features (n, d), labels (n,) and weights (n,) as a batch."""

    width: int
    letters: str  # the kinds of types that the features may have

    def check(self, X: Any) -> None:
        """ValueError unless these are features of the same width and type."""
        if X.ndim != 2 or X.shape[1] != self.width:
            raise ValueError(f"features have the shape {X.shape} here, but {self.width} columns in the whole array")
        if X.dtype.kind not in self.letters and X.size:
            raise ValueError(f"features are of type {X.dtype} here, and of another in the whole array: convert them")

    def __call__(self, X: Any, y: Any, weight: Any = None) -> Batch:
        self.check(X)
        data = Memory(X, np.asarray(y), None if weight is None else np.asarray(weight))
        return Batch(data.X, data._labels())


class DaskArrays(DaskForm):
    """An array of features, one of labels and one of weights."""

    def __init__(self, X: Any, y: Any, weight: Any) -> None:
        if X.ndim != 2:
            raise ValueError(f"features are an array (n, d) of rows, got one of {X.ndim} dimensions")
        self.X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
        self.beside = [None if one is None else _aligned(one, self.X) for one in (y, weight)]
        self.count = int(self.X.numblocks[0])
        kind = X.dtype.kind
        self.read = ReadBlock(int(X.shape[1]), "biuf" if kind in "biuf" else "UTO" if kind in "UTO" else kind)

    @cached_property
    def parts(self) -> list[tuple[Lazy, ...]]:
        columns = [self.X.to_delayed()[:, 0], *(one.to_delayed() for one in self.beside if one is not None)]
        return list(zip(*columns, strict=True))

    @property
    def reader(self) -> Reader:
        if self.beside[0] is None:
            raise ValueError(no_labels("target= with a dask array of labels"))
        return self.read

    @property
    def empty(self) -> Batch:
        return Batch(self._rows(), OneHot.of(np.empty(0)))

    def _rows(self) -> Any:
        rows = self.X._meta
        return rows if issparse(rows) else np.empty((0, self.read.width), dtype=self.X.dtype)

    def without_labels(self) -> DaskArrays:
        return DaskArrays(self.X, self.X.map_blocks(_one_class, drop_axis=1, dtype=int), self.beside[1])

    def transform(self, f: Callable[[Any], Any]) -> Any:
        meta = np.asarray(f(self._rows()))
        shape = {"drop_axis": 1} if meta.ndim == 1 else {"chunks": (self.X.chunks[0], (meta.shape[1],))}
        return self.X.map_blocks(_answers, job=sent((self.read, f)), dtype=meta.dtype, meta=meta, **shape)


def _one_class(X: Any) -> Array:
    return np.zeros(X.shape[0], dtype=int)


def _answers(X: Any, job: tuple[ReadBlock, Any], block_id: Any = None) -> Array:
    read, f = job
    with located(called((block_id or (0,))[0])), undivided(X.shape[1]):
        read.check(X)
        return np.asarray(f(X))


def _aligned(one: Any, X: Any) -> Any:
    """Labels or weights in the blocks of the rows that they belong to."""
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
