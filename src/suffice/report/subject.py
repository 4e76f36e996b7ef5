"""A fitted classifier as its page sees it: columns under their names, terms to add up, and rows that were given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from suffice._core.kinds import TEMPORAL
from suffice._estimator.classifier import Classifier
from suffice._estimator.explaining import Contributions, name_of
from suffice._runtime.lazy import cached_property
from suffice.data.files.sheet import counted
from suffice.encoders.base import frame_of
from suffice.encoders.table import Column, columns_of
from suffice.models import Nomogram, NoNomogramError
from suffice.models.overview import Overview

NUMBERS = 400_000  # that a page holds at most: some megabytes
FORM = 30  # columns of a form that a page evaluates
ROWS = 10_000  # from which importances are taken, at most
ENTRIES = 10_000_000  # of all that columns add to classes in these rows
FEWEST = 20  # rows, however many columns there are


class SubjectRows:
    """Rows of any kind as a classifier takes them, and their columns, by what the page calls them."""

    def __init__(self, X: Any, keys: Sequence[Any], most: int) -> None:
        frame = frame_of(X)
        self.X = X[:most] if frame is None else frame.head(most).to_native()
        self._place = {key: j for j, key in enumerate(keys)}

    @cached_property
    def _columns(self) -> list[Column]:
        return columns_of(self.X, "explain")[1]

    def column(self, key: Any) -> Column:
        """By its place: classifiers take columns in the order in which they were learned."""
        j = self._place[key]
        return Column(self.X[:, [j]].toarray().ravel(), f"column {key!r}") if issparse(self.X) else self._columns[j]


@dataclass(frozen=True, eq=False)
class Subject:
    """A fitted classifier, and all that its page is made from."""

    model: Any
    names: dict[Any, Any]  # what the page calls columns, where a pipeline knows better
    known: Overview  # except for columns that take no part
    nomogram: Nomogram | None  # from which importances are taken
    why: str  # the page has no sliders for it; "" if it has
    rows: SubjectRows | None
    contributions: Contributions | None  # of the rows
    units: dict[Any, str]  # of columns that hold dates, durations or times: which of these
    notes: list[str]  # what a pipeline does first
    silent: int  # columns given that take no part

    @property
    def sliders(self) -> Nomogram | None:
        """The nomogram, if the page can hold and evaluate it."""
        return None if self.why else self.nomogram

    @property
    def width(self) -> str:
        """How many columns were learned from, in words, and how many were given where some take no part."""
        given = int(self.model.n_features_in_)
        return f"{given - self.silent:,} of {given:,} columns" if self.silent else counted(given, "column")


def subject(given: Any, X: Any) -> Subject:
    """Of a fitted classifier or a pipeline that ends in one, and rows or None."""
    steps = getattr(given, "steps", None)
    model = given if steps is None else given[-1]
    if not isinstance(model, Classifier):
        raise TypeError(
            "explain takes a fitted classifier of suffice learned from sums, or a pipeline that ends in one, got "
            f"{type(model).__name__}"
        )
    check_is_fitted(model)
    own = _inputs(model)
    keys, notes = own, []
    if steps is not None:
        keys = _made(given[:-1], own)
        made = ", ".join(type(step).__name__ for _, step in steps[:-1])
        notes = [f"Columns are what the steps before make of those of the table: {made}"]
        X = None if X is None else given[:-1].transform(X)
    names = dict(zip(own, keys, strict=True))
    most = max(FEWEST, min(ROWS, ENTRIES // (len(keys) * len(model.classes_))))
    rows = None if X is None else SubjectRows(X, keys, most)
    nomogram, why = _nomogram(model)
    found = None if rows is None else _contributions(model, rows.X)
    columns = getattr(model, "columns_", {})
    silent = {name for name, note in columns.items() if note.silent}
    return Subject(
        model,
        names,
        model.statistics_.overview().without(silent).rename(names),
        None if nomogram is None else nomogram.rename(names),
        why,
        rows,
        None if found is None else found.called(names | _pairs(nomogram, names)),
        {names[name]: note.holds for name, note in columns.items() if note.holds in TEMPORAL},
        notes,
        len(silent),
    )


def _pairs(nomogram: Nomogram | None, names: Mapping[Any, Any]) -> dict[Any, Any]:
    """What contributions call pairs of columns, under other names of these."""
    keys = [term.key for term in (nomogram.terms if nomogram is not None else ()) if len(term.columns) == 2]
    return {name_of(key): name_of(tuple(names[column] for column in key)) for key in keys}


def _inputs(model: Any) -> list[Any]:
    """The columns that a classifier takes, by name or number."""
    inputs = model._encoder.inputs(model.statistics_.domain.features)
    return list(range(inputs.width)) if inputs.names is None else list(inputs.names)


def _made(steps: Any, own: list[Any]) -> list[Any]:
    """What steps call the columns that they make, where they tell; else these as they are."""
    if any(isinstance(key, str) for key in own):
        return own
    try:
        names = [str(name) for name in steps.get_feature_names_out()]
    except (AttributeError, ValueError):  # as of a step that was given a function
        return own
    return names if len(set(names)) == len(own) else own


def _nomogram(model: Any) -> tuple[Nomogram | None, str]:
    """The nomogram, if there is one, and a sentence on why a page has no sliders for it, or ""."""
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
    except NoNomogramError as error:
        return None, f"There are no sliders here: {error}."
    wide = any(not term.optional and len(term.columns) > FORM for term in found.terms)
    if found.size > NUMBERS:
        # tables are soon gone through, a covariance of that size is not
        return None if wide else found, (
            f"There are no sliders here: the model holds {found.size:,} numbers, and a page at most {NUMBERS:,}."
        )
    if wide:
        return found, (
            f"There are no sliders here: whole covariances of {len(found.columns)} columns are more than a page "
            f"evaluates, which is {FORM}."
        )
    return found, ""


def _contributions(model: Any, X: Any) -> Contributions | None:
    """What columns add to the answers for rows, where the model is such a sum; errors are those of any prediction."""
    try:
        if hasattr(model, "contributions"):
            found: Contributions = model.contributions(X)
            return found
    except NoNomogramError:  # more than two classes in contests
        pass
    model.predict(X)
    return None
