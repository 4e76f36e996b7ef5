"""Parameters in closed form, and a weight for each expert."""

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
from suffice.learners.base import ClosedForm, Fit, Learner, Observed, begin, require
from suffice.models import AnyModel, AnyStatistics
from suffice.models.base import Weighable

MIN_ROWS_PER_TASK, MAX_TASKS = 1024, 4  # of a sum over rows by several threads
LOWEST = -1e4  # the score of an impossible class
HIGHEST = np.finfo(np.float64).max
MAX_SCORES, MIN_ROWS = 1 << 25, 1000  # scores in memory at a time, and rows to learn from even so
MAX_HALVINGS = 40  # of a step
DAMPING = 1e-12  # added to a curvature of unit diagonal, so that it has a Cholesky factor
STALE = (
    "ExpertWeights: rows have come or gone since the weights of the experts were learned, or none came that could "
    "teach them; recalibrate(X, y) learns them again, of rows that count now; with weights= given, none are learned"
)
POOR = (
    "ExpertWeights: the columns do not predict rows left out better than the shares of the classes do ({}); "
    "add rows or columns, or check in columns_ how they are read"
)
STUCK = "no step lowers the log loss after {} steps, though it could be lower; raise ridge"
SETTLED, MATTERS = 1e-12, 1e-6  # predicted falls, as shares of the loss: negligible, and worth a warning
CERTAIN = 1e-5  # mean loss of rows that leave nothing to predict
MIN_GAIN = 1e-4  # share by which a loss must be lower to count as better: chosen weights gain a little by chance
CLIP = 8.0  # limit of scores, in multiples of their median size
FLAT = 1e-200  # a curvature whose root could not be divided by
MIN_DECREASE = 1e-4  # share of the predicted fall that a step must reach


@dataclass(frozen=True)
class ScoreWithout:
    """Leave-one-out scores of every expert for the rows of a batch."""

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
    """The leads of the other classes over a row's own, by expert: G_c = F_c - F_y (n, k - 1, m), with weights (n,).

    a + b has the rows of both.
    """

    gaps: Array
    weight: Array

    @classmethod
    def of(cls, scores: Array, codes: Array, weight: Array) -> Leads:
        """Build from scores (n, k, m), dropping unlabelled rows and rows whose own class has no finite score."""
        gaps, use = leads(scores, codes)
        return cls(gaps, weight) if use.all() else cls(gaps[use], weight[use])

    def __add__(self, other: Leads) -> Leads:
        return Leads(*(np.concatenate(both) for both in ((self.gaps, other.gaps), (self.weight, other.weight))))

    def limit(self, expert: int) -> float:
        """Return a limit well above the usual size of an expert's scores."""
        # A power of two, so that the limit does not reveal the scores of a single row.
        size = abs(_centred(self.gaps[:, :, expert])).max(axis=1, initial=0.0)
        usual = float(np.median(size)) if len(size) else 0.0
        return float(2.0 ** np.ceil(np.log2(CLIP * usual))) if usual > 0 else 1.0

    def bounded(self, limits: Mapping[int, float]) -> Leads:
        """Clip the scores of some experts to +-limit about their mean over the classes."""
        gaps = self.gaps.copy()
        for expert, limit in limits.items():
            scores = np.clip(_centred(self.gaps[:, :, expert]), -limit, limit)
            gaps[:, :, expert] = scores[:, 1:] - scores[:, :1]
        return replace(self, gaps=gaps)

    def slope(self, w: Array) -> WeightSlope:
        """Return the loss of weights w (m,), sum_i log(1 + sum_c exp(w'G_c)), with its derivatives."""
        n = len(self.weight)
        size = max(MIN_ROWS_PER_TASK, -(-n // MAX_TASKS))
        rows = [slice(i, i + size) for i in range(0, max(1, n), size)]

        def of(some: slice) -> WeightSlope:
            loss, gradient, roots = slopes(self.gaps[some], self.weight[some], w)
            return WeightSlope(float(self.weight[some].sum()), loss, gradient, roots.T @ roots)

        return reduce(operator.add, spread(of, rows))


def _centred(gaps: Array) -> Array:
    """Return scores (n, k) of mean 0 over the classes, a row's own class first, from gaps (n, k - 1)."""
    scores = np.concatenate([np.zeros((len(gaps), 1)), gaps], axis=1)
    return np.asarray(scores - scores.mean(axis=1, keepdims=True))


@compiled
def leads(F: Array, codes: Array) -> tuple[Array, Array]:
    """Return F_c - F_y over the classes c other than y (n, k - 1, m), and which rows to use (n,).

    Rows to use have a class and finite scores of it. A class with a single row has none when that row is left out.
    """
    n, k, m = F.shape
    out, use = np.empty((n, k - 1, m)), np.ones(n, np.bool_)
    for i in range(n):
        own = max(codes[i], 0)
        use[i] = codes[i] >= 0
        for j in range(m):
            mine = F[i, own, j]
            use[i] &= np.isfinite(mine)
            for c in range(k - 1):
                other = F[i, c + (c >= own), j]
                other = min(other, HIGHEST) if other > LOWEST else LOWEST  # also if it is NaN
                out[i, c, j] = other - mine
    return out, use


@in_any_order
def slopes(G: Array, weight: Array, w: Array) -> tuple[float, Array, Array]:
    """Return the loss of `Leads.slope`, its gradient (m,), and rows B (n (k - 1), m); the curvature is B'B.

    The curvature of a row is the covariance of G_c over the classes c with probabilities p; G of its own class is 0. A
    class that joins those before it, of total probability r and mean g, adds p r / (p + r) (G_c - g)(G_c - g)'.
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


@dataclass(eq=False, repr=False)
class ExpertWeights(Learner):
    """Parameters in closed form, and weights of the experts that make labels most probable on rows left out.

        w = argmin_{w >= 0} sum_i -log p_w(y_i | x_i, all other rows) + ridge / 2 sum_m (w_m / w0_m - c_m)^2

    Leave-one-out scores take one read, because the sums without a row are the sums less the row. The problem is convex,
    and solved by Newton's method. With few rows the class shares keep their weight (c = 1) and experts get little
    (c = 0): they have to earn it. Weights that are given stay as they are.

    Parameters
    ----------
    ridge : float, default=1.0
        Strength of the pull, in units of the weights w0 of the start.
    max_rows : int, default=20000
        Maximum number of rows to learn the weights from; of more rows, those of smallest hash.
    max_iter : int, default=500
        Maximum number of Newton steps. Most problems take less than ten, a few with scores in the millions hundreds.

    References
    ----------
    Le, Clarke: A Bayes interpretation of stacking for M-complete and M-open settings. Bayesian Analysis 12 (2017),
    doi:10.1214/16-BA1023.
    """

    ridge: float = 1.0
    max_rows: int = 20_000
    max_iter: int = 500

    exact = True  # the parameters; the weights belong to the model, and are carried over
    carries_over = True
    needs = (Weighable,)

    def learn(self, model: AnyModel, data: Data) -> Fit:
        """Sum the statistics, compute the parameters from them, and weigh the experts."""
        model, data = begin(model, data)
        return self.solve(model, data.sum(Observed(model)), data)

    def solve(self, model: AnyModel, s: AnyStatistics, data: Data | None = None) -> Fit:
        """Return the parameters for the statistics s; with `data`, also learn the experts' weights from its rows."""
        require(self, model, *self.needs)
        check(self, ridge=NOT_NEGATIVE, max_rows=COUNT, max_iter=COUNT)
        fit = ClosedForm().solve(model, s, data)
        return fit if data is None else weigh(self, fit, data)

    def carry_over(self, model: AnyModel, s: AnyStatistics, before: Fit | None) -> Fit:  # noqa: ARG002 - the model has its weights
        """Return the parameters of the sums s with the weights learned before, marked as stale."""
        fit = self.solve(model, s)
        return replace(fit, warnings=(*fit.warnings, Notice(STALE, StaleWarning)))


def weigh(learner: ExpertWeights, fit: Fit, data: Data) -> Fit:
    """Learn the weights of a fit's experts from rows that are part of it, unless they are given."""
    model = cast(Weighable[Any, Any], fit.model)
    worked = cast(AnyStatistics, fit.statistics if fit.moved is None else fit.moved)
    rows = data.count()
    numbers = len(worked.mass) * len(model.experts())
    most = min(learner.max_rows, max(MIN_ROWS, MAX_SCORES // numbers))
    some = data if rows <= most else data.sample(most / rows)
    scores = some.sum(ScoreWithout(fit.model, fit.parameters, worked))
    if model.weights is not None:
        known = np.array([model.weights[expert] for expert in model.experts()])
        return replace(fit, warnings=(*fit.warnings, *_poor(scores, known)))
    at = {expert: j for j, expert in enumerate(model.experts()) if expert in model.unbounded}
    limits = {expert: scores.limit(j) for expert, j in at.items()}
    scores = scores.bounded({at[expert]: limit for expert, limit in limits.items()})
    start = model.first_weights()
    with few_threads(len(start)):
        w, losses, settled = solve(scores, start, learner.ridge, learner.max_iter)
    notices = _poor(scores, w)
    if not settled:
        steps = len(losses) - 1
        why = f"still falling after {steps} steps; raise max_iter" if steps == learner.max_iter else STUCK.format(steps)
        notices = (Notice(f"ExpertWeights: {why}", ConvergenceWarning), *notices)
    return replace(
        fit,
        model=cast(AnyModel, model.weighed(dict(zip(model.experts(), w.tolist(), strict=True)), limits)),
        history={"log_loss": losses},
        n_iter=len(losses),
        converged=settled,
        warnings=(*fit.warnings, *notices),
    )


def _poor(scores: Leads, w: Array) -> tuple[Notice, ...]:
    """Return a notice if rows left out are predicted no better than by the class shares (the first expert) alone."""
    ours, shares = scores.slope(w), scores.slope(np.eye(len(w))[0])
    certain = shares.loss <= CERTAIN * ours.mass  # nearly all rows are of one class: nothing can be better
    if certain or ours.loss < (1.0 - MIN_GAIN) * shares.loss:
        return ()
    losses = f"log loss {ours.loss / ours.mass:.4g} a row, and {shares.loss / ours.mass:.4g} by the shares"
    return (Notice(POOR.format(losses), PoorFitWarning),)


def solve(scores: Leads, start: Array, ridge: float, max_iter: int) -> tuple[Array, list[float], bool]:
    """Return weights w >= 0, the mean loss before and after each Newton step, and whether the loss has settled.

    The loss of the result was measured, and is not above that of the start.
    """
    w, at = _best_scale(scores, start, ridge)
    losses = [at.loss / (at.mass or 1.0)]
    for _ in range(max_iter):
        step, scale = _step(w, at, start), 1.0 + abs(at.loss)
        slope = float(at.gradient @ step)  # minus twice the fall of the quadratic model
        for halving in range(MAX_HALVINGS):
            new = w + 0.5**halving * step  # not negative, because both ends are not
            there = _penalised(scores.slope(new), new, start, ridge)
            if there.loss <= at.loss + MIN_DECREASE * 0.5**halving * slope:
                break
        else:
            # Rounding hides a lower loss. That is the end, unless the predicted fall was large.
            return w, losses, -slope <= MATTERS * scale
        w, at = new, there
        losses.append(at.loss / (at.mass or 1.0))
        if -slope <= SETTLED * scale:
            return w, losses, True
    return w, losses, False


def _best_scale(scores: Leads, start: Array, ridge: float) -> tuple[Array, WeightSlope]:
    """Return the point of least loss among start, start / 16, start / 16^2, ..., and its slope.

    Scores in the thousands make the loss nearly flat at the start itself, where the curvature tells nothing.
    """
    w, at = start, _penalised(scores.slope(start), start, start, ridge)
    for _ in range(MAX_HALVINGS):
        less = w / 16.0
        there = _penalised(scores.slope(less), less, start, ridge)
        if not there.loss < at.loss:
            break
        w, at = less, there
    return w, at


def _step(w: Array, at: WeightSlope, start: Array) -> Array:
    """Return the step to the exact minimum over w >= 0 of the quadratic model at w, which leads downhill.

    With H = L L' the model is |L'v - (L'w - L^-1 g)|^2 / 2 up to a constant: non-negative least squares in v.
    """
    diagonal = np.diagonal(at.curvature)
    unit = np.where(diagonal > FLAT, 1.0 / np.sqrt(np.maximum(diagonal, FLAT)), start)  # to a unit diagonal
    H = at.curvature * np.outer(unit, unit)
    H[np.diag_indices_from(H)] += DAMPING
    L = cholesky(H, lower=True)
    v, _ = nnls(L.T, L.T @ (w / unit) - solve_triangular(L, at.gradient * unit, lower=True), maxiter=30 * len(w))
    return np.asarray(v * unit - w)


def _penalised(at: WeightSlope, w: Array, start: Array, ridge: float) -> WeightSlope:
    """Add the pull towards the class shares (the first expert) alone."""
    gap = w / start - (np.arange(len(w)) == 0)
    pull = WeightSlope(0.0, 0.5 * ridge * float(gap @ gap), ridge * gap / start, np.diag(ridge / start**2))
    return at + pull
