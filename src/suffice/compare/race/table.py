"""The table of a comparison: a file, or a data set of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
from sklearn import datasets as bundled

from suffice._runtime.atomic_file import check_local
from suffice._runtime.messages import join_words
from suffice.data.files.reading import FileTable, Reading, TableError, check_columns
from suffice.data.files.target import as_doubles, in_days, read_classes, useful
from suffice.model_selection.measures import Dataset

EMBEDDED = ("breast_cancer", "digits", "iris", "wine")


@dataclass(frozen=True)
class ComparedTable:
    """A table that was read: the rows, notes on decisions, and how it was read."""

    data: Dataset
    notes: tuple[str, ...]
    how: Reading = field(default_factory=Reading)


def read_table(path: str, target: str | None, how: Reading | None = None, many: bool = False) -> ComparedTable:
    """Read a file, or a data set of scikit-learn, as features and labels; `many` allows more than 100 classes."""
    check_local(path, "read", TableError)
    how = how or Reading()
    if path in EMBEDDED and not Path(path).exists():
        if target not in (None, "class"):
            raise TableError(f"the classes of {path} are in its column 'class': leave --target out")
        sheet, target = _embedded(path, how.drop)
    elif not Path(path).exists():
        raise TableError(f"there is no file {path}; the built-in data sets are {join_words(EMBEDDED)}")
    else:
        sheet, target = read_classes(path, target, how, many)
    sheet = useful(in_days(as_doubles(sheet, target), target), target)
    notes = list(sheet.notes)
    data = _without_single_rows(Dataset.of(Path(path).name, sheet.table, target, str(path)), notes)
    return ComparedTable(data, tuple(notes), how)


def _embedded(name: str, drop: tuple[str, ...]) -> tuple[FileTable, str]:
    got = getattr(bundled, f"load_{name}")()
    columns = {str(feature): got.data[:, j] for j, feature in enumerate(got.feature_names)}
    table = pa.table({**columns, "class": np.asarray(got.target_names)[got.target].astype(str)})
    check_columns(table.column_names, drop)
    if "class" in drop:
        raise TableError("'class' is the column of the classes and cannot be dropped")
    return FileTable(name, table.drop_columns(list(drop))), "class"


def _without_single_rows(data: Dataset, notes: list[str]) -> Dataset:
    """Drop classes that are too small to be in a training and a test part."""
    labels, size = np.unique(data.y, return_counts=True)
    small = labels[size < 2]
    if len(small):
        notes.append(f"the classes {join_words(small.tolist())} have only one row, and are left out")
        data = data.rows(~np.isin(data.y, small))
    if len(labels) - len(small) < 2:
        raise TableError("fewer than two classes have two rows or more: there is nothing to compare on")
    return data
