"""Values of columns: missing ones, spaces, decimal commas, infinities, and what a column was learned as."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from suffice._core.kinds import TEXTUAL, ColumnContent
from suffice.data.files.sheet import Reading, TableError, counted
from suffice.data.files.ways import WAYS, cast, written

NUMBER, TEXT, BOOLEAN, MOMENT, TIME, SPAN, NOTHING = "number", "text", "boolean", "moment", "time", "span", "nothing"
TYPES = {
    NUMBER: pa.float64(),
    TEXT: pa.string(),
    BOOLEAN: pa.bool_(),
    MOMENT: pa.timestamp("us"),
    TIME: pa.time64("us"),
    SPAN: pa.duration("us"),
}
READ_AS = {  # what a file's column is read as, by what the column of a model holds
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
NEARLY = 0.9  # of the values are numbers: the others are worth a sentence

Where = Callable[[int], str]  # a row, as messages call its place


class Found(NamedTuple):
    """A column as it is to be used, and what had to be decided."""

    column: pa.ChunkedArray
    notes: tuple[str, ...] = ()
    spaces: bool = False  # whether there were some around its values
    way: str | None = None  # in which its values are written, if they are not written plainly


def kind_of(column: pa.ChunkedArray) -> str | None:
    """What a column holds; None if an entry is no single value."""
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
    """A column without the ways in which Arrow can store it: dictionaries, views, decimals, time zones."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string_view(column.type) or pa.types.is_large_string(column.type):
        column = column.cast(pa.string())
    if pa.types.is_decimal(column.type) or pa.types.is_float16(column.type):
        column = column.cast(pa.float64())
    kind = kind_of(column)
    return column.cast(TYPES[kind], safe=False) if kind in (MOMENT, TIME, SPAN) else column


def found(name: str, column: pa.ChunkedArray, how: Reading, where: Where) -> Found:
    """A column of a file that has types, with what is missing as null, and no infinities.

    Text stays text, unless it is known how it is written.
    """
    if kind_of(column) == TEXT:
        trimmed = pc.utf8_trim_whitespace(column)
        known = pc.if_else(pc.is_in(trimmed, pa.array(how.missing)), pa.scalar(None, pa.string()), trimmed)
        got = _as_written(name, known, how.written[name], where) if name in how.written else Found(known)
        return got._replace(spaces=trimmed != column)
    if pa.types.is_floating(column.type):
        infinite = pc.sum(pc.is_inf(column)).as_py() or 0
        column = pc.if_else(pc.is_inf(column), pa.scalar(None, column.type), column) if infinite else column
        return Found(column, tuple(infinite_note(name, infinite)))
    return Found(column)


def _as_written(name: str, column: pa.ChunkedArray, way: str, where: Where) -> Found:
    """Text that is written in a known way, or plainly; TableError, with its place, for a value that is neither."""
    if column.null_count == len(column):
        return Found(column)
    known = WAYS[way]
    for values in (written(column, known), cast(column, known.to)):
        if values is not None:
            return Found(values, way=way)
    row = first_unlike(column, lambda rows: written(rows, known) is not None)
    raise TableError(
        f"{where(row)}, column {name!r}: {column[row].as_py()!r} is not of {known.words}, "
        "as which the model has learned the column: write all values in that way"
    )


def infinite_note(name: str, infinite: int) -> list[str]:
    """A sentence on values that are infinite, if there are any."""
    are, count = ("is", "counts") if infinite == 1 else ("are", "count")
    said = f"{counted(infinite, 'value')} of {name!r} {are} infinite, and {count} as missing"
    return [said] * (infinite > 0)


def nearly_note(name: str, known: int, strange: int, first: tuple[int, str] | None, where: Where) -> list[str]:
    """A sentence if most values of a text are numbers; `first` is the row and the value of the first that is not."""
    if first is None or strange > (1 - NEARLY) * known:
        return []
    row, value = first
    others = f", as {counted(strange - 1, 'other')}" * (strange > 1)
    advice = f"if that means that it is missing, say --na {value!r}"
    return [f"{where(row)}: {name!r} is read as text, as {value!r} is no number{others}; {advice}"]


def as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column as text; of dates and times without what is zero at their end.

    >>> as_text(pa.chunked_array([[0, 43_200_000_000]], pa.timestamp("us"))).to_pylist()
    ['1970-01-01', '1970-01-01 12:00:00']
    """
    text = column.cast(pa.string())
    if kind_of(column) in (MOMENT, TIME):
        text = pc.replace_substring_regex(text, r"[.]0+$", "")
    return pc.replace_substring_regex(text, r" 00:00:00$", "") if kind_of(column) == MOMENT else text


def as_learned(name: str, column: pa.ChunkedArray, kind: str, where: Where) -> pa.ChunkedArray:
    """A column as what it was learned as; TableError, with its place, for a value that is none."""
    try:
        return as_text(column) if kind == TEXT else column.cast(TYPES[kind], safe=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        if kind_of(column) != TEXT:
            holds = f"{name!r} holds {column.type} values, but is to be read as {PLURAL[kind]}"
            raise TableError(f"{where(0)}: {holds}: convert the column") from error
        row, value = _first_strange(column, TYPES[kind])
        raise TableError(
            f"{where(row)}, column {name!r}: {value!r} is no {WORDS[kind]}, which is what the model has learned. "
            f"Correct it, or say --na {value!r} if it is missing"
        ) from error


def first_unlike(column: pa.ChunkedArray, alike: Callable[[pa.ChunkedArray], bool]) -> int:
    """The first row whose value is not like others, where `alike` says whether all values of some rows are.

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
    """The first value of a text that is not of a type, and its row."""
    row = first_unlike(column, lambda rows: cast(rows, to) is not None)
    return row, str(column[row].as_py())
