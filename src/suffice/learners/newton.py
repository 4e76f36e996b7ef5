"""Newton's method for linear scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeAlias, cast

import numpy as np
from scipy import linalg

from suffice._check import COUNT, NOT_NEGATIVE, check
from suffice._posterior import posterior
from suffice._vector import Array
from suffice.data import Batch, Data
from suffice.learners._base import Ask, Course, Iterative, Measured, Outcome, Views
from suffice.learners._descent import Place, Rate, descend
from suffice.learners._stopping import Iterate, Settled, Watch
from suffice.learners.gradient import penalty
from suffice.losses import Loss
from suffice.models import AnyStatistics, Curved, Slopes, Sums
from suffice.models._base import CurvedModel, Share
from suffice.models._products import gram

Scored: TypeAlias = CurvedModel[Sums, object, Slopes]  # whatever its sums and parameters are
DENSE = 2000  # coefficients above which the Newton equations are solved by conjugate gradients
SEPARATED = 1e-3  # log loss per row, without a mistake, below which unpenalised coefficients head for infinity


@dataclass(frozen=True, eq=False, repr=False)
class _Curved(Measured):
    """Losses, gradient D'W (k, d + 1), and curvature: whole (k, d + 1, k, d + 1), or its diagonal (k, d + 1)."""

    gradient: Array
    curvature: Array


@dataclass(frozen=True)
class _EvaluateCurved:
    """One pass: the scores' gradient and curvature, D the design and P the posterior.

    H[a, b] = D' diag(p_a (1(a = b) - p_b)) D
    """

    model: Scored
    theta: object
    classes: Array
    whole: bool

    def __call__(self, batch: Batch) -> _Curved:
        Y = batch.Y.onto(self.classes)
        joint, D = self.model.log_joint(batch.X, self.theta), self.model.design(batch.X)
        losses, W = Loss.equal(len(self.classes))(joint, Y)
        P, weight = posterior(joint), np.where(Y.codes >= 0, Y.weight, 0.0)
        if not self.whole:
            return _Curved(losses, W.T @ D, (weight[:, None] * P * (1 - P)).T @ D**2)
        return _Curved(losses, W.T @ D, _curvature(D, P, weight))


def _curvature(D: Array, P: Array, weight: Array) -> Array:
    """H (k, p, k, p): the blocks beside the diagonal are symmetric, and each row of blocks sums to zero."""
    k, width = P.shape[1], D.shape[1]
    H = np.zeros((k, width, k, width))
    for a, b in combinations(range(k), 2):
        H[a, :, b, :] = H[b, :, a, :] = gram(D, -weight * P[:, a] * P[:, b])
    for a in range(k):
        H[a, :, a, :] = -H[a].sum(axis=1)
    return H


@dataclass(frozen=True)
class _Curvature:
    """The product of the curvature with slopes V (k, d + 1), summed over a batch."""

    model: Scored
    theta: object
    classes: Array
    V: Array

    def __call__(self, batch: Batch) -> Array:
        Y, D = batch.Y.onto(self.classes), self.model.design(batch.X)
        P = posterior(self.model.log_joint(batch.X, self.theta))
        moved = P * (D @ self.V.T)
        share = np.where(Y.codes >= 0, Y.weight, 0.0)[:, None] * (moved - P * moved.sum(axis=1, keepdims=True))
        return np.asarray(share.T @ D)


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


def _dense_step(gradient: Array, curvature: Array) -> Array:
    """H^-1 g (k, p) for a whole curvature (k, p, k, p)."""
    k, p = gradient.shape
    if k == 2:  # one class is minus the other: half the unknowns
        half = _solve(curvature[1, :, 1] - curvature[1, :, 0], gradient[1], 0)
        return np.stack([-half, half])
    return _solve(curvature.reshape(k * p, k * p), gradient.ravel(), k).reshape(gradient.shape)


@dataclass(frozen=True, eq=False)
class NewtonDescent:
    """eta <- eta + rate H^-1 (gradient - l2 penalised)."""

    model: Scored  # resolved
    data: Data
    whole: AnyStatistics
    l2: float

    def evaluate(self, place: Place[Slopes]) -> Course[Iterate[Slopes, _Curved]]:
        """Losses, and as direction the gradient and the curvature, from one pass."""
        eta, theta = place
        classes, width = self.whole.domain.classes, self.whole.domain.width
        dense = (len(classes) - 1) * (width + 1) <= DENSE
        got: _Curved = yield Ask(self.data, _EvaluateCurved(self.model, theta, classes, dense))
        pulled = self.model.penalised(eta)
        diagonal = np.einsum("ijij->ij", got.curvature) if dense else got.curvature
        diagonal += self._ridge(eta)
        mass = float(self.whole.mass.sum())
        objective = got.losses.means()["log_loss"] + penalty(self.l2, pulled, eta) / mass
        direction = replace(got, gradient=got.gradient - self.l2 * _flat(pulled))
        return Iterate(eta, theta, got.losses, direction, objective)

    def _ridge(self, eta: Slopes) -> Array:
        return self.l2 * _flat(self.model.penalised(eta.map(np.ones_like)))

    def step(self, at: Iterate[Slopes, _Curved], rate: float) -> Course[Place[Slopes]]:
        """The Newton step, shortened; the equations are solved once for all lengths that are tried."""
        eta = at.point
        if "solved" not in at.cache:
            at.cache["solved"] = yield from self._solved(at)
        step = rate * at.cache["solved"]
        eta = eta + type(eta)(step[:, 0], step[:, 1:])
        return Place(eta, self.model.from_natural(eta))

    def _solved(self, at: Iterate[Slopes, _Curved]) -> Course[Array]:
        got, shape = at.direction, at.direction.gradient.shape
        if got.curvature.ndim == 4:
            return _dense_step(got.gradient, got.curvature)
        ridge = self._ridge(at.point).ravel()
        scale = np.maximum(got.curvature.ravel(), 1e-12 * got.curvature.max())

        def product(v: Array) -> Course[Array]:
            f = _Curvature(self.model, at.theta, self.whole.domain.classes, v.reshape(shape))
            summed: Array = yield Ask(self.data, f)
            return np.asarray(summed.ravel() + ridge * v)

        return (yield from conjugate_gradients(product, got.gradient.ravel(), scale)).reshape(shape)


def conjugate_gradients(
    product: Callable[[Array], Course[Array]], g: Array, scale: Array, rtol: float = 1e-3, max_iter: int = 100
) -> Course[Array]:
    """x of H x = g where only products with H can be asked for, preconditioned by 1 / scale."""
    x, r = np.zeros_like(g), g.copy()
    z = r / scale
    p, rz = z.copy(), float(r @ z)
    for _ in range(max_iter):
        if np.linalg.norm(r) <= rtol * np.linalg.norm(g):
            break
        q = yield from product(p)
        curvature = float(p @ q)
        if curvature <= 0:  # rounding: no further in this direction
            break
        length = rz / curvature
        x, r = x + length * p, r - length * q
        z = r / scale
        rz, before = float(r @ z), rz
        p = z + (rz / before) * p
    return x


def _flat(eta: Slopes) -> Array:
    return np.column_stack([eta.intercept, eta.coef])


class Newton(Iterative):
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
    Bhowmik: Naive Bayes vs logistic regression. Inteligencia Artificial 18(56), 2015, (19)-(21).
    """

    needs = (Curved,)

    def __init__(self, l2: float = 1.0, max_iter: int = 100, tol: float = 1e-9, verbose: int = 0) -> None:
        self.l2 = l2
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose

    def check(self) -> None:
        """Refuse settings that make no sense."""
        check(self, l2=NOT_NEGATIVE, max_iter=COUNT, tol=NOT_NEGATIVE)

    def course(self, share: Share, views: Views) -> Course[Outcome]:
        """Minimise the penalised log loss of one share."""
        model, whole = cast(Scored, share.model), share.whole
        problem = NewtonDescent(model, views.data, whole, self.l2)
        rate = Rate(1.0, adaptive=True, grow=2.5, most=1.0)
        eta = model.zero(whole)  # never the closed form: on wide or correlated data it is far beyond the optimum
        place, watch = Place(eta, model.from_natural(eta)), Watch(Settled(self.tol), self.tol)
        outcome = yield from descend(problem, place, rate, watch, self.max_iter, if_stuck="raise l2 or tol")
        means = watch.kept.losses.means() if watch.kept else {}
        if not self.l2 and not means["error"] and means["log_loss"] < SEPARATED:
            what = "the classes are separable, so that coefficients grow without end"
            return replace(outcome, complaints=(*outcome.complaints, (what, "set l2 above 0")))
        return outcome
