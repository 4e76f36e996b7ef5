"""Learning by moving statistics: risk-based calibration and TM."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from suffice._core.labels import show_all
from suffice._core.vector import Array, select
from suffice._runtime.messages import COUNT, NOT_NEGATIVE, POSITIVE, SHARE, Notice, check, join_words, one_of, or_else
from suffice._runtime.random import generator
from suffice.data import Data
from suffice.data.base import rows_in
from suffice.learners.base import Ask, Course, DataViews, Evaluate, Evaluation, Iterative, Observed, Outcome, Seed
from suffice.learners.descent import Calibration, Elsewhere, Minibatches, Place, Rate, descend
from suffice.learners.expert_weights import ExpertWeights
from suffice.learners.out_of_sample import OutOfSample, Weighed
from suffice.learners.stopping import RULES, STOPS, Calm, Settled, Watch
from suffice.losses import Loss
from suffice.models import AnyModel, AnyStatistics, Joint
from suffice.models.base import Ability, LeaveOneOut, Subproblem, Weighable

FIRST = 0.1  # the rate of the papers, and the first of an adaptive one
GROW, MOMENTUM = 1.3, 0.5  # with these, 16 passes come as far as 64 at the fixed rate
ENOUGH = 0.05  # of the first rate: where no longer step lowers the loss out of sample, it has settled


class RiskCalibration(Iterative):
    """Risk-based calibration (RC): move the statistics until predicted probabilities match the labels on average.

        s <- s + rate (S(X, Y - P) + anchor (S(X, Y) - s)),     theta(s) in closed form

    P is the posterior under theta(s). Without the anchor this is RC [1]_, mirror descent on the log loss: it ends where
    S(X, Y) = S(X, P), at maximum conditional likelihood. The prior then affects only the way there, and only stopping
    early limits overfitting. With an anchor the result lies between that (0) and the closed form (very large), and the
    prior counts.

    Parameters
    ----------
    rate : "adaptive" or float, default="adaptive"
        Multiplies sums. Adaptive: grows while the objective falls, and half of each step goes on into the next; a
        step by which it would rise is taken back and shortened.
    max_iter : int, default=64
        Passes over the data, at most; iteration 1 is the initial model. Most fits settle in 10 to 30.
    stop : {"log-loss", "soft-error", "best-error", None}, default="log-loss"
        "log-loss": when the objective (log loss + anchor x negative joint log-likelihood, per row) has settled; the
        least is kept. "soft-error": when the soft error rises; the model before is kept. "best-error": after
        `max_iter`; the iterate of least training error is kept. None: after `max_iter`; the last is kept.
    anchor : float, default=0.1
        Pull towards the statistics of the data; the papers have 0. Without effect on models that have no joint
        likelihood (planes).
    init : {"data", "random", "bootstrap"}, default="data"
        Where to start: S(X, Y); the same with rows dealt to classes at random; S of a bootstrap sample.
    freeze : {"block", "all"}, default="block"
        What stays when a step would leave statistics without parameters: the table, variance or covariance concerned
        (where classes share one, the step is halved instead), or everything (the papers' rule, which may deadlock).
    batch_size : int, default=None
        Rows of a minibatch. Each iteration then makes one step for every minibatch, and one more pass to measure the
        losses. The rate (0.1 if adaptive) is divided by the square root of the iteration.
    validation_fraction : float, default=None
        Subproblem of the rows to hold out; the iterate of least log loss on them is kept.
    n_init : int, default=1
        Number of starts, of which the one that ends best is kept; for "random" and "bootstrap".
    tol : float, default=1e-4
        Fall of the objective in an iteration, per row, at which it has settled.
    costs : array of shape (k, k), default=None
        Cost of taking the true class (row) for another (column), classes in sorted order; None: 1 for every mistake.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
        1 shows progress.
    out_of_sample : bool, default=False
        Replace P by the posterior of each row without itself: what the row counts for is taken out of s before it is
        predicted, as in `loo_log_proba`. Losses, objective and stop then are those of rows that were not learned (with
        log-odds of at most 34.5), so that learning ends where it would begin to learn rows by heart. For rows in memory
        and models with leave-one-out scores; `init`, `batch_size` and `validation_fraction` stay at their defaults.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GaussianNB(learner=RiskCalibration(max_iter=64)).fit(X, y)
    >>> round(GaussianNB().fit(X, y).score(X, y), 3), round(model.score(X, y), 3)
    (0.953, 0.96)

    References
    ----------
    .. [1] Perez, Echegoyen, Santafe: Risk-based calibration for generative classifiers.
    """

    def __init__(
        self,
        rate: float | str = "adaptive",
        max_iter: int = 64,
        stop: str | None = "log-loss",
        anchor: float = 0.1,
        init: str = "data",
        freeze: str = "block",
        batch_size: int | None = None,
        validation_fraction: float | None = None,
        n_init: int = 1,
        tol: float = 1e-4,
        costs: ArrayLike | None = None,
        random_state: Seed = None,
        verbose: int = 0,
        out_of_sample: bool = False,
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
        self.out_of_sample = out_of_sample

    instead = "with out_of_sample=False it can be used with every model"

    def needed(self) -> tuple[type[Ability], ...]:
        return (LeaveOneOut,) if self.out_of_sample else ()

    def check(self) -> None:
        """Refuse settings that make no sense."""
        check(
            self,
            rate=or_else("adaptive", POSITIVE),
            max_iter=COUNT,
            stop=one_of(*STOPS),
            anchor=NOT_NEGATIVE,
            init=one_of("data", "random", "bootstrap"),
            freeze=one_of("block", "all"),
            batch_size=or_else(None, COUNT),
            validation_fraction=or_else(None, SHARE),
            n_init=COUNT,
            tol=NOT_NEGATIVE,
            out_of_sample=one_of(True, False),
        )
        plain = {"init": "data", "batch_size": None, "validation_fraction": None}
        others = [f"{name}={getattr(self, name)!r}" for name, value in plain.items() if getattr(self, name) != value]
        if self.out_of_sample and others:
            raise ValueError(
                f"{type(self).__name__}: out_of_sample=True begins at the data, learns from all rows and steps by all "
                f"of them, so that it cannot go with {join_words(others, last=' and ')}: leave these out"
            )

    def settle(self, model: AnyModel, whole: AnyStatistics, data: Data) -> AnyModel:
        """With the experts weighed, where there are any: their weights then stay."""
        return ExpertWeights().solve(model, whole, data).model if isinstance(model, Weighable) else model

    def course(self, share: Subproblem, views: DataViews) -> Course[Outcome]:
        """Calibrate one share."""
        rng = generator(self.random_state)
        problem, elsewhere, notices = yield from self._problem(share, views, rng)
        starts = 1 if self.init == "data" else self.n_init
        outcomes = []
        for _ in range(starts):
            seed = rng.randint(2**31)
            watch = self._watch(elsewhere is not None)
            outcome = yield from self._descent(problem, watch, elsewhere, seed, views)
            outcomes.append((watch.value, outcome))
        best = min(outcomes, key=lambda pair: pair[0])[1]
        return replace(best, notices=notices)

    def _problem(
        self, share: Subproblem, views: DataViews, rng: np.random.RandomState
    ) -> Course[tuple[Calibration, Elsewhere | None, tuple[Notice, ...]]]:
        """What to descend, the loss on held-out rows if there are any, and what there is to say of these."""
        data, whole, held_out = views.data, share.whole, None
        notices: tuple[Notice, ...] = ()
        if self.out_of_sample and share.group is not None:
            raise TypeError(
                f"{type(self).__name__}: out_of_sample=True learns all classes at once, and cannot go with pairs of "
                "classes, nor with one against the rest"
            )
        if self.costs is not None and share.group is not None and len(share.group) > 2:
            raise ValueError(f"classes go two at a time: give costs to the classifier, not to {self!r}")
        if self.validation_fraction is not None:
            shares = (self.validation_fraction, 1 - self.validation_fraction)
            held_out, data = views.split(shares, rng.randint(2**31))
            held, learned = (yield Ask(held_out, rows_in)), (yield Ask(data, rows_in))
            if not held or not learned:
                raise ValueError(f"validation_fraction={self.validation_fraction} leaves no rows on one side")
            rest: AnyStatistics = yield Ask(data, Observed(share.model))
            whole = rest.onto(whole.domain)
            if not whole.mass.all():
                unseen = show_all(whole.domain.classes[whole.mass == 0])
                notices = (Notice(f"all rows of the classes {unseen} are held out: lower validation_fraction"),)
        loss = Loss.of(self.costs, len(whole.domain.classes), type(self).__name__)
        model = share.model if held_out is None else share.model.resolve(whole)
        anchor = self.anchor if isinstance(model, Joint) else 0.0
        best = model.parameters(whole) if anchor else None
        problem = Calibration(model, data, whole, loss, anchor, self.freeze, best=best)
        return problem, None if held_out is None else _log_loss_on(problem, held_out), notices

    def _watch(self, held_out: bool) -> Watch:
        first = FIRST if self.rate == "adaptive" else float(self.rate)
        by_piece = self.batch_size is not None and self.stop == "log-loss"
        rule = Calm(self.tol) if by_piece else RULES[self.stop](self.tol)
        return Watch(rule, self.tol, first, held_out)

    def _descent(
        self, problem: Calibration, watch: Watch, elsewhere: Elsewhere | None, seed: int, views: DataViews
    ) -> Course[Outcome]:
        """A descent from one start."""
        start = yield from random_start(problem.model, problem.data, problem.whole, self.init, seed, views)
        known = start is problem.whole and problem.best is not None
        place = Place(start, problem.best if known else problem.model.parameters(start))
        adaptive = self.rate == "adaptive"
        rate = Rate(watch.first_rate, adaptive, GROW, momentum=MOMENTUM if adaptive else 0.0)
        if self.out_of_sample:
            return (yield from self._honest_descent(problem, place.theta, rate, watch))
        if self.batch_size is not None:
            rows: int = yield Ask(problem.data, rows_in)
            pieces = views.pieces(problem.data, -(-rows // self.batch_size), seed)
            rate = Rate(watch.first_rate, falling=True)
            problem = Minibatches(**vars(problem), pieces=tuple(pieces))
        return (yield from descend(problem, place, rate, watch, self.max_iter, elsewhere, moves=True))

    def _honest_descent(self, problem: Calibration, theta: object, rate: Rate, watch: Watch) -> Course[Outcome]:
        """A descent by rows that are predicted without themselves."""
        honest, rate = OutOfSample.of(problem), replace(rate, enough=ENOUGH)
        found = yield from descend(honest, Place(honest.start, theta), rate, watch, self.max_iter, moves=True)
        return replace(found, moved=cast(Weighed, found.moved).statistics)


def random_start(
    model: AnyModel, data: Data, whole: AnyStatistics, init: str, seed: int, views: DataViews
) -> Course[AnyStatistics]:
    """The statistics to begin with: those of the data, of a bootstrap sample, or with rows dealt to random classes."""
    if init == "data":
        return whole
    if init == "bootstrap":
        drawn: AnyStatistics = yield Ask(views.resample(data, seed), Observed(model))
        return select(model.attempt(drawn).valid, drawn, whole)
    k = len(whole.mass)
    dealt: Array = np.random.default_rng(seed).dirichlet(np.ones(k), size=k).T  # where the rows of each class go
    return dealt_out(whole, dealt)


def dealt_out(s: AnyStatistics, dealt: Array) -> AnyStatistics:
    """Statistics of which every class c gives the share `dealt[b, c]` to class b (k, k)."""
    k = len(s.mass)
    parts = [s.by_class(dealt[b]).regroup(np.full(k, b), s.domain.classes) for b in range(k)]
    together: AnyStatistics = sum(parts[1:], parts[0])
    return together


def _log_loss_on(problem: Calibration, rows: Data) -> Elsewhere:
    """The log loss of parameters on other rows."""

    def value(theta: object) -> Course[float]:
        got: Evaluation = yield Ask(rows, Evaluate(problem.model, theta, problem.whole.domain.classes, problem.loss))
        return float(got.losses.means()["log_loss"])

    return value


class TM(Iterative):
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

    def check(self) -> None:
        """Refuse settings that make no sense."""
        check(self, max_iter=COUNT, tol=NOT_NEGATIVE)

    def course(self, share: Subproblem, views: DataViews) -> Course[Outcome]:
        """Maximise the conditional likelihood of one share."""
        whole = share.whole
        problem = Calibration(share.model, views.data, whole, Loss.equal(len(whole.mass)))
        place, rate = Place(whole, share.model.parameters(whole)), Rate(1.0, adaptive=True, most=1.0)
        watch = Watch(Settled(self.tol), self.tol)
        return (yield from descend(problem, place, rate, watch, self.max_iter, moves=True, if_stuck="raise tol"))
