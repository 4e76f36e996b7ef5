"""The models that can be fitted, by the names that they have on the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import suffice
from suffice._runtime.messages import join_words
from suffice.data.files.sheet import Sheet, TableError, nearest
from suffice.data.files.target import as_doubles, useful
from suffice.data.files.values import NUMBER, kind_of
from suffice.learners import RiskCalibration

AUTO = "auto"
Columns = Mapping[str, str]  # what columns are to be read as, instead of what their types say


class Kind(NamedTuple):
    """A model: how it is made, for columns of given kinds and a seed; what it takes; and what it is, in words."""

    make: Callable[[Columns, int], Any]
    takes_all: bool  # or numbers only
    words: str


MODELS = {
    "tabular": Kind(
        lambda columns, seed: suffice.TabularClassifier(columns=columns or None, random_state=seed),
        True,
        "tables, trees, densities",
    ),
    "additive": Kind(
        lambda columns, _: suffice.AdditiveTables(columns=columns or None), True, "shapes that can be read"
    ),
    "nb": Kind(lambda columns, _: suffice.NaiveBayes(columns=columns or None), True, "naive Bayes"),
    "nb-calibrated": Kind(
        lambda columns, _: suffice.NaiveBayes(columns=columns or None, learner=RiskCalibration()),
        True,
        "calibrated naive Bayes",
    ),
    "gaussian-nb": Kind(lambda *_: suffice.GaussianNB(), False, "normal naive Bayes"),
    "lda": Kind(lambda *_: suffice.LinearDiscriminantAnalysis(), False, "linear discriminant"),
    "qda": Kind(lambda *_: suffice.QuadraticDiscriminantAnalysis(), False, "quadratic discriminant"),
    "logistic": Kind(lambda *_: suffice.LogisticRegression(), False, "logistic regression"),
}


def kind_named(name: str) -> Kind:
    """The model of a name."""
    if name not in MODELS:
        raise TableError(
            f"there is no model {name!r}.{nearest(name, [*MODELS, AUTO])} The models are: {', '.join([AUTO, *MODELS])}"
        )
    return MODELS[name]


def columns_for(kind: Kind, sheet: Sheet, target: str) -> Sheet:
    """The columns that a model can take, with a note for every other."""
    sheet = as_doubles(sheet, target)
    if kind.takes_all:
        return _with_values(sheet, target)
    table = sheet.table
    words = [name for name in table.column_names if name != target and kind_of(table[name]) != NUMBER]
    if words:
        are = "is" if len(words) == 1 else "are"
        said = f"this model takes numbers only, so that {join_words(map(repr, words), 6)} {are} left out"
        sheet = replace(sheet, table=table.drop_columns(words), notes=(*sheet.notes, said))
    return useful(sheet, target)


def _with_values(sheet: Sheet, target: str) -> Sheet:
    """Without columns that have no values, or several in one."""
    table, notes = sheet.table, list(sheet.notes)
    for name in table.column_names:
        holds = kind_of(table[name])
        if name != target and (holds is None or table[name].null_count == len(table[name])):
            why = "has no values" if holds is not None else f"holds {table[name].type}"
            notes.append(f"the column {name!r} {why}, and is left out")
            table = table.drop_columns([name])
    if table.num_columns == 1:
        raise TableError("; ".join([f"besides {target!r} there is no column to learn from", *notes]))
    return replace(sheet, table=table, notes=tuple(notes))


def given_columns(categorical: tuple[str, ...], sheet: Sheet) -> Columns:
    """What columns are to be read as that were called categorical."""
    return {name: "category" for name in categorical if name in sheet.table.column_names}


def kinds_of(sheet: Sheet, target: str) -> dict[str, str]:
    """What every column but the target was read as."""
    names = [name for name in sheet.table.column_names if name != target]
    return {name: str(kind_of(sheet.table[name])) for name in names}
