"""`suffice explain`: a page about a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import suffice
from suffice.cli import console as options
from suffice.cli.console import check_output, note, noting, say, working
from suffice.cli.rows import rows_for
from suffice.cli.store import load
from suffice.data.files.sheet import Reading
from suffice.report.model_page import explain as write_page

EXAMPLES = (
    "suffice explain m.suffice --page page.html",
    "suffice explain m.suffice --page page.html --rows new.csv",
)


def explain(
    model: options.ModelFile,
    page: Annotated[Path, typer.Option("--page", "-p", help="The page to write, one .html file.")],
    rows: Annotated[
        str | None,
        typer.Option("--rows", help="A table of rows for the importances; the first row is the start of the sliders."),
    ] = None,
    force: options.Force = False,
    na: options.Na = None,
    decimal: options.Decimal = None,
    separator: options.Separator = None,
) -> None:
    """Write a page about a model: its type, the effect of each column, and the sums it was learned from.

    The page is one file that needs no network. If the model is a sum of terms by column, every column has a slider or a
    menu, and the page computes the class probabilities of the row that they set.
    """
    check_output("--page", page, (model, rows), force)
    known, X = _read(model, rows, Reading(tuple(na or ()), decimal, separator))
    with noting(), working(f"writing {page}"):
        write_page(known, page, X)
    say(f"page: {page}, {page.stat().st_size / 1024:,.0f} KiB")


def _read(model: Path, rows: str | None, how: Reading) -> tuple[Any, Any]:
    """Return the model, and the rows if there are any."""
    if rows is None:
        return suffice.load(model), None
    stored = load(model)
    with working(f"reading {rows}"):
        found = rows_for(stored, rows, how, labels=False)
    note(found.notes)
    return stored.model, found.X
