"""Results as a benchmark would leave them, made up and hostile, for the tests of the page."""

from __future__ import annotations

from math import exp

from papers.agreement import printed
from papers.store import Task
from papers.table import Column, Table, mean
from suffice.model_selection.measures import StratifiedFolds

HOSTILE = ("<img src=x onerror=alert(1)>", '"><script>document.title="owned"</script>', "a & 'b' </script> $x$")
METHODS = ("ml", "rc", "gd", "<b>svm</b> $\\frac$")
NAMES = ("adult", "blood transfusion", "climate model", "diabetes", "ecoli", "iris")
SPLITS = 2


def table() -> Table:
    """Table II of rc1, with data sets and a method of hostile names."""
    columns = tuple(Column(f"{method}_error", mean(method, "error"), 3, 0.01) for method in METHODS)
    return Table(
        "rc1-table2",
        "Errors of <naive> Bayes & others",
        dict.fromkeys((*NAMES, *HOSTILE), "iris"),
        dict.fromkeys(METHODS, lambda seed: seed),
        StratifiedFolds(SPLITS),
        columns,
        reasons={("ecoli", "*"): "another version of the file <b>"},
        notes="Made up & not measured.",
    )


def results() -> dict[Task, dict]:
    """A result for every task: equal, near and off in turn; two methods learn in steps, one fails once."""
    theirs = printed("rc1-table2")
    found = {}
    for i, dataset in enumerate((*NAMES, *HOSTILE)):
        for j, method in enumerate(METHODS):
            value, _ = theirs.get((dataset, f"{method}_error"), (0.2 + 0.01 * i + 0.003 * j, None))
            for split in range(SPLITS):
                task = Task("rc1-table2", dataset, method, split)
                found[task] = result(value + (0.0, 0.004, 0.05)[(i + j) % 3], method in ("rc", "gd"), split)
    found[Task("rc1-table2", HOSTILE[0], "gd", 1)] = {"failed": "ValueError: <i>no</i>"}
    return found


def result(error: float, gradual: bool, split: int) -> dict:
    """One result."""
    row = {"error": error, "train_error": 0.9 * error}
    row["reliability"] = [[10 + split, 0.55, 0.5], [30, 0.75, 0.7 - error / 2], [100, 0.95, 1 - error]]
    if gradual:
        steps = range(200 - 20 * split)
        curve = [round(error * (1 + exp(-i / 20)) + 0.002 * (i % 3), 10) for i in steps]
        row["curves"] = {"error": curve, "soft_error": [1.1 * v for v in curve], "log_loss": [2 * v for v in curve]}
    return row


def times() -> dict[Task, dict]:
    """Seconds of every fit."""
    slow = {method: 0.003 * 7**j for j, method in enumerate(METHODS)}
    return {task: {"fit": slow[task.method] * (1 + task.split)} for task in results()}
