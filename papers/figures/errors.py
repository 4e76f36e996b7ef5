"""Figures of the errors of planes: by their weight s, and by their distance from the means."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.special import expit, ndtr

from papers import Array
from papers.figures.canvas import CLASSES, FAINT, INK, MARKERS, canvas, dress, finished, style
from papers.figures.populations import rows_with_moments
from papers.figures.views import Models, View, views
from suffice import LinearBayes, MinimumErrorMPM, NoTangentPlaneWarning, PoorFitWarning

SCALES = ("linear", "logit")


def errors_by_s(pencil: Any, s: Array) -> tuple[Array, Array]:
    """Errors (m,) of the tangent planes of weights s (m,): if the classes are normal, and at most."""
    planes = [pencil.plane(share, 1.0 - share) for share in s.tolist()]
    normal = [1.0 - plane.gaussian_accuracy() for plane in planes]
    return np.array(normal), np.array([1.0 - plane.worst_case_accuracy() for plane in planes])


def plot_error_by_s(
    models: Models,
    *,
    pair: Any = None,
    scale: str = "linear",
    ax: Axes | None = None,
    path: str | Path | None = None,
) -> Figure:
    """The errors of all tangent planes by the weight s of the first covariance, with a line at each discriminant.

        normal:  P1 Phi(-D1(s)) + P2 Phi(-D2(s)),      at most:  P1 / (1 + D1(s)^2) + P2 / (1 + D2(s)^2)

    A dot marks the minimum of each curve, if it is between the means.

    Parameters
    ----------
    models : fitted tangent discriminant, list or dict of them
        All learned from the same means and covariances and at the same prior; a line marks the s of each.
    scale : {"linear", "logit"}, default="linear"
        Of the axis of s; "logit" spreads values near 0 and 1.
    pair, ax, path
        As in `plot_classes`.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> from suffice import LinearBayes
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [1.0, 2.0], [5.0, 7.0], [7.0, 5.0], [8.0, 8.0]], [0, 0, 0, 1, 1, 1]
    >>> plot_error_by_s(LinearBayes().fit(X, y)).axes[0].get_ylabel()
    'error'

    References
    ----------
    Martinez-Garcia: thesis on disjoint tangent configurations, Figure 1.3.
    """
    if scale not in SCALES:
        raise ValueError(f"scale must be one of {SCALES}, got {scale!r}")
    found = views(models, pair)
    for view in found[1:]:
        if abs(view.prior - found[0].prior).max() > 1e-6:
            raise ValueError(f"{found[0].name} and {view.name} were learned at different priors: draw them one by one")
    pencil = found[0].pencil
    figure, axes = canvas(ax)
    axes.set_xscale(scale)
    s = np.linspace(1e-4, 1.0 - 1e-4, 801) if scale == "linear" else expit(np.linspace(-12.0, 12.0, 801))
    kinds = zip(
        errors_by_s(pencil, s), (LinearBayes(), MinimumErrorMPM()), ("if normal", "at most"), CLASSES, strict=True
    )
    for i, (error, rule, label, color) in enumerate(kinds):
        axes.plot(s, error, color=color, linewidth=1.8, label=label)
        best = _plane(rule, found[0])
        if best.tangent:
            least = errors_by_s(pencil, np.array([best.s]))[i]
            axes.plot(
                best.s,
                least,
                color=color,
                marker="o",
                markersize=8,
                linestyle="none",
                zorder=5,
                label=f"least: {least[0]:.3f} at $s$ = {best.s:.3g}",
            )
    for i, view in enumerate(found):
        if 0 < view.plane.s < 1 and not view.constant:
            axes.axvline(view.plane.s, **style(i), linewidth=1.3, label=f"{view.name}, $s$ = {view.plane.s:.3g}")
        else:
            axes.plot([], [], **style(i), linewidth=1.3, label=f"{view.name}: not between")
    axes.set_ylim(bottom=0.0)
    if scale == "linear":
        axes.set_xlim(0.0, 1.0)
    else:  # the default labels of this scale overlap
        axes.set_xlim(s[0], s[-1])
        axes.set_xticks([1e-4, 1e-2, 0.5, 1 - 1e-2, 1 - 1e-4], ["0.0001", "0.01", "0.5", "0.99", "0.9999"])
        axes.set_xticks([], minor=True)
    title = f"Error of the planes between the means, $P_1$ = {found[0].prior[0]:.2f}"
    dress(axes, title, "weight $s$ of the first covariance", "error")
    return finished(figure, path)


def _plane(rule: Any, view: View) -> Any:
    """The plane that a rule finds for the moments and the prior of a view."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoTangentPlaneWarning)
        warnings.simplefilter("ignore", PoorFitWarning)
        rule.set_params(ridge=0.0, class_prior=view.prior)
        return rule.fit(*rows_with_moments(view.means, view.covariances)).parameters_[0]


def plot_bound(
    models: Models | None = None,
    *,
    pair: Any = None,
    distances: Sequence[float] = (),
    ax: Axes | None = None,
    path: str | Path | None = None,
) -> Figure:
    """The share of a class on its side of a plane at a distance D: at least, and if it is normal.

        at least: D^2 / (1 + D^2),     normal: Phi(D)

    Parameters
    ----------
    models : fitted tangent discriminant, list or dict of them, default=None
        A mark on either curve for the distance of each class to each discriminant.
    distances : sequence of float, default=()
        Further distances, of 0 or more, to mark and to write the values at.
    pair, ax, path
        As in `plot_classes`.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> [text.get_text() for text in plot_bound(distances=[3**0.5]).axes[0].texts]
    ['75.0 %', '95.8 %']

    References
    ----------
    Marshall, Olkin: Multivariate Chebyshev inequalities (1960), doi:10.1214/aoms/1177705673. Martinez-Garcia: thesis
    on disjoint tangent configurations, Figures 1.4 and A.1.
    """
    given = np.asarray(distances, dtype=float)
    if given.ndim != 1 or not ((given >= 0) & (given < np.inf)).all():
        raise ValueError(f"distances must be finite numbers of at least 0, got {distances!r}")
    found = [] if models is None else views(models, pair, alike=False)
    figure, axes = canvas(ax)
    far = [distance for view in found for distance in view.plane.distances if np.isfinite(distance)]
    d = np.linspace(0.0, max(4.0, 1.1 * max([*far, *given], default=0.0)), 401)
    least, normal = _shares(d)
    axes.fill_between(d, least, normal, color=FAINT, alpha=0.15, linewidth=0)
    axes.plot(d, normal, color=CLASSES[0], linewidth=1.8, label=r"normal: $\Phi(D)$")
    axes.plot(d, least, color=CLASSES[1], linewidth=1.8, label=r"at least: $D^2 / (1 + D^2)$")
    for at in given:
        values = np.concatenate(_shares(np.array([at])))
        axes.vlines(at, 0.0, values.max(), color=FAINT, linestyle="--", linewidth=1.0)
        axes.plot([at, at], values, color=INK, marker="o", markersize=5, linestyle="none")
        for value, below in zip(values, (True, False), strict=True):
            axes.annotate(
                f"{100 * value:.1f} %",
                (at, value),
                (6, -4) if below else (-6, 4),
                textcoords="offset points",
                ha="left" if below else "right",
                va="top" if below else "bottom",
                fontsize="small",
            )
    for i, view in enumerate(found):
        for at, marker, label in zip(view.plane.distances, MARKERS, view.labels, strict=True):
            if 0 <= at < np.inf:
                values = np.concatenate(_shares(np.array([at])))
                axes.plot(
                    [at, at],
                    values,
                    color=style(i)["color"],
                    marker=marker,
                    markersize=7,
                    linestyle=":",
                    linewidth=1.0,
                    label=f"{view.name}, class {label}",
                )
    axes.set_ylim(0.0, 1.06)
    axes.set_xlim(d[0], d[-1])
    title, x = "Share of a class on its side of a plane", "Mahalanobis distance $D$ from mean to plane"
    dress(axes, title, x, "probability of being right", None if found else "lower right")
    return finished(figure, path)


def _shares(distance: Array) -> tuple[Array, Array]:
    """Shares of a class on its side of planes at distances of 0 or more: at least, and if normal."""
    return distance**2 / (1.0 + distance**2), np.asarray(ndtr(distance))
