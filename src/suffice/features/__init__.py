"""Transformers: numbers to cells, rows to leaves of random trees, distances to centres, radial basis columns."""

from suffice.features.bins import Bins
from suffice.features.centers import FSCL, RBF
from suffice.features.partitions import Partitions

__all__ = ["FSCL", "RBF", "Bins", "Partitions"]
