"""`suffice predict`: classes of new rows."""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer

from suffice._core.vector import Array
from suffice.cli import console as options
from suffice.cli.console import check_output, note, note_stale, noting, working
from suffice.cli.rows import ModelRows, rows_for
from suffice.cli.store import load
from suffice.data.files.sheet import Reading, TableError, check_columns, counted
from suffice.data.files.write import check_suffix, write, write_text
from suffice.report.console import naming

MAX_REASONS = 3  # contributions shown with a prediction
BECAUSE = "because"  # their column

EXAMPLES = (
    "suffice predict m.suffice new.csv --out predicted.csv",
    "suffice predict m.suffice new.csv --proba --keep id -o predicted.parquet",
    "suffice predict m.suffice new.csv --explain | head",
)


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
