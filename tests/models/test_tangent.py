"""The tangent discriminants against cone programmes, high precision and brute force."""

from __future__ import annotations

import warnings

import cvxpy as cp
import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import sqrtm
from scipy.optimize import minimize
from scipy.special import ndtr
from sklearn.preprocessing import MinMaxScaler

from suffice import (
    FisherDiscriminant,
    GaussianPrior,
    LinearBayes,
    LinearDiscriminantAnalysis,
    MinimaxProbabilityMachine,
    MinimumErrorMPM,
    NoTangentPlaneWarning,
    QuasiBayes,
    ScatterDiscriminant,
)
from suffice._core.labels import OneHot
from suffice.models import FullGaussian
from suffice.models.planes.pencil import Pencil, worst_error
from suffice.models.planes.planes import linear_bayes, minimum_error

KINDS = [FisherDiscriminant, ScatterDiscriminant, MinimaxProbabilityMachine, MinimumErrorMPM, QuasiBayes, LinearBayes]


def two_classes(d, seed, gap=1.0):
    """Rows of two classes with covariances of their own."""
    rng = np.random.default_rng(seed)
    n = 3 * d + 20
    one = rng.normal(size=(n, d)) @ (rng.normal(size=(d, d)) / np.sqrt(d) + np.eye(d))
    two = rng.normal(size=(2 * n, d)) @ (rng.normal(size=(d, d)) / np.sqrt(d) + np.eye(d)) * rng.uniform(0.3, 3)
    return np.concatenate([one, two + gap * rng.normal(size=d)]), np.repeat([0, 1], [n, 2 * n])


def first_two(X, y):
    """Mean and covariance of each class."""
    parts = [X[y == c] for c in np.unique(y)]
    return [part.mean(0) for part in parts], [np.cov(part.T, bias=True).reshape(X.shape[1], -1) for part in parts]


@pytest.mark.parametrize("kind", KINDS)
def test_with_one_feature_the_point_of_contact_is_the_cut(kind):
    X, y = two_classes(1, seed=3, gap=3.0)
    model = kind().fit(X, y)
    assert_allclose(model.coef_ @ model.tangent_point_[0] + model.intercept_, 0, atol=1e-9)


def pencil(X, y, prior=None, ridge=0.0):
    model = FullGaussian()
    s = model.statistics(model.encoder(X), OneHot.of(y))
    s = s if prior is None else s.by_class(np.array(prior) * len(y) / s.mass)
    return Pencil.of(s, np.ones(X.shape[1], dtype=bool), ridge)


def cone_programme(means, covariances):
    """kappa by min |S1^1/2 w| + |S2^1/2 w|, w'(m2 - m1) = 1."""
    roots = [np.real(sqrtm(cov)) for cov in covariances]
    gap = means[1] - means[0]
    w = cp.Variable(len(gap))
    problem = cp.Problem(cp.Minimize(sum(cp.norm(root @ w) for root in roots)), [w @ gap == 1])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate")  # at the tightest tolerance; the test tells
        problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return 1 / problem.value


@pytest.mark.parametrize("d", [2, 3, 5, 10, 20, 50, 100, 200])
@pytest.mark.filterwarnings("ignore::suffice.PoorFitWarning")
def test_minimax_is_the_cone_programme(d):
    X, y = two_classes(d, seed=d)
    ours = MinimaxProbabilityMachine(ridge=0).fit(X, y)
    kappa = cone_programme(*first_two(X, y))
    assert_allclose(ours.distances_, [[kappa, kappa]], rtol=1e-8)
    assert_allclose(ours.worst_case_accuracy_, kappa**2 / (1 + kappa**2), rtol=1e-8)


SETS = ["breast_cancer_wisconsin", "diabetes", "haberman", "heart_statlog", "liver_disorders", "sonar", "wdbc", "vote"]


@pytest.mark.data
@pytest.mark.parametrize("name", SETS)
@pytest.mark.filterwarnings("ignore::suffice.PoorFitWarning")
def test_minimax_is_the_cone_programme_on_real_data(load, name):
    X, y = load(name)
    X = X.apply(lambda column: column.astype("category").cat.codes if column.dtype.kind not in "if" else column)
    X = MinMaxScaler((-1, 1)).fit_transform(X.to_numpy(dtype=float))
    ridge = 1e-6
    ours = MinimaxProbabilityMachine(ridge=ridge).fit(X, y)
    means, covariances = first_two(X, y)
    extra = ridge * np.diag(np.diag(covariances[0] + covariances[1]) + (means[1] - means[0]) ** 2)
    kappa = cone_programme(means, [cov + extra for cov in covariances])
    assert_allclose(ours.distances_, [[kappa, kappa]], rtol=1e-8)


def brute_force(means, covariances, prior, error, rng):
    """The least error of any plane, by descent from many starts; or of no plane."""
    d = len(means[0])

    def of_plane(plane):
        w, cut = plane[:d], plane[d]
        reach = [(cut - w @ means[0]), (w @ means[1] - cut)]
        at = [r / np.sqrt(w @ cov @ w) for r, cov in zip(reach, covariances, strict=True)]
        return prior[0] * error(at[0]) + prior[1] * error(at[1])

    best = min(prior)
    for _ in range(3):
        w = np.linalg.solve(sum(rng.uniform() * cov for cov in covariances), means[1] - means[0])
        w = w + 0.3 * rng.normal(size=d) * np.linalg.norm(w)
        cut = w @ (means[0] + rng.normal(0.5, 1) * (means[1] - means[0]))
        best = min(best, minimize(of_plane, np.append(w, cut), method="BFGS").fun)
    return best


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("rule", "error"), [(linear_bayes, lambda d: ndtr(-d)), (minimum_error, worst_error)], ids=["bayes", "minimum"]
)
def test_the_best_plane_is_found(rule, error):
    priors = [0.5, 0.3, 0.2, 0.9, 0.99, 0.999, 0.01]
    kinds = set()
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X, y = two_classes(int(rng.integers(1, 5)), seed, gap=rng.uniform(0.1, 3))
        p = priors[seed % len(priors)]
        plane = rule(pencil(X, y, [p, 1 - p]))
        ours = p * error(plane.distances[0]) + (1 - p) * error(plane.distances[1])
        assert ours <= brute_force(*first_two(X, y), (p, 1 - p), error, rng) + 1e-9
        kinds.add("none" if np.isinf(plane.distances).any() else "between" if plane.tangent else "beyond")
    assert kinds == ({"none", "between", "beyond"} if rule is linear_bayes else {"none", "between"})


def exact_s(one, k):
    """The root of phi(s) = k to 50 digits, and its complement."""
    mpmath.mp.dps = 50
    a, b, z = ([mpmath.mpf(float(v)) for v in values] for values in (one.a, one.b, one.z))

    def phi(logit):
        s = 1 / (1 + mpmath.exp(-logit))
        g = [zi**2 / (s * ai + (1 - s) * bi) ** 2 for ai, bi, zi in zip(a, b, z, strict=True)]
        first = s**2 * mpmath.fsum(x * y for x, y in zip(a, g, strict=True))
        return first - (1 - s) ** 2 * mpmath.fsum(x * y for x, y in zip(b, g, strict=True)) - mpmath.mpf(k)

    low, high = mpmath.mpf(-60), mpmath.mpf(60)
    for _ in range(120):
        root = (low + high) / 2
        low, high = (root, high) if phi(root) < 0 else (low, root)
    return 1 / (1 + mpmath.exp(-root)), 1 / (1 + mpmath.exp(root))


@pytest.mark.parametrize("d", [1, 3, 20, 100])
@pytest.mark.parametrize("share", [-0.99, -0.7, -0.2, 0.0, 0.2, 0.7, 0.99])
def test_the_secular_equation_to_twelve_digits(d, share):
    one = pencil(*two_classes(d, seed=d))
    reach = (one.z**2 / (one.a if share > 0 else one.b)).sum()  # phi runs from -Delta2^2 to Delta1^2
    logit, found = one.where(share * reach)
    assert found
    s, rest = exact_s(one, share * reach)
    assert abs((1 / (1 + mpmath.exp(-mpmath.mpf(logit))) - s) / s) < 1e-12
    assert abs((1 / (1 + mpmath.exp(mpmath.mpf(logit))) - rest) / rest) < 1e-12


@pytest.mark.parametrize("share", [-1.01, 1.01])
@pytest.mark.filterwarnings("ignore::suffice.PoorFitWarning")
def test_no_tangent_plane_outside_the_range(share):
    X, y = two_classes(3, 0)
    one = pencil(X, y)
    reach = (one.z**2 / (one.a if share > 0 else one.b)).sum()
    logit, found = one.where(share * reach)
    assert not found
    plane = one.tangent(logit, found)
    assert plane.s == (share > 0)
    through = plane.coef @ one.mean[int(share > 0)] + plane.intercept  # the plane goes through the nearer mean
    assert_allclose(through, 0, atol=1e-12)
    prior = np.array([1e-9, 1]) if share < 0 else np.array([1, 1e-9])
    with pytest.warns(
        NoTangentPlaneWarning, match="the plane cannot lie between the means and satisfy the criterion; see"
    ):
        model = QuasiBayes(class_prior=prior / prior.sum()).fit(X, y)
    assert not model.tangent_.any()


def test_a_singular_class(rng):
    """A column that is constant in one class, without any ridge."""
    X, y = two_classes(3, 1)
    X[y == 0, 2] = 0.5
    for kind in KINDS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoTangentPlaneWarning)
            model = kind(ridge=0).fit(X, y)
        assert np.isfinite(model.coef_).all()
        assert np.isfinite(model.predict_proba(X)).all()
    alone = MinimaxProbabilityMachine(ridge=0).fit(X, y)
    assert_allclose(alone.distances_[0, 0], alone.distances_[0, 1], rtol=1e-9)
    X[y == 1, 2] = 0.7
    with pytest.raises(ValueError, match=r"class 0 and class 1 have singular covariances \(column 2 adds nothing"):
        FisherDiscriminant(ridge=0).fit(X, y)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::suffice.NoTangentPlaneWarning")
def test_a_column_that_separates_is_not_lost(kind):
    X, y = two_classes(3, 1, gap=0.1)
    X[:, 2] = np.where(y == 0, 3.0, 3.5)
    model = kind().fit(X, y)
    assert model.score(X, y) == 1


@pytest.mark.parametrize("prior", [[0.5, 0.5], [0.3, 0.7], [0.8, 0.2]])
def test_with_equal_covariances_quasi_bayes_is_lda(rng, prior):
    half = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 3))
    X, y = np.concatenate([half, half + np.array([2.0, 1.0, -1.0])]), np.repeat([0, 1], 40)
    ours = QuasiBayes(ridge=0, class_prior=prior).fit(X, y)
    lda = LinearDiscriminantAnalysis(prior=GaussianPrior(0, 0), class_prior=prior).fit(X, y)
    assert_allclose(ours.predict_proba(X), lda.predict_proba(X), atol=1e-11)
    assert_allclose(ours.coef_, lda.coef_, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_equal_means_are_refused(kind, rng):
    half = rng.normal(size=(40, 2))
    X, y = np.concatenate([half, -half, 3 * half, -3 * half]), np.repeat(["a", "b"], 80)
    with pytest.raises(ValueError, match="class 'a' and class 'b' have the same mean, so that no plane tells them"):
        kind().fit(X, y)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::suffice.NoTangentPlaneWarning")
def test_the_geometry_is_what_it_says(kind):
    X, y = two_classes(4, 2, gap=2)
    model = kind(ridge=0).fit(X, y)
    means, covariances = first_two(X, y)
    w, cut, point = model.coef_[0], -model.intercept_[0], model.tangent_point_[0]
    assert_allclose(w @ point, cut, rtol=1e-9)
    sides = [(cut - w @ means[0]), (w @ means[1] - cut)]
    for j, (mean, cov) in enumerate(zip(means, covariances, strict=True)):
        assert_allclose(model.distances_[0, j], sides[j] / np.sqrt(w @ cov @ w), rtol=1e-9)
        gap = point - mean
        assert_allclose(gap @ np.linalg.solve(cov, gap), model.distances_[0, j] ** 2, rtol=1e-8)
        normal = np.linalg.solve(cov, gap)  # of the ellipsoid at the point of contact, parallel to w
        assert_allclose(abs(normal @ w), np.linalg.norm(normal) * np.linalg.norm(w), rtol=1e-8)
    share = model.class_prior_
    assert_allclose(model.gaussian_accuracy_, share @ ndtr(model.distances_[0]))
    assert_allclose(model.predict_proba([point])[0], [0.5, 0.5], atol=1e-9)
    assert ((model.decision_function(X) > 0) == (model.predict(X) == 1)).all()


def test_the_bound_holds_on_the_rows_learned_from(rng):
    for seed in range(20):
        X, y = two_classes(5, seed, gap=1.5)
        model = MinimaxProbabilityMachine(ridge=0).fit(X, y)
        right = [(model.predict(X[y == c]) == c).mean() for c in (0, 1)]
        assert min(right) >= model.worst_case_accuracy_[0] - 1e-12
