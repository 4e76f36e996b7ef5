"""Compiled loops that draw rows for trees, grow trees on them, and send rows down the trees; one thread each.

A tree is arrays over its nodes, the root first. An inner node sends a row to its first child, `left`, or to the one
after it; at a leaf `left` is -1 - the leaf's number.
"""

from __future__ import annotations

import numpy as np

from suffice import _hash
from suffice._compiled import compiled
from suffice._vector import Array

BLOCK = 512  # rows that walk side by side
PERFECT = 1.0 - 1e-12  # share of the weight of a node that a split into pure sides scores, but for rounding
LEFT, RIGHT, MISSING = 0, 1, 2  # where the rows of a node are under a candidate for its split


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
def uniform(state: Array) -> float:
    """A random number in [0, 1), as splitmix64 draws it; the state (1,) moves on."""
    state[0] += np.uint64(_hash.GOLDEN)
    return float(mixed(state[0]) >> np.uint64(11)) * 2.0**-53


@compiled
def below(state: Array, size: int) -> int:
    """A random whole number below `size`."""
    return min(int(uniform(state) * size), size - 1)


@compiled
def goes_left(value: float, cut: float, ordered: bool, missing_left: bool) -> bool:
    """Whether an entry is at most the threshold (equals it, where values have no order), or missing and sent there.

    A threshold of NaN is met by no entry: it divides the missing entries from the others.
    """
    if np.isnan(value):
        return missing_left
    return value <= cut if ordered else value == cut


@compiled
def draw_cut(column: Array, rows: Array, ordered: bool, high: float, state: Array) -> float:
    """A threshold between the values of two random rows, or at that of one; NaN if one of them is missing."""
    at = below(state, len(rows))
    one = float(column[rows[at]])
    if not ordered:
        return one
    other = float(column[rows[(at + 1 + below(state, len(rows) - 1)) % len(rows)]])
    if one == other:  # the value against greater ones; the greatest against the others
        return one if one < high else float(np.nextafter(one, -np.inf))
    u, low = uniform(state), min(one, other)
    cut = (1.0 - u) * one + u * other
    return low if cut < low or cut >= max(one, other) else cut  # by rounding; NaN stays


@compiled
def spread_of(column: Array, rows: Array) -> tuple[float, float, int]:
    """The least and the greatest value of a feature among some rows, and the number of missing entries."""
    low, high, holes = np.inf, -np.inf, 0
    for r in rows:
        value = column[r]
        if np.isnan(value):
            holes += 1
        else:
            low, high = min(low, value), max(high, value)
    return low, high, holes


@compiled
def judge(
    column: Array,
    rows: Array,
    cut: float,
    ordered: bool,
    labels: Array,
    weight: Array,
    min_leaf: float,
    counts: Array,
) -> tuple[float, bool]:
    """sum_c w_c^2 / w over both sides of a split, -1 if one is too small, and whether missing entries go to the left.

    They go where that sum is the greater, which is where the Gini impurity is the less; else to the larger side.
    `counts` (3, k) is zero before and after.
    """
    left, right, lost = 0.0, 0.0, 0.0  # weights, and sums of squares by class, on either side and of missing entries
    lefts, rights, losts = 0.0, 0.0, 0.0
    for r in rows:
        value, w, c = column[r], weight[r], labels[r]
        if np.isnan(value) and not np.isnan(cut):
            losts += w * (2.0 * counts[MISSING, c] + w)
            counts[MISSING, c] += w
            lost += w
        elif goes_left(value, cut, ordered, True):
            lefts += w * (2.0 * counts[LEFT, c] + w)
            counts[LEFT, c] += w
            left += w
        else:
            rights += w * (2.0 * counts[RIGHT, c] + w)
            counts[RIGHT, c] += w
            right += w
    to_left, to_right = 0.0, 0.0  # what the missing entries add to the squares of either side, besides their own
    for r in rows:
        c = labels[r]
        if lost > 0 and np.isnan(column[r]):
            to_left += 2.0 * weight[r] * counts[LEFT, c]
            to_right += 2.0 * weight[r] * counts[RIGHT, c]
    for r in rows:
        counts[LEFT, labels[r]] = counts[RIGHT, labels[r]] = counts[MISSING, labels[r]] = 0.0
    joined_left = gain(lefts + losts + to_left, left + lost, rights, right, min_leaf)
    joined_right = gain(lefts, left, rights + losts + to_right, right + lost, min_leaf)
    if joined_left == joined_right:
        return joined_left, left >= right or np.isnan(cut)
    return max(joined_left, joined_right), joined_left > joined_right or np.isnan(cut)


@compiled
def gain(a: float, mass: float, b: float, other: float, min_leaf: float) -> float:
    """The sum of squares by weight of two sides; -1 if one of them is too small."""
    if mass < min_leaf or other < min_leaf or mass <= 0 or other <= 0:
        return -1.0
    return a / mass + b / other


@compiled
def divide(rows: Array, column: Array, cut: float, ordered: bool, missing_left: bool) -> int:
    """Rows that go to the left first, both in their order; how many there are."""
    spare = np.empty_like(rows)
    first, others = 0, 0
    for r in rows:
        if goes_left(column[r], cut, ordered, missing_left):
            rows[first] = r
            first += 1
        else:
            spare[others] = r
            others += 1
    for i in range(others):  # compiles in a tenth of the time of one assignment
        rows[first + i] = spare[i]
    return first


@compiled
def is_pure(rows: Array, labels: Array) -> bool:
    """Whether rows are all of one class."""
    first = labels[rows[0]]
    for r in rows:  # noqa: SIM110 - compiled code knows no generators
        if labels[r] != first:
            return False
    return True


@compiled
def put(stack: Array, top: int, node: int, begin: int, end: int, fixed: int) -> None:
    """A node to be grown on: its rows from `begin` to `end`, and how many features do not vary among them."""
    stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = node, begin, end, fixed


@compiled
def grow(
    columns: Array,
    ordered: Array,
    labels: Array,
    weight: Array,
    classes: int,
    seed: Array,
    candidates: int,
    min_leaf: float,
    min_split: float,
    supervised: bool,
) -> tuple[Array, Array, Array, Array]:
    """A random tree over columns (d, n): feature, threshold, missing_left and left of every node.

    Of up to `candidates` random splits of features that vary among the rows of a node it takes the one of least Gini
    impurity; after one whose sides are pure no other is tried.
    """
    d, n = columns.shape
    size = max(1, 2 * n - 1)
    feature, threshold = np.zeros(size, np.int32), np.zeros(size)
    missing_left, left = np.zeros(size, np.bool_), np.zeros(size, np.int32)
    state = seed.copy()
    order = np.arange(n)  # of the rows: those of a node are next to each other
    features = np.arange(d)  # those that do not vary in a node come first, there and below it
    counts = np.zeros((3, classes))
    stack = np.empty((n + 2, 4), np.int64)
    put(stack, 0, 0, 0, n, 0)
    top, nodes, leaves = 1, 1, 0
    while top:
        top -= 1
        node, begin, end, fixed = stack[top]
        rows = order[begin:end]
        best, tried, mass = -1.0, 0, 0.0
        for r in rows:
            mass += weight[r]
        if mass < min_split or len(rows) < 2 or (supervised and is_pure(rows, labels)):
            tried = candidates
        while tried < candidates and fixed < d and best < PERFECT * mass:
            at = fixed + below(state, d - fixed)
            j = features[at]
            low, high, holes = spread_of(columns[j], rows)
            if not low < high and (holes == 0 or holes == len(rows)):
                features[at], features[fixed] = features[fixed], j
                fixed += 1
                continue
            tried += 1
            cut = draw_cut(columns[j], rows, ordered[j], high, state) if low < high else np.nan
            score, to_left = judge(columns[j], rows, cut, ordered[j], labels, weight, min_leaf, counts)
            if score > best:
                best, feature[node], threshold[node], missing_left[node] = score, j, cut, to_left
        if best < 0:
            left[node] = -1 - leaves
            leaves += 1
            continue
        j = feature[node]
        ends = begin + divide(rows, columns[j], threshold[node], ordered[j], missing_left[node])
        left[node] = nodes
        put(stack, top, nodes + 1, ends, end, fixed)
        put(stack, top + 1, nodes, begin, ends, fixed)
        top, nodes = top + 2, nodes + 2
    return feature[:nodes], threshold[:nodes], missing_left[:nodes], left[:nodes]


@compiled
def walk(
    Z: Array,
    ordered: Array,
    starts: Array,
    feature: Array,
    threshold: Array,
    missing_left: Array,
    left: Array,
    out: Array,
) -> None:
    """The leaf of every tree that each row of Z (n, d) comes to, into `out` (n, t).

    Some hundred rows go down a tree side by side, a level at a time: the steps of one need not wait for another's.
    """
    node, row = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
    for begin in range(0, len(Z), BLOCK):
        size = min(BLOCK, len(Z) - begin)
        for t in range(len(starts) - 1):
            root, active = starts[t], size
            for i in range(size):
                node[i], row[i] = root, begin + i
            while active:
                kept = 0
                for a in range(active):
                    at, i = node[a], row[a]
                    if left[at] < 0:
                        out[i, t] = -1 - left[at]
                    else:
                        first = goes_left(Z[i, feature[at]], threshold[at], ordered[feature[at]], missing_left[at])
                        node[kept], row[kept] = root + left[at] + (not first), i
                        kept += 1
                active = kept


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
