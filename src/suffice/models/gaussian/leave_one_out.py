"""Leave-one-out: the parameters of Gaussian classes without a row, from the sums of all rows and the row itself.

A row is taken from every class by what it counts there, its own weight w: that of its label in the class of the label,
or any signed weights (n, k). A class changes by its own weight alone, except for a covariance that all classes share:

    mean        (m1 mean0 + first - w z) / (m1 + n - w),     z = x - origin
    covariance  (M - b u u') / (t - w),     u = x - mu,  b = w N / (N - w),  M = t cov

where t = m2 + n is the weight behind the covariance (of all classes if they share it), and the scatter within M is
that of N rows about mu: the class's n rows about their mean or, where the distance from the prior mean counts
("niw"), n + m1 rows about the prior's compromise. Inverse and determinant of M - b u u' follow by rank one:

    r = 1 - b u' M^-1 u,     |M - b u u'| = r |M|,     v' (M - b u u')^-1 v = v' M^-1 v + b (v' M^-1 u)^2 / r

(Sherman and Morrison; the matrix determinant lemma). Of a shared covariance every class takes its share, so that
U = (u_1, ..., u_k), B = diag(b) and G = U' M^-1 U stand for u, b and u' M^-1 u (Woodbury):

    |M - U B U'| = |I - B G| |M|,     v' (M - U B U')^-1 v = v' M^-1 v + h' (I - B G)^-1 B h,     h = U' M^-1 v

A row that alone holds up a variance would leave r = 0, and has no density: r has a floor of 1e-12, by which its density
is next to nothing, but a number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from suffice._core.vector import Array
from suffice._runtime.lazy import compiled
from suffice.models.gaussian.moments import ratio
from suffice.models.statistics import rest
from suffice.models.tables.compiled import left

SINGULAR = 1e-12  # the least share of a variance that taking out a row may leave
LOG_2PI = float(np.log(2 * np.pi))
ENTRIES = 1 << 20  # of the systems that are solved at a time


class Held(NamedTuple):
    """What estimates of Gaussian classes follow from, about the origins; an entry for a class, or a class and a column.

    The letters are those of the formulas above.
    """

    n: Array  # (k, 1 or d)
    first: Array  # (k, d)
    mean0: Array  # (k, d)
    m1: float
    m2: float
    rows: Array  # N (k, 1 or d)
    about: Array  # mu (k, d)
    total: Array  # t (k or 1, 1 or d)


def diagonal_without(X: Array, own: Array, origin: Array, variance: Array, held: Held) -> Array:
    """log N(x; mean_c, var_c) without the row (n, k); `variance` (k or 1, d), 0 for a column left out."""
    weights = float(held.m1), float(held.m2)
    sums = np.ascontiguousarray(held.n), held.first, np.ascontiguousarray(held.mean0), weights
    whole = held.rows, held.about, held.total, SINGULAR
    return np.asarray(diagonal_log_density_without(X, own, origin, variance, *sums, *whole))


class Spanned(NamedTuple):
    """A covariance taken apart: cov^-1 = whiten whiten' (d, d), its log-determinant, and how many columns vary."""

    whiten: Array
    log_det: float
    width: int


class Taken(NamedTuple):
    """Rows relative to a class without them, whitened: the covariance of all rows is the identity.

    `b u u'` leaves the scatter with the row.
    """

    gap: Array  # v (n, d), x minus the mean of the other rows and the prior: a multiple of x minus that of all
    u: Array  # (n, d), x minus the mean that the scatter is about
    b: Array  # (n,), w n / (n - w) for a row of weight w among rows of weight n
    known: Array  # (n,) whether a mean is left


def taken(held: Held, c: int, z: Array, mean: Array, own: Array, whiten: Array) -> Taken:
    """Rows z = x - origin (n, d), each taken from class c by its own weight (n,)."""
    n, rows = held.n[c, 0], held.rows[c, 0]
    weight = held.m1 + rest(n, own)
    white = (z - mean) @ whiten
    gap = ratio(held.m1 + n, weight)[:, None] * white
    nothing = np.flatnonzero(weight <= 0)
    if len(nothing):
        gap[nothing] = (z[nothing] - held.mean0[c]) @ whiten
    shift = mean - held.about[c]
    u = white + shift @ whiten if shift.any() else white
    b = ratio(own * rows, rest(rows, own))  # 0 for a row that is the only one, at its own mean
    return Taken(gap, u, b, (weight > 0) | (held.m2 > 0))


def full_without(gone: Taken, own: Array, t: float, cov: Spanned) -> Array:
    """log N(v; 0, cov without the row) in a class of its own covariance, which the weight t is behind (n,)."""
    after, t = rest(np.asarray(t), own), t if t > 0 else 1.0  # where there is nothing, nothing is left
    r = np.maximum(1.0 - gone.b * _dot(gone.u, gone.u) / t, SINGULAR)
    square = _dot(gone.gap, gone.gap) / t + gone.b * (_dot(gone.gap, gone.u) / t) ** 2 / r
    return _score(np.log(r), square, t, after, gone.known, cov)


def shared_without(gone: list[Taken], own: Array, t: float, cov: Spanned) -> Array:
    """log N(v_c; 0, cov without the row) in classes that share a covariance, from which each takes its part (n, k)."""
    gap, known = np.stack([one.gap for one in gone], axis=1), np.stack([one.known for one in gone], axis=1)
    U, b = np.stack([one.u for one in gone], axis=1), np.stack([one.b for one in gone], axis=1)
    if (np.count_nonzero(own, axis=1) <= 1).all():  # labels: only one of the classes has anything to take
        mine = abs(own).argmax(axis=1)[:, None]
        U, b = np.take_along_axis(U, mine[:, :, None], axis=1), np.take_along_axis(b, mine, axis=1)
    G, h = U @ U.swapaxes(1, 2) / t, U @ gap.swapaxes(1, 2) / t  # (n, m, m), (n, m, k)
    b = _bounded(b, G)
    system = np.eye(G.shape[1]) - b[:, :, None] * G
    solved = np.linalg.solve(system, b[:, :, None] * h)
    square = np.einsum("ncj,ncj->nc", gap, gap) / t + (h * solved).sum(axis=1)
    log_r = np.log(np.maximum(np.linalg.det(system), SINGULAR))[:, None]
    return _score(log_r, square, t, rest(np.asarray(t), own.sum(axis=1))[:, None], known, cov)


def _bounded(b: Array, G: Array) -> Array:
    """b, shortened for the rows without which there would be no covariance: so that I - B G stays positive."""
    size = np.maximum(b, 0.0) * np.diagonal(G, axis1=1, axis2=2)
    far = np.flatnonzero(size.sum(axis=1) > 1.0 - SINGULAR)  # others are safe: a trace bounds eigenvalues
    if not len(far):
        return b
    most = np.linalg.eigvals(b[far, :, None] * G[far]).real.max(axis=1)
    b = b.copy()
    b[far] *= (1.0 - SINGULAR) / np.maximum(most, 1.0 - SINGULAR)[:, None]
    return b


def _score(log_r: Array, square: Array, t: float, after: Array, known: Array, cov: Spanned) -> Array:
    """-(log|cov| + v' cov^-1 v + d log 2 pi) / 2 without the row; -inf where no mean or no covariance is left."""
    log_det = cov.log_det + log_r + cov.width * (np.log(t) - np.log(np.where(after > 0, after, t)))
    return np.where(known & (after > 0), -0.5 * (log_det + after * square + cov.width * LOG_2PI), -np.inf)


def _dot(a: Array, b: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->i", a, b))


@compiled
def diagonal_log_density_without(
    X: Array,
    own: Array,
    origin: Array,
    variance: Array,
    n: Array,
    first: Array,
    mean0: Array,
    weights: tuple[float, float],
    rows: Array,
    about: Array,
    total: Array,
    singular: float,
) -> Array:
    """sum_j log N(x_j; mean_cj, var_cj) without the row's weight own[i, c], over entries that are not missing: (n, k).

    The variances (k or 1, d) are those of all rows; a column of variance 0 is left out. If all classes share one
    variance, all lose the weight of the row. The other arguments are the fields of `Held`.
    """
    m1, m2 = weights
    size, d = X.shape
    k = own.shape[1]
    tied = variance.shape[0] < k
    out = np.zeros((size, k))
    gap, known = np.empty(k), np.empty(k, np.bool_)
    lost, gone = np.empty(k), np.empty(k)  # what leaves the sum of squares, and its weight
    for i in range(size):
        for j in range(d):
            x = X[i, j]
            if np.isnan(x):
                continue
            for c in range(k):
                w, z = own[i, c], x - origin[c, j]
                weight = m1 + left(n[c, j], w)
                mean = (first[c, j] + m1 * mean0[c, j] - w * z) / weight if weight > 0.0 else mean0[c, j]
                others = left(rows[c, j], w)
                u = z - about[c, j]
                lost[c] = w * rows[c, j] / others * u * u if others != 0.0 else 0.0  # an only row is at its own mean
                gone[c], gap[c], known[c] = w, z - mean, weight > 0.0 or m2 > 0.0
            if tied:
                lost[:], gone[:] = lost.sum(), gone.sum()
            for c in range(k):
                of = 0 if tied else c
                whole, after = total[of, j] * variance[of, j], left(total[of, j], gone[c])
                if not whole > 0.0:
                    continue
                if after > 0.0 and known[c]:
                    var = max(whole - lost[c], singular * whole) / after
                    out[i, c] -= 0.5 * (np.log(2 * np.pi * var) + gap[c] * gap[c] / var)
                else:
                    out[i, c] = -np.inf
    return out
