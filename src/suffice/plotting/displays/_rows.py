"""Rows of any kind, arrays or data frames, column by column: what displays take them apart with and make others of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from scipy.sparse import issparse

from suffice._core.labels import missing, moment, show_all
from suffice._core.vector import Array

FEW = 20  # values of a column that are each looked at
DAY = np.timedelta64(1, "D")


@dataclass(frozen=True, eq=False)
class DisplayRows:
    """Rows in memory: an array, or a data frame of pandas, polars or Arrow.

    >>> DisplayRows.of([[1.0, 5.0], [2.0, 6.0]]).made(np.array([[1, 1], [0, 1]]), {0: np.array([7.0, 8.0])})
    array([[7., 5.],
           [8., 6.]])
    """

    X: Any  # a narwhals DataFrame, or an array (n, d)

    @classmethod
    def of(cls, X: Any) -> DisplayRows:
        """From what estimators take."""
        found = nw.from_native(X, eager_only=True, pass_through=True)
        if isinstance(found, nw.DataFrame):
            return cls(found)
        array = X.toarray() if issparse(X) else np.asarray(X)
        if array.ndim != 2:
            raise ValueError(f"X must be rows and columns, an array of two dimensions or a frame, got {array.ndim}")
        return cls(array)

    @property
    def framed(self) -> bool:
        """Whether it is a data frame."""
        return isinstance(self.X, nw.DataFrame)

    @property
    def native(self) -> Any:
        """As it came."""
        return self.X.to_native() if self.framed else self.X

    @property
    def names(self) -> list[Any]:
        """Names of the columns, or their numbers in an array."""
        return [str(name) for name in self.X.columns] if self.framed else list(range(self.X.shape[1]))

    def __len__(self) -> int:
        return len(self.X)

    def index(self, column: Any, who: str) -> int:
        """The number of a column that is given by its name or its number."""
        names = self.names
        if column in names:
            return names.index(column)
        if isinstance(column, int | np.integer) and not isinstance(column, bool) and 0 <= column < len(names):
            return int(column)
        raise ValueError(f"{who}: there is no column {column!r}: the columns are {show_all(names)}")

    def column(self, j: int) -> Array:
        """The values of a column (n,)."""
        return np.asarray(self.X[:, j].to_numpy() if self.framed else self.X[:, j])

    def taking(self, rows: Sequence[int]) -> DisplayRows:
        """Some of the rows."""
        return DisplayRows(self.X[list(rows)])

    def said(self, i: int) -> dict[Any, str]:
        """What a row has in each column, in words; a column without an entry is missing."""
        values = [self.column(j)[i] for j in range(len(self.names))]
        return {name: word(value) for name, value in zip(self.names, values, strict=True)}

    def made(self, at: Array, given: Mapping[int, Array]) -> Any:
        """Rows as they came, whose column j has the values of the rows at[j] (d, g), or those given (g,)."""
        if not self.framed:
            kind = (
                np.result_type(self.X.dtype, *(v.dtype for v in given.values())) if self.X.dtype != object else object
            )
            out = np.empty((at.shape[1], len(at)), dtype=kind)
            for j in range(len(at)):
                out[:, j] = given[j] if j in given else self.X[at[j], j]
            return out
        native = self.native
        if _pandas(native):
            columns = [_series(native.iloc[:, j], given.get(j), at[j]) for j in range(len(at))]
            frame = type(native)(dict(enumerate(columns)))
            frame.columns = native.columns
            return frame
        whole = self.X
        made = [
            whole[:, j][at[j].tolist()]
            if j not in given
            else nw.new_series(whole.columns[j], given[j], backend=whole.implementation)
            for j in range(len(at))
        ]
        return whole[at[0].tolist()].with_columns(*made).to_native()


def _pandas(frame: Any) -> bool:
    return bool(nw.dependencies.is_pandas_dataframe(frame))


def _series(column: Any, given: Array | None, at: Array) -> Any:
    return column.iloc[at].reset_index(drop=True) if given is None else type(column)(given)


def word(value: Any) -> str:
    """A value in a few letters: dates as such, numbers with four digits."""
    if missing(value):
        return "missing"
    day = moment(value)
    if day is not None:
        return str(np.datetime_as_string(day, unit="D"))
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    return str(value)


def absent(values: Array) -> Array:
    """Which values (n,) are missing."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    return (
        np.array([missing(v) for v in values.tolist()], dtype=bool)
        if values.dtype.kind == "O"
        else np.zeros(len(values), bool)
    )


def places(values: Array) -> Array | None:
    """Where values (n,) are on an axis of numbers (dates in days since 1970), NaN if missing; None for categories."""
    if values.dtype.kind in "fiu":
        return values.astype(float)
    if values.dtype.kind == "M":
        return np.where(np.isnat(values), np.nan, (values - np.datetime64(0, "D")) / DAY)
    if values.dtype.kind == "O":
        gone = absent(values)
        some = values[~gone]
        if len(some) and all(
            isinstance(v, int | float | np.number) and not isinstance(v, bool | np.bool_) for v in some
        ):
            out = np.full(len(values), np.nan)
            out[~gone] = some.astype(float)
            return out
    return None


def keys(values: Array) -> tuple[list[Any], Array]:
    """Distinct values, the most frequent first, and which of them each row has (n,), -1 where it is missing."""
    gone, place = absent(values), dict[Any, int]()
    codes = np.array(
        [-1 if lost else place.setdefault(v, len(place)) for v, lost in zip(values.tolist(), gone, strict=True)]
    )
    order = np.argsort(-np.bincount(codes[codes >= 0], minlength=len(place)), kind="stable")
    rank = np.argsort(order)
    listed = list(place)
    return [listed[i] for i in order], np.where(codes >= 0, rank[codes] if len(rank) else -1, -1)


def typical(values: Array) -> int:
    """A row with the value in the middle of a column of numbers, or with the most frequent category."""
    at = places(values)
    if at is None or np.isnan(at).all():
        _, codes = keys(values)
        return int(np.argmax(codes == 0)) if (codes == 0).any() else 0
    order = np.argsort(at, kind="stable")  # missing last
    return int(order[(np.count_nonzero(~np.isnan(at)) - 1) // 2])
