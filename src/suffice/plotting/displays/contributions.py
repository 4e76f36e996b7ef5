"""Why a classifier says what it says: the terms of a row, or their mean size over rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.pipeline import Pipeline

from suffice._core.labels import show, show_all
from suffice._core.probability import posterior
from suffice._core.vector import Array
from suffice._estimator.explaining import IMPOSSIBLE, Contributions
from suffice.plotting._canvas import CLASSES, FAINT, INK
from suffice.plotting.displays._base import (
    NARROW,
    SHOWN,
    WIDTH,
    Display,
    beside,
    called,
    chance,
    check_terms,
    class_word,
    fitted,
    label,
    last_step,
    narrow,
    ranked,
    room,
)
from suffice.plotting.displays._rows import DisplayRows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAR = 0.34  # inches
BASE, REST, SUM = "(base)", "others", "sum"


@dataclass(eq=False)
class ContributionsDisplay(Display):
    """What columns add to an answer: of one row as a waterfall, of several as the mean size of what each column adds.

    The bars of a waterfall are terms of the log-odds of a class, and end where these are: `base + values.sum()`. With
    more than two classes it is the class's log-probability less the mean of that of the others.

    Parameters
    ----------
    names : list
        Of the terms, the greatest first.
    values : array of shape (terms,)
        What each adds; over several rows its mean size.
    base : float or None
        What depends on no column; None over several rows.
    given : dict
        What the row has in each column, in words.
    label : class or None
        The class that a waterfall speaks for.
    probability : float or None
        What the classifier says of it.
    n_classes, n_rows : int
    name : str
        Of the estimator.

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
        """Of a fitted classifier that has `contributions`, or a pipeline that ends with one.

        Parameters
        ----------
        estimator : fitted classifier
        X : rows
            One row, or several.
        y : label, default=None
            The class that a waterfall speaks for; None: the most probable one.
        row : int, default=None
            Which row to draw a waterfall of; None: the only one, or the mean over several.
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
            table = table.taking([int(row) % len(table)])
        found = _renamed(model.contributions(table.native), whole)
        return cls.from_contributions(found, y, given=table, name=called(model), ax=ax, **kwargs)

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
        """Of what `contributions` returned: a waterfall if that is of one row, else the mean sizes."""
        k = len(found.classes)
        if len(found) != 1:
            if y is not None:
                raise ValueError(
                    f"{cls.__name__}: y says which class a row speaks for, and there are {len(found)} rows"
                )
            sizes = found.importances
            values = np.array(list(sizes.values()))
            return cls(list(sizes), values, None, {}, None, None, k, len(found), name).plot(ax, **kwargs)
        if y is not None and not (found.classes == y).any():
            raise ValueError(f"{cls.__name__}: y must be one of {show_all(found.classes)}, got {show(y)}")
        c = int(np.argmax(found.log_joint[0])) if y is None else int(np.flatnonzero(found.classes == y)[0])
        terms = found.row(0, found.classes[c])
        base = Contributions(["base"], found.classes, found.base, np.atleast_2d(found.base)[:1, :, None])
        start = base.row(0, found.classes[c])["base"]
        p = float(posterior(found.log_joint)[0, c])
        said = {} if given is None else given.said(0)
        values = np.array(list(terms.values()))
        return cls(list(terms), values, start, said, found.classes[c], p, k, 1, name).plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, *, max_terms: int = SHOWN, width: float = WIDTH, **kwargs: Any) -> Self:
        """Draw the greatest `max_terms`, the others as one bar; other settings are those of matplotlib's `barh`."""
        most = check_terms(max_terms, type(self).__name__)
        bars = min(len(self.names), most + 1) + 2 * (self.base is not None)
        axes = self._begin(ax, width, 1.3 + BAR * bars * (1.5 if width < NARROW else 1.0))
        return self._sizes(axes, most, kwargs) if self.base is None else self._waterfall(axes, most, kwargs)

    def _sizes(self, axes: Axes, most: int, look: dict[str, Any]) -> Self:
        shown, n = self.values[:most], len(self.values)
        words = [f"{value:.2f}" if value >= 0.1 else f"{value:.2g}" for value in shown]
        words = ["rules a class out" if value == np.inf else word for value, word in zip(shown, words, strict=True)]
        finite = self.values[np.isfinite(self.values)]
        shown = np.minimum(shown, 1.25 * finite.max(initial=0.0) or 1.0)
        ranked(axes, self.names[:most], shown, words, **look)
        left = f"; {n - most} smaller ones not shown" * (n > most)
        return self._dress(
            f"{self.name}: what counts most in {self.n_rows} rows{left}", "mean size of what a column adds", ""
        )

    def _steps(self, most: int) -> tuple[list[Any], Array]:
        """What the bars are called and how long they are: the base, the terms, and the others as one."""
        values, names = self.values, list(self.names)
        if len(values) > most + 1:
            rest = f"{len(values) - most} {REST}"
            values, names = np.append(values[:most], values[most:].sum()), [*names[:most], rest]
        return [BASE, *names], np.append(float(self.base or 0.0), values)

    def _waterfall(self, axes: Axes, most: int, look: dict[str, Any]) -> Self:
        names, values = self._steps(most)
        known = abs(values) < -IMPOSSIBLE  # others rule a class out, and are drawn as far as the picture goes
        reach = max(1.0, float(abs(np.cumsum(np.where(known, values, 0.0))).max()))
        drawn = np.where(known, values, 1.5 * reach * np.sign(values))
        ends = np.cumsum(drawn)
        starts = ends - drawn
        at = np.arange(len(names))
        colours = [FAINT, *(CLASSES[0] if value > 0 else CLASSES[1] for value in values[1:])]
        axes.barh(at, drawn, left=starts, **{"height": 0.66, "color": colours, **look})
        axes.barh(len(at), ends[-1], **{"height": 0.66, **look, "color": INK})
        axes.vlines(ends, at - 0.33, at + 1.33, color=FAINT, linewidth=0.8)
        low, high = min(0.0, starts.min(), ends.min()), max(0.0, starts.max(), ends.max())
        pad = (0.22 if narrow(axes) else 0.12) * max(high - low, 1e-9)
        axes.set_xlim(low - pad * (low < 0), high + pad)
        words = [f"{v:+.2f}" if ok else "rules it out" for v, ok in zip(values, known, strict=True)]
        total = f"{values.sum():+.2f}" if known.all() else "impossible" if ends[-1] < 0 else "certain"
        for place, (a, b, word) in enumerate(zip([*starts, 0.0], [*ends, ends[-1]], [*words, total], strict=True)):
            self._write(axes, place, a, b, word, low)
        axes.set_yticks([*at, len(at)], [*(self._named(n, axes, len(at) + 1) for n in names), SUM], fontsize="small")
        axes.margins(y=0.02)
        axes.invert_yaxis()
        axes.axvline(0.0, color=INK, linewidth=0.7, zorder=0)
        who = class_word(self.label)
        title = f"{self.name}: {who} has probability {chance(self.probability or 0.0)}"
        two = self.n_classes == 2
        return self._dress(title, f"log-odds of {who}" if two else f"log p({who}) less the mean of the others", "")

    def _write(self, axes: Axes, place: int, start: float, end: float, word: str, low: float) -> None:
        """What a bar adds, behind its end: left of it if it goes there and there is room."""
        back = end < start and low < 0 and min(start, end) < 0
        x = min(start, end) if back else max(start, end)
        beside(axes, x, place, word, left=back)

    def _named(self, name: Any, axes: Axes, bars: int) -> str:
        end = f"= {label(self.given[name], axes, lines=1)}" if name in self.given else ""
        return label(name, axes, end, room(axes, bars))


def _renamed(found: Contributions, estimator: Any) -> Contributions:
    """Terms by the names that the steps before the last give to columns without names, where they know any."""
    if not isinstance(estimator, Pipeline) or not all(isinstance(name, int) for name in found.names):
        return found
    try:
        words = estimator[:-1].get_feature_names_out()
    except (AttributeError, ValueError):  # a step that does not know what its columns are
        return found
    return replace(found, names=[str(words[j]) for j in found.names])
