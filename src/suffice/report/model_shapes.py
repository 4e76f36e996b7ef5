"""What every column and pair of a nomogram adds, as small charts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from suffice._core.formula import Choices, Intervals, Reading
from suffice._core.vector import Array
from suffice._estimator.explaining import beyond_mean
from suffice._runtime.messages import join_words
from suffice.additive.shapes import called as cell_names
from suffice.models import Nomogram
from suffice.models.overview import Overview
from suffice.models.terms import Cells, Form, Gap, Map, Term
from suffice.report import page
from suffice.report.nomogram import Control, called, named
from suffice.report.page import Html
from suffice.report.page.shapes import COLOURS, ColumnAxis, Curve, curves, diverging_bars, heat_map, signed

POINTS = 61  # of a smooth curve
CLASSES = COLOURS  # whose curves are drawn
FIRST = 12  # charts that are not folded away
MOST = 60  # charts at all
ROWS = 14  # categories of a chart


def colour_of(c: int, which: Sequence[int], k: int) -> int:
    """Which of the colours a class has: its own if there are enough for all k, else by its place among those drawn."""
    return c if k <= COLOURS else list(which).index(c)


class Drawing(NamedTuple):
    """What charts are made from."""

    nomogram: Nomogram
    controls: dict[Any, Control]
    known: Overview
    classes: Sequence[str]
    which: list[int]  # the classes that are drawn

    def colour(self, c: int) -> int:
        """Which of the colours a class has."""
        return colour_of(c, self.which, len(self.classes))


def shapes(
    nomogram: Nomogram, controls: Sequence[Control], known: Overview, classes: Array, counts: Array, keys: Sequence[Any]
) -> Html:
    """A chart for each key, in their order; those after the first few are folded away."""
    names = [named(label) for label in classes]
    which = sorted(np.argsort(-counts, kind="stable")[:CLASSES].tolist())
    drawing = Drawing(nomogram, {control.key: control for control in controls}, known, names, which)
    each = [chart for key in keys[:MOST] if (chart := _chart(drawing, key))]
    if not each:
        return Html()
    first, more = each[:FIRST], each[FIRST:]
    rest = page.fold(f"{len(more)} more", page.tag("div", *more, class_="shapes")) if more else None
    left = page.paragraph(f"{len(keys) - MOST} more are not drawn.", quiet=True) if len(keys) > MOST else None
    return page.join([_legend(drawing), page.tag("div", *first, class_="shapes"), rest, left])


def _legend(drawing: Drawing) -> Html:
    """What the numbers are, and the colours of classes where there are several curves."""
    if len(drawing.classes) == 2:
        return page.paragraph(
            f"Added to the log-odds of {drawing.classes[1]} against {drawing.classes[0]}: above zero speaks for "
            f"{drawing.classes[1]}.",
            quiet=True,
        )
    keys = [
        page.tag("span", page.tag("i", class_=f"s{drawing.colour(c)}"), drawing.classes[c], class_="key-of")
        for c in drawing.which
    ]
    few = len(drawing.which) < len(drawing.classes)
    more = f" Drawn are the {len(drawing.which)} classes of the most rows." if few else ""
    note = page.paragraph(f"Added to the score of each class, beyond the mean of all classes.{more}", quiet=True)
    return note + page.tag("p", *keys, class_="colours")


def _chart(drawing: Drawing, key: Any) -> Html:
    terms = [term for term in drawing.nomogram.terms if term.key == key and not isinstance(term, Form)]
    maps = [term for term in terms if isinstance(term, Map)]
    if maps:
        return page.join(_map(drawing, key, terms, maps[0], c) for c in _rows_of(drawing))
    if not terms or len(terms[0].columns) != 1:
        return Html()
    control = drawing.controls[key]
    return _curve(drawing, control, terms) if control.numeric else _bars(drawing, control, terms)


def _rows_of(drawing: Drawing) -> list[int]:
    """The classes that have a picture of their own: the second of two, or those that are drawn."""
    return [1] if len(drawing.classes) == 2 else drawing.which[:3]


def _added(terms: Sequence[Term], *entries: Array) -> Array:
    """What terms add, beyond the mean of the classes (n, k)."""
    return beyond_mean(np.asarray(sum(term.value(*entries) for term in terms)), 1)


def _odds(drawing: Drawing, added: Array, c: int) -> Array:
    return added[:, 1] - added[:, 0] if len(drawing.classes) == 2 else added[:, c]


def _absent(drawing: Drawing, terms: Sequence[Term]) -> str:
    """What a missing entry adds, where that is told."""
    if len(drawing.classes) != 2 or not any(isinstance(term, Gap) for term in terms):
        return ""
    nothing = np.empty(1, dtype=object)
    nothing[0] = None
    return f"missing: {signed(float(_odds(drawing, _added(terms, nothing), 1)[0]))}"


def _curve(drawing: Drawing, control: Control, terms: Sequence[Term]) -> Html:
    edges = [
        term.reading.bounds[1:] for term in terms if isinstance(term, Cells) and isinstance(term.reading, Intervals)
    ]
    smooth = not edges
    cuts = np.unique(np.concatenate([*edges, np.zeros(0)]))
    inside = cuts[(cuts > control.low) & (cuts < control.high)]
    even = np.linspace(control.low, control.high, POINTS)
    at = (np.array(control.stops) if control.stops else even) if smooth else np.append(control.low, inside)
    added = _added(terms, at)
    ends = np.append(at[1:], control.high)
    lines = []
    for c in [1] if len(drawing.classes) == 2 else drawing.which:
        values = np.clip(_odds(drawing, added, c), -50.0, 50.0)
        steps = np.column_stack([at, values, ends, values]).reshape(-1, 2)
        points = np.column_stack([at, values]) if smooth else steps
        name = drawing.classes[c]
        lines.append(
            Curve(
                name, 0 if len(drawing.classes) == 2 else drawing.colour(c), [tuple(point) for point in points.tolist()]
            )
        )
    note = "; ".join(filter(None, [f"in {control.unit}" if control.unit else "", _absent(drawing, terms)]))
    return curves(
        control.name, note, lines, filled=len(drawing.classes) == 2, axis=ColumnAxis(control.dates, control.stops)
    )


def _bars(drawing: Drawing, control: Control, terms: Sequence[Term]) -> Html:
    values = np.empty(0, dtype=object) if control.values is None else control.values
    known = drawing.known.get(control.key)
    count = {} if known is None else dict(zip(known.values, known.weight.tolist(), strict=True))
    rows = np.array([count.get(value, 0.0) for value in values])
    most = np.sort(np.argsort(-rows, kind="stable")[:ROWS])
    note = f"the {ROWS} most frequent of {len(values)} values" if len(values) > ROWS else ""
    note = "; ".join(filter(None, [note, _absent(drawing, terms)]))
    added = _added(terms, values[most])
    names = [control.options[i] for i in most]
    if len(drawing.classes) == 2:
        odds = _odds(drawing, added, 1).tolist()
        return diverging_bars(control.name, note, list(zip(names, odds, rows[most].tolist(), strict=True)))
    shown = [drawing.classes[c] for c in drawing.which]
    return heat_map(control.name, note, names, shown, added[:, drawing.which].tolist())


def _map(drawing: Drawing, key: Any, terms: Sequence[Term], term: Map, c: int) -> Html:
    a, b = (_cells(side, drawing.controls[column]) for side, column in zip(term.sides, term.columns, strict=True))
    (rows, us), (columns, vs) = a, b
    u, v = np.repeat(np.arange(len(us)), len(vs)), np.tile(np.arange(len(vs)), len(us))
    values = _odds(drawing, _added(terms, us[u], vs[v]), c).reshape(len(us), len(vs))
    title = called(key) if len(drawing.classes) == 2 else f"{called(key)}: {drawing.classes[c]}"
    return heat_map(title, f"{named(term.columns[0])} downwards", rows, columns, values.tolist())


def _cells(reading: Reading, control: Control) -> tuple[list[str], Array]:
    """What the cells of a side are called, and an entry of each."""
    if isinstance(reading, Intervals):
        bounds = reading.bounds
        if len(bounds) == 1:
            return ["all"], np.array([control.start])
        first = np.nextafter(bounds[1], -np.inf)
        return cell_names(bounds, {}, {}, control.dates), np.append(first, bounds[1:])
    return _groups(reading)


def _groups(reading: Choices) -> tuple[list[str], Array]:
    """Categories that share a cell, by their names; of many the first. A cell without any is left out."""
    cells = np.unique(reading.cell)
    names, entries = [], np.empty(len(cells), dtype=object)
    for at, cell in enumerate(cells):
        members = reading.values[reading.cell == cell]
        names.append(join_words(map(named, members), 2))
        entries[at] = members[0]
    return names, entries
