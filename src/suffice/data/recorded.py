"""A data set whose sums go through a record, which may know them already."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, Protocol, TypeVar

from suffice._core.labels import OneHot
from suffice._runtime.fingerprint import Content
from suffice._runtime.lazy import cached_property
from suffice.data.base import Batch, Change, Data, R

V = TypeVar("V")


class Record(Protocol):
    """Answers questions in order: from memory, or by computing the answer."""

    def answer(self, question: Content, work: Callable[[], V]) -> V:
        """The answer to the next question."""


def _at(parts: Callable[[], Sequence[Data]], i: int) -> Data:
    return parts()[i]


class Recorded(Data):
    """The rows of another data set; its sums, and those of its parts, go through a record.

    Rows are mapped, split and cached when a sum is first computed: while the record has the answers, nothing is read.

    Parameters
    ----------
    record : Record
        Answers the sums.
    make : function
        Makes the data set when it is needed.
    view : Content
        The changes to the rows so far.
    """

    def __init__(self, record: Record, make: Callable[[], Data], view: Content | None = None) -> None:
        self.record, self.view = record, Content.of("rows") if view is None else view
        self._make = make

    @cached_property
    def data(self) -> Data:
        """The data set itself; the function that made it is released."""
        made = self._make()
        self._make = lambda: made
        return made

    def sum(self, f: Callable[[Batch], R]) -> R:
        """The sum of f over all rows, from the record."""
        return self.record.answer(Content.of((self.view, f)), lambda: self.data.sum(f))

    def transform(self, f: Callable[[Any], Any]) -> Any:
        return self.data.transform(f)

    def fingerprint(self) -> dict[str, Any] | None:
        return self.data.fingerprint()

    def _view(self, make: Callable[[Data], Data], *how: Any) -> Recorded:
        """A data set made of these rows when it is needed."""
        return Recorded(self.record, lambda: make(self.data), Content.of((self.view, *how)))

    def _parts(self, make: Callable[[Data], Sequence[Data]], *how: Any) -> list[Data]:
        """Data sets made of these rows when they are needed; their number is recorded."""
        parts, view = cache(lambda: make(self.data)), Content.of((self.view, *how))
        count = self.record.answer(view, lambda: len(parts()))
        return [Recorded(self.record, partial(_at, parts, i), Content.of((view, i))) for i in range(count)]

    def map(
        self, features: Callable[[Any], Any] | None = None, labels: Callable[[OneHot], OneHot] | None = None
    ) -> Data:
        return self._view(lambda data: data.map(features, labels), "map", features, labels)

    def changed(self, change: Change) -> Data:
        return self._view(lambda data: data.changed(change), "changed", change)

    def sample(self, share: float, seed: int = 0) -> Data:
        return self._view(lambda data: data.sample(share, seed), "sample", share, seed)

    def cheap_sample(self, rows: int) -> Data:
        made = cache(lambda: self.data.cheap_sample(rows))
        how = Content.of((self.view, "few", rows))
        fewer = self.record.answer(how, lambda: int(made() is not self.data))
        return Recorded(self.record, made, how) if fewer else self

    def resample(self, seed: int) -> Data:
        return self._view(lambda data: data.resample(seed), "resample", seed)

    def split(self, shares: Sequence[float], seed: int) -> Sequence[Data]:
        return self._parts(lambda data: data.split(shares, seed), "split", tuple(shares), seed)

    def pieces(self, count: int, seed: int) -> Sequence[Data]:
        return self._parts(lambda data: data.pieces(count, seed), "pieces", count, seed)

    def empty_frame(self) -> Any | None:
        return self.data.empty_frame()

    def precomputed(self, f: Callable[[Any], Any]) -> Data:
        return self._view(lambda data: data.precomputed(f), "seen", f)

    def persist(self) -> Data:
        return self._view(lambda data: data.persist(), "persist")
