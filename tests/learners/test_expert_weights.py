"""Weights of experts: the convex leave-one-out problem against SciPy, and by brute force."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import logsumexp

from suffice import GaussianNB, ModelClassifier, TabularClassifier
from suffice.learners import ExpertWeights
from suffice.learners.weights import Leads, solve


def problem(rng, n=300, k=3, m=4):
    """Scores (n, k, m) of which the last says nothing, and one is turned around."""
    y = rng.integers(k, size=n)
    F = rng.normal(size=(n, k, m))
    F[np.arange(n), y, 0] += 1.5
    F[np.arange(n), y, 1] -= 0.7
    F[:, :, 3] *= 10.0
    return F, y


def objective(w, F, y, weight, start, ridge):
    scores = F @ w
    loss = weight @ (logsumexp(scores, axis=1) - scores[np.arange(len(y)), y])
    return loss + 0.5 * ridge * ((w / start - (np.arange(len(w)) == 0)) ** 2).sum()


@pytest.mark.parametrize("n", [300, 9000])  # in one part, and in several
@pytest.mark.parametrize("ridge", [1e-3, 1.0, 100.0])
def test_weights_are_those_of_scipy(rng, ridge, n):
    F, y = problem(rng, n)
    weight, start = rng.uniform(0.5, 2.0, len(y)), np.array([1.0, 0.5, 0.3, 0.05])
    ours, losses = solve(Leads.of(F, y, weight), start, ridge, 50)
    theirs = minimize(objective, start, (F, y, weight, start, ridge), "L-BFGS-B", bounds=[(0, None)] * 4, tol=1e-14)
    assert objective(ours, F, y, weight, start, ridge) <= theirs.fun + 1e-7
    assert_allclose(ours, theirs.x, atol=1e-3)
    assert ours[1] == 0 or ridge == 100.0  # an expert that is wrong is not turned around
    assert (np.diff(losses) <= 1e-12).all()


def test_scores_that_tell_everything_do_not_run_away(rng):
    y = rng.integers(2, size=50)
    F = np.where(np.arange(2) == y[:, None], 1.0, -1.0)[:, :, None]
    w, _ = solve(Leads.of(F, y, np.ones(50)), np.ones(1), 1.0, 50)
    assert 2 < w[0] < 10


def test_only_models_with_experts_are_weighed():
    with pytest.raises(TypeError, match=r"ExpertWeights cannot be used with .*, which lacks experts to weigh"):
        GaussianNB(learner=ExpertWeights()).fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])


@pytest.mark.parametrize("settings", [{"ridge": -1}, {"max_rows": 0}, {"max_iter": 1.5}])
def test_settings_that_make_no_sense(settings, rng):
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    with pytest.raises(ValueError, match=next(iter(settings))):
        TabularClassifier(n_trees=4, learner=ExpertWeights(**settings), random_state=0).fit(X, y)


def test_a_sample_of_the_rows_will_do(rng):
    y = np.arange(2000) % 2
    X = rng.normal(size=(2000, 3)) + y[:, None]
    whole = TabularClassifier(n_trees=20, random_state=0).fit(X, y)
    some = TabularClassifier(n_trees=20, random_state=0, learner=ExpertWeights(max_rows=500)).fit(X, y)
    order = rng.permutation(2000)
    again = TabularClassifier(n_trees=20, random_state=0, learner=ExpertWeights(max_rows=500)).fit(X[order], y[order])
    assert_allclose(list(some.weights_.values()), list(again.weights_.values()), rtol=1e-6, atol=1e-9)
    assert some.weights_ != whole.weights_
    assert abs(some.predict_proba(X) - whole.predict_proba(X)).mean() < 0.03


def test_experts_without_weights_begin_with_the_first(rng):
    """A model of experts under another learner takes the weights that learning would begin with."""
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 2)) + y[:, None]
    fitted = TabularClassifier(n_trees=10, random_state=0).fit(X, y)
    model = fitted._fit_result().model
    plain = ModelClassifier(model.weighed(None)).fit(X, y)
    given = dict(zip(model.experts(), model.first_weights().tolist(), strict=True))
    assert_allclose(plain.predict_proba(X), ModelClassifier(model.weighed(given)).fit(X, y).predict_proba(X))
