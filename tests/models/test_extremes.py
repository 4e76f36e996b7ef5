"""Numbers far apart and numbers near the end of their range."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from suffice import (
    FisherDiscriminant,
    GaussianNB,
    LinearBayes,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MinimaxProbabilityMachine,
    MinimumErrorMPM,
    QuadraticDiscriminantAnalysis,
    QuasiBayes,
    ScatterDiscriminant,
)
from suffice.learners import ClosedForm, RiskCalibration
from tests.samples import IRIS

FREE = [GaussianNB, QuadraticDiscriminantAnalysis, LinearDiscriminantAnalysis]


@pytest.mark.parametrize("kind", FREE)
@pytest.mark.parametrize("gap", [2e6, 1e8])
def test_classes_far_apart_keep_their_variances(kind, gap):
    y = np.repeat([0, 1], 30)
    X = np.random.default_rng(0).normal(size=(60, 2)) + gap * y[:, None]
    model = kind(prior=None).fit(X, y)
    assert model.score(X, y) == 1
    each = np.array([np.cov(X[y == c].T, bias=True) for c in (0, 1)])
    if kind is GaussianNB:
        assert_allclose(model.var_, np.diagonal(each, axis1=1, axis2=2), rtol=1e-6)
    else:
        expected = each if kind is QuadraticDiscriminantAnalysis else each.mean(axis=0)
        assert_allclose(model.covariance_, expected, rtol=1e-6)


ALL = {
    "nb": GaussianNB(),
    "nb-ml": GaussianNB(prior=None),
    "nb-rc": GaussianNB(learner=RiskCalibration()),
    "qda": QuadraticDiscriminantAnalysis(),
    "lda": LinearDiscriminantAnalysis(),
    "newton": LogisticRegression(),
    "logistic": LogisticRegression(learner=ClosedForm()),
    "fisher": FisherDiscriminant(),
    "scatter": ScatterDiscriminant(),
    "minimax": MinimaxProbabilityMachine(),
    "minimum-error": MinimumErrorMPM(),
    "quasi-bayes": QuasiBayes(),
    "linear-bayes": LinearBayes(),
}


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("power", [664, 1000])  # 1e200 and 1e301
def test_huge_units_are_refused(name, power):
    with pytest.raises(ValueError, match="column 0 has values too large for their squares to be numbers: scale it"):
        ALL[name].fit(IRIS[0] * 2.0**power, IRIS[1])


@pytest.mark.parametrize("scale", [1e-160, 1e-154, 1e153, 1e160])
@pytest.mark.parametrize("name", ["nb", "qda", "lda", "minimax"])
def test_scales_near_the_end_of_the_range_are_refused(name, scale):
    with pytest.raises(ValueError, match=r"too (large|small) for their squares to be numbers: scale it"):
        ALL[name].fit(IRIS[0] * scale, IRIS[1])


@pytest.mark.parametrize(
    ("kind", "rows"),
    [(GaussianNB, np.asarray), (GaussianNB, csr_array), (QuadraticDiscriminantAnalysis, np.asarray)],
)
def test_rows_too_far_for_their_squares_to_be_numbers_have_the_class_of_the_limit(kind, rows):
    """The class at 1e100 in some direction is that at 1e200: variances alone decide it."""
    model = kind().fit(IRIS[0], IRIS[1])
    ways = np.random.default_rng(0).normal(size=(20, 4))
    near, far = (model.predict_proba(rows(size * ways)) for size in (1e100, 1e200))
    assert len(np.unique(near.argmax(axis=1))) > 1
    assert_allclose(far, near)
    assert_allclose(far.max(axis=1), 1)
    if rows is np.asarray:
        ways[:, 1] = np.nan
        assert_allclose(model.predict_proba(1e200 * ways), model.predict_proba(1e100 * ways))
