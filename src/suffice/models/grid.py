"""A nested grid of numbers: which cell a number is in, and how coarse the cells must be for there to be few of them.

A number's key at shift s is the whole number made of its bits, in the order of the numbers, without the last s of them:
sign, exponent and the leading 52 - s binary digits. So cells are as wide as the numbers in them are large, and a shift
by one more merges neighbours in pairs.
"""

from __future__ import annotations

import numpy as np

from suffice._vector import Array
from suffice.models import _grid_kernels

CELLS = 4096  # of a column, at most; also what is left of all numbers at a shift of 52, the largest there is
SAMPLE = CELLS + CELLS // 4  # numbers that tell at which shift to begin
_SIGN = np.int64(0x7FFFFFFFFFFFFFFF)


def ordered(values: Array) -> Array:
    """The bits of numbers as whole numbers of the same order: the keys at shift 0.

    >>> ordered(np.array([-1.0, -0.0, 0.0, 5e-324])).tolist()
    [-4607182418800017409, 0, 0, 1]
    """
    bits = (np.asarray(values, dtype=np.float64) + 0.0).view(np.int64)  # -0.0 is 0.0
    return np.where(bits < 0, bits ^ _SIGN, bits)


def number(keys: Array) -> Array:
    """The numbers of keys at shift 0."""
    keys = np.asarray(keys, dtype=np.int64)
    return np.where(keys < 0, keys ^ _SIGN, keys).view(np.float64)


def distinct(ordered_keys: Array) -> Array:
    """Sorted keys, each once."""
    if not len(ordered_keys):
        return ordered_keys
    return np.asarray(ordered_keys[np.append(True, ordered_keys[1:] != ordered_keys[:-1])])


def cells(values: Array) -> tuple[Array, int, Array]:
    """The grid of numbers (n,): the keys of the non-empty cells, the least shift at which they are few, and the place
    of the cell of each number among the keys (n,), -1 for NaN.

    >>> keys, shift, codes = cells(np.random.default_rng(0).normal(size=100_000))
    >>> len(keys), shift
    (2687, 45)
    """
    some = values[:: max(1, len(values) // SAMPLE)]
    _, shift = coarsened(distinct(np.sort(ordered(some[~np.isnan(some)]))), 0)
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    keys, shift, codes = _grid_kernels.few_cells(bits, shift, CELLS)
    return keys, int(shift), codes


def coarsened(keys: Array, shift: int) -> tuple[Array, int]:
    """Sorted, distinct keys at the least shift from this one on at which they are few enough."""
    more = int(_grid_kernels.coarser(keys, CELLS))
    return (distinct(keys >> more), shift + more) if more else (keys, shift)


def common(a: tuple[Array, int], b: tuple[Array, int]) -> tuple[Array, int]:
    """The grid of two together: the one that all their numbers would have had at once.

    The number of different keys falls as the shift rises and rises with every number, so that the least shift at which
    all are few is at least that of either, and is found from the keys at the larger of the two.
    """
    shift = max(a[1], b[1])
    keys = np.sort(np.concatenate([keys >> (shift - s) for keys, s in (a, b)]))
    return coarsened(distinct(keys), shift)
