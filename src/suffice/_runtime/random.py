"""Repeatable random numbers: generators with a seed, and hashes of values and rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import blake2b
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from suffice._runtime.lazy import Array, compiled

_DEFAULT: ContextVar[np.random.RandomState | None] = ContextVar("_DEFAULT", default=None)


def generator(random_state: Any) -> np.random.RandomState:
    """A generator from a seed, a generator, or None, as in scikit-learn; see `seeded` for None."""
    default = _DEFAULT.get()
    return default if random_state is None and default is not None else check_random_state(random_state)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Within the block, `generator(None)` starts from this seed.

    >>> with seeded(7):
    ...     number = generator(None).randint(100)
    >>> number == np.random.RandomState(7).randint(100)
    True
    """
    token = _DEFAULT.set(np.random.RandomState(seed))
    try:
        yield
    finally:
        _DEFAULT.reset(token)


GOLDEN = 0x9E3779B97F4A7C15  # the increment of splitmix64


def digest(value: object) -> int:
    """A number of 63 bits for any value, the same in every process."""
    return int.from_bytes(blake2b(repr(value).encode(), digest_size=8).digest()) >> 1


def row_hash(values: Any, seed: int) -> Array:
    """A random number in [0, 1) for every row (n, d), equal for equal rows, if all are dense or all are sparse.

    >>> row_hash(np.array([[1.0, 2.0], [1.0, 2.0], [2.0, 1.0]]), 0).round(2)
    array([0.74, 0.74, 0.73])
    """
    if sparse.issparse(values):
        return _sparse_hash(values, seed)
    return _share(row_keys(values, seed))


def _sparse_hash(values: sparse.csr_array, seed: int) -> Array:
    """`row_hash` by a sum over the entries that are not zero."""
    bits = values.data.astype(np.float64).view(np.uint64)
    with np.errstate(over="ignore"):
        keys = mixed(mixed(_seed_key(seed) ^ values.indices.astype(np.uint64)) ^ bits)
        sums = np.append(np.uint64(0), np.cumsum(np.where(values.data == 0, np.uint64(0), keys)))
        keys = mixed(_seed_key(seed) ^ np.diff(sums[values.indptr]))
    return _share(keys)


def _seed_key(seed: int) -> Array:
    return np.asarray(mixed(np.array([seed % 2**64], dtype=np.uint64))[0])


def _share(keys: Array) -> Array:
    return np.asarray((keys >> np.uint64(11)) * 2.0**-53)


def row_keys(values: Array, seed: int = 0) -> Array:
    """64 random bits for every row (n, d), as an integer, equal for equal rows."""
    wide = np.ascontiguousarray(values, dtype=np.float64 if values.dtype.kind == "f" else np.int64)
    return np.asarray(_keys(wide.view(np.uint64).reshape(wide.shape), _seed_key(seed)))


def seeds(seed: int, count: int) -> Array:
    """Seeds of 64 bits, drawn from one by splitmix64."""
    with np.errstate(over="ignore"):
        return np.asarray(mixed(np.uint64(seed % 2**64) + np.uint64(GOLDEN) * np.arange(count, dtype=np.uint64)))


def mixed(x: Any) -> Any:
    """The finaliser of splitmix64, for an integer of 64 bits or an array of them."""
    x = x + np.uint64(GOLDEN)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


_mixed = compiled(mixed)


@compiled
def _keys(bits: Array, start: Array) -> Array:
    """Keys (n,) of rows of bits (n, d), mixed into a start value."""
    keys = np.empty(len(bits), np.uint64)
    for i in range(len(bits)):
        key = start.item()
        for j in range(bits.shape[1]):
            key = _mixed(key ^ bits[i, j])
        keys[i] = key
    return keys
