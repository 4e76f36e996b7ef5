"""Products of many rows with small matrices, by the routines of linear algebra that do no work twice."""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas

from suffice._vector import Array

NEGLIGIBLE = 2.0**-70  # of the greatest weight: what weighs less is far below the rounding of the sum


def gram(Z: Array, weight: Array | None = None) -> Array:
    """sum_i w_i z_i z_i' (d, d) of rows Z (n, d) and signed weights (n,); half the work of a product.

    Positive and negative weights are summed apart, as squares of sqrt|w| z.

    >>> gram(np.array([[1.0, 2.0], [3.0, 0.0]]), np.array([1.0, -1.0]))
    array([[-8.,  2.],
           [ 2.,  4.]])
    """
    d = Z.shape[1]
    if weight is None:
        return mirrored(added(np.zeros((d, d), order="F"), Z, 1.0))
    size = np.abs(weight)
    some = size > NEGLIGIBLE * size.max(initial=0.0)
    total = np.zeros((d, d), order="F")
    for sign, rows in ((1.0, np.flatnonzero(some & (weight > 0))), (-1.0, np.flatnonzero(some & (weight < 0)))):
        if len(rows):
            part = Z[rows] if len(rows) < len(Z) else Z.copy()
            part *= np.sqrt(size[rows])[:, None]
            total = added(total, part, sign)
    return mirrored(total)


def added(total: Array, Z: Array, sign: float) -> Array:
    """The upper triangle of total + sign Z'Z."""
    if not Z.size:
        return total
    return np.asarray(blas.dsyrk(sign, np.ascontiguousarray(Z).T, beta=1.0, c=total, overwrite_c=1))


def mirrored(upper: Array) -> Array:
    """The symmetric matrix with such an upper triangle, below which there are zeros."""
    whole = upper + upper.T
    np.fill_diagonal(whole, np.diagonal(upper))
    return np.asarray(whole)


def squared_lengths(gap: Array, upper: Array) -> Array:
    """|z' U|^2 (n,) of rows (n, d), which are overwritten, and an upper triangular U (d, d); half the work.

    >>> squared_lengths(np.array([[1.0, 2.0]]), np.array([[1.0, 3.0], [0.0, 2.0]]))
    array([50.])
    """
    if not gap.size:
        return np.zeros(len(gap))
    white = blas.dtrmm(1.0, np.ascontiguousarray(upper).T, gap.T, lower=1, overwrite_b=1)
    return np.asarray(np.einsum("ji,ji->i", white, white))
