"""Compiled loops over the bits of numbers: their cells on a nested grid, by hashing instead of sorting."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice._core.vector import Array
from suffice._runtime.lazy import compiled

ALL_BUT_SIGN = np.int64(0x7FFFFFFFFFFFFFFF)
INFINITE = np.int64(0x7FF0000000000000)
ROOM = 1 << 14  # places for keys, a power of two several times as large as the keys are many
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio
LENGTH, BITS, DIGIT = np.uint64(64), np.uint64(11), np.uint64((1 << 11) - 1)  # of a key, and a digit of it
TOP = np.uint64(50)  # all but the leading bits, which number the places


@compiled
def _key(bits: Any, shift: int) -> Any:
    """The key of a number that is not NaN, from its bits; -0.0 has that of 0.0."""
    bits = bits ^ ((bits >> 63) & ALL_BUT_SIGN)  # without a branch, as signs are not to be foreseen
    return (bits + (bits == -1)) >> shift


@compiled
def _place(keys: Array, code: Array, key: Any) -> Any:
    """Where a key is, or where it may be put."""
    at = np.int64((np.uint64(key) * SPREAD) >> TOP)
    while code[at] >= 0 and keys[at] != key:
        at = (at + 1) & (ROOM - 1)
    return at


@compiled
def few_cells(bits: Array, shift: int, most: int) -> tuple[Array, int, Array]:
    """Cells of numbers, given by their bits (n,), at the least shift from this one on at which `most` are enough.

    Their sorted keys, the shift, and the place of each number among the keys (n,); NaN has none, which is -1.
    """
    keys, code = np.empty(ROOM, np.int64), np.full(ROOM, -1, np.int32)
    found = np.empty(most + 1, np.int64)  # the keys as they come
    out = np.full(len(bits), -1, np.int32)  # numbered as they come, in the end in their order
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
        if count > most:  # one bit was not enough: as far as it takes, at once
            more = coarser(found[_in_order(found[:count])], most)
            shift, count = shift + more, _merge(keys, code, found[:count], out[: i + 1], more)
    order, place = _in_order(found[:count]), np.empty(count, np.int32)
    place[order] = np.arange(count)
    _renumber(out, place)
    return found[order], shift, out


@compiled
def _in_order(keys: Array) -> Array:
    """Where the keys (m,) are in rising order: sorted by one digit after the other, the last one first."""
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
    """By how many bits more sorted, distinct keys must be shifted for at most `most` different ones to be left.

    Neighbours a < b are different after a shift by s as long as a xor b has more than s bits.
    """
    bits = np.zeros(65, np.int64)  # how many neighbours differ in so many
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
    """Merge cells whose keys are the same after a shift, and number them and codes again; how many cells are left.

    `found` are the keys in the order of their numbers, before and afterwards.
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
    """The distinct keys of two sorted arrays, in their order, and the places of each of both among them."""
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
