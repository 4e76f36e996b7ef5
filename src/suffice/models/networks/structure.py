"""Structures of networks from additive sums: spanning trees, k-dependence networks, and graphs that are given."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np

from suffice._core.features import CategoricalFeatures
from suffice._core.formula import Choices, Intervals
from suffice._core.kinds import BINNED, Block
from suffice._core.vector import Array, Vector
from suffice.data import Batch, Data
from suffice.data.queries import DatabaseRows
from suffice.encoders.table import BlockFeatures
from suffice.models.base import AnyStatistics, summed
from suffice.models.compose.blocks import AnyDensity, Product, statistics_of
from suffice.models.networks import compiled as _kernels
from suffice.models.networks.families import ClassWeights, Families, Graph, GraphSearch, Parents, columns_alone, ordered
from suffice.models.tables.binned import BinFeatures, Binned
from suffice.models.tables.categorical import Pooled

MAX_PAIR_NUMBERS = 1 << 25  # counts of pairs that are in memory at a time
MAX_TABLE_NUMBERS = 1 << 22  # of a column given its parents, by class; parents beyond this are left out
MAX_TABLES_NUMBERS = 1 << 26  # of all columns together
NATS = 12  # digits of an information that count: sums that differ only by rounding choose the same graph


@dataclass(frozen=True)
class ColumnSums:
    """S(X, Y) of single columns."""

    model: Product

    def __call__(self, batch: Batch) -> AnyStatistics:
        return self.model.statistics(batch.X, batch.Y)

    def query(self, rows: DatabaseRows) -> AnyStatistics:
        """S(X, Y) of the rows of a database."""
        return summed(self.model, rows)


@dataclass(frozen=True, eq=False, repr=False)
class PairSums(Vector):
    """The weights by class of the cells of pairs of columns, side by side (k, cells)."""

    table: Array


@dataclass(frozen=True, eq=False)
class CountPairs:
    """`PairSums` of a batch: what all searches ask of rows."""

    graph: Graph  # without parents
    columns: CategoricalFeatures  # all categories
    classes: Array
    pairs: Array  # (p, 2)

    def __call__(self, batch: Batch) -> PairSums:
        Y = batch.Y.onto(self.classes)
        codes = self.columns.read(columns_alone(batch.X, self.graph)).astype(np.int32)
        return PairSums(
            _kernels.pair_counts(
                np.ascontiguousarray(codes),
                self.pairs,
                self.starts,
                self.columns.sizes,
                Y.codes,
                Y.weight,
                len(self.classes),
            )
        )

    def query(self, rows: DatabaseRows) -> PairSums:
        """`PairSums` of the rows of a database, by a query for each pair."""
        blocks = cast(BlockFeatures, rows.features).at
        numeric = {j for name in self.graph.bins for j in blocks[name].tolist()}
        each = enumerate(zip(self.graph.columns, self.columns.categories, strict=True))
        read = {i: Intervals(own) if j in numeric else Choices(own, np.arange(len(own))) for i, (j, own) in each}
        groups = [((read[i], read[j]), (self.graph.columns[i], self.graph.columns[j])) for i, j in self.pairs.tolist()]
        tables = rows.onto(self.classes).joint_weights(groups)
        return PairSums(np.concatenate([np.zeros((len(self.classes), 0)), *tables], axis=1))

    @property
    def starts(self) -> Array:
        """The first cell of each pair, and the end of the last (p + 1,)."""
        cells = self.columns.sizes[self.pairs].prod(axis=1)
        return np.append(0, np.cumsum(cells)).astype(np.int64)


class Found(NamedTuple):
    """What a search knows of the rows: columns with their cells, and the information in them and in their pairs."""

    graph: Graph  # without parents
    columns: CategoricalFeatures
    classes: Array
    weight: Array  # (k,) of the classes
    relevance: Array  # (m,) I(x_j; y)

    @property
    def pairs(self) -> Array:
        """All pairs of columns (p, 2)."""
        return np.column_stack(np.triu_indices(self.columns.width, 1)).astype(np.int64)


@dataclass(frozen=True)
class ColumnSearch(GraphSearch):
    """A search among the columns of a table, whose numbers are put in intervals first.

    Parameters
    ----------
    n_bins, strategy, spikes
        As in `suffice.models.Binned`.
    """

    n_bins: int = 8
    strategy: str = "quantile"
    spikes: bool = True

    drops: ClassVar[bool] = True  # whether columns that are constant, or identifiers, take no part

    def graph(self, rows: Data, families: Families, weights: ClassWeights) -> Graph:
        bins = Binned(None, self.strategy, self.n_bins, self.spikes, identifiers=self.drops)
        words = Pooled(None, min_frequency=0.0, identifiers=self.drops)
        parts: dict[str, AnyDensity] = {
            Block.BINS: bins,
            Block.BINS_KEPT: replace(bins, identifiers=False),
            Block.CATEGORY: words,
            Block.CATEGORY_KEPT: replace(words, identifiers=False),
        }
        model = Product.of(parts, encoder=families.inner)
        s = rows.sum(ColumnSums(model))
        weight = weights(s)
        s = s.by_class(weight)
        found = self._found(model.resolve(s), s, weight)
        return self.connected(found, rows, families)

    def _found(self, model: Product, s: AnyStatistics, weight: Array) -> Found:
        """The columns that take part, their cells, and the information of each about the class."""
        blocks = cast(BlockFeatures, s.domain.features)
        summaries = model.column_summaries(s)
        gone = {j: str(one.left_out) for j, one in enumerate(summaries) if self.drops and one.left_out is not None}
        bins: dict[str, BinFeatures] = {}
        extent, categories, names, relevance = {}, {}, {}, {}
        counted = model.restrict(s)
        for name, at in blocks.at.items():
            cells, table = (
                cast(CategoricalFeatures, statistics_of(counted, name).domain.features),
                counted.sums.parts[name].table,
            )
            if name in BINNED:
                bins[name], extent[name] = cast(BinFeatures, cells), model.parts[name].extent
            own = zip(at.tolist(), blocks.keys_of(name), np.split(table, cells.starts[1:-1], axis=1), strict=True)
            for i, (j, key, counts) in enumerate(own):
                # Pools of one cell are columns that are left out, and others have a cell for each category.
                categories[j] = cells.categories[i] if name in bins else cast(Any, blocks.part(name)).categories[i]
                names[j], relevance[j] = key, _information(counts)
        columns = tuple(sorted(j for j in categories if j not in gone))
        graph = Graph(columns, ((),) * len(columns), bins, extent, left_out=tuple(sorted(gone.items())))
        called = np.array([None] * len(columns), dtype=object)
        called[:] = [names[j] for j in columns]
        of = CategoricalFeatures(len(columns), called, tuple(categories[j] for j in columns))
        return Found(graph, of, s.domain.classes, weight, np.array([relevance[j] for j in columns]))

    @abstractmethod
    def connected(self, found: Found, rows: Data, families: Families) -> Graph:
        """The graph with the parents of all columns."""


def _information(counts: Array) -> float:
    """The mutual information of the class with the cells of a column, in nats, from counts (k, r)."""
    n = np.maximum(counts, 0.0)
    total = n.sum()
    if total <= 0:
        return 0.0
    expected = np.outer(n.sum(axis=1), n.sum(axis=0)) / total
    some = n > 0
    return round(max(0.0, float((n[some] * np.log(n[some] / expected[some])).sum() / total)), NATS)


def strengths(found: Found, rows: Data) -> Array:
    """I(x_i; x_j | y) of all pairs of columns (m, m), from as many reads as their counts need to fit into memory."""
    m = found.columns.width
    out, pairs = np.zeros((m, m)), found.pairs
    cells = found.columns.sizes[pairs].prod(axis=1) * len(found.classes)
    group = np.cumsum(cells) // MAX_PAIR_NUMBERS
    for one in np.unique(group):
        some = pairs[group == one]
        f = CountPairs(found.graph, found.columns, found.classes, some)
        counts = rows.sum(f).table * found.weight[:, None]
        information = _kernels.pair_information(counts, some, f.starts, found.columns.sizes)
        out[some[:, 0], some[:, 1]] = out[some[:, 1], some[:, 0]] = np.round(information, NATS)
    return out


def connected(found: Found, parents: Parents, strength: Array) -> Graph:
    """The graph with these parents, and the strengths of its edges from those of all pairs (m, m)."""
    edges = np.array([strength[j, i] for j, up in enumerate(parents) for i in up])
    return replace(found.graph, parents=parents, relevance=found.relevance, strength=edges)


@dataclass(frozen=True)
class SpanningTree(ColumnSearch):
    """The tree of greatest sum of I(x_i; x_j | y) (Chow and Liu), its root the column that tells most about the class.

    Columns without any information in common stay apart.
    """

    def connected(self, found: Found, rows: Data, families: Families) -> Graph:  # noqa: ARG002
        strength = strengths(found, rows)
        return connected(found, spanning_tree(strength, found.relevance), strength)


def spanning_tree(strength: Array, relevance: Array) -> Parents:
    """The parents of columns in the spanning tree of greatest strength (Prim); every root is its most relevant column.

    >>> spanning_tree(np.array([[0, 3, 2], [3, 0, 1], [2, 1, 0.0]]), np.array([0.1, 0.5, 0.2]))
    ((1,), (), (0,))
    """
    m = len(relevance)
    parents: list[tuple[int, ...]] = [()] * m
    left, best, above = np.ones(m, dtype=bool), np.zeros(m), np.full(m, -1)
    for _ in range(m):
        # The strongest edge to a column outside; if there is none, the next tree begins.
        reached = np.where(left, best, -1.0)
        j = int(np.argmax(reached)) if reached.max() > 0 else int(np.argmax(np.where(left, relevance, -1.0)))
        parents[j] = (int(above[j]),) if reached.max() > 0 else ()
        left[j] = False
        closer = left & (strength[j] > best)
        best, above = np.where(closer, strength[j], best), np.where(closer, j, above)
    return tuple(parents)


@dataclass(frozen=True)
class KDependence(ColumnSearch):
    """Columns in the order of I(x_j; y), each with the k before it of greatest I(x_i; x_j | y) as parents (Sahami)."""

    k: int = 2

    def connected(self, found: Found, rows: Data, families: Families) -> Graph:  # noqa: ARG002
        strength = strengths(found, rows)
        return connected(found, k_parents(found, strength, self.k), strength)


def k_parents(found: Found, strength: Array, k: int) -> Parents:
    """At most k parents of each column, the strongest first, as long as its table is not too large."""
    order, lengths = np.argsort(-found.relevance, kind="stable"), found.columns.sizes
    most = min(MAX_TABLE_NUMBERS, MAX_TABLES_NUMBERS // max(1, len(order)))
    parents: list[tuple[int, ...]] = [()] * len(order)
    for at, j in enumerate(order.tolist()):
        before = order[:at]
        own: list[int] = []
        size = int(lengths[j]) * len(found.classes)
        for i in before[np.argsort(-strength[j, before], kind="stable")].tolist():
            if len(own) == k or strength[j, i] <= 0:
                break
            if size * int(lengths[i]) <= most:
                size *= int(lengths[i])
                own.append(i)
        parents[j] = tuple(own)
    return tuple(parents)


@dataclass(frozen=True)
class NoEdges(ColumnSearch):
    """Columns without parents."""

    def connected(self, found: Found, rows: Data, families: Families) -> Graph:  # noqa: ARG002
        m = found.columns.width
        return connected(found, ((),) * m, np.zeros((m, m)))


@dataclass(frozen=True)
class GivenGraph(ColumnSearch):
    """A graph that is given: pairs of a column and its parents, by names or numbers; other columns have no parents."""

    given: tuple[tuple[Any, tuple[Any, ...]], ...] = ()

    drops: ClassVar[bool] = False

    def connected(self, found: Found, rows: Data, families: Families) -> Graph:  # noqa: ARG002
        features = families.inputs(found.columns)
        place = {j: at for at, j in enumerate(found.graph.columns)}
        called = f"{families.who}: structure"

        def at(column: Any) -> int:
            j = features.index(column, called)
            if j not in place:
                raise ValueError(f"{called} has {column!r}, which `columns` leaves out: drop it from one of the two")
            return place[j]

        parents: list[tuple[int, ...]] = [()] * len(place)
        for column, above in self.given:
            parents[at(column)] = tuple(dict.fromkeys(at(one) for one in above))
        try:
            ordered(tuple(parents))
        except ValueError:
            raise ValueError(f"{called} has a cycle, but no column may be its own ancestor") from None
        cells = [found.columns.sizes[[j, *up]].astype(float).prod() for j, up in enumerate(parents)]
        for j in np.flatnonzero(np.array(cells) * len(found.classes) > MAX_TABLE_NUMBERS).tolist():
            raise ValueError(
                f"{called}: {found.columns.name(j)} and its parents have {cells[j]:.3g} cells together, of which there "
                f"may be {MAX_TABLE_NUMBERS // len(found.classes)}: give it fewer parents, or use fewer bins"
            )
        strength = np.zeros((len(place), len(place)))
        return connected(found, tuple(parents), strength)
