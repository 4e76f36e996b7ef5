"""Learning by moving statistics: risk-based calibration and TM."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from suffice._vector import Array, select
from suffice.data import Batch, Data
from suffice.learners._descent import (
    COUNT,
    NOT_NEGATIVE,
    PATIENCE,
    POSITIVE,
    STOPS,
    Iterate,
    Rate,
    Record,
    Watch,
    check,
    descend,
    one_of,
    or_else,
    recording,
)
from suffice.learners._protocol import Evaluate, Fit, Observed, require
from suffice.losses import Costs, Losses
from suffice.models import Model, Statistics

FIRST = 0.1  # the rate of the papers, and the first of an adaptive one
GROW, MOMENTUM = 1.3, 0.5  # with these, 16 passes come as far as 64 at the fixed rate
SLACK = 0.02  # a calibration that is stopped early is as good; one that has hardly begun is not


@dataclass(frozen=True, eq=False)
class Calibration:
    """Descent in the space of statistics: s <- s + rate (S(X, W) + anchor (S(X, Y) - s)), theta(s) in closed form."""

    model: Any  # resolved, with a log-likelihood if there is an anchor
    data: Data
    whole: Statistics  # S(X, Y)
    loss: Costs
    anchor: float = 0.0
    freeze: str = "block"
    only_adds: bool = False

    def evaluate(self, s: Statistics) -> Iterate:
        return self.evaluate_on(self.data, s)

    def evaluate_on(self, data: Data, s: Statistics) -> Iterate:
        """Losses, direction and objective at s, in one pass over some rows; the direction is scaled up to all."""
        theta = self.model.parameters(s)
        got = data.sum(Evaluate(self.model, theta, self.whole.domain.classes, self.loss, self.only_adds))
        direction = got.direction
        if data is not self.data:
            direction = (self.whole.mass.sum() / max(got.losses.mass, 1e-300)) * direction
        if self.anchor:
            direction = direction + self.anchor * (self.whole - s)
        return Iterate(s, theta, got.losses, direction, self.objective(s, got.losses))

    def objective(self, s: Statistics, losses: Losses) -> float:
        """Log loss plus anchor times negative joint log-likelihood, per row."""
        value = losses.means()[self.loss.judge]
        if not self.anchor:
            return value
        likelihood: float = self.model.log_likelihood(self.whole, s)
        return value - self.anchor * likelihood / float(self.whole.mass.sum())

    def step(self, at: Iterate, rate: float) -> Statistics:
        """A step, but for what it would leave without parameters: the block concerned stays, or everything does."""
        here: Statistics = at.point
        for _ in range(40):
            new: Statistics = here + rate * at.direction
            valid: Statistics = self.model.valid(new)
            if self.freeze == "all":
                return new if _every(np.all, valid) else here
            if _every(np.any, valid):
                return select(valid, new, here)
            rate /= 2  # a covariance that all classes share: only a shorter step keeps it
        return here


def _every(test: Any, mask: Statistics) -> bool:
    leaves: list[bool] = []
    mask.map(lambda leaf: leaves.append(bool(test(leaf))))
    return all(leaves)


class RiskCalibration(BaseEstimator):
    """Risk-based calibration (RC): move the statistics until the classifier answers its own labels.

        s <- s + rate (S(X, Y - P) + anchor (S(X, Y) - s)),     theta(s) in closed form

    P is the posterior under theta(s). Without the anchor this is RC [1]_: mirror descent on the log loss, whose fixed
    point S(X, Y) = S(X, P) is that of maximum conditional likelihood. No prior is in that equation: a prior shapes the
    way there, and only stopping regularises. The anchor adds the joint log-likelihood to the loss, so that calibration
    has a fixed point between the discriminative (0) and the generative (infinity), where model and prior still matter
    and the density is still one of the data.

    Parameters
    ----------
    rate : "adaptive" or float, default="adaptive"
        Multiplies sums. Adaptive: grows while the objective falls, and half of each step goes on into the next; a
        step by which it would rise is taken back and shortened.
    max_iter : int, default=16
        Passes over the data; iteration 1 is the initial model.
    stop : {"log-loss", "soft-error", "best-error", None}, default="log-loss"
        "log-loss": when the objective (log loss + anchor x negative joint log-likelihood, per row) has settled; the
        least is kept. "soft-error": when the soft error rises; the model before is kept. "best-error": after
        `max_iter`; the iterate of least training error is kept. None: after `max_iter`; the last is kept.
    anchor : float, default=0.1
        Pull towards the statistics of the data; the papers have 0.
    init : {"data", "random", "bootstrap"}, default="data"
        Where to start: S(X, Y); the same with rows dealt to classes at random; S of a bootstrap sample.
    freeze : {"block", "all"}, default="block"
        What stays when a step would leave statistics without parameters: the table, variance or covariance concerned
        (where classes share one, the step is halved instead), or everything (the papers' rule, which may deadlock).
    batch_size : int, default=None
        Rows of a minibatch. The rate (0.1 if adaptive) then falls with one over the square root of the pass.
    validation_fraction : float, default=None
        Share of the rows to hold out; the iterate of least log loss on them is kept.
    n_init : int, default=1
        Number of starts, of which the one that ends best is kept; for "random" and "bootstrap".
    tol : float, default=1e-4
        Fall of the objective in an iteration, per row, at which it has settled.
    costs : array of shape (k, k), default=None
        Cost of taking the true class (row) for another (column), classes in sorted order; None: 1 for every mistake.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
        1 shows progress.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GaussianNB(learner=RiskCalibration(max_iter=64)).fit(X, y)
    >>> round(GaussianNB().fit(X, y).score(X, y), 3), round(model.score(X, y), 3)
    (0.927, 0.973)

    References
    ----------
    .. [1] Perez, Echegoyen, Santafe: Risk-based calibration for generative classifiers. Its Algorithm 1 returns the
       model after the rise; this is the one before.
    """

    def __init__(
        self,
        rate: float | str = "adaptive",
        max_iter: int = 16,
        stop: str | None = "log-loss",
        anchor: float = 0.1,
        init: str = "data",
        freeze: str = "block",
        batch_size: int | None = None,
        validation_fraction: float | None = None,
        n_init: int = 1,
        tol: float = 1e-4,
        costs: Any = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.rate = rate
        self.max_iter = max_iter
        self.stop = stop
        self.anchor = anchor
        self.init = init
        self.freeze = freeze
        self.batch_size = batch_size
        self.validation_fraction = validation_fraction
        self.n_init = n_init
        self.tol = tol
        self.costs = costs
        self.random_state = random_state
        self.verbose = verbose

    def learn(self, model: Model[Any, Any], data: Data) -> Fit:
        """Calibrate a model on a data set."""
        self._check(model)
        rng = check_random_state(self.random_state)
        whole, held_out = data.sum(Observed(model)), None
        if self.validation_fraction is not None:
            shares = [self.validation_fraction, 1 - self.validation_fraction]
            held_out, data = data.parts(shares, rng.randint(2**31))
            if not held_out.sum(_rows) or not data.sum(_rows):
                raise ValueError(f"validation_fraction={self.validation_fraction} leaves no rows on one side")
            whole = data.sum(Observed(model)).onto(whole.domain)
            if not whole.mass.all():
                unseen = whole.domain.classes[whole.mass == 0].tolist()
                warnings.warn(f"all rows of the classes {unseen} are held out: lower validation_fraction", stacklevel=3)
        loss = Costs.of(self.costs, len(whole.domain.classes), type(self).__name__)
        problem = Calibration(model.resolve(whole), data, whole, loss, self.anchor, self.freeze)
        starts = 1 if self.init == "data" else self.n_init
        fits = [self._descend(problem, held_out, rng.randint(2**31)) for _ in range(starts)]
        return min(fits, key=lambda pair: pair[0])[1]

    def _descend(self, problem: Calibration, held_out: Data | None, seed: int) -> tuple[float, Fit]:
        """A descent from one start: what the kept iterate has least of, and the fit."""
        adaptive = self.rate == "adaptive"
        rate = Rate(FIRST, True, GROW, momentum=MOMENTUM) if adaptive else Rate(float(self.rate))
        elsewhere = None if held_out is None else _log_loss_on(problem, held_out)
        watch = Watch(self.stop, self.tol, rate.first, elsewhere, slack=SLACK)
        start = _start(problem, self.init, seed)
        with recording(self) as record:
            if self.batch_size is None:
                kept, ended = descend(problem, start, rate, watch, record)
            else:
                parts = -(-problem.data.sum(_rows) // self.batch_size)
                kept, ended = stroll(problem, start, rate.first, watch, record, parts, seed)
        return watch.value, Fit(problem.model, kept.theta, kept.point, record.history, len(record), ended)

    def _check(self, model: Model[Any, Any]) -> None:
        check(
            self,
            rate=or_else("adaptive", POSITIVE),
            max_iter=COUNT,
            stop=one_of(*STOPS),
            anchor=NOT_NEGATIVE,
            init=one_of("data", "random", "bootstrap"),
            freeze=one_of("block", "all"),
            batch_size=or_else(None, COUNT),
            validation_fraction=or_else(None, (lambda v: POSITIVE[0](v) and v < 1, "between 0 and 1")),
            n_init=COUNT,
            tol=NOT_NEGATIVE,
        )
        require(model, self, "valid", *(["log_likelihood"] if self.anchor else []))


def _start(problem: Calibration, init: str, seed: int) -> Statistics:
    """The statistics to begin with."""
    whole = problem.whole
    if init == "data":
        return whole
    if init == "bootstrap":
        drawn = problem.data.resample(seed).sum(Observed(problem.model))
        valid: Statistics = problem.model.valid(drawn)
        return select(valid, drawn, whole)
    k = len(whole.mass)
    dealt: Array = np.random.default_rng(seed).dirichlet(np.ones(k), size=k).T  # where the rows of each class go
    start: Statistics = whole.map(lambda value: np.tensordot(dealt, value, axes=1))
    return start


def _rows(batch: Batch) -> int:
    return len(batch.Y)


def _log_loss_on(problem: Calibration, rows: Data) -> Any:
    """The log loss of parameters on other rows."""
    classes = problem.whole.domain.classes

    def value(theta: Any) -> float:
        return rows.sum(Evaluate(problem.model, theta, classes, problem.loss)).losses.means()["log_loss"]

    return value


def stroll(
    problem: Calibration, s: Statistics, first: float, watch: Watch, record: Record, parts: int, seed: int
) -> tuple[Iterate, bool]:
    """Descend by minibatches with a falling rate; losses are those met on the way, so that a pass stays one pass.

    It ends when the objective hardly changes or has not fallen for a while; a single pass may rise.
    """
    at = problem.evaluate(s)
    record.add(at, 0.0)
    watch.see(at, first)
    batches = problem.data.parts([1 / parts] * parts, seed)
    for epoch in range(record.learner.max_iter - 1):
        rate, met = first / np.sqrt(epoch + 1), Losses(0.0, 0.0, 0.0, 0.0)
        for batch in batches:
            at = problem.evaluate_on(batch, s)
            met, s = met + at.losses, problem.step(at, rate)
        at = Iterate(s, problem.model.parameters(s), met, None, problem.objective(s, met))
        record.add(at, rate)
        watch.see(at, first)
        if watch.stop == "log-loss" and (abs(watch.fall) <= watch.tol or watch.since >= PATIENCE):
            return watch.kept or at, True
    watch.warn(record)
    return watch.kept or at, False


class TM(BaseEstimator):
    """The TM algorithm: maximise the conditional likelihood by whole steps of calibration, taken back where it falls.

        s <- s + S(X, Y) - S(X, P)

    In an exponential family one step of TM is one step of risk-based calibration at rate 1; statistics that do not
    depend on the class are not moved, because the rows of Y - P sum to zero.

    Parameters
    ----------
    max_iter : int, default=64
        Passes over the data; iteration 1 is the initial model.
    tol : float, default=1e-4
        Fall of the log loss in an iteration, per row, at which it has settled.
    verbose : int, default=0
        1 shows progress.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import LinearDiscriminantAnalysis
    >>> X, y = load_iris(return_X_y=True)
    >>> round(LinearDiscriminantAnalysis(learner=TM()).fit(X, y).score(X, y), 2)
    0.99

    References
    ----------
    Edwards, Lauritzen: The TM algorithm for maximising a conditional likelihood function. Biometrika 88, 2001,
    doi:10.1093/biomet/88.4.961.
    """

    def __init__(self, max_iter: int = 64, tol: float = 1e-4, verbose: int = 0) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose

    def learn(self, model: Model[Any, Any], data: Data) -> Fit:
        """Maximise the conditional likelihood of a model on a data set."""
        check(self, max_iter=COUNT, tol=NOT_NEGATIVE)
        require(model, self, "valid")
        whole = data.sum(Observed(model))
        problem = Calibration(model.resolve(whole), data, whole, Costs.equal(len(whole.mass)))
        with recording(self) as record:
            rate = Rate(1.0, adaptive=True, most=1.0)
            kept, ended = descend(problem, whole, rate, Watch("log-loss", self.tol, 1.0), record)
        return Fit(problem.model, kept.theta, kept.point, record.history, len(record), ended)
