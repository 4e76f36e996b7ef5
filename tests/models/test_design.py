"""The design of linear scores: products are those of the matrix, wherever the rows are."""

import numpy as np
import pytest

from suffice.models.linear import Design


@pytest.mark.parametrize("k", [2, 5, 12])
@pytest.mark.parametrize(("far", "dtype"), [(0.0, np.float64), (1e6, np.float64), (3.0, np.float32)])
def test_products_are_those_of_the_matrix(k, far, dtype):
    rng = np.random.default_rng(k)
    X = (rng.normal(size=(300, 4)) + far).astype(dtype)
    D = Design(X, X.mean(axis=0, dtype=float), rng.uniform(0.5, 2.0, size=4))
    Z = np.column_stack([np.ones(300), (X.astype(float) - D.centre) * D.scale])
    np.testing.assert_allclose(D.matrix(), Z, atol=1e-12)
    slopes, W, weight = rng.normal(size=(k, 5)), rng.normal(size=(300, k)), rng.uniform(size=300)
    W -= W.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(D.scores(slopes), Z @ (slopes - slopes[0]).T, atol=1e-11)
    np.testing.assert_allclose(D.sums(W), W.T @ Z, atol=1e-10)
    np.testing.assert_allclose(D.gram(weight), (Z.T * weight) @ Z, atol=1e-10)


def test_no_rows_are_nothing():
    D = Design(np.empty((0, 3)), np.zeros(3), np.ones(3))
    assert D.scores(np.ones((2, 4))).shape == (0, 2)
    assert not D.sums(np.empty((0, 2))).any()
    assert not D.gram(np.empty(0)).any()
