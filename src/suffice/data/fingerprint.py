"""Digests of rows: of all rows at once in memory, as a sum over rows elsewhere."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from scipy.sparse import issparse

from suffice._core.features import Encoded
from suffice._core.vector import Array
from suffice._runtime import random as _hash
from suffice._runtime.fingerprint import Content
from suffice.data.base import Batch


def digest(*values: Any) -> str:
    """A digest of arrays, sparse matrices and data frames: the same for equal bits, in every process.

    >>> digest(np.array([1.0, 2.0])) == digest(np.array([1.0, 2.0])), digest(["u"]) == digest(["v"])
    (True, False)
    """
    found = hashlib.sha256()
    for value in values:
        for array in _arrays(value):
            found.update(f"{array.dtype.str}{array.shape}".encode())
            if array.dtype.kind in "OT":
                found.update(repr(array.tolist()).encode("utf-8", "surrogatepass"))
            else:
                by_columns = array.flags.f_contiguous and array.ndim > 1
                found.update(np.ascontiguousarray(array.T if by_columns else array).reshape(-1).view(np.uint8).data)
    return found.hexdigest()


def _arrays(value: Any) -> Iterator[Array]:
    if isinstance(value, np.ndarray):
        yield value
        return
    if issparse(value):
        yield from (value.data, value.indices, value.indptr)
        return
    frame = nw.from_native(value, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        yield np.array(frame.columns)
        yield from (column.to_numpy() for column in frame.iter_columns())
    else:
        found = Content.of(value)
        yield np.array([found.digest, *map(repr, found.numbers)])


@dataclass(frozen=True)
class RowDigests:
    """The number of rows of a batch, and the sum modulo 2^64 of a digest of each (2,): features, label and weight.

    Sums depend neither on the order of rows nor on batches.

    >>> import pandas as pd
    >>> from suffice._core.labels import OneHot
    >>> batch = Batch(pd.DataFrame({"a": [1.0, 2.0], "b": ["u", None]}), OneHot.of(np.array(["p", "q"])))
    >>> turned = Batch(batch.X[::-1], batch.Y[[1, 0]])
    >>> bool((row_digests(batch) == row_digests(turned)).all())
    True
    """

    def __call__(self, batch: Batch) -> Array:
        X, Y = batch
        labels = Y.classes[Y.codes] if len(Y.classes) else Y.codes
        columns = [_integers(column) for column in (*_columns(X), labels, Y.weight)]
        keys = _hash.row_keys(np.column_stack(columns), _hash.digest(_names(X)))
        return np.array([len(Y), keys.sum()], dtype=np.uint64)


row_digests = RowDigests()


def _names(X: Any) -> list[str]:
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame.columns if isinstance(frame, nw.DataFrame) else []


def _columns(X: Any) -> Iterator[Array]:
    """The features (n, d) as columns; for sparse rows one column of hashes."""
    values = X.values if isinstance(X, Encoded) else X
    if issparse(values):
        yield _hash.row_hash(values, 0)
        return
    frame = nw.from_native(values, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        yield from (column.to_numpy() for column in frame.iter_columns())
    else:
        yield from np.asarray(values).T


def _integers(column: Array) -> Array:
    """A whole number for each value (n,), the same for equal values."""
    if column.dtype.kind in "fiub":
        numbers = np.asarray(column, dtype=float)
        return np.where(np.isnan(numbers), np.nan, numbers).view(np.int64)
    if column.dtype.kind in "mM":
        return column.astype(np.int64)
    known = _Digests()
    return np.fromiter((known[value] for value in column.tolist()), np.int64, len(column))


class _Digests(dict[Any, int]):
    """Digests of values, each computed once."""

    def __missing__(self, value: Any) -> int:
        self[value] = found = _hash.digest(value)
        return found
