"""Running tables: what is not yet on disk is measured, in order, by as many processes as wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn
from threadpoolctl import threadpool_limits

from papers.datasets import Library, MissingDataError
from papers.derived import Computed, Derived
from papers.keys import versions
from papers.store import Store, Task
from papers.table import Table
from suffice.model_selection.measures import Result

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
    full: bool = False,
    sets: Sequence[str] = (),
) -> tuple[Store, list[str]]:
    """Measure what the store lacks or has for other settings; the store, and a sentence for each missing data set.

    `quick` measures two splits of small data sets, `full` as many splits as the paper has, `sets` only these rows.
    """
    store = Store(out)
    known = store.read_keys()
    missing: dict[str, str] = {}
    wanted = [
        (table, task, table.key(task, library))
        for table in tables
        if not isinstance(table, Derived)
        for task in table.tasks(quick, full)
        if (not sets or task.dataset in sets) and _available(table, task, library, missing)
    ]
    todo = [(table, task, key) for table, task, key in wanted if known.get(task) != key]
    stale = sum(task in known for _, task, _ in todo)
    if stale and console is not None:
        console.print(
            f"{stale} results are stale (settings, code, data or versions have changed): they are measured again"
        )
    if todo:
        store.begin(versions())
    columns = (*Progress.get_default_columns(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console or Console(stderr=True), disable=console is None) as bar:
        shown = bar.add_task("", total=len(todo))
        for (_, task, key), (result, times) in zip(todo, _measured(todo, library, jobs), strict=True):
            store.append(task, key, result, times)
            bar.update(shown, advance=1, description=f"{task.table}: {task.dataset}, {task.method}")
    return store, list(missing.values())


def age(tables: Sequence[PaperTable], store: Store, library: Library) -> str:
    """Sentences on when results were measured, and how many are stale by the settings, code and versions of now."""
    known, missing = store.read_keys(), dict[str, str]()
    declared = {
        task: table
        for table in tables
        if not isinstance(table, Derived)
        for task in table.tasks(full=True)
        if task in known
    }
    lost = {task for task, table in declared.items() if not _available(table, task, library, missing)}
    fresh = sum(table.key(task, library) == known[task] for task, table in declared.items() if task not in lost)
    unknown = f"; {len(lost)} more could not be checked, as their data sets are not available" * bool(lost)
    return f"{store.runs()} {len(known) - len(lost) - fresh} of {len(known)} results are stale{unknown}.".strip()


def _available(table: Measurable, task: Task, library: Library, missing: dict[str, str]) -> bool:
    name = table.needs(task)
    if name is not None and name not in missing:
        try:
            library.digest(name)
        except MissingDataError as error:
            missing[name] = str(error)
    return name not in missing


def _measured(todo: Sequence[tuple[Measurable, Task, str]], library: Library, jobs: int) -> Iterator[Measured]:
    """Results in the order of the tasks, whoever is first: so a store never depends on the number of processes."""
    if jobs == 1:
        return (_one(table, task, library) for table, task, _ in todo)
    parallel = Parallel(n_jobs=jobs, return_as="generator", pre_dispatch="2*n_jobs")
    each: Iterator[Any] = parallel(delayed(_one)(table.name, task, library) for table, task, _ in todo)
    return each


def _one(table: Measurable | str, task: Task, library: Library) -> Measured:
    if isinstance(table, str):
        from papers.tables import TABLES  # a process looks its tables up: functions do not travel

        table = cast(Measurable, TABLES[table])  # a derived table has no tasks
    with threadpool_limits(1):
        return table.run(task, library)
