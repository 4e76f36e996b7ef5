"""Sums over the rows of a table, each by a query or two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from sqlglot import exp as sq

from suffice._core.formula import Reading
from suffice._core.kinds import CLOCKED
from suffice._core.labels import OneHot, positions, show_all
from suffice._core.vector import Array
from suffice.data.layout import DataError, no_labels, without_label, wrong_weights
from suffice.data.queries import Power
from suffice.data.sql import _sums as _grid
from suffice.data.sql._dialects import call
from suffice.data.sql._source import WIDE, TableSource, chunks
from suffice.data.sql._writing import QueryWriter, Said, case, column, integer, name, repeated, sql_of, typed

DIGITS = 52  # binary digits after the leading one
LEAST = 2.0**-1022  # below it numbers have fewer digits, and stay as they are
MOST = 2.0**1023  # the last power of two
FETCHED = 16  # times as many cells as the grid may have come back at most, to be merged here


def truncated(ops: QueryWriter, x: Said, shift: int) -> Said:
    """x with the last so many binary digits cut off: a number of the same cell, the same for all of its numbers."""
    if not shift:
        return x
    number = ops.dialect.number
    (size,) = ops.keep([Said(sq.Abs(this=sql_of(x)), x.step)])
    some = sq.GTE(this=sql_of(size), expression=number(LEAST))
    exponent = sq.Floor(this=sq.Div(this=sq.Ln(this=sql_of(size)), expression=number(float(np.log(2.0))), typed=True))
    guess = call("POWER", number(2.0), exponent)  # a power of two, which rounding may have put one off
    last = sq.GTE(this=sql_of(size), expression=number(MOST))
    (power,) = ops.keep([Said(case([(last, number(MOST)), (some, guess)], number(1.0)), size.step)])
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
    (unit,) = ops.keep([Said(right, power.step)])
    digits = 2.0 ** (DIGITS - shift)
    scaled = sq.Mul(
        this=sq.Paren(this=sq.Div(this=sql_of(size), expression=sql_of(unit), typed=True)), expression=number(digits)
    )
    cut = sq.Div(this=sq.Floor(this=scaled), expression=number(digits), typed=True)
    (found,) = ops.keep([Said(sq.Mul(this=sq.Paren(this=cut), expression=sql_of(unit)), unit.step)])
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

    def entries(ops: QueryWriter) -> dict[str, Said]:
        return {f"x{j}": truncated(ops, ops.read(rows.columns[j]), int(shift[j])) for j in which}

    counts = [sq.Count(this=sq.Distinct(expressions=[column(f"x{j}")])) for j in which]
    (got,) = rows.source.run(sq.Select(expressions=counts).from_(rows.relation(entries).subquery("cells")))
    return np.array(got, dtype=float)


LOSSES = 4  # that formulas of other weights give: mass, log loss, soft error and error
LARGEST = float(np.finfo(float).max)
CLASS, WEIGHT = "class", "weight"
PART = "part"


def total(x: Any) -> Any:
    """SUM of numbers; of no rows, or of missing ones alone, 0."""
    return sq.Coalesce(this=sq.Sum(this=x), expressions=[sq.Literal.number("0e0")])


def times(*factors: Any) -> Any:
    """A product of columns."""
    found = factors[0]
    for one in factors[1:]:
        found = sq.Mul(this=found, expression=one)
    return found


def array_of(values: Sequence[Any]) -> Array:
    """Values that came from a database, as an array: numbers, truth values, dates or objects."""
    if values and all(hasattr(v, "isoformat") for v in values):
        return np.array([np.datetime64(v.replace(tzinfo=None) if hasattr(v, "tzinfo") else v, "us") for v in values])
    kinds = {type(v) for v in values}
    if kinds == {int} and min(values) >= 0 and 2**63 <= max(values) < 2**64:
        return np.array(values, dtype=np.uint64)  # where NumPy would round some
    if kinds <= {bool} or kinds <= {int} or kinds <= {int, float}:
        return np.array(values)
    if str in kinds and len(kinds) == 1:
        return np.array(values, dtype=object)
    return np.array([float(v) if not isinstance(v, str) else v for v in values])


# Labels and weights


def classes(source: TableSource) -> Array:
    """The classes (k,) that labels are; DataError where one is missing, or a weight is none."""
    layout = source.layout
    if layout.target is None:
        raise DataError(no_labels("target= with the name of a column", source.called))
    source.columns()
    label, kinds = (
        typed(column(layout.target), source.casts.get(layout.target)),
        [source.kinds[one] for one in layout.beside],
    )
    if kinds[0] is None or kinds[0] in CLOCKED:
        raise DataError(f"{source.called}: column {layout.target!r} holds no labels: these are text, numbers or dates")
    select = sq.Select(expressions=[label.copy(), sq.Count(this=sq.Star())]).from_(source.from_table)
    if layout.weight is not None:
        _check_weights(source, layout.weight)
        select = select.where(sq.NEQ(this=column(layout.weight), expression=sq.Literal.number(0)))
    rows = source.run(select.group_by(label.copy()))
    gone = sum(int(count) for value, count in rows if value is None or value != value)
    if gone:
        every = sum(int(count) for _, count in rows)
        raise DataError(f"{source.called}: {without_label(gone, every, layout.target)}")
    if not rows:
        raise DataError(f"{source.called} has no rows of a weight above zero")
    return OneHot.of(array_of([value for value, _ in rows])).classes


def _check_weights(source: TableSource, weight: str) -> None:
    ops = QueryWriter(source.dialect, {weight: weight}, {})
    own = ops.query(source.from_table, {"w": ops.read(weight)}).subquery("weights")
    wrong = sq.Or(
        this=sq.Is(this=column("w"), expression=sq.Null()), expression=_outside(column("w"), 0.0, LARGEST, source)
    )
    rows = source.run(sq.Select(expressions=[sq.Count(this=sq.Star())]).from_(own).where(wrong))
    if rows[0][0]:
        raise DataError(f"{source.called}: {wrong_weights(weight)}")


def _outside(x: Any, low: float, high: float, source: TableSource) -> Any:
    number = source.dialect.number
    below, above = sq.LT(this=x, expression=number(low)), sq.GT(this=x.copy(), expression=number(high))
    return sq.Paren(this=sq.Or(this=below, expression=above))


def known(source: TableSource, columns: Sequence[str]) -> dict[str, bool]:
    """Whether columns have any values."""
    found: dict[str, bool] = {}
    for some in chunks(columns, WIDE):
        rows = source.run(sq.Select(expressions=[sq.Count(this=column(c)) for c in some]).from_(source.from_table))
        found |= {c: bool(count) for c, count in zip(some, rows[0], strict=True)}
    return found


def check_numbers(rows: Any, missing: bool, who: str, least: float) -> None:
    """DataError if a number is infinite or below the least, or missing where none may be."""
    source = rows.source
    for some in chunks(rows.columns, WIDE // 2):
        ops = rows.writer()
        own = ops.query(source.from_table, {f"x{j}": ops.read(c) for j, c in enumerate(some)}).subquery("numbers")
        infinite = [
            total(case([(_outside(column(f"x{j}"), max(least, -LARGEST), LARGEST, source), integer(1))], integer(0)))
            for j in range(len(some))
        ]
        there = [sq.Count(this=column(f"x{j}")) for j in range(len(some))]
        (got,) = source.run(sq.Select(expressions=[sq.Count(this=sq.Star()), *infinite, *there]).from_(own))
        every, over, seen = got[0], got[1 : 1 + len(some)], got[1 + len(some) :]
        far = [c for c, count in zip(some, over, strict=True) if count]
        if far:
            what = "infinity" if least == -np.inf else f"infinity, or numbers below {least:g}"
            raise DataError(f"{source.called}: {who} takes finite numbers, but {show_all(far)} contains {what}")
        holes = [c for c, count in zip(some, seen, strict=True) if count < every]
        if holes and not missing:
            raise DataError(
                f"{source.called}: {who} takes no missing values, but {show_all(holes)} has some: impute them"
            )


# Sums by class


def by_class(rows: Any, relation: Any, sums: Sequence[Any], keys: Sequence[Any] = ()) -> dict[Any, Array]:
    """{key: (k, m)} of sums by class, and by further keys where there are any; some sums at a time.

    What is not known yet of masses and losses comes with them, and is noted.
    """
    found: dict[Any, list[Array]] = {}
    k, besides = len(rows.classes), [] if rows.noted else _besides(rows)
    for part in chunks([*sums, *besides], WIDE):
        inner = relation().subquery("summed")
        group = [column(CLASS), *(one.copy() for one in keys)]
        select = sq.Select(expressions=[*group, *part]).from_(inner).group_by(*(one.copy() for one in group))
        tables: dict[Any, Array] = {}
        for c, *rest in rows.source.run(select):
            own = tables.setdefault(tuple(rest[: len(keys)]), np.zeros((k, len(part))))
            own[int(c)] += np.array(rest[len(keys) :], dtype=float)
        for key, table in tables.items():
            found.setdefault(key, []).append(table)
    whole = {key: np.concatenate(tables, axis=1) for key, tables in found.items()}
    if besides:
        extra = sum((table[:, len(sums) :] for table in whole.values()), np.zeros((k, len(besides))))
        rows.noted.update(mass=extra[:, 0], totals=extra[0, 1:])
    return {key: table[:, : len(sums)] for key, table in whole.items()}


def _besides(rows: Any) -> list[Any]:
    """The mass, and the losses where there are some, of which every class's part has all."""
    return [total(column(WEIGHT)), *(total(column(one)) for one in _losses(rows))]


def _losses(rows: Any) -> list[str]:
    return [] if rows.formulas is None else [f"L{i}" for i in range(LOSSES)]


def noted(rows: Any) -> dict[str, Array]:
    """The weight of each class (k,), and the sums of what formulas of other weights give besides."""
    if not rows.noted:
        by_class(rows, lambda: rows.relation(lambda _: {}), [])
    found: dict[str, Array] = rows.noted
    return found


def agreeing(rows: Any, said: Callable[[QueryWriter], Said], classes: Array) -> tuple[float, float]:
    """The weight of all rows, and of those whose class is the one of these that a formula gives the number of."""
    at = positions(classes, rows.classes)

    def entries(ops: QueryWriter) -> dict[str, Said]:
        (taken,) = ops.keep([said(ops)])
        return {"taken": taken, "x": ops.pick(taken, at)}

    with rows.source.named():
        relation = rows.relation(entries).subquery("answered")
    gone = sq.Is(this=column("taken"), expression=sq.Null())
    same = sq.EQ(this=column("x"), expression=column(CLASS))
    right = case([(gone.copy(), integer(0)), (same, column(WEIGHT))], integer(0))
    sums = [total(column(WEIGHT)), total(right), total(case([(gone, integer(1))], integer(0)))]
    ((mass, hits, lost),) = rows.source.run(sq.Select(expressions=sums).from_(relation))
    if lost:
        raise DataError(
            f"{rows.source.called}: {int(lost)} rows have missing values, for which this model has no formula in SQL: "
            "impute them, or take the rows into memory"
        )
    return float(mass), float(hits)


def numbers(rows: Any) -> Callable[[QueryWriter], dict[str, Said]]:
    """The entries of all columns as numbers."""
    return lambda ops: {f"x{j}": ops.read(one) for j, one in enumerate(rows.columns)}


def middles(rows: Any) -> tuple[Array, Array]:
    """The mean and the width of each column by class (k, d)."""
    d = len(rows.columns)
    aggregates = [f(this=column(f"x{j}")) for j in range(d) for f in (sq.Avg, sq.Min, sq.Max)]
    found = by_class(rows, lambda: rows.relation(numbers(rows)), [_or_zero(one) for one in aggregates])
    if not found:
        return np.zeros((len(rows.classes), d)), np.zeros((len(rows.classes), d))
    mean, low, high = np.moveaxis(found[()].reshape(len(rows.classes), d, 3), 2, 0)
    with np.errstate(over="ignore"):
        return mean, high - low


def _or_zero(x: Any) -> Any:
    return sq.Coalesce(this=x, expressions=[sq.Literal.number("0e0")])


def _gaps(rows: Any, origin: Array) -> Callable[[], Any]:
    """Class, weight, and x - o of every column, about the origin of the class."""

    def relation() -> Any:
        inner = rows.relation(numbers(rows)).subquery("entries")
        ops = QueryWriter(rows.source.dialect, {}, {})
        each = [sq.Alias(this=column(one), alias=name(one)) for one in (CLASS, WEIGHT, *_losses(rows))]
        for j in range(origin.shape[1]):
            at = ops.pick(Said(column(CLASS), 0), origin[:, j]).sql
            each.append(sq.Alias(this=sq.Sub(this=column(f"x{j}"), expression=at), alias=name(f"g{j}")))
        return sq.Select(expressions=each).from_(inner)

    return relation


def powers(rows: Any, origin: Array) -> Power:
    """Counts, first and second moments of each column, by class."""
    d = origin.shape[1]
    sums = []
    for j in range(d):
        g = column(f"g{j}")
        there = case([(sq.Is(this=g.copy(), expression=sq.Null()), integer(0))], column(WEIGHT))
        weighed = times(column(WEIGHT), g)
        sums += [total(there), total(weighed), total(times(weighed.copy(), g.copy()))]
    found = by_class(rows, _gaps(rows, origin), sums)
    table = found[()] if found else np.zeros((len(rows.classes), 3 * d))
    count, first, second = np.moveaxis(table.reshape(len(rows.classes), d, 3), 2, 0)
    return Power(origin, count, first, second)


def patterns(rows: Any, origin: Array, limit: int) -> dict[tuple[int, ...], Power] | None:
    """Whole moments by which columns are missing."""
    d, k = origin.shape[1], len(rows.classes)
    absent = [
        case([(sq.Is(this=column(f"g{j}"), expression=sq.Null()), sq.Literal.string("1"))], sq.Literal.string("0"))
        for j in range(d)
    ]
    pattern = absent[0]
    for one in absent[1:]:
        pattern = sq.DPipe(this=pattern, expression=one)
    pairs = list(combinations_with_replacement(range(d), 2))
    sums = [total(column(WEIGHT))]
    sums += [total(times(column(WEIGHT), column(f"g{j}"))) for j in range(d)]
    sums += [total(times(column(WEIGHT), column(f"g{i}"), column(f"g{j}"))) for i, j in pairs]
    found = by_class(rows, _gaps(rows, origin), sums, [pattern])
    if sum("1" in key for (key,) in found) > limit:
        return None
    out: dict[tuple[int, ...], Power] = {}
    for (key,), table in found.items():
        missing = tuple(j for j, mark in enumerate(key) if mark == "1")
        has = np.delete(np.arange(d), missing)
        if not len(has):
            continue
        second = np.zeros((k, d, d))
        i, j = np.array(pairs).T
        second[:, i, j] = second[:, j, i] = table[:, 1 + d :]
        whole = second[:, has][:, :, has]
        out[missing] = Power(origin[:, has], table[:, :1], table[:, 1 : 1 + d][:, has], whole)
    return out


def _weights_of(rows: Any, entry: Callable[[QueryWriter], Said]) -> tuple[list[Any], Array]:
    """The values of a formula, one for each class that has it (v,), and their weights by class (k, v)."""
    relation = rows.relation(lambda ops: {"x": entry(ops)}).subquery("held")
    group = [column("x"), column(CLASS)]
    there = sq.Not(this=sq.Is(this=column("x"), expression=sq.Null()))
    select = sq.Select(expressions=[*group, total(column(WEIGHT))]).from_(relation).where(there)
    got = rows.source.run(select.group_by(*(g.copy() for g in group)))
    got = [row for row in got if row[0] == row[0]]  # NaN is missing
    table = np.zeros((len(rows.classes), len(got)))
    table[[int(row[1]) for row in got], np.arange(len(got))] = [float(row[2]) for row in got]
    return [row[0] for row in got], table


def counted(rows: Any, one: str) -> tuple[Array, Array]:
    """The values of a column (v,), and their weights by class (k, v)."""
    values, table = _weights_of(rows, lambda ops: ops.entry(one))
    return array_of(rows.as_learned(one, values)), table


def gridded(rows: Any, most: int) -> list[tuple[Array, int, Array]]:
    """Of each column, a number of each cell of the grid, its shift, and weights by class."""
    found = []
    for one, shift in zip(rows.columns, _grid.shifts(rows, most), strict=True):
        values, table = _weights_of(rows, partial(_cell, one, shift))
        found.append((np.array([float(value) for value in values]), shift, table))
    return found


def _cell(one: str, shift: int, ops: QueryWriter) -> Said:
    return _grid.truncated(ops, ops.read(one), shift)


def coded(rows: Any, readings: Sequence[Reading]) -> list[Array]:
    """Of each column, the weights by class of its cells (k, r): one query for all of them."""

    def entries(ops: QueryWriter) -> dict[str, Said]:
        return {
            f"x{j}": ops.cell(reading, one) for j, (reading, one) in enumerate(zip(readings, rows.columns, strict=True))
        }

    found = [np.zeros((len(rows.classes), reading.size)) for reading in readings]
    d, others = len(readings), [] if rows.noted else [WEIGHT, *_losses(rows)]
    besides = np.zeros((len(rows.classes), len(others)))
    for j, cell, c, weight in rows.source.run(_by_cell(rows.relation(entries), d, others)) if d or others else ():
        if j >= d:
            besides[int(c), int(j) - d] = float(weight)
        elif cell >= 0:
            found[int(j)][int(c), int(cell)] += float(weight)
    if not rows.noted:
        rows.noted.update(mass=besides[:, 0], totals=besides[0, 1:])
    return found


def _by_cell(relation: Any, d: int, others: Sequence[str]) -> Any:
    """SELECT a number, the cell, the class and the total weight, for each cell of d columns and class.

    After them come the totals of other columns, in a cell 0 each.
    """
    every = d + len(others)
    cells = [*(f"x{j}" for j in range(d)), *([None] * len(others))]
    own: dict[str, list[Any]] = {"cell": cells, CLASS: [CLASS] * every, "own": [*([WEIGHT] * d), *others]}
    group = [column(one) for one in (PART, "cell", CLASS)]
    select = sq.Select(expressions=[*group, total(column("own"))])
    entries = repeated(relation, PART, range(every), own).subquery("coded", copy=False)
    return select.from_(entries, copy=False).group_by(*(one.copy() for one in group))
