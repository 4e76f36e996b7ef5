"""A table of a database: how it is asked, and what its columns are."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from sqlglot import exp as sq

from suffice._core.kinds import ColumnContent
from suffice._runtime.lazy import cached_property
from suffice._runtime.progress import reading
from suffice._runtime.random import digest
from suffice._runtime.system import optional
from suffice.data.layout import DataError, Layout
from suffice.data.sql._dialects import SQLDialect, dialect_of
from suffice.data.sql._schema import CASTS, SQLiteKinds, duckdb_kind, postgres_kind
from suffice.data.sql._writing import NoColumnError, table_of

MODULES = {
    "duckdb": "duckdb",
    "_duckdb": "duckdb",
    "sqlite3": "sqlite",
    "psycopg": "postgres",
    "psycopg2": "postgres",
    "pg8000": "postgres",
}
T = TypeVar("T")
WIDE = 900  # sums that come back in a row, at most
ASK = "name one, as in suffice.data.SQL(connection, 'table', target='label'), and hand that over"
SQLITE = b"SQLite format 3\0"  # how such files begin
RELATION = "suffice rows"  # what queries call a relation, which has no name of its own
OF_RELATIONS = RLock()
LOCKS: WeakKeyDictionary[Any, AbstractContextManager[Any]] = WeakKeyDictionary()  # by connection


@dataclass(frozen=True, eq=False)
class TableSource:
    """A connection or a relation, the table that is asked, and what its columns are to learning.

    Parameters
    ----------
    connection : connection of a DB-API driver, or relation of DuckDB
    table : str or (schema, name)
    dialect : Dialect
    layout : Layout
    verbose : int, default=0
        1 shows how many queries were answered.
    """

    connection: Any
    table: str | tuple[str, ...]
    dialect: SQLDialect
    layout: Layout
    verbose: int = 0
    relation: bool = False  # whether the connection is a relation, which queries call RELATION
    queries: list[str] = field(default_factory=list)  # all queries so far
    _watching: list[Callable[[int], None]] = field(default_factory=list)  # who counts the queries
    _known: dict[Any, Any] = field(default_factory=dict)

    @cached_property
    def _lock(self) -> AbstractContextManager[Any]:
        """Held while a query is asked and its rows are fetched: DuckDB answers one at a time on a connection."""
        if self.relation:  # which does not tell its connection
            return OF_RELATIONS
        if self.dialect.name != "duckdb":  # where every query has a cursor of its own
            return nullcontext()
        with OF_RELATIONS:
            return LOCKS.setdefault(self.connection, RLock())

    @classmethod
    def of(cls, given: Any, table: Any, dialect: str | None, layout: Layout, verbose: int = 0) -> TableSource:
        """From what people hand over: a connection, a relation of DuckDB, or the path of a database."""
        if isinstance(given, str | Path):
            given = _opened(Path(given))
        module = type(given).__module__.partition(".")[0]
        spoken = dialect or MODULES.get(module)
        if spoken is None:
            raise TypeError(f"the database of a {type(given).__name__} is not known: give dialect= with what it speaks")
        relation = hasattr(given, "query") and hasattr(given, "fetchall") and not hasattr(given, "cursor")
        if relation == (table is not None):
            said = "a relation of DuckDB is a table already: leave table= out"
            raise TypeError(said if relation else f"a {type(given).__name__} is no table: {ASK}")
        return cls(given, RELATION if relation else table, dialect_of(spoken), layout, verbose, relation)

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
        return "the relation" if self.relation else f"table {name!r}"

    def sql(self, query: Any) -> str:
        """A query as text."""
        return str(query.sql(self.dialect.name, copy=False))

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Count the queries that are asked within, if that is wanted."""
        with reading(self.called, None, self.verbose, "queries") as seen:
            self._watching.append(seen)
            try:
                yield
            finally:
                self._watching.pop()

    def run(self, query: Any) -> list[tuple[Any, ...]]:
        """The rows that a query comes back with; DataError, with the table's name, if it cannot be answered."""
        return self.fetch(self.sql(query))[1]

    def fetch(self, text: str) -> tuple[list[Any], list[tuple[Any, ...]]]:
        """What the driver tells of the columns, names first, and the rows, that a query in text comes back with."""
        with self._answering(), self._lock:
            try:
                return self._fetched(text)
            except Exception as error:
                if not self._was_read(error):
                    raise
                return self._fetched(text)

    def _fetched(self, text: str) -> tuple[list[Any], list[tuple[Any, ...]]]:
        cursor = self._execute(text)
        return list(cursor.description), [tuple(row) for row in cursor.fetchall()]

    def _was_read(self, error: Exception) -> bool:
        """Whether DuckDB refused for the sake of a result whose rows were all read: it knows after one more read."""
        return type(error).__name__ == "ResourceInUseException" and self.connection.fetchone() is None

    def execute(self, text: str) -> None:
        """A statement that comes back with nothing."""
        with self._answering(), self._lock:
            self._execute(text)
            if hasattr(self.connection, "commit"):
                self.connection.commit()

    def _execute(self, text: str) -> Any:
        self.queries.append(text)
        cursor = self._cursor(text)
        for seen in self._watching[-1:]:
            seen(1)
        return cursor

    def _cursor(self, text: str) -> Any:
        if self.relation:
            return self.connection.query(RELATION, text)
        if self.dialect.name == "duckdb":  # of which a cursor would not see what the connection alone knows
            return self.connection.query(text)  # has rows of its own, where execute takes those of whoever asked last
        cursor = self.connection.cursor()
        cursor.execute(text)
        return cursor

    @contextmanager
    def named(self) -> Iterator[None]:
        """A column that a formula speaks of, and that is not there, as a DataError with the table's name."""
        try:
            yield
        except NoColumnError as error:
            raise DataError(f"{self.called}: {error}") from error

    @contextmanager
    def _answering(self) -> Any:
        try:
            yield
        except DataError:
            raise
        except Exception as error:  # every driver has errors of its own
            raise DataError(f"{self.called}: {str(error).strip()}") from error

    @cached_property
    def kinds(self) -> Mapping[str, ColumnContent | None]:
        """What every column holds, by name; None for what is no single value."""
        if self.dialect.name == "postgres":
            return {one: postgres_kind(kind) for one, kind in self._described}
        if self.dialect.name == "duckdb":
            return {one: duckdb_kind(kind) for one, kind in self._described}
        declared = self._declared()
        every = {one: declared.get(one, "") for one, _ in self._described}
        return SQLiteKinds(self.run, self.from_table, self.called, every)

    @cached_property
    def _described(self) -> list[tuple[str, Any]]:
        """The columns and their types, as the database tells them."""
        select = self.sql(sq.Select(expressions=[sq.Star()]).from_(self.from_table).limit(0))
        duckdb = self.dialect.name == "duckdb"
        rows = self.fetch(f"DESCRIBE {select}")[1] if duckdb else self.fetch(select)[0]
        return [(row[0], row[1]) for row in rows]

    @cached_property
    def casts(self) -> Mapping[str, str]:
        """The types that some columns are read as."""
        return {one: CASTS[kind] for one, kind in self._described if kind in CASTS}

    def _declared(self) -> dict[str, str]:
        name = self.table if isinstance(self.table, str) else self.table[-1]
        rows = self.fetch(f"PRAGMA table_info({sq.Identifier(this=name, quoted=True).sql('sqlite')})")[1]
        return {row[1]: str(row[2]).upper() for row in rows}

    def count(self) -> int:
        """The number of rows."""
        return int(self.run(sq.Select(expressions=[sq.Count(this=sq.Star())]).from_(self.from_table))[0][0])

    def digest(self) -> tuple[int, str]:
        """The number of rows, and a digest of what the columns hold that are needed for learning."""
        self.columns()
        needed = [sq.column(one, quoted=True) for one in self.layout.needed(list(self.kinds), labels=True)]
        rows, found = self.count(), []
        for some in chunks(needed, WIDE // 6) if self.dialect.name == "sqlite" else [needed]:
            found += self.run(sq.Select(expressions=self.dialect.digests(some)).from_(self.from_table))
        return rows, f"{digest([[str(value) for value in row] for row in found]):016x}"

    def columns(self) -> list[str]:
        """The names of the features."""
        names = list(self.kinds)
        try:
            self.layout.check(names, [n for n in (self.layout.target, self.layout.weight) if n is not None])
            return self.layout.features(names)
        except ValueError as error:
            raise DataError(f"{self.called}: {error}") from error


def _opened(path: Path) -> Any:
    """A connection to the database in a file, of SQLite or of DuckDB, which is not written to."""
    if not path.is_file():
        raise DataError(f"there is no database {str(path)!r}")
    with path.open("rb") as file:
        if file.read(len(SQLITE)) == SQLITE:
            return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    return optional("duckdb", "sql").connect(str(path), read_only=True)


def chunks(each: Sequence[Any], size: int) -> list[Sequence[Any]]:
    """Some at a time: databases have a limit of what comes back in a row."""
    return [each[at : at + size] for at in range(0, len(each), size)]
