"""The part of a table to learn from: labels, rows that have one, and informative columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from suffice._core.vector import Array
from suffice._runtime.messages import join_words
from suffice.data.files.forms import cast
from suffice.data.files.reading import FileTable, Reading, TableError, check_columns, counted
from suffice.data.files.table import read
from suffice.data.files.values import BOOLEAN, MOMENT, NOTHING, NUMBER, SPAN, TEXT, TIME, TYPES, as_text, kind_of

MAX_CLASSES = 100
MAX_EXACT = float(1 << 53)  # doubles hold every whole number below it
LABEL_WORDS = {"b": "a truth value", "i": "a whole number", "u": "a whole number", "f": "a number", "M": "a date"}
DAY = 86_400_000_000  # microseconds


def check_target(sheet: FileTable, target: str | None) -> str:
    """The name of the column of labels; TableError if there is no such column."""
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


def read_classes(path: str, target: str | None, how: Reading, many: bool = False) -> tuple[FileTable, str]:
    """The rows of a file that have a label, and the name of the column of labels, which are classes.

    Labels that are neither whole numbers nor booleans stay as they are written. With `many`, there may be more than
    100 classes, or one for a few rows each.
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


def labelled(sheet: FileTable, target: str) -> FileTable:
    """The rows with a label; TableError if there are none, or if the labels cannot be classes."""
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


def classes(sheet: FileTable, target: str, many: bool = False) -> FileTable:
    """The same rows; TableError unless there are at least two classes, and at most 100 unless `many`."""
    labels = sheet.table[target]
    if len(labels.unique()) == 1:
        raise TableError(f"{target!r} has one value only, {labels[0].as_py()!r}: there is nothing to learn")
    if not many:
        _check_few(target, labels, MAX_CLASSES)
    return sheet


def _check_few(target: str, labels: pa.ChunkedArray, most: float) -> None:
    """TableError if labels have more than `most` different values."""
    kinds, rows = len(labels.unique()), len(labels)
    if kinds > most:
        raise TableError(
            f"{target!r} has {kinds:,} different values in {rows:,} rows: that is a quantity or a name, not a "
            "class. Choose another --target, or make classes of it (for example above and below its median); if "
            "these are the classes, say --many-classes"
        )


def plain_type(labels: pa.ChunkedArray) -> bool:
    """True for labels of a type that does not depend on the file: whole numbers, booleans, text."""
    of = labels.type
    return pa.types.is_integer(of) or pa.types.is_boolean(of) or kind_of(labels) in (TEXT, NOTHING, None)


def whole_numbers(labels: pa.ChunkedArray) -> bool:
    """True if labels as text are whole numbers, such as 1 or 1.0, that are exact as doubles."""
    numbers = cast(labels)
    return numbers is not None and _whole(numbers)


def labels_of(column: pa.ChunkedArray) -> Array:
    """Labels (n,): whole numbers and booleans as such, all others as text.

    >>> labels_of(pa.chunked_array([[1.0, 2.0]])).tolist(), labels_of(pa.chunked_array([[1.0, 2.5]])).tolist()
    ([1, 2], ['1', '2.5'])
    """
    if pa.types.is_floating(column.type) and _whole(column):
        column = column.cast(pa.int64())
    if pa.types.is_integer(column.type) or pa.types.is_boolean(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    return np.asarray(as_text(column).to_numpy(zero_copy_only=False), dtype=str)


def labels_like(column: pa.ChunkedArray, classes: Array, path: str) -> Array:
    """Labels of the type of a model's classes (k,); TableError, with the first wrong label, if they are not."""
    labels, kind = labels_of(column), classes.dtype.kind
    if kind in "UO":
        return labels.astype(str)
    if (kind in "iu" and labels.dtype.kind in "iu") or kind == labels.dtype.kind == "b":
        return labels
    if kind in "fM":
        try:
            return labels.astype(classes.dtype)
        except ValueError:
            pass
    strange = next((one for one in np.unique(labels) if not _is(str(one), kind)), labels[0])
    raise TableError(
        f"{path}: the label {str(strange)!r} is not {LABEL_WORDS.get(kind, 'one')}, but the model has learned "
        f"{join_words(classes.tolist(), 5)}: write the labels the same way"
    )


def _whole(numbers: pa.ChunkedArray) -> bool:
    """True if all numbers are whole, and small enough to be exact."""
    if pa.types.is_integer(numbers.type):
        return True
    return bool(pc.all(pc.and_(pc.equal(pc.floor(numbers), numbers), pc.less(pc.abs(numbers), MAX_EXACT))).as_py())


def _is(text: str, kind: str) -> bool:
    """True if a text can be cast to a kind of NumPy types."""
    to = {"b": pa.bool_(), "i": pa.int64(), "u": pa.uint64(), "M": pa.timestamp("us")}.get(kind, pa.float64())
    return cast(pa.chunked_array([[text]]), to) is not None


def in_days(sheet: FileTable, target: str | None = None) -> FileTable:
    """Dates as days since 1970, times and durations as days, for methods that take numbers; the target is unchanged.

    >>> moments = pa.table({"when": pa.array([0, 129_600_000_000], pa.timestamp("us")), "y": ["a", "b"]})
    >>> in_days(FileTable("t.csv", moments), "y").table["when"].to_pylist()
    [0.0, 1.5]
    """
    table, new = sheet.table, []
    for words, kinds in (("dates, read as days since 1970", (MOMENT,)), ("times, read as days", (TIME, SPAN))):
        names = [name for name in table.column_names if name != target and kind_of(table[name]) in kinds]
        for name in names:
            whole = table[name].cast(TYPES[str(kind_of(table[name]))], safe=False).cast(pa.int64())
            days = pc.divide(whole.cast(pa.float64(), safe=False), float(DAY))
            table = table.set_column(table.column_names.index(name), name, days)
        new += [f"{join_words(map(repr, names), 6)} {'holds' if len(names) == 1 else 'hold'} {words}"] * bool(names)
    return replace(sheet, table=table, notes=(*sheet.notes, *new))


def as_doubles(sheet: FileTable, target: str) -> FileTable:
    """The same columns, with a note on large whole numbers that are equal in double precision."""
    table, notes = sheet.table, list(sheet.notes)
    for name in table.column_names:
        column = table[name]
        if name == target or not pa.types.is_integer(column.type) or column.null_count == len(column):
            continue
        ends = pc.min_max(column).as_py()
        if max(-ends["min"], ends["max"]) > MAX_EXACT:
            exact, rounded = (pc.count_distinct(one).as_py() for one in (column, column.cast(pa.float64(), safe=False)))
            note = f"{exact:,} different whole numbers of {name!r} are {counted(rounded, 'number')} to double precision"
            notes += [f"{note}: if they are codes, say --categorical {name}"] * (rounded < exact)
    return replace(sheet, notes=tuple(notes))


def useful(sheet: FileTable, target: str) -> FileTable:
    """The columns that may be informative for new rows."""
    table, notes = sheet.table, list(sheet.notes)
    for name in table.column_names:
        why = None if name == target else _useless(table[name])
        if why:
            notes.append(f"the column {name!r} {why}, and is left out")
            table = table.drop_columns([name])
    if table.num_columns == 1:
        raise TableError("; ".join([f"besides {target!r} there is no column to learn from", *notes]))
    return replace(sheet, table=table, notes=tuple(notes))


def _useless(column: pa.ChunkedArray) -> str | None:
    """Why a column is not informative for new rows; None if it may be."""
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
        if spread["max"] - spread["min"] == values - 1:
            return "numbers the rows"
    return None
