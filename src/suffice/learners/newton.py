"""Newton's method for linear scores."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from scipy import linalg

from suffice._core.labels import OneHot
from suffice._core.vector import Array, Vector
from suffice._runtime.messages import COUNT, NOT_NEGATIVE, check
from suffice.data import Batch, Data
from suffice.learners.base import Ask, Course, DataViews, Iterative, Measured, Outcome
from suffice.learners.descent import Iterate, Place, Rate, Watch, descend, near, no_pass, settled
from suffice.learners.gradient import penalty
from suffice.losses import Loss, Losses
from suffice.models import AnyStatistics, Curved, Slopes
from suffice.models.base import Subproblem
from suffice.models.linear import Design


def flat(eta: Slopes) -> Array:
    """Intercepts and coefficients side by side (k, d + 1), in the order of the columns of the design."""
    return np.column_stack([eta.intercept, eta.coef])


@dataclass(frozen=True, eq=False, repr=False)
class Sloped(Measured):
    """Losses, and minus the gradient of the log loss D'(Y - P) (k, d + 1)."""

    gradient: Array


@dataclass(frozen=True, eq=False, repr=False)
class Bent(Sloped):
    """Losses, gradient and curvature: whole (k, d + 1, k, d + 1), or its diagonal (k, d + 1)."""

    curvature: Array


@dataclass(frozen=True)
class _At:
    """A question about slopes (k, d + 1)."""

    model: Any
    slopes: Array
    classes: Array

    def _weighed(self, batch: Batch) -> tuple[Design, Losses, Array, Array]:
        """Return the design, the losses of the rows, Y - P, and P, all from one computation of the scores."""
        D = self.model.design(batch.X)
        return D, *Loss.equal(len(self.classes)).weighed(D.scores(self.slopes), batch.Y.onto(self.classes))


@dataclass(frozen=True)
class LossSlope(_At):
    """Losses and gradient."""

    def __call__(self, batch: Batch) -> Sloped:
        D, losses, W, _ = self._weighed(batch)
        return Sloped(losses, D.sums(W))


@dataclass(frozen=True)
class Bend(_At):
    """Losses, gradient, and curvature.

    H[a, b] = D' diag(p_a (1(a = b) - p_b)) D
    """

    whole: bool = True  # or its diagonal

    def __call__(self, batch: Batch) -> Bent:
        (D, losses, W, P), weight = self._weighed(batch), _weight(batch.Y.onto(self.classes))
        curvature = _curvature(D, P, weight) if self.whole else (weight[:, None] * P * (1 - P)).T @ D.matrix() ** 2
        return Bent(losses, D.sums(W), curvature)


def _curvature(D: Design, P: Array, weight: Array) -> Array:
    """Return H (k, p, k, p), whose off-diagonal blocks are symmetric; each row of blocks sums to zero."""
    k, width = P.shape[1], len(D.centre) + 1
    H = np.zeros((k, width, k, width))
    for a, b in combinations(range(k), 2):
        H[a, :, b, :] = H[b, :, a, :] = -D.gram(weight * P[:, a] * P[:, b])
    for a in range(k):
        H[a, :, a, :] = -H[a].sum(axis=1)
    return H


@dataclass(frozen=True)
class Along(_At):
    """The product of the curvature with a change of the slopes (k, d + 1)."""

    change: Array

    def __call__(self, batch: Batch) -> Array:
        (D, _, _, P), weight = self._weighed(batch), _weight(batch.Y.onto(self.classes))
        moved = P * D.scores(self.change)
        return D.sums(weight[:, None] * (moved - P * moved.sum(axis=1, keepdims=True)))


@dataclass(frozen=True, eq=False, repr=False)
class Squared(Vector):
    """The number of rows, their weight, and D'D (d + 1, d + 1)."""

    count: int
    mass: float
    gram: Array


@dataclass(frozen=True)
class ClassSquares:
    """`Squared` of the rows of some classes."""

    model: Any
    classes: Array

    def __call__(self, batch: Batch) -> Squared:
        weight = _weight(batch.Y.onto(self.classes))
        squares = self.model.design(batch.X).gram(weight)
        return Squared(int(np.count_nonzero(weight)), float(weight.sum()), squares)


def _weight(Y: OneHot) -> Array:
    return np.where(Y.codes >= 0, Y.weight, 0.0)


MIN_SHRINKAGE = 1e-3  # of the correlations of a sample, so that no direction looks flat
MAX_SECANTS = 12  # that correct a metric


@dataclass(frozen=True, eq=False)
class Factored:
    """A factor of a curvature: of one block that holds for every class, or of all classes together."""

    factor: Array
    each: bool  # the same factor for every class

    @classmethod
    def whole(cls, H: Array) -> Factored:
        """Factor a whole curvature (k, p, k, p)."""
        k, p = H.shape[:2]
        if k == 2:  # the slopes of one class are minus those of the other: half the unknowns
            return cls(_factor(H[1, :, 1] - H[1, :, 0], 0), each=True)
        return cls(_factor(H.reshape(k * p, k * p), k), each=False)

    @classmethod
    def even(cls, seen: Squared, mass: float, ridge: Array) -> Factored:
        """Factor the curvature where all classes are equally probable, from D'D of a sample of rows of the given mass.

            H = (1 / k - 1 / k^2 1 1') x D'D,     H^-1 g = k (D'D)^-1 g if g sums to zero over the classes

        Correlations are shrunk by the share of them that chance explains: (1 - s) D'D + s diag(D'D). A penalty adds
        `ridge` (k, p) to the diagonal.
        """
        S, own = seen.gram / seen.mass, np.diagonal(seen.gram) / seen.mass
        scale = np.sqrt(np.outer(own, own))
        beside = np.sum(np.divide(S, scale, out=np.zeros_like(S), where=scale > 0) ** 2) - np.count_nonzero(own)
        chance = len(own) * (len(own) - 1) / max(1, seen.count)
        shrink = np.clip(chance / max(beside, 1e-300), MIN_SHRINKAGE, 1.0)
        H = (1.0 - shrink) * S + shrink * np.diag(own)
        return cls(_factor(H * (mass / len(ridge)) + np.diag(ridge[0]), 0), each=True)

    def solve(self, g: Array) -> Array:
        """Return H^-1 g (k, p) for a gradient (k, p) that sums to zero over the classes."""
        right = g.T if self.each else g.reshape(-1, 1)
        got = linalg.lapack.dpotrs(self.factor, right, lower=1)[0]
        return np.asarray(got.T if self.each else got).reshape(g.shape)


def _factor(H: Array, k: int) -> Array:
    """Return the Cholesky factor of H for the slopes of k classes, damped as far as necessary.

    The same slopes added to all classes change nothing, so that H is singular in that direction, in which gradients are
    zero: a ridge there makes H regular and leaves the solution as it is.
    """
    level = max(np.trace(H) / len(H), 1e-300)
    same = np.kron(np.full((k, k), level / k), np.eye(len(H) // k)) if k else 0.0
    damping = 1e-12
    while True:
        factor, failed = linalg.lapack.dpotrf(H + same + damping * level * np.eye(len(H)), lower=1)
        if not failed:
            return np.asarray(factor)
        damping *= 100


@dataclass(eq=False)
class Corrected:
    """The inverse Hessian of L-BFGS: the metric `first`, corrected by observed changes of the gradient.

    References
    ----------
    Nocedal, Wright: Numerical optimization, 2006, Algorithm 7.4.
    """

    first: Factored
    last: tuple[Array, Array] | None = None
    secants: deque[tuple[Array, Array]] = field(default_factory=lambda: deque(maxlen=MAX_SECANTS))

    def see(self, point: Array, downhill: Array) -> None:
        """Record minus the gradient (k, p) at a point (k, p)."""
        if self.last is not None:
            step, change = point - self.last[0], self.last[1] - downhill
            # Without a clearly positive curvature along the step, the change is rounding.
            if np.vdot(step, change) > 1e-12 * np.linalg.norm(step) * np.linalg.norm(change):
                self.secants.append((step, change))
        self.last = point, downhill

    def solve(self, g: Array) -> Array:
        """Return H^-1 g (k, p)."""
        shares = []
        for step, change in reversed(self.secants):
            share = np.vdot(step, g) / np.vdot(step, change)
            g = g - share * change
            shares.append(share)
        x = self.first.solve(g)
        if self.secants:  # by which factor steps of the first metric are too short, judged by the last secant
            step, change = self.secants[-1]
            x = float(np.vdot(step, change) / np.vdot(change, self.first.solve(change))) * x
        for (step, change), share in zip(self.secants, reversed(shares), strict=True):
            x = x + (share - np.vdot(change, x) / np.vdot(step, change)) * step
        return x


def conjugate_gradients(
    product: Callable[[Array], Course[Array]], g: Array, scale: Array, rtol: float = 1e-3, max_iter: int = 100
) -> Course[Array]:
    """Solve H x = g from products with H alone, preconditioned by 1 / scale."""
    x, r = np.zeros_like(g), g.copy()
    z = r / scale
    p, rz = z.copy(), float(r @ z)
    for _ in range(max_iter):
        if np.linalg.norm(r) <= rtol * np.linalg.norm(g):
            break
        q = yield from product(p)
        curvature = float(p @ q)
        if curvature <= 0:  # rounding: the direction is exhausted
            break
        length = rz / curvature
        x, r = x + length * p, r - length * q
        z = r / scale
        rz, before = float(r @ z), rz
        p = z + (rz / before) * p
    return x


MAX_DENSE = 2000  # coefficients; with more, the Newton equations are solved by conjugate gradients
SEPARATED = 1e-3  # log loss per row; below it, and without an error, unpenalised coefficients go to infinity
FULL = Rate(1.0, adaptive=True, grow=2.5, most=1.0)
SHORT = replace(FULL, enough=0.1)
G = TypeVar("G", bound=Vector)  # directions
SAMPLE_ROWS, LARGER_SAMPLES = 1 << 12, (16, 4)  # of the first sample, and factors of the second, largest first
MIN_ROWS_PER_UNKNOWN, MIN_ROWS_PER_COLUMN = 32, 8  # in a sample
MAX_CHEAP_UNKNOWNS = 64  # with no more, a curvature costs about as much as a gradient
MAX_SAMPLE_PASSES = 20
MAX_LAST_FALL = 10  # tolerances by which the last step, which no pass follows, may lower the objective


@dataclass(frozen=True, eq=False)
class PenalisedRows:
    """The penalised log loss of some rows; the penalty is scaled to their share of all rows."""

    model: Any  # resolved
    data: Data
    whole: AnyStatistics
    l2: float

    @property
    def mass(self) -> float:
        """The weight of all rows."""
        return float(self.whole.mass.sum())

    @property
    def classes(self) -> Array:
        """The classes of the model (k,)."""
        return np.asarray(self.whole.domain.classes)

    @property
    def dense(self) -> bool:
        """True if the whole curvature is small enough to be computed."""
        return self.unknowns <= MAX_DENSE

    @property
    def unknowns(self) -> int:
        """The number of coefficients to learn."""
        return (len(self.classes) - 1) * (self.whole.domain.width + 1)

    def zero(self) -> Place[Slopes]:
        """Return the place where all classes are equally probable."""
        return self.at(self.model.zero(self.whole))

    def at(self, eta: Slopes) -> Place[Slopes]:
        """Return a point with its parameters."""
        return Place(eta, self.model.from_natural(eta))

    def moved(self, eta: Slopes, step: Array) -> Place[Slopes]:
        """Return the place that a step (k, d + 1) leads to."""
        return self.at(eta + type(eta)(step[:, 0], step[:, 1:]))

    def ridge(self) -> Array:
        """Return the penalty's part of the diagonal of the curvature (k, d + 1)."""
        ones = self.model.zero(self.whole).map(np.ones_like)
        return self.l2 * flat(self.model.penalised(ones))

    def measured(self, place: Place[Slopes], got: Sloped) -> tuple[float, Array]:
        """Return the objective per row, and minus its gradient (k, d + 1), summed over the rows."""
        pulled = self.model.penalised(place.point)
        objective = got.losses.means()["log_loss"] + penalty(self.l2, pulled, place.point) / self.mass
        return objective, got.gradient - self.l2 * (got.losses.mass / self.mass) * flat(pulled)


@dataclass(frozen=True, eq=False)
class NewtonDescent(PenalisedRows):
    """eta <- eta + rate H^-1 (gradient - l2 penalised)."""

    def evaluate(self, place: Place[Slopes]) -> Course[Iterate[Slopes, Bent]]:
        """Return losses, and as direction the gradient and the curvature, from one pass."""
        eta, theta = place
        got: Bent = yield Ask(self.data, Bend(self.model, flat(eta), self.classes, self.dense))
        curvature = got.curvature.copy()  # a checkpoint may keep the answer itself
        diagonal = np.einsum("ijij->ij", curvature) if self.dense else curvature
        diagonal += self.ridge() * (got.losses.mass / self.mass)
        objective, gradient = self.measured(place, got)
        at = Iterate(eta, theta, got.losses, replace(got, gradient=gradient, curvature=curvature), objective)
        return promising(at, gradient, Factored.whole(curvature)) if self.dense else at

    def step(self, at: Iterate[Slopes, Bent], rate: float) -> Course[Place[Slopes]]:
        """Take the Newton step, shortened; the equations are solved once for all lengths."""
        if "solved" not in at.cache:
            at.cache["solved"] = yield from self._solve(at)
        return self.moved(at.point, rate * at.cache["solved"])

    def _solve(self, at: Iterate[Slopes, Bent]) -> Course[Array]:
        """Solve the Newton equations by conjugate gradients."""
        got, shape, slopes = at.direction, at.direction.gradient.shape, flat(at.point)
        ridge = self.ridge().ravel()
        scale = np.maximum(got.curvature.ravel(), 1e-12 * got.curvature.max())

        def product(v: Array) -> Course[Array]:
            summed: Array = yield Ask(self.data, Along(self.model, slopes, self.classes, v.reshape(shape)))
            return np.asarray(summed.ravel() + ridge * v)

        return (yield from conjugate_gradients(product, got.gradient.ravel(), scale)).reshape(shape)


@dataclass(frozen=True, eq=False)
class SecantDescent(PenalisedRows):
    """eta <- eta + rate M^-1 (gradient - l2 penalised), with a metric M that gradients correct on the way."""

    metric: Corrected

    def evaluate(self, place: Place[Slopes]) -> Course[Iterate[Slopes, Sloped]]:
        """Return losses and gradient from one pass, and correct the metric by the gradient."""
        eta, theta = place
        got: Sloped = yield Ask(self.data, LossSlope(self.model, flat(eta), self.classes))
        objective, gradient = self.measured(place, got)
        self.metric.see(flat(eta), gradient)
        at = Iterate(eta, theta, got.losses, replace(got, gradient=gradient), objective)
        return promising(at, gradient, self.metric)

    def step(self, at: Iterate[Slopes, Sloped], rate: float) -> Course[Place[Slopes]]:
        """Take the step of this metric, shortened."""
        return no_pass(self.moved(at.point, rate * at.cache["solved"]))


def promising(at: Iterate[Slopes, G], gradient: Array, metric: Factored | Corrected) -> Iterate[Slopes, G]:
    """Add the step M^-1 gradient to an iterate, and the fall that the quadratic model predicts for it."""
    at.cache["solved"] = step = metric.solve(gradient)
    return replace(at, promised=float(0.5 * np.vdot(gradient, step) / (at.losses.mass or 1.0)))


def best(watch: Watch) -> Iterate[Slopes, Any]:
    """Return the best iterate of a descent."""
    return cast(Iterate[Slopes, Any], watch.kept)


class Start(NamedTuple):
    """Where to start, and the metric for all rows."""

    place: Place[Slopes]
    metric: Factored
    then: float  # share of the tolerance by which the last step, which no pass follows, may miss the optimum
    patience: int  # passes before Newton's method takes over


def sample_start(problem: NewtonDescent, views: DataViews) -> Course[Start | None]:
    """Find a start on a sample of the rows, in a fraction of the time of a pass; None if there are too few of them.

    Newton's method on a small sample, and from there on a larger one, ends so near to the optimum of all rows that a
    few gradients lead there, by the larger sample's curvature. Where a curvature is too large to be estimated from a
    sample, that of equally probable classes is used.
    """
    start, rows = None, max(SAMPLE_ROWS, MIN_ROWS_PER_UNKNOWN * problem.unknowns)
    larger = (times * rows for times in LARGER_SAMPLES if views.cheap_sample(times * rows) is not views.data)
    for size in (rows, next(larger, rows)) if problem.dense else ():
        few = views.cheap_sample(size)
        if few is views.data:
            break
        place = problem.zero() if start is None else start.place
        start = yield from sample_optimum(replace(problem, data=few), place, size)
        if start is None:
            break
    if start is None and problem.unknowns > MAX_CHEAP_UNKNOWNS:
        few = views.cheap_sample(MIN_ROWS_PER_COLUMN * (problem.whole.domain.width + 1))
        if few is not views.data:
            got: Squared = yield Ask(few, ClassSquares(problem.model, problem.classes))
            if got.mass:
                return Start(problem.zero(), Factored.even(got, problem.mass, problem.ridge()), then=1.0, patience=60)
    return start


def sample_optimum(problem: NewtonDescent, place: Place[Slopes], rows: int) -> Course[Start | None]:
    """Return the optimum of a sample, as exactly as it tells of that of all rows, and its curvature scaled to these."""
    rough = 0.5 * problem.unknowns / rows  # about the distance of the sample's optimum from that of all rows
    watch = Watch(near(rough), rough)
    yield from descend(problem, place, FULL, watch, MAX_SAMPLE_PASSES)
    at = best(watch)
    if not at.losses.mass:
        return None
    curvature = at.direction.curvature * (problem.mass / at.losses.mass)
    return Start((yield from problem.step(at, 1.0)), Factored.whole(curvature), then=1e-4, patience=10)


@dataclass(eq=False, repr=False)
class Newton(Iterative):
    """Newton's method on the penalised log loss of `LogisticRegression`: few passes, to the optimum.

        minimise sum_i -log p(y_i | x_i) + 1/2 l2 sum_j (sd_j w_j)^2

    A step that does not lower the objective is shortened. The equations are solved by Cholesky factors, above 2,000
    coefficients by conjugate gradients. With many rows in memory, Newton's method on a sample finds the start, and
    gradients of all rows lead on from there [1]_, by the sample's curvature, corrected as in L-BFGS. With too many
    coefficients for that, the curvature is that of equally probable classes. The optimum is the same; only the last,
    short step is then not followed by a pass, so that the history ends before it. The penalty weighs the slopes of
    standardised features, so that units do not matter; on such features l2 is 1 / C of scikit-learn.

    Parameters
    ----------
    l2 : float, default=1.0
        Weight of the penalty; 0 is maximum likelihood, which separable classes do not have.
    max_iter : int, default=100
        Passes over the data (not counting those of conjugate gradients).
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
    .. [1] Byrd, Chin, Neveitt, Nocedal: On the use of stochastic Hessian information in optimization methods for
       machine learning. SIAM Journal on Optimization 21(3), 2011.
    """

    l2: float = 1.0
    max_iter: int = 100
    tol: float = 1e-9
    verbose: int = 0

    needs = (Curved,)
    one_by_one = True

    def check(self) -> None:
        """Refuse settings that make no sense."""
        check(self, l2=NOT_NEGATIVE, max_iter=COUNT, tol=NOT_NEGATIVE)

    def course(self, subproblem: Subproblem, views: DataViews) -> Course[Outcome]:
        """Minimise the penalised log loss of one subproblem."""
        problem = NewtonDescent(subproblem.model, views.data, subproblem.whole, self.l2)
        start = yield from sample_start(problem, views)
        if start is None:
            # Start at zero, not at the closed form, which is far beyond the optimum on wide or correlated data.
            return (yield from self._newton(problem, problem.zero(), self.max_iter))
        last_fall = MAX_LAST_FALL * self.tol
        watch = Watch(near(start.then * self.tol, last_fall), self.tol)
        secant = SecantDescent(problem.model, problem.data, problem.whole, self.l2, Corrected(start.metric))
        outcome = yield from descend(secant, start.place, SHORT, watch, min(start.patience, self.max_iter))
        at = best(watch)
        if outcome.converged and at.promised <= last_fall:
            return self._check_separable(replace(outcome, theta=(yield from secant.step(at, 1.0)).theta), watch)
        if outcome.n_iter >= self.max_iter:
            return self._check_separable(outcome, watch)
        even = np.log(len(problem.classes))  # the objective at zero
        place = Place(at.point, at.theta) if at.objective < even else problem.zero()
        after = yield from self._newton(problem, place, self.max_iter - outcome.n_iter)
        return replace(after, passes={name: values + after.passes[name] for name, values in outcome.passes.items()})

    def _newton(self, problem: NewtonDescent, place: Place[Slopes], most: int) -> Course[Outcome]:
        """Apply Newton's method from some place, each step by the curvature of all rows there."""
        watch = Watch(settled(self.tol), self.tol)
        outcome = yield from descend(problem, place, FULL, watch, most, if_stuck="raise l2 or tol")
        return self._check_separable(outcome, watch)

    def _check_separable(self, outcome: Outcome, watch: Watch) -> Outcome:
        """Return an outcome, with a complaint if its coefficients are on their way to infinity."""
        means = best(watch).losses.means()
        if not self.l2 and not means["error"] and means["log_loss"] < SEPARATED:
            what = "the classes are separable, so that coefficients grow without end"
            return replace(outcome, complaints=(*outcome.complaints, (what, "set l2 above 0")))
        return outcome
