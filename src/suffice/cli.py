"""The command `suffice`."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.table import Column
from rich.table import Table as Grid

import suffice
from suffice.commands import change, evaluate, fit, inspect, merge, predict
from suffice.commands._guard import Commands, register
from suffice.report.console import check_writable, err, out, stop
from suffice.report.contest import Contest
from suffice.report.methods import METHODS, chosen
from suffice.report.own import read_table
from suffice.report.own_page import compare_page
from suffice.report.page import write
from suffice.report.verdict import Comparison
from suffice.tables import Reading, TableError

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Classifiers learned from sufficient statistics.",
)
register(app, fit.fit, fit.EXAMPLES)
register(app, predict.predict, predict.EXAMPLES)
register(app, evaluate.evaluate, evaluate.EXAMPLES)
register(app, inspect.inspect, inspect.EXAMPLES)
register(app, merge.merge, merge.EXAMPLES)
for one in change.CHANGES:
    register(app, change.command(one), [one.example])


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
    check_writable(page, results)
    try:
        names = chosen(tuple(methods.split(",")) if methods else None)
        contest = Contest(read_table(table, target, Reading(drop=tuple(drop or ()))), names, folds, seed)
    except TableError as error:
        raise stop(str(error)) from None
    _describe(contest)
    found = contest.run(jobs, err)
    comparison = Comparison.of(found, len(contest.table.data.y))
    _show(comparison)
    if len(comparison.lines) < 2:
        raise typer.Exit(1)
    if results is not None:
        write(results, _folds_csv(comparison))
    if page is not None:
        write(page, compare_page(comparison, found, contest))
        out.print(f"page: {page}", markup=False, highlight=False)


def _describe(contest: Contest) -> None:
    data, notes = contest.table.data, contest.table.notes
    labels, size = np.unique(data.y, return_counts=True)
    listed = ", ".join(f"{label}: {n}" for label, n in zip(labels[:8], size, strict=False))
    more = f" and {len(labels) - 8} more" * (len(labels) > 8)
    holes = f", {np.isnan(data.X).mean():.1%} of the values missing" * bool(np.isnan(data.X).any())
    kinds = f"{(~data.categorical).sum()} of numbers, {data.categorical.sum()} of categories"
    lines = [f"{data.name}: {len(data.y)} rows, {len(data.names)} columns ({kinds}{holes})"]
    lines += [f"{len(labels)} classes: {listed}{more}", *notes]
    folds = contest.protocol().n
    if folds < contest.folds:
        lines.append(f"{folds} folds instead of {contest.folds}: the smallest class has no more rows")
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
