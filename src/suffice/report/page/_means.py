"""Several runs as one: mean curves and pooled reliability."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean

from suffice.report.measures import BINS

Point = tuple[float, float, float]  # rows, mean confidence, accuracy


def mean_curve(runs: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    """The mean of several curves at each iteration, from 1; one that ended earlier stays where it ended.

    >>> mean_curve([[0.4, 0.2], [0.6, 0.4, 0.2]])
    [(1, 0.5), (2, 0.3), (3, 0.2)]
    """
    runs = [run for run in runs if run]
    length = max(map(len, runs), default=0)
    return [(i + 1, round(fmean(run[min(i, len(run) - 1)] for run in runs), 10)) for i in range(length)]


def pooled(diagrams: Iterable[Sequence[Sequence[float]]]) -> list[Point]:
    """Reliability of all rows together, by bins of the same width.

    >>> pooled([[[1, 0.8, 1.0]], [[3, 0.84, 0.0]]])
    [(4, 0.83, 0.25)]
    """
    bins: dict[int, list[Sequence[float]]] = {}
    for n, confidence, accuracy in (point for diagram in diagrams for point in diagram):
        bins.setdefault(min(int(BINS * confidence), BINS - 1), []).append((n, n * confidence, n * accuracy))
    sums = [[sum(column) for column in zip(*bins[at], strict=True)] for at in sorted(bins)]
    return [(n, round(c / n, 6), round(a / n, 6)) for n, c, a in sums if n]
