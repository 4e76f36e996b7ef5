"""Compiled loops over rows of numbers, in one thread: sums by class, and normal densities."""

from __future__ import annotations

import numpy as np

from suffice._core.vector import Array
from suffice._runtime.lazy import compiled, in_any_order
from suffice.models.compiled.tables import left

ROWS_UNCOMPENSATED = 64  # rows that are summed without compensation for rounding
ROWS_OF_COLUMN = 1024  # rows of a column that are summed at a time
MAX_CLASSES_DENSE = 4  # with more classes, it is faster to gather the rows of each


@compiled
def class_moments(X: Array, origin: Array, labels: Array, weight: Array) -> tuple[Array, Array, Array]:
    """Sums of weight, weight (x - o) and weight (x - o)^2 over the entries of each class that are not missing: (k, d).

    The sums of a few rows at a time are added up with compensation, so that a value repeated in a million rows leaves
    no variance behind. Entries are tested one by one only where some are missing.
    """
    n, d = X.shape
    k = origin.shape[0]
    sums, lost, part, mass = np.zeros((3, k, d)), np.zeros((3, k, d)), np.zeros((3, k, d)), np.zeros(k)
    for begin in range(0, n, ROWS_UNCOMPENSATED):
        end = min(n, begin + ROWS_UNCOMPENSATED)
        part[:], mass[:] = 0.0, 0.0
        for i in range(begin, end):
            c, w = labels[i], weight[i]
            if c >= 0:
                mass[c] += w
                for j in range(d):
                    x = X[i, j] - origin[c, j]
                    part[1, c, j] += w * x
                    part[2, c, j] += w * x * x
        if np.isnan(part).any():
            _moments_there(X[begin:end], origin, labels[begin:end], weight[begin:end], part)
        else:
            for c in range(k):
                part[0, c] = mass[c]
        _add_exactly(part, sums, lost)
    return sums[0], sums[1], sums[2]


@compiled
def column_moments(columns: Array, origin: Array, labels: Array, weight: Array) -> tuple[Array, Array, Array]:
    """`class_moments` of contiguous columns (d, n), some rows at a time.

    Each class is summed over all rows, with weight zero for rows of other classes, or, if there are many classes, over
    its own entries, copied side by side.
    """
    d, n = columns.shape
    k = origin.shape[0]
    sums, lost, part = np.zeros((3, k, d)), np.zeros((3, k, d)), np.zeros((3, k, d))
    order, near, end = np.empty(ROWS_OF_COLUMN, np.uint32), np.empty(ROWS_OF_COLUMN), np.empty(k + 1, np.int64)
    own = np.empty((k if k <= MAX_CLASSES_DENSE else 1, ROWS_OF_COLUMN))
    for start in range(0, n, ROWS_OF_COLUMN):
        stop = min(n, start + ROWS_OF_COLUMN)
        if k <= MAX_CLASSES_DENSE:
            by_weight(labels[start:stop], weight[start:stop], own)
        else:
            by_class(labels[start:stop], weight[start:stop], order, own[0], end)
        for j in range(d):
            x = columns[j, start:stop]
            if k > MAX_CLASSES_DENSE:
                for i in range(end[k]):
                    near[i] = x[order[i]]
            for c in range(k):
                if k <= MAX_CLASSES_DENSE:
                    part[0, c, j], part[1, c, j], part[2, c, j] = three_moments(x, own[c, : len(x)], origin[c, j])
                else:
                    at = slice(end[c], end[c + 1])
                    part[0, c, j], part[1, c, j], part[2, c, j] = three_moments(near[at], own[0, at], origin[c, j])
        if np.isnan(part).any():
            _moments_there(columns[:, start:stop].T, origin, labels[start:stop], weight[start:stop], part)
        _add_exactly(part, sums, lost)
    return sums[0], sums[1], sums[2]


@compiled
def by_weight(labels: Array, weight: Array, own: Array) -> None:
    """Write weights by class (k, n) to `own`: zero in all classes except the row's."""
    own[:, : len(labels)] = 0.0
    for i in range(len(labels)):
        if labels[i] >= 0:
            own[labels[i], i] = weight[i]


@compiled
def by_class(labels: Array, weight: Array, order: Array, own: Array, end: Array) -> None:
    """Write the rows that have a class, sorted by class, their weights, and the bounds of classes (k + 1,)."""
    end[:] = 0
    for i in range(len(labels)):
        end[labels[i] + 1] += labels[i] >= 0
    for c in range(1, len(end)):
        end[c] += end[c - 1]
    for i in range(len(labels)):
        if labels[i] >= 0:
            at = end[labels[i]]
            order[at], own[at] = i, weight[i]
            end[labels[i]] += 1
    for c in range(len(end) - 1, 0, -1):
        end[c] = end[c - 1]
    end[0] = 0


@in_any_order
def three_moments(x: Array, w: Array, origin: float) -> tuple[float, float, float]:
    """sum_i w_i, sum_i w_i (x_i - o) and sum_i w_i (x_i - o)^2."""
    count, first, second = 0.0, 0.0, 0.0
    for i in range(len(x)):
        gap = x[i] - origin
        count += w[i]
        first += w[i] * gap
        second += w[i] * gap * gap
    return count, first, second


@compiled
def _add_exactly(part: Array, sums: Array, lost: Array) -> None:
    """Add to sums (3, k, d) by Kahan summation: `lost` is what rounding has lost."""
    for m in range(part.shape[0]):
        for c in range(part.shape[1]):
            for j in range(part.shape[2]):
                term = part[m, c, j] - lost[m, c, j]
                total = sums[m, c, j] + term
                lost[m, c, j] = (total - sums[m, c, j]) - term
                sums[m, c, j] = total


@compiled
def _moments_there(X: Array, origin: Array, labels: Array, weight: Array, sums: Array) -> None:
    """Write the sums of `class_moments` to (3, k, d), testing every entry."""
    sums[:] = 0.0
    for i in range(len(X)):
        c, w = labels[i], weight[i]
        if c >= 0:
            for j in range(X.shape[1]):
                x = X[i, j] - origin[c, j]
                if x == x:
                    sums[0, c, j] += w
                    sums[1, c, j] += w * x
                    sums[2, c, j] += w * x * x


@compiled
def class_rows(X: Array, origin: Array, labels: Array, weight: Array) -> tuple[Array, Array, Array]:
    """Rows x - o sorted by class, their weights, and the bounds of classes (k + 1,)."""
    n, d = X.shape
    k = origin.shape[0]
    begin = np.zeros(k + 1, np.int64)
    for i in range(n):
        if labels[i] >= 0:
            begin[labels[i] + 1] += 1
    for c in range(k):
        begin[c + 1] += begin[c]
    Z, own, at = np.empty((begin[k], d)), np.empty(begin[k]), begin.copy()
    for i in range(n):
        c = labels[i]
        if c >= 0:
            for j in range(d):
                Z[at[c], j] = X[i, j] - origin[c, j]
            own[at[c]] = weight[i]
            at[c] += 1
    return Z, own, begin


@compiled
def weighted_moments(X: Array, origin: Array, W: Array) -> tuple[Array, Array, Array]:
    """`class_moments` for signed weights of every row in every class (n, k)."""
    n, d = X.shape
    k = W.shape[1]
    mass, count, first, second = np.zeros(k), np.zeros((k, d)), np.zeros((k, d)), np.zeros((k, d))
    for i in range(n):
        if np.isnan(X[i].sum()):
            for c in range(k):
                w = W[i, c]
                for j in range(d):
                    x = X[i, j] - origin[c, j]
                    if x == x:
                        count[c, j] += w
                        first[c, j] += w * x
                        second[c, j] += w * x * x
            continue
        for c in range(k):
            w = W[i, c]
            mass[c] += w
            for j in range(d):
                x = X[i, j] - origin[c, j]
                first[c, j] += w * x
                second[c, j] += w * x * x
    for c in range(k):
        count[c] += mass[c]
    return count, first, second


@compiled
def _less(x: float, origin: float) -> float:
    """x - origin; a function of its own, so that `in_any_order` does not reassociate it: both may be large."""
    return x - origin


@in_any_order
def diagonal_log_density(X: Array, origin: Array, mean: Array, precision: Array, constant: Array) -> Array:
    """sum_j constant[c, j] - precision[c, j] (x_ij - o_cj - mean_cj)^2 / 2 over entries not missing: (n, k)."""
    n, d = X.shape
    k = mean.shape[0]
    out = np.empty((n, k))
    base = np.zeros(k)
    for c in range(k):
        for j in range(d):
            base[c] += constant[c, j]
    for i in range(n):
        for c in range(k):
            total = 0.0
            for j in range(d):
                gap = _less(X[i, j], origin[c, j]) - mean[c, j]
                total += precision[c, j] * gap * gap
            if total == total:
                out[i, c] = base[c] - 0.5 * total
                continue
            total = 0.0
            for j in range(d):
                x = _less(X[i, j], origin[c, j])
                if x == x:
                    gap = x - mean[c, j]
                    total += constant[c, j] - 0.5 * precision[c, j] * gap * gap
            out[i, c] = total
    return out


@compiled
def diagonal_log_density_without(
    X: Array,
    own: Array,
    origin: Array,
    variance: Array,
    n: Array,
    first: Array,
    mean0: Array,
    weights: tuple[float, float],
    rows: Array,
    about: Array,
    total: Array,
    singular: float,
) -> Array:
    """sum_j log N(x_j; mean_cj, var_cj) without the row's weight own[i, c], over entries that are not missing: (n, k).

    The variances (k or 1, d) are those of all rows; a column of variance 0 is left out. If all classes share one
    variance, all lose the weight of the row. The other arguments are the fields of `Held`.
    """
    m1, m2 = weights
    size, d = X.shape
    k = own.shape[1]
    tied = variance.shape[0] < k
    out = np.zeros((size, k))
    gap, known = np.empty(k), np.empty(k, np.bool_)
    lost, gone = np.empty(k), np.empty(k)  # what leaves the sum of squares, and its weight
    for i in range(size):
        for j in range(d):
            x = X[i, j]
            if np.isnan(x):
                continue
            for c in range(k):
                w, z = own[i, c], x - origin[c, j]
                weight = m1 + left(n[c, j], w)
                mean = (first[c, j] + m1 * mean0[c, j] - w * z) / weight if weight > 0.0 else mean0[c, j]
                others = left(rows[c, j], w)
                u = z - about[c, j]
                lost[c] = w * rows[c, j] / others * u * u if others != 0.0 else 0.0  # an only row is at its own mean
                gone[c], gap[c], known[c] = w, z - mean, weight > 0.0 or m2 > 0.0
            if tied:
                lost[:], gone[:] = lost.sum(), gone.sum()
            for c in range(k):
                of = 0 if tied else c
                whole, after = total[of, j] * variance[of, j], left(total[of, j], gone[c])
                if not whole > 0.0:
                    continue
                if after > 0.0 and known[c]:
                    var = max(whole - lost[c], singular * whole) / after
                    out[i, c] -= 0.5 * (np.log(2 * np.pi * var) + gap[c] * gap[c] / var)
                else:
                    out[i, c] = -np.inf
    return out
