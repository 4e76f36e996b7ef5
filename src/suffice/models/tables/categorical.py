"""Naive Bayes over categories: one table of counts for each feature and class."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, NamedTuple, Self, cast

import numpy as np

from suffice._core.features import CategoricalFeatures, Domain, Encoded, Features
from suffice._core.formula import Choices
from suffice._core.kinds import LeftOut
from suffice._core.labels import OneHot, dense, positions, show, unite
from suffice._core.vector import Array
from suffice._runtime.messages import Notice
from suffice.data.queries import DatabaseRows
from suffice.encoders import Categories, Encoder
from suffice.encoders.categories import coded
from suffice.encoders.trees.partitions import LeafFeatures, TreePartitions
from suffice.models.base import (
    AnyStatistics,
    Attempt,
    ColumnSummary,
    Density,
    Joint,
    Natural,
    Removable,
    Samplable,
    SqlSummable,
    Tabular,
    drawn,
)
from suffice.models.natural import LogTables, project_log
from suffice.models.overview import Overview, Summary
from suffice.models.statistics import Statistics, Sums, grouped
from suffice.models.tables import compiled as _kernels
from suffice.models.terms import Additive, Cells, Gap, Nomogram, NoNomogramError, Terms, keys_of, tables
from suffice.priors import Dirichlet
from suffice.priors.evidence import table_evidence


def counted(X: Encoded, features: CategoricalFeatures, W: OneHot | Array) -> Array:
    """sum_i W_ic 1(code of x_ij is v) for every cell of the features: (k, cells); entries without a code are skipped.

    Rows are counted in the cells of their own categories, which are then added up to the cells of the features.
    """
    codes, starts, cells = features.own_cells(X)
    table = sums_by_code(codes, starts, W)
    return table if cells is None else grouped(table.T, cells, int(features.starts[-1])).T


def sums_by_code(codes: Array, starts: Array, W: OneHot | Array) -> Array:
    """sum_i W_ic 1(codes_ij is v) for every cell starts_j + v: (k, cells); entries of code -1 are skipped."""
    if isinstance(W, OneHot):
        return np.asarray(_kernels.table_counts(codes, starts, W.codes, W.weight, len(W.classes)))
    table = _kernels.table_sums(codes, starts, np.ascontiguousarray(W))
    return np.asarray(table[:, : W.shape[1]].T)


def scored(X: Encoded, features: CategoricalFeatures, terms: Array) -> Array:
    """sum_j terms[cell of x_ij] (n, k), where terms are (cells, k); entries without a code add nothing."""
    codes, starts, cells = features.own_cells(X)
    k = terms.shape[1]
    known = np.zeros((len(terms) + 1, -(-k // 4) * 4))  # the last row is for unknown categories
    known[:-1, :k] = terms
    return np.asarray(_kernels.table_log_density(codes, starts, known if cells is None else known[cells], k))


def moved(table: Array, at: Array, size: int) -> Array:
    """Add cells (k, cells) up to other cells: cell v to `at[v]` of `size` cells.

    >>> moved(np.array([[1.0, 2.0, 4.0]]), np.array([0, 2, 2]), 3)
    array([[1., 0., 6.]])
    """
    out = np.zeros((len(table), size))
    for c, row in enumerate(table):
        out[c] = np.bincount(at, row, size)
    return out


def rows_of(table: Array) -> Array:
    """Estimate the numbers of rows behind weights by class and cell (k, m).

    Weights are divided by that of the class's lightest cell, unless it is a whole number. So the result is the same
    under class weights and under weights that sum to one, and weight 2 is the row twice.
    """
    lightest = np.min(np.where(table > 0, table, np.inf), axis=1, initial=np.inf)
    unit = np.where(np.isfinite(lightest) & (lightest != np.rint(lightest)), lightest, 1.0)
    return np.asarray(table / unit[:, None])


def by_feature(starts: Array, cells: Array) -> Array:
    """The sum of each feature's cells, (k, cells) -> (k, d); a feature may have no cells."""
    out, some = np.zeros((len(cells), len(starts) - 1)), starts[1:] > starts[:-1]
    out[:, some] = np.add.reduceat(cells, starts[:-1][some], axis=1) if some.any() else 0.0
    return out


def impossible(
    table: Array, starts: Array, value: Callable[[int, int], str], domain: Domain, mass: Array
) -> str | None:
    """Why no rows of these masses can have this table, or None. `value` names a cell: (feature, cell) -> text."""
    if (table < 0).any():
        c, cell = np.argwhere(table < 0)[0].tolist()
        j = int(np.searchsorted(starts, cell, side="right")) - 1
        who = f"{domain.label(c)} would keep less than no rows with {value(j, cell - int(starts[j]))}"
        return f"{who} in {domain.name(j)}: these rows were not all learned"
    over = by_feature(starts, table) > mass[:, None] * (1 + 1e-6)
    if over.any():
        c, j = np.argwhere(over)[0].tolist()
        who = f"{domain.label(c)} would keep more values than rows in {domain.name(j)}"
        return f"{who}: these rows were not all learned"
    return None


class Own(NamedTuple):
    """The class of each row (n,), and what it counts there (n, 1); 0 for a row without a class."""

    codes: Array
    weight: Array

    @classmethod
    def of(cls, Y: OneHot) -> Own:
        """Of labels and weights."""
        known = Y.codes >= 0
        return cls(np.where(known, Y.codes, 0), np.where(known, Y.weight, 0.0)[:, None])


def columns_without(terms: Callable[[Own], Array], whole: Array, Y: OneHot | Array) -> Array:
    """Terms by column (n, k, d) of which those of every class that a row counts in are taken without the row.

    `whole` are the terms with it, `terms` those (n, d) of one class a row, without it.
    """
    if isinstance(Y, OneHot):
        own = Own.of(Y)
        whole[np.arange(len(whole)), own.codes] = terms(own)
        return whole
    for c in range(whole.shape[1]):
        whole[:, c] = terms(Own(np.full(len(whole), c), Y[:, c : c + 1]))
    return whole


# A column of numbers with fractions, or of dates, is better put in bins if it has ...
MIN_CATEGORIES_SCATTERED = 32  # more categories than this
MAX_ROWS_SCATTERED = 10  # and fewer rows for each category than this
LOG_ZERO = -1e9  # log of a probability that maximum likelihood puts at zero: finite, but below any sum of others


@dataclass(frozen=True, eq=False, repr=False)
class Counts(Sums):
    """Sums of weights by class and category: the tables of all features side by side.

    table_(c, j, v) = sum_i W_ic 1(x_ij = v)

    >>> X = Categories()([["u"], ["v"], ["u"]])
    >>> Categorical().statistics(X, OneHot.of(np.array([0, 0, 1]))).sums.table
    array([[1., 1.],
           [1., 0.]])
    """

    counts: ClassVar = ("table",)

    table: Annotated[Array, "k c"]

    def onto(self, old: Domain, new: Domain) -> Self:
        at, size = positions(old.classes, new.classes), len(new.classes)
        before, after = _of(old), _of(new)
        table = self.table
        if before is not after:
            table = grouped(table.T, before.cells(after), int(after.starts[-1])).T
        return replace(self, table=grouped(table, at, size))

    def impossible(self, before: Self, domain: Domain, mass: Array) -> str | None:  # noqa: ARG002 - counts are exact
        features = _of(domain)
        return impossible(self.table, features.starts, lambda j, v: show(features.categories[j][v]), domain, mass)

    def overview(self, domain: Domain, mass: Array) -> Overview:  # noqa: ARG002 - columns have counts of their own
        features = _of(domain)
        tables = np.split(self.table, features.starts[1:-1], axis=1)

        def column(j: int) -> Summary:
            return Summary(tables[j].sum(axis=1), None, None, features.categories[j], tables[j], True)

        return Overview.each(features, column)

    def pruned(self, features: Features) -> tuple[Features, Self]:
        """Drop the categories that no row has any more, unless they were declared."""
        if not isinstance(features, CategoricalFeatures):
            raise TypeError("counts are of categories")
        if features.closed:
            return features, self
        kept = features.seen(np.asarray((self.table > 0).any(axis=0)))
        return kept, replace(self, table=self.table[:, kept.cells(features)])


@dataclass(frozen=True, eq=False)
class Tables:
    """Parameters: log p(y) (k,), and log p(x_j = v | y) for every category of every feature (cells, k)."""

    domain: Domain
    class_log_prob: Annotated[Array, "inf k"]
    log_probability: Annotated[Array, "inf c k"]

    def tempered(self, weight: Array) -> Self:
        """Multiply all logarithms by the weight of their column (d,)."""
        each = np.repeat(weight, _of(self.domain).sizes)[:, None]
        return replace(self, log_probability=each * self.log_probability)


class ColumnTables:
    """What models with a table for each column share: rows look up the terms of their cells."""

    def sums(self, X: Encoded, W: OneHot | Array, domain: Domain) -> Counts:
        return Counts(counted(X, _of(domain), W))

    def log_density(self, X: Encoded, theta: Tables) -> Array:
        return scored(X, _of(theta.domain), theta.log_probability)

    def log_density_by_column(self, X: Encoded, theta: Tables) -> Array:
        features = _of(theta.domain)
        return np.asarray(_kernels.table_terms(features.read(X), features.starts, theta.log_probability))

    def log_density_by_column_without(
        self, X: Encoded, Y: OneHot | Array, theta: Tables, s: Statistics[Counts]
    ) -> Array:
        return columns_without(lambda own: self._own_without(X, own, s), self.log_density_by_column(X, theta), Y)

    def log_density_without(self, X: Encoded, Y: OneHot | Array, theta: Tables, s: Statistics[Counts]) -> Array:
        return np.asarray(self.log_density_by_column_without(X, Y, theta, s).sum(axis=2))

    @abstractmethod
    def _own_without(self, X: Encoded, own: Own, s: Statistics[Counts]) -> Array:
        """The terms of each row's own class without the row (n, d)."""

    def tempered(self, theta: Tables, weight: Array) -> Tables:
        return theta.tempered(weight)


@dataclass(frozen=True, eq=False)
class Categorical(
    ColumnTables,
    Density[Counts, Tables],
    Joint[Counts, Tables],
    Natural[Counts, Tables, LogTables],
    Removable[Counts, Tables],
    Additive[Counts, Tables],
    Samplable[Tables],
    SqlSummable[Counts],
    Tabular,
):
    """p(x, y) = p(y) prod_j p(x_j | y), with a table for each p(x_j | y) (rc1, II-C and appendix B).

    An entry without a code (missing, or an unknown category) leaves its feature out of the product. Under maximum
    likelihood a category that a class never had has probability zero.
    """

    prior: Dirichlet | None = None
    believed: Annotated[Array | None, "nonneg k c|1 c"] = field(default=None, kw_only=True)  # the prior's pseudo-counts
    encoder: Encoder = field(default=Categories(), kw_only=True)
    scattered: tuple[int, ...] = field(default=(), kw_only=True)  # columns that look like measurements

    def resolve(self, s: Statistics[Counts]) -> Self:
        return replace(self, domain=s.domain, believed=self._pseudo(s), scattered=_scattered(s))

    def notices(self) -> tuple[Notice, ...]:
        if not self.scattered:
            return ()
        columns = self.resolved_domain.features.listed(np.array(self.scattered))
        return (
            Notice(
                f"numbers with fractions, or dates, with fewer than {MAX_ROWS_SCATTERED} rows a value were taken as "
                f"categories: {columns}. A value that was never learned says nothing; put these columns in bins first "
                "(suffice.features.Bins), or use NaiveBayes, which does that by itself"
            ),
        )

    @property
    def statistics_key(self) -> object | None:
        return Counts

    def sql_statistics(self, rows: DatabaseRows, features: Features | None) -> tuple[Features, Any]:
        if features is not None:
            known = cast(CategoricalFeatures, features)
            tables = zip(rows.cell_weights([known.reading(j) for j in range(known.width)]), known.sizes, strict=True)
            wide = [np.pad(table, ((0, 0), (0, size - table.shape[1]))) for table, size in tables]
            return features, Counts(np.concatenate(wide, axis=1))
        each = rows.counts()
        found = [coded([values]) for values, _ in each]
        kept = [cast(CategoricalFeatures, one.features).categories[0] for one in found]
        parts = [moved(table, one.values[:, 0], len(of)) for one, (_, table), of in zip(found, each, kept, strict=True)]
        names = rows.features.names
        return CategoricalFeatures(len(kept), names, tuple(kept)), Counts(np.concatenate(parts, axis=1))

    @property
    def prior_rows(self) -> float:
        """The median over columns."""
        if self.believed is None or self.domain is None or not self.domain.width:
            return 0.0
        return float(np.median(by_feature(_of(self.domain).starts, self.believed)))

    def _pseudo(self, s: Statistics[Counts]) -> Array:
        """The prior's pseudo-counts (1 or k, cells)."""
        features = _of(s.domain)
        if self.prior is None:
            return np.zeros((1, int(features.starts[-1])))
        return self.prior.resolve(features, s.domain.classes, s.sums.table)

    def of_columns(self, features: Features, at: Array, names: Array) -> Self:
        return self if self.prior is None else replace(self, prior=self.prior.within(features, at, names))

    def with_pseudo_counts(self, s: AnyStatistics) -> Self:
        """The model, whose cells are known, with the prior's pseudo-counts for statistics as they were summed."""
        return replace(self, believed=self._pseudo(self.restrict(s)))

    def _smoothed(self, s: Statistics[Counts]) -> tuple[Array, Array]:
        """Counts with the prior's pseudo-counts (k, cells), and their sum over each feature's table (k, d)."""
        counts = s.sums.table + (self._pseudo(s) if self.believed is None else self.believed)
        return counts, by_feature(_of(s.domain).starts, counts)

    def attempt(self, s: Statistics[Counts]) -> Attempt[Counts, Tables]:
        """A table is valid where none of its smoothed counts is negative and their sum is positive."""
        features = _of(s.domain)
        sizes = features.sizes
        counts, total = self._smoothed(s)
        bad = by_feature(features.starts, (counts < 0).astype(float)) > 0
        valid = replace(s, mass=s.mass > 0, sums=Counts(np.repeat(~bad & (total > 0), sizes, axis=1)))
        empty = np.repeat(total <= 0, sizes, axis=1)  # an empty table is uniform
        p = np.where(
            empty, 1.0 / np.repeat(sizes, sizes), counts / np.repeat(np.where(total > 0, total, 1), sizes, axis=1)
        )
        log_p = np.log(p, out=np.full(p.shape, LOG_ZERO), where=p > 0)
        return Attempt(Tables(s.domain, self.class_log_prob(s), log_p.T.copy()), valid)

    def log_likelihood(self, target: Statistics[Counts], best: Tables, theta: Tables) -> float:
        """log p(X, Y) of the rows and of the prior's pseudo-rows."""
        counts, _ = self._smoothed(target)
        return float((counts * theta.log_probability.T).sum()) + self.class_log_likelihood(target, best, theta)

    def natural(self, theta: Tables) -> LogTables:
        """The logarithms themselves."""
        return LogTables(theta.class_log_prob, theta.log_probability)

    def from_natural(self, eta: LogTables) -> Tables:
        """Tables, normalised or not."""
        return Tables(self.resolved_domain, eta.intercept, eta.cells)

    def gradient(self, s: Statistics[Counts], eta: LogTables) -> LogTables:  # noqa: ARG002 - linear in the logarithms
        """Minus the gradient of the log loss, which is S(X, Y - P) itself."""
        return LogTables(s.mass * (not self.classes_given), s.sums.table.T)

    def feasible(self, eta: LogTables, start: LogTables) -> LogTables:
        """Project the exponentials of every table onto the simplex."""
        at = _of(self.resolved_domain).starts
        tables = [project_log(part.T).T for part in np.split(eta.cells, at[1:-1]) if len(part)]
        intercept = start.intercept if self.classes_given else project_log(eta.intercept[None])[0]
        return LogTables(intercept, np.concatenate(tables))

    def support(self) -> Encoded:
        features = _of(self.resolved_domain)
        return Encoded(features, np.arange(features.starts[-1], dtype=np.int32)[:, None])

    def log_density_without(self, X: Encoded, Y: OneHot | Array, theta: Tables, s: Statistics[Counts]) -> Array:
        """The counts of a class lose the weight of the row in that class."""
        features = _of(theta.domain)
        counts, total = (np.ascontiguousarray(part.T) for part in self._smoothed(s))
        codes, starts = features.read(X), features.starts
        return np.asarray(_kernels.table_log_density_without(codes, starts, dense(Y), counts, total, LOG_ZERO))

    def _own_without(self, X: Encoded, own: Own, s: Statistics[Counts]) -> Array:
        """log p(x_ij | y_i) without row i (n, d)."""
        features = _of(s.domain)
        labels = own.codes, own.weight[:, 0]
        terms = _kernels.table_terms_without(features.read(X), features.starts, *labels, *self._smoothed(s), LOG_ZERO)
        return np.asarray(terms)

    def sample(self, codes: Array, theta: Tables, rng: np.random.Generator) -> Encoded:
        tables = np.split(theta.log_probability, _of(theta.domain).starts[1:-1])
        return self.filled(np.column_stack([drawn(table, codes, rng) for table in tables]), rng)

    def filled(self, cells: Array, rng: np.random.Generator) -> Encoded:  # noqa: ARG002 - a category is its cell
        """A random value of each cell (n, d), as the encoder gives values."""
        return Encoded(self.resolved_domain.features, cells.astype(np.int32))

    def density_nomogram(self, theta: Tables) -> Nomogram:
        """A table for each column."""
        return tables(_of(theta.domain), keys_of(self), theta.log_probability)


def _of(domain: Domain) -> CategoricalFeatures:
    if not isinstance(domain.features, CategoricalFeatures):
        raise TypeError("tables are over categories: encode the columns with suffice.encoders.Categories")
    return domain.features


def _scattered(s: Statistics[Counts]) -> tuple[int, ...]:
    """The columns of many numbers with fractions, or of many dates, with few rows for each."""
    features = _of(s.domain)
    rows = by_feature(features.starts, s.sums.table).sum(axis=0)
    many = (features.sizes > MIN_CATEGORIES_SCATTERED) & (features.sizes * MAX_ROWS_SCATTERED > rows)

    def measured(values: Array) -> bool:
        return values.dtype.kind == "M" or (values.dtype.kind == "f" and bool((values != np.rint(values)).any()))

    return tuple(j for j in np.flatnonzero(many).tolist() if measured(features.categories[j]))


@dataclass(frozen=True, eq=False)
class Leaves(Categorical):
    """sum_t log p(leaf_t(x) | y): a table for each tree of `suffice.encoders.TreePartitions`.

    Trees divide the same columns, so that the sum is the score of an expert, not a density. A tree that was grown on a
    row knows its label: without the row, the score is the mean over the trees that have not seen it, times the number
    of trees. The encoder marks the others (`TreePartitions(marks=True)`).
    """

    def log_density_without(self, X: Encoded, Y: OneHot | Array, theta: Tables, s: Statistics[Counts]) -> Array:
        """The score by the trees that have not seen the row, without its weight in their counts."""
        features = cast(LeafFeatures, theta.domain.features)
        counts, total = self._smoothed(s)
        rows = features.marked(X), features.starts, dense(Y)
        return np.asarray(_kernels.leaves_without(*rows, counts, total, theta.log_probability))

    def density_terms(self, X: Encoded, theta: Tables) -> Terms:
        """By the change of log p(node | y) at every split on a row's way to its leaf, for the column that it is of.

        log p(leaf | y) is the sum over the splits of log p(child | y) - log p(node | y), where p(node | y) is the sum
        over the leaves below of p(leaf | y).
        """
        if not isinstance(self.encoder, TreePartitions) or self.encoder.trees is None:
            raise ValueError(
                "the splits of leaves are those of an encoder Partitions: give the model that made the rows"
            )
        leaves = cast(LeafFeatures, theta.domain.features).read(X)
        base, values = self.encoder.trees.steps(leaves, theta.log_probability)
        return Terms(base, self.encoder.keys, values)

    def density_nomogram(self, theta: Tables) -> Nomogram:  # noqa: ARG002 - whatever the parameters
        raise NoNomogramError("trees divide several columns at a time, so that no column has a term of its own")

    def column_summaries(self, s: Statistics[Counts]) -> tuple[ColumnSummary, ...]:
        return (ColumnSummary(),) * s.domain.width


RARE = "(rare)"  # name of the cell of pooled categories
NONE = "(none)"  # name of a cell whose categories are all forgotten
MIN_ROWS_OF_IDENTIFIER = 20  # with fewer rows, distinct values may be chance
MIN_DISTINCT = 0.9  # distinct values for each row, above which text is an identifier


@dataclass(frozen=True, eq=False)
class PooledFeatures(CategoricalFeatures):
    """Columns of categories of which several may share a cell: `categories` are the cells, `values` what is in them."""

    closed: ClassVar[bool] = True

    values: tuple[Array, ...] = ()  # (v_j,) of each column, sorted
    cell: tuple[Array, ...] = ()  # (v_j,) the cell of each

    def reading(self, j: int) -> Choices:
        return Choices(self.values[j], self.cell[j], len(self.categories[j]))

    def named_after(self, seen: Features) -> Self:
        columns = []
        known = cast(CategoricalFeatures, seen).categories
        for names, values, cell, some in zip(self.categories, self.values, self.cell, known, strict=True):
            keep = positions(values, some) >= 0
            called = names.astype(object)
            called[np.setdiff1d(np.arange(len(names)), cell[keep])] = NONE
            columns.append((names, values, cell) if keep.all() else (called, values[keep], cell[keep]))
        return self._of(columns)

    def agrees(self, other: Features) -> bool:
        if not isinstance(other, PooledFeatures) or not np.array_equal(self.sizes, other.sizes):
            return False
        return all(self._agrees(other, j) for j in range(self.width))

    def _agrees(self, other: PooledFeatures, j: int) -> bool:
        """True if common values have the same cells, and cells the same names unless one has lost all its values."""
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
    """The cells of a column: their names, the cell of each value, and why some or all values share one."""

    cells: Array
    cell: Array
    why: str = ""
    left_out: LeftOut | None = None

    def summary(self) -> ColumnSummary:
        """The summary of the column."""
        if len(self.cells) < 2:
            return ColumnSummary(left_out=self.left_out)
        return ColumnSummary(f"{len(self.cells)} cells" + f": {self.why}" * bool(self.why))


@dataclass(frozen=True, eq=False)
class Pooled(Categorical):
    """A `Categorical` whose categories of fewer than `min_frequency` rows share one cell.

    `rows_of` counts rows from weights. The cells are a function of the sums: after fitting in pieces or merging, a
    category that has become frequent has its own cell. A column of one cell has no effect, since p(x_j | y) = 1: a
    constant one, or an identifier, that is, text of which nearly every row has its own value.
    """

    min_frequency: float = 1.0
    identifiers: bool = True
    # weights of the values of all columns
    often: Annotated[Array | None, "v"] = field(default=None, kw_only=True)

    def resolve(self, s: Statistics[Counts]) -> Self:
        features = cast(CategoricalFeatures, s.domain.features)
        often = self.often if isinstance(features, PooledFeatures) else s.sums.table.sum(axis=0)
        domain = replace(s.domain, features=pooled(features, self.pools(s)))
        return replace(self, domain=domain, often=often).with_pseudo_counts(s)

    def restrict(self, s: AnyStatistics) -> Statistics[Counts]:
        if self.domain is None:
            return s
        return s.onto(replace(s.domain, features=self.domain.features))

    def filled(self, cells: Array, rng: np.random.Generator) -> Encoded:
        """A random category of each cell (n, d), by their shares of the cell."""
        pools = cast(PooledFeatures, self.resolved_domain.features)
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
    """A `Pooled` in which only columns take part that tell classes apart, by their evidence.

    A table by class must be more probable than one for all classes, each under a Dirichlet prior of 1 for each cell.
    """

    def pool(self, categories: Array, table: Array) -> Pool:
        apart, alike = _log_evidence(table), _log_evidence(table.sum(axis=0, keepdims=True))
        if apart <= alike:
            return one_cell(categories)
        return Pool(categories, np.arange(len(categories)), "whether it is missing tells classes apart")

    def density_nomogram(self, theta: Tables) -> Nomogram:
        """Of each column, what it adds that an entry is there, or missing."""
        found = super().density_nomogram(theta)
        return replace(found, groups=tuple(_gap(cast(Cells, term)) for term in found.groups))


def _gap(term: Cells) -> Gap:
    """Of a table over False and True, whether an entry is missing."""
    cell = cast(Choices, term.reading).listed()
    nothing = np.zeros(term.values.shape[1])
    each = (term.values[cell[whether]] if whether in cell else nothing for whether in (False, True))
    return Gap(term.columns, np.stack(list(each)))


def _one_of(cell: Array, often: Array, cells: Array, rng: np.random.Generator) -> Array:
    """A random value (n,) of each of some cells (n,), by the values' weights (v,); -1 for cell -1.

    `cell` (v,) is the cell of each value.
    """
    u = rng.random(len(cells))
    if not len(cell):
        return np.full(len(cells), -1)
    order, size = np.argsort(cell, kind="stable"), int(cell.max()) + 1
    often = np.where(np.bincount(cell, often, size)[cell] > 0, often, 1.0)  # uniform in a cell without weight
    upto, ends = np.cumsum(often[order]), np.cumsum(np.bincount(cell, minlength=size))
    least = np.append(0.0, upto[ends - 1])[cells]
    at = np.searchsorted(upto, least + u * (upto[ends[cells] - 1] - least), side="right")
    return np.where(cells < 0, -1, order[np.minimum(at, ends[cells] - 1)])


def one_cell(categories: Array, why: LeftOut | None = None) -> Pool:
    """All values in one cell."""
    n = len(categories)
    return Pool(np.array([RARE], dtype=object)[:n], np.zeros(n, dtype=int), left_out=why)


def pooled(features: CategoricalFeatures, pools: Sequence[Pool]) -> PooledFeatures:
    """Features with the cells of pools; features that are pooled already are returned unchanged."""
    if isinstance(features, PooledFeatures):
        return features
    cells, cell = tuple(pool.cells for pool in pools), tuple(pool.cell for pool in pools)
    return PooledFeatures(features.width, features.names, cells, values=features.categories, cell=cell)


def _identifies(categories: Array, table: Array) -> bool:
    """True if nearly every row has its own text."""
    if categories.dtype.kind not in "OUT" or not len(categories) or not isinstance(categories[0], str):
        return False
    rows = rows_of(table).sum()
    return bool(rows >= MIN_ROWS_OF_IDENTIFIER and len(categories) > MIN_DISTINCT * rows)


def _log_evidence(table: Array) -> float:
    """log p(table) of the counts of one column (k, r), under a Dirichlet prior of 1 for each cell."""
    r = table.shape[1]
    return float(table_evidence(table, np.full(r, 1.0 / r), np.zeros(r, dtype=int), float(r)).sum())
