"""Notations of dates, times and numbers in text, found from all values of a column: 31.12.2024, 24.070,32 €, 23.3%."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from suffice._core.kinds import ColumnContent
from suffice._core.labels import missing

MISSING = ("", "?", "NA", "N/A", "n/a", "#N/A", "null", "NULL", "Null", "NaN", "nan")  # marks of missing values
CURRENCIES = "$€£¥"
MOMENT, ZONED, CLOCK = "moment", "zoned", "time"  # plain text: 2024-12-31 10:30, the same with a time zone, 10:30
DAY_SHAPE, TIME_SHAPE = r"\d{4}-\d\d-\d\d", r"\d\d(:\d\d(:\d\d([.]\d{1,9})?)?)?"
PLAIN_SHAPES = {
    MOMENT: rf"{DAY_SHAPE}([ T]{TIME_SHAPE})?",
    ZONED: rf"{DAY_SHAPE}[ T]{TIME_SHAPE}(Z|[-+]\d\d(:?\d\d)?)",
    CLOCK: r"([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?",
}


class Notation(NamedTuple):
    """A notation of values: the pattern they match, the replacements that make them plain, and their content."""

    words: str
    shape: str  # pattern of every value
    steps: tuple[tuple[str, str], ...]  # patterns, and their replacements
    holds: ColumnContent  # dates or numbers
    point: str | None = None  # of numbers
    sure: str = ""  # pattern of a value that no other notation of numbers allows; "": the shape


def _dates(name: str, mark: str, order: str) -> Notation:
    """Dates of three numbers, and their order in yyyy-mm-dd."""
    shape = rf"^(\d{{1,2}}){mark}(\d{{1,2}}){mark}(\d{{4}})$"
    return Notation(f"dates ({name})", shape, ((r"\b(\d)\b", r"0\1"), (shape, order)), ColumnContent.DATES)


def _numbers(name: str, between: str, point: str) -> Notation:
    """Numbers with a mark between thousands."""
    group = rf"[{between}]\d{{3}}"
    shape, steps = rf"^[-+]?(\d{{1,3}}({group})+|\d+)([{point}]\d+)?$", ((rf"[{between}+]", ""), (rf"[{point}]", "."))
    sure = rf"{group}([{point}]\d|{group})"
    return Notation(f"numbers ({name})", shape, steps, ColumnContent.NUMBERS, point, sure)


def _signed(name: str, sign: str, between: str, point: str) -> Notation:
    """Numbers with one sign before or after them, such as that of a currency, and at most two decimals."""
    number = rf"(\d{{1,3}}([{between}]\d{{3}})+|\d+)([{point}]\d{{1,2}})?"
    shape = rf"^([-+]?[{sign}]\s?[-+]?{number}|[-+]?{number}\s?[{sign}])$"
    steps = ((rf"[{sign}{between}+\s]", ""), (rf"[{point}]", "."))
    return Notation(f"numbers ({name}, without the sign)", shape, steps, ColumnContent.NUMBERS, point)


NOTATIONS = {
    "dd.mm.yyyy": _dates("dd.mm.yyyy", "[.]", r"\3-\2-\1"),
    "dd/mm/yyyy": _dates("dd/mm/yyyy", "/", r"\3-\2-\1"),
    "mm/dd/yyyy": _dates("mm/dd/yyyy", "/", r"\3-\1-\2"),
    "1.234,5": _numbers("1.234,5", ".", ","),
    "1,234.5": _numbers("1,234.5", ",", "."),
    **{f"{sign}1,234.50": _signed(f"{sign}1,234.50", sign, ",", ".") for sign in CURRENCIES},
    **{f"1.234,50 {sign}": _signed(f"1.234,50 {sign}", sign, ".", ",") for sign in CURRENCIES},
    "12.5%": _signed("12.5%", "%", ",", "."),
    "12,5%": _signed("12,5%", "%", ".", ","),
}
# Values that are text by type, as those of a data frame or of JSON in quotes, are not numbers if they are digits alone.
OF_DIGITS = ("1.234,5", "1,234.5")
OF_TEXT = (*PLAIN_SHAPES, *(name for name in NOTATIONS if name not in OF_DIGITS))


KEY = b"suffice.notation"  # of the notation of a column that was read from text, in the metadata of its Arrow field


def content_of(name: str) -> ColumnContent:
    """The content of a column in a notation."""
    if name in NOTATIONS:
        return NOTATIONS[name].holds
    return ColumnContent.TIMES_OF_DAY if name == CLOCK else ColumnContent.DATES


def fitting(values: Iterable[object]) -> tuple[str, ...]:
    """The notations of `OF_TEXT` that fit all values, missing ones aside: all of them if every value is missing.

    >>> fitting(["31/12/2024", None, "1/2/2024"]), fitting(["01/02/2024", "?"]), fitting(["2024-02-01", "soon"])
    (('dd/mm/yyyy',), ('dd/mm/yyyy', 'mm/dd/yyyy'), ())
    """
    found, seen = OF_TEXT, set[str]()
    for value in values:
        if missing(value) or value in seen:
            continue
        if not isinstance(value, str):
            return ()
        seen.add(value)
        if value.strip() not in MISSING:
            found = tuple(name for name in found if parsed(value, name) is not None)
        if not found:
            break
    return found


def settled(names: Sequence[str]) -> str | None:
    """The notation to read a column in, of those that fit all of its values; None if it stays text.

    The order of day and month has to show. Numbers have the same value in each notation that fits.

    >>> settled(["dd/mm/yyyy"]), settled(["dd/mm/yyyy", "mm/dd/yyyy"]), settled(["12.5%", "12,5%"])
    ('dd/mm/yyyy', None, '12.5%')
    """
    if len(names) == len(OF_TEXT):  # no value at all
        return None
    numbers = all(content_of(name) is ColumnContent.NUMBERS for name in names)
    return names[0] if names and (numbers or len(names) == 1) else None


def parsed(text: str, name: str) -> Any:
    """A text as a date (in UTC if it has a time zone), time or number; None if it is not in a notation.

    >>> parsed("1/2/2024", "mm/dd/yyyy").isoformat(), parsed("-$24,070.32", "$1,234.50"), parsed("soon", "moment")
    ('2024-01-02T00:00:00', -24070.32, None)
    """
    text = text.strip()
    notation = NOTATIONS.get(name)
    if re.fullmatch(PLAIN_SHAPES[name] if notation is None else notation.shape, text, re.ASCII) is None:
        return None
    for pattern, by in () if notation is None else notation.steps:
        text = re.sub(pattern, by, text, flags=re.ASCII)
    try:
        if name == CLOCK:
            return datetime.time.fromisoformat(text)
        if content_of(name) is ColumnContent.NUMBERS:
            return float(text)
        date = datetime.datetime.fromisoformat(text)
    except ValueError:
        return None
    return date if date.tzinfo is None else date.astimezone(datetime.UTC).replace(tzinfo=None)
