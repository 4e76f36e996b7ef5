"""The part of a model's page where a row can be set: controls, probabilities and a waterfall, for a script to fill."""

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
from suffice.models.terms import Form, Term
from suffice.report import page
from suffice.report.page import Html, breakable, tag

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
UNITS: Mapping[str, str] = {
    ColumnContent.DURATIONS: "days",
    ColumnContent.TIMES_OF_DAY: "hours",
    ColumnContent.TIMES: "days, or hours of the day",
}


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
        return self.holds == ColumnContent.DATES

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
    span = _span(known, np.concatenate([*bounds, np.zeros(0)]))._replace(clock=holds == ColumnContent.DATES)
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


Plain = dict[str, Any]


def exported(nomogram: Nomogram, classes: Array, shown: Sequence[Control]) -> Plain:
    """What a page needs to evaluate a nomogram: names, controls and terms, as lists of numbers and text.

    Numbers are those of the model to the last digit. Of every term, `keys` are the places in `names` of what it adds
    to, and `columns` those of the columns that it reads.
    """
    at = {control.key: i for i, control in enumerate(shown)}
    names: dict[Any, int] = {}
    terms = []
    for term in nomogram.terms:
        keys = list(term.columns) if isinstance(term, Form) else [term.key]
        places = [names.setdefault(key, len(names)) for key in keys]
        columns = [at[column] for column in term.columns]
        terms.append({**_plain(term, shown), "keys": places, "columns": columns})
    return {
        "classes": [named(label) for label in classes],
        "base": _numbers(nomogram.base),
        "names": [called(key) for key in names],
        "columns": [_column(control) for control in shown],
        "terms": terms,
    }


def _column(control: Control) -> Plain:
    found: Plain = {"name": control.name, "optional": control.optional, "start": control.start}
    if not control.numeric:
        return {**found, "options": list(control.options)}
    more: Plain = {"unit": control.unit} if control.unit else {}
    more |= {"stops": list(control.stops)} if control.stops else {}
    return {**found, **more, "dates": control.dates, "width": control.high - control.low}


def _numbers(values: Any) -> Any:
    """Nested lists of numbers; those that are not finite as text, which JSON has no other word for."""
    if isinstance(values, list):
        return [_numbers(value) for value in values]
    if isinstance(values, float | int):
        return values if isfinite(values) else {np.inf: "Infinity", -np.inf: "-Infinity"}.get(values, "NaN")
    return _numbers(np.asarray(values, dtype=float).tolist())


def _read(reading: Reading, control: Control) -> Plain:
    """The bounds of intervals except for the first, or the cell of each option, -1 for none."""
    if isinstance(reading, Intervals):
        return {"bounds": _numbers(reading.bounds[1:])}
    return {"cells": reading.cells(np.zeros(0) if control.values is None else control.values).tolist()}


def _plain(term: Term, shown: Sequence[Control]) -> Plain:
    """The kind of a term, how it reads its columns where they are in cells, and its numbers."""
    controls = {control.key: control for control in shown}
    reads = [_read(reading, controls[key]) for key, reading in term.readings().items() if reading is not None]
    return {"kind": term.kind, "reads": reads, **{name: _numbers(getattr(term, name)) for name in term.numbers}}


DATE = "2024-12-31"  # how dates are typed
SHOWN = 60  # columns that are not folded away
FEW = 4  # classes that a narrow screen shows at a time
CLASSES = 8  # that the page shows at a time; so many have colours


def form(
    data: dict[str, Any], controls: Sequence[Control], order: Sequence[int], counts: Array, lacking: Sequence[str] = ()
) -> Html:
    """Controls in an order, the most important first, and what a row that is set with them leads to.

    `lacking`: of each row that was given, the column for lack of which it cannot be set, or "".
    """
    rows = [_control_html(controls[i], i) for i in order]
    more = rows[SHOWN:]
    folded = page.fold(f"{len(more)} more columns, which count as they are set", *more) if more else None
    set_ = tag("div", _tools(lacking), *rows[:SHOWN], folded, class_="set")
    told = tag("div", _answer(data["classes"], counts), _why(data["classes"]), class_="told")
    return tag("div", told, set_, class_="nomogram") + _embedded(data)


def _embedded(data: dict[str, Any]) -> Html:
    """The numbers, as text that ends no script."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"), ensure_ascii=True)
    safe = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return tag("script", Html(safe), type="application/json", id="nomogram-data")


def _tools(lacking: Sequence[str]) -> Html:
    typical = tag("button", "Typical row", type="button", id="typical")
    if not lacking:
        return tag("div", typical, class_="bar-of")
    options = [tag("option", "\u2013", value="")]
    for i, column in enumerate(lacking):
        said = f"row {i + 1}" + f" (lacks {column})" * bool(column)
        options.append(tag("option", said, value=i, disabled=bool(column)))
    pick = tag("label", tag("span", "A row that was given"), tag("select", *options, id="example"), class_="pick")
    return tag("div", typical, pick, class_="bar-of")


def _control_html(control: Control, at: int) -> Html:
    unit = tag("span", f" ({control.unit})", class_="unit") if control.unit else None
    name = tag("label", breakable(control.name), unit, for_=f"column-{at}")
    adds = tag("output", class_="adds", for_=f"column-{at}", aria_label=f"what {control.name} adds")
    parts = _number(control, at) if control.numeric else _menu(control, at)
    return tag("div", name, *parts, adds, class_="control", data_column=at)


def _menu(control: Control, at: int) -> list[Html]:
    options = [tag("option", text, value=i, selected=i == control.start) for i, text in enumerate(control.options)]
    besides = [tag("option", "(another value)", value=-2), tag("option", "(missing)", value=-1)]
    return [tag("select", *options, *besides, id=f"column-{at}")]


def _number(control: Control, at: int) -> list[Html]:
    low, high, step, start = (f"{x:.15g}" for x in (control.low, control.high, control.step, control.start))
    ends = {"min": low, "max": high, "step": step, "value": start}
    if control.stops:  # the slider counts them
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
    """A bar for each class."""
    order = np.argsort(-counts, kind="stable").tolist() if len(classes) > CLASSES else range(len(classes))
    lines = [
        tag(
            "tr",
            tag("th", classes[c], scope="row"),
            tag("td", tag("span", tag("span", class_="fill"), class_="lane")),
            tag("td", class_="number"),
            class_=f"s{c if len(classes) <= CLASSES else 0}",
            data_class=c,
        )
        for c in order
    ]
    last = (tag("th", "others", scope="row"), tag("td"), tag("td", class_="number"))
    wide = tag("tr", *last, class_="others quiet", hidden=len(classes) <= CLASSES)
    narrow = tag("tr", *last, class_="others quiet narrow", hidden=len(classes) <= FEW)
    body, caption = tag("tbody", *lines, wide, narrow), tag("caption", "Probabilities", class_="spoken")
    table = tag("table", caption, body, class_="classes many" if len(classes) > FEW else "classes")
    status = tag("p", role="status", class_="spoken")
    return tag("div", page.heading("Probabilities"), table, status, class_="answer")


def _why(classes: Sequence[str]) -> Html:
    first = "the most probable"
    options = [tag("option", first, value="", selected=len(classes) != 2)]
    options += [
        tag("option", name, value=c, selected=len(classes) == 2 and c == 1)
        for c, name in enumerate(map(named, classes))
    ]
    pick = tag("label", tag("span", "Class"), tag("select", *options, id="against"), class_="pick")
    note = tag("p", "What each column adds to ", tag("b", class_="of-class"), ".", class_="quiet")
    none = "Every class is ruled out by some column, so that the probabilities mean little."
    ruled = tag("p", none, class_="quiet", id="ruled-out", hidden=True)
    return tag("div", page.heading("Why"), pick, note, ruled, tag("ol", class_="waterfall"), class_="why")
