"""Rows of any kind, arrays or data frames, by column; displays compose new rows from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from scipy.sparse import issparse

from suffice._core.labels import missing, moment, show_all
from suffice._core.vector import Array

DAY = np.timedelta64(1, "D")


@dataclass(frozen=True, eq=False)
class DisplayRows:
    """Rows in memory: an array, or a data frame of pandas, polars or Arrow.

    >>> DisplayRows.of([[1.0, 5.0], [2.0, 6.0]]).compose(np.array([[1, 1], [0, 1]]), {0: np.array([7.0, 8.0])})
    array([[7., 5.],
           [8., 6.]])
    """

    X: Any  # a narwhals DataFrame, or an array (n, d)

    @classmethod
    def of(cls, X: Any) -> DisplayRows:
        """Wrap rows as estimators take them."""
        found = nw.from_native(X, eager_only=True, pass_through=True)
        if isinstance(found, nw.DataFrame):
            return cls(found)
        array = X.toarray() if issparse(X) else np.asarray(X)
        if array.ndim != 2:
            raise ValueError(f"X must be rows and columns, an array of two dimensions or a frame, got {array.ndim}")
        return cls(array)

    @property
    def is_frame(self) -> bool:
        """True for a data frame."""
        return isinstance(self.X, nw.DataFrame)

    @property
    def native(self) -> Any:
        """The rows as they were given."""
        return self.X.to_native() if self.is_frame else self.X

    @property
    def names(self) -> list[Any]:
        """The names of the columns, or their numbers in an array."""
        return [str(name) for name in self.X.columns] if self.is_frame else list(range(self.X.shape[1]))

    def __len__(self) -> int:
        return len(self.X)

    def index(self, column: Any, who: str) -> int:
        """Return the number of a column given by its name or number."""
        names = self.names
        if column in names:
            return names.index(column)
        if isinstance(column, int | np.integer) and not isinstance(column, bool) and 0 <= column < len(names):
            return int(column)
        raise ValueError(f"{who}: there is no column {column!r}: the columns are {show_all(names)}")

    def column(self, j: int) -> Array:
        """The values of a column (n,)."""
        return np.asarray(self.X[:, j].to_numpy() if self.is_frame else self.X[:, j])

    def select(self, rows: Sequence[int]) -> DisplayRows:
        """Return some of the rows."""
        return DisplayRows(self.X[list(rows)])

    def row_text(self, i: int) -> dict[Any, str]:
        """Return the values of a row as text, by column."""
        return {name: show_value(self.column(j)[i]) for j, name in enumerate(self.names)}

    def compose(self, at: Array, given: Mapping[int, Array]) -> Any:
        """Return g new rows: column j has the values of the rows at[j], at of shape (d, g), or given[j] (g,)."""
        if not self.is_frame:
            kind = (
                np.result_type(self.X.dtype, *(v.dtype for v in given.values())) if self.X.dtype != object else object
            )
            out = np.empty((at.shape[1], len(at)), dtype=kind)
            for j in range(len(at)):
                out[:, j] = given[j] if j in given else self.X[at[j], j]
            return out
        native = self.native
        if nw.dependencies.is_pandas_dataframe(native):  # whose columns may have equal names
            each = [native.iloc[:, j] for j in range(len(at))]
            columns = [
                type(column)(given[j]) if j in given else column.iloc[at[j]].reset_index(drop=True)
                for j, column in enumerate(each)
            ]
            frame = type(native)(dict(enumerate(columns)))
            frame.columns = native.columns
            return frame
        whole = self.X
        columns = [
            whole[:, j][at[j].tolist()]
            if j not in given
            else nw.new_series(whole.columns[j], given[j], backend=whole.implementation)
            for j in range(len(at))
        ]
        return whole[at[0].tolist()].with_columns(*columns).to_native()


def show_value(value: Any) -> str:
    """A value as a short text: a date as a day, a number with four digits."""
    if missing(value):
        return "missing"
    day = moment(value)
    if day is not None:
        return str(np.datetime_as_string(day, unit="D"))
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    return str(value)


def is_missing(values: Array) -> Array:
    """Return which values (n,) are missing."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind == "O":
        return np.array([missing(v) for v in values.tolist()], dtype=bool)
    return np.zeros(len(values), bool)


def as_numbers(values: Array) -> Array | None:
    """Return values (n,) as numbers, dates in days since 1970, NaN if missing; None for categories."""
    if values.dtype.kind in "fiu":
        return values.astype(float)
    if values.dtype.kind == "M":
        return np.where(np.isnat(values), np.nan, (values - np.datetime64(0, "D")) / DAY)
    if values.dtype.kind == "O":
        gone = is_missing(values)
        some = values[~gone]
        if len(some) and all(
            isinstance(v, int | float | np.number) and not isinstance(v, bool | np.bool_) for v in some
        ):
            out = np.full(len(values), np.nan)
            out[~gone] = some.astype(float)
            return out
    return None


def by_frequency(values: Array) -> tuple[list[Any], Array]:
    """Return the distinct values, the most frequent first, and the index of each row among them (n,), -1: missing."""
    gone, place = is_missing(values), dict[Any, int]()
    codes = np.array(
        [-1 if lost else place.setdefault(v, len(place)) for v, lost in zip(values.tolist(), gone, strict=True)]
    )
    order = np.argsort(-np.bincount(codes[codes >= 0], minlength=len(place)), kind="stable")
    rank = np.argsort(order)
    listed = list(place)
    return [listed[i] for i in order], np.where(codes >= 0, rank[codes] if len(rank) else -1, -1)


def typical_row(values: Array) -> int:
    """Return the number of a row with the median of a column, or with its most frequent category."""
    at = as_numbers(values)
    if at is None or np.isnan(at).all():
        _, codes = by_frequency(values)
        return int(np.argmax(codes == 0)) if (codes == 0).any() else 0
    order = np.argsort(at, kind="stable")  # missing values come last
    return int(order[(np.count_nonzero(~np.isnan(at)) - 1) // 2])
