"""Priors: what a model believes before it has seen a row, as pseudo-rows added to its statistics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator

from suffice._check import NOT_NEGATIVE, check_value
from suffice._domain import CategoricalFeatures, Features
from suffice._labels import by_label, show_all
from suffice._notice import Notice
from suffice._vector import Array

P = TypeVar("P")


class Dirichlet(BaseEstimator):
    """Pseudo-counts for tables: every cell of a table of r cells begins with `weight`, or with `weight / r`.

        p(x = v | y) = (n(v, y) + a) / (n(y) + r a),   a = weight (per="cell") or weight / r (per="table")

    Parameters
    ----------
    weight : float, default=1.0
        How much the prior counts, in rows. 1 per cell is Laplace's rule; 1 per table is an equivalent sample size of
        one row, the MAP estimate of [1]_ (appendix B, with m0 = 1).
    per : {"cell", "table"}, default="cell"
        Whether `weight` is that of each cell or is shared by the cells of a table.

    Examples
    --------
    >>> Dirichlet(1.0, per="table").cell(np.array([2, 4]))
    array([0.5 , 0.25])

    References
    ----------
    .. [1] Perez, Echegoyen, Santafe: Risk-based calibration for probabilistic classifiers.
    """

    def __init__(self, weight: float = 1.0, per: str = "cell") -> None:
        self.weight = weight
        self.per = per

    def cell(self, size: Array) -> Array:
        """The pseudo-count of a cell in tables of `size` cells."""
        if self.per not in ("cell", "table"):
            raise ValueError(f"Dirichlet: per must be 'cell' or 'table', got {self.per!r}")
        weight = _weight(self.weight, "Dirichlet: weight")
        return np.full(np.shape(size), weight) if self.per == "cell" else weight / np.maximum(size, 1)


class GaussianPrior(BaseEstimator):
    """Pseudo-rows for means and covariances: m1 rows at the prior mean, m2 rows' worth of the prior covariance.

        mean' = (m1 mean0 + n mean) / (m1 + n),     cov' = (m2 cov0 + n cov) / (m2 + n)

    Where `mean` or `covariance` is None it is taken from all rows together, whatever their class: their mean, and the
    diagonal matrix of their variances. The estimates are then independent of the units of the features.

    Parameters
    ----------
    mean_weight, cov_weight : float, default=10.0
        m1 and m2, in rows.
    mean : None, float or array of shape (d,), default=None
        The prior mean.
    covariance : None, float, array of shape (d,) or (d, d), default=None
        The prior covariance; a number or a vector stands for a diagonal matrix.

    Examples
    --------
    >>> GaussianPrior(5, 5, mean=0.0).resolve(np.array([2.0]), np.array([4.0])).covariance
    array([4.])

    References
    ----------
    Perez, Echegoyen, Santafe: Risk-based calibration for probabilistic classifiers, appendix B.
    """

    def __init__(
        self, mean_weight: float = 10.0, cov_weight: float = 10.0, mean: Any = None, covariance: Any = None
    ) -> None:
        self.mean_weight = mean_weight
        self.cov_weight = cov_weight
        self.mean = mean
        self.covariance = covariance

    def resolve(self, mean: Array, variance: Array) -> GaussianPrior:
        """The same prior with its mean (d,) and covariance (d,) or (d, d) filled in from those of all rows."""
        d = len(mean)
        prior_mean = mean if self.mean is None else _filled(self.mean, d, "mean")
        covariance = variance if self.covariance is None else _filled(self.covariance, d, "covariance", matrix=True)
        return GaussianPrior(
            _weight(self.mean_weight, "GaussianPrior: mean_weight"),
            _weight(self.cov_weight, "GaussianPrior: cov_weight"),
            prior_mean,
            covariance,
        )


class GammaPrior(BaseEstimator):
    """Pseudo-rows for rates of counts: m rows at the prior rate, which is that of all rows if it is None.

        rate' = (m rate0 + total) / (m + count)

    It is the mode under a Gamma prior with the shape m rate0 + 1 and the inverse scale m.

    Parameters
    ----------
    weight : float, default=1.0
        m, in rows.
    rate : None, float or array of shape (d,), default=None
        The prior rate.

    Examples
    --------
    >>> GammaPrior(2.0).rows(np.array([0.5, 3.0]))
    (2.0, array([0.5, 3. ]))
    """

    def __init__(self, weight: float = 1.0, rate: Any = None) -> None:
        self.weight = weight
        self.rate = rate

    def rows(self, overall: Array) -> tuple[float, Array]:
        """How many rows the prior counts for, and their rates (d,), given those of all rows."""
        weight = _weight(self.weight, "GammaPrior: weight")
        if self.rate is None:
            return weight, overall
        rate = np.asarray(self.rate, dtype=float)
        if rate.ndim and rate.shape != overall.shape:
            raise ValueError(f"GammaPrior: rate has shape {rate.shape}, but there are {len(overall)} features")
        if not np.isfinite(rate).all() or (rate < 0).any():
            raise ValueError(f"GammaPrior: rate must be finite numbers of at least 0, got {self.rate!r}")
        return weight, np.broadcast_to(rate, overall.shape)


FLAT = GaussianPrior(0.0, 0.0)  # maximum likelihood


def dirichlet_prior(prior: Any) -> Dirichlet | None:
    """What the parameter `prior` of an estimator for categories means."""
    return Dirichlet() if _is_default(prior) else _typed(prior, Dirichlet)


def gaussian_prior(prior: Any) -> GaussianPrior:
    """What the parameter `prior` of an estimator for numbers means."""
    return GaussianPrior() if _is_default(prior) else _typed(prior, GaussianPrior) or FLAT


def gamma_prior(prior: Any) -> GammaPrior | None:
    """What the parameter `prior` of an estimator for counts means."""
    return GammaPrior() if _is_default(prior) else _typed(prior, GammaPrior)


def pseudo_rows(prior: Any, features: Features) -> float:
    """How many rows a prior counts for; where that depends on the number of categories, in most columns."""
    if isinstance(prior, Dirichlet) and isinstance(features, CategoricalFeatures):
        return float(np.median(prior.cell(features.sizes) * features.sizes))
    return float(max(prior.mean_weight, prior.cov_weight)) if isinstance(prior, GaussianPrior) else 0.0


def outweighed(prior: Any, features: Features, weight: Array, called: str) -> tuple[Notice, ...]:
    """A notice if rows have been given weights so small that all of them together count for less than the prior."""
    total, n, rows = weight.sum(), len(weight), pseudo_rows(prior, features)
    if total >= min(rows, n) * (1 - 1e-6):  # few rows are not the fault of the weights
        return ()
    said = f"{called} sums to {total:.3g}, but the prior counts for {rows:g} rows: little but the prior is learned"
    advice = f"Weight 1 is one row: scale {called} to sum to the number of rows, {n}, or give a lighter prior"
    return (Notice(f"{said}. {advice}"),)


def _is_default(prior: Any) -> bool:
    return isinstance(prior, str) and prior == "default"


def _typed(prior: Any, kind: type[P]) -> P | None:
    if prior is not None and not isinstance(prior, kind):
        raise ValueError(f"prior must be 'default', None or a {kind.__name__}, got {prior!r}")
    return prior


def _weight(value: Any, called: str) -> float:
    check_value(value, called, NOT_NEGATIVE)
    return float(value)


def _filled(value: Any, d: int, called: str, matrix: bool = False) -> Array:
    value = np.asarray(value, dtype=float)
    if not np.isfinite(value).all():
        raise ValueError(f"GaussianPrior: {called} must be finite")
    if value.ndim and value.shape != (d,) and not (matrix and value.shape == (d, d)):
        raise ValueError(f"GaussianPrior: {called} has shape {value.shape}, but there are {d} features")
    if value.ndim == 2 and not np.allclose(value, value.T):
        raise ValueError(f"GaussianPrior: {called} must be symmetric")
    if matrix and not _positive(value):
        least = np.linalg.eigvalsh(value)[0] if value.ndim == 2 else value.min()
        what = "eigenvalue" if value.ndim == 2 else "variance"
        raise ValueError(f"GaussianPrior: {called} must be positive definite, but its least {what} is {least:.3g}")
    return value if value.ndim else np.full(d, float(value))


def _positive(covariance: Array) -> bool:
    """Whether variances, or a matrix in the units of its variances, are positive."""
    variances = np.diag(covariance) if covariance.ndim == 2 else covariance
    if covariance.ndim < 2 or not (variances > 0).all():
        return bool((variances > 0).all())
    spread = np.sqrt(variances)
    rounding = len(spread) * np.finfo(float).eps
    return bool(np.linalg.eigvalsh(covariance / np.outer(spread, spread))[0] > rounding)


def log_class_prior(mass: Array, classes: Array, class_prior: Any) -> Array:
    """The logarithm of each class probability (k,): given, or the share of its mass (smoothed by a Dirichlet prior).

    >>> log_class_prior(np.array([1.0, 3.0]), np.array(["a", "b"]), None).round(2)
    array([-1.39, -0.29])
    """
    if class_prior is None or isinstance(class_prior, Dirichlet):
        if class_prior is not None:
            mass = mass + class_prior.cell(np.asarray(len(mass)))
        probability = mass / mass.sum()
    else:
        probability = _given(class_prior, classes)
    return np.asarray(np.log(probability, out=np.full(len(mass), -np.inf), where=probability > 0))


def _given(class_prior: Any, classes: Array) -> Array:
    if isinstance(class_prior, Mapping):
        return _by_class(class_prior, classes)
    if isinstance(class_prior, str):
        if class_prior != "uniform":
            raise ValueError(f"class_prior must be 'uniform', None, probabilities, or a Dirichlet, got {class_prior!r}")
        return np.full(len(classes), 1.0 / max(1, len(classes)))
    p = np.asarray(class_prior, dtype=float)
    if p.shape != classes.shape:
        raise ValueError(f"class_prior has {p.size} entries, but there are {len(classes)} classes: {show_all(classes)}")
    return _probabilities(p)


def _by_class(class_prior: Mapping[Any, Any], classes: Array) -> Array:
    """The probability of each class; those of classes that are still to come are left out of the whole."""
    found, to_come = by_label(class_prior, classes)
    missing = [label for label, p in zip(classes, found, strict=True) if p is None]
    if missing:
        raise ValueError(f"class_prior has no probability for the classes {show_all(missing)}")
    _probabilities(np.asarray(list(class_prior.values()), dtype=float))
    p = np.asarray(found, dtype=float)
    if not to_come:
        return p
    if not p.any():
        raise ValueError(f"class_prior is 0 for all classes that have come so far: {show_all(classes)}")
    return np.asarray(p / p.sum())


def _probabilities(p: Array) -> Array:
    if not (p >= 0).all() or not np.isclose(p.sum(), 1.0):
        raise ValueError(f"class_prior must be probabilities that sum to 1, got {p.tolist()}")
    return p
