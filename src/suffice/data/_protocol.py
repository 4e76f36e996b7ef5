"""What a data set must be able to do: be summed, and be taken apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

from suffice._domain import OneHot

R = TypeVar("R")  # anything with +


class Batch(NamedTuple):
    """Some rows: features X and labels Y, which carry the classes and the row weights."""

    X: Any
    Y: OneHot


@runtime_checkable
class Data(Protocol):
    """A data set is its way of being summed; where the rows are and how they are read is its own affair."""

    names: tuple[str, ...] | None  # of the features, where they have any

    def sum(self, f: Callable[[Batch], R]) -> R:
        """The sum of f over batches that together are all rows."""
        ...

    def map(
        self, features: Callable[[Any], Any] | None = None, labels: Callable[[OneHot], OneHot] | None = None
    ) -> Data:
        """The same rows with a function applied to their features, their labels or both."""
        ...

    def resample(self, seed: int) -> Data:
        """A bootstrap sample: every row with a weight from Poisson(1), times its own."""
        ...

    def parts(self, shares: Sequence[float], seed: int) -> Sequence[Data]:
        """Disjoint random parts that sum to the whole, each with its share of the rows (as near as rows allow)."""
        ...
