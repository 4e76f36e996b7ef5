"""Databases to test with: one in memory, one in a file, and a server of PostgreSQL that the tests start themselves."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

TYPES = {
    "f": "DOUBLE PRECISION",
    "i": "BIGINT",
    "u": "BIGINT",
    "b": "BOOLEAN",
    "M": "TIMESTAMP",
    "O": "TEXT",
    "U": "TEXT",
}
DATABASES = ["duckdb", "sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


class Database:
    """A connection, its dialect, and how rows come in and answers out."""

    def __init__(self, dialect, connection, mark):
        self.dialect, self.connection, self.mark = dialect, connection, mark

    def load(self, frame, table):
        """Rows as they are: NaN stays NaN where the database has it, None is NULL."""
        declared = [f"{quoted(name)} {TYPES[_kind(frame[name])]}" for name in frame.columns]
        cursor = self.connection.cursor()
        cursor.execute(f"DROP TABLE IF EXISTS {quoted(table)}")
        cursor.execute(f"CREATE TABLE {quoted(table)} ({', '.join(declared)})")
        rows = [[_plain(value, self.dialect) for value in row] for row in zip(*map(list, _columns(frame)), strict=True)]
        if self.dialect == "duckdb" and len(rows) > 200:
            cursor.register("loaded", frame)
            cursor.execute(f"CREATE OR REPLACE TABLE {quoted(table)} AS FROM loaded")
        elif rows:
            marks = ", ".join([self.mark] * frame.shape[1])
            cursor.executemany(f"INSERT INTO {quoted(table)} VALUES ({marks})", rows)  # noqa: S608 - names of our own
        self.connection.commit()

    def ask(self, query):
        """The answer to a query, as a data frame."""
        cursor = self.connection.cursor()
        cursor.execute(query)
        return pd.DataFrame(cursor.fetchall(), columns=[d[0] for d in cursor.description])


def _kind(column):
    kind = getattr(column.dtype, "kind", "O")
    values = [v for v in column if v is not None and v == v] if kind == "O" else []
    if values and all(isinstance(v, bool | np.bool_) for v in values):
        return "b"
    return "f" if values and all(isinstance(v, int | float) for v in values) else kind


def _columns(frame):
    each = (frame[name].astype(object) for name in frame.columns)
    return [c if _kind(c) == "f" else c.where(c.notna(), None) for c in each]


def _plain(value, dialect):
    if value is pd.NaT:
        return None
    if isinstance(value, pd.Timestamp):
        return value.isoformat(sep=" ") if dialect == "sqlite" else value.to_pydatetime()
    return value.item() if isinstance(value, np.generic) else value


def _bin(program):
    found = shutil.which(program) or max(map(str, Path("/usr/lib/postgresql").glob(f"*/bin/{program}")), default=None)
    assert found, f"there is no {program}: install PostgreSQL (.ci/postgres)"
    return found


@contextmanager
def postgres_server():
    """A server of its own in a temporary folder, behind a Unix socket, gone afterwards; as root, run by `postgres`."""
    folder = Path(tempfile.mkdtemp(prefix="suffice-pg-"))
    who = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    if who:
        shutil.chown(folder, "postgres", "postgres")

    def run(program, *arguments):
        subprocess.run(
            [*who, _bin(program), "-D", folder / "data", *arguments], check=True, cwd=folder, capture_output=True
        )

    try:
        run("initdb", "-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8", "--locale", "C")
        options = f"-k {folder} -c listen_addresses='' -c fsync=off"
        run("pg_ctl", "-w", "-l", folder / "log", "-o", options, "start")
        try:
            yield folder
        finally:
            run("pg_ctl", "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def database(dialect, server=None):
    """An empty database."""
    if dialect == "duckdb":
        import duckdb

        with duckdb.connect() as connection:
            yield Database(dialect, connection, "?")
    elif dialect == "sqlite":
        connection = sqlite3.connect(":memory:")
        yield Database(dialect, connection, "?")
        connection.close()
    else:
        import psycopg

        with psycopg.connect(host=str(server), user="postgres", dbname="postgres") as connection:
            yield Database(dialect, connection, "%s")
            connection.rollback()
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")
            connection.commit()
