"""Whether numeric columns say anything: histograms of as few cells as tell it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, cast

import numpy as np
from scipy.stats import gmean

from suffice._core.features import Domain, Encoded, Features
from suffice._core.labels import OneHot
from suffice._core.vector import Array
from suffice._runtime.lazy import compiled
from suffice.data.queries import DatabaseRows
from suffice.encoders import Encoder, Numbers
from suffice.models.base import ColumnSummary
from suffice.models.counts.totals import weighing
from suffice.models.statistics import Statistics
from suffice.models.tables import histogram as grid
from suffice.models.tables.categorical import Categorical, Counts, moved
from suffice.models.tables.cells import BinFeatures, Binning, describe
from suffice.models.tables.histogram import Histogram, from_cells, histogram

POINT = 1e-9  # of the extent of a column: cells that are no wider hold one value


@dataclass(frozen=True, eq=False)
class Binned(Categorical):
    """p(x, y) = p(y) prod_j p(cell of x_j | y): tables over intervals of numbers, chosen from the sums themselves.

    What is summed is a `Histogram` on a nested grid, from which `resolve` chooses the cells; `restrict` adds the grid's
    cells up to theirs. So fitting in pieces, and adding fitted models, give the cells and tables of all rows at once.
    After forgetting, the grid stays as coarse as it was: that matters for columns of more than 4,096 values alone.

    The density is the probability of the cell, not divided by its width: it sums to one over the cells.

    Parameters
    ----------
    prior : Dirichlet or None
        Pseudo-counts of the tables.
    strategy, n_bins, spikes, identifiers
        As in `suffice.models.tables.cells.Binning`.

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
    extent: Array | None = field(default=None, kw_only=True)  # (d, 2) the least and the greatest number learned
    single: Array | None = field(default=None, kw_only=True)  # (d,) whether every value has a cell of its own

    @property
    def binning(self) -> Binning:
        """How cells are chosen."""
        return Binning(self.strategy, self.n_bins, self.spikes, self.identifiers)

    def sums(self, X: Encoded, W: OneHot | Array, domain: Domain) -> Any:  # a histogram until cells are chosen
        if isinstance(domain.features, BinFeatures):
            return super().sums(X, W, domain)
        return histogram(domain.features.stored(X), W)

    def precompute(self, X: Encoded) -> Encoded:
        features = self._resolved().features
        return Encoded(features, features.read(X)) if isinstance(features, BinFeatures) else X

    @property
    def statistics_key(self) -> object | None:
        return histogram

    def sql_statistics(self, rows: DatabaseRows, features: Features | None) -> tuple[Features, Any]:
        if isinstance(features, BinFeatures):
            return super().sql_statistics(rows, features)
        return features or rows.features, from_cells(rows.cells(grid.CELLS), len(rows.classes))

    def resolve(self, s: Statistics[Any]) -> Self:
        """The cells chosen from a histogram; kept where the sums are over cells already."""
        features, extent, single = s.domain.features, self._extent(s), self.single
        if not isinstance(features, BinFeatures):
            features = self.binning.features(s)
            values = np.array([np.count_nonzero(column.weight > 0) for column in s.sums.columns()])
            single = features.sizes >= values
        domain = replace(s.domain, features=features)
        return replace(self, domain=domain, extent=extent, single=single).believing(s)

    def _extent(self, s: Statistics[Any]) -> Array | None:
        """Between which numbers each column lies (d, 2); NaN for one that has none."""
        return self.extent if isinstance(s.domain.features, BinFeatures) else s.sums.extent()

    def filled(self, cells: Array, rng: np.random.Generator) -> Encoded:
        """A number of each cell, all of them as probable, within the least and the greatest learned."""
        features = cast(BinFeatures, self._resolved().features)
        each = zip(features.categories, self._ends(), cells.T, strict=True)
        values = [_within(bounds, ends, cell, rng) for bounds, ends, cell in each]
        return Encoded(Features(features.width, features.names), np.column_stack(values))

    def _ends(self) -> Array:
        """The extent (d, 2), NaN where nothing is known of it."""
        return np.full((self._resolved().width, 2), np.nan) if self.extent is None else self.extent

    def log_volume(self, X: Encoded) -> Array:
        """The sum over columns of log width of the cell + 2 log(1 + distance / width).

        The distance is that of a number beyond all learned ones to the nearest of these. In a column in which every
        value has a cell of its own, all cells are as wide. A column of one cell adds nothing, as it has no say.
        """
        features = cast(BinFeatures, self._resolved().features)
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
        """The histogram added up to the cells."""
        cells = self._resolved().features
        if isinstance(s.domain.features, BinFeatures) or not isinstance(cells, BinFeatures):
            return s
        cells.check(s.domain.features)
        return Statistics(replace(s.domain, features=cells), s.mass, in_cells(s.sums, cells))

    def column_summaries(self, s: Statistics[Any]) -> tuple[ColumnSummary, ...]:
        cells = self._resolved().features
        if not isinstance(cells, BinFeatures):
            return super().column_summaries(s)
        return tuple(one.summary() for one in describe(s, cells, self.binning))


def _sides(bounds: Array, extent: Array) -> tuple[Array, Array]:
    """The least and the greatest number of each cell (r,), given lower bounds (r,), of which the first is -inf."""
    below = np.nextafter(bounds[1:], -np.inf)
    least = np.fmin(extent[0], below[0]) if len(below) else extent[0]
    most = np.fmax(extent[1], bounds[-1]) if len(below) else extent[1]
    return np.append(least, bounds[1:]), np.append(below, most)


def _within(bounds: Array, extent: Array, cells: Array, rng: np.random.Generator) -> Array:
    """Numbers (n,) in the cells (n,) of lower bounds (r,), of which the first is -inf."""
    low, high = (side[cells] for side in _sides(bounds, extent))
    return np.asarray(np.minimum(low + rng.random(len(cells)) * (high - low), high))


def widths(bounds: Array, extent: Array, single: bool) -> Array:
    """How wide each cell (r,) is within the extent (2,); all as wide if every value has a cell of its own.

    A cell of one value is as wide as m others of the geometric mean of their m widths: then it is held against all of
    these together, by its probability.

    >>> widths(np.array([-np.inf, 1.0, 4.0]), np.array([-1.0, 5.0]), False)
    array([2., 3., 1.])
    """
    low, high = _sides(bounds, extent)
    limits = np.finfo(float)
    with np.errstate(over="ignore"):
        width, whole = high - low, high[-1] - low[0]
        wide = width > POINT * min(whole, limits.max)
        if single or not wide.any():
            width = np.full(len(width), whole / len(width))
        else:
            width = np.where(wide, width, wide.sum() * gmean(np.minimum(width[wide], limits.max)))
    return np.asarray(np.clip(width, limits.tiny, limits.max))


def in_cells(s: Histogram, cells: BinFeatures) -> Counts:
    """The cells of a histogram added up to others, which are unions of them."""
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
class Glimpse(Histogram):
    """A histogram of which a column with fractions has no cells but those of its least and its greatest number.

    They tell whether such a column varies, and it numbers no rows: so `silent` says of all columns what it would say of
    their whole numbers one by one.
    """

    fixed: ClassVar = (*Histogram.fixed, "fractions")

    fractions: Array  # (d,) whether a column has any

    def align(self, other: Self) -> tuple[Self, Self]:
        both = self.fractions | other.fractions
        return Histogram.align(self.at_ends(both), other.at_ends(both))

    def at_ends(self, fractions: Array) -> Self:
        """The same where all of these columns have fractions."""
        each = self.columns()
        keys, shift, tables = list(self.keys), list(self.shift), [column.table for column in each]
        for j in np.flatnonzero(fractions & ~self.fractions):
            ends = each[j].taking(slice(None, None, max(1, len(keys[j]) - 1)))
            keys[j], shift[j], tables[j] = ends.keys << ends.shift, 0, ends.table
        table = np.concatenate(tables, axis=1) if tables else self.table
        return replace(self, keys=tuple(keys), shift=tuple(shift), table=table, fractions=fractions)


def glimpse(X: Array, W: OneHot | Array) -> Glimpse:
    """S(X, W) for numbers X (n, d) and signed class weights W (n, k)."""
    X = np.ascontiguousarray(X, dtype=np.float64)
    fractions, ends = _ends(X, weighing(W))
    at, columns = ends[:, fractions], np.flatnonzero(fractions)
    few = np.where(fractions, np.nan, X)
    few[at, columns] = X[at, columns]
    if fractions.all():  # nothing is left of other rows
        some = np.unique(at)
        few, W = few[some], W[some]
    found = histogram(few, W)
    return Glimpse(found.keys, found.shift, found.table, fractions)


@compiled
def _ends(X: Array, some: Array) -> tuple[Array, Array]:
    """Which columns have fractions in some of the rows (d,), and the rows of their least and greatest number (2, d)."""
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
class Glimpsed(Binned):
    """`Binned` for as long as it takes to find out which columns say anything."""

    def sums(self, X: Encoded, W: OneHot | Array, domain: Domain) -> Any:
        return glimpse(domain.features.stored(X), W)
