"""The columns of a nomogram as a page sets them: sliders over the numbers learned, and menus of categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Any, NamedTuple

import numpy as np

from suffice._labels import show
from suffice._reading import Choices, Intervals, Reading
from suffice._vector import Array
from suffice.encoders.columns import CLOCK, DATES, DURATIONS
from suffice.models import Nomogram
from suffice.models._overview import Overview, Summary

EMPTY = "(empty text)"
FAR = 5.0  # times the range of nearly all values, beyond which a slider does not reach
NEARLY = (0.005, 0.995)
WIDE = 3.0  # standard deviations of normal classes that a slider reaches
TINY = 1e-300  # a weight that only counts at the ends
STEPS = 200  # of a slider, at least
SKEWED = 20.0  # times the half width of the middle half, from which even steps are too coarse there
FURTHEST = 1e12  # times what is near, beyond which no slider is of use
HALVES = ((0.25, 0.75), (0.1, 0.9), (0.01, 0.99))  # what counts as the middle, for want of a narrower one
FINE = 10_000.0  # to which share of that half width a start is told
NEAR = (0.05, 0.25, 0.5)  # shares of the rows within which steps about an end are even
PARTS = (1 / 24, 1 / 1440, 1 / 86400)  # of a day
UNITS = {DURATIONS: "days", CLOCK: "hours", "times": "days, or hours of the day"}


@dataclass(frozen=True, eq=False)
class Control:
    """A column as a page sets it: a number, or one of some options; where it begins, and whether it may be missing."""

    key: Any
    name: str
    optional: bool
    start: float  # the number, or the place of the option
    options: tuple[str, ...] = ()
    values: Array | None = None  # those of the options (v,)
    low: float = 0.0
    high: float = 1.0
    step: float = 0.01
    stops: tuple[float, ...] = ()  # of a slider whose steps are not even
    holds: str = ""  # dates, durations or times, where it is one of these

    @property
    def numeric(self) -> bool:
        """Whether it is a number."""
        return self.values is None

    @property
    def dates(self) -> bool:
        """Whether its numbers are days since 1970."""
        return self.holds == DATES

    @property
    def unit(self) -> str:
        """What its numbers count, where that is known."""
        return UNITS.get(self.holds, "")


def named(value: Any) -> str:
    """How a page calls a column, a class or a category."""
    return (str(value) or EMPTY) if isinstance(value, str) else show(value)


def called(key: Any) -> str:
    """How a page calls what a term is of: a column, or several.

    >>> called(("age", 3))
    'age & 3'
    """
    return " & ".join(map(named, key)) if isinstance(key, tuple) else named(key)


def controls(nomogram: Nomogram, known: Overview, holds: Mapping[Any, str]) -> list[Control]:
    """A control for every column that counts, in the order of the terms; `holds`: dates, durations and times."""
    readings: dict[Any, list[Reading | None]] = {}
    optional = dict.fromkeys(nomogram.columns, True)
    for term in nomogram.terms:
        for column, reading in term.readings().items():
            readings.setdefault(column, []).append(reading)
            optional[column] &= term.optional
    return [_control(key, optional[key], readings.get(key, []), known.get(key), holds.get(key, "")) for key in optional]


def _control(key: Any, optional: bool, readings: list[Reading | None], known: Summary | None, holds: str) -> Control:
    choices = [reading for reading in readings if isinstance(reading, Choices)]
    if choices:
        values = dict.fromkeys(value for reading in choices for value in reading.values)
        kept = np.empty(len(values), dtype=object)
        kept[:] = list(values)
        at = _most_frequent(list(values), known)
        return Control(key, named(key), optional, at, tuple(map(named, values)), kept)
    bounds = [reading.bounds[1:] for reading in readings if isinstance(reading, Intervals)]
    span = _span(known, np.concatenate([*bounds, np.zeros(0)]))._replace(clock=holds == DATES)
    step = span.step
    low, high = _rounded(step * floor(span.low / step), step), _rounded(-step * floor(-span.high / step), step)
    start = _rounded(span.middle, span.fine if span.counted else step)
    stops = _stops(span, start) if span.skewed else ()
    low, high = (stops[0], stops[-1]) if stops else (low, high)
    return Control(key, named(key), optional, start, (), None, low, high, step, stops, holds)


def _most_frequent(values: Sequence[Any], known: Summary | None) -> int:
    weight = {} if known is None else dict(zip(known.values, known.weight.tolist(), strict=True))
    return max(range(len(values)), key=lambda i: weight.get(values[i], 0.0), default=0)


class Span(NamedTuple):
    """From where to where a slider goes, where it begins, and how far the numbers lie apart in the middle."""

    low: float
    high: float
    middle: float
    half: float  # half the width of the middle half, or 0
    anchor: float  # about which steps are even, if not everywhere: the end where most rows are, or the middle
    reach: float  # how far that is
    counted: bool  # whether the numbers are those of rows
    whole: bool  # and all of them whole
    clock: bool = False  # whether they are days, which hours and minutes are parts of

    @property
    def skewed(self) -> bool:
        """Whether even steps are too coarse for most rows."""
        return FURTHEST * self.reach > self.high - self.low > SKEWED * self.half > 0

    @property
    def step(self) -> float:
        """Even steps: a power of ten, of which there are enough; 1 for whole numbers.

        >>> Span(0, 80, 40, 20, 40, 20, True, True).step, Span(0, 3.7, 1, 1, 1, 1, False, False).step
        (1.0, 0.01)
        """
        return self.unit((self.high - self.low) / STEPS)

    @property
    def fine(self) -> float:
        """The power of ten to which the middle is told."""
        return self.unit(self.half / FINE) if self.half else self.step

    def unit(self, size: float) -> float:
        """A power of ten up to a size; of whole numbers at least 1, of dates an hour, a minute or a second."""
        power = float(10.0 ** floor(log10(size)))
        if self.clock and size < 1:
            power = next((part for part in PARTS if part <= size), PARTS[-1])
        return max(1.0, power) if self.whole else power


def _rounded(value: float, unit: float) -> float:
    """A multiple of a unit, without digits that are due to rounding.

    >>> _rounded(20611.4, 100.0), _rounded(0.30000000000000004, 0.1)
    (20600.0, 0.3)
    """
    return float(f"{round(value / unit) * unit:.15g}")


def _stops(span: Span, start: float) -> tuple[float, ...]:
    """anchor + reach sinh(t), for even t from end to end: even steps about the anchor, and even ratios far from it."""
    first, last = (np.arcsinh((end - span.anchor) / span.reach) for end in (span.low, span.high))
    at = span.anchor + span.reach * np.sinh(np.linspace(first, last, STEPS + 1))
    gaps = np.maximum(np.diff(at, append=2 * at[-1] - at[-2]), np.spacing(abs(at))).tolist()
    return tuple(sorted({start, *(_rounded(x, span.unit(gap)) for x, gap in zip(at.tolist(), gaps, strict=True))}))


def _span(known: Summary | None, bounds: Array) -> Span:
    if known is None or known.mean is None or not known.weight.any():
        numbers, weight, counted = np.append(bounds, 0.0), np.ones(len(bounds) + 1), False
    else:
        held = known.weight > 0
        numbers, weight, counted = known.values[held].astype(float), known.weight[held], known.counted
        numbers, weight = (
            np.append(numbers, known.reach(WIDE)),
            np.append(weight, np.full(len(known.reach(WIDE)), TINY)),
        )
    low, most_low, middle, most_high, high = quantiles(numbers, weight, (0.0, NEARLY[0], 0.5, NEARLY[1], 1.0))
    if high - low > FAR * (most_high - most_low) > 0:
        low, high = most_low, most_high
    if low == high:
        low, high = low - 0.5 * abs(low or 1.0), high + 0.5 * abs(high or 1.0)
    widths = (b - a for a, b in (quantiles(numbers, weight, shares) for shares in HALVES))
    half = next((width for width in widths if width > 0), 0.0) / 2
    whole = bool(counted and (numbers == np.rint(numbers)).all())
    below, above = (width > SKEWED * half / 2 for width in (middle - low, high - middle))
    if below == above:
        return Span(low, high, middle, half, middle, half, counted, whole)
    end, shares = (low, NEAR) if above else (high, [1 - share for share in NEAR])
    reaches = (abs(near - end) for near in quantiles(numbers, weight, shares))
    return Span(low, high, middle, half, end, next((r for r in reaches if r > 0), half), counted, whole)


def quantiles(values: Array, weight: Array, shares: Sequence[float]) -> list[float]:
    """The values up to which shares of the weight lie."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order]) / weight.sum()
    at = np.minimum(np.searchsorted(below, np.array(shares) - 1e-12), len(order) - 1)
    found: list[float] = np.asarray(values[order][at], dtype=float).tolist()
    return found
