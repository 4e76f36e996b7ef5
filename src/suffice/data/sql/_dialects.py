"""What databases ops differently: numbers, dates, and what is missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlglot import exp

from suffice._core.labels import moment, show
from suffice._core.vector import Array

DAY = 86_400_000_000  # microseconds
LEAST_EXP = -700.0  # below which exp is 0: PostgreSQL refuses a result that is too small


def literal(value: float) -> exp.Expression:
    """A finite number in E notation, which no database takes for a decimal."""
    text = repr(abs(float(value)))
    number = exp.Literal.number(text if "e" in text else f"{text}e0")
    return exp.Neg(this=number) if value < 0 else number


def text_of(value: str) -> exp.Expression:
    """Text, in quotes; ValueError for what no database holds."""
    if "\0" in value:
        raise ValueError(f"{show(value)} has a zero byte, which SQL has no way to write")
    return exp.Literal.string(value)


def as_double(x: exp.Expression) -> exp.Expression:
    """x as a number of double precision."""
    return exp.Cast(this=x, to=exp.DataType.build("double"))


def call(name: str, *arguments: exp.Expression) -> exp.Expression:
    """A function by its own name."""
    return exp.Anonymous(this=name, expressions=list(arguments))


@dataclass(frozen=True)
class SQLDialect:
    """How one kind of database writes what others write otherwise."""

    name: str
    number: Callable[[float], exp.Expression]  # a finite number
    double: Callable[[exp.Expression], exp.Expression]  # as a number, NULL where it is NaN
    days: Callable[[exp.Expression], exp.Expression]  # a date or a moment in days since 1970
    greatest: str
    infinity: exp.Expression
    digests: Callable[[Sequence[exp.Expression]], list[exp.Expression]]  # sums over rows that tell columns apart
    lists: bool = False  # whether values are picked from lists, which is many times as fast as by cases
    cased: bool = False  # whether names that differ in case alone are two
    guarded: bool = False  # whether exp of very small numbers has to be avoided
    fence: int | None = None  # the LIMIT that keeps steps apart, so that each is computed once; None: they are anyway

    def value(self, value: Any) -> exp.Expression:
        """A label, or a category that is no date, as it is written."""
        plain = value.item() if isinstance(value, np.generic) else value
        if isinstance(plain, bool):
            return exp.Boolean(this=plain)
        if isinstance(plain, int):
            return exp.Neg(this=exp.Literal.number(-plain)) if plain < 0 else exp.Literal.number(plain)
        if isinstance(plain, float) and np.isfinite(plain):
            return self.number(plain)
        day = moment(value)
        if day is not None:
            return text_of(str(np.datetime_as_string(day, unit="auto")).replace("T", " "))
        if isinstance(plain, str):
            return text_of(plain)
        raise ValueError(f"{show(value)} has no form in SQL: labels and categories are text, numbers, dates or truth")


def _no_nan_duckdb(x: exp.Expression) -> exp.Expression:
    """By ISFINITE: ISNAN and comparisons are answered by the ranges of Parquet files, which leave NaN out."""
    number = as_double(x)
    kinds = (call(which, number.copy()) for which in ("ISFINITE", "ISINF"))
    return exp.Case(ifs=[exp.If(this=one, true=number.copy()) for one in kinds])


def _no_nan_postgres(x: exp.Expression) -> exp.Expression:
    return exp.Nullif(this=as_double(x), expression=as_double(exp.Literal.string("NaN")))


def _microseconds(x: exp.Expression) -> exp.Expression:
    return exp.Div(this=as_double(x), expression=literal(DAY), typed=True)


def _days_duckdb(x: exp.Expression) -> exp.Expression:
    return _microseconds(call("EPOCH_US", x))


def _days_postgres(x: exp.Expression) -> exp.Expression:
    seconds = exp.Extract(this=exp.var("EPOCH"), expression=x)
    return _microseconds(exp.Paren(this=exp.Mul(this=seconds, expression=exp.Literal.number(1_000_000))))


def _days_sqlite(x: exp.Expression) -> exp.Expression:
    return exp.Paren(this=exp.Sub(this=call("JULIANDAY", x), expression=literal(2440587.5)))  # 1970-01-01


def _exact(value: float) -> exp.Expression:
    return as_double(exp.Literal.string(repr(float(value))))


def _infinite() -> exp.Expression:
    return as_double(exp.Literal.string("Infinity"))


def _hashes_duckdb(columns: Sequence[exp.Expression]) -> list[exp.Expression]:
    return [exp.Sum(this=call("HASH", *columns))]


def _hashes_postgres(columns: Sequence[exp.Expression]) -> list[exp.Expression]:
    text = exp.Cast(this=call("ROW", *columns), to=exp.DataType.build("text"))
    return [exp.Sum(this=call("HASHTEXTEXTENDED", text, exp.Literal.number(0)))]


def _totals_sqlite(columns: Sequence[exp.Expression]) -> list[exp.Expression]:
    """There is no hash: entries, the least, the greatest, and totals of numbers, of lengths and of first letters."""
    found: list[exp.Expression] = []
    for one in columns:
        found += [exp.Count(this=one.copy()), exp.Min(this=one.copy()), exp.Max(this=one.copy())]
        found += [call("TOTAL", x) for x in (one.copy(), call("LENGTH", one.copy()), call("UNICODE", one.copy()))]
    return found


DIALECTS = {
    "duckdb": SQLDialect(
        "duckdb", literal, _no_nan_duckdb, _days_duckdb, "GREATEST", _infinite(), _hashes_duckdb, lists=True
    ),
    "sqlite": SQLDialect(
        "sqlite", literal, as_double, _days_sqlite, "MAX", exp.Literal.number("9e999"), _totals_sqlite, fence=-1
    ),
    "postgres": SQLDialect(
        "postgres",
        _exact,
        _no_nan_postgres,
        _days_postgres,
        "GREATEST",
        _infinite(),
        _hashes_postgres,
        False,
        True,
        True,
        0,
    ),
}


def dialect_of(name: Any) -> SQLDialect:
    """The dialect of a name; ValueError for one that is not spoken."""
    found = DIALECTS.get(name) if isinstance(name, str) else None
    if found is None:
        raise ValueError(f"dialect must be one of {sorted(DIALECTS)}, got {name!r}")
    return found


def check_names(names: Sequence[str], dialect: SQLDialect) -> None:
    """ValueError for columns that the database takes for the same one."""
    known: dict[bytes, str] = {}
    for one in () if dialect.cased else names:
        other = known.setdefault(
            one.encode(errors="surrogatepass").lower(), one
        )  # case is that of the Latin letters without marks
        if other != one:
            raise ValueError(
                f"the columns {other!r} and {one!r} differ in case alone, which {dialect.name} does not tell apart: "
                "rename one of them, or give columns= with what the table calls them"
            )


def dated(values: Array) -> bool:
    """Whether categories are dates, which are compared by their days."""
    return values.dtype.kind == "M" or (values.dtype.kind == "O" and len(values) > 0 and moment(values[0]) is not None)


def in_days(value: Any) -> float:
    """A date in days since 1970."""
    day = moment(value)
    if day is None:
        raise ValueError(f"{show(value)} is no date")
    return float((day.astype("M8[us]") - np.datetime64(0, "us")) / np.timedelta64(DAY, "us"))
