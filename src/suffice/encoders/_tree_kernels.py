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
def draw_cut(values: Array, ordered: bool, high: float, state: Array) -> float:
    """A threshold between the values (m,) of two random rows, or at that of one; NaN if one of them is missing."""
    at = below(state, len(values))
    one = float(values[at])
    if not ordered:
        return one
    other = float(values[(at + 1 + below(state, len(values) - 1)) % len(values)])
    if one == other:  # the value against greater ones; the greatest against the others
        return one if one < high else float(np.nextafter(one, -np.inf))
    u, low = uniform(state), min(one, other)
    cut = (1.0 - u) * one + u * other
    return low if cut < low or cut >= max(one, other) else cut  # by rounding; NaN stays


@compiled
def look_up(column: Array, rows: Array, values: Array) -> tuple[float, float, int]:
    """A feature's values of some rows, put side by side: the least, the greatest, and how many are missing."""
    low, high, holes = np.inf, -np.inf, 0
    for i in range(len(rows)):
        value = column[rows[i]]
        values[i] = value
        low = value if value < low else low  # NaN is neither
        high = value if value > high else high
        holes += np.isnan(value)
    return low, high, holes


@compiled
def judge(
    values: Array, cut: float, ordered: bool, labels: Array, weight: Array, min_leaf: float, counts: Array
) -> tuple[float, bool]:
    """sum_c w_c^2 / w over both sides of a split, -1 if one is too small, and whether missing entries go to the left.

    They go where that sum is the greater, which is where the Gini impurity is the less; else to the larger side.
    `values`, `labels` and `weight` are those of the rows (m,); `counts` (3, k) is zero before and after.
    """
    missing = LEFT if np.isnan(cut) else MISSING
    for i in range(len(values)):
        value = values[i]
        side = RIGHT - (value <= cut if ordered else value == cut)  # no jump, which half the time is guessed wrong
        side = missing if np.isnan(value) else side
        counts[side, labels[i]] += weight[i]
    left, right, lost = 0.0, 0.0, 0.0  # weights
    lefts, rights, lefts_lost, rights_lost = 0.0, 0.0, 0.0, 0.0  # sums of squares by class, without and with missing
    k = counts.shape[1]
    for i in range(min(k, len(labels))):  # of many classes those of the rows: a second visit adds nothing
        c = i if k <= len(labels) else labels[i]
        a, b, m = counts[LEFT, c], counts[RIGHT, c], counts[MISSING, c]
        left, right, lost = left + a, right + b, lost + m
        lefts, rights = lefts + a * a, rights + b * b
        lefts_lost, rights_lost = lefts_lost + (a + m) * (a + m), rights_lost + (b + m) * (b + m)
        counts[LEFT, c] = counts[RIGHT, c] = counts[MISSING, c] = 0.0
    joined_left = gain(lefts_lost, left + lost, rights, right, min_leaf)
    joined_right = gain(lefts, left, rights_lost, right + lost, min_leaf)
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
def gather(rows: Array, labels: Array, weight: Array, own: Array, share: Array) -> tuple[float, bool]:
    """The labels and weights of some rows, put side by side: their weight, and whether all are of one class."""
    mass, pure = 0.0, True
    for i in range(len(rows)):
        own[i], share[i] = labels[rows[i]], weight[rows[i]]
        mass += share[i]
        pure &= own[i] == own[0]
    return mass, pure


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
    values, own, share = np.empty(n), np.empty(n, labels.dtype), np.empty(n)  # of the rows of a node, side by side
    counts = np.zeros((3, classes))
    stack = np.empty((n + 2, 4), np.int64)
    put(stack, 0, 0, 0, n, 0)
    top, nodes, leaves = 1, 1, 0
    while top:
        top -= 1
        node, begin, end, fixed = stack[top]
        rows, m = order[begin:end], end - begin
        best, tried = -1.0, 0
        mass, pure = gather(rows, labels, weight, own, share)
        if mass < min_split or m < 2 or (supervised and pure):
            tried = candidates
        while tried < candidates and fixed < d and best < PERFECT * mass:
            at = fixed + below(state, d - fixed)
            j = features[at]
            low, high, holes = look_up(columns[j], rows, values)
            if not low < high and (holes == 0 or holes == m):
                features[at], features[fixed] = features[fixed], j
                fixed += 1
                continue
            tried += 1
            cut = draw_cut(values[:m], ordered[j], high, state) if low < high else np.nan
            score, to_left = judge(values[:m], cut, ordered[j], own[:m], share[:m], min_leaf, counts)
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
