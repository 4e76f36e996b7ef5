"""Tests of several methods, by their means or by their ranks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from functools import lru_cache
from itertools import combinations
from math import lgamma
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from suffice._core.vector import Array
from suffice.compare.result import Family, Pair, Test, versus
from suffice.compare.scores import columns, level, mean, rounding, sample, table
from suffice.compare.two import paired_t


def f_test(groups: Any, *, alpha: float = 0.05, names: Any = None) -> Test:
    """Test whether any of several methods differs from the others on average, each on rows of its own.

        F = sum_j n_j (mean_j - grand)^2 / (k - 1)  /  (sum_j sum_i (x_ij - mean_j)^2 / (n - k))

    It makes one decision at the level `alpha` and does not say which methods differ; `tukey_hsd` does. The scores of
    each method are assumed normal with a common variance; the test is robust to both assumptions.

    Examples
    --------
    >>> test = f_test([[1.0, 2, 3], [2.0, 3, 4], [5.0, 6, 7]])
    >>> test.statistic, test.df, round(test.p_value, 4)
    (13.0, (2.0, 6.0), 0.0066)

    References
    ----------
    Pagano: Understanding Statistics in the Behavioral Sciences, 9th edition, 2010, chapter 15.
    """
    return _f("F test", independent(groups, names), alpha)


def f_test_repeated(scores: Any, *, alpha: float = 0.05, names: Any = None) -> Test:
    """Test whether any of several methods differs from the others on average over the same rows.

        F = n sum_j (mean_j - grand)^2 / (k - 1)  /  (sum_ij e_ij^2 / ((n - 1)(k - 1))),
        e_ij = x_ij - mean_i - mean_j + grand

    Effects of the rows (easy data sets, hard splits) are removed from the error. The differences of all pairs are
    assumed to have one variance; otherwise the type I error exceeds `alpha`. `friedman` and `holm` do not assume it.

    Examples
    --------
    >>> f_test_repeated([[8, 10, 13], [7, 9, 12], [9, 12, 14], [6, 9, 11]]).finding
    'The means of 3 methods reach from 7.5 (A) to 12.5 (C)'

    References
    ----------
    Girden: ANOVA: Repeated Measures. doi:10.4135/9781412983419
    """
    return _f("F test, repeated measures", repeated(scores, names), alpha)


def tukey_hsd(groups: Any, *, repeated_measures: bool = False, alpha: float = 0.05, names: Any = None) -> Family:
    """Find the pairs of methods that differ on average, controlling the family-wise error rate.

        q = (mean_i - mean_j) / sqrt(E (1 / n_i + 1 / n_j) / 2),     studentized range of k means

    E is the mean square of the error of `f_test`, or of `f_test_repeated`. The probability of even one type I error
    among all pairs is `alpha`, whichever methods are equal; for that, it misses more differences than `newman_keuls`.

    Parameters
    ----------
    groups : list of k arrays, dict or data frame; with `repeated_measures`, array of shape (n, k)
        The scores of each method.
    repeated_measures : bool, default=False
        Whether row i of all methods is the same data set or split.

    Examples
    --------
    >>> print(tukey_hsd({"a": [1.0, 2, 3], "b": [2.0, 3, 4], "c": [5.0, 6, 7]}))
    Tukey HSD, mean: c 6, b 3, a 2. At the level 0.05, 2 of 3 pairs differ; not told apart: b and a.

    References
    ----------
    Kramer: Extension of multiple range tests to group means with unequal numbers of replications. doi:10.2307/3001469
    """
    alpha = level(alpha)
    layout = repeated(groups, names) if repeated_measures else independent(groups, names)
    limit = critical(len(layout.averages), layout.df, alpha)
    pairs = [
        replace(pair, name="Tukey HSD", p_value=tail(pair.statistic, len(layout.averages), layout.df), critical=limit)
        for pair in _ranges(layout, alpha)
    ]
    reach = [limit * layout.standard_error(*pair.methods) for pair in pairs]
    gaps = [pair.difference or 0.0 for pair in pairs]
    pairs = [replace(p, interval=(g - r, g + r)) for p, g, r in zip(pairs, gaps, reach, strict=True)]
    same = reach[0] if len(set(layout.sizes.values())) == 1 else None
    return _family("Tukey HSD", alpha, layout, pairs, same)


def newman_keuls(scores: Any, *, alpha: float = 0.05, names: Any = None) -> Family:
    """Find the pairs of methods that differ on average over the same rows, from the widest range of means inwards.

        q = (mean_i - mean_j) / sqrt(E / n),     studentized range of as many means as lie from i to j

    E is the mean square of the error of `f_test_repeated`, with (n - 1)(k - 1) degrees of freedom. A pair is tested
    only if every wider range of means that holds it is significant; its adjusted p value is the largest among them.

    It finds more than `tukey_hsd`, at a price: the probability of even one type I error is `alpha` only while *all*
    methods are equal. With six methods in three pairs of equals far apart, some pair of equals was called different in
    0.14 of the simulations at the level 0.05. Where that matters use `holm`, which keeps the level whichever are equal.

    Examples
    --------
    >>> result = newman_keuls([[8, 10, 13], [7, 9, 12], [9, 12, 14], [6, 9, 11]], names=["a", "b", "c"])
    >>> for pair in result.pairs:
    ...     print(pair.methods, pair.span, round(pair.statistic, 3), round(pair.critical, 3), pair.significant)
    ('c', 'b') 2 15.0 3.46 True
    ('c', 'a') 3 30.0 4.339 True
    ('b', 'a') 2 15.0 3.46 True

    References
    ----------
    Keuls: The use of the "studentized range" in connection with an analysis of variance. doi:10.1007/BF01908269
    """
    alpha = level(alpha)
    layout = repeated(scores, names)
    pairs = _ranges(layout, alpha)
    averages = np.array([[layout.averages[name] for name in pair.methods] for pair in pairs])  # (pairs, 2)
    means = np.array(list(layout.averages.values()))
    spans = [int(((means <= high) & (means >= low)).sum()) for high, low in averages]
    p = np.array([tail(pair.statistic, span, layout.df) for pair, span in zip(pairs, spans, strict=True)])
    adjusted, tested = step_down(averages[:, 1], averages[:, 0], p, alpha)
    return _family(
        "Newman-Keuls",
        alpha,
        layout,
        [
            replace(
                pair,
                name="Newman-Keuls",
                p_value=float(adjusted[i]),
                critical=critical(spans[i], layout.df, alpha),
                span=spans[i],
                tested=bool(tested[i]),
            )
            for i, pair in enumerate(pairs)
        ],
    )


def holm(
    scores: Any,
    *,
    test: Callable[..., Test] = paired_t,
    higher_is_better: bool = True,
    alpha: float = 0.05,
    names: Any = None,
) -> Family:
    """Find the pairs of methods that differ, by any test of two, controlling the family-wise error rate.

    The p values of the pairs are adjusted by `holm_adjusted`: the probability of even one type I error is at most
    `alpha`, whichever methods are equal and however the pairs depend on each other.

    Parameters
    ----------
    test : callable, default=paired_t
        A test of two methods. For overlapping splits, `partial(corrected_resampled_t, test_share=...)`.
    higher_is_better : bool, default=True
        Whether the best comes first by the highest mean, or, as for errors and rows that are wrong, by the lowest.

    Examples
    --------
    >>> result = holm([[8, 10, 13], [7, 9, 12], [9, 12, 14], [6, 9, 11]])
    >>> [(*pair.methods, round(pair.p_value, 4)) for pair in result.pairs]
    [('C', 'B', 0.0065), ('C', 'A', 0.0), ('B', 'A', 0.0065)]

    References
    ----------
    Holm: A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6, 1979.
    """
    alpha = level(alpha)
    _check_direction(higher_is_better)
    x, names = table(scores, names)
    column = dict(zip(names, x.T, strict=True))
    means = _descending({name: mean(values) for name, values in column.items()})
    means = means if higher_is_better else dict(reversed(means.items()))
    tests = {(a, b): test(column[a], column[b], alpha=alpha, names=(a, b)) for a, b in combinations(means, 2)}
    adjusted = holm_adjusted([t.p_value for t in tests.values()])
    pairs = tuple(
        # the intervals of the single tests are not adjusted, so they go
        Pair(**{f.name: getattr(t, f.name) for f in fields(Test)} | {"p_value": float(p), "interval": None}, methods=ab)
        for (ab, t), p in zip(tests.items(), adjusted, strict=True)
    )
    return Family(name="Holm", alpha=alpha, measure="mean", averages=means, pairs=pairs)


def holm_adjusted(p_values: Any) -> Array:
    """Adjust the p values of m tests so that comparing each with `alpha` controls the family-wise error rate.

        adjusted of the i-th smallest = max_{j <= i} min(1, (m - j + 1) p_j)

    Examples
    --------
    >>> holm_adjusted([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])

    References
    ----------
    Holm: A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6, 1979.
    """
    p = sample(p_values, "p_values", least=1)
    if ((p < 0) | (p > 1)).any():
        raise ValueError(f"p_values must be between 0 and 1, got {p.tolist()}")
    order = p.argsort()
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return adjusted


class AnalysisOfVariance(NamedTuple):
    """An analysis of variance: means (highest first), sizes, two mean squares, degrees of freedom, rounding error."""

    averages: dict[str, float]
    sizes: dict[str, int]
    between: float
    error: float
    df: int
    noise: float

    def standard_error(self, first: str, second: str) -> float:
        """Return the standard error in q for two methods."""
        return float(np.sqrt(self.error * (1 / self.sizes[first] + 1 / self.sizes[second]) / 2))


def independent(groups: Any, names: Any) -> AnalysisOfVariance:
    """Analyse samples with rows of their own."""
    samples, names = columns(groups, names)
    residuals = [s - mean(s) for s in samples]
    return _layout(samples, names, residuals, sum(len(s) - 1 for s in samples))


def repeated(scores: Any, names: Any) -> AnalysisOfVariance:
    """Analyse samples of the same rows, whose means are removed from the residuals."""
    x, names = table(scores, names)
    residual = x - x.mean(axis=0) - x.mean(axis=1, keepdims=True) + x.mean()
    return _layout(list(x.T), names, [residual], (x.shape[0] - 1) * (x.shape[1] - 1))


def _layout(samples: list[Array], names: tuple[str, ...], residuals: list[Array], df: int) -> AnalysisOfVariance:
    means, sizes = [mean(s) for s in samples], [len(s) for s in samples]
    grand = mean(np.concatenate(samples))
    noise = rounding(*samples)
    between = sum(n * (m - grand) ** 2 for n, m in zip(sizes, means, strict=True)) / (len(samples) - 1)
    error = sum(float((r**2).sum()) for r in residuals) / df
    return AnalysisOfVariance(
        _descending(dict(zip(names, means, strict=True))),
        dict(zip(names, sizes, strict=True)),
        between if between > noise**2 else 0.0,
        error if error > noise**2 else 0.0,
        df,
        noise,
    )


def _f(name: str, layout: AnalysisOfVariance, alpha: float) -> Test:
    alpha = level(alpha)
    df = (float(len(layout.averages) - 1), float(layout.df))
    statistic = _ratio(layout.between, layout.error)
    (best, high), *_, (worst, low) = layout.averages.items()
    return Test(
        name=name,
        statistic=statistic,
        p_value=float(stats.f.sf(statistic, *df)),
        alpha=alpha,
        finding=f"The means of {len(layout.averages)} methods reach from {low:.4g} ({worst}) to {high:.4g} ({best})",
        df=df,
        averages=layout.averages,
    )


def _ranges(layout: AnalysisOfVariance, alpha: float) -> list[Pair]:
    """Return each pair with its studentized difference q, the higher mean first, without a p value yet."""
    pairs = []
    for (a, high), (b, low) in combinations(layout.averages.items(), 2):
        difference = high - low if high - low > layout.noise else 0.0
        pairs.append(
            Pair(
                name="range of means",
                statistic=_ratio(difference, layout.standard_error(a, b)),
                p_value=1.0,
                alpha=alpha,
                finding=versus(a, b, difference),
                df=float(layout.df),
                difference=difference,
                methods=(a, b),
            )
        )
    return pairs


def step_down(low: Array, high: Array, p: Array, alpha: float) -> tuple[Array, Array]:
    """Return the largest p of the ranges [low, high] around each range, and True if the wider ones are significant.

    >>> step_down(np.array([0, 0]), np.array([2, 1]), np.array([0.3, 0.01]), 0.05)
    (array([0.3, 0.3]), array([ True, False]))
    """
    holds = (low <= low[:, None]) & (high >= high[:, None])  # (pairs, pairs): the column's range holds the row's
    wider = holds & ~holds.T
    return np.where(holds, p, 0.0).max(axis=1), np.where(wider, p, 0.0).max(axis=1) <= alpha


def _family(
    name: str, alpha: float, layout: AnalysisOfVariance, pairs: list[Pair], same: float | None = None
) -> Family:
    return Family(
        name=name,
        alpha=alpha,
        measure="mean",
        averages=layout.averages,
        pairs=tuple(pairs),
        critical_difference=same,
        error=layout.error,
        df=float(layout.df),
    )


def _descending(averages: dict[str, float]) -> dict[str, float]:
    return dict(sorted(averages.items(), key=lambda item: -item[1]))


def _ratio(value: float, unit: float) -> float:
    return float(value / unit) if unit else float(np.inf) if value else 0.0


@lru_cache(maxsize=4096)
def tail(q: float, k: int, df: float) -> float:
    """Return the probability of a studentized range of k means above q."""
    return float(np.clip(stats.studentized_range.sf(q, k, df), 0.0, 1.0)) if np.isfinite(q) else 0.0


@lru_cache(maxsize=4096)
def critical(k: int, df: float, alpha: float) -> float:
    """Return the studentized range of k means that chance exceeds in alpha of the cases."""
    return float(stats.studentized_range.ppf(1 - alpha, k, df))


def average_ranks(scores: Any, *, higher_is_better: bool, names: Any = None) -> dict[str, float]:
    """Return the average rank of each method over the rows, the best first; ties share their ranks.

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
    iman_davenport : bool, default=True
        F; otherwise chi^2.

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
        statistic = _ratio(layout.between, layout.error)
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
    """Find the pairs of methods that rank differently over the same rows, controlling the family-wise error rate.

        critical difference of average ranks = q sqrt(k (k + 1) / (12 n)),     q: studentized range of k, infinite df

    The probability of even one type I error among all pairs is about `alpha`; for that, it misses more differences than
    `holm`. Use `friedman` first to test whether the methods differ at all.

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


def _check_direction(higher_is_better: Any) -> None:
    if not isinstance(higher_is_better, bool | np.bool_):
        raise ValueError(
            f"higher_is_better must be True (accuracies) or False (errors and losses), got {higher_is_better!r}"
        )


def _ranks(scores: Any, higher_is_better: bool, names: Any) -> tuple[Array, tuple[str, ...]]:
    """Return the rank of each method on each row (n, k): 1 is best, ties share the average rank."""
    _check_direction(higher_is_better)
    x, names = table(scores, names)
    return np.asarray(stats.rankdata(-x if higher_is_better else x, axis=1)), names


def _ordered(ranks: Array, names: tuple[str, ...]) -> dict[str, float]:
    averages = dict(zip(names, ranks.mean(axis=0).tolist(), strict=True))
    return dict(sorted(averages.items(), key=lambda item: item[1]))
