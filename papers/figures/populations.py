"""Two classes to measure discriminants on, and the accuracy of these as the class probabilities change."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import logit, ndtr
from sklearn.base import clone

from papers import Array
from papers.figures.views import Models, View, by_name, deviations
from suffice import NoTangentPlaneWarning, PoorFitWarning, QuadraticDiscriminantAnalysis
from suffice.tangent import TangentDiscriminant

OPTIMAL, QUADRATIC = "Optimal Bayes", "Quadratic Bayes"
PRIORS = np.linspace(0.02, 0.98, 49)

LogRatio = Callable[[Array], Array]


def rows_with_moments(means: Any, covariances: Any) -> tuple[Array, Array]:
    """Return the fewest rows with given means and covariances, to fit models that depend on nothing else.

        m_c + sqrt(d) L_ci  and  m_c - sqrt(d) L_ci,   i = 1..d,   L_c L_c' = S_c

    Parameters
    ----------
    means : array of shape (k, d)
    covariances : array of shape (k, d, d)

    Returns
    -------
    X : array of shape (2 d k, d)
    y : array of shape (2 d k,)
        0, ..., k - 1, equally often; give other shares as `class_prior`.

    Examples
    --------
    >>> X, y = rows_with_moments([[0.0, 0.0], [3.0, 1.0]], [[[1.0, 0.5], [0.5, 1.0]], [[2.0, 0.0], [0.0, 1.0]]])
    >>> np.cov(X[y == 0].T, bias=True).round(12)
    array([[1. , 0.5],
           [0.5, 1. ]])

    References
    ----------
    Julier, Uhlmann: Unscented filtering and nonlinear estimation (2004), doi:10.1109/JPROC.2003.823141.
    """
    means, covariances = _moments(means, covariances)
    d = means.shape[1]
    arms = np.sqrt(d) * np.stack([_root(one).T for one in covariances])  # (k, d, d)
    X = means[:, None, :] + np.concatenate([arms, -arms], axis=1)
    return X.reshape(-1, d), np.repeat(np.arange(len(means)), 2 * d)


def _moments(means: Any, covariances: Any) -> tuple[Array, Array]:
    """Validate means (k, d) and covariances (k, d, d)."""
    means, covariances = np.asarray(means, dtype=float), np.asarray(covariances, dtype=float)
    if means.ndim != 2 or covariances.shape != (*means.shape, means.shape[1]):
        raise ValueError(
            f"means must be (k, d) and covariances (k, d, d), got shapes {means.shape} and {covariances.shape}"
        )
    if not (np.isfinite(means).all() and np.isfinite(covariances).all()):
        raise ValueError("means and covariances must be finite")
    size = abs(covariances).max(axis=(1, 2))
    for c, (one, most) in enumerate(zip(covariances, size, strict=True)):
        if abs(one - one.T).max() > 1e-8 * most or np.linalg.eigvalsh(one)[0] < -1e-8 * most:
            raise ValueError(f"covariance {c} must be symmetric and have no negative eigenvalue")
    return means, covariances


def _root(covariance: Array) -> Array:
    """Return L with LL' = S; S may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


class Population(ABC):
    """Two classes on which discriminants are measured."""

    @property
    @abstractmethod
    def bayes_name(self) -> str:
        """The name of the Bayes rule to compare with."""

    @property
    @abstractmethod
    def ratios(self) -> tuple[Array, Array]:
        """log f2(x) - log f1(x) of rows of each class, sorted."""

    @abstractmethod
    def training(self) -> tuple[Array, Array]:
        """Rows X, y with the means and covariances of the classes."""

    @abstractmethod
    def errors(self, model: TangentDiscriminant) -> Array:
        """The share of each class (2,) that a fitted discriminant assigns to the other."""

    def bayes_errors(self, priors: Array) -> Array:
        """Errors (m, 2) of the Bayes rule by P1; it predicts class 2 where the ratio is above ln(P1 / P2)."""
        first, second = self.ratios
        below = [np.searchsorted(ratio, logit(priors), side="right") / len(ratio) for ratio in (first, second)]
        return np.column_stack([1.0 - below[0], below[1]])


@dataclass(frozen=True, eq=False)
class Gaussians(Population):
    """Two normal classes: errors of planes are exact, those of the optimal Bayes rule are counted on samples.

    Parameters
    ----------
    means : array of shape (2, d)
    covariances : array of shape (2, d, d)
    n_rows : int, default=100_000
        Rows to sample from each class.
    seed : int, default=0

    Examples
    --------
    >>> from suffice import MinimaxProbabilityMachine
    >>> classes = Gaussians([[0.0], [4.0]], [[[1.0]], [[1.0]]])
    >>> classes.errors(MinimaxProbabilityMachine().fit(*classes.training())).round(4)
    array([0.0228, 0.0228])
    """

    means: Any
    covariances: Any
    n_rows: int = 100_000
    seed: int = 0

    def __post_init__(self) -> None:
        means, covariances = _moments(self.means, self.covariances)
        if len(means) != 2:
            raise ValueError(f"Gaussians are two classes, got {len(means)} means")
        object.__setattr__(self, "means", means)
        object.__setattr__(self, "covariances", covariances)

    @classmethod
    def of(cls, view: View) -> Gaussians:
        """Normal classes with the moments that a discriminant was learned from."""
        return cls(view.means, view.covariances)

    @property
    def bayes_name(self) -> str:
        return OPTIMAL

    def training(self) -> tuple[Array, Array]:
        return rows_with_moments(self.means, self.covariances)

    def errors(self, model: TangentDiscriminant) -> Array:
        towards = _log_odds(model, self.means) * np.array([-1.0, 1.0])
        with np.errstate(divide="ignore"):  # the constant rule is infinitely far from one mean
            return np.asarray(ndtr(-towards / deviations(model.coef_[0], self.covariances)))

    @cached_property
    def ratios(self) -> tuple[Array, Array]:
        """log f2 - log f1 of rows sampled from each class."""
        log_ratio, rng = quadratic_ratio(self.means, self.covariances), np.random.default_rng(self.seed)
        drawn = (rng.normal(size=(self.n_rows, len(mean))) for mean in self.means)
        rows = [mean + z @ _root(s).T for mean, s, z in zip(self.means, self.covariances, drawn, strict=True)]
        return np.sort(log_ratio(rows[0])), np.sort(log_ratio(rows[1]))


@dataclass(frozen=True, eq=False)
class Samples(Population):
    """Two classes of any shape, given by rows: discriminants get their moments, errors are counted.

    Parameters
    ----------
    first, second : array of shape (n_j, d)
        Rows of each class.
    log_ratio : callable, default=None
        log f2(x) - log f1(x) of rows (n, d), for the optimal Bayes rule. None is the quadratic rule, which is optimal
        for normal classes only.

    Examples
    --------
    >>> from suffice import FisherDiscriminant
    >>> classes = Samples([[0.0], [1.0], [2.0], [5.0]], [[4.0], [5.0], [6.0], [7.0]])
    >>> classes.errors(FisherDiscriminant().fit(*classes.training()))
    array([0.25, 0.25])
    """

    first: Any
    second: Any
    log_ratio: LogRatio | None = None

    def __post_init__(self) -> None:
        for name in ("first", "second"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=float))
        a, b = self.first, self.second
        if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[1] or min(len(a), len(b)) < 2:
            raise ValueError(f"each class needs two rows or more of the same features, got shapes {a.shape}, {b.shape}")

    @property
    def bayes_name(self) -> str:
        return QUADRATIC if self.log_ratio is None else OPTIMAL

    @cached_property
    def _means_and_covariances(self) -> tuple[Array, Array]:
        rows = (self.first, self.second)
        covariances = [np.atleast_2d(np.cov(one.T, bias=True)) for one in rows]
        return np.stack([one.mean(axis=0) for one in rows]), np.stack(covariances)

    def training(self) -> tuple[Array, Array]:
        return rows_with_moments(*self._means_and_covariances)

    def errors(self, model: TangentDiscriminant) -> Array:
        return np.array([np.mean(_log_odds(model, self.first) > 0), np.mean(_log_odds(model, self.second) <= 0)])

    @cached_property
    def ratios(self) -> tuple[Array, Array]:
        """log f2 - log f1 of the rows of each class."""
        log_ratio = quadratic_ratio(*self._means_and_covariances) if self.log_ratio is None else self.log_ratio
        return np.sort(log_ratio(self.first)), np.sort(log_ratio(self.second))


def _log_odds(model: TangentDiscriminant, X: Array) -> Array:
    """The log-odds of the second class (n,); the model may have learned names of features."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        return np.asarray(model.decision_function(X))


def quadratic_ratio(means: Array, covariances: Array, prior: Sequence[float] | Array = (0.5, 0.5)) -> LogRatio:
    """ln P2 f2(x) - ln P1 f1(x) of normal classes as a function of rows (n, d)."""
    rule = QuadraticDiscriminantAnalysis(prior=None, class_prior=np.asarray(prior))
    fitted = rule.fit(*rows_with_moments(means, covariances))
    return lambda X: np.asarray(fitted.decision_function(X))


@dataclass(frozen=True, eq=False)
class PriorSweep:
    """Accuracies of several rules by P1: `names` (r,), `priors` (m,), `accuracy` (r, m)."""

    names: tuple[str, ...]
    priors: Array
    accuracy: Array

    @classmethod
    def average(cls, sweeps: Sequence[PriorSweep]) -> PriorSweep:
        """Average the accuracies of several sweeps of the same rules over the same priors."""
        sweeps = list(sweeps)
        if not sweeps or any(s.names != sweeps[0].names or len(s.priors) != len(sweeps[0].priors) for s in sweeps):
            raise ValueError("PriorSweep.average takes sweeps, at least one, of the same rules over the same priors")
        return replace(sweeps[0], accuracy=np.mean([s.accuracy for s in sweeps], axis=0))


def accuracy_by_prior(models: Models, classes: Population, priors: Any = PRIORS, *, bayes: bool = True) -> PriorSweep:
    """Accuracies of discriminants that know the moments of the classes and P1, as P1 changes.

        accuracy(P1) = P1 (1 - e1) + P2 (1 - e2),    e_j: share of class j assigned to the other

    Parameters
    ----------
    models : tangent discriminant, list or dict of them
        Fitted or not: at every prior a copy is learned from the means and covariances of the classes.
    classes : Gaussians or Samples
        The classes to measure on.
    priors : array of shape (m,)
        Probabilities P1 of the first class, strictly between 0 and 1; by default from 0.02 to 0.98.
    bayes : bool, default=True
        Also measure the optimal Bayes rule; it comes last.

    Returns
    -------
    PriorSweep

    Examples
    --------
    >>> from suffice import FisherDiscriminant, LinearBayes
    >>> classes = Gaussians([[0.0], [2.0]], [[[1.0]], [[1.0]]])
    >>> sweep = accuracy_by_prior([FisherDiscriminant(), LinearBayes()], classes, [0.1, 0.5], bayes=False)
    >>> sweep.accuracy.round(3)
    array([[0.841, 0.841],
           [0.93 , 0.841]])

    References
    ----------
    Martinez-Garcia: thesis on disjoint tangent configurations, 4.2.2.
    """
    found, priors = by_name(models), checked_priors(priors)
    for name, model in found.items():
        if model.learner is not None and not model.learner.exact:
            raise ValueError(f"{name} must learn in closed form, from moments alone; its learner needs the rows")
    X, y = checked_classes(classes).training()
    shares = np.column_stack([priors, 1.0 - priors])  # (m, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoTangentPlaneWarning)  # extreme priors leave no plane between the means,
        warnings.simplefilter("ignore", PoorFitWarning)  # or none better than the constant rule
        errors = [
            np.array([classes.errors(clone(model).set_params(class_prior=share).fit(X, y)) for share in shares])
            for model in found.values()
        ]
    if bayes:
        errors.append(classes.bayes_errors(priors))
    names = (*found, classes.bayes_name) if bayes else tuple(found)
    return PriorSweep(names, priors, 1.0 - weighted_error(priors, np.stack(errors)))


def weighted_error(priors: Array, errors: Array) -> Array:
    """Return P1 e1 + P2 e2 for errors (..., 2) by class."""
    return np.asarray(priors * errors[..., 0] + (1.0 - priors) * errors[..., 1])


def checked_priors(priors: Any) -> Array:
    """Validate probabilities (m,) strictly between 0 and 1."""
    given = np.atleast_1d(np.asarray(priors, dtype=float))
    if given.ndim != 1 or not len(given) or not ((given > 0) & (given < 1)).all():
        raise ValueError(f"priors must be numbers between 0 and 1, exclusive, got {priors!r}")
    return given


def checked_classes(classes: Any) -> Population:
    """Validate classes to measure on."""
    if not isinstance(classes, Population):
        raise ValueError(
            "classes must be Gaussians(means, covariances) or Samples(rows of one, rows of the other), "
            f"got a {type(classes).__name__}"
        )
    return classes
