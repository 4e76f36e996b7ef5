"""Charts of many methods: errors with intervals, errors against time, and what is found at which price."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

from suffice.report.page._charts import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Curve,
    at,
    axes,
    colour_class,
    path,
    svg,
)
from suffice.report.page._html import Html, number, tag
from suffice.report.page._scale import label, scale

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
