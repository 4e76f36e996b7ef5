"""Numeric columns as cells."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, check_is_fitted, validate_data

from suffice._core.labels import OneHot
from suffice._core.vector import Array
from suffice._runtime.messages import all_or_nothing
from suffice.data import Memory
from suffice.encoders import Encoded, Numbers
from suffice.learners import Observed
from suffice.models import BinFeatures, Binned, Binning, Histogram, Statistics
from suffice.models.tables.binned import BY_CLASS, ColumnCells, describe
from suffice.persistence import Savable


@dataclass(eq=False, repr=False)
class Bins(Savable, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Replace numbers by the cells that they are in: codes 0, 1, ... in the order of the numbers.

    The cells are a function of sums, the histograms of the columns on a nested grid: `partial_fit` in any number of
    pieces gives those of `fit` on all rows, weights included. Up to 4,096 values of a column are counted exactly; of
    more, neighbours are counted together.

    Parameters
    ----------
    strategy : {"quantile", "kmeans", "uniform", "mdl"}, default="quantile"
        Cells of equal weight, around means, of equal width, or of greatest information about the class ("mdl", by
        Fayyad and Irani, which needs `y` and makes no more cells than the rows justify).
    n_bins : int, default=32
        The number of cells. A column of at most `n_bins` values has a cell for each.
    spikes : bool, default=True
        Whether a value with more than 1/n_bins of the rows has its own cell; the others are cut among themselves. An
        unknown number near it belongs to the ordinary neighbour.

    Attributes
    ----------
    bin_edges_ : list of d arrays of shape (r_j + 1,)
        The borders of the cells of each column, from -inf to inf; a cell holds its lower border.
    n_bins_ : array of shape (d,)
        The number of cells of each column.
    columns_ : tuple of d descriptions
        The cells and spikes of each column, and whether it is constant or all missing.
    statistics_ : Histogram

    See Also
    --------
    suffice.models.Binned : a model that includes this step.

    Examples
    --------
    >>> Bins(n_bins=3).fit_transform([[0.0], [0.0], [0.0], [1.5], [2.0], [7.0]]).ravel()
    array([0, 0, 0, 1, 2, 2])

    References
    ----------
    Fayyad, Irani: Multi-interval discretization of continuous-valued attributes for classification learning. IJCAI
    1993.
    """

    strategy: str = "quantile"
    n_bins: int = 32
    spikes: bool = True

    statistics_: Statistics[Histogram] = field(init=False)
    _cells: BinFeatures | None = field(init=False)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Sum the histograms of all rows, and choose the cells.

        Parameters
        ----------
        X : array or data frame of shape (n, d)
            Numbers; NaN is a missing value.
        y : array of shape (n,), default=None
            Labels, which only "mdl" uses.
        sample_weight : array of shape (n,), default=None
            Row weights; weight 2 counts the row twice, weight 0 ignores it.
        """
        with all_or_nothing(self):
            self._adopt(self._sum(X, y, sample_weight, reset=True))
            self._features()
            return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add further rows; in any number of pieces the result is that of `fit` on all rows."""
        with all_or_nothing(self):
            first = not hasattr(self, "statistics_")
            s = self._sum(X, y, sample_weight, reset=first)
            return self._adopt(s if first else self.statistics_ + s)

    def _adopt(self, s: Statistics[Histogram]) -> Self:
        """Store sums; the cells are chosen when they are first needed."""
        self.statistics_, self._cells = s, None
        return self

    def _sum(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> Statistics[Histogram]:
        rows = self._read(X, reset)
        if not len(rows):
            raise ValueError(f"Found array with 0 sample(s) while a minimum of 1 is required by {type(self).__name__}.")
        if self.strategy in BY_CLASS and y is None:
            raise ValueError(f"Bins(strategy={self.strategy!r}) requires y to be passed, but the target y is None.")
        labels = y if self.strategy in BY_CLASS else np.zeros(len(rows))
        check_consistent_length(rows.values, labels)
        weight = _check_sample_weight(sample_weight, rows.values, ensure_non_negative=True)
        return Memory(rows, OneHot.of(labels, weight)).sum(Observed(Binned()))

    def _read(self, X: Any, reset: bool) -> Encoded:
        rows = Numbers(missing=True, who=type(self).__name__)(X)
        validate_data(self, X, reset=reset, skip_check_array=True)
        return rows

    @property
    def _binning(self) -> Binning:
        return Binning(self.strategy, self.n_bins, self.spikes, identifiers=False)

    def _features(self) -> BinFeatures:
        check_is_fitted(self)
        if self._cells is None:
            self._cells = self._binning.features(self.statistics_)
        return self._cells

    def transform(self, X: Any) -> Array:
        """The cell of each entry (n, d): whole numbers, or floats with NaN if any entry is missing."""
        features = self._features()
        codes = features.read(self._read(X, reset=False))
        return np.where(codes < 0, np.nan, codes) if (codes < 0).any() else codes.astype(np.int64)

    @property
    def bin_edges_(self) -> list[Array]:
        """The borders of the cells of each column."""
        return [np.append(bounds, np.inf) for bounds in self._features().categories]

    @property
    def n_bins_(self) -> Array:
        """The number of cells of each column (d,)."""
        return self._features().sizes

    @property
    def columns_(self) -> tuple[ColumnCells, ...]:
        """The cells and spikes of each column, or why it is left out."""
        return describe(self.statistics_, self._features(), self._binning)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = self.strategy in BY_CLASS
        tags.transformer_tags.preserves_dtype = []
        return tags
