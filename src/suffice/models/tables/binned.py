"""Naive Bayes over intervals of numbers, which are chosen from histograms of the columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Self, cast

import numpy as np
from scipy.stats import gmean

from suffice._core.features import CategoricalFeatures, Domain, Encoded, Features
from suffice._core.formula import Intervals
from suffice._core.kinds import LeftOut
from suffice._core.labels import OneHot
from suffice._core.vector import Array
from suffice._runtime.lazy import compiled
from suffice._runtime.messages import SettingRule, check, is_whole, one_of
from suffice.data.queries import DatabaseRows
from suffice.encoders import Encoder, Numbers
from suffice.models.base import ColumnSummary
from suffice.models.statistics import Statistics, weighing
from suffice.models.tables import compiled as _kernels
from suffice.models.tables import histogram as grid
from suffice.models.tables.categorical import Categorical, Counts, moved, rows_of
from suffice.models.tables.histogram import ColumnHistogram, Histogram, from_cells, histogram

CLOSE = 1e-9  # relative difference that counts as rounding
Strategy = Callable[[ColumnHistogram, int], Array]


def quantile(column: ColumnHistogram, n: int) -> Array:
    """Intervals of about equal weight: cuts where the weight below is nearest to i/n of the total, i = 1..n-1.

    >>> quantile(ColumnHistogram(np.arange(6), 0, np.ones((1, 6))), 3).tolist()
    [2, 4]
    """
    below = np.cumsum(column.weight)
    share, wanted = below[:-1] / below[-1], np.arange(1, n) / n
    after = np.minimum(np.searchsorted(share, wanted), len(share) - 1)
    gap = np.minimum(abs(share[after] - wanted), abs(share[np.maximum(after, 1) - 1] - wanted))
    return np.unique(np.searchsorted(share, wanted - gap - CLOSE) + 1)


def uniform(column: ColumnHistogram, n: int) -> Array:
    """Intervals of equal width from the least to the greatest value; intervals without a value are left out."""
    return _beyond(_place_in_range(column.value), np.arange(1, n) / n)


def kmeans(column: ColumnHistogram, n: int) -> Array:
    """Intervals of the least sum of squared distances from their means.

    >>> from suffice.models.tables.histogram import ordered
    >>> kmeans(ColumnHistogram(ordered(np.array([0.0, 1.0, 2.0, 10.0, 11.0])), 0, np.ones((1, 5))), 2).tolist()
    [3]
    """
    place, weight = _place_in_range(column.value), column.weight
    middle = int(np.searchsorted(np.cumsum(weight), 0.5 * weight.sum()))
    # A far value is in few of the sums from the middle value to each place, and spoils the digits of few.
    sums = np.zeros((3, len(place) + 1))
    for row, power in zip(sums, weight * (place - place[middle]) ** np.arange(3)[:, None], strict=True):
        row[:middle] = -np.cumsum(power[:middle][::-1])[::-1]
        row[middle + 1 :] = np.cumsum(power[middle:])
    return _least_squares(sums, min(n, len(place)))


@compiled
def _least_squares(sums: Array, n: int) -> Array:
    """Cuts (n - 1,) of m values into n intervals of the least sum of squares, by dynamic programming.

        least_i(b) = min_a least_{i-1}(a) + squares(a, b)

    sums (3, m + 1): of weights, weighted values and squares before each place. The best beginning a of an interval does
    not fall as its end b rises: halving the ends leaves about m beginnings a level to try, O(n m log m) in all.
    """
    m = sums.shape[1] - 1
    least, begins = np.full((n + 1, m + 1), np.inf), np.zeros((n + 1, m + 1), np.int64)
    least[0, 0] = 0.0
    for i in range(1, n + 1):
        step = 1
        while 2 * step <= m:
            step *= 2
        while step:
            for b in range(step, m + 1, 2 * step):
                last = begins[i, b + step] if b + step <= m else b - 1
                for a in range(max(i - 1, begins[i, b - step]), min(last, b - 1) + 1):
                    weight, first, second = sums[0, b] - sums[0, a], sums[1, b] - sums[1, a], sums[2, b] - sums[2, a]
                    total = least[i - 1, a] + max(0.0, second - first * first / weight)
                    if total < least[i, b] * (1 - CLOSE):  # the first of equals, up to rounding
                        least[i, b], begins[i, b] = total, a
            step //= 2
    cuts = np.full(n, m)
    for i in range(n - 1, 0, -1):
        cuts[i - 1] = begins[i + 1, cuts[i]]
    return cuts[: n - 1]


def mdl(column: ColumnHistogram, n: int) -> Array:
    """Cuts of greatest information gain about the class, while each is worth its description (Fayyad and Irani, 1993).

        gain > log2(N - 1) + log2(3^k - 2) - k H + k1 H1 + k2 H2,    gain = N H - N1 H1 - N2 H2

    N, H and k are the weight, the entropy in bits and the number of classes of an interval, or of one of its two parts.
    The cut of greatest gain is made first, until no interval has one that is worth it, or there are n intervals.
    """
    table = column.table
    sums = np.pad(np.cumsum(table, axis=1), ((0, 0), (1, 0)))  # (k, m + 1)
    found = {(0, table.shape[1]): _best_cut(sums, 0, table.shape[1])}
    cuts: list[int] = []
    while len(cuts) < n - 1:
        (a, b), (gain, at) = max(found.items(), key=lambda item: item[1][0])
        if gain <= 0:
            break
        del found[a, b]
        cuts.append(at)
        found |= {part: _best_cut(sums, *part) for part in ((a, at), (at, b))}
    return np.array(sorted(cuts), dtype=int)


def _best_cut(sums: Array, a: int, b: int) -> tuple[float, int]:
    """The gain of the best cut of the values a..b-1, 0 if it is not worth it, and its place."""
    if b - a < 2:
        return 0.0, a
    whole = sums[:, b] - sums[:, a]
    left = sums[:, a + 1 : b] - sums[:, a, None]
    right = whole[:, None] - left
    weight = float(whole.sum())
    remaining = (_bits(left) + _bits(right)) / max(weight, 1e-300)
    at = int(np.argmax(remaining <= remaining.min() + CLOSE))  # the first of equals, up to rounding
    parts = [whole, left[:, at], right[:, at]]
    (all_bits, *bits), (k, *ks) = [float(_bits(p)) for p in parts], [int((p > CLOSE * weight).sum()) for p in parts]
    gain = all_bits - sum(bits)
    entropies = [value / max(float(p.sum()), 1e-300) for value, p in zip((all_bits, *bits), parts, strict=True)]
    code = k * np.log2(3) + np.log2(1 - 2 * 3.0**-k) - k * entropies[0] + np.dot(ks, entropies[1:])
    worth = weight > 1 and gain > np.log2(weight - 1) + code + CLOSE * weight
    return (gain if worth else 0.0), a + 1 + at


def _bits(counts: Array) -> Array:
    """N H of weights by class (k, ...): -sum_c n_c log2(n_c / N)."""
    counts = np.maximum(counts, 0.0)
    share = np.divide(counts, counts.sum(axis=0), out=np.ones(counts.shape), where=counts > 0)
    return -np.asarray((counts * np.log2(share)).sum(axis=0))


def _place_in_range(values: Array) -> Array:
    """Values (m,) as shares of the way from the least to the greatest, whose squares cannot overflow."""
    half = 0.5 * values
    return np.asarray((half - half[0]) / (half[-1] - half[0]))


def _beyond(place: Array, edges: Array) -> Array:
    """The first value that is not below each edge, without edges before the first or after the last value."""
    at = np.unique(np.searchsorted(place, edges - CLOSE))
    return at[(at > 0) & (at < len(place))]


STRATEGIES: Mapping[str, Strategy] = {"quantile": quantile, "kmeans": kmeans, "uniform": uniform, "mdl": mdl}
BY_CLASS = ("mdl",)  # strategies that use the classes
# A column of whole numbers is an identifier, see `numbers_rows`, ...
MIN_ROWS = 20  # with at least this many rows
MIN_REPEATS = 10  # if this many repetitions would be expected of measurements
MAX_RANGE, MAX_RANGE_COARSE = 10, 1.5  # and the range is at most this for each row, on a full or coarse grid
CELLS_TRIED_FIRST = 16  # cells that rule out most columns
DIFFERENT = (
    "different cells, whose sums do not add up: add the histograms that they were chosen from (those of an unresolved "
    "model, `statistics_` of an estimator), and choose again"
)

AT_LEAST_TWO = SettingRule(lambda v: is_whole(v) and v > 1, "a whole number of at least 2")
YES_OR_NO = SettingRule(lambda v: isinstance(v, bool | np.bool_), "True or False")


def _rising(value: Any) -> bool:
    numbers: list[Any] = list(value) if isinstance(value, list | tuple) else []
    return len(numbers) > 0 and all(is_whole(n) and n > 1 for n in numbers) and sorted(set(numbers)) == numbers


RISING = SettingRule(_rising, "whole numbers of at least 2 in rising order")


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
        """Codes (n, d) of rows: the cell of each number, -1 where an entry is missing."""
        if X.features is not self:
            self.check(X.features)
        return X.values if isinstance(X.features, BinFeatures) else self.codes(X.values)

    def codes(self, values: Array) -> Array:
        """The cell of each number (n, d), -1 where an entry is missing."""
        bounds = np.concatenate([np.zeros(0), *self.categories])
        found = np.empty(values.shape, dtype=np.int8 if self.sizes.max(initial=0) < 128 else np.int32)
        _kernels.interval_codes(values, bounds, self.starts, found)
        return found


@dataclass(frozen=True)
class Binning:
    """How a histogram becomes cells, which are unions of neighbouring cells of its grid.

    A column of at most `n_bins` values has a cell for each; otherwise the strategy cuts. A cut is midway between the
    neighbouring values, but directly beside a spike: an unknown number near the spike belongs to the ordinary
    neighbour. A column with one value, or none, has one cell and so no effect. With the strategy "mdl" the classes
    alone decide, whether or not a value is a spike.

    Parameters
    ----------
    strategy, n_bins, spikes
        As in `suffice.features.Bins`. A spike between ordinary values parts them, which makes one more cell.
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

    def bounds(self, column: ColumnHistogram) -> Array:
        """The lower bounds of the cells of one column, the first -inf."""
        column = _nonempty(column)
        if len(column.keys) < 2 or (self.identifiers and numbers_rows(column)):
            return np.array([-np.inf])
        spike = self.spike(column)
        return np.append(-np.inf, _between(column, self.cuts(column, spike), spike))

    def spike(self, column: ColumnHistogram) -> Array:
        """True for the values of a column that are spikes (m,)."""
        return np.asarray(column.weight * self.n_bins > column.weight.sum() * (1 + CLOSE)) & self.spikes

    def cuts(self, column: ColumnHistogram, spike: Array) -> Array:
        """The cells of the grid before which there is a cut."""
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


def numbers_rows(column: ColumnHistogram) -> bool:
    """True if a column is an identifier: distinct whole numbers in a short range.

    There are n of them, at least 20, in a range of at most 10 n, so close together that measurements would repeat:
    n^2 / (2 range) > 10. This finds an identifier in a random part of the rows, too. On a coarse grid no cell may hold
    more rows than whole numbers, in a range of at most 1.5 n. `rows_of` counts rows from weights.
    """
    weight = rows_of(column.table).sum(axis=0)
    rows = float(weight.sum())
    if rows < MIN_ROWS:
        return False
    if _crowded(column.taking(slice(CELLS_TRIED_FIRST)), weight[:CELLS_TRIED_FIRST]):
        return False
    with np.errstate(over="ignore"):
        span = column.low[-1] - column.high[0] + 1
    exact = bool((_room(column) <= 1).all())
    most = min(MAX_RANGE * rows, rows * (rows / (2 * MIN_REPEATS))) if exact else MAX_RANGE_COARSE * rows
    return bool(span <= most and not _crowded(column, weight))


def _room(column: ColumnHistogram) -> Array:
    """The number of whole numbers in each cell of the grid (m,)."""
    with np.errstate(over="ignore"):
        return np.asarray(np.floor(column.high) - np.ceil(column.low) + 1)


def _crowded(column: ColumnHistogram, weight: Array) -> bool:
    """True if a cell of the grid holds more rows (m,) than whole numbers."""
    return bool((~np.asarray(weight <= _room(column) * (1 + CLOSE))).any())


def _nonempty(column: ColumnHistogram) -> ColumnHistogram:
    """The cells of the grid that have weight; one may have lost it, to another class for example."""
    some = column.weight > 0
    return column if some.all() else column.taking(some)


def _between(column: ColumnHistogram, cuts: Array, spike: Array) -> Array:
    """Numbers at which to cut before some cells of the grid; they are on the grid, so that cells are unions of its."""
    before, after, shift = column.taking(cuts - 1), column.taking(cuts), column.shift
    least, most = before.above, after.low
    middle = grid.number(grid.ordered(0.5 * before.high + 0.5 * most) >> shift << shift)
    left, right = spike[cuts - 1], spike[cuts]
    return np.where(left == right, np.clip(middle, least, most), np.where(right, most, least))


MAX_EXACT = float(1 << 53)  # above it, different whole numbers may be one double


@dataclass(frozen=True)
class ColumnCells:
    """A column in cells: their number, the values that have their own, and the reason if it is left out."""

    name: str
    cells: int
    spikes: tuple[float, ...]
    left_out: LeftOut | None

    def summary(self) -> ColumnSummary:
        """The summary that models give of a column."""
        return ColumnSummary(f"{self.cells} cells", self.left_out, self.spikes)

    def words(self) -> str:
        """The summary as a line of text."""
        return self.summary().sentence()


def describe(s: Statistics[Histogram], features: BinFeatures, binning: Binning) -> tuple[ColumnCells, ...]:
    """Describe each column of a histogram in these cells."""
    found = []
    for j, (whole, bounds) in enumerate(zip(s.sums.columns(), features.categories, strict=True)):
        column = _nonempty(whole)
        at = np.searchsorted(bounds, column.low, side="right") - 1
        alone = binning.spike(column) & (np.bincount(at, minlength=len(bounds))[at] == 1) & (len(bounds) > 1)
        spikes = tuple(column.value[alone].tolist())
        found.append(ColumnCells(features.name(j), len(bounds), spikes, _left_out(column, binning.identifiers)))
    return tuple(found)


def _left_out(column: ColumnHistogram, identifiers: bool) -> LeftOut | None:
    """Why a column is left out; None if it takes part."""
    if len(column.keys) < 2:
        if not len(column.keys):
            return LeftOut.EMPTY
        return LeftOut.CONSTANT if abs(float(column.value[0])) < MAX_EXACT else LeftOut.ROUNDED
    return LeftOut.NUMBERS_ROWS if identifiers and numbers_rows(column) else None


MAX_POINT = 1e-9  # share of a column's range up to which the width of a cell is that of one value


@dataclass(frozen=True, eq=False)
class Binned(Categorical):
    """p(x, y) = p(y) prod_j p(cell of x_j | y): tables over intervals of numbers, chosen from the sums themselves.

    The sums are a `Histogram` on a nested grid, from which `resolve` chooses the cells; `restrict` adds the grid's
    cells up to these. So fitting in pieces, and merging fitted models, give the cells and tables of all rows at once.
    After forgetting, the grid stays as coarse as it was, which matters only for columns of more than 4,096 values.

    The density is the probability of the cell, not divided by its width: it sums to one over the cells.

    Parameters
    ----------
    prior : Dirichlet or None
        Pseudo-counts of the tables.
    strategy, n_bins, spikes, identifiers
        As in `Binning`.

    Examples
    --------
    >>> from suffice import ModelClassifier
    >>> X = np.array([[0.0], [0.0], [0.0], [0.0], [1.5], [2.5]])
    >>> model = ModelClassifier(Binned(n_bins=2)).fit(X, [0, 0, 0, 1, 1, 1])
    >>> model.parameters_.domain.features.categories
    (array([ -inf, 5.e-324]),)
    """

    strategy: str = "quantile"
    n_bins: int = 32
    spikes: bool = True
    identifiers: bool = True
    encoder: Encoder = field(default=Numbers(missing=True), kw_only=True)
    # the least and the greatest number learned
    extent: Annotated[Array | None, "nan d 2"] = field(default=None, kw_only=True)
    # whether every value has its own cell
    single: Annotated[Array | None, "bool d"] = field(default=None, kw_only=True)

    @property
    def binning(self) -> Binning:
        """The settings by which cells are chosen."""
        return Binning(self.strategy, self.n_bins, self.spikes, self.identifiers)

    def sums(self, X: Encoded, W: OneHot | Array, domain: Domain) -> Any:
        """A `Histogram` until cells are chosen, then `Counts`."""
        if isinstance(domain.features, BinFeatures):
            return super().sums(X, W, domain)
        return histogram(domain.features.stored(X), W)

    def precompute(self, X: Encoded) -> Encoded:
        features = self.resolved_domain.features
        return Encoded(features, features.read(X)) if isinstance(features, BinFeatures) else X

    @property
    def statistics_key(self) -> object | None:
        return histogram

    def sql_statistics(self, rows: DatabaseRows, features: Features | None) -> tuple[Features, Any]:
        if isinstance(features, BinFeatures):
            return super().sql_statistics(rows, features)
        return features or rows.features, from_cells(rows.cells(grid.MAX_CELLS), len(rows.classes))

    def resolve(self, s: Statistics[Any]) -> Self:
        """Choose the cells from a histogram; sums over cells keep theirs."""
        features, extent, single = s.domain.features, self._extent(s), self.single
        if not isinstance(features, BinFeatures):
            features = self.binning.features(s)
            values = np.array([np.count_nonzero(column.weight > 0) for column in s.sums.columns()])
            single = features.sizes >= values
        domain = replace(s.domain, features=features)
        return replace(self, domain=domain, extent=extent, single=single).with_pseudo_counts(s)

    def _extent(self, s: Statistics[Any]) -> Array | None:
        """The least and the greatest number of each column (d, 2); NaN for a column without numbers."""
        return self.extent if isinstance(s.domain.features, BinFeatures) else s.sums.extent()

    def filled(self, cells: Array, rng: np.random.Generator) -> Encoded:
        """A random number of each cell (n, d), uniform within the least and the greatest number learned."""
        features = cast(BinFeatures, self.resolved_domain.features)
        values = []
        for bounds, ends, cell in zip(features.categories, self._ends(), cells.T, strict=True):
            low, high = (side[cell] for side in _sides(bounds, ends))
            values.append(np.minimum(low + rng.random(len(cell)) * (high - low), high))
        return Encoded(Features(features.width, features.names), np.column_stack(values))

    def _ends(self) -> Array:
        """The extent (d, 2), NaN where it is unknown."""
        return np.full((self.resolved_domain.width, 2), np.nan) if self.extent is None else self.extent

    def log_volume(self, X: Encoded) -> Array:
        """The sum over columns of log width of the cell + 2 log(1 + distance / width).

        The distance of a number outside the extent is to the nearest number learned. In a column in which every value
        has its own cell, all cells have the same width. A column of one cell adds nothing.
        """
        features = cast(BinFeatures, self.resolved_domain.features)
        cells, single = features.read(X), np.zeros(features.width, dtype=bool) if self.single is None else self.single
        out, coded = np.zeros(len(cells)), isinstance(X.features, BinFeatures)
        for j, (bounds, ends) in enumerate(zip(features.categories, self._ends(), strict=True)):
            if len(bounds) < 2 or not np.isfinite(ends).all():
                continue
            width, there = widths(bounds, ends, bool(single[j])), cells[:, j] >= 0
            own, x = width[cells[there, j]], ends[0] if coded else X.values[there, j]
            with np.errstate(over="ignore"):
                out[there] += np.log(own) + 2 * np.log1p(abs(x - np.clip(x, *ends)) / own)
        return out

    def restrict(self, s: Statistics[Any]) -> Statistics[Counts]:
        """Add the histogram up to the cells."""
        cells = self.resolved_domain.features
        if isinstance(s.domain.features, BinFeatures) or not isinstance(cells, BinFeatures):
            return s
        cells.check(s.domain.features)
        return Statistics(replace(s.domain, features=cells), s.mass, in_cells(s.sums, cells))

    def column_summaries(self, s: Statistics[Any]) -> tuple[ColumnSummary, ...]:
        cells = self.resolved_domain.features
        if not isinstance(cells, BinFeatures):
            return super().column_summaries(s)
        return tuple(one.summary() for one in describe(s, cells, self.binning))


def _sides(bounds: Array, extent: Array) -> tuple[Array, Array]:
    """The least and the greatest number of each cell (r,), from lower bounds (r,), of which the first is -inf."""
    below = np.nextafter(bounds[1:], -np.inf)
    least = np.fmin(extent[0], below[0]) if len(below) else extent[0]
    most = np.fmax(extent[1], bounds[-1]) if len(below) else extent[1]
    return np.append(least, bounds[1:]), np.append(below, most)


def widths(bounds: Array, extent: Array, single: bool) -> Array:
    """The width of each cell (r,) within the extent (2,); all the same if every value has its own cell.

    A cell of one value gets m times the geometric mean of the widths of the m others: so its probability compares with
    that of all others together.

    >>> widths(np.array([-np.inf, 1.0, 4.0]), np.array([-1.0, 5.0]), False)
    array([2., 3., 1.])
    """
    low, high = _sides(bounds, extent)
    limits = np.finfo(float)
    with np.errstate(over="ignore"):
        width, whole = high - low, high[-1] - low[0]
        wide = width > MAX_POINT * min(whole, limits.max)
        if single or not wide.any():
            width = np.full(len(width), whole / len(width))
        else:
            width = np.where(wide, width, wide.sum() * gmean(np.minimum(width[wide], limits.max)))
    return np.asarray(np.clip(width, limits.tiny, limits.max))


def in_cells(s: Histogram, cells: BinFeatures) -> Counts:
    """Add the cells of a histogram up to other cells, which are unions of them."""
    at = [np.zeros(0, dtype=int)]
    for j, (column, start) in enumerate(zip(s.columns(), cells.starts, strict=False)):
        first, last = (np.searchsorted(cells.categories[j], side, side="right") for side in (column.low, column.high))
        if not np.array_equal(first, last):
            raise ValueError(
                f"{cells.name(j)} was summed on a coarser grid than its cells were chosen on, so that its sums cannot "
                "be divided among them: choose the cells again from all sums, or sum the rows with the resolved model"
            )
        at.append(start + first - 1)
    return Counts(moved(s.table, np.concatenate(at), int(cells.starts[-1])))


@dataclass(frozen=True, eq=False, repr=False)
class ProbeHistogram(Histogram):
    """A histogram that keeps, of a column with fractions, only the cells of its least and greatest number.

    These tell whether the column varies, and a column with fractions is not an identifier: so the reasons to leave out
    columns are those of the whole histogram.
    """

    fixed: ClassVar = (*Histogram.fixed, "fractions")

    fractions: Array  # (d,) True for columns with fractions

    def align(self, other: Self) -> tuple[Self, Self]:
        both = self.fractions | other.fractions
        return Histogram.align(self.at_ends(both), other.at_ends(both))

    def at_ends(self, fractions: Array) -> Self:
        """Keep only the ends of further columns that turned out to have fractions."""
        each = self.columns()
        keys, shift, tables = list(self.keys), list(self.shift), [column.table for column in each]
        for j in np.flatnonzero(fractions & ~self.fractions):
            ends = each[j].taking(slice(None, None, max(1, len(keys[j]) - 1)))
            keys[j], shift[j], tables[j] = ends.keys << ends.shift, 0, ends.table
        table = np.concatenate(tables, axis=1) if tables else self.table
        return replace(self, keys=tuple(keys), shift=tuple(shift), table=table, fractions=fractions)


@compiled
def _ends(X: Array, some: Array) -> tuple[Array, Array]:
    """True for columns with fractions in some of the rows (d,), and the rows of least and greatest number (2, d)."""
    n, d = X.shape
    fractions, ends = np.zeros(d, np.bool_), np.zeros((2, d), np.int64)
    least, greatest = np.full(d, np.inf), np.full(d, -np.inf)
    for i in range(n):
        for j in range(d if some[i] else 0):
            x = X[i, j]
            fractions[j] |= (np.floor(x) != x) & (x == x)
            if x < least[j]:
                least[j], ends[0, j] = x, i
            if x > greatest[j]:
                greatest[j], ends[1, j] = x, i
    return fractions, ends


@dataclass(frozen=True, eq=False)
class ColumnProbe(Binned):
    """`Binned` with sums that only tell which columns are constant or identifiers, which takes much less time."""

    def sums(self, X: Encoded, W: OneHot | Array, domain: Domain) -> Any:
        values = np.ascontiguousarray(domain.features.stored(X), dtype=np.float64)
        fractions, ends = _ends(values, weighing(W))
        at, columns = ends[:, fractions], np.flatnonzero(fractions)
        few = np.where(fractions, np.nan, values)
        few[at, columns] = values[at, columns]
        if fractions.all():  # all other rows are empty now
            some = np.unique(at)
            few, W = few[some], W[some]
        found = histogram(few, W)
        return ProbeHistogram(found.keys, found.shift, found.table, fractions)

    def column_summaries(self, s: Statistics[Any]) -> tuple[ColumnSummary, ...]:
        """Summaries that say only why a column is left out."""
        reasons = (_left_out(_nonempty(column), self.identifiers) for column in s.sums.columns())
        return tuple(ColumnSummary(left_out=reason) for reason in reasons)
