"""Totals: the count and the sum of each feature by class, where an entry can be missing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from suffice._domain import Domain, Features
from suffice._labels import OneHot
from suffice._vector import Array
from suffice.models._rows import by_class, known, mass_of
from suffice.models._statistics import Sums


@dataclass(frozen=True, eq=False, repr=False)
class Totals(Sums):
    """Sums of weights, and of weights times numbers, over the entries that are there.

        count_cj = sum_i W_ic 1(x_ij is there),     total_cj = sum_i W_ic x_ij

    Where nothing is missing all columns have the same count, which is then kept once for each class (k, 1).
    """

    counts: ClassVar = ("count", "total")

    count: Array  # (k, 1) or (k, d)
    total: Array  # (k, d)

    @classmethod
    def of(cls, X: Array, W: OneHot | Array) -> Self:
        """S(X, W) for rows X (n, d), dense or sparse, and signed class weights W (n, k)."""
        there, holes = known(X)
        count = mass_of(W)[:, None]
        return cls(count if holes is None else count - by_class(W, holes), by_class(W, there))

    def impossible(self, before: Self, domain: Domain, mass: Array) -> str | None:  # noqa: ARG002 - sums are exact
        over = (self.count < 0) | (self.count > mass[:, None] * (1 + 1e-6))
        if over.any():
            c, j = np.argwhere(over)[0].tolist()
            where = f"{domain.label(c)}, {domain.name(j)},"
            return f"{where} would keep more or fewer values than rows: these rows were not all learned"
        return negative(self.total, domain)

    def pruned(self, features: Features) -> tuple[Features, Self]:
        """With one count for each class again, where no missing entry is left."""
        if self.count.shape[1] > 1 and (self.count == self.count[:, :1]).all():
            return features, replace(self, count=self.count[:, :1].copy())
        return features, self


def negative(total: Array, domain: Domain) -> str | None:
    """Why no data can have such totals (k, d), if one is below zero."""
    if not total.size or total.min() >= 0:
        return None
    c, j = np.argwhere(total < 0)[0].tolist()
    return f"{domain.label(c)} would keep less than nothing in {domain.name(j)}: these rows were not all learned"
