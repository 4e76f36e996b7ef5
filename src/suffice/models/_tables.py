"""Tables of weights by class, those of all features side by side: how they are filled, moved and found impossible."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from suffice._domain import CategoricalFeatures, Domain, Encoded
from suffice._labels import OneHot
from suffice._vector import Array
from suffice.models import _kernels
from suffice.models._statistics import grouped


def counted(X: Encoded, features: CategoricalFeatures, W: OneHot | Array) -> Array:
    """sum_i W_ic 1(code of x_ij is v) for every cell of the features: (k, cells); an entry without a code has no part.

    Rows are counted in the cells of their own categories, which are then added up to those of the features.
    """
    codes, starts, cells = features.own_cells(X)
    table = sums_by_code(codes, starts, W)
    return table if cells is None else grouped(table.T, cells, int(features.starts[-1])).T


def sums_by_code(codes: Array, starts: Array, W: OneHot | Array) -> Array:
    """sum_i W_ic 1(codes_ij is v) for every cell starts_j + v: (k, cells); an entry of code -1 takes no part."""
    if isinstance(W, OneHot):
        return np.asarray(_kernels.table_counts(codes, starts, W.codes, W.weight, len(W.classes)))
    table = _kernels.table_sums(codes, starts, np.ascontiguousarray(W))
    return np.asarray(table[:, : W.shape[1]].T)


def scored(X: Encoded, features: CategoricalFeatures, terms: Array) -> Array:
    """sum_j terms[cell of x_ij] (n, k), where terms are (cells, k); an entry without a code adds nothing."""
    codes, starts, cells = features.own_cells(X)
    k = terms.shape[1]
    known = np.zeros((len(terms) + 1, -(-k // 4) * 4))  # the last is that of categories that are not among these
    known[:-1, :k] = terms
    return np.asarray(_kernels.table_log_density(codes, starts, known if cells is None else known[cells], k))


def moved(table: Array, at: Array, size: int) -> Array:
    """The cells (k, cells) added up to other cells: cell v to `at[v]` of `size` cells.

    >>> moved(np.array([[1.0, 2.0, 4.0]]), np.array([0, 2, 2]), 3)
    array([[1., 0., 6.]])
    """
    out = np.zeros((len(table), size))
    for c, row in enumerate(table):
        out[c] = np.bincount(at, row, size)
    return out


def rows_of(table: Array) -> Array:
    """Weights by class and cell (k, m) as rows: in units of the class's lightest cell, unless that is a whole number.

    So rows count as such under class weights and under weights that sum to one, and weight 2 is the row twice.
    """
    lightest = np.min(np.where(table > 0, table, np.inf), axis=1, initial=np.inf)
    unit = np.where(np.isfinite(lightest) & (lightest != np.rint(lightest)), lightest, 1.0)
    return np.asarray(table / unit[:, None])


def by_feature(starts: Array, cells: Array) -> Array:
    """The sum of each feature's cells (k, cells) -> (k, d), where a feature may have none."""
    out, some = np.zeros((len(cells), len(starts) - 1)), starts[1:] > starts[:-1]
    out[:, some] = np.add.reduceat(cells, starts[:-1][some], axis=1) if some.any() else 0.0
    return out


def impossible(
    table: Array, starts: Array, value: Callable[[int, int], str], domain: Domain, mass: Array
) -> str | None:
    """Why no rows of such masses can have such a table; None if some can. `value`: (feature, cell) in words."""
    if (table < 0).any():
        c, cell = np.argwhere(table < 0)[0].tolist()
        j = int(np.searchsorted(starts, cell, side="right")) - 1
        who = f"{domain.label(c)} would keep less than no rows with {value(j, cell - int(starts[j]))}"
        return f"{who} in {domain.name(j)}: these rows were not all learned"
    over = by_feature(starts, table) > mass[:, None] * (1 + 1e-6)
    if over.any():
        c, j = np.argwhere(over)[0].tolist()
        who = f"{domain.label(c)} would keep more values than rows in {domain.name(j)}"
        return f"{who}: these rows were not all learned"
    return None
