"""Formulas as SQL: the steps of one query, each of which computes a term once."""

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
from suffice.data.sql._dialects import MIN_EXPONENT, SQLDialect, dated, in_days

MAX_ARGUMENTS = 100  # of a function, in every database
PART, PARTS = "suffice part", "suffice parts"  # names that a table is unlikely to have
MAX_CASES = 4  # values that are found as fast by cases as in a list


class NoColumnError(ValueError):
    """A formula has a column that the table does not have."""


@dataclass(frozen=True, eq=False)
class SQLTerm:
    """An expression, and the first step in which all of its parts are known; None is minus infinity."""

    sql: sq.Expression | None
    step: int


def name(text: str) -> sq.Identifier:
    """A name in quotes."""
    if "\0" in text:
        raise ValueError(f"{show(text)} has a zero byte, which no name in SQL can have")
    return sq.Identifier(this=text, quoted=True)


def column(text: str) -> sq.Expression:
    """A column by its name."""
    return sq.Column(this=name(text))


def with_type(x: sq.Expression, kind: str | None) -> sq.Expression:
    """x cast to a type; x itself for None."""
    return x if kind is None else sq.Cast(this=x, to=sq.DataType.build(kind))


def table_of(table: str | Sequence[str]) -> sq.Table:
    """A table by its name, or by (schema, name)."""
    parts = [table] if isinstance(table, str) else list(table)
    if not 1 <= len(parts) <= 3 or not all(isinstance(part, str) and part for part in parts):
        raise ValueError(f"table must be the name of a table, or (schema, name), got {table!r}")
    return sq.Table(**dict(zip(("this", "db", "catalog"), map(name, reversed(parts)), strict=False)))


def case(pairs: Sequence[tuple[sq.Expression, sq.Expression]], default: sq.Expression | None) -> sq.Expression:
    """CASE WHEN ... THEN ... ELSE ... END."""
    return sq.Case(ifs=[sq.If(this=when, true=then) for when, then in pairs], default=default)


def repeated(rows: sq.Select, part: str, parts: Sequence[int], each: Mapping[str, Sequence[str | None]]) -> sq.Select:
    """All rows once for every part: SELECT its number, and for each output the column of that part; 0 for None.

    The query of the rows is written once: SQLite keeps a copy of a query for every place that refers to it.
    """
    numbers = sq.Values(expressions=[sq.Tuple(expressions=[integer(one)]) for one in parts])
    own = [
        sq.Alias(this=halves(column(PART), of, parts[0], _or_zero), alias=name(called)) for called, of in each.items()
    ]
    found = sq.Select(expressions=[sq.Alias(this=column(PART), alias=name(part)), *own]).from_(
        rows.subquery("rows", copy=False), copy=False
    )
    found = found.join(sq.Table(this=name(PARTS)), join_type="cross", copy=False)
    alias = sq.TableAlias(this=name(PARTS), columns=[name(PART)])
    return found.with_(alias, as_=numbers, copy=False)


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


class QueryWriter(Arithmetic[SQLTerm]):
    """Writes formulas of the columns of a table as the steps of one query.

    Parameters
    ----------
    dialect : Dialect
    names : mapping of key: str
        The names in the table of the columns of formulas.
    contents : mapping of key: ColumnContent
        What these columns hold; dates are read in days.
    casts : mapping of str: str, default={}
        Types to cast some columns to, by name.
    """

    def __init__(
        self,
        dialect: SQLDialect,
        names: Mapping[Any, str],
        contents: Mapping[Any, ColumnContent | None],
        casts: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.dialect, self.names, self.contents, self.casts = dialect, names, contents, casts
        self.steps: list[dict[str, sq.Expression]] = [{}]
        self._known: dict[Any, SQLTerm] = {}

    # Columns

    def raw(self, key: Any) -> SQLTerm:
        """The entries of a column, unchanged."""
        return self._once(("raw", key), lambda: SQLTerm(self._column(key), 0))

    def entry(self, key: Any) -> SQLTerm:
        """The entries of a column as categories."""
        return self._once(("value", key), lambda: SQLTerm(self._value(key), 0))

    def read(self, column: Any) -> SQLTerm:
        return self._once(("number", column), lambda: SQLTerm(self._as_number(column), 0))

    def _column(self, key: Any) -> sq.Expression:
        if key not in self.names:
            raise NoColumnError(f"there is no column {show(key)}; the columns are {show_all(self.names)}")
        return column(self.names[key])

    def _value(self, key: Any) -> sq.Expression:
        if self.contents.get(key) in CLOCKED:
            raise TypeError(
                f"column {self.names[key]!r} holds times or spans of time, which databases keep in too many ways: "
                "make it a number of days or hours first"
            )
        return with_type(self._column(key), self.casts.get(self.names[key]))

    def _as_number(self, key: Any) -> sq.Expression:
        holds, own = self.contents.get(key), self._value(key)
        if holds == ColumnContent.BOOLEANS:  # which PostgreSQL takes for a whole number only
            own = sq.Cast(this=own, to=sq.DataType.build("int"))
        return (self.dialect.days if holds == ColumnContent.DATES else self.dialect.double)(own)

    def _once(self, what: Any, make: Any) -> SQLTerm:
        if what not in self._known:
            self._known[what] = self.keep([make()])[0]
        return self._known[what]

    # Cells

    def cell(self, reading: Reading, column: Any) -> SQLTerm:
        return self._once((id(reading), column), lambda: self._cell(reading, column))

    def _cell(self, reading: Reading, key: Any) -> SQLTerm:
        if isinstance(reading, Intervals):
            x = self.read(key)
            found = _interval(sql_of(x), reading.bounds[1:], 0, self.dialect)
            return SQLTerm(case([(sq.Is(this=sql_of(x), expression=sq.Null()), integer(-1))], found), x.step)
        return self._choice(reading.values, reading.cell.tolist(), key)

    def _choice(self, values: Array, cells: Sequence[int], key: Any) -> SQLTerm:
        dates, kinds = dated(values), {type(value) for value in values.tolist()}
        if dates:
            own: sq.Expression = self.dialect.days(self._value(key))
        elif kinds <= {str}:
            own = sq.Cast(this=self._column(key), to=sq.DataType.build("text"))
        else:
            own = self.dialect.double(self._column(key)) if float in kinds else self._column(key)
        at = self._once(("entry", key, dates, str in kinds, float in kinds), lambda: SQLTerm(own, 0))
        each = [self.dialect.number(in_days(v)) if dates else self.dialect.value(v) for v in values]
        ifs = [sq.If(this=one, true=integer(c)) for one, c in zip(each, cells, strict=True) if c >= 0]
        return SQLTerm(sq.Case(this=sql_of(at), ifs=ifs, default=integer(-1)) if ifs else integer(-1), at.step)

    def cells(self, sides: Sequence[Reading], columns: Sequence[Any]) -> SQLTerm:
        found, *others = (self.cell(side, key) for side, key in zip(sides, columns, strict=True))
        for side, v in zip(sides[1:], others, strict=True):
            least = [sq.GTE(this=sql_of(one), expression=integer(0)) for one in (found, v)]
            both = sq.Add(this=sq.Mul(this=sql_of(found), expression=integer(side.size)), expression=sql_of(v))
            inside = case([(sq.And(this=least[0], expression=least[1]), both)], integer(-1))
            found = self.keep([SQLTerm(inside, max(found.step, v.step))])[0]
        return found

    def pick(self, cell: SQLTerm, values: Sequence[float] | Array) -> SQLTerm:
        every = [0.0, *np.asarray(values, dtype=float).tolist()]
        if len(every) > MAX_CASES and self.dialect.lists:
            array = sq.Array(expressions=[self.dialect.number(value) for value in every])
            at = sq.Add(this=sql_of(cell), expression=integer(2))
            return SQLTerm(sq.Anonymous(this="LIST_EXTRACT", expressions=[array, at]), cell.step)
        return SQLTerm(halves(sql_of(cell), every, -1, self.dialect.number), cell.step)

    def gap(self, column: Any, there: float, gone: float) -> SQLTerm:
        numbers = self.contents.get(column) in (ColumnContent.NUMBERS, ColumnContent.WHOLE_NUMBERS)
        x = self.read(column) if numbers else self.raw(column)  # of numbers NaN is missing, too
        absent = sq.Is(this=sql_of(x), expression=sq.Null())
        return SQLTerm(case([(absent, self.dialect.number(gone))], self.dialect.number(there)), x.step)

    # Numbers

    def number(self, value: float) -> SQLTerm:
        if value == -np.inf:
            return SQLTerm(None, 0)
        if not np.isfinite(value):
            raise ValueError(f"{value} cannot be written as a number in SQL")
        return SQLTerm(self.dialect.number(float(value)), 0)

    def or_zero(self, value: SQLTerm) -> SQLTerm:
        return SQLTerm(sq.Coalesce(this=sql_of(value), expressions=[self.dialect.number(0.0)]), value.step)

    def _binary(self, kind: Any, a: SQLTerm, b: SQLTerm, **settings: Any) -> SQLTerm:
        step = max(a.step, b.step)
        if a.sql is None or b.sql is None:
            return SQLTerm(None, step)
        return SQLTerm(kind(this=_inside(a.sql), expression=_inside(b.sql), **settings), step)

    def plus(self, a: SQLTerm, b: SQLTerm) -> SQLTerm:
        return self._binary(sq.Add, a, b)

    def minus(self, a: SQLTerm, b: SQLTerm) -> SQLTerm:
        return self._binary(sq.Sub, a, b)

    def times(self, a: SQLTerm, b: SQLTerm) -> SQLTerm:
        return self._binary(sq.Mul, a, b)

    def over(self, a: SQLTerm, b: SQLTerm) -> SQLTerm:
        return self._binary(sq.Div, a, b, typed=True)

    def exp(self, a: SQLTerm) -> SQLTerm:
        if a.sql is None:
            return SQLTerm(self.dialect.number(0.0), a.step)
        found: sq.Expression = sq.Exp(this=sql_of(a))
        if self.dialect.guarded:
            tiny = sq.LT(this=_inside(sql_of(a)), expression=self.dialect.number(MIN_EXPONENT))
            found = case([(tiny, self.dialect.number(0.0))], found)
        return SQLTerm(found, a.step)

    def log(self, a: SQLTerm) -> SQLTerm:
        return SQLTerm(sq.Ln(this=sql_of(a)), a.step)

    def greatest(self, each: Sequence[SQLTerm]) -> SQLTerm:
        known = [one for one in each if one.sql is not None]
        step = max(one.step for one in known)
        if len(known) == 1:
            return SQLTerm(sql_of(known[0]), step)
        if len(known) > MAX_ARGUMENTS:
            groups = range(0, len(known), MAX_ARGUMENTS)
            return self.greatest([self.greatest(known[at : at + MAX_ARGUMENTS]) for at in groups])
        return SQLTerm(sq.Anonymous(this=self.dialect.greatest, expressions=[sql_of(one) for one in known]), step)

    def choose(self, scores: Sequence[SQLTerm], labels: Array) -> SQLTerm:
        own = self.keep(scores)
        (top,) = self.keep([self.greatest(own)])
        pairs = [
            (sq.EQ(this=sql_of(one), expression=sql_of(top)), self.dialect.value(label))
            for one, label in zip(own, labels, strict=True)
            if one.sql is not None
        ]
        return SQLTerm(case(pairs, None), top.step)

    def keep(self, each: Sequence[SQLTerm]) -> list[SQLTerm]:
        return [self._as_column(one) for one in each]

    def _as_column(self, one: SQLTerm) -> SQLTerm:
        if one.sql is None or (one.step and isinstance(one.sql, sq.Column)):
            return one
        while len(self.steps) <= one.step:
            self.steps.append({})
        called = f"v{sum(map(len, self.steps))}"
        self.steps[one.step][called] = one.sql
        return SQLTerm(column(called), one.step + 1)

    # The query

    def query(self, table: sq.Expression, outputs: Mapping[str, SQLTerm]) -> sq.Select:
        """The query that selects the outputs by name. Each step reads the step before it, the first one `table`."""
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

    def _final(self, one: SQLTerm) -> sq.Expression:
        return sq.Neg(this=self.dialect.infinity.copy()) if one.sql is None else one.sql


def sql_of(one: SQLTerm) -> sq.Expression:
    """The expression, as a part of another one; ValueError for minus infinity."""
    if one.sql is None:
        raise ValueError("minus infinity cannot be written as a number in SQL")
    return one.sql.copy() if one.sql.parent is not None else one.sql


def _step(at: int, table: sq.Expression) -> sq.Expression:
    """The source of a step: the table, or the step before it."""
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
