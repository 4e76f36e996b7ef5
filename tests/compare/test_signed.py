"""The signed-rank test: SciPy's exact and normal p values, all signs tried one by one, edges, bad input."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from suffice.compare import wilcoxon

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("n", [5, 12, 40])
def test_exact_p_value_of_scipy(n):
    a, b = RNG.normal(0.3, 1, n), RNG.normal(0, 1, n)
    expected = stats.wilcoxon(a, b, method="exact")
    test = wilcoxon(a, b)
    assert_allclose([test.statistic, test.p_value], [expected.statistic, expected.pvalue], rtol=1e-12)
    assert_allclose(wilcoxon(b, a).p_value, test.p_value)
    assert_allclose(test.difference, (a - b).mean())


def test_normal_p_value_of_scipy_for_many_rows():
    a, b = RNG.normal(0.1, 1, 300), RNG.integers(-2, 3, 300).astype(float)
    expected = stats.wilcoxon(a, b, method="asymptotic", correction=True)
    assert_allclose(wilcoxon(a, b).p_value, expected.pvalue, rtol=1e-10)


def test_ties_and_zeros_by_trying_all_signs():
    d = np.array([1.0, 1, -1, 2, 0, 3, 3, 3, -0.5, 0])
    ranks = stats.rankdata(np.abs(d[d != 0]))
    observed = min(ranks[d[d != 0] > 0].sum(), ranks[d[d != 0] < 0].sum())
    sums = [np.dot(signs, ranks) for signs in product([0, 1], repeat=len(ranks))]
    extreme = np.mean([min(s, ranks.sum() - s) <= observed for s in sums])
    test = wilcoxon(d + 7, np.full(10, 7.0), names=["ours", "theirs"])
    assert_allclose([test.statistic, test.p_value], [observed, extreme])
    assert test.finding.startswith("ours is above theirs on 6 rows, below on 2 and equal on 2")


def test_rounding_neither_counts_nor_breaks_ties():
    a, b = np.array([0.3, 0.5, 0.9, 0.2]), np.array([0.1 + 0.2, 0.4, 0.8, 0.1])
    assert wilcoxon(a, b).finding.startswith("A is above B on 3 rows, below on 0 and equal on 1")
    assert wilcoxon(a, b).p_value == wilcoxon([3.0, 5, 9, 2], [3.0, 4, 8, 1]).p_value == 0.25


def test_no_difference_at_all():
    test = wilcoxon([1.0, 2, 3], [1.0, 2, 3])
    assert (test.statistic, test.p_value, test.significant) == (0.0, 1.0, False)


def test_rate_of_false_alarms_stays_at_the_level():
    found = [wilcoxon(*RNG.normal(size=(2, 15))).significant for _ in range(2000)]
    assert 0.035 < np.mean(found) < 0.065


def test_refuses_unequal_lengths():
    with pytest.raises(ValueError, match="A has 3 scores and B 2"):
        wilcoxon([1.0, 2, 3], [1.0, 2])
