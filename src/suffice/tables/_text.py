"""Tables as text: separators, headers, and rows that do not fit."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pyarrow as pa
import pyarrow.csv as pcsv

from suffice.tables._base import Reading, TableError, listed

SEPARATORS = (",", ";", "\t", "|")
SHOWN = 40  # characters of a line in a message
BLOCK, MOST = 1 << 20, (1 << 31) - 1  # bytes that are read at a time: no line may be longer
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


def header_of(path: str, data: bytes, how: Reading) -> Header:
    """The header of a text; TableError unless every column has a name of its own."""
    separator = how.separator or separator_of(data.lstrip().split(b"\n", 1)[0].decode())
    names = tuple(name.strip() for name in next(rows_of(data, separator)).values)
    _check_separator(path, names, how)
    twice = sorted({name for name in names if names.count(name) > 1}, key=names.index)
    if twice:
        at = [str(j + 1) for j, name in enumerate(names) if name == twice[0]]
        called = "has no name" if twice == [""] else f"is called {listed(twice)}"
        said = f"{path}, line 1: more than one column {called} (columns {listed(at)}): give every column a name of its"
        raise TableError(f"{said} own" + ". Is the first line a row instead of a header?" * _is_row(names))
    return Header(separator, names)


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


def parse(path: str, data: bytes, header: Header, as_text: Iterable[str], how: Reading) -> pa.Table:
    """Rows of text as columns, of the types that their values have; some columns stay text."""
    body = _without_header(data, header)
    if not body.strip():
        raise TableError(f"{path} has a header and no rows")
    convert = pcsv.ConvertOptions(
        column_types={name: pa.string() for name in as_text if name in header.names},
        null_values=list(how.missing),
        strings_can_be_null=True,
        decimal_point=how.decimal or ".",
    )
    parsing = pcsv.ParseOptions(delimiter=header.separator, newlines_in_values=b'"' in data)
    _check_quotes(path, data, header)
    for block in (BLOCK, min(max(BLOCK, len(body)), MOST)):
        reading = pcsv.ReadOptions(column_names=list(header.names), block_size=block)
        try:
            return pcsv.read_csv(pa.BufferReader(body), reading, parsing, convert)
        except (pa.ArrowInvalid, OSError) as error:
            why = str(error).splitlines()[0]
    raise TableError(
        f"{path} cannot be read as a table: {_ragged(data, header) or why}. The separator is {header.separator!r}; "
        "another is given by --separator"
    )


def _check_quotes(path: str, data: bytes, header: Header) -> None:
    """TableError if a quote is opened and never closed: the rows after it would be one value."""
    if data.count(b'"') % 2:
        *_, row = rows_of(data, header.separator)
        if row.last > row.first:
            raise TableError(f"{path} cannot be read as a table: line {row.first} opens a quote that is never closed")


def _without_header(data: bytes, header: Header) -> bytes:
    """The lines after the header, which are more than one if a name has line ends within quotes."""
    at = 0
    for _ in range(next(rows_of(data, header.separator)).last):
        end = data.find(b"\n", at)
        at = len(data) if end < 0 else end + 1
    return data[at:]


def _ragged(data: bytes, header: Header) -> str | None:
    """The first row that has more or fewer values than the header, in words."""
    width = len(header.names)
    for row in rows_of(data, header.separator):
        if len(row.values) != width:
            values = "1 value" if len(row.values) == 1 else f"{len(row.values)} values"
            shown = _short(header.separator.join(row.values))
            return f"line {row.first} has {values} and the header {width} names: {shown!r}"
    return None


def line_of(data: bytes, header: Header, row: int) -> int:
    """The line on which a row of the table begins, counted from 1, header included."""
    for number, found in enumerate(rows_of(data, header.separator), start=-1):
        if number == row:
            return found.first
    return row + 2


def rows_of(data: bytes, separator: str) -> Iterator[Row]:
    """Every row that is not empty, the header included."""
    csv.field_size_limit(MOST)
    reader = csv.reader(io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline=""), delimiter=separator)
    last = 0
    for values in reader:
        if values:
            yield Row(last + 1, reader.line_num, values)
        last = reader.line_num


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
