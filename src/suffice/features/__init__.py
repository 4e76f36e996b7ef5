"""Features made from features: centres, the columns of a radial basis network, and the leaves of random trees."""

from suffice.features.fscl import FSCL
from suffice.features.partitions import Partitions
from suffice.features.rbf import RBF

__all__ = ["FSCL", "RBF", "Partitions"]
