"""The tables of the papers on calibration and on naive Bayes against logistic regression, as declarations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import suffice
from papers.agreement import cells, counts, printed
from papers.datasets import Library
from papers.derived import Derived
from papers.store import Task
from papers.table import Table
from papers.tables import TABLES
from papers.tables.nblr import SummedDescent, filled_nb, lr_gnb, nb_gnb
from papers.tables.nblr_tests import t_values
from papers.tables.rc2 import SPLITS, Seen
from suffice.learners import ClosedForm, GradientDescent

OURS = {name: table for name, table in TABLES.items() if name.startswith(("rc1", "rc2", "nblr"))}
MEASURED = {name: table for name, table in OURS.items() if isinstance(table, Table)}
RULES = ("printed", "dropping")  # in the names of columns beside those of the print: its rules, where they are wrong
UNPRINTED = {"rc1-cost", "rc1-figure1", "rc1-figure2", "rc1-figure3", "rc1-figure4", "rc2-seen", "rc2-honesty"}
OFFLINE = Library(online=False)  # iris comes with scikit-learn


@pytest.mark.parametrize("name", OURS)
def test_columns_and_reasons_are_those_of_the_print(name):
    table, theirs = OURS[name], printed(name)
    columns = [column.name for column in table.columns]
    assert len(set(columns)) == len(columns)
    if name in UNPRINTED:
        assert not theirs
    else:
        assert {c for c in columns if not any(rule in c for rule in RULES)} == {column for _, column in theirs}
    rows = {row for row, _ in theirs} | set(getattr(table, "datasets", ()))
    for row, column in table.reasons:
        assert column in (*columns, "*"), column
        assert row in rows | {"*"}, row


@pytest.mark.parametrize("name", MEASURED)
def test_methods_build_and_names_are_printed(name):
    table = MEASURED[name]
    for build in table.methods.values():
        assert hasattr(build(0), "fit")
    assert set(table.quick) <= set(table.datasets)
    if name not in UNPRINTED:
        assert set(table.datasets) <= {row for row, _ in printed(name)}
        assert table.quick


@pytest.mark.parametrize("name", [name for name in MEASURED if "figure" not in name])
def test_the_quick_form_runs(name):
    table = MEASURED[name]
    row = "Iris" if name.startswith("nblr") else "iris"
    tasks = [task for task in table.tasks(quick=True) if task.dataset == row and task.split == 0]
    results = {task: table.run(task, OFFLINE)[0] for task in tasks}
    assert not [result["failed"] for result in results.values() if "failed" in result]
    found = {cell.column for cell in cells(table, results) if cell.dataset == row and cell.measured is not None}
    assert found >= {column.name for column in table.columns if "reach" not in column.name}


def test_a_figure_is_a_curve_of_every_method(rng):
    figure = TABLES["rc1-figure3"]
    iris = OFFLINE.load("iris")
    noisy = replace(iris, X=iris.X + rng.normal(size=iris.X.shape))
    model = figure.methods["rc_ml"](0).fit(noisy.X, noisy.y)
    assert len(model[-1].history_["error"]) == 128


def test_the_toy_is_as_printed():
    toy = TABLES["rc2-table1"]
    found = cells(toy, {task: toy.run(task, OFFLINE)[0] for task in toy.tasks()})
    assert counts(found) == {"compared": 32, "equal": 31, "near": 1, "off": 0}
    assert [cell.printed for cell in found if cell.state == "near"] == [0.95]  # 0.958, cut


def test_t_values_follow_from_the_printed_table():
    theirs = {key: value for key, (value, _) in printed("nblr-table2").items()}
    got = {pair: round(t, 4) for pair, t in t_values(theirs).items()}
    assert got["LR-GRAD over NB"] == 1.7731
    assert got["LR-GRAD(OVO) over LR-GRAD"] == 2.1226
    assert got["LR-GNB(OVO) over LR-GNB"] == 0.7226
    assert got["NB-GNB over LR-GNB"] == pytest.approx(2.17, abs=0.005)  # which the paper calls alike


def test_mcnemar_pools_the_folds():
    table = TABLES["nblr-mcnemar"]
    wrong = {"NB-GNB": ([1, 2, 3, 4], [9]), "LR-GNB": ([1], [8])}
    results = {
        Task("nblr-table2", "Iris", method, split): {"error": 0.1, "wrong": rows}
        for method, folds in wrong.items()
        for split, rows in enumerate(folds)
    }
    assert table.measured(results) == {("Iris", "chi2"): pytest.approx((4 - 1 - 1) ** 2 / 5)}


def test_counts_and_ranks_of_calibration():
    table = TABLES["rc2-table4"]
    errors = {"iris": (0.3, 0.2, 0.2), "sonar": (0.1, 0.2, 0.3), "vehicle": (0.2, 0.2, 0.4)}
    results = {
        Task("rc2-table3", name, method, 0): {"error": value, "train_error": 0.0}
        for name, row in errors.items()
        for method, value in zip(("ml", "rc", "gd"), row, strict=True)
    }
    got = table.measured(results)
    assert [got["test", c] for c in ("rc_vs_closed_better", "equal", "worse")] == [1, 1, 1]
    assert [got["test", c] for c in ("rc_vs_gd_better", "gd_equal", "gd_worse")] == [2, 1, 0]
    assert [got["rank, test", c] for c in ("rank_closed", "rank_rc", "rank_gd")] == pytest.approx([11 / 6, 5 / 3, 2.5])
    assert [got["training", c] for c in ("rc_vs_closed_better", "equal", "worse")] == [0, 3, 0]


def test_honesty_puts_three_errors_side_by_side():
    results = {
        Task("rc2-table5", "sonar", "rc", 0): {"error": 0.3, "train_error": 0.0},
        Task("rc2-seen", "sonar", "qda_rc", 0): {"error": 0.01},
    }
    got = TABLES["rc2-honesty"].measured(results)
    assert [got["sonar", f"qda_rc_{what}"] for what in ("printed", "honest", "seen")] == [0.0, 30.0, 1.0]
    assert got["mean", "qda_rc_honest"] == 30.0
    assert ("sonar", "qda_ml_seen") not in got


def test_rows_asked_about_are_seen_on_purpose():
    y = np.repeat(["a", "b"], 20)
    seen, honest = Seen(SPLITS).split(y, 1), SPLITS.split(y, 1)
    assert seen.test.tolist() == honest.test.tolist()
    assert len(seen.train) == 40
    assert not set(honest.train) & set(honest.test)


def test_a_table_that_is_drawn_from_others_names_them():
    for table in OURS.values():
        if isinstance(table, Derived):
            assert set(table.sources) <= set(TABLES)


# The estimators that only serve to rerun the print


def test_total_variance_is_that_of_all_rows(rng):
    X, y = np.concatenate([rng.normal(0, 1, (30, 2)), rng.normal(4, 1, (20, 2))]), np.repeat([0, 1], [30, 20])
    np.testing.assert_allclose(nb_gnb().fit(X, y).parameters_.variance, X.var(axis=0)[None])
    (linear,) = lr_gnb("ovr").fit(X, y).parameters_
    gap = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    np.testing.assert_allclose(linear.log_odds()[0][0], gap / X.var(axis=0))


def test_a_class_without_variance_takes_that_of_all_rows():
    X, y = np.array([[1.0], [1.0], [2.0], [4.0]]), [0, 0, 1, 1]
    np.testing.assert_allclose(filled_nb().fit(X, y).parameters_.variance.ravel(), [X.var(), 1.0])


def test_summed_descent_is_gradient_ascent_of_one_sigmoid(rng):
    X, y = rng.normal(size=(40, 3)), np.repeat([0, 1], 20)
    X[y == 1] += 1.0
    Z = np.column_stack([np.ones(40), (X - X.mean(axis=0)) / X.std(axis=0)])
    w = np.zeros(4)
    for _ in range(5):
        w += 0.01 * Z.T @ (y - 1 / (1 + np.exp(-Z @ w)))
    learner = SummedDescent(rate=0.01, max_iter=6, stop=None, init="zero")
    model = suffice.LogisticRegression(prior=None, learner=learner).fit(X, y)
    np.testing.assert_allclose(model.coef_[0] * X.std(axis=0), w[1:])


def test_slopes_begin_at_the_closed_form_however_low_its_intercepts(rng):
    y = np.repeat([0, 1, 2], 40)
    X = rng.normal(size=(120, 1)) * 0.3 + 3.0 * y[:, None] + 0.3 * rng.normal(size=(120, 20))
    closed = suffice.LogisticRegression(prior=None, learner=ClosedForm()).fit(X, y)
    first = suffice.LogisticRegression(prior=None, learner=GradientDescent(max_iter=1, stop=None)).fit(X, y)
    assert closed.parameters_.intercept.min() < -60
    np.testing.assert_allclose(first.intercept_, closed.intercept_)
    np.testing.assert_allclose(first.coef_, closed.coef_)
