"""How commands speak: results on standard output, everything else on standard error."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.table import Column
from rich.table import Table as Grid

from suffice.learners import StaleWarning
from suffice.report.console import err, out

PATIENCE = 2.0  # seconds until a command says what it is doing


def say(text: str) -> None:
    """A line of the result."""
    out.print(text, markup=False, highlight=False, soft_wrap=not out.is_terminal)


def note(notes: Iterable[str]) -> None:
    """Sentences about what had to be decided, each once."""
    for text in dict.fromkeys(notes):
        err.print(f"note: {text}", style="yellow", markup=False, highlight=False, soft_wrap=not err.is_terminal)


def grid(heads: Sequence[str], rows: Iterable[Iterable[Any]], left: int = 1) -> Grid:
    """A table without lines: so many columns of words, then numbers; without heads if all are empty."""
    columns = [Column(head, justify="left" if j < left else "right") for j, head in enumerate(heads)]
    made = Grid(*columns, box=None, header_style="bold", pad_edge=False, show_header=any(heads))
    for row in rows:
        made.add_row(*(str(cell) for cell in row))
    return made


def show(table: Grid) -> None:
    """A table of the result."""
    out.print(table, markup=False, highlight=False)


@contextmanager
def working(what: str) -> Iterator[Callable[[str], None]]:
    """Say what is being done: at once on a terminal, as long as it lasts; elsewhere a line if it takes long.

    What is given is a function to call with what is being done now.
    """
    if err.is_terminal:
        with err.status(what) as status:
            yield lambda now: status.update(f"{what}: {now}")
        return
    later = threading.Timer(PATIENCE, err.print, (f"{what} ...",), {"markup": False, "highlight": False})
    later.daemon = True
    later.start()
    try:
        yield lambda _: None
    finally:
        later.cancel()


@contextmanager
def noting() -> Iterator[list[warnings.WarningMessage]]:
    """Warnings of the library as notes, at the end; `note_stale` has its own words for one of them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for other in (DeprecationWarning, StaleWarning):
            warnings.simplefilter("ignore", other)
        yield caught
    note(" ".join(str(one.message).split()) for one in caught)


def note_stale(model: Any) -> None:
    """Say so if rows have come or gone since something was chosen from rows."""
    with noting():
        stale = getattr(model, "stale_", False)
    if stale:
        note(["rows have come or gone since it was calibrated: `suffice recalibrate` does that anew"])
