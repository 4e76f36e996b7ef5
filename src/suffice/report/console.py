"""What the commands share: where they speak, how they end, and whether files can be written."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

READER_GONE = 141  # as shells call the end by a pipe that nobody reads


def reader_gone() -> typer.Exit:
    """End without a word where nobody reads on, as under `| head`; the exception to raise."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is still to be flushed
    return typer.Exit(READER_GONE)


@contextlib.contextmanager
def naming(stream: str) -> Iterator[None]:
    """OSError with the name of a stream, where it has none of a file: a full disk is one that it is sent to."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is not None:
            raise
        raise type(error)(error.errno, error.strerror or str(error), stream) from error


class Speaker(Console):
    """A console that ends as the commands do when its reader has gone."""

    def print(self, *what: Any, **how: Any) -> None:
        """Show something."""
        with naming("standard error" if self.stderr else "standard output"):
            super().print(*what, **how)

    def on_broken_pipe(self) -> None:
        """Nobody reads on."""
        self.quiet = True
        raise reader_gone()


out, err = Speaker(), Speaker(stderr=True)


def stop(message: str) -> typer.Exit:
    """Say what is wrong; the exception to raise."""
    err.print(message, style="red", markup=False, highlight=False, soft_wrap=True)
    return typer.Exit(2)


def check_writable(*paths: Path | None) -> None:
    """Before anything is measured: whether files can be written where they are wanted."""
    for path in paths:
        if path is None:
            continue
        if not path.parent.is_dir():
            raise stop(f"{path} cannot be written: there is no folder {path.parent}")
        if (path.exists() and not path.is_file()) or not os.access(path.parent, os.W_OK):
            raise stop(f"{path} cannot be written: choose another place")


def progress(console: Console | None) -> Progress:
    """A bar with times on a console, or nothing."""
    columns = (
        TextColumn("[progress.description]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console or Console(stderr=True), disable=console is None)
