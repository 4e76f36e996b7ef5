"""Methods that only pretend: what a worker would say of them, in no time or far too much of it."""

from __future__ import annotations

import os
import time
from functools import partial

import numpy as np

from suffice.compare.race.table import ComparedTable
from suffice.compare.race.trial import Compile, Fold, SampleTrial
from suffice.model_selection.measures import Dataset

RATES = {"LDA": 0.1, "NaiveBayes": 0.2, "QDA": 0.3, "LDA + RC": 0.15, "most frequent class": 0.25}


def table(rows=200):
    """Two classes, alike in everything."""
    y = np.repeat(["a", "b"], [rows // 2, rows - rows // 2])
    return ComparedTable(Dataset("fake", np.zeros((rows, 1)), y, ("x",), np.array([False])), ())


def opening(walls, folder):
    """What does a task; `walls` says how many seconds a method claims for so many rows."""
    return partial(work, folder, walls)


def work(folder, walls, task):
    """kNN fails, SVM sleeps, the decision tree ends its process; all others are wrong at their rates."""
    if isinstance(task, Compile):
        return {"work": 9.0 if walls.get("compiling") else 0.0}
    if task.method == "kNN":
        return {"failed": "ValueError: no neighbours"}
    if task.method == "decision tree":
        os._exit(3)
    if task.method == "SVM":
        time.sleep(600)
    y = np.load(folder / "y.npy")
    rows = (
        np.arange(100)
        if isinstance(task, SampleTrial)
        else np.flatnonzero(np.load(folder / "folds.npy") == task.number)
    )
    wall = walls.get(task.method, quick)
    wrong = rows[: round(RATES.get(task.method, 0.2) * len(rows))]
    return {
        "error": len(wrong) / len(rows),
        "asked": len(rows),
        "wrong": wrong.astype(np.int32),
        "confusion": np.zeros((2, 2), int),
        "seconds": {"fit": 0.01, "predict": 0.01},
        "wall": wall(len(y) - len(rows)),
        "warnings": [f"fold {task.number}: beware"] if task.method == "QDA" and isinstance(task, Fold) else [],
    } | (
        {"trials": {size: wall(size) for size in task.sizes}, "size": 4000, "pace": 1.0}
        if isinstance(task, SampleTrial)
        else {}
    )


def squared(rows):
    """A method whose time grows with the square of the rows."""
    return (rows / 1000) ** 2


def straight(rows):
    """A method of half a second for a thousand rows."""
    return rows / 2000


def quick(_):
    """A method of no time."""
    return 0.01
