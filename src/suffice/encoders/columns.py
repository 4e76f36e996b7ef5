"""Single columns of any table: what kind they are, and their values as numbers or as categories."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np

from suffice._core.kinds import NUMERIC, ColumnContent, ColumnScale, temporal
from suffice._core.labels import kind, missing, moment, show
from suffice._core.vector import Array
from suffice.encoders.base import numbers_of
from suffice.encoders.categories import NumberedColumn, entries_of, values_of

DAY = np.timedelta64(86_400_000_000, "us")
SOME, MOST = 200, 0.9  # of the values of a text are looked at; a share that reads as something else


class Column:
    """One column of a data frame or an array (n,), and what messages call it."""

    def __init__(self, values: Any, called: str) -> None:
        self.values, self.called = values, called
        self.dtype = values.dtype

    def _by_type(self) -> tuple[ColumnScale, ColumnContent] | None:
        """Its kind and why, where the type of its values says it."""
        dtype = self.dtype
        if isinstance(dtype, np.dtype):
            known = _BY_LETTER.get(dtype.kind)
            return (ColumnScale.CATEGORY, _kind_of_text(self.objects())) if dtype.kind in "UT" else known
        if dtype == nw.Boolean:
            return ColumnScale.CATEGORY, ColumnContent.BOOLEANS
        if dtype.is_numeric():
            return ColumnScale.NUMBER, ColumnContent.WHOLE_NUMBERS if dtype.is_integer() else ColumnContent.NUMBERS
        if dtype == nw.String:  # which an object column of nothing but None is called as well
            values = self.objects()
            return (ColumnScale.CATEGORY, _kind_of_text(values)) if any(isinstance(v, str) for v in values) else None
        if dtype in (nw.Categorical, nw.Enum):
            return ColumnScale.CATEGORY, ColumnContent.CATEGORIES
        times = temporal(dtype)
        if times is not None:
            return ColumnScale.NUMBER, times
        if dtype.is_nested() or dtype == nw.Binary:
            raise TypeError(
                f"{self.called} holds {dtype} values, but an entry of a table is one value: make each part a column of "
                "its own, convert it to strings, or leave it out with columns={...: 'drop'}"
            )
        return None

    def kind(self) -> tuple[ColumnScale, str]:
        """Its scale, and what it holds, in words: by its type, or by its values where that says nothing."""
        known = self._by_type()
        if known is not None:
            return known
        present = {_kind(v) for v in self.objects() if not missing(v)}
        if not present:  # NaN is a number, if a missing one
            some = any(isinstance(v, float) for v in self.objects())
            return ColumnScale.NUMBER if some else ColumnScale.NOTHING, ColumnContent.EMPTY
        if len(present) == 1 and present <= NUMERIC:
            return ColumnScale.NUMBER, present.pop()
        text = present == {ColumnContent.TEXT}
        return ColumnScale.CATEGORY, _kind_of_text(self.objects()) if text else " and ".join(sorted(present))

    def objects(self) -> list[Any]:
        """Its values as Python has them."""
        values = self.values if isinstance(self.values, np.ndarray) else self.values.to_numpy()
        listed: list[Any] = np.asarray(values).astype(object).tolist()
        return listed

    def categories(self) -> Array:
        """Its values (n,), for categories."""
        return self.values if isinstance(self.values, np.ndarray) else values_of(self.values)

    def entries(self) -> Array | NumberedColumn:
        """The same, numbered if it holds them so."""
        return self.values if isinstance(self.values, np.ndarray) else entries_of(self.values)

    def absent(self) -> Array:
        """Which entries are missing (n,)."""
        if not isinstance(self.values, np.ndarray):
            return np.isnan(self.numbers()) if self.dtype.is_float() else np.asarray(self.values.is_null().to_numpy())
        if self.dtype.kind in "fMm":
            return np.isnan(self.values) if self.dtype.kind == "f" else np.isnat(self.values)
        return np.array([missing(v) for v in self.values.tolist()], dtype=bool)

    def numbers(self) -> Array:
        """Its values as numbers (n,), NaN where they are missing; dates and durations in days, times in hours."""
        values = self.values if isinstance(self.values, np.ndarray) else _plain(self.values)
        if values.dtype.kind in "Mm":
            return _days(values)
        if values.dtype.kind in "biuf":
            return values if values.dtype in (np.float32, np.float64) else values.astype(float)
        return np.array([self._number(v) for v in values.tolist()], dtype=float)

    def _number(self, value: Any) -> float:
        if missing(value):
            return np.nan
        if isinstance(value, datetime.time):
            return value.hour + value.minute / 60 + value.second / 3600
        if isinstance(value, datetime.timedelta | np.timedelta64):
            return float(_days(np.array([value], dtype="m8[us]"))[0])
        day = _moment(value)
        if day is not None:
            return float(_days(np.array([day]))[0])
        try:
            return float(value)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{self.called} is to be read as numbers, but holds {show(value)}: correct it, or read the column as "
                "categories"
            ) from error


_BY_LETTER = {
    "b": (ColumnScale.CATEGORY, ColumnContent.BOOLEANS),
    "i": (ColumnScale.NUMBER, ColumnContent.WHOLE_NUMBERS),
    "u": (ColumnScale.NUMBER, ColumnContent.WHOLE_NUMBERS),
    "f": (ColumnScale.NUMBER, ColumnContent.NUMBERS),
    "M": (ColumnScale.NUMBER, ColumnContent.DATES),
    "m": (ColumnScale.NUMBER, ColumnContent.DURATIONS),
}


def _kind(value: Any) -> str:
    """What a value is, in words."""
    if isinstance(value, bool | np.bool_):
        return ColumnContent.BOOLEANS
    if isinstance(value, str):
        return ColumnContent.TEXT
    if isinstance(value, datetime.time):
        return ColumnContent.TIMES_OF_DAY
    if isinstance(value, datetime.timedelta | np.timedelta64):
        return ColumnContent.DURATIONS
    if isinstance(value, Decimal):
        return ColumnContent.NUMBERS
    return kind(value) if _moment(value) is None else ColumnContent.DATES


def _moment(value: Any) -> np.datetime64 | None:
    """A date or a period, also with a time zone, as a moment in that of Greenwich; None for anything else."""
    if hasattr(value, "to_timestamp"):  # a period begins then
        value = value.to_timestamp()
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    return moment(value)


def _kind_of_text(values: list[Any]) -> ColumnContent:
    """That it is text, and what it looks like if nearly all of some values read as numbers or as dates."""
    some = [v for v in values[:: max(1, len(values) // SOME)] if isinstance(v, str)]
    likely = {ColumnContent.TEXT_LIKE_NUMBERS: _reads_as_number, ColumnContent.TEXT_LIKE_DATES: _reads_as_date}
    for content, reads in likely.items():
        if some and sum(map(reads, some)) > MOST * len(some):
            return content
    return ColumnContent.TEXT


def _reads_as_number(text: str) -> bool:
    try:
        float(text.strip().rstrip("%").replace(",", "."))
    except ValueError:
        return False
    return True


def _reads_as_date(text: str) -> bool:
    try:
        datetime.datetime.fromisoformat(text.strip())
    except ValueError:
        return False
    return True


def _plain(column: nw.Series[Any]) -> Array:
    """A column as NumPy has it: NaN or NaT where it is missing; moments with a time zone in that of Greenwich."""
    if isinstance(column.dtype, nw.Datetime) and column.dtype.time_zone is not None:
        column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    return numbers_of(column) if column.dtype.is_numeric() else values_of(column)


def _days(times: Array) -> Array:
    """Moments, since 1970, and spans of time in days (n,)."""
    span = times.astype("m8[us]") if times.dtype.kind == "m" else times.astype("M8[us]") - np.datetime64(0, "us")
    return np.where(np.isnat(span), np.nan, span / DAY)
