"""Figures of two classes: as ellipses with the planes that touch them, and projected onto a plane's direction."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.special import expit, ndtr
from scipy.stats import norm

from papers import Array
from papers.figures.canvas import CLASSES, FAINT, INK, MARKERS, canvas, dress, finished, literal, style
from papers.figures.populations import quadratic_ratio
from papers.figures.views import Models, View, views
from suffice import QuasiBayes

LEVELS = (1.0, 2.0, 3.0)
MAX_ROWS = 600  # drawn of each class
ANGLES = np.linspace(0.0, 2.0 * np.pi, 181)


def tangent_curve(pencil: Any, n: int = 401) -> Array:
    """Points (n, d) where planes touch an ellipsoid of each class, relative to the origin, from mean to mean."""
    s = np.concatenate([[0.0], expit(np.linspace(-15.0, 15.0, n - 2)), [1.0]])
    with np.errstate(all="ignore"):  # the curve of a singular class does not reach its mean
        curve = np.stack([pencil.plane(share, 1.0 - share).point for share in s.tolist()])
    return np.asarray(curve[np.isfinite(curve).all(axis=1)])


def ellipse(mean: Array, covariance: Array, radius: float) -> Array:
    """The points (n, 2) at a Mahalanobis distance `radius` from a mean (2,)."""
    values, vectors = np.linalg.eigh(covariance)
    circle = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])
    return np.asarray(mean + radius * circle * np.sqrt(np.maximum(values, 0.0)) @ vectors.T)


def plot_classes(
    models: Models,
    X: Any = None,
    y: Any = None,
    *,
    pair: Any = None,
    levels: Sequence[float] = LEVELS,
    touching: bool | None = None,
    border: bool | None = None,
    ax: Axes | None = None,
    path: str | Path | None = None,
) -> Figure:
    """Two classes of two features as ellipses, the curve of all points of contact, and discriminants with theirs.

        curve: t(s) = m1 + s S1 w(s),   w(s) = [s S1 + (1 - s) S2]^-1 (m2 - m1),   0 < s < 1

    Lines are the planes themselves; costs, which shift predictions, are ignored.

    Parameters
    ----------
    models : fitted tangent discriminant, list or dict of them
        All learned from the same means and covariances; their priors may differ.
    X, y : arrays of shape (n, 2) and (n,), default=None
        Rows to draw, at most 600 of each class.
    pair : tuple of two labels, or a label, default=None
        Which classes, if there are more than two; one label is that class against the rest ("ovr").
    levels : sequence of float, default=(1, 2, 3)
        The ellipses' distances from their mean, in standard deviations.
    touching : bool, default=None
        Whether to draw the ellipses that touch at each point; None does so for one or two discriminants.
    border : bool, default=None
        Whether to draw the border of the quadratic Bayes rule, at the prior of the Quasi-Bayes discriminant or else of
        the first one; None does so if a Quasi-Bayes discriminant is among them.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.
    path : str or Path, default=None
        Where to write the figure; the ending (.png, .pdf, .svg) says in which format.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> from suffice import FisherDiscriminant
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [1.0, 2.0], [5.0, 7.0], [7.0, 5.0], [8.0, 8.0]], [0, 0, 0, 1, 1, 1]
    >>> plot_classes(FisherDiscriminant().fit(X, y)).axes[0].get_title()
    'Planes that touch an ellipse of each class'

    References
    ----------
    Martinez-Garcia: thesis on disjoint tangent configurations, Figures 2.1, 2.4 and 4.1.
    """
    found = views(models, pair)
    first = found[0]
    if first.means.shape[1] != 2:
        raise ValueError(
            f"ellipses are drawn in two features, and {first.means.shape[1]} were learned: fit two columns, "
            "or use plot_projection"
        )
    levels = [float(level) for level in levels]
    if not levels or not all(0 < level < np.inf for level in levels):
        raise ValueError(f"levels must be positive numbers, at least one, got {levels}")
    figure, axes = canvas(ax, 7.4, 5.4)
    if X is not None:
        _draw_rows(axes, first.rows(X, y))
    low, high = _draw_ellipses(axes, first, levels)
    curve = tangent_curve(first.pencil) + first.pencil.origin
    axes.plot(*curve.T, color=FAINT, linestyle=(0, (6, 2, 1, 2)), linewidth=1.4, label="points of contact", zorder=3)
    rule = next((view for view in found if isinstance(view.model, QuasiBayes)), None)
    if border or (border is None and rule is not None):
        _draw_border(axes, rule or first, low, high)
    touching = len(found) <= 2 if touching is None else touching
    for i, view in enumerate(found):
        _draw_plane(axes, view, i, high - low, touching)
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    known = first.pencil.domain.names
    names = ["$x_1$", "$x_2$"] if known is None else [literal(name) for name in known]
    dress(axes, "Planes that touch an ellipse of each class", *names)
    return finished(figure, path)


def _draw_rows(axes: Axes, rows: tuple[Array, Array]) -> None:
    for side, color, marker in zip(rows, CLASSES, MARKERS, strict=True):
        some = side[:: max(1, -(-len(side) // MAX_ROWS))]
        axes.scatter(some[:, 0], some[:, 1], s=9, color=color, marker=marker, alpha=0.3, linewidths=0, zorder=1)


def _draw_ellipses(axes: Axes, view: View, levels: list[float]) -> tuple[Array, Array]:
    """Draw both classes at all levels; return the lower and upper corner of the picture."""
    outlines = []
    for mean, covariance, color, marker, label in zip(
        view.means, view.covariances, CLASSES, MARKERS, view.labels, strict=True
    ):
        for level in levels:
            points = ellipse(mean, covariance, level)
            axes.plot(*points.T, color=color, linewidth=0.8, alpha=0.45, zorder=2)
            outlines.append(points)
        axes.plot(*mean, color=color, marker=marker, markersize=8, linestyle="none", label=f"class {label}", zorder=5)
    points = np.concatenate(outlines)
    low, high = points.min(axis=0), points.max(axis=0)
    return low - 0.06 * (high - low), high + 0.06 * (high - low)


def _draw_border(axes: Axes, view: View, low: Array, high: Array) -> None:
    x, y = np.linspace(low[0], high[0], 301), np.linspace(low[1], high[1], 301)
    grid = np.column_stack([part.ravel() for part in np.meshgrid(x, y)])
    odds = quadratic_ratio(view.means, view.covariances, view.prior)(grid).reshape(len(y), len(x))
    axes.contour(x, y, odds, levels=[0.0], colors=[INK], linestyles=[":"], linewidths=1.8, zorder=3)
    axes.plot([], [], color=INK, linestyle=":", linewidth=1.8, label="quadratic Bayes")


def _draw_plane(axes: Axes, view: View, i: int, span: Array, touching: bool) -> None:
    """Draw the line of a discriminant through its point of contact, and the ellipses that touch there."""
    if view.constant:
        winner = view.labels[int(view.plane.intercept > 0)]
        axes.plot([], [], **style(i), label=f"{view.name}: none, always {winner}")
        return
    point, along = view.plane.point + view.origin, np.array([-view.plane.coef[1], view.plane.coef[0]])
    reach = np.min(span[along != 0] / abs(along[along != 0]))  # leaves the picture at both ends
    ends = point + np.array([[-reach], [reach]]) * along
    axes.plot(*ends.T, **style(i), linewidth=1.8, label=view.name, zorder=4)
    axes.plot(*point, color=style(i)["color"], marker="o", markersize=7, markeredgecolor="white", zorder=6)
    if touching:
        for mean, covariance, distance, color in zip(
            view.means, view.covariances, view.plane.distances, CLASSES, strict=True
        ):
            axes.plot(*ellipse(mean, covariance, distance).T, color=color, linestyle=style(i)["linestyle"], zorder=3)


def plot_projection(
    model: Models,
    X: Any = None,
    y: Any = None,
    *,
    pair: Any = None,
    ax: Axes | None = None,
    path: str | Path | None = None,
) -> Figure:
    """Both classes projected onto a discriminant's direction, with the cut and the error as an area.

        h = w'x + w0,   class j: P_j N(w'm_j + w0, w'S_j w),   error: the area beyond h = 0

    Parameters
    ----------
    model : fitted tangent discriminant
        One; a dict {name: model} gives it a name.
    X, y : arrays of shape (n, d) and (n,), default=None
        Rows whose histograms are drawn, to compare with the normal densities.
    pair, ax, path
        As in `plot_classes`.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> from suffice import FisherDiscriminant
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [1.0, 2.0], [5.0, 7.0], [7.0, 5.0], [8.0, 8.0]], [0, 0, 0, 1, 1, 1]
    >>> plot_projection(FisherDiscriminant().fit(X, y)).axes[0].get_xlabel()
    'log-odds $h = w^T x + w_0$ of class 1'

    References
    ----------
    Martinez-Garcia: thesis on disjoint tangent configurations, Figure 1.2.
    """
    found = views(model, pair)
    if len(found) > 1:
        raise ValueError(f"plot_projection shows one discriminant, got {len(found)}: with ax= they can be side by side")
    view = found[0]
    if view.constant:
        raise ValueError(f"{view.name} has no plane, so that there is no direction to project onto")
    figure, axes = canvas(ax)
    mean, deviation = view.projected()
    error = view.prior * ndtr(-view.plane.distances)
    h = np.linspace(min(mean - 3.7 * deviation), max(mean + 3.7 * deviation), 801)
    if X is not None:
        _draw_histograms(axes, view, view.rows(X, y))
    for j, (color, label) in enumerate(zip(CLASSES, view.labels, strict=True)):
        density = view.prior[j] * norm.pdf(h, mean[j], deviation[j])
        axes.plot(h, density, color=color, linewidth=1.8, label=f"class {label}, $P_{j + 1}$ = {view.prior[j]:.2f}")
        wrong = h >= 0 if j == 0 else h <= 0
        label = f"its error, {error[j]:.3f}"
        axes.fill_between(h, density, where=wrong, color=color, alpha=0.35, linewidth=0, label=label)
    axes.axvline(0.0, color=INK, linestyle="--", linewidth=1.4, label="cut")
    axes.set_ylim(bottom=0.0)
    axes.set_xlim(h[0], h[-1])
    title = f"{view.name}: error {1 - view.plane.gaussian_accuracy():.3f} if normal, at most "
    title += f"{1 - view.plane.worst_case_accuracy():.3f}"
    dress(axes, title, f"log-odds $h = w^T x + w_0$ of class {view.labels[1]}", "probability density")
    return finished(figure, path)


def _draw_histograms(axes: Axes, view: View, rows: tuple[Array, Array]) -> None:
    odds = [view.log_odds(side) for side in rows]
    bins = np.histogram_bin_edges(np.concatenate(odds), bins=40)
    for side, share, color in zip(odds, view.prior, CLASSES, strict=True):
        if len(side):
            weights = np.full(len(side), share / len(side) / (bins[1] - bins[0]))
            axes.stairs(np.histogram(side, bins, weights=weights)[0], bins, color=color, linewidth=0.8, alpha=0.8)
