"""The rows of a table as a model takes them: its columns by name, and labels of its type."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from suffice._core.vector import Array
from suffice._runtime.messages import join_words
from suffice.cli.store import Stored, categories_of
from suffice.data.files.sheet import Reading, Sheet, TableError, counted, nearest
from suffice.data.files.table import read
from suffice.data.files.target import check_target, labelled, labels_like
from suffice.data.files.values import BOOLEAN, TEXT, TYPES, kind_of


class ModelRows(NamedTuple):
    """Features in the order of a model, labels if requested, the file, and notes."""

    X: pa.Table
    y: Array | None
    file: Sheet
    notes: list[str]


def rows_for(
    stored: Stored,
    path: str,
    how: Reading,
    target: str | None = None,
    labels: bool = True,
    keep: Collection[str] = (),
    learn: bool = False,
) -> ModelRows:
    """Read the rows of a file as a model takes them.

    Columns may be in any order. An unknown column is left out with a note. A missing one is an error, unless the rows
    are only predicted and the model does not use the column.
    """
    about = stored.about
    how, target = about.reading(how), target or about.target
    as_text = {} if target is None or stored.model.classes_.dtype.kind in "biu" else {target: TEXT}
    file = sheet = read(path, how, {**as_text, **about.columns}, target, keep)
    if labels:
        target = check_target(sheet, target)
    silent = {name for name, one in getattr(stored.model, "columns_", {}).items() if one.silent}
    optional = set() if learn else silent
    _check_columns(sheet, [name for name in about.columns if name not in optional])
    sheet = _add_missing(sheet, stored, optional)
    sheet = labelled(sheet, target) if labels and target is not None else sheet
    X = sheet.table.select(list(about.columns))
    known = {*about.columns, *about.ignored, *keep, target}
    more = [name for name in sheet.table.column_names if name not in known]
    notes = list(sheet.notes)
    if more:
        notes.append(f"{path}: the model does not know {join_words(map(repr, more))}, left out")
    notes += unseen(stored.model, X.drop_columns(sorted(silent.intersection(X.column_names))))
    y = labels_like(sheet.table[target], stored.model.classes_, path) if labels and target is not None else None
    return ModelRows(X, y, file, notes)


def _add_missing(sheet: Sheet, stored: Stored, optional: set[str]) -> Sheet:
    """Add the optional columns that a table lacks, with all values missing."""
    table = sheet.table
    for name in optional.difference(table.column_names):
        table = table.append_column(name, pa.nulls(table.num_rows, TYPES[stored.about.columns[name]]))
    return replace(sheet, table=table)


def _check_columns(sheet: Sheet, names: list[str]) -> None:
    """Raise TableError if a column that was learned from is missing."""
    known = sheet.table.column_names
    lost = [name for name in names if name not in known]
    if lost:
        spare = [name for name in known if name not in names]
        hint = nearest(lost[0], spare)
        raise TableError(
            f"{sheet.path} has no column {join_words(map(repr, lost))}, which the model has learned from.{hint} "
            f"The file has: {join_words(known, 30, show_end=True)}"
        )


def unseen(model: Any, X: pa.Table) -> list[str]:
    """Return a note for every column with categories that were never learned."""
    notes = []
    for name, known in categories_of(model).items():
        column = X[name] if name in X.column_names else None
        if column is None or kind_of(column) not in (TEXT, BOOLEAN):
            continue
        new = pc.invert(pc.is_in(column, pa.array(known.tolist(), column.type)))
        new = column.filter(pc.and_(new, pc.is_valid(column)))
        if len(new):
            values = join_words(map(repr, new.unique().to_pylist()), 3)
            notes.append(
                f"{counted(len(new), 'value')} of {name!r} never learned ({values}): the column says nothing there"
            )
    return notes
