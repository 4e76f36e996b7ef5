"""Compiled loops over networks: codes of families, pairs of columns, and scores without a row."""

from __future__ import annotations

import numpy as np

from suffice._core.vector import Array
from suffice._runtime.lazy import compiled
from suffice.models.statistics import ROUNDING

LOG_ZERO = -1e9  # as that of `suffice.models.tables.categorical`


@compiled
def family_codes(own: Array, parents: Array, sizes: Array) -> Array:
    """The cell of each column (n, m) in its tables of all orders, which are side by side; -1 for a missing entry.

    `own` are the cells of the columns alone (n, m), `parents` (m, most) those of each column, -1 behind the last. The
    table is that of the highest order whose parents all have an entry.
    """
    n, m = own.shape
    out = np.empty((n, m), np.int32)
    for i in range(n):
        for j in range(m):
            cell = own[i, j]
            if cell < 0:
                out[i, j] = -1
                continue
            begin, size = 0, sizes[j]
            for at in range(parents.shape[1]):
                parent = parents[j, at]
                if parent < 0 or own[i, parent] < 0:
                    break
                begin += size
                size *= sizes[parent]
                cell = cell * sizes[parent] + own[i, parent]
            out[i, j] = begin + cell
    return out


@compiled
def own_codes(codes: Array, parents: Array, sizes: Array) -> Array:
    """The cells of the columns alone (n, m), from those of their families."""
    n, m = codes.shape
    out = np.empty((n, m), np.int32)
    for i in range(n):
        for j in range(m):
            cell, size, width = codes[i, j], sizes[j], 1
            for at in range(parents.shape[1]):
                if cell < size or parents[j, at] < 0:
                    break
                cell -= size
                width *= sizes[parents[j, at]]
                size = sizes[j] * width
            out[i, j] = cell // width if codes[i, j] >= 0 else -1
    return out


@compiled
def pair_counts(
    codes: Array, pairs: Array, starts: Array, sizes: Array, classes: Array, weight: Array, k: int
) -> Array:
    """The weights by class of the cells of pairs of columns, (k, cells): cell u of the first and v of the second."""
    n = len(codes)
    out = np.zeros((k, starts[-1]))
    for i in range(n):
        c, w = classes[i], weight[i]
        if c < 0:
            continue
        for p in range(len(pairs)):
            u, v = codes[i, pairs[p, 0]], codes[i, pairs[p, 1]]
            if u >= 0 and v >= 0:
                out[c, starts[p] + u * sizes[pairs[p, 1]] + v] += w
    return out


@compiled
def pair_information(counts: Array, pairs: Array, starts: Array, sizes: Array) -> Array:
    """The mutual information of each pair of columns given the class, in nats, from counts by class (k, cells)."""
    k, out = len(counts), np.zeros(len(pairs))
    for p in range(len(pairs)):
        r, q = sizes[pairs[p, 0]], sizes[pairs[p, 1]]
        found, whole = 0.0, 0.0
        rows, columns = np.empty(r), np.empty(q)
        for c in range(k):
            rows[:], columns[:], total = 0.0, 0.0, 0.0
            for u in range(r):
                for v in range(q):
                    n = max(counts[c, starts[p] + u * q + v], 0.0)
                    rows[u] += n
                    columns[v] += n
                    total += n
            for u in range(r):
                for v in range(q):
                    n = counts[c, starts[p] + u * q + v]
                    if n > 0.0:
                        found += n * np.log(n * total / (rows[u] * columns[v]))
            whole += total
        out[p] = max(found, 0.0) / whole if whole > 0.0 else 0.0
    return out


@compiled
def smoothed(n: float, total: float, A: float, share: float) -> float:
    """(n + A share) / (N + A), where a negative count is none; the share itself where there is nothing."""
    below = total + A
    return max(n + A * share, 0.0) / below if below > 0.0 else share


@compiled
def taken(had: float, gone: float) -> float:
    """A weight without that of a row, both of which may be negative, with zero where only rounding is left."""
    rest = had - gone
    return rest if abs(rest) > ROUNDING * abs(gone) else 0.0


@compiled
def chain_without(
    codes: Array,
    parents: Array,
    sizes: Array,
    starts: Array,
    counts: Array,
    total_starts: Array,
    totals: Array,
    weights: Array,
    lower: bool,
    base: Array,
    base_starts: Array,
    own: Array,
) -> Array:
    """log p of each row, class and column without the row's own weight (n, k), at every order: (n, k, m, orders).

    Counts (cells, k) and totals (configurations, k) are those of the tables of all orders; `weights` (m, orders) are A.
    An order that a row has no entries for has the value of the highest one that it has; a missing entry has 0.
    """
    n, m, k, orders = codes.shape[0], codes.shape[1], own.shape[1], weights.shape[1]
    out = np.zeros((n, k, m, orders))
    for i in range(n):
        for j in range(m):
            cell = codes[i, j]
            if cell < 0:
                continue
            size, order = sizes[j], 0
            while cell >= size:
                cell -= size
                size *= sizes[parents[j, order]]
                order += 1
            width = size // sizes[j]
            for c in range(k):
                w, p = own[i, c], base[base_starts[j] + cell // width]
                start, above, wide = starts[j], total_starts[j], 1
                for at in range(order + 1):
                    if at:
                        start += sizes[j] * wide
                        above += wide
                        wide *= sizes[parents[j, at - 1]]
                    inner = cell // (width // wide)
                    rows, whole = taken(counts[start + inner, c], w), taken(totals[above + inner % wide, c], w)
                    p = smoothed(
                        rows, whole, weights[j, at], p if lower or not at else base[base_starts[j] + cell // width]
                    )
                    out[i, c, j, at] = np.log(p) if p > 0.0 else LOG_ZERO
                for at in range(order + 1, orders):
                    out[i, c, j, at] = out[i, c, j, order]
    return out


@compiled
def tree_log_density(
    own: Array,
    parent: Array,
    order: Array,
    sizes: Array,
    starts: Array,
    log_p: Array,
    counts: Array,
    total_starts: Array,
    totals: Array,
    weights: Array,
    lower: bool,
    base: Array,
    base_starts: Array,
    gone: Array,
) -> Array:
    """log p(x | y) of rows (n, k) in a tree, summed over the values of missing entries (belief propagation).

    `own` are the cells of the columns alone (n, m), `parent` (m,) is -1 for a root, and `order` lists parents first.
    Probabilities are exp(log_p) (cells, k) or, if there are `counts`, those without the row's weight, `gone` (n, k).
    """
    n, m, k = own.shape[0], own.shape[1], log_p.shape[1]
    out, lam, some = np.zeros((n, k)), np.ones((m, sizes.max())), np.zeros(m, np.bool_)
    removes = len(counts) > 0
    for i in range(n):
        for c in range(k):
            some[:] = False
            for at in range(m - 1, -1, -1):
                j = order[at]
                up, u = parent[j], own[i, j]
                if u < 0 and not some[j]:
                    continue
                if u < 0:
                    top = lam[j, : sizes[j]].max()
                    out[i, c] += np.log(top) if top > 0.0 else LOG_ZERO
                    lam[j, : sizes[j]] /= top if top > 0.0 else 1.0
                first, last = (0, 1) if up < 0 else (own[i, up], own[i, up] + 1)
                hidden = up >= 0 and own[i, up] < 0
                if hidden:
                    first, last = 0, sizes[up]
                    if not some[up]:
                        some[up] = True
                        lam[up, :] = 1.0
                for v in range(first, last):
                    total = 0.0
                    for x in range(u if u >= 0 else 0, u + 1 if u >= 0 else sizes[j]):
                        cell = starts[j] + (x if up < 0 else sizes[j] + x * sizes[up] + v)
                        if removes:
                            w, b = (gone[i, c] if u >= 0 else 0.0), base[base_starts[j] + x]
                            p = smoothed(
                                taken(counts[starts[j] + x, c], w),
                                taken(totals[total_starts[j], c], w),
                                weights[j, 0],
                                b,
                            )
                            if up >= 0:
                                w = 0.0 if hidden else w
                                rows, whole = taken(counts[cell, c], w), taken(totals[total_starts[j] + 1 + v, c], w)
                                p = smoothed(rows, whole, weights[j, 1], p if lower else b)
                        else:
                            p = np.exp(log_p[cell, c])
                        total += p if u >= 0 else p * lam[j, x]
                    if hidden:
                        lam[up, v] *= total
                    else:
                        out[i, c] += np.log(total) if total > 0.0 else LOG_ZERO
    return out
