"""Axes of charts: from values to places, with ticks at round numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, floor, isfinite, log10
from typing import NamedTuple

import numpy as np

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
DAY = 1440  # minutes
YEARS = [("Y", every) for every in (100, 50, 20, 10, 5, 2, 1)]
CALENDAR = [
    *YEARS,
    *(("M", every) for every in (6, 3, 1)),
    *(("D", every) for every in (14, 7, 2, 1)),
    ("h", 6),
    ("h", 1),
]


class Scale(NamedTuple):
    """A line from `low` to `high` drawn from `start` to `end`, with `ticks` on it; log or linear."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]
    log: bool = False

    def __call__(self, value: float) -> float:
        """The place of a value; what lies outside is drawn at the end of the line."""
        value = min(max(value, self.low), self.high)
        low, high = (log10(self.low), log10(self.high)) if self.log else (self.low, self.high)
        share = ((log10(value) if self.log else value) - low) / (high - low)
        return self.start + share * (self.end - self.start)


def scale(
    values: Iterable[float], start: float, end: float, log: bool = False, snug: bool = False, least: int = 0
) -> Scale:
    """The scale that holds the values; `snug` ends at them, with at least so many ticks, otherwise at the next ticks.

    >>> scale([0.12, 0.38], 0, 100).ticks
    (0.1, 0.2, 0.3, 0.4)
    >>> scale([3, 900], 0, 100, log=True).ticks
    (1.0, 10.0, 100.0, 1000.0)
    """
    finite = [value for value in values if isfinite(value) and (value > 0 or not log)]
    low, high = (min(finite), max(finite)) if finite else (1.0, 10.0) if log else (0.0, 1.0)
    if low == high:
        low, high = (low / 2, high * 2) if log else (low - 0.5 * abs(low or 1), high + 0.5 * abs(high or 1))
    ticks = _decades(low, high) if log else _round(low, high)
    if snug:
        inner = tuple(tick for tick in ticks if low <= tick <= high)
        for wanted in range(5, 4 * least) if not log else ():
            if len(inner) < least:
                inner = tuple(tick for tick in _round(low, high, wanted) if low <= tick <= high)
        return Scale(low, high, start, end, inner, log)
    return Scale(min(low, ticks[0]), max(high, ticks[-1]), start, end, ticks, log)


def _decades(low: float, high: float) -> tuple[float, ...]:
    """Powers of ten, or within one decade 1, 2 and 5."""
    first, last = floor(log10(low) + 1e-9), ceil(log10(high) - 1e-9)
    every = max(1, ceil((last - first) / 6))
    if last - first > 2:
        return tuple(10.0**power for power in range(first, last + every, every))
    all_ = [step * 10.0**power for power in range(first, last + 1) for step in (1, 2, 5)]
    below, above = max(t for t in all_ if t <= low * (1 + 1e-9)), min(t for t in all_ if t >= high * (1 - 1e-9))
    return tuple(tick for tick in all_ if below <= tick <= above)


def _round(low: float, high: float, wanted: int = 4) -> tuple[float, ...]:
    """About as many multiples of 1, 2, 2.5 or 5 times a power of ten, around the values."""
    rough = (high - low) / wanted
    power = 10.0 ** floor(log10(rough))
    step = next(s * power for s in STEPS if s * power >= rough * (1 - 1e-9))
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    return tuple(round(i * step, 12) for i in range(first, last + 1))


def label(tick: float) -> str:
    """A tick in few characters.

    >>> [label(tick) for tick in (0.25, 1000.0, 1e-7, 0.0)]
    ['0.25', '1000', '1e-7', '0']
    """
    return f"{tick:.6g}".replace("e-0", "e-").replace("e+0", "e")


def labels(ticks: Sequence[float]) -> list[str]:
    """Ticks in as few characters as tell them apart.

    >>> labels((19848.41, 19848.42)), labels((1e8, 1e8 + 10))
    (['19848.41', '19848.42'], ['100000000', '100000010'])
    """
    found = [label(tick) for tick in ticks]
    for digits in range(6, 18):
        if len(set(found)) == len(found):
            break
        found = [np.format_float_positional(tick, precision=digits, fractional=False, trim="-") for tick in ticks]
    return found


def calendar(low: float, high: float, most: int = 4) -> tuple[float, ...]:
    """Days since 1970 at which years, months, days or hours begin: as many as there may be.

    >>> [day(tick) for tick in calendar(18000.0, 19000.0)]
    ['2020-01-01', '2021-01-01', '2022-01-01']
    """
    ends = [np.datetime64(0, "m") + np.timedelta64(round(end * DAY), "m") for end in (low, high)]
    best: tuple[float, ...] = ()
    for unit, every in CALENDAR:
        first, last = (int(end.astype(f"M8[{unit}]").astype(int)) for end in ends)
        places = np.arange(first - first % every, last + every + 1, every).astype(f"M8[{unit}]").astype("M8[m]")
        days = places.astype(int) / DAY
        found = tuple(days[(days >= low) & (days <= high)].tolist())
        best = found if len(best) < len(found) <= most else best
    return best


def day(tick: float) -> str:
    """A tick of a calendar: the day, and the time if there is one.

    >>> day(19723.0), day(19723.5)
    ('2024-01-01', '2024-01-01 12:00')
    """
    moment = np.datetime64(0, "m") + np.timedelta64(round(tick * DAY), "m")
    return str(moment).replace("T", " ").removesuffix(" 00:00")


def thinned(count: int, most: int = 130) -> Sequence[int]:
    """At most that many of `count` places, even, with the first and the last.

    >>> list(thinned(5)), list(thinned(7, 3))
    ([0, 1, 2, 3, 4], [0, 3, 6])
    """
    if count <= most:
        return range(count)
    return sorted({round(i * (count - 1) / (most - 1)) for i in range(most)})
