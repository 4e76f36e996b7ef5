"""The interactive part of a model's page: controls for a row, its probabilities and a waterfall; a script fills it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor, isfinite, log10
from typing import Any, NamedTuple

import numpy as np

from suffice._core.formula import Choices, Intervals, Reading
from suffice._core.kinds import ColumnContent
from suffice._core.labels import show
from suffice._core.vector import Array
from suffice.models import Nomogram
from suffice.models.overview import Overview, Summary
from suffice.models.terms import Form
from suffice.report import page
from suffice.report.page import Html, breakable, tag

EMPTY = "(empty text)"
# A slider covers all values, unless they reach further than MAX_RANGE times the range between these quantiles.
BULK = (0.005, 0.995)
MAX_RANGE = 5.0
NORMAL_REACH = 3.0  # standard deviations of normal classes that a slider covers
END_WEIGHT = 1e-300  # a weight that extends the range and nothing else
MIN_STEPS = 200  # of a slider
# Half of the middle range is the first of these that is not empty. A slider over SKEWED times as much has uneven steps.
MIDDLES = ((0.25, 0.75), (0.1, 0.9), (0.01, 0.99))
SKEWED = 20.0
MAX_SKEW = 1e12  # beyond, no steps are of use
START_DIGITS = 10_000.0  # the start is rounded to the half width divided by this
NEAR = (0.05, 0.25, 0.5)  # shares of the rows near an end within which steps are even
DAY_PARTS = (1 / 24, 1 / 1440, 1 / 86400)
UNITS: Mapping[str, str] = {
    ColumnContent.DURATIONS: "days",
    ColumnContent.TIMES_OF_DAY: "hours",
    ColumnContent.TIMES: "days, or hours of the day",
}


@dataclass(frozen=True, eq=False)
class Control:
    """A column as a page sets it: a number or an option, with its start and whether it may be missing."""

    key: Any
    name: str
    optional: bool
    start: float  # the number, or the index of the option
    options: tuple[str, ...] = ()
    values: Array | None = None  # (v,) of the options
    low: float = 0.0
    high: float = 1.0
    step: float = 0.01
    stops: tuple[float, ...] = ()  # of a slider with uneven steps
    holds: str = ""  # its content, if dates, durations or times

    @property
    def numeric(self) -> bool:
        """True for a number."""
        return self.values is None

    @property
    def dates(self) -> bool:
        """True if its numbers are days since 1970."""
        return self.holds == ColumnContent.DATES

    @property
    def unit(self) -> str:
        """The unit of its numbers, if known."""
        return UNITS.get(self.holds, "")


def named(value: Any) -> str:
    """The name of a column, a class or a category in a page."""
    return (str(value) or EMPTY) if isinstance(value, str) else show(value)


def called(key: Any) -> str:
    """The name of a term in a page, by its column or columns.

    >>> called(("age", 3))
    'age & 3'
    """
    return " & ".join(map(named, key)) if isinstance(key, tuple) else named(key)


def controls(nomogram: Nomogram, known: Overview, holds: Mapping[Any, str]) -> list[Control]:
    """Return a control for every column that counts, in the order of the terms; `holds`: contents of columns."""
    readings: dict[Any, list[Reading | None]] = {}
    optional = dict.fromkeys(nomogram.columns, True)
    for term in nomogram.terms:
        for column, reading in term.readings().items():
            readings.setdefault(column, []).append(reading)
            optional[column] &= term.optional
    found = []
    for key, may_lack in optional.items():
        choices = [reading for reading in readings.get(key, ()) if isinstance(reading, Choices)]
        if choices:
            options = list(dict.fromkeys(value for reading in choices for value in reading.values))
            values = np.empty(len(options), dtype=object)
            values[:] = options
            rows = {} if key not in known else dict(zip(known[key].values, known[key].weight.tolist(), strict=True))
            most = max(range(len(options)), key=lambda i: rows.get(options[i], 0.0), default=0)
            found.append(Control(key, named(key), may_lack, most, tuple(map(named, options)), values))
            continue
        bounds = [reading.bounds[1:] for reading in readings.get(key, ()) if isinstance(reading, Intervals)]
        content = holds.get(key, "")
        span = _span(known.get(key), np.concatenate([*bounds, np.zeros(0)]), content == ColumnContent.DATES)
        step = span.step
        start = _rounded(span.middle, span.fine if span.counted else step)
        stops = _stops(span, start) if span.skewed else ()
        low, high = _rounded(step * floor(span.low / step), step), _rounded(-step * floor(-span.high / step), step)
        low, high = (stops[0], stops[-1]) if stops else (low, high)
        found.append(Control(key, named(key), may_lack, start, (), None, low, high, step, stops, content))
    return found


class Span(NamedTuple):
    """The range of a slider, its start, and the spacing of the numbers in the middle."""

    low: float
    high: float
    middle: float
    half: float  # half the width of the middle range, or 0
    anchor: float  # uneven steps are even around it: the end with most rows, or the middle
    reach: float  # the distance from the anchor within which steps are even
    counted: bool  # the numbers are those of rows
    whole: bool  # and all are whole
    clock: bool = False  # they are days, divided into hours and minutes

    @property
    def skewed(self) -> bool:
        """True if even steps are too coarse for most rows."""
        return MAX_SKEW * self.reach > self.high - self.low > SKEWED * self.half > 0

    @property
    def step(self) -> float:
        """The size of even steps: a power of ten, at least 1 for whole numbers.

        >>> Span(0, 80, 40, 20, 40, 20, True, True).step, Span(0, 3.7, 1, 1, 1, 1, False, False).step
        (1.0, 0.01)
        """
        return self.unit((self.high - self.low) / MIN_STEPS)

    @property
    def fine(self) -> float:
        """The power of ten to which the start is rounded."""
        return self.unit(self.half / START_DIGITS) if self.half else self.step

    def unit(self, size: float) -> float:
        """Return a power of ten up to a size; at least 1 for whole numbers, for dates an hour, a minute or a second."""
        power = float(10.0 ** floor(log10(size)))
        if self.clock and size < 1:
            power = next((part for part in DAY_PARTS if part <= size), DAY_PARTS[-1])
        return max(1.0, power) if self.whole else power


def _rounded(value: float, unit: float) -> float:
    """Round to a multiple of a unit, without spurious digits.

    >>> _rounded(20611.4, 100.0), _rounded(0.30000000000000004, 0.1)
    (20600.0, 0.3)
    """
    return float(f"{round(value / unit) * unit:.15g}")


def _stops(span: Span, start: float) -> tuple[float, ...]:
    """Return anchor + reach sinh(t) for even t: even steps around the anchor, and even ratios far from it."""
    first, last = (np.arcsinh((end - span.anchor) / span.reach) for end in (span.low, span.high))
    at = span.anchor + span.reach * np.sinh(np.linspace(first, last, MIN_STEPS + 1))
    gaps = np.maximum(np.diff(at, append=2 * at[-1] - at[-2]), np.spacing(abs(at))).tolist()
    return tuple(sorted({start, *(_rounded(x, span.unit(gap)) for x, gap in zip(at.tolist(), gaps, strict=True))}))


def _span(known: Summary | None, bounds: Array, clock: bool) -> Span:
    if known is None or known.mean is None or not known.weight.any():
        numbers, weight, counted = np.append(bounds, 0.0), np.ones(len(bounds) + 1), False
    else:
        held = known.weight > 0
        numbers, weight, counted = known.values[held].astype(float), known.weight[held], known.counted
        ends = known.reach(NORMAL_REACH)
        numbers, weight = np.append(numbers, ends), np.append(weight, np.full(len(ends), END_WEIGHT))
    low, most_low, middle, most_high, high = quantiles(numbers, weight, (0.0, BULK[0], 0.5, BULK[1], 1.0))
    if high - low > MAX_RANGE * (most_high - most_low) > 0:
        low, high = most_low, most_high
    if low == high:
        low, high = low - 0.5 * abs(low or 1.0), high + 0.5 * abs(high or 1.0)
    widths = (b - a for a, b in (quantiles(numbers, weight, shares) for shares in MIDDLES))
    half = next((width for width in widths if width > 0), 0.0) / 2
    whole = bool(counted and (numbers == np.rint(numbers)).all())
    below, above = (width > SKEWED * half / 2 for width in (middle - low, high - middle))
    if below == above:
        return Span(low, high, middle, half, middle, half, counted, whole, clock)
    end, shares = (low, NEAR) if above else (high, [1 - share for share in NEAR])
    reaches = (abs(near - end) for near in quantiles(numbers, weight, shares))
    return Span(low, high, middle, half, end, next((r for r in reaches if r > 0), half), counted, whole, clock)


def quantiles(values: Array, weight: Array, shares: Sequence[float]) -> list[float]:
    """Return the weighted quantiles of values at `shares`."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order]) / weight.sum()
    at = np.minimum(np.searchsorted(below, np.array(shares) - 1e-12), len(order) - 1)
    found: list[float] = np.asarray(values[order][at], dtype=float).tolist()
    return found


Plain = dict[str, Any]


def exported(nomogram: Nomogram, classes: Array, shown: Sequence[Control]) -> Plain:
    """Return the data with which a page evaluates a nomogram: names, controls and terms, as lists of numbers and text.

    Numbers keep all their digits. Of every term, `keys` are the indices in `names` of its contributions, and `columns`
    those of the columns that it reads.
    """
    at = {control.key: i for i, control in enumerate(shown)}
    names: dict[Any, int] = {}
    terms = []
    for term in nomogram.terms:
        keys = list(term.columns) if isinstance(term, Form) else [term.key]
        places = [names.setdefault(key, len(names)) for key in keys]
        reads: list[Plain] = []
        for key, reading in term.readings().items():
            if isinstance(reading, Intervals):
                reads.append({"bounds": _numbers(reading.bounds[1:])})
            elif reading is not None:  # the cell of each option, -1 for none
                values = shown[at[key]].values
                reads.append({"cells": reading.cells(np.zeros(0) if values is None else values).tolist()})
        numbers = {name: _numbers(getattr(term, name)) for name in term.numbers}
        columns = [at[column] for column in term.columns]
        terms.append({"kind": term.kind, "reads": reads, **numbers, "keys": places, "columns": columns})
    columns_: list[Plain] = []
    for control in shown:
        column: Plain = {"name": control.name, "optional": control.optional, "start": control.start}
        if not control.numeric:
            columns_.append({**column, "options": list(control.options)})
            continue
        column |= {"unit": control.unit} if control.unit else {}
        column |= {"stops": list(control.stops)} if control.stops else {}
        columns_.append({**column, "dates": control.dates, "width": control.high - control.low})
    return {
        "classes": [named(label) for label in classes],
        "base": _numbers(nomogram.base),
        "names": [called(key) for key in names],
        "columns": columns_,
        "terms": terms,
    }


def _numbers(values: Any) -> Any:
    """Return nested lists of numbers; those that are not finite as text, since JSON has no such numbers."""
    if isinstance(values, list):
        return [_numbers(value) for value in values]
    if isinstance(values, float | int):
        return values if isfinite(values) else {np.inf: "Infinity", -np.inf: "-Infinity"}.get(values, "NaN")
    return _numbers(np.asarray(values, dtype=float).tolist())


DATE = "2024-12-31"  # the format of dates
MAX_UNFOLDED = 60  # columns; the rest is folded away
MAX_CLASSES_NARROW = 4  # shown at a time on a narrow screen
MAX_CLASSES = 8  # shown at a time; all have colours


def form(
    data: dict[str, Any], controls: Sequence[Control], order: Sequence[int], counts: Array, lacking: Sequence[str] = ()
) -> Html:
    """Controls in an order, and the probabilities and contributions of the row that they set.

    `lacking`: for each given row the column whose missing value keeps it from being set, or "".
    """
    tools = [tag("button", "Typical row", type="button", id="typical")]
    if lacking:
        options = [tag("option", "\u2013", value="")]
        for i, column in enumerate(lacking):
            text = f"row {i + 1}" + f" (lacks {column})" * bool(column)
            options.append(tag("option", text, value=i, disabled=bool(column)))
        select = tag("select", *options, id="example")
        tools.append(tag("label", tag("span", "A row that was given"), select, class_="pick"))
    rows = []
    for i in order:
        control = controls[i]
        unit = tag("span", f" ({control.unit})", class_="unit") if control.unit else None
        name = tag("label", breakable(control.name), unit, for_=f"column-{i}")
        adds = tag("output", class_="adds", for_=f"column-{i}", aria_label=f"what {control.name} adds")
        if control.numeric:
            parts = _number(control, i)
        else:
            each = enumerate(control.options)
            options = [tag("option", text, value=j, selected=j == control.start) for j, text in each]
            options += [tag("option", "(another value)", value=-2), tag("option", "(missing)", value=-1)]
            parts = [tag("select", *options, id=f"column-{i}")]
        rows.append(tag("div", name, *parts, adds, class_="control", data_column=i))
    more = rows[MAX_UNFOLDED:]
    folded = page.fold(f"{len(more)} more columns, which count as they are set", *more) if more else None
    set_ = tag("div", tag("div", *tools, class_="bar-of"), *rows[:MAX_UNFOLDED], folded, class_="set")
    # JSON that cannot end the script element
    text = json.dumps(data, allow_nan=False, separators=(",", ":"), ensure_ascii=True)
    safe = Html(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
    embedded = tag("script", safe, type="application/json", id="nomogram-data")
    result = tag("div", _answer(data["classes"], counts), _why(data["classes"]), class_="result")
    return tag("div", result, set_, class_="nomogram") + embedded


def _number(control: Control, at: int) -> list[Html]:
    low, high, step, start = (f"{x:.15g}" for x in (control.low, control.high, control.step, control.start))
    ends = {"min": low, "max": high, "step": step, "value": start}
    if control.stops:  # the slider gives the index of a stop
        place = control.stops.index(control.start)
        ends = {"min": "0", "max": str(len(control.stops) - 1), "step": "1", "value": str(place)}
    strip = tag(
        "svg",
        tag("path", d="M0 12H100", class_="zero"),
        tag("path", class_="effect"),
        viewBox="0 0 100 24",
        preserveAspectRatio="none",
        class_="strip",
        aria_hidden="true",
    )
    slider = tag("input", type="range", aria_label=f"{control.name}, slider", **ends)
    slide = tag("div", strip, slider, class_="slide")
    typed = {"type": "text", "placeholder": DATE} if control.dates else {"type": "number", "step": "any"}
    mode = None if control.dates else "decimal"
    box = tag("input", **typed, value=None if control.dates else start, id=f"column-{at}", inputmode=mode, class_="box")
    tick = tag("input", type="checkbox", aria_label=f"{control.name} is missing")
    hole = tag("label", tick, tag("span", "missing"), class_="hole") if control.optional else tag("span", class_="hole")
    return [slide, box, hole]


def _answer(classes: Sequence[str], counts: Array) -> Html:
    """The probability of each class as a bar."""
    order = np.argsort(-counts, kind="stable").tolist() if len(classes) > MAX_CLASSES else range(len(classes))
    lines = [
        tag(
            "tr",
            tag("th", classes[c], scope="row"),
            tag("td", tag("span", tag("span", class_="fill"), class_="lane")),
            tag("td", class_="number"),
            class_=f"s{c if len(classes) <= MAX_CLASSES else 0}",
            data_class=c,
        )
        for c in order
    ]
    last = (tag("th", "others", scope="row"), tag("td"), tag("td", class_="number"))
    wide = tag("tr", *last, class_="others quiet", hidden=len(classes) <= MAX_CLASSES)
    narrow = tag("tr", *last, class_="others quiet narrow", hidden=len(classes) <= MAX_CLASSES_NARROW)
    body, caption = tag("tbody", *lines, wide, narrow), tag("caption", "Probabilities", class_="spoken")
    table = tag("table", caption, body, class_="classes many" if len(classes) > MAX_CLASSES_NARROW else "classes")
    status = tag("p", role="status", class_="spoken")
    return tag("div", page.heading("Probabilities"), table, status, class_="answer")


def _why(classes: Sequence[str]) -> Html:
    """The waterfall of what each column adds, which the script fills, and the class that it is about."""
    options = [tag("option", "the most probable", value="", selected=len(classes) != 2)]
    each = enumerate(map(named, classes))
    options += [tag("option", name, value=c, selected=len(classes) == 2 and c == 1) for c, name in each]
    pick = tag("label", tag("span", "Class"), tag("select", *options, id="against"), class_="pick")
    note = tag("p", "What each column adds to ", tag("b", class_="of-class"), ".", class_="quiet")
    none = "Every class is ruled out by some column, so that the probabilities mean little."
    ruled = tag("p", none, class_="quiet", id="ruled-out", hidden=True)
    return tag("div", page.heading("Why"), pick, note, ruled, tag("ol", class_="waterfall"), class_="why")
