"""The page of a fitted model: what it is, a row to set, what its columns say, and the sums it was learned from."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from suffice._core.kinds import ColumnContent, ColumnScale
from suffice._core.labels import date, missing
from suffice._core.probability import posterior
from suffice._core.vector import Array
from suffice._estimator.explaining import Contributions, beyond_mean
from suffice._runtime.messages import join_words
from suffice.encoders.table import Column
from suffice.models import Nomogram
from suffice.models.gaussian.base import Gaussian
from suffice.models.gaussian.moments import diagonal
from suffice.models.overview import Overview, Summary
from suffice.models.terms import Form, Term, keys_of
from suffice.report import model_page as model_facts
from suffice.report import page
from suffice.report.model_shapes import colour_of, shapes
from suffice.report.nomogram import DATE, UNITS, Control, called, controls, exported, form, named, quantiles
from suffice.report.page import Heading, Html, Section, Value
from suffice.report.page.shapes import (
    COLOURS,
    Cloud,
    ColumnAxis,
    Curve,
    breakable,
    clouds,
    curves,
    diverging_bars,
    heat_map,
    signed,
)
from suffice.report.subject import Subject, SubjectRows, subject

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


def facts(model: Any, width: str, notes: Sequence[str]) -> Html:
    """Estimator, settings, rows, classes, columns, and what learning had to say."""
    rows = float(model.class_count_.sum())
    lines: list[tuple[str, object]] = [
        ("estimator", type(model).__name__),
        ("what it is", (type(model).__doc__ or "").strip().split("\n")[0]),
        ("settings", settings(model)),
        ("rows learned", f"{rows:,.6g}"),
        ("learned from", width),
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
        words = "yes: rows have come or gone since; `recalibrate(X, y)` learns again" if stale else "no"
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


def sums(
    known: Overview, keys: Sequence[Any], ranked: bool, classes: Array, counts: Array, holds: Mapping[Any, str]
) -> Html:
    """Counts, means and standard deviations by class of columns of numbers, and counts of categories.

    `ranked` says whether the keys begin with those that count most, or are in the order of the table; `holds` which
    columns hold dates, durations or times.
    """
    which = sorted(np.argsort(-counts, kind="stable")[:BY_CLASS].tolist())
    names = [named(label) for label in classes]
    shown = [(key, known[key]) for key in keys[:COLUMNS] if key in known]
    numeric = [(key, summary) for key, summary in shown if summary.mean is not None]
    others = [(key, summary) for key, summary in shown if summary.mean is None]
    left = len(keys) - COLUMNS
    which_ones = f"The {COLUMNS} columns that count most" if ranked else f"The first {COLUMNS} columns of the table"
    note = f"{which_ones}; {left:,} more are not shown." if left > 0 else None
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
        [named(key), *(cell for c in which for cell in _moments(summary, c, holds.get(key) == ColumnContent.DATES))]
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
                Curve(named(classes[c]), colour_of(c, which, len(p)), list(zip(x.tolist(), y.tolist(), strict=True)))
            )
    return curves(name, "", lines, filled=True)


MANY = 64  # values of a column that an importance is taken from, at most
DRAWS = 1000  # rows of a normal class, at most
ENTRIES = 10_000_000  # of all that columns add to classes in these rows
CUT = 1e3  # of what rules a class out


def importances(
    nomogram: Nomogram, known: Overview, rows: float, given: Mapping[Any, float] | None = None
) -> dict[Any, float]:
    """The mean size of what each term adds over rows and classes, by key, the greatest first.

    They are those given, or those over values that stand for the rows learned, columns taken as independent; rows
    without a value have their part. Of a form every column has its own, over rows drawn from its normal classes.

    Parameters
    ----------
    nomogram : Nomogram
    known : Overview
        What the sums know of the columns.
    rows : float
        How many rows were learned.
    given : mapping, default=None
        Importances that were measured on rows.
    """
    sizes: dict[Any, float] = {}
    by_key: dict[Any, list[Term]] = {}
    for term in nomogram.terms:
        by_key.setdefault(term.key, []).append(term)
    for key, terms in by_key.items():
        form = next((term for term in terms if isinstance(term, Form)), None)
        sizes |= {key: _size_of(terms, known, rows)} if form is None else _of_form(form, known, rows)
    if given is not None:
        names = {called(key): key for key in sizes}
        sizes |= {names[called(key)]: size for key, size in given.items() if called(key) in names}
    return dict(sorted(sizes.items(), key=lambda item: -item[1]))


def _size_of(terms: list[Term], known: Overview, rows: float) -> float:
    """Of terms of one column or of a pair."""
    points = [_points(known.get(column), rows) for column in terms[0].columns]
    grids = np.meshgrid(*(np.arange(len(values)) for values, _ in points), indexing="ij")
    entries = [values[grid.ravel()] for (values, _), grid in zip(points, grids, strict=True)]
    weight = np.prod([w[grid.ravel()] for (_, w), grid in zip(points, grids, strict=True)], axis=0)
    return float(_sizes(np.asarray(sum(term.value(*entries) for term in terms)), weight))


def _of_form(form: Form, known: Overview, rows: float) -> dict[Any, float]:
    """Of every column of a form."""
    k, d = form.mean.shape
    draws = max(1, min(DRAWS, ENTRIES // (k * k * d)))
    noise = np.random.default_rng(0).standard_normal((draws, d))
    drawn = [o + m + noise @ _root(p).T for o, m, p in zip(form.origin, form.mean, form.precision, strict=True)]
    counts = [_count(known.get(column), rows, k) for column in form.columns]
    weight = np.repeat(np.mean(counts, axis=0) / draws, draws)
    sizes = _sizes(form.parts(np.concatenate(drawn)), weight)  # (d,)
    filled = [count.sum() / rows for count in counts]
    return {column: float(size * share) for column, size, share in zip(form.columns, sizes, filled, strict=True)}


def _root(precision: Array) -> Array:
    """A matrix R (d, d) with R R' the covariance of columns that count; others stay at their mean."""
    used = np.diag(precision) > 0
    root = np.zeros_like(precision)
    unit = np.sqrt(np.diag(precision)[used])
    correlation = precision[np.ix_(used, used)] / np.outer(unit, unit)
    values, vectors = np.linalg.eigh(correlation)
    root[np.ix_(used, used)] = vectors / np.sqrt(np.maximum(values, np.finfo(float).tiny)) / unit[:, None]
    return root


def _count(known: Summary | None, rows: float, k: int) -> Array:
    """How many rows have a value, by class (k,)."""
    return np.full(k, rows / k) if known is None else np.maximum(known.count, 0.0)


def _sizes(values: Array, weight: Array) -> Array:
    """The mean size of what is added beyond the mean of the classes: values (n, k, ...), weights (n,)."""
    added = np.clip(np.nan_to_num(beyond_mean(values, 1)), -CUT, CUT)  # a slope of what is missing adds nothing
    return np.asarray(np.tensordot(weight, abs(added).mean(axis=1), 1) / (weight.sum() or 1.0))


def _points(known: Summary | None, rows: float) -> tuple[Array, Array]:
    """Some values of a column and their weights, those of the greatest if there are many; the last is a missing one."""
    if known is None or not len(known.values):
        return np.zeros(1), np.ones(1)
    present = float(known.weight.sum())
    if known.mean is not None and len(known.values) > MANY:
        shares = (np.arange(MANY) + 0.5) / MANY
        values, weight = np.array(quantiles(known.values, known.weight, shares.tolist())), np.ones(MANY)
    else:
        most = np.argsort(-known.weight, kind="stable")[:MANY]
        values, weight = known.values[most], known.weight[most]
    gone = np.array([np.nan]) if known.mean is not None else np.array([None], dtype=object)
    weight = weight * (present / (weight.sum() or 1.0))
    return np.append(values, gone), np.append(weight, max(0.0, rows - present))


SHOWN = 20  # rows whose answers are shown
TERMS = 5  # of each of them
POINTS = 400  # rows that are drawn as points
CLASSES_SHOWN = 3  # of more than two, whose points are drawn
FIRST, MOST = 12, 40  # charts that are not folded away, and at all
GONE = "(missing)"
ROWS = 14  # values of a chart of categories


def answers(found: Contributions) -> Html:
    """The first rows, with what counted most for the class that is most probable."""
    scores = np.asarray(found.log_joint)
    top, p = scores.argmax(axis=1), posterior(scores)
    rows: list[list[object]] = []
    for i in range(min(len(found), SHOWN)):
        most = list(found.row(i).items())[:TERMS]
        said = "; ".join(f"{called(name)} {signed(value)}" for name, value in most)
        rows.append([f"row {i + 1}", named(found.classes[top[i]]), Value(100 * float(p[i, top[i]]), 1), said])
    two = len(found.classes) == 2
    note = "What counted most for the most probable class" + ", against the mean of the others." * (not two) + "." * two
    what = "its log-odds" if two else "log p of it less the mean of the others"
    heads = ["row", "most probable", "%", f"what columns add to {what}"]
    return page.block("Answers", page.data_table(heads, rows, "Rows that were given", filtered=False), note=note)


def along(found: Contributions, rows: SubjectRows, known: Collection[Any], counts: Array) -> Html:
    """What each column that is known added to the answers for rows, along its own values: a point for each row."""
    which = [1] if len(found.classes) == 2 else sorted(np.argsort(-counts, kind="stable")[:CLASSES_SHOWN].tolist())
    each = [
        _along(found, found.names.index(key), rows.column(key), which)
        for key in list(found.importances)[:MOST]
        if key in known
    ]
    if not each:
        return Html()
    of = [named(found.classes[c]) for c in which]
    two = f"the log-odds of {of[0]} against {named(found.classes[0])}"
    many = f"the score of a class ({', '.join(of)}), beyond the mean of all classes"
    note = page.paragraph(
        f"A point is a row that was given: what the column added to {two if len(found.classes) == 2 else many}. Other "
        "columns of the row have a part in it, so that equal values may add different things.",
        quiet=True,
    )
    keys = [page.tag("span", page.tag("i", class_=f"s{i}"), name, class_="key-of") for i, name in enumerate(of)]
    legend = page.tag("p", *keys, class_="colours") if len(of) > 1 else None
    more = each[FIRST:]
    rest = page.fold(f"{len(more)} more", page.tag("div", *more, class_="shapes")) if more else None
    return page.join([note, legend, page.tag("div", *each[:FIRST], class_="shapes"), rest])


def _along(found: Contributions, at: int, column: Column, which: Sequence[int]) -> Html:
    name = named(found.names[at])
    terms = found.terms[:, :, at]
    added = (terms[:, 1:] - terms[:, :1]) if terms.shape[1] == 2 else terms[:, list(which)]  # (n, classes drawn)
    if column.kind()[0] is ColumnScale.NUMBER:
        x = column.numbers()[: len(added)]
        some = np.unique(np.linspace(0, len(x) - 1, min(len(x), POINTS)).astype(int))
        gone = int((~np.isfinite(x)).sum())
        some = some[np.isfinite(x[some])]
        drawn = [Cloud(i % COLOURS, list(zip(x[some], added[some, i], strict=True))) for i in range(added.shape[1])]
        unit = f"in {UNITS[kind]}" if (kind := column.kind()[1]) in UNITS else ""
        lack = f"{gone:,} of {len(x):,} rows have no value and no point" if gone else ""
        return clouds(name, "; ".join(filter(None, [unit, lack])), drawn, ColumnAxis(kind == ColumnContent.DATES))
    values = [GONE if missing(value) else named(value) for value in column.categories()[: len(added)]]
    kinds, codes, count = np.unique(values, return_inverse=True, return_counts=True)
    most = np.sort(np.argsort(-count, kind="stable")[:ROWS])
    mean = np.stack([np.bincount(codes, added[:, i]) for i in range(added.shape[1])], axis=1) / count[:, None]
    note = "means by value"
    if added.shape[1] == 1:
        bars = list(zip(kinds[most], mean[most, 0].tolist(), count[most].tolist(), strict=True))
        return diverging_bars(name, note, bars)
    heads = [named(found.classes[c]) for c in which]
    return heat_map(name, note, kinds[most].tolist(), heads, mean[most].tolist())


EXAMPLES = 20  # rows given that can be set


def explain(model: Any, path: Path | str | None = None, X: Any = None) -> str:
    """Write a page about a fitted classifier: one file, without anything from elsewhere.

    It shows what the model is, what its columns add to the classes, and the sums it was learned from. Naive Bayes,
    additive tables, discriminants and linear models have a control for every column, and the page computes the class
    probabilities of the row that is set, to the same numbers as `predict_proba`.

    Parameters
    ----------
    model : fitted classifier of suffice, or a pipeline that ends in one
    path : path or str, default=None
        Where the page is written; None: nowhere.
    X : array or data frame of shape (n, d), default=None
        Rows to take importances from, of which the first can be set in the page. None: importances are taken from the
        sums, as far as these tell them.

    Returns
    -------
    str
        The page.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import GaussianNB
    >>> html = explain(GaussianNB().fit(*load_iris(return_X_y=True)))
    >>> html[:15], "nomogram" in html
    ('<!DOCTYPE html>', True)
    """
    html = model_page(subject(model, X))
    if path is not None:
        page.write(path, html)
    return html


def model_page(of: Subject) -> str:
    """The page as a string."""
    model = of.model
    given = None if of.contributions is None else of.contributions.importances
    rows = float(model.class_count_.sum())
    weights = importances(of.nomogram, of.known, rows, given) if of.nomogram is not None else None
    keys = list(weights if weights is not None else given or of.known)
    columns = _by_importance(of, keys)
    fit = model._fit_result()
    notes = [*of.notes, *(notice.message for notice in fit.warnings)]
    sections = [
        Section("Set a row", _row(of, columns)),
        Section("What each column adds", _shapes(of, keys)),
        Section("Importances", _importances(given or weights or {}, of)),
        Section("Classes along each column", _densities(fit, of, columns)),
        Section("Rows that were given", Html() if of.contributions is None else answers(of.contributions)),
        Section("The model", model_facts.facts(model, of.width, notes)),
        Section(
            "The sums it was learned from",
            model_facts.sums(of.known, columns, bool(weights or given), model.classes_, model.class_count_, of.units),
        ),
    ]
    shown = [section for section in sections if section.body]
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(model).__name__)  # which fits a narrow screen
    assets = ("nomogram_model.js", "nomogram.js", "nomogram.css")
    return page.document(f"{name}: a model to look at", shown, _lead(of), "Filter columns", False, assets)


def _lead(of: Subject) -> Html:
    model = of.model
    rows, k = float(model.class_count_.sum()), len(model.classes_)
    most = int(np.argmax(model.class_count_))
    said = (
        f"{type(model).__name__} learned from {rows:,.6g} rows with {of.width} and {k} classes; "
        f"{model.class_count_[most] / rows:.0%} of the rows are {named(model.classes_[most])}."
    )
    stale = bool(getattr(model, "stale_", False))
    warn = page.verdict(
        "Rows have come or gone since it was calibrated: it is stale, until `recalibrate(X, y)`.", kind="near"
    )
    return page.join([page.verdict(said), warn if stale else None])


def _by_importance(of: Subject, keys: Sequence[Any]) -> list[Any]:
    """Columns, those of the first keys first."""
    order = dict.fromkeys(
        column for key in keys for column in (key if isinstance(key, tuple) and key not in of.known else (key,))
    )
    return [*(column for column in order if column in of.known), *(c for c in of.known if c not in order)]


def _row(of: Subject, columns: Sequence[Any]) -> Html:
    if of.sliders is None:
        advice = "" if of.rows is not None else " Give rows to see what each column adds to their answers."
        return page.paragraph(of.why + advice)
    shown = controls(of.sliders, of.known, of.units)
    if not shown:
        return page.paragraph("No column counts: all rows get the same probabilities.")
    data = exported(of.sliders, of.model.classes_, shown)
    given = [] if of.rows is None else _examples(of.rows, shown)
    data["rows"] = [row.entries if not row.lacks else None for row in given]
    place = {column: at for at, column in enumerate(columns)}
    order = sorted(range(len(shown)), key=lambda i: place.get(shown[i].key, len(place)))
    lacking = [row.lacks for row in given]
    return _explanation(shown, lacking) + form(data, shown, order, of.model.class_count_, lacking)


def _explanation(shown: Sequence[Control], lacking: Sequence[str]) -> Html:
    parts = ["Set the columns: the probabilities are those of predict_proba, computed in this page."]
    if any(control.numeric for control in shown):
        parts.append("The line above a slider is what the column adds along it, all on the same scale, cut off at 4.")
    if not all(control.optional for control in shown):
        parts.append("Every column needs a value: without one, all others would count otherwise.")
    if any(control.dates for control in shown):
        parts.append(
            f"Dates are typed as {DATE} or {DATE} 23:59; where they came with a time zone, they are in UTC here."
        )
    if any(lacking):
        parts.append("Rows that were given and lack one cannot be set here; their probabilities are further below.")
    return page.paragraph(" ".join(parts), quiet=True)


class Example(NamedTuple):
    """A row as the page sets it: numbers, "NaN" where they are missing, and places of options."""

    entries: tuple[Any, ...]
    lacks: str  # the first column that has to have a value and has none; "" for none


def _examples(rows: SubjectRows, shown: Sequence[Control]) -> list[Example]:
    each = [_entries(rows.column(control.key), control) for control in shown]
    found = []
    for entries in zip(*each, strict=True):
        holes = [c.name for c, entry in zip(shown, entries, strict=True) if entry == "NaN" and not c.optional]
        found.append(Example(entries, next(iter(holes), "")))
    return found


def _entries(column: Column, control: Control) -> list[Any]:
    if control.numeric:
        numbers = column.numbers()[:EXAMPLES].tolist()
        return ["NaN" if value != value else value for value in numbers]
    options = {} if control.values is None else {value: i for i, value in enumerate(control.values)}
    return [-1 if missing(value) else options.get(value, -2) for value in column.categories()[:EXAMPLES]]


def _shapes(of: Subject, keys: Sequence[Any]) -> Html:
    if of.sliders is None or any(isinstance(term, Form) for term in of.sliders.terms):
        given, rows = of.contributions, of.rows
        return Html() if given is None or rows is None else along(given, rows, of.known, of.model.class_count_)
    shown = controls(of.sliders, of.known, of.units)
    return shapes(of.sliders, shown, of.known, of.model.classes_, of.model.class_count_, keys)


def _importances(sizes: dict[Any, float], of: Subject) -> Html:
    first = list(sizes.items())[:30]
    bars: dict[str, float] = {breakable(called(key)): size for key, size in first if 0 < size < np.inf}
    certain = [str(called(key)) for key, size in sizes.items() if size == np.inf]
    if not bars and not certain:
        return Html()
    given = of.contributions
    rows = "over values that stand for the rows learned" if given is None else f"over {len(given):,} rows given"
    note = f"The mean size of what each adds to a class, {rows}; {len(sizes)} in all."
    note += f" Values that rule a class out altogether: {join_words(certain)}." * bool(certain)
    chart = page.tag("div", page.bar_chart(bars, "Importances", unit=""), class_="one-colour") if bars else Html()
    return page.paragraph(note, quiet=True) + chart


def _densities(fit: Any, of: Subject, columns: Sequence[Any]) -> Html:
    """Of normal classes."""
    if not isinstance(fit.model, Gaussian):
        return Html()
    theta = fit.parameters
    mean = theta.origin + theta.mean
    variance = np.broadcast_to(diagonal(theta.covariance), mean.shape)
    keys = [of.names.get(key, key) for key in keys_of(fit.model)]
    drawn = model_facts.densities(mean, variance, keys, of.model.classes_, np.exp(theta.class_log_prob), columns)
    note = page.paragraph("The normal density of each class, times its probability.", quiet=True)
    return note + drawn if drawn else Html()
