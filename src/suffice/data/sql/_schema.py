"""What the columns of a table hold, as each kind of database tells it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp as sq

from suffice._core.kinds import ColumnContent
from suffice._runtime.messages import join_words
from suffice.data.layout import DataError
from suffice.data.sql._dialects import call
from suffice.data.sql._writing import column

Run = Callable[[Any], list[tuple[Any, ...]]]  # a query to its rows

_DUCKDB = (
    ("BOOL", ColumnContent.BOOLEANS),
    ("TIMESTAMP", ColumnContent.DATES),
    ("DATE", ColumnContent.DATES),
    ("TIME", ColumnContent.TIMES_OF_DAY),
    ("INTERVAL", ColumnContent.DURATIONS),
    ("DOUBLE", ColumnContent.NUMBERS),
    ("FLOAT", ColumnContent.NUMBERS),
    ("DECIMAL", ColumnContent.NUMBERS),
    ("UHUGEINT", ColumnContent.WHOLE_NUMBERS),
    ("HUGEINT", ColumnContent.WHOLE_NUMBERS),
    ("VARCHAR", ColumnContent.TEXT),
    ("ENUM", ColumnContent.TEXT),
    ("UUID", ColumnContent.TEXT),
)
_POSTGRES = {
    16: ColumnContent.BOOLEANS,
    **dict.fromkeys((20, 21, 23, 26), ColumnContent.WHOLE_NUMBERS),
    **dict.fromkeys((700, 701, 1700), ColumnContent.NUMBERS),
    **dict.fromkeys((1082, 1114, 1184), ColumnContent.DATES),
    **dict.fromkeys((1083, 1266), ColumnContent.TIMES_OF_DAY),
    1186: ColumnContent.DURATIONS,
}


CASTS = {"UUID": "text", "TIMESTAMPTZ_NS": "timestamptz"}  # types that come back, or are counted, as others


def duckdb_kind(described: str) -> ColumnContent | None:
    """What a column of a type of DuckDB holds; None for lists, structures and bytes."""
    if any(mark in described for mark in ("[", "STRUCT", "MAP", "BLOB", "UNION", "JSON")):
        return None
    known = next((kind for word, kind in _DUCKDB if described.upper().startswith(word)), None)
    whole = described.upper().endswith("INT") or "INTEGER" in described.upper()
    return known or (ColumnContent.WHOLE_NUMBERS if whole else ColumnContent.TEXT)


def postgres_kind(code: int) -> ColumnContent | None:
    """What a column of a type of PostgreSQL, by its number, holds; text for all that is compared as such."""
    return _POSTGRES.get(code, ColumnContent.TEXT)


@dataclass(frozen=True)
class SQLiteKinds(Mapping[str, ColumnContent | None]):
    """What the values of columns are, which in SQLite is not the column's to ops; truth and dates are, as declared.

    The values of a column are looked at when it is asked for: what is in others does not matter.
    """

    run: Run
    table: Any
    called: str
    declared: dict[str, str]  # of every column, in capitals
    found: dict[str, ColumnContent] = field(default_factory=dict)

    def __getitem__(self, name: str) -> ColumnContent:
        if name not in self.found:
            self.found[name] = self._kind(name, self.declared[name])
        return self.found[name]

    def __contains__(self, name: object) -> bool:
        return name in self.declared

    def __iter__(self) -> Iterator[str]:
        return iter(self.declared)

    def __len__(self) -> int:
        return len(self.declared)

    def _kind(self, name: str, declared: str) -> ColumnContent:
        kind = call("TYPEOF", column(name))
        there = sq.Not(this=sq.Is(this=column(name), expression=sq.Null()))
        rows = self.run(sq.Select(expressions=[kind]).from_(self.table.copy()).where(there).distinct())
        kinds = {row[0] for row in rows}
        if kinds > {"text"} or "blob" in kinds:
            held = join_words(sorted(kinds), last=" and ")
            raise DataError(f"{self.called}: column {name!r} holds {held} values: convert it to one type")
        if "BOOL" in declared:
            return ColumnContent.BOOLEANS
        if "DATE" in declared or "TIMESTAMP" in declared:
            return ColumnContent.DATES
        if kinds == {"text"}:
            return ColumnContent.TEXT
        return ColumnContent.WHOLE_NUMBERS if kinds == {"integer"} else ColumnContent.NUMBERS
