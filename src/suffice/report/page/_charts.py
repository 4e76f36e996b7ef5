"""Charts as inline SVG: lines, reliability, bars. Colours come from the style sheet, so that they follow the theme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, isnan, nan

from suffice.report.page._html import Html, tag
from suffice.report.page._scale import Scale, label, scale, thinned

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
