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
SAMPLE = 256  # numbers that tell at which shift to begin
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
    bits, start = np.ascontiguousarray(values, dtype=np.float64).view(np.int64), _likely(values)
    keys, shift, codes = _grid_kernels.few_cells(bits, start, CELLS)
    if start and shift == start:  # nothing has shown that less is not enough
        keys, shift, codes = _grid_kernels.few_cells(bits, 0, CELLS)
    return keys, int(shift), codes


def _likely(values: Array) -> int:
    """A shift that leaves too many cells, most likely, but not by far: at which two of a few numbers come to share one.

    0 if all numbers are few, as far as those that are there once and twice tell (Chao's estimate of the others).
    """
    if len(values) <= CELLS:
        return 0
    some = values[:: len(values) // SAMPLE]
    keys, times = np.unique(ordered(some[~np.isnan(some)]), return_counts=True)
    once, twice = np.count_nonzero(times == 1), np.count_nonzero(times == 2)
    if len(keys) + once * (once - 1) / (2 * (twice + 1)) <= CELLS:
        return 0
    return max(0, int(_grid_kernels.coarser(keys, len(keys) - 2)) - 1)


def coarsened(keys: Array, shift: int) -> tuple[Array, int]:
    """Sorted, distinct keys at the least shift from this one on at which they are few enough."""
    more = int(_grid_kernels.coarser(keys, CELLS))
    return (distinct(keys >> more), shift + more) if more else (keys, shift)


def joined(a: tuple[Array, int], b: tuple[Array, int]) -> tuple[Array, int, Array, Array]:
    """The grid of two together, the one that all their numbers would have had at once, and the places in it of theirs.

    The number of different keys falls as the shift rises and rises with every number, so that the least shift at which
    all are few is at least that of either, and is found from the keys at the larger of the two.
    """
    shift = max(a[1], b[1])
    keys, at_a, at_b = _grid_kernels.union(*(keys >> (shift - s) for keys, s in (a, b)))
    more = int(_grid_kernels.coarser(keys, CELLS))
    if not more:
        return keys, shift, at_a, at_b
    keys, at, _ = _grid_kernels.union(keys >> more, keys[:0])
    return keys, shift + more, at[at_a], at[at_b]
