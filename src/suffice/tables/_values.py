"""Values of columns: missing ones, spaces, decimal commas, infinities, and what a column was learned as."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from suffice.tables._base import Reading, TableError, counted
from suffice.tables._ways import WAYS, cast, looks_like, ways_of, written

NUMBER, TEXT, BOOLEAN, MOMENT, TIME, SPAN, NOTHING = "number", "text", "boolean", "moment", "time", "span", "nothing"
TYPES = {
    NUMBER: pa.float64(),
    TEXT: pa.string(),
    BOOLEAN: pa.bool_(),
    MOMENT: pa.timestamp("us"),
    TIME: pa.time64("us"),
    SPAN: pa.duration("us"),
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
COMMA = r"^[-+]?\d+,\d+([eE][-+]?\d+)?$"
WHOLE = r"^[-+]?\d+$"
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


def found(name: str, column: pa.ChunkedArray, how: Reading, typed: bool, where: Where) -> Found:
    """A column with what is missing as null, numbers and dates as such however they are written, and no infinities.

    Of a file that has types, text stays text, unless it is known how it is written.
    """
    if kind_of(column) == TEXT:
        trimmed = pc.utf8_trim_whitespace(column)
        known = pc.if_else(pc.is_in(trimmed, pa.array(how.missing)), pa.scalar(None, pa.string()), trimmed)
        return _of_text(name, known, how, typed, where)._replace(spaces=trimmed != column)
    if pa.types.is_floating(column.type):
        infinite = pc.sum(pc.is_inf(column)).as_py() or 0
        if infinite:
            are, count = ("is", "counts") if infinite == 1 else ("are", "count")
            column = pc.if_else(pc.is_inf(column), pa.scalar(None, column.type), column)
            return Found(column, (f"{counted(infinite, 'value')} of {name!r} {are} infinite, and {count} as missing",))
    return Found(column)


def _of_text(name: str, column: pa.ChunkedArray, how: Reading, typed: bool, where: Where) -> Found:
    """Text as it is, or as what it is written as."""
    if name in how.written:
        return _as_written(name, column, how.written[name], where)
    if typed or name in how.categorical:
        return Found(column)
    ways = ways_of(column, how.decimal)
    if len(ways) == 1:
        ((way, values),) = ways.items()
        return Found(values, (f"{name!r} is read as {WAYS[way].words}",), way=way)
    return _as_numbers(name, column, how, where)


def _as_written(name: str, column: pa.ChunkedArray, way: str, where: Where) -> Found:
    """Text that is written in a known way, or plainly; TableError, with its place, for a value that is neither."""
    if column.null_count == len(column):
        return Found(column)
    known = WAYS[way]
    for values in (written(column, known), cast(column, known.to)):
        if values is not None:
            return Found(values, way=way)
    strange = (value for value in pc.unique(column).drop_null() if written(_one(value), known) is None)
    value = next(strange)
    raise TableError(
        f"{where(int(pc.index(column, value).as_py()))}, column {name!r}: {value.as_py()!r} is not of {known.words}, "
        "as which the model has learned the column: write all values in that way"
    )


def _one(value: pa.Scalar) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array([value])])


def _as_numbers(name: str, column: pa.ChunkedArray, how: Reading, where: Where) -> Found:
    """Text as numbers if it is nothing else but for spaces and decimal commas; a sentence if it nearly is."""
    points = cast(column)
    if points is not None:
        return Found(points)
    commas = None if how.decimal == "." else cast(_with_points(column))
    if commas is not None:
        return Found(commas, (f"{name!r} has decimal commas, as in {_first(column, COMMA)}, and is read as numbers",))
    like = looks_like(column)
    return Found(column, _nearly(name, column, where) if like is None else (f"{name!r} is read as text, but {like}",))


def _with_points(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Decimal commas as points, if every value is a number of that kind; else the same column."""
    commas, whole = pc.match_substring_regex(column, COMMA), pc.match_substring_regex(column, WHOLE)
    all_are = pc.all(pc.or_(commas, whole)).as_py() and pc.any(commas).as_py()
    return pc.replace_substring(column, ",", ".") if all_are else column


def _first(column: pa.ChunkedArray, pattern: str) -> str:
    return repr(column.filter(pc.match_substring_regex(column, pattern))[0].as_py())


def _nearly(name: str, column: pa.ChunkedArray, where: Where) -> tuple[str, ...]:
    """A sentence if most values of a text are numbers."""
    known = len(column) - column.null_count
    strange = np.flatnonzero(_is_no_number(column))
    if not known or not len(strange) or len(strange) > (1 - NEARLY) * known:
        return ()
    value = column[int(strange[0])].as_py()
    others = f", as {counted(len(strange) - 1, 'other')}" * (len(strange) > 1)
    advice = f"if that means that it is missing, say --na {value!r}"
    return (f"{where(int(strange[0]))}: {name!r} is read as text, as {value!r} is no number{others}; {advice}",)


def _is_no_number(column: pa.ChunkedArray) -> np.ndarray:
    """Which values are there and are no numbers (n,)."""
    number = pc.match_substring_regex(column, r"^[-+]?(\d+[.,]?\d*|[.,]\d+)([eE][-+]?\d+)?$")
    return np.asarray(pc.fill_null(pc.invert(number), False).to_numpy(zero_copy_only=False), dtype=bool)


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


def _first_strange(column: pa.ChunkedArray, to: pa.DataType) -> tuple[int, str]:
    """The first value of a text that is not of a type, and its row."""
    values = pc.unique(column).drop_null()
    strange = next(value for value in values if cast(_one(value), to) is None)
    return int(pc.index(column, strange).as_py()), str(strange.as_py())
