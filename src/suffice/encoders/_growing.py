"""Compiled loops that grow a random tree, in one thread; `_tree_kernels` says what its nodes hold.

The rows of a node stand next to each other in `order`, from `begin` to `end`; `_splits` divides them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice._compiled import compiled
from suffice._vector import Array
from suffice.encoders._splits import (
    GROUP,
    NOTHING,
    STEP,
    add_words,
    best_of_weights,
    best_of_words,
    draw,
    packed,
    summary,
)
from suffice.encoders._tree_kernels import goes_left

PERFECT = 1.0 - 1e-12  # share of the weight of a node that a split into pure sides scores, but for rounding
FEW = 3  # times as many rows as those of a tree, up to which these are not put side by side
LEAF = -1  # in the place of how many features do not vary in a node


@compiled
def taken(table: Array, rows: Array) -> Array:
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
def is_leaf(mass: float, pure: bool, min_split: float, supervised: bool) -> bool:
    """Whether a node of so much weight is not split, which may be of one class."""
    return mass < min_split or (supervised and pure)


@compiled
def put(stack: Array, top: int, node: int, begin: Any, end: Any, fixed: int) -> None:
    """A node to be grown on: its rows from `begin` to `end`, and how many features do not vary among them."""
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
    """A random tree over some rows (n,) of a table (d, N): feature, threshold, missing_left and left of every node.

    `ordered` (d,) says which columns have an order, `plain` that all have and that no entry is missing; labels and
    weights are those of all N rows. Of up to `candidates` random splits of features that vary among the rows of a node
    it takes the one of least Gini impurity; among m rows of 2 m - 3 at most, as few rows have few ways to be divided.
    """
    d, n = len(table), len(rows)
    size = max(1, 2 * n - 1)
    feature, threshold = np.zeros(size, np.int32), np.zeros(size)
    missing_left, left = np.zeros(size, np.bool_), np.zeros(size, np.int32)
    columns, order, spare = table, np.zeros(n + int(GROUP), np.uint32), np.empty(n, np.uint32)
    order[:n] = rows
    if table.shape[1] > FEW * n:  # so many others that they are in the way
        columns, labels, weight = taken(table, rows), labels[rows], weight[rows]
        order[:n] = np.arange(n)
    words = packed(labels, weight, classes)
    state = seed[0] + STEP
    features = np.arange(d)  # those that do not vary in a node come first, there and below it
    own, share = np.empty(n, labels.dtype), np.empty(n + int(GROUP))  # of a node's rows, side by side
    near = np.empty(n + int(GROUP), np.uint64)
    which, low, high = np.empty(candidates, np.uint64), np.empty(candidates), np.empty(candidates)
    splits = which, low, high  # of a node
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
        if len(words):  # what is known of the sides already need not be looked up in their rows
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
