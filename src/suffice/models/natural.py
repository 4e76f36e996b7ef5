"""Natural parameters: the coordinates in which the gradient of the log loss is a difference of statistics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice._core.vector import Array, Vector
from suffice.models.gaussian.moments import Moments, ratio


@dataclass(frozen=True, eq=False, repr=False)
class LogTables(Vector):
    """log p(y) (k,), and log p(x_j = v | y) side by side (cells, k)."""

    intercept: Array
    cells: Array


@dataclass(frozen=True, eq=False, repr=False)
class Slopes(Vector):
    """Scores intercept_y + coef_y'z, for features z about the origin in units of their spread: (k,), (k, d)."""

    intercept: Array
    coef: Array


@dataclass(frozen=True, eq=False, repr=False)
class Quadratic(Vector):
    """log p(y) (k,), cov^-1 mean (k, d) and -cov^-1 / 2, whole (k, d, d) or diagonal (k, d), for standardised features.

    log p(z, y) = intercept + linear'z + z' square z - A,    A = -1/4 linear' square^-1 linear - 1/2 log|-2 square|
    """

    intercept: Array
    linear: Array
    square: Array

    @classmethod
    def of(cls, class_log_prob: Array, mean: Array, covariance: Array) -> Quadratic:
        """From means and covariances of standardised features."""
        if covariance.ndim == 2:
            return cls(class_log_prob, mean / covariance, -0.5 / covariance)
        precision = np.linalg.inv(covariance)
        return cls(class_log_prob, np.einsum("kij,kj->ki", precision, mean), -0.5 * precision)

    def moments(self) -> tuple[Array, Array]:
        """Means (k, d) and covariances, whole or diagonal."""
        if self.square.ndim == 2:
            covariance = -0.5 / self.square
            return covariance * self.linear, covariance
        covariance = -0.5 * np.linalg.inv(self.square)
        return np.einsum("kij,kj->ki", covariance, self.linear), covariance

    def gradient(self, mass: Array, s: Moments, spread: Array) -> Quadratic:
        """Minus the gradient of the log loss: S(X, W), about the mean of all rows, less the mass at the parameters."""
        mean, covariance = self.moments()
        unit = ratio(1.0, spread)
        linear = s.first * unit - s.count * mean * (spread > 0)
        if self.square.ndim == 2:
            return Quadratic(mass, linear, (s.second * unit**2 - s.count * (mean**2 + covariance)) * (spread > 0))
        outer = mean[:, :, None] * mean[:, None, :] + covariance
        used = np.outer(spread > 0, spread > 0)
        return Quadratic(mass, linear, (s.second * np.outer(unit, unit) - s.count[:, :, None] * outer) * used)

    def feasible(self, floor: float) -> Quadratic:
        """Probabilities on the simplex, and variances (eigenvalues) of at least `floor` about means as they are."""
        class_log_prob = project_log(self.intercept[None])[0]
        if self.square.ndim == 2:
            variance, kept = _floored(-2.0 * self.square, floor)
            return Quadratic(class_log_prob, kept * self.linear, -0.5 / variance)
        precision, axes = np.linalg.eigh(-2.0 * self.square)
        variance, kept = _floored(precision, floor)
        linear = np.einsum("kij,kj,klj,kl->ki", axes, kept, axes, self.linear)
        return Quadratic(class_log_prob, linear, np.einsum("kij,kj,klj->kil", axes, -0.5 / variance, axes))

    def least_variance(self) -> float:
        """The smallest variance (eigenvalue) of all classes."""
        covariance = self.moments()[1]
        return float((covariance if covariance.ndim == 2 else np.linalg.eigvalsh(covariance)).min())


def _floored(precision: Array, floor: float) -> tuple[Array, Array]:
    """Variances of at least `floor`, and by what precision times mean changes if the mean is to stay.

    A precision that is not positive has neither variance nor mean: the least of the one, zero for the other.
    """
    variance = np.divide(1.0, precision, out=np.full(precision.shape, floor), where=precision > 0)
    variance = np.maximum(variance, floor)
    return variance, np.divide(1.0, precision * variance, out=np.zeros(precision.shape), where=precision > 0)


def project_log(log_p: Array) -> Array:
    """Rows (m, r) of log-weights as logarithms of the nearest probabilities, in Euclidean distance.

    >>> np.exp(project_log(np.log([[0.5, 0.7, 1e-9]]))).round(3)
    array([[0.4, 0.6, 0. ]])
    """
    p = np.exp(log_p)
    ordered = -np.sort(-p, axis=1)
    excess = (np.cumsum(ordered, axis=1) - 1.0) / np.arange(1, p.shape[1] + 1)
    support = (ordered > excess).sum(axis=1)
    p = np.maximum(p - excess[np.arange(len(p)), support - 1][:, None], 0.0)
    return np.asarray(np.log(p, out=np.full(p.shape, MIN_LOG_PROBABILITY), where=p > 0))


# log p of a probability that the projection makes zero: the least number whose exponential is above zero.
MIN_LOG_PROBABILITY = -745.0
