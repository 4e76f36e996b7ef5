"""Parts that a stranger wrote, each in one file, keep the laws."""

import sqlite3
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.base import clone

from suffice import ModelClassifier, load
from suffice.data import SQL
from suffice.learners import RiskCalibration
from suffice.report import explain
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
    check_engine(Lazy, Lazy.collect, counts=(1, 7))  # tests/test_engines.py has 50 partitions


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


@pytest.fixture
def geometric(monkeypatch):
    """The module of geometric naive Bayes, as if its file stood in the folder of models: nothing else names it."""
    name = "suffice.models.geometric"
    spec = spec_from_file_location(name, Path(__file__).with_name("geometric.py"))
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module


def test_a_model_that_is_one_file(geometric):
    check_model(geometric.Geometric(), COUNTS, Y)
    fit = ModelClassifier(geometric.Geometric(0.0, 0.0)).fit(COUNTS, Y)
    q = np.stack([1 - 1 / (1 + COUNTS[c == Y].mean(axis=0)) for c in range(3)])
    joint = stats.geom.pmf(COUNTS[:, None, :] + 1, 1 - q).prod(axis=2)
    assert_allclose(fit.predict_proba(COUNTS), joint / joint.sum(axis=1, keepdims=True))
    halves = [ModelClassifier(geometric.Geometric()).fit(COUNTS[i::2], Y[i::2]) for i in range(2)]
    whole = ModelClassifier(geometric.Geometric()).fit(COUNTS, Y)
    assert_allclose((halves[0] + halves[1]).predict_proba(COUNTS), whole.predict_proba(COUNTS))
    assert_allclose(whole.forget(COUNTS[::2], Y[::2]).predict_proba(COUNTS), halves[1].predict_proba(COUNTS))


def test_it_is_saved_shown_and_learned_in_a_database(geometric, tmp_path):
    frame = pd.DataFrame(COUNTS, columns=["calls", "visits"])
    fit = ModelClassifier(geometric.Geometric()).fit(frame, Y)
    fit.save(tmp_path / "m.suffice")
    again = load(tmp_path / "m.suffice")
    assert_array_equal(again.predict_proba(frame), fit.predict_proba(frame))
    assert_array_equal(again.partial_fit(frame, Y).class_count_, 2 * fit.class_count_)
    page = explain(fit, X=frame)
    assert all(word in page for word in ("Geometric", "calls", "visits", "range"))  # a slider for each column
    found = fit.contributions(frame)
    assert_allclose(found.base + found.terms.sum(axis=2) - found.log_joint, found.log_joint * 0, atol=1e-9)
    connection = sqlite3.connect(":memory:")
    frame.assign(label=Y).to_sql("t", connection, index=False)
    data = SQL(connection, "t", target="label")
    learned = ModelClassifier(geometric.Geometric()).fit(data)
    assert_allclose(learned.predict_proba(frame), fit.predict_proba(frame), atol=1e-12)
    rows = connection.execute(fit.to_sql("t", dialect="sqlite")).fetchall()
    assert_allclose(np.array([row[:3] for row in rows], dtype=float), fit.predict_proba(frame), atol=1e-9)
    drawn, labels = fit.sample(4000, random_state=0)
    assert_allclose(drawn[labels == 2].mean(axis=0), COUNTS[Y == 2].mean(axis=0), rtol=0.15)
