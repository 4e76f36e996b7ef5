"""Gaussian classes with diagonal covariances: naive Bayes over numbers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, cast

import numpy as np
from scipy.sparse import csr_array, issparse

from suffice._core.features import Encoded
from suffice._core.labels import OneHot, dense
from suffice._core.vector import Array
from suffice._runtime.lazy import compiled, in_any_order
from suffice.encoders import Encoder, Numbers
from suffice.models.base import Attempt, Natural, Removable, Samplable
from suffice.models.gaussian.base import Free, Gaussian, Normal, empty, prior_covariance
from suffice.models.gaussian.leave_one_out import diagonal_without
from suffice.models.gaussian.moments import Moments, ratio
from suffice.models.natural import Quadratic
from suffice.models.statistics import Statistics
from suffice.models.terms import Nomogram, NomogramDensity, Square, keys_of

ENTRIES = 1 << 20  # of sparse rows that are made dense at a time


@dataclass(frozen=True, eq=False)
class Diagonal(Normal):
    """Parameters of Gaussian classes with variances (k or 1, d); 0 is a feature left out."""

    variance: Annotated[Array, "nonneg k d|1 d"]

    @property
    def covariance(self) -> Array:
        """The variances, as those of full covariances are called."""
        return self.variance

    def solve(self, b: Array) -> Array:
        """cov^-1 b for rows b (k, d)."""
        return np.asarray(b * ratio(1.0, self.variance))

    def misfit(self, scatter: Array, count: Array) -> float:
        """As `Normal` says, over blocks (k or 1, d)."""
        used = self.variance > 0
        log_det = np.log(self.variance, out=np.zeros(self.variance.shape), where=used)
        return float((count * log_det + scatter * ratio(1.0, self.variance)).sum())


@dataclass(frozen=True, eq=False)
class _DiagonalGaussian(
    Gaussian[Diagonal],
    Removable[Moments, Diagonal],
    NomogramDensity[Diagonal],
    Samplable[Diagonal],
):
    """p(x, y) = p(y) prod_j N(x_j; mean_yj, var_yj); a missing entry leaves its factor out."""

    continuous: ClassVar[bool] = True

    encoder: Encoder = field(default=Numbers(missing=True, sparse=True), kw_only=True)

    def attempt(self, s: Statistics[Moments]) -> Attempt[Moments, Diagonal]:
        """A block is a feature of a class, or everything if the classes are tied."""
        variance, exists = self.variance(s)
        used = self._used(s)
        exists |= ~used
        theta = Diagonal(
            s.domain, self.class_log_prob(s), s.sums.origin, self._mean(s), np.where(exists & used, variance, 0.0)
        )
        regular = exists & (self._known_mean(s) | empty(s)[:, None])
        block = np.broadcast_to(regular.all() if self.tied else regular, s.sums.first.shape)
        valid = replace(s, mass=s.mass > 0, sums=replace(s.sums, count=block, first=block, second=block))
        return Attempt(theta, valid, self._unknown_mean(s) or self._no_variance(s, exists))

    def variance(self, s: Statistics[Moments]) -> tuple[Array, Array]:
        """(m2 var0 + scatter) / (m2 + count), and where it exists (k or 1, d)."""
        own = self.pooled(s)
        weight = own.rows + self._prior.cov_weight
        variance = ratio(own.scatter + self._prior.cov_weight * prior_covariance(self._prior, 1), weight)
        return variance, (weight > 0) & (variance > ratio(own.nothing, weight))

    def _no_variance(self, s: Statistics[Moments], exists: Array) -> str | None:
        bad = np.argwhere(~exists & self._needed(s)[:, None])
        if not len(bad):
            return None
        c, j = bad[0].tolist()
        where = s.domain.name(j)
        if self.tied:
            what = f"{where} does not vary within any class: the pooled variance is zero"
        elif s.sums.count[c, j] <= 0:
            what = f"{s.label(c)} has no values in {where}: its mean and variance are unknown"
        else:
            what = f"{s.label(c)} has no variance in {where} ({s.sums.count[c, j]:g} rows, too alike to tell apart)"
        return f"{what}. Use prior='default', or leave the column out"

    def log_density(self, X: Encoded, theta: Diagonal) -> Array:
        precision, constant = self._scales(theta)
        values = theta.domain.features.read(X)
        if issparse(values):
            return sparse_log_density(values, theta.origin, theta.mean, precision, constant)
        return np.asarray(diagonal_log_density(values, theta.origin, theta.mean, precision, constant))

    def _scales(self, theta: Diagonal) -> tuple[Array, Array]:
        """One over the variances (k, d), and the log of the density at the mean; 0 for a feature left out."""
        precision = np.ascontiguousarray(np.broadcast_to(ratio(1.0, theta.variance), theta.mean.shape))
        return precision, 0.5 * np.log(precision / (2 * np.pi), out=np.zeros(precision.shape), where=precision > 0)

    def density_nomogram(self, theta: Diagonal) -> Nomogram:
        """log N(x_j; mean_yj, var_yj), a square for each column."""
        squares = Square(keys_of(self), theta.origin, theta.mean, *self._scales(theta))
        return Nomogram(np.zeros(len(theta.mean)), (squares,))

    def sample(self, codes: Array, theta: Diagonal, rng: np.random.Generator) -> Encoded:
        """Normal numbers; a feature left out stays at its mean."""
        spread = np.sqrt(np.broadcast_to(theta.variance, theta.mean.shape))[codes]
        values = (theta.origin + theta.mean)[codes] + spread * rng.normal(size=spread.shape)
        return Encoded(theta.domain.features, values)

    def log_density_without(self, X: Encoded, Y: OneHot | Array, theta: Diagonal, s: Statistics[Moments]) -> Array:
        """A class changes by what a row counts there, and variances that all share by what it counts in any.

        Sparse rows are made dense, some at a time: without a row every column's mean is another one.
        """
        if issparse(X.values):
            size = max(1, ENTRIES // max(1, X.shape[1]))
            parts = [slice(i, i + size) for i in range(0, max(1, len(X)), size)]
            pieces = [(Encoded(X.features, np.asarray(cast(Any, X[part].values).toarray())), Y[part]) for part in parts]
            return np.concatenate([self.log_density_without(*one, theta, s) for one in pieces])
        values = theta.domain.features.read(X)
        return diagonal_without(values, dense(Y), theta.origin, theta.variance, self.held(s))


@dataclass(frozen=True, eq=False)
class DiagonalGaussian(_DiagonalGaussian, Free[Diagonal], Natural[Moments, Diagonal, Quadratic]):
    """p(x, y) = p(y) prod_j N(x_j; mean_yj, var_yj): every class has its own variances."""

    def natural(self, theta: Diagonal) -> Quadratic:
        """Of standardised features."""
        _, _, centre, spread = self._frame()
        unit = ratio(1.0, spread)
        variance = np.where(theta.variance > 0, theta.variance * unit**2, 1.0)
        return Quadratic.of(theta.class_log_prob, (theta.mean - centre) * unit, variance)

    def from_natural(self, eta: Quadratic) -> Diagonal:
        """The inverse of `natural`."""
        domain, origin, centre, spread = self._frame()
        mean, variance = eta.moments()
        return Diagonal(domain, eta.intercept, origin, mean * spread + centre, variance * spread**2)


@dataclass(frozen=True, eq=False)
class TiedDiagonalGaussian(_DiagonalGaussian):
    """p(x, y) = p(y) prod_j N(x_j; mean_yj, var_j): the classes share their variances."""

    tied: ClassVar[bool] = True


@compiled
def less(x: float, origin: float) -> float:
    """x - origin; a function of its own, so that `in_any_order` does not reassociate it: both may be large."""
    return x - origin


@in_any_order
def diagonal_log_density(X: Array, origin: Array, mean: Array, precision: Array, constant: Array) -> Array:
    """sum_j constant[c, j] - precision[c, j] (x_ij - o_cj - mean_cj)^2 / 2 over entries not missing: (n, k)."""
    n, d = X.shape
    k = mean.shape[0]
    out = np.empty((n, k))
    base = np.zeros(k)
    for c in range(k):
        for j in range(d):
            base[c] += constant[c, j]
    for i in range(n):
        for c in range(k):
            total = 0.0
            for j in range(d):
                gap = less(X[i, j], origin[c, j]) - mean[c, j]
                total += precision[c, j] * gap * gap
            if total == total:
                out[i, c] = base[c] - 0.5 * total
                continue
            total = 0.0
            for j in range(d):
                x = less(X[i, j], origin[c, j])
                if x == x:
                    gap = x - mean[c, j]
                    total += constant[c, j] - 0.5 * precision[c, j] * gap * gap
            out[i, c] = total
    return out


FAR = 64.0  # squared distance of zero from a mean, in variances, beyond which its density is not added and taken away


def sparse_log_density(X: csr_array, origin: Array, mean: Array, precision: Array, constant: Array) -> Array:
    """`diagonal_log_density` of sparse rows: that of a row of zeros, changed where entries are stored (n, k).

    Columns whose mean is far from zero are visited in every row instead: their density at zero would drown the others.
    """
    gap = precision * (origin + mean) ** 2
    zero = constant - 0.5 * gap
    is_far = (gap > FAR).any(axis=0)
    near, far = np.where(is_far, 0.0, zero).sum(axis=1), np.flatnonzero(is_far)
    return np.asarray(
        _log_density(X.data, X.indices, X.indptr, origin, mean, precision, constant, zero, near, far, is_far)
    )


@compiled
def _log_density(
    data: Array,
    indices: Array,
    indptr: Array,
    origin: Array,
    mean: Array,
    precision: Array,
    constant: Array,
    zero: Array,
    near: Array,
    far: Array,
    is_far: Array,
) -> Array:
    """Entries of a row and far columns are both in order, so that one walk along both meets all that counts."""
    n, k = len(indptr) - 1, mean.shape[0]
    out = np.empty((n, k))
    for i in range(n):
        for c in range(k):
            total, f = near[c], 0
            for t in range(indptr[i], indptr[i + 1]):
                j = indices[t]
                if is_far[j]:
                    while far[f] < j:
                        total += zero[c, far[f]]
                        f += 1
                    f += 1
                else:
                    total -= zero[c, j]
                x = data[t] - origin[c, j]
                if not np.isnan(x):
                    gap = x - mean[c, j]
                    total += constant[c, j] - 0.5 * precision[c, j] * gap * gap
            for rest in range(f, len(far)):
                total += zero[c, far[rest]]
            out[i, c] = total
    return out
