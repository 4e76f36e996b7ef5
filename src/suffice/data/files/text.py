"""Tables as text, CSV or JSON lines: the header, rows by their line, and blocks of rows."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.csv as pcsv

from suffice._runtime.messages import join_words
from suffice.data.files.encoding import TextFile
from suffice.data.files.formulas import has_bare, has_quoted, unquoted
from suffice.data.files.reading import Reading, TableError

SEPARATORS = (",", ";", "\t", "|")
MAX_SHOWN = 40  # characters of a line in a message
MAX_VALUE = (1 << 31) - 1  # characters
JSON_ROWS = 1 << 15  # in a block
NUMBER = re.compile(r"[-+]?\d*[.,]?\d+(e[-+]?\d+)?", re.IGNORECASE)


class Row(NamedTuple):
    """A row of text, with the lines that it begins and ends on, counted from 1."""

    first: int
    last: int
    values: list[str]


class TextBlock(NamedTuple):
    """Some rows as text, and the number of rows before them."""

    first: int
    rows: int
    columns: dict[str, pa.ChunkedArray]


class Header(NamedTuple):
    """The separator of a text and the names of its columns, without the spaces around them."""

    separator: str
    names: tuple[str, ...]
    lines: int  # of the header, with blank ones before it
    has_rows: bool = True
    json: bool = False  # whether every line is an object of JSON
    strings: frozenset[str] = frozenset()  # columns that JSON writes in quotes: their digits are not numbers
    quoted: frozenset[str] = frozenset()  # columns that have a quote before every formula, to be read without it


def header_of(file: TextFile, how: Reading) -> Header:
    """The header of a text; TableError unless every column has a name of its own."""
    first = _first_line(file)
    if _is_json(file.path, first):
        return _json_header(file)
    path, separator = file.path, how.separator or separator_of(first)
    check_quotes(file, separator)
    rows = rows_of(file, separator)
    row = next(rows)
    written = pa.chunked_array([[name.strip() for name in row.values]], pa.string())
    names = tuple((written if has_bare(written) else unquoted(written)).to_pylist())
    _check_separator(path, names, how)
    twice = sorted({name for name in names if names.count(name) > 1}, key=names.index)
    if twice:
        at = [str(j + 1) for j, name in enumerate(names) if name == twice[0]]
        called = "has no name" if twice == [""] else f"is called {join_words(twice)}"
        said = (
            f"{path}, line 1: more than one column {called} (columns {join_words(at)}): give every column a name of its"
        )
        raise TableError(f"{said} own" + ". Is the first line a row instead of a header?" * _is_row(names))
    return Header(separator, names, row.last, next(rows, None) is not None)


def _first_line(file: TextFile) -> str:
    """The first line that is not blank."""
    with file.lines() as lines:
        return next((line for line in lines if line.strip()), "")


def separator_of(line: str) -> str:
    """The most frequent separator of a line, outside of quotes.

    >>> separator_of('"a,b,c";d')
    ';'
    """
    return max(SEPARATORS, key=re.sub(r'"[^"]*"', "", line).count)


def _check_separator(path: str, names: tuple[str, ...], how: Reading) -> None:
    """TableError if a single column looks like several."""
    if len(names) > 1:
        return
    count = {other: names[0].count(other) for other in (*SEPARATORS, " ") if other != how.separator}
    other = max(count, key=lambda one: count[one])
    if count[other] > (how.separator is None):  # a name of two words is possible
        at = "" if how.separator is None else f" if split at {how.separator!r}"
        raise TableError(
            f"{path} has one column only{at}, {_short(names[0])!r}: is --separator {other!r} meant? "
            "In Python it is separator="
        )


def header_note(path: str, names: tuple[str, ...]) -> list[str]:
    """A note if the first line looks like a row."""
    note = "looks like a row, not like names of columns: if so, give the file a header"
    return [f"{path}, line 1: {_short(', '.join(names))!r} {note}"] if _is_row(names) else []


def _is_row(names: tuple[str, ...]) -> bool:
    """True if names look like values: half are numbers, and not just the numbers of the columns."""
    numbers = [name for name in names if NUMBER.fullmatch(name)]
    counted = all(name.isdigit() for name in numbers) and len(set(numbers)) == len(numbers)
    return 2 * len(numbers) >= len(names) and not counted


def check_quotes(file: TextFile, separator: str) -> None:
    """TableError if a quote is opened and never closed: the rows after it would be one value."""
    if file.quotes % 2:
        *_, row = rows_of(file, separator)
        if row.last > row.first:
            raise TableError(
                f"{file.path} cannot be read as a table: line {row.first} opens a quote that is never closed"
            )


def ragged(file: TextFile, header: Header) -> str | None:
    """The error of the first row that has more or fewer values than the header; None if all have as many."""
    width = len(header.names)
    for row in rows_of(file, header.separator):
        if len(row.values) != width:
            values = "1 value" if len(row.values) == 1 else f"{len(row.values)} values"
            shown = _short(header.separator.join(row.values))
            return f"line {row.first} has {values} and the header {width} names: {shown!r}"
    return None


def line_of(file: TextFile, header: Header, row: int) -> int:
    """The line on which a row of the table begins, counted from 1, header included."""
    if header.json:
        return next(islice(_objects(file), row, None))[0]
    for number, found in enumerate(rows_of(file, header.separator), start=-1):
        if number == row:
            return found.first
    return row + 2


def rows_of(file: TextFile, separator: str) -> Iterator[Row]:
    """Every row that is not empty, the header included."""
    csv.field_size_limit(MAX_VALUE)
    last = 0
    with file.lines() as lines:
        reader = csv.reader(lines, delimiter=separator)
        for values in reader:
            if values:
                yield Row(last + 1, reader.line_num, values)
            last = reader.line_num


def blocks(
    file: TextFile,
    header: Header,
    size: int,
    names: Collection[str],
    types: Mapping[str, pa.DataType] | None = None,
    missing: Collection[str] = (),
    decimal: str | None = None,
) -> Iterator[TextBlock]:
    """Blocks of a file, as text except for columns with types."""
    if header.json:
        yield from _json_blocks(file, names)
        return
    convert = pcsv.ConvertOptions(
        column_types={name: (types or {}).get(name, pa.string()) for name in names},
        include_columns=list(names),
        null_values=list(missing),
        strings_can_be_null=False,
        decimal_point=decimal or ".",
    )
    reading = pcsv.ReadOptions(column_names=list(header.names), skip_rows=header.lines, block_size=size)
    parsing = pcsv.ParseOptions(delimiter=header.separator, newlines_in_values=file.quotes > 0)
    first = 0
    with file.stream() as stream:
        for batch in pcsv.open_csv(stream, reading, parsing, convert):
            columns = {name: pa.chunked_array([batch[name]]) for name in names}
            plain = {name: unquoted(columns[name]) for name in names if name in header.quoted}
            yield TextBlock(first, batch.num_rows, columns | plain)
            first += batch.num_rows


def with_quoted(file: TextFile, header: Header, size: int) -> Header:
    """The header with the columns whose formulas all have a quote, as our own CSV files have; others are read as is."""
    if header.json or not file.apostrophes:
        return header
    header = header._replace(quoted=frozenset())
    each = (item for block in blocks(file, header, size, header.names) for item in block.columns.items())
    found = {name for name, text in each if has_quoted(text)}
    for block in blocks(file, header, size, tuple(found)) if found else ():
        found -= {name for name, text in block.columns.items() if has_bare(text)}
    return header._replace(quoted=frozenset(found))


class JsonNumber(str):
    """A number as JSON writes it."""


def _is_json(path: str, line: str) -> bool:
    """True if a first line is an object of JSON; TableError for JSON that is not written line by line."""
    line = line.strip()
    if line.startswith("{"):
        try:
            return isinstance(json.loads(line), dict)
        except ValueError:
            pass
    if line in ("{", "[") or line.startswith("[{"):
        raise TableError(f"{path} is JSON, but not one object per line: write it as JSON lines")
    return False


def _objects(file: TextFile) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of JSON lines, each with the number of its line; numbers as they are written."""
    with file.lines() as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                found = json.loads(line, parse_int=JsonNumber, parse_float=JsonNumber, parse_constant=JsonNumber)
            except ValueError as error:
                raise TableError(f"{file.path}, line {number}: not an object of JSON ({error})") from error
            if not isinstance(found, dict):
                raise TableError(f"{file.path}, line {number}: not an object of JSON: {_short(line.strip())!r}")
            yield number, found


def _json_header(file: TextFile) -> Header:
    """The names of all objects, in the order of their first appearance; TableError for a value with parts."""
    strings: dict[str, bool] = {}
    for line, values in _objects(file):
        for name, value in values.items():
            if isinstance(value, list | dict):
                raise TableError(
                    f"{file.path}, line {line}, column {name!r}: holds {type(value).__name__} values, but an entry of "
                    "a table is one value: make each part a column of its own"
                )
            strings[name] = strings.get(name, False) or type(value) is str
    if not strings:
        raise TableError(f"{file.path} has no columns")
    return Header(",", tuple(strings), 0, True, True, frozenset(name for name, some in strings.items() if some))


def _json_blocks(file: TextFile, names: Collection[str]) -> Iterator[TextBlock]:
    """Blocks of JSON lines as text, null where an object has no value."""
    objects, first = (values for _, values in _objects(file)), 0
    while some := list(islice(objects, JSON_ROWS)):
        text = {name: [_json_text(values.get(name)) for values in some] for name in names}
        columns = {name: pa.chunked_array([values], pa.string()) for name, values in text.items()}
        yield TextBlock(first, len(some), columns)
        first += len(some)


def _json_text(value: Any) -> str | None:
    return str(value).lower() if isinstance(value, bool) else value


def _short(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."
