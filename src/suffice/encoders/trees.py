"""Random trees as values: arrays that send rows to leaves, and know which rows they were grown on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from hashlib import blake2b
from typing import ClassVar, Self

import numpy as np

from suffice._cached import cached_property
from suffice._domain import CategoricalFeatures, Encoded, Features
from suffice._threads import spread
from suffice._vector import Array
from suffice.encoders import _tree_kernels as kernels

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

    ordered: Array  # (d,) whether the values of a feature have an order
    seeds: Array  # (t,)
    limits: Array  # (t,)
    starts: Array  # (t + 1,) where the nodes of each tree begin
    feature: Array
    threshold: Array
    missing_left: Array
    left: Array

    @classmethod
    def of(cls, ordered: Array, seeds: Array, limits: Array, grown: Sequence[tuple[Array, ...]]) -> Trees:
        """Of the nodes of every tree."""
        starts = np.cumsum([0, *(len(nodes[0]) for nodes in grown)])
        return cls(ordered, seeds, limits, starts, *(np.concatenate(part) for part in zip(*grown, strict=True)))

    @cached_property
    def digest(self) -> int:
        """A number of 63 bits that tells these trees from all others."""
        found = blake2b(digest_size=8)
        for field in fields(self):
            found.update(np.ascontiguousarray(getattr(self, field.name)).data)
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
        kernels.packed(nodes, self.starts, self.ordered, *parts)
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
