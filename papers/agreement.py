"""Measured against printed: every cell of a table, and how far it is off."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

import numpy as np

from papers.reasons import Case, Why, explain
from papers.store import Task

BASES = ("tested", "inferred", "not explained")
Printed = dict[tuple[str, str], tuple[float | None, float | None]]  # value and spread; None is a dash


class Cell(NamedTuple):
    """A printed number beside ours. `state` is equal (to the printed digits), near, off, or missing."""

    dataset: str
    column: str
    printed: float | None
    measured: float | None
    state: str
    why: Why = Why()
    spread: float | None = None  # the standard deviation of ours over the splits
    printed_spread: float | None = None

    @property
    def difference(self) -> float | None:
        """Ours less theirs."""
        return None if self.printed is None or self.measured is None else self.measured - self.printed


@cache
def printed(table: str) -> Printed:
    """The numbers of a table as the paper prints them, by data set and column."""
    text = (resources.files("papers") / "printed.csv").read_text(encoding="utf-8")
    rows = [row for row in csv.DictReader(text.splitlines()) if row["table"] == table]
    return {(row["dataset"], row["column"]): (_number(row["value"]), _number(row["spread"])) for row in rows}


def _number(text: str) -> float | None:
    return float(text) if text else None


def cells(table: Any, results: Mapping[Task, dict[str, Any]]) -> list[Cell]:
    """Every cell of a table that is printed or measured, in the order of the print."""
    ours, theirs = table.measured(results), printed(table.name)
    spreads = table.spreads(results) if hasattr(table, "spreads") else {}
    columns = {column.name: column for column in table.columns}
    keys = [key for key in theirs if key[1] in columns] + [key for key in ours if key not in theirs]
    found = []
    for name, column in keys:
        mine, (value, spread) = ours.get((name, column)), theirs.get((name, column), (None, None))
        digits, near = columns[column].digits, columns[column].near
        state, why = _state(mine, value, digits, near), Why()
        if state == "off" and mine is not None and value is not None:
            case = Case(table, name, column, value, mine, digits, near, ours, theirs, results)
            why = explain(case, table.reasons)
        found.append(Cell(name, column, value, mine, state, why, spreads.get((name, column)), spread))
    return found


def means(found: Sequence[Cell]) -> dict[str, tuple[int, float, float]]:
    """By column, the rows with both numbers, and the means of ours and of the print over them.

    >>> means([Cell("iris", "error", 0.1, 0.3, "off"), Cell("wine", "error", 0.3, 0.1, "off")])
    {'error': (2, 0.2, 0.2)}
    """
    columns: dict[str, list[tuple[float, float]]] = {}
    for cell in found:
        if cell.measured is not None and cell.printed is not None:
            columns.setdefault(cell.column, []).append((cell.measured, cell.printed))
    averages = {name: np.mean(pairs, axis=0).round(12).tolist() for name, pairs in columns.items() if len(pairs) > 1}
    return {name: (len(columns[name]), mine, theirs) for name, (mine, theirs) in averages.items()}


def _state(mine: float | None, value: float | None, digits: int, near: float) -> str:
    if mine is None or value is None:
        return "missing" if mine is None else "unprinted"
    if abs(mine - value) <= 0.5 * 10.0**-digits + 1e-9:
        return "equal"
    return "near" if abs(mine - value) <= near + 1e-9 else "off"


def counts(found: Sequence[Cell]) -> dict[str, int]:
    """Return the number of cells that are both printed and measured, in all and by state.

    >>> counts([Cell("iris", "error", 0.1, 0.1, "equal"), Cell("iris", "reach", 1, 9, "off")])
    {'compared': 2, 'equal': 1, 'near': 0, 'off': 1}
    """
    by = {state: sum(cell.state == state for cell in found) for state in ("equal", "near", "off")}
    return {"compared": sum(by.values()), **by}


def by_reason(found: Sequence[Cell]) -> dict[tuple[str, str], list[Cell]]:
    """Cells that are off, by the basis and the text of their reason: tested ones first, unexplained ones last."""
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in found:
        if cell.state == "off":
            groups.setdefault((cell.why.basis, cell.why.text), []).append(cell)
    return dict(sorted(groups.items(), key=lambda item: BASES.index(item[0][0])))


def heading(basis: str, text: str) -> str:
    """A reason with its basis, as a heading of its cells.

    >>> heading("tested", "it rained"), heading("not explained", "")
    ('Tested: it rained', 'Not explained')
    """
    told = f"{basis}: {text}" if text else basis
    return told[:1].upper() + told[1:]
