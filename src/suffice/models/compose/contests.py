"""Many classes from two-class models: who plays whom, and what their probabilities say together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, NamedTuple, Self

import numpy as np

from suffice._core.features import Domain, Encoded, Features
from suffice._core.formula import Arithmetic, Arrays, E
from suffice._core.labels import OneHot
from suffice._core.probability import log_posterior, log_posterior_formula
from suffice._core.vector import Array
from suffice._runtime.messages import Notice
from suffice._runtime.system import free_memory
from suffice._runtime.threads import spread
from suffice.data.queries import DatabaseRows
from suffice.models.base import AnyModel, Attempt, Model, Read, SqlSummable, Subproblem
from suffice.models.statistics import B, Statistics
from suffice.models.terms import HasFormula, NoNomogramError

# The part of log-odds in a probability: it breaks ties where probabilities round to 0 or 1.
TIE_BREAK = 1e-13
# Coupling needs positive probabilities of pairs: the least one.
MIN_PAIR_P = 1e-7
# Entries of the systems that are solved, and scores of contests that are computed, at a time.
MAX_ENTRIES = 1 << 21
# From this number of columns on, several threads share the contests.
MIN_THREADED_COLUMNS = 64
# Copies of the statistics of a contest that a learner holds at once.
LEARNER_COPIES = 6


@dataclass(frozen=True, eq=False)
class Contest:
    """Which classes a two-class model tells apart: class c is on side group[c], or takes no part where that is -1."""

    group: Annotated[Array, "int k"]  # of 0, 1 and -1

    @property
    def sides(self) -> tuple[Array, Array]:
        """The classes of the first and of the second side."""
        return np.flatnonzero(self.group == 0), np.flatnonzero(self.group == 1)

    def labels(self, classes: Array) -> Array:
        """What messages call the sides: the classes of a pair; "not c" and "c"."""
        first, second = self.sides
        if len(first) == len(second) == 1:
            return classes[[first[0], second[0]]]
        one = classes[second[0]]
        return np.array([f"not {one}", f"{one}"])


def one_against_one(k: int) -> list[Contest]:
    """Every pair of k classes.

    >>> [contest.group.tolist() for contest in one_against_one(3)]
    [[0, 1, -1], [0, -1, 1], [-1, 0, 1]]
    """
    pairs = [(a, b) for a in range(k) for b in range(a + 1, k)]
    return [Contest(np.array([0 if c == a else 1 if c == b else -1 for c in range(k)])) for a, b in pairs]


def one_against_rest(k: int) -> list[Contest]:
    """Every class, as the second side, against all others.

    >>> [contest.group.tolist() for contest in one_against_rest(3)]
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    """
    return [Contest(np.array([int(c == one) for c in range(k)])) for one in range(k)]


def votes(log_p: Array, contests: Sequence[Contest]) -> Array:
    """Logarithms of shares of votes (n, k) from those of each pair's probabilities (m, n, 2).

    The most votes win, and ties go by the sum of the probabilities p(a | a or b), as fractions of a vote.
    """
    k = len(contests[0].group)
    share = np.zeros((log_p.shape[1], k))
    for contest, p in zip(contests, np.exp(log_p), strict=True):
        for side, of_side in zip(contest.sides, p.T, strict=True):
            share[:, side] += ((of_side > 0.5) + of_side / k)[:, None]
    return np.log(np.maximum(share, np.finfo(float).tiny))


def own(log_p: Array, contests: Sequence[Contest]) -> Array:
    """log p(class c), up to a constant, from the log-probabilities (m, n, 2) of each class against the rest (n, k)."""
    order = _in_order(contests)
    return np.asarray(_own(Arrays(), *np.moveaxis(log_p[order], 2, 0)).T)


def _in_order(contests: Sequence[Contest]) -> Array:
    """The numbers of the contests in the order of their classes, each against the rest."""
    return np.argsort([contest.sides[1][0] for contest in contests])


def _own(ops: Arithmetic[E], first: E, second: E) -> E:
    """log p of the second side, and a hair of the log-odds, from the logarithms of both."""
    odds = ops.minus(second, first)
    size = ops.greatest([odds, ops.minus(first, second)])
    return ops.plus(second, ops.times(ops.number(TIE_BREAK), ops.over(odds, ops.plus(ops.number(1.0), size))))


def coupled(log_p: Array, contests: Sequence[Contest]) -> Array:
    """Logarithms of the probabilities (n, k) that agree best with those of each pair (m, n, 2).

        min_p sum_a sum_b (r_ba p_a - r_ab p_b)^2,  sum_a p_a = 1,   r_ab = p(a | a or b)

    If the pairs come from one p, it is that p.

    >>> p, pairs = np.array([0.2, 0.3, 0.5]), one_against_one(3)
    >>> r = np.array([[p[list(np.concatenate(pair.sides))]] for pair in pairs])
    >>> np.exp(coupled(np.log(r / r.sum(axis=2, keepdims=True)), pairs)).round(12)
    array([[0.2, 0.3, 0.5]])

    References
    ----------
    Wu, Lin, Weng: Probability estimates for multi-class classification by pairwise coupling (2004), section 4.
    """
    k = len(contests[0].group)
    rows = max(1, MAX_ENTRIES // k**2)
    parts = [_coupled(log_p[:, at : at + rows], contests, k) for at in range(0, log_p.shape[1], rows)]
    return np.concatenate(parts) if parts else np.zeros((0, k))


def _coupled(log_p: Array, contests: Sequence[Contest], k: int) -> Array:
    n = log_p.shape[1]
    r, margin = np.zeros((n, k, k)), np.zeros((n, k))
    bounded = np.exp(log_p).clip(MIN_PAIR_P, 1.0 - MIN_PAIR_P)
    for contest, p, (first, second) in zip(contests, bounded, np.moveaxis(log_p, 2, 1), strict=True):
        (a,), (b,) = contest.sides
        r[:, a, b], r[:, b, a] = p[:, 0], p[:, 1]
        odds = second - first
        squeezed = odds / (1.0 + abs(odds))  # into (-1, 1)
        margin[:, a] -= squeezed
        margin[:, b] += squeezed
    system = np.ones((n, k + 1, k + 1))
    system[:, k, k] = 0.0
    system[:, :k, :k] = -r * r.swapaxes(1, 2)
    at = np.arange(k)
    system[:, at, at] = (r**2).sum(axis=1)
    right = np.append(np.zeros(k), 1.0)
    p = np.linalg.solve(system, np.broadcast_to(right, (n, k + 1))[:, :, None])[:, :k, 0]
    return np.log(np.maximum(p + TIE_BREAK / k * margin, np.finfo(float).tiny))


class Scheme(NamedTuple):
    """Who plays whom among k classes, and how the results make one."""

    contests: Callable[[int], list[Contest]]
    combine: Callable[[Array, Sequence[Contest]], Array]


SCHEMES = {
    "votes": Scheme(one_against_one, votes),
    "ovr": Scheme(one_against_rest, own),
    "coupled": Scheme(one_against_one, coupled),
}
# The scheme of each value of the setting `multi_class`.
MULTI_CLASS = {"ovo": "coupled", "ovr": "ovr"}


@dataclass(frozen=True, eq=False)
class Contests(Model[B, tuple[object, ...]], HasFormula[tuple[object, ...]], SqlSummable[B]):
    """Many classes from a model of two: every pair of classes, or each against the rest; one tuple of parameters.

    The statistics of a contest are sums of those by class, so that the closed form needs no further pass. A learner
    that moves statistics moves those of every contest on its own.
    """

    model: Model[B, Any]  # of two classes; once resolved, on all classes
    scheme: str = "coupled"
    contests: tuple[Contest, ...] = field(default=(), kw_only=True)
    models: tuple[Model[B, Any], ...] = field(default=(), kw_only=True)  # resolved, one a contest

    @classmethod
    def of(cls, model: Model[B, Any], scheme: str) -> Contests[B]:
        """Contests of a two-class model, with its encoder."""
        return cls(model, scheme, encoder=model.encoder)

    def sums(self, X: Encoded, W: OneHot | Array, domain: Domain) -> B:
        return self.model.sums(X, W, domain)

    @property
    def statistics_key(self) -> object | None:
        return self.model.statistics_key

    def sql_statistics(self, rows: DatabaseRows, features: Features | None) -> tuple[Features, B]:
        if not isinstance(self.model, SqlSummable):
            raise TypeError(
                f"{self.model.display_name} cannot be learned in a database, as it lacks {SqlSummable.words}"
            )
        return self.model.sql_statistics(rows, features)

    def with_origin_of(self, s: Statistics[B]) -> Self:
        return replace(self, model=self.model.with_origin_of(s))

    def resolve(self, s: Statistics[B]) -> Self:
        k = len(s.mass)
        contests = tuple(SCHEMES[self.scheme].contests(k)) if k > 2 else (Contest(np.arange(k)),)
        models = tuple(self.model.resolve(side(s, contest)) for contest in contests)
        return replace(self, domain=s.domain, model=self.model.resolve(s), contests=contests, models=models)

    @property
    def base_model(self) -> AnyModel:
        return self.model

    def collapse(self, theta: tuple[object, ...]) -> tuple[AnyModel, Any]:
        return (self, theta) if len(theta) > 1 else (self.models[0], theta[0])

    def notices(self) -> tuple[Notice, ...]:
        return self.model.notices()

    def restrict(self, s: Statistics[Any]) -> Statistics[B]:
        return self.model.restrict(s)

    def revisit(self, s: Statistics[Any], read: Read) -> Statistics[B]:
        return self.model.revisit(s, read)

    def attempt(self, s: Statistics[B]) -> Attempt[B, tuple[object, ...]]:
        run = spread if s.domain.width >= MIN_THREADED_COLUMNS else map
        each = list(run(lambda pair: self._attempt(pair[0], s, pair[1]), zip(self.models, self.contests, strict=True)))
        ok = all(bool(np.all(leaf)) for one in each for leaf in one.valid.leaves())
        problem = next((one.problem for one in each if one.problem is not None), None)
        return Attempt(self.combine([one.parameters for one in each]), s.map(lambda v: np.full(v.shape, ok)), problem)

    def _attempt(self, model: Model[B, Any], s: Statistics[B], contest: Contest) -> Attempt[B, Any]:
        got = model.attempt(model.restrict(side(s, contest)))
        return replace(got, parameters=model.attach(got.parameters, s, contest.group))

    def subproblems(self, s: Statistics[B]) -> list[Subproblem]:
        a_class = sum(np.asarray(leaf).nbytes for leaf in s.leaves()) / len(s.mass)
        need, free = LEARNER_COPIES * 2 * len(self.contests) * a_class, free_memory()
        if need > free:
            raise MemoryError(
                f"{len(self.contests)} pairs of classes would keep about {need / 1e9:.1f} GB of statistics, and "
                f"{free / 1e9:.1f} GB are free: use multi_class='ovr', or the closed form"
            )
        pairs = zip(self.models, self.contests, strict=True)
        return [Subproblem(model, model.restrict(side(s, contest)), contest.group) for model, contest in pairs]

    def combine(self, parameters: Sequence[object]) -> tuple[object, ...]:
        return tuple(parameters)

    def log_joint(self, X: Encoded, theta: tuple[object, ...]) -> Array:
        """Logarithms of shares (n, k)."""
        if len(theta) == 1:
            return self.models[0].log_joint(X, theta[0])
        rows, out = max(1, MAX_ENTRIES // len(theta)), []
        for at in range(0, max(1, len(X)), rows):
            each = zip(self.models, theta, strict=True)
            log_p = np.stack([log_posterior(model.log_joint(X[at : at + rows], own)) for model, own in each])
            out.append(SCHEMES[self.scheme].combine(log_p, self.contests))
        return np.concatenate(out)

    def formula(self, ops: Arithmetic[E], theta: tuple[object, ...]) -> list[E]:
        """Of each class against the rest; what pairs say together has no formula."""
        if self.scheme != "ovr":
            raise NoNomogramError(
                "pairs of classes together have no formula of the columns: use multi_class='ovr', or classes "
                "that are told all at once (LinearDiscriminantAnalysis, LogisticRegression)"
            )
        found = []
        for i in _in_order(self.contests):
            model = self.models[i]
            if not isinstance(model, HasFormula):
                raise NoNomogramError(f"{model.display_name} lacks {HasFormula.words}")
            sides = ops.keep(log_posterior_formula(ops, ops.keep(model.formula(ops, theta[i]))))
            found.append(_own(ops, *sides))
        return found


def side(s: Statistics[B], contest: Contest) -> Statistics[B]:
    """The statistics of the two sides of a contest."""
    if np.array_equal(contest.group, np.arange(len(s.mass))):
        return s
    return s.regroup(contest.group, contest.labels(s.domain.classes))
