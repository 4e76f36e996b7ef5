"""Calibration: passes, stopping, the anchor, starts, costs; and what learners do with bad cases."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss

from suffice import (
    CategoricalNB,
    Dirichlet,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    ModelClassifier,
    QuadraticDiscriminantAnalysis,
)
from suffice._core.labels import OneHot
from suffice.data import Memory
from suffice.learners import (
    TM,
    ClosedForm,
    DiscriminativeFrequency,
    GradientDescent,
    Newton,
    RiskCalibration,
)
from tests.samples import IRIS, PULLED, WINE, binned, plain
from tests.toy import Unit

# Risk-based calibration


class Counted(Memory):
    """Rows that count how often they are read."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.passes = 0

    def sum(self, f):
        self.passes += 1
        return super().sum(f)

    def map(self, features=None, labels=None):
        self.X = features(self.X)
        return self


@plain
@pytest.mark.parametrize("learner", [RiskCalibration(0.1, 7), TM(7), GradientDescent(max_iter=7), Newton(max_iter=7)])
def test_a_step_is_one_pass(learner):
    data = Counted(*IRIS)
    fit = LogisticRegression(learner=learner).fit(data)
    assert data.passes == fit.n_iter_ + 1  # the first sums S(X, Y)
    assert {len(values) for values in fit.history_.values()} == {fit.n_iter_}


def test_the_closed_form_is_one_pass():
    for estimator in (QuadraticDiscriminantAnalysis(), LogisticRegression(learner=ClosedForm(), multi_class="ovo")):
        data = Counted(*IRIS)
        estimator.fit(data)
        assert data.passes == 1


def test_history_tells_what_it_says():
    X, y = IRIS
    rc = RiskCalibration(rate=0.1, max_iter=9, stop=None, anchor=0.0)
    fit = QuadraticDiscriminantAnalysis(learner=rc).fit(X, y)
    p = fit.predict_proba(X)
    assert_allclose(fit.history_["log_loss"][-1], log_loss(y, p))
    assert_allclose(fit.history_["error"][-1], 1 - fit.score(X, y))
    first = QuadraticDiscriminantAnalysis().fit(X, y).predict_proba(X)
    assert_allclose(fit.history_["log_loss"][0], log_loss(y, first))
    assert_allclose(fit.history_["soft_error"][0], np.mean(1 - first[np.arange(150), y]))


@plain
def test_stopping_rules_keep_the_right_iterate():
    X, y = IRIS
    for stop, key, rate in (("best-error", "error", 1.0), ("log-loss", "objective", 3.0)):
        fit = QuadraticDiscriminantAnalysis(PULLED, RiskCalibration(rate, 30, stop, anchor=0.0)).fit(X, y)
        best = int(np.argmin(fit.history_[key])) + 1
        assert 1 < best < fit.n_iter_  # neither the first nor the last
        again = RiskCalibration(rate, best, None, anchor=0.0)
        same = QuadraticDiscriminantAnalysis(PULLED, again).fit(X, y)
        assert_allclose(fit.moved_statistics_.sums.first, same.moved_statistics_.sums.first, atol=1e-9)
    # the soft error rises: the model before the rise
    rising = RiskCalibration(rate=3.0, max_iter=30, stop="soft-error", anchor=0.0)
    fit = QuadraticDiscriminantAnalysis(PULLED, rising).fit(*IRIS)
    soft = fit.history_["soft_error"]
    assert fit.converged_
    assert soft[-1] > soft[-2]
    p = fit.predict_proba(IRIS[0])
    assert_allclose(np.mean(1 - p[np.arange(150), IRIS[1]]), soft[-2], atol=1e-12)


@pytest.mark.parametrize(("anchor", "steps"), [(0.1, 1000), (1.0, 100)])
@pytest.mark.parametrize("prior", ["default", None])
@plain
def test_the_anchor_has_a_fixed_point(anchor, steps, prior):
    data = {CategoricalNB: binned(WINE[0][:, :5]), QuadraticDiscriminantAnalysis: WINE[0][:, :5]}
    for kind, X in data.items():
        learner = RiskCalibration(rate=0.2, max_iter=steps, stop=None, anchor=anchor)
        fit = kind(learner=learner, prior=prior).fit(X, WINE[1])
        s, whole = fit.moved_statistics_, kind(prior=prior).fit(X, WINE[1]).statistics_
        encoded = fit._model().encoder(X)
        W = OneHot.of(WINE[1]).matrix().toarray() - fit.predict_proba(X)
        residual = fit._fit_result().model.statistics(encoded, W) + anchor * (whole - s)
        frozen = fit._fit_result().model.attempt(s + 0.2 * residual).valid
        scale = whole.map(lambda value: np.sqrt((value**2).mean()))
        off = residual.map(lambda value, size, ok: np.max(abs(np.where(ok, value, 0.0))) / size, scale, frozen)
        sizes = off.leaves()
        assert max(sizes) < 1e-6, (kind, sizes)


@plain
def test_an_infinite_anchor_is_the_closed_form():
    X, y = IRIS
    heavy = QuadraticDiscriminantAnalysis(learner=RiskCalibration(anchor=1e9, rate="adaptive")).fit(X, y)
    assert_allclose(heavy.predict_proba(X), QuadraticDiscriminantAnalysis().fit(X, y).predict_proba(X), atol=1e-6)


@plain
@pytest.mark.parametrize("settings", [{"batch_size": 20}, {"init": "random"}, {"init": "bootstrap", "n_init": 3}])
def test_other_ways_to_start_and_to_step_lead_down(settings):
    X, y = IRIS
    learner = RiskCalibration(random_state=0, max_iter=40, **settings)
    for estimator in (
        GaussianNB(),
        QuadraticDiscriminantAnalysis(),
        LogisticRegression(),
        LinearDiscriminantAnalysis(),
    ):
        fit = estimator.set_params(learner=learner).fit(X, y)
        assert fit.score(X, y) > 0.94, estimator
        same = estimator.set_params(learner=learner).fit(X, y)
        assert_allclose(fit.predict_proba(X), same.predict_proba(X), atol=1e-12)


@plain
def test_held_out_rows_choose_the_iterate():
    X, y = binned(WINE[0]), WINE[1]
    learner = RiskCalibration(anchor=0.0, max_iter=200, validation_fraction=0.3, random_state=0, stop=None)
    fit = CategoricalNB(learner=learner).fit(X, y)
    assert fit.n_iter_ < 200  # it does not get better for ever
    assert fit.classes_.tolist() == [0, 1, 2]
    rare = np.where(np.arange(len(y)) < 1, "rare", y.astype(str))  # on one side only
    said = 0
    for seed in range(6):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            p = CategoricalNB(learner=learner.set_params(random_state=seed)).fit(X, rare).predict_proba(X)
        assert np.isfinite(p).all()
        unseen = (p[:, 3] == 0).all()
        assert unseen == any("all rows of the classes ['rare'] are held out" in str(w.message) for w in caught)
        said += unseen
    assert 0 < said < 6


def test_costs_move_the_decision():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, [0, 1, 4]]
    costly = RiskCalibration(costs=[[0, 20], [1, 0]], anchor=0.0, max_iter=20_000, tol=1e-8)
    weighted = RiskCalibration(anchor=0.0, max_iter=20_000, tol=1e-8)
    ours = LogisticRegression(learner=costly).fit(X, y)
    theirs = LogisticRegression(learner=weighted).fit(X, y, sample_weight=np.where(y == 0, 20, 1))
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=2e-3)
    plainly = LogisticRegression(learner=weighted).fit(X, y)
    cost = {}
    for name, model in (("costly", ours), ("plain", plainly)):
        predicted = model.predict(X)
        cost[name] = 20 * ((y == 0) & (predicted == 1)).sum() + ((y == 1) & (predicted == 0)).sum()
    assert cost["costly"] < 0.7 * cost["plain"]


def test_frozen_blocks_stay_valid():
    X, y = binned(WINE[0]), WINE[1]
    wild = RiskCalibration(rate=10.0, max_iter=30, stop=None, anchor=0.0)
    for kind, features in ((CategoricalNB, X), (QuadraticDiscriminantAnalysis, WINE[0]), (GaussianNB, WINE[0])):
        s = kind(learner=wild).fit(features, y)
        leaves = s._fit_result().model.attempt(s.moved_statistics_).valid.leaves()
        assert all(np.all(leaf) for leaf in leaves)
    # the papers' rule: a step that breaks anything is not taken
    whole = RiskCalibration(rate=50.0, max_iter=3, stop=None, anchor=0.0, freeze="all")
    stuck = QuadraticDiscriminantAnalysis(prior=None, learner=whole).fit(*IRIS)
    assert_allclose(stuck.means_, QuadraticDiscriminantAnalysis(prior=None).fit(*IRIS).means_)


@plain
def test_the_best_start_is_kept(monkeypatch):
    values, descent = [], RiskCalibration._descent

    def watched(self, problem, watch, *args):
        outcome = yield from descent(self, problem, watch, *args)
        values.append((watch.value, outcome))
        return outcome

    monkeypatch.setattr(RiskCalibration, "_descent", watched)
    learner = RiskCalibration(init="random", n_init=6, max_iter=3, random_state=1)
    fit = QuadraticDiscriminantAnalysis(learner=learner).fit(*IRIS)
    best, kept = min(values, key=lambda pair: pair[0])
    assert len({value for value, _ in values}) == 6
    assert fit.moved_statistics_ is kept.moved
    assert_allclose(best, min(kept.history["objective"]))


def test_costs_of_every_kind_lower_the_cost():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=900)
    X = rng.normal(size=(900, 2)) + 1.5 * np.array([[0, 0], [1, 0], [0.5, 1]])[y]
    costs = np.array([[0, 10, 1], [1, 0, 10], [10, 1, 0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plainly = LogisticRegression(learner=RiskCalibration(anchor=0.0, max_iter=100)).fit(X, y)
        costly = LogisticRegression(learner=RiskCalibration(anchor=0.0, max_iter=100, costs=costs)).fit(X, y)
    assert costs[y, costly.predict(X)].mean() < 0.95 * costs[y, plainly.predict(X)].mean()
    assert_allclose(costly.history_["error"][-1], costs[y, costly.predict(X)].mean())


@plain
def test_a_class_held_out_whole_does_not_stop_the_others():
    X, y = IRIS[0], IRIS[1].copy()
    y[0] = 7
    for estimator in (LinearDiscriminantAnalysis(), LogisticRegression(prior=None), GaussianNB(tied=True)):
        moved = []
        for seed in range(6):
            learner = RiskCalibration(validation_fraction=0.5, random_state=seed, anchor=0.0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                history = estimator.set_params(learner=learner).fit(X, y).history_["log_loss"]
            moved.append(history[-1] < 0.9 * history[0])
        assert all(moved)


@plain
def test_minibatches_are_of_rows():
    X, y = IRIS
    learner = RiskCalibration(batch_size=30, random_state=0, anchor=0.0, max_iter=4)
    one = QuadraticDiscriminantAnalysis(prior=None, learner=learner).fit(X, y)
    ten = QuadraticDiscriminantAnalysis(prior=None, learner=learner).fit(X, y, sample_weight=np.full(150, 10.0))
    assert_allclose(one.predict_proba(X), ten.predict_proba(X), atol=1e-9)
    start = QuadraticDiscriminantAnalysis(prior=None).fit(X, y)
    assert_allclose(one.history_["log_loss"][0], log_loss(y, start.predict_proba(X)))
    for fraction in (0.001, 0.999):
        with pytest.raises(ValueError, match="leaves no rows on one side"):
            GaussianNB(learner=RiskCalibration(validation_fraction=fraction)).fit(X, y)


@plain
def test_gradient_descent_begins_where_the_closed_form_is():
    X, y = load_breast_cancer(return_X_y=True)  # some directions have variances of 1e-4
    for estimator in (QuadraticDiscriminantAnalysis(prior=None), GaussianNB(prior=None)):
        history = estimator.set_params(learner=GradientDescent("adaptive")).fit(X, y).history_["log_loss"]
        assert min(history) < 0.9 * history[0]


# Bad cases

ESTIMATORS = [GaussianNB, QuadraticDiscriminantAnalysis, LinearDiscriminantAnalysis, LogisticRegression]


@plain
@pytest.mark.filterwarnings("ignore::suffice.PoorFitWarning")
@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("learner", [RiskCalibration(10.0), RiskCalibration(), TM(), RiskCalibration(10.0, stop=None)])
def test_no_nan_whatever_happens(kind, learner, rng):
    separable = np.concatenate([rng.normal(size=(20, 3)), rng.normal(size=(20, 3)) + 50])
    singular = np.concatenate([rng.normal(size=(38, 3)), np.ones((2, 3))])
    y = np.repeat([0, 1], 20)
    for X, labels in ((separable, y), (singular, np.repeat([0, 1], [38, 2]))):
        for held_out in (None, 0.1):
            calibrates = isinstance(learner, RiskCalibration)
            chosen = learner.set_params(validation_fraction=held_out, random_state=0) if calibrates else learner
            fit = kind(learner=chosen).fit(X, labels)
            assert np.isfinite(fit.predict_proba(X)).all()
            for name in ("means_", "covariance_", "theta_", "var_", "coef_", "intercept_"):
                assert np.isfinite(getattr(fit, name, 0.0)).all()


def test_warnings_say_what_happened_and_which_knob(rng):
    X = np.concatenate([rng.normal(size=(20, 2)), rng.normal(size=(20, 2)) + 50])
    y = np.repeat([0, 1], 20)
    with pytest.warns(ConvergenceWarning, match="Newton: the classes are separable.*set l2 above 0"):
        LogisticRegression(learner=Newton(l2=0.0)).fit(X, y)
    with pytest.warns(
        ConvergenceWarning, match="RiskCalibration: still falling after 3 iterations; raise max_iter or tol"
    ):
        GaussianNB(learner=RiskCalibration(max_iter=3, tol=1e-12)).fit(*IRIS)
    with pytest.warns(
        ConvergenceWarning, match="RiskCalibration: the objective rose after 3 iterations; lower the rate"
    ):
        assert not LogisticRegression(PULLED, RiskCalibration(10.0)).fit(*IRIS).converged_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LogisticRegression().fit(X, y)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (
            GaussianNB(learner=DiscriminativeFrequency()),
            "DiscriminativeFrequency cannot be used with DiagonalGaussian, which lacks tables of counts",
        ),
        (
            LogisticRegression(learner=RiskCalibration(out_of_sample=True)),
            "cannot be used with LogisticRegression, which lacks leave-one-out .* with out_of_sample=False",
        ),
        (GaussianNB(learner=Newton()), "Newton cannot be used with DiagonalGaussian, which lacks linear scores"),
        (
            CategoricalNB(learner=GradientDescent(l2=1.0)),
            "GradientDescent cannot be used with Categorical, which lacks linear",
        ),
        (
            LinearDiscriminantAnalysis(learner=GradientDescent()),
            "GradientDescent cannot be used with TiedFullGaussian, which lacks natural parameters",
        ),
        (
            ModelClassifier(Unit(), learner=GradientDescent(l2=1.0)),
            "GradientDescent cannot be used with Unit, which lacks linear",
        ),
    ],
    ids=lambda v: type(v).__name__,
)
def test_what_does_not_fit_together_is_said_in_a_sentence(estimator, message):
    with pytest.raises(TypeError, match=message):
        estimator.fit(*IRIS)


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (RiskCalibration(rate=-1), "rate must be 'adaptive' or a positive number, got -1"),
        (RiskCalibration(max_iter=0), "max_iter must be a whole number of at least 1, got 0"),
        (RiskCalibration(stop="never"), "stop must be one of"),
        (RiskCalibration(anchor=-0.1), "anchor must be a finite number of at least 0"),
        (RiskCalibration(validation_fraction=1.5), "validation_fraction must be None or a number between 0 and 1"),
        (RiskCalibration(costs=[[0, 1], [1, 0]]), "costs must be 3 x 3 numbers of at least 0"),
        (GradientDescent(init="one"), "init must be one of"),
        (Newton(l2="much"), "l2 must be a finite number of at least 0, got 'much'"),
        ("adam", "learner must be None or an instance of one of suffice.learners, got 'adam'"),
        (Newton, "learner must be None or an instance of one of suffice.learners"),
    ],
    ids=str,
)
def test_bad_settings(learner, message):
    with pytest.raises(ValueError, match=message):
        LogisticRegression(learner=learner).fit(*IRIS)


@pytest.mark.parametrize("estimator", [CategoricalNB(), GaussianNB(), QuadraticDiscriminantAnalysis()], ids=repr)
def test_the_likelihood_of_the_objective_is_that_of_the_data(estimator):
    X, y = (binned(WINE[0]) if isinstance(estimator, CategoricalNB) else WINE[0][:, :4]), WINE[1]
    estimator.set_params(prior=None if not isinstance(estimator, CategoricalNB) else Dirichlet(1e-9))
    fit = estimator.fit(X, y)
    model, target, data = fit._fit_result().model, fit.statistics_, estimator._model().encoder(X)
    other = model.statistics(data, OneHot.of(np.roll(y, 3))) + 2.0 * target  # some other valid statistics

    def likelihood(s):
        return model.log_joint(data, model.parameters(s))[np.arange(len(y)), y].sum()

    best = model.parameters(target)
    ours = model.log_likelihood(target, best, model.parameters(other)) - model.log_likelihood(target, best, best)
    assert_allclose(ours, likelihood(other) - likelihood(target), rtol=1e-6)
    assert ours < 0


@pytest.mark.parametrize("kind", [CategoricalNB, GaussianNB, QuadraticDiscriminantAnalysis, LinearDiscriminantAnalysis])
def test_the_objective_falls_along_the_direction(kind):
    X, y = (binned(WINE[0]) if kind is CategoricalNB else WINE[0]), WINE[1]
    learner = RiskCalibration(rate=1e-4, max_iter=200, stop=None, anchor=1.0)
    objective = kind(learner=learner).fit(X, y).history_["objective"]
    assert (np.diff(objective) < 0).all()
