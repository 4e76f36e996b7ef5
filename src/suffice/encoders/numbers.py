"""Columns of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse

from suffice._core.features import Encoded, Features, Rows
from suffice._core.kinds import TEMPORAL
from suffice._core.labels import show_all
from suffice._core.vector import Array
from suffice._runtime.messages import NUMBER, check, or_else
from suffice.data.queries import DatabaseRows
from suffice.encoders.base import Encoder, as_array, frame_of, names_of, numeric_columns, refuse_sparse, side_by_side

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
