"""Figures of the thesis on disjoint tangent configurations; `python -m papers.figures [folder]` draws them all.

| figure | shows | thesis |
|---|---|---|
| `plot_classes` | two classes as ellipses, the curve of contacts, discriminants | 2.1, 2.4, 4.1 (a) |
| `plot_projection` | the classes along a discriminant's direction, the error as an area | 1.2 |
| `plot_error_by_s` | the errors of all planes between the means | 1.3 |
| `plot_bound` | the share of a class on its side of a plane: at least, and if it is normal | 1.4, A.1 |
| `plot_accuracy_by_prior` | accuracies as the class probabilities change | 4.1 (b), 4.2 |
| `plot_minimax` | fixed rules against the best ones as the class probabilities change | B.1 |
| `plot_learning_rate` | how the steps of FSCL get smaller | C.2 |

Each function returns a matplotlib Figure that pyplot does not know, draws into `ax` if that is given, and writes to
`path`. Most take fitted tangent discriminants; `rows_with_moments` gives rows to fit where only means and covariances
are known. `accuracy_by_prior` computes what `plot_accuracy_by_prior` draws.
"""

from papers.figures.errors import plot_bound, plot_error_by_s
from papers.figures.geometry import plot_classes, plot_projection
from papers.figures.populations import Gaussians, PriorSweep, Samples, accuracy_by_prior, rows_with_moments
from papers.figures.sweeps import plot_accuracy_by_prior, plot_learning_rate, plot_minimax

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
    "rows_with_moments",
]
