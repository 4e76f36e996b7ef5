"""Learning in closed form, and how much each expert is to be believed."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, cast

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls
from sklearn.exceptions import ConvergenceWarning

from suffice._core.vector import Array, Vector
from suffice._runtime.lazy import compiled, in_any_order
from suffice._runtime.messages import COUNT, NOT_NEGATIVE, Notice, PoorFitWarning, StaleWarning, check
from suffice._runtime.threads import few_threads, spread
from suffice.data import Batch, Data
from suffice.learners.base import Fit, Learner, Observed, begin, closed, require
from suffice.models import AnyModel, AnyStatistics
from suffice.models.base import Weighable

ROWS, SHARES = 1024, 4  # at least so many that a thread takes at a time, and parts that more rows make
LOWEST = -1e4  # a score that stands for impossible
HIGHEST = np.finfo(np.float64).max  # the greatest that is a number
ENTRIES, LEAST_ROWS = 1 << 25, 1000  # scores that are kept at a time, and rows at least
HALVINGS = 40  # of a step, at most
LEAST = 1e-12  # added to a curvature of unit diagonal, so that it has a Cholesky factor
STALE = (
    "ExpertWeights: rows have come or gone since the weights of the experts were learned, or none came that could "
    "teach them; recalibrate(X, y) learns them again, of rows that count now; with weights= given, none are learned"
)
POOR = (
    "ExpertWeights: the columns do not predict rows left out better than the shares of the classes do ({}); "
    "add rows or columns, or check in columns_ how they are read"
)
STUCK = "no smaller log loss is in sight after {} steps, though it could be less; raise ridge"
SETTLED, MATTERS = 1e-10, 1e-6  # falls of the loss, as shares of it: none, and one that should not be missed
CERTAIN = 1e-5  # mean loss of rows that leave nothing to predict
BETTER = (
    1e-4  # share by which a loss has to be lower to be called better: weights that were chosen gain a little by chance
)
USUAL = 8.0  # times the median size of scores: what is clipped lies far beyond
FLAT = 1e-200  # a curvature whose root could not be divided by
ENOUGH = 1e-4  # share of the predicted fall that a step must reach


@dataclass(frozen=True)
class Apart:
    """What every expert says of rows with a class that it has not learned, to be added up: few are scored once."""

    model: AnyModel  # resolved
    theta: object
    s: AnyStatistics

    def __call__(self, batch: Batch) -> Leads:
        Y = batch.Y.onto(self.s.domain.classes)
        scores = cast(Weighable[Any, Any], self.model).scores_without(batch.X, Y, self.theta, self.s)
        return Leads.of(scores, Y.codes, Y.weight)


@dataclass(frozen=True, eq=False, repr=False)
class WeightSlope(Vector):
    """The log loss of some weights, its gradient (m,) and its curvature (m, m)."""

    mass: float
    loss: float
    gradient: Array
    curvature: Array


@dataclass(frozen=True, eq=False)
class Leads:
    """By how much experts score each other class above a row's own: G_c = F_c - F_y (n, k - 1, m), weights (n,).

    a + b has the rows of both.
    """

    gaps: Array
    weight: Array

    @classmethod
    def of(cls, scores: Array, codes: Array, weight: Array) -> Leads:
        """Of scores (n, k, m); without rows that have no class, and those of which nothing can tell their class."""
        gaps, told = leads(scores, codes)
        return cls(gaps, weight) if told.all() else cls(gaps[told], weight[told])

    def __add__(self, other: Leads) -> Leads:
        return Leads(*(np.concatenate(both) for both in ((self.gaps, other.gaps), (self.weight, other.weight))))

    def limit(self, expert: int) -> float:
        """A power of two some times as large as an expert's scores usually are, so that no row gives itself away."""
        size = abs(_centred(self.gaps[:, :, expert])).max(axis=1, initial=0.0)
        usual = float(np.median(size)) if len(size) else 0.0
        return float(2.0 ** np.ceil(np.log2(USUAL * usual))) if usual > 0 else 1.0

    def bounded(self, limits: Mapping[int, float]) -> Leads:
        """The same with the scores of some experts clipped to +-limit about their mean over the classes."""
        gaps = self.gaps.copy()
        for expert, limit in limits.items():
            scores = np.clip(_centred(self.gaps[:, :, expert]), -limit, limit)
            gaps[:, :, expert] = scores[:, 1:] - scores[:, :1]
        return replace(self, gaps=gaps)

    def slope(self, w: Array) -> WeightSlope:
        """Of weights w (m,): the sum over rows of log(1 + sum_c exp(w'G_c)), with its derivatives."""
        n = len(self.weight)
        size = max(ROWS, -(-n // SHARES))
        rows = [slice(i, i + size) for i in range(0, max(1, n), size)]
        return reduce(operator.add, spread(lambda some: _slope(self.gaps[some], self.weight[some], w), rows))


def _centred(gaps: Array) -> Array:
    """Scores (n, k) of mean 0 over the classes, a row's own class first, from gaps (n, k - 1)."""
    scores = np.concatenate([np.zeros((len(gaps), 1)), gaps], axis=1)
    return np.asarray(scores - scores.mean(axis=1, keepdims=True))


def _slope(gaps: Array, weight: Array, w: Array) -> WeightSlope:
    loss, gradient, roots = slopes(gaps, weight, w)
    return WeightSlope(float(weight.sum()), loss, gradient, roots.T @ roots)


@compiled
def leads(F: Array, codes: Array) -> tuple[Array, Array]:
    """F_c - F_y over the classes c that are not the own one y (n, k - 1, m), and which rows to take (n,).

    These have a class, and finite scores of it: nothing can tell a class that has no other row.
    """
    n, k, m = F.shape
    out, told = np.empty((n, k - 1, m)), np.ones(n, np.bool_)
    for i in range(n):
        own = max(codes[i], 0)
        told[i] = codes[i] >= 0
        for j in range(m):
            mine = F[i, own, j]
            told[i] &= np.isfinite(mine)
            for c in range(k - 1):
                other = F[i, c + (c >= own), j]
                other = min(other, HIGHEST) if other > LOWEST else LOWEST  # which NaN is, too
                out[i, c, j] = other - mine
    return out, told


@in_any_order
def slopes(G: Array, weight: Array, w: Array) -> tuple[float, Array, Array]:
    """The loss of `Leads.slope`, its gradient (m,), and rows B (n (k - 1), m) of which the curvature is B'B.

    The curvature of a row is the covariance of G_c over the classes c, of probabilities p, where that of its own is 0:
    when a class joins those before it, of probability r and of mean g, it grows by p r / (p + r) (G_c - g)(G_c - g)'.
    """
    n, others, m = G.shape
    loss, gradient, roots = 0.0, np.zeros(m), np.zeros((n * others, m))
    p, mean = np.empty(others), np.empty(m)
    at = 0
    for i in range(n):
        top = 0.0
        for c in range(others):
            p[c] = 0.0
            for j in range(m):
                p[c] += w[j] * G[i, c, j]
            top = max(top, p[c])
        r = np.exp(-top)
        total = r
        for c in range(others):
            p[c] = np.exp(p[c] - top)
            total += p[c]
        loss += weight[i] * (top + np.log(total))
        mean[:] = 0.0
        for c in range(others):
            share = p[c] / (p[c] + r) if p[c] > 0.0 else 0.0
            root = np.sqrt(weight[i] * share * r / total)
            for j in range(m):
                gap = G[i, c, j] - mean[j]
                roots[at, j] = root * gap
                mean[j] += share * gap
            r += p[c]
            at += 1
        for j in range(m):
            gradient[j] += weight[i] * mean[j]
    return loss, gradient, roots


class ExpertWeights(Learner):
    """Parameters in closed form, and weights of the experts that make labels most probable on rows left out.

        w = argmin_{w >= 0} sum_i -log p_w(y_i | x_i, all other rows) + ridge / 2 sum_m (w_m / w0_m - c_m)^2

    Leave-one-out scores take one read, as sums without a row are the sums less the row; the problem is convex, and
    solved by Newton's method. With few rows the classes' shares are believed (c = 1) and experts are not (c = 0): these
    have to earn their weight. Weights that are given stay as they are.

    Parameters
    ----------
    ridge : float, default=1.0
        Pull of the weights, in units of those w0 that are begun with.
    max_rows : int, default=20000
        Rows to learn the weights from, at most; of more, those of smallest hash.
    max_iter : int, default=50
        Newton steps, at most.

    References
    ----------
    Le, Clarke: A Bayes interpretation of stacking for M-complete and M-open settings. Bayesian Analysis 12 (2017),
    doi:10.1214/16-BA1023.
    """

    exact = True  # parameters are; weights are the model's, and carried over
    carries_over = True
    needs = (Weighable,)

    def __init__(self, ridge: float = 1.0, max_rows: int = 20_000, max_iter: int = 50) -> None:
        self.ridge = ridge
        self.max_rows = max_rows
        self.max_iter = max_iter

    def learn(self, model: AnyModel, data: Data) -> Fit:
        """Sum the statistics, take the parameters from them, and weigh the experts."""
        model, data = begin(model, data)
        return self.solve(model, data.sum(Observed(model)), data)

    def solve(self, model: AnyModel, s: AnyStatistics, data: Data | None = None) -> Fit:
        """The parameters that statistics S(X, Y) already summed lead to; weights are learned if there are rows."""
        require(self, model, *self.needs)
        check(self, ridge=NOT_NEGATIVE, max_rows=COUNT, max_iter=COUNT)
        fit = closed(model, s, data)
        return fit if data is None else weigh(self, fit, data)

    def carry_over(self, model: AnyModel, s: AnyStatistics, before: Fit | None) -> Fit:  # noqa: ARG002 - the model has its weights
        """The parameters of the sums of the rows that count now, with the weights learned before, marked as stale."""
        fit = self.solve(model, s)
        return replace(fit, warnings=(*fit.warnings, Notice(STALE, StaleWarning)))


def weigh(learner: ExpertWeights, fit: Fit, data: Data) -> Fit:
    """A fit with the weights of its experts learned from rows that are part of it, unless they are given."""
    model = cast(Weighable[Any, Any], fit.model)
    worked = cast(AnyStatistics, fit.statistics if fit.moved is None else fit.moved)
    rows = data.count()
    numbers = len(worked.mass) * len(model.experts())
    most = min(learner.max_rows, max(LEAST_ROWS, ENTRIES // numbers))
    some = data if rows <= most else data.sample(most / rows)
    told = some.sum(Apart(fit.model, fit.parameters, worked))
    if model.weights is not None:
        known = np.array([model.weights[expert] for expert in model.experts()])
        return replace(fit, warnings=(*fit.warnings, *_poor(told, known)))
    at = {expert: j for j, expert in enumerate(model.experts()) if expert in model.unbounded}
    limits = {expert: told.limit(j) for expert, j in at.items()}
    told = told.bounded({at[expert]: limit for expert, limit in limits.items()})
    start = model.first_weights()
    with few_threads(len(start)):
        w, losses, settled = solve(told, start, learner.ridge, learner.max_iter)
    said = _poor(told, w)
    if not settled:
        steps = len(losses) - 1
        why = f"still falling after {steps} steps; raise max_iter" if steps == learner.max_iter else STUCK.format(steps)
        said = (Notice(f"ExpertWeights: {why}", ConvergenceWarning), *said)
    return replace(
        fit,
        model=cast(AnyModel, model.weighed(dict(zip(model.experts(), w.tolist(), strict=True)), limits)),
        history={"log_loss": losses},
        n_iter=len(losses),
        converged=settled,
        warnings=(*fit.warnings, *said),
    )


def _poor(told: Leads, w: Array) -> tuple[Notice, ...]:
    """A notice if rows left out are predicted no better than by the classes' shares, the first expert, alone."""
    ours, shares = told.slope(w), told.slope(np.eye(len(w))[0])
    certain = shares.loss <= CERTAIN * ours.mass  # nearly all rows are of one class: nothing can be better
    if certain or ours.loss < (1.0 - BETTER) * shares.loss:
        return ()
    losses = f"log loss {ours.loss / ours.mass:.4g} a row, and {shares.loss / ours.mass:.4g} by the shares"
    return (Notice(POOR.format(losses), PoorFitWarning),)


def solve(told: Leads, start: Array, ridge: float, max_iter: int) -> tuple[Array, list[float], bool]:
    """Weights w >= 0, the mean loss before and after each Newton step, and whether the loss has settled.

    Every point that is returned was measured, and none lies above the start.
    """
    w, at = _begin(told, start, ridge)
    losses = [at.loss / (at.mass or 1.0)]
    for _ in range(max_iter):
        step, scale = _step(w, at, start), 1.0 + abs(at.loss)
        slope = float(at.gradient @ step)  # minus twice what the quadratic model would gain
        for halving in range(HALVINGS):
            new = w + 0.5**halving * step  # both ends are at least 0, and so is all between them
            there = _penalised(told.slope(new), new, start, ridge)
            if there.loss <= at.loss + ENOUGH * 0.5**halving * slope:
                break
        else:  # rounding hides a smaller loss, unless one was in reach
            return w, losses, -slope <= MATTERS * scale
        w, at = new, there
        losses.append(at.loss / (at.mass or 1.0))
        if -slope <= SETTLED * scale:
            return w, losses, True
    return w, losses, False


def _begin(told: Leads, start: Array, ridge: float) -> tuple[Array, WeightSlope]:
    """The point of least loss among start, start / 16, start / 16^2, ...: where the first step is taken.

    Scores in the thousands make the loss nearly flat at the start itself, with a curvature that tells nothing.
    """
    w, at = start, _penalised(told.slope(start), start, start, ridge)
    for _ in range(HALVINGS):
        less = w / 16.0
        there = _penalised(told.slope(less), less, start, ridge)
        if not there.loss < at.loss:
            break
        w, at = less, there
    return w, at


def _step(w: Array, at: WeightSlope, start: Array) -> Array:
    """The step to the exact minimum over w >= 0 of the quadratic model at w, which leads downhill.

    With H = L L' the model is |L'v - (L'w - L^-1 g)|^2 / 2 up to a constant: non-negative least squares in v.
    """
    diagonal = np.diagonal(at.curvature)
    unit = np.where(diagonal > FLAT, 1.0 / np.sqrt(np.maximum(diagonal, FLAT)), start)  # to a unit diagonal
    H = at.curvature * np.outer(unit, unit)
    H[np.diag_indices_from(H)] += LEAST
    L = cholesky(H, lower=True)
    v, _ = nnls(L.T, L.T @ (w / unit) - solve_triangular(L, at.gradient * unit, lower=True), maxiter=30 * len(w))
    return np.asarray(v * unit - w)


def _penalised(at: WeightSlope, w: Array, start: Array, ridge: float) -> WeightSlope:
    """With the pull towards the classes' shares alone, which are the first."""
    gap = w / start - (np.arange(len(w)) == 0)
    pull = WeightSlope(0.0, 0.5 * ridge * float(gap @ gap), ridge * gap / start, np.diag(ridge / start**2))
    return at + pull
