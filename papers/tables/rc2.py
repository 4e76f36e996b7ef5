"""The tables of rc2 (Perez, Echegoyen, Santafe: Risk-based calibration for generative classifiers).

Five stratified splits into 75 % to learn from and 25 % to ask about; what is learned of the features (bins, scales) is
learned from the training part. Calibration and descent at rate 0.1 end when the soft error rises, with the model before
(Algorithm 1 returns the one after), or with 64 iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from papers import Array
from papers.agreement import printed
from papers.derived import Computed, outcome
from papers.protocols import Shuffled
from papers.reasons import (
    Case,
    Checked,
    Evidence,
    by_rule,
    chance_of_ends,
    chance_of_splits,
    cut,
    longer,
    of_other,
    start_differs,
)
from papers.table import Build, Column, Rows, Table, deviation, first_of, mean, reach
from papers.tables.rc import (
    FROZEN,
    MAP_MOMENTS,
    MAP_TABLES,
    MISSING,
    PRIOR,
    SETS,
    TRACE,
    complete,
    nb,
    printed_nb,
    printed_qda,
    qda,
)
from suffice.learners import ClosedForm, DiscriminativeFrequency, GradientDescent, RiskCalibration
from suffice.model_selection.measures import Result, Split

NAMES = (
    "iris",
    "sonar",
    "climate model",
    "indian liver",
    "vehicle",
    "german numer",
    "splice",
    "qsar",
    "svmguid3",
    "redwine",
    "optdigits",
    "satellite",
    "pulsar",
    "magic",
    "adult",
)
DATASETS = {name: SETS[name.replace("svmguid3", "svmguide3")] for name in NAMES}
QUICK = ("iris", "sonar")
SPLITS = Shuffled(5, test=0.25)
RC = RiskCalibration(rate=0.1, max_iter=64, stop="soft-error", anchor=0.0)
GD = GradientDescent(rate=0.1, max_iter=64, stop="soft-error")
DFE = DiscriminativeFrequency(rate=0.1, max_iter=64, stop="soft-error")


def errors(method: str) -> tuple[Column, Column]:
    """Training and test error in percent."""
    parts = (("train", "train_error"), ("test", "error"))
    train, test = (
        Column(f"{method}_{part}_pct", mean(method, name, 100.0), 0, 1.0, deviation(method, name, 100.0))
        for part, name in parts
    )
    return train, test


def when(method: str) -> Column:
    """The iteration of the least soft error, on average."""

    def value(rows: Rows) -> float | None:
        found = [first_of(row["curves"]["soft_error"]) for row in rows.get(method, ()) if "curves" in row]
        return float(np.mean(found)) if found else None

    return Column(f"{method}_iter", value, 1, 2)


def columns(*methods: str) -> tuple[Column, ...]:
    """The columns of a table of rc2: the closed form has no iterations."""
    found: list[Column] = []
    for method in methods:
        found += [*errors(method), *([when(method)] if method not in ("ml", "map") else [])]
    other = next(method for method in methods if method in ("gd", "dfe"))
    return (*found, Column("reach", reach("rc", other, "soft_error"), 1, 2))


def table(number: int, title: str, methods: Mapping[str, Build], reasons: Mapping[tuple[str, str], Any]) -> Table:
    """A table of rc2."""
    name, title = f"rc2-table{number}", f"rc2, Table {number}: {title}"
    return Table(
        name, title, DATASETS, methods, SPLITS, columns(*methods), complete, QUICK, reasons, f"{MISSING} {HONEST}"
    )


def toy(row: str) -> Callable[[int], Result]:
    """p(y | x) of the true class, or the soft error, after t calibrations of two unit Gaussians (section 4.1)."""

    def value(_: int) -> Result:
        x, Y = np.array([0.0, 1.0, 4.0]), np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
        T = np.column_stack([np.ones(3), x])  # the print's exponent lacks 1/2
        s, found = Y.T @ T, {}
        for t in range(65):
            joint = np.exp(-0.5 * (x[:, None] - s[:, 1] / s[:, 0]) ** 2)
            P = joint / joint.sum(axis=1, keepdims=True)
            right = (P * Y).sum(axis=1)
            found[f"h{t}"] = float(1 - right.mean() if row == "soft" else right[TOY.index(row)])
            s = s + 0.5 * (Y - P).T @ T
        return found

    return value


@dataclass(frozen=True)
class Seen:
    """The rows that other splits ask about, while all rows are learned from: what a test error must not be."""

    splits: Shuffled

    @property
    def repeats(self) -> int:
        """As many as there are splits."""
        return self.splits.repeats

    def split(self, y: Array, number: int) -> Split:
        """All rows, and those asked about."""
        return Split(np.arange(len(y)), self.splits.split(y, number).test)


TOY = ["0,1", "1,2", "4,2", "soft"]
HONEST = "Test rows are never learned from; in the print they were (see rc2-honesty). The print cuts its percentages."

# Reasons

SEEN = "the rows that the print asks about were learned from"
BETWEEN = "the print is between what honest splits and rows that were learned from give"
WHOLE = "the print learned from all rows: its training errors are those that rc1 prints for whole data sets"
RISE = "learning ends at the first rise of the soft error, however small: splits and bins move it far"
SPLIT = "other random splits, and bins that were fitted to the training rows only"
PAST = "the print's descent goes on where its soft error rises; this one ends there"
ROUNDING = "the soft error is nearly 0 from the start: its least is where rounding puts it"
CUT = Checked("the print cuts percentages where this rounds them", cut)
Reasons = dict[tuple[str, str], Sequence[Checked] | str]
RC1 = {3: "rc1-table2", 5: "rc1-table4", 7: "rc1-table3", 9: "rc1-table5"}  # the same on whole data sets


def on_seen_rows(case: Case) -> float | None:
    """The error in percent on the rows asked about if they are learned from too."""
    method = case.column.removesuffix("_test_pct")
    number = int(case.table.name.removeprefix("rc2-table"))
    number = 3 if (number, method) == (11, "rc") else number  # the same learner as in Table 3
    name = next(name for name, at in ASKED_ABOUT.items() if at == (number, method))
    errors = [row["error"] for row in case.rows(name, "rc2-seen")]
    return 100 * float(np.mean(errors)) if errors else None


def between(case: Case) -> Evidence | None:
    """Whether the print is between the errors on rows that were not learned from, and on rows that were."""
    seen = on_seen_rows(case)
    if seen is None:
        return None
    return Evidence(seen <= case.printed <= case.measured, f"{case.measured:.0f} and {seen:.0f}")


def on_whole_set(case: Case) -> float | None:
    """The training error in percent that rc1 prints for the whole data set."""
    source = RC1[int(case.table.name.removeprefix("rc2-table"))]
    name = case.dataset.replace("svmguid3", "svmguide3")
    value = printed(source).get((name, case.column.replace("_train_pct", "_error")), (None, None))[0]
    return None if value is None else 100 * value


def no_error_left(case: Case) -> Evidence | None:
    """Whether the least soft error is that of rounding."""
    least = [min(row["curves"]["soft_error"]) for row in case.rows("rc") if "curves" in row]
    return Evidence(max(least) < 1e-9, f"at most {max(least):.1e}") if least else None


def why(number: int, first: str, others: Sequence[str]) -> Reasons:
    """The reasons that are tried for each column of a table of errors: `first` learns in closed form, if any does."""
    rules = {"gd": (TRACE, "the printed gradient")} if number in (5, 9) else {"rc": (FROZEN, "that rule")}
    prior = [Checked(PRIOR, start_differs(f"{first}_train_pct", 0.5))] if number == 9 else []
    whole = [Checked(WHOLE, of_other(on_whole_set, "in rc1"))] if number in RC1 else []
    found: Reasons = {("*", "reach"): RISE}
    for method in dict.fromkeys((first, *others)):

        def by_print(column: str, method: str = method) -> list[Checked]:
            if method not in rules:
                return []
            text, rule = rules[method]
            return [Checked(text, by_rule(f"{method}_printed_{column}", rule))]

        past = [Checked(PAST, longer(f"{method}_iter"))] if method in others else []
        found["*", f"{method}_train_pct"] = [
            *by_print("train_pct"),
            CUT,
            *whole,
            Checked(SPLIT, chance_of_splits(method, "train_error", 100.0)),
            *past,
            *prior,
        ]
        found["*", f"{method}_test_pct"] = [
            *by_print("test_pct"),
            CUT,
            Checked(SEEN, of_other(on_seen_rows, "if they are learned from")),
            Checked(SPLIT, chance_of_splits(method, "error", 100.0)),
            Checked(BETWEEN, between),
            *past,
            *prior,
        ]
        if method in others:
            rounding = [Checked(ROUNDING, no_error_left)] if method == "rc" else []
            ends = Checked(RISE, chance_of_ends(method))
            found["*", f"{method}_iter"] = [*by_print("iter"), *rounding, ends, *past, *prior]
    return found


NB_ML = {"ml": nb(ClosedForm()), "rc": nb(RC), "gd": nb(GD), "rc_printed": printed_nb(RC)}
NB_MAP = {
    "map": nb(ClosedForm(), **MAP_TABLES),
    "rc": nb(RC, **MAP_TABLES),
    "gd": nb(GD, **MAP_TABLES),
    "rc_printed": printed_nb(RC, **MAP_TABLES),
}
QDA_ML = {"ml": qda(ClosedForm()), "rc": qda(RC), "gd": qda(GD), "gd_printed": printed_qda(GD)}
QDA_BY_MAP = {
    "map": qda(ClosedForm(), **MAP_MOMENTS),
    "rc": qda(RC, **MAP_MOMENTS),
    "gd": qda(GD, **MAP_MOMENTS),
    "gd_printed": printed_qda(GD, **MAP_MOMENTS),
}

TABLE1 = Computed(
    "rc2-table1",
    "rc2, Table 1: calibration of two Gaussians on three rows",
    {row: toy(row) for row in TOY},
    [outcome(f"h{t}", 2) for t in (0, 1, 2, 4, 8, 16, 32, 64)],
)
MEASURED = {
    3: table(3, "errors of naive Bayes, ML", NB_ML, why(3, "ml", ("rc", "gd"))),
    5: table(5, "errors of QDA, ML", QDA_ML, why(5, "ml", ("rc", "gd"))),
    7: table(7, "errors of naive Bayes, MAP", NB_MAP, why(7, "map", ("rc", "gd"))),
    9: table(9, "errors of QDA, MAP", QDA_BY_MAP, why(9, "map", ("rc", "gd"))),
    11: table(
        11,
        "errors of naive Bayes, RC and DFE",
        {"rc": nb(RC), "dfe": nb(DFE), "rc_printed": printed_nb(RC)},
        why(11, "rc", ("rc", "dfe")),
    ),
}
ASKED_ABOUT = {  # by the name of a learner on rows that were learned from: its table, and its name there
    **{f"nb_{method}": (3, method) for method in ("ml", "rc", "gd")},
    **{f"qda_{method}": (5, method) for method in ("ml", "rc", "gd")},
    **{f"nb_map_{method}": (7, method) for method in ("map", "rc", "gd")},
    **{f"qda_map_{method}": (9, method) for method in ("map", "rc", "gd")},
    "nb_dfe": (11, "dfe"),
}
SEEN_TABLE = Table(
    "rc2-seen",
    "rc2: error on rows that were learned from, beside others, in percent",
    DATASETS,
    {name: MEASURED[number].methods[method] for name, (number, method) in ASKED_ABOUT.items()},
    Seen(SPLITS),
    [Column(name, mean(name, "error", 100.0), 0, 1.0) for name in ASKED_ABOUT],
    complete,
    QUICK,
    notes="The rows that Tables 3 to 11 ask about, learned from like the rest: for comparison, not as an estimate.",
)
TABLES: tuple[Table | Computed, ...] = (TABLE1, *MEASURED.values(), SEEN_TABLE)
