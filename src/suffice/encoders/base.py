"""What an encoder is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.lib.stride_tricks import as_strided
from scipy.sparse import issparse

from suffice._core.features import Encoded, Features
from suffice._core.kinds import ColumnContent
from suffice._core.labels import show_all
from suffice._core.vector import Array
from suffice.data import Data


@dataclass(frozen=True)
class Encoder(ABC):
    """A small value, owned by a model, that turns arrays and data frames into rows that the model takes.

    It travels to where the rows are, keeps the names of columns, takes empty batches, and owns the policy for missing
    values. Rows that are encoded already stay as they are.
    """

    def prepare(self, data: Data) -> Self:  # noqa: ARG002 - most learn nothing
        """The encoder with all that it has to learn before the first sum; most learn nothing.

        One that has learned already is given back as it is.
        """
        return self

    def work_ahead(self) -> None:  # noqa: B027 - most have nothing to work out
        """Work out and keep what every use of it will ask for, and takes a while: several encoders do so at a time."""

    def inputs(self, features: Features) -> Features:
        """The columns that rows have before they are encoded as such features; mostly these themselves."""
        return features

    def holding(self) -> Mapping[Any, ColumnContent]:
        """What the values of columns are, by name or number, where the encoder has been told by the rows."""
        return {}

    def within(self, name: str) -> Encoder | None:  # noqa: ARG002 - most read all blocks at once
        """The encoder that makes a block of rows, where it has one of its own."""
        return None

    def check(self, other: Encoder) -> None:
        """ValueError unless rows that another encoder has read can be added to those of this one."""
        if self != other:
            raise ValueError(f"the columns were read in different ways, which do not add up: {self} and {other}")

    def united(self, other: Encoder) -> Self:
        """The encoder for the rows of both, with what the other one knows besides; ValueError as of `check`."""
        self.check(other)
        return self

    def pruned(self, before: Features, after: Features) -> Self:  # noqa: ARG002 - most know nothing of rows
        """The encoder without what only forgotten rows had, by the features of the sums before and after forgetting."""
        return self

    def admit(self, features: Features) -> None:  # noqa: B027 - most take all rows
        """ValueError if rows of these features are not to be learned; predicting leaves out what was not learned."""

    def __call__(self, X: Any) -> Encoded:
        """Rows (n, d), encoded."""
        return X if isinstance(X, Encoded) else self.encode(X)

    def decode(self, X: Encoded) -> Array:  # noqa: ARG002 - some lose something on the way
        """Rows (n, d) as people have them that are encoded as X; TypeError where that cannot be told."""
        raise TypeError(f"what {type(self).__name__} makes of rows cannot be turned back into rows")

    @abstractmethod
    def encode(self, X: Any) -> Encoded:
        """Rows of an array or a data frame, encoded."""


def frame_of(X: Any) -> nw.DataFrame[Any] | None:
    """A data frame of any library, or None."""
    if isinstance(X, np.ndarray):
        return None
    try:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        names = list(map(str, X.columns))
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"several columns have the same name, {show_all(twice)}: rename them") from error
    return frame if isinstance(frame, nw.DataFrame) else None


def names_of(frame: nw.DataFrame[Any]) -> Array:
    """The names of its columns (d,)."""
    return np.array([str(name) for name in frame.columns], dtype=object)


def numbered(X: Any) -> bool:
    """Whether all entries are numbers, or categories that have theirs: batches are as soon encoded as all rows at once.

    >>> numbered(np.zeros((2, 1))), numbered(np.array([["u"], ["v"]]))
    (True, False)
    """
    if isinstance(X, np.ndarray):
        return X.dtype.kind in "biuf"
    frame = frame_of(X)
    named = (nw.Boolean, nw.Categorical, nw.Enum)
    return frame is not None and all(dtype.is_numeric() or dtype in named for dtype in frame.schema.dtypes())


def numbers_of(column: nw.Series[Any]) -> Array:
    """A column of numbers as floats (n,), NaN where one is missing."""
    native = column.to_native()
    values = np.asarray(column.to_numpy() if getattr(native, "num_chunks", 0) != 1 else _in_one_piece(native))
    if values.dtype.kind in "biuf":
        return _floats(values)
    null = column.is_null().to_numpy()
    if not null.any():
        return values.astype(float)
    values = np.full(len(null), np.nan)
    values[~null] = np.asarray(column.drop_nulls().to_numpy()).astype(float)
    return values


def columns_of(frame: nw.DataFrame[Any]) -> list[Array]:
    """The columns of a data frame of plain numbers, each as floats (n,), NaN where one is missing."""
    native = frame.to_native()
    own = list(native.itercolumns()) if hasattr(native, "itercolumns") else []
    if own and all(column.num_chunks == 1 for column in own):  # of Arrow, read without the detour of small batches
        return [_floats(_in_one_piece(column)) for column in own]
    return [numbers_of(column) for column in frame.iter_columns()]


def side_by_side(columns: Sequence[Array]) -> Array:
    """Columns (n,) of numbers as one array (n, d): the one that they are the columns of, else a copy of each in turn.

    >>> X = np.arange(6.0).reshape(2, 3)
    >>> np.shares_memory(side_by_side([X[:, 1], X[:, 2]]), X), side_by_side([X[:, 0], np.ones(2)]).tolist()
    (True, [[0.0, 1.0], [3.0, 1.0]])
    """
    first = columns[0]
    at = [column.__array_interface__["data"][0] for column in columns]
    step = at[1] - at[0] if len(at) > 1 else first.itemsize
    alike = all(_laid(column) == _laid(first) for column in columns)
    if not alike or step <= 0 or any(b - a != step for a, b in pairwise(at)):
        return np.stack(columns).T
    return as_strided(first, (len(first), len(columns)), (*first.strides, step), writeable=False)


def _laid(column: Array) -> tuple[Any, ...]:
    """Of what type the values are, how many, how far apart, and in whose memory."""
    return column.dtype, column.shape, column.strides, id(_owner(column))


def _owner(array: Any) -> Any:
    """Whose memory the values of an array are in."""
    while getattr(array, "base", None) is not None:
        array = array.base
    return array


def _in_one_piece(column: Any) -> Array:
    """The values of a column of Arrow, which copies them unless it is asked for its one piece."""
    return np.asarray(column.chunk(0).to_numpy(zero_copy_only=False))


def _floats(values: Array) -> Array:
    """Plain numbers as floats; where one is missing, NumPy has them as floats already."""
    return values if values.dtype.kind == "f" else values.astype(float)


def refuse_sparse(X: Any, who: str) -> None:
    """TypeError if X is a sparse matrix; the first sentence is scikit-learn's."""
    if issparse(X):
        raise TypeError(
            "Sparse data was passed for X, but dense data is required. Use '.toarray()' to convert to a dense numpy "
            f"array: {who} takes no sparse input; MultinomialNB, BernoulliNB, PoissonNB and GaussianNB do"
        )
