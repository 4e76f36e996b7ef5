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
from suffice.models.compiled import tables as _kernels
from suffice.models.overview import Overview, Summary
from suffice.models.statistics import Sums, weighing
from suffice.models.tables.categorical import impossible, moved, sums_by_code

CELLS = 4096  # of a column, at most; also what is left of all numbers at a shift of 52, the largest there is
SAMPLE = 256  # numbers that tell at which shift to begin
_SIGN = np.int64(0x7FFFFFFFFFFFFFFF)


def ordered(values: Array) -> Array:
    """The bits of numbers as whole numbers of the same order: the keys at shift 0.

    >>> ordered(np.array([-1.0, -0.0, 0.0, 5e-324])).tolist()
    [-4607182418800017409, 0, 0, 1]
    """
    bits = (np.asarray(values, dtype=np.float64) + 0.0).view(np.int64)  # -0.0 is 0.0
    return np.where(bits < 0, bits ^ _SIGN, bits)


def number(keys: Array) -> Array:
    """The numbers of keys at shift 0."""
    keys = np.asarray(keys, dtype=np.int64)
    return np.where(keys < 0, keys ^ _SIGN, keys).view(np.float64)


def distinct(ordered_keys: Array) -> Array:
    """Sorted keys, each once."""
    if not len(ordered_keys):
        return ordered_keys
    return np.asarray(ordered_keys[np.append(True, ordered_keys[1:] != ordered_keys[:-1])])


def cells(values: Array) -> tuple[Array, int, Array]:
    """The grid of numbers (n,): the keys of the non-empty cells, the least shift at which they are few, and the place
    of the cell of each number among the keys (n,), -1 for NaN.

    >>> keys, shift, codes = cells(np.random.default_rng(0).normal(size=100_000))
    >>> len(keys), shift
    (2687, 45)
    """
    bits, start = np.ascontiguousarray(values, dtype=np.float64).view(np.int64), _likely(values)
    keys, shift, codes = _kernels.few_cells(bits, start, CELLS)
    if start and shift == start:  # nothing has shown that less is not enough
        keys, shift, codes = _kernels.few_cells(bits, 0, CELLS)
    return keys, int(shift), codes


def _likely(values: Array) -> int:
    """A shift that leaves too many cells, most likely, but not by far: at which two of a few numbers come to share one.

    0 if all numbers are few, as far as those that are there once and twice tell (Chao's estimate of the others).
    """
    if len(values) <= CELLS:
        return 0
    some = values[:: len(values) // SAMPLE]
    keys, times = np.unique(ordered(some[~np.isnan(some)]), return_counts=True)
    once, twice = np.count_nonzero(times == 1), np.count_nonzero(times == 2)
    if len(keys) + once * (once - 1) / (2 * (twice + 1)) <= CELLS:
        return 0
    return max(0, int(_kernels.coarser(keys, len(keys) - 2)) - 1)


def coarsened(keys: Array, shift: int) -> tuple[Array, int]:
    """Sorted, distinct keys at the least shift from this one on at which they are few enough."""
    more = int(_kernels.coarser(keys, CELLS))
    return (distinct(keys >> more), shift + more) if more else (keys, shift)


def joined(a: tuple[Array, int], b: tuple[Array, int]) -> tuple[Array, int, Array, Array]:
    """The grid of two together, the one that all their numbers would have had at once, and the places in it of theirs.

    The number of different keys falls as the shift rises and rises with every number, so that the least shift at which
    all are few is at least that of either, and is found from the keys at the larger of the two.
    """
    shift = max(a[1], b[1])
    keys, at_a, at_b = _kernels.union(*(keys >> (shift - s) for keys, s in (a, b)))
    more = int(_kernels.coarser(keys, CELLS))
    if not more:
        return keys, shift, at_a, at_b
    keys, at, _ = _kernels.union(keys >> more, keys[:0])
    return keys, shift + more, at[at_a], at[at_b]


SHARED = 1 << 16  # entries that threads are worth their while for


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
        return number(np.where(last == -1, -2, last))  # -0.0 is in the cell of 0.0

    @cached_property
    def above(self) -> Array:
        """The least number beyond each cell (m,); infinite for the last there can be."""
        return number((self.keys + 1) << self.shift)

    @cached_property
    def value(self) -> Array:
        """A number for each cell (m,): the one that it holds, or zero if that is in it, or its middle."""
        if not self.shift:
            return self.low
        return np.where((self.low <= 0) & (self.high >= 0), 0.0, 0.5 * self.low + 0.5 * self.high)

    @cached_property
    def weight(self) -> Array:
        """The weight of each cell (m,), whatever the class."""
        return np.asarray(self.table.sum(axis=0))

    def taking(self, which: Array | slice) -> ColumnHistogram:
        """Some of the cells."""
        return ColumnHistogram(self.keys[which], self.shift, self.table[:, which])


@dataclass(frozen=True, eq=False, repr=False)
class Histogram(Sums):
    """Sums of weights by class and cell of a nested grid, those of all columns side by side.

        table_(c, j, v) = sum_i W_ic 1(key of x_ij = v),     key of x = (bits of x, in the order of numbers) >> shift_j

    At shift 0 every number has a cell of its own. While a column has more than 4,096 non-empty cells its shift rises,
    by which neighbours merge in pairs; a finer and a coarser histogram add up on the coarser grid. So a histogram does
    not depend on the order of the rows, nor on the pieces in which they were summed. NaN takes no part. A grid that
    has become coarse stays so when rows are forgotten.

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
        """The same sums on a grid that is as coarse or coarser, and has all of these cells."""
        each = zip(keys, self.keys, shift, self.shift, strict=True)
        return self._moved(keys, shift, [np.searchsorted(to, own >> (after - s)) for to, own, after, s in each])

    def _moved(self, keys: Sequence[Array], shift: Sequence[int], at: Sequence[Array]) -> Self:
        """The same sums on a grid, given the place of every cell in it."""
        starts = _starts(keys)
        cells = np.concatenate([np.zeros(0, dtype=int), *(s + own for s, own in zip(starts, at, strict=False))])
        table = moved(self.table, cells, int(starts[-1]))
        return replace(self, keys=tuple(keys), shift=tuple(shift), table=table)

    def extent(self) -> Array:
        """The least and the greatest number of each column (d, 2), as far as the grid tells; NaN if it has none."""
        held = ((column, np.flatnonzero(column.weight > 0)) for column in self.columns())
        ends = (column.taking(at[[0, -1]] if len(at) else at) for column, at in held)
        return np.array([(c.low[0], c.high[1]) if len(c.keys) else (np.nan, np.nan) for c in ends]).reshape(-1, 2)

    def impossible(self, before: Self, domain: Domain, mass: Array) -> str | None:  # noqa: ARG002 - counts are exact
        def value(j: int, cell: int) -> str:
            return "about " * (self.shift[j] > 0) + show(self.column(j).value[cell])

        return impossible(self.table, self.starts, value, domain, mass)

    def pruned(self, features: Features) -> tuple[Features, Self]:
        """Without the cells that no row is in any more."""
        seen = (self.table > 0).any(axis=0)
        parts = np.split(seen, self.starts[1:-1])
        keys = tuple(k[keep] for k, keep in zip(self.keys, parts, strict=True))
        return features, replace(self, keys=keys, table=self.table[:, seen])


def histogram(X: Array, W: OneHot | Array) -> Histogram:
    """S(X, W) for numbers X (n, d) and signed class weights W (n, k); a row without weight makes no cell."""
    some = weighing(W)
    whole, codes = bool(some.all()), np.empty(X.shape, dtype=np.int32)
    columns = np.ascontiguousarray(X.T, dtype=np.float64)

    def grid(j: int) -> tuple[Array, int]:
        keys, shift, codes[:, j] = cells(columns[j] if whole else np.where(some, columns[j], np.nan))
        return keys, shift

    over = spread if X.size >= SHARED else map
    keys, shift = _unzipped(list(over(grid, range(len(columns)))))
    return Histogram(keys, shift, sums_by_code(codes, _starts(keys), W))


def from_cells(each: Sequence[tuple[Array, int, Array]], k: int) -> Histogram:
    """From a number (m,) of each of some cells, their shift, and their weights by class (k, m), column by column."""
    keys, shift = _unzipped([coarsened(distinct(np.sort(ordered(values) >> s)), s) for values, s, _ in each])
    tables = [np.zeros((k, 0))]
    for (values, _, table), own, by in zip(each, keys, shift, strict=True):
        tables.append(moved(table, np.searchsorted(own, ordered(values) >> by), len(own)))
    return Histogram(keys, shift, np.concatenate(tables, axis=1))


def _starts(keys: Sequence[Array]) -> Array:
    return np.cumsum([0, *map(len, keys)])


def _unzipped(grids: list[tuple[Array, int]]) -> tuple[tuple[Array, ...], tuple[int, ...]]:
    return tuple(keys for keys, _ in grids), tuple(shift for _, shift in grids)
