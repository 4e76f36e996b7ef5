"""`suffice predict` and `suffice evaluate`: classes of new rows, and how many of them are right."""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer
from sklearn.metrics import confusion_matrix

from suffice._core.vector import Array
from suffice._runtime.messages import join_words
from suffice.cli import console as options
from suffice.cli.console import check_output, grid, note, note_stale, noting, say, show, working
from suffice.cli.store import ModelRows, load, no_better, rows_for
from suffice.data.files.reading import Reading, TableError, check_columns, counted
from suffice.data.files.write import check_suffix, write, write_text
from suffice.model_selection.measures import of_probabilities, roc
from suffice.report.console import naming

MAX_REASONS = 3  # contributions shown with a prediction
BECAUSE = "because"  # their column


def predict(
    model: options.ModelFile,
    table: options.TableFile,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of every class, as p(class).")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Add the columns that count most for or against the prediction.")
    ] = False,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", help="Columns of the table to copy to the front, unchanged, separated by commas."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="A .csv, .tsv, .parquet or .arrow file. Default: CSV to standard output."),
    ] = None,
    force: options.Force = False,
    raw: options.Raw = False,
    na: options.Na = None,
    decimal: options.Decimal = None,
    separator: options.Separator = None,
) -> None:
    """Predict the class of every row of a table.

    Columns are found by name, in any order. A column that the model does not know is left out with a note; a missing
    column that it needs is an error. Categories that were never learned are allowed, and counted in a note.

    Examples:
        suffice predict m.suffice new.csv --out predicted.csv
        suffice predict m.suffice new.csv --proba --keep id -o predicted.parquet
        suffice predict m.suffice new.csv --explain | head
    """
    check_output("--out", out, (model, table), force)
    if out is not None:
        check_suffix(out)
    stored = load(model)
    if explain and not hasattr(stored.model, "contributions"):
        raise TableError(f"a {type(stored.model).__name__} cannot say what each column adds: leave --explain out")
    how = Reading(tuple(na or ()), decimal, separator)
    wanted = {one: [part.strip() for part in one.split(",")] for one in keep or ()}
    with working(f"reading {table}"):
        rows = rows_for(stored, table, how, labels=False, keep=[*wanted, *chain(*wanted.values())])
    note(rows.notes)
    note_stale(stored.model)
    kept = list(chain(*([one] if one in rows.file.table.column_names else parts for one, parts in wanted.items())))
    check_columns(rows.file.table.column_names, kept)
    with noting(), working(f"predicting {counted(rows.X.num_rows, 'row')}"):
        found = _answers(stored.model, rows, kept, proba, explain)
    if out is not None:
        write(out, found, raw)
        note([f"{counted(found.num_rows, 'row')} written to {out}"])
    else:
        with naming("standard output"):
            sys.stdout.flush()
            write_text(found, sys.stdout.buffer, raw=raw)
            sys.stdout.buffer.flush()


def _answers(model: Any, rows: ModelRows, keep: list[str], proba: bool, explain: bool) -> pa.Table:
    """Return the copied columns, then the prediction, probabilities, and reasons."""
    predicted = model.predict(rows.X)
    columns: dict[str, Any] = {"prediction": predicted}
    if proba:
        p = np.asarray(model.predict_proba(rows.X))
        columns |= {f"p({label})": p[:, c] for c, label in enumerate(model.classes_.tolist())}
    if explain:
        columns[BECAUSE] = reasons(model, rows.X, predicted)
    clash = [name for name in keep if name in columns]
    if clash:
        raise TableError(f"{clash[0]!r} is a column of the result already: rename it, or leave --keep {clash[0]} out")
    kept = {name: rows.file.kept[name] for name in keep}
    return pa.table({**kept, **{name: pa.array(_plain(values)) for name, values in columns.items()}})


def _plain(values: Any) -> Any:
    return values.tolist() if getattr(values, "dtype", np.dtype(float)).kind in "UO" else values


def reasons(model: Any, X: pa.Table, predicted: Array) -> list[str]:
    """Return the strongest contributions to the log-odds of the predicted class, for every row."""
    found = model.contributions(X)
    values = found.against_others(predicted)
    order = np.argsort(-np.abs(values), axis=1, kind="stable")[:, :MAX_REASONS]
    return ["; ".join(f"{found.names[j]} {values[i, j]:+.2f}" for j in row) for i, row in enumerate(order.tolist())]


MAX_CLASSES_IN_MATRIX = 8  # of more, only the most frequent confusions are shown
NAMES = {
    "error": "rows wrong",
    "log_loss": "log loss",
    "brier": "Brier score",
    "calibration_error": "calibration error",
    "auc": "AUC",
}


def evaluate(
    model: options.ModelFile,
    table: options.TableFile,
    target: options.Target = None,
    na: options.Na = None,
    decimal: options.Decimal = None,
    separator: options.Separator = None,
) -> None:
    """Measure a model on rows that it has not learned: error, log loss, Brier score, calibration error, AUC.

    Chance knows only the shares of the classes among the training rows. The exit code is 1 if the model is not
    better: if its log loss is not smaller and its error not clearly smaller.

    Examples:
        suffice evaluate m.suffice test.csv
    """
    stored = load(model)
    with working(f"reading {table}"):
        rows = rows_for(stored, table, Reading(tuple(na or ()), decimal, separator), target)
    note(rows.notes)
    note_stale(stored.model)
    classes, truth = stored.model.classes_, np.asarray(rows.y)
    new = ~np.isin(truth, classes)
    if new.any():
        labels = join_words(np.unique(truth[new]), 5)
        note([f"{counted(int(new.sum()), 'row')} of classes that were never learned ({labels}): always wrong"])
    with noting(), working(f"predicting {counted(len(truth), 'row')}"):
        p = np.asarray(stored.model.predict_proba(rows.X))
    share = stored.model.class_count_ / stored.model.class_count_.sum()
    ours, chance = (measures(q, classes, truth) for q in (p, np.tile(share, (len(truth), 1))))
    say(f"{table}: {counted(len(truth), 'row')}, by {type(stored.model).__name__} of {model}")
    show(
        grid(("", "model", "chance"), [(NAMES[key], _shown(key, ours[key]), _shown(key, chance[key])) for key in ours])
    )
    say("")
    show(_confusion(classes, truth, classes[p.argmax(axis=1)]))
    if no_better(stored.model, p, truth):
        note([f"the model is not better than chance on {counted(len(truth), 'row')} of {table}"])
        raise typer.Exit(1)


def measures(p: Array, classes: Array, truth: Array) -> dict[str, float]:
    """Return error, log loss, Brier score, calibration error, and for two classes the area under the ROC curve."""
    known = {"error": float(np.mean(classes[p.argmax(axis=1)] != truth))}
    known |= of_probabilities(p, classes.astype(str), truth.astype(str))
    del known["reliability"]
    if len(classes) == 2 and set(np.unique(truth)) == set(classes):
        known["auc"] = roc(p[:, 1], truth == classes[1])["auc"]
    return known


def _shown(key: str, value: float) -> str:
    return f"{value:.2%}" if key == "error" else f"{value:.4f}"


def _confusion(classes: Array, truth: Array, predicted: Array) -> Any:
    """Return the rows by true and predicted class; for many classes, the most frequent errors."""
    labels = np.union1d(classes.astype(str), truth.astype(str))
    table = confusion_matrix(truth.astype(str), predicted.astype(str), labels=labels)
    if len(labels) <= MAX_CLASSES_IN_MATRIX:
        heads = ("true class", *(f"predicted {label}" for label in labels))
        return grid(heads, [(label, *(f"{n:,}" for n in row)) for label, row in zip(labels, table, strict=True)])
    np.fill_diagonal(table, 0)
    worst = [np.unravel_index(at, table.shape) for at in np.argsort(-table, axis=None, kind="stable")[:10]]
    rows = [(labels[i], labels[j], f"{table[i, j]:,}") for i, j in worst if table[i, j]]
    return grid(("true class", "taken for", "rows"), rows, left=2)
