"""Products of many rows with small matrices, without work done twice; all of them free the interpreter for threads."""

from __future__ import annotations

import numpy as np

from suffice._vector import Array

NEGLIGIBLE = 2.0**-70  # of the greatest weight: what weighs less is far below the rounding of the sum
COLUMNS, ENTRIES = 64, 1 << 16  # of a product that is squared and added up while it is near


def gram(Z: Array, weight: Array | None = None) -> Array:
    """sum_i w_i z_i z_i' (d, d) of rows Z (n, d) and signed weights (n,); NumPy knows a square, and does half the work.

    Positive and negative weights are summed apart, as squares of sqrt|w| z.

    >>> gram(np.array([[1.0, 2.0], [3.0, 0.0]]), np.array([1.0, -1.0]))
    array([[-8.,  2.],
           [ 2.,  4.]])
    """
    with np.errstate(over="ignore", invalid="ignore"):  # a model refuses what overflows
        if weight is None:
            return np.asarray(Z.T @ Z)
        size = np.abs(weight)
        some = size > NEGLIGIBLE * size.max(initial=0.0)
        total = np.zeros((Z.shape[1], Z.shape[1]))
        for sign, rows in ((1.0, np.flatnonzero(some & (weight > 0))), (-1.0, np.flatnonzero(some & (weight < 0)))):
            if len(rows):
                part = Z[rows] if len(rows) < len(Z) else Z.copy()
                part *= np.sqrt(size[rows])[:, None]
                total += sign * (part.T @ part)
        return total


def squared_lengths(gap: Array, upper: Array, at: Array | None = None) -> Array:
    """|z' U - a|^2 (n,) of rows (n, d), an upper triangular U (d, d) and a point a (d,), by default zero.

    Some columns at a time, without the zeros below them.

    >>> squared_lengths(np.array([[1.0, 2.0]]), np.array([[1.0, 3.0], [0.0, 2.0]]))
    array([50.])
    """
    n, d = gap.shape
    out, size = np.zeros(n, dtype=gap.dtype), max(8 * COLUMNS, ENTRIES // max(1, d))
    for rows in (slice(i, i + size) for i in range(0, n, size)):
        for first in range(0, d, COLUMNS):
            last = first + COLUMNS
            white = gap[rows, :last] @ upper[:last, first:last]
            if at is not None:
                white -= at[first:last]
            out[rows] += np.einsum("ij,ij->i", white, white)
    return out
