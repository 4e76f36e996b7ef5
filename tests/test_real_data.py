"""Real data sets: against scikit-learn and SciPy, in pieces, and in other units."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import discriminant_analysis, naive_bayes
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import KBinsDiscretizer, StandardScaler

from suffice import (
    CategoricalNB,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    QuadraticDiscriminantAnalysis,
)
from suffice.learners import ClosedForm
from tests.oracles import normal_classes, ordinal

pytestmark = pytest.mark.data

NAMES = [
    "iris",
    "wine",
    "seeds",
    "haberman",
    "diabetes",
    "heart_statlog",
    "vehicle",
    "wdbc",
    "mammographic",
    "indian_liver",
    "magic",
    "satimage",
    "svmguide1",
    "waveform",
    "twonorm",
    "pulsar",
]
GAUSSIANS = [
    GaussianNB(),
    QuadraticDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(),
    LogisticRegression(learner=ClosedForm()),
]
each_gaussian = pytest.mark.parametrize("prototype", GAUSSIANS, ids=lambda p: type(p).__name__)
each_name = pytest.mark.parametrize("name", NAMES)


def standardised(load, name):
    X, y = load(name)
    return StandardScaler().fit_transform(X.to_numpy(dtype=float)), y


def binned(load, name):
    X, y = load(name)
    bins = KBinsDiscretizer(5, encode="ordinal", strategy="uniform")
    return bins.fit_transform(X.to_numpy(dtype=float)), y


def condition(X, y):
    return max(np.linalg.cond(np.cov(X[y == c].T)) for c in np.unique(y))


def equal(ours, theirs, X, tolerance):
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=tolerance)


@each_name
def test_gaussian_nb_is_scikit_learns_without_its_smoothing(load, name):
    X, y = standardised(load, name)
    equal(GaussianNB(prior=None).fit(X, y), naive_bayes.GaussianNB(var_smoothing=0).fit(X, y), X, 1e-9)


@each_name
def test_lda_is_scikit_learns(load, name):
    X, y = standardised(load, name)
    theirs = discriminant_analysis.LinearDiscriminantAnalysis("lsqr").fit(X, y)
    equal(LinearDiscriminantAnalysis(prior=None).fit(X, y), theirs, X, 1e-9)


@each_name
def test_categorical_nb_is_scikit_learns_on_codes(load, name):
    X, y = binned(load, name)
    theirs = ordinal(naive_bayes.CategoricalNB(alpha=1.0))(X, y, X)
    assert_allclose(CategoricalNB().fit(X, y).predict_proba(X), theirs, rtol=0, atol=1e-9)


@each_name
def test_qda_is_scipys_normal_density(load, name):
    X, y = standardised(load, name)
    assert condition(X, y) < 1e8
    ours = QuadraticDiscriminantAnalysis(prior=None).fit(X, y).predict_proba(X)
    assert_allclose(ours, normal_classes(X, y, X), rtol=0, atol=1e-9)


@each_name
def test_closed_form_logistic_regression_is_tied_naive_bayes(load, name):
    X, y = standardised(load, name)
    ours = LogisticRegression(learner=ClosedForm(), prior=None).fit(X, y)
    equal(ours, GaussianNB(tied=True, prior=None).fit(X, y), X, 1e-10)


@each_gaussian
@each_name
def test_pieces_merging_and_forgetting_on_raw_features(load, name, prototype):
    check_arithmetic(prototype, *(np.asarray(part) for part in load(name)))


@each_name
def test_pieces_merging_and_forgetting_of_tables(load, name):
    check_arithmetic(CategoricalNB(), *binned(load, name))


def check_arithmetic(prototype, X, y):
    X = X.astype(float)

    def kind():
        return clone(prototype)

    whole = kind().fit(X, y)
    order = np.random.default_rng(0).permutation(len(y))
    for pieces in (1, 7, 100):
        bit = kind()
        for rows in np.array_split(order, pieces):
            bit.partial_fit(X[rows], y[rows])
        equal(bit, whole, X, 1e-10)
    a, b, c = (kind().fit(X[rows], y[rows]) for rows in np.array_split(order, 3))
    equal(a + b + c, whole, X, 1e-10)
    A, B = train_test_split(np.arange(len(y)), stratify=y, random_state=0, test_size=0.4)
    equal(kind().fit(X, y).forget(X[B], y[B]), kind().fit(X[A], y[A]), X, 1e-10)


@each_gaussian
@each_name
def test_far_from_zero_the_labels_agree(load, name, prototype):
    X, y = standardised(load, name)
    near, far = clone(prototype).fit(X, y), X + 1e8
    expected = near.predict(far - 1e8)  # the offset itself rounds the features
    bit = clone(prototype)
    for rows in np.array_split(np.random.default_rng(0).permutation(len(y)), 7):
        bit.partial_fit(far[rows], y[rows])
    assert (bit.predict(far) == expected).all()
    assert (clone(prototype).fit(far, y).predict(far) == expected).all()


@each_gaussian
@pytest.mark.parametrize("name", ["iris", "wine", "diabetes", "vehicle", "heart_statlog"])
def test_units_and_offsets_of_a_column_change_no_label(load, name, prototype):
    X, y = load(name)
    X = X.to_numpy(dtype=float)
    expected = clone(prototype).fit(X, y).predict(X)
    for j in range(X.shape[1]):
        for scale, shift in ((1e-6, 0.0), (1e6, 0.0), (1.0, 1e6 * X[:, j].std())):
            other = X.copy()
            other[:, j] = scale * X[:, j] + shift
            assert (clone(prototype).fit(other, y).predict(other) == expected).all(), (j, scale, shift)
