"""Dates written as text, which tables in memory and in files have in common: yyyy-mm-dd, 31.12.2024, 12/31/2024."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence

import numpy as np

from suffice._core.labels import missing
from suffice._core.vector import Array

ISO = "yyyy-mm-dd"  # also with a time of day, and with a time zone
ISO_SHAPE = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d(:\d\d(:\d\d([.]\d{1,9})?)?)?(Z|[-+]\d\d:?\d\d)?)?", re.ASCII)
DOTS, SLASHES = r"^(\d{1,2})[.](\d{1,2})[.](\d{4})$", r"^(\d{1,2})/(\d{1,2})/(\d{4})$"
DATE_WAYS = {  # the shape of a date, and its parts in the order of yyyy-mm-dd
    "dd.mm.yyyy": (DOTS, r"\3-\2-\1"),
    "dd/mm/yyyy": (SLASHES, r"\3-\2-\1"),
    "mm/dd/yyyy": (SLASHES, r"\3-\1-\2"),
}


def date_ways(values: Iterable[object]) -> tuple[str, ...]:
    """The ways in which all values are dates, missing ones aside; () if a value is not a date, or none is there.

    >>> date_ways(["31/12/2024", None, "1/2/2024"]), date_ways(["01/02/2024"]), date_ways(["2024-02-01", "soon"])
    (('dd/mm/yyyy',), ('dd/mm/yyyy', 'mm/dd/yyyy'), ())
    """
    ways, seen = [ISO, *DATE_WAYS], set[str]()
    for value in values:
        if missing(value) or value in seen:
            continue
        ways = [way for way in ways if isinstance(value, str) and _date(value, way) is not None]
        if not ways:
            return ()
        seen.add(str(value))
    return tuple(ways) if seen else ()


def dates_of(values: Sequence[object], way: str) -> Array:
    """Text that is written in a way of dates, in microseconds (n,), NaT where it is missing."""
    text = {value for value in values if isinstance(value, str)}
    known: dict[object, datetime.datetime | None] = {value: _date(value, way) for value in text}
    return np.array([known.get(value) for value in values], dtype="M8[us]")


def _date(text: str, way: str) -> datetime.datetime | None:
    """A date, in Greenwich if it has a time zone; None for other text."""
    text = text.strip()
    if way != ISO:
        found = re.match(DATE_WAYS[way][0], text, re.ASCII)
        if found is None:
            return None
        text = "-".join(part.zfill(2) for part in found.expand(DATE_WAYS[way][1]).split("-"))
    elif ISO_SHAPE.fullmatch(text) is None:
        return None
    try:
        date = datetime.datetime.fromisoformat(text)
    except ValueError:
        return None
    return date if date.tzinfo is None else date.astimezone(datetime.UTC).replace(tzinfo=None)
