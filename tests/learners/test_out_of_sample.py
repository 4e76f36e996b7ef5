"""Out-of-sample calibration: every row predicted without itself, in the first pass and later ones; what it refuses."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.metrics import log_loss

from suffice import (
    CategoricalNB,
    GaussianNB,
    GaussianPrior,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    ModelClassifier,
    MultinomialNB,
    NaiveBayes,
    PoorFitWarning,
    QuadraticDiscriminantAnalysis,
)
from suffice._core.labels import OneHot
from suffice._core.probability import log_posterior
from suffice.data import Memory
from suffice.learners import Place, RiskCalibration
from suffice.learners.base import together
from suffice.learners.calibration import BOUND, GAMMA, Calibration, OutOfSample
from suffice.losses import Loss
from suffice.models import Contests, FullGaussian
from suffice.testing import PickledPartitions, check_learner
from tests.samples import IRIS, WINE, binned, loss, plain

SMALL = WINE[0][::2, :5], WINE[1][::2]
CASES = {
    "tables": (CategoricalNB(), (binned(SMALL[0]), SMALL[1])),
    "mixed": (NaiveBayes(), SMALL),
    "diagonal": (GaussianNB(), SMALL),
    "tied-diagonal": (GaussianNB(tied=True), SMALL),
    "full": (QuadraticDiscriminantAnalysis(), SMALL),
    "full-niw": (QuadraticDiscriminantAnalysis(GaussianPrior(3, 8, kind="niw")), SMALL),
    "tied-full": (LinearDiscriminantAnalysis(), SMALL),
}
cases = pytest.mark.parametrize(("prototype", "rows"), CASES.values(), ids=CASES.keys())
honestly = RiskCalibration(out_of_sample=True)


def with_learner(prototype, learner):
    return clone(prototype).set_params(learner=learner)


def problem_of(prototype, X, y, weight, anchor):
    """What is descended, with its model and Y as an array."""
    fit = clone(prototype).fit(X, y, sample_weight=weight)._fit_result()
    model, labels = fit.model, OneHot.of(y, weight)
    whole = model.restrict(fit.statistics)
    best = model.parameters(whole)
    data = Memory(model.encoder(X), labels, batch_size=13)
    problem = Calibration(model, data, whole, Loss.equal(len(whole.mass)), anchor, best=best)
    return OutOfSample.of(problem), model, labels.matrix().toarray()


def run(course):
    """What a course comes to, when its questions are answered."""
    return together([course], [lambda f: f], lambda said: None)[0]


def expected(model, rows, V, Y):
    """log p(y | x_i) and the losses of the bounded scores, by taking each row from S(X, V) and computing parameters."""
    s = model.statistics(rows, V)
    own = Y + GAMMA * (V - Y)
    scores = np.empty(Y.shape)
    for i in range(len(Y)):
        at = slice(i, i + 1)
        theta = model.parameters(s - model.statistics(rows[at], own[at]))
        scores[i] = model.log_joint_density(rows[at], theta)[0]
    log_p = log_posterior(np.maximum(scores, scores.max(axis=1, keepdims=True) - BOUND))
    return np.exp(log_p), -(Y * log_p).sum() / Y.sum()


@cases
def test_steps_are_those_of_rows_left_out(prototype, rows):
    X, y = rows
    weight = np.random.default_rng(0).choice([0.5, 1.0, 2.0], len(y))
    anchor, rate = 0.1, 0.07
    problem, model, Y = problem_of(prototype, X, y, weight, anchor)
    encoded, V = model.encoder(X), Y
    place = Place(problem.start, problem.within.best)
    for _ in range(4):
        at = run(problem.evaluate(place))
        P, honest = expected(model, encoded, V, Y)
        assert_allclose(at.losses.means()["log_loss"], honest, rtol=1e-8)
        W = Y - Y.sum(axis=1, keepdims=True) * P + anchor * (Y - V)
        assert_allclose(at.direction.weights, W, atol=1e-8)
        likelihood = model.log_likelihood(problem.within.whole, problem.within.best, at.theta)
        assert_allclose(at.objective, honest - anchor * likelihood / Y.sum(), rtol=1e-8)
        place = run(problem.step(at, rate))
        V = V + rate * W
        assert_allclose(place.point.weights, V, atol=1e-8)
        s = model.statistics(encoded, V)
        for ours, theirs in zip(place.point.statistics.leaves(), s.leaves(), strict=True):
            assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8)


@cases
@plain
def test_the_first_loss_is_that_of_leave_one_out_and_it_falls(prototype, rows):
    X, y = rows
    fit = with_learner(prototype, honestly).fit(X, y)
    left = np.exp(clone(prototype).fit(X, y).loo_log_proba(X, y))
    assert_allclose(fit.history_["error"][0], np.mean(left.argmax(axis=1) != y))
    assert_allclose(fit.history_["log_loss"][0], log_loss(y, left), rtol=1e-3)  # except for the bound
    objective = fit.history_["objective"]
    assert (np.diff(objective) <= 0).all()
    assert min(objective) == objective[-1]
    assert fit.n_iter_ < 64


@cases
@plain
def test_the_order_of_rows_and_batches_do_not_matter(prototype, rows, monkeypatch):
    X, y = rows
    order = np.random.default_rng(1).permutation(len(y))
    learner = RiskCalibration(0.1, max_iter=6, stop=None, out_of_sample=True)
    p = with_learner(prototype, learner).fit(X, y).predict_proba(X)
    shuffled = with_learner(prototype, learner).fit(X[order], y[order]).predict_proba(X)
    assert_allclose(shuffled, p, atol=1e-8)
    monkeypatch.setattr("suffice.data.memory.ENTRIES", 40)
    assert_allclose(with_learner(prototype, learner).fit(X, y).predict_proba(X), p, atol=1e-8)


def test_predictions_are_those_of_the_moved_statistics():
    X, y = IRIS
    fit = GaussianNB(learner=honestly).fit(X, y)
    result = fit._fit_result()
    theta = result.model.parameters(fit.moved_statistics_)
    p = np.exp(log_posterior(result.model.log_joint(result.model.encoder(X), theta)))
    assert_allclose(fit.predict_proba(X), p, rtol=1e-9, atol=1e-12)
    assert not np.allclose(p, GaussianNB().fit(X, y).predict_proba(X), atol=1e-3)


def test_noise_is_not_learned():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 6)), rng.integers(2, size=300)
    new, of_new = rng.normal(size=(2000, 6)), rng.integers(2, size=2000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoorFitWarning)
        plainly, honest = (NaiveBayes(learner=one).fit(X, y) for one in (RiskCalibration(), honestly))
    closed = loss(NaiveBayes().fit(X, y), new, of_new)
    assert loss(plainly, new, of_new) > closed + 0.2
    assert loss(honest, new, of_new) < closed + 0.01


def test_overconfidence_is_mended():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=600)
    X = np.repeat((rng.normal(size=(600, 1)) + y[:, None]), 8, axis=1) + 0.1 * rng.normal(size=(600, 8))
    fit = GaussianNB(learner=honestly).fit(X[:300], y[:300])
    assert loss(fit, X[300:], y[300:]) < 0.6 * loss(GaussianNB().fit(X[:300], y[:300]), X[300:], y[300:])


@plain
def test_weights_and_class_weights_count():
    X, y = SMALL
    ten = GaussianNB(prior=None, learner=honestly).fit(X, y, sample_weight=np.full(len(y), 10.0))
    one = GaussianNB(prior=None, learner=honestly).fit(X, y)
    assert_allclose(ten.predict_proba(X), one.predict_proba(X), atol=1e-8)
    heavy = np.where(y == 1, 3.0, 1.0)
    by_class = GaussianNB(learner=honestly, class_weight={1: 3.0}).fit(X, y)
    by_row = GaussianNB(learner=honestly).fit(X, y, sample_weight=heavy)
    assert_allclose(by_class.predict_proba(X), by_row.predict_proba(X), atol=1e-8)
    more = np.where(np.arange(len(y)) < 5, 0.0, 1.0)
    without = GaussianNB(learner=honestly).fit(X[5:], y[5:])
    assert_allclose(
        GaussianNB(learner=honestly).fit(X, y, sample_weight=more).predict_proba(X), without.predict_proba(X)
    )


def test_sparse_rows_are_as_dense_ones():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.poisson(rng.uniform(0.2, 2.0, size=(3, 6))[y]).astype(float)
    dense, sparse = (GaussianNB(learner=honestly).fit(rows, y).predict_proba(X) for rows in (X, csr_array(X)))
    assert_allclose(sparse, dense, atol=1e-8)


def test_costs_move_the_decision():
    X, y = SMALL
    costs = np.array([[0, 20, 20], [1, 0, 1], [1, 1, 0]])
    plainly = (GaussianNB(learner=honestly).fit(X, y).predict(X) == 0).sum()
    assert (
        GaussianNB(learner=RiskCalibration(costs=costs, out_of_sample=True)).fit(X, y).predict(X) == 0
    ).sum() > plainly


@plain
@pytest.mark.filterwarnings("ignore::suffice.PoorFitWarning")
@pytest.mark.parametrize("rate", [10.0, "adaptive"])
@pytest.mark.parametrize("prior", [None, "default"])
def test_no_nan_whatever_happens(rate, prior):
    rng = np.random.default_rng(0)
    separable = np.concatenate([rng.normal(size=(20, 3)), rng.normal(size=(20, 3)) + 50])
    lonely = np.concatenate([rng.normal(size=(35, 3)), 0.01 * rng.normal(size=(5, 3)) + [4, 4, 4]])
    for kind in (GaussianNB, QuadraticDiscriminantAnalysis, LinearDiscriminantAnalysis, NaiveBayes):
        settings = {} if kind is NaiveBayes else {"prior": prior}
        for X, y in ((separable, np.repeat([0, 1], 20)), (lonely, np.repeat([0, 1], [35, 5]))):
            fit = kind(**settings, learner=RiskCalibration(rate, out_of_sample=True)).fit(X, y)
            assert np.isfinite(fit.predict_proba(X)).all()
            assert np.isfinite(fit.history_["log_loss"]).all()
            if rate == "adaptive":
                assert fit.history_["objective"][-1] <= fit.history_["objective"][0]


def test_a_class_of_one_row_does_no_harm():
    X, y = IRIS[0][20:130], IRIS[1][20:130].copy()
    y[0] = 7
    for kind in (GaussianNB, QuadraticDiscriminantAnalysis, NaiveBayes):
        fit = kind(learner=honestly).fit(X, y)
        assert np.isfinite(fit.history_["log_loss"]).all()
        assert fit.history_["log_loss"][0] < 1.0
        assert fit.score(X, y) > 0.9


@pytest.mark.parametrize(
    "learner", [honestly, RiskCalibration(0.1, max_iter=5, stop=None, out_of_sample=True)], ids=repr
)
def test_it_keeps_the_laws_of_a_learner(learner):
    check_learner(learner, in_memory=True)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"batch_size": 20}, "out_of_sample=True .* cannot go with batch_size=20: leave these out"),
        ({"validation_fraction": 0.2, "init": "random"}, "cannot go with init='random' and validation_fraction=0.2"),
        ({"out_of_sample": "yes"}, "out_of_sample must be one of"),
    ],
    ids=str,
)
def test_settings_that_make_no_sense_are_refused(settings, said):
    with pytest.raises(ValueError, match=said):
        GaussianNB(learner=RiskCalibration(**{"out_of_sample": True, **settings})).fit(*IRIS)


@pytest.mark.parametrize(
    "estimator",
    [
        MultinomialNB(learner=honestly),
        LogisticRegression(learner=honestly),
        LogisticRegression(learner=honestly, multi_class="ovr"),
        QuadraticDiscriminantAnalysis(tying=0.5, learner=honestly),
    ],
    ids=lambda estimator: type(estimator._model()).__name__,
)
def test_models_without_leave_one_out_are_refused(estimator):
    with pytest.raises(TypeError, match=r"RiskCalibration cannot be used with .*, which lacks leave-one-out scores"):
        estimator.fit(*IRIS)


def test_pairs_are_refused():
    with pytest.raises(TypeError, match="out_of_sample=True learns all classes at once, and cannot go with pairs"):
        ModelClassifier(Contests.of(FullGaussian(), "coupled"), learner=honestly).fit(*IRIS)


def test_rows_elsewhere_are_refused():
    X, y = IRIS
    with pytest.raises(TypeError, match="out_of_sample=True needs rows in memory"):
        GaussianNB(learner=honestly).fit(PickledPartitions([(X[:70], y[:70]), (X[70:], y[70:])]))
