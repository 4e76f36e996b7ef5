"""Model files of the commands: an estimator, and facts about the tables that it was learned from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import suffice
from suffice._core.kinds import CATEGORICAL, ColumnContent
from suffice._core.vector import Array
from suffice._runtime.atomic_file import check_local
from suffice.cli.console import noting
from suffice.data.files.sheet import Reading
from suffice.data.files.values import NUMBER, READ_AS, TEXT, TYPES
from suffice.data.files.ways import WAYS
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
        """Return how to read a table for this model: like the one it was learned from, unless `how` says otherwise."""
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
    try:
        with noting():
            found = load_noted(path)
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror}") from error
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
    of = {"columns": TYPES, "written": WAYS}
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
    kinds = {name: READ_AS.get(content, TEXT if name in text else NUMBER) for name, content in contents.items()}
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
