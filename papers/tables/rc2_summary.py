"""What follows from the measured tables of rc2: counts, ranks, and its test errors beside honest ones."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.stats import rankdata

from papers import Array
from papers.agreement import printed
from papers.derived import Cells, Derived
from papers.store import Task
from papers.table import Column, Table, rows_of
from papers.tables.rc2 import MEASURED, SEEN_TABLE
from suffice.model_selection.measures import Result

PARTS = {"training": "train_error", "test": "error"}
FEWER = "fewer data sets are available than the print has, and test rows are not learned from here"


def errors_of(table: Table, metric: str, results: Mapping[Task, Result]) -> dict[str, Array]:
    """By data set, the errors of every method on every split (splits, methods), where all of them ran."""
    found, methods = {}, dict.fromkeys(method for method in table.methods if not method.endswith("_printed"))
    for name in table.datasets:
        rows = rows_of(table.name, name, methods, results)
        by = [{row["split"]: row[metric] for row in rows[method]} for method in methods]
        common = sorted(set.intersection(*map(set, by)))
        if common:
            found[name] = np.array([[one[split] for one in by] for split in common])
    return found


def versus(errors: dict[str, Array], ours: int, theirs: int) -> tuple[int, int, int]:
    """On how many data sets a method is better than, equal to and worse than another one on average."""
    gaps = np.array([one[:, ours].mean() - one[:, theirs].mean() for one in errors.values()])
    better, worse = int((gaps < -1e-12).sum()), int((gaps > 1e-12).sum())
    return better, len(gaps) - better - worse, worse


def count(name: str) -> Column:
    """A column of counts, filled by the table."""
    return Column(name, lambda _: None, 0, 1)


def rank(name: str) -> Column:
    """A column of mean ranks, filled by the table."""
    return Column(name, lambda _: None, 2, 0.1)


CLOSED = ("rc_vs_closed_better", "equal", "worse")
OTHER = ("rc_vs_gd_better", "gd_equal", "gd_worse")
RANKS = ("rank_closed", "rank_rc", "rank_gd")


def summary(number: int, source: int) -> Derived:
    """Counts of data sets on which calibration is better, equal and worse, and the mean ranks of all splits."""
    table = MEASURED[source]
    methods = list(table.methods)

    def compute(results: Mapping[Task, Result]) -> Cells:
        cells: Cells = {}
        for row, metric in PARTS.items():
            errors = errors_of(table, metric, results)
            if not errors:
                continue
            for names, other in ((CLOSED, 0), (OTHER, 2)):
                cells |= {(row, name): n for name, n in zip(names, versus(errors, 1, other), strict=True)}
            ranks = rankdata(np.concatenate(list(errors.values())).round(12), axis=1).mean(axis=0)
            cells |= {(f"rank, {row}", name): float(r) for name, r in zip(RANKS, ranks, strict=True)}
        return cells

    columns = [*map(count, (*CLOSED, *OTHER)), *map(rank, RANKS)]
    title = f"rc2, Table {number}: data sets on which RC is better than {methods[0].upper()} and GD, and mean ranks"
    return Derived(f"rc2-table{number}", title, [table.name], compute, columns, {("*", "*"): FEWER})


AGAINST_DFE = ("rc_vs_dfe_better", "equal", "worse")


def against_dfe(results: Mapping[Task, Result]) -> Cells:
    """Table 12."""
    cells: Cells = {}
    for row, metric in PARTS.items():
        errors = errors_of(MEASURED[11], metric, results)
        if errors:
            cells |= {(row, name): n for name, n in zip(AGAINST_DFE, versus(errors, 0, 1), strict=True)}
    return cells


KINDS = {"nb_ml": (3, "ml"), "nb_rc": (3, "rc"), "qda_ml": (5, "ml"), "qda_rc": (5, "rc")}


def honesty(results: Mapping[Task, Result]) -> Cells:
    """Test errors in percent as printed, on rows not learned from, and on rows learned from; and their means."""
    seen, cells = SEEN_TABLE.measured(results), Cells()
    for kind, (number, method) in KINDS.items():
        table = MEASURED[number]
        honest, theirs = table.measured(results), printed(table.name)
        rows = []
        for name in table.datasets:
            key = name, f"{method}_test_pct"
            value = theirs[key][0]
            if value is not None and key in honest and (name, kind) in seen:
                rows.append((value, honest[key], seen[name, kind]))
                cells |= dict(zip(_keys(name, kind), rows[-1], strict=True))
        if rows:
            cells |= dict(zip(_keys("mean", kind), map(float, np.mean(rows, axis=0)), strict=True))
    return cells


def _keys(name: str, kind: str) -> list[tuple[str, str]]:
    return [(name, f"{kind}_{what}") for what in ("printed", "honest", "seen")]


TABLES = (
    summary(4, 3),
    summary(6, 5),
    summary(8, 7),
    summary(10, 9),
    Derived(
        "rc2-table12",
        "rc2, Table 12: data sets on which RC is better than the discriminative frequency estimate",
        ["rc2-table11"],
        against_dfe,
        [*map(count, AGAINST_DFE)],
        {("*", "*"): FEWER},
    ),
    Derived(
        "rc2-honesty",
        "rc2: test errors as printed, on rows that were not learned from, and on rows that were, in percent",
        ["rc2-table3", "rc2-table5", "rc2-seen"],
        honesty,
        [Column(f"{kind}_{what}", lambda _: None, 1, 1.0) for kind in KINDS for what in ("printed", "honest", "seen")],
        notes="Naive Bayes by ML is printed as honest splits give it. QDA is printed as rows that were learned from "
        "give it, closed form and calibrated, and so is calibrated naive Bayes on sonar, climate model and splice.",
    ),
)
