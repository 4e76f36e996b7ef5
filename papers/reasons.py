"""Reasons: why a cell is off. One is tested on the data set of the cell, or else it is called inferred."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from papers.store import Task
from papers.table import rows_of
from suffice.model_selection.measures import Result

CHANCE = 2.0  # standard errors by which two means of the same thing may differ
SAME_ERROR = 0.0015  # by which errors along a descent count as the same


@dataclass(frozen=True)
class Case:
    """A cell that is off, with all results: what a test of a reason looks at."""

    table: Any
    dataset: str
    column: str
    printed: float
    measured: float
    digits: int
    near: float
    ours: Mapping[tuple[str, str], float]  # every cell of the table as measured
    theirs: Mapping[tuple[str, str], tuple[float | None, float | None]]  # as printed
    results: Mapping[Task, Result]

    def agrees(self, value: float) -> bool:
        """Whether a value is equal or near to the print, as the column counts it."""
        return abs(value - self.printed) <= max(self.near, 0.5 * 10.0**-self.digits) + 1e-9

    def rows(self, method: str, table: str | None = None) -> Sequence[Result]:
        """The results of a method on this data set, in this table or another one."""
        return rows_of(table or self.table.name, self.dataset, {method: None}, self.results)[method]


class Evidence(NamedTuple):
    """What a test found: whether the reason holds on the data set, and the numbers that decide it."""

    holds: bool
    said: str


Test = Callable[[Case], Evidence | None]  # None: there are no results to decide it


@dataclass(frozen=True)
class Checked:
    """A reason with a test; it is given only for cells on whose data set it holds."""

    text: str
    test: Test


Reason = str | Checked  # text alone: inferred


class Why(NamedTuple):
    """Why a cell is off: by a test on its data set, inferred, or not explained, with what was found."""

    basis: str = ""  # "tested", "inferred" or "not explained"
    text: str = ""
    found: str = ""

    def __str__(self) -> str:
        told = f"{self.basis}: {self.text}" if self.text else self.basis
        return f"{told} ({self.found})" if self.found else told


def explain(case: Case, reasons: Mapping[tuple[str, str], Reason | Sequence[Reason]]) -> Why:
    """The first reason that holds, from the most special pattern to the most general one; "*" is any name.

    A reason that fails its test on the data set is not given, and what the test found is said.
    """
    patterns = [(case.dataset, case.column), (case.dataset, "*"), ("*", case.column), ("*", "*")]
    tried = []
    for pattern in patterns:
        given = reasons.get(pattern, ())
        for reason in [given] if isinstance(given, str | Checked) else given:
            if isinstance(reason, str):
                return Why("inferred", reason)
            evidence = reason.test(case)
            if evidence is not None and evidence.holds:
                return Why("tested", reason.text, evidence.said)
            tried.append(evidence.said if evidence is not None else "")
    return Why("not explained", found="; ".join(dict.fromkeys(filter(None, tried))))


# Tests


def by_rule(column: str, rule: str) -> Test:
    """By a rule of the print, which a column of ours was measured with, the cell is as printed."""

    def test(case: Case) -> Evidence | None:
        value = case.ours.get((case.dataset, column))
        return None if value is None else Evidence(case.agrees(value), f"{value:.4g} by {rule}")

    return test


def chance_of_splits(method: str, metric: str = "error", scale: float = 1.0) -> Test:
    """The print is a mean over other splits, and differs by no more than two such means do by chance."""

    def test(case: Case) -> Evidence | None:
        values = [scale * row[metric] for row in case.rows(method) if row.get(metric) is not None]
        if len(values) < 3:
            return None
        error = float(np.std(values, ddof=1)) * np.sqrt(2 / len(values))
        gap = abs(case.measured - case.printed)
        return Evidence(gap <= CHANCE * error, f"{gap:.2g} apart, standard error of the difference {error:.2g}")

    return test


def chance_of_ends(method: str, loss: str = "soft_error") -> Test:
    """The print is the mean iteration of the least loss over other splits, among which it varies."""

    def test(case: Case) -> Evidence | None:
        ends = [int(np.argmin(row["curves"][loss])) + 1 for row in case.rows(method) if "curves" in row]
        if len(ends) < 3:
            return None
        return Evidence(min(ends) <= case.printed <= max(ends), f"from {min(ends)} to {max(ends)} by split")

    return test


def among_starts(value: Callable[[Result], float | None], method: str) -> Test:
    """The print is one random start, and is among those tried here."""

    def test(case: Case) -> Evidence | None:
        found = [number for number in map(value, case.rows(method)) if number is not None]
        if not found:
            return None
        slack = 0.5 * 10.0**-case.digits
        inside = min(found) - slack <= case.printed <= max(found) + slack
        return Evidence(inside, f"from {min(found):.4g} to {max(found):.4g} by start")

    return test


def plateau(method: str, loss: str = "error") -> Test:
    """At the iteration of the print the error is that of the least one, within a row or so."""

    def test(case: Case) -> Evidence | None:
        curve = next((row["curves"][loss] for row in case.rows(method) if "curves" in row), None)
        if curve is None or not 1 <= case.printed <= len(curve):
            return None
        there, least = curve[int(case.printed) - 1], min(curve)
        return Evidence(
            there - least <= SAME_ERROR, f"{there:.4f} at iteration {case.printed:g}, the least {least:.4f}"
        )

    return test


def start_differs(column: str, least: float = 0.5e-3) -> Test:
    """The closed form that both begin with is not that of the print, by more than a rounding error."""

    def test(case: Case) -> Evidence | None:
        ours, theirs = case.ours.get((case.dataset, column)), case.theirs.get((case.dataset, column), (None, None))[0]
        if ours is None or theirs is None:
            return None
        gap = abs(ours - theirs)
        return Evidence(gap > least, f"it begins at {ours:.4g}, the print at {theirs:g}")

    return test


def longer(column: str) -> Test:
    """The descent of the print goes on for more iterations than this one does before its soft error rises."""

    def test(case: Case) -> Evidence | None:
        ours, theirs = case.ours.get((case.dataset, column)), case.theirs.get((case.dataset, column), (None, None))[0]
        if ours is None or theirs is None:
            return None
        return Evidence(theirs > ours + 2, f"{theirs:g} iterations in print, {ours:g} here")

    return test


def cut(case: Case) -> Evidence:
    """The print cuts a percentage that is rounded here."""
    return Evidence(np.floor(case.measured) == case.printed, f"{case.measured:.2f}")


def of_other(value: Callable[[Case], float | None], name: str) -> Test:
    """Another number, measured or printed elsewhere, agrees with the print."""

    def test(case: Case) -> Evidence | None:
        found = value(case)
        return None if found is None else Evidence(case.agrees(found), f"{found:.3g} {name}")

    return test
