"""Newton's method for linear scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from suffice._check import COUNT, NOT_NEGATIVE, check
from suffice._vector import Array, Vector
from suffice.data import Data
from suffice.learners._base import Ask, Course, Iterative, Outcome, Views
from suffice.learners._curved import Along, Bend, Bent, Scored, Slope, Sloped, Square, Squared, flat
from suffice.learners._descent import Place, Rate, descend, no_pass
from suffice.learners._metric import Corrected, Factored, Metric, conjugate_gradients
from suffice.learners._stopping import Iterate, Near, Settled, Watch
from suffice.learners.gradient import penalty
from suffice.models import AnyStatistics, Curved, Slopes
from suffice.models._base import Share

DENSE = 2000  # coefficients above which the Newton equations are solved by conjugate gradients
SEPARATED = 1e-3  # log loss per row, without a mistake, below which unpenalised coefficients head for infinity
FULL = Rate(1.0, adaptive=True, grow=2.5, most=1.0)
SHORT = replace(FULL, enough=0.1)
G = TypeVar("G", bound=Vector)  # directions
SAMPLE, LARGER = 1 << 12, (16, 4)  # rows to begin with, and how many times as many to go on with, if there are
PER_UNKNOWN, PER_COLUMN = 32, 8  # rows that a sample has at least
SMALL = 64  # unknowns of which a curvature costs about as much as a gradient
MOST = 20  # passes over a sample
AHEAD = 10  # tolerances that a last step, which no pass follows, may promise to fall


@dataclass(frozen=True, eq=False)
class Penalised:
    """The log loss of some rows, with the share of the penalty that they have of all rows."""

    model: Scored  # resolved
    data: Data
    whole: AnyStatistics
    l2: float

    @property
    def mass(self) -> float:
        """The weight of all rows."""
        return float(self.whole.mass.sum())

    @property
    def classes(self) -> Array:
        """Of the model (k,)."""
        return np.asarray(self.whole.domain.classes)

    @property
    def dense(self) -> bool:
        """Whether a curvature is small enough to be had whole."""
        return self.unknowns <= DENSE

    @property
    def unknowns(self) -> int:
        """How many coefficients there are to learn."""
        return (len(self.classes) - 1) * (self.whole.domain.width + 1)

    def zero(self) -> Place[Slopes]:
        """Where all classes are alike."""
        return self.at(self.model.zero(self.whole))

    def at(self, eta: Slopes) -> Place[Slopes]:
        """A point with its parameters."""
        return Place(eta, self.model.from_natural(eta))

    def moved(self, eta: Slopes, step: Array) -> Place[Slopes]:
        """Where a step (k, d + 1) leads."""
        return self.at(eta + type(eta)(step[:, 0], step[:, 1:]))

    def ridge(self) -> Array:
        """What the penalty adds to the diagonal of the curvature (k, d + 1)."""
        ones = self.model.zero(self.whole).map(np.ones_like)
        return self.l2 * flat(self.model.penalised(ones))

    def measured(self, place: Place[Slopes], got: Sloped) -> tuple[float, Array]:
        """The objective per row, and minus its gradient (k, d + 1), summed over the rows."""
        pulled = self.model.penalised(place.point)
        objective = got.losses.means()["log_loss"] + penalty(self.l2, pulled, place.point) / self.mass
        return objective, got.gradient - self.l2 * (got.losses.mass / self.mass) * flat(pulled)


@dataclass(frozen=True, eq=False)
class NewtonDescent(Penalised):
    """eta <- eta + rate H^-1 (gradient - l2 penalised)."""

    def evaluate(self, place: Place[Slopes]) -> Course[Iterate[Slopes, Bent]]:
        """Losses, and as direction the gradient and the curvature, from one pass."""
        eta, theta = place
        got: Bent = yield Ask(self.data, Bend(self.model, flat(eta), self.classes, self.dense))
        curvature = got.curvature.copy()  # a record may keep what it has answered
        diagonal = np.einsum("ijij->ij", curvature) if self.dense else curvature
        diagonal += self.ridge() * (got.losses.mass / self.mass)
        objective, gradient = self.measured(place, got)
        at = Iterate(eta, theta, got.losses, replace(got, gradient=gradient, curvature=curvature), objective)
        return promising(at, gradient, Factored.whole(curvature)) if self.dense else at

    def step(self, at: Iterate[Slopes, Bent], rate: float) -> Course[Place[Slopes]]:
        """The Newton step, shortened; the equations are solved once for all lengths that are tried."""
        if "solved" not in at.cache:
            at.cache["solved"] = yield from self._solved(at)
        return self.moved(at.point, rate * at.cache["solved"])

    def _solved(self, at: Iterate[Slopes, Bent]) -> Course[Array]:
        """By conjugate gradients."""
        got, shape, slopes = at.direction, at.direction.gradient.shape, flat(at.point)
        ridge = self.ridge().ravel()
        scale = np.maximum(got.curvature.ravel(), 1e-12 * got.curvature.max())

        def product(v: Array) -> Course[Array]:
            summed: Array = yield Ask(self.data, Along(self.model, slopes, self.classes, v.reshape(shape)))
            return np.asarray(summed.ravel() + ridge * v)

        return (yield from conjugate_gradients(product, got.gradient.ravel(), scale)).reshape(shape)


@dataclass(frozen=True, eq=False)
class SecantDescent(Penalised):
    """eta <- eta + rate M^-1 (gradient - l2 penalised), with a metric M that the gradients on the way correct."""

    metric: Corrected

    def evaluate(self, place: Place[Slopes]) -> Course[Iterate[Slopes, Sloped]]:
        """Losses and gradient from one pass, which is all that it takes to correct the metric."""
        eta, theta = place
        got: Sloped = yield Ask(self.data, Slope(self.model, flat(eta), self.classes))
        objective, gradient = self.measured(place, got)
        self.metric.see(flat(eta), gradient)
        at = Iterate(eta, theta, got.losses, replace(got, gradient=gradient), objective)
        return promising(at, gradient, self.metric)

    def step(self, at: Iterate[Slopes, Sloped], rate: float) -> Course[Place[Slopes]]:
        """The step of this metric, shortened."""
        return no_pass(self.moved(at.point, rate * at.cache["solved"]))


def promising(at: Iterate[Slopes, G], gradient: Array, metric: Metric) -> Iterate[Slopes, G]:
    """An iterate that knows its step M^-1 gradient, and by how much a quadratic would fall on it."""
    at.cache["solved"] = step = metric.solve(gradient)
    return replace(at, promised=float(0.5 * np.vdot(gradient, step) / (at.losses.mass or 1.0)))


def kept(watch: Watch) -> Iterate[Slopes, Any]:
    """What a descent has kept."""
    return cast(Iterate[Slopes, Any], watch.kept)


class Start(NamedTuple):
    """Where to begin, and by which metric to go on."""

    place: Place[Slopes]
    metric: Metric
    then: float  # of the tolerance: what a step that is not followed by a pass may fall short of the optimum
    patience: int  # passes after which another way is tried


def begun(problem: NewtonDescent, views: Views) -> Course[Start | None]:
    """A start from a sample of the rows, in a fraction of the time of a pass; None if there are too few of them.

    Newton's method on a small sample, and from there on a larger one, ends so near to the optimum of all rows that a
    few gradients lead there, by the larger sample's curvature. Where that is too large for a sample to tell, it is that
    of classes that are all alike.
    """
    start, rows = None, max(SAMPLE, PER_UNKNOWN * problem.unknowns)
    larger = (times * rows for times in LARGER if views.few(times * rows) is not views.data)
    for size in (rows, next(larger, rows)) if problem.dense else ():
        few = views.few(size)
        if few is views.data:
            break
        place = problem.zero() if start is None else start.place
        start = yield from sampled(replace(problem, data=few), place, size)
        if start is None:
            break
    if start is None and problem.unknowns > SMALL:
        few = views.few(PER_COLUMN * (problem.whole.domain.width + 1))
        if few is not views.data:
            got: Squared = yield Ask(few, Square(problem.model, problem.classes))
            if got.mass:
                return Start(problem.zero(), Factored.even(got, problem.mass, problem.ridge()), then=1.0, patience=60)
    return start


def sampled(problem: NewtonDescent, place: Place[Slopes], rows: int) -> Course[Start | None]:
    """The optimum of a sample of the rows, as far as it tells of that of all, and its curvature for all rows."""
    rough = 0.5 * problem.unknowns / rows  # about what the optimum of so many rows falls short of that of all
    watch = Watch(Near(rough), rough)
    yield from descend(problem, place, FULL, watch, MOST)
    at = kept(watch)
    if not at.losses.mass:
        return None
    curvature = at.direction.curvature * (problem.mass / at.losses.mass)
    return Start((yield from problem.step(at, 1.0)), Factored.whole(curvature), then=1e-4, patience=10)


class Newton(Iterative):
    """Newton's method on the penalised log loss of `LogisticRegression`: few passes, to the optimum.

        minimise sum_i -log p(y_i | x_i) + 1/2 l2 sum_j (sd_j w_j)^2

    The step is shortened where it does not lead down; the equations are solved by Cholesky factors, above 2,000
    coefficients by conjugate gradients; nothing is inverted. Many rows in memory are not read as often: Newton's method
    on a sample of them finds where to begin, and gradients of all rows lead on from there [1]_, by the sample's
    curvature, which they correct as L-BFGS does. Where coefficients are too many for that, the curvature is that of
    classes that are all alike. The optimum is the same; only the last step, which is a short one, is then not followed
    by a pass, so that the history ends before it. The penalty weighs the slopes of standardised features, so
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
    .. [1] Byrd, Chin, Neveitt, Nocedal: On the use of stochastic Hessian information in optimization methods for
       machine learning. SIAM Journal on Optimization 21(3), 2011.
    """

    needs = (Curved,)
    one_by_one = True

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
        problem = NewtonDescent(cast(Scored, share.model), views.data, share.whole, self.l2)
        start = yield from begun(problem, views)
        if start is None:  # never the closed form: on wide or correlated data it is far beyond the optimum
            return (yield from self._newton(problem, problem.zero(), self.max_iter))
        near = AHEAD * self.tol
        watch = Watch(Near(start.then * self.tol, near), self.tol)
        secant = SecantDescent(problem.model, problem.data, problem.whole, self.l2, Corrected(start.metric))
        outcome = yield from descend(secant, start.place, SHORT, watch, min(start.patience, self.max_iter))
        at = kept(watch)
        if outcome.converged and at.promised <= near:
            return self._judged(replace(outcome, theta=(yield from secant.step(at, 1.0)).theta), watch)
        if outcome.n_iter >= self.max_iter:
            return self._judged(outcome, watch)
        even = np.log(len(problem.classes))  # the objective at zero
        place = Place(at.point, at.theta) if at.objective < even else problem.zero()
        after = yield from self._newton(problem, place, self.max_iter - outcome.n_iter)
        return replace(after, passes={name: values + after.passes[name] for name, values in outcome.passes.items()})

    def _newton(self, problem: NewtonDescent, place: Place[Slopes], most: int) -> Course[Outcome]:
        """Newton's method from some place, each step by the curvature of all rows there."""
        watch = Watch(Settled(self.tol), self.tol)
        outcome = yield from descend(problem, place, FULL, watch, most, if_stuck="raise l2 or tol")
        return self._judged(outcome, watch)

    def _judged(self, outcome: Outcome, watch: Watch) -> Outcome:
        """An outcome, with a complaint where it is on its way to infinity."""
        means = kept(watch).losses.means()
        if not self.l2 and not means["error"] and means["log_loss"] < SEPARATED:
            what = "the classes are separable, so that coefficients grow without end"
            return replace(outcome, complaints=(*outcome.complaints, (what, "set l2 above 0")))
        return outcome
