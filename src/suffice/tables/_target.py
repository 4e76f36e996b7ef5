"""What of a table can be learned from: rows that have a label, and columns that may say something."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from suffice.tables._base import Sheet, TableError, check_columns, counted, listed
from suffice.tables._values import BOOLEAN, NUMBER, TEXT, kind_of

MAX_CLASSES = 100
INDEX = ("", "__index_level_0__", "Unnamed: 0")  # what a data frame calls the numbers of its rows


def check_target(sheet: Sheet, target: str | None) -> str:
    """The name of the column of labels, which is there."""
    names = sheet.table.column_names
    if target is None:
        raise TableError(f"which column holds the classes? Say --target with one of: {listed(names)}")
    try:
        check_columns(sheet.table, [target])
    except TableError as error:
        raise TableError("; ".join([str(error), *sheet.notes])) from None
    return target


def labelled(sheet: Sheet, target: str) -> Sheet:
    """The rows that have a label, if the labels are classes at all."""
    table, notes = sheet.table, list(sheet.notes)
    labels = table[target]
    if pa.types.is_null(labels.type):
        raise TableError(f"no row has a value in {target!r}")
    if kind_of(labels) is None:
        raise TableError(f"{target!r} holds {labels.type}, not classes: choose another --target")
    known = pc.invert(pc.is_null(labels, nan_is_null=True))
    lost = table.num_rows - int(np.sum(known.to_numpy()))
    if lost:
        have, are = ("has", "is") if lost == 1 else ("have", "are")
        notes.append(f"{counted(lost, 'row')} {have} no {target!r} and {are} left out")
        table = table.filter(known)
    if not table.num_rows:
        raise TableError(f"no row has a value in {target!r}")
    return replace(sheet, table=table, notes=tuple(notes))


def classes(sheet: Sheet, target: str) -> Sheet:
    """The same rows, if their labels are at least two classes and no quantity."""
    labels = sheet.table[target]
    kinds, rows = len(labels.unique()), len(labels)
    if kinds == 1:
        raise TableError(f"{target!r} has one value only, {labels[0].as_py()!r}: there is nothing to tell apart")
    if kinds > MAX_CLASSES or (pa.types.is_floating(labels.type) and kinds > rows / 4):
        raise TableError(
            f"{target!r} has {kinds} different values in {rows} rows: that is a quantity or a name, not a "
            "class. Choose another --target, or make classes of it (for example above and below its median)"
        )
    return sheet


def useful(sheet: Sheet, target: str) -> Sheet:
    """The columns that can say something about a row that was never seen."""
    table, notes = sheet.table, list(sheet.notes)
    for name in table.column_names:
        why = None if name == target else _useless(table[name], name)
        if why:
            notes.append(f"the column {name!r} {why}, and is left out")
            table = table.drop_columns([name])
    if table.num_columns == 1:
        raise TableError("; ".join([f"besides {target!r} there is no column to learn from", *notes]))
    return replace(sheet, table=table, notes=tuple(notes))


def _useless(column: pa.ChunkedArray, name: str) -> str | None:
    """Why a column cannot say anything about a new row; None if it may."""
    kind = kind_of(column)
    if kind not in (NUMBER, TEXT, BOOLEAN) and not pa.types.is_null(column.type):
        return f"holds neither numbers nor text but {column.type}"
    known = column.filter(pc.invert(pc.is_null(column, nan_is_null=True)))
    values = len(known.unique())
    if values <= 1:
        return "has one value only" if values else "has no values"
    if kind == TEXT and values > max(20, 0.5 * len(column)):
        return f"is text with {values} different values, as names and numbers of rows are"
    if pa.types.is_integer(column.type) and values == len(column) > 20:
        spread = pc.min_max(column).as_py()
        if name in INDEX or spread["max"] - spread["min"] == values - 1:
            return "numbers the rows"
    return None
