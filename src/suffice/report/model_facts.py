"""What a fitted classifier is, and the sums that it was learned from, for its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from suffice._vector import Array
from suffice.additive._names import date
from suffice.encoders.columns import DATES
from suffice.models._overview import Overview, Summary
from suffice.report import page
from suffice.report.controls import named
from suffice.report.model_shapes import colour_of
from suffice.report.page import Heading, Html, Value
from suffice.report.page._shapes import Line, curves

CLASSES = 30  # that are listed
COLUMNS = 40  # of which the sums are shown
BY_CLASS = 6  # classes of which the sums are shown
CATEGORIES = 20  # of a column
DENSITIES = 12  # columns whose densities are drawn
IN_DAYS = (
    " Durations, and standard deviations of dates, are in days, times of day in hours; "
    "dates that had a time zone are in UTC."
)
WIDE = 3.5  # standard deviations that are drawn


def settings(model: Any) -> str:
    """Those that differ from the default; of an encoder, that there is one."""
    default = {} if not _plain_start(model) else type(model)().get_params(deep=False)
    given = model.get_params(deep=False)
    said = [
        f"{name}={'that of another fit' if name == 'encoder' else _short(value)}"
        for name, value in given.items()
        if _short(value) != _short(default.get(name))
    ]
    return ", ".join(said) or "as they are by default"


def _plain_start(model: Any) -> bool:
    try:
        type(model)()
    except TypeError:
        return False
    return True


def _short(value: Any) -> str:
    shown = " ".join(repr(value).split())
    return shown if len(shown) <= 200 else f"{shown[:200]} ..."


def facts(model: Any, width: int, notes: Sequence[str]) -> Html:
    """Estimator, settings, rows, classes, columns, and what learning had to say."""
    rows = float(model.class_count_.sum())
    lines: list[tuple[str, object]] = [
        ("estimator", type(model).__name__),
        ("what it is", (type(model).__doc__ or "").strip().split("\n")[0]),
        ("settings", settings(model)),
        ("rows learned", f"{rows:,.6g}"),
        ("columns", f"{width:,}"),
        ("classes", f"{len(model.classes_):,}"),
        *_learning(model),
    ]
    table = page.tag(
        "table",
        page.tag("caption", "The model", class_="spoken"),
        page.tag("tbody", *(_fact(*line) for line in lines)),
        class_="facts",
    )
    return page.join([table, page.bullets(notes), _classes(model), _became(model)])


def _fact(name: str, value: object) -> Html:
    return page.tag("tr", page.tag("th", name, scope="row"), page.tag("td", value))


def _learning(model: Any) -> list[tuple[str, object]]:
    """How learning went, where there is something to say."""
    found: list[tuple[str, object]] = []
    if model.n_iter_ > 1:
        end = "came to its end" if model.converged_ else "was stopped before its end"
        found.append(("learning", f"{model.n_iter_} passes; {end}"))
    stale = getattr(model, "stale_", None)
    if stale is not None:
        words = "yes: rows have come or gone since; `recalibrate(X, y)` learns anew" if stale else "no"
        found.append(("stale", words))
    return found


def _classes(model: Any) -> Html:
    mass = model.class_count_
    each = sorted(zip(model.classes_, mass.tolist(), strict=True), key=lambda one: -one[1])
    rows = [[named(label), Value(n, 0), Value(100 * n / mass.sum(), 1)] for label, n in each]
    more = f"{len(rows) - CLASSES} more classes are not listed." if len(rows) > CLASSES else None
    table = page.data_table(["class", "rows", "%"], rows[:CLASSES], "Classes", filtered=False)
    return page.block("Classes", table, note=more)


def _became(model: Any) -> Html:
    """What became of every column, where the model keeps account of that."""
    columns: Mapping[Any, Any] = getattr(model, "columns_", {})
    rows = [[named(note.name), note.holds, note.kind, note.note] for note in columns.values()]
    if not rows:
        return Html()
    table = page.data_table(["column", "holds", "read as", "what became of it"], rows, "Columns")
    return page.block("Columns", page.fold(f"What became of {len(rows)} columns", table))


def sums(known: Overview, keys: Sequence[Any], classes: Array, counts: Array, holds: Mapping[Any, str]) -> Html:
    """Counts, means and standard deviations by class of columns of numbers, and counts of categories.

    `holds` says which columns hold dates, durations or times.
    """
    which = sorted(np.argsort(-counts, kind="stable")[:BY_CLASS].tolist())
    names = [named(label) for label in classes]
    shown = [(key, known[key]) for key in keys[:COLUMNS] if key in known]
    numeric = [(key, summary) for key, summary in shown if summary.mean is not None]
    others = [(key, summary) for key, summary in shown if summary.mean is None]
    left = len(keys) - COLUMNS
    note = f"The {COLUMNS} columns that count most; {left} more are not shown." if left > 0 else None
    few = f"Classes with fewer rows are not shown: {len(names) - BY_CLASS} of them." if len(names) > BY_CLASS else None
    return page.join(
        [
            page.paragraph(note, quiet=True) if note else None,
            page.paragraph(few, quiet=True) if few else None,
            _numbers(numeric, names, which, holds),
            page.join(_categories(key, summary, names, which) for key, summary in others),
        ]
    )


def _numbers(
    shown: Sequence[tuple[Any, Summary]], names: Sequence[str], which: Sequence[int], holds: Mapping[Any, str]
) -> Html:
    if not shown:
        return Html()
    heads: list[Heading | str] = [Heading("column")]
    for c in which:
        heads += [Heading("rows", names[c]), Heading("mean", names[c]), Heading("sd", names[c])]
    rows = [
        [named(key), *(cell for c in which for cell in _moments(summary, c, holds.get(key) == DATES))]
        for key, summary in shown
    ]
    table = page.data_table(heads, rows, "Sums of numbers by class")
    note = "Rows that have a value, their mean and standard deviation."
    note += IN_DAYS * any(key in holds for key, _ in shown)
    return page.block("Columns of numbers", table, note=note)


def _moments(summary: Summary, c: int, dates: bool) -> list[object]:
    mean = np.nan if summary.mean is None else float(summary.mean[c])
    spread = np.nan if summary.spread is None else float(summary.spread[c])
    shown: object = date(mean) if dates and np.isfinite(mean) else _value(mean, spread)
    return [Value(float(summary.count[c]), 0), shown, _value(spread, spread)]


def _value(value: float, spread: float) -> Value:
    """A number with about three digits of its spread."""
    if not np.isfinite(value):
        return Value(None)
    size = spread if np.isfinite(spread) and spread > 0 else abs(value)
    return Value(value, int(np.clip(2 - np.floor(np.log10(size or 1.0)), 0, 9)))


def _categories(key: Any, summary: Summary, names: Sequence[str], which: Sequence[int]) -> Html:
    most = np.argsort(-summary.weight, kind="stable")[:CATEGORIES]
    rows = [[named(summary.values[i]), *(Value(float(summary.table[c, i]), 0) for c in which)] for i in most]
    more = len(summary.values) - len(most)
    note = page.paragraph(f"{more} less frequent values are not shown.", quiet=True) if more > 0 else None
    table = page.data_table(["value", *(names[c] for c in which)], rows, f"Rows by {named(key)} and class")
    return page.fold(f"{named(key)}: rows by value and class", table, note)


def densities(
    mean: Array, variance: Array, keys: Sequence[Any], classes: Array, p: Array, order: Sequence[Any]
) -> Html:
    """The normal density of every class in a column, of the columns that count most.

    Parameters
    ----------
    mean, variance : arrays of shape (k, d)
    p : array of shape (k,)
        Class probabilities, by which densities are weighed.
    """
    place = {key: j for j, key in enumerate(keys)}
    which = sorted(np.argsort(-p, kind="stable")[:BY_CLASS].tolist())
    shown = [key for key in order if key in place and (variance[:, place[key]] > 0).any()][:DENSITIES]
    charts = [_density(mean[:, place[key]], variance[:, place[key]], named(key), classes, p, which) for key in shown]
    names = [
        page.tag("span", page.tag("i", class_=f"s{colour_of(c, which, len(p))}"), named(classes[c]), class_="key-of")
        for c in which
    ]
    return page.tag("p", *names, class_="colours") + page.tag("div", *charts, class_="shapes") if charts else Html()


def _density(mean: Array, variance: Array, name: str, classes: Array, p: Array, which: Sequence[int]) -> Html:
    sd = np.sqrt(variance[which])
    low, high = float((mean[which] - WIDE * sd).min()), float((mean[which] + WIDE * sd).max())
    x = np.linspace(low, high, 121)
    lines = []
    for c in which:
        if variance[c] > 0:
            z = (x - mean[c]) / np.sqrt(variance[c])
            y = p[c] * np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi * variance[c])
            lines.append(
                Line(named(classes[c]), colour_of(c, which, len(p)), list(zip(x.tolist(), y.tolist(), strict=True)))
            )
    return curves(name, "", lines, filled=True)
