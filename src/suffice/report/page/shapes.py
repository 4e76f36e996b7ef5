"""Small charts of what columns say: curves and steps about zero, bars to both sides, and maps in colour."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import ceil, isfinite
from typing import NamedTuple

import numpy as np

from suffice.report.page.charts import Scale, calendar, day, label, labels, scale
from suffice.report.page.html import Html, join, number, tag

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 320, 176, 40, 8, 8, 24
SMALL = 0.5  # below which no bar is full, and no colour
ROOM = 32  # characters below a chart
COLOURS = 8  # of the style sheet


def breakable(name: str) -> Html:
    """A name that may go on in the next line after an underscore, a full stop, a slash or a hyphen.

    >>> breakable("od280_od315")
    'od280_<wbr>od315'
    """
    return join(re.split(r"(?<=[_./-])(?=\w)", name), Html("<wbr>"))


class Curve(NamedTuple):
    """A curve: its name, which of the colours it has, and its points (x, y)."""

    name: str
    colour: int
    points: Sequence[tuple[float, float]]


class Cloud(NamedTuple):
    """Points (x, y) of one of the colours."""

    colour: int
    points: Sequence[tuple[float, float]]


class ColumnAxis(NamedTuple):
    """How a column is laid out from left to right: evenly, by calendar, or with a place for each of some numbers."""

    dates: bool = False
    stops: Sequence[float] = ()

    def place(self, x: float) -> float:
        """Where a number is drawn on the scale."""
        return float(np.interp(x, self.stops, np.arange(len(self.stops)))) if self.stops else x

    def scale(self, values: Iterable[float]) -> tuple[Scale, list[str]]:
        """The scale that holds places, and the names of its ticks."""
        x = scale(values, LEFT, WIDTH - RIGHT, snug=True)
        if self.dates:
            x = x._replace(ticks=calendar(x.low, x.high))
            return x, [day(tick) for tick in x.ticks]
        if self.stops:
            places = [round(share * (len(self.stops) - 1)) for share in (0.05, 0.35, 0.65, 0.95)]
            return x._replace(ticks=tuple(map(float, places))), labels([self.stops[at] for at in places])
        return x, labels(x.ticks)


EVEN = ColumnAxis()


def clouds(title: str, note: str, drawn: Sequence[Cloud], axis: ColumnAxis = EVEN) -> Html:
    """Points over a column of numbers, on an axis that holds zero."""
    points = [(x, y) for cloud in drawn for x, y in cloud.points if isfinite(x) and isfinite(y)]
    if not points:
        return Html()
    x, names = axis.scale(axis.place(at) for at, _ in points)
    y = scale([0.0, *(value for _, value in points)], HEIGHT - BOTTOM, TOP)
    marks = []
    for cloud in drawn:
        path = "".join(f"M{_at(x(a))} {_at(y(b))}h0" for a, b in cloud.points if isfinite(a) and isfinite(b))
        marks.append(tag("g", tag("path", d=path, class_="points"), class_=f"series s{cloud.colour % COLOURS}"))
    told = f"{title}: what it adds, row by row"
    picture = tag("svg", *_frame(x, y, names), *marks, viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", aria_label=told)
    return tag("figure", _caption(title, note), picture, class_="shape")


def curves(title: str, note: str, lines: Sequence[Curve], filled: bool = False, axis: ColumnAxis = EVEN) -> Html:
    """Curves over a column of numbers, on an axis that holds zero.

    Parameters
    ----------
    title, note : str
        What stands above, the note in grey.
    lines : sequence of Line
        Drawn in their order.
    filled : bool, default=False
        Whether the area down to zero is tinted.
    axis : Axis
        How the column is laid out.
    """
    points = [(x, y) for line in lines for x, y in line.points if isfinite(x) and isfinite(y)]
    if not points:
        return Html()
    x, names = axis.scale(axis.place(at) for at, _ in points)
    y = scale([0.0, *(value for _, value in points)], HEIGHT - BOTTOM, TOP)
    drawn = [_line(_placed(line, axis), x, y, filled) for line in lines if line.points]
    told = f"{title}: {note}" if note else title
    picture = tag("svg", *_frame(x, y, names), *drawn, viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", aria_label=told)
    return tag("figure", _caption(title, note), picture, class_="shape")


def _caption(title: str, note: str) -> Html:
    return tag("figcaption", breakable(title), " ", tag("span", note, class_="quiet") if note else None)


def _frame(x: Scale, y: Scale, names: Sequence[str]) -> list[Html]:
    lines = "".join(f"M{_at(x.start)} {_at(y(tick))}H{_at(x.end)}" for tick in y.ticks)
    every = max(1, ceil(sum(map(len, names)) / ROOM))  # long numbers stand at some of the ticks
    told = list(zip(x.ticks, names, strict=True))[::every]
    below = [tag("text", name, x=_at(x(tick)), y=_at(y.start + 16)) for tick, name in told]
    beside = [tag("text", label(tick), x=_at(x.start - 6), y=_at(y(tick) + 4)) for tick in y.ticks]
    return [
        tag("path", d=lines, class_="grid-line"),
        tag("path", d=f"M{_at(x.start)} {_at(y(0.0))}H{_at(x.end)}", class_="zero-line"),
        tag("g", *below, class_="x"),
        tag("g", *beside, class_="y"),
    ]


def _placed(line: Curve, axis: ColumnAxis) -> Curve:
    return line._replace(points=[(axis.place(x), y) for x, y in line.points])


def _line(line: Curve, x: Scale, y: Scale, filled: bool) -> Html:
    places = [f"{_at(x(a))} {_at(y(b))}" for a, b in line.points]
    path = tag("path", d="M" + "L".join(places))
    (first, _), (last, _) = line.points[0], line.points[-1]
    down = f"L{_at(x(last))} {_at(y(0.0))}L{_at(x(first))} {_at(y(0.0))}Z"
    area = tag("path", d="M" + "L".join(places) + down, class_="area") if filled else None
    return tag("g", tag("title", line.name), area, path, class_=f"series s{line.colour % COLOURS}")


def _at(place: float) -> str:
    return f"{round(place, 1):g}"


def diverging_bars(title: str, note: str, bars: Sequence[tuple[str, float, float]]) -> Html:
    """A bar to the right or to the left for each name, with its value and the rows behind it.

    Parameters
    ----------
    bars : sequence of (name, value, rows)
    """
    full = max(SMALL, *(abs(value) for _, value, _ in bars if isfinite(value)), 0.0)
    rows = [
        tag(
            "tr",
            tag("th", breakable(name), scope="row"),
            tag("td", _both_ways(value / full)),
            tag("td", signed(value), class_="number"),
            tag("td", f"{count:,.6g}", class_="number quiet"),
        )
        for name, value, count in bars
    ]
    heads = (tag("th", name, scope="col") if name else tag("td") for name in ("value", "", "adds", "rows"))
    head = tag("thead", tag("tr", *heads), class_="spoken")
    table = tag("table", tag("caption", title, class_="spoken"), head, tag("tbody", *rows), class_="diverging")
    return tag("figure", _caption(title, note), table, class_="shape")


def _both_ways(share: float) -> Html:
    share = max(-1.0, min(1.0, share))
    left = 50.0 if share >= 0 else 50.0 * (1 + share)
    place = f"left:{left:.2f}%;width:{max(50 * abs(share), 0.4):.2f}%"
    return tag("span", tag("i", class_=f"fill {'plus' if share >= 0 else 'minus'}", style=place), class_="lane")


def heat_map(
    title: str, note: str, rows: Sequence[str], columns: Sequence[str], values: Sequence[Sequence[float]]
) -> Html:
    """A table of numbers in colour: blue above zero, red below; it scrolls within its own frame."""
    sizes = [abs(value) for line in values for value in line if isfinite(value)]
    full = max(SMALL, *sizes, 0.0)
    head = tag("tr", tag("td"), *(tag("th", name, scope="col") for name in columns))
    body = [
        tag("tr", tag("th", name, scope="row"), *(_warm(value, full) for value in line))
        for name, line in zip(rows, values, strict=True)
    ]
    table = tag("table", tag("caption", title, class_="spoken"), tag("thead", head), tag("tbody", *body), class_="heat")
    frame = tag("div", table, class_="frame", tabindex=0, role="region", aria_label=title)
    return tag("figure", _caption(title, note), frame, class_="shape")


def _warm(value: float, full: float) -> Html:
    share = min(1.0, abs(value) / full)
    return tag("td", signed(value), class_="up" if value >= 0 else "down", style=f"--share:{share:.3f}")


def signed(value: float) -> str:
    """A number with its sign; what rules a class out, in words.

    >>> signed(0.254), signed(-0.001), signed(-1e9)
    ('+0.25', '0.00', 'never')
    """
    if abs(value) > 1e6:
        return "never" if value < 0 else "always"
    return ("+" if value >= 0.005 else "") + number(value, 2)
