"""Checkpoints: a fit that was killed continues where it stopped.

Learning is a sequence of sums, each of which follows from the answers before it. So a checkpoint is the list of answers
so far, in a folder: `about.json`, and a file for each sum. A fit that finds an answer there does not read the rows for
it. Everything else is computed again, from the same numbers.
"""

from __future__ import annotations

import json
import os
import re
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, TypeVar

from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from suffice._runtime.atomic_file import check_local, replacing
from suffice._runtime.fingerprint import Content
from suffice._runtime.messages import Notice, emit, join_words
from suffice._runtime.random import seeded
from suffice._runtime.version import __version__
from suffice.data import Data
from suffice.data.recorded import Recorded
from suffice.persistence import archive as _archive
from suffice.persistence.archive import CheckpointError, IncompleteError, ModelFileError
from suffice.persistence.file import from_members, to_members
from suffice.persistence.schema import answer_classes
from suffice.persistence.values import Reader, Writer

_HELD: set[str] = set()  # files that threads of this process hold, which the system cannot tell apart
_GUARD = Lock()


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Lock a file; CheckpointError if it is locked already. The lock is released when the process ends."""
    name = os.path.realpath(file)
    with _GUARD:
        if name in _HELD:
            raise _in_use(file, f"this process ({os.getpid()})")
        _HELD.add(name)
    try:
        with _naming_folder("write to", file.parent):
            opened = file.open("ab+")
        with opened as handle:
            if not _acquire(handle):
                raise _in_use(file, file.read_text(errors="replace") or "another process")
            handle.truncate(0)
            handle.write(f"process {os.getpid()} on {socket.gethostname()}".encode())
            handle.flush()
            yield
    finally:
        _HELD.discard(name)


@contextmanager
def _naming_folder(what: str, folder: Path) -> Iterator[None]:
    """Say of an OSError what could not be done with the folder."""
    try:
        yield
    except OSError as error:
        why = f"cannot {what} the folder of the checkpoint: {error.strerror}"
        raise type(error)(error.errno, why, str(folder)) from error


def _in_use(file: Path, by: str) -> CheckpointError:
    return CheckpointError(
        f"the checkpoint in {str(file.parent)!r} is in use by {by}: two fits cannot share a folder. Wait until that "
        "one has ended, or give another folder"
    )


if sys.platform == "win32":
    import msvcrt

    def _acquire(handle: BinaryIO) -> bool:
        try:
            handle.seek(1 << 20)  # beyond the bytes that others read
            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _acquire(handle: BinaryIO) -> bool:
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # children do not inherit it
        except (BlockingIOError, PermissionError):
            return False
        return True


V = TypeVar("V")

FORMAT = 1
ABOUT, LOCK, ENTRY = "about.json", "lock", ".answer"
ASIDE = re.compile(r"\.(\d+\.answer|about\.json)\.[0-9a-f]+\.tmp")  # files of a process that was killed while writing
AGAIN = "To begin again, give another folder, or delete this one"
MAX_LETTERS = 100  # of a value in a message
ABSENT = "not there"  # in messages: a setting that only one of two fits has
UNKNOWN = "this kind of data set has no fingerprint, so that its rows cannot be compared with those of the checkpoint"


@contextmanager
def recorded(folder: str | os.PathLike[str], data: Data, estimator: BaseEstimator) -> Iterator[Data]:
    """Yield a data set whose sums are stored in a folder, and taken from there if they are in it already."""
    check_local(folder, error=CheckpointError)
    place = Path(folder)
    if place.exists() and not place.is_dir():
        raise CheckpointError(f"a checkpoint is a folder, but {str(place)!r} is a file: give another name")
    with _naming_folder("create", place):
        place.mkdir(parents=True, exist_ok=True)
    with locked(place / LOCK):
        journal = Journal.open(place, settings_of(estimator), data.fingerprint())
        with seeded(journal.seed):
            yield Recorded(journal, lambda: data)


@dataclass
class Journal:
    """The answers to the sums of one fit, by number.

    Parameters
    ----------
    folder : Path
        Where the answers are.
    settings : dict
        Settings of the fit that asks, in words.
    about : dict
        Description of the fit that wrote last.
    """

    folder: Path
    settings: dict[str, str]
    about: dict[str, Any]
    asked: int = 0

    @classmethod
    def open(cls, folder: Path, settings: dict[str, str], rows: dict[str, Any] | None) -> Journal:
        """Open a folder that is new, empty, or has a checkpoint of these rows."""
        rows = json.loads(json.dumps(rows))
        found = {path.name for path in folder.iterdir()} - {LOCK}
        aside = {name for name in found if ASIDE.fullmatch(name)}
        for name in aside:
            (folder / name).unlink()
        if found == aside:
            seed = int(check_random_state(None).randint(2**31))
            about = {"format": FORMAT, "library": __version__, "settings": settings, "data": rows, "seed": seed}
            journal = cls(folder, settings, about)
            journal._describe()
            return journal
        if ABOUT not in found:
            raise CheckpointError(
                f"{str(folder)!r} has files that are not a checkpoint ({join_words(sorted(found - aside))}): "
                "give a new or empty folder"
            )
        journal = cls(folder, settings, _about(folder))
        journal._check(rows)
        return journal

    @property
    def seed(self) -> int:
        """The seed of random numbers if none was given."""
        return int(self.about["seed"])

    def answer(self, question: Content, work: Callable[[], V]) -> V:
        """Return the answer to the next question, always as read from its file, so that both ways agree bit for bit.

        The last answer is computed again if its file is incomplete.
        """
        path = self.folder / f"{self.asked:06}{ENTRY}"
        self.asked += 1
        last = not (self.folder / f"{self.asked:06}{ENTRY}").exists()
        found = _entry(path, incomplete=last)
        if found is None:
            members = _pack(question, work())
            self._describe()
            _archive.write(path, members, "the checkpoint")
            found = _unpack(members)
        if not question.alike(found[0]):
            raise self._other_fit()
        value: V = found[1]
        return value

    def _describe(self) -> None:
        """Write the description of this fit, unless it is there."""
        if self.about["settings"] is self.settings and (self.folder / ABOUT).exists():
            return
        self.about["settings"] = self.settings
        with replacing(self.folder / ABOUT, "the checkpoint") as file:
            file.write(json.dumps(self.about, indent=1).encode())

    def _check(self, rows: dict[str, Any] | None) -> None:
        """Raise CheckpointError unless library and rows are those of the answers."""
        if self.about["library"] != __version__:
            raise self._refusal(
                f"was written by suffice {self.about['library']}, and this is {__version__}: sums may differ"
            )
        known = self.about["data"]
        if known is None or rows is None:
            if known is not rows:
                raise self._refusal("is of another kind of data set")
            emit([Notice(f"{UNKNOWN}: {str(self.folder)!r}")])
        elif known != rows:
            raise self._refusal(f"is of other rows: {_differences(known, rows)}")

    def _other_fit(self) -> CheckpointError:
        """Return the error for an answer to another question."""
        why = _differences(self.about["settings"], self.settings) or (
            "with the same settings it asked for something else. This happens if random_state is a generator that was "
            "used in between, or if the library or NumPy was changed"
        )
        return self._refusal(f"is of another fit, from sum {self.asked} on: {why}")

    def _refusal(self, why: str) -> CheckpointError:
        return CheckpointError(f"the checkpoint in {str(self.folder)!r} {why}. {AGAIN}")


def settings_of(estimator: BaseEstimator) -> dict[str, str]:
    """Return the settings of an estimator and its parts, in words that are the same in every process."""
    values = estimator.get_params(deep=True)
    return {"estimator": type(estimator).__name__} | {name: _words(value) for name, value in sorted(values.items())}


def _words(value: Any) -> str:
    if isinstance(value, BaseEstimator):
        return type(value).__name__
    if value is None or isinstance(value, str | int | float):
        return repr(value)
    digest, numbers = Content.of(value)
    return f"a {type(value).__name__} ({digest[:8]}{list(numbers) or ''})"


def _differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """Return the differences in words."""
    found = []
    for name in {**there, **here}:
        a, b = there.get(name, ABSENT), here.get(name, ABSENT)
        if isinstance(a, list) and isinstance(b, list):  # the first entries that differ
            a, b = next(((x, y) for x, y in zip_longest(a, b) if x != y), (a, b))
        if a != b:
            found.append(f"{name} was {_short(a)} and is {_short(b)}")
    return join_words(found)


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= MAX_LETTERS else f"{text[:MAX_LETTERS]}..."


def _about(folder: Path) -> dict[str, Any]:
    """Return the description in a folder."""
    kinds = {"format": int, "library": str, "settings": dict, "data": dict | None, "seed": int}
    try:
        about = json.loads((folder / ABOUT).read_text())
        sound = isinstance(about, dict) and about["format"] == FORMAT
        sound = sound and all(isinstance(about[name], kind) for name, kind in kinds.items())
    except (ValueError, KeyError):
        sound = False
    if not sound:
        raise CheckpointError(f"{str(folder / ABOUT)!r} is damaged, or not a checkpoint of this version. {AGAIN}")
    made: dict[str, Any] = about
    return made


def _pack(question: Content, value: Any) -> dict[str, bytes]:
    """Return a question and its answer as the members of an archive."""
    writer = Writer(answer_classes())
    try:
        root = writer.value(value, "a sum")
    except ModelFileError as error:
        raise CheckpointError(f"this fit cannot have a checkpoint: {error}. Fit without one") from None
    document = {"question": [question.digest, list(question.numbers)], "objects": writer.objects, "answer": root}
    return to_members(document, writer.arrays)


def _unpack(members: Mapping[str, bytes]) -> tuple[Content, Any]:
    document, arrays = from_members(members)
    reader = Reader(arrays, answer_classes(), check=lambda _: None)  # sums may have any values
    for node in document["objects"]:
        reader.add(node)
    digest, numbers = document["question"]
    return Content(digest, tuple(numbers)), reader.value(document["answer"])


def _entry(path: Path, incomplete: bool) -> tuple[Content, Any] | None:
    """Return a question and its answer from a file; None if it is missing, or (if allowed) incomplete."""
    try:
        with path.open("rb") as file:
            return _unpack(_archive.read(file))
    except FileNotFoundError:
        return None
    except IncompleteError as error:
        if incomplete:
            return None
        why: object = error
    except ModelFileError as error:
        why = error
    except Exception as error:  # whatever error a damaged file causes, the file is to blame
        why = f"{type(error).__name__}: {error}"[:300]
    raise CheckpointError(f"{str(path)!r} is damaged ({why}). {AGAIN}; or delete this file and all later ones")
