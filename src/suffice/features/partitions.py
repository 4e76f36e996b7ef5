"""Rows as the leaves of random trees."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self, cast

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import (
    _check_sample_weight,
    _num_samples,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from suffice import encoders
from suffice._core.features import Encoded
from suffice._core.kinds import ReadAs
from suffice._core.labels import check_labels
from suffice._core.vector import Array
from suffice._runtime.messages import COUNT, POSITIVE, all_or_nothing, check, one_of
from suffice.data import Memory, Named, as_learned, source
from suffice.encoders.table import Table
from suffice.encoders.trees.partitions import Trees
from suffice.persistence import Savable


@dataclass(eq=False, repr=False)
class Partitions(Savable, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Random trees, each as a column: the number of the leaf that a row falls into.

        h_t(row) <= limit_t:   the rows that tree t was grown on, at most `max_rows` and at most half of all

    where h_t is a hash of the row's values. A node takes the split of least Gini impurity among a few random ones: a
    threshold between the values of two random rows in a feature that varies; one category against the others; missing
    entries against the others. So a table of any columns becomes t columns of categories, whose counts by class add up,
    also over later rows. The trees themselves are learned once: neither the order of the rows nor the engine nor the
    number of threads matters, and a row of weight 2 is the row twice.

    Trees that chose their splits by labels have seen the labels of their rows, which therefore look easier than new
    rows; `inside` says which rows these are. The trees keep what they learned from a row even if a classifier behind
    them forgets it.

    Parameters
    ----------
    n : int, default=100
        The number of trees, t.
    max_rows : int, default=2048
        The greatest number of distinct rows that a tree is grown on.
    candidates : int, default=3
        The greatest number of random splits of which a node takes the best.
    min_leaf : float, default=3
        The least weight of the rows on each side of a split.
    min_split : float, default=6
        The least weight of the rows of a node that is split.
    labels : bool, default=True
        Whether splits are chosen by the labels. If not, or if there are none, the first candidate is taken.
    columns : dict of column: kind, default=None
        What to read a column as, instead of what its type says: "category", "drop", or "bins" for numbers.
    random_state : int, RandomState or None, default=None
        Seed of the rows and the splits; an int makes the result repeatable.

    Attributes
    ----------
    n_leaves_ : array of shape (t,)
    encoder_ : suffice.encoders.TreePartitions
        The trees, as an encoder for a model.

    Examples
    --------
    >>> X, y = np.arange(40.0)[:, None], np.arange(40) // 20
    >>> trees = Partitions(n=3, random_state=0).fit(X, y)
    >>> trees.transform([[0.0], [19.0], [20.0], [39.0]])
    array([[0, 0, 0],
           [1, 1, 1],
           [1, 1, 1],
           [3, 2, 2]], dtype=int32)
    >>> trees.inside(X).sum(axis=0)
    array([20, 20, 20])

    References
    ----------
    Geurts, Ernst, Wehenkel: Extremely randomized trees. Machine Learning 63 (2006), doi:10.1007/s10994-006-6226-1.
    """

    n: int = 100
    max_rows: int = 2048
    candidates: int = 3
    min_leaf: float = 3.0
    min_split: float = 6.0
    labels: bool = True
    columns: Any = None
    random_state: Any = None

    encoder_: encoders.TreePartitions = field(init=False)
    feature_names_in_: Array = field(init=False)
    n_features_in_: int = field(init=False)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array or data frame of shape (n, d), or a data set of `suffice.data`
            Columns of numbers, dates, text or categories, with missing values; a data set brings labels and weights.
        y : array of shape (n,), default=None
            Labels.
        sample_weight : array of shape (n,), default=None
            Row weights; weight 2 counts the row twice, weight 0 ignores it.
        """
        check(self, n=COUNT, max_rows=COUNT, candidates=COUNT, min_leaf=POSITIVE, min_split=POSITIVE)
        check(self, labels=one_of(True, False))
        with all_or_nothing(self):
            data = source(X, y, sample_weight)
            if data is not None:
                self.encoder_ = self._encoder(self.labels).prepare(data)
                # The attributes that scikit-learn sets for arrays and frames.
                table = cast(Table, self.encoder_.inner)
                self.n_features_in_ = len(table.roles or ())
                self.__dict__.pop("feature_names_in_", None)
                if table.names is not None:
                    self.feature_names_in_ = np.array(table.names, dtype=object)
                return self
            self._check_rows(X)
            labels = np.zeros(_num_samples(X), dtype=int) if y is None else check_labels(y)
            check_consistent_length(X, labels)
            weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
            encoder = self._encoder(self.labels and y is not None)
            self.encoder_ = encoder.prepare(Memory(X, labels, weight))
            validate_data(self, X, reset=True, skip_check_array=True)
            return self

    def transform(self, X: Any) -> Any:
        """The leaf of each tree that each row falls into: whole numbers (n, t)."""
        check_is_fitted(self)
        leaves = LeafCodes(self.encoder_)
        data = as_learned(self, X)
        if data is None:
            return leaves(self._read(X))
        return data.transform(Named(leaves, tuple(map(str, self.get_feature_names_out()))))

    def inside(self, X: Any) -> Array:
        """True where a tree was grown on rows equal to these: (n, t)."""
        check_is_fitted(self)
        return self.encoder_.inside(self._read(X))

    @property
    def n_leaves_(self) -> Array:
        """The number of leaves of each tree."""
        check_is_fitted(self)
        return cast(Trees, self.encoder_.trees).sizes

    def _encoder(self, labels: bool) -> encoders.TreePartitions:
        table = Table.of(self.columns, ReadAs.BINS, False, type(self).__name__)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        settings = self.n, self.max_rows, self.candidates, self.min_leaf, self.min_split
        return encoders.TreePartitions(table, *settings, labels, seed)

    def _read(self, X: Any) -> Encoded:
        self._check_rows(X)
        encoded = self.encoder_.inner(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return encoded

    def _check_rows(self, X: Any) -> None:
        if issparse(X):
            raise TypeError("Partitions: sparse data was passed for X, but dense data is required: use X.toarray()")
        if not _num_samples(X):
            raise ValueError(f"Found array with 0 sample(s) while a minimum of 1 is required by {type(self).__name__}.")

    @property
    def _n_features_out(self) -> int:
        return len(self.n_leaves_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        tags.input_tags.categorical = tags.input_tags.string = tags.input_tags.allow_nan = True
        return tags


@dataclass(frozen=True)
class LeafCodes:
    """The leaves of rows, as a value that can travel to where the rows are."""

    encoder: encoders.TreePartitions

    def __call__(self, X: Any) -> Array:
        return self.encoder(X).values
