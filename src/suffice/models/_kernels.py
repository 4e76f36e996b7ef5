"""Compiled inner loops over rows, in one thread: data sets and workers divide the rows among them."""

from __future__ import annotations

import numpy as np

from suffice._compiled import compiled
from suffice._vector import Array


@compiled
def diagonal_log_density(X: Array, origin: Array, mean: Array, precision: Array, constant: Array) -> Array:
    """sum_j constant[c, j] - precision[c, j] (x_ij - o_cj - mean_cj)^2 / 2 over the entries that are there: (n, k)."""
    n, d = X.shape
    k = mean.shape[0]
    out = np.empty((n, k))
    for i in range(n):
        for c in range(k):
            total = 0.0
            for j in range(d):
                x = X[i, j] - origin[c, j]
                if not np.isnan(x):
                    gap = x - mean[c, j]
                    total += constant[c, j] - 0.5 * precision[c, j] * gap * gap
            out[i, c] = total
    return out


@compiled
def table_log_density(codes: Array, offsets: Array, log_probability: Array) -> Array:
    """sum_j log_probability[offsets[j] + codes[i, j]] over the entries with a code: (n, k)."""
    n, d = codes.shape
    k = log_probability.shape[1]
    out = np.zeros((n, k))
    for i in range(n):
        for j in range(d):
            code = codes[i, j]
            if code >= 0:
                for c in range(k):
                    out[i, c] += log_probability[offsets[j] + code, c]
    return out


@compiled
def class_moments(X: Array, origin: Array, labels: Array, weight: Array) -> tuple[Array, Array, Array]:
    """Sums of weight, of weight (x - o) and of weight (x - o)^2 over the entries of each class that are there: (k, d).

    Compensated, so that a value repeated in a million rows leaves no variance behind.
    """
    n, d = X.shape
    k = origin.shape[0]
    sums, lost = np.zeros((3, k, d)), np.zeros((3, k, d))
    terms = np.empty(3)
    for i in range(n):
        c = labels[i]
        if c < 0:
            continue
        for j in range(d):
            x = X[i, j] - origin[c, j]
            if np.isnan(x):
                continue
            terms[0] = weight[i]
            terms[1] = weight[i] * x
            terms[2] = terms[1] * x
            for m in range(3):
                term = terms[m] - lost[m, c, j]
                total = sums[m, c, j] + term
                lost[m, c, j] = (total - sums[m, c, j]) - term
                sums[m, c, j] = total
    return sums[0], sums[1], sums[2]


@compiled
def weighted_moments(X: Array, origin: Array, W: Array) -> tuple[Array, Array, Array]:
    """`class_moments` for signed weights of every row in every class (n, k)."""
    n, d = X.shape
    k = W.shape[1]
    count, first, second = np.zeros((k, d)), np.zeros((k, d)), np.zeros((k, d))
    for i in range(n):
        for c in range(k):
            w = W[i, c]
            for j in range(d):
                x = X[i, j] - origin[c, j]
                if not np.isnan(x):
                    count[c, j] += w
                    first[c, j] += w * x
                    second[c, j] += w * x * x
    return count, first, second


@compiled
def table_sums(codes: Array, offsets: Array, size: int, W: Array) -> Array:
    """sum_i W[i, c] for every cell offsets[j] + codes[i, j]: (size, k)."""
    n, d = codes.shape
    out = np.zeros((size, W.shape[1]))
    for i in range(n):
        for j in range(d):
            code = codes[i, j]
            if code >= 0:
                for c in range(W.shape[1]):
                    out[offsets[j] + code, c] += W[i, c]
    return out


@compiled
def table_counts(codes: Array, offsets: Array, size: int, labels: Array, weight: Array, k: int) -> Array:
    """`table_sums` for weights that are zero but in one column a row: (size, k)."""
    n, d = codes.shape
    out = np.zeros((size, k))
    for i in range(n):
        if labels[i] >= 0:
            for j in range(d):
                code = codes[i, j]
                if code >= 0:
                    out[offsets[j] + code, labels[i]] += weight[i]
    return out


@compiled
def interval_codes(X: Array, bounds: Array, starts: Array, codes: Array) -> None:
    """Which interval each entry is in, into codes (n, d): the last of its column's lower bounds that is not above it.

    The sorted bounds of column j are those from starts[j] to starts[j + 1]; -1 for NaN, and for less than the first.
    Many entries of a column are halved in step, without a branch: each takes as many steps as any other.
    """
    n, d = X.shape
    codes[:] = -1
    at, x = np.empty(256, np.int64), np.empty(256, X.dtype)
    for first in range(0, n, 256):
        m = min(n - first, 256)
        for j in range(d):
            size = starts[j + 1] - starts[j]
            if size == 0:
                continue
            for i in range(m):
                at[i], x[i] = starts[j], X[first + i, j]
            while size > 1:
                half = size // 2
                for i in range(m):
                    at[i] += half * (bounds[at[i] + half - 1] <= x[i])
                size -= half
            for i in range(m):
                codes[first + i, j] = at[i] - starts[j] - 1 + (bounds[at[i]] <= x[i])


@compiled
def sparse_class_sums(
    data: Array, indices: Array, indptr: Array, d: int, labels: Array, weight: Array, k: int
) -> Array:
    """sum_i weight[i] x_ij over the rows of each class (k, d), of rows in compressed form."""
    out = np.zeros((k, d))
    for i in range(len(labels)):
        c = labels[i]
        if c >= 0:
            for t in range(indptr[i], indptr[i + 1]):
                out[c, indices[t]] += weight[i] * data[t]
    return out
