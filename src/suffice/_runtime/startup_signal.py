"""Ctrl-C while the command is still being imported, which takes a second: it ends without a traceback."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType

INTERRUPTED = 130


def _starting() -> None:
    """Let Ctrl-C end this process at once, if it is the command: nothing was begun."""
    if _is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def begun() -> None:
    """Ctrl-C is an exception from now on, as ever."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _is_command() -> bool:
    """Whether this is `suffice` or `python -m suffice`, and not a program that imports the library."""
    given = sys.orig_argv
    module = "-m" in given and given[given.index("-m") + 1 :][:1] == ["suffice"]
    script = Path(next(iter(sys.argv), "")).name in ("suffice", "suffice.exe")
    return (module or script) and threading.current_thread() is threading.main_thread()


def _leave(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - as handlers of signals are called
    os._exit(INTERRUPTED)


_starting()  # when the library is imported, before all that takes long
