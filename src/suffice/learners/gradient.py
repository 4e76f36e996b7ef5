"""Gradient descent in natural parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from suffice._core.vector import Vector, inner
from suffice._runtime.messages import COUNT, NOT_NEGATIVE, POSITIVE, check, one_of, or_else
from suffice._runtime.random import generator
from suffice.data import Data
from suffice.learners.base import Ask, Course, DataViews, Evaluate, Evaluation, Iterative, Outcome, Seed
from suffice.learners.calibration import random_start
from suffice.learners.descent import RULES, STOPS, AnyIterate, Iterate, Place, Rate, Watch, descend, no_pass
from suffice.losses import Loss
from suffice.models import Ability, AnyStatistics, Curved, Natural
from suffice.models.base import Subproblem

FIRST_RATE = 0.1


@dataclass(frozen=True, eq=False)
class Descent:
    """eta <- feasible(eta + rate / n (gradient - l2 penalised)), where the gradient is read off S(X, Y - P)."""

    model: Any  # resolved, with natural parameters
    data: Data
    whole: AnyStatistics
    start: Vector
    l2: float = 0.0

    def place(self, eta: Vector) -> Place[Vector]:
        """Return a point with its parameters."""
        return Place(eta, self.model.from_natural(eta))

    def evaluate(self, place: Place[Vector]) -> Course[AnyIterate]:
        eta, theta = place
        loss = Loss.equal(len(self.whole.mass))
        got: Evaluation = yield Ask(self.data, Evaluate(self.model, theta, self.whole.domain.classes, loss))
        direction, objective = self.model.gradient(got.direction, eta), got.losses.means()["log_loss"]
        if self.l2:
            pulled = self.model.penalised(eta)
            direction = direction - self.l2 * pulled
            objective += penalty(self.l2, pulled, eta) / self.mass
        residual = got.direction.mass / got.losses.mass
        return Iterate(eta, theta, got.losses, direction, objective, residual=residual)

    def step(self, at: AnyIterate, rate: float) -> Course[Place[Vector]]:
        return no_pass(self.place(self.model.feasible(at.point + (rate / self.mass) * at.direction, self.start)))

    @property
    def mass(self) -> float:
        """The weight of all rows."""
        return float(self.whole.mass.sum())


def penalty(l2: float, pulled: Vector, eta: Vector) -> float:
    """Return 1/2 l2 sum_j (sd_j w_j)^2, from the part of the natural parameters that the model penalises."""
    return 0.5 * l2 * inner(pulled, eta)


def start(model: Any, s: AnyStatistics, init: str) -> Vector:
    """Return natural parameters to start from: those of the closed form, or zero if `init` says so or it has none."""
    alike = init == "zero" or (model.attempt(s).problem is not None and isinstance(model, Curved))
    found: Vector = model.zero(s) if alike else model.natural(model.parameters(s))
    return found


@dataclass(eq=False, repr=False)
class GradientDescent(Iterative):
    """Gradient descent on the log loss in natural parameters, with projections where these are constrained.

        eta <- feasible(eta + rate / n gradient),     gradient = S(X, Y - P) less the mass at the means of eta

    Features are standardised inside, so that units do not matter. Tables are projected onto the simplex, covariances to
    eigenvalues of at least 1/100 of the whole's variances. For free covariances, tables, counts and
    `LogisticRegression`.

    Parameters
    ----------
    rate : float or "adaptive", default=0.1
        Multiplies means. Adaptive: grows while the objective falls, else the step is taken back and shortened.
    stop : {"log-loss", "soft-error", "best-error", "change", None}, default="log-loss"
        As in `RiskCalibration`; "change": when sum |dw| / sum (|w| + 1e-6) is at most `tol`, the parameter change of
        [1]_.
    l2 : float, default=0.0
        Weight of the penalty 1/2 l2 sum_j (sd_j w_j)^2, for `LogisticRegression`.
    init : {"data", "zero", "random"}, default="data"
        Where to start: the closed form, zero, or the closed form of random statistics, those with which
        `RiskCalibration(init="random")` of the same seed begins.
    tol : float, default=1e-4
        Fall of the objective in an iteration, per row, or parameter change, at which it has settled.
    max_iter, random_state, verbose
        As in `RiskCalibration`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> learner = GradientDescent("adaptive", max_iter=200, tol=1e-3)
    >>> LogisticRegression(learner=learner).fit(X, y).score(X, y) > 0.95
    True

    References
    ----------
    Perez, Echegoyen, Santafe: Risk-based calibration for probabilistic classifiers, appendix C.
    .. [1] Bhowmik: Naive Bayes vs logistic regression. Inteligencia Artificial 18(56), 2015, Algorithm 1.
    """

    rate: float | str = FIRST_RATE
    max_iter: int = 64
    stop: str | None = "log-loss"
    l2: float = 0.0
    init: str = "data"
    tol: float = 1e-4
    random_state: Seed = None
    verbose: int = 0

    needs = (Natural,)

    def needed(self) -> tuple[type[Ability], ...]:
        """Return linear scores for a penalty or a start at zero, natural parameters in any case."""
        return (Curved,) if self.l2 or self.init == "zero" else self.needs

    def check(self) -> None:
        """Refuse settings that make no sense."""
        check(
            self,
            rate=or_else("adaptive", POSITIVE),
            max_iter=COUNT,
            stop=one_of(*STOPS, "change"),
            l2=NOT_NEGATIVE,
            init=one_of("data", "zero", "random"),
            tol=NOT_NEGATIVE,
        )

    def course(self, subproblem: Subproblem, views: DataViews) -> Course[Outcome]:
        """Descend the log loss of one subproblem."""
        model, whole, s = subproblem.model, subproblem.whole, subproblem.whole
        if self.init == "random":
            seed = generator(self.random_state).randint(2**31)
            s = yield from random_start(model, views.data, whole, "random", seed, views)
        problem = Descent(model, views.data, whole, start(model, s, self.init), self.l2)
        adaptive = self.rate == "adaptive"
        rate = Rate(FIRST_RATE if adaptive else float(self.rate), adaptive)
        # With many classes, or a low rate, the loss falls slowly even far from the end.
        flat = min(1.0, 2.0 * rate.first / len(whole.mass))
        watch = Watch(RULES[self.stop](self.tol if self.stop == "change" else flat * self.tol), self.tol, rate.first)
        return (yield from descend(problem, problem.place(problem.start), rate, watch, self.max_iter))
