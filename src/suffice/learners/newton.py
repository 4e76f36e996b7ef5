"""Newton's method for linear scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.base import BaseEstimator

from suffice._domain import Domain
from suffice._posterior import posterior
from suffice._vector import Array, Vector
from suffice.data import Batch, Data
from suffice.learners._descent import COUNT, NOT_NEGATIVE, Iterate, Rate, Watch, check, descend, recording
from suffice.learners._protocol import Fit, Observed, require
from suffice.learners.gradient import penalty, start
from suffice.losses import Costs, Losses
from suffice.models import Model, Statistics

DENSE = 2000  # coefficients above which the Newton equations are solved by conjugate gradients
SEPARATED = 1e-3  # log loss per row, without a mistake, below which unpenalised coefficients head for infinity


@dataclass(frozen=True, eq=False, repr=False)
class _Curved(Vector):
    """Losses, gradient D'W (k, d + 1), and curvature: whole (k, d + 1, k, d + 1), or its diagonal (k, d + 1)."""

    losses: Losses
    gradient: Array
    curvature: Array


@dataclass(frozen=True)
class _EvaluateCurved:
    """One pass: the scores' gradient and curvature, D the design and P the posterior.

    H[a, b] = D' diag(p_a (1(a = b) - p_b)) D
    """

    model: Any
    theta: Any
    domain: Domain
    whole: bool

    def __call__(self, batch: Batch) -> _Curved:
        Y = batch.Y.onto(self.domain.classes)
        joint, D = self.model.log_joint(batch.X, self.theta), self.model.design(batch.X, self.domain)
        losses, W = Costs.equal(len(self.domain.classes))(joint, Y)
        P, weight = posterior(joint), np.where(Y.codes >= 0, Y.weight, 0.0)
        if not self.whole:
            return _Curved(losses, W.T @ D, (weight[:, None] * P * (1 - P)).T @ D**2)
        k, width = P.shape[1], D.shape[1]
        H = np.empty((k, width, k, width))
        for a in range(k):
            for b in range(a, k):
                share = weight * P[:, a] * ((a == b) - P[:, b])
                H[a, :, b, :] = (D * share[:, None]).T @ D
                H[b, :, a, :] = H[a, :, b, :].T
        return _Curved(losses, W.T @ D, H)


@dataclass(frozen=True)
class _Curvature:
    """The product of the curvature with slopes V (k, d + 1), summed over a batch."""

    model: Any
    theta: Any
    domain: Domain
    V: Array

    def __call__(self, batch: Batch) -> Array:
        Y, D = batch.Y.onto(self.domain.classes), self.model.design(batch.X, self.domain)
        P = posterior(self.model.log_joint(batch.X, self.theta))
        moved = P * (D @ self.V.T)
        share = np.where(Y.codes >= 0, Y.weight, 0.0)[:, None] * (moved - P * moved.sum(axis=1, keepdims=True))
        return np.asarray(share.T @ D)


@dataclass(eq=False)
class _Direction:
    """The Newton step H^-1 g (k, d + 1), solved when it is first asked for."""

    gradient: Array
    curvature: Array  # with the penalty: whole, or its diagonal
    product: Callable[[Array], Array]

    @cached_property
    def step(self) -> Array:
        shape, size = self.gradient.shape, self.gradient.size
        if self.curvature.ndim == 4 and shape[0] == 2:  # one class is minus the other: half the unknowns
            half = _solve(self.curvature[1, :, 1] - self.curvature[1, :, 0], self.gradient[1], 0)
            return np.stack([-half, half])
        if self.curvature.ndim == 4:
            return _solve(self.curvature.reshape(size, size), self.gradient.ravel(), shape[0]).reshape(shape)
        scale = np.maximum(self.curvature.ravel(), 1e-12 * self.curvature.max())
        operator = LinearOperator((size, size), matvec=lambda v: self.product(v.reshape(shape)).ravel())
        condition = LinearOperator((size, size), matvec=lambda v: v / scale)
        solved, _ = cg(operator, self.gradient.ravel(), rtol=1e-3, maxiter=100, M=condition)
        return np.asarray(solved.reshape(shape))


def _solve(H: Array, g: Array, k: int) -> Array:
    """H^-1 g by Cholesky, damped as far as it takes, for the slopes of k classes.

    The same slopes added to all classes change nothing, so that H is singular in that direction, in which g is zero: a
    ridge there makes H regular and leaves the solution as it is.
    """
    level = max(np.trace(H) / len(H), 1e-300)
    same = np.kron(np.full((k, k), level / k), np.eye(len(H) // k)) if k else 0.0
    damping = 1e-12
    while True:
        factor, failed = linalg.lapack.dpotrf(H + same + damping * level * np.eye(len(H)), lower=1)
        if not failed:
            return np.asarray(linalg.lapack.dpotrs(factor, g, lower=1)[0])
        damping *= 100


@dataclass(frozen=True, eq=False)
class NewtonDescent:
    """eta <- eta + rate H^-1 (gradient - l2 penalised)."""

    model: Any  # resolved, with a design
    data: Data
    whole: Statistics
    l2: float

    def evaluate(self, eta: Any) -> Iterate:
        domain = self.whole.domain
        theta = self.model.from_natural(eta, domain)
        dense = (len(domain.classes) - 1) * (domain.width + 1) <= DENSE
        got = self.data.sum(_EvaluateCurved(self.model, theta, domain, dense))
        pulled = self.model.penalised(eta)
        ridge = self.l2 * _flat(self.model.penalised(eta.map(np.ones_like)))
        diagonal = np.einsum("ijij->ij", got.curvature) if dense else got.curvature
        diagonal += ridge

        def product(V: Array) -> Array:
            return np.asarray(self.data.sum(_Curvature(self.model, theta, domain, V)) + ridge * V)

        direction = _Direction(got.gradient - self.l2 * _flat(pulled), got.curvature, product)
        mass = float(self.whole.mass.sum())
        objective = got.losses.means()["log_loss"] + penalty(self.l2, pulled, eta) / mass
        return Iterate(eta, theta, got.losses, direction, objective)

    def step(self, at: Iterate, rate: float) -> Any:
        step = rate * at.direction.step
        return at.point + type(at.point)(step[:, 0], step[:, 1:])


def _flat(eta: Any) -> Array:
    return np.column_stack([eta.intercept, eta.coef])


class Newton(BaseEstimator):
    """Newton's method on the penalised log loss of `LogisticRegression`: few passes, to the optimum.

        minimise sum_i -log p(y_i | x_i) + 1/2 l2 sum_j (sd_j w_j)^2

    The step is shortened where it does not lead down; the equations are solved by Cholesky factors, above 2,000
    coefficients by conjugate gradients; nothing is inverted. The penalty weighs the slopes of standardised features, so
    that units do not matter; on such features l2 is 1 / C of scikit-learn.

    Parameters
    ----------
    l2 : float, default=1.0
        Weight of the penalty; 0 is maximum likelihood, which separable classes do not have.
    max_iter : int, default=100
        Passes over the data (besides those of conjugate gradients).
    tol : float, default=1e-9
        Fall of the objective in an iteration, per row, at which it has settled.
    verbose : int, default=0
        1 shows progress.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> round(LogisticRegression(learner=Newton(l2=0.1)).fit(X, y).score(X, y), 2)
    0.98

    References
    ----------
    Bhowmik: Naive Bayes vs logistic regression. Inteligencia Artificial 18(56), 2015, (19)-(21): the step is
    + H^-1 X'(Y - P).
    """

    def __init__(self, l2: float = 1.0, max_iter: int = 100, tol: float = 1e-9, verbose: int = 0) -> None:
        self.l2 = l2
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose

    def learn(self, model: Model[Any, Any], data: Data) -> Fit:
        """Minimise the penalised log loss of a model on a data set."""
        check(self, l2=NOT_NEGATIVE, max_iter=COUNT, tol=NOT_NEGATIVE)
        require(model, self, "design")
        whole = data.sum(Observed(model))
        problem = NewtonDescent(model.resolve(whole), data, whole, self.l2)
        with recording(self) as record:
            rate = Rate(1.0, adaptive=True, grow=2.5, most=1.0)
            kept, ended = descend(
                problem, start(problem.model, whole, "data", self), rate, Watch("log-loss", self.tol, 1.0), record
            )
            means = kept.losses.means()
            if not self.l2 and not means["error"] and means["log_loss"] < SEPARATED:
                record.warn("the classes are separable, so that coefficients grow without end", "set l2 above 0")
        return Fit(problem.model, kept.theta, whole, record.history, len(record), ended)
