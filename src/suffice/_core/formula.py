"""Formulas that are evaluated for arrays or written as SQL, and the rules by which entries get their cells."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np

from suffice._core.labels import missing
from suffice._core.vector import Array

E = TypeVar("E")  # an expression: a number, possibly missing, for every row


class Arithmetic(ABC, Generic[E]):
    """The operations of formulas on a number for every row. Results of missing numbers are missing.

    So a formula is written once: `Arrays` evaluates it for rows in memory, and `suffice.data.sql` writes it as SQL. The
    type of a column depends on the implementation.
    """

    @abstractmethod
    def number(self, value: float) -> E:
        """A constant for every row."""

    @abstractmethod
    def read(self, column: Any) -> E:
        """The entries of a column as numbers."""

    @abstractmethod
    def cell(self, reading: Reading, column: Any) -> E:
        """The cell of each entry of a column; -1 for none."""

    @abstractmethod
    def cells(self, sides: Sequence[Reading], columns: Sequence[Any]) -> E:
        """The cell (u q + v) ... of columns in cells u, v, ...; q is the size of the second; -1 unless all have one."""

    @abstractmethod
    def pick(self, cell: E, values: Sequence[float] | Array) -> E:
        """The value (r,) of each row's cell; 0 for the cell -1."""

    @abstractmethod
    def gap(self, column: Any, there: float, gone: float) -> E:
        """One number where an entry is present, another where it is missing."""

    @abstractmethod
    def or_zero(self, value: E) -> E:
        """0 where a number is missing."""

    @abstractmethod
    def plus(self, a: E, b: E) -> E:
        """a + b."""

    @abstractmethod
    def times(self, a: E, b: E) -> E:
        """a b."""

    @abstractmethod
    def over(self, a: E, b: E) -> E:
        """a / b."""

    @abstractmethod
    def exp(self, a: E) -> E:
        """exp(a), for a <= 0."""

    @abstractmethod
    def log(self, a: E) -> E:
        """log(a), for a > 0."""

    @abstractmethod
    def greatest(self, each: Sequence[E]) -> E:
        """The maximum of several numbers."""

    @abstractmethod
    def choose(self, scores: Sequence[E], labels: Array) -> E:
        """The label (k,) of the greatest score, the first of equal ones."""

    @abstractmethod
    def keep(self, each: Sequence[E]) -> list[E]:
        """The same numbers, computed once for all further uses."""

    def add(self, *each: E) -> E:
        """The sum of several numbers, added in pairs so that expressions are not deeply nested."""
        if len(each) <= 2:
            return reduce(self.plus, each) if each else self.number(0.0)
        half = len(each) // 2
        return self.plus(self.add(*each[:half]), self.add(*each[half:]))

    def minus(self, a: E, b: E) -> E:
        """a - b."""
        return self.plus(a, self.times(self.number(-1.0), b))


class Arrays(Arithmetic[Any]):
    """Numbers of rows in memory: arrays (n,). A column is the array of its entries.

    >>> ops = Arrays()
    >>> ops.or_zero(ops.times(ops.number(2.0), ops.read([1.5, np.nan])))
    array([3., 0.])
    """

    def number(self, value: float) -> Any:
        return np.float64(value)

    def read(self, column: Any) -> Array:
        return np.asarray(column, dtype=float)

    def cell(self, reading: Reading, column: Any) -> Array:
        return reading.cells(column)

    def cells(self, sides: Sequence[Reading], columns: Sequence[Any]) -> Array:
        found, *others = (side.cells(entries) for side, entries in zip(sides, columns, strict=True))
        for side, v in zip(sides[1:], others, strict=True):
            found = np.where((found >= 0) & (v >= 0), found * side.size + v, -1)
        return found

    def pick(self, cell: Array, values: Sequence[float] | Array) -> Array:
        return np.append(values, 0.0)[cell]

    def gap(self, column: Any, there: float, gone: float) -> Array:
        return np.where([missing(entry) for entry in column], gone, there)

    def or_zero(self, value: Array) -> Array:
        return np.where(np.isnan(value), 0.0, value)

    def plus(self, a: Array, b: Array) -> Any:
        return a + b

    def times(self, a: Array, b: Array) -> Any:
        return a * b

    def over(self, a: Array, b: Array) -> Any:
        return a / b

    def exp(self, a: Array) -> Any:
        return np.exp(a)

    def log(self, a: Array) -> Any:
        return np.log(a)

    def greatest(self, each: Sequence[Array]) -> Any:
        return reduce(np.maximum, each)

    def choose(self, scores: Sequence[Array], labels: Array) -> Array:
        return np.asarray(labels[np.argmax(np.stack(np.broadcast_arrays(*scores)), axis=0)])

    def keep(self, each: Sequence[Array]) -> list[Array]:
        return list(each)


@dataclass(frozen=True, eq=False)
class Intervals:
    """Cells of numbers by their lower bounds (r,), the first -inf; NaN has no cell.

    >>> Intervals(np.array([-np.inf, 0.0, 2.5])).cells(np.array([-3.0, 0.0, 7.0, np.nan]))
    array([ 0,  1,  2, -1])
    """

    bounds: Array

    @property
    def size(self) -> int:
        """The number of cells."""
        return len(self.bounds)

    def cells(self, values: Array) -> Array:
        """The cell of each number (n,); -1 for none."""
        values = np.asarray(values, dtype=float)
        return np.where(np.isnan(values), -1, np.searchsorted(self.bounds, values, side="right") - 1)


@dataclass(frozen=True, eq=False)
class Choices:
    """Cells of categories: the known values (v,), and the cell (v,) of each."""

    values: Array
    cell: Array
    least: int = 0  # the least number of cells, which may have no value

    @property
    def size(self) -> int:
        """The number of cells."""
        return max(self.least, int(self.cell.max(initial=-1)) + 1)

    def cells(self, values: Array) -> Array:
        """The cell of each value (n,); -1 for an unknown one."""
        known = self.listed()
        return np.array([known.get(value, -1) for value in values], dtype=int)

    def listed(self) -> dict[Any, int]:
        """The cell of each value."""
        return dict(zip(self.values, self.cell.tolist(), strict=True))


Reading: TypeAlias = Intervals | Choices
