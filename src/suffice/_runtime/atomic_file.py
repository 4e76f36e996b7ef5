"""Files that are written as a whole or not at all: models, pages and tables."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

SHOWN = 40  # letters of a name that are part of the hidden one, which may not be too long either
ANY = "*"  # not a mark: whatever stands there may be replaced
ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")  # one slash, as Path("s3://x") has; Windows drives have one letter


def check_local(path: Any, done: str = "written", error: type[ValueError] = ValueError) -> None:
    """An error if a path is an address such as s3://bucket/file: it would be taken for a folder called "s3:".

    >>> check_local("s3://bucket/m.suffice")
    Traceback (most recent call last):
    ValueError: 's3://bucket/m.suffice' is an address, and files are written on this machine only: give a local path
    >>> check_local("C:/models/m.suffice")
    """
    if isinstance(path, str | os.PathLike) and ADDRESS.match(str(os.fspath(path))):
        raise error(f"{os.fspath(path)!r} is an address, and files are {done} on this machine only: give a local path")


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], what: str = "the file", seen: str | None = ANY) -> Iterator[BinaryIO]:
    """A file that takes the place of another once it is whole: whatever happens, there is the old one or the new one.

    A symbolic link is written through. What is no regular file, such as a pipe or a device, is left alone. The new file
    may be read by whoever could read the old one. An error is an OSError of its kind, with the path and a sentence.

    Parameters
    ----------
    path : str or path
    what : str, default="the file"
        What is written, as messages call it.
    seen : str or None, default=ANY
        The `mark` of what is to be replaced, None for nothing: anything else has been put there by another process in
        the meantime, and stays.
    """
    check_local(path)
    target = Path(os.path.realpath(path))
    aside = target.with_name(f".{target.name[:SHOWN]}.{secrets.token_hex(8)}.tmp")
    try:
        mode = _mode(target)
        with aside.open("xb+") as file:
            if mode is not None:
                aside.chmod(mode)  # before anything is in it
            yield file
            file.flush()
            os.fsync(file.fileno())
        with _folder(target.parent):
            if seen != ANY and mark(target) != seen:
                raise FileExistsError(errno.EEXIST, "another process has changed it in the meantime: do it again")
            aside.replace(target)
    except OSError as error:
        why = error.strerror or str(error)
        said = f"{what} was not saved: {why}. What stood there before is as it was"
        raise type(error)(error.errno or errno.EIO, said, os.fspath(path)) from error
    finally:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)


def mark(path: str | os.PathLike[str]) -> str | None:
    """A digest of what is in a file, by which a change is noticed; None if there is no regular file."""
    try:
        if Path(path).is_file():  # a pipe would be waited for
            with Path(path).open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        pass
    return None


def _mode(target: Path) -> int | None:
    """Who may read and write the file that is to be replaced; None if there is none."""
    try:
        found = target.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found):
        raise FileExistsError(errno.EEXIST, "what stands there is no regular file")
    return stat.S_IMODE(found) & 0o777


@contextlib.contextmanager
def _folder(folder: Path) -> Iterator[None]:
    """While nobody else puts a file there by `replacing`, where folders can be locked; the new name lasts then."""
    if os.name != "posix":
        yield
        return
    import fcntl

    at = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # some network drives have no locks
            fcntl.flock(at, fcntl.LOCK_EX)
        yield
        os.fsync(at)
    finally:
        os.close(at)
