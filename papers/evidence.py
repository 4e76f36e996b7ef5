"""What the page of a benchmark draws from results: mean curves, pooled reliability, median times, mean errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import nan
from statistics import fmean, median
from typing import Any

from papers.protocols import WholeSet
from papers.store import Task
from suffice.report.page.charts import Point, mean_curve, pooled

PRIOR = "P1"  # of curves over class probabilities instead of iterations
Result = dict[str, Any]
Results = Mapping[Task, Result]
Curves = dict[str, list[tuple[float, float]] | float]  # by method: a curve, or the one value of what learns at once


def of_table(table: Any, results: Results) -> dict[Task, Result]:
    """The results of a table that did not fail."""
    return {task: row for task, row in results.items() if task.table == table.name and "failed" not in row}


def failures(table: Any, results: Results) -> dict[str, list[Task]]:
    """The fits of a table that failed, by what they said."""
    found: dict[str, list[Task]] = {}
    for task, row in results.items():
        if task.table == table.name and "failed" in row:
            found.setdefault(str(row["failed"]), []).append(task)
    return found


def grouped(mine: Results) -> dict[tuple[str, str], list[Result]]:
    """The results of all splits, by data set and method."""
    found: dict[tuple[str, str], list[Result]] = {}
    for task, row in mine.items():
        found.setdefault((task.dataset, task.method), []).append(row)
    return found


def methods(table: Any, tasks: Iterable[Task]) -> list[str]:
    """The methods of a table that have results, in the order of its declaration."""
    present = dict.fromkeys(task.method for task in tasks)
    declared = [name for name in getattr(table, "methods", ()) if name in present]
    return declared + [name for name in present if name not in declared]


def datasets(tasks: Iterable[Task]) -> list[str]:
    """The data sets that have results."""
    return list(dict.fromkeys(task.dataset for task in tasks))


def on_training_rows(table: Any) -> bool:
    """Whether a table asks about the rows that it learns from."""
    return isinstance(getattr(table, "protocol", None), WholeSet)


def curves(table: Any, results: Results) -> dict[tuple[str, str], Curves]:
    """Means over splits, by data set and loss; empty where nothing was learned in steps."""
    mine = {task: row for task, row in of_table(table, results).items() if PRIOR not in row.get("curves", ())}
    names, rows = methods(table, mine), grouped(mine)
    gradual = {task.method for task, row in mine.items() if "curves" in row}
    losses = dict.fromkeys(loss for row in mine.values() for loss in row.get("curves", ()))
    found: dict[tuple[str, str], Curves] = {}
    for dataset in datasets(task for task, row in mine.items() if "curves" in row):
        for loss in losses:
            found[dataset, loss] = {
                m: _mean_of(rows.get((dataset, m), ()), loss)
                if m in gradual
                else _level(rows.get((dataset, m), ()), loss, on_training_rows(table))
                for m in names
            }
    return found


def by_prior(table: Any, results: Results) -> dict[str, dict[str, list[tuple[float, float]]]]:
    """Accuracies in percent against the probability of the first class, means over repeats, by row and rule."""
    rows = grouped({task: row for task, row in of_table(table, results).items() if PRIOR in row.get("curves", ())})
    found: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for (name, _), each in rows.items():
        at = each[0]["curves"][PRIOR]
        rules = [rule for rule in each[0]["curves"] if rule != PRIOR]
        found[name] = {
            rule: [(p, fmean(row["curves"][rule][i] for row in each)) for i, p in enumerate(at)] for rule in rules
        }
    return found


def _mean_of(rows: Sequence[Result], loss: str) -> list[tuple[float, float]]:
    return mean_curve([row["curves"][loss] for row in rows if loss in row.get("curves", ())])


def _level(rows: Sequence[Result], loss: str, same_rows: bool) -> float:
    """The loss on the training rows of a method that does not learn in steps, if it was measured."""
    name = loss if same_rows else f"train_{loss}"
    values = [row[name] for row in rows if row.get(name) is not None]
    return fmean(values) if values else nan


def reliability(table: Any, results: Results) -> dict[str, dict[str, list[Point]]]:
    """Reliability pooled over splits, by data set and method, where there is any."""
    found: dict[str, dict[str, list[Point]]] = {}
    mine = {task: row for task, row in of_table(table, results).items() if row.get("reliability")}
    rows = grouped(mine)
    for dataset in datasets(mine):
        for method in methods(table, mine):
            if (dataset, method) in rows:
                parts = (row["reliability"] for row in rows[dataset, method])
                found.setdefault(dataset, {})[method] = pooled(parts)
    return found


def fit_times(table: Any, times: Results) -> dict[str, float]:
    """The median of the seconds that each method took to fit, over data sets and splits."""
    mine = {task: row["fit"] for task, row in times.items() if task.table == table.name and "fit" in row}
    return {m: median(seconds for task, seconds in mine.items() if task.method == m) for m in methods(table, mine)}


def mean_errors(table: Any, results: Results) -> dict[str, list[float]]:
    """The error of each method, a mean over splits, on the data sets that all methods have one for."""
    mine = {task: row for task, row in of_table(table, results).items() if row.get("error") is not None}
    names, rows = methods(table, mine), grouped(mine)
    shared = [dataset for dataset in datasets(mine) if all((dataset, name) in rows for name in names)]
    return {name: [fmean(row["error"] for row in rows[dataset, name]) for dataset in shared] for name in names}
