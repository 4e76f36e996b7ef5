"""Rows as the leaves of random trees that they come to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

from suffice._domain import Encoded, Features
from suffice._hash import seeds
from suffice._vector import Array
from suffice.data import Data
from suffice.encoders._base import Encoder
from suffice.encoders._sample import Draw, Growth, Rows
from suffice.encoders.table import Table
from suffice.encoders.trees import LeafFeatures, Trees


@dataclass(frozen=True)
class Partitions(Encoder):
    """Random trees, of which each is a column: the number of the leaf that a row comes to, codes (n, t).

    Tree t is grown on the different rows of smallest hash h_t(row): at most `max_rows` of them, and at most half of
    all. A node takes the best by Gini impurity of a few random splits: a feature that varies, between the values of two
    random rows, or one category against the others, or missing entries against others. Other missing entries go to the
    side where the impurity is the less, categories never seen with the others. The trees depend neither on the order of
    the rows nor on the engine; equal rows count as one with the sum of their weights.

    Parameters
    ----------
    inner : Encoder
        Reads the columns; numbers and categories, with missing entries.
    n : int
        Trees.
    max_rows : int
        Different rows that a tree is grown on, at most.
    candidates : int
        Splits that are tried at a node, at most.
    min_leaf, min_split : float
        The weight of the rows on each side of a split, and of a node that is split, at least. Where leaves times
        classes could be more than 2^24, leaves have to be as large as keeps them below.
    labels : bool
        Whether splits are chosen by the labels; if not, the first is taken, and the trees have seen no label.
    seed : int
        Draws the rows and the splits.
    marks : bool
        Whether a leaf v of a tree that was grown on the row itself is given as -1 - v: so a model that leaves rows
        out can tell which trees have not seen them.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.data import Memory
    >>> X, y = np.arange(40.0)[:, None], np.arange(40) // 20
    >>> encoder = Partitions(n=3).prepare(Memory(X, y))
    >>> encoder(X[[0, 39]]).values
    array([[0, 0, 0],
           [2, 3, 3]], dtype=int32)
    >>> encoder.inside(X).mean(axis=0)
    array([0.5, 0.5, 0.5])

    References
    ----------
    Geurts, Ernst, Wehenkel: Extremely randomized trees. Machine Learning 63 (2006), doi:10.1007/s10994-006-6226-1.
    """

    inner: Encoder = field(default_factory=Table)
    n: int = 100
    max_rows: int = 2048
    candidates: int = 3
    min_leaf: float = 3.0
    min_split: float = 6.0
    labels: bool = True
    seed: int = 0
    marks: bool = False
    trees: Trees | None = None  # once prepared
    columns: Features | None = field(default=None, compare=False, repr=False)
    keys: tuple[Any, ...] = field(default=(), compare=False, repr=False)  # what the features of the trees are called

    def prepare(self, data: Data) -> Self:
        """The encoder with its trees: they are grown once, on the first rows."""
        if self.trees is not None:
            return self
        inner = self.inner.prepare(data)
        sample = data.sum(Draw(inner, self._growth()))
        return replace(self, inner=inner, trees=sample.grow(), columns=sample.columns, keys=sample.keys)

    def _growth(self) -> Growth:
        candidates = self.candidates if self.labels else 1
        drawn = seeds(self.seed, self.n)
        return Growth(drawn, self.max_rows, candidates, self.min_leaf, self.min_split, self.labels)

    def work_ahead(self) -> None:
        self._grown().work_ahead()

    def inputs(self, features: Features) -> Features:
        return self.columns or features

    def check(self, other: Encoder) -> None:
        if not isinstance(other, Partitions) or self.trees != other.trees:
            raise ValueError(
                "the rows were divided by different trees, whose leaves do not add up: fit the others with "
                "encoder=first.encoder_"
            )
        self.inner.check(other.inner)

    def __call__(self, X: Any) -> Encoded:
        """Leaves (n, t) of rows, encoded or not; leaves stay as they are."""
        return X if isinstance(X, Encoded) and isinstance(X.features, LeafFeatures) else self.encode(X)

    def encode(self, X: Any) -> Encoded:
        grown, rows = self._grown(), self.rows(X)
        return Encoded(grown.features, grown.leaves(rows.Z, rows.keys if self.marks else None))

    def inside(self, X: Any) -> Array:
        """Whether each tree was grown on rows equal to these: (n, t). A row is scored honestly by the others."""
        return self._grown().inside(self.rows(X).keys)

    def rows(self, X: Any) -> Rows:
        """What trees see of rows, read by the inner encoder if they are not encoded yet."""
        return Rows.of(self.inner(X))

    def _grown(self) -> Trees:
        if self.trees is None:
            raise ValueError("rows come to leaves once trees have grown: prepare the encoder first")
        return self.trees
