"""Tables: data sets x methods x protocol x measures, and the columns that follow from them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from papers import Array
from papers.datasets import Library
from papers.keys import key
from papers.measuring import fit_and_measure
from papers.protocols import Splitter
from papers.store import Task
from suffice.model_selection.measures import Dataset, Result

Rows = Mapping[str, Sequence[Result]]  # the results of one data set: those of every split, by method
Value = Callable[[Rows], float | None]
Build = Callable[[int], Any]  # a seed to an estimator


class Column(NamedTuple):
    """A column of a printed table: its name there, its value from the results of a data set, and its precision."""

    name: str
    value: Value
    digits: int = 3
    near: float = 0.01  # what still counts as close
    spread: Value | None = None  # the standard deviation over the splits


@dataclass(frozen=True)
class Table:
    """A table of a paper as a declaration.

    `datasets` maps the names of the paper to ours; one that `prepare` takes a part of is "name:part" (and called so).
    `prepare` is what the paper does to all rows before it splits them;
    everything else that learns from data is part of the methods. `reasons` say why cells are off, by pattern (data
    set, column; "*" is any): `papers.reasons.explain` takes the first that holds.
    """

    name: str
    title: str
    datasets: Mapping[str, str]
    methods: Mapping[str, Build]
    protocol: Splitter
    columns: Sequence[Column]
    prepare: Callable[[Dataset], Dataset] = lambda data: data
    quick: Sequence[str] = ()
    reasons: Mapping[tuple[str, str], Any] = field(default_factory=dict)
    notes: str = ""
    keep_wrong: bool = False  # whether the rows that a method gets wrong are kept, for McNemar's test
    in_print: int = 0  # the splits of the print, if by default there are fewer here

    def tasks(self, quick: bool = False, full: bool = False) -> list[Task]:
        """What there is to measure, in order; quick is two splits of some data sets, full as many as the print has."""
        names = [name for name in self.datasets if not quick or name in self.quick]
        repeats = max(self.protocol.repeats, self.in_print) if full else self.protocol.repeats
        repeats = min(2, repeats) if quick else repeats
        every = ((name, split, method) for name in names for split in range(repeats) for method in self.methods)
        return [Task(self.name, name, method, split) for name, split, method in every]

    def needs(self, task: Task) -> str:
        """The data set that a task reads."""
        return self.datasets[task.dataset].partition(":")[0]

    def data(self, name: str, library: Library) -> Dataset:
        """The rows of a data set as the paper has them."""
        return _prepared(self, name, library)

    def key(self, task: Task, library: Library) -> str:
        """What the result of a task depends on, as a hash."""
        name, model = self.datasets[task.dataset], self.methods[task.method](task.split)
        settings = (fit_and_measure, model, self.protocol, task.split, self.prepare, self.keep_wrong)
        return key(*settings, name, library.digest(self.needs(task)))

    def run(self, task: Task, library: Library) -> tuple[Result, dict[str, float]]:
        """Measure: what came out, and the seconds it took."""
        data = self.data(task.dataset, library)
        model = self.methods[task.method](task.split)
        return fit_and_measure(model, data, self.protocol.split(data.y, task.split), self.keep_wrong)

    def measured(self, results: Mapping[Task, Result]) -> dict[tuple[str, str], float]:
        """Every cell (data set, column) that the results suffice for."""
        return self._cells(results, {column.name: column.value for column in self.columns})

    def spreads(self, results: Mapping[Task, Result]) -> dict[tuple[str, str], float]:
        """The standard deviations over the splits of the cells that are means over them."""
        return self._cells(
            results, {column.name: column.spread for column in self.columns if column.spread is not None}
        )

    def _cells(self, results: Mapping[Task, Result], values: Mapping[str, Value]) -> dict[tuple[str, str], float]:
        cells = {}
        for name in self.datasets:
            rows = rows_of(self.name, name, self.methods, results)
            for column, value_of in values.items():
                value = value_of(rows)
                if value is not None and np.isfinite(value):
                    cells[name, column] = float(value)
        return cells


@lru_cache(maxsize=4)
def _prepared_cached(prepare: Callable[[Dataset], Dataset], name: str, library: Library) -> Dataset:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return prepare(replace(library.load(name.partition(":")[0]), name=name))


def _prepared(table: Table, name: str, library: Library) -> Dataset:
    return _prepared_cached(table.prepare, table.datasets[name], library)


def rows_of(table: str, dataset: str, methods: Mapping[str, Any], results: Mapping[Task, Result]) -> Rows:
    """The results of one data set, by method; those of a method that failed on a split lack that split."""
    found: dict[str, list[Result]] = {method: [] for method in methods}
    for task, result in results.items():
        if task.table == table and task.dataset == dataset and task.method in found and "failed" not in result:
            found[task.method].append({**result, "split": task.split})
    return found


# What columns are made of


def mean(method: str, metric: str, scale: float = 1.0) -> Value:
    """The mean of a metric over the splits on which a method ran."""

    def value(rows: Rows) -> float | None:
        values = [row[metric] for row in rows.get(method, ()) if row.get(metric) is not None]
        return float(np.mean(values)) * scale if values else None

    return value


def deviation(method: str, metric: str, scale: float = 1.0) -> Value:
    """The standard deviation of a metric over the splits on which a method ran."""

    def value(rows: Rows) -> float | None:
        values = [row[metric] for row in rows.get(method, ()) if row.get(metric) is not None]
        return float(np.std(values, ddof=1)) * scale if len(values) > 1 else None

    return value


def reach(ours: str, theirs: str, loss: str = "error") -> Value:
    """The iteration by which one learner is as good as another one ever gets, if it is on every split."""

    def value(rows: Rows) -> float | None:
        other = {row["split"]: row["curves"][loss] for row in rows.get(theirs, ()) if "curves" in row}
        found = [
            _first(row["curves"][loss], min(other[row["split"]]))
            for row in rows.get(ours, ())
            if "curves" in row and row["split"] in other
        ]
        return None if not found or None in found else float(np.mean([at for at in found if at is not None]))

    return value


def _first(curve: Sequence[float], target: float) -> int | None:
    at = np.flatnonzero(np.asarray(curve) <= target + 1e-12)
    return int(at[0]) + 1 if len(at) else None


def first_of(values: Array) -> int:
    """The iteration, from 1, of the least value."""
    return int(np.argmin(values)) + 1
