"""Priors of Gaussian classes: the estimate that they say, for each class, and the default's promises."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.optimize import minimize

from suffice import (
    GaussianNB,
    GaussianPrior,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    QuadraticDiscriminantAnalysis,
)
from suffice.learners import ClosedForm

FULL = [QuadraticDiscriminantAnalysis, LinearDiscriminantAnalysis]
KINDS = [GaussianNB, *FULL]
M1, M2 = 3.0, 9.0
MEAN0, COV0 = np.array([0.5, -1.0]), np.array([[1.5, 0.4], [0.4, 0.8]])
Y = np.repeat(["a", "b"], [7, 5])
X = np.random.default_rng(0).normal(size=(12, 2)) + (Y == "b")[:, None] * [2.0, 1.0]


def lower(p):
    return np.array([[np.exp(p[0]), 0.0], [p[1], np.exp(p[2])]])


def log_posterior(p, rows):
    """Of means and a covariance under the normal-inverse-Wishart prior W^-1(m2 cov0, m2 - d - 2), up to a constant."""
    L = lower(p[:3])
    cov = L @ L.T
    log_det = 2 * (p[0] + p[2])
    value = -0.5 * (M2 - 4 + 3) * log_det - 0.5 * np.trace(np.linalg.solve(cov, M2 * COV0))
    for part, mean in zip(rows, p[3:].reshape(-1, 2), strict=True):
        value += stats.multivariate_normal(mean, cov).logpdf(part).sum()
        value += stats.multivariate_normal(MEAN0, cov / M1).logpdf(mean)
    return value


def test_niw_is_where_the_posterior_is_greatest():
    prior = GaussianPrior(M1, M2, mean=MEAN0, covariance=COV0, kind="niw")
    model = QuadraticDiscriminantAnalysis(prior=prior).fit(X, Y)
    for c, label in enumerate("ab"):
        rows = [X[label == Y]]
        best = minimize(lambda p, rows=rows: -log_posterior(p, rows), np.zeros(5), options={"gtol": 1e-8})
        L = lower(best.x[:3])
        assert_allclose(model.means_[c], best.x[3:], atol=1e-5)
        assert_allclose(model.covariance_[c], L @ L.T, atol=1e-5)


def test_niw_gives_the_posterior_means():
    """Under cov ~ W^-1(m2 cov0, m2 + d + 1) the posterior is W^-1(m2 cov0 + squares, m2 + d + 1 + n)."""
    prior = GaussianPrior(M1, M2, mean=MEAN0, covariance=COV0, kind="niw")
    model = QuadraticDiscriminantAnalysis(prior=prior).fit(X, Y)
    part = X[Y == "a"]
    n, gap = len(part), part.mean(0) - MEAN0
    psi = M2 * COV0 + n * np.cov(part.T, bias=True) + M1 * n / (M1 + n) * np.outer(gap, gap)
    assert_allclose(model.covariance_[0], stats.invwishart(df=M2 + 3 + n, scale=psi).mean())


def test_one_covariance_takes_the_shifts_of_all_means():
    prior = GaussianPrior(M1, M2, mean=MEAN0, covariance=COV0, kind="niw")
    model = LinearDiscriminantAnalysis(prior=prior).fit(X, Y)
    squares = M2 * COV0
    for label in "ab":
        part = X[label == Y]
        n, gap = len(part), part.mean(0) - MEAN0
        squares = squares + n * np.cov(part.T, bias=True) + M1 * n / (M1 + n) * np.outer(gap, gap)
    assert_allclose(model.covariance_, squares / (M2 + len(X)))


def test_the_papers_leave_the_shift_out():
    model = GaussianNB(prior=GaussianPrior(M1, M2, mean=0.0, covariance=2.0)).fit(X, Y)
    part = X[Y == "b"]
    assert_allclose(model.theta_[1], 5 * part.mean(0) / (M1 + 5))
    assert_allclose(model.var_[1], (M2 * 2.0 + 5 * part.var(0)) / (M2 + 5))


MEANS, COVS = np.array([[0.0, 1.0], [2.0, 3.0]]), np.stack([np.eye(2), 2 * COV0])


@pytest.mark.parametrize("kind", [GaussianNB, QuadraticDiscriminantAnalysis])
@pytest.mark.parametrize("mapping", [False, True])
def test_a_prior_by_class(kind, mapping):
    means, covs = ({"a": MEANS[0], "b": MEANS[1]}, {"a": COVS[0], "b": COVS[1]}) if mapping else (MEANS, COVS)
    model = kind(prior=GaussianPrior(M1, M2, mean=means, covariance=covs)).fit(X, Y)
    for c, label in enumerate("ab"):
        alone = kind(prior=GaussianPrior(M1, M2, mean=MEANS[c], covariance=COVS[c])).fit(X, Y).parameters_
        assert_allclose((model.parameters_.mean + model.parameters_.origin)[c], (alone.mean + alone.origin)[c])
        assert_allclose(model.parameters_.covariance[c], alone.covariance[c])
        assert label in model.classes_


def test_classes_that_a_dict_leaves_out_are_as_usual():
    some = GaussianNB(prior=GaussianPrior(M1, M2, mean={"a": 5.0}, covariance={"a": 7.0})).fit(X, Y)
    usual = GaussianNB(prior=GaussianPrior(M1, M2)).fit(X, Y)
    assert_allclose(some.theta_[1], usual.theta_[1])
    assert_allclose(some.var_[1], usual.var_[1])
    assert (some.var_[0] > usual.var_[0]).all()


def test_diagonals_by_class():
    three = np.tile(X, 2)[:, :3]  # so that (k, d) is no matrix
    variances = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    diagonal, matrices = (
        QuadraticDiscriminantAnalysis(prior=GaussianPrior(0, M2, covariance=c)).fit(three, Y).covariance_
        for c in (variances, np.stack([np.diag(v) for v in variances]))
    )
    assert_allclose(diagonal, matrices)


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (
            GaussianPrior(1, mean=np.zeros(3)),
            r"mean has shape \(3,\), but there are 2 features.*\(2,\), or for",
        ),
        (GaussianPrior(1, mean=np.zeros((3, 2))), r"mean has shape \(3, 2\).*for 2 classes \(2, 2\) or a dict"),
        (
            GaussianPrior(1, mean={"a": [1.0]}),
            r"mean\['a'\] has shape \(1,\), but there are 2 features: give",
        ),
        (
            GaussianPrior(covariance=np.ones((3, 2, 2))),
            r"covariance has shape \(3, 2, 2\).*\(2,\) or \(2, 2\).*\(2, 2, 2\)",
        ),
        (GaussianPrior(covariance={"b": np.ones(3)}), r"covariance\['b'\] has shape \(3,\).*shape \(2,\) or \(2, 2\)"),
        (GaussianPrior(covariance={"b": -1.0}), r"covariance\['b'\] must be positive definite"),
        (GaussianPrior(covariance="pooled"), r"covariance must be one of \('within', 'total'\), got 'pooled'"),
        (GaussianPrior(mean={"c": 0.0}), r"GaussianPrior: mean has \['c'\], which no row is labelled: the classes are"),
        (GaussianPrior(covariance={"c": 1.0}), r"GaussianPrior: covariance has \['c'\], which no row is labelled"),
        (GaussianPrior(kind="map"), r"kind must be one of \('separate', 'niw'\), got 'map'"),
        (GaussianPrior(correlation=1.0), r"correlation must be 'evidence' or a number from 0 to below 1, got 1.0"),
        (GaussianPrior(total_share=0.0), r"total_share must be a positive number, got 0.0"),
        (GaussianPrior("much"), r"mean_weight must be 'evidence' or a finite number of at least 0, got 'much'"),
        (GaussianPrior("evidence", 0), r"mean_weight='evidence' needs a prior covariance, but cov_weight is 0"),
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", [GaussianNB, QuadraticDiscriminantAnalysis])
def test_wrong_priors_say_what_is_right(kind, prior, message):
    with pytest.raises(ValueError, match=message):
        kind(prior=prior).fit(X, Y)


def test_what_does_not_go_together():
    by_class = GaussianPrior(covariance={"a": 1.0})
    with pytest.raises(ValueError, match="covariance is given by class, but the classes share a covariance"):
        LinearDiscriminantAnalysis(prior=by_class).fit(X, Y)
    for prior in (by_class, GaussianPrior(mean={"a": 1.0}), GaussianPrior(mean=MEANS), GaussianPrior(covariance=COVS)):
        with pytest.raises(ValueError, match="prior by class goes with multi_class='softmax', not with 'ovr'"):
            LogisticRegression(prior=prior, learner=ClosedForm(), multi_class="ovr").fit(X, Y)


def test_classes_to_come_may_be_spoken_of():
    prior = GaussianPrior(M1, M2, mean={"a": 0.0, "b": 1.0, "c": 2.0})
    model = GaussianNB(prior=prior).partial_fit(X[:7], Y[:7]).partial_fit(X[7:], Y[7:])
    assert_allclose(model.theta_, GaussianNB(prior=GaussianPrior(M1, M2, mean={"a": 0.0, "b": 1.0})).fit(X, Y).theta_)


def test_equal_priors_merge_and_others_do_not():
    one = GaussianPrior(M1, M2, mean={"a": np.zeros(2)}, covariance=[[1.0, 0.0], [0.0, 2.0]])
    same = GaussianPrior(M1, M2, mean={"a": np.zeros(2)}, covariance=[[1.0, 0.0], [0.0, 2.0]])
    other = GaussianPrior(M1, M2, mean={"a": np.ones(2)}, covariance=[[1.0, 0.0], [0.0, 2.0]])
    a, b, c = (GaussianNB(prior=p).fit(X[i::2], Y[i::2]) for p, i in ((one, 0), (same, 1), (other, 1)))
    assert_allclose((a + b).theta_, GaussianNB(prior=one).fit(X, Y).theta_)
    with pytest.raises(ValueError, match="the settings differ: prior__mean is"):
        a + c


# What the default promises


def far_apart(k, n, d, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(k, d)) * 20
    y, new = np.repeat(np.arange(k), n), np.arange(k)
    return centres[y] + rng.normal(size=(len(y), d)), y, centres[new] + rng.normal(size=(k, d)), new


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("k", "n", "d"), [(1000, 2, 10), (20, 8, 4), (15, 1, 6)], ids=["1000x2", "20x8", "15x1"])
def test_many_classes_of_few_rows_are_told_apart(kind, k, n, d):
    rows, y, new, truth = far_apart(k, n, d)
    assert kind().fit(rows, y).score(new, truth) > 0.99


@pytest.mark.parametrize("kind", FULL)
@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_every_covariance_is_regular(kind, unit):
    """Fewer rows than features, columns constant in one class or in each, and a class of one row."""
    rng = np.random.default_rng(0)
    y = np.array([0] * 4 + [1] * 3 + [2])
    wide = np.column_stack([rng.normal(size=(8, 12)), y == 0, np.where(y == 0, 0.0, rng.normal(size=8))]) * unit
    model = kind().fit(wide, y)
    assert (np.linalg.eigvalsh(model.covariance_ / unit**2) > 1e-3).all()
    assert (model.predict(wide) == y).all()


def test_a_column_that_a_class_never_has():
    holes = np.where((Y == "a")[:, None] & np.array([True, False]), np.nan, X)
    model = GaussianNB().fit(holes, Y)
    assert_allclose(model.theta_[0, 0], X[Y == "b", 0].mean())  # of all rows that have it
    assert np.isfinite(model.predict_log_proba(X)).all()


def test_the_default_is_written_out():
    model = GaussianNB().fit(X, Y)
    means = {label: X[label == Y].mean(0) for label in "ab"}
    squares = {label: ((X[label == Y] - means[label]) ** 2).sum(0) for label in "ab"}
    new_rows = (squares["a"] + squares["b"]) / 12 * (12 + 2) / (12 - 2)
    for c, label in enumerate("ab"):
        n = (label == Y).sum()
        assert_allclose(model.theta_[c], means[label])
        assert_allclose(model.var_[c], (squares[label] + 30 * (new_rows + 0.3 * X.var(0))) / (n + 30))
