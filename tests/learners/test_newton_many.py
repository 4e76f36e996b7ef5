"""Newton's method where rows are many: a start from a sample, and metrics that are not the curvature of all rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import linear_model
from sklearn.preprocessing import StandardScaler

from suffice import LogisticRegression
from suffice.data import Memory
from suffice.data.recorded import Recorded
from suffice.learners import Newton, newton
from tests.data.test_recorded import Kept

MANY = 20_000  # enough to begin with a sample


def drawn(n, d, k, seed=0, apart=0.6):
    """Rows of k classes about different means, in units and about origins of their own."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    X = rng.normal(size=(n, d)) + apart * rng.normal(size=(k, d))[y]
    return X * 10.0 ** rng.integers(-2, 3, size=d) + 100.0 * rng.normal(size=d), y


def theirs(X, y, **settings):
    """Coefficients of standardised features by scikit-learn."""
    Z = StandardScaler().fit_transform(X)
    return linear_model.LogisticRegression(C=1.0, tol=1e-10, max_iter=5000, **settings).fit(Z, y)


def ours(X, y, **settings):
    """Ours, and its coefficients in the same units."""
    model = LogisticRegression(**settings).fit(X, y)
    return model, model.coef_ * X.std(axis=0)


def plainly(monkeypatch):
    """Every engine as one that has no few rows to begin with."""
    monkeypatch.setattr(Memory, "cheap_sample", lambda self, _rows: self)


@pytest.mark.parametrize("k", [2, 3])
def test_a_start_from_a_sample_ends_at_scikit_learns_optimum_in_few_passes(k):
    X, y = drawn(MANY, 6, k)
    model, coef = ours(X, y)
    np.testing.assert_allclose(coef, theirs(X, y).coef_, atol=1e-6)
    assert model.converged_
    assert model.n_iter_ <= 6


def test_it_ends_where_newtons_method_alone_does(monkeypatch):
    X, y = drawn(MANY, 6, 3, seed=1)
    weight = np.random.default_rng(0).uniform(0.0, 3.0, size=MANY)
    sampled = LogisticRegression(learner=Newton(l2=20.0)).fit(X, y, weight)
    plainly(monkeypatch)
    plain = LogisticRegression(learner=Newton(l2=20.0)).fit(X, y, weight)
    np.testing.assert_allclose(sampled.coef_ * X.std(axis=0), plain.coef_ * X.std(axis=0), atol=1e-6)
    assert sampled.n_iter_ < plain.n_iter_


@pytest.mark.parametrize("l2", [0.0, 1.0])
def test_a_sample_without_some_class_or_column_does_no_harm(monkeypatch, l2):
    X, y = drawn(MANY, 4, 2)
    rare = np.zeros(MANY)
    rare[:20] = 1.0  # a column that is mostly zero, and a class of few rows
    y[5:45] = 2
    X = np.column_stack([X, rare])
    sampled = LogisticRegression(learner=Newton(l2=l2)).fit(X, y)
    plainly(monkeypatch)
    plain = LogisticRegression(learner=Newton(l2=l2)).fit(X, y)
    np.testing.assert_allclose(sampled.predict_proba(X), plain.predict_proba(X), atol=1e-6)
    assert sampled.converged_ == plain.converged_


@pytest.mark.parametrize("correlated", [0.0, 0.2])
def test_many_coefficients_are_learned_by_gradients_alone(monkeypatch, correlated):
    X, y = drawn(5000, 150, 15, apart=0.15)  # 14 * 151 coefficients
    X = StandardScaler().fit_transform(X)
    X = X + correlated * X @ np.random.default_rng(1).normal(size=(150, 150))
    monkeypatch.setattr(newton, "Bend", None)  # asks for curvatures
    model, coef = ours(X, y)
    assert model.converged_
    reference, Z, rows = theirs(X, y), StandardScaler().fit_transform(X), np.arange(len(y))
    losses = [-np.log(P[rows, y]).mean() for P in (model.predict_proba(X), reference.predict_proba(Z))]
    penalties = [0.5 * (c**2).sum() / len(y) for c in (coef, reference.coef_)]
    assert losses[0] + penalties[0] == pytest.approx(losses[1] + penalties[1], abs=1e-7)


def test_conjugate_gradients_solve_what_factors_solve(monkeypatch):
    X, y = drawn(600, 6, 3)
    _, dense = ours(X, y)
    monkeypatch.setattr(newton, "MAX_DENSE", 5)
    model, by_products = ours(X, y)
    np.testing.assert_allclose(by_products, dense, atol=1e-6)
    assert model.converged_


def test_few_passes_that_are_not_enough_are_followed_by_newtons(monkeypatch):
    X, y = drawn(MANY, 6, 3)
    _, right = ours(X, y)
    monkeypatch.setattr(newton.Start, "patience", property(lambda _: 1))
    model, coef = ours(X, y)
    np.testing.assert_allclose(coef, right, atol=1e-6)
    assert model.converged_
    assert model.n_iter_ > 1


def test_max_iter_counts_passes_over_all_rows():
    X, y = drawn(MANY, 6, 2)
    with pytest.warns(UserWarning, match="still falling after 2 iterations; raise max_iter or tol"):
        model = LogisticRegression(learner=Newton(max_iter=2)).fit(X, y)
    assert model.n_iter_ == 2


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_contests_one_by_one_are_those_of_the_same_reads(monkeypatch, multi_class):
    X, y = drawn(MANY, 5, 4)
    alone = LogisticRegression(multi_class=multi_class).fit(X, y)
    monkeypatch.setattr(Memory, "materialise", lambda *_: None)
    together = LogisticRegression(multi_class=multi_class).fit(X, y)
    np.testing.assert_allclose(alone.predict_proba(X), together.predict_proba(X), atol=1e-6)


def test_a_recorded_fit_is_replayed_without_rows():
    X, y = drawn(MANY, 4, 3)
    model, kept = LogisticRegression()._model(), Kept()
    first = Newton().learn(model, Recorded(kept, lambda: Memory(X, y)))
    kept.next = 0
    again = Newton().learn(model, Recorded(kept, lambda: 1 / 0))
    np.testing.assert_array_equal(first.parameters.coef, again.parameters.coef)
    np.testing.assert_allclose(first.parameters.coef, Newton().learn(model, Memory(X, y)).parameters.coef, rtol=1e-12)


def test_few_rows_are_drawn_evenly_and_only_where_they_are_few():
    data = Memory(np.arange(1000.0)[:, None], np.arange(1000) % 3)
    few = data.cheap_sample(100)
    assert len(few.Y) == 100
    assert (np.diff(few.X[:, 0]) > 0).all()
    assert ((few.X[:, 0] // 10) == np.arange(100)).all()
    np.testing.assert_array_equal(few.Y.codes, few.X[:, 0] % 3)
    assert data.cheap_sample(251) is data
