"""`suffice merge`, `update`, `forget` and `recalibrate`: models whose rows change."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from suffice.cli import console as options
from suffice.cli.console import check_output, note, note_stale, noting, say, working
from suffice.cli.store import Stored, keep, load, rows_for
from suffice.data.files.reading import Reading, TableError, counted
from suffice.persistence import digest
from suffice.report.console import check_writable


class Change(NamedTuple):
    """A command that changes a model by rows: its name, the method, the verb while and after it runs, and its help."""

    name: str
    method: str
    doing: str
    did: str
    help: str


CHANGES = (
    Change(
        "update",
        "partial_fit",
        "learning",
        "learned further",
        """Learn more rows: the sums are those of all rows, as if they had been learned at once.

        The model file is replaced unless --out is given; it is always either the old or the new one, never half of it.

        Examples:
            suffice update m.suffice more.csv
        """,
    ),
    Change(
        "forget",
        "forget",
        "forgetting",
        "forgot",
        """Remove rows that were learned: the sums are those of all other rows.

        The rows need the labels that they were learned with. Rows that cannot have been learned are refused. The model
        file is replaced unless --out is given. The trees of a tabular model and the pairs of an additive one still
        depend on the first rows: fit again where that matters.

        Examples:
            suffice forget m.suffice rows.csv
        """,
    ),
    Change(
        "recalibrate",
        "recalibrate",
        "recalibrating on",
        "recalibrated on",
        """Learn again what is not a sum (weights of experts, calibration), from rows that the model has learned.

        After update, forget and merge these are out of date, as `suffice inspect` shows.

        Examples:
            suffice recalibrate m.suffice train.csv
        """,
    ),
)


def command(change: Change) -> Callable[..., None]:
    """Return the command for a change."""

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
        # The file must still be as it was seen when the changed model is written.
        seen = check_output("--out", out, (table,), force, place=model)
        stored = load(model)
        check_writable(out or model)
        try:
            method = getattr(stored.model, change.method)
        except AttributeError as error:
            raise TableError(f"{model} cannot do this: {error.__cause__ or error}") from None
        rows = rows_for(stored, table, Reading(tuple(na or ()), decimal, separator), target, learn=True)
        note(rows.notes)
        if change.method == "partial_fit":
            note(_learned_before(stored.about.history, Path(table).name))
        n = counted(rows.X.num_rows, "row")
        with noting(), working(f"{change.doing} {n}"):
            method(rows.X, rows.y)
        note_stale(stored.model)  # computes the parameters from the sums, so that they are saved
        about = stored.about.then(f"{change.did} {n} of {Path(table).name}")
        keep(replace(stored, about=replace(about, target=about.target or target)), out or model, seen)
        total = counted(round(stored.model.class_count_.sum()), "row")
        say(f"{change.did} {n}; {type(stored.model).__name__} of {total}")
        say(f"model: {out or model}")

    run.__name__, run.__doc__ = change.name, change.help
    return run


def _learned_before(history: list[str], name: str) -> list[str]:
    """Return a note if a table of this name was learned and not forgotten since.

    >>> _learned_before(["fit on a.csv: 9 rows", "forgot 9 rows of a.csv"], "a.csv")
    []
    """
    named = re.compile(rf"(fit on|rows? of) {re.escape(name)}(?=[:;)]|$)")
    done = [did for did in history if named.search(did) and not did.startswith("recalibrated")]
    if not done or done[-1].startswith("forgot"):
        return []
    return [f"the model has learned {name} before ({done[-1]}): if these are the same rows, they count twice now"]


def merge(
    models: Annotated[list[Path], typer.Argument(help="Two or more model files.")],
    out: options.Out,
    force: options.Force = False,
) -> None:
    """Merge several models into one, as if it had learned all their rows.

    They need the same type, settings and columns. A tabular or additive model has trees or pairs of its own: fit the
    others with --like the first, so that they share them. Two models with equal sums, such as a file and its copy, are
    refused unless --force is given.

    Examples:
        suffice fit south.csv --target label -o south.suffice
        suffice fit north.csv --like south.suffice -o north.suffice
        suffice merge south.suffice north.suffice -o both.suffice
    """
    if len(models) < 2:
        raise TableError("merge takes two models or more")
    seen = check_output("--out", out, models, force)
    paths = list(dict.fromkeys(path.resolve() for path in models))
    if len(paths) < len(models):
        raise TableError("a model is given twice: its rows would count twice")
    with noting(), working(f"merging {counted(len(models), 'model')}"):
        first, *others = all_models = [load(path) for path in models]
        if not force:
            _check_different(models, all_models)
        both = first
        for path, other in zip(models[1:], others, strict=True):
            both = _merge_two(both, other, models[0], path)
    note_stale(both.model)  # computes the parameters from the sums, so that they are saved
    history = [f"merged ({'; '.join(one.about.history) or 'saved in Python'})" for one in (first, *others)]
    keep(replace(both, about=replace(both.about, history=history)), out, seen)
    say(f"{type(both.model).__name__} of {counted(int(both.model.class_count_.sum()), 'row')}")
    say(f"model: {out}")


def _check_different(paths: list[Path], models: list[Stored]) -> None:
    """Raise TableError if two models have equal sums, as a file and its copy have."""
    known: dict[str, Path] = {}
    for path, stored in zip(paths, models, strict=True):
        twin = known.setdefault(digest(getattr(stored.model, "statistics_", stored.model)), path)
        if twin != path:
            raise TableError(
                f"{twin} and {path} are the same model twice: their sums are equal, and all rows would count twice. "
                "Say --force if they are of different rows"
            )


def _merge_two(a: Stored, b: Stored, first: Path, second: Path) -> Stored:
    """Merge two models; TableError if they do not match."""
    who = f"{first} and {second}"
    advice = f"Fit the second like the first: `suffice fit TABLE --like {first} --out {second} --force`"
    if (a.about.target or b.about.target) != (b.about.target or a.about.target):
        raise TableError(f"{who} have different targets: {a.about.target!r} and {b.about.target!r}")
    if list(a.about.columns) != list(b.about.columns):
        differ = sorted(set(a.about.columns) ^ set(b.about.columns))
        what = f"only one has {differ[:5]}" if differ else "they are in another order"
        raise TableError(f"{who} have different columns: {what}. {advice}")
    try:
        return replace(a, model=a.model + b.model)
    except (ValueError, TypeError) as error:
        why = re.sub(r":[^:]*encoder=.*", "", str(error))  # advice for Python users
        raise TableError(f"{who} cannot be merged: {why}. {advice}") from error
