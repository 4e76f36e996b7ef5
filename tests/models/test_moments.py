"""Sums about origins: digits that raw sums would lose."""

import numpy as np
import pytest

import suffice


@pytest.mark.parametrize("share", [0.9, 0.99, 0.999])
@pytest.mark.parametrize("order", ["C", "F"])
def test_values_far_from_zero_that_are_mostly_missing_keep_their_digits(share, order):
    rng = np.random.default_rng(1)
    n = 60_000
    y = rng.integers(2, size=n)
    x = np.where(rng.random(n) < share, np.nan, 1e9 + rng.normal(size=n) + y)
    X = np.asarray(np.column_stack([x, rng.normal(size=(n, 9))]), order=order)
    found = suffice.GaussianNB(prior=None).fit(X, y).var_[:, 0]
    expected = [(x[(y == c) & ~np.isnan(x)] - 1e9).var() for c in range(2)]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
