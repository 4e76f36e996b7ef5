"""The page of a fitted model: what it is, a row to set, what its columns say, and the sums it was learned from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from suffice._labels import listed, missing
from suffice._learned import Learned
from suffice.encoders._base import frame_of
from suffice.encoders.columns import Column
from suffice.models import Nomogram, UndrawableError
from suffice.models._drawn import Form
from suffice.models._explained import keys_of
from suffice.models._overview import Overview, overview
from suffice.models.gaussian import Gaussian
from suffice.models.moments import diagonal
from suffice.report import model_facts, page
from suffice.report.model_rows import along, answers, column_of
from suffice.report.model_shapes import shapes
from suffice.report.nomogram import Control, called, controls, exported, named, weighed
from suffice.report.nomogram_form import form
from suffice.report.page import Html, Section
from suffice.report.page._shapes import breakable

NUMBERS = 400_000  # that a page holds at most: some megabytes
FORM = 30  # columns of a form that a page evaluates
EXAMPLES = 20  # rows given that can be set
ROWS = 10_000  # from which importances are taken


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
    html = model_page(_subject(model, X))
    if path is not None:
        page.write(path, html)
    return html


@dataclass(frozen=True, eq=False)
class Subject:
    """A fitted classifier, and all that its page is made from."""

    model: Any
    known: Overview
    nomogram: Nomogram | None
    why: str  # there is no nomogram
    X: Any  # rows, as the classifier takes them, or None
    contributions: Any  # of some rows, or None
    before: str  # what a pipeline does first

    @property
    def dates(self) -> frozenset[Any]:
        """The columns that hold dates, in days."""
        columns = getattr(self.model, "columns_", {})
        return frozenset(name for name, note in columns.items() if note.holds == "dates")


def _subject(given: Any, X: Any) -> Subject:
    steps = getattr(given, "steps", None)
    check_is_fitted(given if steps is None else given[-1])
    model, before = given, ""
    if steps is not None:
        model = given[-1]
        before = "Columns are what the steps before make of those of the table: " + ", ".join(
            type(step).__name__ for _, step in steps[:-1]
        )
        X = None if X is None else given[:-1].transform(X)
    if not isinstance(model, Learned):
        raise TypeError(
            f"explain takes a fitted classifier of suffice, or a pipeline that ends in one, got {type(model).__name__}"
        )
    nomogram, why = _nomogram(model)
    contributions = _contributions(model, X)
    return Subject(model, overview(model.statistics_), nomogram, why, X, contributions, before)


def _nomogram(model: Any) -> tuple[Nomogram | None, str]:
    """The nomogram, or a sentence on why there is none."""
    least = model.n_features_in_ * len(model.classes_)
    if least > NUMBERS:
        return None, (
            f"There are no sliders here: {model.n_features_in_:,} columns and {len(model.classes_)} classes make at "
            f"least {least:,} numbers, and a page holds at most {NUMBERS:,}."
        )
    if not hasattr(model, "nomogram"):
        return None, "There are no sliders here: the model does not say what it adds up."
    try:
        found: Nomogram = model.nomogram()
    except UndrawableError as error:
        return None, f"There are no sliders here: {error}."
    if found.size > NUMBERS:
        return None, (
            f"There are no sliders here: the model holds {found.size:,} numbers, and a page at most {NUMBERS:,}."
        )
    if any(not term.optional and len(term.columns) > FORM for term in found.terms):
        return None, (
            f"There are no sliders here: whole covariances of {len(found.columns)} columns are more than a page "
            f"evaluates, which is {FORM}."
        )
    return found, ""


def _contributions(model: Any, X: Any) -> Any:
    if X is None:
        return None
    some = X[:ROWS] if frame_of(X) is None else frame_of(X).head(ROWS).to_native()  # type: ignore[union-attr]
    try:
        return model.contributions(some)
    except (ValueError, AttributeError):  # more than two classes in contests have none
        return None


def model_page(of: Subject) -> str:
    """The page as a string."""
    model = of.model
    given = None if of.contributions is None else of.contributions.importances
    weights = weighed(of.nomogram, of.known, given) if of.nomogram is not None else None
    keys = list(weights.importances) if weights is not None else list(given or of.known)
    columns = _by_importance(of, keys)
    fit = model._fit_result()
    notes = [*([of.before] if of.before else []), *(notice.message for notice in fit.warnings)]
    sections = [
        Section("Set a row", _row(of, columns)),
        Section("What each column adds", _shapes(of, keys)),
        Section("Importances", _importances(given or (weights.importances if weights else {}), of)),
        Section("Classes along each column", _densities(fit, model, columns)),
        Section("Rows that were given", Html() if of.contributions is None else answers(of.contributions)),
        Section("The model", model_facts.facts(model, model.n_features_in_, notes)),
        Section(
            "The sums it was learned from",
            model_facts.sums(of.known, columns, model.classes_, model.class_count_, of.dates),
        ),
    ]
    shown = [section for section in sections if section.body]
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(model).__name__)  # which fits a narrow screen
    assets = ("nomogram.js", "nomogram.css")
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
        advice = "" if of.X is not None else " Give rows to see what each column adds to their answers."
        return page.paragraph(of.why + advice)
    shown = controls(of.nomogram, of.known, of.dates)
    if not shown:
        return page.paragraph("No column counts: all rows get the same probabilities.")
    data = exported(of.nomogram, of.model.classes_, shown)
    data["rows"] = _examples(of.X, shown, of.model)
    place = {column: at for at, column in enumerate(columns)}
    order = sorted(range(len(shown)), key=lambda i: place.get(shown[i].key, len(place)))
    return _explanation(shown) + form(data, shown, order, of.model.class_count_)


def _explanation(shown: Sequence[Control]) -> Html:
    parts = ["Set the columns: the probabilities are those of predict_proba, computed in this page."]
    if any(control.numeric for control in shown):
        parts.append("The line above a slider is what the column adds along it, all on the same scale, cut off at 4.")
    if not all(control.optional for control in shown):
        parts.append("Every column needs a value: without one, all others would count otherwise.")
    return page.paragraph(" ".join(parts), quiet=True)


def _examples(X: Any, shown: Sequence[Control], model: Any) -> list[list[Any]]:
    """Rows as the page sets them: numbers, null where they are missing, and places of options."""
    if X is None:
        return []
    column = column_of(X, getattr(model, "feature_names_in_", None))
    each = [_entries(column(control.key), control) for control in shown]
    return [list(row) for row in zip(*each, strict=True)]


def _entries(column: Column, control: Control) -> list[Any]:
    if control.numeric:
        numbers = column.numbers()[:EXAMPLES].tolist()
        return ["NaN" if value != value else value for value in numbers]
    options = {} if control.values is None else {value: i for i, value in enumerate(control.values)}
    return [-1 if missing(value) else options.get(value, -2) for value in column.categories()[:EXAMPLES]]


def _shapes(of: Subject, keys: Sequence[Any]) -> Html:
    if of.nomogram is None or any(isinstance(term, Form) for term in of.nomogram.terms):
        names = getattr(of.model, "feature_names_in_", None)
        given = of.contributions
        return Html() if given is None else along(given, of.X, names, of.model.class_count_)
    shown = controls(of.nomogram, of.known, of.dates)
    return shapes(of.nomogram, shown, of.known, of.model.classes_, of.model.class_count_, keys)


def _importances(sizes: dict[Any, float], of: Subject) -> Html:
    first = list(sizes.items())[:30]
    bars: dict[str, float] = {breakable(called(key)): size for key, size in first if 0 < size < np.inf}
    certain = [str(called(key)) for key, size in sizes.items() if size == np.inf]
    if not bars and not certain:
        return Html()
    rows = "over the rows given" if of.contributions is not None else "over values that stand for the rows learned"
    note = f"The mean size of what each adds to a class, {rows}; {len(sizes)} in all."
    note += f" Values that rule a class out altogether: {listed(certain)}." * bool(certain)
    chart = page.tag("div", page.bar_chart(bars, "Importances", unit=""), class_="one-colour") if bars else Html()
    return page.paragraph(note, quiet=True) + chart


def _densities(fit: Any, model: Any, columns: Sequence[Any]) -> Html:
    """Of normal classes."""
    if not isinstance(fit.model, Gaussian):
        return Html()
    theta = fit.parameters
    mean = theta.origin + theta.mean
    variance = np.broadcast_to(diagonal(theta.covariance), mean.shape)
    keys = keys_of(fit.model)
    drawn = model_facts.densities(mean, variance, keys, model.classes_, np.exp(theta.class_log_prob), columns)
    note = page.paragraph("The normal density of each class, times its probability.", quiet=True)
    return note + drawn if drawn else Html()
