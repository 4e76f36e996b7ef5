"""What all displays share: the axes they draw in, how they are shown, and texts that fit."""

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

from suffice._core.labels import show
from suffice._core.vector import Array
from suffice._runtime.messages import COUNT, POSITIVE, check_value
from suffice.plotting._canvas import CLASSES, INK, canvas, literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 7.4  # inches
NARROW = 5.0  # inches, below which names and titles take more lines
LETTERS = 10  # an inch of a title
SHOWN = 10  # bars, classes or names, at most
COLOURS = (*CLASSES, "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # of Okabe and Ito, for so many classes or lines
LINE = 0.15  # inches of a line of small letters
HEADROOM = 1.15  # what an axis has beyond the longest bar

OWN: WeakSet[Any] = WeakSet()  # figures that displays have made


class Display:
    """Something learned, as data and as a picture: `plot` draws it, in `ax_` of `figure_`.

    A new figure is apart from pyplot; a notebook shows the display itself, and `figure_.savefig` writes it.
    """

    figure_: Figure
    ax_: Axes
    _own: bool = False  # whether the figure is one that displays have made

    def _begin(self, ax: Axes | None, width: float, height: float) -> Axes:
        """The axes to draw in: those given, or those of a new figure."""
        check_value(width, f"{type(self).__name__}: width", POSITIVE)
        self.figure_, self.ax_ = canvas(ax, width, height)
        if ax is None:
            OWN.add(self.figure_)
        self._own = self.figure_ in OWN
        return self.ax_

    def _dress(self, title: str, x: str, y: str) -> Self:
        """Title and labels, in as many lines as they take."""
        axes = self.ax_
        if self._own:  # over the whole figure, where long names do not push it aside
            self.figure_.suptitle(wrapped(title, inches(axes)), fontsize="medium")
        else:
            axes.set_title(wrapped(title, inches(axes)), fontsize="medium")
        axes.set_xlabel(wrapped(x, 0.75 * inches(axes)))
        axes.set_ylabel(y)
        axes.spines[["top", "right"]].set_visible(False)
        return self

    def _repr_png_(self) -> bytes | None:
        """What a notebook shows, unless the figure is shown elsewhere."""
        if not self._own:
            return None
        file = BytesIO()
        self.figure_.savefig(file, format="png", dpi=110)
        return file.getvalue()


def inches(axes: Axes) -> float:
    """How wide axes are, with their labels."""
    return float(axes.get_position().width * axes.figure.bbox.width / axes.figure.dpi) / 0.775


def room(axes: Axes, bars: int) -> int:
    """How many lines a name beside one of so many bars may have."""
    tall = axes.get_position().height * axes.figure.bbox.height / axes.figure.dpi
    return int(np.clip(tall / max(bars, 1) / LINE, 1, 3))


def narrow(axes: Axes) -> bool:
    """Whether axes are as narrow as a phone."""
    return inches(axes) < NARROW


def wrapped(text: str, width: float) -> str:
    """A text in lines that are so many inches wide, drawn as it is."""
    return literal(fill(text, max(12, int(LETTERS * width))))


def label(text: Any, axes: Axes, end: str = "", lines: int = 3) -> str:
    """The name of a bar or a class in at most so many lines of a third of the axes, and an end that is kept whole."""
    across = max(15, int(2.8 * inches(axes)))
    found = lines_of(str(text), across)
    if len(found) > lines:
        found = [*found[: lines - 1], found[lines - 1][: across - 1] + "…"]
    if end and len(found) > 1 and len(found) == lines:  # which takes the last line
        found = [*found[:-2], found[-2][: across - 1] + "…"]
    if end:
        joined = f"{found[-1]} {end}"
        found = [*found[:-1], joined] if len(joined) <= across else [*found, end]
    return literal("\n".join(found))


def lines_of(text: str, across: int) -> list[str]:
    """A name in lines of so many letters, broken after blanks and signs, inside a word only if it is longer than that.

    >>> lines_of("od280/od315_of_diluted_wines", 16)
    ['od280/od315_of_', 'diluted_wines']
    """
    found = [""]
    for piece in re.findall(r"[^\s_/.:;,-]*[\s_/.:;,-]*", text):
        while len(piece.rstrip()) > across:
            found, piece = [*found, piece[:across]], piece[across:]
        found = [*found[:-1], found[-1] + piece] if len((found[-1] + piece).rstrip()) <= across else [*found, piece]
    return [line.rstrip() for line in found if line.strip()] or [text]


def beside(axes: Axes, x: float, y: float, word: str, left: bool = False) -> None:
    """A word right of a point, or left of it, as at the end of a bar."""
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


def ranked(axes: Axes, names: Sequence[Any], values: Array, words: Sequence[str], **look: Any) -> None:
    """Bars of at least 0, one below the other, each with its name and a word at its end."""
    at = np.arange(len(values))
    axes.barh(at, values, **{"height": 0.7, "color": CLASSES[0], **look})
    for place, (value, word) in enumerate(zip(values.tolist(), words, strict=True)):
        beside(axes, value, place, word)
    axes.set_yticks(at, [label(name, axes, lines=room(axes, len(at))) for name in names], fontsize="small")
    axes.margins(y=0.02)
    axes.invert_yaxis()
    axes.set_xlim(0, HEADROOM * max(float(values.max(initial=0)), 1e-12))


def chance(p: float) -> str:
    """A probability with three digits, and never 0 or 1 if it is not.

    >>> chance(0.25), chance(1 - 1e-9), chance(1e-9)
    ('0.25', 'above 0.999', 'below 0.001')
    """
    if 0 < p < 5e-4:
        return "below 0.001"
    return "above 0.999" if p > 1 - 5e-4 else f"{p:.3g}"


def class_word(value: Any) -> str:
    """What to call a class in a picture: by its own word, if it has one."""
    return str(value) if isinstance(value, str) else f"class {show(value)}"


def check_terms(most: Any, who: str) -> int:
    """How many to show, as a whole number of at least 1."""
    check_value(most, f"{who}: max_terms", COUNT)
    return int(most)


def fitted(estimator: Any, who: str) -> Any:
    """A fitted estimator, or an error that says what is wrong with it."""
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        what = f"the class {estimator.__name__}" if isinstance(estimator, type) else f"a {type(estimator).__name__}"
        raise ValueError(f"{who} takes a fitted estimator, got {what}")
    check_is_fitted(estimator)
    return getattr(estimator, "best_estimator_", estimator)


def last_step(estimator: Any, X: Any = None) -> tuple[Any, Any]:
    """The classifier at the end of a pipeline, and rows as they come to it; others as they are."""
    if not isinstance(estimator, Pipeline):
        return estimator, X
    before = estimator[:-1]
    return estimator[-1], X if X is None or not len(before) else before.transform(X)


def called(estimator: Any) -> str:
    """What titles call an estimator."""
    return type(last_step(estimator)[0]).__name__
