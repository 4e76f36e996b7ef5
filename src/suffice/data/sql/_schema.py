"""What the columns of a table hold, as each kind of database tells it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlglot import exp as sq

from suffice.data._layout import DataError
from suffice.data.sql._dialects import call
from suffice.data.sql._writing import column

Run = Callable[[Any], list[tuple[Any, ...]]]  # a query to its rows
NUMBERS, WHOLE, TEXT, TRUTH, DATES, TIMES = "numbers", "whole numbers", "text", "boolean", "dates", "times"
NUMERIC = {NUMBERS, WHOLE, DATES, TIMES}

_DUCKDB = (
    ("BOOL", TRUTH),
    ("TIMESTAMP", DATES),
    ("DATE", DATES),
    ("TIME", TIMES),
    ("INTERVAL", TIMES),
    ("DOUBLE", NUMBERS),
    ("FLOAT", NUMBERS),
    ("DECIMAL", NUMBERS),
    ("UHUGEINT", WHOLE),
    ("HUGEINT", WHOLE),
    ("VARCHAR", TEXT),
    ("ENUM", TEXT),
    ("UUID", TEXT),
)
_POSTGRES = {
    **dict.fromkeys((16,), TRUTH),
    **dict.fromkeys((20, 21, 23, 26), WHOLE),
    **dict.fromkeys((700, 701, 1700), NUMBERS),
    **dict.fromkeys((1082, 1114, 1184), DATES),
    **dict.fromkeys((1083, 1186, 1266), TIMES),
}


def duckdb_kind(described: str) -> str | None:
    """What a column of a type of DuckDB holds; None for lists, structures and bytes."""
    if any(mark in described for mark in ("[", "STRUCT", "MAP", "BLOB", "UNION", "JSON")):
        return None
    known = next((kind for word, kind in _DUCKDB if described.upper().startswith(word)), None)
    return known or (WHOLE if described.upper().endswith("INT") or "INTEGER" in described.upper() else TEXT)


def postgres_kind(code: int) -> str | None:
    """What a column of a type of PostgreSQL, by its number, holds; text for all that is compared as such."""
    return _POSTGRES.get(code, TEXT)


def sqlite_kinds(run: Run, table: Any, declared: dict[str, str], names: Sequence[str]) -> dict[str, str]:
    """What the values of columns are, which in SQLite is not the column's to say; truth and dates are, as declared."""
    found: dict[str, str] = {}
    for name in names:
        kind = call("TYPEOF", column(name))
        there = sq.Not(this=sq.Is(this=column(name), expression=sq.Null()))
        rows = run(sq.Select(expressions=[kind]).from_(table.copy()).where(there).distinct())
        kinds = {row[0] for row in rows}
        if kinds > {"text"} or "blob" in kinds:
            raise DataError(f"column {name!r} holds {' and '.join(sorted(kinds))} values: convert it to one type")
        if "BOOL" in declared.get(name, ""):
            found[name] = TRUTH
        elif any(word in declared.get(name, "") for word in ("DATE", "TIMESTAMP")):
            found[name] = DATES
        else:
            found[name] = TEXT if kinds == {"text"} else WHOLE if kinds == {"integer"} else NUMBERS
    return found
