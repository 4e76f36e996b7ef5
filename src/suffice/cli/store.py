"""Model files of the commands, with facts about the tables they were learned from, and the rows of other tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

import suffice
from suffice._core.kinds import CATEGORICAL, ColumnContent
from suffice._core.vector import Array
from suffice._runtime.atomic_file import check_local
from suffice._runtime.messages import join_words
from suffice.cli.console import noting
from suffice.data.files.reading import FileTable, Reading, TableError, counted, nearest
from suffice.data.files.table import read
from suffice.data.files.target import check_target, labelled, labels_like
from suffice.data.files.values import BOOLEAN, FILE_KINDS, NUMBER, TEXT, TYPES, kind_of
from suffice.data.notations import NOTATIONS
from suffice.model_selection.measures import gains_over_chance, no_better_than_chance
from suffice.persistence import ModelFileError, load_noted, save
from suffice.persistence.schema import declared, suits

KEY = "command"  # of these facts among the notes of a file


@dataclass(frozen=True)
class About:
    """Facts about a model that the commands store with it."""

    target: str | None = None
    columns: dict[str, str] = field(default_factory=dict)  # how each was read, in the order of the model
    ignored: list[str] = field(default_factory=list)  # columns of the table that the model does not use
    na: list[str] = field(default_factory=list)
    decimal: str | None = None
    kind: str | None = None  # the name after --model
    written: dict[str, str] = field(default_factory=dict)  # the notation of columns with an unusual one
    history: list[str] = field(default_factory=list)  # one sentence per step

    def then(self, did: str) -> About:
        """Return these facts with one more step in the history."""
        return replace(self, history=[*self.history, did])

    def reading(self, how: Reading) -> Reading:
        """Return settings to read a table as the learned one; `how` adds missing marks and may replace the decimal."""
        return replace(how, na=(*self.na, *how.na), decimal=how.decimal or self.decimal, written=self.written)


@dataclass(frozen=True, eq=False)
class Stored:
    """A model, the facts about it, and the version that wrote it."""

    model: Any
    about: About
    version: str = suffice.__version__


def load(path: Path) -> Stored:
    """Load a model; one that was saved in Python is described by its own columns."""
    check_local(path, "read", ModelFileError)
    if not path.exists():
        raise ModelFileError(f"there is no file {path}: `suffice fit` makes one")
    with noting():
        found = load_noted(path)
    about = _about(found.notes, path) if KEY in found.notes else About(columns=_columns(found.model, path))
    names = getattr(found.model, "feature_names_in_", None)
    if names is None or list(about.columns) != [str(name) for name in names]:
        raise ModelFileError(f"cannot load '{path}': its notes speak of other columns than its model")
    return Stored(found.model, about, found.library)


def _about(notes: Mapping[str, Any], path: Path) -> About:
    """Return the facts in the notes of a file, which a later version may have extended."""
    known, given = declared(About), notes[KEY]
    given = {key: value for key, value in given.items() if key in known} if isinstance(given, dict) else {"columns": 0}
    sound = all(suits(value, known[key][0]) for key, value in given.items())
    of = {"columns": TYPES, "written": NOTATIONS}
    if not sound or not all(set(given.get(key, {}).values()) <= set(names) for key, names in of.items()):
        raise ModelFileError(f"cannot load '{path}': its notes are not those of the command")
    return About(**given)


def _columns(model: Any, path: Path) -> dict[str, str]:
    """Return how the columns of a model that was saved in Python are to be read."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise ModelFileError(
            f"{path} was learned from an array without column names, but the command needs a model of a table: use it "
            "in Python with suffice.load, or fit it on a data frame"
        )
    contents = {name: ColumnContent(one.holds) for name, one in getattr(model, "columns_", {}).items()}
    text = {name for name, values in categories_of(model).items() if values.dtype.kind in "OUT"}
    text |= {name for name, content in contents.items() if content is ColumnContent.EMPTY}
    kinds = {name: FILE_KINDS.get(content, TEXT if name in text else NUMBER) for name, content in contents.items()}
    return {str(name): kinds.get(name, NUMBER) for name in names}


def categories_of(model: Any) -> dict[str, Array]:
    """The categories that a model has learned, by column."""
    features = getattr(getattr(model, "statistics_", None), "domain", None)
    parts = getattr(getattr(features, "features", None), "parts", {})
    found: dict[str, Array] = {}
    for block, part in parts.items():
        if block in CATEGORICAL:
            found |= dict(zip(part.names.tolist(), part.categories, strict=True))
    return found


def keep(stored: Stored, path: Path, seen: str | None) -> None:
    """Write a model in one step; refuse to replace a file that has appeared or changed since its mark was `seen`."""
    try:
        save(stored.model, path, {KEY: asdict(stored.about)}, seen)
    except OSError as error:
        raise ModelFileError(f"{path} cannot be written: {error.strerror or error}") from error


class ModelRows(NamedTuple):
    """Features in the order of a model, labels if requested, the file, and notes."""

    X: pa.Table
    y: Array | None
    file: FileTable
    notes: list[str]


def no_better(model: Any, p: Array, truth: Array) -> bool:
    """True if probabilities (n, k) of a model are not better than chance, which knows the shares of its classes."""
    classes, share = model.classes_.astype(str), model.class_count_ / model.class_count_.sum()
    return no_better_than_chance(gains_over_chance(p, classes, truth.astype(str), share))


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
    there = sheet.table.column_names
    needed = [name for name in about.columns if name not in optional]
    lost = [name for name in needed if name not in there]
    if lost:
        hint = nearest(lost[0], [name for name in there if name not in needed])
        raise TableError(
            f"{path} has no column {join_words(map(repr, lost))}, which the model has learned from.{hint} "
            f"The file has: {join_words(there, 30, show_end=True)}"
        )
    table = sheet.table
    for name in optional.difference(there):  # all values are missing
        table = table.append_column(name, pa.nulls(table.num_rows, TYPES[about.columns[name]]))
    sheet = replace(sheet, table=table)
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
