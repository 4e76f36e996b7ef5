"""Values of columns: kinds, missing values, spaces, infinities, and casts to what a model has learned."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from suffice._core.kinds import TEXTUAL, ColumnContent
from suffice.data.files.forms import cast, cast_to, written
from suffice.data.files.reading import Reading, TableError, counted
from suffice.data.notations import NOTATIONS

NUMBER, TEXT, BOOLEAN, MOMENT, TIME, SPAN, NOTHING = "number", "text", "boolean", "moment", "time", "span", "nothing"
TYPES = {
    NUMBER: pa.float64(),
    TEXT: pa.string(),
    BOOLEAN: pa.bool_(),
    MOMENT: pa.timestamp("us"),
    TIME: pa.time64("us"),
    SPAN: pa.duration("us"),
}
FILE_KINDS = {  # what a file's column is read as, by what the column of a model holds
    **dict.fromkeys(TEXTUAL, TEXT),
    ColumnContent.NUMBERS: NUMBER,
    ColumnContent.BOOLEANS: BOOLEAN,
    ColumnContent.DATES: MOMENT,
    ColumnContent.TIMES_OF_DAY: TIME,
    ColumnContent.DURATIONS: SPAN,
}
WORDS = {NUMBER: "number", BOOLEAN: "truth value", MOMENT: "date", TIME: "time", SPAN: "span of time"}
PLURAL = {
    NUMBER: "numbers",
    TEXT: "text",
    BOOLEAN: "truth values",
    MOMENT: "dates",
    TIME: "times",
    SPAN: "spans of time",
}
NEARLY = 0.9  # share of numbers among the values of a text above which the others get a note

Where = Callable[[int], str]  # the place of a row in messages


class CleanColumn(NamedTuple):
    """A column without missing marks and infinities, and what had to be decided."""

    column: pa.ChunkedArray
    notes: tuple[str, ...] = ()
    spaces: bool = False  # there were some around its values
    way: str | None = None  # of writing its values, if not plainly


def kind_of(column: pa.ChunkedArray) -> str | None:
    """The kind of a column; None if its entries are not single values."""
    tests = {
        NUMBER: (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal),
        TEXT: (pa.types.is_string, pa.types.is_large_string),
        BOOLEAN: (pa.types.is_boolean,),
        MOMENT: (pa.types.is_date, pa.types.is_timestamp),
        TIME: (pa.types.is_time,),
        SPAN: (pa.types.is_duration,),
        NOTHING: (pa.types.is_null,),
    }
    return next((kind for kind, are in tests.items() if any(test(column.type) for test in are)), None)


def plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column without Arrow's special storage: dictionaries, views, decimals, time zones."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string_view(column.type) or pa.types.is_large_string(column.type):
        column = column.cast(pa.string())
    if pa.types.is_decimal(column.type) or pa.types.is_float16(column.type):
        column = column.cast(pa.float64())
    kind = kind_of(column)
    return column.cast(TYPES[kind], safe=False) if kind in (MOMENT, TIME, SPAN) else column


def cleaned(name: str, column: pa.ChunkedArray, how: Reading, where: Where) -> CleanColumn:
    """A column of a file that has types, with null for missing marks and infinities.

    Text stays text, unless its way of writing is known.
    """
    if kind_of(column) == TEXT:
        text = unmarked(column, how.missing)
        got = _as_written(name, text, how.written[name], where) if name in how.written else CleanColumn(text)
        return got._replace(spaces=pc.utf8_trim_whitespace(column) != column)
    infinite = column.null_count
    column = finite(column)
    return CleanColumn(column, tuple(infinite_note(name, column.null_count - infinite)))


def unmarked(column: pa.ChunkedArray, missing: Collection[str]) -> pa.ChunkedArray:
    """Text without spaces around it, and with null for missing marks."""
    trimmed = pc.utf8_trim_whitespace(column)
    marks = pc.is_in(trimmed, pa.array(list(missing), trimmed.type))
    return pc.if_else(marks, pa.scalar(None, trimmed.type), trimmed)


def finite(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column with null for infinite numbers."""
    if not pa.types.is_floating(column.type) or not pc.any(pc.is_inf(column)).as_py():
        return column
    return pc.if_else(pc.is_inf(column), pa.scalar(None, column.type), column)


def _as_written(name: str, column: pa.ChunkedArray, way: str, where: Where) -> CleanColumn:
    """Text in a known way, or plainly, as values; TableError, with its place, for any other value."""
    if column.null_count == len(column):
        return CleanColumn(column)
    known = NOTATIONS[way]
    for values in (written(column, known), cast(column, cast_to(known))):
        if values is not None:
            return CleanColumn(values, way=way)
    row = first_unlike(column, lambda rows: written(rows, known) is not None)
    raise TableError(
        f"{where(row)}, column {name!r}: {column[row].as_py()!r} is not of {known.words}, "
        "as which the model has learned the column: write all values in that way"
    )


def infinite_note(name: str, infinite: int) -> list[str]:
    """A note on infinite values, if there are any."""
    are, count = ("is", "counts") if infinite == 1 else ("are", "count")
    note = f"{counted(infinite, 'value')} of {name!r} {are} infinite, and {count} as missing"
    return [note] * (infinite > 0)


def nearly_note(name: str, known: int, strange: int, first: tuple[int, str] | None, where: Where) -> list[str]:
    """A note if most values of a text are numbers; `first` is the row and the value of the first that is not."""
    if first is None or strange > (1 - NEARLY) * known:
        return []
    row, value = first
    others = f", as {counted(strange - 1, 'other')}" * (strange > 1)
    advice = f"if it marks a missing value, say --na {value!r} (na= in Python)"
    return [f"{where(row)}: {name!r} is read as text, as {value!r} is not a number{others}; {advice}"]


def as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column as text; dates and times without zeros at their end.

    >>> as_text(pa.chunked_array([[0, 43_200_000_000]], pa.timestamp("us"))).to_pylist()
    ['1970-01-01', '1970-01-01 12:00:00']
    """
    text = column.cast(pa.string())
    if kind_of(column) in (MOMENT, TIME):
        text = pc.replace_substring_regex(text, r"[.]0+$", "")
    return pc.replace_substring_regex(text, r" 00:00:00$", "") if kind_of(column) == MOMENT else text


def as_learned(name: str, column: pa.ChunkedArray, kind: str, where: Where) -> pa.ChunkedArray:
    """A column cast to the kind that was learned; TableError, with its place, for a value that does not fit."""
    if kind != TEXT and column.null_count == len(column):
        return pa.chunked_array([pa.nulls(len(column), TYPES[kind])])
    try:
        return as_text(column) if kind == TEXT else column.cast(TYPES[kind], safe=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        if kind_of(column) != TEXT:
            holds = f"{name!r} holds {column.type} values, but is to be read as {PLURAL[kind]}"
            raise TableError(f"{where(0)}: {holds}: convert the column") from error
        row, value = _first_strange(column, TYPES[kind])
        raise TableError(
            f"{where(row)}, column {name!r}: {value!r} is not a {WORDS[kind]}, as the model has learned. "
            f"Correct it, or say --na {value!r} (na= in Python) if it is missing"
        ) from error


def first_unlike(column: pa.ChunkedArray, alike: Callable[[pa.ChunkedArray], bool]) -> int:
    """The first row whose value is unlike the others; `alike` is true if all values of some rows are alike.

    >>> numbers = pa.chunked_array([["1", None, "x", "2"]])
    >>> first_unlike(numbers, lambda rows: cast(rows) is not None)
    2
    """
    low, high = 0, len(column)  # the first `low` rows are alike, the first `high` are not
    while high - low > 1:
        middle = (low + high) // 2
        rows = column.slice(low, middle - low)
        low, high = (middle, high) if rows.null_count == len(rows) or alike(rows) else (low, middle)
    return low


def _first_strange(column: pa.ChunkedArray, to: pa.DataType) -> tuple[int, str]:
    """The row and the value of the first text that cannot be cast to a type."""
    row = first_unlike(column, lambda rows: cast(rows, to) is not None)
    return row, str(column[row].as_py())
