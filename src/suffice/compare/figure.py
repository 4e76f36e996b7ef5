"""The critical-difference figure: averages on an axis, and bars over the methods that are not told apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from suffice._runtime.atomic_file import check_local
from suffice._runtime.system import optional
from suffice.compare.result import Family

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STEP = 0.32  # inches from one line of labels, or one bar, to the next
INK, BAR = "#222222", "#b3402a"


def critical_difference_figure(result: Family, path: str | Path | None = None, *, width: float = 7.0) -> Figure:
    """Draw the methods on the axis of their averages, the best on the left; a bar joins those that are not told apart.

    Parameters
    ----------
    result : Family
        What `nemenyi`, `newman_keuls`, `tukey_hsd` or `holm` returned. Where one difference decides for all pairs, it
        is drawn above the axis. A dot on a bar marks each method that it joins.
    path : str or Path, optional
        Where to write the figure; the ending (.png, .pdf, .svg) says in which format.
    width : float, default=7.0
        In inches; the height follows from the number of methods.

    Returns
    -------
    matplotlib Figure
        To change or to show.

    Examples
    --------
    >>> from suffice.compare import nemenyi
    >>> result = nemenyi([[0.9, 0.8, 0.7], [0.6, 0.6, 0.5], [0.8, 0.9, 0.6]], higher_is_better=True)
    >>> critical_difference_figure(result).axes[0].get_title()
    'Nemenyi, level 0.05: average rank'

    References
    ----------
    Demsar: Statistical comparisons of classifiers over multiple data sets. JMLR 7, 2006.
    """
    if not isinstance(result, Family):
        raise ValueError(f"the figure is drawn from the result of nemenyi, say, got a {type(result).__name__}")
    bars = [group for group in result.groups if len(group) > 1]
    lines = len(bars) + 0.6 + (len(result.averages) + 1) // 2
    top = 1.2 if result.critical_difference is None else 2.2  # lines above the axis
    size = (width, STEP * (lines + top + 1.4))
    figure: Figure = optional("matplotlib.figure", "plot").Figure(figsize=size, layout="constrained")
    axes = figure.add_subplot()
    left, right = _axis(axes, result, lines, top)
    for i, group in enumerate(bars):
        places = [result.averages[name] for name in group]
        axes.plot(places, [i + 0.6] * len(places), color=BAR, linewidth=3, marker="o", markersize=5, clip_on=False)
    for i, (name, place) in enumerate(result.averages.items()):
        first = i < (len(result.averages) + 1) // 2
        line = len(bars) + 0.6 + (i if first else len(result.averages) - 1 - i)
        side = left if first else right
        axes.plot([place, place, side], [0, line, line], color=INK, linewidth=0.8)
        text = f"{name}  {place:#.4g} " if first else f" {place:#.4g}  {name}"
        axes.text(side, line, text, ha="right" if first else "left", va="center", color=INK, parse_math=False)
    if result.critical_difference is not None:
        ends = [left, left + result.critical_difference * (1 if right > left else -1)]
        axes.plot(ends, [-1.6, -1.6], color=INK, linewidth=1.5, marker="|", markersize=8)
        axes.text(
            sum(ends) / 2, -1.75, f"critical difference {result.critical_difference:.3g}", ha="center", va="bottom"
        )
    if path is not None:
        check_local(path)
        figure.savefig(path, dpi=150, bbox_inches="tight")
    return figure


def _axis(axes: Axes, result: Family, lines: float, top: float) -> tuple[float, float]:
    """Set up the axis of averages on top of the lines; the places of its ends, the best on the left."""
    places = list(result.averages.values())
    ranks = result.of_ranks
    rightwards = 1 if ranks else -1  # ranks grow to the right, means to the left
    margin = 0.0 if ranks else 0.08 * (abs(places[-1] - places[0]) or 1.0)
    left = 1.0 if ranks else places[0] + margin
    worst = float(len(places)) if ranks else places[-1] - margin
    right = left + rightwards * max(abs(worst - left), result.critical_difference or 0.0)
    axes.set_xlim(left, right)
    axes.set_ylim(lines + 0.4, -top)
    axes.set_title(f"{result.name}, level {result.alpha:g}: {result.measure}", fontsize="medium")
    axes.xaxis.tick_top()
    axes.locator_params(axis="x", integer=ranks)
    axes.spines["top"].set_position(("data", 0))
    axes.spines[["left", "right", "bottom"]].set_visible(False)
    axes.yaxis.set_visible(False)
    return left, right
