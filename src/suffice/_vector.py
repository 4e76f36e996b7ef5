"""The vector space in which statistics live: values with `+`, `-` and multiplication by a number."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
V = TypeVar("V", bound="Vector")


@dataclass(frozen=True, eq=False, repr=False)
class Vector:
    """A dataclass of arrays, numbers or vectors that adds up field by field.

    A field called `domain` says where the values live and is not summed; a subclass whose values may live on different
    domains overrides `meet`, which brings two of them onto one.

    >>> @dataclass(frozen=True, eq=False)
    ... class Sums(Vector):
    ...     mass: float
    ...     first: Array
    >>> a = Sums(2.0, np.array([1.0, 3.0]))
    >>> (a + 0.5 * a - a).first
    array([0.5, 1.5])
    """

    def meet(self, other: Self) -> tuple[Self, Self]:
        """The same two values expressed on one common domain."""
        return self, other

    def map(self, f: Callable[..., Any], *others: Self) -> Self:
        """Apply `f` to every summed field of this vector (and the same field of others on its domain)."""
        names = [f.name for f in fields(self) if f.name != "domain"]
        return replace(self, **{name: _apply(f, *(getattr(v, name) for v in (self, *others))) for name in names})

    def __add__(self, other: Self) -> Self:
        a, b = self.meet(other)
        return a.map(operator.add, b)

    def __sub__(self, other: Self) -> Self:
        a, b = self.meet(other)
        return a.map(operator.sub, b)

    def __mul__(self, factor: float) -> Self:
        return self.map(lambda value: factor * value)

    __rmul__ = __mul__

    def __neg__(self) -> Self:
        return -1.0 * self


def _apply(f: Callable[..., Any], first: Any, *rest: Any) -> Any:
    return first.map(f, *rest) if isinstance(first, Vector) else f(first, *rest)


def select(keep: V, new: V, old: V) -> V:
    """`new` where the mask `keep` holds, `old` elsewhere; the mask's fields broadcast against the values'."""
    return new.map(lambda n, o, k: np.where(k, n, o), old, keep)
