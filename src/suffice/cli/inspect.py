"""`suffice inspect` and `suffice explain`: what is in a model, on the terminal or as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import suffice
from suffice.cli import console as options
from suffice.cli.console import check_output, grid, note, noting, say, show, working
from suffice.cli.store import Stored, load, rows_for
from suffice.data.files.reading import Reading, counted
from suffice.data.files.values import PLURAL
from suffice.data.notations import NOTATIONS
from suffice.report.model_page import explain as write_page
from suffice.report.model_page import settings

MAX_CLASSES_SHOWN = 20


def inspect(model: options.ModelFile) -> None:
    """Show a model: its type, settings, classes, columns and history.

    Examples:
        suffice inspect m.suffice
    """
    stored = load(model)
    with noting():
        lines = _lines(stored)
        columns = getattr(stored.model, "columns_", {})
    say(f"{model}: {model.stat().st_size / 1024:,.0f} KiB, written by suffice {stored.version}")
    show(grid(("", ""), lines, left=2))
    say("")
    show(_classes(stored.model))
    say("")
    show(_columns(stored, columns))


def _lines(stored: Stored) -> list[tuple[str, str]]:
    """Return names and values to show."""
    model, about = stored.model, stored.about
    first = (type(model).__doc__ or "").strip().split("\n")[0]
    lines = [("model", f"{type(model).__name__}" + f" (--model {about.kind})" * (about.kind is not None))]
    lines += [("", first), ("settings", settings(model))]
    lines.append(("target", "not known: it was saved in Python" if about.target is None else about.target))
    lines.append(("rows", f"{model.class_count_.sum():,.0f}"))
    done = about.history or ["saved in Python"]
    lines += [("history" * (not i), did) for i, did in enumerate(done)]
    stale = getattr(model, "stale_", None)
    if stale is not None:
        lines.append(("stale", "yes: `suffice recalibrate` calibrates it again" if stale else "no"))
    can = [name for name in ("merge", "update", "forget") if hasattr(model, NEEDS[name])]
    lines.append(("adds up", ", ".join(can) if can else "no: fit again"))
    if about.ignored:
        lines.append(("left out", ", ".join(about.ignored)))
    if about.na:
        lines.append(("missing", f"also {', '.join(about.na)}"))
    if about.decimal:
        lines.append(("decimal", about.decimal))
    return lines


NEEDS = {"merge": "merge", "update": "partial_fit", "forget": "forget"}


def _classes(model: Any) -> Any:
    mass = model.class_count_
    rows = [(label, f"{n:,.0f}", f"{n / mass.sum():.1%}") for label, n in zip(model.classes_, mass, strict=True)]
    more = [(f"and {len(rows) - MAX_CLASSES_SHOWN} more", "", "")] * (len(rows) > MAX_CLASSES_SHOWN)
    return grid(("class", "rows", "share"), [*rows[:MAX_CLASSES_SHOWN], *more])


def _columns(stored: Stored, became: Any) -> Any:
    written = {name: NOTATIONS[one].words for name, one in stored.about.written.items()}
    rows = [
        (name, written.get(name, PLURAL[kind]), became[name].note if name in became else "")
        for name, kind in stored.about.columns.items()
    ]
    return grid((counted(len(rows), "column"), "read as", "what became of it"), rows, left=3)


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

    Examples:
        suffice explain m.suffice --page page.html
        suffice explain m.suffice --page page.html --rows new.csv
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
