"""The learners: against the papers' examples, against scikit-learn, and against each other."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import linear_model
from sklearn.datasets import load_breast_cancer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import suffice.learners.newton
from suffice import (
    CategoricalNB,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    ModelClassifier,
    QuadraticDiscriminantAnalysis,
)
from suffice._core.labels import OneHot
from suffice._core.vector import inner
from suffice.data import Memory
from suffice.learners import (
    TM,
    ClosedForm,
    GradientDescent,
    Newton,
    RiskCalibration,
)
from suffice.learners.base import Evaluate
from suffice.losses import Loss
from suffice.models import Attempt
from tests.samples import IRIS, WINE, binned, plain
from tests.toy import Unit

# The papers' own examples


@dataclass(frozen=True)
class EqualWeights(Unit):
    """The toy of rc2: means are learned, p(y) = 1/2 and variance 1 are not."""

    def theta(self, s):
        return np.log([0.5, 0.5]), s.sums.first / s.sums.count + s.sums.origin


TOY = {
    0: [0.958, 0.35, 1.00],
    1: [0.93, 0.56, 1.00],
    2: [0.87, 0.80, 1.00],
    4: [0.84, 0.89, 1.00],
    8: [0.86, 0.90, 1.00],
    16: [0.90, 0.92, 1.00],
    32: [0.93, 0.94, 1.00],
    64: [0.96, 0.96, 1.00],
}


@pytest.mark.parametrize("updates", TOY)
def test_the_toy_example_of_rc2(updates):
    X, y = np.array([[0.0], [1.0], [4.0]]), np.array([1, 2, 2])
    learner = RiskCalibration(rate=0.5, max_iter=updates + 1, stop=None, anchor=0.0)
    model = ModelClassifier(EqualWeights(), learner=learner).fit(X, y)
    p = model.predict_proba(X)[[0, 1, 2], [0, 1, 1]]
    assert_allclose(p, TOY[updates], atol=0.005)
    assert_allclose(model.history_["soft_error"][-1], np.mean(1 - p), atol=1e-12)
    if updates == 1:
        s = model.moved_statistics_
        first = s.sums.about(np.zeros(1)).first
        assert_allclose(np.column_stack([s.mass, first[:, 0]]).ravel(), [0.695, -0.328, 2.305, 5.328], atol=5e-4)


@dataclass(frozen=True)
class Averages(Unit):
    """Proposition 1 of rc1: the statistics are the features, and the parameters their mean over all rows."""

    def sums(self, X, W, domain):
        return super().sums(X, W, domain).about(np.zeros(domain.width))

    def attempt(self, s):
        every = s.map(lambda value: np.ones(value.shape, dtype=bool))
        return Attempt((s.mass / s.mass.sum(), s.sums.first / s.mass.sum()), every)

    def log_joint(self, X, theta):
        return theta[0] + X.values @ theta[1].T


def test_proposition_1_calibration_of_averages_is_gradient_descent(rng):
    X, y = StandardScaler().fit_transform(IRIS[0]), IRIS[1]
    learner = RiskCalibration(rate=0.7, max_iter=21, stop=None, anchor=0.0)
    log_p, coef = ModelClassifier(Averages(), learner=learner).fit(X, y).parameters_
    D, Y = np.column_stack([np.ones(len(X)), X]), np.eye(3)[y]
    theta = D.T @ Y / len(X)
    for _ in range(20):
        P = np.exp(D @ theta)
        P /= P.sum(axis=1, keepdims=True)
        theta = theta + 0.7 * D.T @ (Y - P) / len(X)
    assert_allclose(np.column_stack([log_p, coef]).T, theta, atol=1e-12)


@pytest.mark.parametrize(
    "estimator", [LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis(), GaussianNB(tied=True)], ids=repr
)
@plain
def test_one_step_of_tm_is_one_step_of_calibration_at_rate_1(estimator):
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :4]
    tm = estimator.set_params(learner=TM(max_iter=2)).fit(X, y).moved_statistics_
    rc = RiskCalibration(rate=1.0, max_iter=2, stop=None, anchor=0.0)
    assert_allclose(tm.sums.first, estimator.set_params(learner=rc).fit(X, y).moved_statistics_.sums.first, rtol=1e-12)


# The gradient behind them all

HOLES = np.where(np.random.default_rng(0).random(IRIS[0].shape) < 0.2, np.nan, IRIS[0])
NATURAL = [
    (CategoricalNB(), binned(IRIS[0])),
    (GaussianNB(), IRIS[0]),
    (GaussianNB(), HOLES),
    (QuadraticDiscriminantAnalysis(), IRIS[0]),
    (LogisticRegression(learner=ClosedForm()), IRIS[0]),
]


@pytest.mark.parametrize(("estimator", "X"), NATURAL, ids=lambda v: type(v).__name__)
def test_the_gradient_is_a_difference_of_statistics(estimator, X):
    y = IRIS[1]
    fit = estimator.fit(X, y)
    model, domain = fit._fit_result().model, fit.statistics_.domain
    data, loss = Memory(estimator._model().encoder(X), OneHot.of(y)), Loss.equal(3)

    def evaluated(eta):
        return data.sum(Evaluate(model, model.from_natural(eta), domain.classes, loss))

    eta = model.natural(fit.parameters_)
    theta = model.from_natural(eta)
    assert_allclose(
        model.log_joint(data.X, theta), model.log_joint(data.X, fit.parameters_) + gap(model, data, fit, theta)
    )
    analytic = model.gradient(evaluated(eta).direction, eta)
    rng = np.random.default_rng(0)
    for _ in range(10):
        way = eta.map(lambda value: rng.normal(size=value.shape))
        if hasattr(way, "square") and way.square.ndim == 3:
            way = replace(way, square=way.square + way.square.swapaxes(1, 2))
        ahead, behind = (evaluated(eta + h * way).losses.log_loss for h in (1e-5, -1e-5))
        along = inner(analytic, way)
        assert_allclose((behind - ahead) / 2e-5, along, rtol=1e-5, atol=1e-4)


def gap(model, data, fit, theta):
    """Scores may differ by what is the same for all classes."""
    difference = model.log_joint(data.X, theta) - model.log_joint(data.X, fit.parameters_)
    assert_allclose(difference, difference[:, :1] * np.ones(3), atol=1e-9)
    return difference[:, :1]


# Where they lead


@pytest.mark.data
@pytest.mark.parametrize("name", ["diabetes", "haberman", "mammographic"])
@pytest.mark.parametrize(
    "learner",
    [
        Newton(l2=0.0),
        GradientDescent(rate="adaptive", max_iter=20_000, tol=1e-12),
        RiskCalibration(anchor=0.0, max_iter=20_000, tol=1e-12),
        TM(max_iter=20_000, tol=1e-12),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_on_tied_gaussians_all_reach_maximum_conditional_likelihood(load, name, learner):
    X, y = load(name)
    X = StandardScaler().fit_transform(X)
    theirs = linear_model.LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(X, y)
    best = log_loss(y, theirs.predict_proba(X))
    estimators = [LogisticRegression(learner=learner)]
    if not isinstance(learner, Newton | GradientDescent):
        estimators.append(LinearDiscriminantAnalysis(learner=learner))
    for estimator in estimators:
        ours = log_loss(y, estimator.fit(X, y).predict_proba(X))
        assert abs(ours - best) < 1e-6, estimator.n_iter_


@pytest.mark.parametrize("data", [IRIS, WINE, load_breast_cancer(return_X_y=True)], ids=["iris", "wine", "cancer"])
@pytest.mark.parametrize("l2", [0.1, 1.0, 30.0])
def test_newton_is_scikit_learns_logistic_regression(data, l2):
    X, y = data
    Z = StandardScaler().fit_transform(X)
    theirs = linear_model.LogisticRegression(C=1 / l2, tol=1e-10, max_iter=10_000).fit(Z, y)
    for features in (Z, 1e3 * X + 7):
        ours = LogisticRegression(learner=Newton(l2=l2)).fit(features, y)
        assert_allclose(ours.predict_proba(features), theirs.predict_proba(Z), atol=1e-6)
    assert_allclose(LogisticRegression(learner=Newton(l2=l2)).fit(Z, y).coef_, theirs.coef_, atol=1e-5)


def test_conjugate_gradients_solve_what_cholesky_does(monkeypatch):
    X, y = WINE
    dense = LogisticRegression().fit(X, y).predict_proba(X)
    monkeypatch.setattr(suffice.learners.newton, "MAX_DENSE", 1)
    assert_allclose(LogisticRegression().fit(X, y).predict_proba(X), dense, atol=1e-5)


# Around the learners


@plain
def test_settings_can_be_searched():
    grid = {"learner__anchor": [0.0, 0.1], "learner__max_iter": [4, 16]}
    search = GridSearchCV(QuadraticDiscriminantAnalysis(learner=RiskCalibration()), grid, cv=3).fit(*IRIS)
    assert set(search.best_params_) == set(grid)


def test_every_learner_adds_up_and_says_whether_exactly():
    for name in ("partial_fit", "merge", "forget"):
        for estimator in (LogisticRegression(), GaussianNB(learner=RiskCalibration()), GaussianNB()):
            assert hasattr(estimator, name)
    for estimator in (LogisticRegression(), GaussianNB(learner=RiskCalibration())):
        assert hasattr(estimator, "recalibrate")
        assert not hasattr(estimator, "loo_log_proba")
    assert not hasattr(LogisticRegression(learner=ClosedForm()), "recalibrate")


@pytest.mark.parametrize(
    "features",
    [PolynomialFeatures(2, include_bias=False), RBFSampler(random_state=0), Nystroem(random_state=0)],
    ids=repr,
)
@plain
def test_other_feature_maps_come_by_pipelines(features):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X**2).sum(axis=1) > 1.4  # a circle
    for estimator in (LogisticRegression(), LogisticRegression(learner=RiskCalibration(max_iter=64))):
        assert estimator.fit(X, y).score(X, y) < 0.75
        assert make_pipeline(StandardScaler(), features, estimator).fit(X, y).score(X, y) > 0.9


def test_pairs_and_rests():
    X, y = StandardScaler().fit_transform(WINE[0]), WINE[1]
    for learner in (None, GradientDescent(rate="adaptive", max_iter=2000, l2=1.0, tol=1e-10)):
        ovo = LogisticRegression(learner=learner, multi_class="ovo").fit(X, y)
        pairs = OneVsOneClassifier(LogisticRegression(learner=learner)).fit(X, y)
        assert (ovo.predict(X) == pairs.predict(X)).all()
        for row, pair in zip(ovo.coef_, pairs.estimators_, strict=True):
            assert_allclose(row, pair.coef_[0], atol=1e-5)
        ovr = LogisticRegression(learner=learner, multi_class="ovr").fit(X, y)
        for c in range(3):
            alone = LogisticRegression(learner=learner).fit(X, y == c)
            assert_allclose(ovr.coef_[c], alone.coef_[0], atol=1e-5)
    closed = LogisticRegression(learner=ClosedForm(), multi_class="ovr").fit(X, y)
    alone = LogisticRegression(learner=ClosedForm()).fit(X, y == 1)
    assert_allclose(closed.coef_[1], alone.coef_[0])
    with pytest.raises(ValueError, match="multi_class must be one of"):
        LogisticRegression(multi_class="all").fit(X, y)


def test_votes_and_probabilities_agree():
    ovo = LogisticRegression(multi_class="ovo").fit(*IRIS)
    assert (ovo.predict_proba(IRIS[0]).argmax(axis=1) == ovo.predict(IRIS[0])).all()
    assert_allclose(ovo.predict_proba(IRIS[0]).sum(axis=1), 1)


def test_progress_is_shown_when_asked(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        GaussianNB(learner=RiskCalibration(verbose=1)).fit(*IRIS)
    assert "RiskCalibration: log loss" in capsys.readouterr().err


def test_parameter_change_stops_gradient_descent():
    learner = GradientDescent(rate=0.5, stop="change", tol=1e-3, init="zero", max_iter=5000)
    fit = LogisticRegression(learner=learner).fit(*IRIS)
    assert fit.converged_
    assert 2 < fit.n_iter_ < 5000
    assert_allclose(fit.history_["log_loss"][0], np.log(3))
