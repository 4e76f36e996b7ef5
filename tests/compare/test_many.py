"""Tests of several methods: oracles, published examples, the step-down rule, error rates, the figure."""

from __future__ import annotations

from functools import lru_cache, partial
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy import stats
from statsmodels.stats.anova import AnovaRM
from statsmodels.stats.multitest import multipletests

from suffice.compare import (
    average_ranks,
    corrected_resampled_t,
    critical_difference_figure,
    f_test,
    f_test_repeated,
    friedman,
    holm,
    holm_adjusted,
    mcnemar,
    nemenyi,
    newman_keuls,
    paired_t,
    several,
    tukey_hsd,
)
from suffice.compare.result import groups

EXAMPLE = [[8, 10, 13], [7, 9, 12], [9, 12, 14], [6, 9, 11]]
RNG = np.random.default_rng(0)
TABLE = RNG.normal(80, 4, (10, 1)) + RNG.normal(size=(10, 4)) + [0, 0.2, 1.5, 3]
GROUPS = [RNG.normal(m, 2, n) for m, n in ((5, 8), (6, 5), (9, 7), (9, 12))]

# AUC of four variants of C4.5 on 14 data sets (Demsar 2006, Table 6); where the print rounds two scores of "voting" to
# 0.975 its ranks tell them apart
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)
THREE_PAIRS = np.array([0, 0, 50, 50, 100, 100])  # of equals
C45 = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]


def test_f_agrees_with_scipy():
    test, oracle = f_test(GROUPS), stats.f_oneway(*GROUPS)
    assert_allclose([test.statistic, test.p_value], [oracle.statistic, oracle.pvalue])
    assert test.df == (3, 28)


def test_repeated_f_agrees_with_statsmodels():
    long = pd.DataFrame([(i, j, TABLE[i, j]) for i in range(10) for j in range(4)], columns=["row", "method", "score"])
    f, df1, df2, p = AnovaRM(long, "score", "row", ["method"]).fit().anova_table.to_numpy()[0]
    test = f_test_repeated(TABLE)
    assert_allclose([test.statistic, *test.df, test.p_value], [f, df2 if df1 > df2 else df1, df2, p])
    t = paired_t(TABLE[:, 0], TABLE[:, 1])
    assert_allclose(f_test_repeated(TABLE[:, :2]).statistic, t.statistic**2)


def test_tukey_agrees_with_scipy():
    names, oracle = "abcd", stats.tukey_hsd(*GROUPS)
    result = tukey_hsd(GROUPS, names=list(names))
    interval = oracle.confidence_interval(0.95)
    for pair in result.pairs:
        i, j = (names.index(m) for m in pair.methods)
        assert_allclose([pair.difference, pair.p_value], [oracle.statistic[i, j], oracle.pvalue[i, j]], atol=1e-10)
        assert_allclose(pair.interval, [interval.low[i, j], interval.high[i, j]])
    assert result.critical_difference is None


def test_tukey_for_repeated_measures():
    result, wide = tukey_hsd(EXAMPLE, repeated_measures=True), newman_keuls(EXAMPLE)
    assert_allclose([p.statistic for p in result.pairs], [15, 30, 15])
    assert_allclose([p.critical for p in result.pairs], wide.pair("A", "C").critical)
    assert_allclose(result.critical_difference, 4.339 / 6, rtol=1e-3)
    assert [p.significant for p in result.pairs] == [
        abs(p.difference) > result.critical_difference for p in result.pairs
    ]


def test_newman_keuls_example():
    result = newman_keuls(EXAMPLE, names=["a", "b", "c"])
    assert (round(result.error, 4), result.df) == (0.1111, 6)
    assert result.averages == {"c": 12.5, "b": 10, "a": 7.5}
    assert {p.methods: (round(p.statistic, 9), p.span, round(p.critical, 3)) for p in result.pairs} == {
        ("c", "b"): (15, 2, 3.460),
        ("c", "a"): (30, 3, 4.339),
        ("b", "a"): (15, 2, 3.460),
    }
    assert all(p.significant and p.tested for p in result.pairs)
    assert result.groups == (("c",), ("b",), ("a",))
    assert (
        str(result.pair("a", "c")) == "c is 5 above a on average: taken as real at the level 0.05 (adjusted p < 0.001)."
    )
    assert str(result).endswith("3 of 3 pairs differ; every method is told apart from every other.")


quantile = lru_cache(stats.studentized_range.ppf)


def brute_force(x, alpha):
    """Windows of ordered means from the widest to the narrowest: significant, not significant, or not tested."""
    n, k = x.shape
    order = np.argsort(-x.mean(axis=0))
    e = x - x.mean(axis=0) - x.mean(axis=1)[:, None] + x.mean()
    unit = np.sqrt((e**2).sum() / ((n - 1) * (k - 1)) / n)
    verdict, retained = {}, []
    for span in range(k, 1, -1):
        limit = quantile(1 - alpha, span, (n - 1) * (k - 1))
        for i in range(k - span + 1):
            j = i + span - 1
            pair = frozenset((order[i], order[j]))
            if any(a <= i and j <= b for a, b in retained):
                verdict[pair] = "not tested"
            elif (x[:, order[i]].mean() - x[:, order[j]].mean()) / unit > limit:
                verdict[pair] = "significant"
            else:
                verdict[pair] = "not significant"
                retained.append((i, j))
    return verdict


def test_newman_keuls_steps_down_as_by_brute_force():
    rng, seen = np.random.default_rng(3), set()
    for _ in range(15):
        x = rng.normal(size=(6, 1)) + rng.normal(size=(6, 5)) + rng.normal(0, 1.5, 5)
        found = {}
        for p in newman_keuls(x, names=range(5)).pairs:
            says = "not tested" if not p.tested else "significant" if p.significant else "not significant"
            found[frozenset(map(int, p.methods))] = says
            assert not (p.significant and not p.tested)
        assert found == brute_force(x, 0.05)
        seen |= set(found.values())
    assert len(seen) == 3


def test_a_range_within_a_retained_range_is_not_tested():
    # A and B alone would differ, but all three together do not
    residual = 0.456 * np.array([[1, -1, 0], [-1, 1, 0]] * 2)
    result = newman_keuls(residual + np.array([0, 1, 1.1]))
    pair = result.pair("A", "B")
    assert pair.statistic > pair.critical
    assert [p.tested for p in result.pairs] == [False, True, False]
    assert (
        str(pair)
        == "B is 1 above A on average: not tested, as a wider range of methods that holds both is not significant."
    )
    assert result.groups == (("C", "B", "A"),)


def rate(monkeypatch, offsets, runs, seed):
    """How often Newman-Keuls calls some pair of equals different; decided by critical values, which are quick."""
    monkeypatch.setattr(several, "tail", lambda q, k, df: 0.0 if q > several.critical(k, df, 0.05) else 1.0)
    rng, names, errors = np.random.default_rng(seed), [str(i) for i in range(len(offsets))], 0
    for _ in range(runs):
        result = newman_keuls(rng.normal(size=(8, len(offsets))) + offsets, names=names)
        errors += any(p.significant and offsets[int(p.methods[0])] == offsets[int(p.methods[1])] for p in result.pairs)
    return errors / runs


def test_newman_keuls_keeps_the_level_while_all_are_equal(monkeypatch):
    assert 0.04 < rate(monkeypatch, [0, 0, 0, 0], 3000, 4) < 0.06


def test_newman_keuls_exceeds_the_level_where_some_differ(monkeypatch):
    assert 0.12 < rate(monkeypatch, THREE_PAIRS, 2000, 5) < 0.16


def test_holm_keeps_the_level_where_some_differ():
    rng, errors = np.random.default_rng(6), 0
    for _ in range(300):
        result = holm(rng.normal(size=(8, 6)) + THREE_PAIRS)
        errors += any(result.pair(a, b).significant for a, b in ("AB", "CD", "EF"))
    assert errors / 300 < 0.09


def test_tied_means_do_not_depend_on_the_order():
    x = np.array([[1.0, 2, 6], [2, 1, 7], [3, 4, 6], [4, 3, 9]])  # the first two have equal means
    for order in permutations(range(3)):
        result = newman_keuls(x[:, order], names=[("a", "b", "c")[i] for i in order])
        assert result.pair("a", "c").span == result.pair("b", "c").span == 3
        assert (result.pair("a", "b").statistic, result.pair("a", "b").p_value) == (0, 1)


@given(arrays(float, (5, 4), elements=st.floats(-9, 9).map(lambda v: round(v, 2))), st.permutations(range(4)))
def test_the_order_of_methods_and_a_shift_of_rows_do_not_matter(x, order):
    names = list("abcd")
    moved = (x + np.arange(5)[:, None])[:, order]
    ranked = partial(nemenyi, higher_is_better=True)
    for compare in (newman_keuls, holm, ranked, partial(tukey_hsd, repeated_measures=True)):
        first = compare(x, names=names)
        second = compare(moved, names=[names[i] for i in order])
        for a, b in combinations(names, 2):
            assert_allclose(first.pair(a, b).p_value, second.pair(a, b).p_value, atol=1e-6)
    for test in (partial(friedman, higher_is_better=True), f_test_repeated):
        assert_allclose(test(x).p_value, test(moved).p_value, atol=1e-6)


def test_holm_agrees_with_statsmodels():
    p = RNG.random(15) ** 3
    assert_allclose(holm_adjusted(p), multipletests(p, method="holm")[1])
    result = holm(TABLE, names=list("abcd"))
    raw = [
        stats.ttest_rel(TABLE[:, "abcd".index(a)], TABLE[:, "abcd".index(b)]).pvalue
        for a, b in (pair.methods for pair in result.pairs)
    ]
    assert_allclose([p.p_value for p in result.pairs], multipletests(raw, method="holm")[1])
    assert all(p.interval is None for p in result.pairs)


def test_holm_with_other_tests():
    loose, strict = holm(TABLE), holm(TABLE, test=partial(corrected_resampled_t, test_share=0.1))
    assert all(a.p_value <= b.p_value for a, b in zip(loose.pairs, strict.pairs, strict=True))
    wrong = np.random.default_rng(0).random((300, 3)) < [0.1, 0.12, 0.4]
    assert holm(wrong, test=mcnemar).groups == (("C",), ("A", "B"))


def test_demsar_example():
    assert {n: round(r, 3) for n, r in average_ranks(DEMSAR, higher_is_better=True, names=C45).items()} == {
        "C4.5+m+cf": 1.964,
        "C4.5+m": 2.0,
        "C4.5+cf": 2.893,
        "C4.5": 3.143,
    }
    test = friedman(DEMSAR, higher_is_better=True, names=C45, iman_davenport=False)
    ranks = stats.rankdata(-DEMSAR, axis=1)
    ties = ((ranks - 2.5) ** 2).sum() / (14 * 5)  # the print leaves ties uncorrected
    chi = test.statistic * ties
    assert round(chi, 2) == 9.28
    assert round(13 * chi / (14 * 3 - chi), 2) == 3.69
    assert test.significant
    result = nemenyi(DEMSAR, higher_is_better=True, names=C45, alpha=0.1)
    assert round(result.pairs[0].critical / np.sqrt(2), 3) == 2.291
    assert [p.methods for p in result.pairs if p.significant] == [("C4.5+m+cf", "C4.5"), ("C4.5+m", "C4.5")]


@pytest.mark.parametrize(
    ("alpha", "printed"),
    [
        (0.05, [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]),
        (0.10, [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]),
    ],
)
def test_nemenyi_critical_values_of_demsar(alpha, printed):
    for k, q in enumerate(printed, start=2):
        result = nemenyi(RNG.random((14, k)), higher_is_better=True, alpha=alpha)
        assert_allclose(result.critical_difference, q * np.sqrt(k * (k + 1) / (6 * 14)), rtol=5e-4)


def test_friedman_agrees_with_scipy():
    oracle = stats.friedmanchisquare(*DEMSAR.T)
    test = friedman(DEMSAR, higher_is_better=True, iman_davenport=False)
    assert_allclose([test.statistic, test.p_value], [oracle.statistic, oracle.pvalue])
    f = friedman(DEMSAR, higher_is_better=True)
    assert_allclose(f.statistic, 13 * test.statistic / (14 * 3 - test.statistic))
    assert_allclose(f.p_value, stats.f.sf(f.statistic, 3, 39))
    assert friedman(1 - DEMSAR, higher_is_better=False).p_value == f.p_value


def test_rows_that_all_rank_alike():
    test = friedman([[1, 2, 3]] * 3, higher_is_better=True)
    assert (test.statistic, test.p_value) == (np.inf, pytest.approx(1 / 36))
    assert friedman([[1, 2]] * 5, higher_is_better=True).p_value == pytest.approx(
        stats.binomtest(0, 5).pvalue
    )  # the sign test
    for f in (True, False):
        assert friedman([[2, 2, 2]] * 3, higher_is_better=True, iman_davenport=f).p_value == 1


@pytest.mark.parametrize("test", [average_ranks, friedman, nemenyi])
def test_whether_scores_are_errors_has_to_be_said(test):
    with pytest.raises(TypeError, match="higher_is_better"):
        test(DEMSAR)
    errors = {"worse": [0.3, 0.2, 0.4], "better": [0.2, 0.1, 0.1]}
    ranks = test(errors, higher_is_better=False)
    assert next(iter(getattr(ranks, "averages", ranks))) == "better"


def test_no_difference_and_constant_differences():
    row = np.array([[0.1], [0.7], [0.3]])
    for x, p in ((np.hstack([row, row, row]), 1), (np.hstack([row, row + 0.1, row + 0.3]), 0)):
        assert f_test_repeated(x).p_value == p
        for result in (newman_keuls(x), holm(x), tukey_hsd(x, repeated_measures=True)):
            assert [pair.p_value for pair in result.pairs] == [p, p, p]
            assert [pair.statistic for pair in result.pairs] == ([0] * 3 if p else [np.inf] * 3)
    assert f_test([[0.3] * 3, [0.1 + 0.2] * 4]).p_value == 1
    assert f_test([[0.3] * 3, [0.4] * 4]).statistic == np.inf


def test_groups_need_not_be_neighbours():
    assert groups(("a", "b", "c", "d"), [("a", "b"), ("b", "d")]) == (("a", "c", "d"), ("b", "c"))


def test_names_come_from_tables_and_dicts():
    x = {"NB": [1.0, 2, 3], "LR": [2.0, 4, 4], "RC": [3.0, 3, 5]}
    for scores in (x, pd.DataFrame(x), pl.DataFrame(x)):
        assert list(newman_keuls(scores).averages) == ["RC", "LR", "NB"]
        assert set(f_test(scores).averages) == set(x)
    assert list(friedman(pd.DataFrame(x), higher_is_better=True, names=["p", "q", "r"]).averages) == ["r", "q", "p"]
    assert "method 27" in average_ranks(RNG.random((3, 27)), higher_is_better=True)


def test_the_figure(tmp_path):
    result = nemenyi(DEMSAR, higher_is_better=True, names=C45, alpha=0.1)
    figure = critical_difference_figure(result, tmp_path / "ranks.png")
    assert (tmp_path / "ranks.png").read_bytes().startswith(b"\x89PNG")
    texts = [t.get_text().strip() for t in figure.axes[0].texts]
    assert texts == ["C4.5+m+cf  1.964", "C4.5+m  2.000", "2.893  C4.5+cf", "3.143  C4.5", "critical difference 1.12"]
    for other in (
        newman_keuls(TABLE),
        holm(TABLE),
        tukey_hsd(GROUPS),
        newman_keuls([[1, 1]] * 3),
        nemenyi([[1, 2]] * 2, higher_is_better=True),
    ):
        critical_difference_figure(other, tmp_path / "other.svg")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: newman_keuls([[1], [2]]), "at least 2 rows of scores and 2 methods, got 2 rows and 1 methods"),
        (lambda: friedman([[1, 2]], higher_is_better=True), "got 1 rows and 2 methods"),
        (lambda: nemenyi([1, 2], higher_is_better=True), r"a table of rows and methods, got an array of shape \(2,\)"),
        (lambda: holm([[1, 2], [1, np.inf]]), "scores must be finite, but row 1, column 1 is inf"),
        (lambda: friedman([[1, 2], [1]], higher_is_better=True), "scores must be numbers, with as many in every row"),
        (lambda: newman_keuls({"a": [1, 2, 3], "b": [1, 2]}), r"all methods need the same rows, got \[3, 2\] scores"),
        (lambda: newman_keuls(EXAMPLE, alpha=1.5), "alpha must be"),
        (lambda: nemenyi(EXAMPLE, higher_is_better=True, names=["a", "b"]), "names must be a list of 3 labels"),
        (lambda: f_test([[1, 2]]), "at least 2 methods, got 1"),
        (lambda: f_test(7), "at least 2 methods, got 0"),
        (lambda: f_test([[1, 2], [3]]), "the scores of B must have at least 2 scores, got 1"),
        (lambda: f_test(TABLE), r"list\(scores.T\) for a table whose columns are the methods"),
        (lambda: holm_adjusted([0.5, 1.5]), "p_values must be between 0 and 1"),
        (lambda: newman_keuls(EXAMPLE).pair("A", "Z"), r"'A' and 'Z' are not two of the methods \['C', 'B', 'A'\]"),
        (lambda: critical_difference_figure(EXAMPLE), "result must be a Family, as nemenyi returns it, got a list"),
    ],
)
def test_what_is_wrong_with_the_input(call, says):
    with pytest.raises(ValueError, match=says):
        call()


@pytest.mark.parametrize("given", ["False", None, 1, "lower"])
@pytest.mark.parametrize("test", [average_ranks, friedman, nemenyi, holm])
def test_the_direction_of_scores_is_true_or_false(test, given):
    with pytest.raises(ValueError, match=r"higher_is_better must be True .* or False .*, got"):
        test(DEMSAR, higher_is_better=given)
    assert repr(test(DEMSAR, higher_is_better=np.False_)) == repr(test(DEMSAR, higher_is_better=False))
