"""How far the papers are reproduced: a document and a CSV, written from results."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from papers.agreement import Cell, by_reason, cells, counts, heading, means
from papers.claims import judge, tally
from papers.documents import DOCUMENTS
from papers.runner import PaperTable
from papers.store import Task

Results = Mapping[Task, dict[str, Any]]
FEW = 10  # data sets that a finding on a paper takes at least

HEAD = """# Reproduction

What the papers print beside what is measured here. This page is written by `python -m papers report` from results on
disk; `make bench` measures them all, and `python -m papers run rc1-table3 --set vehicle` checks one row in seconds. No
measured number is typed by hand. A cell is *equal* if it agrees to the printed digits, *near* if it is within 0.01 (or
one point, or two iterations), and *off* otherwise. The reason of a cell that is off is *tested* (the finding on its
data set stands beside it), or *inferred* from the paper or from other sets, or the cell is *not explained*. Cells of
data sets that are not available are not counted.
"""


def as_csv(tables: Sequence[PaperTable], results: Results) -> str:
    """Every cell of every table, one a line."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(
        ["table", "dataset", "column", "printed", "measured", "difference", "state", "basis", "reason", "found"]
    )
    for table in tables:
        for cell in cells(table, results):
            numbers = [cell.printed, cell.measured, cell.difference]
            shown = ["" if value is None else f"{value:.10g}" for value in numbers]
            rows.writerow([table.name, cell.dataset, cell.column, *shown, cell.state, *cell.why])
    return text.getvalue()


def document(tables: Sequence[PaperTable], results: Results, times: Results, age: str = "") -> str:
    """The page docs/reproduction.md; `age` says how many of the results are stale."""
    parts = [HEAD, f"{age}\n" if age else "", _documents(), _verdicts(results)]
    parts += [_overview(tables, results, times), honesty(tables, results)]
    parts += [_section(table, results) for table in tables]
    return "\n".join(part for part in parts if part)


def _documents() -> str:
    return "\n".join([*(f"- **{name}**: {document}" for name, document in DOCUMENTS.items()), ""])


def _verdicts(results: Results) -> str:
    """The claims of the documents, each with its verdict."""
    judged = judge(results)
    lines = ["## Verdicts", "", tally(judged), ""]
    lines += ["| document | claim | in print | here | verdict | shown by |", "|---|---|---|---|---|---|"]
    for claim, verdict, ours in judged:
        each = (f"{claim.document}, {claim.place}", claim.says, claim.printed, ours, f"**{verdict}**", claim.test)
        lines.append(f"| {' | '.join(each)} |")
    return "\n".join([*lines, ""])


def _overview(tables: Sequence[PaperTable], results: Results, times: Results) -> str:
    lines = ["## Tables", "", "| table | results | compared | equal | near | off | minutes |"]
    lines.append("|---|---:|---:|---:|---:|---:|---:|")
    seconds: dict[str, float] = defaultdict(float)
    for task, row in times.items():
        seconds[task.table] += row.get("fit", 0.0) + row.get("predict", 0.0)
    for table in tables:
        count = counts(cells(table, results))
        minutes = f"{seconds[table.name] / 60:.1f}" if table.name in seconds else ""
        link, share = f"[{table.title}](#{anchor(table.name)})", _share(table, results)
        lines.append(f"| {link} | {share} | {' | '.join(map(str, count.values()))} | {minutes} |")
    return "\n".join([*lines, ""])


def _share(table: PaperTable, results: Results) -> str:
    """How many of a table's own results there are: all, or some of how many; nothing if it has none of its own."""
    wanted = table.tasks()
    there = sum(task in results for task in wanted)
    return "" if not wanted else str(there) if there == len(wanted) else f"{there} of {len(wanted)}"


def anchor(name: str) -> str:
    """A table's name as the target of a link."""
    return name.replace(".", "")


def _section(table: PaperTable, results: Results) -> str:
    found = cells(table, results)
    count = counts(found)
    lines = [f'## <a id="{anchor(table.name)}"></a>{table.title}', ""]
    if table.notes:
        lines += [table.notes, ""]
    if " of " in _share(table, results):
        lines += [f"Incomplete: {_share(table, results)} results; the reasons below are those of a complete run.", ""]
    shown = [cell for cell in found if cell.measured is not None]
    if not shown:
        return "\n".join([*lines, "No results.", ""])
    if count["compared"]:
        lines += [
            f"{count['compared']} cells compared: {count['equal']} equal, {count['near']} near, {count['off']} off.",
            "",
        ]
    lines += [*_grid(shown), ""]
    groups = by_reason(found)
    if groups:
        lines += ["Off:", ""]
        lines += [f"- {heading(*why)}: {_named(group)}." for why, group in groups.items()]
        lines.append("")
    return "\n".join(lines)


def _grid(shown: Sequence[Cell]) -> list[str]:
    """Measured (printed) by data set and column; off cells are bold."""
    columns = list(dict.fromkeys(cell.column for cell in shown))
    names = list(dict.fromkeys(cell.dataset for cell in shown))
    by = {(cell.dataset, cell.column): cell for cell in shown}
    lines = [f"| | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for name in names:
        lines.append(f"| {name} | {' | '.join(_cell(by.get((name, column))) for column in columns)} |")
    average = means(shown)
    if average:
        each = (f"{_short(average[c][1])} ({_short(average[c][2])})" if c in average else "" for c in columns)
        lines.append(f"| *mean of the rows with both* | {' | '.join(each)} |")
    return lines


def _cell(cell: Cell | None) -> str:
    if cell is None or cell.measured is None:
        return ""
    theirs = _with_spread(cell.printed, cell.printed_spread)
    text = _with_spread(cell.measured, cell.spread) + (f" ({theirs})" if theirs else "")
    return f"**{text}**" if cell.state == "off" else text


def _with_spread(value: float | None, spread: float | None) -> str:
    if value is None:
        return ""
    return _short(value) + (f" \u00b1 {spread:.2g}" if spread is not None else "")


def _short(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"


def _named(group: Sequence[Cell], most: int = 200) -> str:
    names = [f"{cell.dataset} {cell.column}" + (f" ({cell.why.found})" if cell.why.found else "") for cell in group]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def honesty(tables: Sequence[PaperTable], results: Results) -> str:
    """The finding on the test errors of rc2: printed and honest means over the same data sets."""
    lines = []
    for table in tables:
        found = [cell for cell in cells(table, results) if cell.column.endswith("_test_pct")]
        both = [cell for cell in found if cell.printed is not None and cell.measured is not None]
        for column in dict.fromkeys(cell.column for cell in both):
            printed = np.mean([cell.printed for cell in both if cell.column == column])
            honest = np.mean([cell.measured for cell in both if cell.column == column])
            number = sum(cell.column == column for cell in both)
            if number < FEW:
                continue
            lines.append(f"| {table.name}, {column} | {number} | {printed:.1f} | {honest:.1f} |")
    if not lines:
        return ""
    head = [
        "## The test errors of rc2",
        "",
        "Means over the data sets measured, in percent. Where the print is far below honest splits (QDA, and",
        "calibrated naive Bayes on some sets), it is what one gets when the test rows are among the training rows:",
        "the table on rows that were learned from, below, has all three numbers by data set. Nothing was tuned",
        "towards the print.",
        "",
        "| column | data sets | printed | honest |",
        "|---|---:|---:|---:|",
    ]
    return "\n".join([*head, *lines, ""])
