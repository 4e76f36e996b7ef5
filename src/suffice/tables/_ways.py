"""Ways to write dates and numbers that are told from all values of a column: 31.12.2024, 12/31/2024, 1.234,5."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc


class Way(NamedTuple):
    """A way to write values: what each looks like, how to write it plainly, and what it is then."""

    words: str
    shape: str  # which every value has
    steps: tuple[tuple[str, str], ...]  # patterns, and what is written instead
    to: pa.DataType | None  # None: numbers
    point: str | None = None  # of numbers
    sure: str = ""  # which some value has, and which no other way to write numbers allows


def _dates(name: str, shape: str, order: str) -> Way:
    """Dates of three numbers, which come in another order in yyyy-mm-dd."""
    steps = ((r"\b(\d)\b", r"0\1"), (shape, order))
    return Way(f"dates ({name})", shape, steps, pa.timestamp("us"))


def _numbers(name: str, between: str, point: str) -> Way:
    """Numbers with something between thousands."""
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


DOTS, SLASHES = r"^(\d{1,2})[.](\d{1,2})[.](\d{4})$", r"^(\d{1,2})/(\d{1,2})/(\d{4})$"
WAYS = {
    "dd.mm.yyyy": _dates("dd.mm.yyyy", DOTS, r"\3-\2-\1"),
    "dd/mm/yyyy": _dates("dd/mm/yyyy", SLASHES, r"\3-\2-\1"),
    "mm/dd/yyyy": _dates("mm/dd/yyyy", SLASHES, r"\3-\1-\2"),
    "1.234,5": _numbers("1.234,5", ".", ","),
    "1,234.5": _numbers("1,234.5", ",", "."),
}
LIKE_NUMBERS = r"^[-+]?\d{1,3}([., ']\d{3})*([.,]\d+)?$"


def ways_of(column: pa.ChunkedArray, decimal: str | None = None) -> dict[str, pa.ChunkedArray]:
    """The ways in which a text may be written, and what it is then; more than one if its dates do not say which.

    >>> ways_of(pa.chunked_array([["31/12/2024", "1/2/2024"]]))["dd/mm/yyyy"][1].as_py().isoformat()
    '2024-02-01T00:00:00'
    >>> list(ways_of(pa.chunked_array([["11/12/2024", "1/2/2024"]])))
    ['dd/mm/yyyy', 'mm/dd/yyyy']
    """
    read = {name: written(column, way) for name, way in WAYS.items() if _told(column, way, decimal)}
    return {name: values for name, values in read.items() if values is not None}


def _told(column: pa.ChunkedArray, way: Way, decimal: str | None) -> bool:
    """Whether a way is not ruled out; one of numbers must show, unless the decimal point is known."""
    if way.point is None:
        return True
    if decimal is not None:
        return decimal == way.point and _any(column, r"\d[.,]\d{3}")
    return _any(column, way.sure)


def written(column: pa.ChunkedArray, way: Way) -> pa.ChunkedArray | None:
    """What a text is that is written in a way; None if a value is not."""
    if not _all(column, way.shape):
        return None
    for pattern, by in way.steps:
        column = pc.replace_substring_regex(column, pattern, by)
    return cast(column, way.to)


def looks_like(column: pa.ChunkedArray) -> str | None:
    """What all values of a text look like, and how to write them; None if they look like text."""
    if column.null_count == len(column):
        return None
    if _all(column, f"{DOTS}|{SLASHES}"):
        return "looks like dates: write yyyy-mm-dd"
    if _all(column, LIKE_NUMBERS):
        return "looks like numbers: write them in one way, as 1234.5"
    return None


def cast(column: pa.ChunkedArray, to: pa.DataType | None = None) -> pa.ChunkedArray | None:
    """A column of text as another type, numbers unless told; None if a value is none, or if there are no values."""
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
