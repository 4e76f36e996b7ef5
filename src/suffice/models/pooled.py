"""Tables over categories of which some share a cell: rare ones, and all of a column that says nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple, Self, cast

import numpy as np

from suffice._domain import CategoricalFeatures, Encoded
from suffice._labels import positions
from suffice._reading import Choices
from suffice._vector import Array
from suffice.models._base import AnyStatistics
from suffice.models._drawn import Cells, Gap, Nomogram
from suffice.models._statistics import Statistics
from suffice.models._tables import rows_of
from suffice.models.categorical import Categorical, Counts, Tables
from suffice.priors import table_evidence

RARE = "(rare)"  # what the cell of pooled categories is called
FEW = 20  # rows, below which nothing is taken for an identifier
UNIQUE = 0.9  # values a row, at which text is taken for an identifier


@dataclass(frozen=True, eq=False)
class PooledFeatures(CategoricalFeatures):
    """Columns of categories of which several may share a cell: `categories` are the cells, `values` what is in them."""

    closed: ClassVar[bool] = True

    values: tuple[Array, ...] = ()  # (v_j,) of each column, sorted
    cell: tuple[Array, ...] = ()  # (v_j,) the cell of each

    def reading(self, j: int) -> Choices:
        return Choices(self.values[j], self.cell[j])

    def places(self, j: int, values: Array) -> Array:
        at = positions(values, self.values[j], f"the values of {self.name(j)}")
        return np.where(at < 0, -1, self.cell[j][at]) if len(self.cell[j]) else at


class Pool(NamedTuple):
    """The cells of a column: what they are called, and the cell of each value; and why, if some share one."""

    cells: Array
    cell: Array
    why: str = ""

    def words(self) -> str:
        """What became of the column."""
        if len(self.cells) < 2:
            return self.why
        return f"{len(self.cells)} cells" + f": {self.why}" * bool(self.why)


@dataclass(frozen=True, eq=False)
class Pooled(Categorical):
    """A `Categorical` whose categories of fewer than `min_frequency` rows share one cell.

    Rows are told from weights as in `suffice.models._tables.rows_of`.

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

    def account(self, s: Statistics[Counts]) -> tuple[str, ...]:
        return tuple(pool.words() for pool in self.pools(s))

    def pools(self, s: Statistics[Counts]) -> list[Pool]:
        """The cells of every column."""
        features = cast(CategoricalFeatures, s.domain.features)
        tables = np.split(s.sums.table, features.starts[1:-1], axis=1)
        return [self.pool(c, t) for c, t in zip(features.categories, tables, strict=True)]

    def pool(self, categories: Array, table: Array) -> Pool:
        """The cells of one column (r,), from its table (k, r)."""
        rows = rows_of(table).sum(axis=0)
        if self.identifiers and _identifies(categories, table):
            return one_cell(categories, f"left out: an identifier, {len(categories)} values in about as many rows")
        if len(categories) < 2:
            return one_cell(categories, f"left out: it has {'one value only' if len(categories) else 'no values'}")
        rare = rows < self.min_frequency
        if not rare.any():
            return Pool(categories, np.arange(len(categories)))
        if rare.all():
            return one_cell(categories, f"left out: no value has {self.min_frequency:g} rows")
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
            return one_cell(categories, "")
        return Pool(categories, np.arange(len(categories)), "whether it is missing tells classes apart")

    def drawn_density(self, theta: Tables) -> Nomogram:
        """Of each column, what it adds that an entry is there, or missing."""
        found = super().drawn_density(theta)
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


def one_cell(categories: Array, why: str) -> Pool:
    """All values in one cell."""
    return Pool(np.array([RARE], dtype=object)[: len(categories)], np.zeros(len(categories), dtype=int), why)


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
