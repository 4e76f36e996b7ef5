"""Figures of additive tables: what each column and pair adds to the log-odds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice._core.labels import date, show, show_all
from suffice._core.vector import Array
from suffice._runtime.messages import COUNT, POSITIVE, check_value
from suffice._runtime.system import optional
from suffice.additive import AdditiveTables, Shape, Shapes
from suffice.plotting._canvas import CLASSES, FAINT, INK, LINES, canvas, finished, literal, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TALL = 2.6  # inches of a panel
LONG = 14  # characters of a label that is written whole
LETTERS = 9  # an inch of a title
MANY = 12  # labels of an axis
FEW = 8  # classes, up to which all are drawn
SILENT = 1e-6  # what a term adds on average that is as good as nothing
NARROW = 1e-9  # of an axis: a cell of a single value


def plot_shapes(
    model: AdditiveTables,
    terms: int | Sequence[Any] = 12,
    *,
    width: float = 9.0,
    path: str | Path | None = None,
) -> Figure:
    """What columns and pairs of columns add to the log-odds of the second class, each in a panel of its own.

    A column of numbers is a line of steps over its cells, with the rows in grey below; categories are bars, and pairs
    are maps. Every panel has its own scale, and says in its title how much is added or taken on average. With more
    than two classes each has a line, of its score; a map is then of the class for which it varies most. Of more than 8
    classes, the 6 are drawn to whose scores the chosen terms add most.

    Parameters
    ----------
    model : fitted AdditiveTables
    terms : int, key or list of keys, default=12
        How many of `model.shapes_`, from those that count most (and not at all those that add nothing), or which, by
        their keys.
    width : float, default=9.0
        Inches; below 5 the panels stand one below the other, as a phone shows them.
    path : str or Path, default=None
        Where to write the figure.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> figure = plot_shapes(AdditiveTables(pairs=1).fit(X, y == 1), 3)
    >>> len(figure.axes) >= 3
    True
    """
    if not isinstance(model, AdditiveTables):
        raise ValueError(f"plot_shapes takes a fitted AdditiveTables, got a {type(model).__name__}")
    return finished(draw_shapes(model.shapes_, terms, width), path)


def draw_shapes(shapes: Shapes, terms: int | Sequence[Any], width: float, ax: Axes | None = None) -> Figure:
    """A figure with a panel for each shape, or the one shape that is asked for in axes that are given."""
    check_value(width, "width", POSITIVE)
    chosen = [shapes[key] for key in _keys(shapes, terms)]
    if not chosen:
        raise ValueError("there are no shapes to draw: every column is left out")
    if ax is not None and len(chosen) > 1:
        raise ValueError(f"ax has room for one shape, and terms asks for {len(chosen)}: give one key, or no ax")
    across = min(len(chosen), 1 if width < 5 else 3 if width >= 8 else 2)
    down = -(-len(chosen) // across)
    figure: Figure
    if ax is not None:
        figure = canvas(ax)[0]
    else:
        figure = optional("matplotlib.figure", "plot").Figure(figsize=(width, TALL * down), layout="constrained")
    drawn = _classes(chosen, len(shapes.classes))
    for at, shape in enumerate(chosen):
        axes = figure.add_subplot(down, across, at + 1) if ax is None else ax
        if len(shape.columns) > 1:
            _map(figure, axes, shape)
        else:
            (_bars if shape.edges[0] is None else _numbers)(axes, shape, drawn)
        title = f"{' x '.join(map(str, shape.columns))} (±{shape.importance:.2f})"
        axes.set_title(literal(fill(title, max(8, int(LETTERS * width / across)))), fontsize="medium")
        axes.tick_params(labelsize="small")
    two = len(shapes.classes) == 2
    said = f"added to the log-odds of {show(shapes.classes[1])}" if two else "added to the score of each class"
    if len(drawn) < len(shapes.classes):
        said = f"added to the scores of {len(drawn)} of {len(shapes.classes)} classes"
    if ax is None:
        figure.suptitle(literal(fill(said, max(8, int(LETTERS * width)))), fontsize="medium", color=INK)
    else:
        ax.set_ylabel(literal(fill(said, 40)), fontsize="small")
    if not two:
        line = optional("matplotlib.lines", "plot").Line2D
        labels = [literal(_short(show(shapes.classes[c]), 30)) for c in drawn]
        handles = [line([], [], **style(c)) for c in range(len(labels))]
        below = {"loc": "outside lower center", "ncols": min(len(labels), max(1, int(width // 2)))}
        place: dict[str, Any] = {"loc": "upper right"} if ax else below
        (figure if ax is None else ax).legend(handles, labels, fontsize="small", **place)
    return figure


def _keys(shapes: Shapes, terms: int | Sequence[Any]) -> list[Any]:
    if isinstance(terms, int | np.integer):
        check_value(terms, "terms", COUNT)
        telling = [key for key, shape in shapes.items() if shape.importance > SILENT]
        return (telling or list(shapes))[:terms]
    if isinstance(terms, str | tuple) and (isinstance(terms, str) or terms in shapes):
        return _keys(shapes, [terms])
    strange = [key for key in terms if key not in shapes]
    if strange:
        raise ValueError(f"terms has {show_all(strange)}, but the shapes are those of {show_all(list(shapes))}")
    return list(terms)


def _classes(chosen: list[Shape], k: int) -> list[int]:
    """The classes to draw: all of a few, else those to whose scores the shapes add most, on average over the rows."""
    if k <= FEW:
        return list(range(k))
    each = [np.tensordot(s.rows, abs(s.values), axes=s.rows.ndim) / max(float(s.rows.sum()), 1e-300) for s in chosen]
    return sorted(np.argsort(-np.sum(each, axis=0), kind="stable")[: len(LINES)].tolist())


def _lines(shape: Shape, classes: list[int]) -> list[tuple[Array, dict[str, Any]]]:
    """The values of each line, and how it is drawn: one for two classes, one for each of more."""
    if shape.values.ndim == shape.rows.ndim:
        return [(shape.values, {"color": CLASSES[0], "linestyle": "-"})]
    return [(shape.values[..., c], style(i)) for i, c in enumerate(classes)]


def _numbers(axes: Axes, shape: Shape, classes: list[int]) -> None:
    """Steps over the cells, between the first and the last bound and a tenth beyond; where rows are, in grey."""
    bounds = np.asarray(shape.edges[0])[1:]
    beyond = 0.1 * np.ptp(bounds) if len(bounds) > 1 else 0.5
    edges = np.concatenate([[bounds[0] - beyond], bounds, [bounds[-1] + beyond]])
    widths = np.diff(edges)
    spikes = np.flatnonzero(widths <= NARROW * np.ptp(edges))
    for values, how in _lines(shape, classes):
        axes.stairs(values, edges, baseline=None, linewidth=1.6, color=how["color"], linestyle=how["linestyle"])
        axes.plot(edges[spikes], values[spikes], "o", color=how["color"], markersize=4)  # they have no width
    axes.axhline(0.0, color=INK, linewidth=0.7)
    axes.spines[["top", "right"]].set_visible(False)
    axes.locator_params(axis="x", nbins=4)
    if shape.dates[0]:
        axes.xaxis.set_major_formatter(lambda x, _: date(x))
        axes.tick_params(axis="x", rotation=20)
    wide = np.delete(np.arange(len(widths)), spikes)
    density = np.zeros(len(widths))
    density[wide] = shape.rows[wide] / widths[wide]
    usual = max(float(np.median(density[wide])), 1e-300)
    behind = axes.twinx()  # a spike is cut off, lest nothing else is seen
    behind.stairs(np.minimum(density / usual, 3.0), edges, fill=True, color=FAINT, alpha=0.25, linewidth=0)
    behind.set_ylim(0, 12.0)
    behind.axis("off")


def _bars(axes: Axes, shape: Shape, classes: list[int]) -> None:
    """A bar for each category, the most frequent on top."""
    order = np.argsort(-shape.rows, kind="stable")[:MANY]
    lines, at = _lines(shape, classes), np.arange(len(order))
    each = 0.8 / len(lines)
    for c, (values, how) in enumerate(lines):
        axes.barh(at - 0.4 + each * (c + 0.5), values[order], each, color=how["color"], alpha=0.85)
    axes.axvline(0.0, color=INK, linewidth=0.7)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_yticks(at, [literal(_short(shape.cells[0][v])) for v in order])
    axes.locator_params(axis="x", nbins=4)
    axes.invert_yaxis()


def _map(figure: Figure, axes: Axes, shape: Shape) -> None:
    """A map of the cells of two columns; of more than two classes, that of the widest spread."""
    values = shape.values
    if values.ndim > 2:
        values = values[..., int(np.argmax(np.ptp(values, axis=(0, 1))))]
    reach = max(0.1, float(abs(values).max()))
    drawn = axes.imshow(values.T, cmap="PuOr_r", vmin=-reach, vmax=reach, aspect="auto", origin="lower")
    sides = [_ticks(*side) for side in zip(shape.cells, shape.edges, shape.dates, strict=True)]
    axes.set_xticks(*sides[0], rotation=40, ha="right")
    axes.set_yticks(*sides[1])
    axes.set_xlabel(literal(_short(str(shape.columns[0]), 24)), fontsize="small")
    axes.set_ylabel(literal(_short(str(shape.columns[1]), 24)), fontsize="small")
    figure.colorbar(drawn, ax=axes, shrink=0.9).ax.tick_params(labelsize="small")


def _ticks(cells: list[str], edges: Array | None, dates: bool) -> tuple[Array, list[str]]:
    """Where an axis of cells is marked and how: bounds between the cells of numbers, categories in the middle."""
    if edges is None:
        return np.arange(len(cells)), [literal(_short(cell)) for cell in cells]
    return np.arange(len(edges) - 1) + 0.5, [date(edge) if dates else f"{_plain(edge):.3g}" for edge in edges[1:]]


def _plain(edge: float) -> float:
    """A bound without what is next to nothing: the number after 0, where a cell of zeros ends."""
    return edge if abs(edge) > np.finfo(float).tiny else 0.0


def _short(text: str, most: int = LONG) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
