"""Ways to write dates and numbers, found from all values of a column: 31.12.2024, 12/31/2024, 1.234,5."""

from __future__ import annotations

import re
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from suffice.data.dates import DATE_WAYS, DOTS, SLASHES


class Way(NamedTuple):
    """A notation for values: the pattern they match, the replacements that normalise them, and the resulting type."""

    words: str
    shape: str  # pattern of every value
    steps: tuple[tuple[str, str], ...]  # patterns, and their replacements
    to: pa.DataType | None  # None: numbers
    point: str | None = None  # of numbers
    sure: str = ""  # pattern of a value that no other way to write numbers allows; "": the shape


def _dates(name: str, shape: str, order: str) -> Way:
    """Dates of three numbers, and their order in yyyy-mm-dd."""
    steps = ((r"\b(\d)\b", r"0\1"), (shape, order))
    return Way(f"dates ({name})", shape, steps, pa.timestamp("us"))


def _numbers(name: str, between: str, point: str) -> Way:
    """Numbers with a mark between thousands."""
    group = rf"[{between}]\d{{3}}"
    shape = rf"^[-+]?(\d{{1,3}}({group})+|\d+)([{point}]\d+)?$"
    return Way(
        f"numbers ({name})",
        shape,
        ((rf"[{between}]", ""), (rf"[{point}]", ".")),
        None,
        point,
        rf"{group}([{point}]\d|{group})",
    )


def _signed(name: str, sign: str, between: str, point: str) -> Way:
    """Numbers with one sign before or after them, such as that of a currency, and at most two decimals."""
    number = rf"(\d{{1,3}}([{between}]\d{{3}})+|\d+)([{point}]\d{{1,2}})?"
    shape = rf"^([-+]?[{sign}]\s?[-+]?{number}|[-+]?{number}\s?[{sign}])$"
    return Way(
        f"numbers ({name}, without the sign)", shape, ((rf"[{sign}{between}\s]", ""), (rf"[{point}]", ".")), None, point
    )


CURRENCIES = "$€£¥"
WAYS = {
    **{name: _dates(name, shape, order) for name, (shape, order) in DATE_WAYS.items()},
    "1.234,5": _numbers("1.234,5", ".", ","),
    "1,234.5": _numbers("1,234.5", ",", "."),
    **{f"{sign}1,234.50": _signed(f"{sign}1,234.50", sign, ",", ".") for sign in CURRENCIES},
    **{f"1.234,50 {sign}": _signed(f"1.234,50 {sign}", sign, ".", ",") for sign in CURRENCIES},
    "12.5%": _signed("12.5%", "%", ",", "."),
    "12,5%": _signed("12,5%", "%", ".", ","),
}
HEAD = 100  # values that are tried first
COMMAS = "1234,5"
LABEL = "1.0"  # a class such as 1.0
COMMA, WHOLE = r"^[-+]?\d+,\d+([eE][-+]?\d+)?$", r"^[-+]?\d+$"
LEADING_ZERO = r"^[-+]?0\d+$"  # of codes such as 01234, which would lose the zero as numbers
CLOCK = r"^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?$"
PLAIN = {  # forms that Arrow reads, in the order of trial
    "whole": pa.int64(),
    "boolean": pa.bool_(),
    "moment": pa.timestamp("us"),
    "nanoseconds": pa.timestamp("ns"),
    "zoned": pa.timestamp("us", "UTC"),
    "time": pa.time32("s"),
    "number": pa.float64(),
}
FORMS = PLAIN | {name: way.to or pa.float64() for name, way in WAYS.items()} | {COMMAS: pa.float64(), LABEL: pa.int64()}
BARE = {"whole", "boolean", "number", COMMAS, "1.234,5", "1,234.5"}  # text in files that quote strings
LIKE_NUMBERS = r"^[-+]?\d{1,3}([., ']\d{3})*([.,]\d+)?$"


def fits(column: pa.ChunkedArray, form: str, decimal: str | None = None) -> pa.ChunkedArray | None:
    """Text in a form, as values of its type; None if a value is not in that form.

    >>> fits(pa.chunked_array([["31/12/2024", "1/2/2024"]]), "dd/mm/yyyy")[1].as_py().isoformat()
    '2024-02-01T00:00:00'
    >>> fits(pa.chunked_array([["31/12/2024", "1/2/2024"]]), "mm/dd/yyyy"), fits(pa.chunked_array([["007"]]), "whole")
    (None, None)
    """
    if form in WAYS and not _may_be(column, WAYS[form]):
        return None
    # A cast of many values that do not fit is slow: try a few first.
    head = column.slice(0, HEAD)
    if len(column) > HEAD > head.null_count and fits(head, form, decimal) is None:
        return None
    if form in WAYS:
        return None if decimal not in (None, WAYS[form].point or decimal) else written(column, WAYS[form])
    if form == LABEL:
        numbers = cast(column, pa.float64())
        return None if numbers is None else numbers.cast(pa.int64())
    if form == COMMAS:
        all_are = decimal != "." and _all(column, f"{COMMA}|{WHOLE}")
        return cast(pc.replace_substring(column, ",", "."), pa.float64()) if all_are else None
    if form in ("whole", "number") and _any(column, LEADING_ZERO):
        return None
    if form == "time":
        return _clock(column) if _all(column, CLOCK) else None
    if form == "number" and decimal == ",":
        return None if _any(column, "[.]") else cast(pc.replace_substring(column, ",", "."), pa.float64())
    return cast(column, PLAIN[form])


def _may_be(column: pa.ChunkedArray, way: Way) -> bool:
    """False if the first value does not have the shape of a way: Python finds that faster than Arrow."""
    first = column[0].as_py() if len(column) else None
    return first is None or re.search(way.shape, first, re.ASCII) is not None


def _clock(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Times of day, which Arrow casts from text only together with a day."""
    return pc.binary_join_element_wise("1970-01-01", column, " ").cast(pa.timestamp("s")).cast(pa.time32("s"))


def shows(column: pa.ChunkedArray, form: str, decimal: str | None) -> bool:
    """True if a value is a number in this way only, or has thousands where the decimal point is known."""
    if form not in WAYS or WAYS[form].point is None:
        return False
    if not WAYS[form].sure:
        return True
    return _any(column, WAYS[form].sure if decimal is None else r"\d[.,]\d{3}")


def first_with(column: pa.ChunkedArray, text: str) -> str | None:
    """The first value that contains a text."""
    some = column.filter(pc.match_substring(column, text))
    return some[0].as_py() if len(some) else None


def written(column: pa.ChunkedArray, way: Way) -> pa.ChunkedArray | None:
    """Text in a way, as values of its type; None if a value is not written so."""
    if not _all(column, way.shape):
        return None
    for pattern, by in way.steps:
        column = pc.replace_substring_regex(column, pattern, by)
    return cast(column, way.to)


def looks_like(column: pa.ChunkedArray) -> str | None:
    """Advice if all values of a text look like dates or numbers; else None."""
    if column.null_count == len(column):
        return None
    if _all(column, f"{DOTS}|{SLASHES}"):
        return "looks like dates: write yyyy-mm-dd"
    if _all(column, LIKE_NUMBERS):
        return "looks like numbers: write them in one way, as 1234.5"
    return None


def cast(column: pa.ChunkedArray, to: pa.DataType | None = None) -> pa.ChunkedArray | None:
    """Text cast to a type, by default numbers; None if a value cannot be cast, or if there are no values."""
    if column.null_count == len(column):
        return None
    for kind in (pa.int64(), pa.float64()) if to is None else (to,):
        try:
            return column.cast(kind)
        except pa.ArrowInvalid:
            continue
    return None


def _all(column: pa.ChunkedArray, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(column, pattern)).as_py())


def _any(column: pa.ChunkedArray, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(column, pattern)).as_py())
