"""What of a table can be learned from: rows that have a label, and columns that may say something."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from suffice._runtime.messages import join_words
from suffice.data.files.labels import EXACT, plain_type, whole_numbers
from suffice.data.files.sheet import Reading, Sheet, TableError, check_columns, counted
from suffice.data.files.table import read
from suffice.data.files.values import BOOLEAN, MOMENT, NUMBER, SPAN, TEXT, TIME, TYPES, kind_of

MAX_CLASSES = 100
DAY = 86_400_000_000  # microseconds
INDEX = frozenset({"", "__index_level_0__", "Unnamed: 0"})  # what a data frame calls the numbers of its rows


def check_target(sheet: Sheet, target: str | None) -> str:
    """The name of the column of labels, which is there."""
    names = sheet.table.column_names
    if target is None:
        raise TableError(
            f"which column holds the classes? Say --target with one of: {join_words(names, 30, show_end=True)}"
        )
    try:
        check_columns(sheet.table.column_names, [target])
    except TableError as error:
        raise TableError("; ".join([str(error), *sheet.notes])) from None
    return target


def read_classes(path: str, target: str | None, how: Reading, many: bool = False) -> tuple[Sheet, str]:
    """The rows of a file that have a label, and the name of the column of labels, which are classes.

    Labels that are neither whole numbers nor truth values stay as they are written. Classes may be `many`: more than
    100, or one for a few rows each.
    """
    if target is not None and target in how.drop:
        raise TableError(f"{target!r} is both the --target and to be dropped: choose one")
    sheet = read(path, how, target=target)
    target = check_target(sheet, target)
    labels = sheet.table[target]
    if not many and pa.types.is_floating(labels.type):
        _check_few(target, labels.drop_null(), len(labels) / 4)
    if target in sheet.written or not plain_type(labels):
        text = read(path, replace(how, categorical=(*how.categorical, target)))
        sheet = sheet if target not in sheet.written and whole_numbers(text.table[target]) else text
    return classes(labelled(sheet, target), target, many), target


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


def classes(sheet: Sheet, target: str, many: bool = False) -> Sheet:
    """The same rows, if their labels are at least two classes, and no more than 100 unless they may be many."""
    labels = sheet.table[target]
    if len(labels.unique()) == 1:
        raise TableError(f"{target!r} has one value only, {labels[0].as_py()!r}: there is nothing to tell apart")
    if not many:
        _check_few(target, labels, MAX_CLASSES)
    return sheet


def _check_few(target: str, labels: pa.ChunkedArray, most: float) -> None:
    """TableError if labels have more different values than that."""
    kinds, rows = len(labels.unique()), len(labels)
    if kinds > most:
        raise TableError(
            f"{target!r} has {kinds:,} different values in {rows:,} rows: that is a quantity or a name, not a "
            "class. Choose another --target, or make classes of it (for example above and below its median); if "
            "these are the classes, say --many-classes"
        )


def in_days(sheet: Sheet, target: str | None = None) -> Sheet:
    """Dates as days since 1970, times and spans of time as days, for methods that take numbers; not so the target.

    >>> moments = pa.table({"when": pa.array([0, 129_600_000_000], pa.timestamp("us")), "y": ["a", "b"]})
    >>> in_days(Sheet("t.csv", moments), "y").table["when"].to_pylist()
    [0.0, 1.5]
    """
    table, said = sheet.table, []
    for words, kinds in (("dates, read as days since 1970", (MOMENT,)), ("times, read as days", (TIME, SPAN))):
        names = [name for name in table.column_names if name != target and kind_of(table[name]) in kinds]
        for name in names:
            whole = table[name].cast(TYPES[str(kind_of(table[name]))], safe=False).cast(pa.int64())
            days = pc.divide(whole.cast(pa.float64(), safe=False), float(DAY))
            table = table.set_column(table.column_names.index(name), name, days)
        said += [f"{join_words(map(repr, names), 6)} {'holds' if len(names) == 1 else 'hold'} {words}"] * bool(names)
    return replace(sheet, table=table, notes=(*sheet.notes, *said))


def as_doubles(sheet: Sheet, target: str) -> Sheet:
    """The same columns, with a note on whole numbers so great that different ones are the same to double precision."""
    table, notes = sheet.table, list(sheet.notes)
    for name in table.column_names:
        column = table[name]
        if name == target or not pa.types.is_integer(column.type) or column.null_count == len(column):
            continue
        ends = pc.min_max(column).as_py()
        if max(-ends["min"], ends["max"]) > EXACT:
            exact, rounded = (pc.count_distinct(one).as_py() for one in (column, column.cast(pa.float64(), safe=False)))
            said = f"{exact:,} different whole numbers of {name!r} are {counted(rounded, 'number')} to double precision"
            notes += [f"{said}: if they are codes, say --categorical {name}"] * (rounded < exact)
    return replace(sheet, notes=tuple(notes))


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
        return f"is text with {values:,} different values, as names and numbers of rows are"
    if pa.types.is_integer(column.type) and values == len(column) > 20:
        spread = pc.min_max(column).as_py()
        if name in INDEX or spread["max"] - spread["min"] == values - 1:
            return "numbers the rows"
    return None
