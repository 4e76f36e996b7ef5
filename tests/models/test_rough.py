"""Scores in single precision where nothing is lost by it: bounds, and probabilities beside exact ones."""

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import multivariate_normal

import suffice
from suffice.models.gaussian import full
from suffice.models.gaussian.full import Rough, likely_scores


def drawn(n, d, k, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    X = rng.normal(size=(n, d))
    for c in range(k):
        rows = y == c
        X[rows] = X[rows] @ (np.eye(d) + rng.normal(size=(d, d)) / (2 * np.sqrt(d))) + rng.normal(size=d) / np.sqrt(d)
    return scale * (X + 3.0), y


def learned(X, y, **settings):
    model = suffice.QuadraticDiscriminantAnalysis(**settings).fit(X, y)
    fit = model._fit_result()
    return model, fit.model, fit.parameters


@pytest.mark.parametrize("scale", [1.0, 1e-30, 1e30])
@pytest.mark.parametrize("singular", [1.0, 1e-4])
def test_exact_scores_are_between_the_bounds(scale, singular):
    X, y = drawn(3000, 80, 6, scale=scale)
    X[:, 1] = X[:, 0] + singular * X[:, 1]  # nearly a copy
    _, model, theta = learned(X, y)
    exact = model.log_joint(model.encoder(X), theta)
    scores, least, most = Rough.of(theta, theta.class_log_prob + theta.peaks()).bounds(X)
    room = 1e-12 * abs(exact)
    assert (least <= exact + room).all()
    assert (exact <= most + room).all()
    assert (least <= scores).all()
    assert (scores <= most).all()
    if singular == 1.0:
        assert np.median(most - least) < 5.0  # tight enough to tell classes apart


def test_probabilities_are_those_of_scipy():
    X, y = drawn(2000, 70, 5)
    model, _, theta = learned(X, y, prior=None)
    means, log_p = theta.origin + theta.mean, theta.class_log_prob
    each = [multivariate_normal(m, c).logpdf(X) + p for m, c, p in zip(means, theta.covariance, log_p, strict=True)]
    np.testing.assert_allclose(model.predict_proba(X), softmax(np.transpose(each), axis=1), atol=1e-11)


@pytest.mark.parametrize("seed", range(3))
def test_probabilities_do_not_change(seed, monkeypatch):
    X, y = drawn(3000, 64, 8, seed)
    X[:400] *= 0.05  # near all classes
    X[400:420] *= 1e25  # squares are beyond single precision
    X[420:430] *= 1e180  # and beyond double precision
    model, *_ = learned(X[430:], y[430:])
    fast, labels = model.predict_proba(X), model.predict(X)
    monkeypatch.setattr(full, "MIN_ROUGH_ROWS", len(X) + 1)
    np.testing.assert_allclose(fast, model.predict_proba(X), rtol=0, atol=1e-14)
    np.testing.assert_array_equal(labels, model.predict(X))
    np.testing.assert_array_equal(labels, model.classes_[fast.argmax(axis=1)])


def test_few_pairs_are_scored_exactly_where_classes_are_far_apart_and_all_where_they_overlap():
    X, y = drawn(3000, 64, 8)
    X[:, :8] += 40.0 * np.eye(8)[y]
    _, _, theta = learned(X, y)
    const, asked = theta.class_log_prob + theta.peaks(), []

    def exact(rows, c):
        asked.append(len(rows))
        return np.zeros(len(rows))

    likely_scores(X, theta, const, exact)
    assert sum(asked) < 0.2 * X.shape[0] * 8
    asked.clear()
    likely_scores(0.0 * X + X.mean(axis=0), theta, const, exact)
    assert sum(asked) == X.shape[0] * 8


def test_a_class_of_no_probability_stays_impossible():
    X, y = drawn(3000, 64, 5)
    model, *_ = learned(X, y, class_prior=[0.0, 0.25, 0.25, 0.25, 0.25])
    assert (model.predict_proba(X)[:, 0] == 0.0).all()


def test_logarithms_have_no_rough_ones():
    X, y = drawn(3000, 64, 8)
    model, *_ = learned(X, y)
    np.testing.assert_array_equal(model.predict_log_proba(X[:50]), model.predict_log_proba(X)[:50])
