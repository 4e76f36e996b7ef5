"""The evidence is the integral that it stands for, and its greatest is what a prior takes."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.special import multigammaln

from suffice import CategoricalNB, Dirichlet, GaussianNB, GaussianPrior, QuadraticDiscriminantAnalysis
from suffice.priors.evidence import COV_WEIGHTS, MEAN_WEIGHTS, TABLE_WEIGHTS, greatest, table_evidence
from suffice.priors.gaussian import PriorSums, evidence


def seen_of(X, y, full, tied=False):
    """What a model would hand to its prior, written out."""
    classes = np.unique(y)
    parts = [X[y == c] for c in classes]
    scatter = np.stack([len(p) * np.cov(p.T, bias=True).reshape(X.shape[1], -1) for p in parts])
    rows = np.array([[float(len(p))] for p in parts])
    if not full:
        scatter, rows = np.stack([np.diag(s) for s in scatter]), np.tile(rows, X.shape[1])
    means = np.stack([p.mean(0) for p in parts])
    return PriorSums(classes, rows, means, scatter, X.mean(0), X.var(0), tied)


@pytest.mark.parametrize("weight", [1.0, 2.0, 7.0])
@pytest.mark.parametrize("counts", [(3, 1), (0, 4), (2.5, 0.5)])
def test_tables_of_two_cells_by_quadrature(weight, counts):
    """The integral over the simplex, with p = sin^2 t, which leaves no poles."""
    share = np.array([0.4, 0.6])

    def beta(a, b):
        return mpmath.quad(
            lambda t: 2 * mpmath.sin(t) ** (2 * a - 1) * abs(mpmath.cos(t)) ** (2 * b - 1), [0, mpmath.pi / 2]
        )

    alpha = weight * share
    expected = mpmath.log(beta(*(np.array(counts) + alpha)) / beta(*alpha))
    got = table_evidence(np.array([counts]), share, np.array([0, 0]), weight)
    assert_allclose(got, float(expected), rtol=1e-8)


def test_tables_row_by_row():
    """The chain rule: every row is predicted from those before it; two classes, tables of three and two cells."""
    rng = np.random.default_rng(0)
    base, owner = np.array([0.2, 0.3, 0.5, 0.6, 0.4]), np.array([0, 0, 0, 1, 1])
    codes, y = np.column_stack([rng.integers(3, size=20), 3 + rng.integers(2, size=20)]), rng.integers(2, size=20)
    table, expected = np.zeros((2, 5)), np.zeros(2)
    for row, c in zip(codes, y, strict=True):
        for j, cell in enumerate(row):
            before = table[c, owner == j].sum()
            expected[j] += np.log((table[c, cell] + 4 * base[cell]) / (before + 4))
            table[c, cell] += 1
    assert_allclose(table_evidence(table, base, owner, 4.0), expected, rtol=1e-12)


X1, MEAN0, V0 = np.array([0.3, 1.9, 0.8, 2.4]), 0.5, 1.5


def log_normal(x, mean, variance):
    return -((x - mean) ** 2) / (2 * variance) - 0.5 * np.log(2 * np.pi * variance)


def marginal(m1, m2):
    """p(X1) with mean ~ N(MEAN0, var / m1), or flat, and var ~ IG(a, b) of mean V0, summed over a fine grid.

    In t = (mean - mean of X1) / sd and log var the integrand is smooth and fades at both ends, so that the sum is
    the integral to many digits.
    """
    t, log_variance = np.linspace(-12, 12, 601)[:, None], np.linspace(-9, 25, 501)
    variance = np.exp(log_variance)
    mean, a, b = X1.mean() + t * np.sqrt(variance), (m2 + 2) / 2, m2 * V0 / 2
    spread = a * np.log(b) - math.lgamma(a) - (a + 1) * log_variance - b / variance
    place = log_normal(mean, MEAN0, variance / m1) if m1 > 0 else 0.0
    rows = sum(log_normal(x, mean, variance) for x in X1)
    volume = (t[1, 0] - t[0, 0]) * np.sqrt(variance) * (log_variance[1] - log_variance[0]) * variance
    return float((np.exp(rows + place + spread) * volume).sum())


@pytest.mark.parametrize(("m1", "m2"), [(0.5, 1.0), (2.0, 6.0), (0.0, 3.0)])
def test_one_normal_class_by_double_quadrature(m1, m2):
    one, matrix = (seen_of(X1[:, None], np.zeros(4), full=full) for full in (False, True))
    got = evidence(one, np.array([[MEAN0]]), np.array([[V0]]), m1, np.array([m2]))
    assert_allclose(got, math.log(marginal(m1, m2)), rtol=1e-9)
    of_matrix = evidence(matrix, np.array([[MEAN0]]), np.array([[[V0]]]), m1, np.array([m2]))
    assert_allclose(of_matrix, got, rtol=1e-12)  # the inverse-Wishart of d = 1


@pytest.mark.parametrize("m1", [0.0, 0.7])
@pytest.mark.parametrize("tied", [False, True])
def test_matrices_by_triple_quadrature(m1, tied):
    """Two classes in the plane: summed over a grid of two standard deviations and a correlation."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], [5, 4])
    X = rng.normal(size=(9, 2)) @ [[1.0, 0.4], [0.0, 1.0]] + y[:, None]
    mean0, cov0, m2 = np.array([0.2, 0.1]), np.array([[1.2, 0.3], [0.3, 0.9]]), 8.0
    u, w = np.linspace(-2.0, 3.5, 45), np.linspace(-4.0, 4.0, 49)
    one, two, r = (axis.ravel() for axis in np.meshgrid(np.exp(u), np.exp(u), np.tanh(w), indexing="ij"))
    cov = np.stack([one**2, r * one * two, r * one * two, two**2], axis=1).reshape(-1, 2, 2)
    jacobian = 4 * one**3 * two**3 * (1 - r**2) * (u[1] - u[0]) ** 2 * (w[1] - w[0])
    log_prior = log_inverse_wishart(cov, m2 * cov0, m2 + 3) + np.log(jacobian)
    log_p = np.stack([_log_likelihoods(X[y == c], cov, mean0, m1) for c in (0, 1)])
    if tied:
        log_p = log_p.sum(axis=0, keepdims=True)
    assert_allclose(np.exp(log_prior).sum(), 1.0, rtol=1e-6)
    expected = np.log(np.exp(log_prior + log_p).sum(axis=1)).sum()
    got = evidence(seen_of(X, y, full=True, tied=tied), mean0[None], cov0[None], m1, np.array([m2]))
    assert_allclose(got, expected, rtol=1e-6)


def pairs(covariances):
    """log|C| and C^-1 of many matrices of two by two."""
    (a, b), (_, c) = np.moveaxis(covariances, 0, -1)
    det = a * c - b * b
    return np.log(det), np.moveaxis(np.array([[c, -b], [-b, a]]) / det, -1, 0)


def log_inverse_wishart(covariances, psi, v):
    log_det, inverse = pairs(covariances)
    known = 0.5 * v * np.linalg.slogdet(psi)[1] - v * np.log(2) - multigammaln(v / 2, 2)
    return known - 0.5 * (v + 3) * log_det - 0.5 * np.einsum("nij,ij->n", inverse, psi)


def _log_likelihoods(X, covariances, mean0, m1):
    """log p(X | cov), the mean integrated out: normal (weight m1) or flat."""
    n, d = X.shape
    gaps, shift = X - X.mean(0), X.mean(0) - mean0
    squares = gaps.T @ gaps + (m1 * n / (m1 + n) * np.outer(shift, shift) if m1 > 0 else 0.0)
    log_det, inverse = pairs(covariances)
    free = n if m1 > 0 else n - 1
    constant = -0.5 * free * d * np.log(2 * np.pi) + 0.5 * d * (np.log(m1 / (m1 + n)) if m1 > 0 else -np.log(n))
    return constant - 0.5 * free * log_det - 0.5 * np.einsum("nij,ij->n", inverse, squares)


def test_the_first_of_equals_is_taken():
    rising = np.array([1.0, 3.0, 3.0 + 1e-12, 2.0])
    assert greatest(rising) == 1
    assert greatest(np.array([[0.0, 5.0], [0.0, 6.0]])).tolist() == [0, 1]


def test_weights_are_those_of_greatest_evidence():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(6), 7)
    X = rng.normal(size=(6, 3))[y] * [0.3, 1.0, 3.0] + rng.normal(size=(42, 3)) * [1.0, 2.0, 0.5]
    model = GaussianNB(prior=GaussianPrior("evidence", "evidence")).fit(X, y)
    seen = seen_of(X, y, full=False)
    believed = model._fit_result().model.believed
    each = {
        (m1, m2): value
        for m1 in MEAN_WEIGHTS
        for m2, value in zip(
            COV_WEIGHTS, evidence(seen, seen.centre[None], seen.within(0.0, 0.3), m1, COV_WEIGHTS), strict=True
        )
    }
    assert (believed.mean_weight, believed.cov_weight) == max(each, key=each.get)


def test_evidence_finds_the_spread_of_means_and_covariances():
    """Means drawn with variance cov/m1 and covariances drawn with m2 degrees give these back, to a factor of 4."""
    rng = np.random.default_rng(3)
    k, d, n, m1, m2 = 120, 3, 15, 0.25, 24.0
    cov = stats.invwishart(df=m2 + d + 1, scale=m2 * np.eye(d)).rvs(k, random_state=4)
    means = np.stack([rng.multivariate_normal(np.zeros(d), c / m1) for c in cov])
    X = np.concatenate([rng.multivariate_normal(m, c, size=n) for m, c in zip(means, cov, strict=True)])
    prior = GaussianPrior("evidence", "evidence", covariance=1.0, mean=0.0)
    believed = (
        QuadraticDiscriminantAnalysis(prior=prior).fit(X, np.repeat(np.arange(k), n))._fit_result().model.believed
    )
    assert m1 / 2 <= believed.mean_weight <= m1 * 2
    assert m2 / 2 <= believed.cov_weight <= m2 * 2


def test_evidence_of_tables_is_by_column():
    """A column alike in all classes gets the heaviest weight, one that differs a light one."""
    rng = np.random.default_rng(0)
    y = np.arange(400) % 4
    same, different = rng.integers(3, size=400), (y + (rng.random(400) < 0.05)) % 4
    model = CategoricalNB(prior=Dirichlet("evidence", base="marginal")).fit(np.column_stack([same, different]), y)
    pseudo = model._fit_result().model.believed[0]
    sizes = model.n_categories_
    weights = [part.sum() for part in np.split(pseudo, np.cumsum(sizes)[:-1])]
    assert weights[0] == TABLE_WEIGHTS[-1]
    assert weights[1] <= 4
    table = model.statistics_.sums.table
    for j, part in enumerate(np.split(np.arange(table.shape[1]), np.cumsum(sizes)[:-1])):
        base = (table[:, part].sum(0) + 0.5) / (table[:, part].sum() + 0.5 * len(part))
        each = [table_evidence(table[:, part], base, 0 * part, w)[0] for w in TABLE_WEIGHTS]
        assert weights[j] == pytest.approx(TABLE_WEIGHTS[int(np.argmax(each))])


def test_one_row_a_class_still_teaches():
    """Single rows say nothing of the weight: the lightest is taken, so that they say something of the classes."""
    model = CategoricalNB(prior=Dirichlet("evidence", base="marginal")).fit([["u"], ["v"], ["w"]], [0, 1, 2])
    assert model.predict([["u"], ["v"], ["w"]]).tolist() == [0, 1, 2]
    assert model._fit_result().model.prior_rows == pytest.approx(1.0)
