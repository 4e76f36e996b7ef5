"""Rows for trees to grow on: those of smallest hash, found by adding up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from suffice._domain import Encoded, Features
from suffice._hash import row_keys
from suffice._labels import positions, unite
from suffice._threads import spread
from suffice._vector import Array
from suffice.data import Batch
from suffice.encoders import _growing
from suffice.encoders import _tree_kernels as kernels
from suffice.encoders._base import Encoder
from suffice.encoders.trees import Trees


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows as trees take them: comparable numbers Z (n, d), and the key (n,) of each row, equal for equal rows."""

    Z: Array
    keys: Array

    @classmethod
    def of(cls, X: Encoded) -> Rows:
        """Of encoded rows."""
        Z = np.ascontiguousarray(X.features.comparable(X.values))
        return cls(Z, row_keys(Z))


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
class Sample:
    """Different rows with the weight of each class among their copies; a + b forgets those that no tree will ask for.

    Tree t takes the rows of smallest hash h_t: at most `max_rows`, and at most half of all different rows. All rows
    are kept as long as they may be that half; when there are more, those that are among the `max_rows` smallest of some
    tree. What remains depends neither on the order of the rows nor on how they came together.
    """

    growth: Growth
    columns: Features  # that were given
    keys: tuple[Any, ...]  # (d,) what those are called that are compared
    ordered: Array  # (d,)
    classes: Array  # (k,)
    rows: Rows  # by key, then by class: a row of several classes is there once for each
    codes: Array  # (n,)
    weight: Array  # (n,)
    many: bool = False  # whether there have been more rows than are needed

    @classmethod
    def of(cls, growth: Growth, X: Encoded, classes: Array, codes: Array, weight: Array) -> Sample:
        """Of some rows of classes `codes` (n,)."""
        columns = Features(X.features.width, X.features.names)
        return cls(growth, columns, X.features.keys, X.features.ordered, classes, Rows.of(X), codes, weight)._reduced()

    def __add__(self, other: Sample) -> Sample:
        classes = unite(self.classes, other.classes, "class labels")
        both = [positions(s.classes, classes, "class labels")[s.codes] for s in (self, other)]
        rows = Rows(np.concatenate([self.rows.Z, other.rows.Z]), np.concatenate([self.rows.keys, other.rows.keys]))
        return replace(
            self,
            columns=self.columns | other.columns,
            classes=classes,
            rows=rows,
            codes=np.concatenate(both),
            weight=np.concatenate([self.weight, other.weight]),
            many=self.many or other.many,
        )._reduced()

    def _reduced(self) -> Sample:
        """Copies as one row of their weight, and no rows that no tree will ask for."""
        keys = self.rows.keys
        order = np.argsort(keys)
        if (keys[order][1:] == keys[order][:-1]).any():
            order = np.lexsort((self.codes, keys))
        keys, codes = keys[order], self.codes[order]
        new = np.append(True, (keys[1:] != keys[:-1]) | (codes[1:] != codes[:-1]))[: len(keys)]
        begins = np.flatnonzero(new)
        weight = np.add.reduceat(self.weight[order], begins) if len(begins) else self.weight
        most, distinct = self.growth.max_rows, _distinct(keys)
        many = self.many or len(distinct) > 2 * most
        if many and len(distinct) > most:
            seeds = self.growth.seeds
            limits = np.array(spread(lambda seed: _limit(distinct, seed, most), seeds))
            asked = kernels.any_inside(keys[begins], seeds, limits)
            begins, weight = begins[asked], weight[asked]
        rows = Rows(self.rows.Z[order[begins]], keys[begins])
        return replace(self, rows=rows, codes=codes[begins], weight=weight, many=many)

    def grow(self) -> Trees:
        """The trees."""
        distinct = _distinct(self.rows.keys)
        m = self.growth.max_rows if self.many else min(self.growth.max_rows, len(distinct) // 2)
        seeds = self.growth.seeds
        columns = np.ascontiguousarray(self.rows.Z.T)
        holes = np.asarray(np.isnan(columns).any(axis=1))
        grown = spread(lambda seed: self._tree(seed, distinct, m, (columns, holes)), seeds)
        limits = np.array([limit for limit, _ in grown], dtype=np.uint64)
        return Trees.of(self.ordered, seeds, limits, [nodes for _, nodes in grown])

    def _tree(
        self, seed: np.uint64, distinct: Array, m: int, table: tuple[Array, Array]
    ) -> tuple[np.uint64, tuple[Array, ...]]:
        """The limit of the hashes of a tree's rows, and its nodes; with no rows one leaf.

        `table` is all rows by column (d, n), and which columns have missing entries (d,).
        """
        how, limit = self.growth, _limit(distinct, seed, m) if m else np.uint64(0)
        keys = self.rows.keys if m else self.rows.keys[:0]
        chosen, _ = kernels.up_to(keys, np.array([seed]), np.array([limit]))  # sorted by key, however they came
        nodes: Any = _growing.grow(
            *table,
            self.ordered,
            chosen,
            self.codes,
            self.weight,
            max(1, len(self.classes)),
            np.array([seed]),
            how.candidates,
            float(how.min_leaf),
            float(how.min_split),
            how.labels,
        )
        return limit, nodes


def _distinct(keys: Array) -> Array:
    """Sorted keys without repetitions."""
    return np.asarray(keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]])


def _limit(keys: Array, seed: np.uint64, m: int) -> np.uint64:
    """The m-th smallest of the hashes of different keys (n,)."""
    share = min(1.0, (m + 8 * m**0.5 + 16) / len(keys))  # nearly always enough to look at
    for bound in (np.uint64(share * (2**64 - 2**11)), np.uint64(2**64 - 1)):
        _, found = kernels.up_to(keys, np.array([seed]), np.array([bound]))
        if len(found) >= m:
            break
    limit: np.uint64 = np.partition(found, m - 1)[m - 1]
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
