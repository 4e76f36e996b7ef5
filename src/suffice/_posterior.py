"""From log p(x, y) to p(y | x)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from suffice._arithmetic import Arithmetic, E
from suffice._vector import Array


def posterior(log_joint: Array) -> Array:
    """Class probabilities (n, k) from log p(x, y), up to a term that is the same for all classes.

    >>> posterior(np.log([[1.0, 3.0]]))
    array([[0.25, 0.75]])
    """
    weight = np.exp(_below_zero(log_joint))
    weight /= weight.sum(axis=1, keepdims=True)
    return np.asarray(weight)


def log_posterior(log_joint: Array) -> Array:
    """Logarithms of class probabilities (n, k); they have no floor.

    >>> log_posterior(np.array([[0.0, -5000.0]]))
    array([[    0., -5000.]])
    """
    shifted = _below_zero(log_joint)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def _below_zero(log_joint: Array) -> Array:
    """Rows shifted to a maximum of zero; a row that is impossible, or infinitely far, in every class favours none."""
    top = log_joint.max(axis=1, keepdims=True)
    return np.where(np.isfinite(top), log_joint, 0.0) - np.where(np.isfinite(top), top, 0.0)


def said_posterior(say: Arithmetic[E], scores: Sequence[E]) -> list[E]:
    """`posterior` as a formula of the scores (k,)."""
    weight = say.keep([say.exp(one) for one in _said_below_zero(say, scores)])
    (total,) = say.keep([say.add(*weight)])
    return [say.over(one, total) for one in weight]


def said_log_posterior(say: Arithmetic[E], scores: Sequence[E]) -> list[E]:
    """`log_posterior` as a formula of the scores (k,)."""
    shifted = say.keep(_said_below_zero(say, scores))
    (total,) = say.keep([say.log(say.add(*map(say.exp, shifted)))])
    return [say.minus(one, total) for one in shifted]


def _said_below_zero(say: Arithmetic[E], scores: Sequence[E]) -> list[E]:
    (top,) = say.keep([say.greatest(scores)])
    return [say.minus(one, top) for one in scores]
