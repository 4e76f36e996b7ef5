"""Data sets: where the rows are, and how they are summed and mapped."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from suffice._core.labels import OneHot
from suffice.data.base import ENGINES, FILES, Batch, Data, Named, as_learned, is_source, source
from suffice.data.layout import DataError, Layout
from suffice.data.memory import Memory

if TYPE_CHECKING:
    from suffice.data.dask import Dask
    from suffice.data.files.source import Files
    from suffice.data.spark import Spark
    from suffice.data.sql import SQL

__all__ = [
    "SQL",
    "Batch",
    "Dask",
    "Data",
    "DataError",
    "Files",
    "Layout",
    "Memory",
    "Named",
    "OneHot",
    "Spark",
    "as_learned",
    "is_source",
    "source",
]

# Engines whose packages are imported on first use.
_LATER = {name: module for module, name in (FILES, *ENGINES.values())}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_LATER])
