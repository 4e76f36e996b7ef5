"""Files that are written completely or not at all: models, pages and tables."""

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

MAX_NAME_LETTERS = 40  # of the target's name in that of the temporary file, which may not be too long
ANY = "*"  # instead of a digest: any file may be replaced
ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")  # one slash, as Path("s3://x") has; Windows drives have one letter


def check_local(path: Any, done: str = "written", error: type[ValueError] = ValueError) -> None:
    """Raise an error if a path is an address such as s3://bucket/file, which would create a folder called "s3:".

    >>> check_local("s3://bucket/m.suffice")
    Traceback (most recent call last):
    ValueError: 's3://bucket/m.suffice' is an address, but files are written on this machine only: give a local path
    >>> check_local("C:/models/m.suffice")
    """
    name = os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else ""
    found = ADDRESS.match(name)
    if found:
        address = name if name[found.end() :].startswith("/") else f"{found[0]}/{name[found.end() :]}"
        raise error(f"{address!r} is an address, but files are {done} on this machine only: give a local path")


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], what: str = "the file", seen: str | None = ANY) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces the target once it is complete: there is always the old file or the new one.

    Symbolic links are followed. Pipes, devices and other special files are refused. The new file has the permissions of
    the old one. Errors are OSErrors of the same type, with the path and a sentence.

    Parameters
    ----------
    path : str or path
    what : str, default="the file"
        The name of the file in messages.
    seen : str or None, default=ANY
        The `mark` of the file to replace, None if there is none. A file with another mark was written by another
        process in the meantime, and stays.
    """
    check_local(path)
    path = os.fsdecode(path)
    target = Path(os.path.realpath(path))
    aside = target.with_name(f".{target.name[:MAX_NAME_LETTERS]}.{secrets.token_hex(8)}.tmp")
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
                raise FileExistsError(errno.EEXIST, "another process has changed it in the meantime: try again")
            aside.replace(target)
    except OSError as error:
        why = error.strerror or str(error)
        message = f"{what} was not saved: {why}. The previous file is unchanged"
        raise type(error)(error.errno or errno.EIO, message, path) from error
    finally:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)


def mark(path: str | os.PathLike[str]) -> str | None:
    """A digest of the content of a file, to notice changes; None if there is no regular file."""
    try:
        if Path(path).is_file():  # reading a pipe would block
            with Path(path).open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        pass
    return None


def _mode(target: Path) -> int | None:
    """The permissions of the file to replace; None if there is none."""
    try:
        found = target.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found):
        raise FileExistsError(errno.EEXIST, "the path is not a regular file")
    return stat.S_IMODE(found) & 0o777


@contextlib.contextmanager
def _folder(folder: Path) -> Iterator[None]:
    """Lock a folder against other calls of `replacing`, if it can be locked, and sync it after the block."""
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
