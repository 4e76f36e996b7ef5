"""Encoders: from tables as people have them to what a model sums."""

from suffice.encoders._base import Encoder
from suffice.encoders.categories import Categories
from suffice.encoders.numbers import Numbers

__all__ = ["Categories", "Encoder", "Numbers"]
