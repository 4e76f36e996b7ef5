"""Compiled inner loops of leave-one-out: densities of rows whose own weight is taken out."""

from __future__ import annotations

import numpy as np

from suffice._core.vector import Array
from suffice._runtime.lazy import compiled
from suffice.models.statistics import ROUNDING

LEAST = 1e-12  # of a row that is left of a leaf
SMALL = 1e-150  # a product of probabilities below this is put away as its logarithm, before it is none


@compiled
def left(had: float, gone: float) -> float:
    """`suffice.models.statistics.rest` of one number."""
    rest = had - gone
    return rest if rest > ROUNDING * gone else 0.0


@compiled
def table_log_density_without(
    codes: Array, starts: Array, own: Array, counts: Array, total: Array, log_zero: float
) -> Array:
    """sum_j log (count - w) / (total - w) over the entries with a code, w = own[i, c]: (n, k).

    Counts are (cells, k), their totals (d, k). A table of which nothing is left has all its cells alike; a cell
    of which nothing is left has `log_zero`.
    """
    n, d = codes.shape
    k = own.shape[1]
    out = np.zeros((n, k))
    p = np.empty(k)
    for i in range(n):
        p[:] = 1.0
        for j in range(d):
            code = codes[i, j]
            if code >= 0:
                for c in range(k):
                    w = own[i, c]
                    below = left(total[j, c], w)
                    if below > 0.0:
                        above = left(counts[starts[j] + code, c], w)
                        if above > 0.0:
                            p[c] *= above / below
                        else:
                            out[i, c] += np.log(p[c]) + log_zero
                            p[c] = 1.0
                    else:
                        p[c] /= starts[j + 1] - starts[j]
                    if p[c] < SMALL or out[i, c] <= log_zero:  # beside which each is rounded as by itself
                        out[i, c] += np.log(p[c])
                        p[c] = 1.0
        for c in range(k):
            out[i, c] += np.log(p[c])
    return out


@compiled
def table_terms_without(
    codes: Array, starts: Array, classes: Array, weight: Array, counts: Array, total: Array, log_zero: float
) -> Array:
    """log (count - w) / (total - w) in the table of each row's class, without its weight w (n,): (n, d).

    Counts are (k, cells), their totals (k, d). A table of which nothing is left has all its cells alike; a cell of
    which nothing is left has `log_zero`; an entry without a code has 0.
    """
    n, d = codes.shape
    out = np.zeros((n, d))
    for i in range(n):
        c, w = classes[i], weight[i]
        for j in range(d):
            if codes[i, j] < 0:
                continue
            above, below = left(counts[c, starts[j] + codes[i, j]], w), left(total[c, j], w)
            p = above / below if below > 0.0 else 1.0 / (starts[j + 1] - starts[j])
            out[i, j] = np.log(p) if p > 0.0 else log_zero
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
    """sum_j log N(x_j; mean_cj, var_cj) without the row's weight own[i, c], over the entries that are there: (n, k).

    The variances (k or 1, d) are those of all rows; one of 0 is a column left out. Of one row of them all classes have
    a share, and all lose what the row counts there. The other arguments are the fields of `Held`.
    """
    m1, m2 = weights
    size, d = X.shape
    k = own.shape[1]
    tied = variance.shape[0] < k
    out = np.zeros((size, k))
    gap, known = np.empty(k), np.empty(k, np.bool_)
    lost, gone = np.empty(k), np.empty(k)  # what leaves the sum of squares, and the weight behind it
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
                lost[c] = w * rows[c, j] / others * u * u if others != 0.0 else 0.0  # the only one, at its own mean
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


@compiled
def leaves_without(
    marked: Array, starts: Array, own: Array, counts: Array, total: Array, log_probability: Array
) -> Array:
    """The mean of log p(leaf | c) over the trees that have not seen a row, times the number of trees: (n, k).

    The row's own weight is taken from the smoothed counts (k, cells) and totals (k, t). A leaf of a tree that has seen
    the row is marked: -1 - leaf. A row that every tree has seen has scores of 0.
    """
    n, t = marked.shape
    k = own.shape[1]
    out, p = np.zeros((n, k)), np.empty(k)
    for i in range(n):
        unseen = 0
        p[:] = 1.0
        for j in range(t):
            if marked[i, j] < 0:
                continue
            unseen += 1
            cell = starts[j] + marked[i, j]
            for c in range(k):
                w = own[i, c]
                if w == 0.0:
                    out[i, c] += log_probability[cell, c]
                else:
                    above = max(counts[c, cell] - w, LEAST * abs(w))
                    p[c] *= above / max(total[c, j] - w, above)
                    if p[c] < SMALL:
                        out[i, c] += np.log(p[c])
                        p[c] = 1.0
        for c in range(k):
            out[i, c] = (out[i, c] + np.log(p[c])) * t / max(unseen, 1)
    return out
