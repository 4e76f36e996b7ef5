"""Small charts of columns: what each adds to the classes, by a nomogram or for given rows, and normal densities."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from suffice._core.formula import Choices, Intervals, Reading
from suffice._core.kinds import ColumnContent, ColumnScale
from suffice._core.labels import missing
from suffice._core.vector import Array
from suffice._estimator.explaining import Contributions, beyond_mean
from suffice.additive.shapes import cell_names
from suffice.encoders.table import Column
from suffice.models import Nomogram
from suffice.models.overview import Overview
from suffice.models.terms import Cells, Form, Gap, Map, Term
from suffice.report import page
from suffice.report.nomogram import UNITS, Control, called, named
from suffice.report.page import Html
from suffice.report.page.charts import (
    SERIES,
    ColumnAxis,
    ColumnLine,
    colour_key,
    column_chart,
    diverging_bars,
    heat_map,
    signed,
)

CURVE_POINTS = 61
MAX_ODDS = 50.0  # contributions beyond are cut off
MAX_UNFOLDED = 12  # charts; the rest is folded away
MAX_CHARTS = 60
MAX_CHARTS_OF_ROWS = 40
MAX_CATEGORIES = 14  # in a chart, the most frequent ones
MAX_MAPS = 3  # classes with a map of their own, or with points
MAX_POINTS = 400  # rows drawn as points
MAX_DENSITIES = 12  # columns
MAX_DENSITY_CLASSES = 6
DENSITY_REACH = 3.5  # standard deviations drawn on either side of a mean
MISSING = "(missing)"


def largest(counts: Array, most: int) -> list[int]:
    """Return the `most` classes with the most rows, in order of the classes."""
    found: list[int] = np.sort(np.argsort(-counts, kind="stable")[:most]).tolist()
    return found


def _colours(which: Sequence[int], k: int) -> dict[int, int]:
    """Return the colour of each class: its own if there are enough for all k, else by its place among `which`."""
    return {c: c if k <= SERIES else i for i, c in enumerate(which)}


def _grid(charts: Sequence[Html]) -> Html:
    """Charts side by side; those after the first twelve are folded away."""
    first, more = charts[:MAX_UNFOLDED], charts[MAX_UNFOLDED:]
    rest = page.fold(f"{len(more)} more", page.tag("div", *more, class_="shapes")) if more else None
    return page.join([page.tag("div", *first, class_="shapes"), rest])


class ColumnCharts(NamedTuple):
    """Charts of the terms of a nomogram."""

    nomogram: Nomogram
    controls: dict[Any, Control]
    known: Overview
    classes: Sequence[str]
    colours: dict[int, int]  # of the classes that are drawn

    @property
    def two(self) -> bool:
        """True for two classes, whose log-odds are drawn."""
        return len(self.classes) == 2

    def explanation(self) -> Html:
        """The meaning of the numbers, and the colours of the classes if there are several curves."""
        first, second = self.classes[0], self.classes[-1]
        if self.two:
            text = f"Added to the log-odds of {second} against {first}: above zero speaks for {second}."
            return page.paragraph(text, quiet=True)
        fewer = len(self.colours) < len(self.classes)
        more = f" Drawn are the {len(self.colours)} classes of the most rows." * fewer
        note = page.paragraph(f"Added to the score of each class, beyond the mean of all classes.{more}", quiet=True)
        return note + colour_key({self.classes[c]: colour for c, colour in self.colours.items()})

    def chart(self, key: Any) -> Html:
        """The chart of a column or a pair; of a pair of several classes, a map for each of three."""
        terms = [term for term in self.nomogram.terms if term.key == key and not isinstance(term, Form)]
        maps = [term for term in terms if isinstance(term, Map) and len(term.columns) == 2]
        if maps:
            shown = [1] if self.two else [*self.colours][:MAX_MAPS]
            return page.join(self._map(key, terms, maps[0], c) for c in shown)
        if not terms or len(terms[0].columns) != 1:
            return Html()
        control = self.controls[key]
        return self._curves(control, terms) if control.numeric else self._bars(control, terms)

    def _added(self, terms: Sequence[Term], *entries: Array) -> Array:
        """What terms add at entries, by class (n, k): log-odds of the second of two, else beyond the mean of all."""
        added = beyond_mean(np.asarray(sum(term.value(*entries) for term in terms)), 1)
        return np.repeat(added[:, 1:] - added[:, :1], 2, axis=1) if self.two else added

    def _missing(self, terms: Sequence[Term]) -> str:
        """What a missing entry adds, if the model says so."""
        if not self.two or not any(isinstance(term, Gap) for term in terms):
            return ""
        nothing = np.empty(1, dtype=object)
        nothing[0] = None
        return f"missing: {signed(float(self._added(terms, nothing)[0, 1]))}"

    def _curves(self, control: Control, terms: Sequence[Term]) -> Html:
        edges = [t.reading.bounds[1:] for t in terms if isinstance(t, Cells) and isinstance(t.reading, Intervals)]
        cuts = np.unique(np.concatenate([*edges, np.zeros(0)]))
        if edges:  # steps
            at = np.append(control.low, cuts[(cuts > control.low) & (cuts < control.high)])
        else:
            at = np.array(control.stops) if control.stops else np.linspace(control.low, control.high, CURVE_POINTS)
        added = np.clip(self._added(terms, at), -MAX_ODDS, MAX_ODDS)
        ends = np.append(at[1:], control.high)
        lines = []
        for c, colour in ({1: 0} if self.two else self.colours).items():
            values = added[:, c]
            points = np.column_stack([at, values, ends, values] if edges else [at, values]).reshape(-1, 2)
            lines.append(ColumnLine(self.classes[c], colour, list(map(tuple, points.tolist()))))
        note = "; ".join(filter(None, [f"in {control.unit}" * bool(control.unit), self._missing(terms)]))
        axis = ColumnAxis(control.dates, control.stops)
        return column_chart(control.name, note, lines, axis, "area" if self.two else "line")

    def _bars(self, control: Control, terms: Sequence[Term]) -> Html:
        values = np.empty(0, dtype=object) if control.values is None else control.values
        known = self.known.get(control.key)
        count = {} if known is None else dict(zip(known.values, known.weight.tolist(), strict=True))
        rows = np.array([count.get(value, 0.0) for value in values])
        most = np.sort(np.argsort(-rows, kind="stable")[:MAX_CATEGORIES])
        few = f"the {MAX_CATEGORIES} most frequent of {len(values)} values" * (len(values) > MAX_CATEGORIES)
        note = "; ".join(filter(None, [few, self._missing(terms)]))
        added = self._added(terms, values[most])
        names = [control.options[i] for i in most]
        if self.two:
            bars = zip(names, added[:, 1].tolist(), rows[most].tolist(), strict=True)
            return diverging_bars(control.name, note, list(bars))
        shown = [self.classes[c] for c in self.colours]
        return heat_map(control.name, note, names, shown, added[:, list(self.colours)].tolist())

    def _map(self, key: Any, terms: Sequence[Term], term: Map, c: int) -> Html:
        a, b = (_cells(side, self.controls[column]) for side, column in zip(term.sides, term.columns, strict=True))
        (rows, us), (columns, vs) = a, b
        u, v = np.repeat(np.arange(len(us)), len(vs)), np.tile(np.arange(len(vs)), len(us))
        values = self._added(terms, us[u], vs[v])[:, c].reshape(len(us), len(vs))
        title = called(key) if self.two else f"{called(key)}: {self.classes[c]}"
        return heat_map(title, f"{named(term.columns[0])} downwards", rows, columns, values.tolist())


def _cells(reading: Reading, control: Control) -> tuple[list[str], Array]:
    """Return the names of the cells of a column, and an entry of each."""
    if isinstance(reading, Choices):  # at most two categories of each cell are named; empty cells are left out
        cells = np.unique(reading.cell)
        names, entries = [], np.empty(len(cells), dtype=object)
        for at, cell in enumerate(cells):
            members = reading.values[reading.cell == cell]
            more = f" and {len(members) - 2} more" * (len(members) > 2)
            names.append(", ".join(map(named, members[:2])) + more)
            entries[at] = members[0]
        return names, entries
    bounds = reading.bounds
    if len(bounds) == 1:
        return ["all"], np.array([control.start])
    return cell_names(bounds, {}, {}, control.dates), np.append(np.nextafter(bounds[1], -np.inf), bounds[1:])


def shapes(
    nomogram: Nomogram, controls: Sequence[Control], known: Overview, classes: Array, counts: Array, keys: Sequence[Any]
) -> Html:
    """A chart for each key, in their order: what the column or pair adds over its values."""
    names = [named(label) for label in classes]
    by_key = {control.key: control for control in controls}
    charts = ColumnCharts(nomogram, by_key, known, names, _colours(largest(counts, SERIES), len(names)))
    each = [chart for key in keys[:MAX_CHARTS] if (chart := charts.chart(key))]
    if not each:
        return Html()
    left = len(keys) - MAX_CHARTS
    more = page.paragraph(f"{left} more are not drawn.", quiet=True) if left > 0 else None
    return page.join([charts.explanation(), _grid(each), more])


def along(found: Contributions, column_of: Any, known: Collection[Any], counts: Array) -> Html:
    """What each known column added to the answers for given rows, over its values: a point for each row.

    `column_of` returns the `Column` of a key.
    """
    two = len(found.classes) == 2
    which = [1] if two else largest(counts, MAX_MAPS)
    names = [named(found.classes[c]) for c in which]
    each = [
        _along(found, found.names.index(key), column_of(key), which, names)
        for key in list(found.importances)[:MAX_CHARTS_OF_ROWS]
        if key in known
    ]
    if not each:
        return Html()
    what = f"the log-odds of {names[0]} against {named(found.classes[0])}"
    if not two:
        what = f"the score of a class ({', '.join(names)}), beyond the mean of all classes"
    note = page.paragraph(
        f"A point is a row that was given: what the column added to {what}. Other columns of the row have a part in "
        "it, so that equal values may add different things.",
        quiet=True,
    )
    return page.join([note, None if two else colour_key({name: i for i, name in enumerate(names)}), _grid(each)])


def _along(found: Contributions, at: int, column: Column, which: Sequence[int], names: Sequence[str]) -> Html:
    name, terms = named(found.names[at]), found.terms[:, :, at]
    added = (terms[:, 1:] - terms[:, :1]) if terms.shape[1] == 2 else terms[:, list(which)]  # (n, classes drawn)
    scale, kind = column.kind()[:2]
    if scale is ColumnScale.NUMBER:
        x = column.numbers()[: len(added)]
        some = np.unique(np.linspace(0, len(x) - 1, min(len(x), MAX_POINTS)).astype(int))
        absent = int((~np.isfinite(x)).sum())
        lines = [ColumnLine(of, i, list(zip(x[some], added[some, i], strict=True))) for i, of in enumerate(names)]
        unit = f"in {UNITS[kind]}" if kind in UNITS else ""
        lack = f"{absent:,} of {len(x):,} rows have no value and no point" if absent else ""
        note = "; ".join(filter(None, [unit, lack]))
        return column_chart(name, note, lines, ColumnAxis(kind == ColumnContent.DATES), "points")
    values = [MISSING if missing(value) else named(value) for value in column.categories()[: len(added)]]
    kinds, codes, count = np.unique(values, return_inverse=True, return_counts=True)
    most = np.sort(np.argsort(-count, kind="stable")[:MAX_CATEGORIES])
    mean = np.stack([np.bincount(codes, added[:, i]) for i in range(added.shape[1])], axis=1) / count[:, None]
    if added.shape[1] == 1:
        bars = list(zip(kinds[most], mean[most, 0].tolist(), count[most].tolist(), strict=True))
        return diverging_bars(name, "means by value", bars)
    return heat_map(name, "means by value", kinds[most].tolist(), names, mean[most].tolist())


def densities(
    mean: Array, variance: Array, keys: Sequence[Any], classes: Array, p: Array, order: Sequence[Any]
) -> Html:
    """The normal density of every class, of the first columns in `order`.

    Parameters
    ----------
    mean, variance : arrays of shape (k, d)
    p : array of shape (k,)
        Class probabilities, by which densities are weighted.
    """
    place = {key: j for j, key in enumerate(keys)}
    colours = _colours(largest(p, MAX_DENSITY_CLASSES), len(p))
    shown = [key for key in order if key in place and (variance[:, place[key]] > 0).any()][:MAX_DENSITIES]
    charts = []
    for key in shown:
        at = [(c, mean[c, place[key]], np.sqrt(variance[c, place[key]])) for c in colours]
        ends = [m + side * DENSITY_REACH * sd for _, m, sd in at for side in (-1, 1)]
        x = np.linspace(min(ends), max(ends), 121)
        lines = [
            ColumnLine(named(classes[c]), colours[c], list(zip(x.tolist(), y.tolist(), strict=True)))
            for c, m, sd in at
            if sd > 0
            for y in [p[c] * np.exp(-0.5 * ((x - m) / sd) ** 2) / (np.sqrt(2 * np.pi) * sd)]
        ]
        charts.append(column_chart(named(key), "", lines, kind="area"))
    key_of = colour_key({named(classes[c]): colour for c, colour in colours.items()})
    return key_of + page.tag("div", *charts, class_="shapes") if charts else Html()
