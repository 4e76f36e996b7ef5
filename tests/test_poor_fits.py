"""A classifier that does worse than always saying the most frequent class says so."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from suffice import (
    FisherDiscriminant,
    GaussianNB,
    MinimaxProbabilityMachine,
    QuadraticDiscriminantAnalysis,
    QuasiBayes,
)
from suffice.learners import GradientDescent, RiskCalibration
from tests.samples import PULLED


def told(call):
    """What a call returns, and whether a warning of its speaks of the constant rule."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
    texts = [str(w.message).lower() for w in caught if issubclass(w.category, UserWarning)]
    return result, any("constant rule" in text or "majority" in text for text in texts)


def scales(seed):
    """A frequent class that is wide and a rare one that is narrow, with means close together."""
    rng = np.random.default_rng(seed)
    y = (rng.random(400) < 0.2).astype(int)
    return rng.normal(size=(400, 2)) * np.where(y, 1, 30)[:, None] + 0.5 * y[:, None], y


@pytest.mark.parametrize("kind", [QuasiBayes, FisherDiscriminant, MinimaxProbabilityMachine])
@pytest.mark.parametrize("seed", [2, 4])
def test_a_plane_below_the_constant_rule_is_told(kind, seed):
    X, y = scales(seed)
    model, said = told(lambda: kind().fit(X, y))
    assert model.gaussian_accuracy_[0] < model.class_prior_.max()  # by its own moments
    assert model.score(X, y) < model.class_prior_.max()
    assert said, f"{1 - model.score(X, y):.1%} wrong, where the constant rule has {model.class_prior_.min():.1%}"
    far = X + 100 * y[:, None]
    assert not told(lambda: kind().fit(far, y))[1]


@pytest.mark.data
def test_a_plane_below_the_constant_rule_on_adult(load):
    X, y = load("adult")
    X = pd.get_dummies(X).to_numpy(float)
    model, said = told(lambda: QuasiBayes().fit(X, y))
    assert model.gaussian_accuracy_[0] < model.class_prior_.max()
    assert said, f"{1 - model.score(X, y):.1%} wrong, where the constant rule has {model.class_prior_.min():.1%}"


@pytest.mark.parametrize(
    ("kind", "learner"),
    [
        (GaussianNB, RiskCalibration(1e-3, stop=None)),
        (GaussianNB, GradientDescent(max_iter=5, stop=None)),
        (QuadraticDiscriminantAnalysis, GradientDescent(max_iter=5, stop=None)),
    ],
    ids=["nb-rc", "nb-gd", "qda-gd"],
)
def test_learning_that_stays_above_the_majority_rule_is_told(kind, learner):
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.1).astype(int)
    X = (rng.standard_t(2, size=400) + 0.5 * y)[:, None] + 0.3 * rng.normal(size=(400, 20))
    model, said = told(lambda: kind(PULLED, learner).fit(X, y))
    assert 1 - model.score(X, y) > y.mean()
    assert said, f"{1 - model.score(X, y):.1%} wrong, where the majority rule has {y.mean():.1%}"
