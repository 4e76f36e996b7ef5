"""Parts that a stranger wrote, each in one file, keep the laws."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.base import clone

from suffice import ModelClassifier
from suffice.learners import RiskCalibration
from suffice.testing import check_engine, check_learner, check_model
from tests.strangers.averaged import AveragedCalibration
from tests.strangers.lazy import Lazy
from tests.strangers.mixed import mixed
from tests.strangers.poisson import Poisson, PoissonNB

RNG = np.random.default_rng(0)
Y = np.arange(120) % 3
COUNTS = RNG.poisson(np.array([[1.0, 6.0], [3.0, 2.0], [5.0, 4.0]])[Y])
MIXED = np.column_stack([RNG.normal(size=(120, 2)) + Y[:, None], RNG.integers(3, size=(120, 2)) + Y[:, None] % 2])


def test_a_lazy_engine():
    check_engine(Lazy, Lazy.collect, counts=(1, 7, 50))


def test_a_model_of_counts():
    check_model(Poisson(), COUNTS, Y)
    check_model(Poisson(0.0, 0.0), COUNTS, Y)
    grid = np.arange(200.0)[:, None]
    fit = PoissonNB().fit(COUNTS[:, :1], Y)
    model, theta = fit._fit_result().model, fit.parameters_
    assert_allclose(np.exp(model.log_density(model.encoder(grid), theta)).sum(axis=0), 1.0)


def test_its_estimator():
    fit = clone(PoissonNB(alpha=0.0, beta=0.0)).fit(COUNTS, Y)
    rates = np.stack([COUNTS[c == Y].mean(axis=0) for c in range(3)])
    joint = stats.poisson.pmf(COUNTS[:, None, :], rates).prod(axis=2)
    assert_allclose(fit.predict_proba(COUNTS), joint / joint.sum(axis=1, keepdims=True))
    halves = PoissonNB().fit(COUNTS[:60], Y[:60]) + PoissonNB().fit(COUNTS[60:], Y[60:])
    assert_allclose(halves.predict_proba(COUNTS), PoissonNB().fit(COUNTS, Y).predict_proba(COUNTS))
    calibrated = PoissonNB(learner=RiskCalibration(max_iter=64)).fit(COUNTS, Y)
    assert calibrated.history_["log_loss"][-1] < calibrated.history_["log_loss"][0]


def test_a_product_of_blocks():
    check_model(mixed([0, 1], [2, 3]), MIXED, Y)
    fit = ModelClassifier(mixed([0, 1], [2, 3])).fit(MIXED, Y)
    shuffled = ModelClassifier(mixed([1, 0], [3, 2])).fit(MIXED, Y)
    assert_allclose(fit.predict_proba(MIXED), shuffled.predict_proba(MIXED))


@pytest.mark.parametrize("model", [None, Poisson(), mixed([0, 1], [2, 3])], ids=["ours", "poisson", "product"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_learner(model):
    X = {Poisson: COUNTS, type(None): None}.get(type(model), MIXED)
    check_learner(AveragedCalibration(), model, X, None if X is None else Y)
    if model is not None:
        check_learner(RiskCalibration(), model, X, Y)
