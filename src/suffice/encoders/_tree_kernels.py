"""Compiled loops that draw rows for trees, and send rows down the trees; one thread each. `_growing` grows them.

A tree is arrays over its nodes, the root first. An inner node sends a row to its first child, `left`, or to the one
after it; at a leaf `left` is -1 - the leaf's number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice import _hash
from suffice._compiled import compiled
from suffice._vector import Array

BLOCK = 512  # rows that walk side by side


mixed = compiled(_hash.mixed)


@compiled
def up_to(keys: Array, seed: Array, limit: Array) -> tuple[Array, Array]:
    """Which of some keys (n,) have a hash under a seed (1,) of at most a limit (1,), and these hashes."""
    which, hashes, count = np.empty(len(keys) + 1, np.int64), np.empty(len(keys) + 1, np.uint64), 0
    for i in range(len(keys)):
        which[count], hashes[count] = i, mixed(keys[i] ^ seed[0])
        if hashes[count] <= limit[0]:
            count += 1
    return which[:count].copy(), hashes[:count].copy()


@compiled
def inside(keys: Array, seeds: Array, limits: Array, out: Array) -> None:
    """Whether the hash of each row's key (n,) is at most the limit of each tree (t,), into `out` (n, t)."""
    for i in range(len(keys)):
        for t in range(len(seeds)):
            out[i, t] = mixed(keys[i] ^ seeds[t]) <= limits[t]


@compiled
def any_inside(keys: Array, seeds: Array, limits: Array) -> Array:
    """Whether the hash of each key (n,) is at most the limit of some tree (t,): (n,)."""
    out = np.zeros(len(keys), np.bool_)
    for i in range(len(keys)):
        t = 0
        while t < len(seeds) and not out[i]:
            out[i] = mixed(keys[i] ^ seeds[t]) <= limits[t]
            t += 1
    return out


@compiled
def goes_left(value: float, cut: float, ordered: bool, missing_left: bool) -> bool:
    """Whether an entry is at most the threshold (equals it, where values have no order), or missing and sent there.

    A threshold of NaN is met by no entry: it divides the missing entries from the others.
    """
    return bool(value <= cut if ordered else value == cut) | (missing_left & bool(np.isnan(value)))  # no jump


@compiled
def walk(
    Z: Array,
    ordered: Array,
    starts: Array,
    feature: Array,
    threshold: Array,
    missing_left: Array,
    left: Array,
    plain: bool,
    out: Array,
) -> None:
    """The leaf of every tree that each row of Z (n, d) comes to, into `out` (n, t).

    Some hundred rows go down a tree side by side, a level at a time: the steps of one need not wait for another's.
    `plain` says that all features have an order and no entry is missing.
    """
    node, row, leaf = np.empty(BLOCK, np.uint32), np.empty(BLOCK, np.uint32), np.empty(BLOCK, np.int32)
    for begin in range(0, len(Z), BLOCK):
        rows = Z[begin : begin + BLOCK]
        for t in range(len(starts) - 1):
            first, end = starts[t], starts[t + 1]
            nodes = feature[first:end], threshold[first:end], left[first:end]
            for i in range(len(rows)):
                node[i], row[i], leaf[i] = 0, i, 0
            active = np.uint64(len(rows) if end - first > 1 else 0)
            while active:
                if plain:
                    active = down(rows, *nodes, node, row, leaf, active)
                else:
                    active = down_any(rows, ordered, missing_left[first:end], *nodes, node, row, leaf, active)
            for i in range(len(rows)):
                out[begin + i, t] = leaf[i]


@compiled
def down(
    Z: Array, feature: Array, threshold: Array, left: Array, node: Array, row: Array, leaf: Array, active: Any
) -> Any:
    """The active rows go one level down a tree, if all have an order and none is missing; how many stay active.

    `node` and `row` are those of the active ones, one after the other; `leaf` is that of a row, once it is there. No
    jump, and no sign, whose test would be one.
    """
    kept = np.uint64(0)
    for a in range(active):
        at, i = np.uint64(node[a]), np.uint64(row[a])
        to = np.uint64(left[at]) + np.uint64(not Z[i, np.uint64(feature[at])] <= threshold[at])
        node[kept], row[kept], leaf[i] = to, i, -1 - left[to]
        kept += np.uint64(left[to] >= 0)
    return kept


@compiled
def down_any(
    Z: Array,
    ordered: Array,
    missing_left: Array,
    feature: Array,
    threshold: Array,
    left: Array,
    node: Array,
    row: Array,
    leaf: Array,
    active: Any,
) -> Any:
    """`down` for all kinds of features, with missing entries."""
    kept = np.uint64(0)
    for a in range(active):
        at, i = np.uint64(node[a]), np.uint64(row[a])
        j = np.uint64(feature[at])
        to = np.uint64(left[at]) + np.uint64(not goes_left(Z[i, j], threshold[at], ordered[j], missing_left[at]))
        node[kept], row[kept], leaf[i] = to, i, -1 - left[to]
        kept += np.uint64(left[to] >= 0)
    return kept


@compiled
def parents(starts: Array, left: Array) -> tuple[Array, Array]:
    """The node above each node, -1 for a root, and the node of each leaf; all numbered through the trees."""
    parent, at, leaf = np.full(len(left), -1), np.empty((len(left) + len(starts)) // 2, np.int64), 0
    for t in range(len(starts) - 1):
        for node in range(starts[t], starts[t + 1]):
            if left[node] < 0:
                at[leaf - 1 - left[node]] = node
            else:
                first = starts[t] + left[node]
                parent[first], parent[first + 1] = node, node
        leaf += (starts[t + 1] - starts[t] + 1) // 2
    return parent, at


@compiled
def log_nodes(starts: Array, left: Array, log_p: Array) -> Array:
    """log p(node | y) (nodes, k): that of the leaves below it together, from log_p (leaves of all trees, k)."""
    out, leaf = np.empty((len(left), log_p.shape[1])), 0
    for t in range(len(starts) - 1):
        for node in range(starts[t + 1] - 1, starts[t] - 1, -1):  # children come after their parent
            if left[node] < 0:
                out[node] = log_p[leaf - 1 - left[node]]
            else:
                first = starts[t] + left[node]
                for c in range(log_p.shape[1]):
                    a, b = out[first, c], out[first + 1, c]
                    top = max(a, b)
                    out[node, c] = top + np.log(np.exp(a - top) + np.exp(b - top))
        leaf += (starts[t + 1] - starts[t] + 1) // 2
    return out


@compiled
def add_steps(leaves: Array, begins: Array, at: Array, parent: Array, feature: Array, nodes: Array, out: Array) -> None:
    """What every split on the way to the leaves of a row (n, t) changes, added to its feature in `out` (n, k, d)."""
    for i in range(len(leaves)):
        for t in range(len(begins)):
            node = at[begins[t] + leaves[i, t]]
            while parent[node] >= 0:
                above = parent[node]
                for c in range(nodes.shape[1]):
                    out[i, c, feature[above]] += nodes[node, c] - nodes[above, c]
                node = above
