"""Features made from features: numbers in cells, centres that stand for rows, columns of a radial basis network."""

from suffice.features.bins import Bins
from suffice.features.fscl import FSCL
from suffice.features.rbf import RBF

__all__ = ["FSCL", "RBF", "Bins"]
