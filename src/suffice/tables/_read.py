"""Reading a table from a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

from suffice.tables._base import Reading, Sheet, TableError, check_columns, listed
from suffice.tables._bytes import as_utf8, file_bytes
from suffice.tables._text import Header, header_note, header_of, line_of, parse
from suffice.tables._values import TEXT, Where, as_learned, found, plain

TYPED = {  # how files begin that say what their columns hold
    b"PAR1": lambda data: pq.read_table(pa.BufferReader(data)),
    b"ARROW1": lambda data: ipc.open_file(data).read_all(),
    b"\xff\xff\xff\xff": lambda data: ipc.open_stream(data).read_all(),
}


def read(path: str, how: Reading | None = None, learned: Mapping[str, str] | None = None) -> Sheet:
    """A CSV, TSV, Parquet, Arrow or Feather file, also compressed by gzip, told apart by what is in them.

    Parameters
    ----------
    path : str
    how : Reading, default=None
        What is missing, the decimal point, the separator, columns to read as text and to leave out.
    learned : mapping of column: kind, default=None
        What columns are to be read as ("number", "text", ...), as a model has learned them.
    """
    how, data = how or Reading(), file_bytes(path)
    typed = next((reader for begin, reader in TYPED.items() if data.startswith(begin)), None)
    sheet, where = _text(path, data, how, learned or {}) if typed is None else _typed(path, data, typed)
    check_columns(sheet.table, (*how.drop, *how.categorical))
    sheet = replace(sheet, table=sheet.table.drop_columns(list(how.drop)))
    return _cleaned(sheet, how, learned or {}, typed is not None, where)


def _text(path: str, data: bytes, how: Reading, learned: Mapping[str, str]) -> tuple[Sheet, Where]:
    """A text file, and how to name the place of a row."""
    data, notes = as_utf8(path, data)
    if not data.strip():
        raise TableError(f"{path} is empty")
    data = data if b"\n" in data else data.replace(b"\r", b"\n")
    header: Header = header_of(path, data, how)
    as_text = (*how.categorical, *how.written, *(name for name, kind in learned.items() if kind == TEXT))
    table = parse(path, data, header, as_text, how)
    notes = (*notes, *header_note(path, header.names))
    return Sheet(path, table, notes), lambda row: f"{path}, line {line_of(data, header, row)}"


def _typed(path: str, data: bytes, reader: Any) -> tuple[Sheet, Where]:
    """A file that says what its columns hold, and how to name the place of a row."""
    try:
        table = reader(data)
        table.validate(full=True)
    except (pa.ArrowException, OSError) as error:
        raise TableError(f"{path} cannot be read as a table: {str(error).splitlines()[0]}") from error
    names = table.column_names
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TableError(f"{path}: more than one column is called {listed(twice)}: give every column a name of its own")
    if not table.num_rows:
        raise TableError(f"{path} has columns and no rows")
    return Sheet(path, table), lambda row: f"{path}, row {row + 1}"


def _cleaned(sheet: Sheet, how: Reading, learned: Mapping[str, str], typed: bool, where: Where) -> Sheet:
    """Every column as it is to be used."""
    columns, as_found, notes, trimmed = {}, {}, list(sheet.notes), []
    written: dict[str, str] = {}
    for name in sheet.table.column_names:
        column = plain(sheet.table[name])
        if name in how.categorical:
            column = as_learned(name, column, TEXT, where)
        column, said, spaces, way = found(name, column, how, typed or learned.get(name) == TEXT, where)
        as_found[name] = column
        columns[name] = as_learned(name, column, learned[name], where) if name in learned else column
        notes.extend(said)
        written |= {} if way is None else {name: way}
        trimmed += [repr(name)] * spaces
    if trimmed:
        notes.append(f"spaces around the values of {listed(trimmed, 4)} are left out")
    return replace(sheet, table=pa.table(columns), notes=tuple(notes), found=pa.table(as_found), written=written)
