"""Rows for trees to grow on: those of smallest hash, found by adding up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from suffice._domain import Encoded, Features
from suffice._labels import positions, unite
from suffice._threads import spread
from suffice._vector import Array
from suffice.data import Batch
from suffice.encoders import _growing
from suffice.encoders import _tree_kernels as kernels
from suffice.encoders._base import Encoder
from suffice.encoders.trees import Trees

ENTRIES = 1 << 24  # leaves of all trees times classes, at most
MANY = 0.4  # the share of all rows that a tree is grown on, below which most have been forgotten


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows as trees take them: comparable numbers Z (n, d), and the key (n,) of each row, equal for equal rows."""

    Z: Array
    keys: Array

    @classmethod
    def of(cls, X: Encoded) -> Rows:
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

    rows: Rows
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
        return cls(Rows(Z, keys), codes, weight)


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
        part = Counted(Rows.of(X), codes, weight)
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
        rows = Rows(some.rows.Z[order[begins]], keys[begins])
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
        nodes: Any = _growing.grow(
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
