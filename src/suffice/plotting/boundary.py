"""The decision boundary of a classifier over two columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from suffice._core.labels import check_labels, date, positions
from suffice._core.vector import Array
from suffice._runtime.messages import COUNT, check_value
from suffice._runtime.system import optional
from suffice.plotting._base import (
    COLOURS,
    INK,
    NARROW,
    WIDTH,
    Display,
    class_name,
    estimator_name,
    fitted,
    is_narrow,
    label,
    literal,
)
from suffice.plotting._rows import DisplayRows, as_numbers, by_frequency, show_value, typical_row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_CATEGORIES = 12  # along an axis, the most frequent ones
MAX_DISTINCT = 20  # a column with at most this many distinct numbers is shown at exactly these
MAX_ROWS_DRAWN = 300
MARGIN = 0.03  # beyond the values of a column on either side, as a share of their range
OTHER = "#9a9a9a"  # colour of classes without one of their own
SHADES = ("#7fb8d8", "#ffffff", "#eaae7f")  # from the first class to the second


@dataclass(frozen=True, eq=False)
class Axis:
    """The values of a column along an axis of the picture."""

    name: Any
    at: Array  # (g,) positions
    rows: Array  # (g,) rows with these values
    given: Array | None  # (g,) numbers to use instead of those of rows
    labels: list[str] | None  # of categories
    own: Array  # (n,) positions of the rows, NaN if they are not drawn
    dates: bool = False


@dataclass(eq=False)
class BoundaryDisplay(Display):
    """The answers of a classifier over two columns, all others held at typical values.

    The others are at the median of the rows, or at the most frequent category. With two classes it shows the
    probability of the second one, with a line at one half; with more, the most probable class, paler where it is less
    probable. Rows are drawn by their values in the two columns but differ in the others too, so a row on the wrong side
    may still be classified correctly.

    Parameters
    ----------
    x, y : Axis
        The values along the two axes.
    response : array of shape (g_y, g_x)
        Two classes: the probability of the second one; more: the index of the most probable class.
    certainty : array of shape (g_y, g_x) or None
        The probability of the most probable class; None if the classifier gives no probabilities.
    classes : array of shape (k,)
    held : dict of column: str
        The values of the other columns.
    labels : array of shape (n,) or None
        The class of each row, by its index.
    name : str
        The name of the estimator.

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
        """Draw the boundary of any fitted classifier, including pipelines and those of scikit-learn.

        Parameters
        ----------
        estimator : fitted classifier
        X : rows
            Arrays or frames as the classifier takes them; they give typical values and the ranges of the columns.
        y : labels, default=None
            If given, the rows are drawn, at most 300.
        columns : pair of columns, default=None
            By name or number; None: the two that count most if the classifier has `importances`, else the first two.
        grid_resolution : int, default=100
            Points along a column of numbers; up to 20 distinct values, dates and categories are used as they are.
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
        middle = np.array([typical_row(rows.column(c)) for c in range(len(rows.names))])
        grid = _grid(rows, middle, (i, across), (j, up))
        response, certainty = _answers(model, grid, (len(up.at), len(across.at)))
        others = {name: show_value(rows.column(c)[middle[c]]) for c, name in enumerate(rows.names) if c not in (i, j)}
        labels = None
        if y is not None:
            y = check_labels(y)
            if len(y) != len(rows):
                raise ValueError(f"{who}: there are {len(rows)} rows and {len(y)} labels: give one for each row")
            labels = positions(y, np.asarray(model.classes_), "labels")
        return cls(across, up, response, certainty, model.classes_, others, labels, estimator_name(model)).plot(
            ax, **kwargs
        )

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
        self._label(self.name + held, str(self.x.name), "")
        axes.set_ylabel(label(self.y.name, axes))
        return self

    def _probability(self, axes: Axes, look: dict[str, Any]) -> None:
        shades = optional("matplotlib.colors", "plot").LinearSegmentedColormap.from_list("classes", SHADES)
        fixed: dict[str, Any] = {"cmap": shades, "vmin": 0, "vmax": 1, "shading": "nearest", "rasterized": True}
        drawn = axes.pcolormesh(self.x.at, self.y.at, self.response, **{**fixed, **look})
        if min(self.response.shape) > 1 and self.x.labels is None and self.y.labels is None:
            inside = self.response.min() < 0.5 < self.response.max()
            if inside:
                axes.contour(self.x.at, self.y.at, self.response, levels=[0.5], colors=[INK], linewidths=1.2)
        bar = self.figure_.colorbar(drawn, ax=axes, shrink=0.9)
        bar.set_label(literal(f"probability of {class_name(self.classes[1])}"), fontsize="small")
        bar.ax.tick_params(labelsize="small")

    def _colours(self) -> dict[int, str]:
        """Return the colour of each of two classes; of more, of those with the largest areas and most rows."""
        if len(self.classes) == 2:
            return dict(enumerate(COLOURS[:2]))
        areas = np.bincount(self.response.ravel(), minlength=len(self.classes)) / self.response.size
        if self.labels is not None:
            known = self.labels[self.labels >= 0]
            areas = areas + np.bincount(known, minlength=len(areas)) / max(1, len(known))
        most = np.argsort(-areas, kind="stable")[: len(COLOURS)]
        return dict(zip(sorted(int(c) for c in most if areas[c] > 0), COLOURS, strict=False))

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
        handles = [Patch(color=shade, label=label(class_name(self.classes[c]), axes)) for c, shade in palette.items()]
        left = len(self.classes) - len(palette)
        handles += [Patch(color=OTHER, label=f"{left} other classes")] * (left > 0)
        if self._own and is_narrow(axes):
            self._below(handles)
        else:
            beside = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)} if self._own else {"loc": "upper right"}
            axes.legend(handles=handles, fontsize="small", edgecolor="none", **beside)

    def _below(self, handles: Sequence[Any]) -> None:
        self.figure_.legend(handles=handles, loc="outside lower center", ncols=2, fontsize="small", edgecolor="none")

    def _rows(self, axes: Axes) -> None:
        known = ~np.isnan(self.x.own) & ~np.isnan(self.y.own) & (np.asarray(self.labels) >= 0)
        rng, at = np.random.default_rng(0), np.flatnonzero(known)
        at = np.sort(rng.permutation(at)[:MAX_ROWS_DRAWN])
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
                label=literal(class_name(self.classes[c])) if len(self.classes) == 2 else None,
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
    if columns is None:  # the most important columns if the classifier has importances, else the first two
        try:
            order = [names.index(name) for name in model.importances(rows.native) if name in names]
        except (AttributeError, ValueError):
            order = []
        i, j, *_ = [*order, *(c for c in range(len(names)) if c not in order)]
        return i, j
    if isinstance(columns, str) or len(columns) != 2:
        raise ValueError(f"{who}: columns must be two columns, by name or number, got {columns!r}")
    i, j = (rows.index(column, who) for column in columns)
    if i == j:
        raise ValueError(f"{who}: columns must be two different columns, got {columns!r}")
    return i, j


def _axis(rows: DisplayRows, j: int, points: int) -> Axis:
    values, name = rows.column(j), rows.names[j]
    own = as_numbers(values)
    if own is None or np.isnan(own).all():
        listed, codes = by_frequency(values)
        listed = listed[:MAX_CATEGORIES]
        first = np.array([int(np.argmax(codes == v)) for v in range(max(1, len(listed)))])
        where = np.where((codes >= 0) & (codes < len(listed)), codes, np.nan).astype(float)
        labels = [show_value(v) for v in listed] or ["missing"]
        return Axis(name, np.arange(len(first), dtype=float), first, None, labels, where)
    dates = values.dtype.kind == "M"
    distinct, first = np.unique(np.where(np.isnan(own), np.inf, own), return_index=True)
    distinct, first = distinct[np.isfinite(distinct)], first[: np.isfinite(distinct).sum()]
    if len(distinct) <= MAX_DISTINCT or dates or values.dtype.kind == "O":
        some = np.unique(np.linspace(0, len(distinct) - 1, min(points, len(distinct))).round().astype(int))
        return Axis(name, distinct[some], first[some], None, None, own, dates)
    reach = MARGIN * (distinct[-1] - distinct[0])
    given = np.linspace(distinct[0] - reach, distinct[-1] + reach, points)
    if values.dtype.kind in "iu":  # keep whole numbers whole
        given = np.unique(given.round().clip(distinct[0], distinct[-1]).astype(values.dtype))
    given = given.astype(values.dtype)
    return Axis(name, given.astype(float), np.zeros(len(given), dtype=int), given, None, own)


def _grid(rows: DisplayRows, middle: Array, across: tuple[int, Axis], up: tuple[int, Axis]) -> Any:
    """Return a row for each point of the picture, line by line from below."""
    (i, x), (j, y) = across, up
    g, h = len(x.at), len(y.at)
    at = np.repeat(middle[:, None], g * h, axis=1)
    at[i], at[j] = np.tile(x.rows, h), np.repeat(y.rows, g)
    given = {} if x.given is None else {i: np.tile(x.given, h)}
    given |= {} if y.given is None else {j: np.repeat(y.given, g)}
    return rows.compose(at, given)


def _answers(model: Any, grid: Any, shape: tuple[int, int]) -> tuple[Array, Array | None]:
    if not hasattr(model, "predict_proba"):
        index = {label: c for c, label in enumerate(model.classes_.tolist())}
        return np.array([index[label] for label in np.asarray(model.predict(grid)).tolist()]).reshape(shape), None
    p = np.asarray(model.predict_proba(grid), dtype=float)
    top = p.max(axis=1).reshape(shape)
    if p.shape[1] == 2:
        return p[:, 1].reshape(shape), top
    return p.argmax(axis=1).reshape(shape), top


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
