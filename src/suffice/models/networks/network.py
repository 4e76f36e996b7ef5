"""Discrete Bayesian-network classifiers: tables of columns given the class and their parents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Annotated, Any, ClassVar, NamedTuple, Self, cast

import numpy as np

from suffice._core.features import CategoricalFeatures, Domain, Encoded, Features
from suffice._core.kinds import LeftOut
from suffice._core.labels import OneHot, dense, show
from suffice._core.vector import Array
from suffice._runtime.messages import Notice, join_words
from suffice.data.queries import DatabaseRows
from suffice.encoders.table import BlockFeatures, BlockValues
from suffice.models.base import Attempt, ColumnSummary
from suffice.models.natural import LogTables, project_log
from suffice.models.networks import compiled as _kernels
from suffice.models.networks.families import Drawn, Families, FamilyFeatures
from suffice.models.overview import Overview, Summary
from suffice.models.statistics import Statistics
from suffice.models.tables.binned import Binned
from suffice.models.tables.categorical import LOG_ZERO, Categorical, Counts, Tables, impossible, scored
from suffice.models.terms import Cells, Map, Nomogram, Term, Terms, keys_of
from suffice.priors import Dirichlet
from suffice.priors.evidence import greatest, table_evidence

CHAIN_WEIGHTS = 2.0 ** np.arange(-2, 13)  # the A that are tried: 1/4, ..., 4096 rows
UNSEEN = 0.5  # rows added to every category in the shares of all classes, so that none is zero


class TableView(NamedTuple):
    """A table of a column given its first parents: its place, and its shape."""

    column: int
    order: int
    cells: slice  # among those of all columns
    length: int  # categories of the column, r
    width: int  # configurations of the parents, q

    def of(self, values: Array) -> Array:
        """The table (k, r, q) in values of all cells (k, cells), as a view."""
        return values[:, self.cells].reshape(len(values), self.length, self.width)


def views(features: FamilyFeatures) -> Iterator[TableView]:
    """The tables of all columns, those of fewer parents first."""
    for j, start in enumerate(features.starts[:-1].tolist()):
        for order, width in enumerate(features.widths(j)):
            length = int(features.lengths[j])
            yield TableView(j, order, slice(start, start + length * width), length, width)
            start += length * width


def margins(features: FamilyFeatures, table: Array) -> Array:
    """The counts of the tables of all orders (k, cells): a row counts in that of its own order, and in all below."""
    out = table.copy()
    each = list(views(features))
    for above, one in zip(reversed(each[:-1]), reversed(each[1:]), strict=True):
        if one.order:
            target = above.of(out)
            target += one.of(out).reshape(*target.shape, -1).sum(axis=3)
    return out


@dataclass(frozen=True, eq=False, repr=False)
class FamilyCounts(Counts):
    """Sums of weights by class and cell of families: a row counts in the table of its highest order."""

    def impossible(self, before: Self, domain: Domain, mass: Array) -> str | None:  # noqa: ARG002 - counts are exact
        features = _of(domain)

        def value(j: int, cell: int) -> str:
            one = features.own(np.where(np.arange(features.width) == j, cell, -1)[None].astype(np.int32))[0, j]
            return show(features.categories[j][one])

        return impossible(self.table, features.starts, value, domain, mass)

    def overview(self, domain: Domain, mass: Array) -> Overview:  # noqa: ARG002 - columns have counts of their own
        features = _of(domain)
        alone = [one.of(margins(features, self.table))[:, :, 0] for one in views(features) if not one.order]

        def column(j: int) -> Summary:
            values, table = features.categories[j], alone[j]
            return Summary(table.sum(axis=1), None, None, values, table, True)

        return Overview.each(features, column)


@dataclass(frozen=True, eq=False)
class Chain:
    """Smoothing of every table towards that without the last parent, down to the shares of all classes together.

        p_l(v | y, u) = (n(v, y, u) + A_l p_(l-1)(v | y, u without the last)) / (n(y, u) + A_l),     u = u_1 ... u_l

    A_l is one for each column and order. With `lower=False` all tables are smoothed towards the base.
    """

    weight: Annotated[Array, "m o"]  # A of each column and order
    base: Annotated[Array, "b"]  # p_(-1) of the categories of each column, side by side
    lower: bool = True

    @classmethod
    def of(cls, features: FamilyFeatures, table: Array, prior: Dirichlet | None) -> Chain:
        """From counts of the cells (k, cells); the A of greatest evidence, if the prior has that."""
        counts = np.maximum(margins(features, table), 0.0)
        lower = prior is not None and prior.base == "marginal"
        bases = [np.full(n, 1.0 / max(1, n)) for n in features.lengths.tolist()]
        if lower:
            seen = [one.of(counts)[:, :, 0].sum(axis=0) + UNSEEN for one in views(features) if not one.order]
            bases = [one / one.sum() for one in seen]
        base = np.concatenate([np.zeros(0), *bases])
        chain = cls(np.zeros((features.width, features.links.shape[1] + 1)), base, lower)
        if prior is None:
            return chain
        if prior.weight != "evidence":
            sizes = features.lengths[:, None]
            each = prior.cell(sizes) * sizes
            return replace(chain, weight=np.broadcast_to(each, chain.weight.shape).copy())
        for one, share, p in chain.tables(features, counts):
            owner = np.tile(np.arange(one.width), one.length)
            flat = one.of(counts).reshape(len(counts), -1), share.reshape(len(counts), -1)
            evidence = table_evidence(*flat, owner, CHAIN_WEIGHTS).sum(axis=1)
            chain.weight[one.column, one.order] = CHAIN_WEIGHTS[greatest(evidence)]
            p[:] = chain.smoothed(one, one.of(counts), share)
        return chain

    def tables(self, features: FamilyFeatures, counts: Array) -> Iterator[tuple[TableView, Array, Array]]:
        """Each table with its share p_(l-1), and the place (k, r, q) of its p, to be filled in before the next."""
        p = np.zeros((len(counts), 0, 0))
        begins = np.append(0, np.cumsum(features.lengths))
        for one in views(features):
            base = self.base[begins[one.column] : begins[one.column + 1], None]
            shape = (len(counts), one.length, one.width)
            below = np.repeat(p, one.width // p.shape[2], axis=2) if one.order and self.lower else base
            p = np.empty(shape)
            yield one, np.broadcast_to(below, shape), p

    def smoothed(self, one: TableView, counts: Array, share: Array) -> Array:
        """p_l (k, r, q) of a table, from its counts; a negative count with its share is none."""
        A = self.weight[one.column, one.order]
        whole = counts.sum(axis=1, keepdims=True) + A
        inside = np.maximum(counts + A * share, 0.0)
        return np.where(whole > 0, inside / np.where(whole > 0, whole, 1.0), share)

    def probability(self, features: FamilyFeatures, table: Array) -> Array:
        """p of every cell (k, cells), from counts of the cells (k, cells)."""
        counts, out = margins(features, table), np.empty(table.shape)
        for one, share, p in self.tables(features, counts):
            p[:] = self.smoothed(one, one.of(counts), share)
            one.of(out)[:] = p
        return out


@dataclass(frozen=True, eq=False)
class Network(Categorical):
    """p(x, y) = p(y) prod_j p(x_j | y, parents of x_j), with a table for each column (see `Chain`).

    A column has tables of all orders: with none of its parents, the first, the first two, and so on. A row that lacks
    an entry uses, for its children, the tables without it; in a tree the sum over its values takes their place.
    """

    of_table: ClassVar[bool] = True

    prior: Dirichlet | None = field(default_factory=lambda: Dirichlet("evidence", base="marginal"))
    chain: Chain | None = field(default=None, kw_only=True)  # once resolved

    def resolve(self, s: Statistics[Counts]) -> Self:
        return replace(self, domain=s.domain, chain=Chain.of(_of(s.domain), s.sums.table, self.prior))

    def _chain(self) -> Chain:
        if self.chain is None:
            raise ValueError("the tables have no weights yet: resolve the model first")
        return self.chain

    @property
    def orders(self) -> int:
        """The number of orders of a resolved model: that of parents, and one more."""
        return int(self._chain().weight.shape[1])

    def notices(self) -> tuple[Notice, ...]:
        notes = self.encoder.graph.notes if isinstance(self.encoder, Families) else ()
        return tuple(Notice(note) for note in notes)

    def sums(self, X: Encoded, W: OneHot | Array, domain: Domain) -> Counts:
        return FamilyCounts(super().sums(X, W, domain).table)

    @property
    def statistics_key(self) -> object | None:
        return FamilyCounts

    def sql_statistics(self, rows: DatabaseRows, features: Features | None) -> tuple[Features, Any]:
        known = self._sql_features(rows) if features is None else cast(FamilyFeatures, features)
        at, tables = cast(Families, self.encoder).graph.columns, list(views(known))
        sides = [(one.column, *known.parents[one.column][: one.order]) for one in tables]
        asked = rows.joint_weights([([known.reading(j) for j in some], [at[j] for j in some]) for some in sides])
        counts = np.zeros((len(rows.classes), int(known.starts[-1])))
        for one, joint in zip(tables, asked, strict=True):
            one.of(counts)[:] = joint.reshape(len(joint), one.length, one.width)
        # These are margins: rows that have a further parent count in the table of the next order.
        for below, one in pairwise(tables):
            if one.order:
                further = one.of(counts).reshape(len(counts), below.length, below.width, -1)
                target = below.of(counts)
                target -= further.sum(axis=3)
        return known, FamilyCounts(counts)

    def _sql_features(self, rows: DatabaseRows) -> FamilyFeatures:
        """The families of the columns of a database, with all categories that its rows have."""
        graph, blocks = cast(Families, self.encoder).graph, cast(BlockFeatures, rows.features)
        place = {j: at for at, j in enumerate(graph.columns)}
        found: dict[int, Array] = {}
        for name, at in blocks.at.items():
            own: Any = graph.bins.get(name) or Categorical().sql_statistics(rows.block(name), None)[0]
            found |= {place[j]: cells for j, cells in zip(at.tolist(), own.categories, strict=True) if j in place}
        numeric = {place[j] for name in graph.bins for j in blocks.at[name].tolist() if j in place}
        names = np.array(cast(Families, self.encoder).inputs(blocks).keys, dtype=object)[list(graph.columns)]
        m = len(place)
        columns = CategoricalFeatures(m, names, tuple(found[j] for j in range(m)))
        return FamilyFeatures.of(columns, graph.parents, tuple(j in numeric for j in range(m)))

    @property
    def prior_rows(self) -> float:
        """The median over columns of the weight of their table of the lowest order."""
        return 0.0 if self.chain is None or not len(self.chain.weight) else float(np.median(self.chain.weight[:, 0]))

    @property
    def display_name(self) -> str:
        return str(getattr(self.encoder, "who", type(self).__name__))

    def attempt(self, s: Statistics[Counts]) -> Attempt[Counts, Tables]:
        """A cell is valid where its count is not negative: then all tables have parameters, those of any order."""
        p = self._chain().probability(_of(s.domain), s.sums.table)
        log_p = np.log(p, out=np.full(p.shape, LOG_ZERO), where=p > 0)
        valid = replace(s, mass=s.mass > 0, sums=FamilyCounts(s.sums.table >= 0))
        return Attempt(Tables(s.domain, self.class_log_prob(s), log_p.T.copy()), valid)

    def log_likelihood(self, target: Statistics[Counts], best: Tables, theta: Tables) -> float:
        """log p(X, Y) of the rows and, for every table, of A pseudo-rows with the shares that it is smoothed towards.

        Only the tables of the highest order have rows of their own if none is missing; to the others, which `best` has
        from their margins, the pseudo-rows are those of `best` itself.
        """
        chain, features = self._chain(), _of(target.domain)
        table = target.sums.table.copy()
        p = np.exp(best.log_probability.T)
        for one, share, mine in chain.tables(features, table):
            mine[:] = one.of(p)
            highest = one.order == len(features.parents[one.column])
            part = one.of(table)
            part += chain.weight[one.column, one.order] * (share if highest else mine)
        return float((table * theta.log_probability.T).sum()) + self.class_log_likelihood(target, best, theta)

    def feasible(self, eta: LogTables, start: LogTables) -> LogTables:
        """Project the exponentials of every table onto the simplex."""
        cells = eta.cells.T.copy()
        for one in views(_of(self.resolved_domain)):
            table = one.of(cells).transpose(0, 2, 1)
            one.of(cells)[:] = project_log(table.reshape(-1, one.length)).reshape(table.shape).transpose(0, 2, 1)
        intercept = start.intercept if self.classes_given else project_log(eta.intercept[None])[0]
        return LogTables(intercept, cells.T.copy())

    # Scores

    def log_density(self, X: Encoded, theta: Tables) -> Array:
        features = _of(theta.domain)
        codes = features.read(X)
        out = scored(Encoded(features, codes), features, theta.log_probability)
        own, hidden = _hidden(features, codes)
        if len(hidden):
            out[hidden] = self._summed_out(own, theta.log_probability, None, np.zeros((0, 0)))
        return out

    def _summed_out(self, own: Array, log_p: Array, counts: Array | None, gone: Array) -> Array:
        """log p(x | y) of rows (n, k), summed over the values of missing entries in a tree.

        By the counts (k, cells) without the rows' own weights (n, k), if there are counts.
        """
        features, chain = _of(self.resolved_domain), self._chain()
        parent = np.array([up[0] if up else -1 for up in features.parents], dtype=np.int64)
        tables = _Tables.of(features, np.zeros((log_p.shape[1], 0)) if counts is None else counts)
        begins = np.append(0, np.cumsum(features.lengths))
        shape = own, parent, features.order, features.lengths, features.starts
        sums = tables.counts, tables.starts, tables.totals, chain.weight, chain.lower, chain.base, begins
        kernel: Any = _kernels.tree_log_density
        return np.asarray(kernel(*shape, log_p, *sums, gone))

    def orders_without(self, X: Encoded, Y: OneHot | Array, s: Statistics[Counts]) -> Array:
        """log p(x_ij | y, first parents) without row i (n, k, m, orders), of each order; 0 for a missing entry."""
        features, chain = _of(s.domain), self._chain()
        tables, begins = _Tables.of(features, s.sums.table), np.append(0, np.cumsum(features.lengths))
        shape = features.links, features.lengths, features.starts
        sums = tables.counts, tables.starts, tables.totals, chain.weight, chain.lower, chain.base, begins
        codes = np.ascontiguousarray(features.read(X))
        kernel: Any = _kernels.chain_without
        return np.asarray(kernel(codes, *shape, *sums, np.asarray(dense(Y), dtype=float)))

    def log_density_by_column_without(
        self, X: Encoded, Y: OneHot | Array, theta: Tables, s: Statistics[Counts]
    ) -> Array:
        found = self.orders_without(X, Y, s)[..., -1]
        features = _of(s.domain)
        own, hidden = _hidden(features, features.read(X))
        if len(hidden):
            whole = self._summed_out(own, theta.log_probability, s.sums.table, np.asarray(dense(Y), float)[hidden])
            found[hidden] = _beside(found[hidden], whole, own)
        return found

    def log_density_without(self, X: Encoded, Y: OneHot | Array, theta: Tables, s: Statistics[Counts]) -> Array:
        return np.asarray(self.log_density_by_column_without(X, Y, theta, s).sum(axis=2))

    def log_density_by_column(self, X: Encoded, theta: Tables) -> Array:
        found, features = super().log_density_by_column(X, theta), _of(theta.domain)
        own, hidden = _hidden(features, features.read(X))
        if len(hidden):
            whole = self._summed_out(own, theta.log_probability, None, np.zeros((0, 0)))
            found[hidden] = _beside(found[hidden], whole, own)
        return found

    # Rows, terms and formulas

    def sample(self, codes: Array, theta: Tables, rng: np.random.Generator) -> Encoded:
        """Draw the columns one after another, each from its table given the class and its parents."""
        features, k = _of(theta.domain), len(theta.class_log_prob)
        own = np.full((len(codes), features.width), -1, dtype=np.int32)
        last = {one.column: one for one in views(features)}
        for j in features.order.tolist():
            at = codes.astype(np.int64)
            for parent in features.parents[j]:
                at = at * int(features.lengths[parent]) + own[:, parent]
            table = last[j].of(theta.log_probability.T)  # (k, r, q)
            flat = table.transpose(1, 0, 2).reshape(last[j].length, k * last[j].width)
            own[:, j] = _drawn_each(flat, at, rng)
        rows = features.encoded(own)
        if not isinstance(self.encoder, Families):
            return rows
        return Drawn(features, rows.values, self._as_read(own, features, rng))

    def _as_read(self, own: Array, features: FamilyFeatures, rng: np.random.Generator) -> Encoded:
        """The cells of columns (n, m) as rows of the table: a random number of each interval; no entry elsewhere."""
        encoder = cast(Families, self.encoder)
        roles, graph = encoder.inner.roles or (), encoder.graph
        place = {j: at for at, j in enumerate(graph.columns)}
        parts: dict[str, Encoded] = {}
        at: dict[str, Array] = {}
        for name in dict.fromkeys(role.block for role in roles if role.block is not None):
            at[name] = np.array([j for j, role in enumerate(roles) if role.block == name])
            cells = np.column_stack([own[:, place[j]] if j in place else np.full(len(own), -1) for j in at[name]])
            if name in graph.bins:
                bins = Binned(None, domain=Domain(np.zeros(0), graph.bins[name]), extent=graph.extent[name])
                parts[name] = bins.filled(np.maximum(cells, 0), rng)
                parts[name].values[cells < 0] = np.nan
            else:
                known = tuple(features.categories[place[j]] if j in place else np.empty(0) for j in at[name])
                parts[name] = Encoded(CategoricalFeatures(len(known), None, known), cells.astype(np.int32))
        blocks = BlockFeatures(len(roles), None, {name: one.features for name, one in parts.items()}, at)
        return Encoded(blocks, cast(Any, BlockValues({name: one.values for name, one in parts.items()})))

    def density_terms(self, X: Encoded, theta: Tables) -> Terms:
        """A term for each column with its parents."""
        values = self.log_density_by_column(X, theta)
        return Terms(np.zeros(values.shape[1]), self._families(), values)

    def _families(self) -> tuple[Any, ...]:
        """The keys of columns with their parents."""
        features = _of(self.resolved_domain)
        keys = features.keys
        return tuple((keys[j], *(keys[i] for i in up)) if up else keys[j] for j, up in enumerate(features.parents))

    def density_nomogram(self, theta: Tables) -> Nomogram:
        """A table of each column, and a map of what each parent adds; a row that lacks one lacks the map.

        In a tree, too, where the density of the model sums over the values of what is missing.
        """
        return Nomogram(np.zeros(len(theta.class_log_prob)), tuple(self._steps(theta)))

    def _steps(self, theta: Tables) -> Iterator[Term]:
        """For each table, what its logarithms add to those of the table without the last parent."""
        features, keys = _of(theta.domain), keys_of(self)
        readings = [features.reading(j) for j in range(features.width)]
        below = np.zeros((0, 0, 1))
        for one in views(features):
            sides = (one.column, *features.parents[one.column][: one.order])
            table = one.of(theta.log_probability.T)  # (k, r, q)
            if not one.order:
                if one.length > 1:
                    yield Cells((keys[one.column],), readings[one.column], table[:, :, 0].T)
            else:
                added = table - np.repeat(below, one.width // below.shape[2], axis=2)
                shape = [int(features.lengths[j]) for j in sides]
                values = np.moveaxis(added, 0, -1).reshape(*shape, len(table))
                yield Map(tuple(keys[j] for j in sides), tuple(readings[j] for j in sides), values)
            below = table

    def column_summaries(self, s: Statistics[Any]) -> tuple[ColumnSummary, ...]:  # noqa: ARG002 - of the structure
        """How each column of the table is used."""
        features, graph = _of(self.resolved_domain), cast(Families, self.encoder).graph
        found = {j: ColumnSummary(left_out=LeftOut(why)) for j, why in graph.left_out}
        for at, (j, up) in enumerate(zip(graph.columns, features.parents, strict=True)):
            given = f", given {join_words([str(features.keys[i]) for i in up], last=' and ')}" if up else ""
            found[j] = ColumnSummary(f"{features.lengths[at]} cells{given}")
        width = cast(Families, self.encoder).inputs(features).width
        return tuple(found.get(j, ColumnSummary()) for j in range(width))


class _Tables(NamedTuple):
    """Counts of all tables (cells, k), totals of their configurations (q, k), and where these begin (m + 1,)."""

    counts: Array
    totals: Array
    starts: Array

    @classmethod
    def of(cls, features: FamilyFeatures, table: Array) -> _Tables:
        starts = np.append(0, np.cumsum([sum(features.widths(j)) for j in range(features.width)])).astype(np.int64)
        if not table.shape[1]:
            return cls(np.zeros((0, len(table))), np.zeros((0, len(table))), starts)
        counts = margins(features, table)
        totals = [one.of(counts).sum(axis=1) for one in views(features)]
        return cls(counts.T.copy(), np.concatenate(totals, axis=1).T.copy(), starts)


def _hidden(features: FamilyFeatures, codes: Array) -> tuple[Array, Array]:
    """Of a tree, the rows (h,) that lack a parent of an entry, and the cells of their columns alone (h, m)."""
    none = np.zeros((0, features.width), dtype=np.int32), np.zeros(0, dtype=int)
    if not features.tree or (codes >= 0).all():
        return none
    own = features.own(codes)
    parent = features.links[:, 0]
    up = np.where(parent >= 0, own[:, parent], 0)
    rows = np.flatnonzero(((own >= 0) & (up < 0)).any(axis=1))
    return own[rows], rows


def _beside(by_column: Array, whole: Array, own: Array) -> Array:
    """Terms (n, k, m) whose sum is `whole` (n, k): what summing out changes is a part of the first missing column's."""
    rows = np.arange(len(own))
    by_column[rows, :, (own < 0).argmax(axis=1)] += whole - by_column.sum(axis=2)
    return by_column


def _drawn_each(log_p: Array, at: Array, rng: np.random.Generator) -> Array:
    """A category of the table (r, tables) that each row (n,) has."""
    p = np.cumsum(np.exp(log_p), axis=0)
    u = rng.random(len(at)) * p[-1, at]
    out = np.zeros(len(at), dtype=np.int32)
    for level in p[:-1]:
        out += u >= level[at]
    return out


def _of(domain: Domain) -> FamilyFeatures:
    if not isinstance(domain.features, FamilyFeatures):
        raise TypeError("networks are over families of columns: encode them with suffice.models.networks.Families")
    return domain.features
