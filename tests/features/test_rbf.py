"""Radial basis columns over centres."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import DBSCAN
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from suffice import GaussianPrior, LinearDiscriminantAnalysis, LogisticRegression, QuadraticDiscriminantAnalysis
from suffice.features import FSCL, RBF
from tests.samples import IRIS, WINE


@parametrize_with_checks([RBF()])
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.thorough
@parametrize_with_checks([RBF(centers="kmeans")])
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks_of_further_centres(estimator, check):
    check(estimator)


def test_columns_are_the_formula_whatever_the_blocks(rng, monkeypatch):
    X = rng.normal(size=(100, 3))
    for centers in ("fscl", "kmeans"):
        rbf = RBF(6, centers=centers, random_state=0).fit(X)
        distance = np.linalg.norm(X[:, None] - rbf.centers_, axis=2)
        label = distance.argmin(axis=1)
        assert_allclose(rbf.sigma_, [4 * distance[label == j, j].mean() for j in range(6)])
        expected = np.exp(-(distance**2) / (2 * rbf.sigma_**2))
        assert_allclose(rbf.transform(X), expected)
        monkeypatch.setattr("suffice.features.centers.ROWS_TRANSFORMED", 7)
        assert_array_equal(rbf.transform(X), rbf.transform(X[:50]).tolist() + rbf.transform(X[50:]).tolist())
        monkeypatch.undo()


def test_memory_holds_no_table_of_rows_by_centres_except_the_result(rng):
    X = rng.normal(size=(50_000, 2))
    rbf, result = RBF(centers=FSCL(40, epochs=1)), 50_000 * 40 * 8
    rbf.fit(X[:100])  # compiles what is not compiled yet
    tracemalloc.start()
    try:
        rbf.fit(X)
        assert tracemalloc.get_traced_memory()[1] < 0.5 * result
        rbf.transform(X)
        assert tracemalloc.get_traced_memory()[1] < 1.2 * result
    finally:
        tracemalloc.stop()


def test_a_centre_alone_on_its_rows_makes_no_spike():
    X = np.array([[0.0], [0.0], [1.0], [3.0]])
    for centers in ("fscl", "kmeans"):
        rbf = RBF(3, centers=centers, width=1.0, random_state=0).fit(X)
        assert_allclose(rbf.sigma_[np.argsort(rbf.centers_.ravel())], [0.25, 0.25, 0.5], rtol=0.05)
    assert_array_equal(RBF(1).fit_transform(np.ones((3, 2))), np.ones((3, 1)))


def test_with_given_centres_a_row_depends_on_itself_alone(rng):
    X, centers = rng.normal(size=(50, 2)), np.array([[0.0, 0.0], [0.0, 2.0], [5.0, 0.0]])
    rbf = RBF(centers=centers).fit(X)
    assert_allclose(rbf.sigma_, 4 * np.array([1, 1, 2.5]))
    assert_array_equal(rbf.transform(X), RBF(centers=centers).fit(X[:1]).transform(X))
    assert centers is rbf.get_params()["centers"]
    learned = RBF(5, random_state=0).fit(X)
    repeated = RBF(centers=learned.centers_, sigma=learned.sigma_).fit(X[:1])
    assert_array_equal(repeated.transform(X), learned.transform(X))


@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_behind_given_centres_pieces_add_up(kind):
    X, y = MinMaxScaler((-1, 1)).fit_transform(WINE[0]), WINE[1]
    centers = RBF(8, random_state=0).fit(X[::3]).centers_
    whole = make_pipeline(RBF(centers=centers), kind()).fit(X, y)
    pieces, order = kind(), np.random.default_rng(0).permutation(len(y))
    for rows in np.array_split(order, 5):
        pieces.partial_fit(RBF(centers=centers).fit_transform(X[rows]), y[rows])
    columns = whole[0].transform(X)
    assert_allclose(pieces.predict_proba(columns), whole.predict_proba(X), rtol=1e-6, atol=1e-9)
    rest = pieces.forget(columns[:20], y[:20])
    assert_allclose(rest.predict_proba(columns), kind().fit(columns[20:], y[20:]).predict_proba(columns), atol=1e-6)


@pytest.mark.parametrize(
    "classifier",
    [LinearDiscriminantAnalysis(), LinearDiscriminantAnalysis(prior=GaussianPrior(0, 0.01)), LogisticRegression()],
)
def test_scaled_columns_would_give_the_same_classifier(classifier):
    X, y = MinMaxScaler((-1, 1)).fit_transform(WINE[0]), WINE[1]
    plain = make_pipeline(RBF(20, random_state=0), classifier).fit(X, y).predict_proba(X)
    scaled = make_pipeline(RBF(20, random_state=0), StandardScaler(), classifier).fit(X, y).predict_proba(X)
    assert_allclose(plain, scaled, atol=1e-6)


def test_the_number_of_centres_can_be_searched():
    X, y = load_breast_cancer(return_X_y=True)
    steps = [("scale", MinMaxScaler((-1, 1))), ("rbf", RBF(random_state=0)), ("clf", LinearDiscriminantAnalysis())]
    search = GridSearchCV(Pipeline(steps), {"rbf__n_centers": [2, 20]}, cv=3).fit(X, y)
    assert search.best_params_ == {"rbf__n_centers": 20}
    assert search.best_score_ > 0.95


def test_rings_are_separable_only_with_the_columns(rng):
    y = np.repeat([0, 1], 200)
    angle, radius = rng.uniform(0, 2 * np.pi, 400), 1 + y + 0.1 * rng.normal(size=400)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    assert cross_val_score(LinearDiscriminantAnalysis(), X, y, cv=5).mean() < 0.6
    assert cross_val_score(make_pipeline(RBF(random_state=0), LinearDiscriminantAnalysis()), X, y, cv=5).mean() > 0.99


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames_in_and_out(frame):
    X = frame({"a": IRIS[0][:, 0], "b": IRIS[0][:, 1]})
    kind = "pandas" if frame is pd.DataFrame else "polars"
    for step, name in ((FSCL(3, random_state=0), "fscl"), (RBF(3, random_state=0), "rbf")):
        out = step.set_output(transform=kind).fit_transform(X)
        assert isinstance(out, frame)
        assert list(out.columns) == [f"{name}{j}" for j in range(3)]
        assert step.feature_names_in_.tolist() == ["a", "b"]
        assert_allclose(out.to_numpy(), step.set_output(transform="default").transform(X))


def test_centres_from_a_clusterer():
    rbf = RBF(centers=FSCL(6, epochs=10, random_state=0))
    assert rbf.set_params(centers__n_clusters=7).fit(IRIS[0]).centers_.shape == (7, 4)
    assert not hasattr(rbf.centers, "cluster_centers_")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n_centers": -1}, "RBF: n_centers must be a whole number of at least 1, got -1"),
        ({"n_centers": 500}, "RBF: n_centers=500 .* n_samples=150 rows hold 149 different ones: ask for at most 149"),
        ({"n_centers": 150, "centers": "kmeans"}, "RBF: n_centers=150 .* ask for at most 149"),
        ({"width": 0}, "RBF: width must be a positive number, got 0"),
        ({"centers": "grid"}, "RBF: centers must be one of .'fscl', 'kmeans'., an array .* got 'grid'"),
        ({"centers": None}, "RBF: centers must be one of .* got None"),
        ({"centers": FSCL}, "RBF: centers must be one of .* got <class"),
        ({"centers": DBSCAN()}, "RBF: centers is a clusterer without cluster_centers_, got DBSCAN"),
        ({"centers": [[0.0, 1.0]]}, "RBF: centers have 2 features, but X has 4"),
        ({"centers": [[0.0, 1.0, 2.0, np.nan]]}, "Input centers contains NaN"),
        ({"centers": [[0.0] * 4]}, "a centre that is alone, or equal to another, .* give sigma"),
        ({"centers": [[0.0] * 4, [0.0] * 4]}, "a centre that is alone, or equal to another, .* give sigma"),
        ({"sigma": [1.0, 2.0]}, "RBF: sigma must be None or positive, one number or 10 of them, got .1.0, 2.0."),
        ({"sigma": 0.0}, "RBF: sigma must be None or positive"),
    ],
)
def test_wrong_settings_are_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        RBF(**settings).fit(IRIS[0])
