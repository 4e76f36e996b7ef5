"""The vector space of statistics: values with `+`, `-` and multiplication by a number."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from suffice._runtime.lazy import Array as Array

V = TypeVar("V", bound="Vector")


@dataclass(frozen=True, eq=False, repr=False)
class Vector:
    """A dataclass of arrays, numbers, vectors, and tuples or dicts of these, that are added leaf by leaf.

    Fields named in `fixed` (such as the classes and columns) are not added. If two values can have different classes or
    origins, a subclass overrides `align`, which converts both to common ones. A missing key of a dict is zero.

    >>> @dataclass(frozen=True, eq=False)
    ... class Sums(Vector):
    ...     mass: float
    ...     parts: dict[str, Array]
    >>> a, b = Sums(2.0, {"u": np.array([1.0, 3.0])}), Sums(1.0, {"v": np.array([5.0])})
    >>> sum([a, 0.5 * a, b]).parts
    {'u': array([1.5, 4.5]), 'v': array([5.])}
    """

    fixed: ClassVar[tuple[str, ...]] = ("domain",)

    def align(self, other: Self) -> tuple[Self, Self]:
        """Both values with the same structure, so that their leaves can be added one by one."""
        pairs = {name: _aligned(getattr(self, name), getattr(other, name)) for name in self._summed()}
        return (
            replace(self, **{name: pair[0] for name, pair in pairs.items()}),
            replace(other, **{name: pair[1] for name, pair in pairs.items()}),
        )

    def map(self, f: Callable[..., Any], *others: Self) -> Self:
        """Apply `f` to every leaf of this vector (and to the same leaf of others that are aligned with it)."""
        summed = self._summed()
        return replace(self, **{name: _apply(f, *(getattr(v, name) for v in (self, *others))) for name in summed})

    def leaves(self) -> list[Any]:
        """The arrays and numbers that are summed, in order."""
        return [leaf for name in self._summed() for leaf in _leaves(getattr(self, name))]

    def _summed(self) -> list[str]:
        return [f.name for f in fields(self) if f.name not in self.fixed]

    def __add__(self, other: Self) -> Self:
        a, b = self.align(other)
        return a.map(operator.add, b)

    def __radd__(self, other: Any) -> Self:
        if isinstance(other, int | float) and other == 0:  # where `sum` begins
            return self
        return NotImplemented

    def __sub__(self, other: Self) -> Self:
        a, b = self.align(other)
        return a.map(operator.sub, b)

    def __mul__(self, factor: float) -> Self:
        return self.map(lambda value: factor * value)

    __rmul__ = __mul__

    def __neg__(self) -> Self:
        return -1.0 * self


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, Vector):
        return value.leaves()
    if isinstance(value, tuple):
        return [leaf for part in value for leaf in _leaves(part)]
    if isinstance(value, Mapping):
        return [leaf for part in value.values() for leaf in _leaves(part)]
    return [value]


def _aligned(a: Any, b: Any) -> tuple[Any, Any]:
    if isinstance(a, Vector):
        return a.align(b)
    if isinstance(a, tuple):
        pairs = [_aligned(x, y) for x, y in zip(a, b, strict=True)]
        return tuple(x for x, _ in pairs), tuple(y for _, y in pairs)
    if isinstance(a, Mapping):
        both = {k: _aligned(a[k] if k in a else 0.0 * b[k], b[k] if k in b else 0.0 * a[k]) for k in {**a, **b}}
        return {k: x for k, (x, _) in both.items()}, {k: y for k, (_, y) in both.items()}
    return a, b


def _apply(f: Callable[..., Any], first: Any, *rest: Any) -> Any:
    if isinstance(first, Vector):
        return first.map(f, *rest)
    if isinstance(first, tuple):
        return tuple(_apply(f, *leaves) for leaves in zip(first, *rest, strict=True))
    if isinstance(first, Mapping):
        return {key: _apply(f, value, *(other[key] for other in rest)) for key, value in first.items()}
    return f(first, *rest)


def total(v: Vector) -> float:
    """The sum of all numbers of a vector."""
    return float(sum(float(np.sum(leaf)) for leaf in v.leaves()))


def inner(a: V, b: V) -> float:
    """The inner product of two vectors of one kind."""
    return total(a.map(operator.mul, b))


def select(keep: V, new: V, old: V) -> V:
    """`new` where the mask `keep` holds, `old` elsewhere; the mask's leaves broadcast against the values'."""
    return new.map(lambda n, o, k: np.where(k, n, o), old, keep)
