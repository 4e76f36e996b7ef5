"""Compiled inner loops over rows, in one thread: data sets and workers divide the rows among them."""

from __future__ import annotations

import numpy as np

from suffice._core.vector import Array
from suffice._runtime.lazy import compiled, in_any_order

MANY = 4096  # rows that are summed on their own, so that rounding does not grow with all of them


@compiled
def _less(x: float, origin: float) -> float:
    """x - origin, which is not to be joined with what is subtracted next: both may be large."""
    return x - origin


@in_any_order
def diagonal_log_density(X: Array, origin: Array, mean: Array, precision: Array, constant: Array) -> Array:
    """sum_j constant[c, j] - precision[c, j] (x_ij - o_cj - mean_cj)^2 / 2 over the entries that are there: (n, k)."""
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


@in_any_order
def linear_scores(X: Array, origin: Array, coef: Array, intercept: Array, first: int) -> Array:
    """coef_c'(x_i - origin) + intercept_c: (n, k); the first so many classes have a score of zero."""
    n, d = X.shape
    k = coef.shape[0]
    out = np.empty((n, k))
    for i in range(n):
        for c in range(first):
            out[i, c] = 0.0
        for c in range(first, k):
            total = 0.0
            for j in range(d):
                total += _less(X[i, j], origin[j]) * coef[c, j]
            out[i, c] = total + intercept[c]
    return out


@in_any_order
def contrast_sums(X: Array, origin: Array, W: Array) -> Array:
    """sum_i W[i, c], then sum_i W[i, c] (x_i - origin): (k, d + 1), for weights that add up to zero in every row."""
    n, d = X.shape
    k = W.shape[1]
    sums, part = np.zeros((k, d + 1)), np.zeros((k, d + 1))
    for begin in range(0, n, MANY):
        part[:] = 0.0
        for i in range(begin, min(n, begin + MANY)):
            for c in range(1, k):
                w = W[i, c]
                part[c, 0] += w
                for j in range(d):
                    part[c, j + 1] += w * _less(X[i, j], origin[j])
        sums += part
    for c in range(1, k):
        sums[0] -= sums[c]
    return sums


@compiled
def standardised(X: Array, origin: Array, scale: Array, times: Array) -> Array:
    """A one, then (x_i - origin) scale, times a number for each row (n,): (n, d + 1)."""
    n, d = X.shape
    out = np.empty((n, d + 1))
    for i in range(n):
        out[i, 0] = times[i]
        for j in range(d):
            out[i, j + 1] = (X[i, j] - origin[j]) * scale[j] * times[i]
    return out


@compiled
def table_log_density(codes: Array, starts: Array, terms: Array, k: int) -> Array:
    """sum_j terms[starts[j] + codes[i, j]] over the entries with a code: (n, k).

    The columns of `terms` are a multiple of four, so that the sums of four classes are kept in registers.
    """
    n, d = codes.shape
    out = np.empty((n, k))
    for i in range(n):
        for c in range(0, k, 4):
            s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
            for j in range(d):
                code = codes[i, j]
                if code >= 0:
                    at = np.uint64(starts[j] + code)  # as such it is not looked at for being below zero
                    s0 += terms[at, c]
                    s1 += terms[at, c + 1]
                    s2 += terms[at, c + 2]
                    s3 += terms[at, c + 3]
            out[i, c] = s0
            if c + 1 < k:
                out[i, c + 1] = s1
            if c + 2 < k:
                out[i, c + 2] = s2
            if c + 3 < k:
                out[i, c + 3] = s3
    return out


@compiled
def table_terms(codes: Array, starts: Array, terms: Array) -> Array:
    """terms[starts[j] + codes[i, j]] for every class and feature (n, k, d), of terms (cells, k); 0 without a code."""
    n, d = codes.shape
    k = terms.shape[1]
    out = np.zeros((n, k, d))
    for i in range(n):
        for j in range(d):
            if codes[i, j] >= 0:
                for c in range(k):
                    out[i, c, j] = terms[starts[j] + codes[i, j], c]
    return out


@compiled
def table_sums(codes: Array, starts: Array, W: Array) -> Array:
    """sum_i W[i, c] for every cell starts[j] + codes[i, j]: (cells, k), k filled up to a multiple of four."""
    n, d = codes.shape
    k = W.shape[1]
    out = np.zeros((starts[-1], (k + 3) // 4 * 4))
    for i in range(n):
        for c in range(0, k, 4):
            w0 = W[i, c]
            w1 = W[i, c + 1] if c + 1 < k else 0.0
            w2 = W[i, c + 2] if c + 2 < k else 0.0
            w3 = W[i, c + 3] if c + 3 < k else 0.0
            for j in range(d):
                code = codes[i, j]
                if code >= 0:
                    at = np.uint64(starts[j] + code)
                    out[at, c] += w0
                    out[at, c + 1] += w1
                    out[at, c + 2] += w2
                    out[at, c + 3] += w3
    return out


@compiled
def table_counts(codes: Array, starts: Array, labels: Array, weight: Array, k: int) -> Array:
    """`table_sums` for weights that are zero but in one column a row: (k, cells)."""
    n, d = codes.shape
    out = np.zeros((k, starts[-1]))
    for i in range(n):
        c, w = labels[i], weight[i]
        if c >= 0:
            for j in range(d):
                code = codes[i, j]
                if code >= 0:
                    out[c, np.uint64(starts[j] + code)] += w
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
