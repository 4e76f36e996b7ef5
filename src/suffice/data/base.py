"""A data set is its way of being summed and mapped; all other operations follow from these two."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import pairwise
from os import PathLike
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from scipy.sparse import issparse
from scipy.stats import poisson

from suffice._core.features import Encoded, Rows
from suffice._core.kinds import ColumnContent
from suffice._core.labels import OneHot
from suffice._runtime.fingerprint import Content
from suffice._runtime.random import row_hash
from suffice.data.queries import DatabaseRows, changed, queried

R = TypeVar("R")  # anything with +


class Batch(NamedTuple):
    """Some rows: features X, and labels Y with the classes and the row weights."""

    X: Any
    Y: OneHot


Change = Callable[[Batch], Batch]


@dataclass(frozen=True)
class RowsIn:
    """The number of rows of a batch."""

    def __call__(self, batch: Batch) -> int:
        return len(batch.Y)

    def query(self, rows: DatabaseRows) -> int:
        """The number of rows of a database."""
        return rows.count()


rows_in = RowsIn()


class Data(ABC):
    """A data set: `sum` a function over all rows, or `transform` the features of every row, wherever the rows are.

    A function f is always a small value that can be pickled, never a closure: an engine may send it anywhere. If f has
    `with_origin_of`, then `f.with_origin_of(f(a few rows of all classes))` has the same sums, which add up faster.
    """

    @abstractmethod
    def sum(self, f: Callable[[Batch], R]) -> R:
        """The sum of f over batches that together are all rows; batches may be empty."""

    @abstractmethod
    def transform(self, f: Callable[[Any], Any]) -> Any:
        """f of the features of every row, in the form in which this engine has rows; labels are not needed."""

    def map(
        self, features: Callable[[Any], Any] | None = None, labels: Callable[[OneHot], OneHot] | None = None
    ) -> Data:
        """The same rows with a function applied to their features, their labels or both."""
        return Changed(self, Both(features, labels), features)

    def count(self) -> int:
        """The number of rows, whatever their weights."""
        return self.sum(rows_in)

    def empty_frame(self) -> Any | None:
        """A data frame without rows, with the types of the features in every batch; None if they are unknown."""
        return None

    def without_labels(self) -> Data:
        """The same rows, for sums that need no labels; the engine may give all rows one class."""
        return self

    def read_as(self, holds: Mapping[Any, ColumnContent], notations: Mapping[Any, str]) -> Data:  # noqa: ARG002
        """The same rows, with the columns of text files read as a model has learned them; others need no help."""
        return self

    def precomputed(self, f: Callable[[Any], Any]) -> Data:  # noqa: ARG002 - most engines compute f in every pass
        """The same rows; the engine may cache f of their features, which a learner will use in every pass."""
        return self

    def changed(self, change: Change) -> Data:
        """The rows after a change of each batch, to features that are an array; a change may leave rows out."""
        return Changed(self, change)

    def materialise(self, change: Change) -> Data | None:  # noqa: ARG002 - most engines repeat changes in every pass
        """The rows after a change of each batch, computed once if that saves time; else None."""
        return None

    def sample(self, share: float, seed: int = 0) -> Data:
        """About this share of the rows, those of smallest hash: the same rows in any order. For encoded rows."""
        return self.changed(Between(0.0, share, seed))

    def cheap_sample(self, rows: int) -> Data:  # noqa: ARG002 - most engines would have to read all rows
        """About this number of rows, if a small sample costs nothing; else this data set itself.

        The engine chooses the rows: results must be checked against all rows.
        """
        return self

    def resample(self, seed: int) -> Data:
        """A bootstrap sample: every row with a weight from Poisson(1), times its own. For encoded rows."""
        return self.changed(Resampled(seed))

    def split(self, shares: Sequence[float], seed: int) -> Sequence[Data]:
        """Disjoint random parts that sum to the whole, each with about its share of the rows. For encoded rows.

        The part of a row depends on its values and the seed alone; equal rows stay together. An engine that can count
        its rows may draw them otherwise.
        """
        ends = np.cumsum([0.0, *shares]) / np.sum(shares)
        return [self.changed(Between(low, high, seed)) for low, high in pairwise(ends)]

    def pieces(self, count: int, seed: int) -> Sequence[Data]:
        """About `count` pieces of similar size for minibatches; an engine may give its own partitions."""
        return self.split([1.0 / count] * count, seed)

    def persist(self) -> Data:
        """The same rows, cached if the engine can do that."""
        return self

    def fingerprint(self) -> dict[str, Any] | None:
        """Values for JSON that identify the rows, found in at most one pass; None if nothing does.

        For files these are their names, sizes and times of change. A checkpoint uses it to recognise its rows.
        """
        return None


@dataclass(frozen=True)
class Changed(Data):
    """The rows of another data set after a change of each batch."""

    source: Data
    change: Change
    features: Callable[[Any], Any] | None = None  # the change of features, if it is separate

    def sum(self, f: Callable[[Batch], R]) -> R:
        return self.source.sum(cast(Callable[[Batch], R], After(self.change, f)))

    def transform(self, f: Callable[[Any], Any]) -> Any:
        return self.source.transform(f if self.features is None else After(self.features, f))

    def fingerprint(self) -> dict[str, Any] | None:
        rows = self.source.fingerprint()
        return None if rows is None else rows | {"change": [rows.get("change"), *Content.of(self.change)]}


def near(f: Callable[[Any], R], few: R) -> Callable[[Any], R]:
    """f with the origins of the sums of a few rows of the same classes, if f has origins."""
    return f.with_origin_of(few) if hasattr(f, "with_origin_of") else f


@dataclass(frozen=True)
class After:
    """The function g after f, as a value that can be pickled."""

    f: Callable[[Any], Any]
    g: Callable[[Any], Any]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns of the answers, if g has names."""
        return tuple(getattr(self.g, "names", ()))

    def __call__(self, value: Any) -> Any:
        return self.g(self.f(value))

    def with_origin_of(self, few: Any) -> After:
        """The same with the origins of the sums of a few rows, if g has origins."""
        return After(self.f, near(self.g, few))

    def query(self, rows: DatabaseRows) -> Any:
        """g of the rows of a database after the change f."""
        return queried(self.g, changed(self.f, rows))


@dataclass(frozen=True)
class Named:
    """A function with names for the columns of its answers, which engines with tables use."""

    f: Callable[[Any], Any]
    names: tuple[str, ...]

    def __call__(self, X: Any) -> Any:
        return self.f(X)


@dataclass(frozen=True)
class Both:
    """A change of features, of labels, or of both."""

    features: Callable[[Any], Any] | None = None
    labels: Callable[[OneHot], OneHot] | None = None

    def __call__(self, batch: Batch) -> Batch:
        X = batch.X if self.features is None else self.features(batch.X)
        return Batch(X, batch.Y if self.labels is None else self.labels(batch.Y))

    def sql_columns(self, rows: DatabaseRows) -> DatabaseRows:
        """The rows of a database after the change."""
        rows = rows if self.features is None else rows.encoded(self.features)
        return rows if self.labels is None else rows.relabelled(self.labels)


@dataclass(frozen=True)
class Between:
    """The rows whose hash is in [low, high): the same ones in any order and any batches."""

    low: float
    high: float
    seed: int

    def __call__(self, batch: Batch) -> Batch:
        u = row_hash(_values(batch.X), self.seed)
        rows = np.flatnonzero((u >= self.low) & (u < self.high))
        return Batch(batch.X[rows], batch.Y[rows])


@dataclass(frozen=True)
class Resampled:
    """Weights times Poisson(1) numbers that depend on the hash of a row."""

    seed: int

    def __call__(self, batch: Batch) -> Batch:
        times = poisson.ppf(row_hash(_values(batch.X), self.seed), 1.0)
        return Batch(batch.X, replace(batch.Y, given=batch.Y.weight * times))


def _values(X: Any) -> Rows:
    return X.features.identity(X.values) if isinstance(X, Encoded) else X if issparse(X) else np.asarray(X)


ENGINES = {  # the class for tables of a package
    "dask": ("suffice.data.dask", "Dask"),
    "duckdb": ("suffice.data.sql", "SQL"),
    "_duckdb": ("suffice.data.sql", "SQL"),
    "pyspark": ("suffice.data.spark", "Spark"),
}
FILES = ("suffice.data.files.source", "Files")


def _place(X: Any) -> tuple[str, str] | None:
    """The module and the class of the engine that reads X; None for rows in memory."""
    return FILES if isinstance(X, str | PathLike) else ENGINES.get(type(X).__module__.partition(".")[0])


def is_source(X: Any) -> bool:
    """True if X is a data set, a path or a table of an engine, and not rows in memory."""
    return isinstance(X, Data) or _place(X) is not None


def as_learned(estimator: Any, X: Any) -> Data | None:
    """`source` of rows to predict, with the columns that an estimator has learned, by name."""
    return source(X, columns=getattr(estimator, "feature_names_in_", None))


def source(X: Any, y: Any = None, weight: Any = None, columns: Any = None) -> Data | None:
    """X as a data set if it is one, or a path or a table of an engine; None for rows in memory.

    With a path or a table, y and weight are names of columns, and `columns` those of the features, None for all others.
    With an array of an engine, y and weight are arrays of the same engine.
    """
    if isinstance(X, Data):
        if y is not None or weight is not None:
            raise ValueError("a data set brings its own labels and weights: give neither y nor sample_weight")
        return X
    place = _place(X)
    if place is None and isinstance(y, str):
        raise ValueError(
            f"y is a name, {y!r}, but X is a {type(X).__name__} in memory: give the labels themselves, or a data set, "
            f"as Memory(frame, target={y!r}) or, for several files, Files([...], target={y!r})"
        )
    if place is None:
        return None
    for argument, given in (("y", y), ("sample_weight", weight)):
        array = hasattr(X, "dtype") and _place(given) == place
        if given is not None and not isinstance(given, str) and not array:
            raise TypeError(
                f"with rows in a {type(X).__name__}, {argument} is the name of a column, got a {type(given).__name__}"
            )
    selected = {} if columns is None or hasattr(X, "dtype") else {"columns": list(columns)}
    data: Data = getattr(import_module(place[0]), place[1])(X, target=y, weight=weight, **selected)
    return data
