"""Tables over categories of which some share a cell: rare ones, and all of a column that says nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple, Self, cast

import numpy as np

from suffice._core.features import CategoricalFeatures, Encoded, Features
from suffice._core.formula import Choices
from suffice._core.kinds import LeftOut
from suffice._core.labels import positions, unite
from suffice._core.vector import Array
from suffice.models.base import AnyStatistics, ColumnSummary
from suffice.models.statistics import Statistics
from suffice.models.tables.categorical import Categorical, Counts, Tables, rows_of
from suffice.models.terms import Cells, Gap, Nomogram
from suffice.priors import table_evidence

RARE = "(rare)"  # what the cell of pooled categories is called
NONE = "(none)"  # what a cell is called that has no category any more
FEW = 20  # rows, below which nothing is taken for an identifier
UNIQUE = 0.9  # values a row, at which text is taken for an identifier


@dataclass(frozen=True, eq=False)
class PooledFeatures(CategoricalFeatures):
    """Columns of categories of which several may share a cell: `categories` are the cells, `values` what is in them."""

    closed: ClassVar[bool] = True

    values: tuple[Array, ...] = ()  # (v_j,) of each column, sorted
    cell: tuple[Array, ...] = ()  # (v_j,) the cell of each

    def reading(self, j: int) -> Choices:
        return Choices(self.values[j], self.cell[j], len(self.categories[j]))

    def forgetting(self, gone: Sequence[Array]) -> Self:
        columns = []
        for names, values, cell, old in zip(self.categories, self.values, self.cell, gone, strict=True):
            keep = positions(values, old) < 0
            called = names.astype(object)
            called[np.setdiff1d(np.arange(len(names)), cell[keep])] = NONE
            columns.append((names, values, cell) if keep.all() else (called, values[keep], cell[keep]))
        return self._of(columns)

    def agrees(self, other: Features) -> bool:
        if not isinstance(other, PooledFeatures) or not np.array_equal(self.sizes, other.sizes):
            return False
        return all(self._agrees(other, j) for j in range(self.width))

    def _agrees(self, other: PooledFeatures, j: int) -> bool:
        """Whether cells have the same names, unless one has lost all values, and common values the same cells."""
        mine, theirs = self.cell[j], other.cell[j]
        both = np.intersect1d(mine, theirs)
        at = positions(self.values[j], other.values[j])
        same = np.array_equal(self.categories[j][both], other.categories[j][both])
        return same and np.array_equal(mine[at >= 0], theirs[at[at >= 0]])

    def joined(self, other: Features) -> Self:
        if not isinstance(other, PooledFeatures):
            return self
        columns = []
        for j, (names, values, cell) in enumerate(zip(self.categories, self.values, self.cell, strict=True)):
            together = unite(values, other.values[j])
            at, there = positions(together, values), positions(together, other.values[j])
            both = np.where(at >= 0, np.append(cell, -1)[at], np.append(other.cell[j], -1)[there])
            mine = np.isin(np.arange(len(names)), cell)
            called = names if mine.all() else np.where(mine, names.astype(object), other.categories[j])
            columns.append((called, together, both))
        return self._of(columns)

    def _of(self, columns: Sequence[tuple[Array, Array, Array]]) -> Self:
        names, values, cell = zip(*columns, strict=True) if columns else ((), (), ())
        return replace(self, categories=tuple(names), values=tuple(values), cell=tuple(cell))

    def places(self, j: int, values: Array) -> Array:
        at = positions(values, self.values[j], f"the values of {self.name(j)}")
        return np.where(at < 0, -1, self.cell[j][at]) if len(self.cell[j]) else at


class Pool(NamedTuple):
    """The cells of a column: what they are called, and the cell of each value; and why, if some or all share one."""

    cells: Array
    cell: Array
    why: str = ""
    left_out: LeftOut | None = None

    def summary(self) -> ColumnSummary:
        """What became of the column."""
        if len(self.cells) < 2:
            return ColumnSummary(left_out=self.left_out)
        return ColumnSummary(f"{len(self.cells)} cells" + f": {self.why}" * bool(self.why))


@dataclass(frozen=True, eq=False)
class Pooled(Categorical):
    """A `Categorical` whose categories of fewer than `min_frequency` rows share one cell.

    Rows are told from weights as in `suffice.models.tables.categorical.rows_of`.

    Which these are is a function of the sums: fitted in pieces or merged, a category that has become frequent has a
    cell of its own. A column of one cell takes no part, since p(x_j | y) = 1: one that does not vary, or text of which
    nearly every row has its own value, an identifier.
    """

    min_frequency: float = 1.0
    identifiers: bool = True
    often: Array | None = field(default=None, kw_only=True)  # the weight of every value of all columns, learned

    def resolve(self, s: Statistics[Counts]) -> Self:
        features = cast(CategoricalFeatures, s.domain.features)
        often = self.often if isinstance(features, PooledFeatures) else s.sums.table.sum(axis=0)
        domain = replace(s.domain, features=pooled(features, self.pools(s)))
        return replace(self, domain=domain, often=often).believing(s)

    def restrict(self, s: AnyStatistics) -> Statistics[Counts]:
        if self.domain is None:
            return s
        return s.onto(replace(s.domain, features=self.domain.features))

    def filled(self, cells: Array, rng: np.random.Generator) -> Encoded:
        """One of the categories of each cell, by their shares of it."""
        pools = cast(PooledFeatures, self._resolved().features)
        own = CategoricalFeatures(pools.width, pools.names, pools.values)
        known = self.often is not None and len(self.often) == own.starts[-1]
        often = np.split(cast(Array, self.often) if known else np.ones(own.starts[-1]), own.starts[1:-1])
        each = [_one_of(cell, often[j], cells[:, j], rng) for j, cell in enumerate(pools.cell)]
        return Encoded(own, np.column_stack(each).astype(np.int32))

    def column_summaries(self, s: Statistics[Counts]) -> tuple[ColumnSummary, ...]:
        return tuple(pool.summary() for pool in self.pools(s))

    def pools(self, s: Statistics[Counts]) -> list[Pool]:
        """The cells of every column."""
        features = cast(CategoricalFeatures, s.domain.features)
        tables = np.split(s.sums.table, features.starts[1:-1], axis=1)
        return [self.pool(c, t) for c, t in zip(features.categories, tables, strict=True)]

    def pool(self, categories: Array, table: Array) -> Pool:
        """The cells of one column (r,), from its table (k, r)."""
        rows = rows_of(table).sum(axis=0)
        if self.identifiers and _identifies(categories, table):
            return one_cell(categories, LeftOut.NAMES_ROWS)
        if len(categories) < 2:
            return one_cell(categories, LeftOut.CONSTANT if len(categories) else LeftOut.EMPTY)
        rare = rows < self.min_frequency
        if not rare.any():
            return Pool(categories, np.arange(len(categories)))
        if rare.all():
            return one_cell(categories, LeftOut.RARE)
        cell = np.where(rare, (~rare).sum(), np.cumsum(~rare) - 1)
        names = np.append(categories[~rare].astype(object), RARE)
        few = "1 value" if rare.sum() == 1 else f"{rare.sum()} values"
        return Pool(names, cell, f"{few} of fewer than {self.min_frequency:g} rows share one")


@dataclass(frozen=True, eq=False)
class Informative(Pooled):
    """A `Pooled` of which only those columns take part that tell classes apart, by their evidence.

    A table by class must be more probable than one for all classes, each under a Dirichlet prior of 1 a cell.
    """

    def pool(self, categories: Array, table: Array) -> Pool:
        apart, alike = _log_evidence(table), _log_evidence(table.sum(axis=0, keepdims=True))
        if apart <= alike:
            return one_cell(categories)
        return Pool(categories, np.arange(len(categories)), "whether it is missing tells classes apart")

    def density_nomogram(self, theta: Tables) -> Nomogram:
        """Of each column, what it adds that an entry is there, or missing."""
        found = super().density_nomogram(theta)
        return replace(found, terms=tuple(_gap(cast(Cells, term)) for term in found.terms))


def _gap(term: Cells) -> Gap:
    """Of a table over False and True, whether an entry is missing."""
    cell = cast(Choices, term.reading).listed()
    nothing = np.zeros(term.values.shape[1])
    each = (term.values[cell[whether]] if whether in cell else nothing for whether in (False, True))
    return Gap(term.columns, np.stack(list(each)))


def _one_of(cell: Array, often: Array, cells: Array, rng: np.random.Generator) -> Array:
    """One of the values (n,) whose cell (v,) is each of some cells (n,), by their weights (v,); -1 for none."""
    u = rng.random(len(cells))
    if not len(cell):
        return np.full(len(cells), -1)
    order, size = np.argsort(cell, kind="stable"), int(cell.max()) + 1
    often = np.where(np.bincount(cell, often, size)[cell] > 0, often, 1.0)  # those of a cell without weight are alike
    upto, ends = np.cumsum(often[order]), np.cumsum(np.bincount(cell, minlength=size))
    least = np.append(0.0, upto[ends - 1])[cells]
    at = np.searchsorted(upto, least + u * (upto[ends[cells] - 1] - least), side="right")
    return np.where(cells < 0, -1, order[np.minimum(at, ends[cells] - 1)])


def one_cell(categories: Array, why: LeftOut | None = None) -> Pool:
    """All values in one cell."""
    n = len(categories)
    return Pool(np.array([RARE], dtype=object)[:n], np.zeros(n, dtype=int), left_out=why)


def pooled(features: CategoricalFeatures, pools: Sequence[Pool]) -> PooledFeatures:
    """Features with other cells; those that have been pooled before stay as they are."""
    if isinstance(features, PooledFeatures):
        return features
    cells, cell = tuple(pool.cells for pool in pools), tuple(pool.cell for pool in pools)
    return PooledFeatures(features.width, features.names, cells, values=features.categories, cell=cell)


def _identifies(categories: Array, table: Array) -> bool:
    """Whether nearly every row has a text of its own."""
    if categories.dtype.kind not in "OUT" or not len(categories) or not isinstance(categories[0], str):
        return False
    rows = rows_of(table).sum()
    return bool(rows >= FEW and len(categories) > UNIQUE * rows)


def _log_evidence(table: Array) -> float:
    """log p(table) of the counts of one column (k, r), under a Dirichlet prior of 1 a cell."""
    r = table.shape[1]
    return float(table_evidence(table, np.full(r, 1.0 / r), np.zeros(r, dtype=int), float(r)).sum())
