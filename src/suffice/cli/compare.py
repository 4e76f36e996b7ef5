"""The command `suffice compare`."""

from __future__ import annotations

import io
import os
import shlex
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import pyarrow as pa
import typer

from suffice._runtime.messages import join_words
from suffice.cli import console as options
from suffice.cli.console import check_output
from suffice.compare.race.methods import METHODS, choose_methods
from suffice.compare.race.page import ComparisonSettings, compare_page
from suffice.compare.race.run import Race
from suffice.compare.race.schedule import Findings
from suffice.compare.race.table import ComparedTable, read_table
from suffice.compare.race.terminal import explained, show, watching
from suffice.compare.race.verdict import Comparison
from suffice.compare.race.workers import warm_up
from suffice.data.files.reading import Reading, TableError, counted
from suffice.data.files.write import write_text
from suffice.model_selection.measures import sample_rows
from suffice.report.console import err, out, stop
from suffice.report.page import write

INTERRUPTED = 130
CSV_COLUMNS = ("method", "fold", "rows", "error", "log_loss", "fit_seconds", "predict_seconds")  # of every fold
MAX_DEFAULT_JOBS = 4  # every process holds a copy of the training rows


def compare(
    table: Annotated[
        str,
        typer.Argument(help="CSV, TSV, JSON lines, Parquet or Arrow file, or breast_cancer, digits, iris or wine."),
    ] = "",
    target: options.Target = None,
    methods: Annotated[
        str | None, typer.Option("--methods", help="Names separated by commas; 'help' lists all methods.")
    ] = None,
    folds: Annotated[int, typer.Option("--folds", min=2, help="Folds of the cross-validation.")] = 10,
    max_time: Annotated[
        float, typer.Option("--max-time", min=1, help="Seconds; methods that are not done by then are listed.")
    ] = 120.0,
    sample: Annotated[
        int | None, typer.Option("--sample", min=20, help="Number of rows to use instead of all, stratified by class.")
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, max=2**31 - 1, help="Random seed of the folds and methods.")
    ] = 0,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, help="Number of processes. Default: one per core, up to 4.")
    ] = None,
    page: Annotated[Path | None, typer.Option("--report", help="Write a self-contained HTML page.")] = None,
    results: Annotated[Path | None, typer.Option("--csv", help="Write the results of every fold as CSV.")] = None,
    many_classes: options.ManyClasses = False,
    force: options.Force = False,
    na: options.Na = None,
    decimal: options.Decimal = None,
    separator: options.Separator = None,
    categorical: options.Categorical = None,
    drop: options.Drop = None,
) -> None:
    """Compare classifiers on your own table: the same folds for all, hypothesis tests, and a verdict.

    Cheap methods run first. Ctrl-C stops early: the results so far are shown and written.

    Examples:
        suffice compare table.csv --target label
        suffice compare table.parquet --target label --report page.html --max-time 600
        suffice compare iris --methods "LDA, NaiveBayes, gradient boosting"
        suffice compare --methods help
    """
    began = time.monotonic()
    if methods == "help":
        out.print(explained())
        short = ", ".join(f"{one.short} ({one.name})" for one in METHODS.values() if one.short)
        out.print(f"Short names: {short}.", markup=False, highlight=False, soft_wrap=True)
        return
    if not table:
        raise stop("which table? Give a CSV or Parquet file, or one of breast_cancer, digits, iris, wine")
    check_output("--report", page, (table,), force)
    check_output("--csv", results, (table,), force)
    if page is not None and results is not None and page.resolve() == results.resolve():
        raise stop(f"{page} cannot be both the --report and the --csv: choose another for one of them")
    warm_up([Race.__module__])  # while the table is read
    try:
        names = choose_methods(methods.split(",") if methods else None)
        how = Reading(tuple(na or ()), decimal, separator, tuple(categorical or ()), tuple(drop or ()))
        read = _sampled(read_table(table, target, how, many_classes), sample, seed)
    except TableError as error:
        raise stop(str(error)) from None
    race = Race(read, names, folds, seed, max(1.0, max_time - (time.monotonic() - began)))
    _describe(race)
    with watching(out, err, max_time) as watch:
        winner = None if page is None else lambda found: Comparison.of(found).winner
        found = race.run(jobs or _cores(), watch, winner)
    comparison = Comparison.of(found)
    show(comparison, found, out)
    if results is not None:
        write(results, _folds_csv(found))
    if page is not None:
        command = shlex.join(["suffice", *sys.argv[1:]])
        write(page, compare_page(comparison, found, race, ComparisonSettings(target, sample, command)))
        out.print(f"page: {page}", markup=False, highlight=False)
    if found.interrupted:
        raise typer.Exit(INTERRUPTED)
    if not comparison.usable:
        raise typer.Exit(1)


def _cores() -> int:
    """Return the default number of processes."""
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(MAX_DEFAULT_JOBS, there))


def _sampled(read: ComparedTable, size: int | None, seed: int) -> ComparedTable:
    """Draw a stratified sample of rows; a class with only one row in it is left out."""
    labels = read.data.y
    if size is None or size >= len(labels):
        return read
    kinds = len(np.unique(labels))
    if size < 2 * kinds:
        raise TableError(f"a --sample of {size} rows is too small for {kinds} classes: at least {2 * kinds} are needed")
    rows = sample_rows(labels, size, seed)
    names, counts = np.unique(labels[rows], return_counts=True)
    rows = rows[np.isin(labels[rows], names[counts > 1])]
    lost = kinds - int((counts > 1).sum())
    notes = [f"a sample of {len(rows):,} of {len(labels):,} rows (seed {seed})"]
    notes += [f"classes with fewer than two rows in the sample are left out: {lost}"] * bool(lost)
    return replace(read, data=read.data.rows(rows), notes=(*read.notes, *notes))


def _describe(race: Race) -> None:
    data, notes = race.table.data, race.table.notes
    labels, size = np.unique(data.y, return_counts=True)
    sizes = join_words([f"{label}: {n:,}" for label, n in zip(labels, size, strict=True)], 8)
    missing = float(np.isnan(data.X).mean())
    holes = f", {missing:.1%} of the values missing" * bool(missing)
    kinds = f"{(~data.categorical).sum()} of numbers, {data.categorical.sum()} of categories"
    lines = [f"{data.name}: {len(data.y):,} rows, {counted(len(data.names), 'column')} ({kinds}{holes})"]
    lines += [f"{len(labels)} classes: {sizes}", *notes]
    folds = race.most_folds()
    if folds < race.folds:
        lines.append(f"{folds} folds instead of {race.folds}: the smallest class has no more rows")
    for line in lines:
        out.print(line, markup=False, highlight=False, soft_wrap=True)


def _folds_csv(found: Findings) -> str:
    """Return a line for every method and fold that was measured."""
    rows = []
    for method in found.methods:
        for fold in found.done(method):
            got = found.results[method, fold]
            times = (f"{got['seconds'][part]:.6f}" for part in ("fit", "predict"))
            rows.append((method, fold, got["asked"], got["error"], got.get("log_loss"), *times))
    columns = zip(*rows, strict=True) if rows else ((),) * len(CSV_COLUMNS)
    file = io.BytesIO()
    write_text(pa.table(dict(zip(CSV_COLUMNS, columns, strict=True))), file)
    return file.getvalue().decode()
