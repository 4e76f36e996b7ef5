"""Leave-one-out: what parameters would be without a row, from the sums of all rows and the row itself.

Only the row's own class y changes, and what classes share. With w the row's weight:

    table       p(v | y) = (count + a - w) / (total + A - w)
    mean        (m1 mean0 + first - w z) / (m1 + n - w),     z = x - origin
    covariance  (M - b u u') / (t - w),     u = x - mu,  b = w N / (N - w),  M = t cov

where t = m2 + n is the weight behind the covariance (of all classes if they share it), and the scatter within M is
that of N rows about mu: the class's n rows about their mean or, where the distance from the prior mean counts
("niw"), n + m1 rows about the prior's compromise. Inverse and determinant of M - b u u' follow by rank one:

    r = 1 - b u' M^-1 u,     |M - b u u'| = r |M|,     v' (M - b u u')^-1 v = v' M^-1 v + b (v' M^-1 u)^2 / r

(Sherman and Morrison; the matrix determinant lemma). A row that alone holds up a variance would leave r = 0, and has no
density: r has a floor of 1e-12, by which its density is next to nothing, but a number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from suffice._labels import OneHot
from suffice._vector import Array
from suffice.models._statistics import rest
from suffice.models.moments import ratio

SINGULAR = 1e-12  # the least share of a variance that taking out a row may leave
LOG_2PI = float(np.log(2 * np.pi))


class Own(NamedTuple):
    """The class of each row (n,), and what it counts there (n, 1); 0 for a row without a class."""

    codes: Array
    weight: Array

    @classmethod
    def of(cls, Y: OneHot) -> Own:
        """Of labels and weights."""
        known = Y.codes >= 0
        return cls(np.where(known, Y.codes, 0), np.where(known, Y.weight, 0.0)[:, None])


def table_without(codes: Array, starts: Array, own: Own, counts: Array, total: Array, log_zero: float) -> Array:
    """log p(x_ij | y_i) without row i (n, d), from smoothed counts (k, cells) and their totals (k, d).

    A table of which nothing is left has all its cells alike; a cell of which nothing is left has `log_zero`.
    """
    if not counts.shape[1]:  # no column has a value
        return np.zeros(codes.shape)
    there = codes >= 0
    cell = np.where(there, codes + starts[:-1], 0)
    of = own.codes[:, None]
    above, below = rest(counts[of, cell], own.weight), rest(total[own.codes], own.weight)
    sizes = np.diff(starts)
    p = np.where(below > 0, ratio(above, below), 1.0 / np.maximum(sizes, 1))
    log_p = np.log(p, out=np.full(p.shape, log_zero), where=p > 0)
    return np.asarray(np.where(there, log_p, 0.0))


class Held(NamedTuple):
    """What the estimates of Gaussian classes are made of; an entry of a class, or of a class and a column (k, 1 or d).

    See the formulas above: sums about the origins, the prior's mean about them, and its weights.
    """

    n: Array  # (k, 1 or d)
    first: Array  # (k, d)
    mean0: Array  # (k, d)
    m1: float
    m2: float
    rows: Array  # N (k, 1 or d)
    about: Array  # mu (k, d)
    total: Array  # t (k or 1, 1 or d)


class Taken(NamedTuple):
    """What taking each row from its own class does."""

    mean: Array  # (n, d) of the class without the row, about its origin
    u: Array  # (n, d)
    b: Array  # (n, 1 or d)
    before: Array  # t (n, 1 or d)
    after: Array  # t - w (n, 1 or d)
    known: Array  # (n, 1 or d) whether a mean and a covariance are left


def taken(held: Held, z: Array, own: Own) -> Taken:
    """Rows z = x - origin of their own class (n, d), each taken from the sums."""
    y, w = own
    left = rest(held.n[y], w)
    weight = held.m1 + left
    mean0 = held.mean0[y]
    mean = np.where(weight > 0, ratio(held.first[y] + held.m1 * mean0 - w * z, weight), mean0)
    others = rest(held.rows[y], w)
    b = ratio(w * held.rows[y], others)  # 0 for a row that is the only one, at its own mean
    before = held.total[y if len(held.total) > 1 else np.zeros_like(y)]
    after = rest(before, w)
    known = (after > 0) & ((weight > 0) | (held.m2 > 0))
    return Taken(mean, z - held.about[y], b, before, after, known)


def normal(gap: Array, variance: Array) -> Array:
    """sum_j log N(gap_j; 0, variance_j) over the entries that are there and vary (n,)."""
    use = (variance > 0) & ~np.isnan(gap)
    log = np.log(variance, out=np.zeros(variance.shape), where=variance > 0)
    with np.errstate(over="ignore"):
        square = np.divide(gap**2, variance, out=np.zeros(gap.shape), where=use)
    return np.asarray(-0.5 * np.where(use, log + square + LOG_2PI, 0.0).sum(axis=1))


def diagonal_without(X: Array, own: Own, origin: Array, mean: Array, variance: Array, held: Held) -> tuple[Array, ...]:
    """log N(x; mean_y, var_y) without the row in its own class (n,), and in every other one if they share it (k, n).

    `variance` (k or 1, d) and `mean` (k, d) are those of all rows; a variance of 0 is a column left out.
    """
    z = X - origin[own.codes]
    gone = taken(held, z, own)
    tied = len(variance) == 1
    whole = gone.before * (variance if tied else variance[own.codes])  # M
    with np.errstate(invalid="ignore"):
        left = ratio(np.maximum(whole - gone.b * gone.u**2, SINGULAR * whole), gone.after)
    unknown = (~gone.known & (whole > 0) & ~np.isnan(z)).any(axis=1)
    mine = np.where(unknown, -np.inf, normal(z - gone.mean, left))
    return (mine, *(normal((X - o) - m, left) for o, m in zip(origin, mean, strict=True) if tied))


class Spanned(NamedTuple):
    """A covariance taken apart: cov^-1 = whiten whiten' (d, d), its log-determinant, and how many columns vary."""

    whiten: Array
    log_det: float
    width: int


def full_without(gaps: list[Array], gone: Taken, cov: Spanned) -> list[Array]:
    """log N(v; 0, cov without the row) for gaps v, each (n, d): (n,) each."""
    U = gone.u @ cov.whiten
    t, b, left = gone.before[:, 0], gone.b[:, 0], gone.after[:, 0]
    r = np.maximum(1.0 - b * _dot(U, U) / t, SINGULAR)
    log_det = cov.log_det + np.log(r) + cov.width * (np.log(t) - np.log(np.where(left > 0, left, t)))
    scores = []
    for gap in gaps:
        V = gap @ cov.whiten
        square = left * (_dot(V, V) / t + b * (_dot(V, U) / t) ** 2 / r)
        scores.append(-0.5 * (log_det + square + cov.width * LOG_2PI))
    return scores


def _dot(a: Array, b: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->i", a, b))
