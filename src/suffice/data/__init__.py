"""Data sets: each knows how to be summed and mapped, whatever holds its rows."""

from suffice._labels import OneHot
from suffice.data._base import Batch, Data
from suffice.data.memory import Memory

__all__ = ["Batch", "Data", "Memory", "OneHot"]
