"""The page of a fitted model: what it is, a row to set, what its columns say, and the sums it was learned from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from suffice._labels import listed, missing
from suffice.encoders.columns import Column
from suffice.models._drawn import Form
from suffice.models._explained import keys_of
from suffice.models.gaussian import Gaussian
from suffice.models.moments import diagonal
from suffice.report import model_facts, page
from suffice.report.controls import Control, called, controls, named
from suffice.report.importances import importances
from suffice.report.model_rows import along, answers
from suffice.report.model_shapes import shapes
from suffice.report.nomogram import exported
from suffice.report.nomogram_form import DATE, form
from suffice.report.page import Html, Section
from suffice.report.page._shapes import breakable
from suffice.report.subject import Rows, Subject, subject

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
        Section("The model", model_facts.facts(model, model.n_features_in_, notes)),
        Section(
            "The sums it was learned from",
            model_facts.sums(of.known, columns, model.classes_, model.class_count_, of.units),
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
        f"{type(model).__name__} learned from {rows:,.6g} rows with {model.n_features_in_:,} columns and {k} classes; "
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
    if of.nomogram is None:
        advice = "" if of.rows is not None else " Give rows to see what each column adds to their answers."
        return page.paragraph(of.why + advice)
    shown = controls(of.nomogram, of.known, of.units)
    if not shown:
        return page.paragraph("No column counts: all rows get the same probabilities.")
    data = exported(of.nomogram, of.model.classes_, shown)
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


def _examples(rows: Rows, shown: Sequence[Control]) -> list[Example]:
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
    if of.nomogram is None or any(isinstance(term, Form) for term in of.nomogram.terms):
        given, rows = of.contributions, of.rows
        return Html() if given is None or rows is None else along(given, rows, of.known, of.model.class_count_)
    shown = controls(of.nomogram, of.known, of.units)
    return shapes(of.nomogram, shown, of.known, of.model.classes_, of.model.class_count_, keys)


def _importances(sizes: dict[Any, float], of: Subject) -> Html:
    first = list(sizes.items())[:30]
    bars: dict[str, float] = {breakable(called(key)): size for key, size in first if 0 < size < np.inf}
    certain = [str(called(key)) for key, size in sizes.items() if size == np.inf]
    if not bars and not certain:
        return Html()
    given = of.contributions
    rows = "over values that stand for the rows learned" if given is None else f"over {len(given):,} rows given"
    note = f"The mean size of what each adds to a class, {rows}; {len(sizes)} in all."
    note += f" Values that rule a class out altogether: {listed(certain)}." * bool(certain)
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
