"""What the commands share: where they speak, how they end, and whether files can be written."""

from __future__ import annotations

import os
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

out, err = Console(), Console(stderr=True)


def stop(message: str) -> typer.Exit:
    """Say what is wrong; the exception to raise."""
    err.print(message, style="red", markup=False, highlight=False, soft_wrap=True)
    return typer.Exit(2)


def check_writable(*paths: Path | None) -> None:
    """Before anything is measured: whether files can be written where they are wanted."""
    for path in paths:
        if path is None:
            continue
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError:
            raise stop(f"{path} cannot be written: there can be no folder {path.parent}") from None
        if path.is_dir() or not os.access(path.parent, os.W_OK):
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
