"""The hypothesis tests of nblr: paired t over data sets, and McNemar's on the rows of each."""

from __future__ import annotations

from collections.abc import Mapping

from papers.agreement import printed
from papers.derived import Cells, Derived
from papers.reasons import Case, Checked, Evidence
from papers.store import Task
from papers.table import Column, rows_of
from papers.tables.nblr import TABLE2
from suffice.compare import mcnemar, paired_t
from suffice.model_selection.measures import Result

PAIRS = (
    ("LR-GRAD", "NB"),
    ("LR-GRAD(OVO)", "LR-GRAD"),
    ("LR-GNB(OVO)", "LR-GNB"),
    ("NB-GNB", "LR-GNB"),
)


def t_values(accuracy: Mapping[tuple[str, str], float]) -> dict[str, float]:
    """Student's t of each pair of methods over the data sets that both have an accuracy for."""
    found = {}
    for first, second in PAIRS:
        names = [name for name in TABLE2.datasets if (name, first) in accuracy and (name, second) in accuracy]
        if len(names) > 1:
            a, b = ([accuracy[name, method] for name in names] for method in (first, second))
            found[f"{first} over {second}"] = float(paired_t(a, b).statistic)
    return found


def both_t_values(results: Mapping[Task, Result]) -> Cells:
    """Those of the printed table, and those of ours."""
    theirs = {key: value for key, (value, _) in printed(TABLE2.name).items() if value is not None}
    cells: Cells = {(pair, "t of print"): t for pair, t in t_values(theirs).items()}
    return cells | {(pair, "t"): t for pair, t in t_values(TABLE2.measured(results)).items()}


def chi_squares(results: Mapping[Task, Result]) -> Cells:
    """McNemar's statistic of NB-GNB and LR-GNB, from the rows of all folds that only one of them gets wrong."""
    cells: Cells = {}
    for name in TABLE2.datasets:
        rows = rows_of(TABLE2.name, name, TABLE2.methods, results)
        first, second = ({row["split"]: set(row["wrong"]) for row in rows[method]} for method in ("NB-GNB", "LR-GNB"))
        folds = first.keys() & second.keys()
        counts = sum(len(first[f] - second[f]) for f in folds), sum(len(second[f] - first[f]) for f in folds)
        if folds:
            cells[name, "chi2"] = float(mcnemar(counts=counts, exact=False).statistic) if any(counts) else 0.0
    return cells


def rows_apart(case: Case) -> Evidence | None:
    """By how many rows the printed accuracies differ, which is the least that McNemar's counts can differ by."""
    first, second = (printed(TABLE2.name).get((case.dataset, m), (None, None))[0] for m in ("NB-GNB", "LR-GNB"))
    folds = [row for row in case.rows("NB-GNB", TABLE2.name) if row["error"]]
    if first is None or second is None or not folds:
        return None
    tested = TABLE2.protocol.repeats * sum(len(row["wrong"]) / row["error"] for row in folds) / len(folds)
    apart = abs(first - second) / 100 * tested
    return Evidence(apart >= 2 and case.printed == 0, f"{apart:.0f} rows")


FOLLOWS = "follows from accuracies that differ from the printed ones: see nblr-table2"
TABLES = (
    Derived(
        "nblr-t",
        "nblr, 4.1: Student's t over the data sets, of the printed table and of ours",
        [TABLE2.name],
        both_t_values,
        [Column("t of print", lambda _: None, 4, 0.01), Column("t", lambda _: None, 4, 0.1)],
        {("*", "t"): FOLLOWS},
        "The paper gives no t for NB-GNB over LR-GNB, which by the same test differ in its table.",
    ),
    Derived(
        "nblr-mcnemar",
        "nblr, 4.1: McNemar's statistic of NB-GNB and LR-GNB",
        [TABLE2.name],
        chi_squares,
        [Column("chi2", lambda _: None, 2, 1.0)],
        {
            ("Spam e-mails", "chi2"): "the two are one classifier if there are two classes; in the print products of "
            "densities were zero for want of logarithms",
            ("Page Blocks", "chi2"): Checked("the printed accuracies are too far apart for it to be 0", rows_apart),
            ("*", "chi2"): FOLLOWS,
        },
    ),
)
