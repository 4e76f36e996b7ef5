"""The kernel machine against its definition, and the pipeline that stands in for it on many rows."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_circles, make_moons
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.pipeline import make_pipeline

from suffice import KernelMPM, MinimaxProbabilityMachine
from suffice.kernel import MATRICES, MATRICES_PER_CLASS


def test_a_linear_kernel_is_the_linear_machine(rng):
    X = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 3)) + np.repeat([[0.0], [1.0]], 30, axis=0)
    y = np.repeat([0, 1], 30)
    X = X - X.mean(0)
    ours = KernelMPM("linear", ridge=1e-10).fit(X, y)
    linear = MinimaxProbabilityMachine(ridge=0).fit(X, y)
    assert_allclose(ours.machine_.distances_, linear.distances_, rtol=1e-4)
    assert_allclose(ours.decision_function(X), linear.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_kappa_from_kernel_products_alone(kernel):
    """kappa = alpha'(k2 - k1) / (|L1 alpha| + |L2 alpha|), of Lanckriet et al., at our own optimum and around it."""
    X, y = make_moons(80, noise=0.2, random_state=0)
    model = KernelMPM(kernel, gamma=0.7).fit(X, y)
    K = pairwise_kernels(
        X, model._rows, metric=kernel, gamma=0.7, **({"degree": 3, "coef0": 1.0} if kernel == "poly" else {})
    )
    alpha = model._root @ model.machine_.coef_[0]
    machine, F = model.machine_, model._coordinates(X)
    assert_allclose(
        F @ model._coordinates(model._rows).T, K, atol=1e-8
    )  # the coordinates have the products of the feature space
    assert_allclose(K @ alpha + machine.intercept_[0], model.decision_function(X), atol=1e-7)
    size = sum(F[y == c].var(axis=0) for c in (0, 1)) + (F[y == 1].mean(0) - F[y == 0].mean(0)) ** 2

    def kappa(w):
        spread = [np.sqrt(w @ np.cov(F[y == c].T, bias=True) @ w + model.ridge * size @ w**2) for c in (0, 1)]
        return w @ (F[y == 1].mean(0) - F[y == 0].mean(0)) / sum(spread)

    w = machine.coef_[0]
    assert_allclose(kappa(w), machine.distances_[0, 0], rtol=1e-8)
    rng = np.random.default_rng(0)
    for _ in range(20):
        assert kappa(w + 1e-3 * np.linalg.norm(w) * rng.normal(size=len(w))) < kappa(w)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear", "sigmoid"])
def test_every_kernel_learns(kernel):
    X, y = make_moons(200, noise=0.15, random_state=1)
    model = KernelMPM(kernel).fit(X[:100], y[:100])
    assert model.score(X[100:], y[100:]) > (0.93 if kernel in ("rbf", "poly") else 0.8)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_nystroem_with_all_rows_is_the_kernel_machine():
    X, y = make_circles(150, noise=0.1, factor=0.5, random_state=0)
    exact = KernelMPM(gamma=1.0).fit(X, y)
    pipeline = make_pipeline(
        Nystroem(gamma=1.0, n_components=150, random_state=0), MinimaxProbabilityMachine(ridge=0.1)
    ).fit(X, y)
    assert np.mean(exact.predict(X) == pipeline.predict(X)) >= 0.99


def test_nystroem_stands_in_for_it_on_many_rows():
    X, y = make_moons(20_000, noise=0.2, random_state=0)
    with pytest.raises(MemoryError, match=r"KernelMPM needs about 70 GB for all pairs of 20000 rows.*Nystroem"):
        KernelMPM(max_memory=2e9).fit(X, y)
    large = make_pipeline(Nystroem(gamma=1.0, n_components=200, random_state=0), MinimaxProbabilityMachine())
    large.fit(X[:10_000], y[:10_000])
    small = KernelMPM(gamma=1.0).fit(X[:500], y[:500])
    assert large.score(X[10_000:], y[10_000:]) > small.score(X[10_000:], y[10_000:]) - 0.005


def test_three_classes_and_weights(rng):
    X = np.concatenate([rng.normal(size=(40, 2)) + at for at in ([0, 0], [3, 0], [0, 3])])
    y = np.repeat(["a", "b", "c"], 40)
    model = KernelMPM().fit(X, y)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.score(X, y) > 0.9
    weight = np.where(y == "b", 0.0, 1.0)
    assert KernelMPM().fit(X, y, sample_weight=weight).classes_.tolist() == ["a", "c"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel": "cosine"}, r"kernel must be one of \('rbf', 'poly', 'linear', 'sigmoid'\), got 'cosine'"),
        ({"gamma": -1}, "gamma must be 'scale' or a positive number, got -1"),
        ({"degree": 2.5}, "degree must be a whole number of at least 1, got 2.5"),
        ({"coef0": None}, "coef0 must be a finite number, got None"),
        ({"max_memory": "1GB"}, "max_memory must be None or a positive number, got '1GB'"),
        ({"gamma": "auto"}, "gamma must be 'scale' or a positive number, got 'auto'"),
    ],
)
def test_settings_that_make_no_sense(settings, message, rng):
    with pytest.raises(ValueError, match=message):
        KernelMPM(**settings).fit(rng.normal(size=(10, 2)), np.repeat([0, 1], 5))


def test_a_fit_that_fails_changes_nothing(rng):
    X, y = rng.normal(size=(30, 2)), np.repeat([0, 1], 15)
    model = KernelMPM().fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match=r"KernelMPM needs rows of at least two classes, got one class: \[0\]"):
        model.fit(X[:15], y[:15])
    assert_allclose(model.predict_proba(X), before)


@pytest.mark.parametrize("classes", [2, 10])
def test_the_memory_it_says_is_the_memory_it_takes(rng, classes):
    n = 300
    X, y = rng.normal(size=(n, 5)), np.arange(n) % classes
    tracemalloc.start()
    KernelMPM().fit(X, y)
    peak = tracemalloc.get_traced_memory()[1] / (8 * n**2)
    tracemalloc.stop()
    assert 0.3 * (MATRICES + MATRICES_PER_CLASS * classes) < peak < MATRICES + MATRICES_PER_CLASS * classes


def test_an_offset_does_not_matter(rng):
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 3
    X[:, 0] += 2 * y
    Z = (X + 1e8) - 1e8  # the same rows, with the digits that are left
    assert_allclose(
        KernelMPM().fit(X + 1e8, y).predict_proba(X + 1e8), KernelMPM().fit(Z, y).predict_proba(Z), atol=1e-6
    )
