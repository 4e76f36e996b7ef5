"""LAPACK's routines beside SciPy's, and side by side in threads."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh

from suffice._runtime.threads import spread
from suffice.models.planes.pencil import eigen_tridiagonal, relative, tridiagonal


def two(d, seed=0):
    first, second = np.random.default_rng(seed).normal(size=(2, d, 2 * d))
    return first @ first.T, second @ second.T + np.eye(d)


def eigenvalues(pair):
    a, b = pair
    _, diagonal, beside, _ = tridiagonal(relative(a, np.linalg.cholesky(b)))
    values, vectors, there = eigen_tridiagonal(diagonal, beside)
    assert there
    T = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
    assert_allclose(T @ vectors, vectors * values, atol=1e-10 * abs(values).max())
    return values


@pytest.mark.parametrize("d", [2, 3, 17, 130])
def test_eigenvalues_are_those_of_scipy(d):
    a, b = two(d)
    before = a.copy(), b.copy()
    assert_allclose(eigenvalues((a, b)), eigh(a, b, eigvals_only=True), rtol=1e-9)
    assert_allclose((a, b), before, rtol=0)  # what is given stays


def test_threads_do_not_disturb_each_other():
    pairs = [two(60, seed) for seed in range(30)]
    assert_allclose(spread(eigenvalues, pairs), [eigenvalues(pair) for pair in pairs], rtol=1e-12)
