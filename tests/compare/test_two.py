"""Tests of one method against a number and of two against each other: oracles, printed values, edges, error rates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as mcnemar_oracle

from suffice.compare import corrected_resampled_t, mcnemar, one_sample_t, paired_t, two_sample_t, z_test

RNG = np.random.default_rng(0)
A = RNG.normal(80, 3, 12)
B = A + RNG.normal(1, 2, 12)
C = RNG.normal(79, 6, 9)

# accuracies of Table 2 of the comparison of naive Bayes and logistic regression, 21 data sets
NB = [75.92, 87.78, 92.86, 81.46, 94.67, 94.18, 96.88, 81.41, 80.96, 92.76, 46.22, 88.44, 50.53, 79.14, 100.00, 79.83]
NB += [59.64, 85.74, 90.88, 65.91, 88.23]
GRAD = [76.05, 90.00, 93.02, 88.43, 95.33, 96.30, 97.02, 83.48, 80.04, 94.44, 75.69, 94.41, 52.55, 75.62, 98.18, 95.63]
GRAD += [64.29, 90.19, 94.79, 51.49, 92.38]
GRAD_OVO = [76.05, 90.00, 93.02, 88.43, 96.00, 94.71, 97.02, 84.38, 81.79, 97.34, 76.46, 94.43, 59.69, 80.20, 98.18]
GRAD_OVO += [95.20, 76.19, 94.52, 96.34, 65.25, 86.79]
GNB = [74.87, 88.89, 92.97, 87.45, 84.67, 91.53, 95.63, 83.84, 78.55, 94.04, 44.39, 92.61, 54.74, 76.33, 100.00, 84.85]
GNB += [77.06, 81.75, 89.73, 45.56, 86.23]
GNB_OVO = [74.87, 88.89, 92.97, 87.45, 92.00, 96.30, 93.75, 81.66, 80.66, 95.21, 44.20, 93.42, 55.21, 76.16, 100.00]
GNB_OVO += [79.74, 76.29, 81.28, 90.27, 57.98, 80.23]


def agrees(test, oracle, df=None):
    assert_allclose([test.statistic, test.p_value], [oracle.statistic, oracle.pvalue], rtol=1e-9)
    if df is not None:
        assert_allclose(test.df, oracle.df)
        assert_allclose(test.interval, oracle.confidence_interval(1 - test.alpha))


def test_t_tests_agree_with_scipy():
    agrees(paired_t(A, B, alpha=0.1), stats.ttest_rel(A, B), df=True)
    agrees(two_sample_t(A, C), stats.ttest_ind(A, C, equal_var=False), df=True)
    agrees(two_sample_t(A, C, equal_var=True), stats.ttest_ind(A, C), df=True)
    one = stats.ttest_1samp(A, 78)
    agrees(one_sample_t(A, 78), one)
    assert_allclose(np.add(one_sample_t(A, 78).interval, 78), one.confidence_interval())


def test_z():
    test = z_test(A, 78, 3)
    z = (A.mean() - 78) / 3 * np.sqrt(12)
    assert_allclose([test.statistic, test.p_value], [z, 2 * stats.norm.sf(abs(z))])
    assert_allclose(test.interval, A.mean() - 78 + np.array([-1, 1]) * 1.959963984540054 * 3 / np.sqrt(12))
    assert z_test([78.0], 78, 3).p_value == 1


@pytest.mark.parametrize(
    ("a", "b", "t", "level"), [(GRAD, NB, 1.7731, 0.1), (GRAD_OVO, GRAD, 2.1226, 0.05), (GNB_OVO, GNB, 0.7226, 1)]
)
def test_printed_t_values(a, b, t, level):
    test = paired_t(a, b)
    assert (round(test.statistic, 4), test.df) == (t, 20)
    assert test.p_value < level
    assert test.significant == (level == 0.05)


@pytest.mark.parametrize(
    ("counts", "printed"),
    [((22, 65), 20.275862), ((8, 134), 110.035211), ((190, 354), 48.840074), ((80, 21), 33.306931), ((2, 8), 2.5)],
)
def test_printed_mcnemar_values(counts, printed):
    test = mcnemar(counts=counts, exact=False)
    assert round(test.statistic, 6) == printed
    assert test.significant == (printed > 3.841459)


@pytest.mark.parametrize("counts", [(2, 8), (12, 5), (40, 61), (0, 7), (9, 10)])
@pytest.mark.parametrize("exact", [True, False])
def test_mcnemar_agrees_with_statsmodels(counts, exact):
    test = mcnemar(counts=counts, exact=exact)
    oracle = mcnemar_oracle([[30, counts[0]], [counts[1], 4]], exact=exact)
    assert_allclose(test.p_value, oracle.pvalue)
    if not exact:
        assert_allclose(test.statistic, oracle.statistic)


def test_mcnemar_of_rows():
    wrong_a = np.repeat([True, True, False, False], [10, 30, 55, 105])
    wrong_b = np.repeat([True, False, True, False], [10, 30, 55, 105])
    test = mcnemar(wrong_a, wrong_b, names=("NB", "LR"))
    assert test.p_value == mcnemar(counts=(30, 55)).p_value
    assert (test.difference, test.averages) == (0.125, {"NB": 0.2, "LR": 0.325})
    p10, p01, n = 55.5 / 202, 30.5 / 202, 202  # half a row more in each cell
    reach = 1.959963984540054 * np.sqrt((p10 + p01 - (p10 - p01) ** 2) / n)
    assert_allclose(test.interval, [p10 - p01 - reach, p10 - p01 + reach])
    assert test.finding == "NB alone is right on 55 rows and LR alone on 30, a difference in accuracy of 0.125"
    assert mcnemar(wrong_a.astype(int), wrong_b.tolist()).p_value == test.p_value


def test_mcnemar_without_disagreement():
    for test in (mcnemar([True, False], [True, False]), mcnemar(counts=(0, 0), exact=False), mcnemar(counts=(9, 9))):
        assert (test.statistic, test.p_value) == (0, 1)
    assert mcnemar(counts=(12, 12)).name == "McNemar test, exact"
    assert mcnemar(counts=(12, 13)).name == "McNemar test"


def test_corrected_resampled_t_is_its_formula():
    d = A - B
    t = d.mean() / np.sqrt((1 / 12 + 1 / 9) * d.var(ddof=1))
    for test in (
        corrected_resampled_t(A, B, test_share=0.1),
        corrected_resampled_t(d, test_share=0.1),
        corrected_resampled_t(A, B, n_train=900, n_test=100),
    ):
        assert_allclose([test.statistic, test.p_value], [t, 2 * stats.t.sf(abs(t), 11)])


def test_error_rates_on_overlapping_splits():
    # two methods equal by construction: each predicts its own column by the mean of the training rows
    rng, n, splits, test_rows, runs = np.random.default_rng(1), 40, 15, 8, 1000
    plain = corrected = 0
    for _ in range(runs):
        rows = np.argsort(rng.random((splits, n)), axis=1)
        x = rng.normal(size=(n, 2))[rows]  # (splits, n, 2)
        a, b = ((x[:, :test_rows] - x[:, test_rows:].mean(axis=1, keepdims=True)) ** 2).mean(axis=1).T
        plain += paired_t(a, b).significant
        corrected += corrected_resampled_t(a, b, n_train=n - test_rows, n_test=test_rows).significant
    assert plain / runs > 0.2
    assert 0.02 < corrected / runs < 0.08


def test_error_rate_of_paired_t_on_independent_rows():
    x = np.random.default_rng(2).normal(size=(2000, 2, 8))
    assert 0.035 < np.mean([paired_t(a, b).significant for a, b in x]) < 0.065


SCORES = [0.1, 0.7, 0.3, 0.9]
SHIFTED = [0.3, 0.9, 0.5, 1.1]  # by 0.2, up to rounding
each = pytest.mark.parametrize("test", [paired_t, lambda a, b: corrected_resampled_t(a, b, test_share=0.1)])


@each
def test_no_difference_and_constant_difference(test):
    same, shifted = test(SCORES, SCORES), test(SCORES, SHIFTED)
    assert (same.statistic, same.p_value, same.interval, same.significant) == (0, 1, (0, 0), False)
    assert (shifted.statistic, shifted.p_value, shifted.significant) == (-np.inf, 0, True)
    assert_allclose(shifted.interval, [-0.2, -0.2])
    assert same.finding == "A equals B on average"


def test_samples_without_variation():
    assert two_sample_t([0.3] * 3, [0.1 + 0.2] * 4).p_value == 1
    for equal_var in (True, False):
        assert two_sample_t([0.3] * 3, [0.4] * 4, equal_var=equal_var).statistic == -np.inf
    assert one_sample_t([0.1 + 0.2] * 4, 0.3).p_value == 1
    assert one_sample_t([0.4] * 4, 0.3).p_value == 0


def test_sentences():
    assert str(paired_t(GRAD_OVO, GRAD, names=["OVO", "LR"])) == (
        "OVO is 2.031 above LR on average (95% interval 0.0351 to 4.028). By chance alone a difference this large "
        "would turn up in about 5 of 100 repetitions (p = 0.0465): at the level 0.05 it is taken as real."
    )
    assert "(90% interval" in str(paired_t(GNB, GNB_OVO, alpha=0.1))
    assert str(paired_t(GNB, GNB_OVO)).endswith("it may be chance, which does not show equality.")
    assert "in fewer than 1 of 1000 repetitions (p < 0.001)" in str(paired_t([1, 2, 3], [2, 3, 4]))


numbers = st.floats(-100, 100).map(lambda v: round(v, 3))


@given(st.lists(st.tuples(numbers, numbers), min_size=3, max_size=20), st.floats(-50, 50))
def test_shifting_and_swapping(pairs, shift):
    a, b = np.array(pairs).T
    test, swapped, shifted = paired_t(a, b), paired_t(b, a), paired_t(a + shift, b + shift)
    assert swapped.statistic == -test.statistic
    assert swapped.p_value == test.p_value
    assert_allclose(shifted.p_value, test.p_value, rtol=1e-6, atol=1e-6)
    # the interval and the test say the same
    low, high = test.interval
    assert test.significant == (not low <= 0 <= high) or min(abs(low), abs(high)) < 1e-9


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: paired_t([1, 2, 3], [1, 2]), r"A has 3 scores and B 2.*come in pairs"),
        (lambda: paired_t([1], [1]), "the scores of A must have at least 2 scores, got 1"),
        (lambda: paired_t([1, np.nan], [1, 2]), "the scores of A must be finite, but row 1 is nan"),
        (
            lambda: paired_t([[1, 2]], [1, 2]),
            r"the scores of A must be a list of scores, got an array of shape \(1, 2\)",
        ),
        (lambda: paired_t(["x", "y"], [1, 2]), "the scores of A must be numbers"),
        (lambda: paired_t([1, 2], [1, 3], alpha=0), r"alpha must be a number between 0 and 1, got 0"),
        (lambda: paired_t([1, 2], [1, 3], alpha=True), "alpha must be"),
        (lambda: paired_t([1, 2], [1, 3], alpha="5%"), "alpha must be"),
        (lambda: paired_t([1, 2], [1, 3], names="AB"), "names must be a list of 2 labels"),
        (lambda: paired_t([1, 2], [1, 3], names=["A", "A"]), "names must differ"),
        (lambda: z_test([1.0], 0, 0), "std must be above 0, got 0"),
        (lambda: z_test([], 0, 1), "at least 1 scores, got 0"),
        (lambda: one_sample_t([1.0, 2], np.nan), "expected must be a finite number, got nan"),
        (lambda: corrected_resampled_t([1, 2], [1, 3]), "takes either test_share, or both n_train and n_test"),
        (lambda: corrected_resampled_t([1, 2], [1, 3], n_test=3), "or both n_train and n_test"),
        (lambda: corrected_resampled_t([1, 2], [1, 3], n_test=3, test_share=0.1), "takes either test_share"),
        (lambda: corrected_resampled_t([1, 2], [1, 3], test_share=1), "test_share must be between 0 and 1"),
        (lambda: corrected_resampled_t([1, 2], [1, 3], n_train=0, n_test=1), "must be at least 1, got 0 and 1"),
        (lambda: mcnemar(), "either wrong_a and wrong_b, or counts"),
        (lambda: mcnemar([True], [True], counts=(1, 2)), "either wrong_a and wrong_b, or counts"),
        (lambda: mcnemar([True], counts=(1, 2)), "either wrong_a and wrong_b, or counts"),
        (lambda: mcnemar([True], [True, False]), "the same rows, got 1 and 2"),
        (lambda: mcnemar([1, 2], [0, 1]), "must be True for rows that are wrong"),
        (lambda: mcnemar(counts=(1.5, 2)), "counts must be two whole numbers"),
        (lambda: mcnemar(counts=(-1, 2)), "counts must be two whole numbers"),
        (lambda: mcnemar(counts=7), "counts must be two whole numbers"),
    ],
)
def test_what_is_wrong_with_the_input(call, says):
    with pytest.raises(ValueError, match=says):
        call()
