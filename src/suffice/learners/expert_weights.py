"""Parameters in closed form, and a weight for each expert."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, cast

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf
from scipy.optimize import nnls
from sklearn.exceptions import ConvergenceWarning

from suffice._core.vector import Array
from suffice._runtime.lazy import compiled, in_any_order
from suffice._runtime.messages import COUNT, NOT_NEGATIVE, Notice, PoorFitWarning, StaleWarning, check
from suffice._runtime.threads import few_threads, spread
from suffice.data import Batch, Data
from suffice.learners.base import ClosedForm, Fit, Learner, Observed, begin, require
from suffice.models import AnyModel, AnyStatistics
from suffice.models.base import Weighable

MIN_ROWS_PER_TASK, MAX_TASKS = 1024, 4  # of a sum over rows by several threads
LOWEST = -1e4  # the score of an impossible class
HIGHEST = 1e100  # size of a lead, so that its square is finite
MAX_SCORES, MIN_ROWS = 1 << 25, 1000  # scores in memory at a time, and rows to learn from even so
MAX_HALVINGS, MANY_HALVINGS = 10, 3  # of a step, before one that is damped more is tried, and the next one is
DAMPINGS = tuple(10.0**power for power in range(-20, 21, 4))  # added to a curvature of unit diagonal
MAX_LEAD, COOLING = 64.0, 8.0  # leads at the first temperature, and the ratio of one temperature to the next
STALE = (
    "ExpertWeights: rows have come or gone since the weights of the experts were learned, or none came that could "
    "teach them; recalibrate(X, y) learns them again, of rows that count now; with weights= given, none are learned"
)
POOR = (
    "ExpertWeights: the columns do not predict rows left out better than the shares of the classes do ({}); "
    "add rows or columns, or check in columns_ how they are read"
)
STUCK = "no step lowers the log loss after {} steps, though it could be lower; raise ridge"
SETTLED, MATTERS = 1e-12, 1e-9  # predicted falls, as shares of 1 + loss: negligible, and worth a warning
ROUGH, MAX_ROUGH = 1e-2, 100  # the predicted fall at which a temperature is done, and the maximum number of its steps
CERTAIN = 1e-5  # mean loss of rows that leave nothing to predict
MIN_GAIN = 1e-4  # share by which a loss must be lower to count as better: chosen weights gain a little by chance
CLIP = 8.0  # limit of scores, in multiples of their median size
DEPENDENT = 1e-3  # share of a column that the columns before it leave, below which its square would lose precision
FLAT = 1e-10  # the root of a curvature, as a share of the scores, below which steps are in units of the scores
Slope = Callable[[Array], "WeightSlope"]
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
        share = self.s.mass / self.s.mass.sum()
        return Leads.of(scores, Y.codes, Y.weight, np.where(Y.codes >= 0, -np.log(share[Y.codes]), 0.0))


@dataclass(frozen=True, eq=False)
class WeightSlope:
    """The log loss of some weights, its gradient (m,), and rows B (b, m) of which the curvature is B'B."""

    mass: float
    loss: float
    gradient: Array
    # Not B'B, in which rounding would hide how experts differ that nearly agree.
    roots: Array

    def __add__(self, other: WeightSlope) -> WeightSlope:
        roots = _triangle(np.concatenate([self.roots, other.roots]))
        return WeightSlope(self.mass + other.mass, self.loss + other.loss, self.gradient + other.gradient, roots)


@dataclass(frozen=True, eq=False)
class Leads:
    """The leads of the other classes over a row's own, by expert: G_c = F_c - F_y (n, k - 1, m), with weights (n,).

    Rows that are alone in their class have no leads, as no other row tells of it. a + b has the rows of both.
    """

    gaps: Array
    weight: Array
    plain: float = 0.0  # total loss of the rows by the class shares of all rows
    alone: float = 0.0  # weight of the rows without leads
    alone_plain: float = 0.0  # their loss by the shares

    @classmethod
    def of(cls, scores: Array, codes: Array, weight: Array, plain: Array | float = 0.0) -> Leads:
        """Build from scores (n, k, m), dropping unlabelled rows and rows whose own class has no finite score.

        `plain` (n,) is the loss of each row by the class shares, 0 for unlabelled ones.
        """
        gaps, use = leads(scores, codes)
        loss, alone = weight * plain, ~use & (codes >= 0)
        sums = float(loss[use].sum()), float(weight[alone].sum()), float(loss[alone].sum())
        return cls(gaps, weight, *sums) if use.all() else cls(gaps[use], weight[use], *sums)

    def __add__(self, other: Leads) -> Leads:
        gaps, weight = (np.concatenate(two) for two in ((self.gaps, other.gaps), (self.weight, other.weight)))
        sums = self.plain + other.plain, self.alone + other.alone, self.alone_plain + other.alone_plain
        return Leads(gaps, weight, *sums)

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
            return WeightSlope(float(self.weight[some].sum()), loss, gradient, _triangle(roots))

        return reduce(operator.add, spread(of, rows))


def _centred(gaps: Array) -> Array:
    """Return scores (n, k) of mean 0 over the classes, a row's own class first, from gaps (n, k - 1)."""
    scores = np.concatenate([np.zeros((len(gaps), 1)), gaps], axis=1)
    return np.asarray(scores - scores.mean(axis=1, keepdims=True))


def _triangle(rows: Array) -> Array:
    """Return R with R'R = B'B and at most m rows, from rows B (b, m)."""
    if len(rows) <= rows.shape[1]:
        return rows
    H = rows.T @ rows
    size = np.sqrt(np.maximum(np.diagonal(H), np.finfo(np.float64).tiny))
    # A Cholesky factor is faster, and exact enough unless columns nearly depend on others.
    R, failed = dpotrf(H / np.outer(size, size))
    independent = not failed and np.diagonal(R).min() > DEPENDENT
    return np.asarray(R * size if independent else np.linalg.qr(rows, mode="r"))


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
                other = other if other > LOWEST else LOWEST  # also if it is NaN
                out[i, c, j] = min(max(other - mine, -HIGHEST), HIGHEST)
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
    max_iter : int, default=200
        Maximum number of Newton steps. Most problems take less than ten; a few with huge scores take up to a hundred.

    References
    ----------
    Le, Clarke: A Bayes interpretation of stacking for M-complete and M-open settings. Bayesian Analysis 12 (2017),
    doi:10.1214/16-BA1023.
    """

    ridge: float = 1.0
    max_rows: int = 20_000
    max_iter: int = 200

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
        why = f"still falling after {steps} steps; raise max_iter" if steps >= learner.max_iter else STUCK.format(steps)
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
    """Return a notice if rows left out are predicted no better than by the class shares (the first expert) alone.

    Of balanced classes, the shares without a row are worse than the shares of all rows: the lower loss counts. A row
    that is alone in its class does not count as a gain: it has the loss by the shares on both sides.
    """
    slope, shares = scores.slope(w), scores.slope(np.eye(len(w))[0])
    mass = slope.mass + scores.alone
    ours, best = (loss + scores.alone_plain for loss in (slope.loss, min(shares.loss, scores.plain)))
    certain = best <= CERTAIN * mass  # nearly all rows are of one class: nothing can be better
    if certain or ours < (1.0 - MIN_GAIN) * best:
        return ()
    losses = f"log loss {ours / mass:.4g} a row, and {best / mass:.4g} by the shares"
    return (Notice(POOR.format(losses), PoorFitWarning),)


def solve(scores: Leads, start: Array, ridge: float, max_iter: int) -> tuple[Array, list[float], bool]:
    """Return weights w >= 0, the mean loss before and after each Newton step, and whether the loss has settled.

    The loss L of the result was measured, and is not above that of the start. Scores in the thousands make L nearly
    flat between sharp bends, where its curvature tells little. Then the minimum is followed from a high temperature T
    down to 1, of L_T(w) = T sum_i log(1 + sum_c exp(w'G_c / T)) plus the penalty. Most problems begin at 1.
    """

    def loss(w: Array, T: float = 1.0) -> WeightSlope:
        at, gap = scores.slope(w / T), w / start - (np.arange(len(w)) == 0)
        pull = WeightSlope(0.0, 0.5 * ridge * float(gap @ gap), ridge * gap / start, np.diag(np.sqrt(ridge) / start))
        return WeightSlope(at.mass, T * at.loss, at.gradient, at.roots / np.sqrt(T)) + pull

    w, before = start, loss(start)
    least = FLAT * np.maximum(abs(scores.gaps).max(axis=(0, 1), initial=0.0), 1.0 / start)
    lead = (scores.gaps @ start).max(initial=MAX_LEAD)
    for power in range(math.ceil(math.log(lead / MAX_LEAD, COOLING)), 0, -1):
        T = COOLING**power
        w, *_ = _descend(partial(loss, T=T), w, loss(w, T), least / np.sqrt(T), min(max_iter, MAX_ROUGH), ROUGH)
    at = before if w is start else loss(w)
    if not at.loss <= before.loss:
        w, at = start, before
    w, losses, settled = _descend(loss, w, at, least, max_iter, SETTLED)
    return w, [each / (at.mass or 1.0) for each in ([before.loss] * (at is not before) + losses)], settled


def _descend(
    loss: Slope, w: Array, at: WeightSlope, least: Array, max_iter: int, enough: float
) -> tuple[Array, list[float], bool]:
    """Return where Newton's method leads from w, the loss before and after each step, and whether it has settled.

    It has if the minimum of the quadratic model over w >= 0 is lower by at most the share `enough` of 1 + loss; if
    rounding hides a fall from the loss, by at most MATTERS. No fall at all is the condition of Karush, Kuhn and Tucker.
    """
    losses, level = [at.loss], 0  # of damping: higher while steps are too long
    for _ in range(max_iter):
        for tried in range(level, len(DAMPINGS)):
            step = _step(w, at, least, DAMPINGS[tried])
            share = abs(float(at.gradient @ step)) / (1.0 + abs(at.loss))
            found = _lower(loss, w, at, step)
            if found or (tried == 0 and share <= MATTERS):
                break
        if found:
            w, at, halvings = found
            losses.append(at.loss)
        settled = tried == 0 and (share <= enough or not found)
        if settled or not (found or level):
            return w, losses, settled
        short = not found or share <= enough
        level = 0 if short else min(max(tried + (halvings > MANY_HALVINGS) - (halvings == 0), 0), len(DAMPINGS) - 1)
    return w, losses, False


def _lower(loss: Slope, w: Array, at: WeightSlope, step: Array) -> tuple[Array, WeightSlope, int] | None:
    """Return w + step, or the lowest of its halves if it is not lower than w, with its slope and the halvings."""
    slope, best = float(at.gradient @ step), None
    for halvings in range(MAX_HALVINGS):
        share = 0.5**halvings
        new = w + share * step  # not negative, because both ends are not
        there = loss(new)
        if best and there.loss >= best[1].loss:
            break
        if there.loss < at.loss and there.loss <= at.loss + MIN_DECREASE * share * slope:
            best = new, there, halvings
            if halvings == 0:
                break
    return best


def _step(w: Array, at: WeightSlope, least: Array, damping: float) -> Array:
    """Return the step to the exact minimum over w >= 0 of the quadratic model at w, which leads downhill.

    With curvature R'R the model is |R v - (R w - R'^-1 g)|^2 / 2 up to a constant: non-negative least squares in v.
    """
    unit = 1.0 / np.maximum(np.linalg.norm(at.roots, axis=0), least)  # to a unit diagonal
    R = _triangle(np.concatenate([at.roots * unit, np.sqrt(damping) * np.eye(len(w))]))
    v, _ = nnls(R, R @ (w / unit) - solve_triangular(R, at.gradient * unit, trans=1), maxiter=30 * len(w))
    return np.asarray(v * unit - w)
