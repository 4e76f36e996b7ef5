"""Distinct values of columns and the codes of entries, by counting and hashing, without sorting the rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from suffice._runtime.lazy import Array, compiled
from suffice._runtime.threads import spread, workers

MAX_RANGE = 1 << 16  # of integers that are counted, from the least to the greatest
MAX_VALUES = (1 << 6, 1 << 12)  # of a column that is hashed: first with a small table, then with a large one
ENTRIES = 1 << 20  # of a piece of rows, for one thread
MAX_EXACT = 2.0**53  # smaller integers are exact in every type
HASH = np.uint64(0x9E3779B97F4A7C15)


class Distinct(NamedTuple):
    """The distinct values (m,) of each column, None if there are too many, and the code of each entry (n, d).

    Integers are sorted, and NaN among them has the code -1; other values are in the order of their first rows. The
    codes of a column whose values are None are undefined.
    """

    values: list[Array | None]
    codes: Array

    def renumbered(self, places: Sequence[Array | None]) -> Array:
        """Replace the codes in place: value v of column j gets `places[j][v]`, or keeps its code if that is None."""
        if all(place is None for place in places):
            return self.codes
        sizes = [0 if values is None else len(values) for values in self.values]
        each = [np.arange(m) if place is None else place for m, place in zip(sizes, places, strict=True)]
        table, starts = np.concatenate(each).astype(np.int64), np.cumsum([0, *sizes])
        some = np.array([values is not None for values in self.values])
        spread(lambda rows: _renumber(self.codes[rows], table, starts, some), _pieces(self.codes))
        return self.codes


def _pieces(X: Array, large: bool = False) -> list[slice]:
    """Slices of the rows of X (n, d) with `ENTRIES` entries; if large, one slice for each thread."""
    size = max(1, ENTRIES // max(1, X.shape[1]))
    if large and len(X) > size:
        size = max(size, -(-len(X) // workers()))
    return [slice(i, i + size) for i in range(0, len(X), size)]


def smallest(size: int) -> Any:
    """The smallest integer type for -1 and all numbers below a size."""
    return np.int8 if size <= 1 << 7 else np.int16 if size <= 1 << 15 else np.int32


def distinct(X: Array) -> Distinct:
    """The distinct values of every column of an array X (n, d) of any type.

    >>> found = distinct(np.array([["v", "u"], ["v", "w"]]))
    >>> [values.tolist() for values in found.values], found.codes.tolist()
    ([['v'], ['u', 'w']], [[0, 0], [0, 1]])
    """
    X = X if X.dtype.isnative else X.astype(X.dtype.newbyteorder("="))
    if X.dtype.kind in "OUMm" and X.dtype.itemsize:
        return _alike(X)
    if X.dtype.kind not in "biuf" or X.dtype.itemsize > 8 or not X.size:
        return Distinct([None] * X.shape[1], np.zeros(X.shape, dtype=np.int8))
    found = _whole(X)
    rest = [j for j, values in enumerate(found.values) if values is None]
    if not rest:
        return found
    others = _alike(_columns(X, rest))
    codes = found.codes.astype(np.result_type(found.codes, others.codes), copy=False)
    codes[:, rest] = others.codes
    for j, values in zip(rest, others.values, strict=True):
        found.values[j] = values
    return Distinct(found.values, codes)


def values_of(y: Array) -> Array | None:
    """The distinct values (m,) of y (n,) in any order; None if there are many, or some are missing."""
    (values,), codes = distinct(y[:, None])
    return None if (codes < 0).any() else values


def span(y: Array) -> tuple[int, int]:
    """The least of integers (n,), n > 0, and the length of the range from there to the greatest."""
    if len(y) <= ENTRIES:
        return int(y.min()), int(y.max()) - int(y.min()) + 1
    ends = np.array(spread(lambda rows: (y[rows].min(), y[rows].max()), _pieces(y[:, None])))
    return int(ends.min()), int(ends.max()) - int(ends.min()) + 1


def sorted_codes(y: Array) -> tuple[Array, Array]:
    """The sorted distinct values (m,) of y (n,), and the index of each entry among them, in the smallest type."""
    near = _codes_in_range(y) if y.dtype.kind in "iu" else None
    if near is not None:
        return near
    (values,), codes = distinct(y[:, None])
    if values is None or (codes < 0).any():
        values, codes = np.unique(y, return_inverse=True)
        return values, codes.astype(smallest(len(values)))
    ordered, place = np.unique(values, return_inverse=True)
    return ordered.astype(y.dtype, copy=False), looked_up(place, codes[:, 0])


def looked_up(table: Array, codes: Array) -> Array:
    """`table[codes]` (n,) of integers from -1 on, in the smallest type, without converting all codes at once."""
    found = np.empty(len(codes), smallest(int(table.max(initial=0)) + 1))
    for rows in _pieces(codes[:, None]):
        found[rows] = table[codes[rows]]
    return found


def _codes_in_range(y: Array) -> tuple[Array, Array] | None:
    """`sorted_codes` of integers (n,) in a short range; None for others."""
    low, size = span(y)
    if size > min(MAX_RANGE, len(y)):
        return None
    first = np.array([low]).astype(np.int64)[0]  # large unsigned numbers wrap around, here and in `_plain`
    codes, there = np.empty(len(y), smallest(size)), np.zeros(size, np.bool_)
    spread(lambda rows: _number(_plain(y[rows]), first, codes[rows], there), _pieces(y[:, None]))
    values = (np.flatnonzero(there) + first).astype(y.dtype)
    return values, codes if there.all() else looked_up(np.cumsum(there) - 1, codes)


@compiled
def _number(y: Array, first: int, codes: Array, there: Array) -> None:
    """Codes y - first (n,) of integers, and which codes there are."""
    for i in range(len(y)):
        code = y[i] - first
        codes[i] = code
        there[np.uint64(code)] = True


def _columns(X: Array, which: list[int]) -> Array:
    """Some columns, without a copy if these are all."""
    return X if len(which) == X.shape[1] else X[:, which]


def _plain(X: Array) -> Array:
    """Numbers (n, d) as float64 or int64, in row order."""
    return np.ascontiguousarray(X, dtype=np.float64 if X.dtype.kind == "f" else np.int64)


def _whole(X: Array) -> Distinct:
    """`distinct` of integers in a short range; None for other columns."""
    n, d = X.shape
    slices = _pieces(X)
    ends = np.array(spread(lambda rows: _bounds(_plain(X[rows])), slices), dtype=float)
    low, high = ends[:, 0].min(axis=0), ends[:, 1].max(axis=0)
    with np.errstate(invalid="ignore"):
        near = (low > -MAX_EXACT) & (high < MAX_EXACT) & (high - low < min(MAX_RANGE, 16 * n)) & (low == np.floor(low))
        span = np.where(near, high - low + 1, 0).astype(np.int64)
    first, starts = np.where(near, low, 0).astype(np.int64), np.append(0, np.cumsum(span))
    seen, codes = np.zeros(starts[-1], dtype=bool), np.empty((n, d), dtype=smallest(int(span.max())))
    if near.any():
        spread(lambda rows: _count(_plain(X[rows]), first, starts[:-1], near, seen, codes[rows]), slices)
    here = [seen[a:b] for a, b in pairwise(starts)]
    each = zip(first, here, near, strict=True)
    values = [(at + np.flatnonzero(part)).astype(X.dtype) if ok else None for at, part, ok in each]
    found = Distinct(values, codes)
    if seen.all():
        return found
    table = np.concatenate([np.cumsum(part) - 1 for part in here])
    spread(lambda rows: _renumber(codes[rows], table, starts, near), slices)
    return found


def _items(X: Array) -> Array:
    """The bits of each entry (n, d, w), equal for equal strings, dates and objects."""
    if X.dtype.kind == "O":  # addresses of objects: equal objects elsewhere are united later
        at = {**X.__array_interface__, "typestr": np.dtype(np.uintp).str, "descr": [("", np.dtype(np.uintp).str)]}
        return np.ascontiguousarray(np.asarray(SimpleNamespace(__array_interface__=at)))[:, :, None]
    X = _plain(X) if X.dtype.kind in "biuf" else np.ascontiguousarray(X)
    unit: Any = np.uint64 if X.dtype.itemsize % 8 == 0 else np.uint32
    return np.asarray(X.view(unit).reshape(*X.shape, -1))


def _alike(X: Array) -> Distinct:
    """`distinct` by hashing, with small tables and, for columns of many values, with large ones."""
    found = _hashed(X, MAX_VALUES[0])
    rest = [j for j, values in enumerate(found.values) if values is None]
    if rest and len(X) > MAX_VALUES[0]:
        others = _hashed(_columns(X, rest), MAX_VALUES[1])
        found.codes[:, rest] = others.codes
        for j, values in zip(rest, others.values, strict=True):
            found.values[j] = values
    return found


def _hashed(X: Array, most: int) -> Distinct:
    """`distinct` by hashing, each piece of rows on its own; None for columns with more values than `most`."""
    n, d = X.shape
    codes, slices = np.zeros((n, d), dtype=np.int16), _pieces(X, large=True)
    firsts = spread(lambda rows: _firsts(X[rows], most, codes[rows]), slices)
    values: list[Array | None] = []
    for j in range(d):
        each = [X[rows.start + at[j][at[j] >= 0], j] for rows, at in zip(slices, firsts, strict=True)]
        values.append(_together(each, codes[:, j], slices, most) if all(map(len, each)) else None)
    return Distinct(values, codes)


def _together(each: list[Array], codes: Array, slices: list[slice], most: int) -> Array | None:
    """The values of all pieces of a column, whose codes (n,) are changed in place; None if there are too many."""
    values = each[0] if each else np.empty(0)
    for part, rows in zip(each[1:], slices[1:], strict=True):
        if len(part) == len(values) and _same(part, values):
            continue
        both = np.concatenate([values, part])
        at = _firsts(both[:, None], most, known := np.zeros((len(both), 1), dtype=np.int16))[0]
        if at[0] < 0:
            return None
        codes[rows] = known[len(values) :, 0][codes[rows]]
        values = both[at[at >= 0]]
    return values


def _same(a: Array, b: Array) -> bool:
    return bool((_items(a[:, None]) == _items(b[:, None])).all())


def _firsts(X: Array, most: int, codes: Array) -> Array:
    """The first row of each value (d, most), padded with -1; all -1 if there are too many."""
    most = min(most, len(X))
    slots = np.full((X.shape[1], 1 << (2 * most).bit_length()), -1, dtype=np.int16)
    firsts = np.full((X.shape[1], most), -1, dtype=np.int64)
    _find(_items(X), slots, firsts, codes)
    return firsts


@compiled
def _bounds(X: Array) -> tuple[Array, Array]:
    """The least and the greatest number of each column (d,), ignoring NaN."""
    n, d = X.shape
    low, high = X[0].copy(), X[0].copy()
    for i in range(n):
        for j in range(d):
            x = X[i, j]
            if x < low[j] or low[j] != low[j]:
                low[j] = x
            if x > high[j] or high[j] != high[j]:
                high[j] = x
    return low, high


@compiled
def _count(X: Array, first: Array, starts: Array, near: Array, seen: Array, codes: Array) -> None:
    """Codes x - first (n, d), and which codes there are; `near` becomes False for a column with fractions."""
    n, d = X.shape
    for i in range(n):
        for j in range(d):
            x = X[i, j]
            if near[j]:
                if x == x:
                    v = np.int64(x) - first[j]
                    codes[i, j] = v
                    seen[starts[j] + v] = True
                    if v + first[j] != x:
                        near[j] = False
                else:
                    codes[i, j] = -1


@compiled
def _renumber(codes: Array, table: Array, starts: Array, some: Array) -> None:
    """Codes (n, d) of some columns as table[starts_j + code]."""
    n, d = codes.shape
    for i in range(n):
        for j in range(d):
            if some[j] and codes[i, j] >= 0:
                codes[i, j] = table[starts[j] + codes[i, j]]


@compiled
def _find(items: Array, slots: Array, firsts: Array, codes: Array) -> None:
    """Codes (n, d) in the order of first rows, by open addressing in slots (d, a power of two)."""
    n, d, w = items.shape
    mask, most = np.uint64(slots.shape[1] - 1), firsts.shape[1]
    found = np.zeros(d, dtype=np.int64)
    for i in range(n):
        for j in range(d):
            if found[j] > most:
                continue
            key = np.uint64(j)  # so that equal values of neighbouring columns do not share a cache line
            for t in range(w):
                key = (key ^ np.uint64(items[i, j, t])) * HASH
                key ^= key >> np.uint64(29)
            at = key & mask
            while True:
                code = slots[j, at]
                if code < 0:
                    code = found[j]
                    found[j] += 1
                    if code < most:
                        slots[j, at] = code
                        firsts[j, code] = i
                    else:
                        firsts[j] = -1
                        code = 0
                    break
                first, t = firsts[j, code], 0
                while t < w and items[first, j, t] == items[i, j, t]:
                    t += 1
                if t == w:
                    break
                at = (at + np.uint64(1)) & mask
            codes[i, j] = code
