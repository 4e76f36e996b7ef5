"""What the cells of numbers and dates are called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias, cast

import numpy as np

from suffice._vector import Array
from suffice.additive._pairs import NUMBERS
from suffice.encoders.blocks import BlockFeatures
from suffice.encoders.table import Role
from suffice.models import AnyStatistics
from suffice.models._blocks import part
from suffice.models.histogram import Column, Histogram

DIGITS = range(4, 18)  # as many as it takes to tell cells apart
UNITS = ("D", "m", "s", "us")
DAY = 86_400_000_000  # microseconds

Known: TypeAlias = Mapping[int, float]  # by the numbers of cells
Say: TypeAlias = Callable[[float], str]


@dataclass(frozen=True, eq=False)
class Names:
    """Names for the cells of a table's columns: what these hold, and the values learned of those with numbers."""

    roles: tuple[Role, ...] = ()
    learned: Mapping[int, Column] = field(default_factory=dict)

    @classmethod
    def of(cls, roles: tuple[Role, ...], s: AnyStatistics) -> Names:
        """From the sums of all columns."""
        blocks = cast(BlockFeatures, s.domain.features)
        found: dict[int, Column] = {}
        for name in NUMBERS:
            sums = part(s, name).sums if name in blocks.parts else None
            if isinstance(sums, Histogram):
                held = (column.taking(column.weight > 0) for column in sums.columns())
                found.update(zip(blocks.at[name].tolist(), held, strict=True))
        return cls(roles, found)

    def dates(self, column: int) -> bool:
        """Whether a column holds dates."""
        return bool(self.roles) and self.roles[column].holds == "dates"

    def cells(self, column: int, bounds: Array) -> list[str]:
        """What cells with lower bounds (r,), the first -inf, are called."""
        learned, dates = self.learned.get(column), self.dates(column)
        none: Known = {}
        values, after = (none, none) if learned is None else _single(bounds, learned)
        if dates and learned is not None and not (learned.low % 1.0).any():
            bounds = np.ceil(bounds)  # of whole days these are the same cells
        return called(bounds, values, after, dates)


def called(bounds: Array, values: Known, after: Known, dates: bool = False) -> list[str]:
    """Names of cells with lower bounds (r,), the first -inf.

    A cell of a single value is called by it; `after` has the value that a cell begins just above.

    >>> called(np.array([-np.inf, 5e-324, 2.5, 2.50001]), {0: 0.0}, {1: 0.0})
    ['0', 'above 0 to 2.5', '2.5 to 2.50001', '2.50001 and above']
    """
    says: list[Say] = [partial(date, unit=unit) for unit in UNITS]
    says = says if dates else [partial(number, digits=digits) for digits in DIGITS]
    names: list[str] = []
    for say in says:
        names = _called(bounds.tolist(), values, after, say)
        ends = [say(bound) for i, bound in enumerate(bounds.tolist()) if i and i not in after]
        if len(set(names)) == len(names) and len(set(ends)) == len(ends):
            break
    return names


def _called(bounds: list[float], values: Known, after: Known, say: Say) -> list[str]:
    names, last = [], len(bounds) - 1
    for i, bound in enumerate(bounds):
        start = f"above {say(after[i])}" if i in after else say(bound) if i else ""
        if i in values:
            names.append(say(values[i]))
        elif i == last:
            names.append(start if i in after else f"{start} and above")
        else:
            end = say(after.get(i + 1, bounds[i + 1]))
            names.append(f"{start} to {end}" if i else f"below {end}")
    return names


def _single(bounds: Array, learned: Column) -> tuple[Known, Known]:
    """The values of cells that hold nothing else and end beside it, and those that cells begin just above."""
    at = np.searchsorted(bounds, learned.low, side="right") - 1
    alone = np.bincount(at, minlength=len(bounds))[at] == 1
    begins, ends = bounds[at] == learned.low, np.append(bounds[1:], np.inf)[at] == learned.above
    values: dict[int, float] = {}
    after: dict[int, float] = {}
    for i in np.flatnonzero(alone & (begins | ends)).tolist():
        cell, value = int(at[i]), _shortest(float(learned.low[i]), float(learned.above[i]))
        values[cell] = value
        if ends[i]:
            after[cell + 1] = value
    return values, after


def _shortest(low: float, above: float) -> float:
    """A number of few digits from low to above: a coarse grid knows its values no better."""
    short = (float(number(low, digits)) for digits in range(1, 18))
    return next((value for value in short if low <= value < above), low)


def number(value: float, digits: int) -> str:
    """A number with so many digits."""
    return f"{value:.{digits}g}"


def date(value: float, unit: str = "D") -> str:
    """The date of a day since 1970."""
    moment: Any = np.datetime64(0, "us") + np.timedelta64(round(value * DAY), "us")
    return str(np.datetime_as_string(moment, unit=cast(Any, unit)))
