"""The command `suffice`."""

from __future__ import annotations

import csv
import io
import os
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Column
from rich.table import Table as Grid

import suffice
from suffice.experiments import agreement, reproduction
from suffice.experiments.datasets import Library, MissingDataError
from suffice.experiments.own import METHODS, OwnTable, Read, TableError, chosen
from suffice.experiments.own_page import compare_page
from suffice.experiments.page import bench_page, write
from suffice.experiments.runner import PaperTable, run
from suffice.experiments.store import Store
from suffice.experiments.tables import TABLES
from suffice.experiments.verdict import Comparison

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Classifiers learned from sufficient statistics.")
bench = typer.Typer(no_args_is_help=True, help="Rerun the tables of the papers.")
app.add_typer(bench, name="bench")
out, err = Console(), Console(stderr=True)


def _stop(message: str) -> typer.Exit:
    err.print(message, style="red", markup=False, highlight=False, soft_wrap=True)
    return typer.Exit(2)


def _version(asked: bool) -> None:
    if asked:
        out.print(suffice.__version__, highlight=False)
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and end.")
    ] = False,
) -> None:
    """Classifiers learned from sufficient statistics."""


@bench.command("list")
def list_tables() -> None:
    """Show the tables that can be rerun."""
    grid = Grid("table", "what it is", "results", box=None)
    for table in TABLES.values():
        size = len(table.tasks())
        grid.add_row(table.name, table.title, str(size) if size else "from other tables")
    out.print(grid)


@bench.command("run")
def run_tables(
    tables: Annotated[list[str], typer.Argument(help="Names of tables, or `all`; see `suffice bench list`.")],
    quick: Annotated[bool, typer.Option("--quick", help="Two splits of a few small data sets.")] = False,
    data: Annotated[Path | None, typer.Option("--data", help="A folder of Parquet files.")] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Processes.")] = 1,
    folder: Annotated[Path, typer.Option("--out", help="Where results are kept.")] = Path("bench-results"),
    offline: Annotated[bool, typer.Option("--offline", help="Do not ask OpenML.")] = False,
) -> None:
    """Measure tables, going on where an earlier run stopped, and show them beside the print."""
    wanted = _wanted(tables)
    _check_writable(folder / "results.jsonl")
    try:
        library = Library.at(data, online=not offline)
    except MissingDataError as error:
        raise _stop(str(error)) from None
    store, missing = run(wanted, folder, library, quick, jobs, err)
    _summary(wanted, store)
    for sentence in missing:
        err.print(f"missing: {sentence}", markup=False, highlight=False)
    if missing:
        err.print(f"{len(missing)} data sets are missing; everything else was measured.", highlight=False)
    out.print(f"results: {store.results}    next: suffice bench report {folder}", markup=False, highlight=False)


def _check_writable(*paths: Path | None) -> None:
    """Before anything is measured: whether files can be written where they are wanted."""
    for path in paths:
        if path is None:
            continue
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError:
            raise _stop(f"{path} cannot be written: there can be no folder {path.parent}") from None
        if path.is_dir() or not os.access(path.parent, os.W_OK):
            raise _stop(f"{path} cannot be written: choose another place")


def _wanted(names: list[str]) -> list[PaperTable]:
    """The tables of these names with those that they follow from."""
    if "all" in names:
        return list(TABLES.values())
    strange = [name for name in names if name not in TABLES]
    if strange:
        raise _stop(f"there is no table {', '.join(strange)}; see `suffice bench list`")
    sources = [source for name in names for source in getattr(TABLES[name], "sources", ())]
    return [TABLES[name] for name in dict.fromkeys([*sources, *names])]


def _summary(tables: list[PaperTable], store: Store) -> None:
    grid = Grid("table", "at hand", "equal", "near", "off", box=None)
    results = store.measured()
    for table in tables:
        count = agreement.counts(agreement.cells(table, results))
        grid.add_row(table.name, *(str(value) for value in count.values()))
    out.print(grid)


@bench.command("report")
def report(
    folder: Annotated[Path, typer.Argument(help="Where results are kept.")],
    page: Annotated[Path | None, typer.Option("--page", help="The page to write; report.html in the folder.")] = None,
    docs: Annotated[Path | None, typer.Option("--docs", help="Also write a summary in Markdown here.")] = None,
) -> None:
    """Write one page, self-contained, and a CSV of all cells, from results on disk."""
    _check_writable(page, docs)
    if not (folder / "results.jsonl").exists() or not Store(folder).read():
        raise _stop(f"there are no results in {folder}: run `suffice bench run` first")
    store = Store(folder)
    results, times = store.measured(), store.read_times()
    names = {task.table for task in results}
    tables = [t for t in TABLES.values() if t.name in names or set(getattr(t, "sources", ())) & names]
    target = page or folder / "report.html"
    write(target, bench_page(tables, results, times))
    write(folder / "cells.csv", reproduction.as_csv(tables, results))
    if docs is not None:
        write(docs, reproduction.document(tables, results, times))
    out.print(f"page: {target}    cells: {folder / 'cells.csv'}", markup=False, highlight=False)


@app.command("compare")
def compare(
    table: Annotated[str, typer.Argument(help="A CSV or Parquet file, or breast_cancer, digits, iris or wine.")],
    target: Annotated[str | None, typer.Option("--target", help="The column that holds the classes.")] = None,
    methods: Annotated[str | None, typer.Option("--methods", help=f"Of: {', '.join(METHODS)}; by commas.")] = None,
    drop: Annotated[list[str] | None, typer.Option("--drop", help="A column to leave out; may be repeated.")] = None,
    folds: Annotated[int, typer.Option("--folds", min=2, help="Folds of the cross-validation.")] = 10,
    seed: Annotated[
        int, typer.Option("--seed", min=0, max=2**31 - 1, help="Of the folds and of methods that draw numbers.")
    ] = 0,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Processes.")] = 1,
    page: Annotated[Path | None, typer.Option("--report", help="Write one page, self-contained.")] = None,
    results: Annotated[Path | None, typer.Option("--csv", help="Write the results of every fold.")] = None,
) -> None:
    """Compare classifiers on a table of your own: the same honest folds for all, tests, and a verdict."""
    _check_writable(page, results)
    try:
        names = chosen(tuple(methods.split(",")) if methods else None)
        own = OwnTable(table, target, tuple(drop or ()), names, folds, seed)
        read = own.read()
    except TableError as error:
        raise _stop(str(error)) from None
    _describe(read, own)
    with tempfile.TemporaryDirectory() as folder:
        store, _ = run([own], folder, Library(), jobs=jobs, console=err)
        found, times = store.read(), store.read_times()
    comparison = Comparison.of(found, times, len(read.data.y))
    _show(comparison)
    if len(comparison.lines) < 2:
        raise typer.Exit(1)
    if results is not None:
        write(results, _folds_csv(comparison))
    if page is not None:
        write(page, compare_page(comparison, found, own))
        out.print(f"page: {page}", markup=False, highlight=False)


def _describe(read: Read, own: OwnTable) -> None:
    data = read.data
    labels, size = np.unique(data.y, return_counts=True)
    listed = ", ".join(f"{label}: {n}" for label, n in zip(labels[:8], size, strict=False))
    more = f" and {len(labels) - 8} more" * (len(labels) > 8)
    holes = f", {np.isnan(data.X).mean():.1%} of the values missing" * bool(np.isnan(data.X).any())
    kinds = f"{(~data.categorical).sum()} of numbers, {data.categorical.sum()} of categories"
    lines = [f"{data.name}: {len(data.y)} rows, {len(data.names)} columns ({kinds}{holes})"]
    lines += [f"{len(labels)} classes: {listed}{more}", *read.notes]
    folds = own.protocol().n
    if folds < own.folds:
        lines.append(f"{folds} folds instead of {own.folds}: the smallest class has no more rows")
    for line in lines:
        out.print(line, markup=False, highlight=False, soft_wrap=True)


def _show(comparison: Comparison) -> None:
    p = comparison.against_best()
    heads = ("rows wrong", "±", "log loss", "calibration", "fit ms", "p against best")
    grid = Grid("method", *(Column(head, justify="right") for head in heads), box=None)
    grid.columns[0].no_wrap = True
    for line in comparison.lines:
        against = "best" if line is comparison.best else f"{p[line.method]:.3f}"
        style = "bold" if line is comparison.best else "" if line.ours else "dim"
        numbers = (_shown(line.log_loss, "{:.3f}"), _shown(line.calibration_error, "{:.3f}"))
        cells = (f"{line.error:.2%}", f"{line.spread:.2%}", *numbers, f"{1000 * line.fit:.1f}", against)
        grid.add_row(line.method, *cells, style=style)
    out.print(grid)
    for method, why in comparison.failures.items():
        out.print(f"{method} could not learn: {why}", markup=False, highlight=False)
    for sentence in comparison.verdict():
        out.print(f"- {sentence}", markup=False, highlight=False, soft_wrap=True)


def _shown(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)


def _folds_csv(comparison: Comparison) -> str:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["method", "fold", "error"])
    for line in comparison.lines:
        rows.writerows([line.method, fold, error] for fold, error in enumerate(comparison.errors[line.method]))
    return text.getvalue()


if __name__ == "__main__":
    sys.exit(app())
