"""Moments and normal densities of sparse rows: what is not stored is zero, and is accounted for without a visit."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from suffice._compiled import compiled
from suffice._labels import OneHot
from suffice._vector import Array

FAR = 64.0  # squared distance of zero from a mean, in variances, beyond which its density is not added and taken away


def sparse_moments(X: csr_array, W: OneHot | Array, origin: Array) -> tuple[Array, Array, Array]:
    """Counts, sums of x - o and of (x - o)^2 (k, d), of rows X (n, d) in which a stored NaN is a missing entry.

    Stored entries are summed about the origin as dense ones are. The zeros have the weight z that is left of their
    class, and add -z o and z o^2; where every row has an entry there are none, whatever rounding says.
    """
    if isinstance(W, OneHot):
        sums, entries = _class_moments(X.data, X.indices, X.indptr, origin, W.codes, W.weight)
        mass, rows = W.mass(), np.bincount(W.codes[W.codes >= 0], minlength=len(W.classes))
    else:
        sums, entries = _weighted_moments(X.data, X.indices, X.indptr, origin, np.ascontiguousarray(W))
        mass, rows = W.sum(axis=0), np.array([X.shape[0]])
    stored, first, second, missing = sums
    zeros = np.where(entries == rows[:, None], 0.0, mass[:, None] - stored - missing)
    return mass[:, None] - missing, first - zeros * origin, second + zeros * origin**2


@compiled
def _class_moments(
    data: Array, indices: Array, indptr: Array, origin: Array, labels: Array, weight: Array
) -> tuple[Array, Array]:
    """Sums of weight, of weight (x - o), of weight (x - o)^2 and of missing weight (4, k, d), and numbers of entries.

    Compensated, as those of dense rows are.
    """
    k, d = origin.shape
    sums, lost = np.zeros((4, k, d)), np.zeros((3, k, d))
    entries = np.zeros((k, d))
    terms = np.empty(3)
    for i in range(len(labels)):
        c = labels[i]
        if c < 0:
            continue
        for t in range(indptr[i], indptr[i + 1]):
            j = indices[t]
            entries[c, j] += 1
            x = data[t] - origin[c, j]
            if np.isnan(x):
                sums[3, c, j] += weight[i]
                continue
            terms[0] = weight[i]
            terms[1] = weight[i] * x
            terms[2] = terms[1] * x
            for m in range(3):
                term = terms[m] - lost[m, c, j]
                total = sums[m, c, j] + term
                lost[m, c, j] = (total - sums[m, c, j]) - term
                sums[m, c, j] = total
    return sums, entries


@compiled
def _weighted_moments(data: Array, indices: Array, indptr: Array, origin: Array, W: Array) -> tuple[Array, Array]:
    """`_class_moments` for signed weights of every row in every class (n, k); numbers of entries are (1, d)."""
    k, d = origin.shape
    sums, entries = np.zeros((4, k, d)), np.zeros((1, d))
    for i in range(W.shape[0]):
        for t in range(indptr[i], indptr[i + 1]):
            entries[0, indices[t]] += 1
        for c in range(k):
            w = W[i, c]
            for t in range(indptr[i], indptr[i + 1]):
                j = indices[t]
                x = data[t] - origin[c, j]
                if np.isnan(x):
                    sums[3, c, j] += w
                else:
                    sums[0, c, j] += w
                    sums[1, c, j] += w * x
                    sums[2, c, j] += w * x * x
    return sums, entries


def sparse_log_density(X: csr_array, origin: Array, mean: Array, precision: Array, constant: Array) -> Array:
    """`diagonal_log_density` of sparse rows: that of a row of zeros, changed where entries are stored (n, k).

    Columns whose mean is far from zero are visited in every row instead: their density at zero would drown the others.
    """
    gap = precision * (origin + mean) ** 2
    zero = constant - 0.5 * gap
    is_far = (gap > FAR).any(axis=0)
    near, far = np.where(is_far, 0.0, zero).sum(axis=1), np.flatnonzero(is_far)
    return np.asarray(
        _log_density(X.data, X.indices, X.indptr, origin, mean, precision, constant, zero, near, far, is_far)
    )


@compiled
def _log_density(
    data: Array,
    indices: Array,
    indptr: Array,
    origin: Array,
    mean: Array,
    precision: Array,
    constant: Array,
    zero: Array,
    near: Array,
    far: Array,
    is_far: Array,
) -> Array:
    """Entries of a row and far columns are both in order, so that one walk along both meets all that counts."""
    n, k = len(indptr) - 1, mean.shape[0]
    out = np.empty((n, k))
    for i in range(n):
        for c in range(k):
            total, f = near[c], 0
            for t in range(indptr[i], indptr[i + 1]):
                j = indices[t]
                if is_far[j]:
                    while far[f] < j:
                        total += zero[c, far[f]]
                        f += 1
                    f += 1
                else:
                    total -= zero[c, j]
                x = data[t] - origin[c, j]
                if not np.isnan(x):
                    gap = x - mean[c, j]
                    total += constant[c, j] - 0.5 * precision[c, j] * gap * gap
            for rest in range(f, len(far)):
                total += zero[c, far[rest]]
            out[i, c] = total
    return out
