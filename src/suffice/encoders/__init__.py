"""Encoders: from tables as people have them to what a model sums."""

from suffice._core.features import CategoricalFeatures, Domain, Encoded, Features
from suffice.encoders.base import Encoder
from suffice.encoders.categories import Categories
from suffice.encoders.numbers import Binary, NonNegative, Numbers
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
