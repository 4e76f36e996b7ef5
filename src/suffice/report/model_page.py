"""The page of a fitted model: a row to set, contributions of columns, importances, settings, and the sums."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from suffice._core.kinds import TEMPORAL, ColumnContent
from suffice._core.labels import date, missing
from suffice._core.probability import posterior
from suffice._core.vector import Array
from suffice._estimator.classifier import Classifier
from suffice._estimator.explaining import Contributions, beyond_mean, name_of
from suffice._runtime.lazy import cached_property
from suffice._runtime.messages import join_words
from suffice.data.files.reading import counted
from suffice.encoders.base import frame_of
from suffice.encoders.table import Column, columns_of
from suffice.models import Nomogram, NoNomogramError
from suffice.models.gaussian.base import Gaussian
from suffice.models.gaussian.moments import diagonal
from suffice.models.overview import Overview, Summary
from suffice.models.terms import Form, Term, keys_of
from suffice.report import page
from suffice.report.column_charts import along, densities, largest, shapes
from suffice.report.nomogram import DATE, Control, called, controls, exported, form, named, quantiles
from suffice.report.page import Heading, Html, Section, Value, charts
from suffice.report.page.charts import signed

MAX_NUMBERS = 400_000  # in a page: some megabytes
MAX_FORM_COLUMNS = 30  # of a covariance that a page evaluates
MAX_ROWS = 10_000  # from which importances are taken
MIN_ROWS = 20  # however many columns there are
MAX_TERMS = 10_000_000  # rows times columns times classes
MAX_CLASSES_LISTED = 30
MAX_COLUMNS_SUMMED = 40  # columns whose sums are shown
MAX_CLASSES_SUMMED = 6
MAX_CATEGORIES = 20  # of a column whose sums are shown
MAX_IMPORTANCES = 30  # bars
MAX_ANSWERS = 20  # given rows whose answers are shown, and that can be set
MAX_TERMS_SHOWN = 5  # of each answer
QUANTILES = 64  # values of a column that stand for all rows
MAX_SAMPLES = 1000  # rows from a normal class
CERTAIN = 1e3  # contributions that rule a class out are cut off here
IN_DAYS = (
    " Durations, and standard deviations of dates, are in days, times of day in hours; "
    "dates that had a time zone are in UTC."
)
ASSETS = tuple(Path(page.__file__).with_name(name) for name in ("nomogram_model.js", "nomogram.js", "nomogram.css"))


class SubjectRows:
    """Rows as a classifier takes them, and their columns by their names in the page."""

    def __init__(self, X: Any, keys: Sequence[Any], most: int) -> None:
        frame = frame_of(X)
        self.X = X[:most] if frame is None else frame.head(most).to_native()
        self._place = {key: j for j, key in enumerate(keys)}

    @cached_property
    def _columns(self) -> list[Column]:
        return [column.read() for column in columns_of(self.X, "explain")[1]]

    def column(self, key: Any) -> Column:
        """Return a column by its name; the order of the columns is that of the fitted classifier."""
        j = self._place[key]
        return Column(self.X[:, [j]].toarray().ravel(), f"column {key!r}") if issparse(self.X) else self._columns[j]


@dataclass(frozen=True, eq=False)
class Subject:
    """A fitted classifier and the data of its page."""

    model: Any
    names: dict[Any, Any]  # names of columns in the page, by those in the classifier
    known: Overview  # summaries of the columns that take part
    nomogram: Nomogram | None
    why: str  # reason why the page has no sliders; "" if it has
    rows: SubjectRows | None
    contributions: Contributions | None  # for the rows
    units: dict[Any, str]  # content of the columns that hold dates, durations or times
    notes: list[str]  # earlier steps of a pipeline
    silent: int  # number of columns that take no part

    @property
    def sliders(self) -> Nomogram | None:
        """The nomogram, if the page can hold and evaluate it."""
        return None if self.why else self.nomogram

    @property
    def width(self) -> str:
        """The number of columns learned from, and of those given if some take no part."""
        given = int(self.model.n_features_in_)
        return f"{given - self.silent:,} of {given:,} columns" if self.silent else counted(given, "column")


def subject(given: Any, X: Any) -> Subject:
    """Return the data of the page of a fitted classifier, or of a pipeline that ends in one; X: rows or None."""
    steps = getattr(given, "steps", None)
    model = given if steps is None else given[-1]
    if not isinstance(model, Classifier):
        raise TypeError(
            "explain takes a fitted classifier of suffice learned from sums, or a pipeline that ends in one, got "
            f"{type(model).__name__}"
        )
    check_is_fitted(model)
    inputs = model._encoder.inputs(model.statistics_.domain.features)
    own = list(range(inputs.width)) if inputs.names is None else list(inputs.names)
    keys, notes = own, []
    if steps is not None:
        keys = _made(given[:-1], own)
        made = ", ".join(type(step).__name__ for _, step in steps[:-1])
        notes = [f"Columns are what the steps before make of those of the table: {made}"]
        X = None if X is None else given[:-1].transform(X)
    names = dict(zip(own, keys, strict=True))
    most = max(MIN_ROWS, min(MAX_ROWS, MAX_TERMS // (len(keys) * len(model.classes_))))
    rows = None if X is None else SubjectRows(X, keys, most)
    nomogram, why = _nomogram(model)
    found = None if rows is None else _contributions(model, rows.X)
    if found is not None:
        pairs = [term.key for term in (() if nomogram is None else nomogram.terms) if len(term.columns) == 2]
        renamed = {name_of(key): name_of(tuple(names[column] for column in key)) for key in pairs}
        found = found.called(names | renamed)
    columns = getattr(model, "columns_", {})
    silent = {name for name, note in columns.items() if note.silent}
    return Subject(
        model,
        names,
        model.statistics_.overview().without(silent).rename(names),
        None if nomogram is None else nomogram.rename(names),
        why,
        rows,
        found,
        {names[name]: note.holds for name, note in columns.items() if note.holds in TEMPORAL},
        notes,
        len(silent),
    )


def _made(steps: Any, own: list[Any]) -> list[Any]:
    """Return the names that steps give to the columns they make; without such names, `own`."""
    if any(isinstance(key, str) for key in own):
        return own
    try:
        names = [str(name) for name in steps.get_feature_names_out()]
    except (AttributeError, ValueError):  # as of a step that was given a function
        return own
    return names if len(set(names)) == len(own) else own


def _nomogram(model: Any) -> tuple[Nomogram | None, str]:
    """Return the nomogram, if there is one, and a sentence on why the page has no sliders, or ""."""
    least = model.n_features_in_ * len(model.classes_)
    if least > MAX_NUMBERS:
        return None, (
            f"There are no sliders here: {model.n_features_in_:,} columns and {len(model.classes_)} classes make at "
            f"least {least:,} numbers, and a page holds at most {MAX_NUMBERS:,}."
        )
    if not hasattr(model, "nomogram"):
        return None, "There are no sliders here: the model does not say what it adds up."
    try:
        found: Nomogram = model.nomogram()
    except NoNomogramError as error:
        return None, f"There are no sliders here: {error}."
    wide = any(not term.optional and len(term.columns) > MAX_FORM_COLUMNS for term in found.terms)
    if found.size > MAX_NUMBERS:
        # Importances of large tables are quickly computed, those of a large covariance are not.
        return None if wide else found, (
            f"There are no sliders here: the model holds {found.size:,} numbers, and a page at most {MAX_NUMBERS:,}."
        )
    if wide:
        return found, (
            f"There are no sliders here: whole covariances of {len(found.columns)} columns are more than a page "
            f"evaluates, which is {MAX_FORM_COLUMNS}."
        )
    return found, ""


def _contributions(model: Any, X: Any) -> Contributions | None:
    """Return the contributions for rows if the model is a sum of terms; errors are those of `predict`."""
    try:
        if hasattr(model, "contributions"):
            found: Contributions = model.contributions(X)
            return found
    except NoNomogramError:  # more than two classes in contests
        pass
    model.predict(X)
    return None


def settings(model: Any) -> str:
    """Return the settings that differ from their defaults, as text; an encoder is only mentioned."""
    try:
        default = type(model)().get_params(deep=False)
    except TypeError:  # some setting has no default
        default = {}
    changed = [
        f"{name}={'that of another fit' if name == 'encoder' else _short(value)}"
        for name, value in model.get_params(deep=False).items()
        if _short(value) != _short(default.get(name))
    ]
    return ", ".join(changed) or "as they are by default"


def _short(value: Any) -> str:
    shown = " ".join(repr(value).split())
    return shown if len(shown) <= 200 else f"{shown[:200]} ..."


def facts(model: Any, width: str, notes: Sequence[str]) -> Html:
    """Estimator, settings, rows, classes, columns, and warnings of learning."""
    rows = float(model.class_count_.sum())
    lines: list[tuple[str, object]] = [
        ("estimator", type(model).__name__),
        ("what it is", (type(model).__doc__ or "").strip().split("\n")[0]),
        ("settings", settings(model)),
        ("rows learned", f"{rows:,.6g}"),
        ("learned from", width),
        ("classes", f"{len(model.classes_):,}"),
    ]
    if model.n_iter_ > 1:
        end = "came to its end" if model.converged_ else "was stopped before its end"
        lines.append(("learning", f"{model.n_iter_} passes; {end}"))
    stale = getattr(model, "stale_", None)
    if stale is not None:
        advice = "yes: rows were added or removed since; `recalibrate(X, y)` learns again"
        lines.append(("stale", advice if stale else "no"))
    table = page.tag(
        "table",
        page.tag("caption", "The model", class_="spoken"),
        page.tag("tbody", *(page.tag("tr", page.tag("th", name, scope="row"), page.tag("td", v)) for name, v in lines)),
        class_="facts",
    )
    return page.join([table, page.bullets(notes), _classes(model), _columns_read(model)])


def _classes(model: Any) -> Html:
    mass = model.class_count_
    each = sorted(zip(model.classes_, mass.tolist(), strict=True), key=lambda one: -one[1])
    rows = [[named(label), Value(n, 0), Value(100 * n / mass.sum(), 1)] for label, n in each]
    more = f"{len(rows) - MAX_CLASSES_LISTED} more classes are not listed." if len(rows) > MAX_CLASSES_LISTED else None
    table = page.data_table(["class", "rows", "%"], rows[:MAX_CLASSES_LISTED], "Classes", filtered=False)
    return page.block("Classes", table, note=more)


def _columns_read(model: Any) -> Html:
    """How every column was read, if the model has `columns_`."""
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

    `ranked`: the keys are in order of importance, not in that of the table; `holds`: the content of columns of dates,
    durations or times.
    """
    which = largest(counts, MAX_CLASSES_SUMMED)
    names = [named(label) for label in classes]
    shown = [(key, known[key]) for key in keys[:MAX_COLUMNS_SUMMED] if key in known]
    numeric = [(key, summary) for key, summary in shown if summary.mean is not None]
    others = [(key, summary) for key, summary in shown if summary.mean is None]
    left, notes = len(keys) - MAX_COLUMNS_SUMMED, []
    if left > 0:
        which_ones = f"{MAX_COLUMNS_SUMMED} columns " + ("that count most" if ranked else "of the table")
        notes.append(f"The {'first ' * (not ranked)}{which_ones}; {left:,} more are not shown.")
    if len(names) > MAX_CLASSES_SUMMED:
        notes.append(f"Classes with fewer rows are not shown: {len(names) - MAX_CLASSES_SUMMED} of them.")
    return page.join(
        [
            *(page.paragraph(note, quiet=True) for note in notes),
            _numbers(numeric, names, which, holds),
            *(_categories(key, summary, names, which) for key, summary in others),
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
    rows: list[list[object]] = []
    for key, summary in shown:
        rows.append([named(key)])
        for c in which:
            mean, spread = (np.nan if all_ is None else float(all_[c]) for all_ in (summary.mean, summary.spread))
            dates = holds.get(key) == ColumnContent.DATES and np.isfinite(mean)
            mean_shown = date(mean) if dates else rounded(mean, spread)
            rows[-1] += [Value(float(summary.count[c]), 0), mean_shown, rounded(spread, spread)]
    table = page.data_table(heads, rows, "Sums of numbers by class")
    note = "Rows that have a value, their mean and standard deviation."
    note += IN_DAYS * any(key in holds for key, _ in shown)
    return page.block("Columns of numbers", table, note=note)


def rounded(value: float, spread: float) -> Value:
    """A number with about three digits of its standard deviation."""
    if not np.isfinite(value):
        return Value(None)
    size = spread if np.isfinite(spread) and spread > 0 else abs(value)
    return Value(value, int(np.clip(2 - np.floor(np.log10(size or 1.0)), 0, 9)))


def _categories(key: Any, summary: Summary, names: Sequence[str], which: Sequence[int]) -> Html:
    most = np.argsort(-summary.weight, kind="stable")[:MAX_CATEGORIES]
    rows = [[named(summary.values[i]), *(Value(float(summary.table[c, i]), 0) for c in which)] for i in most]
    more = len(summary.values) - len(most)
    note = page.paragraph(f"{more} less frequent values are not shown.", quiet=True) if more > 0 else None
    table = page.data_table(["value", *(names[c] for c in which)], rows, f"Rows by {named(key)} and class")
    return page.fold(f"{named(key)}: rows by value and class", table, note)


def importances(
    nomogram: Nomogram, known: Overview, rows: float, given: Mapping[Any, float] | None = None
) -> dict[Any, float]:
    """Return the mean size of what each term adds over rows and classes, by key, the largest first.

    Without given importances they are computed from values that represent the rows learned, with columns taken as
    independent; missing values count. A covariance has one for each column, over samples from its normal classes.

    Parameters
    ----------
    nomogram : Nomogram
    known : Overview
        Summaries of the columns.
    rows : float
        The number of rows learned.
    given : mapping, default=None
        Importances measured on rows.
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
    """Return the importance of the terms of one column or pair."""
    points = [_points(known.get(column), rows) for column in terms[0].columns]
    grids = np.meshgrid(*(np.arange(len(values)) for values, _ in points), indexing="ij")
    entries = [values[grid.ravel()] for (values, _), grid in zip(points, grids, strict=True)]
    weight = np.prod([w[grid.ravel()] for (_, w), grid in zip(points, grids, strict=True)], axis=0)
    return float(_sizes(np.asarray(sum(term.value(*entries) for term in terms)), weight))


def _of_form(form: Form, known: Overview, rows: float) -> dict[Any, float]:
    """Return the importance of every column of a covariance."""
    k, d = form.mean.shape
    draws = max(1, min(MAX_SAMPLES, MAX_TERMS // (k * k * d)))
    noise = np.random.default_rng(0).standard_normal((draws, d))
    drawn = [o + m + noise @ _root(p).T for o, m, p in zip(form.origin, form.mean, form.precision, strict=True)]
    every = [known.get(column) for column in form.columns]
    # the rows that have a value, by class
    counts = [np.full(k, rows / k) if one is None else np.maximum(one.count, 0.0) for one in every]
    weight = np.repeat(np.mean(counts, axis=0) / draws, draws)
    sizes = _sizes(form.parts(np.concatenate(drawn)), weight)  # (d,)
    filled = [count.sum() / rows for count in counts]
    return {column: float(size * share) for column, size, share in zip(form.columns, sizes, filled, strict=True)}


def _root(precision: Array) -> Array:
    """Return R (d, d) with R R' the covariance of the columns with a precision above 0; others stay at their mean."""
    used = np.diag(precision) > 0
    root = np.zeros_like(precision)
    unit = np.sqrt(np.diag(precision)[used])
    correlation = precision[np.ix_(used, used)] / np.outer(unit, unit)
    values, vectors = np.linalg.eigh(correlation)
    root[np.ix_(used, used)] = vectors / np.sqrt(np.maximum(values, np.finfo(float).tiny)) / unit[:, None]
    return root


def _sizes(values: Array, weight: Array) -> Array:
    """Return the mean of |value - mean of the classes| over rows, by weight (n,), and classes: values (n, k, ...)."""
    added = np.clip(np.nan_to_num(beyond_mean(values, 1)), -CERTAIN, CERTAIN)  # a slope adds nothing to a missing value
    return np.asarray(np.tensordot(weight, abs(added).mean(axis=1), 1) / (weight.sum() or 1.0))


def _points(known: Summary | None, rows: float) -> tuple[Array, Array]:
    """Return values that represent a column and their weights; the last value is missing."""
    if known is None or not len(known.values):
        return np.zeros(1), np.ones(1)
    present = float(known.weight.sum())
    if known.mean is not None and len(known.values) > QUANTILES:
        shares = (np.arange(QUANTILES) + 0.5) / QUANTILES
        values, weight = np.array(quantiles(known.values, known.weight, shares.tolist())), np.ones(QUANTILES)
    else:
        most = np.argsort(-known.weight, kind="stable")[:QUANTILES]
        values, weight = known.values[most], known.weight[most]
    gone = np.array([np.nan]) if known.mean is not None else np.array([None], dtype=object)
    weight = weight * (present / (weight.sum() or 1.0))
    return np.append(values, gone), np.append(weight, max(0.0, rows - present))


def answers(found: Contributions) -> Html:
    """The first rows, with the largest contributions to the most probable class."""
    scores = np.asarray(found.log_joint)
    top, p = scores.argmax(axis=1), posterior(scores)
    rows: list[list[object]] = []
    for i in range(min(len(found), MAX_ANSWERS)):
        most = list(found.row(i).items())[:MAX_TERMS_SHOWN]
        terms = "; ".join(f"{called(name)} {signed(value)}" for name, value in most)
        rows.append([f"row {i + 1}", named(found.classes[top[i]]), Value(100 * float(p[i, top[i]]), 1), terms])
    two = len(found.classes) == 2
    note = f"What counted most for the most probable class{', against the mean of the others' * (not two)}."
    what = "its log-odds" if two else "log p of it less the mean of the others"
    heads = ["row", "most probable", "%", f"what columns add to {what}"]
    return page.block("Answers", page.data_table(heads, rows, "Rows that were given", filtered=False), note=note)


def explain(model: Any, path: Path | str | None = None, X: Any = None) -> str:
    """Write a page about a fitted classifier: one file that loads nothing else.

    It shows the settings of the model, the contributions of its columns, and the sums it was learned from. Naive Bayes,
    additive tables, discriminants and linear models have a control for every column, and the page computes the same
    class probabilities as `predict_proba` for the row that is set.

    Parameters
    ----------
    model : fitted classifier of suffice, or a pipeline that ends in one
    path : path or str, default=None
        Where to write the page, if anywhere.
    X : array or data frame of shape (n, d), default=None
        Rows for importances, the first of which can be set in the page. None: importances are estimated from the sums,
        where these suffice.

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
        Section("The model", facts(model, of.width, notes)),
        Section(
            "The sums it was learned from",
            sums(of.known, columns, bool(weights or given), model.classes_, model.class_count_, of.units),
        ),
    ]
    shown = [section for section in sections if section.body]
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(model).__name__)  # words that fit a narrow screen
    most = int(np.argmax(model.class_count_))
    lead = page.verdict(
        f"{type(model).__name__} learned from {rows:,.6g} rows with {of.width} and {len(model.classes_)} classes; "
        f"{model.class_count_[most] / rows:.0%} of the rows are {named(model.classes_[most])}."
    )
    if getattr(model, "stale_", False):
        stale = "Rows were added or removed since it was calibrated: it is stale until `recalibrate(X, y)`."
        lead += page.verdict(stale, kind="near")
    return page.document(f"{name}: a model to look at", shown, lead, "Filter columns", False, ASSETS)


def _by_importance(of: Subject, keys: Sequence[Any]) -> list[Any]:
    """Return the columns in the order of the keys, which may be pairs."""
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
    # The given rows as the page sets them: numbers, "NaN" if missing, and indices of options.
    given = [] if of.rows is None else [*zip(*(_entries(of.rows.column(c.key), c) for c in shown), strict=True)]
    # Of each, the first column without a value that needs one, or "": such a row cannot be set.
    holes = [[c.name for c, x in zip(shown, row, strict=True) if x == "NaN" and not c.optional] for row in given]
    lacking = [names[0] if names else "" for names in holes]
    data["rows"] = [None if lacks else row for row, lacks in zip(given, lacking, strict=True)]
    place = {column: at for at, column in enumerate(columns)}
    order = sorted(range(len(shown)), key=lambda i: place.get(shown[i].key, len(place)))
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
    text = page.paragraph(" ".join(parts), quiet=True)
    return text + form(data, shown, order, of.model.class_count_, lacking)


def _entries(column: Column, control: Control) -> list[Any]:
    if control.numeric:
        numbers = column.numbers()[:MAX_ANSWERS].tolist()
        return ["NaN" if value != value else value for value in numbers]
    options = {} if control.values is None else {value: i for i, value in enumerate(control.values)}
    return [-1 if missing(value) else options.get(value, -2) for value in column.categories()[:MAX_ANSWERS]]


def _shapes(of: Subject, keys: Sequence[Any]) -> Html:
    if of.sliders is None or any(isinstance(term, Form) for term in of.sliders.terms):
        given, rows = of.contributions, of.rows
        return Html() if given is None or rows is None else along(given, rows.column, of.known, of.model.class_count_)
    shown = controls(of.sliders, of.known, of.units)
    return shapes(of.sliders, shown, of.known, of.model.classes_, of.model.class_count_, keys)


def _importances(sizes: dict[Any, float], of: Subject) -> Html:
    first = list(sizes.items())[:MAX_IMPORTANCES]
    bars: dict[str, float] = {page.breakable(called(key)): size for key, size in first if 0 < size < np.inf}
    certain = [str(called(key)) for key, size in sizes.items() if size == np.inf]
    if not bars and not certain:
        return Html()
    given = of.contributions
    rows = "over values that stand for the rows learned" if given is None else f"over {len(given):,} rows given"
    note = f"The mean size of what each adds to a class, {rows}; {len(sizes)} in all."
    note += f" Values that rule a class out altogether: {join_words(certain)}." * bool(certain)
    chart = page.tag("div", charts.bar_chart(bars, "Importances", "", 0), class_="one-colour") if bars else Html()
    return page.paragraph(note, quiet=True) + chart


def _densities(fit: Any, of: Subject, columns: Sequence[Any]) -> Html:
    """The densities of normal classes."""
    if not isinstance(fit.model, Gaussian):
        return Html()
    theta = fit.parameters
    mean = theta.origin + theta.mean
    variance = np.broadcast_to(diagonal(theta.covariance), mean.shape)
    keys = [of.names.get(key, key) for key in keys_of(fit.model)]
    drawn = densities(mean, variance, keys, of.model.classes_, np.exp(theta.class_log_prob), columns)
    note = page.paragraph("The normal density of each class, times its probability.", quiet=True)
    return note + drawn if drawn else Html()
