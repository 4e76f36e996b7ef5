"""Rows in partitions that are elsewhere: what is done with each partition there, and how partial sums are added."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import narwhals as nw
import numpy as np

from suffice._core.labels import OneHot
from suffice._runtime.threads import undivided
from suffice.data.base import After, Batch, Both, Change, Data
from suffice.data.fingerprint import row_digests
from suffice.data.layout import Layout, located
from suffice.data.memory import row_slices

FAN_IN = 8  # partial sums that are added in one task


def called(number: int) -> str:
    """What messages call a partition."""
    return f"partition {number}"


def narrowed(layout: Layout, names: Sequence[str], labels: bool) -> Layout:
    """The layout of a table that has only the columns that are needed: for learning, or for predicting."""
    features = tuple(layout.features(names))
    return replace(layout, columns=features, keys=()) if labels else Layout(columns=features, keys=layout.keys)


def slices(batch: Batch) -> Iterator[Batch]:
    """A batch in batches whose temporaries are small, at least one."""
    frame = nw.from_native(batch.X, eager_only=True, pass_through=True)
    for rows in row_slices(batch.X):
        if isinstance(frame, nw.DataFrame):
            yield Batch(frame[rows].to_native(), batch.Y[rows])
        else:
            yield Batch(batch.X[rows], batch.Y[rows])


@dataclass(frozen=True)
class Partial:
    """The sum of f over one partition after a change, as a value that travels there."""

    f: Callable[[Batch], Any]
    change: Change | None = None

    def __call__(self, number: int, batch: Batch) -> Any:
        f = self.f if self.change is None else After(self.change, self.f)
        with located(called(number)), undivided(batch.X.shape[1]):
            first, *rest = map(f, slices(batch))
            return sum(rest, first)


def added(numbers: Sequence[int], partial: Sequence[Any]) -> Any:
    """Partial sums in their order; each is that of the partition of its number and of those up to the next."""
    total = partial[0]
    for number, part in zip(numbers[1:], partial[1:], strict=True):
        with located(called(number)):
            total = total + part
    return total


class Partitioned(Data):
    """An engine with partitions: changes of batches are collected, and made where the rows are."""

    change: Change | None = None  # to be made of the batches that are kept, or read
    features: Callable[[Any], Any] | None = None  # what was done to features since they were read

    def _after(self, change: Change, features: Callable[[Any], Any] | None = None) -> Self:
        other = copy.copy(self)
        other.change = change if self.change is None else After(self.change, change)
        if features is not None:
            other.features = features if self.features is None else After(self.features, features)
        return other

    def map(
        self, features: Callable[[Any], Any] | None = None, labels: Callable[[OneHot], OneHot] | None = None
    ) -> Self:
        return self._after(Both(features, labels), features)

    def changed(self, change: Change) -> Self:
        return self._after(change)

    def pieces(self, count: int, seed: int) -> Sequence[Data]:
        """The partitions in random order, in so many groups; where there are fewer, each is split by hash."""
        order = np.random.default_rng(seed).permutation(self._partitions())
        if count <= len(order):
            return [self._only(np.sort(group).tolist()) for group in np.array_split(order, count)]
        shares = [1.0] * -(-count // max(1, len(order)))
        return [piece for number in order.tolist() for piece in self._only([number]).split(shares, seed)]

    def fingerprint(self) -> dict[str, Any]:
        """The number of rows, and the sum of a digest of each: one pass over them."""
        rows, values = self.sum(row_digests).tolist()
        return {"rows": rows, "values": f"{values:016x}"}

    @abstractmethod
    def _partitions(self) -> int:
        """How many partitions there are."""

    @abstractmethod
    def _only(self, numbers: list[int]) -> Self:
        """The rows of some partitions."""

    def _asked(self, f: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """f of features as they are read."""
        return f if self.features is None else After(self.features, f)

    def _leaves_as_is(self, empty: Batch) -> bool:
        """Whether the change gives back the rows that it is given: then they need not be kept once more."""
        if self.change is None:
            return True
        try:
            after = self.change(empty)
        except (TypeError, ValueError):
            return False
        return after.X is empty.X and after.Y is empty.Y
