"""The interface of encoders, and how they read columns of arrays and data frames."""

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
from sklearn.utils.validation import check_array

from suffice._core.features import Encoded, Features
from suffice._core.kinds import ColumnContent
from suffice._core.labels import show_all
from suffice._core.vector import Array
from suffice.data import Data


@dataclass(frozen=True)
class Encoder(ABC):
    """A small value, owned by a model, that turns arrays and data frames into the rows that the model sums.

    It travels to where the rows are, keeps the names of columns, accepts empty batches, and owns the policy for missing
    values. Rows that are encoded already are returned unchanged.
    """

    def prepare(self, data: Data) -> Self:  # noqa: ARG002 - most learn nothing
        """Return the encoder with all that it has to learn before the first sum; one that has learned it, unchanged."""
        return self

    def work_ahead(self) -> None:  # noqa: B027 - most have nothing to compute
        """Compute and cache what every later call needs; the encoders of several views do so in parallel."""

    def inputs(self, features: Features) -> Features:
        """The columns of rows before they are encoded as these features; by default the features themselves."""
        return features

    def holding(self) -> Mapping[Any, ColumnContent]:
        """The content of each column, by name or number, as far as the encoder has learned it."""
        return {}

    def within(self, name: str) -> Encoder | None:  # noqa: ARG002 - most read all blocks at once
        """The encoder of one block, if that block has its own."""
        return None

    def check(self, other: Encoder) -> None:
        """ValueError if rows of the two encoders do not add up."""
        if self != other:
            raise ValueError(f"the columns were read in different ways, which do not add up: {self} and {other}")

    def united(self, other: Encoder) -> Self:
        """The encoder for the rows of both, with the categories that only the other knows; checked by `check`."""
        self.check(other)
        return self

    def pruned(self, before: Features, after: Features) -> Self:  # noqa: ARG002 - most know nothing of rows
        """The encoder without the categories that forgotten rows took with them.

        `before` and `after` are the features of the sums before and after forgetting.
        """
        return self

    def admit(self, features: Features) -> None:  # noqa: B027 - most admit all rows
        """ValueError if rows with these features must not be learned; when predicting, unknown values are left out."""

    def __call__(self, X: Any) -> Encoded:
        """Rows (n, d), encoded."""
        return X if isinstance(X, Encoded) else self.encode(X)

    def decode(self, X: Encoded) -> Array:  # noqa: ARG002 - some encoders lose information
        """Original rows (n, d) from encoded ones; TypeError if the encoding is not invertible."""
        raise TypeError(f"rows encoded by {type(self).__name__} cannot be decoded")

    @abstractmethod
    def encode(self, X: Any) -> Encoded:
        """Encode rows of an array or a data frame."""


def frame_of(X: Any) -> nw.DataFrame[Any] | None:
    """X as a narwhals data frame, or None if it is not a data frame."""
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


def object_array(values: Sequence[Any]) -> Array:
    """An array (n,) of objects; np.array would turn tuples into rows."""
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def cheap_to_encode(X: Any) -> bool:
    """True if all entries are numbers or coded categories: then encoding by batches costs no more than all at once.

    >>> cheap_to_encode(np.zeros((2, 1))), cheap_to_encode(np.array([["u"], ["v"]]))
    (True, False)
    """
    if isinstance(X, np.ndarray):
        return X.dtype.kind in "biuf"
    frame = frame_of(X)
    coded = (nw.Boolean, nw.Categorical, nw.Enum)
    return frame is not None and all(dtype.is_numeric() or dtype in coded for dtype in frame.schema.dtypes())


def numbers_of(column: nw.Series[Any]) -> Array:
    """A numeric column as floats (n,), NaN where an entry is missing."""
    native = column.to_native()
    values = np.asarray(column.to_numpy() if getattr(native, "num_chunks", 0) != 1 else _single_chunk(native))
    if values.dtype.kind in "biuf":
        return _floats(values)
    null = column.is_null().to_numpy()
    if not null.any():
        return values.astype(float)
    values = np.full(len(null), np.nan)
    values[~null] = np.asarray(column.drop_nulls().to_numpy()).astype(float)
    return values


def numeric_columns(frame: nw.DataFrame[Any]) -> list[Array]:
    """The columns of an all-numeric data frame, each as floats (n,), NaN where an entry is missing."""
    native = frame.to_native()
    own = list(native.itercolumns()) if hasattr(native, "itercolumns") else []
    # Arrow columns of one chunk are read directly: narwhals would go through small batches.
    if own and all(column.num_chunks == 1 for column in own):
        return [_floats(_single_chunk(column)) for column in own]
    return [numbers_of(column) for column in frame.iter_columns()]


def side_by_side(columns: Sequence[Array]) -> Array:
    """Columns (n,) of numbers as one array (n, d): a view if they are columns of one array already, else a copy.

    >>> X = np.arange(6.0).reshape(2, 3)
    >>> np.shares_memory(side_by_side([X[:, 1], X[:, 2]]), X), side_by_side([X[:, 0], np.ones(2)]).tolist()
    (True, [[0.0, 1.0], [3.0, 1.0]])
    """
    first = columns[0]
    at = [column.__array_interface__["data"][0] for column in columns]
    step = at[1] - at[0] if len(at) > 1 else first.itemsize
    alike = all(_layout(column) == _layout(first) for column in columns)
    if not alike or step <= 0 or any(b - a != step for a, b in pairwise(at)):
        return np.stack(columns).T
    return as_strided(first, (len(first), len(columns)), (*first.strides, step), writeable=False)


def _layout(column: Array) -> tuple[Any, ...]:
    """The type, shape and strides of a column, and the identity of the object that owns its memory."""
    owner: Any = column
    while getattr(owner, "base", None) is not None:
        owner = owner.base
    return column.dtype, column.shape, column.strides, id(owner)


def _single_chunk(column: Any) -> Array:
    """The values of an Arrow column of one chunk; asking the column itself for them would copy."""
    return np.asarray(column.chunk(0).to_numpy(zero_copy_only=False))


def _floats(values: Array) -> Array:
    return values if values.dtype.kind == "f" else values.astype(float)


def as_array(X: Any, who: str, **settings: Any) -> Any:
    """X as scikit-learn's `check_array` reads it; missing and infinite values, and no rows at all, are accepted."""
    return check_array(
        X, ensure_all_finite=False, ensure_min_samples=0, estimator=who, input_name="X", **{"dtype": None, **settings}
    )


def refuse_sparse(X: Any, who: str) -> None:
    """TypeError if X is a sparse matrix; scikit-learn's checks look for the first sentence."""
    if issparse(X):
        raise TypeError(
            "Sparse data was passed for X, but dense data is required. Use '.toarray()' to convert to a dense numpy "
            f"array: {who} takes no sparse input; MultinomialNB, BernoulliNB, PoissonNB and GaussianNB do"
        )
