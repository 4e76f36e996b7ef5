"""A table of a database: how it is asked, and what its columns are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from sqlglot import exp as sq

from suffice._extras import optional
from suffice.data._layout import DataError, Layout
from suffice.data.sql._dialects import Dialect, dialect_of
from suffice.data.sql._schema import duckdb_kind, postgres_kind, sqlite_kinds
from suffice.data.sql._writing import table_of

MODULES = {
    "duckdb": "duckdb",
    "_duckdb": "duckdb",
    "sqlite3": "sqlite",
    "psycopg": "postgres",
    "psycopg2": "postgres",
    "pg8000": "postgres",
}
T = TypeVar("T")
RELATION = "suffice rows"  # what queries call a relation, which has no name of its own


@dataclass(frozen=True, eq=False)
class Source:
    """A connection or a relation, the table that is asked, and what its columns are to learning.

    Parameters
    ----------
    connection : connection of a DB-API driver, or relation of DuckDB
    table : str or (schema, name)
    dialect : Dialect
    layout : Layout
    """

    connection: Any
    table: str | tuple[str, ...]
    dialect: Dialect
    layout: Layout
    asked: list[str] = field(default_factory=list)  # all queries so far
    _known: dict[Any, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Any, table: Any, dialect: str | None, layout: Layout) -> Source:
        """From what people hand over: a connection, a relation of DuckDB, or the path of a database of DuckDB."""
        if isinstance(given, str | Path):
            if not Path(given).is_file():
                raise DataError(f"there is no database {str(given)!r}")
            given = optional("duckdb", "sql").connect(str(given), read_only=True)
        module = type(given).__module__.partition(".")[0]
        spoken = dialect or MODULES.get(module)
        if spoken is None:
            raise TypeError(f"the database of a {type(given).__name__} is not known: give dialect= with what it speaks")
        relation = hasattr(given, "query") and hasattr(given, "fetchall") and not hasattr(given, "cursor")
        if relation == (table is not None):
            said = "a relation of DuckDB is a table already: leave table= out"
            raise TypeError(said if relation else "give table= with the name of a table of the database")
        return cls(given, RELATION if relation else table, dialect_of(spoken), layout)

    def once(self, what: Any, make: Callable[[], T]) -> T:
        """What does not change as long as the table does not, asked for once."""
        if what not in self._known:
            self._known[what] = make()
        found: T = self._known[what]
        return found

    @property
    def from_table(self) -> Any:
        """What stands after FROM."""
        return table_of(self.table)

    @property
    def called(self) -> str:
        """How messages call the table."""
        name = self.table if isinstance(self.table, str) else ".".join(self.table)
        return "the relation" if name == RELATION else f"table {name!r}"

    def sql(self, query: Any) -> str:
        """A query as text."""
        return str(query.sql(self.dialect.name, copy=False))

    def run(self, query: Any) -> list[tuple[Any, ...]]:
        """The rows that a query comes back with; DataError, with the table's name, if it cannot be answered."""
        return self.fetch(self.sql(query))[1]

    def fetch(self, text: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """The names of the columns, and the rows, that a query in text comes back with."""
        with self._answering():
            cursor = self._execute(text)
            return [one[0] for one in cursor.description], [tuple(row) for row in cursor.fetchall()]

    def execute(self, text: str) -> None:
        """A statement that comes back with nothing."""
        with self._answering():
            self._execute(text)
            if hasattr(self.connection, "commit"):
                self.connection.commit()

    def _execute(self, text: str) -> Any:
        self.asked.append(text)
        if self.table == RELATION:
            return self.connection.query(RELATION, text)
        if hasattr(self.connection, "execute"):  # in DuckDB a cursor would not see what the connection alone knows
            return self.connection.execute(text)
        cursor = self.connection.cursor()
        cursor.execute(text)
        return cursor

    @contextmanager
    def _answering(self) -> Any:
        try:
            yield
        except DataError:
            raise
        except Exception as error:  # every driver has errors of its own
            raise DataError(f"{self.called}: {str(error).strip()}") from error

    @cached_property
    def kinds(self) -> Mapping[str, str | None]:
        """What every column holds, in words, by name; None for what is no single value."""
        select = self.sql(sq.Select(expressions=[sq.Star()]).from_(self.from_table).limit(0))
        with self._answering():
            described = self._execute(select).description
            names = [one[0] for one in described]
            if self.dialect.name == "postgres":
                return {one[0]: postgres_kind(one[1]) for one in described}
            if self.dialect.name == "duckdb":
                return {row[0]: duckdb_kind(str(row[1])) for row in self.fetch(f"DESCRIBE {select}")[1]}
            declared = self._declared()
            return dict(sqlite_kinds(self.run, self.from_table, declared, names))

    def _declared(self) -> dict[str, str]:
        name = self.table if isinstance(self.table, str) else self.table[-1]
        rows = self.fetch(f"PRAGMA table_info({sq.Identifier(this=name, quoted=True).sql('sqlite')})")[1]
        return {row[1]: str(row[2]).upper() for row in rows}

    def count(self) -> int:
        """The number of rows."""
        return int(self.run(sq.Select(expressions=[sq.Count(this=sq.Star())]).from_(self.from_table))[0][0])

    def columns(self) -> list[str]:
        """The names of the features."""
        names = list(self.kinds)
        try:
            self.layout.check(names, [n for n in (self.layout.target, self.layout.weight) if n is not None])
            return self.layout.features(names)
        except ValueError as error:
            raise DataError(f"{self.called}: {error}") from error


def chunks(each: Sequence[Any], size: int) -> list[Sequence[Any]]:
    """Some at a time: databases have a limit of what comes back in a row."""
    return [each[at : at + size] for at in range(0, len(each), size)]
