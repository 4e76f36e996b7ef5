"""Displays: what is drawn is what the estimator says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from scipy.stats import binomtest
from sklearn.calibration import calibration_curve
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import mutual_info_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from suffice import (
    AdditiveTables,
    CategoricalNB,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    TabularClassifier,
)
from suffice.learners import RiskCalibration
from suffice.plotting import (
    BoundaryDisplay,
    CalibrationDisplay,
    ContributionsDisplay,
    HistoryDisplay,
    ShapesDisplay,
    StructureDisplay,
)
from tests.plotting.fits import IRIS, WINE, X, Y, additive, bayes, newton, quadratic
from tests.samples import plain


@pytest.fixture(scope="module")
def table():
    """Columns of every kind, with holes."""
    rng, n = np.random.default_rng(0), 300
    y = rng.integers(2, size=n)
    frame = pd.DataFrame(
        {
            "day": np.datetime64("2020-01-01") + rng.integers(0, 700, n) + 200 * y,
            "job": pd.Categorical(rng.choice(["cook", "clerk", "a rather long name for a profession"], n)),
            "x": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n) + y).astype(np.float32),
            "count": rng.integers(0, 90, n),
            "flag": rng.random(n) < 0.5,
        }
    )
    return frame, np.where(y == 1, "yes", "no").astype(object)


def widths(axes):
    return np.array([bar.get_width() for bar in axes.patches])


# History


def test_history_is_that_of_the_steps_kept():
    model = QuadraticDiscriminantAnalysis(learner=RiskCalibration()).fit(X, Y)
    for measure in ("log_loss", "error", "objective"):
        shown = HistoryDisplay.from_estimator(model, measure=measure)
        line = shown.ax_.lines[0].get_ydata()
        assert_array_equal(line, model.history_[measure])
        assert shown.taken_back == len(model.passes_[measure]) - len(line)
    both = HistoryDisplay.from_estimator(newton(), ax=HistoryDisplay.from_estimator(model).ax_)
    names = [text.get_text() for text in both.ax_.get_legend().get_texts()]
    assert names == ["QuadraticDiscriminantAnalysis", "LogisticRegression"]
    assert len({line.get_color() for line in both.ax_.lines}) == 2
    assert HistoryDisplay.from_estimator(additive()).values[-1] == additive().history_["log_loss"][-1]


@plain
def test_a_history_says_that_it_was_cut_short():
    model = GaussianNB(learner=RiskCalibration(max_iter=2, stop=None)).fit(X, Y)
    assert "stopped before it converged" in HistoryDisplay.from_estimator(model).figure_.get_suptitle()


# Calibration


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_points_are_those_of_scikit_learn(strategy):
    p = bayes().predict_proba(X)[:, 1]
    want = calibration_curve(Y == "malignant", p, n_bins=7, strategy=strategy)
    for shown in (
        CalibrationDisplay.from_estimator(bayes(), X, Y, n_bins=7, strategy=strategy),
        CalibrationDisplay.from_predictions(Y == "malignant", p, n_bins=7, strategy=strategy),
    ):
        assert_allclose(shown.prob_true, want[0])
        assert_allclose(shown.prob_pred, want[1])
        assert shown.counts.sum() == len(X)
    other = CalibrationDisplay.from_estimator(bayes(), X, Y, pos_label="benign", n_bins=7)
    assert_allclose(other.prob_true, calibration_curve(Y == "benign", 1 - p, n_bins=7)[0])


def test_intervals_are_those_of_wilson():
    shown = CalibrationDisplay.from_estimator(bayes(), X, Y, confidence=0.9)
    for share, n, low, high in zip(shown.prob_true, shown.counts, shown.lower, shown.upper, strict=True):
        want = binomtest(round(share * n), int(n)).proportion_ci(0.9, method="wilson")
        assert_allclose([low, high], want, atol=1e-9)
    drawn = shown.ax_.containers[0].lines[2][0].get_segments()
    assert_allclose([segment[:, 1] for segment in drawn], np.column_stack([shown.lower, shown.upper]), atol=1e-9)


def test_bins_of_a_few_rows_are_hollow_and_counted():
    shown = CalibrationDisplay.from_estimator(bayes(), X[:150], Y[:150])
    full, hollow = shown.ax_.collections[-2:]
    assert len(hollow.get_offsets()) == (shown.counts < 10).sum() > 0
    assert len(full.get_offsets()) == (shown.counts >= 10).sum()
    assert str(shown.counts.max()) in [text.get_text() for text in shown.ax_.texts]


def test_many_classes_are_judged_by_the_most_probable_one():
    model = GaussianNB().fit(WINE.data[::2], WINE.target[::2])
    p, said = model.predict_proba(WINE.data), model.predict(WINE.data)
    shown = CalibrationDisplay.from_estimator(model, WINE.data, WINE.target, n_bins=5)
    want = calibration_curve(said == WINE.target, p.max(axis=1), n_bins=5)
    assert_allclose(shown.prob_true, want[0])
    one = CalibrationDisplay.from_estimator(model, WINE.data, WINE.target, pos_label=2, n_bins=5)
    assert_allclose(one.prob_pred, calibration_curve(WINE.target == 2, p[:, 2], n_bins=5)[1])
    assert one.of == "probability of class 2"


def test_other_classifiers_and_labels():
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, Y.astype(object))
    assert CalibrationDisplay.from_estimator(tree, X.astype(np.float32), Y.astype(object)).counts.sum() == len(X)
    assert_array_equal(CalibrationDisplay.from_predictions([1, 1], [0.7, 0.9]).prob_true, [1.0, 1.0])


# Contributions


def test_bars_of_a_row_add_up_to_the_log_odds():
    for model in (bayes(), additive(), LinearDiscriminantAnalysis().fit(X, Y)):
        shown = ContributionsDisplay.from_estimator(model, X, "malignant", row=3, max_terms=5)
        odds = model.decision_function(X[3:4])[0]
        assert_allclose(shown.base + shown.values.sum(), odds, rtol=1e-10)
        *steps, total = widths(shown.ax_)
        assert len(steps) == 7  # the base, five terms, the others
        assert_allclose([sum(steps), total], odds, rtol=1e-10)
        assert_allclose(shown.probability, expit(odds))
        ends = [bar.get_x() + bar.get_width() for bar in shown.ax_.patches[:-1]]
        assert_allclose([bar.get_x() for bar in shown.ax_.patches[1:-1]], ends[:-1], atol=1e-9)


def test_of_three_classes_one_against_the_mean_of_the_others():
    shown = ContributionsDisplay.from_estimator(quadratic(), WINE.data[:1])
    log_p = quadratic().predict_log_proba(WINE.data[:1])[0]
    assert shown.label == 0
    assert_allclose(shown.base + shown.values.sum(), log_p[0] - log_p[1:].mean(), rtol=1e-9)


def test_columns_that_rule_a_class_out_are_drawn():
    rows, y = np.array([["u", "a"], ["u", "b"], ["v", "a"], ["w", "b"]] * 5), np.array([0, 0, 1, 2] * 5)
    shown = ContributionsDisplay.from_estimator(CategoricalNB(prior=None).fit(rows, y), rows)
    assert any(text.get_text() == "rules a class out" for text in shown.ax_.texts)
    assert np.isfinite(shown.ax_.get_xlim()).all()


def test_over_rows_they_are_the_importances():
    shown = ContributionsDisplay.from_estimator(quadratic(), WINE.data)
    want = quadratic().importances(WINE.data)
    assert shown.names == list(want)
    assert_allclose(widths(shown.ax_), list(want.values())[:10])


def test_names_say_what_the_row_has(table):
    frame, y = table
    shown = ContributionsDisplay.from_estimator(NaiveBayes().fit(frame, y), frame, row=1)
    words = " ".join(" ".join(text.get_text() for text in shown.ax_.get_yticklabels()).split())
    assert f"count = {frame['count'][1]}" in words
    assert f"day = {frame['day'][1].date()}" in words


def test_the_last_step_of_a_pipeline_explains_itself():
    pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
    search = GridSearchCV(pipeline, {"standardscaler__with_mean": [True]}, cv=2).fit(X, Y)
    for whole in (pipeline, search):
        shown = ContributionsDisplay.from_estimator(whole, X, "malignant", row=0)
        assert set(shown.names) == set(X.columns)
    assert_allclose(shown.base + shown.values.sum(), pipeline.decision_function(X[:1])[0], rtol=1e-9)


def test_what_rules_a_class_out_is_said():
    rows, y = np.array([["u", "a"], ["u", "b"], ["v", "a"], ["v", "b"]] * 5), np.array([0, 0, 1, 1] * 5)
    shown = ContributionsDisplay.from_estimator(CategoricalNB(prior=None).fit(rows, y), rows[:1])
    words = [text.get_text() for text in shown.ax_.texts]
    assert "rules it out" in words
    assert "certain" in words
    assert np.isfinite(shown.ax_.get_xlim()).all()
    assert abs(widths(shown.ax_)).max() < 100


def test_a_single_class_is_certain():
    one = GaussianNB().partial_fit(IRIS.data, np.zeros(150, int), classes=[0])
    assert ContributionsDisplay.from_estimator(one, IRIS.data, row=0).probability == 1
    assert_array_equal(CalibrationDisplay.from_estimator(one, IRIS.data, np.zeros(150, int)).prob_true, [1.0])
    assert not BoundaryDisplay.from_estimator(one, IRIS.data, grid_resolution=5).response.any()


# Shapes


def test_additive_tables_show_their_own():
    shown = ShapesDisplay.from_estimator(additive(), terms=2)
    assert shown.shapes.keys() == additive().shapes_.keys()
    first = next(iter(additive().shapes_.values()))
    assert_allclose(shown.ax_.patches[0].get_data().values, first.values)


@pytest.mark.parametrize("kind", [NaiveBayes, GaussianNB, LogisticRegression])
def test_shapes_are_the_terms_at_the_rows(kind):
    model = kind().fit(X, Y)
    key = next(iter(model.importances(X)))
    shape = ShapesDisplay.from_estimator(model, X, terms=[key]).shapes[key]
    found = model.contributions(X)
    term = np.diff(found.terms[:, :, found.names.index(key)], axis=1).ravel()
    assert_allclose(shape.rows @ shape.values, 0, atol=1e-8 * len(X))
    values = X[key].to_numpy()
    cell = np.searchsorted(shape.edges[0][1:], values, side="right")
    ends = [values.argmin(), values.argmax()]  # which are points of the grid
    assert_allclose(np.diff(shape.values[cell[ends]]), np.diff(term[ends]), atol=1e-9)
    assert shape.rows.sum() == len(X)


def test_frames_of_every_kind_have_the_same_shapes(table):
    frame, y = table
    shapes = [
        ShapesDisplay.from_estimator(NaiveBayes().fit(one, y), one, terms=5).shapes
        for one in (frame, pl.from_pandas(frame))
    ]
    assert shapes[0].keys() == shapes[1].keys() == set(frame.columns)
    for name in frame:
        assert_allclose(shapes[0][name].values, shapes[1][name].values, atol=1e-10)
    assert shapes[0]["day"].dates[0]
    assert shapes[0]["x"].rows.sum() == frame["x"].notna().sum()


def test_one_shape_in_given_axes():
    axes = Figure().add_subplot()
    shown = ShapesDisplay.from_estimator(additive(), terms="worst area", ax=axes)
    assert shown.ax_ is axes
    with pytest.raises(ValueError, match="ax has room for one shape, and terms asks for 6"):
        ShapesDisplay.from_estimator(additive(), ax=axes)


def test_columns_without_entries_and_with_numbers_for_names():
    frame = WINE.data.copy().set_axis(range(13), axis=1).assign(empty=np.nan)
    frame.columns = [str(name) for name in frame.columns]
    model = NaiveBayes().fit(frame, WINE.target)
    assert set(ShapesDisplay.from_estimator(model, frame, terms=20).shapes) == {*map(str, range(13))}
    with pytest.raises(ValueError, match="column 'empty' has no entry in these rows, and so no shape"):
        ShapesDisplay.from_estimator(model, frame, terms=["empty"])
    assert BoundaryDisplay.from_estimator(model, frame, columns=("0", "empty")).y.labels == ["missing"]
    numbered = WINE.data.set_axis(range(13), axis=1)
    model = GaussianNB().fit(numbered, WINE.target)
    assert len(ShapesDisplay.from_estimator(model, numbered, terms=2).axes_) == 2
    assert ContributionsDisplay.from_estimator(model, numbered, row=0).given["12"] == "1065"


# Boundary


def test_a_model_of_two_columns_is_as_scikit_learn_shows_it():
    two = X.iloc[:, :2]
    for model in (GaussianNB().fit(two, Y), DecisionTreeClassifier(max_depth=3, random_state=0).fit(two, Y)):
        ours = BoundaryDisplay.from_estimator(model, two, Y, grid_resolution=30, columns=(0, 1))
        grid = np.meshgrid(ours.x.at, ours.y.at)
        theirs = DecisionBoundaryDisplay.from_estimator(
            model, two, grid_resolution=30, response_method="predict_proba", eps=0, ax=Figure().add_subplot()
        )
        rows = pd.DataFrame({name: side.ravel() for name, side in zip(two, grid, strict=True)})
        assert_allclose(ours.response.ravel(), model.predict_proba(rows)[:, 1])
        assert ours.response.shape == theirs.response.shape
        assert not ours.held


def test_other_columns_are_at_their_middle(table):
    frame, y = table
    model = TabularClassifier(random_state=0, n_trees=10).fit(frame, y)
    shown = BoundaryDisplay.from_estimator(model, frame, y, columns=("x", "count"), grid_resolution=9)
    middle = sorted(frame["day"])[(len(frame) - 1) // 2]
    assert shown.held == {
        "day": str(middle.date()),
        "job": frame["job"].mode()[0],
        "flag": str(frame["flag"].mode()[0]),
    }
    rows = pd.concat([frame[:1]] * shown.response.size, ignore_index=True)
    rows["day"], rows["job"], rows["flag"] = middle, frame["job"].mode()[0], frame["flag"].mode()[0]
    grid = np.meshgrid(shown.x.at, shown.y.at)
    rows["x"], rows["count"] = grid[0].ravel().astype(np.float32), grid[1].ravel().astype(int)
    assert_allclose(shown.response.ravel(), model.predict_proba(rows)[:, 1], atol=1e-6)
    other = pl.from_pandas(frame)
    model = TabularClassifier(random_state=0, n_trees=10).fit(other, y)
    same = BoundaryDisplay.from_estimator(model, other, y, columns=("x", "count"), grid_resolution=9)
    assert_allclose(same.response, shown.response, atol=1e-6)


def test_categories_and_dates_are_axes_too(table):
    frame, y = table
    model = NaiveBayes().fit(frame, y)
    shown = BoundaryDisplay.from_estimator(model, frame, y, columns=("day", "job"))
    assert sorted(shown.y.labels) == sorted(frame["job"].unique())
    assert shown.response.shape[0] == 3
    shown.figure_.draw_without_rendering()
    assert all(text.get_text().startswith("20") for text in shown.ax_.get_xticklabels() if text.get_text())


def test_without_columns_those_that_count_most():
    shown = BoundaryDisplay.from_estimator(quadratic(), WINE.data, grid_resolution=5)
    assert [shown.x.name, shown.y.name] == list(quadratic().importances(WINE.data))[:2]
    tree = DecisionTreeClassifier(random_state=0).fit(WINE.data.to_numpy(), WINE.target)
    shown = BoundaryDisplay.from_estimator(tree, WINE.data.to_numpy(), grid_resolution=5)
    assert (shown.x.name, shown.y.name) == (0, 1)


def test_classifiers_without_probabilities_show_regions():
    model = RidgeClassifier().fit(X.iloc[:, :2], Y)
    shown = BoundaryDisplay.from_estimator(model, X.iloc[:, :2], Y, columns=(0, 1), grid_resolution=7)
    rows = np.column_stack([side.ravel() for side in np.meshgrid(shown.x.at, shown.y.at)])
    said = model.predict(pd.DataFrame(rows, columns=X.columns[:2]))
    assert_array_equal(model.classes_[shown.response.ravel()], said)


def test_of_a_thousand_classes_a_few_have_colours():
    rng, y = np.random.default_rng(0), np.repeat(np.arange(1000), 2)
    rows = np.column_stack([y % 40, y // 40, y % 7]) + rng.normal(size=(2000, 3)) / 10
    model = GaussianNB().fit(rows, y)
    shown = BoundaryDisplay.from_estimator(model, rows, y, columns=(0, 1), grid_resolution=20)
    said = [text.get_text() for text in shown.ax_.get_legend().get_texts()]
    assert len(said) == 7
    assert said[-1] == "994 other classes"
    assert ContributionsDisplay.from_estimator(model, rows[:1]).n_classes == 1000


# Structure


def test_correlations_are_those_of_the_rows():
    model = QuadraticDiscriminantAnalysis(prior=None).fit(IRIS.data, IRIS.target)
    rows = [IRIS.data[IRIS.target == c] for c in range(3)]
    shown = StructureDisplay.from_estimator(model, y=1)
    assert_allclose(shown.values, np.corrcoef(rows[1].T), atol=1e-10)
    assert_allclose(shown.ax_.images[0].get_array(), shown.values)
    within = np.mean([np.cov(one.T, bias=True) for one in rows], axis=0)
    scale = np.sqrt(np.diag(within))
    for same in (model, LinearDiscriminantAnalysis(prior=None).fit(IRIS.data, IRIS.target)):
        assert_allclose(StructureDisplay.from_estimator(same).values, within / np.outer(scale, scale), atol=1e-10)


def test_information_is_that_of_the_tables():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=400)
    rows = np.column_stack([(y + (rng.random(400) < share) * rng.integers(3, size=400)) % 3 for share in (0.9, 0.2)])
    shown = StructureDisplay.from_estimator(CategoricalNB(prior=None).fit(rows, y))
    assert shown.names == [1, 0]
    assert_allclose(shown.values, [mutual_info_score(rows[:, j], y) for j in (1, 0)], rtol=1e-9)
    share = np.bincount(y) / 400
    assert_allclose(widths(shown.ax_), 100 * shown.values / -(share @ np.log(share)), rtol=1e-9)


def test_tables_of_mixed_columns_are_all_there(table):
    frame, y = table
    for model in (NaiveBayes(missing="indicator"), AdditiveTables(pairs=[("x", "day")])):
        shown = StructureDisplay.from_estimator(model.fit(frame, y))
        assert set(frame.columns) <= {*shown.names, "flag"}
        assert ("day", "x") not in shown.names
        assert shown.names[0] in ("day", "x")
