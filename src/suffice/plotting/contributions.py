"""Contributions of columns: the terms of one row, or their mean size over many rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.pipeline import Pipeline

from suffice._core.probability import posterior
from suffice._core.vector import Array
from suffice._estimator.explaining import IMPOSSIBLE, Contributions
from suffice._runtime.messages import COUNT, check_value
from suffice.plotting._base import (
    COLOURS,
    FAINT,
    INK,
    MAX_BARS,
    NARROW,
    WIDTH,
    Display,
    annotate,
    class_index,
    class_name,
    estimator_name,
    fitted,
    is_narrow,
    label,
    last_step,
    max_lines,
    ranked_bars,
)
from suffice.plotting._rows import DisplayRows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAR_HEIGHT = 0.34  # inches


@dataclass(eq=False)
class ContributionsDisplay(Display):
    """Contributions of columns to an answer: a waterfall for one row, the mean size by column for several.

    The bars of a waterfall are the terms of the log-odds of a class and add up to them: `base + values.sum()`. With
    more than two classes it is the log-probability of the class less the mean of the others.

    Parameters
    ----------
    names : list
        The names of the terms, the largest first.
    values : array of shape (terms,)
        The contribution of each; over several rows its mean size.
    base : float or None
        The part that depends on no column; None over several rows.
    given : dict
        The values of the row by column, as text.
    label : class or None
        The class of a waterfall.
    probability : float or None
        The predicted probability of that class.
    n_classes, n_rows : int
    name : str
        The name of the estimator.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import GaussianNB
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> ContributionsDisplay.from_estimator(GaussianNB().fit(X, y), X).names[:2]
    ['petal length (cm)', 'petal width (cm)']
    """

    names: list[Any]
    values: Array
    base: float | None
    given: dict[Any, str]
    label: Any
    probability: float | None
    n_classes: int
    n_rows: int
    name: str

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, row: int | None = None, ax: Axes | None = None, **kwargs: Any
    ) -> Self:
        """Draw the contributions of a fitted classifier that has them, or of a pipeline that ends with one.

        Parameters
        ----------
        estimator : fitted classifier
        X : rows
            One row, or several.
        y : label, default=None
            The class of a waterfall; None: the most probable one.
        row : int, default=None
            The row of a waterfall; None: the only one, or the mean over several.
        ax : matplotlib axes, default=None
        **kwargs : as in `plot`
        """
        whole = fitted(estimator, cls.__name__)
        model, rows = last_step(whole, X)
        if not hasattr(model, "contributions"):
            raise ValueError(
                f"{cls.__name__}: {type(model).__name__} does not say what each column adds: take a classifier that "
                "has `contributions`, such as naive Bayes, discriminant analysis or AdditiveTables"
            )
        table = DisplayRows.of(rows)
        if row is not None:
            if not isinstance(row, int | np.integer) or not -len(table) <= row < len(table):
                raise ValueError(f"{cls.__name__}: row must be a whole number below {len(table)}, got {row!r}")
            table = table.select([int(row) % len(table)])
        found = _renamed(model.contributions(table.native), whole)
        return cls.from_contributions(found, y, given=table, name=estimator_name(model), ax=ax, **kwargs)

    @classmethod
    def from_contributions(
        cls,
        found: Contributions,
        y: Any = None,
        *,
        given: DisplayRows | None = None,
        name: str = "classifier",
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the result of `contributions`: a waterfall of one row, or the mean sizes over several."""
        k = len(found.classes)
        if len(found) != 1:
            if y is not None:
                raise ValueError(
                    f"{cls.__name__}: y says which class a row speaks for, and there are {len(found)} rows"
                )
            sizes = found.importances
            values = np.array(list(sizes.values()))
            return cls(list(sizes), values, None, {}, None, None, k, len(found), name).plot(ax, **kwargs)
        c = int(np.argmax(found.log_joint[0])) if y is None else class_index(y, found.classes, f"{cls.__name__}: y")
        terms = found.row(0, found.classes[c])
        base = Contributions(["base"], found.classes, found.base, np.atleast_2d(found.base)[:1, :, None])
        start = base.row(0, found.classes[c])["base"]
        p = float(posterior(found.log_joint)[0, c])
        entries = {} if given is None else given.row_text(0)
        values = np.array(list(terms.values()))
        return cls(list(terms), values, start, entries, found.classes[c], p, k, 1, name).plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, *, max_terms: int = MAX_BARS, width: float = WIDTH, **kwargs: Any) -> Self:
        """Draw the largest `max_terms`, the others as one bar; other settings are those of matplotlib's `barh`."""
        check_value(max_terms, f"{type(self).__name__}: max_terms", COUNT)
        bars = min(len(self.names), max_terms + 1) + 2 * (self.base is not None)
        axes = self._begin(ax, width, 1.3 + BAR_HEIGHT * bars * (1.5 if width < NARROW else 1.0))
        draw = self._sizes if self.base is None else self._waterfall
        return draw(axes, int(max_terms), kwargs)

    def _sizes(self, axes: Axes, most: int, look: dict[str, Any]) -> Self:
        shown, n = self.values[:most], len(self.values)
        words = [f"{value:.2f}" if value >= 0.1 else f"{value:.2g}" for value in shown]
        words = ["rules a class out" if value == np.inf else word for value, word in zip(shown, words, strict=True)]
        finite = self.values[np.isfinite(self.values)]
        shown = np.minimum(shown, 1.25 * finite.max(initial=0.0) or 1.0)
        ranked_bars(axes, self.names[:most], shown, words, **look)
        left = f"; {n - most} smaller ones not shown" * (n > most)
        return self._label(
            f"{self.name}: what counts most in {self.n_rows} rows{left}", "mean size of what a column adds", ""
        )

    def _waterfall(self, axes: Axes, most: int, look: dict[str, Any]) -> Self:
        values, names = self.values, list(self.names)
        if len(values) > most + 1:  # one bar for all others
            names = [*names[:most], f"{len(values) - most} others"]
            values = np.append(values[:most], values[most:].sum())
        names, values = ["(base)", *names], np.append(float(self.base or 0.0), values)
        known = abs(values) < -IMPOSSIBLE  # other terms rule a class out and are drawn to the edge
        reach = max(1.0, float(abs(np.cumsum(np.where(known, values, 0.0))).max()))
        drawn = np.where(known, values, 1.5 * reach * np.sign(values))
        ends = np.cumsum(drawn)
        starts = ends - drawn
        at = np.arange(len(names))
        colours = [FAINT, *(COLOURS[0] if value > 0 else COLOURS[1] for value in values[1:])]
        axes.barh(at, drawn, left=starts, **{"height": 0.66, "color": colours, **look})
        axes.barh(len(at), ends[-1], **{"height": 0.66, **look, "color": INK})
        axes.vlines(ends, at - 0.33, at + 1.33, color=FAINT, linewidth=0.8)
        low, high = min(0.0, starts.min(), ends.min()), max(0.0, starts.max(), ends.max())
        pad = (0.22 if is_narrow(axes) else 0.12) * max(high - low, 1e-9)
        axes.set_xlim(low - pad * (low < 0), high + pad)
        words = [f"{v:+.2f}" if ok else "rules it out" for v, ok in zip(values, known, strict=True)]
        total = f"{values.sum():+.2f}" if known.all() else "impossible" if ends[-1] < 0 else "certain"
        for place, (a, b, word) in enumerate(zip([*starts, 0.0], [*ends, ends[-1]], [*words, total], strict=True)):
            left = b < a and low < 0 and min(a, b) < 0
            annotate(axes, min(a, b) if left else max(a, b), place, word, left)
        lines = max_lines(axes, len(at) + 1)
        ends_of = {name: f"= {label(value, axes, lines=1)}" for name, value in self.given.items()}
        words = [label(name, axes, ends_of.get(name, ""), lines) for name in names]
        axes.set_yticks([*at, len(at)], [*words, "sum"], fontsize="small")
        axes.margins(y=0.02)
        axes.invert_yaxis()
        axes.axvline(0.0, color=INK, linewidth=0.7, zorder=0)
        who = class_name(self.label)
        title = f"{self.name}: {who} has probability {show_probability(self.probability or 0.0)}"
        two = self.n_classes == 2
        return self._label(title, f"log-odds of {who}" if two else f"log p({who}) less the mean of the others", "")


def show_probability(p: float) -> str:
    """A probability with three digits, never 0 or 1 unless it is.

    >>> show_probability(0.25), show_probability(1 - 1e-9), show_probability(1e-9)
    ('0.25', 'above 0.999', 'below 0.001')
    """
    if 0 < p < 5e-4:
        return "below 0.001"
    return "above 0.999" if p > 1 - 5e-4 else f"{p:.3g}"


def _renamed(found: Contributions, estimator: Any) -> Contributions:
    """Rename numbered columns by the names that the earlier steps of a pipeline give them, if they have any."""
    if not isinstance(estimator, Pipeline) or not all(isinstance(name, int) for name in found.names):
        return found
    try:
        words = estimator[:-1].get_feature_names_out()
    except (AttributeError, ValueError):  # a step without names for its columns
        return found
    return replace(found, names=[str(words[j]) for j in found.names])
