"""Rows of a data set as the methods take them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from suffice._vector import Array

TARGET = "target"


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows of a data set: features X (n, d), NaN where missing, codes where they are categories, and labels y (n,)."""

    name: str
    X: Array
    y: Array
    names: tuple[str, ...]
    categorical: Array  # (d,) of bool
    source: str = ""

    def rows(self, which: Array) -> Dataset:
        """Some of the rows."""
        return replace(self, X=self.X[which], y=self.y[which])

    def columns(self, which: Array) -> Dataset:
        """Some of the features."""
        names = tuple(np.array(self.names, dtype=object)[which])
        return replace(self, X=self.X[:, which], names=names, categorical=self.categorical[which])

    @classmethod
    def of(cls, name: str, table: pa.Table, target: str = TARGET, source: str = "") -> Dataset:
        """A table whose column `target` holds the labels; text becomes codes in the order of the alphabet."""
        names = tuple(column for column in table.column_names if column != target)
        columns, categorical = zip(*(_numbers(table[column]) for column in names), strict=True)
        y = np.asarray(table[target].cast(pa.string()).to_numpy(zero_copy_only=False), dtype=str)
        return cls(name, np.column_stack(columns), y, names, np.array(categorical), source)


def _numbers(column: pa.ChunkedArray) -> tuple[Array, bool]:
    """A column as floats, and whether they are codes of categories."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        values = pc.unique(column).drop_null().sort()
        return np.asarray(pc.index_in(column, values).cast(pa.float64()).to_numpy(zero_copy_only=False), float), True
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), float), False
