"""Gradient descent in natural parameters."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator

from suffice.data import Data
from suffice.learners._descent import (
    COUNT,
    NOT_NEGATIVE,
    POSITIVE,
    STOPS,
    Iterate,
    Rate,
    Watch,
    check,
    descend,
    one_of,
    or_else,
    recording,
    total,
)
from suffice.learners._protocol import Evaluate, Fit, Observed, require
from suffice.losses import Costs
from suffice.models import DegenerateError, Model, Statistics

FIRST = 0.1


def start(model: Any, whole: Statistics, init: str, learner: Any) -> Any:
    """Natural parameters to begin with: those of the closed form, or zero if it is asked for or there are none."""
    try:
        return model.zero(whole) if init == "zero" else model.natural(model.parameters(whole))
    except TypeError as error:
        raise TypeError(f"{type(learner).__name__} does not fit {type(model).__name__}: {error}") from error
    except DegenerateError:
        if not hasattr(model, "zero"):
            raise
        return model.zero(whole)


@dataclass(frozen=True, eq=False)
class Descent:
    """eta <- feasible(eta + rate / n (gradient - l2 penalised)), where the gradient is read off S(X, Y - P)."""

    model: Any  # resolved, with natural parameters
    data: Data
    whole: Statistics
    start: Any
    l2: float = 0.0

    def evaluate(self, eta: Any) -> Iterate:
        theta = self.model.from_natural(eta, self.whole.domain)
        loss = Costs.equal(len(self.whole.mass))
        got = self.data.sum(Evaluate(self.model, theta, self.whole.domain.classes, loss))
        direction, objective = self.model.gradient(got.direction, eta), got.losses.means()["log_loss"]
        if self.l2:
            pulled = self.model.penalised(eta)
            direction = direction - self.l2 * pulled
            objective += penalty(self.l2, pulled, eta) / self.mass
        return Iterate(eta, theta, got.losses, direction, objective)

    def step(self, at: Iterate, rate: float) -> Any:
        return self.model.feasible(at.point + (rate / self.mass) * at.direction, self.start)

    @property
    def mass(self) -> float:
        """The weight of all rows."""
        return float(self.whole.mass.sum())


def penalty(l2: float, pulled: Any, eta: Any) -> float:
    """1/2 l2 sum_j (sd_j w_j)^2, for what a model says is penalised of its natural parameters."""
    return 0.5 * l2 * inner(pulled, eta)


def inner(a: Any, b: Any) -> float:
    """The inner product of two vectors of one kind."""
    return total(a.map(operator.mul, b))


class GradientDescent(BaseEstimator):
    """Gradient descent on the log loss in natural parameters, with projections where these are constrained.

        eta <- feasible(eta + rate / n gradient),     gradient = S(X, Y - P) less the mass at the means of eta

    Features are standardised inside, so that units do not matter. Tables are projected onto the simplex, covariances to
    eigenvalues of at least 1/100 of the whole's variances. For free covariances, tables and `LogisticRegression`.

    Parameters
    ----------
    rate : float or "adaptive", default=0.1
        Multiplies means. Adaptive: grows while the objective falls, else the step is taken back and shortened.
    max_iter : int, default=64
        Passes over the data; iteration 1 is the initial model.
    stop : {"log-loss", "soft-error", "best-error", "change", None}, default="log-loss"
        As in `RiskCalibration`; "change": when sum |dw| / sum (|w| + 1e-6) is at most `tol`, the parameter change of
        [1]_.
    l2 : float, default=0.0
        Weight of the penalty 1/2 l2 sum_j (sd_j w_j)^2, for `LogisticRegression`.
    init : {"data", "zero"}, default="data"
        Where to start: the closed form, or zero.
    tol : float, default=1e-4
        Fall of the objective in an iteration, per row, or parameter change, at which it has settled.
    verbose : int, default=0
        1 shows progress.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> round(LogisticRegression(learner=GradientDescent(rate="adaptive", max_iter=200)).fit(X, y).score(X, y), 2)
    0.97

    References
    ----------
    Perez, Echegoyen, Santafe: Risk-based calibration for probabilistic classifiers, appendix C, with the gradient of
    the covariances corrected.
    .. [1] Bhowmik: Naive Bayes vs logistic regression. Inteligencia Artificial 18(56), 2015, Algorithm 1, with the
       gradient reset in every iteration.
    """

    def __init__(
        self,
        rate: float | str = FIRST,
        max_iter: int = 64,
        stop: str | None = "log-loss",
        l2: float = 0.0,
        init: str = "data",
        tol: float = 1e-4,
        verbose: int = 0,
    ) -> None:
        self.rate = rate
        self.max_iter = max_iter
        self.stop = stop
        self.l2 = l2
        self.init = init
        self.tol = tol
        self.verbose = verbose

    def learn(self, model: Model[Any, Any], data: Data) -> Fit:
        """Descend the log loss of a model on a data set."""
        check(
            self,
            rate=or_else("adaptive", POSITIVE),
            max_iter=COUNT,
            stop=one_of(*STOPS, "change"),
            l2=NOT_NEGATIVE,
            init=one_of("data", "zero"),
            tol=NOT_NEGATIVE,
        )
        require(model, self, "natural", *(["penalised"] if self.l2 else []), *(["zero"] if self.init == "zero" else []))
        whole = data.sum(Observed(model))
        resolved = model.resolve(whole)
        problem = Descent(resolved, data, whole, start(resolved, whole, self.init, self), self.l2)
        adaptive = self.rate == "adaptive"
        rate = Rate(FIRST if adaptive else float(self.rate), adaptive)
        with recording(self) as record:
            watch = Watch(self.stop, self.tol, rate.first)
            kept, ended = descend(problem, problem.start, rate, watch, record)
        return Fit(problem.model, kept.theta, whole, record.history, len(record), ended)
