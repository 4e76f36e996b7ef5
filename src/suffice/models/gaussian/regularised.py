"""Regularised discriminant analysis: covariances between those of each class, of all classes, and diagonal ones."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Self

import numpy as np

from suffice._core.vector import Array
from suffice.models.base import Penalised
from suffice.models.gaussian.base import PooledScatter
from suffice.models.gaussian.full import Full, FullGaussian, TiedFullGaussian, _FullGaussian, _TiedFullGaussian
from suffice.models.gaussian.moments import Moments, diagonal, ratio
from suffice.models.statistics import Statistics
from suffice.priors.evidence import wishart_evidence

# The weights of a diagonal prior, in rows a feature, among which the evidence is greatest.
WEIGHTS = np.geomspace(1e-2, 1e4, 121)


@dataclass(frozen=True, eq=False)
class Shrunk(_FullGaussian, Penalised[Moments, Full]):
    """Covariances shrunk towards their own diagonals: the correlations times 1 - g, the variances as they are.

        cov' = (1 - g) cov + g diag(cov)

    The diagonal, and so the result, follows the units of the features, unlike a multiple of the identity. `shrinkage`
    is g in [0, 1], or how it is chosen when the model is resolved: "oas" (`oas`) or "evidence" (`by_evidence`), from
    the covariance under the prior and the rows and pseudo-rows that it stands for. None is 0.
    """

    shrinkage: float | str | None = None
    amount: Annotated[Array | None, "nonneg k|1"] = field(default=None, kw_only=True)  # g of each, once resolved

    def covariances(self, s: Statistics[Moments]) -> tuple[Array, Array, Array]:
        covariance, nothing, noise = super().covariances(s)
        return shrunk(covariance, self._amount(s, covariance) if self.amount is None else self.amount), nothing, noise

    def resolve(self, s: Statistics[Moments]) -> Self:
        resolved = super().resolve(s)
        if not isinstance(s.sums, Moments):  # correlations are known once missing entries have been filled in
            return resolved
        return replace(resolved, amount=resolved.amounts(s))

    def amounts(self, s: Statistics[Moments]) -> Array:
        """g of each covariance (k or 1,)."""
        return self._amount(s, super().covariances(s)[0]) if self.amount is None else self.amount

    @property
    def likely(self) -> FullGaussian | TiedFullGaussian:
        kind = TiedFullGaussian if self.tied else FullGaussian
        return kind(**{part.name: getattr(self, part.name) for part in fields(kind)})

    def _amount(self, s: Statistics[Moments], covariance: Array) -> Array:
        """g of each covariance (k or 1,)."""
        if not isinstance(self.shrinkage, str):
            return np.full(len(covariance), float(self.shrinkage or 0.0))
        rows = np.maximum(self.pooled(s).rows[:, 0], 0.0) + self._prior.cov_weight
        correlation = correlations(covariance, self._used(s))
        return oas(correlation, rows) if self.shrinkage == "oas" else by_evidence(correlation, rows, self._lost(s))

    def _lost(self, s: Statistics[Moments]) -> float:
        """Degrees of freedom of a covariance that went into means."""
        return float(len(s.mass)) if self.tied else 1.0


@dataclass(frozen=True, eq=False)
class ShrunkTiedGaussian(Shrunk, _TiedFullGaussian):
    """p(x, y) = p(y) N(x; mean_y, cov') with one covariance, shrunk: linear discriminant analysis with shrinkage."""


@dataclass(frozen=True, eq=False)
class RegularisedGaussian(Shrunk):
    """p(x, y) = p(y) N(x; mean_y, cov_y'), between quadratic (tying t = 0) and linear discriminant analysis (t = 1).

        cov_c = ((1 - t) scatter_c + t scatter + m2 cov0) / ((1 - t) n_c + t n + m2),    then shrunk

    `scatter` and n are the sums over all classes, m2 and cov0 those of the prior, whose rows count once.

    References
    ----------
    Friedman: Regularized discriminant analysis. Journal of the American Statistical Association 84, 1989,
    doi:10.1080/01621459.1989.10478752.
    """

    tying: float = 0.0

    @property
    def shared(self) -> bool:
        return self.tying > 0

    def pooled(self, s: Statistics[Moments]) -> PooledScatter:
        return PooledScatter(*((1.0 - self.tying) * part + self.tying * part.sum(axis=0) for part in super().pooled(s)))

    def _lost(self, s: Statistics[Moments]) -> float:
        return 1.0 - self.tying + self.tying * len(s.mass)


def shrunk(covariance: Array, amount: Array) -> Array:
    """(1 - g) cov + g diag(cov) for covariances (k, d, d) and g (k,)."""
    off = covariance * (1.0 - amount[:, None, None])
    at = np.arange(covariance.shape[1])
    off[:, at, at] = covariance[:, at, at]
    return off


def correlations(covariance: Array, used: Array) -> Array:
    """Correlation matrices (k, p, p) of the features that are used; one that does not vary in a class has none."""
    within = covariance[:, used][:, :, used]
    variance = diagonal(within)
    unit = ratio(1.0, np.sqrt(np.maximum(variance, 0.0)))
    out = within * unit[:, :, None] * unit[:, None, :]
    at = np.arange(within.shape[1])
    out[:, at, at] = 1.0
    return out


def oas(correlation: Array, rows: Array) -> Array:
    """The oracle approximating shrinkage of correlation matrices (k, p, p), each of `rows` rows, towards the identity.

        g = min(1, ((1 - 2/p) tr(R^2) + p^2) / ((n + 1 - 2/p) (tr(R^2) - p)))

    It is that of Chen et al. for S = R, for which tr(R) = p: correlations, so that units do not matter.

    References
    ----------
    Chen, Wiesel, Eldar, Hero: Shrinkage algorithms for MMSE covariance estimation. IEEE Transactions on Signal
    Processing 58, 2010, doi:10.1109/TSP.2010.2053029, eq. 23.
    """
    p = correlation.shape[1]
    if p < 2:  # nothing to shrink
        return np.zeros(len(correlation))
    square = (correlation**2).sum(axis=(1, 2))
    above = (1.0 - 2.0 / p) * square + p**2
    below = (rows + 1.0 - 2.0 / p) * np.maximum(square - p, 0.0)
    return np.asarray(np.minimum(1.0, np.divide(above, below, out=np.ones(len(correlation)), where=below > 0)))


def by_evidence(correlation: Array, rows: Array, lost: float) -> Array:
    """g = m / (m + n) (k,) for the weight m, one for all (k, p, p), whose evidence is greatest.

    The shrunk R is (n R + m I) / (n + m): the posterior mean, except for the `lost` degrees of freedom that went into
    means, under an inverse-Wishart prior with Psi = m I and nu = m + p + 1. The evidence of m is `wishart_evidence`,
    summed over the classes.
    """
    p = correlation.shape[1]
    if p < 2:  # as above
        return np.zeros(len(correlation))
    weight = WEIGHTS * p
    nu = weight + p + 1.0
    own = np.maximum(np.linalg.eigvalsh(correlation), 0.0) * rows[:, None]  # (k, p)
    after = np.log(own[:, None, :] + weight[:, None]).sum(axis=2)  # (k, weights)
    free = np.maximum(rows - lost, 0.0)[:, None]
    evidence = wishart_evidence(nu, free, p * np.log(weight), after, p).sum(axis=0)
    best = weight[int(np.argmax(evidence))]
    return np.asarray(best / (best + rows))
