"""Reading a table from a file."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

from suffice._runtime.messages import join_words
from suffice.data.files.dialect import find_dialect
from suffice.data.files.encoding import file_bytes, text_file
from suffice.data.files.reading import FileTable, Reading, TableError, check_columns, index_columns, index_notes
from suffice.data.files.text import blocks
from suffice.data.files.values import TEXT, Where, as_learned, cleaned, kind_of, plain
from suffice.data.notations import fitting, settled

TYPED = {  # readers of files with types, by their first bytes
    b"PAR1": lambda data: pq.read_table(pa.BufferReader(data)),
    b"ARROW1": lambda data: ipc.open_file(data).read_all(),
    b"\xff\xff\xff\xff": lambda data: ipc.open_stream(data).read_all(),
}


def read(
    path: str,
    how: Reading | None = None,
    learned: Mapping[str, str] | None = None,
    target: str | None = None,
    keep: Collection[str] = (),
) -> FileTable:
    """A CSV, TSV, JSON lines, Parquet, Arrow or Feather file, also compressed by gzip, recognised by their content.

    An index of pandas is left out, unless one of the arguments names it.

    Parameters
    ----------
    path : str
    how : Reading, default=None
        Missing marks, the decimal point, the separator, columns to read as text and to leave out.
    learned : mapping of column: kind, default=None
        The kinds of columns ("number", "text", ...) that a model has learned.
    target : str, default=None
        The column of the labels.
    keep : collection of str, default=()
        Columns to keep unchanged, if the file has them.
    """
    how, learned, data = how or Reading(), learned or {}, file_bytes(path)
    typed = next((reader for begin, reader in TYPED.items() if data.startswith(begin)), None)
    if typed is None:
        return _text(path, data, how, learned, target, keep)
    sheet, where = _typed(path, data, typed, keep)
    index = index_columns(sheet.table.schema, {target, *keep, *how.drop, *how.categorical, *learned})
    sheet = replace(sheet, table=sheet.table.drop_columns(index), notes=index_notes(index))
    check_columns(sheet.table.column_names, (*how.drop, *how.categorical))
    sheet = replace(sheet, table=sheet.table.drop_columns(list(how.drop)))
    return _clean_columns(sheet, how, learned, where, {*keep} - {target, *learned})


def _text(
    path: str, data: bytes, how: Reading, learned: Mapping[str, str], target: str | None, keep: Collection[str]
) -> FileTable:
    """A text file."""
    file = text_file(path, lambda: pa.BufferReader(data))
    unused = {*keep} - {target, *learned}
    dialect = find_dialect(file, replace(how, categorical=(*how.categorical, *unused)), learned)
    check_columns(list(dialect.header.names), (*how.drop, *how.categorical))
    if not dialect.rows:
        raise TableError(f"{path} has a header and no rows")
    kept = [name for name in dialect.header.names if name in keep]
    each = blocks(file, dialect.header, dialect.block, kept) if kept else ()
    raw = pa.concat_tables([pa.table(block.columns) for block in each] or [pa.table({})])
    index = index_columns(dialect.schema, {target, *keep, *how.drop, *how.categorical, *learned})
    names = [name for name in dialect.header.names if name not in how.drop and name not in index]
    table = pa.concat_tables(dialect.tables(file, names))
    notes = (*dialect.notes, *index_notes(index))
    trimmed = [repr(name) for name in names if name in dialect.spaces - unused]
    if trimmed:
        notes = (*notes, f"spaces around the values of {join_words(trimmed, 4)} are left out")
    return FileTable(path, table, notes, raw, dialect.written)


def _typed(path: str, data: bytes, reader: Any, keep: Collection[str]) -> tuple[FileTable, Where]:
    """A file with types, and a function that gives the place of a row."""
    try:
        table = reader(data)
        table.validate(full=True)
    except (pa.ArrowException, OSError) as error:
        raise TableError(f"{path} cannot be read as a table: {str(error).splitlines()[0]}") from error
    names = table.column_names
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TableError(
            f"{path}: more than one column is called {join_words(twice)}: give every column a name of its own"
        )
    if not table.num_rows:
        raise TableError(f"{path} has columns and no rows")
    kept = table.select([name for name in names if name in keep])
    return FileTable(path, table, kept=kept), lambda row: f"{path}, row {row + 1}"


def _is_in_notation(column: pa.ChunkedArray) -> bool:
    """True if a model can read text as dates, times or numbers itself."""
    return settled(fitting(column.to_pylist())) is not None


def _clean_columns(
    sheet: FileTable, how: Reading, learned: Mapping[str, str], where: Where, unused: Collection[str | None]
) -> FileTable:
    """Clean every column, except unused ones."""
    columns, notes, trimmed = {}, list(sheet.notes), []
    written: dict[str, str] = {}
    for name in sheet.table.column_names:
        column = plain(sheet.table[name])
        if name in unused:
            columns[name] = column
            continue
        if name in how.categorical:
            column = as_learned(name, column, TEXT, where)
        column, new, spaces, way = cleaned(name, column, how, where)
        own = learned.get(name)
        if own is not None and not (own != TEXT and kind_of(column) == TEXT and _is_in_notation(column)):
            column = as_learned(name, column, own, where)
        columns[name] = column
        notes.extend(new)
        written |= {} if way is None else {name: way}
        trimmed += [repr(name)] * spaces
    if trimmed:
        notes.append(f"spaces around the values of {join_words(trimmed, 4)} are left out")
    return replace(sheet, table=pa.table(columns), notes=tuple(notes), written=written)
