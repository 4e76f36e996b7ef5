"""Additive tables: one shape a column and a few maps for pairs, to read, to plot and to edit."""

from suffice.additive.estimator import AdditiveTables, Edited
from suffice.additive.shapes import Shape, Shapes

__all__ = ["AdditiveTables", "Edited", "Shape", "Shapes"]
