"""Lets Ctrl-C end the command without a traceback while it is still being imported, which takes a second."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType

INTERRUPTED = 130


def _install() -> None:
    """Let Ctrl-C end this process at once, if it is the command."""
    if _is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def finish() -> None:
    """Let Ctrl-C be an exception again."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _is_command() -> bool:
    """True if this is `suffice` or `python -m suffice`, and not a program that imports the library."""
    given = sys.orig_argv
    module = "-m" in given and given[given.index("-m") + 1 :][:1] == ["suffice"]
    script = Path(next(iter(sys.argv), "")).name in ("suffice", "suffice.exe")
    return (module or script) and threading.current_thread() is threading.main_thread()


def _leave(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signature of signal handlers
    os._exit(INTERRUPTED)


_install()  # on import, before the slow imports
