"""`suffice update`, `forget` and `recalibrate`: further rows, rows taken back, and what is chosen from rows anew."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from suffice.commands import _options as options
from suffice.commands._rows import rows_for
from suffice.commands._say import counted, note, note_stale, noting, say, working
from suffice.commands._store import keep, load
from suffice.report.console import check_writable
from suffice.tables import TableError


class Change(NamedTuple):
    """What is done with rows: the method that does it, and the words for while and after."""

    method: str
    doing: str
    did: str


LEARN = Change("partial_fit", "learning", "learned further")
FORGET = Change("forget", "forgetting", "forgot")
RECALIBRATE = Change("recalibrate", "recalibrating on", "recalibrated on")

EXAMPLES = {
    "update": ("suffice update m.suffice more.csv",),
    "forget": ("suffice forget m.suffice rows.csv",),
    "recalibrate": ("suffice recalibrate m.suffice train.csv",),
}


def update(
    model: options.ModelFile,
    table: options.TableFile,
    out: options.Instead = None,
    target: options.Target = None,
    na: options.Na = None,
    decimal: options.Decimal = None,
    separator: options.Separator = None,
) -> None:
    """Learn further rows: the sums are those of all rows, as if they had been learned at once.

    The model is changed in its place unless --out is given; whatever happens, the file is the old one or the new one.
    """
    _change(LEARN, model, table, out, target, na, decimal, separator)


def forget(
    model: options.ModelFile,
    table: options.TableFile,
    out: options.Instead = None,
    target: options.Target = None,
    na: options.Na = None,
    decimal: options.Decimal = None,
    separator: options.Separator = None,
) -> None:
    """Take back rows that were learned: the sums are those of all others.

    The rows must have their labels, as when they were learned. What cannot have been learned is refused. The model is
    changed in its place unless --out is given. Trees of a tabular model, and pairs of an additive one, still know of
    the first rows: fit anew where that matters.
    """
    _change(FORGET, model, table, out, target, na, decimal, separator)


def recalibrate(
    model: options.ModelFile,
    table: options.TableFile,
    out: options.Instead = None,
    target: options.Target = None,
    na: options.Na = None,
    decimal: options.Decimal = None,
    separator: options.Separator = None,
) -> None:
    """Learn anew what is no sum (weights of experts, calibration), from rows that the model has learned.

    After update, forget and merge these are as they were, and stale; `suffice inspect` says so.
    """
    _change(RECALIBRATE, model, table, out, target, na, decimal, separator)


def _change(
    change: Change,
    path: Path,
    table: str,
    out: Path | None,
    target: str | None,
    na: list[str] | None,
    decimal: str | None,
    separator: str | None,
) -> None:
    """Do something with rows, and write the model."""
    stored = load(path)
    check_writable(out or path)
    try:
        method = getattr(stored.model, change.method)
    except AttributeError as error:
        raise TableError(f"{path} cannot do this: {error}") from None
    rows = rows_for(stored, table, stored.about.reading(na, decimal, separator), target, learn=True)
    note(rows.notes)
    n = counted(rows.X.num_rows, "row")
    with noting(), working(f"{change.doing} {n}"):
        method(rows.X, rows.y)
    note_stale(stored.model)  # which takes parameters from the sums, so that they are saved
    about = stored.about.then(f"{change.did} {n} of {Path(table).name}")
    about = replace(about, target=about.target or target)
    keep(replace(stored, about=about), out or path)
    say(f"{change.did} {n}; {type(stored.model).__name__} of {counted(round(stored.model.class_count_.sum()), 'row')}")
    say(f"model: {out or path}")
