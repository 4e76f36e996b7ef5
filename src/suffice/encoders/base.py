"""The interface of encoders, how they read columns of arrays and data frames, and the encoders of numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.lib.stride_tricks import as_strided
from scipy import sparse
from scipy.sparse import issparse
from sklearn.utils.validation import check_array

from suffice._core.features import Encoded, Features, Rows
from suffice._core.kinds import TEMPORAL, ColumnContent
from suffice._core.labels import show_all
from suffice._core.vector import Array
from suffice._runtime.messages import NUMBER, check, or_else
from suffice.data import Data
from suffice.data.queries import DatabaseRows


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

    def notations(self) -> Mapping[Any, str]:
        """The notations of columns that were read from text, by name or number, as far as they were not plain."""
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

    def pruned(self, features: Features) -> Self:  # noqa: ARG002 - most know nothing of rows
        """The encoder without the categories that sums over these features have no row of."""
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


_TEXT = (nw.String, nw.Categorical, nw.Enum)
_TIMES = (nw.Date, nw.Datetime, nw.Duration, nw.Time)
_AS_DAYS = "turn them into numbers first, for example days since a fixed day"


@dataclass(frozen=True)
class Numbers(Encoder):
    """Every column is a number: an array (n, d) of floats; float32 stays float32.

    Parameters
    ----------
    missing : bool, default=False
        Whether NaN stands for a missing value; if not, it is refused.
    who : str, default="This model"
        The estimator's name in messages.
    sparse : bool, default=False
        Whether sparse matrices are accepted, as a `scipy.sparse.csr_array`; if not, they are refused.

    Examples
    --------
    >>> Numbers()([[1, 2], [3, 4]]).values
    array([[1., 2.],
           [3., 4.]])
    """

    missing: bool = False
    who: str = "This model"
    sparse: bool = False

    def encode(self, X: Any) -> Encoded:
        if not self.sparse:
            refuse_sparse(X, self.who)
        frame = frame_of(X)
        if frame is None and getattr(X, "dtype", np.dtype(float)).kind in "mM":
            raise ValueError(f"{self.who} takes numbers, but X holds dates or durations: {_AS_DAYS}")
        values = self._numbers(X, frame)
        if sparse.issparse(values):
            values = _canonical(sparse.csr_array(values))
        features = Features(values.shape[1], None if frame is None else names_of(frame))
        check_finite(values, features, self.who, self.missing)
        return Encoded(features, self.adapt(values, features))

    def _numbers(self, X: Any, frame: nw.DataFrame[Any] | None) -> Rows:
        """Numbers (n, d), without a copy where they are floats already."""
        if frame is not None:
            if frame.columns and all(dtype.is_float() or dtype.is_integer() for dtype in frame.schema.dtypes()):
                values = side_by_side(numeric_columns(frame))
                return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)
            self._check_kinds(frame)
        if type(X) is np.ndarray and X.ndim == 2 and X.shape[1] > 0 and X.dtype in (np.float64, np.float32):
            return X
        return as_array(X, self.who, dtype=(np.float64, np.float32), accept_sparse="csr" if self.sparse else False)

    def decode(self, X: Encoded) -> Array:
        return X.values

    def sql_columns(self, rows: DatabaseRows) -> DatabaseRows:
        names = rows.features.keys
        times = [name for name, (_, holds) in zip(names, rows.holding(), strict=True) if holds in TEMPORAL]
        if times:
            raise ValueError(
                f"{self.who} takes numbers, but the columns {show_all(times)} hold dates or durations: {_AS_DAYS}"
            )
        rows.check_numbers(self.missing, self.who)
        return rows

    def adapt(self, values: Rows, features: Features) -> Rows:  # noqa: ARG002 - names are for messages
        """Numbers (n, d) as the model needs them; a subclass checks or changes them."""
        return values

    def _check_kinds(self, frame: nw.DataFrame[Any]) -> None:
        """ValueError that names all columns of text and of times, if there are any."""
        columns = list(frame.iter_columns())
        text = [column.name for column in columns if column.dtype in _TEXT]
        times = [column.name for column in columns if _holds_times(column)]
        whys = []
        if text:
            one_hot = "make 0/1 columns of them (OneHotEncoder(sparse_output=False) in a ColumnTransformer)"
            whys.append(
                f"the columns {show_all(text)} are text: use NaiveBayes, which takes them as they are, or {one_hot}"
            )
        if times:
            whys.append(f"the columns {show_all(times)} hold dates or durations: {_AS_DAYS}")
        if whys:
            raise ValueError(f"{self.who} takes numbers, but {'; '.join(whys)}")


def _holds_times(column: nw.Series[Any]) -> bool:
    """True for dates, times and durations, including types of Arrow and NumPy that narwhals does not know."""
    if isinstance(column.dtype, _TIMES) or column.dtype in _TIMES:
        return True
    native = column.to_native()
    if hasattr(native, "type"):
        return str(native.type).startswith(("date", "time", "duration"))
    return getattr(getattr(native, "dtype", None), "kind", "") in ("m", "M")


def _canonical(values: sparse.csr_array) -> sparse.csr_array:
    """A sparse matrix with its entries in order, each stored once; the caller's own matrix is not changed."""
    if values.has_canonical_format:
        return values
    values = values.copy()
    values.sum_duplicates()
    return values


def stored_of(values: Rows) -> Array:
    """The stored numbers: all of a dense array (n, d), or the explicit entries (m,) of a sparse one."""
    return np.asarray(values.data if sparse.issparse(values) else values)


def columns_where(values: Rows, condition: Array) -> Array:
    """The columns in which a condition on the stored numbers holds somewhere."""
    return np.unique(values.indices[condition]) if sparse.issparse(values) else np.flatnonzero(condition.any(axis=0))


def check_finite(values: Rows, features: Features, who: str, missing: bool = False) -> None:
    """ValueError if numbers (n, d) are infinite, or NaN unless NaN stands for a missing value."""
    stored = stored_of(values)
    # The sum is finite in nearly all tables, and takes one fast pass.
    with np.errstate(all="ignore"):
        if np.isfinite(stored.sum()):
            return
    infinite = columns_where(values, np.isinf(stored))
    if len(infinite):
        raise ValueError(
            f"Input X contains infinity, in {features.listed(infinite)}: {who} takes finite numbers. "
            "Replace such values, or leave out their rows or columns"
        )
    holes = columns_where(values, np.isnan(stored))
    if len(holes) and not missing:
        raise ValueError(
            f"Input X contains NaN, in {features.listed(holes)}: {who} takes no missing values. Impute them, leave out "
            "their rows or columns, or use NaiveBayes, GaussianNB, CategoricalNB, BernoulliNB, PoissonNB, or "
            "QuadraticDiscriminantAnalysis or LinearDiscriminantAnalysis, which take missing values"
        )


def check_finite_for(estimator: Any, X: Array) -> Array:
    """Rows (n, d) unchanged; ValueError, with the names that the estimator has read, if they are not all finite."""
    check_finite(X, Features(X.shape[1], getattr(estimator, "feature_names_in_", None)), type(estimator).__name__)
    return X


@dataclass(frozen=True)
class NonNegative(Numbers):
    """Every column is a count or an amount: a number of at least 0, in a dense array or a sparse one (n, d).

    Examples
    --------
    >>> NonNegative()([[1, 0], [3, 4]]).values
    array([[1., 0.],
           [3., 4.]])
    """

    sparse: bool = True

    def sql_columns(self, rows: DatabaseRows) -> DatabaseRows:
        rows.check_numbers(self.missing, self.who, 0.0)
        return rows

    def adapt(self, values: Rows, features: Features) -> Rows:
        """The numbers unchanged; ValueError if one is negative."""
        negative = stored_of(values) < 0
        if negative.any():
            where = features.listed(columns_where(values, negative))
            raise ValueError(
                f"Negative values in data passed to {self.who}, in {where}: counts are at least 0. Leave such columns "
                "out, use GaussianNB, which takes any numbers, or HashingVectorizer(alternate_sign=False) for text"
            )
        return values


@dataclass(frozen=True)
class Binary(Numbers):
    """Every column is a flag: 1 above a threshold, 0 elsewhere, dense or sparse (n, d).

    Parameters
    ----------
    threshold : float or None, default=0.0
        None: the numbers are 0 and 1 already, and all others are refused.

    Examples
    --------
    >>> Binary(missing=True)([[3, 0], [0.5, np.nan]]).values
    array([[ 1.,  0.],
           [ 1., nan]])
    """

    sparse: bool = True
    threshold: float | None = 0.0

    def sql_columns(self, rows: DatabaseRows) -> DatabaseRows:  # noqa: ARG002 - not supported
        raise TypeError(f"{self.who}: thresholds are not available in a database: use CategoricalNB")

    def decode(self, X: Encoded) -> Array:
        """The threshold itself for 0, and the threshold + 1 for 1."""
        return np.asarray(X.values + (self.threshold or 0.0))

    def adapt(self, values: Rows, features: Features) -> Rows:
        """Zeros and ones; NaN stays NaN."""
        check(self, threshold=or_else(None, NUMBER))
        stored = stored_of(values)
        if self.threshold is None:
            other = (stored != 0) & (stored != 1) & ~np.isnan(stored)
            if other.any():
                where = features.listed(columns_where(values, other))
                raise ValueError(f"{self.who} without a threshold takes 0 and 1, but other numbers are in {where}")
            return values
        if sparse.issparse(values) and self.threshold < 0:
            raise ValueError(
                f"{self.who}: above the threshold {self.threshold:g} every zero of sparse data would count as there: "
                "take a threshold of at least 0, or dense data"
            )
        flags = np.where(np.isnan(stored), stored, stored > self.threshold).astype(stored.dtype, copy=False)
        if sparse.issparse(values):
            return sparse.csr_array((flags, values.indices, values.indptr), shape=values.shape)
        return flags
