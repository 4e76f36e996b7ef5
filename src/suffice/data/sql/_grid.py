"""The grid of numbers in SQL: cells of sign, exponent and leading binary digits, exactly those of `models.grid`."""

from __future__ import annotations

from typing import Any

import numpy as np
from sqlglot import exp as sq

from suffice._vector import Array
from suffice.data.sql._dialects import call
from suffice.data.sql._writing import Said, Writer, case, column, sql_of

DIGITS = 52  # binary digits after the leading one
LEAST = 2.0**-1022  # below it numbers have fewer digits, and stay as they are
MOST = 2.0**1023  # the last power of two
FETCHED = 16  # times as many cells as the grid may have come back at most, to be merged here


def truncated(say: Writer, x: Said, shift: int) -> Said:
    """x with the last so many binary digits cut off: a number of the same cell, the same for all of its numbers."""
    if not shift:
        return x
    number = say.dialect.number
    (size,) = say.keep([Said(sq.Abs(this=sql_of(x)), x.step)])
    some = sq.GTE(this=sql_of(size), expression=number(LEAST))
    exponent = sq.Floor(this=sq.Div(this=sq.Ln(this=sql_of(size)), expression=number(float(np.log(2.0))), typed=True))
    guess = call("POWER", number(2.0), exponent)  # a power of two, which rounding may have put one off
    last = sq.GTE(this=sql_of(size), expression=number(MOST))
    (power,) = say.keep([Said(case([(last, number(MOST)), (some, guess)], number(1.0)), size.step)])
    half = sq.Paren(this=sq.Mul(this=sql_of(size), expression=number(0.5)))
    below = sq.Mul(this=sql_of(power), expression=number(0.5))
    above = sq.Mul(this=sql_of(power), expression=number(2.0))
    right = case(
        [
            (sq.GT(this=sql_of(power), expression=sql_of(size)), below),
            (sq.GTE(this=half, expression=sql_of(power)), above),
        ],
        sql_of(power),
    )
    (unit,) = say.keep([Said(right, power.step)])
    digits = 2.0 ** (DIGITS - shift)
    scaled = sq.Mul(
        this=sq.Paren(this=sq.Div(this=sql_of(size), expression=sql_of(unit), typed=True)), expression=number(digits)
    )
    cut = sq.Div(this=sq.Floor(this=scaled), expression=number(digits), typed=True)
    (found,) = say.keep([Said(sq.Mul(this=sq.Paren(this=cut), expression=sql_of(unit)), unit.step)])
    negative = sq.LT(this=sql_of(x), expression=number(0.0))
    tiny = sq.LT(this=sql_of(size), expression=number(LEAST))
    return Said(case([(tiny, sql_of(x)), (negative, sq.Neg(this=sql_of(found)))], sql_of(found)), found.step)


def shifts(rows: Any, most: int) -> list[int]:
    """Of each column the least shift at which there are at most so many cells, or one at which a few times as many come
    back: coarser cells are then made of these, exactly.
    """
    d = len(rows.columns)
    low, high = np.zeros(d, dtype=int), np.full(d, DIGITS)
    few = _distinct(rows, np.zeros(d, dtype=int), np.arange(d)) <= FETCHED * most
    high[few] = 0
    while (open_ := np.flatnonzero(low < high)).size:
        middle = (low + high) // 2
        count = _distinct(rows, middle, open_)
        ok, found = count <= FETCHED * most, (count > most) & (count <= FETCHED * most)
        high[open_[ok]] = middle[open_[ok]]
        low[open_[found]] = middle[open_[found]]
        low[open_[~ok]] = middle[open_[~ok]] + 1
    return [int(one) for one in high]


def _distinct(rows: Any, shift: Array, which: Array) -> Array:
    """How many cells some columns have at a shift each."""

    def entries(say: Writer) -> dict[str, Said]:
        return {f"x{j}": truncated(say, say.read(rows.columns[j]), int(shift[j])) for j in which}

    counts = [sq.Count(this=sq.Distinct(expressions=[column(f"x{j}")])) for j in which]
    (got,) = rows.source.run(sq.Select(expressions=counts).from_(rows.relation(entries).subquery("cells")))
    return np.array(got, dtype=float)
