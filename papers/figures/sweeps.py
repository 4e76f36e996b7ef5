"""Figures of accuracy and error by the class probabilities, and of the learning rate of FSCL."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from papers.figures.canvas import CLASSES, FAINT, INK, canvas, dress, finished, literal, style
from papers.figures.populations import (
    OPTIMAL,
    PRIORS,
    QUADRATIC,
    Gaussians,
    Population,
    PriorSweep,
    checked_classes,
    checked_priors,
    weighted_error,
)
from papers.figures.views import Models, by_name, views
from suffice.features.centers import DECAYS, learning_rate


def plot_accuracy_by_prior(
    sweep: PriorSweep, *, title: str | None = None, ax: Axes | None = None, path: str | Path | None = None
) -> Figure:
    """Accuracies of discriminants, and of the Bayes rule, by the probability P1 of the first class.

    Parameters
    ----------
    sweep : PriorSweep
        The result of `accuracy_by_prior`, or `PriorSweep.average` of several.
    title : str, default=None
        Above the axes.
    ax, path
        As in `plot_classes`.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> from suffice import FisherDiscriminant
    >>> from papers.figures import Gaussians, accuracy_by_prior
    >>> sweep = accuracy_by_prior(FisherDiscriminant(), Gaussians([[0.0], [2.0]], [[[1.0]], [[1.0]]]))
    >>> [line.get_label() for line in plot_accuracy_by_prior(sweep).axes[0].lines]
    ['Fisher', 'Optimal Bayes']

    References
    ----------
    Martinez-Garcia: thesis on disjoint tangent configurations, Figures 4.1 and 4.2.
    """
    if not isinstance(sweep, PriorSweep):
        raise ValueError(f"the figure is drawn from the result of accuracy_by_prior, got a {type(sweep).__name__}")
    figure, axes = canvas(ax)
    for i, (name, accuracy) in enumerate(zip(sweep.names, sweep.accuracy, strict=True)):
        bayes = name in (OPTIMAL, QUADRATIC)
        look: dict[str, Any] = {"color": FAINT, "linewidth": 4.0, "alpha": 0.5, "zorder": 1} if bayes else style(i)
        axes.plot(sweep.priors, 100.0 * accuracy, **{"linewidth": 1.7, **look}, label=literal(name))
    axes.set_xlim(0.0, 1.0)
    dress(axes, title or "Accuracy as the classes' probabilities change", "$P_1$ of the first class", "accuracy (%)")
    return finished(figure, path)


def plot_minimax(
    models: Models,
    classes: Population | None = None,
    *,
    at: Sequence[float] = (),
    priors: Any = PRIORS,
    ax: Axes | None = None,
    path: str | Path | None = None,
) -> Figure:
    """Errors of fixed rules by P1, straight lines above the concave curve of the best rule for each P1.

        fixed: P1 e1 + (1 - P1) e2,    best: min over all rules

    A rule fixed where it was best touches the curve there. The one fixed at its top is level: its error does not
    depend on P1, and no other rule has a smaller greatest error.

    Parameters
    ----------
    models : fitted tangent discriminant, list or dict of them
        The rules to keep fixed as they were learned; of two classes.
    classes : Gaussians or Samples, default=None
        Where errors are measured; None is normal classes with the moments of the first discriminant.
    at : sequence of float, default=()
        Probabilities at which the Bayes rule is fixed as well.
    priors : array of shape (m,)
        Points of the curve; by default from 0.02 to 0.98.
    ax, path
        As in `plot_classes`.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> from suffice import MinimaxProbabilityMachine
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [1.0, 2.0], [3.0, 5.0], [5.0, 3.0], [6.0, 6.0]], [0, 0, 0, 1, 1, 1]
    >>> line = plot_minimax(MinimaxProbabilityMachine().fit(X, y)).axes[0].lines[-1]
    >>> float(np.ptp(line.get_ydata()).round(9))
    0.0

    References
    ----------
    Martinez-Garcia: thesis on disjoint tangent configurations, Figure B.1.
    """
    found, priors = by_name(models), np.sort(checked_priors(priors))
    fixed = checked_priors(at) if len(at) else np.empty(0)
    several = [name for name, model in found.items() if len(model.classes_) != 2]
    if several:
        raise ValueError(f"plot_minimax changes the probabilities of two classes, and {several[0]} learned more")
    on = Gaussians.of(views(models)[0]) if classes is None else checked_classes(classes)
    figure, axes = canvas(ax)
    best = weighted_error(priors, on.bayes_errors(priors))
    x, y = np.concatenate([[0.0], priors, [1.0]]), np.concatenate([[0.0], best, [0.0]])
    axes.plot(x, 100.0 * y, color=FAINT, linewidth=4.0, alpha=0.6, label=on.bayes_name)
    top = int(np.argmax(best))
    axes.plot(
        [0.0, priors[top], 1.0],
        [100.0 * best[top]] * 3,
        color=FAINT,
        linestyle=":",
        marker="o",
        markevery=[1],
        markersize=8,
        markeredgecolor=INK,
        zorder=5,
        label=f"fixed at its worst, $P_1$ = {priors[top]:.2f}",
    )
    ends = np.array([0.0, 1.0])
    for i, share in enumerate(fixed.tolist()):
        errors = on.bayes_errors(np.array([share]))
        line = axes.plot(
            ends,
            100.0 * weighted_error(ends, errors),
            color=CLASSES[i % 2],
            linestyle="--",
            linewidth=1.4,
            label=f"fixed at $P_1$ = {share:g}",
        )[0]
        axes.plot(
            share, 100.0 * weighted_error(np.array([share]), errors), marker="s", color=line.get_color(), zorder=5
        )
    for i, (name, model) in enumerate(found.items()):
        axes.plot(ends, 100.0 * weighted_error(ends, on.errors(model)), **style(i), linewidth=1.7, label=literal(name))
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(bottom=0.0)
    dress(axes, "Errors of fixed rules as the classes' probabilities change", "$P_1$ of the first class", "error (%)")
    return finished(figure, path)


def plot_learning_rate(
    n_visits: int = 1000, initial: float = 0.3, *, ax: Axes | None = None, path: str | Path | None = None
) -> Figure:
    """The step of the winning centre of FSCL towards its row, visit by visit, for each decay.

    Parameters
    ----------
    n_visits : int, default=1000
        Visits in all: rows x epochs.
    initial : float, default=0.3
        The first rate.
    ax, path
        As in `plot_classes`.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> [line.get_label() for line in plot_learning_rate().axes[0].lines]
    ['exponential', 'linear']

    References
    ----------
    Martinez-Garcia: thesis on disjoint tangent configurations, Figure C.2; see
    `suffice.features.centers.learning_rate`.
    """
    if not isinstance(n_visits, int | np.integer) or n_visits < 2:
        raise ValueError(f"n_visits must be a whole number of at least 2, got {n_visits!r}")
    if not 0 < initial <= 1:
        raise ValueError(f"initial must be above 0 and at most 1, got {initial!r}")
    figure, axes = canvas(ax)
    k = np.unique(np.linspace(1, n_visits, 801).round())
    for i, decay in enumerate(DECAYS):
        axes.plot(k, learning_rate(k, int(n_visits), initial, decay), **style(i), linewidth=1.8, label=decay)
    axes.set_xlim(0, n_visits)
    axes.set_ylim(bottom=0.0)
    dress(axes, "Learning rate of FSCL", "visit", "rate", "upper right")
    return finished(figure, path)
