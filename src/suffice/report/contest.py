"""A comparison on one table: every method on every fold, by as many processes as wanted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from threadpoolctl import threadpool_limits

from suffice.report.dataset import Dataset
from suffice.report.folds import Folds, Split
from suffice.report.measures import Result, fit_and_measure
from suffice.report.methods import build
from suffice.report.own import Read

Results = dict[tuple[str, int], Result]  # by method and fold, with the seconds it took


@dataclass(frozen=True, eq=False)
class Contest:
    """Methods on one table: the same folds for all of them, all preprocessing learned from the training part."""

    table: Read
    methods: tuple[str, ...]
    folds: int = 10
    seed: int = 0

    def protocol(self) -> Folds:
        """As many folds as were asked for, or as the smallest class has rows."""
        smallest = int(np.unique(self.table.data.y, return_counts=True)[1].min())
        return Folds(max(2, min(self.folds, smallest)), seed=self.seed)

    def run(self, jobs: int = 1, console: Console | None = None) -> Results:
        """Every method on every fold; progress goes to the console."""
        data, protocol = self.table.data, self.protocol()
        splits = [protocol.split(data.y, fold) for fold in range(protocol.repeats)]
        tasks = [(method, fold) for fold in range(len(splits)) for method in self.methods]
        parallel = Parallel(n_jobs=jobs, return_as="generator", pre_dispatch="2*n_jobs")  # in order, whoever is first
        each: Iterator[Result] = parallel(
            delayed(_one)(method, data, splits[fold], self.seed + fold) for method, fold in tasks
        )
        results: Results = {}
        with progress(console) as bar:
            shown = bar.add_task("", total=len(tasks))
            for (method, fold), result in zip(tasks, each, strict=True):
                results[method, fold] = result
                bar.update(shown, advance=1, description=f"fold {fold + 1}: {method}")
        return results


def _one(method: str, data: Dataset, split: Split, seed: int) -> Result:
    with threadpool_limits(1):
        result, seconds = fit_and_measure(build(method, data, seed), data, split, keep_wrong=True)
    return {**result, "seconds": seconds}


def progress(console: Console | None) -> Progress:
    """A bar with times on a console, or nothing."""
    columns: tuple[Any, ...] = (
        TextColumn("[progress.description]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console or Console(stderr=True), disable=console is None)
