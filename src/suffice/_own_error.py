"""The error of the best rule under a density, by the density itself: integrated in one or two dimensions, or drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from suffice._posterior import posterior
from suffice._vector import Array

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
