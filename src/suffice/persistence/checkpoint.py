"""Checkpoints: a fit that was killed goes on where it was.

Learning is a sequence of sums, each of which follows from the answers before it. So a checkpoint is the list of answers
so far, in a folder: `about.json`, and a file for each sum. A fit that finds an answer there does not read the rows for
it; all else is computed again, from the same numbers.
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

_HELD: set[str] = set()  # by this process: the system tells processes apart, not threads
_GUARD = Lock()


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Hold a file for oneself; CheckpointError if somebody else does. A process that was killed holds nothing."""
    name = os.path.realpath(file)
    with _GUARD:
        if name in _HELD:
            raise _taken(file, f"this process ({os.getpid()})")
        _HELD.add(name)
    try:
        with _opened(file) as handle:
            if not _acquired(handle):
                raise _taken(file, file.read_text(errors="replace") or "another process")
            handle.truncate(0)
            handle.write(f"process {os.getpid()} on {socket.gethostname()}".encode())
            handle.flush()
            yield
    finally:
        _HELD.discard(name)


def _opened(file: Path) -> BinaryIO:
    try:
        return file.open("ab+")
    except OSError as error:
        said = f"nothing can be written to the folder of the checkpoint: {error.strerror}"
        raise type(error)(error.errno, said, str(file.parent)) from error


def _taken(file: Path, by: str) -> CheckpointError:
    return CheckpointError(
        f"the checkpoint in {str(file.parent)!r} is in use by {by}: two fits cannot share a folder. Wait until that "
        "one has ended, or give another folder"
    )


if sys.platform == "win32":
    import msvcrt

    def _acquired(handle: BinaryIO) -> bool:
        try:
            handle.seek(1 << 20)  # beyond what others read
            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _acquired(handle: BinaryIO) -> bool:
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # which children do not inherit
        except (BlockingIOError, PermissionError):
            return False
        return True


V = TypeVar("V")

FORMAT = 1
ABOUT, LOCK, ENTRY = "about.json", "lock", ".answer"
ASIDE = re.compile(r"\.(\d+\.answer|about\.json)\.[0-9a-f]+\.tmp")  # what was being written when a process was killed
AGAIN = "To begin again, give another folder, or delete this one"
LONG = 100  # letters of a value in a message
ABSENT = "not there"  # what is said of a setting that one of two fits has
UNKNOWN = "this kind of data set has no fingerprint, so that nothing tells whether its rows are those of the checkpoint"


@contextmanager
def recorded(folder: str | os.PathLike[str], data: Data, estimator: BaseEstimator) -> Iterator[Data]:
    """The data set with its sums kept in a folder, and those that are there taken from it."""
    check_local(folder, error=CheckpointError)
    place = Path(folder)
    _made(place)
    with locked(place / LOCK):
        journal = Journal.opened(place, settings_of(estimator), data.fingerprint())
        with seeded(journal.seed):
            yield Recorded(journal, lambda: data)


@dataclass
class Journal:
    """The answers to the sums of one fit, by number.

    Parameters
    ----------
    folder : Path
        Where they are.
    settings : dict
        Those of the fit that asks, in words.
    about : dict
        What is known of the fit that wrote last.
    """

    folder: Path
    settings: dict[str, str]
    about: dict[str, Any]
    asked: int = 0

    @classmethod
    def opened(cls, folder: Path, settings: dict[str, str], rows: dict[str, Any] | None) -> Journal:
        """Of a folder that is new, empty, or has a checkpoint of these rows."""
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
                f"{str(folder)!r} has files that are no checkpoint ({join_words(sorted(found - aside))}): give a new "
                "or empty folder"
            )
        journal = cls(folder, settings, _about(folder))
        journal._check(rows)
        return journal

    @property
    def seed(self) -> int:
        """What random numbers begin with where no seed was given."""
        return int(self.about["seed"])

    def answer(self, question: Content, work: Callable[[], V]) -> V:
        """The answer to the next question, as a file has it or will have it: so that both ways are the same to the bit.

        One that was cut off is worked out again, if it is the last.
        """
        path = self.folder / f"{self.asked:06}{ENTRY}"
        self.asked += 1
        last = not (self.folder / f"{self.asked:06}{ENTRY}").exists()
        found = _entry(path, missing=last)
        if found is None:
            members = _packed(question, work())
            self._describe()
            _archive.write(path, members, "the checkpoint")
            found = _unpacked(members)
        if not question.alike(found[0]):
            raise self._other()
        value: V = found[1]
        return value

    def _describe(self) -> None:
        """Say which fit writes here."""
        if self.about["settings"] is self.settings and (self.folder / ABOUT).exists():
            return
        self.about["settings"] = self.settings
        with replacing(self.folder / ABOUT, "the checkpoint") as file:
            file.write(json.dumps(self.about, indent=1).encode())

    def _check(self, rows: dict[str, Any] | None) -> None:
        """CheckpointError unless the library and the rows are those that the answers are of."""
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

    def _other(self) -> CheckpointError:
        """What to say where another sum was asked for."""
        told = _differences(self.about["settings"], self.settings)
        said = told or (
            "with the same settings it asked for something else. So it is if random_state is a generator that was used "
            "in between, or if the library or NumPy was changed"
        )
        return self._refusal(f"is of another fit, from sum {self.asked} on: {said}")

    def _refusal(self, why: str) -> CheckpointError:
        return CheckpointError(f"the checkpoint in {str(self.folder)!r} {why}. {AGAIN}")


def settings_of(estimator: BaseEstimator) -> dict[str, str]:
    """The settings of an estimator and of those within it, in words that are the same in every process."""
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
    """In words, what is not the same in both."""
    pairs = {name: _apart(there.get(name, ABSENT), here.get(name, ABSENT)) for name in {**there, **here}}
    return join_words(f"{name} was {_short(a)} and is {_short(b)}" for name, (a, b) in pairs.items() if a != b)


def _apart(there: Any, here: Any) -> tuple[Any, Any]:
    """Two values, or of two lists the first entries that differ."""
    if isinstance(there, list) and isinstance(here, list):
        return next(((a, b) for a, b in zip_longest(there, here) if a != b), (there, here))
    return there, here


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= LONG else f"{text[:LONG]}..."


def _made(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise CheckpointError(f"a checkpoint is a folder, but {str(folder)!r} is a file: give another name")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        said = f"the folder of the checkpoint cannot be made: {error.strerror}"
        raise type(error)(error.errno, said, str(folder)) from error


def _about(folder: Path) -> dict[str, Any]:
    """What a folder says of itself."""
    kinds = {"format": int, "library": str, "settings": dict, "data": dict | None, "seed": int}
    try:
        about = json.loads((folder / ABOUT).read_text())
        sound = isinstance(about, dict) and about["format"] == FORMAT
        sound = sound and all(isinstance(about[name], kind) for name, kind in kinds.items())
    except (ValueError, KeyError):
        sound = False
    if not sound:
        raise CheckpointError(f"{str(folder / ABOUT)!r} is damaged, or no checkpoint of this version. {AGAIN}")
    made: dict[str, Any] = about
    return made


def _packed(question: Content, value: Any) -> dict[str, bytes]:
    """A question and its answer, as the members of an archive."""
    writer = Writer(answer_classes())
    try:
        root = writer.value(value, "a sum")
    except ModelFileError as error:
        raise CheckpointError(f"this fit cannot have a checkpoint: {error}. Fit without one") from None
    document = {"question": [question.digest, list(question.numbers)], "objects": writer.objects, "answer": root}
    return to_members(document, writer.arrays)


def _unpacked(members: Mapping[str, bytes]) -> tuple[Content, Any]:
    document, arrays = from_members(members)
    reader = Reader(arrays, answer_classes(), check=lambda _: None)  # a sum is what the rows make it
    for node in document["objects"]:
        reader.add(node)
    digest, numbers = document["question"]
    return Content(digest, tuple(numbers)), reader.value(document["answer"])


def _entry(path: Path, missing: bool) -> tuple[Content, Any] | None:
    """A question and its answer from a file; None if there is none, or, if that may be, one that was cut off."""
    try:
        with path.open("rb") as file:
            return _unpacked(_archive.read(file))
    except FileNotFoundError:
        return None
    except IncompleteError as error:
        if missing:
            return None
        why: object = error
    except ModelFileError as error:
        why = error
    except Exception as error:  # whatever a damaged file may lead to, it is the file that is wrong
        why = f"{type(error).__name__}: {error}"[:300]
    raise CheckpointError(f"{str(path)!r} is damaged ({why}). {AGAIN}; or delete this file and all that come after it")
