"""Rows in partitions that workers hold: how a partition is summed, how partial sums are added, what is cached."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, Self, cast

import narwhals as nw
import numpy as np

from suffice._core.labels import OneHot
from suffice._runtime.threads import undivided
from suffice.data.base import After, Batch, Both, Change, Data, R
from suffice.data.fingerprint import row_digests
from suffice.data.layout import Layout, located, warn_once
from suffice.data.memory import row_slices

FAN_IN = 8  # partial sums that one task adds


def partition_name(number: int) -> str:
    """The name of a partition in messages."""
    return f"partition {number}"


def projected(layout: Layout, names: Sequence[str], labels: bool) -> Layout:
    """The layout of a table with only the columns needed for learning (`labels`), or for predicting."""
    features = tuple(layout.features(names))
    return replace(layout, columns=features, keys=()) if labels else Layout(columns=features, keys=layout.keys)


def slices(batch: Batch) -> Iterator[Batch]:
    """A batch in batches whose temporaries are small, at least one."""
    frame = nw.from_native(batch.X, eager_only=True, pass_through=True)
    for rows in row_slices(batch.X):
        X = frame[rows].to_native() if isinstance(frame, nw.DataFrame) else batch.X[rows]
        yield Batch(X, batch.Y[rows])


class PartialSum(NamedTuple, Generic[R]):
    """A sum over some rows, and the number of others that were left out as they have no label."""

    value: R
    unlabelled: int

    def __add__(self, other: Any) -> PartialSum[R]:
        return PartialSum(cast(Any, self.value) + other.value, self.unlabelled + other.unlabelled)


@dataclass(frozen=True)
class Partial:
    """The sum of f over one partition after a change. A value, so that it can be sent to a worker."""

    f: Callable[[Batch], Any]
    change: Change | None = None

    def __call__(self, number: int, batch: Batch) -> PartialSum[Any]:
        f = self.f if self.change is None else After(self.change, self.f)
        with located(partition_name(number)), undivided(batch.X.shape[1]):
            first, *rest = map(f, slices(batch))
            return PartialSum(sum(rest, first), batch.Y.unlabelled)


@dataclass(frozen=True)
class ChangeBatch:
    """A batch of a partition after a change, as workers cache it."""

    change: Change | None

    def __call__(self, number: int, batch: Batch) -> Batch:
        with located(partition_name(number)), undivided(batch.X.shape[1]):
            return batch if self.change is None else self.change(batch)


def add_in_order(numbers: Sequence[int], partial: Sequence[Any]) -> Any:
    """The total of partial sums; each is of the partition of its number and of those up to the next number."""
    total = partial[0]
    for number, part in zip(numbers[1:], partial[1:], strict=True):
        with located(partition_name(number)):
            total = total + part
    return total


class Cache(NamedTuple):
    """Batches that the workers hold, in the engine's own form, and a batch without rows."""

    batches: Any
    empty: Batch


class Partitioned(Data):
    """Base of engines with partitions: `map` and `changed` record a change, which workers apply as they read."""

    change: Change | None = None  # to be made to batches when they are read
    features: Callable[[Any], Any] | None = None  # all changes to features since they were read
    _cache: Cache | None = None
    _warned: list[bool]  # not empty once it was said that rows have no label; all copies share it

    def _value(self, total: PartialSum[R]) -> R:
        """The value of a sum, with a warning if rows were left out."""
        warn_once(total.unlabelled, self._warned)
        return total.value

    def map(
        self, features: Callable[[Any], Any] | None = None, labels: Callable[[OneHot], OneHot] | None = None
    ) -> Self:
        return self._after(Both(features, labels), features)

    def changed(self, change: Change) -> Self:
        return self._after(change)

    def _after(self, change: Change, features: Callable[[Any], Any] | None = None) -> Self:
        other = copy.copy(self)
        other.change = change if self.change is None else After(self.change, change)
        if features is not None:
            other.features = self._of_features(features)
        return other

    def _of_features(self, f: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """f as a function of features as they are read."""
        return f if self.features is None else After(self.features, f)

    def persist(self) -> Self:
        """The same rows, with batches cached by the workers until nothing refers to this data set any more."""
        empty = self._empty_batch() if self._cache is None else self._cache.empty
        if self._cache is not None and self._returns_input(empty):
            return self
        other = copy.copy(self)
        batches = self._cache_batches(ChangeBatch(self.change))
        other._cache, other.change = Cache(batches, empty if self.change is None else self.change(empty)), None
        return other

    def _returns_input(self, empty: Batch) -> bool:
        """True if the change returns the very rows that it gets: then they need not be cached again."""
        if self.change is None:
            return True
        try:
            after = self.change(empty)
        except (TypeError, ValueError):
            return False
        return after.X is empty.X and after.Y is empty.Y

    def pieces(self, count: int, seed: int) -> Sequence[Data]:
        """The partitions in random order, in `count` groups; if there are fewer partitions, each is split by hash."""
        order = np.random.default_rng(seed).permutation(self._partition_count())
        if count <= len(order):
            return [self._select(np.sort(group).tolist()) for group in np.array_split(order, count)]
        shares = [1.0] * -(-count // max(1, len(order)))
        return [piece for number in order.tolist() for piece in self._select([number]).split(shares, seed)]

    def fingerprint(self) -> dict[str, Any]:
        """The number of rows, and the sum of a digest of each: one pass over them."""
        rows, values = self.sum(row_digests).tolist()
        return {"rows": rows, "values": f"{values:016x}"}

    @abstractmethod
    def _partition_count(self) -> int:
        """The number of partitions."""

    @abstractmethod
    def _select(self, numbers: list[int]) -> Self:
        """The rows of some partitions."""

    @abstractmethod
    def _empty_batch(self) -> Batch:
        """A batch without rows, as the engine reads it."""

    @abstractmethod
    def _cache_batches(self, change: ChangeBatch) -> Any:
        """Apply `change` to every batch on the workers, keep the results there, and return a handle to them."""
