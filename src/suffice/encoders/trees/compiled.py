"""Compiled loops of random trees, in one thread: draw their rows, grow them, and send rows down to the leaves.

A tree is arrays over its nodes, the root first. An inner node sends a row to its first child, `left`, or to the one
after it; at a leaf `left` is -1 - the leaf's number. While a tree grows, the rows of a node stand next to each other in
`order`, from `begin` to `end`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice._core.vector import Array
from suffice._runtime import random as _hash
from suffice._runtime.lazy import compiled

BLOCK = 512  # rows that go down a tree side by side
LEVELS = 3  # levels between two removals of the rows that have reached a leaf
MISSING_LEFT = np.uint32(1 << 31)  # a bit of a node's feature: missing entries go to the left
FEATURE = np.uint32(MISSING_LEFT - 1)
# Entries from `low` to `high` go to `left`, others to the node after it.
NODE = np.dtype([("low", "f8"), ("high", "f8"), ("feature", "u4"), ("left", "u4")], align=True)

mixed = compiled(_hash.mixed)


@compiled
def up_to(keys: Array, seed: Array, limit: Array) -> Array:
    """Indices of the keys (n,) whose hash under a seed (1,) is at most a limit (1,)."""
    which, count, s, most = np.empty(len(keys) + 1, np.int64), np.uint64(0), seed[0], limit[0]
    for i in range(len(keys)):
        which[count] = i
        count += np.uint64(mixed(keys[i] ^ s) <= most)
    return which[:count].copy()


@compiled
def around(keys: Array, seed: Array, bounds: Array) -> tuple[int, Array]:
    """The number of keys (n,) whose hash under a seed (1,) is below the first of two bounds; the hashes between."""
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
    """Write to `out` (n, t) whether the hash of each row's key (n,) is at most the limit of each tree (t,)."""
    for i in range(len(keys)):
        for t in range(len(seeds)):
            out[i, t] = mixed(keys[i] ^ seeds[t]) <= limits[t]


@compiled
def mark(keys: Array, seeds: Array, limits: Array, leaves: Array) -> None:
    """Turn leaves (n, t) into -1 - leaf where `inside` is true."""
    for i in range(len(keys)):
        for t in range(len(seeds)):
            leaves[i, t] ^= -np.int32(mixed(keys[i] ^ seeds[t]) <= limits[t])


@compiled
def any_inside(keys: Array, seeds: Array, limits: Array) -> Array:
    """True where the hash of a key (n,) is at most the limit of some tree (t,): (n,)."""
    out = np.zeros(len(keys), np.bool_)
    for i in range(len(keys)):
        t = 0
        while t < len(seeds) and not out[i]:
            out[i] = mixed(keys[i] ^ seeds[t]) <= limits[t]
            t += 1
    return out


@compiled
def goes_left(value: float, cut: float, ordered: bool, missing_left: bool) -> bool:
    """True if an entry is at most the threshold (equal to it, if values have no order), or missing and sent left.

    No entry meets a threshold of NaN: it splits the missing entries from the others.
    """
    # `|` and `&` compile without a branch, which would often be mispredicted.
    return bool(value <= cut if ordered else value == cut) | (missing_left & bool(np.isnan(value)))


@compiled
def pack_nodes(
    nodes: Array, starts: Array, ordered: Array, feature: Array, threshold: Array, missing_left: Array, left: Array
) -> None:
    """Write the nodes of all trees to an array of NODE, for `walk`.

    A leaf sends all rows to itself, so that rows at a leaf can take further steps with the others.
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
    """Write to `out` (n, t) the leaf of every tree that each row of Z (n, d) falls into.

    Some hundred rows go down a tree side by side, a level at a time, so that the processor overlaps their steps. Rows
    that have reached a leaf are removed now and then. `plain` says that all features are ordered and no entry is
    missing.
    """
    node, row = np.empty(BLOCK, np.uint32), np.empty(BLOCK, np.uint32)
    for t in range(len(starts) - 1):  # trees outside, so that the nodes of a tree stay in the cache
        tree = nodes[starts[t] : starts[t + 1]]
        for begin in range(0, len(Z), BLOCK):
            rows, leaves = Z[begin : begin + BLOCK], out[begin : begin + BLOCK, t]
            for i in range(len(rows)):
                node[i], row[i] = 0, i
            active, levels = np.uint64(len(rows)), int(np.log2(len(tree)))  # about the mean depth
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
    """Move the active rows one level down, without branches, if all features are ordered and no entry is missing."""
    for a in range(active):
        at = tree[np.uint64(node[a])]
        value = Z[np.uint64(row[a]), np.uint64(at.feature & FEATURE)]
        node[a] = np.uint64(at.left) + np.uint64(not value <= at.high)


@compiled
def down_any(Z: Array, tree: Array, node: Array, row: Array, active: Any) -> None:
    """`down` for features of any kind, with missing entries."""
    for a in range(active):
        at = tree[np.uint64(node[a])]
        value = Z[np.uint64(row[a]), np.uint64(at.feature & FEATURE)]
        within = (value <= at.high) & (value >= at.low)
        node[a] = np.uint64(at.left) + np.uint64(not within | (np.isnan(value) & (at.feature >= MISSING_LEFT)))


@compiled
def arrive(left: Array, node: Array, row: Array, active: Any, leaves: Array) -> Any:
    """Write the leaves of rows that have reached one; keep `node` and `row` of the others, and return their number."""
    kept = np.uint64(0)
    for a in range(active):
        leaf = -1 - left[np.uint64(node[a])]
        leaves[np.uint64(row[a])] = leaf
        node[kept], row[kept] = node[a], row[a]
        kept += np.uint64(leaf < 0)
    return kept


@compiled
def parents(starts: Array, left: Array) -> tuple[Array, Array]:
    """The parent of each node, -1 for a root, and the node of each leaf; both are numbered over all trees."""
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
    """log p(node | y) (nodes, k), the sum over the leaves below, from log_p (leaves of all trees, k)."""
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
    """Add the change by every split on the way to the leaves (n, t) of a row to its feature in `out` (n, k, d)."""
    for i in range(len(leaves)):
        for t in range(len(begins)):
            node = at[begins[t] + leaves[i, t]]
            while parent[node] >= 0:
                above = parent[node]
                for c in range(nodes.shape[1]):
                    out[i, c, feature[above]] += nodes[node, c] - nodes[above, c]
                node = above


LEFT, RIGHT, MISSING = 0, 1, 2  # sides of a split
# A word of 64 bits holds the weights of up to four classes, 16 bits each.
PARTS, BITS, PART = 4, np.uint64(16), np.uint64(0xFFFF)
NOTHING, ONE = np.uint64(0), np.uint64(1)
HALF, LOWER = np.uint64(32), np.uint64(0xFFFFFFFF)  # one random number of 64 bits serves as two of 32
GROUP = np.uint64(8)  # rows in one vector instruction
STEP = np.uint64(_hash.GOLDEN)  # between states of the random numbers, as in splitmix64


@compiled
def below(half: Any, size: Any) -> Any:
    """A random whole number below `size`, from a random number below 2^32."""
    return (half * size) >> HALF


@compiled
def draw(
    most: int,
    columns: Array,
    ordered: Array,
    order: Array,
    begin: Any,
    end: Any,
    features: Array,
    fixed: int,
    state: Any,
    splits: Any,
) -> tuple[int, int, Any]:
    """Draw up to `most` random splits of a node; return their number, the number of constant features, and the state.

    There are fewer splits if nothing varies. Features found to be constant in the node move to the front of `features`
    (d,), where `fixed` counts them. A threshold is between the values of two random rows, or at the value of one.
    """
    which, low, high = splits
    d, m, count = len(features), end - begin, 0
    while count < most and fixed < d:
        word, rows = mixed(state), mixed(state + STEP)
        state += STEP + STEP
        at = np.uint64(fixed) + below(word >> HALF, np.uint64(d - fixed))
        j, first = np.uint64(features[at]), below(rows >> HALF, m)
        second = first + ONE + below(rows & LOWER, m - ONE)
        one, other = (
            columns[j, order[begin + first]],
            columns[j, order[begin + second - (m if second >= m else NOTHING)]],
        )
        cut = one
        if one < other or one > other:
            cut = between(one, other, float(word & LOWER) * 2.0**-32) if ordered[j] else one
        else:
            found = kinds(columns, j, order, begin, end)
            if found < 2:
                features[at], features[fixed] = features[fixed], features[at]
                fixed += 1
                continue
            cut = one if found == 3 and (one == other or not ordered[j]) else np.nan
            if ordered[j] and is_greatest(cut, columns, j, order, begin, end):
                cut = np.nextafter(cut, -np.inf)  # the greatest value against the others
        which[count], low[count], high[count] = j, -np.inf if ordered[j] else cut, cut
        count += 1
    return count, fixed, state


@compiled
def between(one: float, other: float, share: float) -> float:
    """A threshold at a share of the way from one value to another, below the greater."""
    cut = (1.0 - share) * one + share * other
    least = min(one, other)
    # Rounding may have put the threshold outside.
    return least if cut < least or cut >= max(one, other) else cut


@compiled
def kinds(columns: Array, j: Any, order: Array, begin: Any, end: Any) -> int:
    """3 if a node has two different values, 2 if it has one value and missing entries, else 1 (0 without rows)."""
    seen, missing = np.nan, 0
    for i in range(begin, end):
        value = columns[j, order[i]]
        if np.isnan(value):
            missing = 1
        elif np.isnan(seen):
            seen = value
        elif value != seen:
            return 3
    return missing + (not np.isnan(seen))


@compiled
def is_greatest(value: float, columns: Array, j: Any, order: Array, begin: Any, end: Any) -> bool:
    """True if no row of a node has a greater value."""
    for i in range(begin, end):  # noqa: SIM110 - `all` is not compiled
        if columns[j, order[i]] > value:
            return False
    return True


@compiled
def pack_weights(labels: Array, weight: Array, classes: int) -> Array:
    """The weight of each row in the part of a word (n,) that belongs to its class; (0,) if weights do not fit.

    One sum of words is then the weights of all classes.
    """
    words, total, fit = np.empty(len(labels), np.uint64), 0.0, classes <= PARTS
    for i in range(len(labels)):
        total += weight[i]
        fit &= weight[i] == np.floor(weight[i])
        words[i] = np.uint64(weight[i]) << (BITS * np.uint64(labels[i]))
    return words if fit and total <= float(PART) else words[:0]


@compiled
def part(word: Any, c: int) -> float:
    """The weight of a class in a word."""
    return float((word >> (BITS * np.uint64(c))) & PART)


@compiled
def summary(word: Any, classes: int) -> tuple[float, bool]:
    """The weight of all classes in a word, and True if it is all of one class."""
    mass, most = 0.0, 0.0
    for c in range(classes):
        mass, most = mass + part(word, c), max(most, part(word, c))
    return mass, mass == most


@compiled
def add_words(
    count: int,
    columns: Array,
    order: Array,
    begin: Any,
    end: Any,
    words: Array,
    plain: bool,
    splits: Any,
    there: Array,
    lost: Array,
) -> None:
    """Write the sums of the words of rows that each split sends to the left to `there` (q,), of missing ones to `lost`.

    Rows go in whole groups: words beyond `end` must be NOTHING. `plain` says that all features are ordered and no
    entry is missing.
    """
    which, low, high = splits
    end = begin + ((end - begin + GROUP - ONE) & ~(GROUP - ONE))  # a part of a group takes longer than all of it
    for q in range(count):
        j, least, most, left, gone = which[q], low[q], high[q], NOTHING, NOTHING
        if plain:
            for i in range(begin, end):
                left += words[i] if columns[j, order[i]] <= most else NOTHING
        else:
            for i in range(begin, end):
                value = columns[j, order[i]]
                left += words[i] if (value <= most) & (value >= least) else NOTHING
                gone += words[i] if np.isnan(value) else NOTHING
        there[q], lost[q] = left, gone


@compiled
def best_of_words(
    count: int, there: Array, lost: Array, total: Any, classes: int, high: Array, min_leaf: float
) -> tuple[float, int, bool]:
    """The score of the best split, its number, and True if it sends missing entries to the left.

    `there`, `lost` and `total` are the words of the rows on the left, of missing rows and of all rows.
    """
    best, at, to_left = -1.0, 0, False
    for q in range(count):
        sums, alone = (0.0,) * 7, np.isnan(high[q])
        for c in range(classes):
            a, m = part(there[q], c), part(lost[q], c)
            sums = with_class(sums, a, part(total, c) - a - m, m, alone)
        score, side = judge(sums, alone, min_leaf)
        if score > best:
            best, at, to_left = score, q, side
    return best, at, to_left


@compiled
def best_of_weights(
    count: int,
    columns: Array,
    order: Array,
    begin: Any,
    end: Any,
    labels: Array,
    weight: Array,
    splits: Any,
    counts: Array,
    enough: float,
    min_leaf: float,
) -> tuple[float, int, bool]:
    """`best_of_words` from labels and weights of a node's rows; it stops at a split that scores `enough`.

    `counts` (3, k) is zero before and after.
    """
    which, low, high = splits
    best, at, to_left = -1.0, 0, False
    for q in range(count):
        if best < enough:
            add_weights(columns, which[q], order, begin, end, labels, weight, low[q], high[q], counts)
            score, side = judge_weights(counts, labels, begin, end, np.isnan(high[q]), min_leaf)
            if score > best:
                best, at, to_left = score, q, side
    return best, at, to_left


@compiled
def add_weights(
    columns: Array,
    j: Any,
    order: Array,
    begin: Any,
    end: Any,
    labels: Array,
    weight: Array,
    low: float,
    high: float,
    counts: Array,
) -> None:
    """Add the weights by class of a node's rows on each side of a split, and of missing rows, to counts (3, k)."""
    for i in range(begin, end):
        value = columns[j, order[i]]
        side = RIGHT - ((value <= high) & (value >= low))  # a branch would be mispredicted half the time
        side = MISSING if np.isnan(value) else side
        counts[side, labels[i]] += weight[i]


@compiled
def judge_weights(
    counts: Array, labels: Array, begin: Any, end: Any, missing_left: bool, min_leaf: float
) -> tuple[float, bool]:
    """`judge` the weights by class (3, k), and set them to zero.

    If there are more classes than rows in the node, only the classes of its rows, `labels` from `begin` to `end`, are
    visited.
    """
    sums = (0.0,) * 7
    k, m = counts.shape[1], int(end - begin)
    for i in range(min(k, m)):  # a class that is visited again has weight zero by then
        c = i if k <= m else labels[begin + np.uint64(i)]
        sums = with_class(sums, counts[LEFT, c], counts[RIGHT, c], counts[MISSING, c], missing_left)
        counts[LEFT, c] = counts[RIGHT, c] = counts[MISSING, c] = 0.0
    return judge(sums, missing_left, min_leaf)


@compiled
def with_class(sums: Any, a: float, b: float, m: float, missing_left: bool) -> Any:
    """Add a class to the weights on the left, on the right and missing, and to the sums of their squares by class.

    The squares are of the left and the right, without the missing rows and with them.
    """
    if missing_left:
        a, m = a + m, 0.0
    left, right, lost, lefts, rights, lefts_lost, rights_lost = sums
    lefts, rights = lefts + a * a, rights + b * b
    lefts_lost, rights_lost = lefts_lost + (a + m) * (a + m), rights_lost + (b + m) * (b + m)
    return left + a, right + b, lost + m, lefts, rights, lefts_lost, rights_lost


@compiled
def judge(sums: Any, missing_left: bool, min_leaf: float) -> tuple[float, bool]:
    """sum_c w_c^2 / w over both sides of a split, -1 if one is too small, and True if missing entries go to the left.

    Missing entries go where the sum is greater, that is, where the Gini impurity is lower; at a tie to the larger side;
    and always to the left with `missing_left`.
    """
    left, right, lost, lefts, rights, lefts_lost, rights_lost = sums
    if lost == 0.0:
        return gain(lefts, left, rights, right, min_leaf), left >= right or missing_left
    joined_left = gain(lefts_lost, left + lost, rights, right, min_leaf)
    joined_right = gain(lefts, left, rights_lost, right + lost, min_leaf)
    if joined_left == joined_right:
        return joined_left, left >= right or missing_left
    return max(joined_left, joined_right), joined_left > joined_right or missing_left


@compiled
def gain(a: float, mass: float, b: float, other: float, min_leaf: float) -> float:
    """The sums of squares divided by the weights of two sides; -1 if a side is too small."""
    enough = (mass >= min_leaf) & (other >= min_leaf) & (mass > 0.0) & (other > 0.0)  # one branch instead of four
    return a / mass + b / other if enough else -1.0


PERFECT = 1.0 - 1e-12  # score of a split into pure sides, by the weight of the node, up to rounding
MAX_SCATTER = 3  # if the table has more rows than this times the tree's, the tree's are copied together
LEAF = -1  # marks a leaf on the stack, in place of the number of constant features


@compiled
def copied(table: Array, rows: Array) -> Array:
    """Some rows (m,) of columns (d, n): (d, m)."""
    columns = np.empty((len(table), len(rows)))
    for j in range(len(table)):
        for i in range(len(rows)):
            columns[j, i] = table[j, np.uint64(rows[i])]
    return columns


@compiled
def divide(
    columns: Array,
    j: Any,
    order: Array,
    begin: Any,
    end: Any,
    cut: float,
    ordered: bool,
    missing_left: bool,
    spare: Array,
) -> Any:
    """Sort the rows of a node into left and right, each in their order; return where the right ones begin."""
    first, others = begin, NOTHING
    for i in range(begin, end):
        r = order[i]
        left = goes_left(columns[j, r], cut, ordered, missing_left)
        order[first] = spare[others] = r  # without a branch: the wrong one is overwritten
        first += np.uint64(left)
        others += np.uint64(not left)
    for i in range(others):  # compiles ten times as fast as a slice assignment
        order[first + i] = spare[i]
    return first


@compiled
def gather(order: Array, begin: Any, end: Any, values: Array, near: Array) -> Any:
    """Copy the values of a node's rows side by side to `near`, followed by a group of zeros; return their sum.

    Without values it does nothing.
    """
    total = values.dtype.type(0)
    for i in range(begin, end if len(values) else begin):
        near[i] = values[order[i]]
        total += near[i]
    near[end : end + GROUP] = 0
    return total


@compiled
def alike(order: Array, begin: Any, end: Any, labels: Array, own: Array) -> bool:
    """True if all rows of a node are of one class; their labels are copied side by side to `own`."""
    pure = True
    for i in range(begin, end):
        own[i] = labels[order[i]]
        pure &= own[i] == own[begin]
    return pure


@compiled
def is_leaf(mass: float, pure: bool, min_split: float, supervised: bool) -> bool:
    """True if a node of this weight is not split; `pure`: all its rows are of one class."""
    return mass < min_split or (supervised and pure)


@compiled
def put(stack: Array, top: int, node: int, begin: Any, end: Any, fixed: int) -> None:
    """Push a node: its rows from `begin` to `end`, and the number of features that are constant among them."""
    stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = node, begin, end, fixed


@compiled
def grow(
    table: Array,
    plain: bool,
    ordered: Array,
    rows: Array,
    labels: Array,
    weight: Array,
    classes: int,
    seed: Array,
    candidates: int,
    min_leaf: float,
    min_split: float,
    supervised: bool,
) -> tuple[Array, Array, Array, Array]:
    """Grow a tree on some rows (n,) of a table (d, N): feature, threshold, missing_left and left of every node.

    `ordered` (d,) says which columns are ordered, `plain` that all are and that no entry is missing; labels and weights
    are those of all N rows. A node takes the split of least Gini impurity among up to `candidates` random ones, and at
    most 2 m - 3 for m rows, as few rows can be divided in few ways only.
    """
    d, n = len(table), len(rows)
    size = max(1, 2 * n - 1)
    feature, threshold = np.zeros(size, np.int32), np.zeros(size)
    missing_left, left = np.zeros(size, np.bool_), np.zeros(size, np.int32)
    columns, order, spare = table, np.zeros(n + int(GROUP), np.uint32), np.empty(n, np.uint32)
    order[:n] = rows
    if table.shape[1] > MAX_SCATTER * n:
        columns, labels, weight = copied(table, rows), labels[rows], weight[rows]
        order[:n] = np.arange(n)
    words = pack_weights(labels, weight, classes)
    state = seed[0] + STEP
    features = np.arange(d)  # constant ones come first; they stay constant below the node
    own, share = np.empty(n, labels.dtype), np.empty(n + int(GROUP))  # labels and weights of a node's rows
    near = np.empty(n + int(GROUP), np.uint64)
    which, low, high = np.empty(candidates, np.uint64), np.empty(candidates), np.empty(candidates)
    splits = which, low, high
    there, lost = np.empty(candidates, np.uint64), np.empty(candidates, np.uint64)
    counts = np.zeros((3, classes))
    stack = np.empty((n + 2, 4), np.int64)
    put(stack, 0, 0, 0, n, 0)
    top, nodes, leaves = 1, 1, 0
    while top:
        top -= 1
        node, begin, end, fixed = stack[top, 0], np.uint64(stack[top, 1]), np.uint64(stack[top, 2]), stack[top, 3]
        if fixed == LEAF:
            left[node] = -1 - leaves
            leaves += 1
            continue
        total = gather(order, begin, end, words, near)
        if len(words):
            mass, pure = summary(total, classes)
        else:
            mass = gather(order, begin, end, weight, share)
            pure = alike(order, begin, end, labels, own)
        q, best, at, to_left = 0, -1.0, 0, False
        if end - begin > 1 and not is_leaf(mass, pure, min_split, supervised):
            q = min(candidates, 2 * int(end - begin) - 3)
            q, fixed, state = draw(q, columns, ordered, order, begin, end, features, fixed, state, splits)
        if len(words):
            add_words(q, columns, order, begin, end, near, plain, splits, there, lost)
            best, at, to_left = best_of_words(q, there, lost, total, classes, high, min_leaf)
        else:
            enough = PERFECT * mass
            best, at, to_left = best_of_weights(
                q, columns, order, begin, end, own, share, splits, counts, enough, min_leaf
            )
        if best < 0:
            left[node] = -1 - leaves
            leaves += 1
            continue
        feature[node], threshold[node], missing_left[node] = which[at], high[at], to_left
        first = second = fixed
        if len(words):  # the words of both sides are known: find leaves without visiting their rows
            there[at] += lost[at] if to_left else NOTHING
            mass, pure = summary(there[at], classes)
            first = LEAF if is_leaf(mass, pure, min_split, supervised) else fixed
            mass, pure = summary(total - there[at], classes)
            second = LEAF if is_leaf(mass, pure, min_split, supervised) else fixed
        ends = end
        if first != LEAF or second != LEAF:
            ends = divide(columns, which[at], order, begin, end, high[at], ordered[which[at]], to_left, spare)
        left[node] = nodes
        put(stack, top, nodes + 1, ends, end, second)
        put(stack, top + 1, nodes, begin, ends, first)
        top, nodes = top + 2, nodes + 2
    return feature[:nodes], threshold[:nodes], missing_left[:nodes], left[:nodes]
