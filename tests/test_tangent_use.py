"""The tangent discriminants in use: designs of one's own, many classes, priors, costs, and what makes no sense."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import ndtr
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss

from suffice import (
    DesignedDiscriminant,
    FisherDiscriminant,
    LinearBayes,
    MinimaxProbabilityMachine,
    MinimumErrorMPM,
    NoTangentPlaneWarning,
    ScatterDiscriminant,
)
from suffice.learners import RiskCalibration
from tests.models.test_tangent import KINDS, two_classes


def test_designs_lead_to_the_known_discriminants():
    X, y = two_classes(4, 3, gap=2)
    p = (y == 0).mean()

    def bayes(mu1, mu2, var1, var2):
        return -p * ndtr(mu1 / np.sqrt(var1)) - (1 - p) * ndtr(-mu2 / np.sqrt(var2))

    def kappa(mu1, mu2, var1, var2):
        return (mu2 - mu1) / (np.sqrt(var1) + np.sqrt(var2))

    def between(mu1, mu2, var1, var2):
        return (p * mu1**2 + (1 - p) * mu2**2) / (p * var1 + (1 - p) * var2)

    for criterion, known in ((bayes, LinearBayes), (kappa, MinimaxProbabilityMachine)):
        ours, theirs = DesignedDiscriminant(criterion).fit(X, y), known().fit(X, y)
        assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4)
        assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-4)
    with pytest.raises(ValueError, match="criterion must be a function of"):
        DesignedDiscriminant(None).fit(X, y)
    with pytest.raises(ValueError, match="the criterion must be a finite number"):
        DesignedDiscriminant(lambda *moments: moments[0] * np.nan).fit(X, y)


@pytest.mark.parametrize(
    ("criterion", "message"),
    [
        (lambda *moments: 1.0, "must return one number for each plane"),
        (lambda mu1, *rest: -mu1, "grows without end"),
        (lambda mu1, mu2, *rest: 1 / (mu2 - 1), "must be a finite number"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_criteria_that_choose_no_plane(criterion, message):
    with pytest.raises(ValueError, match=message):
        DesignedDiscriminant(criterion).fit(*two_classes(3, 3))


@pytest.mark.parametrize("d", [40, 200])
def test_fewer_rows_than_features(d):
    """Errors below all numbers still have a least one."""
    rng = np.random.default_rng(d)
    y = np.repeat([0, 1], 15)
    X, new = (rng.normal(size=(n, d)) + np.repeat([0, 1], n // 2)[:, None] * 0.7 for n in (30, 400))
    truth = np.repeat([0, 1], 200)
    bayes, minimax = LinearBayes().fit(X, y), MinimaxProbabilityMachine().fit(X, y)
    assert bayes.score(new, truth) > minimax.score(new, truth) - 0.03
    assert_allclose(bayes.distances_[0, 0], bayes.distances_[0, 1], rtol=0.02)


def test_far_rows_have_no_ties_one_against_the_rest():
    X, y = load_iris(return_X_y=True)
    model = FisherDiscriminant(multi_class="ovr").fit(X, y)
    far = X.mean(0) + 1e4 * (X - X.mean(0))
    assert (model.predict(far) == np.argmax(far @ model.coef_.T + model.intercept_, axis=1)).all()


def test_two_of_three_classes_are_those_two_alone():
    X, y = load_iris(return_X_y=True)
    for kind in KINDS:
        three = kind().fit(X, y)
        for row, pair in enumerate([(0, 1), (0, 2), (1, 2)]):
            rows = np.isin(y, pair)
            two = kind().fit(X[rows], y[rows])
            assert_allclose(three.coef_[row], two.coef_[0], rtol=1e-7)
            assert_allclose(three.s_[row], two.s_[0], rtol=1e-6)


def test_the_rest_is_all_others_together():
    X, y = load_iris(return_X_y=True)
    rest = ScatterDiscriminant(multi_class="ovr").fit(X, y)
    alone = ScatterDiscriminant().fit(X, y == 1)
    assert_allclose(rest.coef_[1], alone.coef_[0], rtol=1e-8)
    assert_allclose(rest.predict_proba(X).sum(axis=1), 1)


def test_given_class_probabilities_are_weights():
    X, y = load_iris(return_X_y=True)
    share = np.array([0.2, 0.5, 0.3])
    for multi_class in ("ovo", "ovr"):
        given = LinearBayes(class_prior=share, multi_class=multi_class).fit(X, y)
        weighted = LinearBayes(multi_class=multi_class).fit(X, y, sample_weight=share[y])
        assert_allclose(given.predict_proba(X), weighted.predict_proba(X), atol=1e-7)
        assert_allclose(given.class_prior_, share)
    with pytest.raises(ValueError, match=r"class_prior must be positive.*got 0 for \[2\]"):
        LinearBayes(class_prior=[0.5, 0.5, 0.0]).fit(X, y)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::suffice.NoTangentPlaneWarning")
def test_costs_move_the_decision(kind):
    X, y = two_classes(3, 4)
    plain = kind().fit(X, y)
    costly = kind(costs=[[0, 1], [5, 0]]).fit(X, y)
    p = plain.predict_proba(X)
    assert (costly.predict(X) == (5 * p[:, 1] > p[:, 0])).all()
    assert ((costly.decision_function(X) > 0) == (costly.predict(X) == 1)).all()
    assert_allclose(costly.predict_proba(X), p)
    X, y = load_iris(return_X_y=True)
    matrix = np.array([[0, 1, 1], [1, 0, 1], [1, 9, 0]])
    three = kind(costs=matrix).fit(X, y)
    assert (three.predict(X) == np.argmin(three.predict_proba(X) @ matrix, axis=1)).all()
    assert (three.predict(X) == 1).sum() < (kind().fit(X, y).predict(X) == 1).sum()
    with pytest.raises(ValueError, match=f"{kind.__name__}: costs must be 3 x 3 numbers of at least 0"):
        kind(costs=[[0, 1], [1, 0]]).fit(X, y)


def test_extreme_priors_end_in_the_constant_rule():
    half = np.random.default_rng(5).normal(size=(40, 2))
    X, y = np.concatenate([half, half + 0.2]), np.repeat([0, 1], 40)
    for kind in (LinearBayes, MinimumErrorMPM):
        with pytest.warns(NoTangentPlaneWarning, match="none is as good as always taking the more probable class"):
            model = kind(class_prior=[1 - 1e-9, 1e-9]).fit(X, y)
        assert (model.predict(X) == 0).all()
        assert not model.coef_.any()
        assert_allclose(model.gaussian_accuracy_, 1)


@pytest.mark.parametrize("kind", [FisherDiscriminant, MinimaxProbabilityMachine, LinearBayes])
@pytest.mark.filterwarnings("ignore::suffice.NoTangentPlaneWarning", "ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::suffice.PoorFitWarning")
def test_calibration_lowers_the_log_loss(kind):
    X, y = two_classes(3, 6)
    learner = RiskCalibration(anchor=0)
    plain, calibrated = kind().fit(X, y), kind(learner=learner).fit(X, y)
    assert log_loss(y, calibrated.predict_proba(X)) <= log_loss(y, plain.predict_proba(X))
    assert not hasattr(calibrated, "loo_log_proba")
    assert hasattr(calibrated, "recalibrate")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ridge": -1}, "ridge must be a finite number of at least 0, got -1"),
        ({"ridge": "much"}, "ridge must be a finite number of at least 0, got 'much'"),
        ({"multi_class": "softmax"}, r"multi_class must be one of \('ovo', 'ovr'\), got 'softmax'"),
        ({"class_prior": [0.4, 0.4]}, "class_prior must be probabilities that sum to 1"),
        ({"learner": "closed"}, "learner must be None or an instance of one of suffice.learners"),
    ],
)
def test_settings_that_make_no_sense(settings, message):
    with pytest.raises(ValueError, match=message):
        FisherDiscriminant(**settings).fit(*two_classes(2, 0))
