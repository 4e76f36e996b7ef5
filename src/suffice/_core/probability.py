"""From log p(x, y) to p(y | x), for arrays and as formulas."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from suffice._core.formula import Arithmetic, E
from suffice._core.vector import Array
from suffice._runtime.lazy import compiled


def posterior(log_joint: Array) -> Array:
    """Class probabilities (n, k) from log p(x, y), which is known up to a constant for each row.

    >>> posterior(np.log([[1.0, 3.0]]))
    array([[0.25, 0.75]])
    """
    weight = below_zero(log_joint)
    np.exp(weight, out=weight)
    normalise(weight)
    return weight


def log_posterior(log_joint: Array) -> Array:
    """Logarithms of class probabilities (n, k), without a floor.

    >>> log_posterior(np.array([[0.0, -5000.0]]))
    array([[    0., -5000.]])
    """
    shifted = below_zero(log_joint)
    _subtract(shifted, np.log(_totals(np.exp(shifted))))
    return shifted


def below_zero(log_joint: Array) -> Array:
    """Rows shifted to a maximum of 0; a row that is infinite or NaN becomes 0 in all classes."""
    out = np.array(log_joint, dtype=float, order="C")
    _shift(out)
    return out


@compiled
def most_probable(log_joint: Array) -> Array:
    """The most probable class of each row (n,), the first of equally probable ones."""
    n, k = log_joint.shape
    out = np.empty(n, np.int64)
    for i in range(n):
        top, best = 0, log_joint[i, 0]
        for c in range(1, k):
            more = log_joint[i, c] > best
            top = c if more else top
            best = log_joint[i, c] if more else best
        out[i] = top
    return out


@compiled
def _shift(rows: Array) -> None:
    n, k = rows.shape
    for i in range(n):
        top, known = -np.inf, True
        for c in range(k):
            top = max(top, rows[i, c])
            known &= rows[i, c] == rows[i, c]
        fine = known and abs(top) < np.inf
        for c in range(k):
            rows[i, c] = rows[i, c] - top if fine else 0.0


@compiled
def _totals(rows: Array) -> Array:
    """The sum of each row (n,)."""
    n, k = rows.shape
    out = np.zeros(n)
    for i in range(n):
        for c in range(k):
            out[i] += rows[i, c]
    return out


@compiled
def normalise(rows: Array) -> Array:
    """Rows divided by their sums (n,), which are returned."""
    n, k = rows.shape
    totals = np.empty(n)
    for i in range(n):
        total = 0.0
        for c in range(k):
            total += rows[i, c]
        totals[i] = total
        for c in range(k):
            rows[i, c] /= total
    return totals


@compiled
def _subtract(rows: Array, from_each: Array) -> None:
    n, k = rows.shape
    for i in range(n):
        for c in range(k):
            rows[i, c] -= from_each[i]


def posterior_formula(ops: Arithmetic[E], scores: Sequence[E]) -> list[E]:
    """`posterior` as a formula of the scores (k,)."""
    weight = ops.keep([ops.exp(one) for one in _shifted_formulas(ops, scores)])
    (total,) = ops.keep([ops.add(*weight)])
    return [ops.over(one, total) for one in weight]


def log_posterior_formula(ops: Arithmetic[E], scores: Sequence[E]) -> list[E]:
    """`log_posterior` as a formula of the scores (k,)."""
    shifted = ops.keep(_shifted_formulas(ops, scores))
    (total,) = ops.keep([ops.log(ops.add(*map(ops.exp, shifted)))])
    return [ops.minus(one, total) for one in shifted]


def _shifted_formulas(ops: Arithmetic[E], scores: Sequence[E]) -> list[E]:
    (top,) = ops.keep([ops.greatest(scores)])
    return [ops.minus(one, top) for one in scores]
