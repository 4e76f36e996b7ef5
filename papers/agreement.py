"""Measured against printed: every cell of a table, and how far it is off."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from papers.store import Task

Printed = dict[tuple[str, str], tuple[float | None, float | None]]  # value and spread; None is a dash


class Cell(NamedTuple):
    """A printed number beside ours. `state` is equal (to the printed digits), near, off, or missing."""

    dataset: str
    column: str
    printed: float | None
    measured: float | None
    state: str
    reason: str = ""

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
    columns = {column.name: column for column in table.columns}
    keys = [key for key in theirs if key[1] in columns] + [key for key in ours if key not in theirs]
    found = []
    for name, column in keys:
        mine, (value, _) = ours.get((name, column)), theirs.get((name, column), (None, None))
        state = _state(mine, value, columns[column].digits, columns[column].near)
        found.append(Cell(name, column, value, mine, state, _reason(table, name, column) if state == "off" else ""))
    return found


def _state(mine: float | None, value: float | None, digits: int, near: float) -> str:
    if mine is None or value is None:
        return "missing" if mine is None else "unprinted"
    if abs(mine - value) <= 0.5 * 10.0**-digits + 1e-9:
        return "equal"
    return "near" if abs(mine - value) <= near + 1e-9 else "off"


def _reason(table: Any, name: str, column: str) -> str:
    """Why a cell is off: the first reason whose pattern matches; "*" is any data set or column."""
    patterns = [(name, column), (name, "*"), ("*", column), ("*", "*")]
    return next((table.reasons[pattern] for pattern in patterns if pattern in table.reasons), "")


def counts(found: list[Cell]) -> dict[str, int]:
    """Number of cells that are both printed and measured, in all and by state.

    >>> counts([Cell("iris", "error", 0.1, 0.1, "equal"), Cell("iris", "reach", 1, 9, "off")])
    {'compared': 2, 'equal': 1, 'near': 0, 'off': 1}
    """
    by = {state: sum(cell.state == state for cell in found) for state in ("equal", "near", "off")}
    return {"compared": sum(by.values()), **by}
