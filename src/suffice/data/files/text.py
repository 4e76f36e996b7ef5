"""Tables as text: separators, headers, and rows that do not fit."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa

from suffice._runtime.messages import join_words
from suffice.data.files.encoding import TextFile
from suffice.data.files.formulas import unquoted
from suffice.data.files.sheet import Reading, TableError

SEPARATORS = (",", ";", "\t", "|")
SHOWN = 40  # characters of a line in a message
MOST = (1 << 31) - 1  # characters of a value
NUMBER = re.compile(r"[-+]?\d*[.,]?\d+(e[-+]?\d+)?", re.IGNORECASE)


class Row(NamedTuple):
    """A row of text, with the lines that it begins and ends on, counted from 1."""

    first: int
    last: int
    values: list[str]


class Header(NamedTuple):
    """The separator of a text and the names of its columns, without the spaces around them."""

    separator: str
    names: tuple[str, ...]
    lines: int  # that it takes, with blank ones before it
    has_rows: bool = True


def header_of(file: TextFile, how: Reading) -> Header:
    """The header of a text; TableError unless every column has a name of its own."""
    path, separator = file.path, how.separator or separator_of(_first_line(file))
    check_quotes(file, separator)
    rows = rows_of(file, separator)
    row = next(rows)
    written = pa.chunked_array([[name.strip() for name in row.values]], pa.string())
    names = tuple(unquoted(written).to_pylist())
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
    """The separator that a line has most of, outside of quotes.

    >>> separator_of('"a,b,c";d')
    ';'
    """
    return max(SEPARATORS, key=re.sub(r'"[^"]*"', "", line).count)


def _check_separator(path: str, names: tuple[str, ...], how: Reading) -> None:
    """TableError if the one column that there is looks like many."""
    if len(names) > 1:
        return
    count = {other: names[0].count(other) for other in (*SEPARATORS, " ") if other != how.separator}
    other = max(count, key=lambda one: count[one])
    if count[other] > (how.separator is None):  # a name of two words is no reason to doubt
        at = "" if how.separator is None else f" if split at {how.separator!r}"
        raise TableError(f"{path} has one column only{at}, {_short(names[0])!r}: is --separator {other!r} meant?")


def header_note(path: str, names: tuple[str, ...]) -> list[str]:
    """A sentence if the first line looks like a row."""
    said = "looks like a row, not like names of columns: if so, give the file a header"
    return [f"{path}, line 1: {_short(', '.join(names))!r} {said}"] if _is_row(names) else []


def _is_row(names: tuple[str, ...]) -> bool:
    """Whether what should be names looks like values: half are numbers, and not just those of the columns."""
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
    """The first row that has more or fewer values than the header, in words."""
    width = len(header.names)
    for row in rows_of(file, header.separator):
        if len(row.values) != width:
            values = "1 value" if len(row.values) == 1 else f"{len(row.values)} values"
            shown = _short(header.separator.join(row.values))
            return f"line {row.first} has {values} and the header {width} names: {shown!r}"
    return None


def line_of(file: TextFile, header: Header, row: int) -> int:
    """The line on which a row of the table begins, counted from 1, header included."""
    for number, found in enumerate(rows_of(file, header.separator), start=-1):
        if number == row:
            return found.first
    return row + 2


def rows_of(file: TextFile, separator: str) -> Iterator[Row]:
    """Every row that is not empty, the header included."""
    csv.field_size_limit(MOST)
    last = 0
    with file.lines() as lines:
        reader = csv.reader(lines, delimiter=separator)
        for values in reader:
            if values:
                yield Row(last + 1, reader.line_num, values)
            last = reader.line_num


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
