"""Charts of pages: inline SVG and tables, with colours of the style sheet and tooltips."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor, isfinite, isnan, log10, nan, sqrt
from statistics import fmean
from typing import Literal, NamedTuple

import numpy as np

from suffice.model_selection.measures import BINS, calibration_error
from suffice.plotting.calibration import wilson
from suffice.report.page import Heading, Html, Value, breakable, data_table, number, scrolling, tag

TICK_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
MINUTES_PER_DAY = 1440
CALENDAR_STEPS = (
    *(("Y", every) for every in (100, 50, 20, 10, 5, 2, 1)),
    *(("M", every) for every in (6, 3, 1)),
    *(("D", every) for every in (14, 7, 2, 1)),
    *(("h", every) for every in (6, 1)),
)


class Scale(NamedTuple):
    """An axis from `low` to `high`, drawn from `start` to `end`, with `ticks`; logarithmic or linear."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]
    log: bool = False

    def __call__(self, value: float) -> float:
        """Return the position of a value; values outside are drawn at the end of the axis."""
        value = min(max(value, self.low), self.high)
        low, high = (log10(self.low), log10(self.high)) if self.log else (self.low, self.high)
        share = ((log10(value) if self.log else value) - low) / (high - low)
        return self.start + share * (self.end - self.start)


def scale(
    values: Iterable[float], start: float, end: float, log: bool = False, snug: bool = False, least: int = 0
) -> Scale:
    """Return a scale for the values: it ends at them if `snug`, with at least `least` ticks, else at the next ticks.

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
    """Return powers of ten; within two decades also 2 and 5 times these."""
    first, last = floor(log10(low) + 1e-9), ceil(log10(high) - 1e-9)
    every = max(1, ceil((last - first) / 6))
    if last - first > 2:
        return tuple(10.0**power for power in range(first, last + every, every))
    all_ = [step * 10.0**power for power in range(first, last + 1) for step in (1, 2, 5)]
    below, above = max(t for t in all_ if t <= low * (1 + 1e-9)), min(t for t in all_ if t >= high * (1 - 1e-9))
    return tuple(tick for tick in all_ if below <= tick <= above)


def _round(low: float, high: float, wanted: int = 4) -> tuple[float, ...]:
    """Return about `wanted` multiples of 1, 2, 2.5 or 5 times a power of ten, around the values."""
    rough = (high - low) / wanted
    power = 10.0 ** floor(log10(rough))
    step = next(s * power for s in TICK_STEPS if s * power >= rough * (1 - 1e-9))
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    return tuple(round(i * step, 12) for i in range(first, last + 1))


def label(tick: float) -> str:
    """A tick in few characters.

    >>> [label(tick) for tick in (0.25, 1000.0, 1e-7, 0.0)]
    ['0.25', '1000', '1e-7', '0']
    """
    return f"{tick:.6g}".replace("e-0", "e-").replace("e+0", "e")


def distinct_labels(ticks: Sequence[float]) -> list[str]:
    """Ticks in as few characters as keep them different.

    >>> distinct_labels((19848.41, 19848.42)), distinct_labels((1e8, 1e8 + 10))
    (['19848.41', '19848.42'], ['100000000', '100000010'])
    """
    found = [label(tick) for tick in ticks]
    for digits in range(6, 18):
        if len(set(found)) == len(found):
            break
        found = [np.format_float_positional(tick, precision=digits, fractional=False, trim="-") for tick in ticks]
    return found


def calendar(low: float, high: float, most: int = 4) -> tuple[float, ...]:
    """Return up to `most` days since 1970 at which years, months, days or hours begin.

    >>> [day(tick) for tick in calendar(18000.0, 19000.0)]
    ['2020-01-01', '2021-01-01', '2022-01-01']
    """
    ends = [np.datetime64(0, "m") + np.timedelta64(round(end * MINUTES_PER_DAY), "m") for end in (low, high)]
    best: tuple[float, ...] = ()
    for unit, every in CALENDAR_STEPS:
        first, last = (int(end.astype(f"M8[{unit}]").astype(int)) for end in ends)
        places = np.arange(first - first % every, last + every + 1, every).astype(f"M8[{unit}]").astype("M8[m]")
        days = places.astype(int) / MINUTES_PER_DAY
        found = tuple(days[(days >= low) & (days <= high)].tolist())
        best = found if len(best) < len(found) <= most else best
    return best


def day(tick: float) -> str:
    """A tick of a calendar: the day, with the time unless it is midnight.

    >>> day(19723.0), day(19723.5)
    ('2024-01-01', '2024-01-01 12:00')
    """
    moment = np.datetime64(0, "m") + np.timedelta64(round(tick * MINUTES_PER_DAY), "m")
    return str(moment).replace("T", " ").removesuffix(" 00:00")


def thinned(count: int, most: int = 130) -> Sequence[int]:
    """Return at most `most` of `count` places, evenly spaced, with the first and the last.

    >>> list(thinned(5)), list(thinned(7, 3))
    ([0, 1, 2, 3, 4], [0, 3, 6])
    """
    if count <= most:
        return range(count)
    return sorted({round(i * (count - 1) / (most - 1)) for i in range(most)})


SERIES = 8  # colours in the style sheet
PLAIN = -1  # grey, for series without a colour of their own
WIDTH, HEIGHT = 600, 320
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 12, 46

Curve = Sequence[tuple[float, float]]  # points (x, y)


def colour_class(colour: int) -> str:
    """The class in the style sheet of a colour.

    >>> colour_class(3), colour_class(11), colour_class(PLAIN)
    ('s3', 's3', 's-plain')
    """
    return "s-plain" if colour == PLAIN else f"s{colour % SERIES}"


def line_chart(
    series: Mapping[str, Curve | float],
    title: str,
    x_label: str,
    y_label: str,
    log_y: bool = False,
    with_legend: bool = True,
    colours: Mapping[str, int] | None = None,
) -> Html:
    """Curves over a common axis.

    Parameters
    ----------
    series : mapping of str to points (x, y), or to one number
        The curve of each name; at most 130 of its points are drawn, with a ring at the lowest. A number is a dashed
        line; an empty curve and a number that is not finite keep their colour and are not drawn.
    title : str
        A description of the chart for screen readers.
    x_label, y_label : str
    log_y : bool, default=False
        A logarithmic axis; values that are not positive are left out.
    with_legend : bool, default=True
        Put a legend above that switches curves on and off; `legend` makes one for several charts.
    colours : mapping of str to int, optional
        The colour of each name; by default in order.
    """
    shades = [i if colours is None else colours[name] for i, name in enumerate(series)]
    # A number is a point without a position, drawn as a level.
    curves = {name: [(nan, curve)] if isinstance(curve, float | int) else curve for name, curve in series.items()}
    drawn: dict[str, Curve] = {}
    for name, curve in curves.items():
        kept = [(x, y) for x, y in curve if isfinite(y) and (y > 0 or not log_y)]
        drawn[name] = [kept[i] for i in thinned(len(kept))]
    points = [point for curve in drawn.values() for point in curve]
    places = [x for x, _ in points if isfinite(x)]
    if not places:
        return tag("p", "No curve to draw.", class_="quiet")
    x = scale(places, LEFT, WIDTH - RIGHT, snug=True)
    y = scale([value for _, value in points], HEIGHT - BOTTOM, TOP, log_y)
    marks = [
        tag("g", *_line(name, curve, x, y), class_=f"series {colour_class(shades[i])}", data_series=i)
        for i, (name, curve) in enumerate(drawn.items())
        if curve
    ]
    picture = svg(title, WIDTH, HEIGHT, *axes(x, y, x_label, y_label), *marks)
    return legend(list(series), picture, colours=shades) if with_legend else tag("figure", picture, class_="chart")


def _line(name: str, curve: Curve, x: Scale, y: Scale) -> list[Html]:
    """Return a curve with its tooltip and a ring at its lowest point, or the level of a single number."""
    best = min(curve, key=lambda point: point[1])
    if isnan(best[0]):
        level = tag("path", d=f"M{at(x.start)} {at(y(best[1]))}H{at(x.end)}", class_="level")
        return [tag("title", f"{name}: {best[1]:.4g}"), level]
    tip = f"{name}: lowest {best[1]:.4g} at {best[0]:g}, last {curve[-1][1]:.4g} at {curve[-1][0]:g}"
    ring = tag("circle", cx=at(x(best[0])), cy=at(y(best[1])), r=4)
    return [tag("title", tip), tag("path", d=path([(x(a), y(b)) for a, b in curve])), ring]


def path(points: Sequence[tuple[float, float]]) -> str:
    """Return the path through the points in relative steps of tenths, half as long as absolute positions."""
    tenths = [(round(10 * a), round(10 * b)) for a, b in points]
    steps = [
        f"{_tenth(a - c)} {_tenth(b - d)}".replace(" -", "-")
        for (a, b), (c, d) in zip(tenths[1:], tenths[:-1], strict=True)
    ]
    return f"M{_tenth(tenths[0][0])} {_tenth(tenths[0][1])}" + ("l" + " ".join(steps) if steps else "")


def _tenth(value: int) -> str:
    return f"{value / 10:g}".replace("0.", ".", 1) if abs(value) < 10 else f"{value / 10:g}"


def at(place: float) -> str:
    """A position in few characters."""
    return f"{round(place, 1):g}"


def legend(names: Sequence[str], *charts: object, colours: Sequence[int] | None = None) -> Html:
    """Put charts below a legend; button i switches series i of every chart on and off."""
    shades = range(len(names)) if colours is None else colours
    keys = [
        tag("button", tag("i", class_=colour_class(shades[i])), name, type="button", aria_pressed="true", data_series=i)
        for i, name in enumerate(names)
    ]
    return tag("figure", tag("div", *keys, class_="legend", role="group", aria_label="Series"), *charts, class_="chart")


def bar_chart(bars: Mapping[str, float], title: str, unit: str = "s", colour: int | None = None) -> Html:
    """Horizontal bars with names and values; seconds are shown in a fitting unit.

    All bars have one `colour`, or else the colours in order.
    """
    kept = {name: value for name, value in bars.items() if isfinite(value) and value >= 0}
    if not kept:
        return tag("p", "Nothing to draw.", class_="quiet")
    rows = []
    for i, (name, value) in enumerate(kept.items()):
        share = value / (max(kept.values()) or 1.0)
        kind = f"bar {colour_class(i if colour is None else colour)}"
        bar = tag("rect", width=f"{max(100 * share, 0.4):.1f}", height=10)
        picture = tag("svg", bar, viewBox="0 0 100 10", preserveAspectRatio="none", class_=kind, aria_hidden="true")
        shown = seconds(value) if unit == "s" else f"{value:.2f} {unit}"
        rows.append(row_of(name, tag("td", picture), tag("td", shown, class_="number")))
    return described_table(title, tag("tbody", *rows), class_="bars")


def row_of(name: object, *cells: object) -> Html:
    """A row of a table, named by its first cell."""
    return tag("tr", tag("th", name, scope="row"), *cells)


def described_table(title: str, *parts: object, class_: str | None = None) -> Html:
    """A table whose caption is for screen readers only."""
    return tag("table", tag("caption", title, class_="spoken"), *parts, class_=class_)


def seconds(value: float) -> str:
    """A time in milliseconds, seconds or minutes.

    >>> seconds(0.00123), seconds(12.3), seconds(4000)
    ('1.23 ms', '12.3 s', '66.7 min')
    """
    factor, unit = (1e3, "ms") if value < 0.9995 else (1.0, "s") if value < 600 else (1 / 60, "min")
    return f"{value * factor:.3g} {unit}"


def svg(title: str, width: int, height: int, *parts: object) -> Html:
    """A picture with a description for screen readers."""
    return tag("svg", *parts, viewBox=f"0 0 {width} {height}", role="img", aria_label=title)


def axes(
    x: Scale,
    y: Scale,
    x_label: str = "",
    y_label: str = "",
    names: Sequence[str] | None = None,
    base: float | None = None,
) -> list[Html]:
    """Return grid lines at the ticks of y, a line at `base` or the bottom, tick labels, and labels of the axes.

    `names` are labels for the ticks of x; where they are long, some are left out.
    """
    lines = "".join(f"M{at(x.start)} {at(y(tick))}H{at(x.end)}" for tick in y.ticks)
    ticks = list(zip(x.ticks, map(label, x.ticks) if names is None else names, strict=True))
    if names is not None:
        ticks = ticks[:: max(1, ceil(sum(map(len, names)) / MAX_TICK_LETTERS))]
    below = [tag("text", name, x=at(x(tick)), y=at(y.start + 18)) for tick, name in ticks]
    if x_label:
        below.append(tag("text", x_label, x=at((x.start + x.end) / 2), y=at(y.start + 37)))
    beside = [tag("text", label(tick), x=at(x.start - 7), y=at(y(tick) + 4)) for tick in y.ticks]
    level = y.start if base is None else y(base)
    middle = at((y.start + y.end) / 2)
    return [
        tag("path", d=lines, class_="grid-line"),
        tag("path", d=f"M{at(x.start)} {at(level)}H{at(x.end)}", class_="axis"),
        tag("g", *below, class_="x"),
        tag("g", *beside, class_="y"),
        tag("text", y_label, transform=f"translate(12 {middle}) rotate(-90)", class_="y-name") if y_label else Html(),
    ]


MARGIN = 1.02  # length of the scale of a dot plot, times the largest value
LETTER, LINE = 9.0, 18  # width of a letter and height of a line, in units of the picture
# Positions of a name beside its point, in order of preference: offsets and the anchor of the text.
BESIDE = (
    *((10, 5, "start"), (-10, 5, "end"), (0, -13, "middle"), (0, 24, "middle")),
    *((10, -11, "start"), (10, 20, "start"), (-10, -11, "end"), (-10, 20, "end")),
)


class Dot(NamedTuple):
    """A method in a dot plot: its value and interval, its colour, and a note for its tooltip."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    colour: int = 0
    note: str = ""


class Spot(NamedTuple):
    """A method in a scatter plot."""

    name: str
    x: float
    y: float
    colour: int = 0


def dot_plot(dots: Sequence[Dot], title: str, most: float, line: float, rule: float | None) -> Html:
    """A row for each name: a dot at its percentage, with its interval, on a common scale.

    Parameters
    ----------
    dots : sequence of Dot
        In the order of the rows.
    title : str
        A description for screen readers.
    most : float
        The end of the scale; values and intervals beyond it get an arrow there.
    line : float
        The value of the best: a line through all rows.
    rule : float, optional
        The value of the rule of chance: a dashed line through all rows, if it is on the scale.
    """
    lows = [value for dot in dots for value in (dot.value, dot.low) if value is not None]
    least = max(0.0, min([*lows, line])) if lows else 0.0
    ends = scale([least, most * MARGIN], 0.0, 100.0, snug=True, least=4)
    marks = [tag("i", class_="best-line", style=f"left:{at(ends(line))}%")]
    if rule is not None and rule <= ends.high:
        marks.append(tag("i", class_="chance-line", style=f"left:{at(ends(rule))}%"))
    rows = []
    for dot in dots:
        value = f"{number(dot.value, 2)} %"
        parts = list(marks)
        if dot.low is not None and dot.high is not None and dot.low < ends.high:
            start, end = ends(dot.low), ends(dot.high)
            parts.append(tag("i", class_="whisker", style=f"left:{at(start)}%;width:{at(end - start)}%"))
        if max(dot.value, dot.high or 0.0) > ends.high:
            parts.append(tag("i", "\u203a", class_="beyond"))
        if dot.value <= ends.high:
            parts.append(tag("i", class_="dot", style=f"left:{at(ends(dot.value))}%"))
        tip = f"{dot.name}: {value}" + f"; {dot.note}" * bool(dot.note)
        track = tag("div", *parts, class_=f"track {colour_class(dot.colour)}", title=tip, aria_hidden="true")
        rows.append(row_of(dot.name, tag("td", track), tag("td", value, class_="number")))
    ticks = [tag("i", label(tick), style=f"left:{at(ends(tick))}%") for tick in ends.ticks]
    foot = tag("tr", tag("td"), tag("td", tag("div", *ticks, class_="ticks", aria_hidden="true")), tag("td", "%"))
    return described_table(title, tag("tbody", *rows), tag("tfoot", foot), class_="dot-plot")


def scatter(spots: Sequence[Spot], title: str, x_label: str, y_label: str, most: float) -> Html:
    """Points on a logarithmic x axis; those that no other point beats in both directions are named.

    Points above the axis, which ends near `most`, are triangles at its top.
    """
    kept = [spot for spot in spots if isfinite(spot.x) and spot.x > 0 and isfinite(spot.y)]
    if not kept:
        return tag("p", "Nothing to draw.", class_="quiet")
    x = scale([spot.x for spot in kept], LEFT, WIDTH - RIGHT, log=True)
    y = scale([min(spot.y, most) for spot in kept], HEIGHT - BOTTOM, TOP)
    points = []
    for spot in kept:
        tip = tag("title", f"{spot.name}: {label(round(spot.x, 4))} s, {number(spot.y, 2)} %")
        mark = tag("circle", cx=at(x(spot.x)), cy=at(y(spot.y)), r=6)
        if spot.y > y.high:
            mark = tag("path", d=f"M{at(x(spot.x))} {at(y(spot.y) - 8)}l7 12h-14z", class_="up")
        points.append(tag("g", tip, mark, class_=f"series dots {colour_class(spot.colour)}"))
    best = frontier([spot for spot in kept if spot.y <= y.high])
    names = _labels([(s.name, x(s.x), y(s.y)) for s in best], [(x(s.x), y(s.y)) for s in kept])
    picture = svg(title, WIDTH, HEIGHT, *axes(x, y, x_label, y_label), *points, tag("g", *names, class_="names"))
    return tag("figure", picture, class_="chart")


def frontier(spots: Sequence[Spot]) -> list[Spot]:
    """Return the spots that no other one beats in both directions, from the quickest to the best.

    >>> [spot.name for spot in frontier([Spot("a", 1, 5), Spot("b", 2, 6), Spot("c", 3, 4)])]
    ['a', 'c']
    """
    found: list[Spot] = []
    for spot in sorted(spots, key=lambda s: (s.x, s.y)):
        if not found or spot.y < found[-1].y:
            found.append(spot)
    return found


def _labels(places: Sequence[tuple[str, float, float]], points: Sequence[tuple[float, float]]) -> list[Html]:
    """Return the names that fit beside their points without covering a point or another name."""
    made, boxes = [], [(px - 6, py - 6, px + 6, py + 6) for px, py in points]
    for name, px, py in reversed(places):  # the best first
        width = LETTER * len(name)
        for dx, dy, anchor in BESIDE:
            left = px + dx - {"start": 0.0, "end": width, "middle": width / 2}[anchor]
            right, top, bottom = left + width, py + dy - 0.8 * LINE, py + dy + 0.2 * LINE
            inside = left > LEFT and right < WIDTH and top > 0 and bottom < HEIGHT - BOTTOM
            if inside and not any(left < d and a < right and top < e and b < bottom for a, b, d, e in boxes):
                boxes.append((left, top, right, bottom))
                made.append(tag("text", name, x=at(px + dx), y=at(py + dy), text_anchor=anchor))
                break
    return made


class UnitSquare:
    """A square chart of two shares from 0 to 1, with the diagonal.

    Parameters
    ----------
    side, left : int
        The side of the picture, and the room for the labels on the left.
    """

    def __init__(self, side: int, left: int) -> None:
        self.side, bottom, top = side, 38, 8
        self.x, self.y = scale([0, 1], left, side - 8), scale([0, 1], side - bottom, top)

    def figure(self, kind: str, name: str, note: str, x_label: str, y_label: str, *marks: object) -> Html:
        """Return the marks above the axes, below the name and a note."""
        ends = [(f"{self.x(v):g}", f"{self.y(v):g}") for v in (0, 1)]
        diagonal = tag("path", d="M{} {}L{} {}".format(*ends[0], *ends[1]), class_="diagonal")
        caption = tag("figcaption", tag("b", name), " ", tag("span", note, class_="quiet"))
        around = axes(self.x, self.y, x_label, y_label)
        picture = svg(f"{kind} of {name}: {note}", self.side, self.side, *around, diagonal, *marks)
        return tag("figure", caption, picture, class_="chart square")


def roc_chart(points: Curve, name: str, area: float, x_label: str, y_label: str, colour: int = 0) -> Html:
    """A ROC curve with its area and the diagonal of chance."""
    square = UnitSquare(260, 52)
    curve = tag("path", d=path([(square.x(a), square.y(b)) for a, b in points]))
    line = tag("g", curve, class_=f"series {colour_class(colour)}")
    return square.figure("ROC curve", name, f"area {number(area)}", x_label, y_label, line)


MAX_MATRIX_CLASSES = 12  # confusions of more classes are listed by pair
MAX_PAIRS = 15


def confusion(counts: Sequence[Sequence[int]], classes: Sequence[str], caption: str) -> Html:
    """Rows by true and predicted class: the matrix, or with many classes the pairs confused most often.

    >>> "of 5" in confusion([[4, 1], [0, 3]], ["a", "b"], "Confusions")
    True
    """
    sizes = [sum(row) for row in counts]
    if len(classes) > MAX_MATRIX_CLASSES:
        return _pairs(counts, classes, sizes, caption)
    head = tag("tr", tag("th", "true class", scope="col"), *(tag("th", name, scope="col") for name in classes))
    rows = []
    for i, name in enumerate(classes):
        cells = []
        for j, n in enumerate(counts[i]):
            share = n / sizes[i] if sizes[i] else 0.0
            small = tag("small", f"{100 * share:.1f} %") if n else None
            look = {"class_": f"number {'right' if i == j else 'wrong'}", "style": f"--share:{share:.3f}"}
            cells.append(tag("td", tag("b", f"{n:,}"), small, **look, title=f"{100 * share:.1f} % of {sizes[i]}"))
        rows.append(row_of(name, *cells))
    over = tag("tr", tag("td"), tag("th", "predicted class", colspan=len(classes), scope="colgroup"))
    table = described_table(caption, tag("thead", over, head), tag("tbody", *rows))
    return scrolling(table, "frame confusion", caption)


def _pairs(counts: Sequence[Sequence[int]], classes: Sequence[str], sizes: Sequence[int], caption: str) -> Html:
    found = [(n, i, j) for i, row in enumerate(counts) for j, n in enumerate(row) if i != j and n]
    rows: list[list[object]] = [
        [classes[i], classes[j], Value(n, 0), Value(100 * n / sizes[i], 1)]
        for n, i, j in sorted(found, key=lambda pair: (-pair[0], pair[1:]))[:MAX_PAIRS]
    ]
    heads: list[Heading | str] = ["true class", Heading("taken for", words=True), "rows", "% of the class"]
    return data_table(heads, rows, f"{caption}: the pairs of classes that are confused most", filtered=False)


Point = tuple[float, float, float]  # rows, mean confidence, accuracy


def mean_curve(runs: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    """Return the mean of several curves by iteration, from 1; a curve that ended keeps its last value.

    >>> mean_curve([[0.4, 0.2], [0.6, 0.4, 0.2]])
    [(1, 0.5), (2, 0.3), (3, 0.2)]
    """
    runs = [run for run in runs if run]
    length = max(map(len, runs), default=0)
    return [(i + 1, round(fmean(run[min(i, len(run) - 1)] for run in runs), 10)) for i in range(length)]


def pooled(diagrams: Iterable[Sequence[Sequence[float]]]) -> list[Point]:
    """Return the reliability of all rows together, in bins of equal width.

    >>> pooled([[[1, 0.8, 1.0]], [[3, 0.84, 0.0]]])
    [(4, 0.83, 0.25)]
    """
    bins: dict[int, list[Sequence[float]]] = {}
    for n, confidence, accuracy in (point for diagram in diagrams for point in diagram):
        bins.setdefault(min(int(BINS * confidence), BINS - 1), []).append((n, n * confidence, n * accuracy))
    sums = [[sum(column) for column in zip(*bins[at], strict=True)] for at in sorted(bins)]
    return [(n, round(c / n, 6), round(a / n, 6)) for n, c, a in sums if n]


MIN_ROWS_FILLED = 20  # bins of fewer rows are drawn as rings


def reliability_diagram(points: Sequence[Sequence[float]], name: str, colour: int = 0, intervals: bool = False) -> Html:
    """Accuracy against confidence, with the diagonal on which they agree.

    Parameters
    ----------
    points : sequence of (count, mean confidence, accuracy)
        One for each bin; the area of a point grows with its count.
    name : str
        The classifier; stands above, with its calibration error.
    colour : int, default=0
    intervals : bool, default=False
        Draw the 95 % interval of each accuracy as a line; bins of fewer than 20 rows are rings.
    """
    square = UnitSquare(220, 40)
    x, y = square.x, square.y
    kept = [(n, c, a) for n, c, a in points if n > 0 and isfinite(c) and isfinite(a)]
    total, marks = sum(n for n, _, _ in kept), []
    if kept and not intervals:
        marks.append(tag("path", d=path([(x(c), y(a)) for _, c, a in sorted(kept, key=lambda p: p[1])])))
    for n, confidence, accuracy in sorted(kept, reverse=True):
        tip = f"{n:g} rows: confidence {confidence:.3f}, accuracy {accuracy:.3f}"
        radius = 2.5 + (5 if intervals else 11) * sqrt(n / total)
        place = {"cx": at(x(confidence)), "cy": at(y(accuracy)), "r": at(radius)}
        if not intervals:
            marks.append(tag("circle", tag("title", tip), **place))
            continue
        low, high = map(float, wilson(np.asarray(accuracy), np.asarray(n)))
        few = n < MIN_ROWS_FILLED
        told = tag("title", f"{tip} ({low:.3f} to {high:.3f})" + ", few rows" * few)
        reach = tag("path", d=f"M{at(x(confidence))} {at(y(low))}V{at(y(high))}", class_="reach")
        marks.append(tag("g", told, reach, tag("circle", **place), class_="few" if few else None))
    quality = f"calibration error {number(calibration_error(kept))}" if kept else "nothing measured"
    dots = tag("g", *marks, class_=f"series {colour_class(colour)} dots")
    return square.figure("Reliability", name, quality, "confidence", "accuracy", dots)


SMALL_WIDTH, SMALL_HEIGHT = 320, 176  # of a chart of one column
MAX_TICK_LETTERS = 32  # of all tick labels below such a chart
MIN_FULL = 0.5  # smallest value that fills a bar or colours a cell fully


class ColumnLine(NamedTuple):
    """A curve, or a cloud of points, in the chart of a column: its name, its colour, and its points (x, y)."""

    name: str
    colour: int
    points: Sequence[tuple[float, float]]


class ColumnAxis(NamedTuple):
    """The x axis of a column: even, by calendar, or with equal room between given numbers (`stops`)."""

    dates: bool = False
    stops: Sequence[float] = ()

    def place(self, x: float) -> float:
        """Return the position of a number on the scale."""
        return float(np.interp(x, self.stops, np.arange(len(self.stops)))) if self.stops else x

    def scale(self, values: Iterable[float]) -> tuple[Scale, list[str]]:
        """Return a scale for positions, and the labels of its ticks."""
        x = scale(values, 40, SMALL_WIDTH - 8, snug=True)
        if self.dates:
            x = x._replace(ticks=calendar(x.low, x.high))
            return x, [day(tick) for tick in x.ticks]
        if self.stops:
            places = [round(share * (len(self.stops) - 1)) for share in (0.05, 0.35, 0.65, 0.95)]
            return x._replace(ticks=tuple(map(float, places))), distinct_labels([self.stops[at] for at in places])
        return x, distinct_labels(x.ticks)


def column_chart(
    title: str,
    note: str,
    lines: Sequence[ColumnLine],
    axis: ColumnAxis = ColumnAxis(),  # noqa: B008 - it is immutable
    kind: Literal["line", "area", "points"] = "line",
) -> Html:
    """A small chart over the numbers of a column, with zero on its y axis; nothing without points.

    Parameters
    ----------
    title, note : str
        The caption, with the note in grey.
    lines : sequence of ColumnLine
        Drawn in their order.
    axis : ColumnAxis
    kind : {"line", "area", "points"}, default="line"
        A curve, a curve with the area down to zero tinted, or a point for each pair of numbers.
    """
    kept = [
        line._replace(points=[(axis.place(a), b) for a, b in line.points if isfinite(a) and isfinite(b)])
        for line in lines
    ]
    points = [point for line in kept for point in line.points]
    if not points:
        return Html()
    x, names = axis.scale(a for a, _ in points)
    y = scale([0.0, *(b for _, b in points)], SMALL_HEIGHT - 24, 8)
    marks = []
    for line in kept:
        places = [(x(a), y(b)) for a, b in line.points]
        if not places:
            continue
        if kind == "points":
            parts = [tag("path", d="".join(f"M{at(a)} {at(b)}h0" for a, b in places), class_="points")]
        else:
            parts = [tag("path", d=path(places))]
        if kind == "area":
            down = f"L{at(places[-1][0])} {at(y(0.0))}L{at(places[0][0])} {at(y(0.0))}Z"
            parts.insert(0, tag("path", d=path(places) + down, class_="area"))
        marks.append(tag("g", tag("title", line.name), *parts, class_=f"series {colour_class(line.colour)}"))
    description = f"{title}: {note}" if note else title
    return _shape(title, note, svg(description, SMALL_WIDTH, SMALL_HEIGHT, *axes(x, y, names=names, base=0.0), *marks))


def _shape(title: str, note: str, content: Html) -> Html:
    """A small chart or table of a column below its title, with a note in grey."""
    grey = tag("span", note, class_="quiet") if note else None
    return tag("figure", tag("figcaption", breakable(title), " ", grey), content, class_="shape")


def colour_key(names: Mapping[str, int]) -> Html:
    """The colour of each name, for several charts."""
    keys = [tag("span", tag("i", class_=colour_class(c)), name, class_="key-of") for name, c in names.items()]
    return tag("p", *keys, class_="colours")


def diverging_bars(title: str, note: str, bars: Sequence[tuple[str, float, float]]) -> Html:
    """A table of bars to the right or left of zero: names, values and the rows behind them."""
    full = max(MIN_FULL, *(abs(value) for _, value, _ in bars if isfinite(value)), 0.0)
    rows = []
    for name, value, count in bars:
        share = max(-1.0, min(1.0, value / full))
        left = 50.0 if share >= 0 else 50.0 * (1 + share)
        place = f"left:{left:.2f}%;width:{max(50 * abs(share), 0.4):.2f}%"
        bar = tag("span", tag("i", class_=f"fill {'plus' if share >= 0 else 'minus'}", style=place), class_="lane")
        numbers = tag("td", signed(value), class_="number"), tag("td", f"{count:,.6g}", class_="number quiet")
        rows.append(row_of(breakable(name), tag("td", bar), *numbers))
    heads = (tag("th", name, scope="col") if name else tag("td") for name in ("value", "", "adds", "rows"))
    head = tag("thead", tag("tr", *heads), class_="spoken")
    return _shape(title, note, described_table(title, head, tag("tbody", *rows), class_="diverging"))


def heat_map(
    title: str, note: str, rows: Sequence[str], columns: Sequence[str], values: Sequence[Sequence[float]]
) -> Html:
    """A table of numbers in colour, blue above zero and red below; it scrolls within its own frame."""
    full = max(MIN_FULL, *(abs(value) for line in values for value in line if isfinite(value)), 0.0)
    head = tag("tr", tag("td"), *(tag("th", name, scope="col") for name in columns))
    body = []
    for name, line in zip(rows, values, strict=True):
        looks = [("up" if v >= 0 else "down", f"--share:{min(1.0, abs(v) / full):.3f}") for v in line]
        cells = (tag("td", signed(v), class_=kind, style=share) for v, (kind, share) in zip(line, looks, strict=True))
        body.append(row_of(name, *cells))
    table = described_table(title, tag("thead", head), tag("tbody", *body), class_="heat")
    return _shape(title, note, scrolling(table, "frame", title))


def signed(value: float) -> str:
    """A number with its sign; "never" or "always" for a value that decides alone.

    >>> signed(0.254), signed(-0.001), signed(-1e9)
    ('+0.25', '0.00', 'never')
    """
    if abs(value) > 1e6:
        return "never" if value < 0 else "always"
    return ("+" if value >= 0.005 else "") + number(value, 2)
