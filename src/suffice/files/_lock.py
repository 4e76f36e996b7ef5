"""One process at a time: a lock that ends with its owner, however that ends."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import BinaryIO

from suffice.files._error import CheckpointError

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
