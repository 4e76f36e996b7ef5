"""Losses: what a posterior costs on labelled rows, and the class weights W by which a learner answers it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice._labels import OneHot
from suffice._posterior import log_posterior
from suffice._vector import Array, Vector

IMPOSSIBLE = -1e6  # log-probability by which a row counts whose class was given probability zero


@dataclass(frozen=True, eq=False, repr=False)
class Losses(Vector):
    """Sums over rows: their weight, log loss, soft error 1 - p(y | x), and error; with costs, those of each."""

    mass: float
    log_loss: float
    soft_error: float
    error: float

    def means(self) -> dict[str, float]:
        """Each loss per unit of weight."""
        sums = {"log_loss": self.log_loss, "soft_error": self.soft_error, "error": self.error}
        return {name: float(value / (self.mass or 1.0)) for name, value in sums.items()}


@dataclass(frozen=True, eq=False)
class Loss:
    """Taking true class y for class c costs C[y, c]; the classes of a mistake are pushed apart by its cost.

        W[i, c] = -C[y, c] p(c | x),     W[i, y] = sum_c C[y, c] p(c | x)

    Equal costs (the default) make W = Y - P: the step of risk-based calibration, and minus the gradient of the log loss
    in the scores. For two classes, or costs that depend on y alone, it is that gradient with each row weighted by its
    cost, so that the most probable class is the one of least expected cost. The log loss is reported so weighted. Other
    costs have no such loss; there the soft cost tells whether a step was good.
    """

    matrix: Array  # (k, k), rows the true class, zero diagonal

    @property
    def judge(self) -> str:
        """The loss by which steps are judged."""
        off = ~np.eye(len(self.matrix), dtype=bool)
        by_row = self.matrix[off].reshape(len(self.matrix), -1)
        return "log_loss" if (by_row == by_row[:, :1]).all() else "soft_error"

    @classmethod
    def equal(cls, k: int) -> Loss:
        """Every mistake costs 1."""
        return cls(1.0 - np.eye(k))

    @classmethod
    def of(cls, costs: Any, k: int, who: str) -> Loss:
        """What the parameter `costs` of an estimator or a learner means; equal costs if it is None."""
        if costs is None:
            return cls.equal(k)
        try:
            matrix = np.array(costs, dtype=float)
        except (TypeError, ValueError):
            matrix = np.empty(0)
        if matrix.shape != (k, k) or not (matrix >= 0).all() or not np.isfinite(matrix).all():
            raise ValueError(f"{who}: costs must be {k} x {k} numbers of at least 0, got {costs!r}")
        if np.diag(matrix).any() or not matrix.any():
            raise ValueError(f"{who}: costs must be 0 on the diagonal, and not everywhere, got {costs!r}")
        return cls(matrix)

    def __call__(self, log_joint: Array, Y: OneHot) -> tuple[Losses, Array]:
        """The losses of rows with scores (n, k) and labels Y, and their weights W (n, k).

        >>> losses, W = Loss.equal(2)(np.log([[3.0, 1.0]]), OneHot.of(np.array([0, 1]))[1:])
        >>> losses.means()["error"], W
        (1.0, array([[-0.75,  0.75]]))
        """
        rows, weight = np.arange(len(Y)), np.where(Y.codes >= 0, Y.weight, 0.0)
        log_p = log_posterior(log_joint)
        cost = self.matrix[Y.codes]  # (n, k)
        W = -weight[:, None] * cost * np.exp(log_p)
        soft = -W.sum(axis=1)
        W[rows, Y.codes] += soft
        price = weight * cost.sum(axis=1) / max(1, len(self.matrix) - 1)
        truth = np.maximum(log_p[rows, Y.codes], IMPOSSIBLE)
        wrong = weight * cost[rows, log_joint.argmax(axis=1)]
        return Losses(weight.sum(), -np.dot(price, truth), soft.sum(), wrong.sum()), W
