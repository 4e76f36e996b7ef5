"""How commands end when something is wrong: a sentence and an exit code, never a traceback."""

from __future__ import annotations

import csv
import inspect
import os
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Column
from rich.table import Table as Grid
from typer.core import TyperGroup

from suffice._runtime.atomic_file import ANY, check_local, mark
from suffice.data.files.sheet import TableError
from suffice.learners import StaleWarning
from suffice.report.console import check_writable, err, out, reader_gone, stop

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
        note(["rows have come or gone since it was calibrated: `suffice recalibrate` does that again"])


PAGES = (".html", ".htm")  # which can be made again, and are replaced


def check_output(
    option: str, out: Path | None, inputs: Iterable[Path | str | None], force: bool, place: Path | None = None
) -> str | None:
    """What may be replaced, as `replacing` takes it; TableError if that would be a file that is needed.

    Parameters
    ----------
    option : str
        The option that names the output, as messages call it.
    out : Path or None
        The output; None if there is none.
    inputs : iterable of Path, str or None
        The files that the command reads: none of them is replaced, whatever is said.
    force : bool
        Whether another file that is there may be replaced. Pages may be in any case.
    place : Path, default=None
        The file that the command changes in its place, which it may replace.
    """
    if out is not None and str(out) == "-":
        raise TableError(f"{option} is the name of a file, and not '-': nothing is written to standard output")
    check_local(out)
    check_writable(out)
    if out is None or _same(out, place):
        return ANY if place is None else mark(place)
    there = out.exists()
    if there and any(_same(out, one) for one in inputs):
        raise TableError(f"{out} is read by this command and would be replaced: choose another {option}")
    if there and not force and out.suffix.lower() not in PAGES:
        raise TableError(f"there is a file {out} already: choose another {option}, or say --force to replace it")
    return ANY if there or force else None


def _same(out: Path, other: Path | str | None) -> bool:
    return other is not None and out.exists() and Path(other).exists() and out.samefile(other)


PANEL = "How the table is read"


def separator_of(given: str | None) -> str | None:
    """A separator as a shell can give it.

    >>> separator_of("tab") == separator_of(chr(92) + "t") == chr(9)
    True
    """
    return {"tab": "\t", "\\t": "\t", "space": " "}.get(given or "", given)


def names_of(given: list[str] | None) -> list[str] | None:
    """Names of columns, by commas; one that has a comma itself stands in quotes.

    >>> names_of(["a, b", '"c,d",e'])
    ['a', 'b', 'c,d', 'e']
    """
    return given and [name.strip() for row in csv.reader(given, skipinitialspace=True) for name in row]


ModelFile = Annotated[Path, typer.Argument(help="A model file, as `suffice fit` writes it.")]
TableFile = Annotated[str, typer.Argument(help="A CSV, TSV, Parquet or Arrow file, also as .gz.")]
Target = Annotated[str | None, typer.Option("--target", help="The column that holds the classes.")]
ManyClasses = Annotated[
    bool, typer.Option("--many-classes", help="There are more than 100 classes, or few rows of each.")
]
Na = Annotated[
    list[str] | None,
    typer.Option(
        "--na",
        rich_help_panel=PANEL,
        help="A text that means that a value is missing, besides ?, NA, N/A, null, NaN and nothing; may be repeated.",
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option("--decimal", rich_help_panel=PANEL, help="The decimal point, . or a comma. Default: it is noticed."),
]
Separator = Annotated[
    str | None,
    typer.Option(
        "--separator",
        callback=separator_of,
        rich_help_panel=PANEL,
        help="What stands between values, also tab or space by its name. Default: , ; tab or | is noticed.",
    ),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        "--categorical",
        callback=names_of,
        rich_help_panel=PANEL,
        help="Columns of codes, not of numbers, by commas; may be repeated.",
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        "--drop",
        callback=names_of,
        rich_help_panel=PANEL,
        help="Columns to leave out, by commas; may be repeated. A name with a comma stands in double quotes.",
    ),
]
Out = Annotated[Path, typer.Option("--out", "-o", help="Where the model is written.")]
Instead = Annotated[
    Path | None, typer.Option("--out", "-o", help="Where the model is written, instead of in its own place.")
]
Raw = Annotated[
    bool,
    typer.Option(
        "--raw",
        help="Write text as it is. Default: in CSV, text that spreadsheets compute, as =A1 or -x, gets a ' in front, "
        "which all commands drop when they read it.",
    ),
]
Force = Annotated[bool, typer.Option("--force", "-f", help="Replace the file if there is one.")]


TRACEBACK = "SUFFICE_TRACEBACK"  # set it to see where a fault is


class Commands(TyperGroup):
    """Commands of which none ends in a traceback.

    Exit codes: 0 done, 1 nothing useful or a fault, 2 bad input, 130 interrupted, 141 nobody reads on.
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
            if os.environ.get(TRACEBACK) or _ends(error):
                raise
            err.print(
                f"suffice failed, which it should not: {type(error).__name__}: {error}. {TRACEBACK}=1 shows where",
                style="red",
                markup=False,
                highlight=False,
            )
            raise typer.Exit(1) from None


def _ends(error: Exception) -> bool:
    """Whether it is one of those by which a command ends in order, or the words of the user cannot be read."""
    return isinstance(error, typer.Abort) or hasattr(error, "exit_code")


def register(app: typer.Typer, command: Callable[..., None], examples: Iterable[str]) -> None:
    """Make a function a command: its help are its docstring, a line for each paragraph, and examples."""
    paragraphs = (inspect.getdoc(command) or "").split("\n\n")
    words = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    app.command(help=words, epilog="\n\n".join(["Examples:", *examples]))(command)


def _sentence(error: BaseException) -> str:
    """What is wrong, in one paragraph."""
    if isinstance(error, MemoryError):
        return f"there is not enough memory: {error}"
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split())
