"""A table of one's own, and what of it can be learned from."""

from __future__ import annotations

import difflib
import gzip
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
from sklearn import datasets as bundled

from suffice.report.dataset import Dataset

EMBEDDED = ("breast_cancer", "digits", "iris", "wine")
MAX_CLASSES = 100
INDEX = ("", "__index_level_0__", "Unnamed: 0")  # what a data frame calls the numbers of its rows


class TableError(ValueError):
    """A table cannot be used as it is; the message says what to do."""


@dataclass(frozen=True)
class Read:
    """What was read of a table: the rows, and a sentence for everything that was left out."""

    data: Dataset
    notes: tuple[str, ...]


def read_table(path: str, target: str | None, drop: tuple[str, ...] = ()) -> Read:
    """A CSV or Parquet file, or a data set that comes with scikit-learn, as features and labels."""
    if path in EMBEDDED and not Path(path).exists():
        if target not in (None, "class"):
            raise TableError(f"the classes of {path} are in its column 'class': leave --target out")
        table, target = _embedded(path), "class"
    else:
        table = _file(path)
    if target is None:
        raise TableError(f"which column holds the classes? Say --target with one of: {_listed(table.column_names)}")
    _check_columns(table, target, drop)
    if target in drop:
        raise TableError(f"{target!r} is both the --target and to be dropped: choose one")
    table = table.drop_columns(list(drop))
    notes: list[str] = []
    table = _labelled(table, target, notes)
    table = _useful(table, target, notes)
    data = _finite(Dataset.of(Path(path).name, table, target, str(path)), notes)
    return Read(_of_some_size(data, notes), tuple(notes))


def _embedded(name: str) -> pa.Table:
    got = getattr(bundled, f"load_{name}")()
    columns = {str(feature): got.data[:, j] for j, feature in enumerate(got.feature_names)}
    return pa.table({**columns, "class": np.asarray(got.target_names)[got.target].astype(str)})


def _file(path: str) -> pa.Table:
    file = Path(path)
    if not file.exists():
        raise TableError(f"there is no file {path}; the data sets that need none are {_listed(EMBEDDED)}")
    if file.is_dir() or not os.access(file, os.R_OK):
        raise TableError(f"{path} is not a file that can be read")
    if file.stat().st_size == 0:
        raise TableError(f"{path} is empty")
    try:
        if file.suffix.lower() in (".parquet", ".pq"):
            table = pq.read_table(file)
        else:
            table = pcsv.read_csv(
                file,
                parse_options=pcsv.ParseOptions(delimiter=_delimiter(file)),
                convert_options=pcsv.ConvertOptions(strings_can_be_null=True),
            )
        readable = not any(pa.types.is_binary(field.type) for field in table.schema)
    except UnicodeDecodeError:
        readable = False
    except (pa.ArrowInvalid, OSError) as error:
        hint = "" if _is_utf8(file) else ". It is not UTF-8: save it as UTF-8"
        raise TableError(f"{path} cannot be read as a table: {str(error).splitlines()[0]}{hint}") from error
    if not readable:
        raise TableError(f"{path} is not UTF-8 text: save it as UTF-8")
    if not table.num_rows:
        raise TableError(f"{path} has a header and no rows")
    return table


def _delimiter(file: Path) -> str:
    """The separator that the first line has most of, outside of quotes."""
    opened = gzip.open if file.suffix == ".gz" else open
    with opened(file, "rt", encoding="utf-8", errors="replace") as text:
        line = re.sub(r'"[^"]*"', "", text.readline())
    return max((",", ";", "\t", "|"), key=line.count)


def _is_utf8(file: Path) -> bool:
    try:
        file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _check_columns(table: pa.Table, target: str, drop: tuple[str, ...]) -> None:
    names = table.column_names
    for name in (target, *drop):
        if name not in names:
            hint = nearest(name, names)
            raise TableError(f"there is no column {name!r}.{hint} The columns are: {_listed(names)}")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TableError(f"more than one column is called {_listed(twice)}: give every column a name of its own")


def nearest(name: str, names: Any) -> str:
    """A guess at what was meant, as a sentence, or nothing."""
    lower = {str(known).lower(): str(known) for known in names}
    near = difflib.get_close_matches(name.strip().lower(), lower, 1)
    return f" Did you mean {lower[near[0]]!r}?" if near else ""


def _labelled(table: pa.Table, target: str, notes: list[str]) -> pa.Table:
    """The rows that have a label, if the labels are classes at all."""
    if pa.types.is_null(table[target].type):
        raise TableError(f"no row has a value in {target!r}")
    if not (_is_text(table[target]) or _is_number(table[target]) or pa.types.is_temporal(table[target].type)):
        raise TableError(f"{target!r} holds {table[target].type}, not classes: choose another --target")
    if _is_text(table[target]):
        labels = table[target].cast(pa.string())
        plain = pc.utf8_trim_whitespace(labels)
        if not plain.equals(labels):
            notes.append(f"spaces around the values of {target!r} are left out")
        table = table.set_column(table.column_names.index(target), target, plain)
    known = pc.invert(pc.is_null(table[target], nan_is_null=True))
    lost = table.num_rows - int(np.sum(known.to_numpy()))
    if lost:
        notes.append(f"{lost} rows have no {target!r} and are left out")
        table = table.filter(known)
    kinds = len(table[target].unique())
    if not table.num_rows:
        raise TableError(f"no row has a value in {target!r}")
    if kinds == 1:
        raise TableError(f"{target!r} has one value only, {table[target][0].as_py()!r}: there is nothing to tell apart")
    if kinds > MAX_CLASSES or (pa.types.is_floating(table[target].type) and kinds > table.num_rows / 4):
        raise TableError(
            f"{target!r} has {kinds} different values in {table.num_rows} rows: that is a quantity or a name, not a "
            "class. Choose another --target, or make classes of it (for example above and below its median)"
        )
    return table


def _useful(table: pa.Table, target: str, notes: list[str]) -> pa.Table:
    """The columns that can say something about a row that was never seen."""
    for name in table.column_names:
        column = table[name]
        if name == target:
            continue
        why = _useless(column, name)
        if why:
            notes.append(f"the column {name!r} {why}, and is left out")
            table = table.drop_columns([name])
    if table.num_columns == 1:
        raise TableError("; ".join([f"besides {target!r} there is no column to learn from", *notes]))
    return table


def _useless(column: pa.ChunkedArray, name: str) -> str | None:
    """Why a column cannot say anything about a new row; None if it may."""
    if not (_is_text(column) or _is_number(column)):
        return f"holds neither numbers nor text but {column.type}"
    known = column.filter(pc.invert(pc.is_null(column, nan_is_null=True)))
    values = len(known.unique())
    if values <= 1:
        return "has one value only" if values else "has no values"
    if _is_text(column) and values > max(20, 0.5 * len(column)):
        return f"is text with {values} different values, as names and numbers of rows are"
    if pa.types.is_integer(column.type) and values == len(column) > 20:
        spread = pc.min_max(column).as_py()
        if name in INDEX or spread["max"] - spread["min"] == values - 1:
            return "numbers the rows"
    return None


def _finite(data: Dataset, notes: list[str]) -> Dataset:
    """Infinite values count as missing."""
    infinite = np.isinf(data.X)
    for j in np.flatnonzero(infinite.any(axis=0)):
        notes.append(f"{infinite[:, j].sum()} values of {data.names[j]!r} are infinite, and count as missing")
    return replace(data, X=np.where(infinite, np.nan, data.X))


def _is_text(column: pa.ChunkedArray) -> bool:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_number(column: pa.ChunkedArray) -> bool:
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal)
    return any(test(column.type) for test in tests)


def _of_some_size(data: Dataset, notes: list[str]) -> Dataset:
    """Without classes that are too small to be in a training and a test part."""
    labels, size = np.unique(data.y, return_counts=True)
    small = labels[size < 2]
    if len(small):
        notes.append(f"the classes {_listed(small.tolist())} have one row only, and are left out")
        data = data.rows(~np.isin(data.y, small))
    if len(labels) - len(small) < 2:
        raise TableError("fewer than two classes have two rows or more: there is nothing to compare on")
    return data


def _listed(names: Any, most: int = 12) -> str:
    names = [str(name) for name in names]
    return ", ".join(names[:most]) + (f", ... ({len(names)} in all)" if len(names) > most else "")
