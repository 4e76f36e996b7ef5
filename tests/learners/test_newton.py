"""Newton's method where it is hard: wide, correlated and separable data, and classes that begin without probability."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import linear_model
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from suffice import LogisticRegression
from suffice.learners import TM, ClosedForm, DiscriminativeFrequency, GradientDescent, Newton, RiskCalibration
from tests.conftest import DATA
from tests.samples import loss, plain


def objective(model, X, y):
    """What `Newton` minimises, per row: log loss and penalty of the slopes of standardised features."""
    return loss(model, X, y) + 0.5 * ((model.coef_ * X.std(axis=0)) ** 2).sum() / len(X)


def optimum(X, y):
    """The same of scikit-learn's fit to standardised features."""
    Z = StandardScaler().fit_transform(X)
    model = linear_model.LogisticRegression(C=1.0, tol=1e-10, max_iter=20_000).fit(Z, y)
    with np.errstate(divide="ignore"):
        return loss(model, Z, y) + 0.5 * (model.coef_**2).sum() / len(Z)


def one_factor(seed):
    """2,000 columns that are nearly the same."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(30, 1))
    return z + 0.1 * rng.normal(size=(30, 2000)), (z[:, 0] + 0.5 * rng.normal(size=30) > 0).astype(int)


def three_factors(seed):
    """2,000 columns of rank three, except for a little noise, and classes that one factor separates."""
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(30, 3))
    return F @ rng.normal(size=(3, 2000)) + 0.1 * rng.normal(size=(30, 2000)), (F[:, 0] > 0).astype(int)


def copies(classes):
    """Classes that hardly overlap, in hundreds of copies of two features."""
    rng, d = np.random.default_rng(0), 200 if classes == 2 else 1500
    y = np.arange(60) % classes
    two = rng.normal(size=(60, 2)) + 3 * np.eye(classes)[y][:, :2]
    return np.tile(two, d // 2) + 0.1 * rng.normal(size=(60, d)), y


HARD = [(one_factor, 0), (one_factor, 1), (three_factors, 4), (copies, 2), (copies, 3)]
hard = pytest.mark.parametrize(("draw", "which"), HARD, ids=lambda value: getattr(value, "__name__", value))


@hard
@plain
def test_wide_and_correlated_columns_reach_the_optimum(draw, which):
    X, y = draw(which)
    model = LogisticRegression().fit(X, y)
    found = objective(model, X, y)
    assert found <= np.log(len(model.classes_)), "worse than the model that knows nothing"
    assert found == pytest.approx(optimum(X, y), abs=1e-6)
    assert model.converged_


@pytest.mark.data
@plain
def test_one_hot_columns_of_many_classes():
    table = pd.read_parquet(DATA / "soybean.parquet")
    X, y = pd.get_dummies(table.drop(columns="target").fillna("missing")).to_numpy(float), table["target"].to_numpy()
    assert X.shape == (683, 133)
    model = LogisticRegression().fit(X, y)
    assert objective(model, X, y) < np.log(19), "worse than the model that knows nothing"
    assert objective(model, X, y) == pytest.approx(optimum(X, y), abs=1e-5)
    assert model.score(X, y) > 0.97


@pytest.mark.data
@pytest.mark.filterwarnings("ignore")
def test_a_few_images(load):
    images, labels = load("fashion_mnist")
    found = {}
    for n, seed in [(60, 1), (80, 0), (80, 1), (100, 0), (100, 1)]:
        rows = np.random.default_rng(seed).choice(len(images), n, replace=False)
        X, y = images.iloc[rows].to_numpy(float), labels[rows]
        model = LogisticRegression().fit(X, y)
        found[n, seed] = objective(model, X, y), model.score(X, y)
    assert all(value < 0.1 and accuracy == 1 for value, accuracy in found.values()), found


LEARNERS = ClosedForm(), DiscriminativeFrequency(), GradientDescent(), Newton(), RiskCalibration(), TM()
NAMES = set().union(*(learner.get_params() for learner in LEARNERS))


def test_the_advice_names_what_the_learner_has():
    X, y = one_factor(0)
    for learner in (Newton(), Newton(max_iter=3)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            LogisticRegression(learner=learner).fit(X, y)
        advice = [str(w.message).split(";")[-1] for w in caught if issubclass(w.category, ConvergenceWarning)]
        assert advice or learner.max_iter > 3
        for text in advice:
            named = NAMES & set(re.findall(r"\w+", text))
            assert named, text
            assert named <= set(learner.get_params()), text
