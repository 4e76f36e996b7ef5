"""Whether numeric columns say anything: histograms of as few cells as tell it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from suffice._compiled import compiled
from suffice._domain import Domain, Encoded
from suffice._labels import OneHot
from suffice._vector import Array
from suffice.models._rows import weighing
from suffice.models.binned import Binned
from suffice.models.histogram import Histogram, histogram


@dataclass(frozen=True, eq=False, repr=False)
class Glimpse(Histogram):
    """A histogram of which a column with fractions has no cells but those of its least and its greatest number.

    Whether such a column varies they tell, and it numbers no rows: so `suffice.models.cells.silent` says of all columns
    what it would say of their whole numbers one by one.
    """

    fixed: ClassVar = (*Histogram.fixed, "fractions")

    fractions: Array  # (d,) whether a column has any

    def align(self, other: Self) -> tuple[Self, Self]:
        both = self.fractions | other.fractions
        return Histogram.align(self.at_ends(both), other.at_ends(both))

    def at_ends(self, fractions: Array) -> Self:
        """The same where all of these columns have fractions."""
        each = self.columns()
        keys, shift, tables = list(self.keys), list(self.shift), [column.table for column in each]
        for j in np.flatnonzero(fractions & ~self.fractions):
            ends = each[j].taking(slice(None, None, max(1, len(keys[j]) - 1)))
            keys[j], shift[j], tables[j] = ends.keys << ends.shift, 0, ends.table
        table = np.concatenate(tables, axis=1) if tables else self.table
        return replace(self, keys=tuple(keys), shift=tuple(shift), table=table, fractions=fractions)


def glimpse(X: Array, W: OneHot | Array) -> Glimpse:
    """S(X, W) for numbers X (n, d) and signed class weights W (n, k)."""
    X = np.ascontiguousarray(X, dtype=np.float64)
    fractions, ends = _ends(X, weighing(W))
    at, columns = ends[:, fractions], np.flatnonzero(fractions)
    few = np.where(fractions, np.nan, X)
    few[at, columns] = X[at, columns]
    if fractions.all():  # nothing is left of other rows
        some = np.unique(at)
        few, W = few[some], W[some]
    found = histogram(few, W)
    return Glimpse(found.keys, found.shift, found.table, fractions)


@compiled
def _ends(X: Array, some: Array) -> tuple[Array, Array]:
    """Which columns have fractions in some of the rows (d,), and the rows of their least and greatest number (2, d)."""
    n, d = X.shape
    fractions, ends = np.zeros(d, np.bool_), np.zeros((2, d), np.int64)
    least, greatest = np.full(d, np.inf), np.full(d, -np.inf)
    for i in range(n):
        for j in range(d if some[i] else 0):
            x = X[i, j]
            fractions[j] |= (np.floor(x) != x) & (x == x)
            if x < least[j]:
                least[j], ends[0, j] = x, i
            if x > greatest[j]:
                greatest[j], ends[1, j] = x, i
    return fractions, ends


@dataclass(frozen=True, eq=False)
class Glimpsed(Binned):
    """`Binned` for as long as it takes to find out which columns say anything."""

    def sums(self, X: Encoded, W: OneHot | Array, domain: Domain) -> Any:
        return glimpse(domain.features.stored(X), W)
