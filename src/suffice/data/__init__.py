"""Data sets: each knows how to be summed and mapped, whatever holds its rows."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from suffice._labels import OneHot
from suffice.data._base import Batch, Data, Named
from suffice.data._layout import DataError, Layout
from suffice.data._sources import is_source, source
from suffice.data.memory import Memory

if TYPE_CHECKING:
    from suffice.data.parquet import Parquet
    from suffice.data.sql import SQL

LAZY = {  # whose packages are imported only where they are used
    "Parquet": "suffice.data.parquet",
    "SQL": "suffice.data.sql",
}

__all__ = ["SQL", "Batch", "Data", "DataError", "Layout", "Memory", "Named", "OneHot", "Parquet", "is_source", "source"]


def __getattr__(name: str) -> Any:
    if name in LAZY:
        return getattr(import_module(LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
