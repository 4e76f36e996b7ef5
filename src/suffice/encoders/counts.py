"""Columns of counts, and of what is there or not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, issparse

from suffice._core.features import Encoded, Features, Rows
from suffice._core.vector import Array
from suffice._runtime.messages import NUMBER, check, or_else
from suffice.data.queries import DatabaseRows
from suffice.encoders.numbers import Numbers, columns_where, stored_of


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

    def taken(self, values: Rows, features: Features) -> Rows:
        """The numbers as they are; ValueError if one is negative."""
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
    """Every column says whether something is there: 1 above a threshold, 0 elsewhere, dense or sparse (n, d).

    Parameters
    ----------
    threshold : float or None, default=0.0
        None: the numbers are 0 and 1 already, and others are refused.

    Examples
    --------
    >>> Binary(missing=True)([[3, 0], [0.5, np.nan]]).values
    array([[ 1.,  0.],
           [ 1., nan]])
    """

    sparse: bool = True
    threshold: float | None = 0.0

    def sql_columns(self, rows: DatabaseRows) -> DatabaseRows:  # noqa: ARG002 - it is refused
        raise TypeError(f"{self.who}: what is above a threshold cannot be asked of a database: use CategoricalNB")

    def decode(self, X: Encoded) -> Array:
        """The threshold itself, and 1 above it."""
        return np.asarray(X.values + (self.threshold or 0.0))

    def taken(self, values: Rows, features: Features) -> Rows:
        """Zeros and ones, and NaN where it was."""
        check(self, threshold=or_else(None, NUMBER))
        stored = stored_of(values)
        if self.threshold is None:
            other = (stored != 0) & (stored != 1) & ~np.isnan(stored)
            if other.any():
                where = features.listed(columns_where(values, other))
                raise ValueError(f"{self.who} without a threshold takes 0 and 1, but other numbers are in {where}")
            return values
        if issparse(values) and self.threshold < 0:
            raise ValueError(
                f"{self.who}: above the threshold {self.threshold:g} every zero of sparse data would count as there: "
                "take a threshold of at least 0, or dense data"
            )
        flags = np.where(np.isnan(stored), stored, stored > self.threshold).astype(stored.dtype, copy=False)
        if issparse(values):
            return csr_array((flags, values.indices, values.indptr), shape=values.shape)
        return flags
