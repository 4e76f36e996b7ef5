"""Data sets: each knows how to be summed, whatever holds its rows."""

from suffice.data._protocol import Batch, Data
from suffice.data.memory import Memory

__all__ = ["Batch", "Data", "Memory"]
