"""Encoders: from tables as people have them to what a model sums."""

from suffice._core.features import CategoricalFeatures, Domain, Encoded, Features
from suffice.encoders.base import Binary, Encoder, NonNegative, Numbers
from suffice.encoders.categories import Categories
from suffice.encoders.trees.partitions import TreePartitions

__all__ = [
    "Binary",
    "CategoricalFeatures",
    "Categories",
    "Domain",
    "Encoded",
    "Encoder",
    "Features",
    "NonNegative",
    "Numbers",
    "TreePartitions",
]
