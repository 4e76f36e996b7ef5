"""Tables without rows of data to learn from: computed from formulas or simulations, or drawn from other tables."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from papers.datasets import Library
from papers.keys import key
from papers.store import Task
from papers.table import Column, rows_of
from suffice.model_selection.measures import Result

Cells = dict[tuple[str, str], float]


@dataclass(frozen=True)
class Computed:
    """A table whose results need no data set: each row has a function of the number of the repeat.

    What it returns under `seconds` are times by name, and is kept with the times.
    """

    name: str
    title: str
    rows: Mapping[str, Callable[[int], Result]]
    columns: Sequence[Column]
    repeats: int = 1
    reasons: Mapping[tuple[str, str], Any] = field(default_factory=dict)
    notes: str = ""

    def tasks(self, quick: bool = False, full: bool = False) -> list[Task]:  # noqa: ARG002 - as many repeats
        """What there is to compute."""
        repeats = min(2, self.repeats) if quick else self.repeats
        return [Task(self.name, row, "computed", number) for row in self.rows for number in range(repeats)]

    def needs(self, task: Task) -> None:
        """No data set."""

    def key(self, task: Task, library: Library) -> str:  # noqa: ARG002 - needs no data
        """What the result of a task depends on, as a hash."""
        return key(self.rows[task.dataset], task.split)

    def run(self, task: Task, library: Library) -> tuple[Result, dict[str, float]]:  # noqa: ARG002 - needs no data
        """Compute."""
        started = time.perf_counter()
        try:
            result = dict(self.rows[task.dataset](task.split))
        except (ValueError, np.linalg.LinAlgError) as error:  # the rest of the run goes on
            result = {"failed": f"{type(error).__name__}: {error}"}
        seconds = result.pop("seconds", {})
        return result, {"fit": time.perf_counter() - started, **seconds}

    def measured(self, results: Mapping[Task, Result]) -> Cells:
        """Every cell that the results suffice for."""
        cells: Cells = {}
        for row in self.rows:
            found = rows_of(self.name, row, {"computed": None}, results)
            for column in self.columns:
                value = column.value(found)
                if value is not None and np.isfinite(value):
                    cells[row, column.name] = float(value)
        return cells


@dataclass(frozen=True)
class Derived:
    """A table drawn from the results of others, `sources`, by a function of all results."""

    name: str
    title: str
    sources: Sequence[str]
    compute: Callable[[Mapping[Task, Result]], Cells]
    columns: Sequence[Column]
    reasons: Mapping[tuple[str, str], Any] = field(default_factory=dict)
    notes: str = ""

    def tasks(self, quick: bool = False, full: bool = False) -> list[Task]:  # noqa: ARG002 - nothing of its own
        """Nothing: the sources are run instead."""
        return []

    def measured(self, results: Mapping[Task, Result]) -> Cells:
        """Every cell that the results suffice for."""
        return self.compute(results)


def outcome(name: str, digits: int = 0, near: float = 0.01) -> Column:
    """A column whose value stands in a result under that name; mean over the repeats."""

    def value(rows: Mapping[str, Sequence[Result]]) -> float | None:
        values = [row[name] for row in rows.get("computed", ()) if row.get(name) is not None]
        return float(np.mean(values)) if values else None

    return Column(name, value, digits, near)
