"""How strong a prior for Gaussian classes is: as it is given, or as the evidence has it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy.linalg import solve_triangular

from suffice._threads import few_threads
from suffice._vector import Array
from suffice.priors._evidence import (
    CORRELATIONS,
    COV_WEIGHTS,
    MEAN_WEIGHTS,
    free_rows,
    greatest,
    mean_evidence,
    normal_evidence,
)

MOST = 3.0  # by what the spread within classes is made larger: (N + k) / (N - k) of two rows a class
Covariance: TypeAlias = Callable[[float], Array]  # (1 or k, d) or (1 or k, d, d), by the share of its correlations


@dataclass(frozen=True, eq=False)
class Seen:
    """What a prior may take from the sums: rows, means and squares by class, and the mean and variance of all rows."""

    classes: Array  # (k,)
    count: Array  # (k, d) where only diagonals are kept, else (k, 1)
    mean: Array  # (k, d)
    scatter: Array  # (k, d) or (k, d, d), about the means
    centre: Array  # (d,)
    variance: Array  # (d,), 0 where a column does not vary
    tied: bool = False  # whether the classes share their covariance

    @property
    def full(self) -> bool:
        """Whether covariances are whole matrices."""
        return self.scatter.ndim == 3

    @property
    def total(self) -> Array:
        """The variances of all rows: (1, d), or a diagonal matrix (1, d, d)."""
        return np.diag(self.variance)[None] if self.full else self.variance[None]

    def within(self, correlation: float = 0.0, total_share: float = 0.0) -> Array:
        """t W + (1 - t) diag W + u diag(total): (1, d) or (1, d, d).

        W = (N + k) / (N - k) times the covariance pooled within k classes of N rows is how far new rows fall from the
        means of their classes; with fewer than two rows a class, 3 times.
        """
        rows, classes = self.count.sum(axis=0), (self.count > 0).sum(axis=0)
        enough = (rows >= 2 * classes) & (rows > 0)
        few = np.where(enough, rows - classes, 1.0)
        factor = np.where(enough, (rows + classes) / few, MOST) / np.where(rows > 0, rows, 1.0)
        pooled = self.scatter.sum(axis=0) * (factor[:, None] if self.full else factor)
        apart = np.diag(np.diag(pooled)) if self.full else pooled
        return np.asarray((correlation * pooled + (1.0 - correlation) * apart)[None] + total_share * self.total)

    def shifted(self, weight: float, mean: Array) -> Array:
        """The squares, and those of the means' shifts from the prior mean (1 or k, d): m1 n / (m1 + n) gap gap'."""
        if weight == 0:
            return self.scatter
        gap, share = self.mean - mean, weight * self.count / (weight + self.count)
        squares = gap[:, :, None] * gap[:, None, :] if self.full else gap**2
        return np.asarray(self.scatter + (share[:, :, None] if self.full else share) * squares)


def strongest(
    seen: Seen, mean: Array, covariance: Covariance, mean_weight: Any, cov_weight: Any, correlation: Any
) -> tuple[float, float, float]:
    """The weights of the prior mean and covariance, and the share of its correlations; what is given stays."""
    if cov_weight == 0 and isinstance(mean_weight, str):
        raise ValueError("GaussianPrior: mean_weight='evidence' needs a prior covariance, but cov_weight is 0")
    used = int((seen.variance > 0).sum()) if seen.full else 1
    shares = CORRELATIONS if seen.full else CORRELATIONS[:1]
    grids = [
        grid if isinstance(given, str) else np.array([float(given)])
        for given, grid in ((correlation, shares), (mean_weight, MEAN_WEIGHTS), (cov_weight, COV_WEIGHTS * used))
    ]
    if all(len(grid) == 1 for grid in grids) or not seen.variance.any():
        t, m1, m2 = (float(grid[0]) for grid in grids)
        return m1, m2, t
    pairs = list(itertools.product(grids[0], grids[1]))
    with few_threads(used):
        each = np.concatenate([evidence(seen, mean, covariance(t), m1, grids[2]) for t, m1 in pairs])
    at, which = divmod(int(greatest(each)), len(grids[2]))
    return float(pairs[at][1]), float(grids[2][which]), float(pairs[at][0])


def evidence(seen: Seen, mean: Array, covariance: Array, mean_weight: float, cov_weight: Array) -> Array:
    """log p(X | Y) under the prior, with means and covariances integrated out, by the weight of its covariance (m,)."""
    used = seen.variance > 0
    squares, rows = seen.shifted(mean_weight, mean), free_rows(mean_weight, seen.count)
    means = mean_evidence(mean_weight, seen.count, int(used.sum()) if seen.full else 1)
    if seen.tied:
        squares, rows = squares.sum(axis=0, keepdims=True), rows.sum(axis=0, keepdims=True)
    if seen.full:
        spread, log_det = _whitened(squares[:, used][:, :, used], covariance[:, used][:, :, used])
        each = normal_evidence(cov_weight, spread, rows[:, 0], log_det)
        return np.asarray(each.sum(axis=1) + means.sum())
    spread = np.maximum(squares[:, used] / covariance[:, used], 0.0)
    each = normal_evidence(cov_weight, spread[:, :, None], rows[:, used], np.log(covariance[:, used]))
    return np.asarray(each.sum(axis=(1, 2)) + means[:, used].sum())


def _whitened(squares: Array, covariance: Array) -> tuple[Array, Array]:
    """Eigenvalues (b, p) of cov0^-1 squares, and log|cov0| (b or 1,)."""
    lower = np.linalg.cholesky(covariance)
    each = np.broadcast_to(lower, squares.shape)
    half = [solve_triangular(a, b, lower=True, check_finite=False) for a, b in zip(each, squares, strict=True)]
    white = np.stack([solve_triangular(a, b.T, lower=True) for a, b in zip(each, half, strict=True)])
    log_det = 2.0 * np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
    return np.maximum(np.linalg.eigvalsh(white), 0.0), log_det
