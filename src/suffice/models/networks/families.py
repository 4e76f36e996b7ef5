"""Families: each column with its parents, encoded as one column."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Self, cast

import numpy as np

from suffice._core.features import CategoricalFeatures, Encoded, Features
from suffice._core.formula import Choices, Intervals, Reading
from suffice._core.kinds import ColumnContent
from suffice._core.labels import show_all
from suffice._core.vector import Array
from suffice._runtime.lazy import cached_property
from suffice.data import Data
from suffice.data.queries import DatabaseRows
from suffice.encoders.base import Encoder, object_array
from suffice.encoders.table import BlockFeatures, Table, block
from suffice.models.base import AnyStatistics
from suffice.models.networks import compiled as _kernels
from suffice.models.tables.binned import BinFeatures

Parents = tuple[tuple[int, ...], ...]  # of each column, by their places; the last one is dropped first


@dataclass(frozen=True, eq=False)
class FamilyFeatures(CategoricalFeatures):
    """Columns with parents: each has the cells of its tables of all orders, side by side.

    The table of order l is that of the column and its first l parents: cell ((u q_1 + v_1) q_2 + v_2) ... for category
    u of the column and v_i of parent i, of q_i. A row has the cell of the highest order that it has entries for.
    `categories` are those of the columns alone: values, or lower bounds of `intervals`.

    >>> both = CategoricalFeatures(2, categories=(np.array(["u", "v"]), np.array(["a", "b", "c"])))
    >>> features = FamilyFeatures.of(both, ((), (0,)), (False, False))
    >>> features.sizes.tolist()  # 3 cells without the parent, and 3 x 2 with it
    [2, 9]
    >>> features.encoded(np.array([[1, 2], [-1, 2]])).values.tolist()
    [[1, 8], [-1, 2]]
    """

    parents: Parents = ()
    intervals: tuple[bool, ...] = ()  # whether the cells of a column are intervals of numbers

    @classmethod
    def of(cls, columns: CategoricalFeatures, parents: Parents, intervals: tuple[bool, ...]) -> Self:
        """The families of columns."""
        return cls(columns.width, columns.names, columns.categories, parents=parents, intervals=intervals)

    @cached_property
    def lengths(self) -> Array:
        """The number of categories of each column alone (m,)."""
        return np.array([len(c) for c in self.categories], dtype=np.int64)

    @cached_property
    def links(self) -> Array:
        """The parents of each column (m, most), -1 behind the last."""
        most = max(map(len, self.parents), default=0)
        return np.array([[*own, *[-1] * (most - len(own))] for own in self.parents], dtype=np.int64).reshape(
            len(self.parents), most
        )

    def widths(self, j: int) -> list[int]:
        """The number of configurations of the first l parents of column j, for every order l."""
        found = [1]
        for parent in self.parents[j]:
            found.append(found[-1] * int(self.lengths[parent]))
        return found

    @property
    def sizes(self) -> Array:
        """The number of cells of each column, in its tables of all orders (m,)."""
        return np.array([n * sum(self.widths(j)) for j, n in enumerate(self.lengths)], dtype=np.intp)

    @property
    def tree(self) -> bool:
        """True if no column has two parents."""
        return max(map(len, self.parents), default=0) == 1

    @cached_property
    def order(self) -> Array:
        """The columns, each after its parents (m,)."""
        return np.array(ordered(self.parents), dtype=np.int64)

    def __getstate__(self) -> dict[str, Any]:  # cached properties do not travel
        cached = {"lengths", "links", "order"}
        return {name: value for name, value in self.__dict__.items() if name not in cached}

    def encoded(self, own: Array) -> Encoded:
        """Rows from the cells of the columns alone (n, m), -1 for none."""
        return Encoded(self, _kernels.family_codes(np.ascontiguousarray(own), self.links, self.lengths))

    def own(self, codes: Array) -> Array:
        """The cells of the columns alone (n, m), from those of families."""
        return np.asarray(_kernels.own_codes(np.ascontiguousarray(codes), self.links, self.lengths))

    def check(self, other: Features) -> None:
        super().check(other)
        if isinstance(other, FamilyFeatures):
            if self.parents != other.parents:
                raise ValueError(f"the columns have other parents here than there, which is {DIFFERENT}")
            pairs = zip(self.categories, other.categories, self.intervals, strict=True)
            if any(numeric and not np.array_equal(a, b) for a, b, numeric in pairs):
                raise ValueError(f"the columns were put into other intervals here than there, which is {DIFFERENT}")

    def same(self, other: Features) -> bool:
        if self is other:
            return True
        return isinstance(other, FamilyFeatures) and self.parents == other.parents and super().same(other)

    def seen(self, some: Array) -> Self:
        """These features with only the categories that some cell (cells,) of any family has."""
        kept = [np.zeros(n, dtype=bool) for n in self.lengths]
        for j, part in enumerate(np.split(some, self.starts[1:-1])):
            n, begin = int(self.lengths[j]), 0
            for at, width in enumerate(self.widths(j)):
                sides = [j, *self.parents[j][:at]]
                table = part[begin : begin + n * width].reshape([int(self.lengths[one]) for one in sides])
                begin += n * width
                for axis, side in enumerate(sides):
                    kept[side] |= table.any(axis=tuple(a for a in range(table.ndim) if a != axis))
        pairs = zip(self.categories, kept, self.intervals, strict=True)
        return replace(self, categories=tuple(c if numeric else c[keep] for c, keep, numeric in pairs))

    def reading(self, j: int) -> Reading:
        """The rule by which an entry of column j gets its own cell."""
        values = self.categories[j]
        return Intervals(values) if self.intervals[j] else Choices(values, np.arange(len(values)))

    def cells(self, other: CategoricalFeatures) -> Array:
        """The index of each of these cells in the tables of features with more categories; -1 for none."""
        pairs = zip(other.starts, self._codes_in(cast(FamilyFeatures, other)), strict=False)
        return np.concatenate([np.zeros(0, dtype=int), *(np.where(at < 0, -1, start + at) for start, at in pairs)])

    def _codes_in(self, other: FamilyFeatures) -> list[Array]:
        """For each column, the code of each of its cells under other categories.

        A cell whose last parent has an unknown category has the code of the table without that parent.
        """
        place = [other.places(j, values) for j, values in enumerate(self.categories)]
        found = []
        for j, own in enumerate(self.parents):
            code, exact, begin, size = place[j], place[j], 0, len(other.categories[j])
            each = [code]
            for parent in own:
                begin, wide = begin + size, len(other.categories[parent])
                size *= wide
                inner = np.where(
                    (exact[:, None] >= 0) & (place[parent] >= 0), exact[:, None] * wide + place[parent], -1
                )
                code = np.where(inner >= 0, begin + inner, code[:, None]).ravel()
                exact = inner.ravel()
                each.append(code)
            found.append(np.concatenate(each))
        return found

    def read(self, X: Encoded) -> Array:
        values = Features.read(self, X)
        own = X.features
        if own is self or not isinstance(own, FamilyFeatures) or self.same(own):
            return values
        at = own._codes_in(self)
        return np.column_stack([np.append(code, -1)[values[:, j]] for j, code in enumerate(at)]).astype(np.int32)

    def own_cells(self, X: Encoded) -> tuple[Array, Array, Array | None]:
        return self.read(X), self.starts, None

    def identity(self, values: Array) -> Array:
        """A number for each entry of a column alone."""
        return CategoricalFeatures(self.width, self.names, self.categories).identity(self.own(values))

    def blank(self, values: Array, which: Array) -> Array:
        return self.encoded(np.where(which, np.int32(-1), self.own(values))).values


DIFFERENT = "a different structure, whose sums do not add up: fit the others with structure=first.structure_"


def ordered(parents: Parents) -> list[int]:
    """The columns, each after its parents; ValueError if that is impossible.

    >>> ordered(((2,), (), (1,)))
    [1, 2, 0]
    """
    found: list[int] = []
    left = set(range(len(parents)))
    while left:
        free = [j for j in sorted(left) if not left & set(parents[j])]
        if not free:
            raise ValueError(f"columns are their own ancestors: {show_all(sorted(left))}")
        found += free
        left -= set(free)
    return found


@dataclass(frozen=True, eq=False)
class Graph:
    """What is learned before families are summed: the columns that take part, their parents, and their intervals."""

    columns: tuple[int, ...]  # the numbers of the table's columns
    parents: Parents  # of each of them, by their places among them; the strongest first
    bins: Mapping[str, BinFeatures] = field(default_factory=dict)  # the intervals of the numeric columns of each block
    extent: Mapping[str, Any] = field(default_factory=dict)  # (d, 2) the least and greatest number of each of these
    # I(x_j; y) of each column, and I(x_j; x_parent | y) of each edge, in nats; zeros if they were not measured
    relevance: Annotated[Array, "m"] = field(default_factory=lambda: np.zeros(0))
    strength: Annotated[Array, "e"] = field(default_factory=lambda: np.zeros(0))
    left_out: tuple[tuple[int, str], ...] = ()  # columns that take no part, and why
    notes: tuple[str, ...] = ()  # what people should know of the search

    def agrees(self, other: Graph) -> bool:
        """True if families of both add up."""
        if self.columns != other.columns or self.parents != other.parents or self.bins.keys() != other.bins.keys():
            return False
        return all(bins.same(other.bins[name]) for name, bins in self.bins.items())


ClassWeights = Callable[[AnyStatistics], Array]  # the weight of each class (k,), from sums


def equal_weights(s: AnyStatistics) -> Array:
    """1 for each class (k,)."""
    return np.ones(len(s.mass))


class GraphSearch(ABC):
    """A way to choose the parents of columns from sums over rows."""

    @abstractmethod
    def graph(self, rows: Data, families: Families, weights: ClassWeights) -> Graph:
        """The graph for the rows of a table, which the prepared `families.inner` has encoded."""


@dataclass(frozen=True, eq=False)
class Drawn(Encoded):
    """Rows drawn from a network, also as the table would have encoded them."""

    rows: Encoded


@dataclass(frozen=True)
class Families(Encoder):
    """Rows of a table as the cells of families: codes (n, m) of `FamilyFeatures`.

    The first rows decide on the graph and on the intervals of numbers; categories may come at any time.
    """

    inner: Table
    search: GraphSearch
    known: Graph | None = None  # once prepared

    @property
    def who(self) -> str:
        """The estimator's name in messages."""
        return self.inner.who

    @property
    def graph(self) -> Graph:
        """The graph; ValueError before the encoder is prepared."""
        if self.known is None:
            raise ValueError("the structure is not known yet: prepare the encoder first")
        return self.known

    def prepare(self, data: Data) -> Self:
        if self.known is not None:
            return self
        inner = self.inner.prepare(data)
        return self.learned(inner, data.map(inner).persist())

    def learned(self, inner: Table, rows: Data, weights: ClassWeights = equal_weights) -> Self:
        """The prepared encoder, for rows that the table `inner` has encoded."""
        families = replace(self, inner=inner)
        return replace(families, known=self.search.graph(rows, families, weights))

    def __repr__(self) -> str:
        if self.known is None:
            return f"{type(self).__name__}({self.inner!r}, {self.search!r})"
        names = [role.name for role in self.inner.roles or ()]
        own = [names[j] for j in self.known.columns]
        each = (f"{own[j]} | {', '.join(str(own[i]) for i in up)}" for j, up in enumerate(self.known.parents) if up)
        return f"{type(self).__name__}({'; '.join(each) or 'no edges'})"

    def holding(self) -> Mapping[Any, ColumnContent]:
        return self.inner.holding()

    def inputs(self, features: Features) -> Features:  # noqa: ARG002 - those of the table
        """The columns of the table."""
        roles = self.inner.roles or ()
        return Features(len(roles), None if self.inner.names is None else object_array(self.inner.names))

    def check(self, other: Encoder) -> None:
        if not isinstance(other, Families):
            return super().check(other)
        self.inner.check(other.inner)
        if not self.graph.agrees(other.graph):
            raise ValueError(f"the rows are seen in {DIFFERENT}")
        return None

    def __call__(self, X: Any) -> Encoded:
        """Rows as cells of families, of a table that may have been encoded already."""
        return X if isinstance(X, Encoded) and isinstance(X.features, FamilyFeatures) else self.encode(X)

    def encode(self, X: Any) -> Encoded:
        graph, rows = self.graph, self.inner(X)
        alone = columns_alone(rows, graph)
        features = FamilyFeatures.of(cast(CategoricalFeatures, alone.features), graph.parents, intervals(rows, graph))
        return features.encoded(alone.values)

    def sql_columns(self, rows: DatabaseRows) -> DatabaseRows:
        """The columns of the table, of which `Network` asks for joint counts."""
        return self.inner.sql_columns(rows)

    def decode(self, X: Encoded) -> Array:
        if not isinstance(X, Drawn):
            return super().decode(X)
        return self.inner.decode(X.rows)


def columns_alone(rows: Encoded, graph: Graph) -> Encoded:
    """The cells of the columns of a graph (n, m), from the rows of a table."""
    blocks, place = cast(BlockFeatures, rows.features), {j: at for at, j in enumerate(graph.columns)}
    codes = np.full((len(rows), len(place)), -1, dtype=np.int32)
    categories: list[Array] = [np.empty(0)] * len(place)
    names = object_array([None] * len(place))
    for name, at in blocks.at.items():
        part = block(rows, name)
        cells = graph.bins.get(name, part.features)
        values = cells.read(part)
        for i, (j, key) in enumerate(zip(at.tolist(), blocks.keys_of(name), strict=True)):
            if j in place:
                codes[:, place[j]] = values[:, i]
                categories[place[j]], names[place[j]] = cast(CategoricalFeatures, cells).categories[i], key
    return Encoded(CategoricalFeatures(len(place), names, tuple(categories)), codes)


def intervals(rows: Encoded, graph: Graph) -> tuple[bool, ...]:
    """Whether each column of a graph is in intervals of numbers."""
    numeric = {
        j for name, at in cast(BlockFeatures, rows.features).at.items() if name in graph.bins for j in at.tolist()
    }
    return tuple(j in numeric for j in graph.columns)
