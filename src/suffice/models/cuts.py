"""Strategies for cutting a sorted column of weighted values into intervals.

Each takes the histogram of a column, of m sorted values, and the number n of intervals wanted, and returns the values
before which to cut, as places 1..m-1 in rising order; at most n - 1 of them. Two choices that are equally good
but for rounding (`CLOSE`, as a share) count as equal, so that the pieces in which weights were summed do not decide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from suffice._vector import Array
from suffice.models.histogram import Column

CLOSE = 1e-9
MAX_ITER, TOLERANCE = 300, 1e-4  # of k-means, as in scikit-learn's
Strategy = Callable[[Column, int], Array]


def quantile(column: Column, n: int) -> Array:
    """Intervals of about equal weight: each cut where the weight below is nearest to i/n of all, i = 1..n-1.

    >>> quantile(Column(np.arange(6), 0, np.ones((1, 6))), 3).tolist()
    [2, 4]
    """
    below = np.cumsum(column.weight)
    share, wanted = below[:-1] / below[-1], np.arange(1, n) / n  # both rising
    after = np.minimum(np.searchsorted(share, wanted), len(share) - 1)
    gap = np.minimum(abs(share[after] - wanted), abs(share[np.maximum(after, 1) - 1] - wanted))
    return np.unique(np.searchsorted(share, wanted - gap - CLOSE) + 1)


def uniform(column: Column, n: int) -> Array:
    """Intervals of equal width from the least to the greatest value, those without a value left out."""
    return _beyond(_place_in_range(column.value), np.arange(1, n) / n)


def kmeans(column: Column, n: int) -> Array:
    """Intervals of the values nearest to each of n means, which are found by Lloyd's algorithm.

    The means begin evenly spread over the range, and one that has lost all values goes to the farthest one: as in
    scikit-learn's KBinsDiscretizer(strategy="kmeans").
    """
    place, weight = _place_in_range(column.value), column.weight
    spread = np.average((place - np.average(place, weights=weight)) ** 2, weights=weight)
    means, label = (np.arange(n) + 0.5) / n, np.full(len(place), -1)
    for _ in range(MAX_ITER):
        before, means = label, np.sort(means)
        label = np.searchsorted(_middles(means) + CLOSE, place)
        found = _means(place, weight, label, means)
        calm = np.array_equal(label, before) or ((found - means) ** 2).sum() <= TOLERANCE * spread
        means = found
        if calm:
            break
    return _beyond(place, _middles(np.sort(means)))


def _means(place: Array, weight: Array, label: Array, old: Array) -> Array:
    """The mean of the values with each label (n,); a label without values takes a row that is far from its mean."""
    n = len(old)
    count, first = np.bincount(label, weight, n), np.bincount(label, weight * place, n)
    empty, gap = np.flatnonzero(count == 0), abs(place - old[label])
    if len(empty) and gap.any():
        far = np.argsort(-gap, kind="stable")[: len(empty)]
        rows = np.repeat(far, np.ceil(np.minimum(weight[far], len(empty))).astype(int))[: len(empty)]
        for new, v in zip(empty, rows, strict=False):
            taken = min(1.0, weight[v])
            count[label[v]] -= taken
            first[label[v]] -= taken * place[v]
            count[new], first[new] = taken, taken * place[v]
    held = count > CLOSE * count.sum()
    heaviest = int(np.argmax(count))
    return np.where(held, first / np.where(held, count, 1.0), first[heaviest] / count[heaviest])


def mdl(column: Column, n: int) -> Array:
    """Cuts that tell the most about the class, as long as each is worth its description (Fayyad and Irani, 1993).

        gain > log2(N - 1) + log2(3^k - 2) - k H + k1 H1 + k2 H2,    gain = N H - N1 H1 - N2 H2

    with N, H, k the weight, the entropy in bits and the number of classes of an interval, and those of its two parts.
    The cut of the greatest gain is made first, until no interval has one that is worth it, or there are n intervals.
    """
    table = column.table
    sums = np.pad(np.cumsum(table, axis=1), ((0, 0), (1, 0)))  # (k, m + 1)
    found = {(0, table.shape[1]): _best_cut(sums, 0, table.shape[1])}
    cuts: list[int] = []
    while len(cuts) < n - 1:
        (a, b), (gain, at) = max(found.items(), key=lambda item: item[1][0])
        if gain <= 0:
            break
        del found[a, b]
        cuts.append(at)
        found |= {part: _best_cut(sums, *part) for part in ((a, at), (at, b))}
    return np.array(sorted(cuts), dtype=int)


def _best_cut(sums: Array, a: int, b: int) -> tuple[float, int]:
    """The gain of the best cut of the values a..b-1, 0 if it is not worth it, and where it is."""
    if b - a < 2:
        return 0.0, a
    whole = sums[:, b] - sums[:, a]
    left = sums[:, a + 1 : b] - sums[:, a, None]
    right = whole[:, None] - left
    weight = float(whole.sum())
    at = int(_first_least((_bits(left) + _bits(right))[:, None] / max(weight, 1e-300))[0])
    parts = [whole, left[:, at], right[:, at]]
    (all_bits, *bits), (k, *ks) = [float(_bits(p)) for p in parts], [int((p > CLOSE * weight).sum()) for p in parts]
    gain = all_bits - sum(bits)
    entropies = [value / max(float(p.sum()), 1e-300) for value, p in zip((all_bits, *bits), parts, strict=True)]
    code = k * np.log2(3) + np.log2(1 - 2 * 3.0**-k) - k * entropies[0] + np.dot(ks, entropies[1:])
    worth = weight > 1 and gain > np.log2(weight - 1) + code + CLOSE * weight
    return (gain if worth else 0.0), a + 1 + at


def _bits(counts: Array) -> Array:
    """N H of weights by class (k, ...): -sum_c n_c log2(n_c / N)."""
    counts = np.maximum(counts, 0.0)
    share = np.divide(counts, counts.sum(axis=0), out=np.ones(counts.shape), where=counts > 0)
    return -np.asarray((counts * np.log2(share)).sum(axis=0))


def _first_least(gap: Array) -> Array:
    """Where each column (m, r) is least: the first of those that are but for rounding."""
    return np.asarray(np.argmax(gap <= gap.min(axis=0) + CLOSE, axis=0))


def _place_in_range(values: Array) -> Array:
    """Values (m,) as shares of the way from the least to the greatest: no square of them is too large a number."""
    half = 0.5 * values
    return np.asarray((half - half[0]) / (half[-1] - half[0]))


def _middles(means: Array) -> Array:
    return 0.5 * (means[1:] + means[:-1])


def _beyond(place: Array, edges: Array) -> Array:
    """The first value that is not below each edge, but for those that come before all or after all."""
    at = np.unique(np.searchsorted(place, edges - CLOSE))
    return at[(at > 0) & (at < len(place))]


STRATEGIES: Mapping[str, Strategy] = {"quantile": quantile, "kmeans": kmeans, "uniform": uniform, "mdl": mdl}
BY_CLASS = ("mdl",)  # those that say by the classes what deserves an interval of its own
