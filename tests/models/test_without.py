"""Leave-one-out from the sums, against parameters of all other rows with everything resolved held as it is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from suffice import (
    CategoricalNB,
    DegenerateError,
    Dirichlet,
    GaussianNB,
    GaussianPrior,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    ModelClassifier,
    MultinomialNB,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
)
from suffice._core.labels import OneHot
from suffice._core.probability import log_posterior
from suffice.data import Memory
from suffice.learners import RiskCalibration
from suffice.models import Removable
from tests.zoo import every

seeds = st.integers(0, 2**32 - 1)
leaves = every(lambda entry: entry.adds and isinstance(entry.model(), Removable))


def brute_force(fit, X, y, weight):
    """log p(y | x_i) under the parameters of all rows but i, by summing that row and taking it from the sums."""
    result = fit._fit_result()
    model, s = result.model, result.statistics if result.moved is None else result.moved
    rows = model.encoder(X)
    weight = weight * fit._class_weights(fit.statistics_)[np.searchsorted(fit.classes_, y)]
    out = np.empty((len(y), len(fit.classes_)))
    for i in range(len(y)):
        at = slice(i, i + 1)
        gone = model.statistics(rows[at], OneHot.of(y[at], weight[at]).onto(fit.classes_))
        out[i] = log_posterior(model.log_joint_density(rows[at], model.parameters(s - gone)))[0]
    return out


@leaves
@given(seeds, st.integers(1, 4), st.integers(2, 4))
def test_it_equals_refitting_with_what_was_resolved_held(entry, seed, d, k):
    X, y = entry.draw(seed, d=d, k=k, n=40)
    weight = np.random.default_rng(seed).choice([0.5, 1.0, 3.0], len(y))
    fit = entry.estimator().fit(X, y, sample_weight=weight)
    assert_allclose(fit.loo_log_proba(X, y, weight), brute_force(fit, X, y, weight), rtol=1e-8, atol=1e-8)


@leaves
@given(seeds, st.integers(1, 4), st.integers(2, 4))
def test_weights_in_all_classes_are_taken_out_at_once(entry, seed, d, k):
    X, y = entry.draw(seed, d=d, k=k, n=40)
    rng = np.random.default_rng(seed)
    model = entry.estimator().fit(X, y)._fit_result().model
    rows, Y = model.encoder(X), OneHot.of(y).matrix().toarray()
    V = Y * rng.choice([0.5, 1.0, 3.0], (len(y), 1)) + rng.uniform(0.0, 0.4, Y.shape)
    own = V * rng.uniform(-1.0, 0.9, Y.shape)  # more than there was, or less
    s = model.statistics(rows, V)
    got = model.log_joint_without(rows, own, model.parameters(s), s)
    for i in range(len(y)):
        at = slice(i, i + 1)
        theta = model.parameters(s - model.statistics(rows[at], own[at]))
        assert_allclose(got[at], model.log_joint_density(rows[at], theta), rtol=1e-8, atol=1e-8)


@leaves
@given(seeds, st.floats(0.9, 3.0))
def test_a_row_that_takes_more_than_there_is_leaves_no_nan(entry, seed, times):
    X, y = entry.draw(seed)
    result = entry.estimator().fit(X, y)._fit_result()
    model, rows = result.model, result.model.encoder(X)
    s = model.restrict(result.statistics)
    own = np.tile(times * s.mass, (len(y), 1))
    own[:, 0] = 0.0
    got = model.log_joint_without(rows, own, result.parameters, s)
    assert not np.isnan(got).any()
    assert (got < np.inf).all()


@every(lambda entry: entry.adds and entry.missing and isinstance(entry.model(), Removable))
@given(seeds)
def test_missing_entries_take_no_part(entry, seed):
    X, y = entry.draw(seed, n=90)
    X = entry.holed(X, seed)
    fit = entry.estimator().fit(X, y)
    if isinstance(fit, QuadraticDiscriminantAnalysis | LinearDiscriminantAnalysis):
        with pytest.raises(ValueError, match="were learned by EM, from which a single row cannot be taken"):
            fit.loo_log_proba(X, y)
    else:
        assert_allclose(fit.loo_log_proba(X, y), brute_force(fit, X, y, np.ones(len(y))), rtol=1e-8, atol=1e-8)


@leaves
@given(seeds)
def test_a_row_changes_its_own_class_and_what_is_shared_alone(entry, seed):
    X, y = entry.draw(seed)
    result = entry.estimator().fit(X, y)._fit_result()
    model, s = result.model, result.statistics if result.moved is None else result.moved
    rows, Y = model.encoder(X), OneHot.of(y)
    left, whole = model.log_density_without(rows, Y, result.parameters, s), model.log_density(rows, result.parameters)
    others = np.arange(len(Y.classes)) != Y.codes[:, None]
    if getattr(model, "tied", False):
        assert (left != whole).any(axis=1).all()
    else:
        assert_allclose(left[others], whole[others], rtol=1e-13)
    nobody = OneHot(Y.classes, np.full(len(y), -1), Y.weight)
    assert_allclose(model.log_density_without(rows, nobody, result.parameters, s), whole, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("prototype", [GaussianNB(), GaussianNB(tied=True)], ids=["free", "tied"])
def test_sparse_rows_are_as_dense_ones(prototype, rng, monkeypatch):
    monkeypatch.setattr("suffice.models.gaussian.diagonal.ENTRIES", 50)
    X, y = rng.poisson(0.7, (40, 6)).astype(float), np.arange(40) % 3
    dense, sparse = (
        prototype.fit(X, y).loo_log_proba(X, y),
        prototype.fit(csr_array(X), y).loo_log_proba(csr_array(X), y),
    )
    assert_allclose(sparse, dense, rtol=1e-9)


@pytest.mark.parametrize(
    "prototype",
    [
        GaussianNB(),
        GaussianNB(tied=True),
        GaussianNB(GaussianPrior(2.0, 5.0, kind="niw")),
        QuadraticDiscriminantAnalysis(),
        LinearDiscriminantAnalysis(GaussianPrior(2.0, 5.0)),
        LinearDiscriminantAnalysis(GaussianPrior(2.0, 5.0, kind="niw")),
        NaiveBayes(),
    ],
    ids=str,
)
def test_of_the_last_row_of_a_class_the_prior_is_left(prototype, rng):
    X, y = rng.normal(size=(21, 2)), np.append(np.arange(20) % 2, 2)
    X[:, 1] += y
    fit = prototype.fit(X, y)
    left = fit.loo_log_proba(X, y)
    assert left[-1, 2] == -np.inf  # no other row: it cannot be that class
    assert np.isfinite(left[:-1]).all()
    assert np.isfinite(left[-1, :2]).all()
    even = prototype.set_params(class_prior="uniform").fit(X, y)
    assert_allclose(even.loo_log_proba(X, y), brute_force(even, X, y, np.ones(21)), rtol=1e-8, atol=1e-8)
    assert np.isfinite(even.loo_log_proba(X, y)).all()


def test_without_a_prior_a_class_of_one_row_is_impossible():
    X, y = np.array([["u"], ["v"], ["u"], ["w"]]), np.array([0, 0, 0, 1])
    left = CategoricalNB(prior=None).fit(X, y).loo_log_proba(X, y)
    assert left[3, 1] == -np.inf
    assert left[3, 0] == 0.0


@pytest.mark.parametrize(
    "prototype", [GaussianNB(prior=None), QuadraticDiscriminantAnalysis(prior=None)], ids=["diagonal", "full"]
)
def test_a_row_that_alone_holds_up_a_variance_is_next_to_impossible(prototype):
    X = np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 2.0], [1.0, 1.5], [5.0, 5.0], [6.0, 7.0], [7.0, 6.0], [9.0, 9.5]])
    y = np.repeat([0, 1], 4)
    fit = prototype.fit(X, y)
    left = fit.loo_log_proba(X, y)
    assert np.isfinite(left).all()
    assert left[3, 0] < -1e6  # without it, the first column of class 0 is constant
    with pytest.raises(DegenerateError):
        brute_force(fit, X[3:4], y[3:4], np.ones(1))


def test_weights_that_do_not_add_up_to_the_bit(rng):
    X, y = rng.normal(size=(7, 2)), np.array([0, 0, 0, 0, 1, 1, 2])
    weight = np.array([0.1, 0.2, 0.3, 0.7, 0.1, 0.2, 0.3])
    fit = GaussianNB().partial_fit(X[:3], y[:3], classes=[0, 1, 2], sample_weight=weight[:3])
    fit.partial_fit(X[3:], y[3:], sample_weight=weight[3:])
    assert fit.loo_log_proba(X, y, weight)[6, 2] == -np.inf


def test_class_weights_count(rng):
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 3
    one = GaussianNB(class_weight={1: 2.0}).fit(X, y).loo_log_proba(X, y)
    two = GaussianNB().fit(X, y, np.where(y == 1, 2.0, 1.0)).loo_log_proba(X, y, np.where(y == 1, 2.0, 1.0))
    assert_allclose(one, two, rtol=1e-12)


def test_rows_of_weight_zero_are_predicted_as_any_other(rng):
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 3
    weight = (np.arange(30) > 4).astype(float)
    fit = QuadraticDiscriminantAnalysis().fit(X, y, weight)
    assert_allclose(fit.loo_log_proba(X, y, weight)[:5], fit.predict_log_proba(X[:5]), rtol=1e-9)


def test_single_precision_stays(rng):
    X, y = rng.normal(size=(30, 2)).astype(np.float32), np.arange(30) % 3
    left = GaussianNB().fit(X, y).loo_log_proba(X, y)
    assert left.dtype == np.float32
    assert_allclose(left, GaussianNB().fit(X.astype(float), y).loo_log_proba(X.astype(float), y), rtol=1e-4)


def test_batches_do_not_matter(rng, monkeypatch):
    X, y = rng.normal(size=(50, 2)), np.arange(50) % 3
    fit = LinearDiscriminantAnalysis().fit(X, y)
    whole = fit.loo_log_proba(X, y)
    monkeypatch.setattr("suffice.data.memory.ENTRIES", 14)
    assert_allclose(fit.loo_log_proba(X, y), whole, rtol=1e-12)


@pytest.mark.parametrize(
    ("prototype", "said"),
    [
        (GaussianNB(learner=RiskCalibration()), "a row cannot be removed from a fit by RiskCalibration"),
        (LogisticRegression(), "a row cannot be removed from a fit by Newton"),
        (QuadraticDiscriminantAnalysis(tying=0.5), "this QuadraticDiscriminantAnalysis has no leave-one-out"),
        (LinearDiscriminantAnalysis(shrinkage=0.5), "this LinearDiscriminantAnalysis has no leave-one-out"),
        (MultinomialNB(), "this MultinomialNB has no leave-one-out"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_says_so(prototype, said):
    assert not hasattr(prototype, "loo_log_proba")
    with pytest.raises(AttributeError) as caught:
        _ = prototype.loo_log_proba
    assert said in str(caught.value.__cause__)
    assert "cross_validate" in str(caught.value.__cause__)


def test_rows_that_were_not_learned_are_refused(rng):
    X, y = rng.normal(size=(9, 2)), np.arange(9) % 3
    fit = GaussianNB().fit(X, y)
    with pytest.raises(ValueError, match=r"the classes \[7\] were never learned"):
        fit.loo_log_proba(X[:2], [0, 7])
    with pytest.raises(ValueError, match="row 1 has weight 4, but all learned rows of class 1 together 3"):
        fit.loo_log_proba(X, y, 4.0 * (np.arange(9) == 1))
    with pytest.raises(TypeError, match="rows in memory"):
        fit.loo_log_proba(Memory(X, y), y)
    with pytest.raises(ValueError, match="2 features"):
        fit.loo_log_proba(X[:, :1], y)
    with pytest.raises(ValueError, match="inconsistent"):
        fit.loo_log_proba(X, y[:4])


def test_a_smoothed_class_prior_is_left(rng):
    X, y = rng.normal(size=(21, 2)), np.append(np.arange(20) % 2, 2)
    fit = GaussianNB(class_prior=Dirichlet(1.0)).fit(X, y)
    assert_allclose(fit.loo_log_proba(X, y), brute_force(fit, X, y, np.ones(21)), rtol=1e-8, atol=1e-8)


def test_a_model_of_ones_own_has_it_by_its_type(rng):
    model = ModelClassifier(GaussianNB()._model())
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 3
    assert_allclose(model.fit(X, y).loo_log_proba(X, y), GaussianNB().fit(X, y).loo_log_proba(X, y))
