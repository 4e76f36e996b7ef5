"""Where a classifier draws its borders, in two of the columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from suffice._core.labels import check_labels, date, positions
from suffice._core.vector import Array
from suffice._runtime.messages import COUNT, check_value
from suffice._runtime.system import optional
from suffice.plotting._canvas import INK, literal
from suffice.plotting.displays._base import COLOURS, NARROW, WIDTH, Display, called, class_word, fitted, label, narrow
from suffice.plotting.displays._rows import FEW, DisplayRows, keys, places, typical, word

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CATEGORIES = 12  # of a column, the most frequent
POINTS = 300  # rows that are drawn
MARGIN = 0.03  # of the range of a column, on either side
OTHER = "#9a9a9a"
PALE = ("#7fb8d8", "#ffffff", "#eaae7f")  # from one class to the other


@dataclass(frozen=True, eq=False)
class Axis:
    """The values of a column along an axis of the picture."""

    name: Any
    at: Array  # (g,) where they are
    rows: Array  # (g,) rows that have them
    given: Array | None  # (g,) numbers that no row need have
    labels: list[str] | None  # of categories
    own: Array  # (n,) where the rows are, NaN if they are not drawn
    dates: bool = False


@dataclass(eq=False)
class BoundaryDisplay(Display):
    """What a classifier says over two columns, all others held where they are usual.

    Others are at the middle of the rows' values, or at the most frequent category. Two classes: the probability of the
    second one, with a line at one half. More: the most probable class, the paler the less sure. Rows are drawn where
    they are in the two columns, though they differ in the others too; a row on the wrong side may well be right.

    Parameters
    ----------
    x, y : Axis
        The values along the two axes.
    response : array of shape (g_y, g_x)
        Two classes: the probability of the second one; more: the number of the most probable class.
    certainty : array of shape (g_y, g_x) or None
        The probability of the most probable class; None if the classifier gives none.
    classes : array of shape (k,)
    held : dict of column: str
        Where the other columns are.
    labels : array of shape (n,) or None
        The class of each row, by its number.
    name : str
        Of the estimator.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    >>> BoundaryDisplay.from_estimator(tree, X, y, columns=(2, 3)).held["sepal width (cm)"]
    '3'
    """

    x: Axis
    y: Axis
    response: Array
    certainty: Array | None
    classes: Array
    held: dict[Any, str]
    labels: Array | None
    name: str

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        columns: Sequence[Any] | None = None,
        grid_resolution: int = 100,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Of any fitted classifier, pipelines and those of scikit-learn included.

        Parameters
        ----------
        estimator : fitted classifier
        X : rows
            Arrays or frames as the classifier takes them; they say where columns are usual and how far they reach.
        y : labels, default=None
            With them the rows are drawn, at most 300.
        columns : pair of columns, default=None
            By name or number; None: the two that count most if the classifier has `importances`, else the first two.
        grid_resolution : int, default=100
            Points along a column of numbers; few distinct values and categories are taken as they are.
        ax : matplotlib axes, default=None
        **kwargs : as in `plot`
        """
        who, model, rows = cls.__name__, fitted(estimator, cls.__name__), DisplayRows.of(X)
        if not hasattr(model, "predict") or not hasattr(model, "classes_"):
            raise ValueError(f"{who} takes a classifier, got a {type(model).__name__}")
        check_value(grid_resolution, f"{who}: grid_resolution", COUNT)
        if not len(rows):
            raise ValueError(f"{who} needs at least one row, got none")
        i, j = _pair(model, rows, columns, who)
        across, up = (_axis(rows, column, int(grid_resolution)) for column in (i, j))
        middle = np.array([typical(rows.column(c)) for c in range(len(rows.names))])
        grid = _grid(rows, middle, (i, across), (j, up))
        response, certainty = _answers(model, grid, (len(up.at), len(across.at)))
        others = {name: word(rows.column(c)[middle[c]]) for c, name in enumerate(rows.names) if c not in (i, j)}
        labels = None if y is None else _labels(y, model.classes_, len(rows), who)
        return cls(across, up, response, certainty, model.classes_, others, labels, called(model)).plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, *, width: float = WIDTH, **kwargs: Any) -> Self:
        """Draw; other settings are those of matplotlib's `pcolormesh`."""
        axes = self._begin(ax, width, 4.8 if width >= NARROW else 4.4)
        two = len(self.classes) == 2 and self.certainty is not None
        (self._probability if two else self._regions)(axes, kwargs)
        if self.labels is not None:
            self._rows(axes)
        _ticks(axes, "x", self.x)
        _ticks(axes, "y", self.y)
        others = {0: "", 1: ", the other column at its middle"}
        held = others.get(len(self.held), f", the other {len(self.held)} columns at their middle")
        self._dress(self.name + held, str(self.x.name), "")
        axes.set_ylabel(label(self.y.name, axes))
        return self

    def _probability(self, axes: Axes, look: dict[str, Any]) -> None:
        shades = optional("matplotlib.colors", "plot").LinearSegmentedColormap.from_list("classes", PALE)
        fixed: dict[str, Any] = {"cmap": shades, "vmin": 0, "vmax": 1, "shading": "nearest", "rasterized": True}
        drawn = axes.pcolormesh(self.x.at, self.y.at, self.response, **{**fixed, **look})
        if min(self.response.shape) > 1 and self.x.labels is None and self.y.labels is None:
            inside = self.response.min() < 0.5 < self.response.max()
            if inside:
                axes.contour(self.x.at, self.y.at, self.response, levels=[0.5], colors=[INK], linewidths=1.2)
        bar = self.figure_.colorbar(drawn, ax=axes, shrink=0.9)
        bar.set_label(literal(f"probability of {class_word(self.classes[1])}"), fontsize="small")
        bar.ax.tick_params(labelsize="small")

    def _shown(self) -> list[int]:
        """Classes with a colour of their own: those of the greatest areas and of the most rows."""
        areas = np.bincount(self.response.ravel(), minlength=len(self.classes)) / self.response.size
        if self.labels is not None:
            known = self.labels[self.labels >= 0]
            areas = areas + np.bincount(known, minlength=len(areas)) / max(1, len(known))
        most = np.argsort(-areas, kind="stable")[: len(COLOURS)]
        return sorted(int(c) for c in most if areas[c] > 0)

    def _colours(self) -> dict[int, str]:
        shown = [0, 1] if len(self.classes) == 2 else self._shown()
        return dict(zip(shown, COLOURS, strict=False))

    def _regions(self, axes: Axes, look: dict[str, Any]) -> None:
        to_rgb = optional("matplotlib.colors", "plot").to_rgb
        palette = self._colours()
        paint = np.array([to_rgb(palette.get(c, OTHER)) for c in range(len(self.classes))])
        sure = np.ones(self.response.shape) if self.certainty is None else self.certainty
        k = len(self.classes)
        strength = 0.15 + 0.5 * (sure - 1 / k) / max(1 - 1 / k, 1e-9)
        picture = 1 - strength.clip(0, 1)[..., None] * (1 - paint[self.response])
        axes.pcolormesh(self.x.at, self.y.at, picture, **{"shading": "nearest", "rasterized": True, **look})
        self._legend(axes, palette)

    def _legend(self, axes: Axes, palette: dict[int, str]) -> None:
        Patch = optional("matplotlib.patches", "plot").Patch
        handles = [Patch(color=shade, label=label(class_word(self.classes[c]), axes)) for c, shade in palette.items()]
        left = len(self.classes) - len(palette)
        handles += [Patch(color=OTHER, label=f"{left} other classes")] * (left > 0)
        if self._own and narrow(axes):
            self._below(handles)
        else:
            beside = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)} if self._own else {"loc": "upper right"}
            axes.legend(handles=handles, fontsize="small", edgecolor="none", **beside)

    def _below(self, handles: Sequence[Any]) -> None:
        self.figure_.legend(handles=handles, loc="outside lower center", ncols=2, fontsize="small", edgecolor="none")

    def _rows(self, axes: Axes) -> None:
        known = ~np.isnan(self.x.own) & ~np.isnan(self.y.own) & (np.asarray(self.labels) >= 0)
        rng, at = np.random.default_rng(0), np.flatnonzero(known)
        at = np.sort(rng.permutation(at)[:POINTS])
        shift = [rng.uniform(-0.3, 0.3, len(at)) if axis.labels is not None else 0.0 for axis in (self.x, self.y)]
        palette, labels = self._colours(), np.asarray(self.labels)[at]
        x, y = self.x.own[at] + shift[0], self.y.own[at] + shift[1]
        for c in np.unique(labels):
            here = labels == c
            marker = "o" if len(self.classes) != 2 or c == 0 else "^"
            axes.scatter(
                x[here],
                y[here],
                s=16,
                marker=marker,
                color=palette.get(int(c), OTHER),
                edgecolor="white",
                linewidth=0.5,
                label=literal(class_word(self.classes[c])) if len(self.classes) == 2 else None,
            )
        if len(self.classes) == 2 and self.certainty is not None:
            if self._own:
                self._below(axes.get_legend_handles_labels()[0])
            else:
                axes.legend(fontsize="small", framealpha=0.8, edgecolor="none", loc="upper right")


def _pair(model: Any, rows: DisplayRows, columns: Sequence[Any] | None, who: str) -> tuple[int, int]:
    names = rows.names
    if len(names) < 2:
        raise ValueError(f"{who} shows two columns, and there is {len(names)}")
    if columns is None:
        return _foremost(model, rows)
    if isinstance(columns, str) or len(columns) != 2:
        raise ValueError(f"{who}: columns must be two columns, by name or number, got {columns!r}")
    i, j = (rows.index(column, who) for column in columns)
    if i == j:
        raise ValueError(f"{who}: columns must be two different columns, got {columns!r}")
    return i, j


def _foremost(model: Any, rows: DisplayRows) -> tuple[int, int]:
    """The two columns that count most, where the classifier can say."""
    names = rows.names
    try:
        order = [names.index(name) for name in model.importances(rows.native) if name in names]
    except (AttributeError, ValueError):
        order = []
    i, j, *_ = [*order, *(c for c in range(len(names)) if c not in order)]
    return i, j


def _axis(rows: DisplayRows, j: int, points: int) -> Axis:
    values, name = rows.column(j), rows.names[j]
    own = places(values)
    if own is None or np.isnan(own).all():
        listed, codes = keys(values)
        listed = listed[:CATEGORIES]
        first = np.array([int(np.argmax(codes == v)) for v in range(max(1, len(listed)))])
        where = np.where((codes >= 0) & (codes < len(listed)), codes, np.nan).astype(float)
        return Axis(
            name, np.arange(len(first), dtype=float), first, None, [word(v) for v in listed] or ["missing"], where
        )
    dates = values.dtype.kind == "M"
    distinct, first = np.unique(np.where(np.isnan(own), np.inf, own), return_index=True)
    distinct, first = distinct[np.isfinite(distinct)], first[: np.isfinite(distinct).sum()]
    if len(distinct) <= FEW or dates or values.dtype.kind == "O":
        some = np.unique(np.linspace(0, len(distinct) - 1, min(points, len(distinct))).round().astype(int))
        return Axis(name, distinct[some], first[some], None, None, own, dates)
    reach = MARGIN * (distinct[-1] - distinct[0])
    given = np.linspace(distinct[0] - reach, distinct[-1] + reach, points)
    if values.dtype.kind in "iu":  # whole numbers stay so
        given = np.unique(given.round().clip(distinct[0], distinct[-1]).astype(values.dtype))
    given = given.astype(values.dtype)
    return Axis(name, given.astype(float), np.zeros(len(given), dtype=int), given, None, own)


def _grid(rows: DisplayRows, middle: Array, across: tuple[int, Axis], up: tuple[int, Axis]) -> Any:
    """A row for each point of the picture, row by row from below."""
    (i, x), (j, y) = across, up
    g, h = len(x.at), len(y.at)
    at = np.repeat(middle[:, None], g * h, axis=1)
    at[i], at[j] = np.tile(x.rows, h), np.repeat(y.rows, g)
    given = {}
    if x.given is not None:
        given[i] = np.tile(x.given, h)
    if y.given is not None:
        given[j] = np.repeat(y.given, g)
    return rows.made(at, given)


def _answers(model: Any, grid: Any, shape: tuple[int, int]) -> tuple[Array, Array | None]:
    if not hasattr(model, "predict_proba"):
        said = np.asarray(model.predict(grid))
        place = {label: c for c, label in enumerate(model.classes_.tolist())}
        return np.array([place[label] for label in said.tolist()]).reshape(shape), None
    p = np.asarray(model.predict_proba(grid), dtype=float)
    top = p.max(axis=1).reshape(shape)
    if p.shape[1] == 2:
        return p[:, 1].reshape(shape), top
    return p.argmax(axis=1).reshape(shape), top


def _labels(y: Any, classes: Array, n: int, who: str) -> Array:
    y = check_labels(y)
    if len(y) != n:
        raise ValueError(f"{who}: there are {n} rows and {len(y)} labels: give one for each row")
    return positions(y, np.asarray(classes), "labels")


def _ticks(axes: Axes, side: Literal["x", "y"], axis: Axis) -> None:
    if axis.labels is not None:
        words = [label(text, axes) for text in axis.labels]
        if side == "x":
            axes.set_xticks(axis.at, words, rotation=40, ha="right", fontsize="small")
        else:
            axes.set_yticks(axis.at, words, fontsize="small")
    elif axis.dates:
        (axes.xaxis if side == "x" else axes.yaxis).set_major_formatter(lambda v, _: date(v))
        axes.tick_params(axis=side, rotation=20 if side == "x" else 0, labelsize="small")
        axes.locator_params(axis=side, nbins=5)
    else:
        axes.locator_params(axis=side, nbins=6)
