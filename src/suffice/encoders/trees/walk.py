"""Compiled loops that draw rows for trees, and send rows down the trees; one thread each. `_growing` grows them.

A tree is arrays over its nodes, the root first. An inner node sends a row to its first child, `left`, or to the one
after it; at a leaf `left` is -1 - the leaf's number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice._core.vector import Array
from suffice._runtime import hashing as _hash
from suffice._runtime.lazy import compiled

BLOCK = 512  # rows that walk side by side
LEVELS = 3  # that they go down before those at a leaf are taken out
MISSING_LEFT = np.uint32(1 << 31)  # beside the feature of a node: missing entries go to the left
FEATURE = np.uint32(MISSING_LEFT - 1)
# Entries from `low` to `high` go to `left`, others to the node after it.
NODE = np.dtype([("low", "f8"), ("high", "f8"), ("feature", "u4"), ("left", "u4")], align=True)


mixed = compiled(_hash.mixed)


@compiled
def up_to(keys: Array, seed: Array, limit: Array) -> Array:
    """Which of some keys (n,) have a hash under a seed (1,) of at most a limit (1,)."""
    which, count, s, most = np.empty(len(keys) + 1, np.int64), np.uint64(0), seed[0], limit[0]
    for i in range(len(keys)):
        which[count] = i
        count += np.uint64(mixed(keys[i] ^ s) <= most)
    return which[:count].copy()


@compiled
def around(keys: Array, seed: Array, bounds: Array) -> tuple[int, Array]:
    """How many of some keys (n,) have a hash under a seed (1,) below the first of two bounds; the hashes between."""
    hashes, below, count = np.empty(len(keys) + 1, np.uint64), np.uint64(0), np.uint64(0)
    s, low, high = seed[0], bounds[0], bounds[1]
    for i in range(len(keys)):
        found = mixed(keys[i] ^ s)
        hashes[count] = found
        below += np.uint64(found < low)
        count += np.uint64((found >= low) & (found <= high))
    return int(below), hashes[:count].copy()


@compiled
def inside(keys: Array, seeds: Array, limits: Array, out: Array) -> None:
    """Whether the hash of each row's key (n,) is at most the limit of each tree (t,), into `out` (n, t)."""
    for i in range(len(keys)):
        for t in range(len(seeds)):
            out[i, t] = mixed(keys[i] ^ seeds[t]) <= limits[t]


@compiled
def mark(keys: Array, seeds: Array, limits: Array, leaves: Array) -> None:
    """Leaves (n, t) as -1 - leaf where a tree is `inside`."""
    for i in range(len(keys)):
        for t in range(len(seeds)):
            leaves[i, t] ^= -np.int32(mixed(keys[i] ^ seeds[t]) <= limits[t])


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
def packed(
    nodes: Array, starts: Array, ordered: Array, feature: Array, threshold: Array, missing_left: Array, left: Array
) -> None:
    """The nodes of all trees into an array of NODE, as `walk` takes them.

    A leaf sends all rows to itself, so that rows which are there may walk on with the others.
    """
    for t in range(len(starts) - 1):
        for i in range(starts[t], starts[t + 1]):
            at = nodes[i]
            if left[i] < 0:
                at.low, at.high, at.feature, at.left = -np.inf, np.inf, MISSING_LEFT, i - starts[t]
            else:
                at.low = -np.inf if ordered[feature[i]] else threshold[i]
                at.high, at.left = threshold[i], left[i]
                at.feature = np.uint32(feature[i]) | (MISSING_LEFT if missing_left[i] else np.uint32(0))


@compiled
def walk(Z: Array, starts: Array, nodes: Array, left: Array, plain: bool, out: Array) -> None:
    """The leaf of every tree that each row of Z (n, d) comes to, into `out` (n, t).

    Some hundred rows go down a tree side by side, a level at a time: the steps of one need not wait for another's. Now
    and then those that have come to a leaf are taken out. `plain` says that all features have an order and no entry is
    missing.
    """
    node, row = np.empty(BLOCK, np.uint32), np.empty(BLOCK, np.uint32)
    for t in range(len(starts) - 1):  # the nodes of a tree stay at hand for all rows
        tree = nodes[starts[t] : starts[t + 1]]
        for begin in range(0, len(Z), BLOCK):
            rows, leaves = Z[begin : begin + BLOCK], out[begin : begin + BLOCK, t]
            for i in range(len(rows)):
                node[i], row[i] = 0, i
            active, levels = np.uint64(len(rows)), int(np.log2(len(tree)))  # near their mean depth
            while active:
                for _ in range(levels):
                    if plain:
                        down(rows, tree, node, row, active)
                    else:
                        down_any(rows, tree, node, row, active)
                active = arrive(left[starts[t] : starts[t + 1]], node, row, active, leaves)
                levels = LEVELS


@compiled
def down(Z: Array, tree: Array, node: Array, row: Array, active: Any) -> None:
    """The active rows go one level down a tree, if all features have an order and no entry is missing; no jump."""
    for a in range(active):
        at = tree[np.uint64(node[a])]
        value = Z[np.uint64(row[a]), np.uint64(at.feature & FEATURE)]
        node[a] = np.uint64(at.left) + np.uint64(not value <= at.high)


@compiled
def down_any(Z: Array, tree: Array, node: Array, row: Array, active: Any) -> None:
    """`down` for all kinds of features, with missing entries."""
    for a in range(active):
        at = tree[np.uint64(node[a])]
        value = Z[np.uint64(row[a]), np.uint64(at.feature & FEATURE)]
        within = (value <= at.high) & (value >= at.low)
        node[a] = np.uint64(at.left) + np.uint64(not within | (np.isnan(value) & (at.feature >= MISSING_LEFT)))


@compiled
def arrive(left: Array, node: Array, row: Array, active: Any, leaves: Array) -> Any:
    """The leaves of those rows that have come to one; `node` and `row` of the others, and how many these are."""
    kept = np.uint64(0)
    for a in range(active):
        leaf = -1 - left[np.uint64(node[a])]
        leaves[np.uint64(row[a])] = leaf
        node[kept], row[kept] = node[a], row[a]
        kept += np.uint64(leaf < 0)
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
