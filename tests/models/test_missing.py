"""Missing values under whole covariances: EM against optimisers and written-out likelihoods, and marginals."""

from __future__ import annotations

import pickle
import struct
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.stats import multivariate_normal
from sklearn.exceptions import ConvergenceWarning

from suffice import (
    FisherDiscriminant,
    GaussianPrior,
    LinearDiscriminantAnalysis,
    MinimaxProbabilityMachine,
    QuadraticDiscriminantAnalysis,
    ScatterDiscriminant,
)
from suffice._core.labels import OneHot
from suffice.data import Memory
from suffice.learners import TM, GradientDescent, RiskCalibration
from suffice.models import DegenerateError, FullGaussian, Moments
from suffice.models.gaussian import patterns
from suffice.models.gaussian.patterns import Entries, Patterns
from tests.oracles import posterior
from tests.samples import IRIS
from tests.strangers.lazy import Lazy

QDA, LDA = QuadraticDiscriminantAnalysis, LinearDiscriminantAnalysis
FLAT_MEANS = GaussianPrior(0.0, 8.0, covariance=2.0)
kinds = pytest.mark.parametrize("kind", [QDA, LDA])
priors = pytest.mark.parametrize("prior", [None, FLAT_MEANS, "default"], ids=["ml", "covariances", "default"])


def rows(seed, n=120, d=3, k=2, share=0.25):
    rng = np.random.default_rng(seed)
    mix = rng.normal(size=(d, d)) + np.eye(d)
    y = np.arange(n) % k
    X = rng.normal(size=(n, d)) @ mix + 2.0 * rng.normal(size=(k, d))[y] + 5.0
    return np.where(rng.random((n, d)) < share, np.nan, X), y


def log_density(X, mean, cov):
    """log N of the entries of each row that are there."""
    out = np.zeros(len(X))
    for i, x in enumerate(X):
        has = ~np.isnan(x)
        if has.any():
            out[i] = multivariate_normal(mean[has], cov[np.ix_(has, has)]).logpdf(x[has])
    return out


def log_posterior(X, y, means, covs, weight=0.0, cov0=None):
    """Of the entries that are there, with `weight` rows' worth of a prior covariance for each of the covariances."""
    total = sum(log_density(X[y == c], means[c], covs[c % len(covs)]).sum() for c in range(len(means)))
    if weight:
        total -= 0.5 * weight * sum(np.linalg.slogdet(c)[1] + np.trace(np.linalg.solve(c, cov0)) for c in covs)
    return total


@pytest.mark.thorough
@pytest.mark.parametrize("d", [1, 2])
@kinds
@pytest.mark.parametrize("prior", [None, FLAT_MEANS], ids=["ml", "covariances"])
def test_em_is_where_a_general_optimiser_ends(kind, prior, d):
    X, y = rows(1, n=40, d=d)
    fit = kind(prior=prior).fit(X, y)
    covs = np.atleast_3d(fit.covariance_.T).T if kind is QDA else fit.covariance_[None]
    weight, cov0 = (0.0, None) if prior is None else (8.0, 2.0 * np.eye(d))
    lower = np.tril_indices(d)

    def parameters(p):
        factors = np.zeros((len(covs), d, d))
        factors[:, *lower] = p[2 * d :].reshape(len(covs), -1)
        return p[: 2 * d].reshape(2, d), factors @ factors.swapaxes(1, 2)

    start = np.concatenate([np.nanmean(X, axis=0), np.nanmean(X, axis=0), np.tile(np.eye(d)[lower], len(covs))])
    found = minimize(lambda p: -log_posterior(X, y, *parameters(p), weight, cov0), start, tol=1e-10)
    means, best = parameters(found.x)
    assert_allclose(fit.means_, means, atol=1e-4)
    assert_allclose(covs, best, rtol=1e-3, atol=1e-4)
    assert log_posterior(X, y, fit.means_, covs, weight, cov0) >= -found.fun - 1e-9


@kinds
@priors
def test_the_log_posterior_never_falls(kind, prior, monkeypatch):
    X, y = rows(2, d=4, k=3)
    passed = []
    step = patterns._EM._step

    def watched(self, s, theta):
        got = step(self, s, theta)
        passed.append((theta, got.value))
        return got

    monkeypatch.setattr(patterns._EM, "_step", watched)
    fit = kind(prior=prior).fit(X, y)
    history = np.array(fit.history_["log_posterior"])
    assert fit.converged_
    assert fit.n_iter_ == len(history)
    assert len(history) > 5
    assert (np.diff(history) >= -1e-12 * abs(history[-1])).all()
    believed = fit._fit_result().model.believed
    weight, cov0 = believed.cov_weight, believed.covariance[0]
    cov0 = cov0 if cov0.ndim == 2 else np.diag(cov0)
    theirs = [log_posterior(X, y, t.mean + t.origin, t.covariance, weight, cov0) for t, _ in (passed[0], passed[-1])]
    assert_allclose(passed[-1][1] - passed[0][1], theirs[1] - theirs[0], rtol=1e-9)


def test_means_are_shrunk_by_what_is_known_of_them():
    """Given the covariances, each mean has the greatest log posterior under the pseudo-rows of its prior."""
    X, y = rows(3, d=2)
    prior = GaussianPrior(30.0, 5.0, mean=[1.0, -2.0])
    fit = QDA(prior=prior).fit(X, y)
    free = QDA(prior=GaussianPrior(0.0, 5.0)).fit(X, y)
    assert_allclose(fit.covariance_, free.covariance_, rtol=1e-9)
    for c, cov in enumerate(fit.covariance_):
        own = X[y == c]

        def loss(m, own=own, cov=cov):
            gap = m - prior.mean
            return -log_density(own, m, cov).sum() + 15.0 * gap @ np.linalg.solve(cov, gap)

        best = minimize(loss, own[~np.isnan(own).any(axis=1)].mean(axis=0), tol=1e-12).x
        assert_allclose(fit.means_[c], best, atol=1e-6)


@kinds
@priors
def test_a_column_on_its_own_is_what_is_there(kind, prior):
    """With one column, rows without it say nothing."""
    X, y = rows(4, d=1)
    known = ~np.isnan(X[:, 0])
    holed, shares = kind(prior=prior).fit(X, y), np.bincount(y) / len(y)
    short = kind(prior=prior, class_prior=shares).fit(X[known], y[known])
    assert_allclose(holed.means_, short.means_, rtol=1e-9)
    assert_allclose(holed.covariance_, short.covariance_, rtol=1e-9)
    assert_allclose(holed.class_prior_, shares)


@kinds
def test_rows_read_again_lead_to_what_patterns_do(kind, monkeypatch):
    X, y = rows(5, n=200, d=4, k=3)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    for settings in ({}, {"prior": None}, {"class_weight": {0: 3.0}}):
        apart = kind(**settings).fit(X, y, weight)
        with monkeypatch.context() as few:
            few.setattr(patterns, "LIMIT", 4)
            again = kind(**settings).fit(X, y, weight)
        assert isinstance(apart.statistics_.sums, Patterns)
        assert isinstance(again.statistics_.sums, Entries)
        assert_allclose(again.predict_proba(X), apart.predict_proba(X), rtol=0, atol=1e-9)


def many(n=700, d=12):
    return rows(6, n=n, d=d, share=0.3)


@pytest.mark.parametrize("kind", [QDA, LDA, FisherDiscriminant])
def test_more_patterns_than_are_kept_apart(kind):
    X, y = many()
    whole = kind().fit(X, y)
    assert isinstance(whole.statistics_.sums, Entries)
    assert whole.score(X, y) > 0.8
    engine = Lazy([(X[part], y[part]) for part in np.array_split(np.arange(len(y)), 5)])
    assert_allclose(kind().fit(engine).predict_proba(X), whole.predict_proba(X), rtol=0, atol=1e-9)
    said = "more than 256 patterns of missing entries.* cannot be added to, merged or forgotten. Impute"
    before = whole.predict_proba(X)
    for call in (
        lambda: kind().partial_fit(X, y),
        lambda: whole.partial_fit(X[:5], y[:5]),
        lambda: whole.merge(kind().fit(X[:300], y[:300])),
        lambda: whole + whole,
        lambda: whole.forget(X[:5], y[:5]),
    ):
        with pytest.raises(ValueError, match=said):
            call()
    assert_allclose(whole.predict_proba(X), before)
    halves = [kind().partial_fit(X[rows], y[rows]) for rows in np.array_split(np.arange(500), 2)]
    with pytest.raises(ValueError, match=said):
        halves[0].merge(halves[1])


def test_what_is_summed_does_not_depend_on_order_and_is_linear():
    X, y = rows(7, n=60, k=3)
    model, Y, rng = FullGaussian(), OneHot.of(y), np.random.default_rng(0)
    encoded = model.encoder(X)
    whole = model.statistics(encoded, Y)
    order = rng.permutation(len(y))
    for cut in (0, 1, 20, 60):
        a, b = (model.statistics(encoded[part], Y[part]) for part in (order[:cut], order[cut:]))
        for both in (a + b, b + a):
            for one, two in zip(*(v.leaves() for v in both.align(whole)), strict=True):
                assert_allclose(one, two, atol=1e-9)
    V, W = rng.normal(size=(2, 60, 3))
    s, t, u = (model.statistics(encoded, weights) for weights in (V, W, 2.0 * V - 3.0 * W))
    for one, two in zip(*(v.leaves() for v in u.align(2.0 * s - 3.0 * t)), strict=True):
        assert_allclose(one, two, atol=1e-9)


def test_complete_rows_are_summed_as_ever():
    X, y = rows(8, share=0.0)
    holed = X.copy()
    holed[:4, 1] = np.nan
    model = QDA().fit(X[4:], y[4:])
    assert type(model.statistics_.sums) is Moments
    longer = QDA().partial_fit(holed, y)
    assert set(longer.statistics_.sums.parts) == {(), (1,)}
    longer.forget(holed[:4], y[:4])
    assert type(longer.statistics_.sums) is Moments
    assert_allclose(longer.predict_proba(X), model.predict_proba(X), atol=1e-12)
    assert repr(QDA().fit(holed, y).statistics_) == "Patterns of 3 features, mass 120 in 2 classes: 0: 60, 1: 60"


@kinds
@priors
def test_rows_are_predicted_by_their_marginals(kind, prior):
    X, y = rows(9, d=4, k=3)
    fit = kind(prior=prior).fit(X, y)
    covs = fit.covariance_ if kind is QDA else [fit.covariance_] * 3
    log = np.column_stack([log_density(X, m, c) for m, c in zip(fit.means_, covs, strict=True)])
    assert_allclose(fit.predict_proba(X), posterior(log + np.log(fit.class_prior_)), rtol=0, atol=1e-10)
    model, theta = fit._fit_result().model, fit.parameters_
    assert_allclose(model.log_density(model.encoder(X), theta), log, atol=1e-9)  # normalised, each pattern on its own


@kinds
def test_a_model_learned_step_by_step_predicts_by_marginals(kind):
    X, y = rows(10, d=3, share=0.0)
    fit = kind(learner=RiskCalibration(0.1, stop=None, max_iter=5)).fit(X, y)
    holed = np.where(np.random.default_rng(0).random(X.shape) < 0.4, np.nan, X)
    covs = fit.covariance_ if kind is QDA else [fit.covariance_] * 2
    log = np.column_stack([log_density(holed, m, c) for m, c in zip(fit.means_, covs, strict=True)])
    assert_allclose(fit.predict_proba(holed), posterior(log + np.log(fit.class_prior_)), rtol=0, atol=1e-10)


def test_a_plane_learned_step_by_step_predicts_by_its_moments():
    X, y = IRIS
    fit = ScatterDiscriminant(learner=RiskCalibration(0.1, anchor=0, stop=None, max_iter=3)).fit(X, y)
    holed = X.copy()
    holed[:, 2] = np.nan
    moved = fit.moved_statistics_
    assert len(moved) == 3
    assert np.isfinite(fit.predict_proba(holed)).all()
    assert fit.score(holed, y) > 0.9


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_planes_where_classes_cannot_be_told_apart(multi_class):
    """A row whose only entry is in a column of equal means goes by the shares of the classes."""
    X = np.array([[-1.0, 0.0], [1.0, 0.5], [0.0, -0.5], [-1.0, 9.0], [1.0, 9.5], [0.0, 8.5], [-1.0, 9.0], [1.0, 9.0]])
    y = np.array([0, 0, 0, 1, 1, 1, 1, 1])
    fit = MinimaxProbabilityMachine(multi_class=multi_class).fit(X, y)
    assert_allclose(fit.predict_proba([[0.7, np.nan]]), [[3 / 8, 5 / 8]])


@kinds
def test_a_column_that_a_class_never_has(kind):
    X, y = rows(11, d=3)
    X[y == 1, 2] = np.nan
    with pytest.raises(DegenerateError, match="class 1 has no values in column 2: its mean is unknown"):
        kind(prior=None).fit(X, y)
    fit = kind(prior=GaussianPrior(10.0, 10.0, mean=[0.0, 0.0, 7.0])).fit(X, y)
    cov = fit.covariance_[1] if kind is QDA else fit.covariance_
    others = np.linalg.solve(cov[:2, :2], fit.means_[1, :2])  # by which they differ from their prior's mean
    assert_allclose(fit.means_[1, 2], 7.0 + cov[2, :2] @ others, rtol=1e-9)
    far = kind(prior=GaussianPrior(1e9, 10.0, mean=[0.0, 0.0, 7.0])).fit(X, y)
    assert_allclose(far.means_[1], [0.0, 0.0, 7.0], atol=1e-4)
    with pytest.raises(DegenerateError, match=r"column 2: its mean is unknown. Leave the column out"):
        FisherDiscriminant().fit(X, y)


def test_a_column_that_nobody_has():
    X, y = rows(12, d=3)
    X[:, 1] = np.nan
    with pytest.warns(UserWarning, match="left out, as it has one value only: column 1"):
        fit = QDA().fit(X, y)
    narrow = QDA().fit(X[:, [0, 2]], y)
    assert_allclose(fit.predict_proba(X), narrow.predict_proba(X[:, [0, 2]]), atol=1e-9)


def test_a_likelihood_without_a_greatest_value():
    X, y = rows(13, n=16, d=5, share=0.2)
    with pytest.raises(DegenerateError, match=r"(grows without end|singular covariance).*Use prior='default'"):
        QDA(prior=None).fit(X, y)
    assert QDA().fit(X, y).moved_statistics_.sums.converged


def test_em_that_has_not_settled_says_so(monkeypatch):
    X, y = rows(14)
    monkeypatch.setattr(patterns, "MAX_ITER", 3)
    with pytest.warns(ConvergenceWarning, match=r"EM for the missing values had not settled after \d steps"):
        assert not QDA().fit(X, y).converged_


@pytest.mark.parametrize(
    ("kind", "learner"),
    [(QDA, RiskCalibration()), (LDA, TM()), (QDA, GradientDescent()), (FisherDiscriminant, RiskCalibration())],
)
def test_learners_that_go_step_by_step_refuse(kind, learner):
    X, y = rows(15)
    X[:, 0] = 1.0 + np.arange(len(y)) % 3  # complete
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    said = rf"{type(learner).__name__} does not support missing values with full covariances"
    said += r": column 'b', column 'c' have missing values.*Impute"
    with pytest.raises(ValueError, match=said):
        kind(learner=learner).fit(frame, y)
    X, y = many()
    with pytest.raises(ValueError, match=r"missing values.*learner=ClosedForm\(\) or GaussianNB"):
        kind(learner=learner).fit(X, y)


def test_forgetting_what_was_not_learned():
    X, y = rows(16, n=60)
    complete = ~np.isnan(X).any(axis=1)
    model = QDA().fit(X[complete], y[complete])
    with pytest.raises(ValueError, match="would keep more or fewer values than rows: these rows were not all learned"):
        model.forget([[np.nan, 5.0, 5.0]], [0])
    model = QDA().fit(X, y)
    before = model.predict_proba(X)
    lone = X[np.flatnonzero(np.isnan(X[:, 1]) & ~np.isnan(X[:, 0]) & ~np.isnan(X[:, 2]) & (y == 0))]
    with pytest.raises(ValueError, match=r"class 0, column \d, would have a negative variance"):
        model.forget(lone + np.array([0.0, 0.0, 50.0]), np.zeros(len(lone), dtype=int))
    assert_allclose(model.predict_proba(X), before)


def test_a_forgotten_row_leaves_no_trace():
    first = [173.2517, np.nan, 68.1253]
    X, y = rows(17, n=30)
    model = QDA().partial_fit([first], [1]).partial_fit(X, y).forget([first], [1])
    model.predict(X)
    stored = pickle.dumps(model)
    assert all(struct.pack("<d", value) not in stored for value in (first[0], first[2]))


def test_units_and_offsets_do_not_matter_to_em():
    X, y = rows(18, d=3)
    scale, shift = np.array([1e-5, 1.0, 1e5]), np.array([0.0, 1e6, -1e7])
    for kind in (QDA, LDA, FisherDiscriminant):
        one, two = kind().fit(X, y), kind().fit(X * scale + shift, y)
        assert_allclose(two.predict_proba(X * scale + shift), one.predict_proba(X), atol=1e-4)
        assert (two.predict(X * scale + shift) == one.predict(X)).all()


def test_columns_that_nearly_say_the_same():
    """Rounding is then larger than a step should be, and EM still comes to its end."""
    X, y = rows(22, n=400, d=4)
    X[:, 3] = X[:, 0] + 1e-4 * np.random.default_rng(0).normal(size=400)
    X[np.arange(400) % 5 == 0, 3] = np.nan
    for kind in (QDA, LDA):
        fit = kind(prior=None).fit(X, y)
        assert fit.converged_
        rounding = np.finfo(float).eps * np.linalg.cond(fit.covariance_).max() * X.size
        assert (np.diff(fit.history_["log_posterior"]) >= -rounding).all()


def test_declared_classes_and_classes_to_come():
    X, y = rows(19)
    declared = QDA().partial_fit(X, y, classes=[0, 1, 2])
    assert_allclose(declared.predict_proba(X)[:, :2], QDA().fit(X, y).predict_proba(X), atol=1e-10)
    assert_allclose(declared.predict_proba(X)[:, 2], 0.0)


def test_float32_and_frames():
    X, y = rows(20)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).convert_dtypes()
    assert_allclose(QDA().fit(frame, y).predict_proba(frame), QDA().fit(X, y).predict_proba(X), atol=1e-12)
    small = QDA().fit(X.astype(np.float32), y).predict_proba(X.astype(np.float32))
    assert_allclose(small, QDA().fit(X, y).predict_proba(X), atol=1e-4)


def test_nothing_is_said_of_good_rows():
    X, y = rows(21)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = LDA().fit(Memory(X, y))
    assert fit.coef_.shape == (1, 3)


@pytest.mark.parametrize("kind", [QuadraticDiscriminantAnalysis, LinearDiscriminantAnalysis])
def test_how_rows_lie_in_memory_does_not_matter(kind, rng):
    X, y = rng.normal(size=(200, 11)), np.arange(200) % 2
    X[rng.random(X.shape) < 0.02] = np.nan
    rows = kind().fit(X, y)
    for other in (np.asfortranarray(X), pd.DataFrame({f"x{j}": X[:, j] for j in range(11)}), X[:, list(range(11))]):
        columns = kind().fit(other, y)
        assert_allclose(columns.predict_proba(other), rows.predict_proba(X), rtol=0, atol=1e-12)
