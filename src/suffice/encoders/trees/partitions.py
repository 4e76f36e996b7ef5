"""Rows as the leaves of random trees: the trees, the rows they grow on, and the encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from hashlib import blake2b
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from suffice._core.features import CategoricalFeatures, Encoded, Features
from suffice._core.labels import positions, unite
from suffice._core.vector import Array
from suffice._runtime.lazy import cached_property
from suffice._runtime.random import seeds
from suffice._runtime.threads import spread
from suffice.data import Batch, Data
from suffice.encoders.base import Encoder
from suffice.encoders.table import Table
from suffice.encoders.trees import compiled as kernels

MAX_ROWS_OF_TASK = 8192  # rows that a thread takes at a time
MIN_TASKS = 4  # into which fewer rows are divided
MAX_TABLE = 1 << 24  # leaves of all trees times classes
REDUCED_SHARE = 0.4  # if the rows of a tree are a smaller share of all, most other rows have been dropped


@dataclass(frozen=True, eq=False)
class LeafFeatures(CategoricalFeatures):
    """The leaves of trees as categories; trees are compared by their digest alone.

    A leaf v of a tree that was grown on the row itself may be marked: -1 - v.
    """

    closed: ClassVar[bool] = True

    trees: int = 0  # `Trees.digest`

    def check(self, other: Features) -> None:
        if not self.same(other):
            raise ValueError("the leaves are those of different trees, which do not add up")

    def same(self, other: Features) -> bool:
        return isinstance(other, LeafFeatures) and other.trees == self.trees

    def __or__(self, other: Features) -> Self:
        self.check(other)
        return self

    def read(self, X: Encoded) -> Array:
        """Leaves (n, t) without marks."""
        # The sign bit, spread over all bits by the shift, inverts negative numbers: -1 - v becomes v.
        sign = 8 * X.values.dtype.itemsize - 1
        return np.asarray(X.values ^ (self.marked(X) >> sign))

    def marked(self, X: Encoded) -> Array:
        """Leaves (n, t), those of a tree that has seen the row as -1 - leaf."""
        self.check(X.features)
        return X.values

    def identity(self, values: Array) -> Array:
        return values


@dataclass(frozen=True, eq=False, repr=False)
class Trees:
    """Trees over rows of d comparable numbers; tree t has seen the rows whose hash under its seed is at most its limit.

    The nodes of all trees are in one array for each field, tree after tree, as `suffice.encoders.trees.compiled` says.
    """

    ordered: Annotated[Array, "bool d"]  # whether the values of a feature have an order
    seeds: Annotated[Array, "int t"]
    limits: Annotated[Array, "int t"]
    starts: Annotated[Array, "int b"]  # (t + 1,) where the nodes of each tree begin
    feature: Annotated[Array, "int n"]
    threshold: Annotated[Array, "nan n"]
    missing_left: Annotated[Array, "bool n"]
    left: Annotated[Array, "int n"]

    @classmethod
    def of(cls, ordered: Array, seeds: Array, limits: Array, grown: Sequence[tuple[Array, ...]]) -> Trees:
        """From the nodes of every tree."""
        starts = np.cumsum([0, *(len(nodes[0]) for nodes in grown)])
        return cls(ordered, seeds, limits, starts, *(np.concatenate(part) for part in zip(*grown, strict=True)))

    @cached_property
    def digest(self) -> int:
        """A hash of 63 bits by which trees are compared."""
        found = blake2b(digest_size=8)
        for one in fields(self):
            found.update(np.ascontiguousarray(getattr(self, one.name)).data)
        return int.from_bytes(found.digest()) >> 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trees) and self.digest == other.digest

    def __hash__(self) -> int:
        return self.digest

    def __getstate__(self) -> dict[str, Array]:
        # Cached properties follow from the arrays and are not pickled.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __len__(self) -> int:
        return len(self.seeds)

    def __repr__(self) -> str:
        return f"<{len(self)} trees {self.digest:x} with {self.sizes.sum()} leaves>"

    @property
    def sizes(self) -> Array:
        """The number of leaves of each tree (t,)."""
        return (np.diff(self.starts) + 1) // 2

    @cached_property
    def features(self) -> LeafFeatures:
        """The trees as features with their leaves as categories."""
        names = np.array([f"tree {t}" for t in range(len(self))], dtype=object)
        leaves = tuple(np.arange(size) for size in self.sizes)
        return LeafFeatures(len(self), names, leaves, trees=self.digest)

    def work_ahead(self) -> None:
        """Compute the cached properties that encoding needs."""
        _ = self.features, self._nodes

    def leaves(self, Z: Array, keys: Array | None = None) -> Array:
        """The leaf of every tree that each row (n, d) comes to: (n, t).

        With the rows' keys (n,), -1 - leaf where the tree has seen the row.
        """
        # Leaves in 16 bits are half the memory to read.
        short = keys is not None and self.sizes.max(initial=0) <= np.iinfo(np.int16).max
        out = np.empty((len(Z), len(self)), dtype=np.int16 if short else np.int32)

        def walk(rows: slice) -> None:
            plain = bool(self.ordered.all() and not np.isnan(Z[rows]).any())
            kernels.walk(Z[rows], self.starts, self._nodes, self.left, plain, out[rows])
            if keys is not None:
                kernels.mark(keys[rows], self.seeds, self.limits, out[rows])

        spread(walk, _tasks(len(Z)))
        return out

    @cached_property
    def _nodes(self) -> Array:
        nodes = np.empty(len(self.left), kernels.NODE)
        parts = self.feature, self.threshold, self.missing_left, self.left
        kernels.pack_nodes(nodes, self.starts, self.ordered, *parts)
        return nodes

    def steps(self, leaves: Array, log_p: Array) -> tuple[Array, Array]:
        """log p(leaf | y) of all trees as a sum over splits: that of the roots (k,), and of each feature (n, k, d).

        `leaves` (n, t) are the leaves of the rows, `log_p` (leaves of all trees, k) is log p(leaf | y).
        """
        parent, at = kernels.parents(self.starts, self.left)
        nodes = kernels.log_nodes(self.starts, self.left, log_p)
        out = np.zeros((len(leaves), log_p.shape[1], len(self.ordered)))
        begins = np.cumsum(self.sizes) - self.sizes
        path = at, parent, self.feature, nodes
        spread(lambda rows: kernels.add_steps(leaves[rows], begins, *path, out[rows]), _tasks(len(leaves)))
        return np.asarray(nodes[self.starts[:-1]].sum(axis=0)), out

    def inside(self, keys: Array) -> Array:
        """True where a tree has seen a row, by the rows' keys (n,): (n, t)."""
        out = np.empty((len(keys), len(self)), dtype=bool)
        spread(lambda rows: kernels.inside(keys[rows], self.seeds, self.limits, out[rows]), _tasks(len(keys)))
        return out


def _tasks(n: int) -> list[slice]:
    """Slices of n rows, each the work of one thread."""
    size = min(MAX_ROWS_OF_TASK, max(kernels.BLOCK, -(-n // MIN_TASKS)))
    return [slice(i, i + size) for i in range(0, n, size)]


@dataclass(frozen=True, eq=False)
class Growth:
    """The settings by which trees grow; see `TreePartitions`."""

    seeds: Array  # (t,) one for each tree
    max_rows: int
    candidates: int
    min_leaf: float
    min_split: float
    labels: bool


@dataclass(frozen=True, eq=False)
class TreeRows:
    """Rows that trees grow on: comparable numbers, keys that are equal for equal rows, classes and weights."""

    Z: Array  # (n, d)
    keys: Array  # (n,)
    codes: Array  # (n,)
    weight: Array  # (n,)

    def __len__(self) -> int:
        return len(self.codes)

    @classmethod
    def joined(cls, parts: Sequence[TreeRows]) -> TreeRows:
        """The rows of all parts."""
        if len(parts) == 1:
            return parts[0]
        return cls(*(np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(cls)))


@dataclass(frozen=True, eq=False)
class Sample:
    """The distinct rows that trees may grow on, with the weight of each class among their copies.

    Tree t takes the rows of smallest hash h_t: at most `max_rows`, and at most half of all distinct rows. All rows are
    kept while `max_rows` may be more than half of them; beyond that, only rows that are among the `max_rows` smallest
    of some tree. The result depends neither on the order of the rows nor on how samples were added. Rows are dropped
    whenever there are twice as many as the last time, so that this takes no longer than adding them.
    """

    growth: Growth
    columns: Features  # of the rows before encoding
    keys: tuple[Any, ...]  # (d,) names of the columns of Z
    ordered: Array  # (d,)
    classes: Array  # (k,)
    parts: tuple[TreeRows, ...]
    kept: int  # rows that remained when some were last dropped
    many: bool = False  # whether there have been more rows than trees need

    @classmethod
    def of(cls, growth: Growth, X: Encoded, classes: Array, codes: Array, weight: Array) -> Sample:
        """From rows with their classes `codes` (n,) and weights (n,)."""
        columns = Features(X.features.width, X.features.names)
        part = TreeRows(X.comparable, X.keys, codes, weight)
        return cls(growth, columns, X.features.keys, X.features.ordered, classes, (part,), len(part))

    def __add__(self, other: Sample) -> Sample:
        classes = unite(self.classes, other.classes, "class labels")
        parts: list[TreeRows] = []
        for sample in (self, other):
            place = positions(sample.classes, classes, "class labels")
            parts += (replace(part, codes=place[part.codes]) for part in sample.parts)
        both = replace(
            self,
            columns=self.columns | other.columns,
            classes=classes,
            parts=tuple(parts),
            kept=max(self.kept, other.kept),
            many=self.many or other.many,
        )
        return both.reduced() if sum(map(len, parts)) > 2 * both.kept else both

    def reduced(self) -> Sample:
        """The rows sorted by key and class, copies as one row of their total weight, without rows no tree can use."""
        some = TreeRows.joined(self.parts)
        keys = some.keys
        order = np.argsort(keys)
        if (keys[order][1:] == keys[order][:-1]).any():
            order = np.lexsort((some.codes, keys))
        keys, codes = keys[order], some.codes[order]
        new = np.append(True, (keys[1:] != keys[:-1]) | (codes[1:] != codes[:-1]))[: len(keys)]
        begins = np.flatnonzero(new)
        weight = np.add.reduceat(some.weight[order], begins) if len(begins) else some.weight
        most, distinct = self.growth.max_rows, _distinct(keys)
        many = self.many or len(distinct) > 2 * most
        if many and len(distinct) > most:
            seeds = self.growth.seeds
            limits = np.array(spread(lambda seed: _limit(distinct, seed, most), seeds))
            used = kernels.any_inside(keys[begins], seeds, limits)
            begins, weight = begins[used], weight[used]
        left = TreeRows(some.Z[order[begins]], keys[begins], codes[begins], weight)
        return replace(self, parts=(left,), kept=len(left), many=many)

    def grow(self) -> Trees:
        """Grow the trees."""
        whole = self.reduced()
        some, seeds = whole.parts[0], self.growth.seeds
        distinct = _distinct(some.keys)
        m = self.growth.max_rows if whole.many else min(self.growth.max_rows, len(distinct) // 2)
        least = self._least(m) * float(some.weight.mean()) if len(some) else 0.0
        columns = np.ascontiguousarray(some.Z.T)
        plain = bool(self.ordered.all() and not np.isnan(columns).any())
        grown = spread(lambda seed: self._tree(seed, some, distinct, m, (columns, plain), least), seeds)
        limits = np.array([limit for limit, _ in grown], dtype=np.uint64)
        return Trees.of(self.ordered, seeds, limits, [nodes for _, nodes in grown])

    def _least(self, m: int) -> float:
        """The least number of rows of a leaf, of trees of m rows, that keeps all tables within MAX_TABLE; 0 for any.

        Little is lost: with that many classes, leaves of one row say little.
        """
        rows = m * len(self.growth.seeds) * len(self.classes) / MAX_TABLE
        return rows if rows > 1.0 else 0.0

    def _tree(
        self, seed: np.uint64, some: TreeRows, distinct: Array, m: int, table: tuple[Array, bool], least: float
    ) -> tuple[np.uint64, tuple[Array, ...]]:
        """The limit of the hashes of a tree's rows, and its nodes; without rows, one leaf.

        `table` is all rows by column (d, n), with True if all columns are ordered and no entry is missing; `least` is
        the least weight of a leaf.
        """
        how, limit = self.growth, _limit(distinct, seed, m) if m else np.uint64(0)
        keys = some.keys if m else some.keys[:0]
        # Sorted by key, so that the tree does not depend on the order of the rows.
        chosen = kernels.up_to(keys, np.array([seed]), np.array([limit]))
        nodes: Any = kernels.grow(
            *table,
            self.ordered,
            chosen,
            some.codes,
            some.weight,
            max(1, len(self.classes)),
            np.array([seed]),
            how.candidates,
            max(float(how.min_leaf), least),
            max(float(how.min_split), 2 * least),
            how.labels,
        )
        return limit, nodes


def _distinct(keys: Array) -> Array:
    """Sorted keys without repetitions."""
    return np.asarray(keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]])


def _limit(keys: Array, seed: np.uint64, m: int) -> np.uint64:
    """The m-th smallest hash of distinct keys (n,)."""
    # Hashes are uniform: the m-th smallest is nearly always within eight standard deviations of its expected place,
    # unless the rows of larger hashes have been dropped.
    share, near = m / len(keys), (8 * m**0.5 + 16) / len(keys)
    low = share - near if share > REDUCED_SHARE else 0.0
    likely = [int(min(max(end, 0.0), 1.0) * (2**64 - 2**11)) for end in (low, share + near)]
    for bounds in (likely, [0, 2**64 - 1]):
        before, found = kernels.around(keys, np.array([seed]), np.array(bounds, dtype=np.uint64))
        if before < m <= before + len(found):
            break
    limit: np.uint64 = np.partition(found, m - 1 - before)[m - 1 - before]
    return limit


@dataclass(frozen=True, eq=False)
class Draw:
    """The sample of a batch, as a value that can travel to where the rows are."""

    encoder: Encoder
    growth: Growth

    def __call__(self, batch: Batch) -> Sample:
        X, Y = self.encoder(batch.X), batch.Y
        some = (Y.codes >= 0) & (Y.weight > 0)
        if not some.all():
            X, Y = X[some], Y[some]
        if self.growth.labels:
            return Sample.of(self.growth, X, Y.classes, Y.codes, Y.weight)
        return Sample.of(self.growth, X, np.zeros(1, dtype=int), np.zeros(len(Y), dtype=int), Y.weight)


@dataclass(frozen=True)
class TreePartitions(Encoder):
    """Random trees, each as a column: the leaf that a row falls into, codes (n, t).

    The trees are described in `suffice.features.Partitions`. Under splits on other entries, missing entries go to the
    side of lower impurity, and unknown categories with "the others". Equal rows count as one with the sum of their
    weights. Leaves have more than `min_leaf` rows where leaves times classes could exceed 2^24.

    Parameters
    ----------
    inner : Encoder
        Reads the columns: numbers and categories, with missing entries.
    n, max_rows, candidates, min_leaf, min_split, labels
        As in `suffice.features.Partitions`.
    seed : int
        Seed of the rows and the splits.
    marks : bool
        Whether a leaf v of a tree that was grown on the row itself is given as -1 - v: a model that leaves rows out
        needs to know which trees have not seen them.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.data import Memory
    >>> X, y = np.arange(40.0)[:, None], np.arange(40) // 20
    >>> encoder = TreePartitions(n=3).prepare(Memory(X, y))
    >>> encoder(X[[0, 39]]).values
    array([[0, 0, 0],
           [2, 3, 3]], dtype=int32)
    >>> encoder.inside(X).mean(axis=0)
    array([0.5, 0.5, 0.5])
    """

    inner: Encoder = field(default_factory=Table)
    n: int = 100
    max_rows: int = 2048
    candidates: int = 3
    min_leaf: float = 3.0
    min_split: float = 6.0
    labels: bool = True
    seed: int = 0
    marks: bool = False
    trees: Trees | None = None  # once prepared
    columns: Features | None = field(default=None, compare=False, repr=False)
    keys: tuple[Any, ...] = field(default=(), compare=False, repr=False)  # names of the columns that trees split

    def prepare(self, data: Data) -> Self:
        """Return the encoder with its trees, which are grown once, on the first rows."""
        if self.trees is not None:
            return self
        inner = self.inner.prepare(data)
        candidates = self.candidates if self.labels else 1
        settings = self.max_rows, candidates, self.min_leaf, self.min_split, self.labels
        sample = data.sum(Draw(inner, Growth(seeds(self.seed, self.n), *settings)))
        return replace(self, inner=inner, trees=sample.grow(), columns=sample.columns, keys=sample.keys)

    def work_ahead(self) -> None:
        self._grown().work_ahead()

    def inputs(self, features: Features) -> Features:
        return self.columns or features

    def check(self, other: Encoder) -> None:
        if not isinstance(other, TreePartitions) or self.trees != other.trees:
            raise ValueError(
                "the rows were divided by different trees, whose leaves do not add up: fit the others with "
                "encoder=first.encoder_"
            )
        self.inner.check(other.inner)

    def __call__(self, X: Any) -> Encoded:
        """Leaves (n, t) of rows, encoded or not; leaves are returned unchanged."""
        return X if isinstance(X, Encoded) and isinstance(X.features, LeafFeatures) else self.encode(X)

    def encode(self, X: Any) -> Encoded:
        grown, rows = self._grown(), self.inner(X)
        return Encoded(grown.features, grown.leaves(rows.comparable, rows.keys if self.marks else None))

    def inside(self, X: Any) -> Array:
        """True where a tree was grown on rows equal to these: (n, t). Only the other trees score a row honestly."""
        return self._grown().inside(self.inner(X).keys)

    def _grown(self) -> Trees:
        if self.trees is None:
            raise ValueError("the trees have not been grown yet: prepare the encoder first")
        return self.trees
