"""What a data set must be able to do: be summed, and be mapped. The rest follows from these two."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from scipy.sparse import issparse
from scipy.stats import poisson

from suffice._content import Content
from suffice._domain import Encoded, Rows
from suffice._hash import row_hash
from suffice._labels import OneHot
from suffice.data._queries import Queried, changed, queried

R = TypeVar("R")  # anything with +


class Batch(NamedTuple):
    """Some rows: features X and labels Y, which carry the classes and the row weights."""

    X: Any
    Y: OneHot


Change = Callable[[Batch], Batch]


@dataclass(frozen=True)
class RowsIn:
    """The number of rows of a batch."""

    def __call__(self, batch: Batch) -> int:
        return len(batch.Y)

    def query(self, rows: Queried) -> int:
        """Of the rows of a database."""
        return rows.count()


rows_in = RowsIn()


class Data(ABC):
    """A data set is its way of being summed and mapped; where the rows are and how they are read is its own affair.

    What it is given, f, is always a small value that can be pickled, never a closure: an engine may send it anywhere.
    Where f has `about`, `f.about(f(a few rows of all classes))` has the same sums, which add up in less time.
    """

    @abstractmethod
    def sum(self, f: Callable[[Batch], R]) -> R:
        """The sum of f over batches that together are all rows; batches may be empty."""

    @abstractmethod
    def transform(self, f: Callable[[Any], Any]) -> Any:
        """f of the features of every row, in the form that this engine keeps rows in; labels are not needed."""

    def map(
        self, features: Callable[[Any], Any] | None = None, labels: Callable[[OneHot], OneHot] | None = None
    ) -> Data:
        """The same rows with a function applied to their features, their labels or both."""
        return Changed(self, Both(features, labels), features)

    def count(self) -> int:
        """The number of rows, whatever their weights."""
        return self.sum(rows_in)

    def typed(self) -> Any | None:
        """A data frame without rows, with the types that features have in every batch; None if these are unknown."""
        return None

    def unlabelled(self) -> Data:
        """The same rows, for sums that need no labels: all are of one class where the engine need not read labels."""
        return self

    def seen(self, f: Callable[[Any], Any]) -> Data:  # noqa: ARG002 - most work it out in every pass
        """The same rows, where the engine can with what f makes of their features: a learner will ask for it anyway."""
        return self

    def changed(self, change: Change) -> Data:
        """The same rows after a change of each batch, to features that are an array; rows may be left out."""
        return Changed(self, change)

    def apart(self, change: Change) -> Data | None:  # noqa: ARG002 - most make changes anew in every pass
        """The rows that a change of each batch leaves, taken out once where that saves time; None where it does not."""
        return None

    def sample(self, share: float, seed: int = 0) -> Data:
        """About so large a share of the rows, those of smallest hash: the same ones in any order; for encoded rows."""
        return self.changed(Between(0.0, share, seed))

    def few(self, rows: int) -> Data:  # noqa: ARG002 - most would have to read all rows to draw some
        """About so many rows where they can be had in no time, and are a fraction of all; else this data set itself.

        Which rows is the engine's affair: what is learned from them must be checked against all.
        """
        return self

    def resample(self, seed: int) -> Data:
        """A bootstrap sample: every row with a weight from Poisson(1), times its own; for encoded rows."""
        return self.changed(Drawn(seed))

    def split(self, shares: Sequence[float], seed: int) -> Sequence[Data]:
        """Disjoint random parts that sum to the whole, each with about its share of the rows; for encoded rows.

        Which rows are drawn depends on their values and the seed alone; equal rows stay together. An engine that can
        count its rows may draw them otherwise.
        """
        ends = np.cumsum([0.0, *shares]) / np.sum(shares)
        return [self.changed(Between(low, high, seed)) for low, high in pairwise(ends)]

    def pieces(self, count: int, seed: int) -> Sequence[Data]:
        """About so many pieces of similar size for minibatches; an engine may give its own partitions."""
        return self.split([1.0 / count] * count, seed)

    def persist(self) -> Data:
        """The same rows, kept as they are now where the engine can keep them."""
        return self

    def fingerprint(self) -> dict[str, Any] | None:
        """By name, as JSON can have it, what tells in at most a pass whether rows are the same; None: nothing does.

        Of files, say, their names, sizes and times of change. By it a checkpoint knows the rows that it is of.
        """
        return None


@dataclass(frozen=True)
class Changed(Data):
    """The rows of another data set after a change of each batch."""

    source: Data
    change: Change
    features: Callable[[Any], Any] | None = None  # what the change does to features, where that can be told apart

    def sum(self, f: Callable[[Batch], R]) -> R:
        return self.source.sum(cast(Callable[[Batch], R], After(self.change, f)))

    def transform(self, f: Callable[[Any], Any]) -> Any:
        return self.source.transform(f if self.features is None else After(self.features, f))

    def fingerprint(self) -> dict[str, Any] | None:
        rows = self.source.fingerprint()
        return None if rows is None else rows | {"change": [rows.get("change"), *Content.of(self.change)]}


def near(f: Callable[[Any], R], few: R) -> Callable[[Any], R]:
    """f with sums about the origins of those of a few rows of the same classes, where f has any."""
    return f.about(few) if hasattr(f, "about") else f


@dataclass(frozen=True)
class After:
    """g after f, as a value."""

    f: Callable[[Any], Any]
    g: Callable[[Any], Any]

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns of the answers are called, where g says so."""
        return tuple(getattr(self.g, "names", ()))

    def __call__(self, value: Any) -> Any:
        return self.g(self.f(value))

    def about(self, few: Any) -> After:
        """The same with sums about the origins of a few, where g has any."""
        return After(self.f, near(self.g, few))

    def query(self, rows: Queried) -> Any:
        """g of the rows of a database after a change."""
        return queried(self.g, changed(self.f, rows))


@dataclass(frozen=True)
class Named:
    """f, and what the columns of its answers are called: an engine that keeps rows in tables uses these names."""

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

    def asked(self, rows: Queried) -> Queried:
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
class Drawn:
    """Weights times Poisson(1) numbers that are drawn by the rows' hash."""

    seed: int

    def __call__(self, batch: Batch) -> Batch:
        times = poisson.ppf(row_hash(_values(batch.X), self.seed), 1.0)
        return Batch(batch.X, replace(batch.Y, given=batch.Y.weight * times))


def _values(X: Any) -> Rows:
    return X.features.identity(X.values) if isinstance(X, Encoded) else X if issparse(X) else np.asarray(X)
