"""Options, notes and tables that commands share, and how they end: with a sentence and an exit code, no traceback."""

from __future__ import annotations

import csv
import inspect
import os
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Column
from rich.table import Table as Grid
from typer.core import TyperGroup

from suffice._runtime.atomic_file import ANY, check_local, mark
from suffice.data.files.reading import TableError
from suffice.learners import StaleWarning
from suffice.report.console import check_writable, err, out, reader_gone, stop

SILENT_SECONDS = 2.0  # until a command in a pipe says what it is doing


def say(text: str) -> None:
    """Print a line of the result."""
    out.print(text, markup=False, highlight=False, soft_wrap=not out.is_terminal)


def note(notes: Iterable[str]) -> None:
    """Print notes on decisions, each once."""
    for text in dict.fromkeys(notes):
        err.print(f"note: {text}", style="yellow", markup=False, highlight=False, soft_wrap=not err.is_terminal)


def grid(heads: Sequence[str], rows: Iterable[Iterable[Any]], left: int = 1) -> Grid:
    """Return a borderless table: `left` columns of text, then numbers; without a header if all heads are empty."""
    columns = [Column(head, justify="left" if j < left else "right") for j, head in enumerate(heads)]
    made = Grid(*columns, box=None, header_style="bold", pad_edge=False, show_header=any(heads))
    for row in rows:
        made.add_row(*(str(cell) for cell in row))
    return made


def show(table: Grid) -> None:
    """Print a table of the result."""
    out.print(table, markup=False, highlight=False)


@contextmanager
def working(what: str) -> Iterator[Callable[[str], None]]:
    """Show what is being done: as a status on a terminal, elsewhere as one line if it takes long.

    Yields a function to call with the current step.
    """
    if err.is_terminal:
        with err.status(what) as status:
            yield lambda now: status.update(f"{what}: {now}")
        return
    later = threading.Timer(SILENT_SECONDS, err.print, (f"{what} ...",), {"markup": False, "highlight": False})
    later.daemon = True
    later.start()
    try:
        yield lambda _: None
    finally:
        later.cancel()


@contextmanager
def noting() -> Iterator[list[warnings.WarningMessage]]:
    """Turn warnings of the library into notes at the end, except StaleWarning: `note_stale` has its own words."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for other in (DeprecationWarning, StaleWarning):
            warnings.simplefilter("ignore", other)
        yield caught
    note(" ".join(str(one.message).split()) for one in caught)


def note_stale(model: Any) -> None:
    """Note if rows were added or removed since the model was calibrated."""
    with noting():
        stale = getattr(model, "stale_", False)
    if stale:
        note(["rows were added or removed since the model was calibrated: `suffice recalibrate` calibrates it again"])


PAGES = (".html", ".htm")  # replaced without --force, since they can be made again


def check_output(
    option: str, out: Path | None, inputs: Iterable[Path | str | None], force: bool, place: Path | None = None
) -> str | None:
    """Return what may be replaced, as `replacing` takes it; TableError if that is a file that must stay.

    Parameters
    ----------
    option : str
        The option that names the output, as messages call it.
    out : Path or None
        The output; None if there is none.
    inputs : iterable of Path, str or None
        The files that the command reads, which are never replaced.
    force : bool
        True to replace any other existing file; pages are always replaced.
    place : Path, default=None
        The file that the command changes in place, and may replace.
    """
    if out is not None and str(out) == "-":
        raise TableError(f"{option} must name a file, got '-': this command does not write to standard output")
    check_local(out)
    check_writable(out)
    if out is None or _same(out, place):
        return ANY if place is None else mark(place)
    there = out.exists()
    if there and any(_same(out, one) for one in inputs):
        raise TableError(f"{out} is read by this command and would be replaced: choose another {option}")
    if there and not force and out.suffix.lower() not in PAGES:
        raise TableError(f"there is a file {out} already: choose another {option}, or give --force to replace it")
    return ANY if there or force else None


def _same(out: Path, other: Path | str | None) -> bool:
    return other is not None and out.exists() and Path(other).exists() and out.samefile(other)


def separator_of(given: str | None) -> str | None:
    """Return the separator for a name that a shell can pass.

    >>> separator_of("tab") == separator_of(chr(92) + "t") == chr(9)
    True
    """
    return {"tab": "\t", "\\t": "\t", "space": " "}.get(given or "", given)


def names_of(given: list[str] | None) -> list[str] | None:
    """Split names of columns at commas; a name that contains a comma is quoted.

    >>> names_of(["a, b", '"c,d",e'])
    ['a', 'b', 'c,d', 'e']
    """
    return given and [name.strip() for row in csv.reader(given, skipinitialspace=True) for name in row]


ModelFile = Annotated[Path, typer.Argument(help="A model file, as `suffice fit` writes it.")]
TableFile = Annotated[str, typer.Argument(help="A CSV, TSV, JSON lines, Parquet or Arrow file, also as .gz.")]
Target = Annotated[str | None, typer.Option("--target", help="The column that holds the classes.")]
ManyClasses = Annotated[bool, typer.Option("--many-classes", help="Allow more than 100 classes, or few rows of each.")]
_Option = partial(typer.Option, rich_help_panel="How the table is read")
Na = Annotated[
    list[str] | None,
    _Option(
        "--na",
        help="A text that stands for a missing value, in addition to ?, NA, N/A, null, NaN and empty; may be repeated.",
    ),
]
Decimal = Annotated[str | None, _Option("--decimal", help="The decimal mark, . or a comma. Default: detected.")]
Separator = Annotated[
    str | None,
    _Option(
        "--separator",
        callback=separator_of,
        help="The character between values; tab and space by name. Default: one of , ; tab | is detected.",
    ),
]
Categorical = Annotated[
    list[str] | None,
    _Option(
        "--categorical",
        callback=names_of,
        help="Columns that hold codes, not numbers, separated by commas; may be repeated.",
    ),
]
Drop = Annotated[
    list[str] | None,
    _Option(
        "--drop",
        callback=names_of,
        help="Columns to leave out, separated by commas; may be repeated. Quote a name that has a comma.",
    ),
]
Out = Annotated[Path, typer.Option("--out", "-o", help="The model file to write.")]
Instead = Annotated[
    Path | None, typer.Option("--out", "-o", help="The model file to write, instead of replacing the model.")
]
Raw = Annotated[
    bool,
    typer.Option(
        "--raw",
        help="Write text unchanged. By default, text in CSV that a spreadsheet would compute, such as =A1 or -x, is "
        "prefixed with ', which is dropped again where a column that has it everywhere is read.",
    ),
]
Force = Annotated[bool, typer.Option("--force", "-f", help="Replace the file if there is one.")]


TRACEBACK = "SUFFICE_TRACEBACK"  # if set, errors show their traceback


class Commands(TyperGroup):
    """Commands that end without a traceback.

    Exit codes: 0 success, 1 nothing useful or a bug, 2 bad input, 130 interrupted, 141 nobody reads the output.
    """

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            err.print("\ninterrupted: nothing was written", style="red")
            raise typer.Exit(130) from None
        except BrokenPipeError:
            raise reader_gone() from None
        except (ValueError, TypeError, OSError, MemoryError, np.linalg.LinAlgError) as error:
            if os.environ.get(TRACEBACK):
                raise
            raise stop(_sentence(error)) from None
        except Exception as error:
            # errors of typer and click end a command in an orderly way
            if os.environ.get(TRACEBACK) or isinstance(error, typer.Abort) or hasattr(error, "exit_code"):
                raise
            err.print(
                f"suffice failed because of a bug: {type(error).__name__}: {error}. Set {TRACEBACK}=1 to see where",
                style="red",
                markup=False,
                highlight=False,
            )
            raise typer.Exit(1) from None


def register(app: typer.Typer, command: Callable[..., None]) -> None:
    """Make a function a command; its help is its docstring, a line for each paragraph, and its examples."""
    text, _, examples = (inspect.getdoc(command) or "").partition("\n\nExamples:\n")
    words = "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
    app.command(help=words, epilog="\n\n".join(["Examples:", *map(str.strip, examples.splitlines())]))(command)


def _sentence(error: BaseException) -> str:
    """Return the message of an error in one paragraph."""
    if isinstance(error, MemoryError):
        return f"there is not enough memory: {error}"
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split())
