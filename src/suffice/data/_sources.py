"""What people hand over in the place of rows: a path, or a table of an engine; each becomes a data set."""

from __future__ import annotations

from importlib import import_module
from os import PathLike
from typing import Any

from suffice.data._base import Data

ENGINES = {  # the class that takes the tables of a package
    "dask": ("suffice.data.dask", "Dask"),
    "duckdb": ("suffice.data.sql", "SQL"),
    "_duckdb": ("suffice.data.sql", "SQL"),
    "pyspark": ("suffice.data.spark", "Spark"),
}
FILES = ("suffice.data.parquet", "Parquet")


def _place(X: Any) -> tuple[str, str] | None:
    """Where the engine is that reads X; None for rows in memory."""
    return FILES if isinstance(X, str | PathLike) else ENGINES.get(type(X).__module__.partition(".")[0])


def is_source(X: Any) -> bool:
    """Whether X is a data set, a path or a table of an engine, and no rows in memory."""
    return isinstance(X, Data) or _place(X) is not None


def as_learned(estimator: Any, X: Any) -> Data | None:
    """As `source`, of rows to be predicted: of a path or a table the columns that an estimator has learned, by name."""
    return source(X, columns=getattr(estimator, "feature_names_in_", None))


def source(X: Any, y: Any = None, weight: Any = None, columns: Any = None) -> Data | None:
    """X as a data set if it is one, or a path or a table of an engine; None for rows in memory.

    Of a path or a table, y and weight are names of columns, and `columns` those of the features, None for all others;
    of an array of an engine, y and weight are arrays of it.
    """
    if isinstance(X, Data):
        if y is not None or weight is not None:
            raise ValueError("a data set brings its own labels and weights: give neither y nor sample_weight")
        return X
    place = _place(X)
    if place is None and isinstance(y, str):
        raise ValueError(
            f"y is a name, {y!r}, but X is a {type(X).__name__} in memory: give the labels themselves, or a data set, "
            f"as Memory(frame, target={y!r}) or, for several files, Parquet([...], target={y!r})"
        )
    if place is None:
        return None
    for called, given in (("y", y), ("sample_weight", weight)):
        array = hasattr(X, "dtype") and _place(given) == place
        if given is not None and not isinstance(given, str) and not array:
            raise TypeError(
                f"with rows in a {type(X).__name__}, {called} is the name of a column, got a {type(given).__name__}"
            )
    listed = {} if columns is None or hasattr(X, "dtype") else {"columns": list(columns)}
    data: Data = getattr(import_module(place[0]), place[1])(X, target=y, weight=weight, **listed)
    return data
