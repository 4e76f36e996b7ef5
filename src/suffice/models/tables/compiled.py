"""Compiled loops over tables: cells of numbers on a nested grid, counts by class, and scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice._core.vector import Array
from suffice._runtime.lazy import compiled
from suffice.models.statistics import ROUNDING

ALL_BUT_SIGN = np.int64(0x7FFFFFFFFFFFFFFF)
INFINITE = np.int64(0x7FF0000000000000)
ROOM = 1 << 14  # places of the hash table: a power of two, several times the number of keys
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio
LENGTH, BITS, DIGIT = np.uint64(64), np.uint64(11), np.uint64((1 << 11) - 1)  # bits of a key, and of a digit
TOP = np.uint64(50)  # a shift that leaves the 14 bits that number the places


@compiled
def _key(bits: Any, shift: int) -> Any:
    """The key of a number that is not NaN, from its bits; -0.0 has that of 0.0."""
    bits = bits ^ ((bits >> 63) & ALL_BUT_SIGN)  # without a branch, as signs cannot be predicted
    return (bits + (bits == -1)) >> shift


@compiled
def _place(keys: Array, code: Array, key: Any) -> Any:
    """The place of a key in the hash table, or a free place for it."""
    at = np.int64((np.uint64(key) * SPREAD) >> TOP)
    while code[at] >= 0 and keys[at] != key:
        at = (at + 1) & (ROOM - 1)
    return at


@compiled
def few_cells(bits: Array, shift: int, most: int) -> tuple[Array, int, Array]:
    """Cells of numbers, given by their bits (n,), at the least shift, from this one on, that leaves at most `most`.

    Returns their sorted keys, the shift, and the place of each number among the keys (n,), -1 for NaN.
    """
    keys, code = np.empty(ROOM, np.int64), np.full(ROOM, -1, np.int32)
    found = np.empty(most + 1, np.int64)  # keys in the order of their first numbers
    out = np.full(len(bits), -1, np.int32)  # places in that order, renumbered in the end
    count = 0
    for i in range(len(bits)):
        if bits[i] & ALL_BUT_SIGN > INFINITE:
            continue
        key = _key(bits[i], shift)
        at = _place(keys, code, key)
        if code[at] < 0:
            keys[at], code[at], found[count] = key, count, key
            count += 1
        out[i] = code[at]
        if count > most:
            shift, count = shift + 1, _merge(keys, code, found[:count], out[: i + 1], 1)
        if count > most:  # one bit was not enough: as many as it takes, at once
            more = coarser(found[_in_order(found[:count])], most)
            shift, count = shift + more, _merge(keys, code, found[:count], out[: i + 1], more)
    order, place = _in_order(found[:count]), np.empty(count, np.int32)
    place[order] = np.arange(count)
    _renumber(out, place)
    return found[order], shift, out


@compiled
def _in_order(keys: Array) -> Array:
    """The order that sorts keys (m,): a radix sort from the last digit to the first."""
    order, before = np.arange(len(keys)), np.empty(len(keys), np.int64)
    if not len(keys):
        return order
    least = keys.min()
    span, low = np.uint64(keys.max() - least), np.uint64(0)
    while low < LENGTH and span >> low:
        begins = np.zeros(int(DIGIT) + 2, np.int64)
        for q in range(len(keys)):
            begins[((np.uint64(keys[q] - least) >> low) & DIGIT) + np.uint64(1)] += 1
        for v in range(1, len(begins)):
            begins[v] += begins[v - 1]
        order, before = before, order
        for place in range(len(keys)):
            q = before[place]
            digit = (np.uint64(keys[q] - least) >> low) & DIGIT
            order[begins[digit]] = q
            begins[digit] += 1
        low += BITS
    return order


@compiled
def coarser(keys: Array, most: int) -> int:
    """The least further shift of sorted, distinct keys that leaves at most `most` distinct ones.

    Neighbours a < b are distinct after a shift by s as long as a xor b has more than s bits.
    """
    bits = np.zeros(65, np.int64)  # the number of neighbours whose xor has each length
    for q in range(1, len(keys)):
        gap, length = np.uint64(keys[q] ^ keys[q - 1]), 1
        for half in (32, 16, 8, 4, 2, 1):
            if gap >> np.uint64(half):
                gap, length = gap >> np.uint64(half), length + half
        bits[length] += 1
    left, more = len(keys), 0
    while left > most:
        more += 1
        left -= bits[more]
    return more


@compiled
def _merge(keys: Array, code: Array, found: Array, codes: Array, shift: int) -> int:
    """Merge cells whose keys are equal after a shift, renumber cells and codes, and return the number of cells.

    `found` are the keys in the order of their numbers, before and after.
    """
    code[:] = -1
    place, count = np.empty(len(found), np.int32), 0
    for q in range(len(found)):
        key = found[q] >> shift
        at = _place(keys, code, key)
        if code[at] < 0:
            keys[at], code[at], found[count] = key, count, key
            count += 1
        place[q] = code[at]
    _renumber(codes, place)
    return count


@compiled
def union(a: Array, b: Array) -> tuple[Array, Array, Array]:
    """The sorted distinct keys of two sorted arrays, and the places of the keys of each among them."""
    keys, count, i, j = np.empty(len(a) + len(b), np.int64), 0, 0, 0
    at_a, at_b = np.empty(len(a), np.int64), np.empty(len(b), np.int64)
    while i < len(a) or j < len(b):
        key = a[i] if j == len(b) or (i < len(a) and a[i] <= b[j]) else b[j]
        while i < len(a) and a[i] == key:
            at_a[i] = count
            i += 1
        while j < len(b) and b[j] == key:
            at_b[j] = count
            j += 1
        keys[count] = key
        count += 1
    return keys[:count].copy(), at_a, at_b


@compiled
def _renumber(codes: Array, place: Array) -> None:
    for i in range(len(codes)):
        if codes[i] >= 0:
            codes[i] = place[codes[i]]


@compiled
def table_log_density(codes: Array, starts: Array, terms: Array, k: int) -> Array:
    """sum_j terms[starts[j] + codes[i, j]] over the entries with a code: (n, k).

    The columns of `terms` are a multiple of four, so that the sums of four classes are kept in registers.
    """
    n, d = codes.shape
    out = np.empty((n, k))
    for i in range(n):
        for c in range(0, k, 4):
            s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
            for j in range(d):
                code = codes[i, j]
                if code >= 0:
                    at = np.uint64(starts[j] + code)  # unsigned: no check for negative indices
                    s0 += terms[at, c]
                    s1 += terms[at, c + 1]
                    s2 += terms[at, c + 2]
                    s3 += terms[at, c + 3]
            out[i, c] = s0
            if c + 1 < k:
                out[i, c + 1] = s1
            if c + 2 < k:
                out[i, c + 2] = s2
            if c + 3 < k:
                out[i, c + 3] = s3
    return out


@compiled
def table_terms(codes: Array, starts: Array, terms: Array) -> Array:
    """terms[starts[j] + codes[i, j]] for every class and feature (n, k, d), of terms (cells, k); 0 without a code."""
    n, d = codes.shape
    k = terms.shape[1]
    out = np.zeros((n, k, d))
    for i in range(n):
        for j in range(d):
            if codes[i, j] >= 0:
                for c in range(k):
                    out[i, c, j] = terms[starts[j] + codes[i, j], c]
    return out


@compiled
def table_sums(codes: Array, starts: Array, W: Array) -> Array:
    """sum_i W[i, c] for every cell starts[j] + codes[i, j]: (cells, k), with k padded to a multiple of four."""
    n, d = codes.shape
    k = W.shape[1]
    out = np.zeros((starts[-1], (k + 3) // 4 * 4))
    for i in range(n):
        for c in range(0, k, 4):
            w0 = W[i, c]
            w1 = W[i, c + 1] if c + 1 < k else 0.0
            w2 = W[i, c + 2] if c + 2 < k else 0.0
            w3 = W[i, c + 3] if c + 3 < k else 0.0
            for j in range(d):
                code = codes[i, j]
                if code >= 0:
                    at = np.uint64(starts[j] + code)
                    out[at, c] += w0
                    out[at, c + 1] += w1
                    out[at, c + 2] += w2
                    out[at, c + 3] += w3
    return out


@compiled
def table_counts(codes: Array, starts: Array, labels: Array, weight: Array, k: int) -> Array:
    """`table_sums` for weights that are zero except in one class of each row: (k, cells)."""
    n, d = codes.shape
    out = np.zeros((k, starts[-1]))
    for i in range(n):
        c, w = labels[i], weight[i]
        if c >= 0:
            for j in range(d):
                code = codes[i, j]
                if code >= 0:
                    out[c, np.uint64(starts[j] + code)] += w
    return out


@compiled
def interval_codes(X: Array, bounds: Array, starts: Array, codes: Array) -> None:
    """Write the interval of each entry to codes (n, d): the last of its column's lower bounds that is not above it.

    The sorted bounds of column j are those from starts[j] to starts[j + 1]; NaN, and numbers below the first bound, get
    -1. The binary searches of many entries of a column go in step, without branches, as each takes as many steps.
    """
    n, d = X.shape
    codes[:] = -1
    at, x = np.empty(256, np.int64), np.empty(256, X.dtype)
    for first in range(0, n, 256):
        m = min(n - first, 256)
        for j in range(d):
            size = starts[j + 1] - starts[j]
            if size == 0:
                continue
            for i in range(m):
                at[i], x[i] = starts[j], X[first + i, j]
            while size > 1:
                half = size // 2
                for i in range(m):
                    at[i] += half * (bounds[at[i] + half - 1] <= x[i])
                size -= half
            for i in range(m):
                codes[first + i, j] = at[i] - starts[j] - 1 + (bounds[at[i]] <= x[i])


MIN_LEFT = 1e-12  # rows left in a leaf without its only row, as a share of the row's weight
MIN_PRODUCT = 1e-150  # a product of probabilities below this becomes a logarithm before it underflows


@compiled
def left(had: float, gone: float) -> float:
    """`suffice.models.statistics.rest` of one number."""
    rest = had - gone
    return rest if rest > ROUNDING * gone else 0.0


@compiled
def table_log_density_without(
    codes: Array, starts: Array, own: Array, counts: Array, total: Array, log_zero: float
) -> Array:
    """sum_j log (count - w) / (total - w) over the entries with a code, w = own[i, c]: (n, k).

    Counts are (cells, k), their totals (d, k). A table without any weight left is uniform; a cell without any weight
    left has `log_zero`.
    """
    n, d = codes.shape
    k = own.shape[1]
    out = np.zeros((n, k))
    p = np.empty(k)
    for i in range(n):
        p[:] = 1.0
        for j in range(d):
            code = codes[i, j]
            if code >= 0:
                for c in range(k):
                    w = own[i, c]
                    below = left(total[j, c], w)
                    if below > 0.0:
                        above = left(counts[starts[j] + code, c], w)
                        if above > 0.0:
                            p[c] *= above / below
                        else:
                            out[i, c] += np.log(p[c]) + log_zero
                            p[c] = 1.0
                    else:
                        p[c] /= starts[j + 1] - starts[j]
                    if p[c] < MIN_PRODUCT or out[i, c] <= log_zero:  # beside log_zero, round each term by itself
                        out[i, c] += np.log(p[c])
                        p[c] = 1.0
        for c in range(k):
            out[i, c] += np.log(p[c])
    return out


@compiled
def table_terms_without(
    codes: Array, starts: Array, classes: Array, weight: Array, counts: Array, total: Array, log_zero: float
) -> Array:
    """log (count - w) / (total - w) in the table of each row's class, without its weight w (n,): (n, d).

    Counts are (k, cells), their totals (k, d). A table without any weight left is uniform; a cell without any weight
    left has `log_zero`; an entry without a code has 0.
    """
    n, d = codes.shape
    out = np.zeros((n, d))
    for i in range(n):
        c, w = classes[i], weight[i]
        for j in range(d):
            if codes[i, j] < 0:
                continue
            above, below = left(counts[c, starts[j] + codes[i, j]], w), left(total[c, j], w)
            p = above / below if below > 0.0 else 1.0 / (starts[j + 1] - starts[j])
            out[i, j] = np.log(p) if p > 0.0 else log_zero
    return out


@compiled
def leaves_without(
    marked: Array, starts: Array, own: Array, counts: Array, total: Array, log_probability: Array
) -> Array:
    """The mean of log p(leaf | c) over the trees that have not seen a row, times the number of trees: (n, k).

    The row's own weight is subtracted from the smoothed counts (k, cells) and totals (k, t). A leaf of a tree that has
    seen the row is marked: -1 - leaf. A row that every tree has seen has scores of 0.
    """
    n, t = marked.shape
    k = own.shape[1]
    out, p = np.zeros((n, k)), np.empty(k)
    for i in range(n):
        unseen = 0
        p[:] = 1.0
        for j in range(t):
            if marked[i, j] < 0:
                continue
            unseen += 1
            cell = starts[j] + marked[i, j]
            for c in range(k):
                w = own[i, c]
                if w == 0.0:
                    out[i, c] += log_probability[cell, c]
                else:
                    above = max(counts[c, cell] - w, MIN_LEFT * abs(w))
                    p[c] *= above / max(total[c, j] - w, above)
                    if p[c] < MIN_PRODUCT:
                        out[i, c] += np.log(p[c])
                        p[c] = 1.0
        for c in range(k):
            out[i, c] = (out[i, c] + np.log(p[c])) * t / max(unseen, 1)
    return out
