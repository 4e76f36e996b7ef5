"""Charts as inline SVG. Colours come from the style sheet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor, isfinite, isnan, log10, nan, sqrt
from statistics import fmean
from typing import NamedTuple

import numpy as np

from suffice.model_selection.measures import BINS, calibration_error
from suffice.report.page.html import Heading, Html, Value, data_table, number, tag

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


SERIES = 8  # colours of the style sheet, in turn
PLAIN = -1  # the colour of what has none of its own
WIDTH, HEIGHT = 600, 320
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 12, 46

Curve = Sequence[tuple[float, float]]  # points (x, y)


def colour_class(colour: int) -> str:
    """The class of the style sheet for a colour.

    >>> colour_class(3), colour_class(11), colour_class(PLAIN)
    ('s3', 's3', 's-plain')
    """
    return "s-plain" if colour == PLAIN else f"s{colour % SERIES}"


def line_chart(
    series: Mapping[str, Curve | float],
    title: str,
    x_label: str,
    y_label: str,
    log_x: bool = False,
    log_y: bool = False,
    with_legend: bool = True,
    colours: Mapping[str, int] | None = None,
) -> Html:
    """Curves over a common axis.

    Parameters
    ----------
    series : mapping of str to points (x, y), or to one number
        The curve of each name; at most 130 points of it are drawn, and a ring at the lowest. A number is a dashed line;
        an empty curve and a number that is not finite keep their colour and are not drawn.
    title : str
        What the chart shows, for those who hear it.
    x_label, y_label : str
        What the axes are.
    log_x, log_y : bool, default=False
        Logarithmic axes; what is not positive is left out.
    with_legend : bool, default=True
        Whether a legend that switches curves on and off stands above; `legend` makes one for several charts.
    colours : mapping of str to int, optional
        The colour of each name; by default in turn.
    """
    shades = [i if colours is None else colours[name] for i, name in enumerate(series)]
    drawn = {name: _usable(_points(curve), log_x, log_y) for name, curve in series.items()}
    points = [point for curve in drawn.values() for point in curve]
    places = [x for x, _ in points if isfinite(x)]
    if not places:
        return tag("p", "No curve to draw.", class_="quiet")
    x = scale(places, LEFT, WIDTH - RIGHT, log_x, snug=True)
    y = scale([value for _, value in points], HEIGHT - BOTTOM, TOP, log_y)
    marks = [
        tag("g", _line(name, curve, x, y), class_=f"series {colour_class(shades[i])}", data_series=i)
        for i, (name, curve) in enumerate(drawn.items())
        if curve
    ]
    picture = svg(title, WIDTH, HEIGHT, *axes(x, y, x_label, y_label), *marks)
    return legend(list(series), picture, colours=shades) if with_legend else tag("figure", picture, class_="chart")


def _points(curve: Curve | float) -> Curve:
    """One number is a point that is nowhere in particular."""
    return [(nan, curve)] if isinstance(curve, float | int) else curve


def _usable(curve: Curve, log_x: bool, log_y: bool) -> list[tuple[float, float]]:
    kept = [(x, y) for x, y in curve if isfinite(y) and not (log_x and x <= 0) and not (log_y and y <= 0)]
    return [kept[i] for i in thinned(len(kept))]


def _line(name: str, curve: Curve, x: Scale, y: Scale) -> Html:
    best = min(curve, key=lambda point: point[1])
    if isnan(best[0]):
        level = tag("path", d=f"M{at(x.start)} {at(y(best[1]))}H{at(x.end)}", class_="level")
        return tag("title", f"{name}: {best[1]:.4g}") + level
    told = f"{name}: lowest {best[1]:.4g} at {best[0]:g}, last {curve[-1][1]:.4g} at {curve[-1][0]:g}"
    drawn = tag("path", d=path([(x(a), y(b)) for a, b in curve]))
    return tag("title", told) + drawn + tag("circle", cx=at(x(best[0])), cy=at(y(best[1])), r=4)


def path(points: Sequence[tuple[float, float]]) -> str:
    """The line through the points, in steps of tenths: half as long as absolute places."""
    tenths = [(round(10 * a), round(10 * b)) for a, b in points]
    steps = [
        f"{_tenth(a - c)} {_tenth(b - d)}".replace(" -", "-")
        for (a, b), (c, d) in zip(tenths[1:], tenths[:-1], strict=True)
    ]
    return f"M{_tenth(tenths[0][0])} {_tenth(tenths[0][1])}" + ("l" + " ".join(steps) if steps else "")


def _tenth(value: int) -> str:
    return f"{value / 10:g}".replace("0.", ".", 1) if abs(value) < 10 else f"{value / 10:g}"


def at(place: float) -> str:
    """A place in few characters."""
    return f"{round(place, 1):g}"


def legend(names: Sequence[str], *charts: object, colours: Sequence[int] | None = None) -> Html:
    """Charts below a legend; its buttons switch the series of that place in every one of the charts on and off."""
    shades = range(len(names)) if colours is None else colours
    keys = [
        tag("button", tag("i", class_=colour_class(shades[i])), name, type="button", aria_pressed="true", data_series=i)
        for i, name in enumerate(names)
    ]
    return tag("figure", tag("div", *keys, class_="legend", role="group", aria_label="Series"), *charts, class_="chart")


def bar_chart(bars: Mapping[str, float], title: str, unit: str = "s", colour: int | None = None) -> Html:
    """Horizontal bars, one for each name, with their values; seconds are shown in the unit that suits them.

    All bars have one `colour`, or else the colours in turn.
    """
    kept = {name: value for name, value in bars.items() if isfinite(value) and value >= 0}
    if not kept:
        return tag("p", "Nothing to draw.", class_="quiet")
    most = max(kept.values()) or 1.0
    rows = [
        tag(
            "tr",
            tag("th", name, scope="row"),
            tag("td", _bar(value / most, i if colour is None else colour)),
            tag("td", seconds(value) if unit == "s" else f"{value:.2f} {unit}", class_="number"),
        )
        for i, (name, value) in enumerate(kept.items())
    ]
    return tag("table", tag("caption", title, class_="spoken"), tag("tbody", *rows), class_="bars")


def _bar(share: float, colour: int) -> Html:
    bar = tag("rect", width=f"{max(100 * share, 0.4):.1f}", height=10)
    kind = f"bar {colour_class(colour)}"
    return tag("svg", bar, viewBox="0 0 100 10", preserveAspectRatio="none", class_=kind, aria_hidden="true")


def seconds(value: float) -> str:
    """A time in the unit that suits it.

    >>> seconds(0.00123), seconds(12.3), seconds(4000)
    ('1.23 ms', '12.3 s', '66.7 min')
    """
    factor, unit = (1e3, "ms") if value < 0.9995 else (1.0, "s") if value < 600 else (1 / 60, "min")
    return f"{value * factor:.3g} {unit}"


def stacked_bar(counts: Mapping[str, int], title: str) -> Html:
    """A thin bar divided by counts; the names are the classes of its parts (equal, near, off)."""
    total = sum(counts.values())
    parts, start = [], 0.0
    for name, count in counts.items():
        width = 100 * count / total if total else 0.0
        if count:
            told = tag("title", f"{name}: {count} of {total}")
            parts.append(tag("rect", told, x=f"{start:.2f}", width=f"{width:.2f}", height=10, class_=name))
        start += width
    said = tag("title", title)
    return tag("svg", said, *parts, viewBox="0 0 100 10", preserveAspectRatio="none", class_="stacked", role="img")


def svg(title: str, width: int, height: int, *parts: object) -> Html:
    """A picture with a name for those who hear it."""
    return tag("svg", *parts, viewBox=f"0 0 {width} {height}", role="img", aria_label=title)


def axes(x: Scale, y: Scale, x_label: str, y_label: str) -> list[Html]:
    """Lines at the ticks of y, both rows of ticks, and what the axes are."""
    lines = "".join(f"M{at(x.start)} {at(y(tick))}H{at(x.end)}" for tick in y.ticks)
    ticks = [tag("text", label(tick), x=at(x(tick)), y=at(y.start + 19)) for tick in x.ticks]
    rises = [tag("text", label(tick), x=at(x.start - 7), y=at(y(tick) + 4)) for tick in y.ticks]
    middle = at((y.start + y.end) / 2)
    return [
        tag("path", d=lines, class_="grid-line"),
        tag("path", d=f"M{at(x.start)} {at(y.start)}H{at(x.end)}", class_="axis"),
        tag("g", *ticks, tag("text", x_label, x=at((x.start + x.end) / 2), y=at(y.start + 37)), class_="x"),
        tag("g", *rises, class_="y"),
        tag("text", y_label, transform=f"translate(12 {middle}) rotate(-90)", class_="y-name"),
    ]


GROWTH = 1.02  # of a scale beyond what it has to hold
LETTER, LINE = 9.0, 18  # of a letter and of a line of labels, in the units of the picture

BESIDE = (
    *((10, 5, "start"), (-10, 5, "end"), (0, -13, "middle"), (0, 24, "middle")),
    *((10, -11, "start"), (10, 20, "start"), (-10, -11, "end"), (-10, 20, "end")),
)


class Dot(NamedTuple):
    """A method in a dot plot: its value, the interval around it, if any, its colour, and a note for its tooltip."""

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


def dot_plot(dots: Sequence[Dot], title: str, most: float, line: float, rule: float | None, unit: str = "%") -> Html:
    """A row for each name: a dot at its value, with its interval, on a common scale.

    Parameters
    ----------
    dots : sequence of Dot
        In the order of the rows.
    title : str
        What is shown, for those who hear it.
    most : float
        The end of the scale; what lies beyond, or reaches beyond, has an arrow there.
    line : float
        The value of the best: a line through all rows.
    rule : float, optional
        The value of the rule of chance: a dashed line through all rows, if it lies on the scale.
    unit : str, default="%"
        Of the numbers.
    """
    lows = [value for dot in dots for value in (dot.value, dot.low) if value is not None]
    least = max(0.0, min([*lows, line])) if lows else 0.0
    ends = scale([least, most * GROWTH], 0.0, 100.0, snug=True, least=4)
    marks = [tag("i", class_="best-line", style=f"left:{at(ends(line))}%")]
    if rule is not None and rule <= ends.high:
        marks.append(tag("i", class_="chance-line", style=f"left:{at(ends(rule))}%"))
    rows = []
    for dot in dots:
        told = f"{dot.name}: {number(dot.value, 2)} {unit}" + (f"; {dot.note}" if dot.note else "")
        parts = list(marks)
        if dot.low is not None and dot.high is not None and dot.low < ends.high:
            start, end = ends(dot.low), ends(dot.high)
            parts.append(tag("i", class_="whisker", style=f"left:{at(start)}%;width:{at(end - start)}%"))
        if max(dot.value, dot.high or 0.0) > ends.high:
            parts.append(tag("i", "\u203a", class_="beyond"))
        if dot.value <= ends.high:
            parts.append(tag("i", class_="dot", style=f"left:{at(ends(dot.value))}%"))
        track = tag("div", *parts, class_=f"track {colour_class(dot.colour)}", title=told, aria_hidden="true")
        value = tag("td", f"{number(dot.value, 2)} {unit}", class_="number")
        rows.append(tag("tr", tag("th", dot.name, scope="row"), tag("td", track), value))
    ticks = [tag("i", label(tick), style=f"left:{at(ends(tick))}%") for tick in ends.ticks]
    foot = tag("tr", tag("td"), tag("td", tag("div", *ticks, class_="ticks", aria_hidden="true")), tag("td", unit))
    caption = tag("caption", title, class_="spoken")
    return tag("table", caption, tag("tbody", *rows), tag("tfoot", foot), class_="dot-plot")


def scatter(spots: Sequence[Spot], title: str, x_label: str, y_label: str, most: float) -> Html:
    """Points on a logarithmic x axis; those that nothing beats in both directions are named.

    What lies above the axis, which ends near `most`, is a triangle at its top.
    """
    kept = [spot for spot in spots if isfinite(spot.x) and spot.x > 0 and isfinite(spot.y)]
    if not kept:
        return tag("p", "Nothing to draw.", class_="quiet")
    x = scale([spot.x for spot in kept], LEFT, WIDTH - RIGHT, log=True)
    y = scale([min(spot.y, most) for spot in kept], HEIGHT - BOTTOM, TOP)
    points = [
        tag(
            "g",
            tag("title", f"{spot.name}: {label(round(spot.x, 4))} s, {number(spot.y, 2)} %"),
            _mark(x(spot.x), y(spot.y), spot.y > y.high),
            class_=f"series dots {colour_class(spot.colour)}",
        )
        for spot in kept
    ]
    best = frontier([spot for spot in kept if spot.y <= y.high])
    names = _labels([(s.name, x(s.x), y(s.y)) for s in best], [(x(s.x), y(s.y)) for s in kept])
    picture = svg(title, WIDTH, HEIGHT, *axes(x, y, x_label, y_label), *points, tag("g", *names, class_="names"))
    return tag("figure", picture, class_="chart")


def _mark(x: float, y: float, beyond: bool) -> Html:
    if beyond:
        return tag("path", d=f"M{at(x)} {at(y - 8)}l7 12h-14z", class_="up")
    return tag("circle", cx=at(x), cy=at(y), r=6)


def frontier(spots: Sequence[Spot]) -> list[Spot]:
    """The spots that no other is better than in both directions, from the quickest to the best.

    >>> [spot.name for spot in frontier([Spot("a", 1, 5), Spot("b", 2, 6), Spot("c", 3, 4)])]
    ['a', 'c']
    """
    found: list[Spot] = []
    for spot in sorted(spots, key=lambda s: (s.x, s.y)):
        if not found or spot.y < found[-1].y:
            found.append(spot)
    return found


def _labels(places: Sequence[tuple[str, float, float]], points: Sequence[tuple[float, float]]) -> list[Html]:
    """Names beside their points, where they lie on no point and no other name; else there is none."""
    made, boxes = [], [(px - 6, py - 6, px + 6, py + 6) for px, py in points]
    for name, px, py in reversed(places):  # the best first
        width = LETTER * len(name)
        for dx, dy, anchor in BESIDE:
            left = px + dx - {"start": 0.0, "end": width, "middle": width / 2}[anchor]
            box = (left, py + dy - 0.8 * LINE, left + width, py + dy + 0.2 * LINE)
            inside = left > LEFT and left + width < WIDTH and box[1] > 0 and box[3] < HEIGHT - BOTTOM
            if inside and not any(_overlap(box, other) for other in boxes):
                boxes.append(box)
                made.append(tag("text", name, x=at(px + dx), y=at(py + dy), text_anchor=anchor))
                break
    return made


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def roc_chart(points: Curve, name: str, area: float, x_label: str, y_label: str, colour: int = 0) -> Html:
    """The share that is found of one class for every share of false alarms, with the diagonal of chance."""
    side, left, bottom, top = 260, 52, 38, 8
    x, y = scale([0, 1], left, side - 8), scale([0, 1], side - bottom, top)
    diagonal = tag("path", d=f"M{x(0):g} {y(0):g}L{x(1):g} {y(1):g}", class_="diagonal")
    line = tag("g", tag("path", d=path([(x(a), y(b)) for a, b in points])), class_=f"series {colour_class(colour)}")
    said = tag("figcaption", tag("b", name), " ", tag("span", f"area {number(area)}", class_="quiet"))
    picture = svg(
        f"ROC curve of {name}: area {number(area)}", side, side, *axes(x, y, x_label, y_label), diagonal, line
    )
    return tag("figure", said, picture, class_="chart square")


WIDE = 12  # classes up to which the whole matrix is shown
PAIRS = 15  # that are shown instead


def confusion(counts: Sequence[Sequence[int]], classes: Sequence[str], caption: str) -> Html:
    """Rows by true and predicted class: the matrix, or for many classes the pairs that are confused most.

    >>> "of 5" in confusion([[4, 1], [0, 3]], ["a", "b"], "Confusions")
    True
    """
    sizes = [sum(row) for row in counts]
    if len(classes) > WIDE:
        return _pairs(counts, classes, sizes, caption)
    head = tag("tr", tag("th", "true class", scope="col"), *(tag("th", name, scope="col") for name in classes))
    rows = [
        tag("tr", tag("th", name, scope="row"), *(_cell(n, sizes[i], i == j) for j, n in enumerate(counts[i])))
        for i, name in enumerate(classes)
    ]
    over = tag("tr", tag("td"), tag("th", "predicted class", colspan=len(classes), scope="colgroup"))
    table = tag("table", tag("caption", caption, class_="spoken"), tag("thead", over, head), tag("tbody", *rows))
    return tag("div", table, class_="frame confusion", tabindex=0, role="region", aria_label=caption)


def _cell(n: int, size: int, right: bool) -> Html:
    share = n / size if size else 0.0
    kind = "right" if right else "wrong"
    told = f"{100 * share:.1f} % of {size}"
    small = tag("small", f"{100 * share:.1f} %") if n else None
    return tag("td", tag("b", f"{n:,}"), small, class_=f"number {kind}", style=f"--share:{share:.3f}", title=told)


def _pairs(counts: Sequence[Sequence[int]], classes: Sequence[str], sizes: Sequence[int], caption: str) -> Html:
    found = [(n, i, j) for i, row in enumerate(counts) for j, n in enumerate(row) if i != j and n]
    rows: list[list[object]] = [
        [classes[i], classes[j], Value(n, 0), Value(100 * n / sizes[i], 1)]
        for n, i, j in sorted(found, key=lambda pair: (-pair[0], pair[1:]))[:PAIRS]
    ]
    heads: list[Heading | str] = ["true class", Heading("taken for", words=True), "rows", "% of the class"]
    return data_table(heads, rows, f"{caption}: the pairs of classes that are confused most", filtered=False)


Point = tuple[float, float, float]  # rows, mean confidence, accuracy


def mean_curve(runs: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    """The mean of several curves at each iteration, from 1; one that ended earlier stays where it ended.

    >>> mean_curve([[0.4, 0.2], [0.6, 0.4, 0.2]])
    [(1, 0.5), (2, 0.3), (3, 0.2)]
    """
    runs = [run for run in runs if run]
    length = max(map(len, runs), default=0)
    return [(i + 1, round(fmean(run[min(i, len(run) - 1)] for run in runs), 10)) for i in range(length)]


def pooled(diagrams: Iterable[Sequence[Sequence[float]]]) -> list[Point]:
    """Reliability of all rows together, by bins of the same width.

    >>> pooled([[[1, 0.8, 1.0]], [[3, 0.84, 0.0]]])
    [(4, 0.83, 0.25)]
    """
    bins: dict[int, list[Sequence[float]]] = {}
    for n, confidence, accuracy in (point for diagram in diagrams for point in diagram):
        bins.setdefault(min(int(BINS * confidence), BINS - 1), []).append((n, n * confidence, n * accuracy))
    sums = [[sum(column) for column in zip(*bins[at], strict=True)] for at in sorted(bins)]
    return [(n, round(c / n, 6), round(a / n, 6)) for n, c, a in sums if n]


FEW = 20  # rows of a bin below which its point is drawn as a ring


def reliability_diagram(points: Sequence[Sequence[float]], name: str, colour: int = 0, intervals: bool = False) -> Html:
    """Accuracy against confidence, with the diagonal on which they agree.

    Parameters
    ----------
    points : sequence of (count, mean confidence, accuracy)
        One for each bin; the area of a point grows with its count.
    name : str
        Whose probabilities they are; stands above, with their calibration error.
    colour : int, default=0
        Which of the colours of the series.
    intervals : bool, default=False
        Whether a line through each point shows the 95 % interval of its accuracy; bins of fewer than 20 rows are rings.
    """
    side, left, bottom, top = 220, 40, 38, 8
    x, y = scale([0, 1], left, side - 8), scale([0, 1], side - bottom, top)
    kept = [(n, c, a) for n, c, a in points if n > 0 and isfinite(c) and isfinite(a)]
    total = sum(n for n, _, _ in kept)
    dots = [_dot(n, c, a, total, x, y, intervals) for n, c, a in sorted(kept, reverse=True)]
    diagonal = tag("path", d=f"M{x(0):g} {y(0):g}L{x(1):g} {y(1):g}", class_="diagonal")
    line = tag("path", d=path([(x(c), y(a)) for _, c, a in sorted(kept, key=lambda p: p[1])])) if kept else None
    marks = tag("g", line if not intervals else None, *dots, class_=f"series {colour_class(colour)} dots")
    quality = f"calibration error {number(calibration_error(kept))}" if kept else "nothing measured"
    said = tag("figcaption", tag("b", name), " ", tag("span", quality, class_="quiet"))
    both = axes(x, y, "confidence", "accuracy")
    picture = svg(f"Reliability of {name}: {quality}", side, side, *both, diagonal, marks)
    return tag("figure", said, picture, class_="chart square")


def _dot(n: float, confidence: float, accuracy: float, total: float, x: Scale, y: Scale, intervals: bool) -> Html:
    told = f"{n:g} rows: confidence {confidence:.3f}, accuracy {accuracy:.3f}"
    place = {"cx": at(x(confidence)), "cy": at(y(accuracy)), "r": at(2.5 + 11 * sqrt(n / total))}
    if not intervals:
        return tag("circle", tag("title", told), **place)
    low, high = wilson(accuracy, n)
    told += f" ({low:.3f} to {high:.3f})" + (", few rows" if n < FEW else "")
    reach = tag("path", d=f"M{at(x(confidence))} {at(y(low))}V{at(y(high))}", class_="reach")
    place["r"] = at(2.5 + 5 * sqrt(n / total))
    return tag("g", tag("title", told), reach, tag("circle", **place), class_="few" if n < FEW else None)


def wilson(share: float, n: float, z: float = 1.959964) -> tuple[float, float]:
    """The 95 % interval of a share of n rows.

        (p + z^2 / 2n +- z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n)

    >>> [round(end, 3) for end in wilson(0.5, 10)]
    [0.237, 0.763]

    References
    ----------
    Wilson: Probable inference, the law of succession, and statistical inference. doi:10.1080/01621459.1927.10502953
    """
    centre = share + z * z / (2 * n)
    reach = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    whole = 1 + z * z / n
    return max(0.0, (centre - reach) / whole), min(1.0, (centre + reach) / whole)
