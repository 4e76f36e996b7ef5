"""`suffice evaluate`: measure a model on labelled rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import typer
from sklearn.metrics import confusion_matrix

from suffice._core.vector import Array
from suffice._runtime.messages import join_words
from suffice.cli import console as options
from suffice.cli.console import grid, note, note_stale, noting, say, show, working
from suffice.cli.rows import rows_for
from suffice.cli.store import load
from suffice.data.files.sheet import Reading, counted
from suffice.model_selection.measures import gains_over_chance, no_better_than_chance, of_probabilities, roc

MAX_CLASSES_IN_MATRIX = 8  # of more, only the most frequent confusions are shown
NAMES = {
    "error": "rows wrong",
    "log_loss": "log loss",
    "brier": "Brier score",
    "calibration_error": "calibration error",
    "auc": "AUC",
}

EXAMPLES = ("suffice evaluate m.suffice test.csv",)


def evaluate(
    model: options.ModelFile,
    table: options.TableFile,
    target: options.Target = None,
    na: options.Na = None,
    decimal: options.Decimal = None,
    separator: options.Separator = None,
) -> None:
    """Measure a model on rows that it has not learned: error, log loss, Brier score, calibration error, AUC.

    Chance knows only the shares of the classes among the training rows. The exit code is 1 if the model is not
    better: if its log loss is not smaller and its error not clearly smaller.
    """
    stored = load(model)
    with working(f"reading {table}"):
        rows = rows_for(stored, table, Reading(tuple(na or ()), decimal, separator), target)
    note(rows.notes)
    note_stale(stored.model)
    classes, truth = stored.model.classes_, np.asarray(rows.y)
    new = ~np.isin(truth, classes)
    if new.any():
        labels = join_words(np.unique(truth[new]), 5)
        note([f"{counted(int(new.sum()), 'row')} of classes that were never learned ({labels}): always wrong"])
    with noting(), working(f"predicting {counted(len(truth), 'row')}"):
        p = np.asarray(stored.model.predict_proba(rows.X))
    share = stored.model.class_count_ / stored.model.class_count_.sum()
    ours, chance = (measures(q, classes, truth) for q in (p, np.tile(share, (len(truth), 1))))
    say(f"{table}: {counted(len(truth), 'row')}, by {type(stored.model).__name__} of {model}")
    show(
        grid(("", "model", "chance"), [(NAMES[key], _shown(key, ours[key]), _shown(key, chance[key])) for key in ours])
    )
    say("")
    show(_confusion(classes, truth, classes[p.argmax(axis=1)]))
    if no_better_than_chance(gains_over_chance(p, classes.astype(str), truth.astype(str), share)):
        note([f"the model is not better than chance on {counted(len(truth), 'row')} of {table}"])
        raise typer.Exit(1)


def measures(p: Array, classes: Array, truth: Array) -> dict[str, float]:
    """Return error, log loss, Brier score, calibration error, and for two classes the area under the ROC curve."""
    known = {"error": float(np.mean(classes[p.argmax(axis=1)] != truth))}
    known |= of_probabilities(p, classes.astype(str), truth.astype(str))
    del known["reliability"]
    if len(classes) == 2 and set(np.unique(truth)) == set(classes):
        known["auc"] = roc(p[:, 1], truth == classes[1])["auc"]
    return known


def _shown(key: str, value: float) -> str:
    return f"{value:.2%}" if key == "error" else f"{value:.4f}"


def _confusion(classes: Array, truth: Array, predicted: Array) -> Any:
    """Return the rows by true and predicted class; for many classes, the most frequent errors."""
    labels = np.union1d(classes.astype(str), truth.astype(str))
    table = confusion_matrix(truth.astype(str), predicted.astype(str), labels=labels)
    if len(labels) <= MAX_CLASSES_IN_MATRIX:
        heads = ("true class", *(f"predicted {label}" for label in labels))
        return grid(heads, [(label, *(f"{n:,}" for n in row)) for label, row in zip(labels, table, strict=True)])
    np.fill_diagonal(table, 0)
    worst = [np.unravel_index(at, table.shape) for at in np.argsort(-table, axis=None, kind="stable")[:10]]
    rows = [(labels[i], labels[j], f"{table[i, j]:,}") for i, j in worst if table[i, j]]
    return grid(("true class", "taken for", "rows"), rows, left=2)
