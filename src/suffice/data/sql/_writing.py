"""Formulas as SQL: steps of one query, in which everything is computed once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from sqlglot import exp as sq

from suffice._core.formula import Arithmetic, Intervals, Reading
from suffice._core.kinds import CLOCKED, ColumnContent
from suffice._core.labels import show, show_all
from suffice._core.vector import Array
from suffice.data.sql._dialects import LEAST_EXP, SQLDialect, dated, in_days

MOST = 100  # arguments that every database takes
PART, PARTS = "suffice part", "suffice parts"  # no names that a table is likely to have
FEW = 4  # values that are found as fast one by one as in a list


class NoColumnError(ValueError):
    """A formula speaks of a column that the table does not have."""


@dataclass(frozen=True, eq=False)
class Said:
    """An expression, and the first step in which all that it is made of is known; None is minus infinity."""

    sql: sq.Expression | None
    step: int


def name(text: str) -> sq.Identifier:
    """A name in quotes, whatever is in it."""
    if "\0" in text:
        raise ValueError(f"{show(text)} has a zero byte, which no name in SQL can have")
    return sq.Identifier(this=text, quoted=True)


def column(text: str) -> sq.Expression:
    """A column by its name."""
    return sq.Column(this=name(text))


def typed(x: sq.Expression, kind: str | None) -> sq.Expression:
    """x as a type, or as it is."""
    return x if kind is None else sq.Cast(this=x, to=sq.DataType.build(kind))


def table_of(table: str | Sequence[str]) -> sq.Table:
    """A table by its name, or by those of its schema and itself."""
    parts = [table] if isinstance(table, str) else list(table)
    if not 1 <= len(parts) <= 3 or not all(isinstance(part, str) and part for part in parts):
        raise ValueError(f"table must be the name of a table, or (schema, name), got {table!r}")
    return sq.Table(**dict(zip(("this", "db", "catalog"), map(name, reversed(parts)), strict=False)))


def case(pairs: Sequence[tuple[sq.Expression, sq.Expression]], default: sq.Expression | None) -> sq.Expression:
    """CASE WHEN ... THEN ... ELSE ... END."""
    return sq.Case(ifs=[sq.If(this=when, true=then) for when, then in pairs], default=default)


def repeated(rows: sq.Select, part: str, parts: Sequence[int], each: Mapping[str, Sequence[str | None]]) -> sq.Select:
    """All rows once for every part: SELECT its number, and of each output the column that the part has; 0 for None.

    Rows stand in the query once: SQLite keeps a copy of a query for every place that speaks of it.
    """
    listed = sq.Values(expressions=[sq.Tuple(expressions=[integer(one)]) for one in parts])
    own = [
        sq.Alias(this=halves(column(PART), of, parts[0], _or_zero), alias=name(called)) for called, of in each.items()
    ]
    found = sq.Select(expressions=[sq.Alias(this=column(PART), alias=name(part)), *own]).from_(
        rows.subquery("rows", copy=False), copy=False
    )
    found = found.join(sq.Table(this=name(PARTS)), join_type="cross", copy=False)
    alias = sq.TableAlias(this=name(PARTS), columns=[name(PART)])
    return found.with_(alias, as_=listed, copy=False)


def _or_zero(called: str | None) -> sq.Expression:
    return integer(0) if called is None else column(called)


def halves(
    cell: sq.Expression, values: Sequence[Any], first: int, write: Callable[[Any], sq.Expression]
) -> sq.Expression:
    """The value of each cell from the first on, found by halves."""
    if len(set(values)) == 1:
        return write(values[0])
    half = len(values) // 2
    low, high = halves(cell, values[:half], first, write), halves(cell, values[half:], first + half, write)
    return case([(sq.LT(this=cell.copy(), expression=integer(first + half)), low)], high)


def integer(value: int) -> sq.Expression:
    """A whole number."""
    return sq.Neg(this=sq.Literal.number(-value)) if value < 0 else sq.Literal.number(value)


def _inside(x: sq.Expression) -> sq.Expression:
    """x as a part of a larger expression."""
    own = x.copy() if x.parent is not None else x
    return sq.Paren(this=own) if isinstance(own, sq.Binary) else own


class QueryWriter(Arithmetic[Said]):
    """Writes formulas of the columns of a table as the steps of one query.

    Parameters
    ----------
    dialect : Dialect
    names : mapping of key: str
        What the table calls the columns that formulas speak of.
    holding : mapping of key: ColumnContent
        What these hold, in words; dates are read in days.
    casts : mapping of str: str, default={}
        The types that some columns, by name, are read as.
    """

    def __init__(
        self,
        dialect: SQLDialect,
        names: Mapping[Any, str],
        holding: Mapping[Any, ColumnContent | None],
        casts: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.dialect, self.names, self.holding, self.casts = dialect, names, holding, casts
        self.steps: list[dict[str, sq.Expression]] = [{}]
        self._known: dict[Any, Said] = {}

    # Columns

    def raw(self, key: Any) -> Said:
        """The entries of a column as they are."""
        return self._once(("raw", key), lambda: Said(self._column(key), 0))

    def entry(self, key: Any) -> Said:
        """The entries of a column as values that are counted."""
        return self._once(("value", key), lambda: Said(self._value(key), 0))

    def read(self, column: Any) -> Said:
        return self._once(("number", column), lambda: Said(self._as_number(column), 0))

    def _column(self, key: Any) -> sq.Expression:
        if key not in self.names:
            raise NoColumnError(f"there is no column {show(key)}; the columns are {show_all(self.names)}")
        return column(self.names[key])

    def _value(self, key: Any) -> sq.Expression:
        if self.holding.get(key) in CLOCKED:
            raise TypeError(
                f"column {self.names[key]!r} holds times or spans of time, which databases keep in too many ways: "
                "make it a number of days or hours first"
            )
        return typed(self._column(key), self.casts.get(self.names[key]))

    def _as_number(self, key: Any) -> sq.Expression:
        holds, own = self.holding.get(key), self._value(key)
        if holds == ColumnContent.BOOLEANS:  # which PostgreSQL takes for a whole number only
            own = sq.Cast(this=own, to=sq.DataType.build("int"))
        return (self.dialect.days if holds == ColumnContent.DATES else self.dialect.double)(own)

    def _once(self, what: Any, make: Any) -> Said:
        if what not in self._known:
            self._known[what] = self.keep([make()])[0]
        return self._known[what]

    # Cells

    def cell(self, reading: Reading, column: Any) -> Said:
        return self._once((id(reading), column), lambda: self._cell(reading, column))

    def _cell(self, reading: Reading, key: Any) -> Said:
        if isinstance(reading, Intervals):
            x = self.read(key)
            found = _interval(sql_of(x), reading.bounds[1:], 0, self.dialect)
            return Said(case([(sq.Is(this=sql_of(x), expression=sq.Null()), integer(-1))], found), x.step)
        return self._choice(reading.values, reading.cell.tolist(), key)

    def _choice(self, values: Array, cells: Sequence[int], key: Any) -> Said:
        dates, kinds = dated(values), {type(value) for value in values.tolist()}
        if dates:
            own: sq.Expression = self.dialect.days(self._value(key))
        elif kinds <= {str}:
            own = sq.Cast(this=self._column(key), to=sq.DataType.build("text"))
        else:
            own = self.dialect.double(self._column(key)) if float in kinds else self._column(key)
        at = self._once(("entry", key, dates, str in kinds, float in kinds), lambda: Said(own, 0))
        each = [self.dialect.number(in_days(v)) if dates else self.dialect.value(v) for v in values]
        ifs = [sq.If(this=one, true=integer(c)) for one, c in zip(each, cells, strict=True) if c >= 0]
        return Said(sq.Case(this=sql_of(at), ifs=ifs, default=integer(-1)) if ifs else integer(-1), at.step)

    def cells(self, sides: tuple[Reading, Reading], columns: Sequence[Any]) -> Said:
        u, v = (self.cell(side, key) for side, key in zip(sides, columns, strict=True))
        least = [sq.GTE(this=sql_of(one), expression=integer(0)) for one in (u, v)]
        both = sq.Add(this=sq.Mul(this=sql_of(u), expression=integer(sides[1].size)), expression=sql_of(v))
        found = case([(sq.And(this=least[0], expression=least[1]), both)], integer(-1))
        return self.keep([Said(found, max(u.step, v.step))])[0]

    def pick(self, cell: Said, values: Sequence[float] | Array) -> Said:
        every = [0.0, *np.asarray(values, dtype=float).tolist()]
        if len(every) > FEW and self.dialect.lists:
            listed = sq.Array(expressions=[self.dialect.number(value) for value in every])
            at = sq.Add(this=sql_of(cell), expression=integer(2))
            return Said(sq.Anonymous(this="LIST_EXTRACT", expressions=[listed, at]), cell.step)
        return Said(halves(sql_of(cell), every, -1, self.dialect.number), cell.step)

    def gap(self, column: Any, there: float, gone: float) -> Said:
        numbers = self.holding.get(column) in (ColumnContent.NUMBERS, ColumnContent.WHOLE_NUMBERS)
        x = self.read(column) if numbers else self.raw(column)  # of numbers NaN is missing, too
        absent = sq.Is(this=sql_of(x), expression=sq.Null())
        return Said(case([(absent, self.dialect.number(gone))], self.dialect.number(there)), x.step)

    # Numbers

    def number(self, value: float) -> Said:
        if value == -np.inf:
            return Said(None, 0)
        if not np.isfinite(value):
            raise ValueError(f"{value} is no number that can be written in SQL")
        return Said(self.dialect.number(float(value)), 0)

    def or_zero(self, value: Said) -> Said:
        return Said(sq.Coalesce(this=sql_of(value), expressions=[self.dialect.number(0.0)]), value.step)

    def _binary(self, kind: Any, a: Said, b: Said, **settings: Any) -> Said:
        step = max(a.step, b.step)
        if a.sql is None or b.sql is None:
            return Said(None, step)
        return Said(kind(this=_inside(a.sql), expression=_inside(b.sql), **settings), step)

    def plus(self, a: Said, b: Said) -> Said:
        return self._binary(sq.Add, a, b)

    def minus(self, a: Said, b: Said) -> Said:
        return self._binary(sq.Sub, a, b)

    def times(self, a: Said, b: Said) -> Said:
        return self._binary(sq.Mul, a, b)

    def over(self, a: Said, b: Said) -> Said:
        return self._binary(sq.Div, a, b, typed=True)

    def exp(self, a: Said) -> Said:
        if a.sql is None:
            return Said(self.dialect.number(0.0), a.step)
        found: sq.Expression = sq.Exp(this=sql_of(a))
        if self.dialect.guarded:
            tiny = sq.LT(this=_inside(sql_of(a)), expression=self.dialect.number(LEAST_EXP))
            found = case([(tiny, self.dialect.number(0.0))], found)
        return Said(found, a.step)

    def log(self, a: Said) -> Said:
        return Said(sq.Ln(this=sql_of(a)), a.step)

    def greatest(self, each: Sequence[Said]) -> Said:
        known = [one for one in each if one.sql is not None]
        step = max(one.step for one in known)
        if len(known) == 1:
            return Said(sql_of(known[0]), step)
        if len(known) > MOST:
            return self.greatest([self.greatest(known[at : at + MOST]) for at in range(0, len(known), MOST)])
        return Said(sq.Anonymous(this=self.dialect.greatest, expressions=[sql_of(one) for one in known]), step)

    def choose(self, scores: Sequence[Said], labels: Array) -> Said:
        own = self.keep(scores)
        (top,) = self.keep([self.greatest(own)])
        pairs = [
            (sq.EQ(this=sql_of(one), expression=sql_of(top)), self.dialect.value(label))
            for one, label in zip(own, labels, strict=True)
            if one.sql is not None
        ]
        return Said(case(pairs, None), top.step)

    def keep(self, each: Sequence[Said]) -> list[Said]:
        return [self._kept(one) for one in each]

    def _kept(self, one: Said) -> Said:
        if one.sql is None or (one.step and isinstance(one.sql, sq.Column)):
            return one
        while len(self.steps) <= one.step:
            self.steps.append({})
        called = f"v{sum(map(len, self.steps))}"
        self.steps[one.step][called] = one.sql
        return Said(column(called), one.step + 1)

    # The query

    def query(self, table: sq.Expression, outputs: Mapping[str, Said]) -> sq.Select:
        """SELECT the outputs, by name, FROM what the steps make of the table."""
        last = max((one.step for one in outputs.values()), default=0)
        final = {called: self._final(one) for called, one in outputs.items()}
        needed = [_names(final.values())]
        for own in reversed(self.steps[:last]):
            passed = needed[-1] - own.keys()
            needed.append(passed | _names(own[called] for called in needed[-1] & own.keys()))
        selects: list[sq.Select] = []
        for own, out in zip(self.steps[:last], reversed(needed[:-1]), strict=True):
            each = {called: own[called] if called in own else column(called) for called in sorted(out, key=_number)}
            selects.append(self._select(each, _step(len(selects), table), fenced=bool(selects)))
        found = self._select(final, _step(last, table), fenced=False)
        for at, one in enumerate(selects):  # one after the other: databases read few queries within queries
            found = found.with_(_step(at + 1, table).this, as_=one, copy=False)
        return found

    def _select(self, each: Mapping[str, sq.Expression], source: sq.Expression, fenced: bool) -> sq.Select:
        aliased = [sq.Alias(this=one, alias=name(called)) for called, one in each.items()]
        found = sq.Select(expressions=aliased).from_(source, copy=False)
        if fenced and self.dialect.fence is not None:
            found = found.limit(self.dialect.fence, copy=False) if self.dialect.fence < 0 else found
            found = found.offset(0, copy=False)
        return found

    def _final(self, one: Said) -> sq.Expression:
        return sq.Neg(this=self.dialect.infinity.copy()) if one.sql is None else one.sql


def sql_of(one: Said) -> sq.Expression:
    """The expression, which is not minus infinity, to be put into another one."""
    if one.sql is None:
        raise ValueError("minus infinity is no number that can be written in SQL")
    return one.sql.copy() if one.sql.parent is not None else one.sql


def _step(at: int, table: sq.Expression) -> sq.Expression:
    """What a step selects from: the table, or the step before it."""
    return sq.Table(this=name(f"suffice step {at}")) if at else table


def _names(each: Any) -> set[str]:
    return {found.name for one in each for found in one.find_all(sq.Column)}


def _number(called: str) -> int:
    return int(called[1:])


def _interval(x: sq.Expression, bounds: Array, first: int, dialect: SQLDialect) -> sq.Expression:
    """The number of the interval that x is in, found by halves: x < bound, or x <= the number before it."""
    if not len(bounds):
        return integer(first)
    half = len(bounds) // 2
    bound = float(bounds[half])
    before = float(np.nextafter(bound, -np.inf))
    shorter = len(repr(before)) < len(repr(bound))
    compare, at = (sq.LTE, before) if shorter else (sq.LT, bound)
    low = _interval(x, bounds[:half], first, dialect)
    high = _interval(x, bounds[half + 1 :], first + half + 1, dialect)
    return case([(compare(this=x.copy(), expression=dialect.number(at)), low)], high)
