"""Compiled loops over the bits of numbers: their cells on a nested grid, by hashing instead of sorting."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice._compiled import compiled
from suffice._vector import Array

ALL_BUT_SIGN = np.int64(0x7FFFFFFFFFFFFFFF)
INFINITE = np.int64(0x7FF0000000000000)
ROOM = 1 << 14  # places for keys, a power of two several times as large as the keys are many
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio
TOP = np.uint64(50)  # all but the leading bits, which number the places


@compiled
def _key(bits: Any, shift: int) -> Any:
    """The key of a number that is not NaN, from its bits; -0.0 has that of 0.0."""
    if bits < 0:
        bits = bits ^ ALL_BUT_SIGN
        if bits == -1:
            bits = np.int64(0)
    return bits >> shift


@compiled
def _place(keys: Array, used: Array, key: Any) -> Any:
    """Where a key is, or where it may be put."""
    at = np.int64((np.uint64(key) * SPREAD) >> TOP)
    while used[at] and keys[at] != key:
        at = (at + 1) & (ROOM - 1)
    return at


@compiled
def few_cells(bits: Array, shift: int, most: int) -> tuple[Array, int]:
    """The sorted keys of the cells of numbers, given by their bits (n,), at the least shift from this one on at which
    there are no more than `most`; NaN has none.
    """
    keys, used = np.zeros(ROOM, np.int64), np.zeros(ROOM, np.bool_)
    count = 0
    for i in range(len(bits)):
        if bits[i] & ALL_BUT_SIGN > INFINITE:
            continue
        key = _key(bits[i], shift)
        at = _place(keys, used, key)
        if used[at]:
            continue
        keys[at], used[at] = key, True
        count += 1
        while count > most:
            finer = keys[used]
            used[:] = False
            shift, count = shift + 1, 0
            for q in range(len(finer)):
                key = finer[q] >> 1
                at = _place(keys, used, key)
                if not used[at]:
                    keys[at], used[at] = key, True
                    count += 1
    return np.sort(keys[used]), shift


@compiled
def cell_codes(bits: Array, known: Array, shift: int) -> Array:
    """The place (n,) of the key of each number, given by its bits, among known keys at a shift; -1 for none and NaN."""
    keys, used, code = np.zeros(ROOM, np.int64), np.zeros(ROOM, np.bool_), np.zeros(ROOM, np.int32)
    for q in range(len(known)):
        at = _place(keys, used, known[q])
        keys[at], used[at], code[at] = known[q], True, q
    out = np.full(len(bits), -1, np.int32)
    for i in range(len(bits)):
        if bits[i] & ALL_BUT_SIGN <= INFINITE:
            at = _place(keys, used, _key(bits[i], shift))
            if used[at]:
                out[i] = code[at]
    return out
