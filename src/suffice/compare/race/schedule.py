"""What a comparison can do in its time: how long fits will take, how many folds, and which methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log

SMALL = 2000  # training rows up to which the first fold is the trial
SIZES = {1000: 2, 4000: 2, 16_000: 8}  # rows of trials, for tables of at least so many times these
FEWER = (5, 3, 2)  # folds, where time does not do for all that were asked for
FEWEST = 10_000  # rows that a sample has at least
ENOUGH = 0.6  # of the methods must be done in time, or there are fewer rows
NEARLY_ALL = 0.9  # of the methods that the fewest folds have time for, before there are fewer folds
SLOWEST, FASTEST, UNKNOWN = 3.0, 0.8, 1.2  # exponents of rows: the most, the least, and without two trials


def sizes(train: int) -> list[int]:
    """The rows of the trials for so many training rows: none where a fold is as quick.

    >>> sizes(1500), sizes(9000), sizes(900_000)
    ([], [1000, 4000], [1000, 4000, 16000])
    """
    return [size for size, times in SIZES.items() if times * size <= train] if train > SMALL else []


def row_counts(total: int) -> list[int]:
    """All rows, or else a third of them, a ninth, and so on.

    >>> row_counts(5000), row_counts(100_000)
    ([5000], [100000, 33333, 11111])
    """
    counts = [total]
    while counts[-1] // 3 >= FEWEST:
        counts.append(counts[-1] // 3)
    return counts


def forecast(trials: Mapping[int, float], rows: int) -> float:
    """The seconds that so many rows will take, by the power law through the two largest trials.

        t(n) = t_2 (n / n_2)^b,     b = log(t_2 / t_1) / log(n_2 / n_1), between 0.8 and 3

    >>> forecast({1000: 1.0, 4000: 16.0}, 8000)
    64.0
    """
    *_, last = sorted(trials)
    power = UNKNOWN
    if len(trials) > 1:
        before = sorted(trials)[-2]
        quick = 1e-3  # below which times say nothing
        ratio = max(trials[last], quick) / max(trials[before], quick)
        power = min(SLOWEST, max(FASTEST, log(ratio) / log(last / before)))
    return float(trials[last] * (rows / last) ** power)


def affordable(costs: Mapping[str, float], folds: int, budget: float) -> list[str]:
    """The methods, cheapest first, that so many folds have time for.

    >>> affordable({"slow": 9.0, "quick": 1.0, "fair": 2.0}, 3, 10.0)
    ['quick', 'fair']
    """
    taken, spent = [], 0.0
    for method in sorted(costs, key=lambda name: costs[name]):
        spent += folds * costs[method]
        if spent > budget:
            break
        taken.append(method)
    return taken


def folds_in_time(costs: Mapping[str, float], asked: int, budget: float) -> int:
    """The most folds that leave out no more than a tenth of the methods that the fewest folds have time for.

    >>> folds_in_time({"a": 1.0, "b": 1.0}, 10, 100.0), folds_in_time({"a": 1.0, "b": 1.0}, 10, 12.0)
    (10, 5)
    """
    choices: Sequence[int] = [asked, *(folds for folds in FEWER if folds < asked)]
    most = len(affordable(costs, choices[-1], budget))
    return next(folds for folds in choices if len(affordable(costs, folds, budget)) >= NEARLY_ALL * most)


def about(seconds: float) -> str:
    """A time in two digits.

    >>> about(0.4), about(34.2), about(400)
    ('1 s', '34 s', '7 min')
    """
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.0f} h"
