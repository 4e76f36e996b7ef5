"""Encoders: from tables as people have them to what a model sums."""

from suffice._domain import CategoricalFeatures, Domain, Encoded, Features
from suffice.encoders._base import Encoder
from suffice.encoders.categories import Categories
from suffice.encoders.counts import Binary, NonNegative
from suffice.encoders.numbers import Numbers
from suffice.encoders.partitions import Partitions

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
    "Partitions",
]
