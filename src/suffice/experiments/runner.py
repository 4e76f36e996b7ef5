"""Running tables: what is not yet on disk is measured, in order, by as many processes as wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from threadpoolctl import threadpool_limits

from suffice.experiments.datasets import Library, MissingDataError
from suffice.experiments.derived import Computed, Derived
from suffice.experiments.own import OwnTable
from suffice.experiments.store import Store, Task
from suffice.experiments.table import Result, Table

Measurable = Table | Computed | OwnTable  # what has results of its own
PaperTable = Table | Computed | Derived
Experiment = PaperTable | OwnTable
Measured = tuple[Result, dict[str, float]]


def run(
    tables: Sequence[Experiment],
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
    with _progress(console) as bar:
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
    travels = [(table if isinstance(table, OwnTable) else table.name, task) for table, task in todo]
    each: Iterator[Any] = parallel(delayed(_one)(table, task, library) for table, task in travels)
    return each


def _one(table: Measurable | str, task: Task, library: Library) -> Measured:
    if isinstance(table, str):
        from suffice.experiments.tables import TABLES  # a process looks its tables up: functions do not travel

        table = cast(Measurable, TABLES[table])  # a derived table has no tasks
    with threadpool_limits(1):
        return table.run(task, library)


def _progress(console: Console | None) -> Progress:
    columns = (
        TextColumn("[progress.description]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console or Console(stderr=True), disable=console is None)
