"""Data sets: each knows how to be summed and mapped, whatever holds its rows."""

from suffice._labels import OneHot
from suffice.data._base import Batch, Data, Named
from suffice.data._layout import DataError, Layout
from suffice.data._sources import is_source, source
from suffice.data.memory import Memory

__all__ = ["Batch", "Data", "DataError", "Layout", "Memory", "Named", "OneHot", "is_source", "source"]
