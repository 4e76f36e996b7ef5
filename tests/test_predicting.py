"""What classifiers say of rows: joint densities, and numbers of the precision of the features."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn import naive_bayes
from sklearn.datasets import load_iris

from suffice import (
    CategoricalNB,
    FisherDiscriminant,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    QuadraticDiscriminantAnalysis,
)
from suffice._estimator.classifier import single_precision
from suffice.data import Memory
from suffice.models import Density
from tests.test_engines import collected
from tests.zoo import ENGINES, every

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::suffice.NoTangentPlaneWarning"),
    pytest.mark.filterwarnings("ignore::suffice.PoorFitWarning"),
]
seeds = st.integers(0, 2**32 - 1)


@every(Density)
@given(seeds)
def test_the_joint_density_leads_to_the_posterior(entry, seed):
    X, y = entry.draw(seed)
    fit = entry.estimator().fit(X, y)
    joint = fit.predict_joint_log_proba(X)
    assert joint.shape == (len(y), 3)
    assert_allclose(joint - logsumexp(joint, axis=1, keepdims=True), fit.predict_log_proba(X), rtol=1e-8, atol=1e-8)


@every(lambda entry: not isinstance(entry.model(), Density))
def test_without_a_density_there_is_no_joint_probability(entry):
    estimator = entry.estimator()
    assert not hasattr(estimator, "predict_joint_log_proba")
    with pytest.raises(AttributeError) as caught:
        _ = estimator.predict_joint_log_proba
    assert f"{type(estimator).__name__} learns p(y | x) alone" in str(caught.value.__cause__)


@pytest.mark.parametrize("kind", [QuadraticDiscriminantAnalysis, LinearDiscriminantAnalysis])
def test_joint_densities_are_normalised(kind, rng):
    X, y = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 3)) + 7, np.arange(60) % 3
    fit = kind().fit(X, y)
    covariance = np.broadcast_to(fit.covariance_, (3, 3, 3))
    normal = [multivariate_normal(m, c).logpdf(X) for m, c in zip(fit.means_, covariance, strict=True)]
    expected = np.log(fit.class_prior_) + np.column_stack(normal)
    assert_allclose(fit.predict_joint_log_proba(X), expected, rtol=1e-10)


def test_joint_probabilities_are_those_of_scikit_learn():
    X, y = load_iris(return_X_y=True)
    ours, theirs = GaussianNB(prior=None).fit(X, y), naive_bayes.GaussianNB(var_smoothing=0).fit(X, y)
    assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-10)
    codes = np.column_stack([np.unique(c, return_inverse=True)[1] for c in X.T])
    ours, theirs = CategoricalNB().fit(codes, y), naive_bayes.CategoricalNB().fit(codes, y)
    assert_allclose(ours.predict_joint_log_proba(codes), theirs.predict_joint_log_proba(codes), rtol=1e-10)


@pytest.mark.parametrize("engine", ENGINES)
def test_joint_probabilities_and_coordinates_come_from_every_engine(engine, rng):
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 3
    fit = LinearDiscriminantAnalysis().fit(X, y)
    data, order = ENGINES[engine](X, y)
    for ask in (fit.predict_joint_log_proba, fit.transform):
        assert_allclose(collected(ask(data)), ask(X)[order], atol=1e-12)


NUMBERS = ("predict_proba", "predict_log_proba", "decision_function", "predict_joint_log_proba", "transform")


@every(lambda entry: not entry.categories and not entry.mixed)
@given(seeds)
def test_numbers_have_the_precision_of_the_features(entry, seed):
    X, y = entry.draw(seed)
    X = X.astype(np.float32)
    labels = y.astype(np.float64)
    fit = entry.estimator().fit(X, labels)
    for name in NUMBERS:
        if hasattr(fit, name):
            short, long = getattr(fit, name)(X), getattr(fit, name)(X.astype(np.float64))
            assert (short.dtype, long.dtype) == (np.float32, np.float64)
            assert_allclose(short, long, rtol=1e-6, atol=1e-6)
    assert fit.predict(X).dtype == np.float64


@pytest.mark.parametrize(
    ("single", "double"),
    [
        (np.zeros((2, 2), np.float32), np.zeros((2, 2))),
        (sparse.csr_array(np.zeros((2, 2), np.float32)), sparse.csr_array(np.zeros((2, 2)))),
        (pd.DataFrame(np.zeros((2, 2), np.float32)), pd.DataFrame({"a": np.zeros(2, np.float32), "b": np.zeros(2)})),
        (pl.DataFrame({"a": [1.0]}, {"a": pl.Float32}), pl.DataFrame({"a": [1.0]})),
        (pl.DataFrame({"a": [1.0]}, {"a": pl.Float32}).to_arrow(), [[1.0]]),
    ],
)
def test_what_single_precision_is(single, double):
    assert single_precision(single)
    assert not single_precision(double)


def test_categories_of_float32_have_probabilities_of_float32(rng):
    X, y = rng.integers(3, size=(30, 2)).astype(np.float32), np.arange(30) % 2
    fit = CategoricalNB().fit(X, y)
    assert fit.predict_proba(X).dtype == np.float32
    assert fit.predict_proba(X.astype(int)).dtype == np.float64


def test_log_probabilities_beyond_float32_are_minus_infinity():
    X, y = np.array([[0.0], [1e-19], [1.0], [1.0 + 1e-6]], dtype=np.float32), np.array([0, 0, 1, 1])
    far = GaussianNB(prior=None).fit(X, y).predict_log_proba(np.array([[1e19]], dtype=np.float32))
    assert far.dtype == np.float32
    assert far.min() == -np.inf


@every(lambda entry: entry.adds)
@given(seeds, st.sampled_from([0.0, 0.25, 0.9, 1.0]), st.integers(8, 50))
def test_decay_is_a_smaller_weight(entry, seed, decay, cut):
    X, y = entry.draw(seed)
    rows = np.concatenate([np.arange(cut), np.arange(24, 60)])
    weight = np.concatenate([np.full(cut, decay), np.ones(36)])
    bits = entry.estimator().partial_fit(X[:cut], y[:cut]).partial_fit(X[24:], y[24:], decay=decay)
    whole = entry.estimator().fit(X[rows], y[rows], sample_weight=weight)
    assert bits.classes_.tolist() == whole.classes_.tolist()
    assert_allclose(bits.predict_proba(X), whole.predict_proba(X), rtol=0, atol=entry.tolerance)
    assert_allclose(bits.class_count_, whole.class_count_)


@pytest.mark.filterwarnings("ignore:sample_weight sums to")  # less than some priors count
@every(lambda entry: entry.adds)
@given(seeds)
def test_what_has_decayed_can_be_forgotten_for_what_it_counts(entry, seed):
    X, y = entry.draw(seed)
    model = (
        entry.estimator().partial_fit(X, y).partial_fit(X[:8], y[:8], decay=0.5).partial_fit(X[:9], y[:9], decay=0.5)
    )
    model.forget(X[40:], y[40:], sample_weight=np.full(20, 0.25))
    weight = np.concatenate([np.full(40, 0.25), np.full(8, 0.5), np.ones(9)])
    rows = np.concatenate([np.arange(40), np.arange(8), np.arange(9)])
    others = entry.estimator().fit(X[rows], y[rows], sample_weight=weight)
    assert_allclose(model.predict_proba(X), others.predict_proba(X), rtol=0, atol=10 * entry.tolerance)


def test_declared_classes_survive_a_decay_of_nothing(rng):
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    model = GaussianNB().partial_fit(X, y, classes=[0, 1, 2]).partial_fit(X[::2], y[::2] + 2, decay=0.0)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.class_count_.tolist() == [0, 0, 10]


@pytest.mark.parametrize("decay", [-0.1, 1.5, np.nan, "half", None])
def test_a_decay_is_a_number_from_0_to_1(decay):
    model = GaussianNB().partial_fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="decay must be a number from 0 to 1, got"):
        model.partial_fit([[2.0]], [1], decay=decay)
    assert model.class_count_.tolist() == [1, 1]


@pytest.mark.parametrize("kind", [LogisticRegression, FisherDiscriminant])
def test_data_sets_give_what_rows_give(kind, rng):
    X, y = rng.normal(size=(40, 2)).astype(np.float32), np.arange(40) % 2
    fit = kind().fit(X, y)
    assert_allclose(fit.predict_proba(Memory(X)), fit.predict_proba(X), rtol=1e-6)
