"""Running tables: what is not yet on disk is measured, in order, by as many processes as wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from joblib import Parallel, delayed
from rich.console import Console
from threadpoolctl import threadpool_limits

from papers.datasets import Library, MissingDataError
from papers.derived import Computed, Derived
from papers.store import Store, Task
from papers.table import Table
from suffice.report.contest import progress
from suffice.report.measures import Result

Measurable = Table | Computed  # what has results of its own
PaperTable = Measurable | Derived
Measured = tuple[Result, dict[str, float]]


def run(
    tables: Sequence[PaperTable],
    out: Path | str,
    library: Library,
    quick: bool = False,
    jobs: int = 1,
    console: Console | None = None,
) -> tuple[Store, list[str]]:
    """Measure what the store lacks; returns the store and a sentence for each data set that is missing."""
    store = Store(out)
    done = store.read()
    missing: dict[str, str] = {}
    todo = [
        (table, task)
        for table in tables
        if not isinstance(table, Derived)
        for task in table.tasks(quick)
        if task not in done and _at_hand(table, task, library, missing)
    ]
    with progress(console) as bar:
        shown = bar.add_task("", total=len(todo))
        for (_, task), (result, times) in zip(todo, _measured(todo, library, jobs), strict=True):
            store.append(task, result, times)
            bar.update(shown, advance=1, description=f"{task.table}: {task.dataset}, {task.method}")
    return store, list(missing.values())


def _at_hand(table: Measurable, task: Task, library: Library, missing: dict[str, str]) -> bool:
    name = table.needs(task)
    if name is not None and name not in missing:
        try:
            library.load(name)
        except MissingDataError as error:
            missing[name] = str(error)
    return name not in missing


def _measured(todo: Sequence[tuple[Measurable, Task]], library: Library, jobs: int) -> Iterator[Measured]:
    """Results in the order of the tasks, whoever is first: so a store never depends on the number of processes."""
    if jobs == 1:
        return (_one(table, task, library) for table, task in todo)
    parallel = Parallel(n_jobs=jobs, return_as="generator", pre_dispatch="2*n_jobs")
    each: Iterator[Any] = parallel(delayed(_one)(table.name, task, library) for table, task in todo)
    return each


def _one(table: Measurable | str, task: Task, library: Library) -> Measured:
    if isinstance(table, str):
        from papers.tables import TABLES  # a process looks its tables up: functions do not travel

        table = cast(Measurable, TABLES[table])  # a derived table has no tasks
    with threadpool_limits(1):
        return table.run(task, library)
