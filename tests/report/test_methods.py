"""What methods are given: native categories where they take them, the encoders learned from the training rows alone."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import HistGradientBoostingClassifier

from suffice.compare.race.methods import METHODS
from suffice.model_selection.measures import Dataset

pytestmark = pytest.mark.filterwarnings("ignore:Missing values detected", "ignore:All-NaN slice")  # of EBM


@pytest.fixture(scope="module")
def shops():
    """A category of 200 values, of which every other one goes with a class, whatever their order; and a number."""
    rng = np.random.default_rng(0)
    size, code = 6000, rng.integers(0, 200, 6000).astype(float)
    y = (rng.permutation(200)[code.astype(int)] % 2 == 0) ^ (rng.random(size) < 0.1)
    X = np.column_stack([code, rng.normal(size=size)])
    X[::9, 1] = np.nan
    X[::11, 0] = np.nan
    return Dataset("shops", X, y.astype(int), ("shop", "size"), np.array([True, False]))


def wrong(method, data, half=3000):
    model = METHODS[method].build(data, 0).fit(data.X[:half], data.y[:half])
    return float(np.mean(model.predict(data.X[half:]) != data.y[half:]))


@pytest.mark.parametrize("method", [name for name in ("gradient boosting", "LightGBM", "EBM") if name in METHODS])
def test_boosting_has_native_categories(shops, method):
    assert wrong(method, shops) < 0.22  # as codes without meaning it has 0.3 or more


def test_boosting_is_given_what_scikit_learn_says_of_categories(shops):
    X, y = shops.X, shops.y
    theirs = HistGradientBoostingClassifier(categorical_features=[0], random_state=0).fit(X[:3000], y[:3000])
    ours = METHODS["gradient boosting"].build(shops, 0).fit(X[:3000], y[:3000])
    assert_allclose(ours.predict_proba(X[3000:]), theirs.predict_proba(X[3000:]))


def test_many_categories_are_pooled_by_the_training_rows():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.zipf(1.3, 4000) % 1000, rng.normal(size=4000)]).astype(float)
    y = (X[:, 0] % 2).astype(int)
    data = Dataset("", X, y, ("a", "b"), np.array([True, False]))
    for method, most in (("gradient boosting", 255), ("logistic regression", 100)):
        model = METHODS[method].build(data, 0).fit(X[:3000], y[:3000])
        assert wrong(method, data) < 0.2
        Z = model[0].transform(X[:3000])
        count = np.unique(X[:3000, 0], return_counts=True)[1]
        least = 0 if most == 255 else 5
        distinct = Z.shape[1] - 1 if least else len(np.unique(Z[:, 0]))
        assert distinct == min(most, (count >= least).sum() + 1)
        unknown = np.array([[5000.0, 0.0]])  # a category that no training row has
        assert np.isfinite(model.predict_proba(unknown)).all()


@pytest.mark.parametrize("method", [name for name in METHODS if not METHODS[name].ours])
def test_a_number_that_no_training_row_has_is_no_obstacle(shops, method):
    X = np.column_stack([shops.X[:400], np.full(400, np.nan)])
    X[300:, 2] = 1.0
    data = Dataset("", X, shops.y[:400], ("shop", "size", "late"), np.array([True, False, False]))
    assert len(METHODS[method].build(data, 0).fit(X[:300], data.y[:300]).predict(X[300:])) == 100


def test_a_missing_number_is_told_from_the_median():
    x = np.random.default_rng(0).normal(size=600)
    y = (np.arange(600) % 3 == 0).astype(int)
    x[y == 1] = np.nan
    data = Dataset("", x[:, None], y, ("x",), np.array([False]))
    assert wrong("logistic regression", data, 300) == 0.0
