"""What a density answers besides a class: rows of its own, how strange others are, and classes in other shares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from suffice._core.probability import log_posterior, posterior
from suffice._core.vector import Array
from suffice.data import Batch, Data

LogJoint = Callable[[Array], Array]  # log p(x, y) (n, k) of rows (n, d)
LEVELS = np.linspace(0.0, 1.0, 65)  # quantiles of a sample between which is integrated
BEYOND = np.array([0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2])  # ranges of the sample, on either side
NODES = {1: 12, 2: 4}  # of Gauss and Legendre, in each interval
HALVINGS = 60


class BayesError(NamedTuple):
    """The probability of a mistake of the best rule, and its standard error; 0 where it was integrated."""

    error: float
    standard_error: float


def by_sampling(log_joint: Array) -> BayesError:
    """The mean of 1 - max_y p(y | x) over rows drawn from p(x), given log p(x, y) (n, k)."""
    wrong = 1.0 - posterior(log_joint).max(axis=1)
    return BayesError(float(wrong.mean()), float(wrong.std() / np.sqrt(len(wrong))))


def by_quadrature(log_joint: LogJoint, samples: list[Array]) -> BayesError:
    """The integral of p(x) - max_y p(x, y) over one or two columns; samples (n, d) of each class tell where to look."""
    d = samples[0].shape[1]
    ends = [np.unique(np.concatenate([_ends(one[:, j]) for one in samples])) for j in range(d)]
    if d == 1:  # with the borders between classes, at which the integrand is not smooth
        ends[0] = np.union1d(ends[0], _borders(log_joint, ends[0]))
    nodes, weights = zip(*(_rule(one, NODES[d]) for one in ends), strict=True)
    rows = np.stack(np.meshgrid(*nodes, indexing="ij"), axis=-1).reshape(-1, d)
    weight = np.prod(np.meshgrid(*weights, indexing="ij"), axis=0).ravel()
    p = np.exp(log_joint(rows))
    lost = weight @ (p.sum(axis=1) - p.max(axis=1))
    return BayesError(float(lost / (weight @ p.sum(axis=1))), 0.0)


def _ends(values: Array) -> Array:
    """The ends of intervals that hold about as much of a sample (n,) each, and some beyond it on either side."""
    inside = np.quantile(values, LEVELS)
    beyond = (inside[-1] - inside[0]) * BEYOND
    return np.concatenate([inside[0] - beyond, inside, inside[-1] + beyond])


def _rule(ends: Array, order: int) -> tuple[Array, Array]:
    """Nodes and weights of Gauss and Legendre on the intervals between ends (m,)."""
    x, w = np.polynomial.legendre.leggauss(order)
    middle, half = 0.5 * (ends[1:] + ends[:-1]), 0.5 * np.diff(ends)
    return (middle[:, None] + half[:, None] * x).ravel(), (half[:, None] * w).ravel()


def _borders(log_joint: LogJoint, ends: Array) -> Array:
    """Where the most probable class changes between neighbouring ends, by halving."""

    def best(x: Array) -> Array:
        return np.asarray(log_joint(x[:, None]).argmax(axis=1))

    first = best(ends)
    at = np.flatnonzero(first[1:] != first[:-1])
    low, high = ends[at], ends[at + 1]
    for _ in range(HALVINGS if len(at) else 0):
        middle = 0.5 * (low + high)
        same = best(middle) == first[at]
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return np.asarray(0.5 * (low + high))


CYCLES = 300  # of three passes each, at most
SETTLED = 1e-10  # of the mean log-likelihood
LEAST = 1e-30  # share of a class that has none, so that it can come back
NONE = -600.0  # log-ratio that counts as impossible: smaller numbers are slow to multiply


@dataclass(frozen=True)
class Ratios:
    """p(y | x) / p(y) (n, k), up to a factor a row, by which the greatest is 1; from log p(x, y) and log p(y)."""

    class_log_prob: Array  # (k,)

    def __call__(self, log_joint: Array) -> Array:
        known = np.isfinite(self.class_log_prob)
        ratio = np.where(known, log_posterior(log_joint) - np.where(known, self.class_log_prob, 0.0), -np.inf)
        ratio -= ratio.max(axis=1, keepdims=True, initial=NONE)
        return np.asarray(np.exp(np.where(ratio < NONE, -np.inf, ratio)))


@dataclass(frozen=True)
class ShareSlopes:
    """Sums over rows of ratios R (n, k) and weights w (k + 2,): those of w R_y / (R p), of w log(R p), and of w.

    The first are the slopes of the second, the log-likelihood of class probabilities p.
    """

    share: Array  # (k,)

    def __call__(self, batch: Batch) -> Array:
        R, weight = np.asarray(batch.X), batch.Y.weight
        likelihood = R @ self.share
        return np.concatenate([(weight / likelihood) @ R, [weight @ np.log(likelihood), weight.sum()]])


def most_probable_shares(ratios: Data, start: Array) -> tuple[Array, float]:
    """The shares p (k,) that make rows of ratios R (n, k) most probable, and by how much others may do so at most.

        EM: p_y <- p_y g_y,     g_y = mean_i R_iy / sum_c R_ic p_c

    Two such steps are extrapolated, as squared iterations do, and what comes of it is kept where it is as probable.
    The mean log-likelihood is concave in p and has the slopes g, with sum_y p_y g_y = 1: so no other shares are above
    it by more than max_y g_y - 1, which tells when to stop.
    """
    now, possible = start, start > 0

    def step(share: Array) -> tuple[Array, float, Array, float]:
        *slopes, value, mass = ratios.sum(ShareSlopes(share))
        g = np.asarray(slopes) / mass
        return within(share * g), value / mass, g, mass

    def size(change: Array) -> float:
        return float(np.linalg.norm(change))

    def within(share: Array) -> Array:
        share = np.where(possible, np.maximum(share, LEAST), 0.0)
        return np.asarray(share / share.sum())

    for _ in range(CYCLES):
        one, _, g, mass = step(now)
        gap = max(0.0, float(g[possible].max()) - 1.0)
        if gap <= SETTLED:
            break
        two, value, _, _ = step(one)
        first, second = one - now, two - 2 * one + now
        length = max(1.0, size(first) / max(size(second), LEAST))
        far = now + 2 * length * first + length**2 * second
        further, reached, _, _ = step(within(np.maximum(far, 0.01 * two)))
        now = further if reached >= value else two
    return one, gap * mass
