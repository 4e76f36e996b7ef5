"""Whether a model is better than chance: the rule that knows the classes' shares, and nothing else."""

from __future__ import annotations

import numpy as np

from suffice._vector import Array
from suffice.report.measures import log_losses

CLEAR = 2.0  # standard errors


def gains(p: Array, classes: Array, truth: Array, share: Array) -> Array:
    """How much smaller log loss and error are than those of chance, for every row (n, 2).

    Parameters
    ----------
    p : array (n, k)
        Probabilities of the classes.
    classes : array (k,)
    truth : array (n,)
    share : array (k,)
        The classes' shares among the rows learned.

    >>> p, classes = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array(["a", "b"])
    >>> gains(p, classes, np.array(["a", "b"]), np.array([0.6, 0.4])).round(2).tolist()
    [[0.41, 0.0], [0.69, 1.0]]
    """
    chance = np.tile(share, (len(truth), 1))
    loss = log_losses(chance, classes, truth) - log_losses(p, classes, truth)
    right = [(classes[q.argmax(axis=1)] == truth).astype(float) for q in (p, chance)]
    return np.stack([loss, right[0] - right[1]], axis=1)


def clear(gain: Array) -> Array:
    """Whether mean gains (m,) of rows (n, m) are above zero by more than two standard errors."""
    error: Array = gain.std(axis=0) / np.sqrt(len(gain))
    return np.asarray(gain.mean(axis=0) > CLEAR * error)


def worse(gain: Array) -> bool:
    """Whether log loss is no smaller than that of chance, and the error not clearly smaller, by gains (n, 2)."""
    return bool(gain[:, 0].mean() <= 0 and not clear(gain)[1])
