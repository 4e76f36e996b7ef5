"""The base class of all displays: axes to draw in, colours, and labels that fit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import BytesIO
from textwrap import fill
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakSet

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from suffice._core.labels import show, show_all
from suffice._core.vector import Array
from suffice._runtime.messages import POSITIVE, check_value
from suffice._runtime.system import optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, FAINT = "#222222", "#8a8a8a"
# The palette of Okabe and Ito, which colour-blind readers can tell apart.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
WIDTH = 7.4  # inches of a new figure
NARROW = 5.0  # inches; in narrower axes labels take more lines
MAX_BARS = 10  # bars in a chart, unless asked for more
LETTERS_PER_INCH = 10  # of a title
LINE_HEIGHT = 0.15  # inches of a line of small letters
HEADROOM = 1.15  # length of an axis of bars, times the longest bar

own_figures: WeakSet[Any] = WeakSet()  # figures made by displays rather than given by the caller


class Display:
    """A fitted estimator as data and as a picture: `plot` draws it, in `ax_` of `figure_`.

    A new figure stays out of pyplot; a notebook shows the display itself, and `figure_.savefig` writes it.
    """

    figure_: Figure
    ax_: Axes
    _own: bool = False  # True if the figure was made by a display

    def _begin(self, ax: Axes | None, width: float, height: float) -> Axes:
        """Return the given axes, or those of a new figure."""
        check_value(width, f"{type(self).__name__}: width", POSITIVE)
        if ax is None:
            self.figure_ = new_figure(width, height)
            own_figures.add(self.figure_)
            self.ax_ = self.figure_.add_subplot()
        else:
            self.figure_, self.ax_ = figure_of(ax), ax
        self._own = self.figure_ in own_figures
        return self.ax_

    def _label(self, title: str, x: str, y: str) -> Self:
        """Add the title and the labels of the axes, wrapped."""
        axes = self.ax_
        if self._own:  # above the whole figure, where long tick labels do not push it aside
            self.figure_.suptitle(wrap(title, inches(axes)), fontsize="medium")
        else:
            axes.set_title(wrap(title, inches(axes)), fontsize="medium")
        axes.set_xlabel(wrap(x, 0.75 * inches(axes)))
        axes.set_ylabel(y)
        axes.spines[["top", "right"]].set_visible(False)
        return self

    def _repr_png_(self) -> bytes | None:
        """The picture in a notebook, unless the figure belongs to the caller, who shows it."""
        if not self._own:
            return None
        file = BytesIO()
        self.figure_.savefig(file, format="png", dpi=110)
        return file.getvalue()


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure that pyplot does not know; sizes in inches."""
    figure: Figure = optional("matplotlib.figure", "plot").Figure(figsize=(width, height), layout="constrained")
    return figure


def figure_of(ax: Any) -> Figure:
    """Return the whole figure of axes, which may stand in a subfigure."""
    if not hasattr(ax, "plot") or not hasattr(ax, "figure"):
        raise ValueError(f"ax must be matplotlib axes or None, got a {type(ax).__name__}")
    figure: Figure = ax.figure.figure
    return figure


def inches(axes: Axes) -> float:
    """The width of axes with their labels."""
    return float(axes.get_position().width * axes.figure.bbox.width / axes.figure.dpi) / 0.775


def max_lines(axes: Axes, bars: int) -> int:
    """The number of lines that the label of each bar may have."""
    height = axes.get_position().height * axes.figure.bbox.height / axes.figure.dpi
    return int(np.clip(height / max(bars, 1) / LINE_HEIGHT, 1, 3))


def is_narrow(axes: Axes) -> bool:
    """True if axes are as narrow as on a phone."""
    return inches(axes) < NARROW


def literal(text: str) -> str:
    """Escape dollars, which matplotlib takes for mathematics."""
    return text.replace("$", r"\$")


def wrap(text: str, width: float) -> str:
    """Break a text into lines of a width in inches."""
    return literal(fill(text, max(12, int(LETTERS_PER_INCH * width))))


def label(text: Any, axes: Axes, end: str = "", lines: int = 3) -> str:
    """Break the name of a bar or class into at most `lines` lines, a third of the axes wide; `end` stays whole."""
    across = max(15, int(2.8 * inches(axes)))
    found = break_lines(str(text), across)
    if len(found) > lines:
        found = [*found[: lines - 1], found[lines - 1][: across - 1] + "…"]
    if end and len(found) > 1 and len(found) == lines:  # the end takes the last line
        found = [*found[:-2], found[-2][: across - 1] + "…"]
    if end:
        joined = f"{found[-1]} {end}"
        found = [*found[:-1], joined] if len(joined) <= across else [*found, end]
    return literal("\n".join(found))


def break_lines(text: str, across: int) -> list[str]:
    """Break a name into lines of `across` letters: after blanks and signs, inside a word only if it is too long.

    >>> break_lines("od280/od315_of_diluted_wines", 16)
    ['od280/od315_of_', 'diluted_wines']
    """
    found = [""]
    for piece in re.findall(r"[^\s_/.:;,-]*[\s_/.:;,-]*", text):
        while len(piece.rstrip()) > across:
            found, piece = [*found, piece[:across]], piece[across:]
        found = [*found[:-1], found[-1] + piece] if len((found[-1] + piece).rstrip()) <= across else [*found, piece]
    return [line.rstrip() for line in found if line.strip()] or [text]


def annotate(axes: Axes, x: float, y: float, word: str, left: bool = False) -> None:
    """Write a word to the right or left of a point, such as the end of a bar."""
    axes.annotate(
        word,
        (x, y),
        (-3 if left else 3, 0),
        textcoords="offset points",
        va="center",
        ha="right" if left else "left",
        fontsize="small",
        color=INK,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.3},
    )


def ranked_bars(axes: Axes, names: Sequence[Any], values: Array, words: Sequence[str], **look: Any) -> None:
    """Draw bars of at least 0, one below the other, each with its name and a word at its end."""
    at = np.arange(len(values))
    axes.barh(at, values, **{"height": 0.7, "color": COLOURS[0], **look})
    for place, (value, word) in enumerate(zip(values.tolist(), words, strict=True)):
        annotate(axes, value, place, word)
    axes.set_yticks(at, [label(name, axes, lines=max_lines(axes, len(at))) for name in names], fontsize="small")
    axes.margins(y=0.02)
    axes.invert_yaxis()
    axes.set_xlim(0, HEADROOM * max(float(values.max(initial=0)), 1e-12))


def class_name(value: Any) -> str:
    """The name of a class in a picture: a text itself, otherwise "class 1"."""
    return str(value) if isinstance(value, str) else f"class {show(value)}"


def class_index(value: Any, classes: Array, setting: str) -> int:
    """Return the index of a class; ValueError with the name of the setting if it is unknown."""
    found = [c for c, one in enumerate(classes.tolist()) if one == value]
    if not found:
        raise ValueError(f"{setting} must be one of {show_all(classes)}, got {show(value)}")
    return found[0]


def fitted(estimator: Any, who: str) -> Any:
    """Return a fitted estimator, the best one of a search; otherwise raise a ValueError."""
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        what = f"the class {estimator.__name__}" if isinstance(estimator, type) else f"a {type(estimator).__name__}"
        raise ValueError(f"{who} takes a fitted estimator, got {what}")
    check_is_fitted(estimator)
    return getattr(estimator, "best_estimator_", estimator)


def last_step(estimator: Any, X: Any = None) -> tuple[Any, Any]:
    """Return the classifier at the end of a pipeline with the rows as it gets them; otherwise both unchanged."""
    if not isinstance(estimator, Pipeline):
        return estimator, X
    before = estimator[:-1]
    return estimator[-1], X if X is None or not len(before) else before.transform(X)


def estimator_name(estimator: Any) -> str:
    """The name of an estimator in titles: that of the last step of a pipeline."""
    return type(last_step(estimator)[0]).__name__
