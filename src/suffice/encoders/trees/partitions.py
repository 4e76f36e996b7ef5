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
from suffice._runtime.hashing import seeds
from suffice._runtime.lazy import cached_property
from suffice._runtime.threads import spread
from suffice.data import Batch, Data
from suffice.encoders.base import Encoder
from suffice.encoders.table import Table
from suffice.encoders.trees import compiled as kernels

ROWS, SHARES = 8192, 4  # that a thread takes at a time, at most, and parts that fewer rows than these make


@dataclass(frozen=True, eq=False)
class LeafFeatures(CategoricalFeatures):
    """The leaves of trees as categories; those of equal trees are the same without comparing any.

    A leaf v of a tree that was grown on the row itself may be marked: -1 - v.
    """

    closed: ClassVar[bool] = True

    trees: int = 0  # what tells them from other trees

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
        sign = 8 * X.values.dtype.itemsize - 1
        return np.asarray(X.values ^ (self.marked(X) >> sign))  # all bits of a negative number are turned over

    def marked(self, X: Encoded) -> Array:
        """Leaves (n, t), those of a tree that has seen the row as -1 - leaf."""
        self.check(X.features)
        return X.values

    def identity(self, values: Array) -> Array:
        return values


@dataclass(frozen=True, eq=False, repr=False)
class Trees:
    """Trees over rows of d comparable numbers; tree t has seen the rows whose hash under its seed is at most its limit.

    The nodes of all trees are in one array each, tree after tree; see `_tree_kernels` for what they hold.
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
        """Of the nodes of every tree."""
        starts = np.cumsum([0, *(len(nodes[0]) for nodes in grown)])
        return cls(ordered, seeds, limits, starts, *(np.concatenate(part) for part in zip(*grown, strict=True)))

    @cached_property
    def digest(self) -> int:
        """A number of 63 bits that tells these trees from all others."""
        found = blake2b(digest_size=8)
        for one in fields(self):
            found.update(np.ascontiguousarray(getattr(self, one.name)).data)
        return int.from_bytes(found.digest()) >> 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trees) and self.digest == other.digest

    def __hash__(self) -> int:
        return self.digest

    def __getstate__(self) -> dict[str, Array]:  # what follows from the arrays does not travel
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
        """The trees as features, and their leaves as categories."""
        names = np.array([f"tree {t}" for t in range(len(self))], dtype=object)
        leaves = tuple(np.arange(size) for size in self.sizes)
        return LeafFeatures(len(self), names, leaves, trees=self.digest)

    def work_ahead(self) -> None:
        """Work out what rows are sent to leaves by, and what the leaves are called; both are kept."""
        _ = self.features, self._nodes

    def leaves(self, Z: Array, keys: Array | None = None) -> Array:
        """The leaf of every tree that each row (n, d) comes to: (n, t).

        With the rows' keys (n,), -1 - leaf where the tree has seen the row.
        """
        few = keys is not None and self.sizes.max(initial=0) <= np.iinfo(np.int16).max  # half the memory to go through
        out = np.empty((len(Z), len(self)), dtype=np.int16 if few else np.int32)

        def walk(rows: slice) -> None:
            plain = bool(self.ordered.all() and not np.isnan(Z[rows]).any())
            kernels.walk(Z[rows], self.starts, self._nodes, self.left, plain, out[rows])
            if keys is not None:
                kernels.mark(keys[rows], self.seeds, self.limits, out[rows])

        spread(walk, _slices(len(Z)))
        return out

    @cached_property
    def _nodes(self) -> Array:
        nodes = np.empty(len(self.left), kernels.NODE)
        parts = self.feature, self.threshold, self.missing_left, self.left
        kernels.pack_nodes(nodes, self.starts, self.ordered, *parts)
        return nodes

    def steps(self, leaves: Array, log_p: Array) -> tuple[Array, Array]:
        """log p(leaf | y) of all trees as a sum over splits: what the roots have (k,), and each feature adds (n, k, d).

        `leaves` (n, t) are those of the rows, `log_p` (leaves of all trees, k) their logarithms.
        """
        parent, at = kernels.parents(self.starts, self.left)
        nodes = kernels.log_nodes(self.starts, self.left, log_p)
        out = np.zeros((len(leaves), log_p.shape[1], len(self.ordered)))
        begins = np.cumsum(self.sizes) - self.sizes
        way = at, parent, self.feature, nodes
        spread(lambda rows: kernels.add_steps(leaves[rows], begins, *way, out[rows]), _slices(len(leaves)))
        return np.asarray(nodes[self.starts[:-1]].sum(axis=0)), out

    def inside(self, keys: Array) -> Array:
        """Whether each tree has seen the rows of some keys (n,): (n, t)."""
        out = np.empty((len(keys), len(self)), dtype=bool)
        spread(lambda rows: kernels.inside(keys[rows], self.seeds, self.limits, out[rows]), _slices(len(keys)))
        return out


def _slices(n: int) -> list[slice]:
    size = min(ROWS, max(kernels.BLOCK, -(-n // SHARES)))
    return [slice(i, i + size) for i in range(0, n, size)]


ENTRIES = 1 << 24  # leaves of all trees times classes, at most
MANY = 0.4  # the share of all rows that a tree is grown on, below which most have been forgotten


@dataclass(frozen=True, eq=False)
class TreeRows:
    """Rows as trees take them: comparable numbers Z (n, d), and the key (n,) of each row, equal for equal rows."""

    Z: Array
    keys: Array

    @classmethod
    def of(cls, X: Encoded) -> TreeRows:
        """Of encoded rows."""
        return cls(X.comparable, X.keys)


@dataclass(frozen=True, eq=False)
class Growth:
    """How trees grow."""

    seeds: Array  # (t,), of the trees
    max_rows: int
    candidates: int
    min_leaf: float
    min_split: float
    labels: bool


@dataclass(frozen=True, eq=False)
class Counted:
    """Rows with their classes (n,) and weights (n,)."""

    rows: TreeRows
    codes: Array
    weight: Array

    def __len__(self) -> int:
        return len(self.codes)

    @classmethod
    def joined(cls, parts: Sequence[Counted]) -> Counted:
        """All rows of some parts."""
        if len(parts) == 1:
            return parts[0]
        each = ((part.rows.Z, part.rows.keys, part.codes, part.weight) for part in parts)
        Z, keys, codes, weight = (np.concatenate(values) for values in zip(*each, strict=True))
        return cls(TreeRows(Z, keys), codes, weight)


@dataclass(frozen=True, eq=False)
class Sample:
    """Different rows with the weight of each class among their copies; a + b forgets those that no tree will ask for.

    Tree t takes the rows of smallest hash h_t: at most `max_rows`, and at most half of all different rows. All rows
    are kept as long as they may be that half; when there are more, those that are among the `max_rows` smallest of some
    tree. What remains depends neither on the order of the rows nor on how they came together. Rows are forgotten
    whenever there are twice as many as remained the last time, so that this takes no longer than adding them.
    """

    growth: Growth
    columns: Features  # that were given
    keys: tuple[Any, ...]  # (d,) what those are called that are compared
    ordered: Array  # (d,)
    classes: Array  # (k,)
    parts: tuple[Counted, ...]
    kept: int  # rows that remained when some were last forgotten
    many: bool = False  # whether there have been more rows than are needed

    @classmethod
    def of(cls, growth: Growth, X: Encoded, classes: Array, codes: Array, weight: Array) -> Sample:
        """Of some rows of classes `codes` (n,)."""
        columns = Features(X.features.width, X.features.names)
        part = Counted(TreeRows.of(X), codes, weight)
        return cls(growth, columns, X.features.keys, X.features.ordered, classes, (part,), len(part))

    def __add__(self, other: Sample) -> Sample:
        classes = unite(self.classes, other.classes, "class labels")
        both = replace(
            self,
            columns=self.columns | other.columns,
            classes=classes,
            parts=(*self._parts_onto(classes), *other._parts_onto(classes)),
            kept=max(self.kept, other.kept),
            many=self.many or other.many,
        )
        return both.reduced() if sum(map(len, both.parts)) > 2 * both.kept else both

    def _parts_onto(self, classes: Array) -> Sequence[Counted]:
        place = positions(self.classes, classes, "class labels")
        return [replace(part, codes=place[part.codes]) for part in self.parts]

    def reduced(self) -> Sample:
        """By key and then by class, with copies as one row of their weight, and without rows no tree will ask for."""
        some = Counted.joined(self.parts)
        keys = some.rows.keys
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
            asked = kernels.any_inside(keys[begins], seeds, limits)
            begins, weight = begins[asked], weight[asked]
        rows = TreeRows(some.rows.Z[order[begins]], keys[begins])
        left = Counted(rows, codes[begins], weight)
        return replace(self, parts=(left,), kept=len(left), many=many)

    def grow(self) -> Trees:
        """The trees."""
        whole = self.reduced()
        some, seeds = whole.parts[0], self.growth.seeds
        distinct = _distinct(some.rows.keys)
        m = self.growth.max_rows if whole.many else min(self.growth.max_rows, len(distinct) // 2)
        least = self._least(m) * float(some.weight.mean()) if len(some) else 0.0
        columns = np.ascontiguousarray(some.rows.Z.T)
        plain = bool(self.ordered.all() and not np.isnan(columns).any())
        grown = spread(lambda seed: self._tree(seed, some, distinct, m, (columns, plain), least), seeds)
        limits = np.array([limit for limit, _ in grown], dtype=np.uint64)
        return Trees.of(self.ordered, seeds, limits, [nodes for _, nodes in grown])

    def _least(self, m: int) -> float:
        """Rows that a leaf of m rows in all must have for tables of all leaves by class to be of bearable size; or 0.

        Leaves of one row say little where there are so many classes.
        """
        rows = m * len(self.growth.seeds) * len(self.classes) / ENTRIES
        return rows if rows > 1.0 else 0.0

    def _tree(
        self, seed: np.uint64, some: Counted, distinct: Array, m: int, table: tuple[Array, bool], least: float
    ) -> tuple[np.uint64, tuple[Array, ...]]:
        """The limit of the hashes of a tree's rows, and its nodes; with no rows one leaf.

        `table` is all rows by column (d, n), and whether all have an order and no entry is missing; `least` the weight
        of a leaf, at least.
        """
        how, limit = self.growth, _limit(distinct, seed, m) if m else np.uint64(0)
        keys = some.rows.keys if m else some.rows.keys[:0]
        chosen = kernels.up_to(keys, np.array([seed]), np.array([limit]))  # sorted by key, however they came
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
    """The m-th smallest of the hashes of different keys (n,)."""
    share, near = m / len(keys), (8 * m**0.5 + 16) / len(keys)  # nearly always enough to look at
    low = share - near if share > MANY else 0.0  # of many rows those remained whose hashes are small
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
    """Random trees, of which each is a column: the number of the leaf that a row comes to, codes (n, t).

    Tree t is grown on the different rows of smallest hash h_t(row): at most `max_rows` of them, and at most half of
    all. A node takes the best by Gini impurity of a few random splits: a feature that varies, between the values of two
    random rows, or one category against the others, or missing entries against others. Other missing entries go to the
    side where the impurity is the less, categories never seen with the others. The trees depend neither on the order of
    the rows nor on the engine; equal rows count as one with the sum of their weights.

    Parameters
    ----------
    inner : Encoder
        Reads the columns; numbers and categories, with missing entries.
    n : int
        Trees.
    max_rows : int
        Different rows that a tree is grown on, at most.
    candidates : int
        Splits that are tried at a node, at most.
    min_leaf, min_split : float
        The weight of the rows on each side of a split, and of a node that is split, at least. Where leaves times
        classes could be more than 2^24, leaves have to be as large as keeps them below.
    labels : bool
        Whether splits are chosen by the labels; if not, the first is taken, and the trees have seen no label.
    seed : int
        Draws the rows and the splits.
    marks : bool
        Whether a leaf v of a tree that was grown on the row itself is given as -1 - v: so a model that leaves rows
        out can tell which trees have not seen them.

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

    References
    ----------
    Geurts, Ernst, Wehenkel: Extremely randomized trees. Machine Learning 63 (2006), doi:10.1007/s10994-006-6226-1.
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
    keys: tuple[Any, ...] = field(default=(), compare=False, repr=False)  # what the features of the trees are called

    def prepare(self, data: Data) -> Self:
        """The encoder with its trees: they are grown once, on the first rows."""
        if self.trees is not None:
            return self
        inner = self.inner.prepare(data)
        sample = data.sum(Draw(inner, self._growth()))
        return replace(self, inner=inner, trees=sample.grow(), columns=sample.columns, keys=sample.keys)

    def _growth(self) -> Growth:
        candidates = self.candidates if self.labels else 1
        drawn = seeds(self.seed, self.n)
        return Growth(drawn, self.max_rows, candidates, self.min_leaf, self.min_split, self.labels)

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
        """Leaves (n, t) of rows, encoded or not; leaves stay as they are."""
        return X if isinstance(X, Encoded) and isinstance(X.features, LeafFeatures) else self.encode(X)

    def encode(self, X: Any) -> Encoded:
        grown, rows = self._grown(), self.rows(X)
        return Encoded(grown.features, grown.leaves(rows.Z, rows.keys if self.marks else None))

    def inside(self, X: Any) -> Array:
        """Whether each tree was grown on rows equal to these: (n, t). A row is scored honestly by the others."""
        return self._grown().inside(self.rows(X).keys)

    def rows(self, X: Any) -> TreeRows:
        """What trees see of rows, read by the inner encoder if they are not encoded yet."""
        return TreeRows.of(self.inner(X))

    def _grown(self) -> Trees:
        if self.trees is None:
            raise ValueError("rows come to leaves once trees have grown: prepare the encoder first")
        return self.trees
