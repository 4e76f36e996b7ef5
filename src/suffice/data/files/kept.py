"""Rows that were worked out once: kept in memory while they are few, else in a temporary file, else not at all."""

from __future__ import annotations

import errno
import operator
import os
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, BinaryIO, ClassVar, NamedTuple, Self, cast

import numpy as np

from suffice._core.features import Encoded
from suffice._core.labels import OneHot
from suffice._core.vector import Array
from suffice._runtime.factorize import smallest
from suffice._runtime.threads import few_threads, spread_in_order
from suffice.data.base import After, Batch, Both, Changed, Data, R

MEMORY, DISK = 1 << 26, 1 << 30  # bytes that rows may take; on disk only what is read again and again
A_CATEGORY = 64  # bytes, about


@dataclass(frozen=True)
class Worked(Changed):
    """The rows of files after a change of each batch, which is made again in every pass unless it can be kept."""

    lasting: bool = True  # whether it has not been found to be too large

    def map(
        self, features: Callable[[Any], Any] | None = None, labels: Callable[[OneHot], OneHot] | None = None
    ) -> Worked:
        """The same rows with a further function applied."""
        return Worked(self, Both(features, labels), features, self.lasting)

    def count(self) -> int:
        return self.source.count()

    def expected(self) -> int | None:
        """How many rows there are at most, where that is known at once."""
        source: Any = self.source
        many: int | None = source.expected()
        return many

    def persist(self) -> Data:
        """The same rows, kept as they are now unless they are many."""
        kept = Kept.of(self, self.each(_itself)) if self.lasting else None
        return replace(self, lasting=False) if kept is None else kept

    def each(self, f: Callable[[Batch], R]) -> Iterator[R]:
        """f of every batch, in order."""
        source: Any = self.source
        each: Iterator[R] = source.each(After(self.change, f))
        return each

    def precomputed(self, f: Callable[[Any], Any]) -> Data:
        """The same rows, with what f makes of their features kept for sums unless that is much."""
        kept = WorkedOnce.of(self, self.each(Both(f)))
        return self if kept is None else kept


class ArrayPlace(NamedTuple):
    """Where an array is in a file."""

    start: int
    dtype: Any
    shape: tuple[int, ...]


class Store:
    """Arrays in memory, and beyond `MEMORY` bytes in a temporary file without a name, gone with the process."""

    def __init__(self, disk: int) -> None:
        self.disk, self.file = disk, cast(BinaryIO | None, None)
        self.held, self.written = 0, 0
        self.categories = 0  # that features have, in memory whatever becomes of the arrays

    def put(self, array: Array) -> Array | ArrayPlace:
        """An array, or its place in the file."""
        if self.held + array.nbytes <= MEMORY:
            self.held += array.nbytes
            return array
        if self.file is None:
            self.file = cast(BinaryIO, tempfile.TemporaryFile(prefix="suffice-"))  # noqa: SIM115 - as long as the rows
            weakref.finalize(self, self.file.close)
        start = self.written
        if start + array.nbytes <= self.disk:
            self.file.write(np.ascontiguousarray(array).data)
        self.written += array.nbytes
        return ArrayPlace(start, array.dtype, array.shape)

    def get(self, what: Array | ArrayPlace) -> Array:
        """The array that was put; any number of threads may ask at a time."""
        if not isinstance(what, ArrayPlace) or self.file is None:
            return np.asarray(what)
        out = np.empty(what.shape, what.dtype)
        read = os.preadv(self.file.fileno(), [cast(Any, out)], what.start) if out.size else 0
        if read != out.nbytes:
            raise OSError(f"a temporary file is shorter than it was: {read} bytes of {out.nbytes}")
        return out

    def flush(self) -> None:
        """Make all that was put readable."""
        if self.file is not None:
            self.file.flush()

    def too_small(self, times: float) -> bool:
        """Whether so many times as much as was put is more than may be kept."""
        return (self.held + self.written) * times > MEMORY + self.disk

    @property
    def full(self) -> bool:
        """Whether more was put than may be kept."""
        return self.written > self.disk or A_CATEGORY * self.categories > MEMORY


class Entry(NamedTuple):
    """A batch of encoded rows: what its features are, and where its arrays are."""

    features: Any
    values: Any
    classes: Array
    codes: Any
    weight: Any  # None: all one


class Kept(Data):
    """Encoded rows as they were worked out, batch by batch."""

    disk: ClassVar[int] = 0  # bytes that they may take there

    def __init__(self, source: Data, store: Store, entries: list[Entry]) -> None:
        self.source, self.store, self.entries = source, store, entries

    @classmethod
    def of(cls, source: Worked, batches: Iterable[Batch]) -> Self | None:
        """Batches of a data set; None if they are too many, or no encoded rows."""
        store, entries = Store(cls.disk), list[Entry]()
        try:
            for batch in batches:
                entry = _entry(batch, store)
                if entry is None or store.full:
                    return None
                if not entries and store.too_small((source.expected() or 0) / max(1, len(batch.Y))):
                    return None
                entries.append(entry)
            store.flush()
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            return None
        return cls(source, store, entries)

    def sum(self, f: Callable[[Batch], R]) -> R:
        """The sum of f over the batches, in order."""
        return reduce(operator.add, self.each(f))

    def each(self, f: Callable[[Batch], R]) -> Iterator[R]:
        """f of every batch, in order."""
        with few_threads(self.entries[0].features.width):
            yield from spread_in_order(partial(_asked, f, self.store), self.entries)

    def transform(self, f: Callable[[Any], Any]) -> Any:
        return self.source.transform(f)

    def expected(self) -> int:
        """The number of rows."""
        return self.count()

    def count(self) -> int:
        return sum(entry.codes.shape[0] for entry in self.entries)

    def fingerprint(self) -> dict[str, Any] | None:
        return self.source.fingerprint()

    def map(
        self, features: Callable[[Any], Any] | None = None, labels: Callable[[OneHot], OneHot] | None = None
    ) -> Worked:
        """The same rows with a function applied."""
        return Worked(self, Both(features, labels), features, lasting=False)


class WorkedOnce(Kept):
    """What a function has made of rows, for sums; parts are drawn from the rows themselves, which differ in more."""

    disk: ClassVar[int] = DISK

    def sample(self, share: float, seed: int = 0) -> Data:
        return self.source.sample(share, seed)

    def resample(self, seed: int) -> Data:
        return self.source.resample(seed)

    def split(self, shares: Sequence[float], seed: int) -> Sequence[Data]:
        return self.source.split(shares, seed)


def _itself(batch: Batch) -> Batch:
    return batch


def _entry(batch: Batch, store: Store) -> Entry | None:
    """A batch as it is kept; None if its rows are not encoded."""
    X, Y = batch
    if not isinstance(X, Encoded):
        return None
    store.categories += _categories(X.features)
    values: Any = X.values
    kept = replace(values, parts=_each(store.put, values.parts)) if hasattr(values, "parts") else store.put(values)
    codes = store.put(Y.stored.astype(smallest(len(Y.classes)), copy=False))
    plain = Y.given is None or bool((Y.given == 1).all())
    return Entry(X.features, kept, Y.classes, codes, None if plain else store.put(Y.weight))


def _asked(f: Callable[[Batch], R], store: Store, entry: Entry) -> R:
    values = entry.values
    values = replace(values, parts=_each(store.get, values.parts)) if hasattr(values, "parts") else store.get(values)
    weight = None if entry.weight is None else store.get(entry.weight)
    return f(Batch(Encoded(entry.features, values), OneHot(entry.classes, store.get(entry.codes), weight)))


def _each(f: Callable[[Any], Any], parts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: f(part) for name, part in parts.items()}


def _categories(features: Any) -> int:
    """How many categories features have in all, those of blocks included."""
    own = sum(map(len, getattr(features, "categories", ())))
    return own + sum(map(_categories, getattr(features, "parts", {}).values()))
