"""Consoles and exits of the commands, and a check that files can be written."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

READER_GONE = 141  # exit code of shells for a closed pipe


def reader_gone() -> typer.Exit:
    """Return the exception that ends a command silently when its reader has gone, as with `| head`."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for output that is flushed later
    return typer.Exit(READER_GONE)


@contextlib.contextmanager
def naming(stream: str) -> Iterator[None]:
    """Add the name of a stream to an OSError without a file name, such as that of a full disk."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is not None:
            raise
        raise type(error)(error.errno, error.strerror or str(error), stream) from error


class Speaker(Console):
    """A console that ends the command when its reader has gone."""

    def print(self, *what: Any, **how: Any) -> None:
        """Print to the stream."""
        with naming("standard error" if self.stderr else "standard output"):
            super().print(*what, **how)

    def on_broken_pipe(self) -> None:
        """End the command silently."""
        self.quiet = True
        raise reader_gone()


out, err = Speaker(), Speaker(stderr=True)


def stop(message: str) -> typer.Exit:
    """Print an error, and return the exception to raise."""
    err.print(message, style="red", markup=False, highlight=False, soft_wrap=True)
    return typer.Exit(2)


def check_writable(*paths: Path | None) -> None:
    """Stop with an error unless all files can be written; called before any work is done."""
    for path in paths:
        if path is None:
            continue
        if not path.parent.is_dir():
            raise stop(f"{path} cannot be written: there is no folder {path.parent}")
        if (path.exists() and not path.is_file()) or not os.access(path.parent, os.W_OK):
            raise stop(f"{path} cannot be written: choose another place")
