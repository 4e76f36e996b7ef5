"""Histograms of numeric columns: weights by class on a nested grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from suffice._core.features import Domain, Features
from suffice._core.labels import OneHot, show
from suffice._core.vector import Array
from suffice._runtime.lazy import cached_property
from suffice._runtime.threads import spread
from suffice.models.overview import Overview, Summary
from suffice.models.statistics import Sums, weighing
from suffice.models.tables import compiled as _kernels
from suffice.models.tables.categorical import impossible, moved, sums_by_code

MAX_CELLS = 4096  # non-empty cells of a column; at shift 52, the greatest, all doubles together have no more
SAMPLE = 256  # numbers from which the first shift is guessed
SHARED = 1 << 16  # entries from which on threads pay off
_SIGN = np.int64(0x7FFFFFFFFFFFFFFF)


def ordered(values: Array) -> Array:
    """The bits of numbers as whole numbers in the same order: the keys at shift 0.

    >>> ordered(np.array([-1.0, -0.0, 0.0, 5e-324])).tolist()
    [-4607182418800017409, 0, 0, 1]
    """
    bits = (np.asarray(values, dtype=np.float64) + 0.0).view(np.int64)  # -0.0 is 0.0
    return np.where(bits < 0, bits ^ _SIGN, bits)


def number(keys: Array) -> Array:
    """The numbers of keys at shift 0."""
    keys = np.asarray(keys, dtype=np.int64)
    return np.where(keys < 0, keys ^ _SIGN, keys).view(np.float64)


def cells(values: Array) -> tuple[Array, int, Array]:
    """The grid of numbers (n,): the keys of the non-empty cells, their shift, and the cell of each number (n,).

    The shift is the least at which there are at most MAX_CELLS; the cell of a number is its place among the keys, -1
    for NaN.

    >>> keys, shift, codes = cells(np.random.default_rng(0).normal(size=100_000))
    >>> len(keys), shift
    (2687, 45)
    """
    bits, start = np.ascontiguousarray(values, dtype=np.float64).view(np.int64), _first_shift(values)
    keys, shift, codes = _kernels.few_cells(bits, start, MAX_CELLS)
    if start and shift == start:  # a smaller shift might do
        keys, shift, codes = _kernels.few_cells(bits, 0, MAX_CELLS)
    return keys, int(shift), codes


def _first_shift(values: Array) -> int:
    """Guess a shift that leaves somewhat too many cells: just below that at which two numbers of a sample share one.

    0 if there are few distinct numbers, by Chao's estimate from those that the sample has once and twice.
    """
    if len(values) <= MAX_CELLS:
        return 0
    some = values[:: len(values) // SAMPLE]
    keys, times = np.unique(ordered(some[~np.isnan(some)]), return_counts=True)
    once, twice = np.count_nonzero(times == 1), np.count_nonzero(times == 2)
    if len(keys) + once * (once - 1) / (2 * (twice + 1)) <= MAX_CELLS:
        return 0
    return max(0, int(_kernels.coarser(keys, len(keys) - 2)) - 1)


def joined(a: tuple[Array, int], b: tuple[Array, int]) -> tuple[Array, int, Array, Array]:
    """The grid that the numbers of two grids have together, and the places in it of the cells of each.

    It is the grid of all numbers at once: the number of keys falls with the shift and rises with every number, so that
    the least possible shift is at least that of either grid, and is found from the keys at the larger of the two.
    """
    shift = max(a[1], b[1])
    keys, at_a, at_b = _kernels.union(*(keys >> (shift - s) for keys, s in (a, b)))
    more = int(_kernels.coarser(keys, MAX_CELLS))
    if not more:
        return keys, shift, at_a, at_b
    keys, at, _ = _kernels.union(keys >> more, keys[:0])
    return keys, shift + more, at[at_a], at[at_b]


@dataclass(frozen=True, eq=False)
class ColumnHistogram:
    """The histogram of one column: the keys (m,) of its cells at a shift, and their weights by class (k, m)."""

    keys: Array
    shift: int
    table: Array

    @cached_property
    def low(self) -> Array:
        """The least number of each cell (m,)."""
        return number(self.keys << self.shift)

    @cached_property
    def high(self) -> Array:
        """The greatest number of each cell (m,)."""
        last = ((self.keys + 1) << self.shift) - 1
        return number(np.where(last == -1, -2, last))  # -0.0, of key -1, is in the cell of 0.0

    @cached_property
    def above(self) -> Array:
        """The least number beyond each cell (m,); infinite for the last possible cell."""
        return number((self.keys + 1) << self.shift)

    @cached_property
    def value(self) -> Array:
        """A number for each cell (m,): its only number, zero if the cell has it, or its middle."""
        if not self.shift:
            return self.low
        return np.where((self.low <= 0) & (self.high >= 0), 0.0, 0.5 * self.low + 0.5 * self.high)

    @cached_property
    def weight(self) -> Array:
        """The weight of each cell (m,), all classes together."""
        return np.asarray(self.table.sum(axis=0))

    def taking(self, which: Array | slice) -> ColumnHistogram:
        """Some of the cells."""
        return ColumnHistogram(self.keys[which], self.shift, self.table[:, which])


@dataclass(frozen=True, eq=False, repr=False)
class Histogram(Sums):
    """Sums of weights by class and cell of a nested grid, those of all columns side by side.

        table_(c, j, v) = sum_i W_ic 1(key of x_ij = v),     key of x = (bits of x, in the order of numbers) >> shift_j

    At shift 0 every number has its own cell. While a column has more than 4,096 non-empty cells its shift rises, by
    which neighbours merge in pairs; a finer and a coarser histogram add up on the coarser grid. So a histogram depends
    neither on the order of the rows nor on the pieces in which they were summed. NaN is not counted. A grid that has
    become coarse stays coarse when rows are forgotten.

    >>> s = histogram(np.array([[1.5], [-0.0], [1.5]]), OneHot.of(np.array([0, 0, 1])))
    >>> s.column(0).value, s.table
    (array([0. , 1.5]), array([[1., 1.], [0., 1.]]))
    """

    fixed: ClassVar[tuple[str, ...]] = ("keys", "shift")
    counts: ClassVar = ("table",)

    keys: tuple[Array, ...]  # d of (m_j,), sorted
    shift: tuple[int, ...]  # d
    table: Annotated[Array, "k m"]

    @property
    def starts(self) -> Array:
        """Where each column's cells begin in the table, and where the last ends (d + 1,)."""
        return _starts(self.keys)

    def column(self, j: int) -> ColumnHistogram:
        """The histogram of one column."""
        first, last = self.starts[j : j + 2]
        return ColumnHistogram(self.keys[j], self.shift[j], self.table[:, first:last])

    def columns(self) -> list[ColumnHistogram]:
        """The histograms of all columns."""
        tables = np.split(self.table, self.starts[1:-1], axis=1)
        return [ColumnHistogram(*one) for one in zip(self.keys, self.shift, tables, strict=True)]

    def overview(self, domain: Domain, mass: Array) -> Overview:  # noqa: ARG002 - columns have counts of their own
        return Overview.each(domain.features, lambda j: Summary.of_values(self.column(j).value, self.column(j).table))

    @property
    def shared(self) -> bool:
        return True

    def align(self, other: Self) -> tuple[Self, Self]:
        if self.keys is other.keys and self.shift == other.shift:
            return self, other
        ours, theirs = (zip(h.keys, h.shift, strict=True) for h in (self, other))
        each: list[Any] = [joined(a, b) for a, b in zip(ours, theirs, strict=True)]
        keys, shift, at, other_at = ([one[i] for one in each] for i in range(4))
        return self._moved(keys, shift, at), other._moved(keys, shift, other_at)

    def on(self, keys: Sequence[Array], shift: Sequence[int]) -> Self:
        """The same sums on a grid that is at least as coarse, and has all of these cells."""
        each = zip(keys, self.keys, shift, self.shift, strict=True)
        return self._moved(keys, shift, [np.searchsorted(to, own >> (after - s)) for to, own, after, s in each])

    def _moved(self, keys: Sequence[Array], shift: Sequence[int], at: Sequence[Array]) -> Self:
        """The same sums on another grid, given the place of every cell in it."""
        starts = _starts(keys)
        cells = np.concatenate([np.zeros(0, dtype=int), *(s + own for s, own in zip(starts, at, strict=False))])
        table = moved(self.table, cells, int(starts[-1]))
        return replace(self, keys=tuple(keys), shift=tuple(shift), table=table)

    def extent(self) -> Array:
        """The least and the greatest number of each column (d, 2), to the precision of the grid; NaN if it has none."""
        filled = ((column, np.flatnonzero(column.weight > 0)) for column in self.columns())
        ends = (column.taking(at[[0, -1]] if len(at) else at) for column, at in filled)
        return np.array([(c.low[0], c.high[1]) if len(c.keys) else (np.nan, np.nan) for c in ends]).reshape(-1, 2)

    def impossible(self, before: Self, domain: Domain, mass: Array) -> str | None:  # noqa: ARG002 - counts are exact
        def value(j: int, cell: int) -> str:
            return "about " * (self.shift[j] > 0) + show(self.column(j).value[cell])

        return impossible(self.table, self.starts, value, domain, mass)

    def pruned(self, features: Features) -> tuple[Features, Self]:
        """Drop the cells without rows."""
        seen = (self.table > 0).any(axis=0)
        parts = np.split(seen, self.starts[1:-1])
        keys = tuple(k[keep] for k, keep in zip(self.keys, parts, strict=True))
        return features, replace(self, keys=keys, table=self.table[:, seen])


def histogram(X: Array, W: OneHot | Array) -> Histogram:
    """S(X, W) for numbers X (n, d) and signed class weights W (n, k); rows without weight make no cells."""
    some = weighing(W)
    whole, codes = bool(some.all()), np.empty(X.shape, dtype=np.int32)
    columns = np.ascontiguousarray(X.T, dtype=np.float64)

    def grid(j: int) -> tuple[Array, int]:
        keys, shift, codes[:, j] = cells(columns[j] if whole else np.where(some, columns[j], np.nan))
        return keys, shift

    over = spread if X.size >= SHARED else map
    each = list(over(grid, range(len(columns))))
    keys, shift = tuple(keys for keys, _ in each), tuple(shift for _, shift in each)
    return Histogram(keys, shift, sums_by_code(codes, _starts(keys), W))


def from_cells(each: Sequence[tuple[Array, int, Array]], k: int) -> Histogram:
    """A histogram from, for each column, a number of each cell (m,), the shift, and weights by class (k, m)."""
    keys, shift, tables = [], [], [np.zeros((k, 0))]
    for values, given, table in each:
        own = np.unique(ordered(values) >> given)
        more = int(_kernels.coarser(own, MAX_CELLS))
        keys.append(np.unique(own >> more))
        shift.append(given + more)
        tables.append(moved(table, np.searchsorted(keys[-1], ordered(values) >> shift[-1]), len(keys[-1])))
    return Histogram(tuple(keys), tuple(shift), np.concatenate(tables, axis=1))


def _starts(keys: Sequence[Array]) -> Array:
    return np.cumsum([0, *map(len, keys)])
