"""Additive tables: one shape a column and a few maps for pairs, to read, to plot and to edit."""

from suffice.additive._estimator import AdditiveTables, Edited
from suffice.additive._shapes import Contributions, Shape, Shapes

__all__ = ["AdditiveTables", "Contributions", "Edited", "Shape", "Shapes"]
