"""Differences between databases: numbers, dates, and missing values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlglot import exp

from suffice._core.labels import moment, show
from suffice._core.vector import Array

DAY = 86_400_000_000  # microseconds
MIN_EXPONENT = -700.0  # exp of less is written as 0: PostgreSQL refuses a result that is too small


def literal(value: float) -> exp.Expression:
    """A finite number in E notation, which no database reads as a decimal."""
    text = repr(abs(float(value)))
    number = exp.Literal.number(text if "e" in text else f"{text}e0")
    return exp.Neg(this=number) if value < 0 else number


def text_of(value: str) -> exp.Expression:
    """Text in quotes; ValueError for text with a zero byte."""
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
    """How a database writes expressions that differ between databases."""

    name: str
    number: Callable[[float], exp.Expression]  # of a finite number
    double: Callable[[exp.Expression], exp.Expression]  # cast to a number, with NULL for NaN
    days: Callable[[exp.Expression], exp.Expression]  # a date or a time stamp in days since 1970
    greatest: str
    infinity: exp.Expression
    digests: Callable[[Sequence[exp.Expression]], list[exp.Expression]]  # sums that identify columns
    lists: bool = False  # pick values from lists, which is many times as fast as by cases
    cased: bool = False  # names that differ only in case are different
    guarded: bool = False  # exp of very small numbers has to be avoided
    fence: int | None = None  # LIMIT that keeps the database from merging steps; None: not needed

    def value(self, value: Any) -> exp.Expression:
        """A label, or a category that is not a date, as a literal."""
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
    """Uses ISFINITE: DuckDB answers ISNAN and comparisons from the ranges of Parquet files, which ignore NaN."""
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
    """SQLite has no hash: counts, extremes, and totals of numbers, of lengths and of first letters."""
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
    """The dialect of a name; ValueError for an unknown one."""
    found = DIALECTS.get(name) if isinstance(name, str) else None
    if found is None:
        raise ValueError(f"dialect must be one of {sorted(DIALECTS)}, got {name!r}")
    return found


def check_names(names: Sequence[str], dialect: SQLDialect) -> None:
    """ValueError if the database cannot tell two of the names apart."""
    known: dict[bytes, str] = {}
    for one in () if dialect.cased else names:
        # SQL folds the case of ASCII letters only.
        other = known.setdefault(one.encode(errors="surrogatepass").lower(), one)
        if other != one:
            raise ValueError(
                f"the columns {other!r} and {one!r} differ only in case, which {dialect.name} does not tell apart: "
                "rename one of them, or give columns= with their names in the table"
            )


def dated(values: Array) -> bool:
    """True if categories are dates, which are compared by their days."""
    return values.dtype.kind == "M" or (values.dtype.kind == "O" and len(values) > 0 and moment(values[0]) is not None)


def in_days(value: Any) -> float:
    """A date in days since 1970."""
    day = moment(value)
    if day is None:
        raise ValueError(f"{show(value)} is not a date")
    return float((day.astype("M8[us]") - np.datetime64(0, "us")) / np.timedelta64(DAY, "us"))
