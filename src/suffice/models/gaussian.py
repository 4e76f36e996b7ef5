"""Gaussian classes: naive Bayes (diagonal covariances) and discriminant analysis (full ones), each free or tied."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.linalg import lapack

from suffice._domain import Domain, OneHot
from suffice._vector import Array
from suffice.models import _kernels
from suffice.models._protocol import DegenerateError
from suffice.models.moments import Moments, diagonal, moments, origin, ratio
from suffice.models.natural import Quadratic
from suffice.priors import FLAT, GaussianPrior, log_class_prior


class ConstantColumnWarning(UserWarning):
    """A column takes no part because it does not vary."""


ROUNDING = 1e-12  # a spread below this share of the sum of squares about the origin counts as none
FLOOR = 1e-2  # of variances in gradient descent, in units of the whole's, as in rc1
SINGULAR = 1e-12  # so does the share of a feature's variance that the features before it do not explain


@dataclass(frozen=True, eq=False)
class Linear:
    """Parameters of log p(y | x) = coef_y'(x - o) + intercept_y + const: coef (k, d), intercept (k,), o the origin."""

    domain: Domain
    coef: Array
    intercept: Array

    @classmethod
    def of(cls, theta: Diagonal | Full) -> Linear:
        """The linear view of Gaussians with one covariance: coef = cov^-1 m, intercept = log p - m' cov^-1 m / 2."""
        coef = theta.solve(theta.mean)
        return cls(theta.domain, coef, theta.log_prior - 0.5 * (theta.mean * coef).sum(axis=1))

    def log_odds(self) -> tuple[Array, Array]:
        """Coefficients and intercepts of x itself: of the second class against the first (1, ...) if there are two,
        else of each class against the mean of all (k, ...), which does not depend on the origin.
        """
        at_zero = self.intercept - self.coef @ origin(self.domain)
        if len(at_zero) == 2:
            return self.coef[1:] - self.coef[:1], at_zero[1:] - at_zero[:1]
        return self.coef - self.coef.mean(axis=0), at_zero - at_zero[np.isfinite(at_zero)].mean()

    def log_joint(self, X: Array) -> Array:
        """Scores (n, k)."""
        return np.asarray((X - origin(self.domain)) @ self.coef.T + self.intercept)


@dataclass(frozen=True, eq=False)
class Diagonal:
    """Parameters: log p(y) (k,), means about the origin (k, d), variances (k, d) or (1, d); 0 is a feature left out."""

    domain: Domain
    log_prior: Array
    mean: Array
    variance: Array

    @property
    def covariance(self) -> Array:
        """The variances, as those of full covariances are called."""
        return self.variance

    def solve(self, b: Array) -> Array:
        """cov^-1 b for rows b (k, d)."""
        return np.asarray(b * ratio(1.0, self.variance))

    def misfit(self, scatter: Array, count: Array) -> float:
        """sum count log|cov| + tr(cov^-1 scatter) over blocks (k or 1, d)."""
        used = self.variance > 0
        log_det = np.log(self.variance, out=np.zeros(self.variance.shape), where=used)
        return float((count * log_det + scatter * ratio(1.0, self.variance)).sum())


@dataclass(frozen=True, eq=False)
class Full:
    """Parameters: log p(y) (k,), means about the origin (k, d), covariances (k or 1, d, d) and what whitens them.

    `whiten` has cov^-1 = whiten whiten'; a feature left out has rows of zeros.
    """

    domain: Domain
    log_prior: Array
    mean: Array
    covariance: Array
    whiten: Array
    log_det: Array  # (k or 1,)

    def solve(self, b: Array) -> Array:
        """cov^-1 b for rows b (k, d), of tied classes."""
        return np.asarray(b @ self.whiten[0] @ self.whiten[0].T)

    def misfit(self, scatter: Array, count: Array) -> float:
        """sum count log|cov| + tr(cov^-1 scatter) over blocks (k or 1, d, d)."""
        traces = np.einsum("kij,kil,klj->k", self.whiten, scatter, self.whiten, optimize=True)
        return float((count[:, 0] * self.log_det + traces).sum())


@dataclass(frozen=True, eq=False)
class _Gaussian(ABC):
    """What the two structures share: the prior, the pooled covariance, and which features vary at all."""

    tied: bool = False
    prior: GaussianPrior = FLAT
    class_prior: Any = None
    names: tuple[str, ...] | None = None
    domain: Domain | None = None
    centre: Array | None = None  # (d,) mean of all rows
    spread: Array | None = None  # (d,) standard deviation of all rows; 0 is a feature that does not vary

    def resolve(self, s: Moments) -> Self:
        total = s.total()
        variance = ratio(diagonal(total.scatter()), total.count)[0]
        spread = spread_of(s)
        centre = total.mean()[0] + origin(s.domain)
        prior = self.prior.resolve(centre, variance)
        return replace(self, domain=s.domain, centre=centre, spread=spread, prior=prior)

    def _used(self, s: Moments) -> Array:
        return np.ones(s.domain.width, dtype=bool) if self.spread is None else self.spread > 0

    @abstractmethod
    def parameters(self, s: Moments) -> Any:
        """theta(s)."""

    def _mean(self, s: Moments) -> Array:
        """(m1 mean0 + first) / (m1 + count), about the origin (k, d)."""
        at = 0.0 if self.prior.mean is None else self.prior.mean - origin(s.domain)
        return ratio(s.first + self.prior.mean_weight * at, s.count + self.prior.mean_weight)

    def _check_means(self, s: Moments) -> None:
        empty = (s.mass == 0) & ~np.isfinite(self._log_prior(s))
        known = (s.count + self.prior.mean_weight > 0) & (s.mass >= 0)[:, None] | empty[:, None]
        if not known.all():
            c, j = np.argwhere(~known)[0].tolist()
            where = f" in {s.domain.name(j)}" if s.count.shape[1] > 1 else ""
            raise DegenerateError(f"{s.label(c)} has no values{where}: its mean is unknown. Use prior='default'")

    def _pooled(self, s: Moments) -> tuple[Array, Array, Array]:
        """Scatter, raw sum of squares and count of each class, or of all classes together if they are tied."""
        parts = s.scatter(), s.second, s.count
        if not self.tied:
            return parts
        scatter, second, count = (part.sum(axis=0, keepdims=True) for part in parts)
        return scatter, second, count

    def _log_prior(self, s: Moments) -> Array:
        return log_class_prior(s.mass, s.domain.classes, self.class_prior)

    def _prior_covariance(self, ndim: int) -> Array:
        """cov0 as the structure keeps it: a diagonal (ndim 1) or a matrix (ndim 2)."""
        at = np.zeros(1) if self.prior.covariance is None else self.prior.covariance
        return at if at.ndim == ndim else np.diag(at)

    def log_likelihood(self, target: Moments, s: Moments) -> float:
        """log p(X, Y) under theta(s) of data with the statistics `target` and of the prior's rows, up to a constant.

        Written about the closed form theta(target) = (mean*, cov*), which is where it is greatest:
        -1/2 sum_y n_y (log|cov_y| + tr cov_y^-1 (cov*_y + (mean*_y - mean_y)(mean*_y - mean_y)')) + sum_y n_y log p(y).
        """
        theta, best = self.parameters(s), self.parameters(target)
        gap = best.mean - theta.mean
        means = target.square((target.count + self.prior.mean_weight) * gap, gap)
        count = target.count
        if self.tied:
            means, count = means.sum(axis=0, keepdims=True), count.sum(axis=0, keepdims=True)
        count = count + self.prior.cov_weight
        scatter = means + (count[:, :, None] if means.ndim == 3 else count) * best.covariance
        seen = np.isfinite(best.log_prior)
        classes = target.mass.sum() * np.exp(best.log_prior[seen]) @ theta.log_prior[seen]
        return float(classes - 0.5 * theta.misfit(scatter, count))

    def standard(self, domain: Domain) -> tuple[Array, Array]:
        """The mean of all rows, about the origin, and their spread: what standardises features (d,), (d,)."""
        if self.centre is None or self.spread is None:
            raise ValueError("features can be standardised once the model is resolved")
        return self.centre - origin(domain), self.spread

    def _free(self, domain: Domain) -> tuple[Array, Array]:
        if self.tied:
            raise TypeError(
                "tied Gaussians have no natural parameters here; LogisticRegression has those of their scores"
            )
        return self.standard(domain)

    def gradient(self, s: Moments, eta: Quadratic) -> Quadratic:
        """Minus the gradient of the log loss in natural parameters of standardised features, from S(X, Y - P)."""
        centre, spread = self._free(s.domain)
        return eta.gradient(s.about(centre + origin(s.domain)), spread)

    def feasible(self, eta: Quadratic, start: Quadratic) -> Quadratic:
        """Probabilities on the simplex, and no variance below 1/100 of the whole, or below those it began with."""
        return eta.feasible(min(FLOOR, start.least_variance()))

    def _needed(self, s: Moments) -> Array:
        """Which covariances take part: not those of classes without a row, whose probability is zero (k or 1,)."""
        return np.ones(1, dtype=bool) if self.tied else (s.mass != 0) | np.isfinite(self._log_prior(s))


@dataclass(frozen=True, eq=False)
class DiagonalGaussian(_Gaussian):
    """p(x, y) = p(y) prod_j N(x_j; mean_yj, var_yj), with var_yj = var_j if tied.

    A missing entry leaves its factor out.
    """

    def statistics(self, X: Array, W: OneHot | Array) -> Moments:
        return moments(X, W, domain=self.domain, names=self.names)

    def _variance(self, s: Moments) -> tuple[Array, Array]:
        """(m2 var0 + scatter) / (m2 + count), and where it exists: (k or 1, d)."""
        scatter, second, count = self._pooled(s)
        weight = count + self.prior.cov_weight
        variance = ratio(scatter + self.prior.cov_weight * self._prior_covariance(1), weight)
        exists = (weight > 0) & (variance > ROUNDING * ratio(second, weight))
        return variance, exists | ~self._used(s)

    def valid(self, s: Moments) -> Moments:
        """A block is one feature of one class, or everything if the classes are tied."""
        exists = self._variance(s)[1] & ((s.count + self.prior.mean_weight > 0) | _empty(s)[:, None])
        block = np.broadcast_to(exists.all() if self.tied else exists, s.first.shape)
        return replace(s, mass=s.mass > 0, count=block, first=block, second=block)

    def parameters(self, s: Moments) -> Diagonal:
        self._check_means(s)
        variance, exists = self._variance(s)
        bad = ~exists & self._needed(s)[:, None]
        if bad.any():
            raise DegenerateError(self._why(s, *np.argwhere(bad)[0].tolist()))
        return Diagonal(s.domain, self._log_prior(s), self._mean(s), np.where(exists & self._used(s), variance, 0.0))

    def _why(self, s: Moments, c: int, j: int) -> str:
        where, label = s.domain.name(j), s.domain.classes[c].item()
        if self.tied:
            what = f"{where} does not vary within any class: the pooled variance is zero"
        elif s.count[c, j] <= 0:
            what = f"class {label!r} has no values in {where}: its mean and variance are unknown"
        else:
            what = f"class {label!r} has no variance in {where} ({s.count[c, j]:g} rows, too alike to tell apart)"
        return f"{what}. Use prior='default', or leave the column out"

    def natural(self, theta: Diagonal) -> Quadratic:
        """Of standardised features."""
        centre, spread = self._free(theta.domain)
        unit = ratio(1.0, spread)
        variance = np.where(theta.variance > 0, theta.variance * unit**2, 1.0)
        return Quadratic.of(theta.log_prior, (theta.mean - centre) * unit, variance)

    def from_natural(self, eta: Quadratic, domain: Domain) -> Diagonal:
        """The inverse of `natural`."""
        centre, spread = self._free(domain)
        mean, variance = eta.moments()
        return Diagonal(domain, eta.intercept, mean * spread + centre, variance * spread**2)

    def log_joint(self, X: Array, theta: Diagonal) -> Array:
        precision = np.ascontiguousarray(np.broadcast_to(ratio(1.0, theta.variance), theta.mean.shape))
        constant = 0.5 * np.log(precision / (2 * np.pi), out=np.zeros(precision.shape), where=precision > 0)
        Z = X - origin(theta.domain)
        return np.asarray(theta.log_prior + _kernels.diagonal_log_density(Z, theta.mean, precision, constant))


@dataclass(frozen=True, eq=False)
class FullGaussian(_Gaussian):
    """p(x, y) = p(y) N(x; mean_y, cov_y), with cov_y = cov if tied: quadratic or linear discriminant analysis."""

    def statistics(self, X: Array, W: OneHot | Array) -> Moments:
        return moments(X, W, full=True, domain=self.domain, names=self.names)

    def _factors(self, s: Moments) -> list[_Factor]:
        """(m2 cov0 + scatter) / (m2 + count) of each class, or of all together, taken apart."""
        scatter, second, count = self._pooled(s)
        weight = count + self.prior.cov_weight
        covariance = ratio(scatter + self.prior.cov_weight * self._prior_covariance(2), weight[:, :, None])
        size = ratio(diagonal(second), weight)
        return [_Factor.of(cov, self._used(s), at) for cov, at in zip(covariance, size, strict=True)]

    def valid(self, s: Moments) -> Moments:
        """A block is a class, or all classes if they are tied."""
        regular = np.array([factor.bad is None for factor in self._factors(s)])
        ok = regular & ((s.mass > 0) & (s.count[:, 0] + self.prior.cov_weight > 0) | _empty(s) & self.tied)
        ok = np.broadcast_to(ok.all(), ok.shape) if self.tied else ok
        return replace(s, mass=ok, count=ok[:, None], first=ok[:, None], second=ok[:, None, None])

    def parameters(self, s: Moments) -> Full:
        self._check_means(s)
        factors, needed = self._factors(s), self._needed(s)
        for c, factor in enumerate(factors):
            if factor.bad is not None and needed[c]:
                raise DegenerateError(self._why(s, c, factor.bad, factor.rank))
        return _stacked(s.domain, self._log_prior(s), self._mean(s), factors)

    def _why(self, s: Moments, c: int, j: int, rank: int) -> str:
        who = "the classes together have" if self.tied else f"class {s.domain.classes[c].item()!r} has"
        rows, features = s.mass.sum() if self.tied else s.mass[c], int(self._used(s).sum())
        return (
            f"{who} {rows:g} rows and a singular covariance, of rank {rank} for {features} features "
            f"({s.domain.name(j)} adds nothing to those before it). "
            "Use prior='default', take more rows, or leave columns out"
        )

    def natural(self, theta: Full) -> Quadratic:
        """Of standardised features."""
        centre, spread = self._free(theta.domain)
        unit = ratio(1.0, spread)
        covariance = theta.covariance * np.outer(unit, unit) + np.diag((unit == 0).astype(float))
        return Quadratic.of(theta.log_prior, (theta.mean - centre) * unit, covariance)

    def from_natural(self, eta: Quadratic, domain: Domain) -> Full:
        """The inverse of `natural`."""
        mean, covariance = eta.moments()
        centre, spread = self._free(domain)
        factors = [_Factor.of(c * np.outer(spread, spread), spread > 0, np.zeros(len(spread))) for c in covariance]
        return _stacked(domain, eta.intercept, mean * spread + centre, factors)

    def log_joint(self, X: Array, theta: Full) -> Array:
        if self.tied:
            return Linear.of(theta).log_joint(X)
        Z = X - origin(theta.domain)
        out = np.empty((len(X), len(theta.mean)))
        for c, (mean, whiten) in enumerate(zip(theta.mean, theta.whiten, strict=True)):
            white = (Z - mean) @ whiten
            out[:, c] = theta.log_prior[c] - 0.5 * (theta.log_det[c] + np.einsum("ij,ij->i", white, white))
        return out


def spread_of(s: Moments) -> Array:
    """The standard deviation of all rows (d,), with a warning and 0 where a feature does not vary."""
    total = s.total()
    variance = ratio(diagonal(total.scatter()), total.count)[0]
    spread = np.sqrt(np.where(variance > ROUNDING * ratio(diagonal(total.second), total.count)[0], variance, 0.0))
    if not spread.all():
        constant = ", ".join(s.domain.name(int(j)) for j in np.flatnonzero(spread == 0))
        warnings.warn(f"left out, as it has one value only: {constant}", ConstantColumnWarning, stacklevel=2)
    return np.asarray(spread)


@dataclass(frozen=True, eq=False)
class _Factor:
    """A covariance (d, d) taken apart: cov^-1 = whiten whiten', its log-determinant, and the feature that breaks it."""

    covariance: Array
    whiten: Array
    log_det: float
    bad: int | None
    rank: int

    @classmethod
    def of(cls, covariance: Array, used: Array, size: Array) -> _Factor:
        """Factor by Cholesky in units of the standard deviations, so that the units of the features do not matter.

        `size` (d,) is the mean square about the origin of the sums: with the machine's precision, their rounding.
        """
        covariance = 0.5 * (covariance + covariance.T)
        variance = np.diag(covariance)
        inverse = np.where(used & (variance > 0), 1.0 / np.sqrt(np.where(variance > 0, variance, 1.0)), 0.0)
        correlation = covariance * np.outer(inverse, inverse)
        np.fill_diagonal(correlation, np.where(used & (inverse == 0), 0.0, 1.0))
        rounding = np.maximum(SINGULAR, ROUNDING * size * inverse**2)
        lower, info = lapack.dpotrf(correlation, lower=1, clean=1)
        weak = np.flatnonzero(np.diag(lower) ** 2 <= rounding) if info == 0 else [info - 1]
        if len(weak):
            rank = int((np.linalg.eigvalsh(correlation) > len(used) * rounding.max()).sum()) - int((~used).sum())
            return cls(covariance, np.zeros_like(covariance), 0.0, int(weak[0]), rank)
        whiten = inverse[:, None] * lapack.dtrtri(lower, lower=1)[0].T
        log_det = 2.0 * (np.log(np.diag(lower)).sum() - np.log(inverse[inverse > 0]).sum())
        return cls(covariance, whiten, float(log_det), None, int(used.sum()))


def _empty(s: Moments) -> Array:
    """Which classes have no rows at all (k,)."""
    return np.asarray((s.mass == 0) & ~s.count.any(axis=1))


def _stacked(domain: Domain, log_prior: Array, mean: Array, factors: list[_Factor]) -> Full:
    covariance = np.stack([factor.covariance for factor in factors])
    whiten = np.stack([factor.whiten for factor in factors])
    return Full(domain, log_prior, mean, covariance, whiten, np.array([factor.log_det for factor in factors]))
