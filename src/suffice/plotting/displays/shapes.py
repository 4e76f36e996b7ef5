"""What a column adds, over its values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice._core.labels import show, show_all
from suffice._core.vector import Array
from suffice._estimator.explaining import IMPOSSIBLE
from suffice._runtime.messages import COUNT, check_value
from suffice.additive import Shape, Shapes
from suffice.additive.shapes import ShapePlace, odds
from suffice.additive.shapes import called as cells_called
from suffice.plotting.displays._base import Display, fitted, last_step
from suffice.plotting.displays._rows import DisplayRows, absent, keys, places, typical, word
from suffice.plotting.shapes import draw_shapes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 64  # of a column of numbers, at ranks and again evenly spaced
BACKGROUNDS = 4  # rows around which a column is varied
ALIKE = 1e-6  # of the size of a term: what it may differ by with the other columns
FLOOR = -30.0  # of log-odds that are drawn


@dataclass(eq=False)
class ShapesDisplay(Display):
    """What columns add to the log-odds over their values, each in a panel; with more classes, to each class's score.

    `AdditiveTables` know their shapes, maps of pairs included. Of any other classifier whose terms are each of one
    column (naive Bayes, linear scores), the terms are asked for at values that the rows have, and centred over these
    rows. A classifier whose terms depend on other columns too, through covariances or trees, is refused.

    Parameters
    ----------
    shapes : Shapes
        By column, those that count most first.
    name : str
        Of the estimator.

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
        """Of a fitted classifier, or a pipeline that ends with one.

        Parameters
        ----------
        estimator : fitted classifier
        X : rows, default=None
            Of which the values are; `AdditiveTables` need none.
        y : ignored
        terms : int, column or list of columns, default=6
            How many, from those that count most, or which; a pair of `AdditiveTables` by both names.
        ax : matplotlib axes, default=None
            Where to draw one shape.
        **kwargs : as in `plot`
        """
        model, rows = last_step(fitted(estimator, cls.__name__), X)
        known = getattr(model, "shapes_", None)
        shapes = known if isinstance(known, Shapes) else _asked(model, rows, terms, cls.__name__)
        return cls(shapes, type(model).__name__).plot(ax, terms=terms, **kwargs)

    def plot(self, ax: Axes | None = None, *, terms: int | Sequence[Any] = 6, width: float = 9.0) -> Self:
        """Draw; below a `width` of 5 inches the panels stand one below the other."""
        self._own = ax is None
        self.figure_ = draw_shapes(self.shapes, terms, width, ax)
        self.axes_ = [axes for axes in self.figure_.axes if axes.get_title()] if ax is None else [ax]
        self.ax_ = self.axes_[0]
        return self


def _asked(model: Any, X: Any, terms: int | Sequence[Any], who: str) -> Shapes:
    """Shapes of the columns that are wanted, by asking the model for its terms around some rows."""
    if not hasattr(model, "contributions"):
        raise ValueError(
            f"{who}: {type(model).__name__} does not say what each column adds: take AdditiveTables, naive Bayes or "
            "a linear classifier"
        )
    if X is None:
        raise ValueError(f"{who}: give X, rows whose values are looked at; only AdditiveTables know their shapes")
    rows = DisplayRows.of(X)
    whole = model.contributions(rows.native)
    if isinstance(terms, int | np.integer):
        check_value(terms, f"{who}: terms", COUNT)
        some = [name for name in whole.importances if not absent(rows.column(rows.index(name, who))).all()]
        wanted = some[:terms]
    else:
        wanted = [terms] if isinstance(terms, str) else list(terms)
        strange = [key for key in wanted if key not in whole.names]
        if strange:
            raise ValueError(f"{who}: terms has {show_all(strange)}, but the columns are {show_all(whole.names)}")
    found = {name: _shape(model, rows, rows.index(name, who), name, who) for name in wanted}
    order = sorted(found, key=lambda name: -found[name].importance)
    return Shapes(0.0, {name: found[name] for name in order}, model.classes_)


def _shape(model: Any, rows: DisplayRows, j: int, name: Any, who: str) -> Shape:
    values = rows.column(j)
    if absent(values).all():
        raise ValueError(f"{who}: column {show(name)} has no entry in these rows, and so no shape")
    at = places(values)
    numbers = at is not None and not np.isnan(at).all()
    picks, cells = _numbers(at) if numbers and at is not None else _categories(values)
    value = odds(_terms(model, rows, j, name, picks, who), 1)
    seen = np.bincount(cells[cells >= 0], minlength=len(picks)).astype(float)
    mean = seen @ value / max(float(seen.sum()), 1.0)
    centred, edges, words = value - mean, None, [word(values[i]) for i in picks]
    dates = values.dtype.kind == "M"
    if numbers and at is not None:
        spots = at[picks]
        edges = np.concatenate([[-np.inf], (spots[1:] + spots[:-1]) / 2])
        words = cells_called(edges, {}, {}, dates) if len(edges) > 1 else words
    if edges is not None and len(edges) < 2:
        edges = None  # a single value is a bar
    place = ShapePlace("", j, slice(0, len(picks)))
    return Shape((name,), (words,), (edges,), centred, -mean, seen, 1.0, place, (dates, False))


def _numbers(at: Array) -> tuple[Array, Array]:
    """Rows with values at ranks and at even distances, in order, and to which of these each row is nearest (n,)."""
    some = np.flatnonzero(~np.isnan(at))
    order = some[np.argsort(at[some], kind="stable")]
    values = at[order]
    ranks = np.linspace(0, len(order) - 1, POINTS).round().astype(int)
    even = np.searchsorted(values, np.linspace(values[0], values[-1], POINTS)).clip(max=len(order) - 1)
    chosen = np.unique(np.concatenate([ranks, even]))
    _, first = np.unique(values[chosen], return_index=True)
    picks = order[chosen[first]]
    spots = at[picks]
    cells = np.full(len(at), -1)
    cells[some] = np.searchsorted((spots[1:] + spots[:-1]) / 2, at[some], side="right")
    return picks, cells


def _categories(values: Array) -> tuple[Array, Array]:
    """A row for each category, and the category of each row (n,)."""
    listed, codes = keys(values)
    return np.array([int(np.argmax(codes == v)) for v in range(len(listed))]), codes


def _terms(model: Any, rows: DisplayRows, j: int, name: Any, picks: Array, who: str) -> Array:
    """The term of a column by value and class (g, k), if it does not depend on the other columns; else ValueError."""
    n, d = len(rows), len(rows.names)
    middle = np.array([typical(rows.column(i)) for i in range(d)])
    around = np.column_stack([middle, *(np.full(d, i) for i in np.linspace(0, n - 1, BACKGROUNDS - 1).astype(int))])
    at = np.repeat(around, len(picks), axis=1)  # (d, backgrounds * g)
    at[j] = np.tile(picks, around.shape[1])
    found = model.contributions(rows.made(at, {}))
    terms = found.terms[:, :, found.names.index(name)].reshape(around.shape[1], len(picks), -1)
    terms = np.where(terms > IMPOSSIBLE, terms, FLOOR)
    if (abs(terms - terms[0]) > ALIKE * (1.0 + abs(terms[0]))).any():
        raise ValueError(
            f"{who}: what {type(model).__name__} adds for column {show(name)} depends on other columns too, so that "
            "there is no shape of it alone: see BoundaryDisplay for two columns, ContributionsDisplay for a row"
        )
    return np.asarray(terms[0])
