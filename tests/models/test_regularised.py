"""Regularised discriminant analysis: its ends, its amounts, and learning it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate
from scipy.stats import invwishart, multivariate_normal, wishart
from sklearn import discriminant_analysis
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from suffice import GaussianPrior, LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.learners import TM, GradientDescent, RiskCalibration
from suffice.models import FullGaussian, TiedFullGaussian
from suffice.models.gaussian.regularised import WEIGHTS, by_evidence, oas
from suffice.priors.evidence import wishart_evidence
from tests.oracles import fitted, regularised_classes

SHRINKAGES = [None, 0.0, 0.3, 1.0, "oas", "evidence"]
PRIORS = ["default", None, GaussianPrior(3, 7, covariance=2.0)]


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.mark.parametrize("shrinkage", SHRINKAGES)
@pytest.mark.parametrize("prior", PRIORS, ids=["default", "none", "explicit"])
@pytest.mark.parametrize("class_prior", [None, "uniform"])
def test_tied_to_the_full_it_is_linear(iris, prior, shrinkage, class_prior):
    X, y = iris
    X, y = X[20:], y[20:]
    quadratic = QuadraticDiscriminantAnalysis(prior, None, class_prior, shrinkage=shrinkage, tying=1.0).fit(X, y)
    linear = LinearDiscriminantAnalysis(prior, None, class_prior, shrinkage=shrinkage).fit(X, y)
    assert_allclose(quadratic.predict_proba(X), linear.predict_proba(X), rtol=0, atol=1e-10)
    assert_allclose(quadratic.covariance_, np.stack([linear.covariance_] * 3), atol=1e-10)
    assert_allclose(quadratic.shrinkage_, linear.shrinkage_)


@pytest.mark.parametrize("prior", PRIORS, ids=["default", "none", "explicit"])
def test_without_tying_and_shrinkage_it_is_quadratic(iris, prior):
    X, y = iris
    plain = QuadraticDiscriminantAnalysis(prior).fit(X, y)
    assert type(plain._fit_result().model) is FullGaussian
    assert type(LinearDiscriminantAnalysis(prior)._model()) is TiedFullGaussian
    for settings in ({"shrinkage": 0.0}, {"tying": 1e-14}):
        regularised = QuadraticDiscriminantAnalysis(prior, **settings).fit(X, y)
        assert_allclose(regularised.predict_proba(X), plain.predict_proba(X), rtol=0, atol=1e-10)


@pytest.mark.parametrize("tying", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("shrinkage", [0.0, 0.6, 1.0])
def test_between_the_ends_it_is_the_formula(iris, tying, shrinkage):
    X, y = iris
    keep = np.r_[0:50, 50:80, 100:110]
    X, y = X[keep], y[keep]
    fit = QuadraticDiscriminantAnalysis(None, shrinkage=shrinkage, tying=tying).fit(X, y)
    assert_allclose(fit.predict_proba(X), regularised_classes(tying, shrinkage)(X, y, X), rtol=0, atol=1e-10)


def test_shrunk_all_the_way_it_is_naive_bayes(iris):
    from sklearn.naive_bayes import GaussianNB

    X, y = iris
    ours = QuadraticDiscriminantAnalysis(prior=None, shrinkage=1.0).fit(X, y).predict_proba(X)
    assert_allclose(ours, fitted(GaussianNB(var_smoothing=0))(X, y, X), atol=1e-10)


def test_scikit_learn_shrinks_alike_where_variances_are_equal(rng):
    X, y = rng.normal(size=(90, 4)) @ rng.normal(size=(4, 4)), np.arange(90) % 3
    for c in range(3):
        X[y == c] -= X[y == c].mean(axis=0)
        X[y == c] /= X[y == c].std(axis=0)
    X += np.array([0.0, 1.0, 3.0])[y, None]
    theirs = discriminant_analysis.QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=0.4).fit(X, y)
    ours = QuadraticDiscriminantAnalysis(prior=None, shrinkage=0.4).fit(X, y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-10)
    theirs = discriminant_analysis.LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.4).fit(X, y)
    ours = LinearDiscriminantAnalysis(prior=None, shrinkage=0.4).fit(X, y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-10)


@pytest.mark.parametrize("n", [5, 20, 1000])
@pytest.mark.parametrize("p", [2, 6])
def test_oas_is_where_the_oracle_comes_to_rest(rng, n, p):
    """Chen et al., eq. 21 and 22: the oracle's shrinkage with the shrunk estimate in the place of the truth."""
    R = np.corrcoef((rng.normal(size=(n, p)) @ rng.normal(size=(p, p))).T)
    rho = 0.5
    for _ in range(100_000):
        square = np.trace(((1 - rho) * R + rho * np.eye(p)) @ R)
        above, below = (1 - 2 / p) * square + p**2, (n + 1 - 2 / p) * square + (1 - n / p) * p**2
        before, rho = rho, min(1.0, above / below)
        if before == rho:
            break
    assert_allclose(oas(R[None], np.array([float(n)])), rho, rtol=1e-6)


def test_oas_of_no_correlation_is_all_and_of_one_feature_nothing():
    assert oas(np.eye(3)[None], np.array([100.0])).tolist() == [1.0]
    assert oas(np.ones((1, 1, 1)), np.array([100.0])).tolist() == [0.0]
    assert by_evidence(np.ones((1, 1, 1)), np.array([100.0]), 1.0).tolist() == [0.0]


def test_evidence_is_the_integral_over_variances(rng):
    """One feature: the density of a scatter is the integral over the variance that it is of."""
    nu, psi, rows = 3.5, 2.0, 4.0
    for scatter in (0.1, 3.0, 20.0):

        def density(v, scatter=scatter):
            return wishart.pdf(scatter, rows, v) * invwishart.pdf(v, nu, psi)

        brute = np.log(integrate.quad(density, 0, np.inf, epsabs=0)[0])
        got = wishart_evidence(nu, rows, np.log(psi), np.log(psi + scatter), 1)
        free = 0.5 * (rows - 2) * np.log(scatter) - float(wishart_constant(rows, 1))
        assert_allclose(got + free, brute, rtol=1e-8)


def wishart_constant(rows, d):
    """What the density of a scatter has besides, whatever the prior."""
    from scipy.special import multigammaln

    return multigammaln(0.5 * rows, d)


def test_evidence_is_the_prior_times_the_likelihood_over_the_posterior(rng):
    """Three features: Bayes' rule at any covariance."""
    d, rows, nu = 3, 9.0, 6.5
    A, B = (M @ M.T for M in rng.normal(size=(2, d, d + 2)))
    got = wishart_evidence(nu, rows, np.linalg.slogdet(A)[1], np.linalg.slogdet(A + B)[1], d)
    free = 0.5 * (rows - d - 1) * np.linalg.slogdet(B)[1] - wishart_constant(rows, d)
    for seed in range(3):
        C = invwishart(nu, A).rvs(random_state=seed)
        brute = invwishart.logpdf(C, nu, A) + wishart.logpdf(B, rows, C) - invwishart.logpdf(C, nu + rows, A + B)
        assert_allclose(got + free, brute, rtol=1e-10)


def test_the_evidence_of_a_shrinkage_is_that_of_its_weight(rng):
    """By rows: p(X) = p(X | cov) p(cov) / p(cov | X), for the weights of the grid."""
    p, n = 3, 12
    X = rng.normal(size=(n, p)) @ rng.normal(size=(p, p))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    scatter = X.T @ X
    values = []
    for m in WEIGHTS * p:
        prior, C = (m + p + 1, m * np.eye(p)), np.eye(p) * 1.1
        likelihood = multivariate_normal(np.zeros(p), C).logpdf(X).sum()
        mean_out = 0.5 * np.log(np.linalg.det(C))  # the mean integrated: one degree of freedom less
        after = invwishart.logpdf(C, prior[0] + n - 1, prior[1] + scatter)
        values.append(likelihood + mean_out + invwishart.logpdf(C, *prior) - after)
    best = WEIGHTS[np.argmax(values)] * p
    assert_allclose(by_evidence(np.corrcoef(X.T)[None], np.array([float(n)]), 1.0), best / (best + n))


@pytest.mark.parametrize("shrinkage", ["oas", "evidence"])
def test_less_is_shrunk_where_there_are_more_rows_or_more_correlation(rng, shrinkage):
    root = np.linalg.cholesky(0.5 * np.eye(5) + 0.5)

    def amount(n, L):
        X, y = rng.normal(size=(n, 5)) @ L.T, np.arange(n) % 2
        return LinearDiscriminantAnalysis(prior=None, shrinkage=shrinkage).fit(X, y).shrinkage_

    assert amount(30, root) > amount(300, root) > amount(3000, root) > 0
    assert amount(300, np.eye(5)) > amount(300, root)


@pytest.mark.parametrize("shrinkage", [0.3, "oas", "evidence"])
def test_a_class_with_fewer_rows_than_features_is_regular(shrinkage):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:40], y[:40]
    fit = QuadraticDiscriminantAnalysis(prior=None, shrinkage=shrinkage).fit(X, y)
    assert fit.class_count_.min() < X.shape[1]
    assert np.isfinite(fit.predict_log_proba(X)).all()
    with pytest.raises(ValueError, match="singular covariance"):
        QuadraticDiscriminantAnalysis(prior=None).fit(X, y)
    assert QuadraticDiscriminantAnalysis(prior=None, tying=0.5, shrinkage=shrinkage).fit(X, y).score(X, y) > 0.9


def test_tying_regularises_a_small_class(iris):
    X, y = iris
    X, y = X[:103], y[:103]  # three rows of the last class
    with pytest.raises(ValueError, match="class 2 has 3 rows and a singular covariance"):
        QuadraticDiscriminantAnalysis(prior=None).fit(X, y)
    assert QuadraticDiscriminantAnalysis(prior=None, tying=0.1).fit(X, y).score(X, y) > 0.97


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("learner", [RiskCalibration(), RiskCalibration(anchor=0), TM(), RiskCalibration(freeze="all")])
@pytest.mark.parametrize("settings", [{"tying": 0.5}, {"shrinkage": "oas"}, {"shrinkage": "evidence", "tying": 0.2}])
def test_calibration_lowers_the_objective(learner, settings):
    X, y = load_wine(return_X_y=True)
    fit = QuadraticDiscriminantAnalysis(learner=learner, **settings).fit(X[:, :6], y)
    objective = fit.history_["objective"]
    assert objective[-1] < objective[0]
    assert np.linalg.eigvalsh(fit.covariance_).min() > 0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_step_that_one_class_cannot_take_is_shortened_for_all(iris):
    """Where classes are tied in part, statistics that are new for some and old for others may have no covariance."""
    X, y = iris
    model = QuadraticDiscriminantAnalysis(prior=None, tying=0.3)
    fit = model.fit(X, y)
    resolved, s = fit._fit_result().model, fit.statistics_
    moved = s + 200.0 * (s - 1.3 * s.by_class(np.array([1.0, 0.9, 1.1])))  # far beyond what covariances allow
    got = resolved.attempt(moved)
    assert got.problem is not None
    assert not any(np.any(leaf) for leaf in got.valid.leaves())
    steep = QuadraticDiscriminantAnalysis(
        prior=None, tying=0.3, learner=RiskCalibration(rate=20.0, stop=None, max_iter=5)
    )
    assert np.isfinite(steep.fit(X, y).predict_log_proba(X)).all()


@pytest.mark.parametrize("settings", [{"tying": 0.5}, {"shrinkage": 0.2}])
def test_gradient_descent_is_refused(iris, settings):
    with pytest.raises(TypeError, match="RegularisedGaussian, which lacks natural parameters"):
        QuadraticDiscriminantAnalysis(learner=GradientDescent(), **settings).fit(*iris)


@pytest.mark.parametrize("kind", [QuadraticDiscriminantAnalysis, LinearDiscriminantAnalysis])
@pytest.mark.parametrize("shrinkage", [-0.1, 1.1, "auto", "half", [0.5], True])
def test_a_strange_shrinkage_is_refused(iris, kind, shrinkage):
    with pytest.raises(ValueError, match="shrinkage must be None, a number from 0 to 1, 'oas' or 'evidence'"):
        kind(shrinkage=shrinkage).fit(*iris)


@pytest.mark.parametrize("tying", [-0.1, 2, None, "all"])
def test_a_strange_tying_is_refused(iris, tying):
    with pytest.raises(ValueError, match="tying must be a number from 0 to 1, got"):
        QuadraticDiscriminantAnalysis(tying=tying).fit(*iris)
