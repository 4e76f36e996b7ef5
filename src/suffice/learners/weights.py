"""Learning in closed form, and how much each expert is to be believed."""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, cast

import numpy as np
from scipy.linalg import lapack
from sklearn.exceptions import ConvergenceWarning

from suffice._check import COUNT, NOT_NEGATIVE, check
from suffice._compiled import compiled, in_any_order
from suffice._notice import Notice, StaleWarning
from suffice._threads import few_threads, spread
from suffice._vector import Array, Vector
from suffice.data import Batch, Data
from suffice.learners._base import Learner, Observed, begin, require
from suffice.learners._fit import Fit, closed
from suffice.models import AnyModel, AnyStatistics
from suffice.models._base import Weighable

ROWS, SHARES = 1024, 4  # at least so many that a thread takes at a time, and parts that more rows make
LOWEST = -1e4  # a score that stands for impossible
HIGHEST = np.finfo(np.float64).max  # the greatest that is a number
ENTRIES, LEAST_ROWS = 1 << 25, 1000  # scores that are kept at a time, and rows at least
HALVINGS = 40  # of a step, at most
LEAST = 1e-12  # of a curvature, beside its trace
STALE = (
    "ExpertWeights: rows have come or gone since the weights of the experts were learned, or none came that could "
    "teach them; recalibrate(X, y) learns them anew, of rows that count now; with weights= given, none are learned"
)
SLACK, SETTLED = 1e-14, 1e-10  # of a loss: rounding, and a fall that is none


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
class Slope(Vector):
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

    def slope(self, w: Array) -> Slope:
        """Of weights w (m,): the sum over rows of log(1 + sum_c exp(w'G_c)), with its derivatives."""
        n = len(self.weight)
        size = max(ROWS, -(-n // SHARES))
        rows = [slice(i, i + size) for i in range(0, max(1, n), size)]
        return reduce(operator.add, spread(lambda some: _slope(self.gaps[some], self.weight[some], w), rows))


def _slope(gaps: Array, weight: Array, w: Array) -> Slope:
    loss, gradient, roots = slopes(gaps, weight, w)
    return Slope(float(weight.sum()), loss, gradient, roots.T @ roots)


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

    needs = (Weighable,)

    def __init__(self, ridge: float = 1.0, max_rows: int = 20_000, max_iter: int = 50) -> None:
        self.ridge = ridge
        self.max_rows = max_rows
        self.max_iter = max_iter

    def learn(self, model: AnyModel, data: Data) -> Fit:
        """Sum the statistics, take the parameters from them, and weigh the experts."""
        model, data = begin(model, data)
        return self.close(model, data.sum(Observed(model)), data)

    def close(self, model: AnyModel, s: AnyStatistics, data: Data | None = None) -> Fit:
        """The parameters that statistics S(X, Y) already summed lead to; weights are learned if there are rows."""
        require(self, model, *self.needs)
        check(self, ridge=NOT_NEGATIVE, max_rows=COUNT, max_iter=COUNT)
        fit = closed(model, s, data)
        given = cast(Weighable[Any, Any], model).weights is not None
        return fit if data is None or given else weigh(self, fit, data)

    def carry(self, model: AnyModel, s: AnyStatistics, before: Fit | None) -> Fit:  # noqa: ARG002 - the model has its weights
        """The parameters of the sums of the rows that count now, with the weights learned before, marked as stale."""
        fit = self.close(model, s)
        return replace(fit, warnings=(*fit.warnings, Notice(STALE, StaleWarning)))


def weigh(learner: ExpertWeights, fit: Fit, data: Data) -> Fit:
    """A fit with the weights of its experts learned from rows that are part of it."""
    model = cast(Weighable[Any, Any], fit.model)
    worked = cast(AnyStatistics, fit.statistics if fit.moved is None else fit.moved)
    rows = data.count()
    numbers = len(worked.mass) * len(model.experts())
    most = min(learner.max_rows, max(LEAST_ROWS, ENTRIES // numbers))
    some = data if rows <= most else data.sample(most / rows)
    start = model.first_weights()
    told = some.sum(Apart(fit.model, fit.parameters, worked))
    with few_threads(len(start)):
        w, losses = solve(told, start, learner.ridge, learner.max_iter)
    settled = len(losses) <= learner.max_iter
    said = (Notice(f"ExpertWeights: still falling after {learner.max_iter} steps; raise max_iter", ConvergenceWarning),)
    return replace(
        fit,
        model=cast(AnyModel, model.weighed(dict(zip(model.experts(), w.tolist(), strict=True)))),
        history={"log_loss": losses},
        n_iter=len(losses),
        converged=settled,
        warnings=fit.warnings if settled else (*fit.warnings, *said),
    )


def solve(told: Leads, start: Array, ridge: float, max_iter: int) -> tuple[Array, list[float]]:
    """Weights of at least 0, by Newton steps, and the mean log loss after each of them."""
    w, at = start, _penalised(told.slope(start), start, start, ridge)
    losses = [at.loss / (at.mass or 1.0)]
    for _ in range(max_iter):
        step = _step(w, at, start)
        if -(at.gradient @ step) <= SETTLED * (1.0 + abs(at.loss)):  # which is twice the fall, as near as this
            return np.maximum(w + step, 0.0), losses
        for halving in range(HALVINGS):
            new = np.maximum(w + 0.5**halving * step, 0.0)
            there = _penalised(told.slope(new), new, start, ridge)
            if there.loss <= at.loss + SLACK * abs(at.loss):
                break
        else:
            return w, losses
        fall, w, at = at.loss - there.loss, new, there
        losses.append(at.loss / (at.mass or 1.0))
        if fall <= SETTLED * (1.0 + abs(at.loss)):
            return w, losses
    return w, [*losses, losses[-1]]


def _step(w: Array, at: Slope, start: Array) -> Array:
    """To the least of the quadratic at w, of which weights that would be below 0 are put to 0, one set after the other.

    Where that leads uphill, the step that asks for no bounds.
    """
    free = (w > 0) | (at.gradient < 0)
    first = step = _newton(w, at, start, free)
    while (w[free] + step[free] < 0).any():
        free = free & (w + step > 0)
        step = _newton(w, at, start, free)
    return step if at.gradient @ step < 0 else np.where(w + first > 0, first, -w)


def _newton(w: Array, at: Slope, start: Array, free: Array) -> Array:
    """The step to the least of the quadratic at w among weights that are 0 but for those that are free."""
    step = np.where(free, 0.0, -w)
    if not free.any():
        return step
    scale = start[free]  # so that experts of many voices and of one are of one size
    H = at.curvature[np.ix_(free, free)] * np.outer(scale, scale)
    H[np.diag_indices_from(H)] += LEAST * (1.0 + np.trace(H))
    slope = at.gradient[free] + at.curvature[free] @ step
    _, found, failed = lapack.dposv(H, slope * scale, overwrite_a=1, overwrite_b=1)
    if failed:
        raise np.linalg.LinAlgError("ExpertWeights: the curvature of the log loss is not positive")
    step[free] = -scale * found
    return step


def _penalised(at: Slope, w: Array, start: Array, ridge: float) -> Slope:
    """With the pull towards the classes' shares alone, which are the first."""
    gap = w / start - (np.arange(len(w)) == 0)
    pull = Slope(0.0, 0.5 * ridge * float(gap @ gap), ridge * gap / start, np.diag(ridge / start**2))
    return at + pull
