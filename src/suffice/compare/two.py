"""Tests of one method against a number, and of two methods against each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats

from suffice._core.vector import Array
from suffice._runtime.messages import NUMBER, check_value
from suffice.compare.result import Test, versus
from suffice.compare.scores import labels, level, mean, paired, rounding, sample, without_rounding

Names = Sequence[str] | None
MAX_EXACT_DIFFERENCES = 200  # with more, the exact distribution of a sum of ranks is as good as normal
MAX_EXACT_ROWS = 25  # below this number of discordant rows, McNemar's statistic is far from its distribution


def z_test(scores: Any, expected: float, std: float, *, alpha: float = 0.05, name: str = "A") -> Test:
    """Test whether scores come from a normal population whose mean and standard deviation are known.

        z = (mean - expected) sqrt(n) / std,     normal

    Parameters
    ----------
    scores : array of shape (n,)
        At least one; with about 30 or more, the population need not be normal.
    expected, std : float
        The mean and the standard deviation of the population.

    Examples
    --------
    >>> z_test([82.0, 84, 83, 83], expected=80, std=4).p_value.__round__(4)
    0.1336

    References
    ----------
    Pagano: Understanding Statistics in the Behavioral Sciences, 9th edition, 2010, chapter 12.
    """
    scores = sample(scores, f"the scores of {name}", least=1)
    expected = _number(expected, "expected")
    if not (_number(std, "std") > 0):
        raise ValueError(f"std must be above 0, got {std}")
    difference = without_rounding(mean(scores) - expected, scores, np.array([expected]))
    finding, averages = versus(name, f"{expected:g}", difference), {name: mean(scores)}
    return _student("z test", difference, std / np.sqrt(len(scores)), np.inf, alpha, finding, averages)


def one_sample_t(scores: Any, expected: float, *, alpha: float = 0.05, name: str = "A") -> Test:
    """Test whether scores come from a normal population with a known mean and an unknown standard deviation.

        t = (mean - expected) sqrt(n) / s,     Student's t with n - 1 degrees of freedom

    Examples
    --------
    >>> print(one_sample_t([82.0, 84, 83, 83], expected=80))
    A is 3 above 80 on average (95% interval 1.701 to 4.299). By chance alone a difference this large would turn up in
    about 5 of 1000 repetitions (p = 0.00521): at the level 0.05 it is taken as real.

    References
    ----------
    Pagano: Understanding Statistics in the Behavioral Sciences, 9th edition, 2010, chapter 13.
    """
    scores = sample(scores, f"the scores of {name}")
    expected = _number(expected, "expected")
    difference, error = _mean_and_error(scores - expected, scores, np.array([expected]))
    finding, averages = versus(name, f"{expected:g}", difference), {name: mean(scores)}
    return _student("one-sample t test", difference, error, len(scores) - 1, alpha, finding, averages)


def paired_t(a: Any, b: Any, *, alpha: float = 0.05, names: Names = None) -> Test:
    """Test whether two methods differ on average over the same rows: data sets, or splits that do not overlap.

        t = mean(a - b) sqrt(n) / s(a - b),     Student's t with n - 1 degrees of freedom

    Scores of overlapping splits (random splits, the folds of cross-validation, which share their training rows) are
    not independent: s is then too small and chance is called a difference more often than in `alpha` of the cases. Use
    `corrected_resampled_t` for them.

    Examples
    --------
    >>> test = paired_t([81.0, 92, 75, 66], [80.0, 88, 76, 60])
    >>> round(test.statistic, 3), round(test.p_value, 3), test.significant
    (1.608, 0.206, False)

    References
    ----------
    Dietterich: Approximate statistical tests for comparing supervised classification learning algorithms.
    doi:10.1162/089976698300017197
    """
    who = _two(names)
    a, b = paired(a, b, who)
    difference, error = _mean_and_error(a - b, a, b)
    finding, averages = versus(*who, difference), _means(who, a, b)
    return _student("paired t test", difference, error, len(a) - 1, alpha, finding, averages)


def two_sample_t(a: Any, b: Any, *, equal_var: bool = False, alpha: float = 0.05, names: Names = None) -> Test:
    """Test whether two methods differ on average, each on rows of its own.

        t = (mean(a) - mean(b)) / e,     e^2 = s_a^2 / n_a + s_b^2 / n_b            (Welch)
                                         e^2 = s^2 (1 / n_a + 1 / n_b), s^2 pooled  (equal_var)

    Where both methods ran on the same rows, `paired_t` finds smaller differences.

    Parameters
    ----------
    equal_var : bool, default=False
        Pool the variances, with n_a + n_b - 2 degrees of freedom. Without, the type I error stays near `alpha` where
        the variances differ (Welch's degrees of freedom).

    Examples
    --------
    >>> test = two_sample_t([1.0, 2, 3], [3.0, 4, 5, 8], equal_var=True)
    >>> round(test.statistic, 3), test.df
    (-2.196, 5.0)

    References
    ----------
    Welch: The generalization of Student's problem when several different population variances are involved.
    doi:10.1093/biomet/34.1-2.28
    """
    who = _two(names)
    a, b = sample(a, f"the scores of {who[0]}"), sample(b, f"the scores of {who[1]}")
    (mean_a, error_a), (mean_b, error_b) = _mean_and_error(a, a), _mean_and_error(b, b)
    n_a, n_b = len(a), len(b)
    df = float(n_a + n_b - 2)
    error = np.hypot(error_a, error_b)
    if equal_var:
        pooled = (n_a * (n_a - 1) * error_a**2 + n_b * (n_b - 1) * error_b**2) / df
        error = np.sqrt(pooled * (1 / n_a + 1 / n_b))
    elif error:
        df = 1 / ((error_a / error) ** 4 / (n_a - 1) + (error_b / error) ** 4 / (n_b - 1))
    difference = without_rounding(mean_a - mean_b, a, b)
    finding, averages = versus(*who, difference), _means(who, a, b)
    return _student("two-sample t test", difference, error, df, alpha, finding, averages)


def corrected_resampled_t(
    a: Any,
    b: Any = None,
    *,
    test_share: float | None = None,
    n_train: int | None = None,
    n_test: int | None = None,
    alpha: float = 0.05,
    names: Names = None,
) -> Test:
    """Test whether two methods differ on average over overlapping splits of one data set.

        t = mean(a - b) / (s(a - b) sqrt(1 / n + n_test / n_train)),     Student's t with n - 1 degrees of freedom

    Random splits share rows, and so do the training folds of (repeated) cross-validation: their scores vary together,
    and the plain `paired_t` takes chance for a difference far too often. The second term under the root accounts for
    the rows that the splits share; with more splits of the same rows the evidence no longer grows without bound.

    Parameters
    ----------
    a, b : array of shape (n,)
        The scores of the two methods, split by split; or `a` alone, their differences.
    test_share : float
        The share of the rows that each split tests: 0.1 for ten folds. Instead of it:
    n_train, n_test : int
        How many rows each split learns from and tests.

    Examples
    --------
    >>> a, b = [81.0, 92, 75, 66, 80], [80.0, 88, 76, 60, 77]
    >>> round(paired_t(a, b).p_value, 3), round(corrected_resampled_t(a, b, test_share=0.2).p_value, 3)
    (0.098, 0.225)

    References
    ----------
    Nadeau, Bengio: Inference for the generalization error. doi:10.1023/A:1024068626366
    """
    who = _two(names)
    if b is None:
        scores: tuple[Array, ...] = (sample(a, "the differences"),)
        differences, averages = scores[0], {}
    else:
        scores = paired(a, b, who)
        differences, averages = scores[0] - scores[1], _means(who, *scores)
    difference, error = _mean_and_error(differences, *scores)
    n = len(differences)
    error *= np.sqrt(1 + n * _test_per_train(test_share, n_train, n_test))
    return _student("corrected resampled t test", difference, error, n - 1, alpha, versus(*who, difference), averages)


def mcnemar(
    wrong_a: Any = None,
    wrong_b: Any = None,
    *,
    counts: tuple[int, int] | None = None,
    exact: bool | None = None,
    alpha: float = 0.05,
    names: Names = None,
) -> Test:
    """Test whether two classifiers err equally often on the same rows, from the rows that only one gets wrong.

        chi^2 = max(|N_a - N_b| - 1, 0)^2 / (N_a + N_b),     1 degree of freedom

    N_a rows are wrong with A alone, N_b with B alone. The exact test is that of a fair coin: N_a of N_a + N_b heads.
    The classifiers are fixed; the test does not ask how they would vary with other training rows. The interval of the
    difference in accuracy is that of Agresti and Min, which can disagree with the test in borderline cases.

    Parameters
    ----------
    wrong_a, wrong_b : array of bool of shape (n,)
        Which rows each classifier gets wrong. Instead of them:
    counts : two int
        N_a and N_b.
    exact : bool, optional
        Use the exact test. By default it is used if N_a + N_b is below 25, where the chi^2 distribution is inaccurate.

    Examples
    --------
    >>> print(mcnemar(counts=(22, 65)))
    A alone is right on 65 rows and B alone on 22. By chance alone a difference this large would turn up in fewer than 1
    of 1000 repetitions (p < 0.001): at the level 0.05 it is taken as real.

    References
    ----------
    McNemar: Note on the sampling error of the difference between correlated proportions. doi:10.1007/BF02295996
    Agresti, Min: Simple improved confidence intervals for comparing matched proportions. doi:10.1002/sim.1781
    """
    alpha, who = level(alpha), _two(names)
    if len({counts is not None, wrong_a is None, wrong_b is None}) > 1:
        raise ValueError("mcnemar takes either wrong_a and wrong_b, or counts=(wrong with A alone, wrong with B alone)")
    if counts is None:
        a, b = _flags(wrong_a, wrong_b, who)
        alone_a, alone_b, n = int((a & ~b).sum()), int((b & ~a).sum()), len(a)
    else:
        (alone_a, alone_b), n = _counts(counts), 0
    discordant = alone_a + alone_b
    finding = f"{who[0]} alone is right on {alone_b} rows and {who[1]} alone on {alone_a}"
    statistic = max(abs(alone_a - alone_b) - 1, 0) ** 2 / max(discordant, 1)
    if exact or (exact is None and discordant < MAX_EXACT_ROWS):
        name, p_value = "McNemar test, exact", min(1.0, 2 * stats.binom.cdf(min(alone_a, alone_b), discordant, 0.5))
    else:
        name, p_value = "McNemar test", stats.chi2.sf(statistic, 1)
    return Test(
        name=name,
        statistic=float(statistic),
        p_value=float(p_value),
        alpha=alpha,
        finding=finding + (f", a difference in accuracy of {(alone_b - alone_a) / n:.4g}" if n else ""),
        df=1.0,
        difference=(alone_b - alone_a) / n if n else None,
        interval=_matched_interval(alone_a, alone_b, n, alpha) if n else None,
        averages=_means(who, a, b) if n else {},
    )


def wilcoxon(a: Any, b: Any, *, alpha: float = 0.05, names: Any = None) -> Test:
    """Test whether two methods differ over the same rows, by the ranks of their differences (the signed-rank test).

        T = min(sum of r_i with d_i > 0, sum of r_i with d_i < 0),     d = a - b, r_i the rank of |d_i|

    Rows without a difference are left out, ties share their ranks. Under chance alone every difference has either sign
    with probability 1/2: with up to 200 differences the p value is exact, ties included; beyond that it is normal.
    Unlike `paired_t` it does not assume normal differences, and a single large difference counts only by its rank.

    Examples
    --------
    >>> test = wilcoxon([81.0, 92, 75, 66, 70, 83], [80.0, 88, 76, 60, 67, 78])
    >>> test.statistic, round(test.p_value, 3)
    (1.5, 0.094)

    References
    ----------
    Wilcoxon: Individual comparisons by ranking methods. doi:10.2307/3001968
    Demsar: Statistical comparisons of classifiers over multiple data sets. JMLR 7, 2006.
    """
    alpha, (first, second) = level(alpha), labels(names, 2)
    a, b = paired(a, b, (first, second))
    d, unit = a - b, rounding(a, b)
    d = d[np.abs(d) > unit]
    ranks = stats.rankdata(np.rint(np.abs(d) / (10 * unit)))  # differences that rounding alone tells apart are ties
    above, below = float(ranks[d > 0].sum()), float(ranks[d < 0].sum())
    statistic = min(above, below)
    return Test(
        name="Wilcoxon signed-rank test",
        statistic=statistic,
        p_value=_signed_rank_p(ranks, statistic),
        alpha=alpha,
        finding=(
            f"{first} is above {second} on {int((d > 0).sum())} rows, below on {int((d < 0).sum())} "
            f"and equal on {len(a) - len(d)}, with sums of ranks {above:g} and {below:g}"
        ),
        difference=mean(a - b),
        averages={first: mean(a), second: mean(b)},
    )


def _signed_rank_p(ranks: Array, statistic: float) -> float:
    """Return the probability of a smaller sum of ranks of at most `statistic`, with random signs."""
    if len(ranks) > MAX_EXACT_DIFFERENCES:
        z = (statistic + 0.5 - ranks.sum() / 2) / np.sqrt((ranks**2).sum() / 4)
        return float(min(1.0, 2 * stats.norm.cdf(z)))
    return float(min(1.0, 2 * _sums(np.rint(2 * ranks).astype(int))[: round(2 * statistic) + 1].sum()))


def _sums(ranks: Array) -> Array:
    """Return the probabilities (sum + 1,) of all sums of a random subset of whole numbers, each in it with 1/2."""
    share = np.zeros(int(ranks.sum()) + 1)
    share[0] = 1.0
    for rank in ranks:
        share[rank:] += share[:-rank].copy()
        share /= 2
    return share


def _student(
    name: str, difference: float, error: float, df: float, alpha: float, finding: str, averages: dict[str, float]
) -> Test:
    """Test a difference against its standard error by Student's t, which is normal for infinite df."""
    alpha = level(alpha)
    statistic = difference / error if error else np.copysign(np.inf, difference) if difference else 0.0
    reach = stats.t.ppf(1 - alpha / 2, df) * error
    return Test(
        name=name,
        statistic=float(statistic),
        p_value=float(2 * stats.t.sf(abs(statistic), df)),
        alpha=alpha,
        finding=finding,
        df=float(df),
        difference=float(difference),
        interval=(float(difference - reach), float(difference + reach)),
        averages=averages,
    )


def _mean_and_error(values: Array, *scores: Array) -> tuple[float, float]:
    """Return the mean of values (n,) and its standard error, each 0 if it is only rounding of the scores."""
    centre = without_rounding(mean(values), *scores)
    return centre, without_rounding(float(np.std(values, ddof=1)), *scores) / np.sqrt(len(values))


def _means(names: tuple[str, ...], *samples: Array) -> dict[str, float]:
    return {name: mean(values) for name, values in zip(names, samples, strict=True)}


def _two(names: Names) -> tuple[str, str]:
    first, second = labels(names, 2)
    return first, second


def _test_per_train(test_share: float | None, n_train: int | None, n_test: int | None) -> float:
    if (test_share is None) == (n_train is None and n_test is None) or (n_train is None) != (n_test is None):
        raise ValueError("corrected_resampled_t takes either test_share, or both n_train and n_test")
    if n_train is not None and n_test is not None:
        if not (_number(n_train, "n_train") >= 1 and _number(n_test, "n_test") >= 1):
            raise ValueError(f"n_train and n_test must be at least 1, got {n_train} and {n_test}")
        return n_test / n_train
    share = _number(test_share, "test_share")
    if not 0 < share < 1:
        raise ValueError(f"test_share must be between 0 and 1 (0.1 for ten folds), got {test_share}")
    return share / (1 - share)


def _flags(wrong_a: Any, wrong_b: Any, who: tuple[str, str]) -> tuple[Array, Array]:
    a, b = sample(wrong_a, f"the errors of {who[0]}", 1), sample(wrong_b, f"the errors of {who[1]}", 1)
    if len(a) != len(b):
        raise ValueError(f"the classifiers must be tested on the same rows, got {len(a)} and {len(b)}")
    if not np.isin(np.concatenate([a, b]), (0, 1)).all():
        raise ValueError("wrong_a and wrong_b must be True for rows that are wrong and False for others, not labels")
    return a == 1, b == 1


def _counts(counts: Any) -> tuple[int, int]:
    both = np.asarray(counts)
    if both.shape != (2,) or both.dtype.kind not in "iu" or (both < 0).any():
        raise ValueError(f"counts must be two whole numbers: rows wrong with A alone, with B alone; got {counts!r}")
    return int(both[0]), int(both[1])


def _matched_interval(alone_a: int, alone_b: int, n: int, alpha: float) -> tuple[float, float]:
    """Return the normal interval of the difference in accuracy, after adding half a row to each of the four cells."""
    n, discordant = n + 2, alone_a + alone_b + 1
    centre = (alone_b - alone_a) / n
    reach = stats.norm.ppf(1 - alpha / 2) * np.sqrt(discordant / n - centre**2) / np.sqrt(n)
    return float(max(centre - reach, -1.0)), float(min(centre + reach, 1.0))


def _number(value: Any, called: str) -> float:
    check_value(value, called, NUMBER)
    return float(value)
