"""A table of a database: how queries are run, and what its columns hold."""

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
from suffice._runtime.messages import join_words
from suffice._runtime.progress import reading
from suffice._runtime.random import digest
from suffice._runtime.system import optional
from suffice.data.layout import DataError, Layout
from suffice.data.sql._dialects import SQLDialect, call, dialect_of
from suffice.data.sql._writing import NoColumnError, column, table_of

MODULES = {
    "duckdb": "duckdb",
    "_duckdb": "duckdb",
    "sqlite3": "sqlite",
    "psycopg": "postgres",
    "psycopg2": "postgres",
    "pg8000": "postgres",
}
T = TypeVar("T")
MAX_WIDTH = 900  # values in a row of a result
NAME_A_TABLE = "name one, as in suffice.data.SQL(connection, 'table', target='label'), and hand that over"
SQLITE = b"SQLite format 3\0"  # the first bytes of its files
RELATION = "suffice rows"  # the name of a relation in queries
RELATION_LOCK = RLock()
LOCKS: WeakKeyDictionary[Any, AbstractContextManager[Any]] = WeakKeyDictionary()  # by connection
DUCKDB_TYPES = (  # by the first letters of the name
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
POSTGRES_TYPES = {  # by number
    16: ColumnContent.BOOLEANS,
    **dict.fromkeys((20, 21, 23, 26), ColumnContent.WHOLE_NUMBERS),
    **dict.fromkeys((700, 701, 1700), ColumnContent.NUMBERS),
    **dict.fromkeys((1082, 1114, 1184), ColumnContent.DATES),
    **dict.fromkeys((1083, 1266), ColumnContent.TIMES_OF_DAY),
    1186: ColumnContent.DURATIONS,
}
CASTS = {"UUID": "text", "TIMESTAMPTZ_NS": "timestamptz"}  # types to cast before values are fetched or counted


@dataclass(frozen=True, eq=False)
class TableSource:
    """A connection or a relation, its table, and the layout of the columns.

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
    relation: bool = False  # the connection is a relation, which queries call RELATION
    queries: list[str] = field(default_factory=list)  # all queries so far
    _watching: list[Callable[[int], None]] = field(default_factory=list)  # callbacks that count the queries
    _known: dict[Any, Any] = field(default_factory=dict)

    @cached_property
    def _lock(self) -> AbstractContextManager[Any]:
        """Held while a query is asked and its rows are fetched: DuckDB answers one at a time on a connection."""
        if self.relation:  # its connection is unknown
            return RELATION_LOCK
        if self.dialect.name != "duckdb":  # where every query has a cursor of its own
            return nullcontext()
        with RELATION_LOCK:
            return LOCKS.setdefault(self.connection, RLock())

    @classmethod
    def of(cls, given: Any, table: Any, dialect: str | None, layout: Layout, verbose: int = 0) -> TableSource:
        """From a connection, a relation of DuckDB, or the path of a database."""
        if isinstance(given, str | Path):
            given = _opened(Path(given))
        module = type(given).__module__.partition(".")[0]
        found = dialect or MODULES.get(module)
        if found is None:
            raise TypeError(f"the database of a {type(given).__name__} is not known: give dialect=")
        relation = hasattr(given, "query") and hasattr(given, "fetchall") and not hasattr(given, "cursor")
        if relation == (table is not None):
            why = "a relation of DuckDB is a table already: leave table= out"
            raise TypeError(why if relation else f"a {type(given).__name__} is not a table: {NAME_A_TABLE}")
        return cls(given, RELATION if relation else table, dialect_of(found), layout, verbose, relation)

    def once(self, key: Any, make: Callable[[], T]) -> T:
        """The result of `make`, which depends on the table alone; made at the first call."""
        if key not in self._known:
            self._known[key] = make()
        found: T = self._known[key]
        return found

    @property
    def from_table(self) -> Any:
        """The expression after FROM."""
        return table_of(self.table)

    @property
    def called(self) -> str:
        """The name of the table in messages."""
        name = self.table if isinstance(self.table, str) else ".".join(self.table)
        return "the relation" if self.relation else f"table {name!r}"

    def sql(self, query: Any) -> str:
        """A query as text."""
        return str(query.sql(self.dialect.name, copy=False))

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show the number of queries run inside, if `verbose`."""
        with reading(self.called, None, self.verbose, "queries") as advance:
            self._watching.append(advance)
            try:
                yield
            finally:
                self._watching.pop()

    def run(self, query: Any) -> list[tuple[Any, ...]]:
        """The rows of a query's result; DataError, with the table's name, if it fails."""
        return self.fetch(self.sql(query))[1]

    def fetch(self, text: str) -> tuple[list[Any], list[tuple[Any, ...]]]:
        """The driver's description of the columns, names first, and the rows, of a query in text."""
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
        """True if DuckDB refused because of a result whose rows were all read: one more read tells it so."""
        return type(error).__name__ == "ResourceInUseException" and self.connection.fetchone() is None

    def execute(self, text: str) -> None:
        """Run a statement without a result."""
        with self._answering(), self._lock:
            self._execute(text)
            if hasattr(self.connection, "commit"):
                self.connection.commit()

    def _execute(self, text: str) -> Any:
        self.queries.append(text)
        cursor = self._cursor(text)
        for advance in self._watching[-1:]:
            advance(1)
        return cursor

    def _cursor(self, text: str) -> Any:
        if self.relation:
            return self.connection.query(RELATION, text)
        if self.dialect.name == "duckdb":
            # A cursor would not see objects of the connection; `execute` would drop a result that is being read.
            return self.connection.query(text)
        cursor = self.connection.cursor()
        cursor.execute(text)
        return cursor

    @contextmanager
    def named(self) -> Iterator[None]:
        """Raise the error of a column that the table does not have as a DataError with the table's name."""
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
    def contents(self) -> Mapping[str, ColumnContent | None]:
        """The content of every column, by name; None if its entries are not single values."""
        if self.dialect.name == "postgres":
            return {one: postgres_content(kind) for one, kind in self._described}
        if self.dialect.name == "duckdb":
            return {one: duckdb_content(kind) for one, kind in self._described}
        declared = self._declared()
        every = {one: declared.get(one, "") for one, _ in self._described}
        return SQLiteContents(self.run, self.from_table, self.called, every)

    @cached_property
    def _described(self) -> list[tuple[str, Any]]:
        """The columns and their types, as the database describes them."""
        select = self.sql(sq.Select(expressions=[sq.Star()]).from_(self.from_table).limit(0))
        duckdb = self.dialect.name == "duckdb"
        rows = self.fetch(f"DESCRIBE {select}")[1] if duckdb else self.fetch(select)[0]
        return [(row[0], row[1]) for row in rows]

    @cached_property
    def casts(self) -> Mapping[str, str]:
        """Types to cast some columns to, by name."""
        return {one: CASTS[kind] for one, kind in self._described if kind in CASTS}

    def _declared(self) -> dict[str, str]:
        name = self.table if isinstance(self.table, str) else self.table[-1]
        rows = self.fetch(f"PRAGMA table_info({sq.Identifier(this=name, quoted=True).sql('sqlite')})")[1]
        return {row[1]: str(row[2]).upper() for row in rows}

    def count(self) -> int:
        """The number of rows."""
        return int(self.run(sq.Select(expressions=[sq.Count(this=sq.Star())]).from_(self.from_table))[0][0])

    def digest(self) -> tuple[int, str]:
        """The number of rows, and a digest of the columns needed for learning."""
        self.columns()
        needed = [sq.column(one, quoted=True) for one in self.layout.needed(list(self.contents), labels=True)]
        rows, found = self.count(), []
        for some in chunks(needed, MAX_WIDTH // 6) if self.dialect.name == "sqlite" else [needed]:
            found += self.run(sq.Select(expressions=self.dialect.digests(some)).from_(self.from_table))
        return rows, f"{digest([[str(value) for value in row] for row in found]):016x}"

    def columns(self) -> list[str]:
        """The names of the features."""
        names = list(self.contents)
        try:
            self.layout.check(names, [n for n in (self.layout.target, self.layout.weight) if n is not None])
            return self.layout.features(names)
        except ValueError as error:
            raise DataError(f"{self.called}: {error}") from error


def _opened(path: Path) -> Any:
    """A read-only connection to the database in a file, of SQLite or of DuckDB."""
    if not path.is_file():
        raise DataError(f"there is no database {str(path)!r}")
    with path.open("rb") as file:
        if file.read(len(SQLITE)) == SQLITE:
            return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    return optional("duckdb", "sql").connect(str(path), read_only=True)


def chunks(each: Sequence[Any], size: int) -> list[Sequence[Any]]:
    """Parts of at most `size`: databases limit the number of values in a row."""
    return [each[at : at + size] for at in range(0, len(each), size)]


def duckdb_content(described: str) -> ColumnContent | None:
    """The content of a column of a type of DuckDB; None for lists, structures and bytes."""
    if any(mark in described for mark in ("[", "STRUCT", "MAP", "BLOB", "UNION", "JSON")):
        return None
    known = next((kind for word, kind in DUCKDB_TYPES if described.upper().startswith(word)), None)
    whole = described.upper().endswith("INT") or "INTEGER" in described.upper()
    return known or (ColumnContent.WHOLE_NUMBERS if whole else ColumnContent.TEXT)


def postgres_content(code: int) -> ColumnContent | None:
    """The content of a column of a type of PostgreSQL, given by its number; text for all other types."""
    return POSTGRES_TYPES.get(code, ColumnContent.TEXT)


@dataclass(frozen=True)
class SQLiteContents(Mapping[str, ColumnContent | None]):
    """The content of each column by its values: in SQLite a column has no type. Truth and dates go by declaration.

    The values of a column are inspected when it is first used, so that the others may hold anything.
    """

    run: Callable[[Any], list[tuple[Any, ...]]]  # a query to its rows
    table: Any
    called: str
    declared: dict[str, str]  # of every column, in capitals
    found: dict[str, ColumnContent] = field(default_factory=dict)

    def __getitem__(self, name: str) -> ColumnContent:
        if name not in self.found:
            self.found[name] = self._content(name, self.declared[name])
        return self.found[name]

    def __contains__(self, name: object) -> bool:
        return name in self.declared

    def __iter__(self) -> Iterator[str]:
        return iter(self.declared)

    def __len__(self) -> int:
        return len(self.declared)

    def _content(self, name: str, declared: str) -> ColumnContent:
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
