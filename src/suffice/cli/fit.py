"""`suffice fit`: learn a model from a table."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.base import clone

from suffice._core.vector import Array
from suffice._runtime.messages import Notice, PoorFitWarning, emit, join_words
from suffice.cli import console as options
from suffice.cli.choose import Choice, choose, clear, prepare
from suffice.cli.console import check_output, grid, note, noting, say, show, working
from suffice.cli.models import AUTO, MODELS, columns_for, given_columns, kind_named, kinds_of
from suffice.cli.rows import rows_for
from suffice.cli.store import About, Stored, keep, load
from suffice.compare.race.schedule import about
from suffice.data.files.labels import labels_of
from suffice.data.files.sheet import Reading, Sheet, TableError, counted
from suffice.data.files.target import read_classes
from suffice.data.files.values import PLURAL

EXAMPLES = (
    "suffice fit train.csv --target label --out m.suffice",
    "suffice fit train.parquet --target income -m auto --max-time 30 -o m.suffice",
    "suffice fit north.csv --like south.suffice --out north.suffice",
)


def fit(
    table: options.TableFile,
    out: options.Out,
    target: options.Target = None,
    model: Annotated[
        str, typer.Option("--model", "-m", help=f"One of {', '.join(MODELS)}; or auto, which compares them.")
    ] = "tabular",
    like: Annotated[
        Path | None, typer.Option("--like", help="A model to learn in the same way, so that the two can be merged.")
    ] = None,
    max_time: Annotated[float, typer.Option("--max-time", min=0, help="Seconds that auto may take.")] = 60.0,
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**31 - 1, help="Of trees and of folds.")] = 0,
    many_classes: options.ManyClasses = False,
    force: options.Force = False,
    na: options.Na = None,
    decimal: options.Decimal = None,
    separator: options.Separator = None,
    categorical: options.Categorical = None,
    drop: options.Drop = None,
) -> None:
    """Learn a model from a table, and write it to a file.

    Numbers, dates, text and missing values are taken as they are. The default model, tabular, suits most tables;
    additive and nb can be read. With auto, all that suit the table are compared by cross-validation within --max-time,
    and the one of least log loss is taken that can learn all rows in the time left; compiling, once on a machine, does
    not count. An existing file is kept unless --force is given. The exit code is 1 if the model is no
    better than chance: with auto by the folds, else by the training rows alone.
    """
    end = time.monotonic() + max_time
    seen = check_output("--out", out, (table, like), force)
    how = Reading(tuple(na or ()), decimal, separator, tuple(categorical or ()), tuple(drop or ()))
    with noting() as caught:
        if like is not None:
            stored = _fit_like(load(like), table, target, how)
        else:
            if model == AUTO:
                prepare()
            else:
                kind_named(model)
            with working(f"reading {table}"):
                sheet, target = read_classes(table, target, how, many_classes)
            stored = _fit(sheet, target, model, how, seed, end)
    keep(stored, out, seen)
    say(f"model: {out}")
    if any(issubclass(one.category, PoorFitWarning) for one in caught):
        raise typer.Exit(1)


def _fit(sheet: Sheet, target: str, name: str, how: Reading, seed: int, end: float) -> Stored:
    """Learn a model of a name, or of that which does best."""
    y = labels_of(sheet.table[target])
    if name == AUTO:
        name = _chosen(columns_for(MODELS["tabular"], sheet, target), target, y, how, seed, end)
    there = sheet.table.column_names
    sheet = columns_for(MODELS[name], sheet, target)
    note(sheet.notes)
    columns = given_columns(how.categorical, sheet)
    estimator = MODELS[name].make(columns, seed)
    _learn(estimator, sheet.table.drop_columns([target]), y)
    kinds = kinds_of(sheet, target)
    ignored = [*how.drop, *(column for column in there if column != target and column not in kinds)]
    written = {column: way for column, way in sheet.written.items() if column in kinds}
    known = About(target, kinds, ignored, list(how.na), how.decimal, name, written)
    return _described(Stored(estimator, known), sheet.path, len(y))


def _fit_like(first: Stored, path: str, target: str | None, how: Reading) -> Stored:
    """Learn what another model has learned, of other rows: the same kind, settings, and trees or pairs."""
    known = replace(first.about, target=target or first.about.target, history=[])
    if how.categorical:
        raise TableError("--like reads columns as its model does: leave --categorical out")
    rows = rows_for(replace(first, about=known), path, how, learn=True)
    note(rows.notes)
    estimator = clone(first.model)
    if hasattr(first.model, "encoder_"):
        estimator.set_params(encoder=first.model.encoder_)
    labels = np.asarray(rows.y)
    _learn(estimator, rows.X, labels)
    return _described(Stored(estimator, known), path, len(labels))


def _learn(estimator: Any, X: Any, y: Array) -> None:
    with working(f"learning from {counted(len(y), 'row')}"):
        estimator.fit(X, y)


def _described(stored: Stored, path: str, n: int) -> Stored:
    """Say what was learned, and write it into the history of the model."""
    columns = getattr(stored.model, "columns_", {})
    silent = [f"{name!r} ({one.note})" for name, one in columns.items() if one.silent]
    if silent:
        note([f"columns that say nothing: {join_words(silent, 6)}"])
    kinds = list(stored.about.columns.values())
    parts = ", ".join(f"{kinds.count(kind)} of {PLURAL[kind]}" for kind in dict.fromkeys(kinds))
    learned = f"{counted(n, 'row')}, {counted(len(kinds), 'column')} ({parts})"
    say(f"{type(stored.model).__name__}: {learned}, {len(stored.model.classes_)} classes")
    return replace(stored, about=stored.about.then(f"fit on {Path(path).name}: {counted(n, 'row')}"))


def _chosen(sheet: Sheet, target: str, y: Array, how: Reading, seed: int, end: float) -> str:
    """The model that does best, with the table that says so."""
    X = sheet.table.drop_columns([target])
    with working("comparing models") as step:
        choice = choose(X, y, given_columns(how.categorical, sheet), seed, end - time.monotonic(), step)
    if choice.late:
        raise TableError("no model could be compared within --max-time: give more seconds, or choose one by --model")
    if choice.best is None:
        why = "; ".join(f"{trial.name}: {trial.why}" for trial in choice.trials)
        note([f"no model could be compared, so that tabular is taken ({why})"])
        return "tabular"
    _show(choice)
    _judge(choice)
    return choice.best.name


def _judge(choice: Choice) -> None:
    """A warning if the best model is not clearly better than chance, by the folds."""
    best = choice.best
    if best is None or clear(gain := best.against_chance(choice.folds)).any():
        return
    mean, (loss, error) = best.mean(choice.folds), gain.mean(axis=0)
    numbers = f"log loss {mean.log_loss:.4f} and {mean.error:.1%} of the rows wrong"
    chance = f"chance has {mean.log_loss + loss:.4f} and {mean.error + error:.1%}"
    said = f"no model does clearly better than chance on rows that it has not learned: the best has {numbers}, {chance}"
    emit([Notice(said, PoorFitWarning)])


def _show(choice: Choice) -> None:
    rows = []
    for trial in choice.trials:
        if trial.why:
            continue
        mean = trial.mean(choice.folds)
        mark = "chosen" if trial is choice.best else ""
        numbers = (f"{mean.error:.2%}", f"{mean.log_loss:.4f}", f"{mean.seconds:.2f}")
        rows.append((trial.name, MODELS[trial.name].words, *numbers, mark))
    show(grid(("model", "what it is", "rows wrong", "log loss", "seconds", ""), rows, left=2))
    say(f"{counted(choice.folds, 'fold')} of {counted(choice.rows, 'row')}")
    note(f"{trial.name} was not compared: {trial.why}" for trial in choice.trials if trial.why)
    note(
        f"{trial.name} has a smaller log loss, but would take up to {about(seconds)} to learn all rows, which is more "
        "than --max-time leaves"
        for trial, seconds in choice.slower
    )
