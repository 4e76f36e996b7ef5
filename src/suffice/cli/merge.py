"""`suffice merge`: one model of what several have learned."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from suffice.cli import console as options
from suffice.cli.console import check_output, note_stale, noting, say, working
from suffice.cli.store import Stored, keep, load
from suffice.data.files.sheet import TableError, counted
from suffice.persistence import digest

EXAMPLES = (
    "suffice fit south.csv --target label -o south.suffice",
    "suffice fit north.csv --like south.suffice -o north.suffice",
    "suffice merge south.suffice north.suffice -o both.suffice",
)


def merge(
    models: Annotated[list[Path], typer.Argument(help="Two or more model files.")],
    out: options.Out,
    force: options.Force = False,
) -> None:
    """Make one model of several, as if it had learned all their rows.

    They must be of one kind with the same settings and columns. A tabular or additive model has trees or pairs of its
    own: fit the others with --like the first, so that they share them. Two models with the same sums, as of a file and
    its copy, are refused unless --force is given.
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
            both = _merged(both, other, models[0], path)
    note_stale(both.model)  # which takes parameters from the sums, so that they are saved
    history = [f"merged ({'; '.join(one.about.history) or 'saved in Python'})" for one in (first, *others)]
    keep(replace(both, about=replace(both.about, history=history)), out, seen)
    say(f"{type(both.model).__name__} of {counted(int(both.model.class_count_.sum()), 'row')}")
    say(f"model: {out}")


def _check_different(paths: list[Path], models: list[Stored]) -> None:
    """TableError if two models have the same sums, as a file and its copy have."""
    known: dict[str, Path] = {}
    for path, stored in zip(paths, models, strict=True):
        twin = known.setdefault(digest(getattr(stored.model, "statistics_", stored.model)), path)
        if twin != path:
            raise TableError(
                f"{twin} and {path} are the same model twice: their sums are equal, and all rows would count twice. "
                "Say --force if they are of different rows"
            )


def _merged(a: Stored, b: Stored, first: Path, second: Path) -> Stored:
    """What both have learned; TableError if they do not fit."""
    who = f"{first} and {second}"
    advice = f"Fit the second like the first: `suffice fit TABLE --like {first} --out {second} --force`"
    if (a.about.target or b.about.target) != (b.about.target or a.about.target):
        raise TableError(f"{who} have different targets: {a.about.target!r} and {b.about.target!r}")
    if list(a.about.columns) != list(b.about.columns):
        differ = sorted(set(a.about.columns) ^ set(b.about.columns))
        what = f"only one has {differ[:5]}" if differ else "they stand in another order"
        raise TableError(f"{who} have different columns: {what}. {advice}")
    try:
        return replace(a, model=a.model + b.model)
    except (ValueError, TypeError) as error:
        why = re.sub(r":[^:]*encoder=.*", "", str(error))  # which is advice for Python
        raise TableError(f"{who} cannot be merged: {why}. {advice}") from error
