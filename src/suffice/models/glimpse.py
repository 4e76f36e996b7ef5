"""Whether numeric columns say anything: histograms of as few cells as tell it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

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
    some = weighing(W)
    fractions = ((np.rint(X) != X) & ~np.isnan(X) & some[:, None]).any(axis=0)
    told = np.where(some[:, None] & fractions, X, np.nan)[:, fractions]
    ends = np.full(told.shape, np.nan)
    for of, none in ((np.argmin, np.inf), (np.argmax, -np.inf)) if len(X) else ():
        at = of(np.where(np.isnan(told), none, told), axis=0), np.arange(told.shape[1])
        ends[at] = told[at]
    few = np.array(X, dtype=np.float64)
    few[:, fractions] = ends
    found = histogram(few, W)
    return Glimpse(found.keys, found.shift, found.table, fractions)


@dataclass(frozen=True, eq=False)
class Glimpsed(Binned):
    """`Binned` for as long as it takes to find out which columns say anything."""

    def sums(self, X: Encoded, W: OneHot | Array, domain: Domain) -> Any:
        return glimpse(domain.features.stored(X), W)
