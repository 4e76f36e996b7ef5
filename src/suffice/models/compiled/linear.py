"""Compiled loops over rows of numbers, in one thread: linear scores and their sums, and sums of sparse rows."""

from __future__ import annotations

import numpy as np

from suffice._core.vector import Array
from suffice._runtime.lazy import compiled, in_any_order
from suffice.models.compiled.gaussian import _less

ROWS_OF_PART = 4096  # rows of a partial sum, which keep rounding from growing with the number of rows


@in_any_order
def linear_scores(X: Array, origin: Array, coef: Array, intercept: Array, first: int) -> Array:
    """coef_c'(x_i - origin) + intercept_c: (n, k); the first `first` classes have a score of zero."""
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
    for begin in range(0, n, ROWS_OF_PART):
        part[:] = 0.0
        for i in range(begin, min(n, begin + ROWS_OF_PART)):
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
    """The row (1, (x_i - origin) scale) times a number for each row (n,): (n, d + 1)."""
    n, d = X.shape
    out = np.empty((n, d + 1))
    for i in range(n):
        out[i, 0] = times[i]
        for j in range(d):
            out[i, j + 1] = (X[i, j] - origin[j]) * scale[j] * times[i]
    return out


@compiled
def sparse_class_sums(
    data: Array, indices: Array, indptr: Array, d: int, labels: Array, weight: Array, k: int
) -> Array:
    """sum_i weight[i] x_ij over the rows of each class (k, d), for sparse rows in CSR form."""
    out = np.zeros((k, d))
    for i in range(len(labels)):
        c = labels[i]
        if c >= 0:
            for t in range(indptr[i], indptr[i + 1]):
                out[c, indices[t]] += weight[i] * data[t]
    return out
