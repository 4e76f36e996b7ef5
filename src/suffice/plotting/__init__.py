"""Displays of what any classifier has learned; figures of the tangent discriminants and of additive tables.

| display, by `from_estimator` | shows |
|---|---|
| `HistoryDisplay` | log loss, objective or error after every step of learning |
| `CalibrationDisplay` | whether probabilities are right, with intervals and counts |
| `ContributionsDisplay` | what columns add to one answer, or to those of many rows |
| `ShapesDisplay` | what columns add over their values |
| `BoundaryDisplay` | what any classifier says over two of its columns |
| `StructureDisplay` | correlations within classes, or what each column tells of the class |

A display has its data as attributes, `plot(ax)`, `ax_` and `figure_`.

| figure | shows | thesis |
|---|---|---|
| `plot_classes` | two classes as ellipses, the curve of contacts, discriminants | 2.1, 2.4, 4.1 (a) |
| `plot_projection` | the classes along a discriminant's direction, the error as an area | 1.2 |
| `plot_error_by_s` | the errors of all planes between the means | 1.3 |
| `plot_bound` | what a plane leaves on the right side: at least, and of a normal class | 1.4, A.1 |
| `plot_accuracy_by_prior` | accuracies as the classes' probabilities change | 4.1 (b), 4.2 |
| `plot_minimax` | fixed rules against the best ones as the probabilities change | B.1 |
| `plot_learning_rate` | how the steps of FSCL get smaller | C.2 |
| `plot_shapes` | what columns and pairs add to the log-odds of `AdditiveTables` | |

Each figure returns a matplotlib Figure that pyplot knows nothing of, draws into `ax` if that is given, and writes to
`path`. Most take fitted discriminants; `rows_with_moments` gives rows to fit where only means and covariances are
known. `accuracy_by_prior` computes what `plot_accuracy_by_prior` draws.
"""

from suffice.plotting._populations import Gaussians, PriorSweep, Samples, accuracy_by_prior, rows_with_moments
from suffice.plotting.displays import (
    BoundaryDisplay,
    CalibrationDisplay,
    ContributionsDisplay,
    HistoryDisplay,
    ShapesDisplay,
    StructureDisplay,
)
from suffice.plotting.errors import plot_bound, plot_error_by_s
from suffice.plotting.geometry import plot_classes, plot_projection
from suffice.plotting.shapes import plot_shapes
from suffice.plotting.sweeps import plot_accuracy_by_prior, plot_learning_rate, plot_minimax

__all__ = [
    "BoundaryDisplay",
    "CalibrationDisplay",
    "ContributionsDisplay",
    "Gaussians",
    "HistoryDisplay",
    "PriorSweep",
    "Samples",
    "ShapesDisplay",
    "StructureDisplay",
    "accuracy_by_prior",
    "plot_accuracy_by_prior",
    "plot_bound",
    "plot_classes",
    "plot_error_by_s",
    "plot_learning_rate",
    "plot_minimax",
    "plot_projection",
    "plot_shapes",
    "rows_with_moments",
]
