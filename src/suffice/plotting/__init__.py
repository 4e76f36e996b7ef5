"""Figures: the tangent discriminants, what they see, where they cut and what they err; the shapes of additive tables.

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

Each returns a matplotlib Figure that pyplot knows nothing of, draws into `ax` if that is given, and writes to `path`.
Most take fitted discriminants; `rows_with_moments` gives rows to fit where only means and covariances are known.
`accuracy_by_prior` computes what `plot_accuracy_by_prior` draws.
"""

from suffice.plotting._populations import Gaussians, PriorSweep, Samples, accuracy_by_prior, rows_with_moments
from suffice.plotting.errors import plot_bound, plot_error_by_s
from suffice.plotting.geometry import plot_classes, plot_projection
from suffice.plotting.shapes import plot_shapes
from suffice.plotting.sweeps import plot_accuracy_by_prior, plot_learning_rate, plot_minimax

__all__ = [
    "Gaussians",
    "PriorSweep",
    "Samples",
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
