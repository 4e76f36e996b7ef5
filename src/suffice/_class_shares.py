"""The shares of the classes under which rows without labels are most probable."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice._posterior import log_posterior
from suffice._vector import Array
from suffice.data import Batch, Data

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
class Slopes:
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
        *slopes, value, mass = ratios.sum(Slopes(share))
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
