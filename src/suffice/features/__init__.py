"""Features made from features: numbers in cells, leaves of random trees, centres, columns of a radial basis network."""

from suffice.features.bins import Bins
from suffice.features.fscl import FSCL
from suffice.features.partitions import Partitions
from suffice.features.rbf import RBF

__all__ = ["FSCL", "RBF", "Bins", "Partitions"]
