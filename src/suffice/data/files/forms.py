"""Forms of the columns of text files: the types that Arrow reads, and notations of dates and numbers."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from suffice._core.kinds import ColumnContent
from suffice.data.notations import CLOCK, CURRENCIES, MOMENT, NOTATIONS, OF_DIGITS, PLAIN_SHAPES, ZONED, Notation

HEAD = 100  # values that are tried first
COMMAS = "1234,5"
LABEL = "1.0"  # a class such as 1.0
COMMA, WHOLE = r"^[-+]?\d+,\d+([eE][-+]?\d+)?$", r"^[-+]?\d+$"
LEADING_ZERO = r"^[-+]?0\d+$"  # of codes such as 01234, which would lose the zero as numbers
PLAIN = {  # forms that Arrow reads, in the order of trial
    "whole": pa.int64(),
    "boolean": pa.bool_(),
    MOMENT: pa.timestamp("us"),
    "nanoseconds": pa.timestamp("ns"),
    ZONED: pa.timestamp("us", "UTC"),
    CLOCK: pa.time32("s"),
    "number": pa.float64(),
}
TYPE_OF = {ColumnContent.DATES: pa.timestamp("us"), ColumnContent.NUMBERS: pa.float64()}  # of notations
FORMS = (
    PLAIN | {name: TYPE_OF[one.holds] for name, one in NOTATIONS.items()} | {COMMAS: pa.float64(), LABEL: pa.int64()}
)
BARE = {"whole", "boolean", "number", COMMAS, *OF_DIGITS}  # text in files that quote strings
THOUSANDS, DIGITS = r"\d{1,3}([., ']\d{3})*([.,]\d+)?", r"(\d+[.,]?\d*|[.,]\d+)([eE][-+]?\d+)?"
LIKE_NUMBERS = rf"^([-+]?{THOUSANDS}|\({THOUSANDS}\))$"  # with the brackets of accounts
LIKE_A_NUMBER = rf"^\(?[-+]?([{CURRENCIES}]\s?)?[-+]?({THOUSANDS}|{DIGITS})(\s?[{CURRENCIES}%])?\)?$"


def fits(column: pa.ChunkedArray, form: str, decimal: str | None = None) -> pa.ChunkedArray | None:
    """Text in a form, as values of its type; None if a value is not in that form.

    >>> fits(pa.chunked_array([["31/12/2024", "1/2/2024"]]), "dd/mm/yyyy")[1].as_py().isoformat()
    '2024-02-01T00:00:00'
    >>> fits(pa.chunked_array([["31/12/2024", "1/2/2024"]]), "mm/dd/yyyy"), fits(pa.chunked_array([["007"]]), "whole")
    (None, None)
    """
    if form in NOTATIONS and not _may_be(column, NOTATIONS[form]):
        return None
    # A cast of many values that do not fit is slow: try a few first.
    head = column.slice(0, HEAD)
    if len(column) > HEAD > head.null_count and fits(head, form, decimal) is None:
        return None
    if form in NOTATIONS:
        return None if decimal not in (None, NOTATIONS[form].point or decimal) else written(column, NOTATIONS[form])
    if form == LABEL:
        numbers = cast(column, pa.float64())
        return None if numbers is None else numbers.cast(pa.int64())
    if form == COMMAS:
        all_are = decimal != "." and _all(column, f"{COMMA}|{WHOLE}")
        return cast(pc.replace_substring(column, ",", "."), pa.float64()) if all_are else None
    if form in ("whole", "number") and _any(column, LEADING_ZERO):
        return None
    if form == "number" and decimal == ",":
        return None if _any(column, "[.]") else cast(pc.replace_substring(column, ",", "."), pa.float64())
    return cast(column, PLAIN[form])


def _may_be(column: pa.ChunkedArray, notation: Notation) -> bool:
    """False if the first value does not have the shape of a notation: Python finds that faster than Arrow."""
    first = column[0].as_py() if len(column) else None
    return first is None or re.search(notation.shape, first, re.ASCII) is not None


def shows(column: pa.ChunkedArray, form: str, decimal: str | None) -> bool:
    """True if a value is a number in this notation only, or has thousands where the decimal point is known."""
    if form not in NOTATIONS or NOTATIONS[form].point is None:
        return False
    if not NOTATIONS[form].sure:
        return True
    return _any(column, NOTATIONS[form].sure if decimal is None else r"\d[.,]\d{3}")


def first_with(column: pa.ChunkedArray, text: str) -> str | None:
    """The first value that contains a text."""
    some = column.filter(pc.match_substring(column, text))
    return some[0].as_py() if len(some) else None


def written(column: pa.ChunkedArray, notation: Notation) -> pa.ChunkedArray | None:
    """Text in a notation, as values of its type; None if a value is not written so."""
    if not _all(column, notation.shape):
        return None
    for pattern, by in notation.steps:
        column = pc.replace_substring_regex(column, pattern, by)
    return cast(column, cast_to(notation))


def cast_to(notation: Notation) -> pa.DataType | None:
    """The type of plain values of a notation; None for numbers, whole or not."""
    return None if notation.holds is ColumnContent.NUMBERS else TYPE_OF[notation.holds]


def looks_like(column: pa.ChunkedArray) -> str | None:
    """Advice if all values of a text look like dates or numbers; else None."""
    if column.null_count == len(column):
        return None
    if _all(column, r"^\d{1,2}([.]\d{1,2}[.]|/\d{1,2}/)\d{4}$"):
        return "looks like dates: write yyyy-mm-dd"
    if _all(column, LIKE_NUMBERS):
        return "looks like numbers: write them in one way, as 1234.5"
    return None


def cast(column: pa.ChunkedArray, to: pa.DataType | None = None) -> pa.ChunkedArray | None:
    """Text cast to a type, by default numbers; None if a value cannot be cast, or if there are no values."""
    if column.null_count == len(column):
        return None
    if to is not None and pa.types.is_time(to):  # Arrow casts times of day from text only together with a day
        if not _all(column, f"^{PLAIN_SHAPES[CLOCK]}$"):
            return None
        column = pc.binary_join_element_wise("1970-01-01", column, " ").cast(pa.timestamp("s"))
    for kind in (pa.int64(), pa.float64()) if to is None else (to,):
        try:
            return column.cast(kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # no text is a duration
            continue
    return None


def _all(column: pa.ChunkedArray, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(column, pattern)).as_py())


def _any(column: pa.ChunkedArray, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(column, pattern)).as_py())
