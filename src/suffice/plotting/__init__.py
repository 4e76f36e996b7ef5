"""Displays of fitted classifiers, in the manner of scikit-learn's.

| display, by `from_estimator` | shows |
|---|---|
| `HistoryDisplay` | log loss, objective or error after every step of learning |
| `CalibrationDisplay` | predicted probabilities against observed shares, with intervals and counts |
| `ContributionsDisplay` | the contributions of columns to one answer, or their mean size over many rows |
| `ShapesDisplay` | the contribution of a column over its values |
| `BoundaryDisplay` | the answers of any classifier over two of its columns |
| `StructureDisplay` | correlations within classes, or the mutual information of each column with the class |
| `NetworkDisplay` | the graph of a Bayesian network, with the strength of each edge |

A display has its data as attributes, `plot(ax)`, `ax_` and `figure_`; `figure_.savefig` writes a file.
"""

from suffice.plotting.boundary import BoundaryDisplay
from suffice.plotting.calibration import CalibrationDisplay
from suffice.plotting.contributions import ContributionsDisplay
from suffice.plotting.history import HistoryDisplay
from suffice.plotting.network import NetworkDisplay
from suffice.plotting.shapes import ShapesDisplay
from suffice.plotting.structure import StructureDisplay

__all__ = [
    "BoundaryDisplay",
    "CalibrationDisplay",
    "ContributionsDisplay",
    "HistoryDisplay",
    "NetworkDisplay",
    "ShapesDisplay",
    "StructureDisplay",
]
