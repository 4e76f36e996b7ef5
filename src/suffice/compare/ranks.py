"""Tests by ranks: Wilcoxon's signed-rank test, Friedman's, and all pairs by Nemenyi."""

from __future__ import annotations

from itertools import combinations
from math import lgamma
from typing import Any

import numpy as np
from scipy import stats

from suffice._core.vector import Array
from suffice.compare.means import critical, repeated, tail
from suffice.compare.result import Family, Pair, Test
from suffice.compare.scores import labels, level, mean, paired, rounding, table

MAX_EXACT_DIFFERENCES = 200  # with more, the exact distribution is as good as normal


def wilcoxon(a: Any, b: Any, *, alpha: float = 0.05, names: Any = None) -> Test:
    """Test whether two methods differ over the same rows, by the ranks of their differences (the signed-rank test).

        T = min(sum of r_i with d_i > 0, sum of r_i with d_i < 0),     d = a - b, r_i the rank of |d_i|

    Rows without a difference are left out, ties share their ranks. Under chance alone every difference has either sign
    with probability 1/2: with up to 200 differences the p value is exact, ties included; beyond that it is normal.
    Unlike `paired_t` it does not assume normal differences, and a single large difference counts only by its rank.

    Parameters
    ----------
    a, b : array of shape (n,)
        The scores of the two methods, row by row; rows are independent data sets.
    alpha : float, default=0.05
        The probability of a type I error: calling chance a difference.
    names : two str, default=("A", "B")
        What the sentence calls the methods.

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
        p_value=_p_value(ranks, statistic),
        alpha=alpha,
        finding=(
            f"{first} is above {second} on {int((d > 0).sum())} rows, below on {int((d < 0).sum())} "
            f"and equal on {len(a) - len(d)}, with sums of ranks {above:g} and {below:g}"
        ),
        difference=mean(a - b),
        averages={first: mean(a), second: mean(b)},
    )


def _p_value(ranks: Array, statistic: float) -> float:
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


def average_ranks(scores: Any, *, higher_is_better: bool, names: Any = None) -> dict[str, float]:
    """Return the average rank of each method over the rows, the best first; ties share their ranks.

    Parameters
    ----------
    scores : array of shape (n, k), dict or data frame
        Rows are data sets or splits, columns the methods; a dict or a data frame also names them.
    higher_is_better : bool
        True for accuracies: the highest score has rank 1. False for errors and losses.
    names : k str, optional
        The labels of the methods; A, B, C, ... by default.

    Examples
    --------
    >>> average_ranks([[0.9, 0.8, 0.7], [0.6, 0.6, 0.5]], higher_is_better=True)
    {'A': 1.25, 'B': 1.75, 'C': 3.0}

    References
    ----------
    Demsar: Statistical comparisons of classifiers over multiple data sets. JMLR 7, 2006.
    """
    ranks, names = _ranks(scores, higher_is_better, names)
    return _ordered(ranks, names)


def friedman(
    scores: Any,
    *,
    higher_is_better: bool,
    iman_davenport: bool = True,
    alpha: float = 0.05,
    names: Any = None,
) -> Test:
    """Test whether any of several methods ranks differently from the others over the same rows.

        chi^2 = (k - 1) n^2 sum_j (R_j - (k + 1) / 2)^2 / sum_ij (r_ij - (k + 1) / 2)^2,     k - 1
        F     = (n - 1) chi^2 / (n (k - 1) - chi^2),                                         k - 1 and (k - 1)(n - 1)

    r_ij is the rank of method j on row i, ties shared, and R_j its average; without ties chi^2 is Friedman's
    12 n / (k (k + 1)) (sum_j R_j^2 - k (k + 1)^2 / 4). chi^2 is conservative: it stays below the level and makes more
    type II errors than F, which is `f_test_repeated` of the ranks. Both are approximations for few rows; no p value
    is below 1 / k!^(n - 1), the probability that all rows rank the methods alike.

    Parameters
    ----------
    scores : array of shape (n, k), dict or data frame
        Rows are independent data sets, columns the methods; a dict or a data frame also names them.
    higher_is_better : bool
        True for accuracies, False for errors and losses.
    iman_davenport : bool, default=True
        F; otherwise chi^2.
    alpha : float, default=0.05
        The probability of a type I error: calling chance a difference.
    names : k str, optional
        What the sentence calls the methods; A, B, C, ... by default.

    Examples
    --------
    >>> test = friedman([[8, 10, 13], [7, 9, 12], [9, 14, 12], [6, 9, 11]], higher_is_better=True)
    >>> round(test.statistic, 3), test.averages
    (13.0, {'C': 1.25, 'B': 1.75, 'A': 3.0})

    References
    ----------
    Friedman: The use of ranks to avoid the assumption of normality implicit in the analysis of variance.
    doi:10.1080/01621459.1937.10503522
    Iman, Davenport: Approximations of the critical region of the Friedman statistic. doi:10.1080/03610928008827904
    """
    alpha = level(alpha)
    ranks, names = _ranks(scores, higher_is_better, names)
    n, k = ranks.shape
    df: float | tuple[float, float]
    if iman_davenport:
        layout = repeated(ranks, names)
        df = (float(k - 1), float(layout.df))
        statistic = layout.between / layout.error if layout.error else np.inf if layout.between else 0.0
        p_value = stats.f.sf(statistic, *df)
    else:
        df, spread = float(k - 1), ((ranks - (k + 1) / 2) ** 2).sum()
        statistic = (k - 1) * n**2 * ((ranks.mean(axis=0) - (k + 1) / 2) ** 2).sum() / (spread or 1.0)
        p_value = stats.chi2.sf(statistic, k - 1)
    averages = _ordered(ranks, names)
    (best, low), *_, (worst, high) = averages.items()
    return Test(
        name=f"Friedman test, {'F' if iman_davenport else 'chi-square'}",
        statistic=float(statistic),
        p_value=float(max(p_value, np.exp((1 - n) * lgamma(k + 1)))),
        alpha=alpha,
        finding=f"The average ranks of {k} methods reach from {low:.4g} ({best}) to {high:.4g} ({worst})",
        df=df,
        averages=averages,
    )


def nemenyi(scores: Any, *, higher_is_better: bool, alpha: float = 0.05, names: Any = None) -> Family:
    """Find the pairs of methods that rank differently over the same rows, with one level for all pairs together.

        critical difference of average ranks = q sqrt(k (k + 1) / (12 n)),     q: studentized range of k, infinite df

    The probability of even one type I error among all pairs is about `alpha`; for that, it misses more differences than
    `holm`. Use `friedman` first to test whether the methods differ at all.

    Parameters
    ----------
    scores : array of shape (n, k), dict or data frame
        Rows are independent data sets, columns the methods; a dict or a data frame also names them.
    higher_is_better : bool
        True for accuracies, False for errors and losses.
    alpha : float, default=0.05
        The probability that any pair of equal methods is called different.
    names : k str, optional
        What the sentence calls the methods; A, B, C, ... by default.

    Examples
    --------
    >>> accuracies = [[0.9, 0.8, 0.7], [0.6, 0.6, 0.5], [0.8, 0.9, 0.6], [0.7, 0.6, 0.5], [0.9, 0.8, 0.3]]
    >>> result = nemenyi(accuracies, higher_is_better=True)
    >>> round(result.critical_difference, 3), result.groups
    (1.482, (('A', 'B'), ('B', 'C')))

    References
    ----------
    Demsar: Statistical comparisons of classifiers over multiple data sets. JMLR 7, 2006.
    """
    alpha = level(alpha)
    ranks, names = _ranks(scores, higher_is_better, names)
    n, k = ranks.shape
    averages, unit = _ordered(ranks, names), float(np.sqrt(k * (k + 1) / (12 * n)))
    limit = critical(k, np.inf, alpha)
    return Family(
        name="Nemenyi",
        alpha=alpha,
        measure="average rank",
        of_ranks=True,
        averages=averages,
        pairs=tuple(_pair(a, b, averages, unit, limit, alpha) for a, b in combinations(averages, 2)),
        critical_difference=limit * unit,
    )


def _pair(a: str, b: str, averages: dict[str, float], unit: float, limit: float, alpha: float) -> Pair:
    difference = averages[a] - averages[b]
    ahead = f"{a} ranks {-difference:.4g} before {b} on average" if difference else f"{a} and {b} rank equally"
    return Pair(
        name="Nemenyi",
        statistic=-difference / unit,
        p_value=tail(-difference / unit, len(averages), np.inf),
        alpha=alpha,
        finding=ahead,
        difference=difference,
        interval=(difference - limit * unit, difference + limit * unit),
        methods=(a, b),
        critical=limit,
    )


def _ranks(scores: Any, higher_is_better: bool, names: Any) -> tuple[Array, tuple[str, ...]]:
    """Return the rank of each method on each row (n, k): 1 is best, ties share the average rank."""
    x, names = table(scores, names)
    return np.asarray(stats.rankdata(-x if higher_is_better else x, axis=1)), names


def _ordered(ranks: Array, names: tuple[str, ...]) -> dict[str, float]:
    averages = dict(zip(names, ranks.mean(axis=0).tolist(), strict=True))
    return dict(sorted(averages.items(), key=lambda item: item[1]))
