"""The command `python -m papers`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table as Grid

from papers import agreement, reproduction
from papers.bench_page import bench_page
from papers.datasets import Library, MissingDataError
from papers.runner import PaperTable, age, run
from papers.store import Store
from papers.tables import TABLES
from suffice.report.console import check_writable, err, out, stop
from suffice.report.page import write

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Rerun the tables of the papers.")


@app.command("list")
def list_tables() -> None:
    """Show the tables that can be rerun."""
    grid = Grid("table", "what it is", "results", box=None)
    for table in TABLES.values():
        size = len(table.tasks())
        grid.add_row(table.name, table.title, str(size) if size else "from other tables")
    out.print(grid)


@app.command("run")
def run_tables(
    tables: Annotated[list[str], typer.Argument(help="Names of tables, or `all`; see `python -m papers list`.")],
    quick: Annotated[bool, typer.Option("--quick", help="Two splits of a few small data sets.")] = False,
    data: Annotated[Path | None, typer.Option("--data", help="A folder of Parquet files.")] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Processes.")] = 1,
    folder: Annotated[Path, typer.Option("--out", help="Where results are kept.")] = Path("bench-results"),
    sets: Annotated[list[str] | None, typer.Option("--set", help="Only this row of the tables, and its cells.")] = None,
    full: Annotated[bool, typer.Option("--full", help="As many splits as the papers have: some hours.")] = False,
    offline: Annotated[bool, typer.Option("--offline", help="Do not ask OpenML.")] = False,
) -> None:
    """Measure tables, going on where an earlier run stopped, and show them beside the print."""
    wanted = _wanted(tables)
    library = _library(data, online=not offline)
    folder.mkdir(parents=True, exist_ok=True)
    check_writable(folder / "results.jsonl")
    _refuse_strange(sets or [], wanted)
    store, missing = run(wanted, folder, library, quick, jobs, err, full, sets or [])
    if sets:
        _cells(wanted, store, sets)
    else:
        _summary(wanted, store)
    for sentence in missing:
        err.print(f"missing: {sentence}", markup=False, highlight=False)
    if missing:
        err.print(f"{len(missing)} data sets are missing; everything else was measured.", highlight=False)
    command = f"python -m papers report {folder}" + (f" --data {data}" if data else "")
    out.print(f"results: {store.results}    next: {command}", markup=False, highlight=False, soft_wrap=True)


def _library(folder: Path | None, online: bool) -> Library:
    try:
        return Library.at(folder, online)
    except MissingDataError as error:
        raise stop(str(error)) from None


def _wanted(names: list[str]) -> list[PaperTable]:
    """The tables of these names with those that they follow from."""
    if "all" in names:
        return list(TABLES.values())
    strange = [name for name in names if name not in TABLES]
    if strange:
        raise stop(f"there is no table {', '.join(strange)}; see `python -m papers list`")
    sources = [source for name in names for source in getattr(TABLES[name], "sources", ())]
    return [TABLES[name] for name in dict.fromkeys([*sources, *names])]


def _refuse_strange(sets: list[str], tables: list[PaperTable]) -> None:
    """Stop at names that no table has, and say which there are."""
    known = dict.fromkeys(task.dataset for table in tables for task in table.tasks())
    strange = [name for name in sets if name not in known]
    if strange:
        raise stop(f"there is no row {', '.join(strange)} in these tables; they have {', '.join(known)}")


def _cells(tables: list[PaperTable], store: Store, sets: list[str]) -> None:
    """The cells of some rows, ours beside the print."""
    grid = Grid("table", "row", "column", "ours", "print", "", "why", box=None)
    results = store.measured()
    for table in tables:
        for cell in agreement.cells(table, results):
            if cell.dataset in sets and cell.measured is not None:
                theirs = "" if cell.printed is None else f"{cell.printed:g}"
                grid.add_row(
                    table.name, cell.dataset, cell.column, f"{cell.measured:.4g}", theirs, cell.state, str(cell.why)
                )
    out.print(grid)


def _summary(tables: list[PaperTable], store: Store) -> None:
    grid = Grid("table", "compared", "equal", "near", "off", box=None)
    results = store.measured()
    for table in tables:
        count = agreement.counts(agreement.cells(table, results))
        grid.add_row(table.name, *(str(value) for value in count.values()))
    out.print(grid)


@app.command("report")
def report(
    folder: Annotated[Path, typer.Argument(help="Where results are kept.")],
    page: Annotated[Path | None, typer.Option("--page", help="The page to write; report.html in the folder.")] = None,
    docs: Annotated[Path | None, typer.Option("--docs", help="Also write a summary in Markdown here.")] = None,
    data: Annotated[Path | None, typer.Option("--data", help="A folder of Parquet files, to check results by.")] = None,
) -> None:
    """Write one page, self-contained, and a CSV of all cells, from results on disk."""
    check_writable(page, docs)
    library = _library(data, online=False)
    if not (folder / "results.jsonl").exists() or not Store(folder).read():
        raise stop(f"there are no results in {folder}: run `python -m papers run` first")
    store = Store(folder)
    results, times = store.measured(), store.read_times()
    names = {task.table for task in results}
    tables = [table for table in TABLES.values() if table.name in names or set(getattr(table, "sources", ())) & names]
    absent = [table.name for table in TABLES.values() if table not in tables]
    target, said = page or folder / "report.html", age([*TABLES.values()], store, library)
    said += f" Not measured yet: {', '.join(absent)}." if absent else ""
    write(target, bench_page(tables, results, times, age=said))
    write(folder / "cells.csv", reproduction.as_csv(tables, results))
    if docs is not None:
        write(docs, reproduction.document(tables, results, times, said))
    out.print(said, highlight=False, soft_wrap=True)
    out.print(f"page: {target}    cells: {folder / 'cells.csv'}", markup=False, highlight=False)
