"""`suffice update`, `forget` and `recalibrate`: further rows, rows taken back, and what is chosen from rows again."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from suffice.cli import console as options
from suffice.cli.console import check_output, note, note_stale, noting, say, working
from suffice.cli.rows import rows_for
from suffice.cli.store import keep, load
from suffice.data.files.sheet import Reading, TableError, counted
from suffice.report.console import check_writable


class Change(NamedTuple):
    """What is done with rows: its name, the method that does it, words for while and after, and its help."""

    name: str
    method: str
    doing: str
    did: str
    help: str
    example: str


CHANGES = (
    Change(
        "update",
        "partial_fit",
        "learning",
        "learned further",
        """Learn further rows: the sums are those of all rows, as if they had been learned at once.

        The model is changed in its place unless --out is given; whatever happens, the file is the old one or the new
        one.
        """,
        "suffice update m.suffice more.csv",
    ),
    Change(
        "forget",
        "forget",
        "forgetting",
        "forgot",
        """Take back rows that were learned: the sums are those of all others.

        The rows must have their labels, as when they were learned. What cannot have been learned is refused. The model
        is changed in its place unless --out is given. Trees of a tabular model, and pairs of an additive one, still
        know of the first rows: fit again where that matters.
        """,
        "suffice forget m.suffice rows.csv",
    ),
    Change(
        "recalibrate",
        "recalibrate",
        "recalibrating on",
        "recalibrated on",
        """Learn again what is no sum (weights of experts, calibration), from rows that the model has learned.

        After update, forget and merge these are as they were, and stale; `suffice inspect` says so.
        """,
        "suffice recalibrate m.suffice train.csv",
    ),
)


def command(change: Change) -> Callable[..., None]:
    """The command that makes a change."""

    def run(
        model: options.ModelFile,
        table: options.TableFile,
        out: options.Instead = None,
        force: options.Force = False,
        target: options.Target = None,
        na: options.Na = None,
        decimal: options.Decimal = None,
        separator: options.Separator = None,
    ) -> None:
        seen = check_output("--out", out, (table,), force, place=model)
        _make(change, model, table, out, seen, target, Reading(tuple(na or ()), decimal, separator))

    run.__name__, run.__doc__ = change.name, change.help
    return run


def _make(
    change: Change, path: Path, table: str, out: Path | None, seen: str | None, target: str | None, how: Reading
) -> None:
    """Do something with rows, and write the model, unless another command has done so since its file was `seen`."""
    stored = load(path)
    check_writable(out or path)
    try:
        method = getattr(stored.model, change.method)
    except AttributeError as error:
        raise TableError(f"{path} cannot do this: {error.__cause__ or error}") from None
    rows = rows_for(stored, table, how, target, learn=True)
    note(rows.notes)
    if change.method == "partial_fit":
        note(_again(stored.about.history, Path(table).name))
    n = counted(rows.X.num_rows, "row")
    with noting(), working(f"{change.doing} {n}"):
        method(rows.X, rows.y)
    note_stale(stored.model)  # which takes parameters from the sums, so that they are saved
    about = stored.about.then(f"{change.did} {n} of {Path(table).name}")
    keep(replace(stored, about=replace(about, target=about.target or target)), out or path, seen)
    say(f"{change.did} {n}; {type(stored.model).__name__} of {counted(round(stored.model.class_count_.sum()), 'row')}")
    say(f"model: {out or path}")


def _again(history: list[str], name: str) -> list[str]:
    """A sentence if a table of this name was learned, and not forgotten since.

    >>> _again(["fit on a.csv: 9 rows", "forgot 9 rows of a.csv"], "a.csv")
    []
    """
    named = re.compile(rf"(fit on|rows? of) {re.escape(name)}(?=[:;)]|$)")
    done = [did for did in history if named.search(did) and not did.startswith("recalibrated")]
    if not done or done[-1].startswith("forgot"):
        return []
    return [f"the model has learned {name} before ({done[-1]}): if these are the same rows, they count twice now"]
