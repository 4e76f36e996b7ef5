"""Shapes: the contribution of a column over its values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice._core.labels import date, show, show_all
from suffice._core.vector import Array
from suffice._estimator.explaining import IMPOSSIBLE, beyond_mean
from suffice._runtime.messages import COUNT, POSITIVE, check_value
from suffice._runtime.system import optional
from suffice.additive import Shape, Shapes
from suffice.additive.shapes import ShapePlace, cell_names, odds
from suffice.models import Nomogram
from suffice.models.terms import Term
from suffice.plotting._base import COLOURS, FAINT, INK, Display, figure_of, fitted, last_step, literal, new_figure
from suffice.plotting._rows import DisplayRows, as_numbers, by_frequency, is_missing, show_value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colour and dashes of the line of each class.
LINES: tuple[dict[str, Any], ...] = (
    {"color": INK, "linestyle": "-"},
    {"color": "#009e73", "linestyle": "--"},
    {"color": "#cc79a7", "linestyle": "-."},
    {"color": "#e69f00", "linestyle": (0, (1, 1))},
    {"color": "#56b4e9", "linestyle": (0, (5, 1))},
    {"color": "#8c6d1f", "linestyle": (0, (3, 1, 1, 1, 1, 1))},
)
PANEL_HEIGHT = 2.6  # inches
LETTERS_PER_INCH = 9  # of a title
MAX_LABEL = 14  # letters of a category
MAX_BARS = 12  # categories in a panel, the most frequent ones
MAX_CLASSES = 8  # with more classes, only some are drawn
NEGLIGIBLE = 1e-6  # importance of a term that is not drawn unless asked for
POINT_WIDTH = 1e-9  # a narrower cell, as a share of the axis, is drawn as a point
VALUES = 64  # of a column of numbers that are drawn, at ranks and again evenly spaced
FLOOR = -30.0  # least log-odds drawn


@dataclass(eq=False)
class ShapesDisplay(Display):
    """The contributions of columns to the log-odds over their values, each in a panel of its own.

    A column of numbers is a line of steps, with the density of the rows in grey below; categories are bars, and pairs
    are maps. The title of a panel gives the mean size of its contribution. With more than two classes, each has a line
    for its score, and a map shows the class for which it varies most; with more than 8, the 6 classes are drawn to
    which the terms contribute most.

    `AdditiveTables` know their shapes, including maps of pairs. Any other classifier whose terms have one column each
    (naive Bayes, linear scores) has them drawn at the values of given rows, centred over these rows. Terms that
    depend on several columns, through covariances or trees, are refused.

    Parameters
    ----------
    shapes : Shapes
        By column, the most important first.
    name : str
        The name of the estimator.

    Attributes
    ----------
    axes_ : list of matplotlib axes
        Of the panels; `ax_` is the first.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import NaiveBayes
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> len(ShapesDisplay.from_estimator(NaiveBayes().fit(X, y), X, terms=2).axes_)
    2
    """

    shapes: Shapes
    name: str

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,  # noqa: ARG003 - scikit-learn's displays have it
        *,
        terms: int | Sequence[Any] = 6,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the shapes of a fitted classifier, or of a pipeline that ends with one.

        Parameters
        ----------
        estimator : fitted classifier
        X : rows, default=None
            The rows that give the values; `AdditiveTables` need none.
        y : ignored
        terms : int, column or list of columns, default=6
            How many, the most important first (without those that add nothing), or which; a pair of `AdditiveTables`
            by both names.
        ax : matplotlib axes, default=None
            Where to draw one shape.
        **kwargs : as in `plot`
        """
        model, rows = last_step(fitted(estimator, cls.__name__), X)
        known = getattr(model, "shapes_", None)
        shapes = known if isinstance(known, Shapes) else _from_nomogram(model, rows, terms, cls.__name__)
        return cls(shapes, type(model).__name__).plot(ax, terms=terms, **kwargs)

    def plot(self, ax: Axes | None = None, *, terms: int | Sequence[Any] = 6, width: float = 9.0) -> Self:
        """Draw; below a `width` of 5 inches the panels stand one below the other."""
        check_value(width, "width", POSITIVE)
        chosen = [self.shapes[key] for key in _keys(self.shapes, terms)]
        if not chosen:
            raise ValueError("there are no shapes to draw: every column is left out")
        if ax is not None and len(chosen) > 1:
            raise ValueError(f"ax has room for one shape, and terms asks for {len(chosen)}: give one key, or no ax")
        across = min(len(chosen), 1 if width < 5 else 3 if width >= 8 else 2)
        down = -(-len(chosen) // across)
        self._own = ax is None
        self.figure_ = new_figure(width, PANEL_HEIGHT * down) if ax is None else figure_of(ax)
        self.axes_ = [self.figure_.add_subplot(down, across, i + 1) for i in range(len(chosen))] if ax is None else [ax]
        self.ax_ = self.axes_[0]
        classes = _classes(chosen, len(self.shapes.classes))
        for axes, shape in zip(self.axes_, chosen, strict=True):
            if len(shape.columns) > 1:
                _map(self.figure_, axes, shape)
            else:
                (_bars if shape.edges[0] is None else _steps)(axes, shape, classes)
            title = f"{' x '.join(map(str, shape.columns))} (±{shape.importance:.2f})"
            axes.set_title(_fill(title, LETTERS_PER_INCH * width / across), fontsize="medium")
            axes.tick_params(labelsize="small")
        self._caption(classes, width)
        return self

    def _caption(self, drawn: list[int], width: float) -> None:
        """Say to which classes the shapes contribute, and add a legend if there are several lines."""
        classes = self.shapes.classes
        words = (
            f"added to the log-odds of {show(classes[1])}" if len(classes) == 2 else "added to the score of each class"
        )
        if len(drawn) < len(classes):
            words = f"added to the scores of {len(drawn)} of {len(classes)} classes"
        if self._own:
            self.figure_.suptitle(_fill(words, LETTERS_PER_INCH * width), fontsize="medium", color=INK)
        else:
            self.ax_.set_ylabel(_fill(words, 40), fontsize="small")
        if len(classes) == 2:
            return
        line = optional("matplotlib.lines", "plot").Line2D
        names = [literal(_short(show(classes[c]), 30)) for c in drawn]
        handles = [line([], [], **LINES[i % len(LINES)]) for i in range(len(names))]
        if self._own:
            columns = min(len(names), max(1, int(width // 2)))
            self.figure_.legend(handles, names, fontsize="small", loc="outside lower center", ncols=columns)
        else:
            self.ax_.legend(handles, names, fontsize="small", loc="upper right")


def _keys(shapes: Shapes, terms: int | Sequence[Any]) -> list[Any]:
    if isinstance(terms, int | np.integer):
        check_value(terms, "terms", COUNT)
        telling = [key for key, shape in shapes.items() if shape.importance > NEGLIGIBLE]
        return (telling or list(shapes))[:terms]
    if isinstance(terms, str | tuple) and (isinstance(terms, str) or terms in shapes):
        return _keys(shapes, [terms])
    strange = [key for key in terms if key not in shapes]
    if strange:
        raise ValueError(f"terms has {show_all(strange)}, but the shapes are those of {show_all(list(shapes))}")
    return list(terms)


def _classes(chosen: list[Shape], k: int) -> list[int]:
    """Return the classes to draw: all of a few, else those to which the shapes contribute most, averaged over rows."""
    if k <= MAX_CLASSES:
        return list(range(k))
    each = [np.tensordot(s.rows, abs(s.values), axes=s.rows.ndim) / max(float(s.rows.sum()), 1e-300) for s in chosen]
    return sorted(np.argsort(-np.sum(each, axis=0), kind="stable")[: len(LINES)].tolist())


def _lines(shape: Shape, classes: list[int]) -> list[tuple[Array, dict[str, Any]]]:
    """Return the values and the style of each line: one line for two classes, otherwise one for each class."""
    if shape.values.ndim == shape.rows.ndim:
        return [(shape.values, {"color": COLOURS[0], "linestyle": "-"})]
    return [(shape.values[..., c], LINES[i % len(LINES)]) for i, c in enumerate(classes)]


def _steps(axes: Axes, shape: Shape, classes: list[int]) -> None:
    """Draw steps over the cells, from a tenth below the first bound to a tenth above the last; row density in grey."""
    bounds = np.asarray(shape.edges[0])[1:]
    beyond = 0.1 * np.ptp(bounds) if len(bounds) > 1 else 0.5
    edges = np.concatenate([[bounds[0] - beyond], bounds, [bounds[-1] + beyond]])
    widths = np.diff(edges)
    points = np.flatnonzero(widths <= POINT_WIDTH * np.ptp(edges))
    for values, look in _lines(shape, classes):
        axes.stairs(values, edges, baseline=None, linewidth=1.6, **look)
        axes.plot(edges[points], values[points], "o", color=look["color"], markersize=4)
    axes.axhline(0.0, color=INK, linewidth=0.7)
    axes.spines[["top", "right"]].set_visible(False)
    axes.locator_params(axis="x", nbins=4)
    if shape.dates[0]:
        axes.xaxis.set_major_formatter(lambda x, _: date(x))
        axes.tick_params(axis="x", rotation=20)
    wide = np.delete(np.arange(len(widths)), points)
    density = np.zeros(len(widths))
    density[wide] = shape.rows[wide] / widths[wide]
    usual = max(float(np.median(density[wide])), 1e-300)
    # A spike of the density is cut off, as nothing else would be seen beside it.
    behind = axes.twinx()
    behind.stairs(np.minimum(density / usual, 3.0), edges, fill=True, color=FAINT, alpha=0.25, linewidth=0)
    behind.set_ylim(0, 12.0)
    behind.axis("off")


def _bars(axes: Axes, shape: Shape, classes: list[int]) -> None:
    """Draw a bar for each category, the most frequent on top."""
    order = np.argsort(-shape.rows, kind="stable")[:MAX_BARS]
    lines, at = _lines(shape, classes), np.arange(len(order))
    height = 0.8 / len(lines)
    for c, (values, look) in enumerate(lines):
        axes.barh(at - 0.4 + height * (c + 0.5), values[order], height, color=look["color"], alpha=0.85)
    axes.axvline(0.0, color=INK, linewidth=0.7)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_yticks(at, [literal(_short(shape.cells[0][v])) for v in order])
    axes.locator_params(axis="x", nbins=4)
    axes.invert_yaxis()


def _map(figure: Figure, axes: Axes, shape: Shape) -> None:
    """Draw the cells of two columns as a map; of more than two classes, the one for which it varies most."""
    values = shape.values
    if values.ndim > 2:
        values = values[..., int(np.argmax(np.ptp(values, axis=(0, 1))))]
    reach = max(0.1, float(abs(values).max()))
    image = axes.imshow(values.T, cmap="PuOr_r", vmin=-reach, vmax=reach, aspect="auto", origin="lower")
    sides = [_ticks(*side) for side in zip(shape.cells, shape.edges, shape.dates, strict=True)]
    axes.set_xticks(*sides[0], rotation=40, ha="right")
    axes.set_yticks(*sides[1])
    axes.set_xlabel(literal(_short(str(shape.columns[0]), 24)), fontsize="small")
    axes.set_ylabel(literal(_short(str(shape.columns[1]), 24)), fontsize="small")
    figure.colorbar(image, ax=axes, shrink=0.9).ax.tick_params(labelsize="small")


def _ticks(cells: list[str], edges: Array | None, dates: bool) -> tuple[Array, list[str]]:
    """Return positions and labels of ticks: bounds between cells of numbers, categories at the middle of theirs."""
    if edges is None:
        return np.arange(len(cells)), [literal(_short(cell)) for cell in cells]
    # The number next to 0, where a cell of zeros ends, is written as 0.
    plain = (edge if abs(edge) > np.finfo(float).tiny else 0.0 for edge in edges[1:])
    return np.arange(len(edges) - 1) + 0.5, [date(edge) if dates else f"{edge:.3g}" for edge in plain]


def _short(text: str, most: int = MAX_LABEL) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _fill(text: str, letters: float) -> str:
    return literal(fill(text, max(8, int(letters))))


def _from_nomogram(model: Any, X: Any, terms: int | Sequence[Any], who: str) -> Shapes:
    """Return the shapes of the wanted columns: the terms of a model, at the values of some rows."""
    if not hasattr(model, "nomogram"):
        raise ValueError(
            f"{who}: {type(model).__name__} does not say what each column adds: take AdditiveTables, naive Bayes or "
            "a linear classifier"
        )
    if X is None:
        raise ValueError(f"{who}: give X, rows whose values are looked at; only AdditiveTables know their shapes")
    rows, nomogram = DisplayRows.of(X), model.nomogram()
    wanted = names = list(getattr(model, "feature_names_in_", range(model.n_features_in_)))
    if isinstance(terms, int | np.integer):
        wanted = [name for name in names if not is_missing(rows.column(rows.index(name, who))).all()]
    else:
        wanted = [terms] if isinstance(terms, str) else list(terms)
        strange = [key for key in wanted if key not in names]
        if strange:
            raise ValueError(f"{who}: terms has {show_all(strange)}, but the columns are {show_all(names)}")
    own: dict[Any, tuple[Term, ...]] = {}
    for term in nomogram.terms:
        own |= {column: (*own.get(column, ()), term) for column in term.columns}
    found = {name: _shape(model, own.get(name, ()), rows, name, who) for name in wanted}
    order = sorted(found, key=lambda name: -found[name].importance)
    return Shapes(0.0, {name: found[name] for name in order}, model.classes_)


def _shape(model: Any, own: tuple[Term, ...], rows: DisplayRows, name: Any, who: str) -> Shape:
    j = rows.index(name, who)
    values = rows.column(j)
    if is_missing(values).all():
        raise ValueError(f"{who}: column {show(name)} has no entry in these rows, and so no shape")
    at = as_numbers(values)
    if at is not None and np.isnan(at).all():
        at = None
    if at is None:  # a row for each category, and the category of each row
        listed, cells = by_frequency(values)
        picks = np.array([int(np.argmax(cells == v)) for v in range(len(listed))])
    else:
        picks, cells = _numbers(at)
    if any(len(term.columns) > 1 for term in own):
        raise ValueError(
            f"{who}: what {type(model).__name__} adds for column {show(name)} depends on other columns too, so that "
            "there is no shape of it alone: see BoundaryDisplay for two columns, ContributionsDisplay for a row"
        )
    nothing = np.zeros((len(picks), len(model.classes_)))
    added = beyond_mean(nothing + Nomogram(nothing[0], own).scores({name: values[picks]}), 1)
    value = odds(np.where(added > IMPOSSIBLE, added, FLOOR), 1)
    count = np.bincount(cells[cells >= 0], minlength=len(picks)).astype(float)
    mean = count @ value / max(float(count.sum()), 1.0)
    dates = values.dtype.kind == "M"
    edges, words = None, [show_value(values[i]) for i in picks]
    if at is not None and len(picks) > 1:  # a single value is a bar
        spots = at[picks]
        edges = np.concatenate([[-np.inf], (spots[1:] + spots[:-1]) / 2])
        words = cell_names(edges, {}, {}, dates)
    place = ShapePlace("", j, slice(0, len(picks)))
    return Shape((name,), (words,), (edges,), value - mean, -mean, count, 1.0, place, (dates, False))


def _numbers(at: Array) -> tuple[Array, Array]:
    """Return rows with values at ranks and at even distances, in order, and the nearest of these to each row (n,)."""
    some = np.flatnonzero(~np.isnan(at))
    order = some[np.argsort(at[some], kind="stable")]
    values = at[order]
    ranks = np.linspace(0, len(order) - 1, VALUES).round().astype(int)
    even = np.searchsorted(values, np.linspace(values[0], values[-1], VALUES)).clip(max=len(order) - 1)
    chosen = np.unique(np.concatenate([ranks, even]))
    _, first = np.unique(values[chosen], return_index=True)
    picks = order[chosen[first]]
    spots = at[picks]
    cells = np.full(len(at), -1)
    cells[some] = np.searchsorted((spots[1:] + spots[:-1]) / 2, at[some], side="right")
    return picks, cells
