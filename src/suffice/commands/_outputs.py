"""Files that a command writes: never one that it reads, and no other that is there already unless it is told to."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from suffice._replacing import ANY, mark
from suffice.report.console import check_writable
from suffice.tables import TableError

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
