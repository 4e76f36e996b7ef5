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

    def sum(self, f: Callable[[Batch], R]) -> R:
        """The sum of f over batches that together are all rows."""
        ...

    def map(self, f: Callable[[Any], Any]) -> Data:
        """The same rows with f applied to their features."""
        ...

    def parts(self, n: int, seed: int) -> Sequence[Data]:
        """N disjoint random parts that sum to the whole."""
        ...
