"""A cache of encoded rows of files: in memory, then in a temporary file, up to a limit of each."""

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

MAX_MEMORY, MAX_DISK = 1 << 26, 1 << 30  # bytes
CATEGORY_BYTES = 64  # about


@dataclass(frozen=True)
class ChangedFiles(Changed):
    """The rows of files after a change of each batch, which is repeated in every pass unless rows are cached."""

    may_cache: bool = True  # False once the rows have been too many

    def map(
        self, features: Callable[[Any], Any] | None = None, labels: Callable[[OneHot], OneHot] | None = None
    ) -> ChangedFiles:
        """The same rows with a further function applied."""
        return ChangedFiles(self, Both(features, labels), features, self.may_cache)

    def count(self) -> int:
        return self.source.count()

    def expected(self) -> int | None:
        """The greatest possible number of rows, if it is known without reading; else None."""
        source: Any = self.source
        expected: int | None = source.expected()
        return expected

    def persist(self) -> Data:
        """The same rows, cached unless they are many."""
        cached = CachedRows.of(self, self.each(_identity)) if self.may_cache else None
        return replace(self, may_cache=False) if cached is None else cached

    def each(self, f: Callable[[Batch], R]) -> Iterator[R]:
        """f of every batch, in order."""
        source: Any = self.source
        each: Iterator[R] = source.each(After(self.change, f))
        return each

    def precomputed(self, f: Callable[[Any], Any]) -> Data:
        """The same rows, with f of their features cached for sums unless that is much."""
        cached = PrecomputedRows.of(self, self.each(Both(f)))
        return self if cached is None else cached


class ArrayPlace(NamedTuple):
    """The place of an array in a file."""

    start: int
    dtype: Any
    shape: tuple[int, ...]


class ArrayStore:
    """Arrays in memory, and beyond `MAX_MEMORY` bytes in a temporary file without a name."""

    def __init__(self, disk: int) -> None:
        self.disk, self.file = disk, cast(BinaryIO | None, None)
        self.in_memory, self.written = 0, 0  # bytes
        self.categories = 0  # of the features, which are always in memory

    def put(self, array: Array) -> Array | ArrayPlace:
        """Store an array; returns the array, or its place in the file."""
        if self.in_memory + array.nbytes <= MAX_MEMORY:
            self.in_memory += array.nbytes
            return array
        if self.file is None:
            self.file = cast(BinaryIO, tempfile.TemporaryFile(prefix="suffice-"))  # noqa: SIM115 - as long as the rows
            weakref.finalize(self, self.file.close)
        start = self.written
        if start + array.nbytes <= self.disk:
            self.file.write(np.ascontiguousarray(array).data)
        self.written += array.nbytes
        return ArrayPlace(start, array.dtype, array.shape)

    def get(self, stored: Array | ArrayPlace) -> Array:
        """An array that was stored. Safe to call from several threads."""
        if not isinstance(stored, ArrayPlace) or self.file is None:
            return np.asarray(stored)
        out = np.empty(stored.shape, stored.dtype)
        read = os.preadv(self.file.fileno(), [cast(Any, out)], stored.start) if out.size else 0
        if read != out.nbytes:
            raise OSError(f"a temporary file is shorter than it was: {read} bytes of {out.nbytes}")
        return out

    def flush(self) -> None:
        """Make all stored arrays readable."""
        if self.file is not None:
            self.file.flush()

    def too_small(self, times: float) -> bool:
        """True if `times` the size of the stored arrays exceeds the limits."""
        return (self.in_memory + self.written) * times > MAX_MEMORY + self.disk

    @property
    def full(self) -> bool:
        """True if the stored arrays exceed the limits."""
        return self.written > self.disk or CATEGORY_BYTES * self.categories > MAX_MEMORY


class CachedBatch(NamedTuple):
    """A batch of encoded rows: its features, and its arrays or their places."""

    features: Any
    values: Any
    classes: Array
    codes: Any
    weight: Any  # None: all 1


class CachedRows(Data):
    """Encoded rows in a cache, batch by batch."""

    disk: ClassVar[int] = 0  # bytes that they may take on disk

    def __init__(self, source: Data, store: ArrayStore, entries: list[CachedBatch]) -> None:
        self.source, self.store, self.entries = source, store, entries

    @classmethod
    def of(cls, source: ChangedFiles, batches: Iterable[Batch]) -> Self | None:
        """Cache the batches of a data set; None if they are too many, or not encoded rows."""
        store, entries = ArrayStore(cls.disk), list[CachedBatch]()
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
            yield from spread_in_order(partial(_restored, f, self.store), self.entries)

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
    ) -> ChangedFiles:
        """The same rows with a function applied."""
        return ChangedFiles(self, Both(features, labels), features, may_cache=False)


class PrecomputedRows(CachedRows):
    """A function of rows, in a cache for sums. Samples are drawn from the rows themselves, whose hashes differ."""

    disk: ClassVar[int] = MAX_DISK

    def sample(self, share: float, seed: int = 0) -> Data:
        return self.source.sample(share, seed)

    def resample(self, seed: int) -> Data:
        return self.source.resample(seed)

    def split(self, shares: Sequence[float], seed: int) -> Sequence[Data]:
        return self.source.split(shares, seed)


def _identity(batch: Batch) -> Batch:
    return batch


def _entry(batch: Batch, store: ArrayStore) -> CachedBatch | None:
    """Store a batch; None if its rows are not encoded."""
    X, Y = batch
    if not isinstance(X, Encoded):
        return None
    store.categories += _categories(X.features)
    values: Any = X.values
    stored = replace(values, parts=_each(store.put, values.parts)) if hasattr(values, "parts") else store.put(values)
    codes = store.put(Y.stored.astype(smallest(len(Y.classes)), copy=False))
    unweighted = Y.given is None or bool((Y.given == 1).all())
    return CachedBatch(X.features, stored, Y.classes, codes, None if unweighted else store.put(Y.weight))


def _restored(f: Callable[[Batch], R], store: ArrayStore, entry: CachedBatch) -> R:
    values = entry.values
    values = replace(values, parts=_each(store.get, values.parts)) if hasattr(values, "parts") else store.get(values)
    weight = None if entry.weight is None else store.get(entry.weight)
    return f(Batch(Encoded(entry.features, values), OneHot(entry.classes, store.get(entry.codes), weight)))


def _each(f: Callable[[Any], Any], parts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: f(part) for name, part in parts.items()}


def _categories(features: Any) -> int:
    """The number of categories of all features, those of blocks included."""
    own = sum(map(len, getattr(features, "categories", ())))
    return own + sum(map(_categories, getattr(features, "parts", {}).values()))
