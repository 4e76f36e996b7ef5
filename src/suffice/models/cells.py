"""From a histogram to cells: intervals of numbers that are used as categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from suffice._check import Rule, check, is_whole, one_of
from suffice._domain import CategoricalFeatures, Encoded, Features
from suffice._labels import listed
from suffice._reading import Intervals
from suffice._vector import Array
from suffice.models import _kernels, grid
from suffice.models._statistics import Statistics
from suffice.models._tables import rows_of
from suffice.models.cuts import BY_CLASS, CLOSE, STRATEGIES
from suffice.models.histogram import Column, Histogram

HEAD = 16  # cells that are looked at first
LEAST_ROWS = 20  # that whole numbers must number to be taken for an identifier
REPEATS = 10  # of measurements that would be expected among so many whole numbers in so short a range
SPARSE, DENSE = 10, 1.5  # whole numbers from the first to the last for each row: at full precision, on a coarse grid
DIFFERENT = (
    "different cells, whose sums do not add up: add the histograms that they were chosen from (those of an unresolved "
    "model, `statistics_` of an estimator), and choose anew"
)
AT_LEAST_TWO = Rule(lambda v: is_whole(v) and v > 1, "a whole number of at least 2")
YES_OR_NO = Rule(lambda v: isinstance(v, bool | np.bool_), "True or False")


def _rising(value: Any) -> bool:
    numbers: list[Any] = list(value) if isinstance(value, list | tuple) else [None]
    return all(is_whole(n) and n > 1 for n in numbers) and sorted(set(numbers)) == numbers


RISING = Rule(lambda v: _rising(v) and len(v) > 0, "whole numbers of at least 2 in rising order")


@dataclass(frozen=True, eq=False)
class BinFeatures(CategoricalFeatures):
    """Columns of numbers in cells: `categories[j]` are the lower bounds of the cells of column j, the first -inf.

    A number is in the last cell whose lower bound is not above it; NaN is in none.

    >>> bins = BinFeatures(1, categories=(np.array([-np.inf, 0.0, 2.5]),))
    >>> bins.read(Encoded(Features(1), np.array([[-3.0], [0.0], [7.0], [np.nan]]))).ravel()
    array([ 0,  1,  2, -1], dtype=int8)
    """

    closed: ClassVar[bool] = True

    def check(self, other: Features) -> None:
        super().check(other)
        if isinstance(other, BinFeatures) and not self.same(other):
            raise ValueError(f"the columns were put into {DIFFERENT}")

    def __or__(self, other: Features) -> Self:
        if not isinstance(other, BinFeatures):
            raise ValueError(f"the columns are in cells here and not there, which is {DIFFERENT}")
        return Features.__or__(self, other)

    def same(self, other: Features) -> bool:
        return self is other or (isinstance(other, BinFeatures) and super().same(other))

    def reading(self, j: int) -> Intervals:
        return Intervals(self.categories[j])

    def read(self, X: Encoded) -> Array:
        """Codes (n, d) of numbers: the cell of each, -1 where it is missing."""
        if X.features is not self:
            self.check(X.features)
        return X.values if isinstance(X.features, BinFeatures) else self.codes(X.values)

    def codes(self, values: Array) -> Array:
        """The cell of each of the numbers (n, d); -1 where it is missing."""
        bounds = np.concatenate([np.zeros(0), *self.categories])
        found = np.empty(values.shape, dtype=np.int8 if self.sizes.max(initial=0) < 128 else np.int32)
        _kernels.interval_codes(values, bounds, self.starts, found)
        return found


@dataclass(frozen=True)
class Binning:
    """How a histogram becomes cells, which are unions of neighbouring cells of its grid.

    A column of at most `n_bins` values has a cell for each of them; otherwise the strategy cuts. A cut is midway
    between the neighbouring values, but beside a spike it is where the spike ends: a number that was never learned and
    is not the spike itself belongs to the ordinary neighbour. A column with one value, or none, has one cell and so no
    say. With the strategy "mdl" the classes alone decide what is a cell of its own, spike or not.

    Parameters
    ----------
    strategy : {"quantile", "kmeans", "uniform", "mdl"}
        Cells of equal weight, around means, of equal width, or that tell the most about the class; see
        `suffice.models.cuts`.
    n_bins : int
        How many cells. Spikes count as cells; one between ordinary values parts them, which makes one more.
    spikes : bool
        Whether a value with more than 1/n_bins of the weight is a cell of its own; the others are cut among themselves.
    identifiers : bool
        Whether a column that numbers the rows is left out, by giving it one cell: see `numbers_rows`.
    """

    strategy: str = "quantile"
    n_bins: int = 32
    spikes: bool = True
    identifiers: bool = True

    def features(self, s: Statistics[Histogram]) -> BinFeatures:
        """The cells of all columns."""
        check(self, strategy=one_of(*STRATEGIES), n_bins=AT_LEAST_TWO, spikes=YES_OR_NO, identifiers=YES_OR_NO)
        bounds = tuple(self.bounds(column) for column in s.sums.columns())
        return BinFeatures(s.domain.width, s.domain.names, bounds)

    def bounds(self, column: Column) -> Array:
        """The lower bounds of the cells of one column, the first -inf."""
        column = _held(column)
        if len(column.keys) < 2 or (self.identifiers and numbers_rows(column)):
            return np.array([-np.inf])
        spike = self.spike(column)
        return np.append(-np.inf, _between(column, self.cuts(column, spike), spike))

    def spike(self, column: Column) -> Array:
        """Which values of a column are spikes (m,)."""
        return np.asarray(column.weight * self.n_bins > column.weight.sum() * (1 + CLOSE)) & self.spikes

    def cuts(self, column: Column, spike: Array) -> Array:
        """Before which cells of the grid there is a cut."""
        cut, m = STRATEGIES[self.strategy], len(column.keys)
        if self.strategy in BY_CLASS:
            return cut(column, self.n_bins)
        if m <= self.n_bins:
            return np.arange(1, m)
        alone, others = np.flatnonzero(spike), np.flatnonzero(~spike)
        cuts = np.concatenate([alone, alone + 1])
        if len(others) > 1:
            rest = column.taking(others) if len(alone) else column
            cuts = np.append(cuts, others[cut(rest, max(1, self.n_bins - len(alone)))])
        cuts = np.unique(cuts)
        return cuts[(cuts > 0) & (cuts < m)]


def numbers_rows(column: Column) -> bool:
    """Whether a column is whole numbers that number the rows, no two alike in a short range: an identifier.

    n of them, at least 20, with at most 10 n from the least to the greatest, and so close together that measurements
    would repeat: n^2 / (2 range) > 10. So it is found in a random part of the rows as well. On a coarse grid no cell
    may hold more rows than whole numbers, in a range of at most 1.5 n. Rows are told from weights as in `rows_of`.
    """
    weight = rows_of(column.table).sum(axis=0)
    rows = float(weight.sum())
    if rows < LEAST_ROWS:
        return False
    if _crowded(column.taking(slice(HEAD)), weight[:HEAD]).any():  # most columns show it at once
        return False
    with np.errstate(over="ignore"):
        span = column.low[-1] - column.high[0] + 1
    exact = bool((_whole(column) <= 1).all())
    most = min(SPARSE * rows, rows * (rows / (2 * REPEATS))) if exact else DENSE * rows
    return bool(span <= most and not _crowded(column, weight).any())


def _whole(column: Column) -> Array:
    """How many whole numbers each cell of the grid has room for (m,)."""
    with np.errstate(over="ignore"):
        return np.asarray(np.floor(column.high) - np.ceil(column.low) + 1)


def _crowded(column: Column, weight: Array) -> Array:
    """Which cells of the grid hold more rows (m,) than whole numbers."""
    return ~np.asarray(weight <= _whole(column) * (1 + CLOSE))


def _held(column: Column) -> Column:
    """The cells of the grid that hold something: one may have lost its weight, to another class for example."""
    some = column.weight > 0
    return column if some.all() else column.taking(some)


def _between(column: Column, cuts: Array, spike: Array) -> Array:
    """The numbers at which to cut before some cells of the grid: on the grid, so that cells are unions of its cells."""
    before, after, shift = column.taking(cuts - 1), column.taking(cuts), column.shift
    least, most = before.above, after.low
    middle = grid.number(grid.ordered(0.5 * before.high + 0.5 * most) >> shift << shift)
    left, right = spike[cuts - 1], spike[cuts]
    return np.where(left == right, np.clip(middle, least, most), np.where(right, most, least))


LEFT_OUT = {
    "constant": "it has one value only",
    "rounded": "it has one value only, to double precision",
    "missing": "it has no values",
    "numbers the rows": "an identifier, it numbers the rows",
}
EXACT = float(1 << 53)  # from which on whole numbers may be one double
MENTIONED = 3  # values with cells of their own that are named


@dataclass(frozen=True)
class Described:
    """What became of a column: how many cells it has, which values are cells of their own, and why it has no say."""

    name: str
    cells: int
    spikes: tuple[float, ...]
    left_out: str | None  # a key of LEFT_OUT; None: it takes part

    def words(self) -> str:
        """The same as a line for people to read."""
        if self.left_out is not None:
            return f"left out: {LEFT_OUT[self.left_out]}"
        own = listed(f"{value:g}" for value in self.spikes[:MENTIONED])
        more = f" and {len(self.spikes) - MENTIONED} more" * (len(self.spikes) > MENTIONED)
        alone = f", {own}{more} on {'their' if len(self.spikes) > 1 else 'its'} own"
        return f"{self.cells} cells{alone * bool(self.spikes)}"


def describe(s: Statistics[Histogram], features: BinFeatures, binning: Binning) -> tuple[Described, ...]:
    """What became of each column of a histogram in these cells."""
    columns = map(_held, s.sums.columns())
    return tuple(_described(features, j, column, binning) for j, column in enumerate(columns))


def _described(features: BinFeatures, j: int, column: Column, binning: Binning) -> Described:
    bounds = features.categories[j]
    at = np.searchsorted(bounds, column.low, side="right") - 1
    alone = binning.spike(column) & (np.bincount(at, minlength=len(bounds))[at] == 1) & (len(bounds) > 1)
    why = _left_out(column, binning.identifiers)
    return Described(features.name(j), len(bounds), tuple(column.value[alone].tolist()), why)


def _left_out(column: Column, identifiers: bool) -> str | None:
    """Why a column has no say; None if it has."""
    if len(column.keys) < 2:
        if not len(column.keys):
            return "missing"
        return "constant" if abs(float(column.value[0])) < EXACT else "rounded"
    return "numbers the rows" if identifiers and numbers_rows(column) else None


def silent(s: Statistics[Histogram], identifiers: bool = True) -> tuple[str, ...]:
    """Of each column of a histogram, why it is left out, in words; "" if it takes part."""
    why = (_left_out(_held(column), identifiers) for column in s.sums.columns())
    return tuple("" if one is None else f"left out: {LEFT_OUT[one]}" for one in why)
