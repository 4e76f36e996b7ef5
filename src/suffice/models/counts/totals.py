"""Totals: the count and the sum of each feature by class, where an entry can be missing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.special import gammaln

from suffice._core.features import Domain, Features, Rows
from suffice._core.labels import OneHot
from suffice._core.vector import Array
from suffice.models.compiled import linear as _kernels
from suffice.models.overview import Overview, Summary
from suffice.models.statistics import Sums

FEW = 4  # so many times fewer entries than columns, and it pays to look at the columns of these entries alone


def by_class(W: OneHot | Array, X: Rows) -> Array:
    """W'X (k, d), dense, for class weights W and rows X.

    >>> by_class(np.array([[1.0, -1.0], [2.0, 0.0]]), csr_array([[0.0, 3.0], [1.0, 0.0]]))
    array([[ 2.,  3.],
           [ 0., -3.]])
    """
    if not isinstance(W, OneHot):
        return np.ascontiguousarray(W.T @ X, dtype=float)
    if issparse(X):
        sums = _kernels.sparse_class_sums(X.data, X.indices, X.indptr, X.shape[1], W.codes, W.weight, len(W.classes))
        return np.asarray(sums)
    return np.ascontiguousarray(W.matrix().T @ X, dtype=float)


def mass_of(W: OneHot | Array) -> Array:
    """The total weight of each class (k,)."""
    return np.asarray(W.mass() if isinstance(W, OneHot) else W.sum(axis=0))


def weighing(W: OneHot | Array) -> Array:
    """Which rows (n,) have a weight in some class.

    >>> weighing(np.array([[0.0, 0.0], [1.0, -1.0]]))
    array([False,  True])
    """
    return np.asarray((W.codes >= 0) & (W.weight != 0) if isinstance(W, OneHot) else (W != 0).any(axis=1))


def known(X: Rows) -> tuple[Rows, Rows | None]:
    """Rows with 0 in the place of NaN, and rows with 1 where that was and 0 elsewhere; None where nothing is missing.

    >>> [part.tolist() for part in known(np.array([[2.0, np.nan]]))]
    [[[2.0, 0.0]], [[0.0, 1.0]]]
    """
    stored = X.data if issparse(X) else X
    if not np.isnan(stored.sum()):  # in one fast pass: the numbers themselves are finite
        return X, None
    holes = np.isnan(stored)
    there, gone = np.where(holes, 0.0, stored), holes.astype(float)
    if not issparse(X):
        return there, gone
    parts = (csr_array((part, X.indices, X.indptr), shape=X.shape) for part in (there, gone))
    return next(parts), next(parts)


def compact(X: Rows) -> tuple[Rows, Any]:
    """Sparse rows on the columns that they have entries in, and these columns; all of them if that saves little.

    So a few rows are scored without a look at the parameters of all words.
    """
    if not issparse(X) or FEW * X.nnz > X.shape[1]:
        return X, slice(None)
    columns, at = np.unique(X.indices, return_inverse=True)
    return csr_array((X.data, at, X.indptr), shape=(X.shape[0], len(columns))), columns


def log_factorials(X: Rows) -> Array:
    """sum_j log x_ij! of every row (n,)."""
    if issparse(X):
        X = csr_array((gammaln(X.data + 1.0), X.indices, X.indptr), shape=X.shape)
        return np.asarray(X.sum(axis=1))
    return np.asarray(gammaln(X + 1.0).sum(axis=1))


ALIKE = 1e-13  # share that two sums of the same weights differ by, added up in another order


@dataclass(frozen=True, eq=False, repr=False)
class Totals(Sums):
    """Sums of weights, and of weights times numbers, over the entries that are there.

        count_cj = sum_i W_ic 1(x_ij is there),     total_cj = sum_i W_ic x_ij

    Where nothing is missing all columns have the same count, which is then kept once for each class (k, 1).
    """

    counts: ClassVar = ("count", "total")

    count: Annotated[Array, "k d|k 1"]
    total: Annotated[Array, "k d"]

    @classmethod
    def of(cls, X: Array, W: OneHot | Array) -> Self:
        """S(X, W) for rows X (n, d), dense or sparse, and signed class weights W (n, k)."""
        there, holes = known(X)
        count = mass_of(W)[:, None]
        if holes is not None:
            mass, count = count, count - by_class(W, holes)
            count = np.where(abs(count) > ALIKE * abs(mass), count, 0.0)
        return cls(count, by_class(W, there))

    def impossible(self, before: Self, domain: Domain, mass: Array) -> str | None:  # noqa: ARG002 - sums are exact
        over = (self.count < 0) | (self.count > mass[:, None] * (1 + 1e-6))
        if over.any():
            c, j = np.argwhere(over)[0].tolist()
            where = f"{domain.label(c)}, {domain.name(j)},"
            return f"{where} would keep more or fewer values than rows: these rows were not all learned"
        return negative(self.total, domain)

    def overview(self, domain: Domain, mass: Array) -> Overview:  # noqa: ARG002 - columns have counts of their own
        count = np.broadcast_to(self.count, self.total.shape)
        return Overview.each(domain.features, lambda j: Summary.of_totals(count[:, j], self.total[:, j]))

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
