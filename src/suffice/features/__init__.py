"""Features made from features: numbers in cells, leaves of random trees, centres, columns of a radial basis network."""

from suffice.features.bins import Bins
from suffice.features.centers import FSCL, RBF
from suffice.features.partitions import Partitions

__all__ = ["FSCL", "RBF", "Bins", "Partitions"]
