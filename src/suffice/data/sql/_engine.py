"""A table of a database as a data set, and queries with predictions for its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from sqlglot import exp as sq

from suffice._core.features import Features
from suffice._core.kinds import ColumnContent
from suffice._core.labels import show_all
from suffice._core.vector import Array
from suffice._runtime.messages import join_words
from suffice.data.base import Data, R
from suffice.data.layout import Layout, check_apart, names_of
from suffice.data.queries import queried
from suffice.data.sql._dialects import check_names, dialect_of
from suffice.data.sql._rows import SQLRows
from suffice.data.sql._source import RELATION, TableSource
from suffice.data.sql._writing import QueryWriter, SQLTerm, table_of

KEY = "key"


@dataclass(frozen=True)
class Scoring:
    """A table, its key columns, and a writer of formulas of the others."""

    table: str | tuple[str, ...]
    keys: tuple[str, ...]
    ops: QueryWriter

    @classmethod
    def of(
        cls,
        table: str | tuple[str, ...],
        dialect: str,
        keys: str | Sequence[str],
        features: Features,
        columns: Sequence[str] | None,
        contents: Mapping[Any, ColumnContent],
    ) -> Scoring:
        """From the arguments of `to_sql`, checked."""
        keys = (keys,) if isinstance(keys, str) else tuple(keys)
        # Blocks of a mixed table are in another order than its columns.
        features = Features(features.width, features.names)
        names = dict(zip(features.keys, _names(features, columns), strict=True))
        spec = dialect_of(dialect)
        check_names(list(names.values()), spec)
        ops = QueryWriter(spec, {**names, **{(KEY, one): one for one in keys}}, contents)
        return cls(table, keys, ops)

    def query(self, answers: Mapping[str, SQLTerm]) -> str:
        """SELECT keys and answers FROM the table."""
        every = [*self.keys, *answers]
        twice = [one for one in self.keys if every.count(one) > 1]
        if twice:
            raise ValueError(
                f"the key {twice[0]!r} is also the name of an answer, or is given twice: rename that column"
            )
        keys = {one: self.ops.raw((KEY, one)) for one in self.keys}
        select = self.ops.query(table_of(self.table), {**keys, **answers})
        return str(select.sql(self.ops.dialect.name, pretty=True, copy=False))


def _names(features: Features, columns: Sequence[str] | None) -> Sequence[str]:
    """The names of the features in the table (d,)."""
    if columns is None:
        if features.names is None:
            raise ValueError(
                "these columns were learned by number: give columns= with their names in the table, in "
                "their order, or fit on a data frame"
            )
        return [str(name) for name in features.names]
    if isinstance(columns, str) or len(columns) != features.width or not all(isinstance(c, str) for c in columns):
        raise ValueError(f"columns must be a list of {features.width} names, got {show_all(columns)}")
    return columns


class SQL(Data):
    """A table of a database, summed by queries: only statistics leave the database.

    Counts are queried by GROUP BY, moments about an origin in two queries, histograms by cells of the grid. So
    tables, normal densities, planes and `NaiveBayes` are learned in closed form, and by risk-based calibration where
    scores are formulas of the columns. Other models raise a TypeError.

    Parameters
    ----------
    connection : connection, relation of DuckDB, or path
        A DB-API connection to DuckDB, SQLite or PostgreSQL; a relation of DuckDB; or the path of a database of DuckDB
        or SQLite.
    table : str or (schema, name), default=None
        The table or view; a relation is one itself.
    target : str, default=None
        The column with the labels; not needed for predicting.
    weight : str, default=None
        The column with the row weights.
    columns : list of str, default=None
        The columns with the features; by default all other columns.
    keys : str or list of str, default=()
        Columns that identify rows: they are returned with the predictions, and are not features.
    dialect : {"duckdb", "sqlite", "postgres"}, default=None
        By default that of the connection's driver.
    verbose : int, default=0
        1 shows the queries of each pass.

    Examples
    --------
    >>> import sqlite3
    >>> from suffice import GaussianNB
    >>> database = sqlite3.connect(":memory:")
    >>> _ = database.execute("CREATE TABLE people (age REAL, state TEXT)")
    >>> people = [(20, "well"), (30, "well"), (60, "ill"), (70, "ill")]
    >>> _ = database.executemany("INSERT INTO people VALUES (?, ?)", people)
    >>> data = SQL(database, "people", target="state")
    >>> GaussianNB().fit(data).predict(data).fetch()
    [('well',), ('well',), ('ill',), ('ill',)]
    """

    def __init__(
        self,
        connection: Any,
        table: str | tuple[str, ...] | None = None,
        target: str | None = None,
        weight: str | None = None,
        columns: Sequence[str] | None = None,
        keys: str | Sequence[str] = (),
        dialect: str | None = None,
        verbose: int = 0,
    ) -> None:
        self.source = TableSource.of(connection, table, dialect, Layout.of(target, weight, columns, keys), verbose)

    @property
    def queries(self) -> list[str]:
        """All queries so far, in order."""
        return self.source.queries

    def sum(self, f: Callable[[Any], R]) -> R:
        with self.source.shown():
            return cast(R, queried(f, SQLRows.of(self.source)))

    def count(self) -> int:
        return self.source.count()

    def without_labels(self) -> Data:
        """Not supported: sums of unlabelled rows need predictions row by row."""
        raise TypeError("predictions cannot be summed in a database: take the rows, or the predictions, into memory")

    def fingerprint(self) -> dict[str, Any]:
        """The table, the number of rows, and a digest of their values: by hashes or, in SQLite, by totals."""
        rows, values = self.source.digest()
        table = {"table": self.source.called, "dialect": self.source.dialect.name, "layout": repr(self.source.layout)}
        return {**table, "rows": rows, "values": values}

    def transform(self, f: Callable[[Any], Any]) -> Query:
        """The query of f, which runs when its answers are fetched."""
        return Query(self.source, f)


class Query:
    """Answers for the rows of a table, as a query: `sql` is its text, `fetch` runs it, `create` makes a table of it.

    `np.asarray` gives the answers without the keys. The order of the rows is up to the database.
    """

    def __init__(self, source: TableSource, f: Callable[[Any], Any]) -> None:
        self._source = source
        self._answers = names_of(f)
        own = getattr(f, "f", f)
        if not hasattr(own, "formulas") or not self._answers:
            raise TypeError(
                f"{type(own).__name__} cannot be written in SQL: ask for predict or predict_proba, or take rows into "
                "memory"
            )
        layout, rows = source.layout, SQLRows(source, np.empty(0), tuple(source.columns()))
        ops = rows.writer()
        with source.named():
            found = dict(zip(self._answers, own.formulas(ops, rows.columns), strict=True))
        check_apart(layout.keys, found)
        self._select = ops.query(source.from_table, {**{key: ops.raw(key) for key in layout.keys}, **found})

    @property
    def sql(self) -> str:
        """The text of the query."""
        return str(self._select.sql(self._source.dialect.name, pretty=True))

    def fetch(self) -> list[tuple[Any, ...]]:
        """Keys and answers, row by row."""
        with self._source.shown():
            return self._source.fetch(self.sql)[1]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """The answers (n,) or (n, k), without the keys."""
        rows = [row[len(self._source.layout.keys) :] for row in self.fetch()]
        values = np.array([row[0] for row in rows] if len(self._answers) == 1 else rows, dtype=dtype)
        return values if len(rows) or len(self._answers) == 1 else values.reshape(0, len(self._answers))

    def create(self, table: str | tuple[str, ...]) -> SQL:
        """A table of the database with keys and answers; it must not be there yet."""
        made = sq.Create(this=table_of(table), kind="TABLE", expression=self._select.copy())
        source = self._source
        source.execute(source.sql(made))
        if not source.relation:
            return SQL(source.connection, table, dialect=source.dialect.name, verbose=source.verbose)
        rows = source.connection.query(RELATION, source.sql(sq.select("*").from_(table_of(table))))
        return SQL(rows, verbose=source.verbose)

    def __repr__(self) -> str:
        return (
            f"<a query for {join_words(map(repr, self._answers))}: .sql is its text, .fetch() runs it, .create(table)>"
        )
