"""`suffice fit`: learn a model from a table."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import pyarrow as pa
import typer
from sklearn.base import clone

from suffice._core.vector import Array
from suffice._runtime.messages import Notice, PoorFitWarning, emit, join_words
from suffice.cli import console as options
from suffice.cli.console import check_output, grid, note, noting, say, show, working
from suffice.cli.store import About, Stored, keep, load, no_better, rows_for
from suffice.compare.race.methods import AUTO_METHODS, METHODS, Method, model_named
from suffice.compare.race.run import choose
from suffice.compare.race.schedule import ChoiceRounds, about
from suffice.compare.race.workers import warm_up
from suffice.data.files.reading import FileTable, Reading, TableError, counted
from suffice.data.files.target import as_doubles, labels_of, read_classes, useful
from suffice.data.files.values import NOTHING, NUMBER, PLURAL, TEXT, kind_of
from suffice.model_selection.measures import clearly_positive

AUTO, DEFAULT = "auto", METHODS["TabularClassifier"]
MAX_ROWS_CHECKED = 5_000  # after learning, against chance
SHORT_NAMES = ", ".join(METHODS[name].model_name for name in AUTO_METHODS)


class Labelled(NamedTuple):
    """Rows and their labels (n,)."""

    X: pa.Table
    y: Array


def fit(
    table: options.TableFile,
    out: options.Out,
    target: options.Target = None,
    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            help=f"{SHORT_NAMES}; auto, which compares these; or any method of suffice that "
            "`suffice compare --methods help` lists.",
        ),
    ] = DEFAULT.model_name,
    like: Annotated[
        Path | None,
        typer.Option(
            "--like",
            help="A model whose settings, columns and trees are used again, so that the two models can be merged.",
        ),
    ] = None,
    max_time: Annotated[float, typer.Option("--max-time", min=0, help="Seconds for auto.")] = 60.0,
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**31 - 1, help="Random seed of trees and folds.")] = 0,
    many_classes: options.ManyClasses = False,
    force: options.Force = False,
    na: options.Na = None,
    decimal: options.Decimal = None,
    separator: options.Separator = None,
    categorical: options.Categorical = None,
    drop: options.Drop = None,
) -> None:
    """Learn a model from a table and write it to a file.

    Numbers, dates, text and missing values are used as they are. The default model, tabular, suits most tables;
    additive and nb are interpretable. auto compares all models that suit the table by cross-validation within
    --max-time, and takes the one of least log loss that can learn all rows in the time left; compiling, which happens
    once on a machine, does not count. An existing file is kept unless --force is given. The exit code is 1 if the model
    is not better than chance: on the folds for auto, otherwise on the training rows alone.

    Examples:
        suffice fit train.csv --target label --out m.suffice
        suffice fit train.parquet --target income -m auto --max-time 30 -o m.suffice
        suffice fit north.csv --like south.suffice --out north.suffice
    """
    end = time.monotonic() + max_time
    seen = check_output("--out", out, (table, like), force)
    how = Reading(tuple(na or ()), decimal, separator, tuple(categorical or ()), tuple(drop or ()))
    with noting() as caught:
        if like is not None:
            stored, learned = _fit_like(load(like), table, target, how)
        else:
            method = None if model == AUTO else model_named(model)
            if method is None:
                warm_up([choose.__module__])  # while the table is read
            with working(f"reading {table}"):
                sheet, target = read_classes(table, target, how, many_classes)
            stored, learned = _fit(sheet, target, method, how, seed, end)
        if (like is not None or method is not None) and not any(map(_is_poor, caught)):
            _warn_if_no_better(stored.model, learned)
    keep(stored, out, seen)
    say(f"model: {out}")
    if any(map(_is_poor, caught)):
        raise typer.Exit(1)


def _is_poor(one: warnings.WarningMessage) -> bool:
    return issubclass(one.category, PoorFitWarning)


def _warn_if_no_better(model: Any, learned: Labelled) -> None:
    """Warn if a model is not better than chance on rows that it has learned: some thousands, evenly spaced."""
    n = len(learned.y)
    rows = np.arange(0, n, -(-n // MAX_ROWS_CHECKED))
    if no_better(model, np.asarray(model.predict_proba(learned.X.take(rows))), learned.y[rows]):
        which = "the rows" if len(rows) == n else counted(len(rows), "row")
        emit([Notice(f"the model is not better than chance on {which} that it has learned", PoorFitWarning)])


def _fit(
    sheet: FileTable, target: str, method: Method | None, how: Reading, seed: int, end: float
) -> tuple[Stored, Labelled]:
    """Learn the model of a method, or without one, of the method that does best; and return what it has learned."""
    y = labels_of(sheet.table[target])
    if method is None:
        method = _choose(columns_for(DEFAULT, sheet, target), target, y, how, seed, end)
    there = sheet.table.column_names
    sheet = columns_for(method, sheet, target)
    note(sheet.notes)
    estimator = method.estimator(_categories(how, sheet), seed)
    X = sheet.table.drop_columns([target])
    with working(f"learning from {counted(len(y), 'row')}"):
        estimator.fit(X, y)
    kinds = {name: str(kind_of(sheet.table[name])) for name in sheet.table.column_names if name != target}
    kinds = {name: TEXT if kind == NOTHING else kind for name, kind in kinds.items()}
    ignored = [*how.drop, *(column for column in there if column != target and column not in kinds)]
    written = {column: way for column, way in sheet.written.items() if column in kinds}
    known = About(target, kinds, ignored, list(how.na), how.decimal, method.model_name, written)
    return _described(Stored(estimator, known), sheet.path, len(y)), Labelled(X, y)


def _fit_like(first: Stored, path: str, target: str | None, how: Reading) -> tuple[Stored, Labelled]:
    """Learn from other rows with the settings of another model, and with its trees, pairs or structure."""
    known = replace(first.about, target=target or first.about.target, history=[])
    if how.categorical:
        raise TableError("--like reads columns as its model does: leave --categorical out")
    rows = rows_for(replace(first, about=known), path, how, learn=True)
    note(rows.notes)
    estimator = clone(first.model)
    for name in ("encoder", "structure"):
        if hasattr(first.model, f"{name}_"):
            estimator.set_params(**{name: getattr(first.model, f"{name}_")})
    labels = np.asarray(rows.y)
    with working(f"learning from {counted(len(labels), 'row')}"):
        estimator.fit(rows.X, labels)
    return _described(Stored(estimator, known), path, len(labels)), Labelled(rows.X, labels)


def _described(stored: Stored, path: str, n: int) -> Stored:
    """Show what was learned, and add it to the history of the model."""
    columns = getattr(stored.model, "columns_", {})
    silent = [f"{name!r} ({one.note})" for name, one in columns.items() if one.silent]
    if silent:
        note([f"columns that say nothing: {join_words(silent, 6)}"])
    kinds = list(stored.about.columns.values())
    parts = ", ".join(f"{kinds.count(kind)} of {PLURAL[kind]}" for kind in dict.fromkeys(kinds))
    learned = f"{counted(n, 'row')}, {counted(len(kinds), 'column')} ({parts})"
    say(f"{type(stored.model).__name__}: {learned}, {len(stored.model.classes_)} classes")
    return replace(stored, about=stored.about.then(f"fit on {Path(path).name}: {counted(n, 'row')}"))


def columns_for(method: Method, sheet: FileTable, target: str) -> FileTable:
    """Keep the columns that a method takes, with a note on every other."""
    sheet = as_doubles(sheet, target)
    table, notes = sheet.table, list(sheet.notes)
    if method.takes_tables:
        for name in table.column_names:
            if name != target and kind_of(table[name]) is None:
                notes.append(f"the column {name!r} holds {table[name].type}, and is left out")
                table = table.drop_columns([name])
        # The models themselves leave out columns without values, as they do in Python.
        empty = _empty(table)
        if len(empty) == table.num_columns - 1:
            notes += [f"the column {name!r} has no values, and is left out" for name in empty]
            raise TableError("; ".join([f"besides {target!r} there is no column to learn from", *notes]))
        return replace(sheet, table=table, notes=tuple(notes))
    words = [name for name in table.column_names if name != target and kind_of(table[name]) != NUMBER]
    if words:
        are = "is" if len(words) == 1 else "are"
        notes.append(f"this model takes numbers only, so that {join_words(map(repr, words), 6)} {are} left out")
    return useful(replace(sheet, table=table.drop_columns(words), notes=tuple(notes)), target)


def _empty(table: pa.Table) -> list[str]:
    """The columns without values."""
    return [name for name in table.column_names if table[name].null_count == len(table[name])]


def _categories(how: Reading, sheet: FileTable) -> dict[str, str]:
    """The columns that the user has called categorical, as the setting `columns` of our estimators."""
    return {name: "category" for name in how.categorical if name in sheet.table.column_names}


def _choose(sheet: FileTable, target: str, y: Array, how: Reading, seed: int, end: float) -> Method:
    """Race the models that suit the table, show the results, and return the best."""
    X = sheet.table.drop_columns([target, *_empty(sheet.table)])
    with working("comparing models") as step:
        rounds = choose(X, y, _categories(how, sheet), seed, end - time.monotonic(), step)
    found = rounds.found
    if rounds.best is not None:
        _show(rounds, rounds.best)
        _warn_if_poor(rounds, rounds.best)
        return METHODS[rounds.best]
    if found.skipped:
        raise TableError(
            "no model could be compared within --max-time: give more seconds, or choose a model with --model"
        )
    why = "; ".join([*found.notes, *(f"{METHODS[name].model_name}: {why}" for name, why in found.failures.items())])
    note([f"no model could be compared, so {DEFAULT.model_name} is fitted ({why})"])
    return DEFAULT


def _warn_if_poor(rounds: ChoiceRounds, best: str) -> None:
    """Warn if the best model is not clearly better than chance on the folds."""
    gains = rounds.gains(best)
    if clearly_positive(gains).any():
        return
    loss, error = rounds.log_loss(best), rounds.mean(best, "error")
    fewer_loss, fewer_wrong = gains.mean(axis=0)
    message = (
        f"no model does clearly better than chance on rows that it has not learned: the best has log loss {loss:.4f} "
        f"and {error:.1%} of the rows wrong, chance has {loss + fewer_loss:.4f} and {error + fewer_wrong:.1%}"
    )
    emit([Notice(message, PoorFitWarning)])


def _show(rounds: ChoiceRounds, best: str) -> None:
    found, rows = rounds.found, []
    for name in rounds.ranking:
        error, loss, wall = (rounds.mean(name, measure) for measure in ("error", "log_loss", "wall"))
        chosen = "chosen" * (name == best)
        rows.append((METHODS[name].model_name, name, f"{error:.2%}", f"{loss:.4f}", f"{wall:.2f}", chosen))
    show(grid(("model", "method", "rows wrong", "log loss", "seconds", ""), rows, left=2))
    say(f"{counted(rounds.folds, 'fold')} of {counted(found.rows, 'row')}")
    note(f"{METHODS[m].model_name} was not compared: {why}" for m, why in (found.skipped | found.failures).items())
    note(
        f"{METHODS[name].model_name} has a smaller log loss, but would take up to {about(rounds.refit_seconds(name))} "
        "to learn all rows, which is more than --max-time leaves"
        for name in rounds.ranking[: rounds.ranking.index(best)]
    )
