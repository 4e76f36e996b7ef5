"""Results of comparisons: one test, one pair among many, all pairs of methods, and their figure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from suffice._runtime.atomic_file import check_local
from suffice._runtime.messages import join_words
from suffice._runtime.system import optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINE_HEIGHT = 0.32  # inches between two lines of labels, or two bars, of the figure
INK, BAR = "#222222", "#b3402a"


@dataclass(frozen=True, kw_only=True)
class Test:
    """A finding, how often chance alone would produce as much, and the decision.

    Two errors are possible. Taking chance for a difference (type I) happens with a probability of at most `alpha` if
    there is none. Missing a difference (type II) becomes rarer with more rows, with a larger difference and with a
    larger `alpha`; its probability is not known from the data, so a test that is not significant does not show that
    the methods are equal.

    Attributes
    ----------
    name : str
        The test.
    statistic : float
        0 where the scores do not differ at all, infinite where they differ without any variation.
    p_value : float
        The probability, if chance alone were at work, of a statistic at least as extreme.
    alpha : float
        The level: the difference is taken as real where `p_value <= alpha`.
    finding : str
        The observation, without the decision.
    df : float, tuple of two floats, or None
        Degrees of freedom.
    difference : float or None
        The average of the first method minus that of the second.
    interval : tuple of two floats, or None
        The confidence interval of the difference, of level `1 - alpha`.
    averages : dict
        The mean, the average rank or the error rate of each method.
    """

    __test__: ClassVar[bool] = False  # pytest takes classes called Test* for tests

    name: str
    statistic: float
    p_value: float
    alpha: float
    finding: str
    df: float | tuple[float, float] | None = None
    difference: float | None = None
    interval: tuple[float, float] | None = None
    averages: Mapping[str, float] = field(default_factory=dict, hash=False)

    @property
    def significant(self) -> bool:
        """True if the difference is taken as real."""
        return self.p_value <= self.alpha

    @property
    def sentence(self) -> str:
        """The finding, how often chance does as much, and the decision."""
        found = self.finding
        if self.interval is not None:
            low, high = self.interval
            found += f" ({100 * (1 - self.alpha):g}% interval {low:.4g} to {high:.4g})"
        verdict = "it is taken as real" if self.significant else "it may be chance, which does not show equality"
        return (
            f"{found}. By chance alone a difference this large would turn up in {_often(self.p_value)}: "
            f"at the level {self.alpha:g} {verdict}."
        )

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, kw_only=True)
class Pair(Test):
    """Two methods among many; `p_value` is adjusted for the other comparisons, so one rule decides for all pairs.

    Attributes
    ----------
    methods : tuple of two str
        The first is the one with the better average.
    critical : float or None
        The value that the statistic had to exceed.
    span : int or None
        The number of methods from one to the other, both included.
    tested : bool
        False where a wider range of methods that holds both was not significant: then neither is this pair.
    """

    methods: tuple[str, str]
    critical: float | None = None
    span: int | None = None
    tested: bool = True

    @property
    def sentence(self) -> str:
        """The finding and the decision."""
        if not self.tested:
            return f"{self.finding}: not tested, as a wider range of methods that holds both is not significant."
        verdict = "taken as real" if self.significant else "may be chance"
        return f"{self.finding}: {verdict} at the level {self.alpha:g} (adjusted {p_text(self.p_value)})."


@dataclass(frozen=True, kw_only=True)
class Family:
    """All pairs of several methods.

    Attributes
    ----------
    name : str
        The procedure.
    alpha : float
        The level.
    measure : str
        The meaning of the averages.
    of_ranks : bool
        True if they are ranks, of which low ones are good.
    averages : dict
        The average of each method, the best first (of means: the highest).
    pairs : tuple of Pair
        Each pair once, in the order of the averages.
    critical_difference : float or None
        The difference of averages at which a pair differs, if it is the same for all pairs.
    error : float or None
        The mean square that neither methods nor rows explain.
    df : float or None
        The degrees of freedom of `error`.
    """

    name: str
    alpha: float
    measure: str
    of_ranks: bool = False
    averages: Mapping[str, float] = field(hash=False)
    pairs: tuple[Pair, ...]
    critical_difference: float | None = None
    error: float | None = None
    df: float | None = None

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The largest sets of methods that cannot be told apart, the best first; a method may be in several."""
        return groups(tuple(self.averages), [pair.methods for pair in self.pairs if pair.significant])

    def pair(self, first: str, second: str) -> Pair:
        """Return the entry of two methods, in either order."""
        for pair in self.pairs:
            if set(pair.methods) == {first, second}:
                return pair
        raise ValueError(f"{first!r} and {second!r} are not two of the methods {list(self.averages)}")

    @property
    def sentence(self) -> str:
        """The averages, how many pairs differ, and which methods are not told apart."""
        averages = ", ".join(f"{name} {value:.4g}" for name, value in self.averages.items())
        differ = sum(pair.significant for pair in self.pairs)
        alike = "; ".join(join_words(group, len(group), " and ") for group in self.groups if len(group) > 1)
        return (
            f"{self.name}, {self.measure}: {averages}. At the level {self.alpha:g}, {differ} of {len(self.pairs)} "
            f"pairs differ; {f'not told apart: {alike}' if alike else 'every method is told apart from every other'}."
        )

    def __str__(self) -> str:
        return self.sentence


def groups(names: tuple[str, ...], differing: Iterable[tuple[str, str]]) -> tuple[tuple[str, ...], ...]:
    """Return the largest sets of names without a differing pair.

    >>> groups(("a", "b", "c"), [("a", "c")])
    (('a', 'b'), ('b', 'c'))

    References
    ----------
    Piepho: An algorithm for a letter-based representation of all-pairwise comparisons. doi:10.1198/1061860043515
    """
    sets = {frozenset(names)}
    for pair in differing:
        broken = {s for s in sets if s.issuperset(pair)}
        sets = sets - broken | {s - {name} for s in broken for name in pair}
        sets -= {small for small, large in permutations(sets, 2) if small < large}
    return tuple(sorted((tuple(n for n in names if n in s) for s in sets), key=lambda g: [names.index(n) for n in g]))


def versus(first: str, second: str, difference: float) -> str:
    """Describe a difference of means between two methods, or between a method and a number.

    >>> versus("A", "B", -1.5)
    'A is 1.5 below B on average'
    """
    if not difference:
        return f"{first} equals {second} on average"
    return f"{first} is {abs(difference):.4g} {'above' if difference > 0 else 'below'} {second} on average"


def _often(p: float) -> str:
    if p < 0.001:
        return f"fewer than 1 of 1000 repetitions ({p_text(p)})"
    whole = 100 if p >= 0.01 else 1000
    return f"about {whole * p:.0f} of {whole} repetitions ({p_text(p)})"


def p_text(p: float, equals: str = "p = ", below: str = "p < ") -> str:
    """Write a p-value with three digits, or that it is below 0.001.

    >>> p_text(0.02), p_text(1e-9), p_text(0.02, "", "<")
    ('p = 0.02', 'p < 0.001', '0.02')
    """
    return f"{below}0.001" if p < 0.001 else f"{equals}{p:.3g}"


def critical_difference_figure(result: Family, path: str | Path | None = None, *, width: float = 7.0) -> Figure:
    """Draw the methods on the axis of their averages, the best on the left; bars join those not told apart.

    Parameters
    ----------
    result : Family
        The result of `nemenyi`, `newman_keuls`, `tukey_hsd` or `holm`. A critical difference that holds for all pairs
        is drawn above the axis. A dot on a bar marks each method that it joins.
    path : str or Path, optional
        The file to write; its extension (.png, .pdf, .svg) sets the format.
    width : float, default=7.0
        In inches; the height follows from the number of methods.

    Returns
    -------
    matplotlib Figure
        The figure, to change or to show.

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
        raise ValueError(f"result must be a Family, as nemenyi returns it, got a {type(result).__name__}")
    bars = [group for group in result.groups if len(group) > 1]
    lines = len(bars) + 0.6 + (len(result.averages) + 1) // 2
    top = 1.2 if result.critical_difference is None else 2.2  # lines above the axis
    size = (width, LINE_HEIGHT * (lines + top + 1.4))
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
    """Set up the axis of averages above the lines, and return its ends, the best on the left."""
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
