"""The tables of rc2 (Perez, Echegoyen, Santafe: Risk-based calibration for generative classifiers).

Five stratified splits into 75 % to learn from and 25 % to ask about; what is learned of the features (bins, scales) is
learned from the training part. Calibration and descent at rate 0.1 end when the soft error rises, with the model before
(Algorithm 1 returns the one after), or with 64 iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from papers import Array
from papers.derived import Computed, outcome
from papers.protocols import Shuffled
from papers.table import Build, Column, Rows, Table, first_of, mean, reach
from papers.tables.rc import MAP_MOMENTS, MAP_TABLES, MISSING, PRIOR, SETS, TRACE, complete, nb, qda
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
    train, test = mean(method, "train_error", 100.0), mean(method, "error", 100.0)
    return Column(f"{method}_train_pct", train, 0, 1.0), Column(f"{method}_test_pct", test, 0, 1.0)


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
    return (*found, Column("reach", reach("rc", methods[-1], "soft_error"), 1, 2))


def table(number: int, title: str, methods: Mapping[str, Build], reasons: Mapping[tuple[str, str], str]) -> Table:
    """A table of rc2."""
    name, title = f"rc2-table{number}", f"rc2, Table {number}: {title}"
    asked = columns(*methods)
    known = {"*", *(column.name for column in asked)}
    why = {pattern: reason for pattern, reason in reasons.items() if pattern[1] in known}
    return Table(name, title, DATASETS, methods, SPLITS, asked, complete, QUICK, why, f"{MISSING} {HONEST}")


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

SEEN = "the rows that the print asks about were learned from: see rc2-honesty"
WHOLE = "the print learned from all rows: its training errors are those of rc1 on whole data sets"
RISE = "learning ends at the first rise of the soft error, however small: other splits and bins move it far"
SPLIT = "other random splits, and bins that were fitted to the training rows only"
PAST = "the print's descent goes on where its soft error rises (64 iterations on magic); this one ends there"
STUCK = (
    "the print stays near its closed form: it drops a step whole where a count would go below zero, which with a trace "
    "of smoothing gives its errors on vehicle, qsar and satellite; here only the table concerned stays"
)
UNMOVED = (
    "the print stays at its closed form for a reason that was not found: the soft error falls here, whether steps that "
    "break a table are dropped whole or table by table"
)
ROUNDING = "no row is wrong from the start, and the soft error is below 1e-10: its least is where rounding puts it"
CUT = "the print cuts percentages where this rounds them: 2.9 is 2 there"
Reasons = dict[tuple[str, str], str]
HALF = "between what honest splits and rows that were learned from give (25 and 4 on sonar)"
STILL = "the print stays at its closed form, for a reason that was not found; its prior is not identified either"


def among(names: tuple[str, ...], columns: tuple[str, ...], reason: str) -> Reasons:
    """The same reason for some columns of some data sets."""
    return {(name, column): reason for name in names for column in columns}


RC_COLUMNS, GD_COLUMNS = (("rc_train_pct", "rc_test_pct", "rc_iter"), ("gd_train_pct", "gd_test_pct", "gd_iter"))
NB_RC: Reasons = {
    **among(("vehicle", "qsar", "optdigits", "satellite"), RC_COLUMNS, STUCK),
    **among(("indian liver", "redwine"), RC_COLUMNS, UNMOVED),
    ("iris", "rc_test_pct"): SPLIT,
    ("pulsar", "rc_test_pct"): CUT,
    ("*", "rc_train_pct"): RISE,
    ("*", "rc_test_pct"): SEEN,
    ("*", "rc_iter"): RISE,
    ("*", "reach"): RISE,
}
NB: Reasons = {
    **NB_RC,
    **among(("*",), ("ml_train_pct", "ml_test_pct", "map_train_pct", "map_test_pct"), SPLIT),
    **among(("climate model", "indian liver", "vehicle", "qsar"), ("gd_test_pct",), SPLIT),
    **among(("german numer", "magic"), GD_COLUMNS, PAST),
    **among(("vehicle",), ("gd_train_pct", "gd_iter"), PAST),
    **among(("svmguid3",), GD_COLUMNS, RISE),
    ("qsar", "gd_train_pct"): SPLIT,
    ("magic", "reach"): PAST,
    ("sonar", "gd_test_pct"): HALF,
    ("*", "gd_train_pct"): RISE,
    ("*", "gd_test_pct"): SEEN,
    ("*", "gd_iter"): RISE,
}
DFE_REASONS: Reasons = {
    **NB_RC,
    **among(("indian liver", "vehicle"), ("dfe_test_pct",), SPLIT),
    ("*", "dfe_train_pct"): SPLIT,
    ("*", "dfe_test_pct"): SEEN,
    ("*", "dfe_iter"): RISE,
}
SEEN_BY_QDA: Reasons = among(("*",), ("ml_test_pct", "map_test_pct", "rc_test_pct", "gd_test_pct"), SEEN)
QDA: Reasons = {
    **SEEN_BY_QDA,
    **among(("indian liver", "magic", "adult"), ("gd_test_pct",), TRACE),
    **among(("*",), ("gd_train_pct", "gd_iter", "reach"), TRACE),
    **among(("*",), ("ml_train_pct", "rc_train_pct"), WHOLE),
    ("sonar", "rc_iter"): ROUNDING,
}
TRACE_AND_PRIOR = f"{TRACE}; {PRIOR}"
QDA_MAP: Reasons = {
    **SEEN_BY_QDA,
    **among(("iris", "vehicle", "qsar", "svmguid3", "satellite"), RC_COLUMNS, STILL),
    **among(("sonar", "climate model"), ("rc_iter",), STILL),
    **among(("indian liver", "magic", "adult"), ("gd_test_pct",), TRACE_AND_PRIOR),
    **among(("*",), ("gd_train_pct", "gd_iter", "reach"), TRACE_AND_PRIOR),
    ("german numer", "rc_train_pct"): WHOLE,
    ("*", "*"): PRIOR,
}

NB_ML = {"ml": nb(ClosedForm()), "rc": nb(RC), "gd": nb(GD)}
NB_MAP = {"map": nb(ClosedForm(), **MAP_TABLES), "rc": nb(RC, **MAP_TABLES), "gd": nb(GD, **MAP_TABLES)}
QDA_ML = {"ml": qda(ClosedForm()), "rc": qda(RC), "gd": qda(GD)}
QDA_BY_MAP = {"map": qda(ClosedForm(), **MAP_MOMENTS), "rc": qda(RC, **MAP_MOMENTS), "gd": qda(GD, **MAP_MOMENTS)}

TABLE1 = Computed(
    "rc2-table1",
    "rc2, Table 1: calibration of two Gaussians on three rows",
    {row: toy(row) for row in TOY},
    [outcome(f"h{t}", 2) for t in (0, 1, 2, 4, 8, 16, 32, 64)],
)
MEASURED = {
    3: table(3, "errors of naive Bayes, ML", NB_ML, NB),
    5: table(5, "errors of QDA, ML", QDA_ML, QDA),
    7: table(7, "errors of naive Bayes, MAP", NB_MAP, NB),
    9: table(9, "errors of QDA, MAP", QDA_BY_MAP, QDA_MAP),
    11: table(11, "errors of naive Bayes, RC and DFE", {"rc": nb(RC), "dfe": nb(DFE)}, DFE_REASONS),
}
SEEN_TABLE = Table(
    "rc2-seen",
    "error on rows that were learned from, beside others, in percent",
    DATASETS,
    {"nb_ml": nb(ClosedForm()), "nb_rc": nb(RC), "qda_ml": qda(ClosedForm()), "qda_rc": qda(RC)},
    Seen(SPLITS),
    [Column(method, mean(method, "error", 100.0), 0, 1.0) for method in ("nb_ml", "nb_rc", "qda_ml", "qda_rc")],
    complete,
    QUICK,
    notes="The rows that Tables 3 and 5 ask about, learned from like the rest: for comparison, not as an estimate.",
)
TABLES: tuple[Table | Computed, ...] = (TABLE1, *MEASURED.values(), SEEN_TABLE)
