"""Features made from features: centres that stand for the rows, and the columns of a radial basis network."""

from suffice.features.fscl import FSCL
from suffice.features.rbf import RBF

__all__ = ["FSCL", "RBF"]
