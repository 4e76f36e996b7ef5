"""Displays: what was learned, as data and as pictures, in the manner of scikit-learn's."""

from suffice.plotting.displays.boundary import BoundaryDisplay
from suffice.plotting.displays.calibration import CalibrationDisplay
from suffice.plotting.displays.contributions import ContributionsDisplay
from suffice.plotting.displays.history import HistoryDisplay
from suffice.plotting.displays.shapes import ShapesDisplay
from suffice.plotting.displays.structure import StructureDisplay

__all__ = [
    "BoundaryDisplay",
    "CalibrationDisplay",
    "ContributionsDisplay",
    "HistoryDisplay",
    "ShapesDisplay",
    "StructureDisplay",
]
