"""Learners that move statistics: risk-based calibration, TM, and the discriminative frequency estimate.

All three descend a `Calibration`: the point is the statistics s, the direction S(X, W), and the parameters theta(s) are
the closed form of the moved statistics. `OutOfSample` is the same problem with each row predicted without itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from suffice._core.features import Encoded
from suffice._core.labels import OneHot, dense, show_all
from suffice._core.vector import Array, Vector, select
from suffice._runtime.messages import COUNT, NOT_NEGATIVE, POSITIVE, SHARE, Notice, check, join_words, one_of, or_else
from suffice._runtime.random import generator
from suffice.data import Batch, Data, Memory
from suffice.data.base import rows_in
from suffice.learners.base import (
    Ask,
    Course,
    DataViews,
    Evaluate,
    Evaluation,
    Iterative,
    Measured,
    Observed,
    Outcome,
    Seed,
)
from suffice.learners.descent import (
    RULES,
    STOPS,
    Elsewhere,
    Iterate,
    Place,
    Rate,
    Watch,
    calm,
    descend,
    no_pass,
    settled,
)
from suffice.learners.expert_weights import ExpertWeights
from suffice.losses import Loss, Losses
from suffice.models import AnyModel, AnyStatistics, Joint, Sums, Tabular
from suffice.models.base import Ability, LeaveOneOut, Subproblem, Weighable

FIRST_RATE = 0.1  # the fixed rate of the papers, and the first of an adaptive one
GROW, MOMENTUM = 1.3, 0.5  # with these, 16 passes get as far as 64 at the fixed rate
ENOUGH = 0.05  # share of the first rate below which calibration out of sample has settled
MAX_STEP_HALVINGS = 40  # of a step that leaves a covariance shared by all classes without an inverse
GAMMA = 0.75  # share of the weight that learning has added to a row which is removed with the row
BOUND = float(-np.log(1e-15))  # of log-odds: otherwise one row unlike all others would outweigh them in the loss

Summed: TypeAlias = Iterate[AnyStatistics, AnyStatistics]


class Step(NamedTuple):
    """A step as far as it was possible: where it leads, its rate, and which classes moved (k,)."""

    place: Place[AnyStatistics]
    rate: float
    moved: Array


@dataclass(frozen=True, eq=False)
class Calibration:
    """Descent in the space of statistics: s <- s + rate (S(X, W) + anchor (S(X, Y) - s)), theta(s) in closed form."""

    model: AnyModel  # resolved
    data: Data
    whole: AnyStatistics  # S(X, Y)
    loss: Loss
    anchor: float = 0.0
    freeze: str = "block"
    only_adds: bool = False
    best: object = None  # theta(whole), if there is an anchor

    def evaluate(self, place: Place[AnyStatistics], some: Data | None = None) -> Course[Summed]:
        """Return losses, direction and objective, from one pass; the direction of some rows is scaled up to all."""
        s, theta = place
        classes = self.whole.domain.classes
        question = Evaluate(self.model, theta, classes, self.loss, self.only_adds)
        got: Evaluation = yield Ask(self.data if some is None else some, question)
        direction, residual = got.direction, None if self.only_adds else got.direction.mass / got.losses.mass
        if some is not None:
            direction = (self.whole.mass.sum() / max(got.losses.mass, 1e-300)) * direction
        if self.anchor:
            direction = direction + self.anchor * (self.whole - s)
        return Iterate(s, theta, got.losses, direction, self.objective(theta, got.losses), residual=residual)

    def objective(self, theta: object, losses: Losses) -> float:
        """Return log loss plus anchor times negative joint log-likelihood, per row."""
        value = losses.means()[self.loss.judge]
        if not self.anchor:
            return value
        likelihood = cast(Joint[Sums, object], self.model).log_likelihood(self.whole, self.best, theta)
        return value - self.anchor * likelihood / float(self.whole.mass.sum())

    def step(self, at: Summed, rate: float) -> Course[Place[AnyStatistics]]:
        return no_pass(self.move(at, rate).place)

    def move(self, at: Summed, rate: float) -> Step:
        """Take a step; blocks that would have no parameters stay, or with `freeze="all"` everything does."""
        here = at.point
        for _ in range(MAX_STEP_HALVINGS):
            new = here + rate * at.direction
            got = self.model.attempt(new)
            valid = got.valid.leaves()
            if all(np.all(leaf) for leaf in valid):
                return Step(Place(new, got.parameters), rate, got.valid.mass)
            if self.freeze == "all":
                break
            if all(np.any(leaf) for leaf in valid):
                mixed = select(got.valid, new, here)
                return Step(Place(mixed, self.model.parameters(mixed)), rate, got.valid.mass)
            # All classes share the covariance that became invalid: freezing it would freeze everything.
            rate /= 2
        return Step(Place(here, at.theta), 0.0, np.zeros(len(here.mass), dtype=bool))


@dataclass(frozen=True, eq=False)
class Minibatches(Calibration):
    """The problem whose step goes through all rows, piece by piece."""

    pieces: tuple[Data, ...] = ()

    def step(self, at: Summed, rate: float) -> Course[Place[AnyStatistics]]:
        place = Place(at.point, at.theta)
        for piece in self.pieces:
            place = self.move((yield from self.evaluate(place, piece)), rate).place
        return place


@dataclass(frozen=True, eq=False, repr=False)
class Weighed(Vector):
    """Statistics s and the class weights V (n, k) of the rows in them: s = S(X, V), except for frozen blocks."""

    statistics: AnyStatistics
    weights: Array


Point: TypeAlias = Iterate[Weighed, Weighed]


@dataclass(frozen=True, eq=False)
class NumberedRows(Encoded):
    """Encoded rows with their positions (n,) in the data set."""

    at: Array

    def __getitem__(self, rows: Any) -> NumberedRows:
        return NumberedRows(self.features, super().__getitem__(rows).values, self.at[rows])


@dataclass(frozen=True, eq=False, repr=False)
class Honest(Measured):
    """The losses of rows that are predicted without themselves, and the direction that lowers them."""

    direction: Weighed


@dataclass(frozen=True)
class Without:
    """Losses and direction of a batch, each row predicted with its own weight O = Y + gamma (V - Y) removed from s.

    Not all of V is removed, because the weights of other rows have responded to it, and stay.
    """

    model: LeaveOneOut[Any, Any]  # resolved
    theta: object
    point: Weighed
    loss: Loss

    def __call__(self, batch: Batch) -> Honest:
        s, V = self.point.statistics, self.point.weights
        rows, labels = cast(NumberedRows, batch.X), batch.Y.onto(s.domain.classes)
        Y = dense(labels)
        own = Y + GAMMA * (V[rows.at] - Y)
        scores = self.model.log_joint_without(rows, own, self.theta, s)
        least = scores.max(axis=1, keepdims=True) - BOUND
        losses, W = self.loss(np.maximum(scores, least), labels)
        moves = np.zeros(V.shape)
        moves[rows.at] = W
        return Honest(losses, Weighed(cast(Any, self.model).statistics(rows, W), moves))


@dataclass(frozen=True, eq=False)
class OutOfSample:
    """Descent in the weights of rows: V <- V + rate (Y - P⁻ + anchor (Y - V)), s = S(X, V), theta(s) in closed form."""

    within: Calibration  # of the same rows, numbered
    start: Weighed  # S(X, Y) and Y

    @classmethod
    def of(cls, problem: Calibration) -> OutOfSample:
        """Turn a calibration problem into one whose rows are predicted without themselves."""
        data = problem.data
        if not isinstance(data, Memory):
            raise TypeError(
                "out_of_sample=True needs rows in memory, since it keeps a weight for each of them: give arrays or a "
                "data frame, and no checkpoint, or leave out_of_sample=False"
            )
        X, Y = cast(Encoded, data.X), cast(OneHot, data.Y)
        rows = Memory(NumberedRows(X.features, X.values, np.arange(len(X))), Y, batch_size=data.batch_size)
        return cls(replace(problem, data=rows), Weighed(problem.whole, dense(Y.onto(problem.whole.domain.classes))))

    def evaluate(self, place: Place[Weighed]) -> Course[Point]:
        """Return losses, direction and objective, from one pass."""
        point, theta = place
        problem = self.within
        got: Honest = yield Ask(problem.data, Without(cast(Any, problem.model), theta, point, problem.loss))
        direction = got.direction
        if problem.anchor:
            direction = direction + problem.anchor * (self.start - point)
        residual = got.direction.statistics.mass / got.losses.mass
        objective = problem.objective(theta, got.losses)
        return Iterate(point, theta, got.losses, direction, objective, residual=residual)

    def step(self, at: Point, rate: float) -> Course[Place[Weighed]]:
        """Move the weights as the statistics move: a class that is frozen keeps the weights of all rows."""
        point, direction = at.point, at.direction
        within = Iterate(point.statistics, at.theta, at.losses, direction.statistics, at.objective)
        got = self.within.move(within, rate)
        weights = point.weights + got.rate * np.where(got.moved, direction.weights, 0.0)
        return no_pass(Place(Weighed(got.place.point, weights), got.place.theta))


@dataclass(eq=False, repr=False)
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
        (where classes share one, the step is halved instead), or everything (which may deadlock).
    batch_size : int, default=None
        Rows of a minibatch. Each iteration then makes one step for every minibatch, and one more pass to measure the
        losses. The rate (0.1 if adaptive) is divided by the square root of the iteration.
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

    rate: float | str = "adaptive"
    max_iter: int = 64
    stop: str | None = "log-loss"
    anchor: float = 0.1
    init: str = "data"
    freeze: str = "block"
    batch_size: int | None = None
    validation_fraction: float | None = None
    n_init: int = 1
    tol: float = 1e-4
    costs: ArrayLike | None = None
    random_state: Seed = None
    verbose: int = 0
    out_of_sample: bool = False

    hint = "with out_of_sample=False it can be used with every model"

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

    def fix_weights(self, model: AnyModel, whole: AnyStatistics, data: Data) -> AnyModel:
        """Learn the weights of experts, if there are any: they stay as they are during calibration."""
        return ExpertWeights().solve(model, whole, data).model if isinstance(model, Weighable) else model

    def course(self, subproblem: Subproblem, views: DataViews) -> Course[Outcome]:
        """Calibrate one subproblem."""
        rng = generator(self.random_state)
        problem, elsewhere, notices = yield from self._problem(subproblem, views, rng)
        first = FIRST_RATE if self.rate == "adaptive" else float(self.rate)
        by_piece = self.batch_size is not None and self.stop == "log-loss"
        rule = calm(self.tol) if by_piece else RULES[self.stop](self.tol)
        outcomes = []
        for _ in range(1 if self.init == "data" else self.n_init):
            seed = rng.randint(2**31)
            watch = Watch(rule, self.tol, first, held_out=elsewhere is not None)
            outcome = yield from self._descent(problem, watch, elsewhere, seed, views)
            outcomes.append((watch.value, outcome))
        best = min(outcomes, key=lambda pair: pair[0])[1]
        return replace(best, notices=notices)

    def _problem(
        self, subproblem: Subproblem, views: DataViews, rng: np.random.RandomState
    ) -> Course[tuple[Calibration, Elsewhere | None, tuple[Notice, ...]]]:
        """Return what to descend, the loss on held-out rows if there are any, and notices about these."""
        data, whole, held_out = views.data, subproblem.whole, None
        notices: tuple[Notice, ...] = ()
        if self.out_of_sample and subproblem.group is not None:
            raise TypeError(
                f"{type(self).__name__}: out_of_sample=True learns all classes at once, and cannot go with pairs of "
                "classes, nor with one against the rest"
            )
        if self.costs is not None and subproblem.group is not None and len(subproblem.group) > 2:
            raise ValueError(f"classes go two at a time: give costs to the classifier, not to {self!r}")
        if self.validation_fraction is not None:
            shares = (self.validation_fraction, 1 - self.validation_fraction)
            held_out, data = views.split(shares, rng.randint(2**31))
            held_rows, left_rows = (yield Ask(held_out, rows_in)), (yield Ask(data, rows_in))
            if not held_rows or not left_rows:
                raise ValueError(f"validation_fraction={self.validation_fraction} leaves no rows on one side")
            rest: AnyStatistics = yield Ask(data, Observed(subproblem.model))
            whole = rest.onto(whole.domain)
            if not whole.mass.all():
                unseen = show_all(whole.domain.classes[whole.mass == 0])
                notices = (Notice(f"all rows of the classes {unseen} are held out: lower validation_fraction"),)
        loss = Loss.of(self.costs, len(whole.domain.classes), type(self).__name__)
        model = subproblem.model if held_out is None else subproblem.model.resolve(whole)
        anchor = self.anchor if isinstance(model, Joint) else 0.0
        best = model.parameters(whole) if anchor else None
        problem = Calibration(model, data, whole, loss, anchor, self.freeze, best=best)
        if held_out is None:
            return problem, None, notices
        rows = held_out

        def log_loss(theta: object) -> Course[float]:
            got: Evaluation = yield Ask(rows, Evaluate(model, theta, whole.domain.classes, loss))
            return float(got.losses.means()["log_loss"])

        return problem, log_loss, notices

    def _descent(
        self, problem: Calibration, watch: Watch, elsewhere: Elsewhere | None, seed: int, views: DataViews
    ) -> Course[Outcome]:
        """Descend from one start."""
        start = yield from random_start(problem.model, problem.data, problem.whole, self.init, seed, views)
        known = start is problem.whole and problem.best is not None
        place = Place(start, problem.best if known else problem.model.parameters(start))
        adaptive = self.rate == "adaptive"
        rate = Rate(watch.first_rate, adaptive, GROW, momentum=MOMENTUM if adaptive else 0.0)
        if self.out_of_sample:
            honest, rate = OutOfSample.of(problem), replace(rate, enough=ENOUGH)
            start_here = Place(honest.start, place.theta)
            found = yield from descend(honest, start_here, rate, watch, self.max_iter, moves=True)
            return replace(found, moved=cast(Weighed, found.moved).statistics)
        if self.batch_size is not None:
            rows: int = yield Ask(problem.data, rows_in)
            pieces = views.pieces(problem.data, -(-rows // self.batch_size), seed)
            rate = Rate(watch.first_rate, falling=True)
            problem = Minibatches(**vars(problem), pieces=tuple(pieces))
        return (yield from descend(problem, place, rate, watch, self.max_iter, elsewhere, moves=True))


@dataclass(eq=False, repr=False)
class TM(Iterative):
    """The TM algorithm: maximise the conditional likelihood by whole steps of calibration, taken back where it falls.

        s <- s + S(X, Y) - S(X, P)

    In an exponential family one step of TM is one step of risk-based calibration at rate 1; statistics that do not
    depend on the class are not moved, because the rows of Y - P sum to zero.

    Parameters
    ----------
    max_iter, tol, verbose
        As in `RiskCalibration`.

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

    max_iter: int = 64
    tol: float = 1e-4
    verbose: int = 0

    def check(self) -> None:
        """Refuse settings that make no sense."""
        check(self, max_iter=COUNT, tol=NOT_NEGATIVE)

    def course(self, subproblem: Subproblem, views: DataViews) -> Course[Outcome]:
        """Maximise the conditional likelihood of one subproblem."""
        whole = subproblem.whole
        problem = Calibration(subproblem.model, views.data, whole, Loss.equal(len(whole.mass)))
        place, rate = Place(whole, subproblem.model.parameters(whole)), Rate(1.0, adaptive=True, most=1.0)
        watch = Watch(settled(self.tol), self.tol)
        return (yield from descend(problem, place, rate, watch, self.max_iter, moves=True, if_stuck="raise tol"))


@dataclass(eq=False, repr=False)
class DiscriminativeFrequency(Iterative):
    """The discriminative frequency estimate (DFE): count a row again by how wrong the classifier is about it.

        s <- s + rate S(X, max(Y - P, 0))

    For tables only. The original goes row by row; this is the batch form that the papers on calibration compare with.
    It only adds, so that the weight of the statistics grows and steps have less and less effect.

    Parameters
    ----------
    rate : float, default=0.1
        Multiplies sums.
    max_iter, stop, tol, verbose
        As in `RiskCalibration`; by default 16 passes over the data.

    Examples
    --------
    >>> from suffice import CategoricalNB
    >>> X, y = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"], ["b", "v"]], [0, 0, 0, 1, 1]
    >>> CategoricalNB(learner=DiscriminativeFrequency(stop=None)).fit(X, y).predict(X)
    array([0, 0, 0, 1, 1])

    References
    ----------
    Su, Zhang, Ling, Matwin: Discriminative parameter learning for Bayesian networks. ICML 2008,
    doi:10.1145/1390156.1390284.
    """

    rate: float = 0.1
    max_iter: int = 16
    stop: str | None = "log-loss"
    tol: float = 1e-4
    verbose: int = 0

    needs = (Tabular,)

    def check(self) -> None:
        """Refuse settings that make no sense."""
        check(self, rate=POSITIVE, max_iter=COUNT, stop=one_of(*STOPS), tol=NOT_NEGATIVE)

    def course(self, subproblem: Subproblem, views: DataViews) -> Course[Outcome]:
        """Estimate the tables of one subproblem."""
        whole = subproblem.whole
        problem = Calibration(subproblem.model, views.data, whole, Loss.equal(len(whole.mass)), only_adds=True)
        place = Place(whole, subproblem.model.parameters(whole))
        watch = Watch(RULES[self.stop](self.tol), self.tol, self.rate)
        return (yield from descend(problem, place, Rate(self.rate), watch, self.max_iter, moves=True))


def random_start(
    model: AnyModel, data: Data, whole: AnyStatistics, init: str, seed: int, views: DataViews
) -> Course[AnyStatistics]:
    """Return the statistics to start from: of the data, of a bootstrap sample, or with rows dealt to random classes."""
    if init == "data":
        return whole
    if init == "bootstrap":
        sample: AnyStatistics = yield Ask(views.resample(data, seed), Observed(model))
        return select(model.attempt(sample).valid, sample, whole)
    k = len(whole.mass)
    # Every class c gives the share dealt[b, c] of its statistics to class b.
    dealt: Array = np.random.default_rng(seed).dirichlet(np.ones(k), size=k).T  # (k, k)
    parts = [whole.by_class(dealt[b]).regroup(np.full(k, b), whole.domain.classes) for b in range(k)]
    together: AnyStatistics = sum(parts[1:], parts[0])
    return together
