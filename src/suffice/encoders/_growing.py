"""Compiled loops that grow a random tree, in one thread; `_tree_kernels` says what its nodes hold.

The rows of a node stand next to each other in `order`, from `begin` to `end`: whole numbers without a sign, as only
loops over such are compiled to work on several rows at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice import _hash
from suffice._compiled import compiled
from suffice._vector import Array
from suffice.encoders._tree_kernels import goes_left, mixed

PERFECT = 1.0 - 1e-12  # share of the weight of a node that a split into pure sides scores, but for rounding
LEFT, RIGHT, MISSING = 0, 1, 2  # where the rows of a node are under a candidate for its split
PARTS, BITS, PART = 4, np.uint64(16), np.uint64(0xFFFF)  # of a word that holds the weights of so many classes
NOTHING = np.uint64(0)
GROUP = np.uint64(8)  # rows that a processor works on at a time
STEP = np.uint64(_hash.GOLDEN)  # from one state of the random numbers to the next


@compiled
def uniform(state: Any) -> float:
    """The random number in [0, 1) of a state, as splitmix64 has it; the next state is this one + STEP."""
    return float(mixed(state) >> np.uint64(11)) * 2.0**-53


@compiled
def below(state: Any, size: int) -> int:
    """The random whole number below `size` of a state."""
    return min(int(uniform(state) * size), size - 1)


@compiled
def draw_cut(
    columns: Array, j: Any, order: Array, begin: Any, end: Any, ordered: bool, state: Any
) -> tuple[float, bool, Any]:
    """A threshold between the values of two random rows of a node, or at that of one; whether they differ; the state.

    NaN if one of them is missing.
    """
    m = int(end - begin)
    at = below(state, m)
    one = columns[j, order[begin + np.uint64(at)]]
    if not ordered:
        return one, False, state + STEP
    at += 1 + below(state + STEP, m - 1)
    other = columns[j, order[begin + np.uint64(at - m if at >= m else at)]]
    if one == other:
        return one, False, state + STEP + STEP
    u, low = uniform(state + STEP + STEP), min(one, other)
    cut = (1.0 - u) * one + u * other
    if cut < low or cut >= max(one, other):  # by rounding; NaN stays
        cut = low
    return cut, not np.isnan(one) and not np.isnan(other), state + STEP + STEP + STEP


@compiled
def kinds(columns: Array, j: Any, order: Array, begin: Any, end: Any) -> int:
    """How many kinds of entries a node has, up to 3: two different values are 3, a missing entry and a value are 2."""
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
    """Whether no row of a node has a greater value."""
    for i in range(begin, end):  # noqa: SIM110 - `all` is not compiled
        if columns[j, order[i]] > value:
            return False
    return True


@compiled
def taken(table: Array, rows: Array) -> Array:
    """Some rows (m,) of columns (d, n): (d, m)."""
    columns = np.empty((len(table), len(rows)))
    for j in range(len(table)):
        for i in range(len(rows)):
            columns[j, i] = table[j, np.uint64(rows[i])]
    return columns


@compiled
def packed(labels: Array, weight: Array, classes: int) -> Array:
    """The weight of each row as a part of a word (n,), that of its class; no words (0,) if weights do not fit.

    So one sum of words is the weights of all classes.
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
def add_words(
    columns: Array, j: Any, order: Array, begin: Any, end: Any, words: Array, cut: float, ordered: bool, holes: bool
) -> tuple[Any, Any]:
    """The sums of the words of those rows of a node that a threshold sends to the left, and of those missing.

    Rows go in whole groups: the words of those beyond `end` must be NOTHING.
    """
    there, lost = NOTHING, NOTHING
    end = begin + ((end - begin + GROUP - np.uint64(1)) & ~(GROUP - np.uint64(1)))  # some rows are slower than a group
    if holes:
        for i in range(begin, end):
            value = columns[j, order[i]]
            there += words[i] if (value <= cut if ordered else value == cut) else NOTHING
            lost += words[i] if np.isnan(value) else NOTHING
    elif ordered:
        for i in range(begin, end):
            there += words[i] if columns[j, order[i]] <= cut else NOTHING
    else:
        for i in range(begin, end):
            there += words[i] if columns[j, order[i]] == cut else NOTHING
    return there, lost


@compiled
def add_weights(
    columns: Array,
    j: Any,
    order: Array,
    begin: Any,
    end: Any,
    labels: Array,
    weight: Array,
    cut: float,
    ordered: bool,
    counts: Array,
) -> None:
    """The weights by class of a node's rows on each side of a threshold, and of those missing, to counts (3, k)."""
    for i in range(begin, end):
        value = columns[j, order[i]]
        side = RIGHT - (value <= cut if ordered else value == cut)  # no jump, which half the time is guessed wrong
        side = MISSING if np.isnan(value) else side
        counts[side, labels[i]] += weight[i]


@compiled
def judge_words(there: Any, lost: Any, total: Any, k: int, missing_left: bool, min_leaf: float) -> tuple[float, bool]:
    """`judged` by the words of the rows on the left, of those missing and of all."""
    sums = (0.0,) * 7
    for c in range(k):
        a, m = part(there, c), part(lost, c)
        sums = with_class(sums, a, part(total, c) - a - m, m, missing_left)
    return judged(sums, missing_left, min_leaf)


@compiled
def judge_weights(
    counts: Array, labels: Array, begin: Any, end: Any, missing_left: bool, min_leaf: float
) -> tuple[float, bool]:
    """`judged` by weights by class (3, k), which are zero afterwards.

    Of more classes than rows of a node, only those of its rows, `labels` from `begin` to `end`, are visited.
    """
    sums = (0.0,) * 7
    k, m = counts.shape[1], int(end - begin)
    for i in range(min(k, m)):  # a second visit adds nothing
        c = i if k <= m else labels[begin + np.uint64(i)]
        sums = with_class(sums, counts[LEFT, c], counts[RIGHT, c], counts[MISSING, c], missing_left)
        counts[LEFT, c] = counts[RIGHT, c] = counts[MISSING, c] = 0.0
    return judged(sums, missing_left, min_leaf)


@compiled
def with_class(sums: Any, a: float, b: float, m: float, missing_left: bool) -> Any:
    """The weights on the left, on the right and missing, and the sums of their squares by class, with another class.

    The squares are those of the left and the right without missing rows, and of both with them.
    """
    if missing_left:
        a, m = a + m, 0.0
    left, right, lost, lefts, rights, lefts_lost, rights_lost = sums
    lefts, rights = lefts + a * a, rights + b * b
    lefts_lost, rights_lost = lefts_lost + (a + m) * (a + m), rights_lost + (b + m) * (b + m)
    return left + a, right + b, lost + m, lefts, rights, lefts_lost, rights_lost


@compiled
def judged(sums: Any, missing_left: bool, min_leaf: float) -> tuple[float, bool]:
    """sum_c w_c^2 / w over both sides of a split, -1 if one is too small, and whether missing entries go to the left.

    They go where that sum is the greater, which is where the Gini impurity is the less; else to the larger side; or
    they must.
    """
    left, right, lost, lefts, rights, lefts_lost, rights_lost = sums
    joined_left = gain(lefts_lost, left + lost, rights, right, min_leaf)
    joined_right = gain(lefts, left, rights_lost, right + lost, min_leaf) if lost > 0.0 else joined_left
    if joined_left == joined_right:
        return joined_left, left >= right or missing_left
    return max(joined_left, joined_right), joined_left > joined_right or missing_left


@compiled
def gain(a: float, mass: float, b: float, other: float, min_leaf: float) -> float:
    """The sum of squares by weight of two sides; -1 if one of them is too small."""
    if mass < min_leaf or other < min_leaf or mass <= 0 or other <= 0:
        return -1.0
    return a / mass + b / other


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
    """The rows of a node that go to the left first, both in their order; where the others begin."""
    first, others = begin, NOTHING
    for i in range(begin, end):
        r = order[i]
        left = goes_left(columns[j, r], cut, ordered, missing_left)
        order[first] = spare[others] = r  # no jump: what is written too much is written over
        first += np.uint64(left)
        others += np.uint64(not left)
    for i in range(others):  # compiles in a tenth of the time of one assignment
        order[first + i] = spare[i]
    return first


@compiled
def gather(order: Array, begin: Any, end: Any, values: Array, near: Array) -> Any:
    """Values of the rows of a node, put side by side with a group of zeros after them, and their sum.

    Nothing if there are no values.
    """
    total = values.dtype.type(0)
    for i in range(begin, end if len(values) else begin):
        near[i] = values[order[i]]
        total += near[i]
    near[end : end + GROUP] = 0
    return total


@compiled
def alike(order: Array, begin: Any, end: Any, labels: Array, own: Array) -> bool:
    """Whether all rows of a node are of one class; their labels, put side by side."""
    pure = True
    for i in range(begin, end):
        own[i] = labels[order[i]]
        pure &= own[i] == own[begin]
    return pure


@compiled
def summary(word: Any, classes: int) -> tuple[float, bool]:
    """The weight of all classes in a word, and whether it is all of one class."""
    mass, most = 0.0, 0.0
    for c in range(classes):
        mass, most = mass + part(word, c), max(most, part(word, c))
    return mass, mass == most


@compiled
def put(stack: Array, top: int, node: int, begin: Any, end: Any, fixed: int) -> None:
    """A node to be grown on: its rows from `begin` to `end`, and how many features do not vary among them."""
    stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = node, begin, end, fixed


@compiled
def grow(
    table: Array,
    holes: Array,
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
    """A random tree over some rows (n,) of a table (d, N): feature, threshold, missing_left and left of every node.

    `holes` (d,) says which columns have missing entries, `ordered` (d,) which have an order; labels and weights are
    those of all N rows. Of up to `candidates` random splits of features that vary among the rows of a node it takes the
    one of least Gini impurity; after one whose sides are pure no other is tried.
    """
    d, n = len(table), len(rows)
    size = max(1, 2 * n - 1)
    feature, threshold = np.zeros(size, np.int32), np.zeros(size)
    missing_left, left = np.zeros(size, np.bool_), np.zeros(size, np.int32)
    columns = taken(table, rows)
    labels, weight = labels[rows], weight[rows]
    words = packed(labels, weight, classes)
    state = seed[0] + STEP
    order, spare = np.zeros(n + int(GROUP), np.uint32), np.empty(n, np.uint32)
    order[:n] = np.arange(n)
    features = np.arange(d)  # those that do not vary in a node come first, there and below it
    own, share = np.empty(n, labels.dtype), np.empty(n + int(GROUP))  # of a node's rows, side by side
    near = np.empty(n + int(GROUP), np.uint64)
    counts = np.zeros((3, classes))
    stack = np.empty((n + 2, 4), np.int64)
    put(stack, 0, 0, 0, n, 0)
    top, nodes, leaves = 1, 1, 0
    while top:
        top -= 1
        node, begin, end, fixed = stack[top, 0], np.uint64(stack[top, 1]), np.uint64(stack[top, 2]), stack[top, 3]
        best, tried = -1.0, 0
        total = gather(order, begin, end, words, near)
        if len(words):
            mass, pure = summary(total, classes)
        else:
            mass = gather(order, begin, end, weight, share)
            pure = alike(order, begin, end, labels, own)
        if mass < min_split or end - begin < 2 or (supervised and pure):
            tried = candidates
        while tried < candidates and fixed < d and best < PERFECT * mass:
            at = fixed + below(state, d - fixed)
            j = np.uint64(features[at])
            before = state + STEP
            cut, varies, state = draw_cut(columns, j, order, begin, end, ordered[j], before)
            if not varies:
                found = kinds(columns, j, order, begin, end)
                if found < 3:
                    state = before  # nothing to draw
                    cut = np.nan
                if found < 2:
                    features[at], features[fixed] = features[fixed], j
                    fixed += 1
                    continue
                if ordered[j] and is_greatest(cut, columns, j, order, begin, end):  # against the others
                    cut = np.nextafter(cut, -np.inf)
            tried += 1
            if len(words):
                there, lost = add_words(columns, j, order, begin, end, near, cut, ordered[j], holes[j])
                score, to_left = judge_words(there, lost, total, classes, np.isnan(cut), min_leaf)
            else:
                add_weights(columns, j, order, begin, end, own, share, cut, ordered[j], counts)
                score, to_left = judge_weights(counts, own, begin, end, np.isnan(cut), min_leaf)
            if score > best:
                best, feature[node], threshold[node], missing_left[node] = score, j, cut, to_left
        if best < 0:
            left[node] = -1 - leaves
            leaves += 1
            continue
        j = np.uint64(feature[node])
        ends = divide(columns, j, order, begin, end, threshold[node], ordered[j], missing_left[node], spare)
        left[node] = nodes
        put(stack, top, nodes + 1, ends, end, fixed)
        put(stack, top + 1, nodes, begin, ends, fixed)
        top, nodes = top + 2, nodes + 2
    return feature[:nodes], threshold[:nodes], missing_left[:nodes], left[:nodes]
