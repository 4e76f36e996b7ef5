"""Hashes of rows: a random number for each row that depends on its values and a seed, not on where it is."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
from scipy import sparse

from suffice._runtime.arrays import Array
from suffice._runtime.lazy import compiled

GOLDEN = 0x9E3779B97F4A7C15


def digest(value: object) -> int:
    """A number of 63 bits for a value of any kind, the same in every process."""
    return int.from_bytes(blake2b(repr(value).encode(), digest_size=8).digest()) >> 1


def row_hash(values: Any, seed: int) -> Array:
    """A number in [0, 1) for every row (n, d): equal rows have equal ones, among dense rows and among sparse ones.

    >>> row_hash(np.array([[1.0, 2.0], [1.0, 2.0], [2.0, 1.0]]), 0).round(2)
    array([0.74, 0.74, 0.73])
    """
    if sparse.issparse(values):
        return _sparse_hash(values, seed)
    return _share(row_keys(values, seed))


def _sparse_hash(values: sparse.csr_array, seed: int) -> Array:
    """`row_hash` of the entries that are not zero: a sum over them, so that zeros need not be visited."""
    bits = values.data.astype(np.float64).view(np.uint64)
    with np.errstate(over="ignore"):
        keys = mixed(mixed(_begun(seed) ^ values.indices.astype(np.uint64)) ^ bits)
        sums = np.append(np.uint64(0), np.cumsum(np.where(values.data == 0, np.uint64(0), keys)))
        keys = mixed(_begun(seed) ^ np.diff(sums[values.indptr]))
    return _share(keys)


def _begun(seed: int) -> Array:
    return np.asarray(mixed(np.array([seed % 2**64], dtype=np.uint64))[0])


def _share(keys: Array) -> Array:
    return np.asarray((keys >> np.uint64(11)) * 2.0**-53)


def row_keys(values: Array, seed: int = 0) -> Array:
    """64 random bits for every row (n, d), as a whole number: equal rows have equal ones."""
    wide = np.ascontiguousarray(values, dtype=np.float64 if values.dtype.kind == "f" else np.int64)
    return np.asarray(_keys(wide.view(np.uint64).reshape(wide.shape), _begun(seed)))


def seeds(seed: int, count: int) -> Array:
    """So many seeds of 64 bits, as splitmix64 draws them from one."""
    with np.errstate(over="ignore"):
        return np.asarray(mixed(np.uint64(seed % 2**64) + np.uint64(GOLDEN) * np.arange(count, dtype=np.uint64)))


def mixed(x: Any) -> Any:
    """The finalising step of splitmix64, of one whole number of 64 bits or of an array of them."""
    x = x + np.uint64(GOLDEN)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


_mixed = compiled(mixed)


@compiled
def _keys(bits: Array, begun: Array) -> Array:
    """Rows of bits (n, d), mixed into a number that is begun with: (n,)."""
    keys = np.empty(len(bits), np.uint64)
    for i in range(len(bits)):
        key = begun.item()
        for j in range(bits.shape[1]):
            key = _mixed(key ^ bits[i, j])
        keys[i] = key
    return keys
