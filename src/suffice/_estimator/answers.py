"""Answers of a fitted model for rows, as values that travel to where the rows are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import numpy as np
from scipy.special import logsumexp

from suffice._core.features import Domain, Encoded
from suffice._core.formula import Arithmetic, E
from suffice._core.labels import check_family
from suffice._core.probability import log_posterior, log_posterior_formula, most_probable, posterior, posterior_formula
from suffice._core.vector import Array, Vector
from suffice.data import Batch, Data
from suffice.data.queries import DatabaseRows
from suffice.models import Density, HasFormula, Model, NoNomogramError

Answer = Callable[[Array], Array]  # a function of log p(x, y) (n, k), which is known up to a constant for each row
LogJoint = Callable[[Array], Array]  # log p(x, y) (n, k) of rows (n, d)

TIE_TOLERANCE = 1e-9  # log-densities with a smaller relative difference are ties

# Quadrature: quantiles of a sample, and distances beyond it as multiples of its range, are the ends of the intervals.
LEVELS = np.linspace(0.0, 1.0, 65)
DISTANCES_BEYOND = np.array([0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2])
NODES_PER_INTERVAL = {1: 12, 2: 4}  # by the number of columns
BISECTIONS = 60

# Class shares by EM
MAX_CYCLES = 300  # of three passes each
SHARE_TOLERANCE = 1e-10  # in the mean log-likelihood
MIN_SHARE = 1e-30  # so that a class without rows can come back
MIN_LOG_RATIO = -600.0  # smaller ratios count as 0, as denormal numbers are slow


@dataclass(frozen=True)
class ModelAnswer:
    """The answer of a resolved model with parameters to features that may still have to be encoded."""

    model: Model[Any, Any]
    parameters: Any
    answer: Answer

    def __call__(self, X: Any) -> Array:
        # Tiny probabilities do not change these answers, so that they may be approximated.
        likely = self.answer is posterior or isinstance(self.answer, MostProbable)
        scores = self.model.log_joint_likely if likely else self.model.log_joint
        return self.answer(scores(self.model.encoder(X), self.parameters))

    def formulas(self, ops: Arithmetic[E], columns: Sequence[str]) -> list[E]:  # noqa: ARG002 - named when learned
        """The answer as formulas of the columns."""
        return formula(self.answer, ops, score_formulas(self.model, self.parameters, ops))


@dataclass(frozen=True)
class JointDensity:
    """log p(x, y) (n, k) of a resolved density with parameters."""

    model: Density[Any, Any]
    parameters: Any

    def __call__(self, X: Any) -> Array:
        return self.model.log_joint_density(self.model.encoder(X), self.parameters)


@dataclass(frozen=True)
class LogDensity:
    """log p(x) (n,) of a resolved density with parameters."""

    joint: JointDensity

    def __call__(self, X: Any) -> Array:
        return np.asarray(logsumexp(self.joint(X), axis=1))


@dataclass(frozen=True)
class DenserShare:
    """For each row, the share of reference rows with a greater density (n,).

    Columns in which a row has no value, or a category that was never learned, are left out of the reference rows as
    well, so that both densities are of the same columns.
    """

    joint: JointDensity
    rows: Encoded  # the reference

    def __call__(self, X: Any) -> Array:
        model = self.joint.model
        X, features = model.encoder(X), cast(Domain, model.domain).features
        absent = features.absent(X)
        out, holed = np.empty(len(X)), absent.any(axis=1)
        groups = [(np.zeros(absent.shape[1], dtype=bool), np.flatnonzero(~holed))] * bool((~holed).any())
        patterns, of = np.unique(absent[holed], axis=0, return_inverse=True)
        groups += [(one, np.flatnonzero(holed)[of.ravel() == at]) for at, one in enumerate(patterns)]
        for pattern, rows in groups:
            out[rows] = self._share(X[rows], pattern)
        return out

    def _share(self, X: Encoded, lacking: Array) -> Array:
        """The shares for rows that all lack the same columns (d,)."""
        features, values = self.rows.features, self.rows.values
        rows = Encoded(features, features.blank(values, lacking)) if lacking.any() else self.rows
        others, own = np.sort(self._log_density(rows)), self._log_density(X)
        size = np.where(np.isfinite(own), np.maximum(1.0, abs(own)), 1.0)
        above = np.searchsorted(others, own + TIE_TOLERANCE * size, side="right")
        return np.asarray(1.0 - above / len(others))

    def _log_density(self, X: Encoded) -> Array:
        """log of p(x) per unit of volume (n,); p(x) may be the probability of a cell."""
        return LogDensity(self.joint)(X) - self.joint.model.log_volume(X)


@dataclass(frozen=True)
class Single:
    """A function of rows with its numbers rounded to single precision."""

    f: Callable[[Any], Array]

    def __call__(self, X: Any) -> Array:
        with np.errstate(over="ignore"):
            return self.f(X).astype(np.float32)


@dataclass(frozen=True)
class MostProbable:
    """The most probable class of each row."""

    classes: Array

    def __call__(self, log_joint: Array) -> Array:
        return np.asarray(self.classes[most_probable(log_joint)])

    def formula(self, ops: Arithmetic[E], scores: Sequence[E]) -> list[E]:
        """The choice as a formula of the scores (k,)."""
        return [ops.choose(scores, self.classes)]


def single_log_posterior(log_joint: Array) -> Array:
    """`log_posterior` in single precision: 0 for a probability that rounds to 1."""
    log_p = log_posterior(log_joint)
    return np.where(log_p > -(2.0**-25), 0.0, log_p)


def log_odds(log_joint: Array) -> Array:
    """The log-odds of the second class (n,) if there are two, else the log-probability of each class (n, k)."""
    log_p = log_posterior(log_joint)
    return np.asarray(log_p[:, 1] - log_p[:, 0] if log_p.shape[1] == 2 else log_p)


@dataclass(frozen=True)
class OddsAtCosts:
    """`log_odds` that are positive where the second of two classes costs less."""

    costs: Array  # (k, k), rows the true class

    def __call__(self, log_joint: Array) -> Array:
        odds = log_odds(log_joint)
        if odds.ndim == 2:
            return odds
        with np.errstate(divide="ignore", invalid="ignore"):  # certain, but wrong at no cost: a tie
            return np.asarray(odds + np.log(self.costs[1, 0]) - np.log(self.costs[0, 1]))


@dataclass(frozen=True)
class LeastCost:
    """The class of least expected cost of each row."""

    classes: Array
    costs: Array  # (k, k), rows the true class; 0 for a right decision

    def __call__(self, log_joint: Array) -> Array:
        if self._of_odds:
            return np.asarray(self.classes[(OddsAtCosts(self.costs)(log_joint) > 0).astype(int)])
        return np.asarray(self.classes[np.argmin(posterior(log_joint) @ self.costs, axis=1)])

    @property
    def _of_odds(self) -> bool:
        """True if log-odds decide, which keep their digits where probabilities round to 0 or 1."""
        return bool(len(self.classes) == 2 and (self.costs >= 0).all() and self.costs.any())

    def formula(self, ops: Arithmetic[E], scores: Sequence[E]) -> list[E]:
        """The choice as a formula of the scores (k,)."""
        if self._of_odds:
            with np.errstate(divide="ignore"):
                price = np.log([self.costs[0, 1], self.costs[1, 0]]).tolist()
            return [ops.choose([ops.plus(s, ops.number(p)) for s, p in zip(scores, price, strict=True)], self.classes)]
        p = ops.keep(posterior_formula(ops, scores))
        saved = [
            ops.add(*(ops.times(ops.number(-c), q) for c, q in zip(cost, p, strict=True))) for cost in self.costs.T
        ]
        return [ops.choose(saved, self.classes)]


@dataclass(frozen=True)
class Abstaining:
    """The decision of a rule, or the last of the labels (k + 1,) where no probability reaches the least."""

    rule: Answer  # returns the numbers of classes
    least: float
    labels: Array

    def __call__(self, log_joint: Array) -> Array:
        unsure = posterior(log_joint).max(axis=1) < self.least
        return np.asarray(self.labels[np.where(unsure, -1, self.rule(log_joint))])


# The formulas of answers that are functions; others have a method.
FORMULAS = ((posterior, posterior_formula), (log_posterior, log_posterior_formula))


def score_formulas(model: Model[Any, Any], parameters: Any, ops: Arithmetic[E]) -> list[E]:
    """The scores (k,) of a resolved model as formulas of the columns; NoNomogramError if they have none."""
    one, theta = model.collapse(parameters)
    try:
        if not isinstance(one, HasFormula):
            raise NoNomogramError(f"it lacks {HasFormula.words}")
        return ops.keep(one.formula(ops, theta))
    except NoNomogramError as error:
        raise NoNomogramError(f"{model.display_name} cannot be written in SQL: {error}") from error


def formula(answer: Answer, ops: Arithmetic[E], scores: Sequence[E]) -> list[E]:
    """An answer as formulas of the scores (k,), one for every column of the answer; TypeError if it has none."""
    found: Any = next((formula for known, formula in FORMULAS if known is answer), getattr(answer, "formula", None))
    if found is None:
        raise TypeError(
            f"{getattr(answer, '__name__', type(answer).__name__)} cannot be written in SQL: use predict, "
            "predict_proba or predict_log_proba, or load the rows into memory"
        )
    formulas: list[E] = found(ops, scores)
    return formulas


@dataclass(frozen=True, eq=False, repr=False)
class RightShare(Vector):
    """The weight of rows, and of the rows among them that are predicted correctly."""

    mass: float
    right: float


@dataclass(frozen=True)
class Hits:
    """`RightShare` of a batch."""

    f: Callable[[Any], Array]  # predicts labels of rows
    classes: Array  # the learned classes

    def __call__(self, batch: Batch) -> RightShare:
        Y = batch.Y
        check_family(Y.classes, self.classes, "class labels")
        right = self.f(batch.X) == Y.classes[Y.codes]
        return RightShare(float(Y.weight.sum()), float(Y.weight @ right))

    def query(self, rows: DatabaseRows) -> RightShare:
        """`RightShare` of the rows of a database."""
        check_family(rows.classes, self.classes, "class labels")
        return RightShare(*rows.correct_weight(self.formula, self.classes))

    def formula(self, ops: Arithmetic[E]) -> E:
        """The number of the predicted class, as a formula of the columns."""
        f: Any = self.f
        numbers = replace(f, answer=replace(f.answer, classes=np.arange(len(self.classes))))
        found: list[E] = numbers.formulas(ops, ())
        return found[0]


class BayesError(NamedTuple):
    """The error probability of the best rule, and its standard error; 0 if it was integrated."""

    error: float
    standard_error: float


def by_sampling(log_joint: Array) -> BayesError:
    """The mean of 1 - max_y p(y | x) over rows drawn from p(x), given log p(x, y) (n, k)."""
    wrong = 1.0 - posterior(log_joint).max(axis=1)
    return BayesError(float(wrong.mean()), float(wrong.std() / np.sqrt(len(wrong))))


def by_quadrature(log_joint: LogJoint, samples: list[Array]) -> BayesError:
    """The integral of p(x) - max_y p(x, y) over one or two columns; a sample (n, d) of each class shows where."""
    d = samples[0].shape[1]
    # Intervals with equal shares of a sample, and some beyond it on either side.
    inside = np.quantile(samples, LEVELS, axis=1)  # (levels, classes, d)
    beyond = (inside[-1] - inside[0])[None] * DISTANCES_BEYOND[:, None, None]
    every = np.concatenate([inside[0] - beyond, inside, inside[-1] + beyond]).reshape(-1, d)
    ends = [np.unique(column) for column in every.T]
    if d == 1:  # the integrand is not smooth at the borders between classes
        ends[0] = np.union1d(ends[0], _borders(log_joint, ends[0]))
    nodes, weights = zip(*(_gauss_legendre(one, NODES_PER_INTERVAL[d]) for one in ends), strict=True)
    rows = np.stack(np.meshgrid(*nodes, indexing="ij"), axis=-1).reshape(-1, d)
    weight = np.prod(np.meshgrid(*weights, indexing="ij"), axis=0).ravel()
    p = np.exp(log_joint(rows))
    lost = weight @ (p.sum(axis=1) - p.max(axis=1))
    return BayesError(float(lost / (weight @ p.sum(axis=1))), 0.0)


def _gauss_legendre(ends: Array, order: int) -> tuple[Array, Array]:
    """Nodes and weights of Gauss-Legendre quadrature on the intervals between ends (m,)."""
    x, w = np.polynomial.legendre.leggauss(order)
    middle, half = 0.5 * (ends[1:] + ends[:-1]), 0.5 * np.diff(ends)
    return (middle[:, None] + half[:, None] * x).ravel(), (half[:, None] * w).ravel()


def _borders(log_joint: LogJoint, ends: Array) -> Array:
    """Where the most probable class changes between neighbouring ends, by bisection."""

    def best(x: Array) -> Array:
        return np.asarray(log_joint(x[:, None]).argmax(axis=1))

    first = best(ends)
    at = np.flatnonzero(first[1:] != first[:-1])
    low, high = ends[at], ends[at + 1]
    for _ in range(BISECTIONS if len(at) else 0):
        middle = 0.5 * (low + high)
        same = best(middle) == first[at]
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return np.asarray(0.5 * (low + high))


@dataclass(frozen=True)
class Ratios:
    """p(y | x) / p(y) (n, k), with each row scaled to a maximum of 1; from log p(x, y) and log p(y)."""

    class_log_prob: Array  # (k,)

    def __call__(self, log_joint: Array) -> Array:
        known = np.isfinite(self.class_log_prob)
        ratio = np.where(known, log_posterior(log_joint) - np.where(known, self.class_log_prob, 0.0), -np.inf)
        ratio -= ratio.max(axis=1, keepdims=True, initial=MIN_LOG_RATIO)
        return np.asarray(np.exp(np.where(ratio < MIN_LOG_RATIO, -np.inf, ratio)))


@dataclass(frozen=True)
class ShareSlopes:
    """Sums (k + 2,) over rows with ratios R (n, k) and weights w: w R_y / (R p), w log(R p), and w.

    The first are the gradient of the second, the log-likelihood of class probabilities p.
    """

    share: Array  # (k,)

    def __call__(self, batch: Batch) -> Array:
        R, weight = np.asarray(batch.X), batch.Y.weight
        likelihood = R @ self.share
        return np.concatenate([(weight / likelihood) @ R, [weight @ np.log(likelihood), weight.sum()]])


def most_probable_shares(ratios: Data, start: Array) -> tuple[Array, float]:
    """The maximum likelihood shares p (k,) of rows with ratios R (n, k), and a bound on how far they are from it.

        EM: p_y <- p_y g_y,     g_y = mean_i R_iy / sum_c R_ic p_c

    Two such steps are extrapolated (SQUAREM), and the extrapolation is kept if it is as probable. The mean
    log-likelihood is concave in p with the gradient g, and sum_y p_y g_y = 1: so no other shares exceed it by more
    than max_y g_y - 1, which is the stopping rule.
    """
    now, possible = start, start > 0

    def step(share: Array) -> tuple[Array, float, Array, float]:
        *slopes, value, mass = ratios.sum(ShareSlopes(share))
        g = np.asarray(slopes) / mass
        return within(share * g), value / mass, g, mass

    def size(change: Array) -> float:
        return float(np.linalg.norm(change))

    def within(share: Array) -> Array:
        share = np.where(possible, np.maximum(share, MIN_SHARE), 0.0)
        return np.asarray(share / share.sum())

    for _ in range(MAX_CYCLES):
        one, _, g, mass = step(now)
        gap = max(0.0, float(g[possible].max()) - 1.0)
        if gap <= SHARE_TOLERANCE:
            break
        two, value, _, _ = step(one)
        first, second = one - now, two - 2 * one + now
        length = max(1.0, size(first) / max(size(second), MIN_SHARE))
        far = now + 2 * length * first + length**2 * second
        further, reached, _, _ = step(within(np.maximum(far, 0.01 * two)))
        now = further if reached >= value else two
    return one, gap * mass
