"""What the columns of a table hold, as each kind of database tells it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
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


CASTS = {"UUID": "text", "TIMESTAMPTZ_NS": "timestamptz"}  # types that come back, or are counted, as others


def duckdb_kind(described: str) -> str | None:
    """What a column of a type of DuckDB holds; None for lists, structures and bytes."""
    if any(mark in described for mark in ("[", "STRUCT", "MAP", "BLOB", "UNION", "JSON")):
        return None
    known = next((kind for word, kind in _DUCKDB if described.upper().startswith(word)), None)
    return known or (WHOLE if described.upper().endswith("INT") or "INTEGER" in described.upper() else TEXT)


def postgres_kind(code: int) -> str | None:
    """What a column of a type of PostgreSQL, by its number, holds; text for all that is compared as such."""
    return _POSTGRES.get(code, TEXT)


@dataclass(frozen=True)
class SQLiteKinds(Mapping[str, str | None]):
    """What the values of columns are, which in SQLite is not the column's to say; truth and dates are, as declared.

    The values of a column are looked at when it is asked for: what is in others does not matter.
    """

    run: Run
    table: Any
    called: str
    declared: dict[str, str]  # of every column, in capitals
    found: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> str:
        if name not in self.found:
            self.found[name] = self._kind(name, self.declared[name])
        return self.found[name]

    def __contains__(self, name: object) -> bool:
        return name in self.declared

    def __iter__(self) -> Iterator[str]:
        return iter(self.declared)

    def __len__(self) -> int:
        return len(self.declared)

    def _kind(self, name: str, declared: str) -> str:
        kind = call("TYPEOF", column(name))
        there = sq.Not(this=sq.Is(this=column(name), expression=sq.Null()))
        rows = self.run(sq.Select(expressions=[kind]).from_(self.table.copy()).where(there).distinct())
        kinds = {row[0] for row in rows}
        if kinds > {"text"} or "blob" in kinds:
            held = " and ".join(sorted(kinds))
            raise DataError(f"{self.called}: column {name!r} holds {held} values: convert it to one type")
        if "BOOL" in declared:
            return TRUTH
        if "DATE" in declared or "TIMESTAMP" in declared:
            return DATES
        return TEXT if kinds == {"text"} else WHOLE if kinds == {"integer"} else NUMBERS
