"""Fitted models and statistics add up, by Python's own sum as well."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from suffice import (
    CategoricalNB,
    FisherDiscriminant,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    QuadraticDiscriminantAnalysis,
)
from suffice.learners import ClosedForm
from tests.samples import IRIS, binned

KINDS = [
    CategoricalNB(),
    GaussianNB(),
    LinearDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(),
    LogisticRegression(learner=ClosedForm()),
    FisherDiscriminant(),
]
kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)


def pieces(kind):
    X = binned(IRIS[0]) if isinstance(kind, CategoricalNB) else IRIS[0]
    return X, [clone(kind).fit(X[rows::3], IRIS[1][rows::3]) for rows in range(3)]


@kinds
def test_models_are_summed(kind):
    X, parts = pieces(kind)
    before = [part.predict_proba(X) for part in parts]
    assert_allclose(sum(parts).predict_proba(X), clone(kind).fit(X, IRIS[1]).predict_proba(X), atol=1e-9)
    assert_allclose([part.predict_proba(X) for part in parts], before)


@kinds
def test_statistics_are_summed(kind):
    _, parts = pieces(kind)
    together = sum(part.statistics_ for part in parts)
    assert_allclose(together.mass, np.bincount(IRIS[1]))
    assert repr(together) == repr(sum(parts).statistics_)


def test_a_sum_of_one_is_a_copy():
    a = GaussianNB().fit(*IRIS)
    b = sum([a])
    b.forget(IRIS[0][:10], IRIS[1][:10])
    assert a.class_count_.sum() == 150
    a.class_count_[0] = 1e6  # nobody's but the caller's
    assert a.class_count_.sum() == 150
