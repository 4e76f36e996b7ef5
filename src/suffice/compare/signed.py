"""The signed-rank test: two methods over the same data sets, by the ranks of their differences."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from suffice._vector import Array
from suffice.compare._result import Test
from suffice.compare._scores import labels, level, mean, paired, rounding

MANY = 200  # differences above which the exact distribution is as good as normal


def wilcoxon(a: Any, b: Any, *, alpha: float = 0.05, names: Any = None) -> Test:
    """Whether two methods differ over the same rows, by the ranks of their differences (the signed-rank test).

        T = min(sum of r_i with d_i > 0, sum of r_i with d_i < 0),     d = a - b, r_i the rank of |d_i|

    Rows without a difference are left out, ties share their ranks. Under chance alone every difference has either sign
    with probability 1/2: with up to 200 differences the p value is exact, ties included, above them normal. Unlike
    `paired_t` it asks for no normal differences, and one data set with a large one counts no more than its rank.

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
    """How often the smaller sum of ranks is at most this, every rank with either sign alike."""
    if len(ranks) > MANY:
        z = (statistic + 0.5 - ranks.sum() / 2) / np.sqrt((ranks**2).sum() / 4)
        return float(min(1.0, 2 * stats.norm.cdf(z)))
    return float(min(1.0, 2 * _sums(np.rint(2 * ranks).astype(int))[: round(2 * statistic) + 1].sum()))


def _sums(ranks: Array) -> Array:
    """The probability of every sum of a random half of whole numbers (sum + 1,): each is in it with probability 1/2."""
    share = np.zeros(int(ranks.sum()) + 1)
    share[0] = 1.0
    for rank in ranks:
        share[rank:] += share[:-rank].copy()
        share /= 2
    return share
