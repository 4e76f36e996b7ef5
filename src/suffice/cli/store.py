"""Models as the commands keep them: an estimator, and what is known of the tables that it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import suffice
from suffice._core.kinds import TEXTUAL, ColumnContent
from suffice._runtime.atomic_file import check_local
from suffice.cli.console import noting
from suffice.data.files.sheet import Reading
from suffice.data.files.values import BOOLEAN, MOMENT, NUMBER, TEXT, TYPES
from suffice.data.files.ways import WAYS
from suffice.persistence import ModelFileError, load_noted, save
from suffice.persistence.schema import declared, suits

KEY = "command"  # under which the notes of a file have what the commands know
HOLDS = {  # what columns are read as; all others are numbers
    **dict.fromkeys(TEXTUAL, TEXT),
    ColumnContent.BOOLEANS: BOOLEAN,
    ColumnContent.DATES: MOMENT,
}


@dataclass(frozen=True)
class About:
    """What the commands know of a model besides itself."""

    target: str | None = None
    columns: dict[str, str] = field(default_factory=dict)  # what each was read as, in the order of the model
    ignored: list[str] = field(default_factory=list)  # columns that were there and are no part of the model
    na: list[str] = field(default_factory=list)
    decimal: str | None = None
    kind: str | None = None  # by which name it was asked for
    written: dict[str, str] = field(default_factory=dict)  # in which way columns are written, if not plainly
    history: list[str] = field(default_factory=list)  # what was done with it, a sentence each

    def then(self, did: str) -> About:
        """The same, after something more was done."""
        return replace(self, history=[*self.history, did])

    def reading(self, how: Reading) -> Reading:
        """How to read a table for this model: as that which it was learned from, unless told otherwise."""
        return replace(how, na=(*self.na, *how.na), decimal=how.decimal or self.decimal, written=self.written)


@dataclass(frozen=True, eq=False)
class Stored:
    """A model, what is known of it, and by which version it was written."""

    model: Any
    about: About
    version: str = suffice.__version__


def load(path: Path) -> Stored:
    """A model from a file; one that was saved in Python is described by what it has learned."""
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
    """The notes of the command, which may be of a later version with more to them."""
    known, given = declared(About), notes[KEY]
    given = {key: value for key, value in given.items() if key in known} if isinstance(given, dict) else {"columns": 0}
    sound = all(suits(value, known[key][0]) for key, value in given.items())
    of = {"columns": TYPES, "written": WAYS}
    if not sound or not all(set(given.get(key, {}).values()) <= set(names) for key, names in of.items()):
        raise ModelFileError(f"cannot load '{path}': its notes are not those of the command")
    return About(**given)


def _columns(model: Any, path: Path) -> dict[str, str]:
    """What the columns of a model are that was saved in Python."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise ModelFileError(
            f"{path} was learned from an array, whose columns have no names: the command needs a model of a table. "
            "Use it in Python, with suffice.load, or fit it on a data frame"
        )
    holds = {name: one.holds for name, one in getattr(model, "columns_", {}).items()}
    return {str(name): HOLDS.get(ColumnContent(holds.get(name, "")), NUMBER) for name in names}


def keep(stored: Stored, path: Path, seen: str | None) -> None:
    """Write a model, at once or not at all; not over a file that has come, or changed, since its mark was `seen`."""
    try:
        save(stored.model, path, {KEY: asdict(stored.about)}, seen)
    except OSError as error:
        raise ModelFileError(f"{path} cannot be written: {error.strerror or error}") from error
