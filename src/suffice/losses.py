"""Losses of a posterior on labelled rows, and the class weights W of the step that lowers them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice._core.formula import Arithmetic, E
from suffice._core.labels import OneHot, as_keys, key, show_all
from suffice._core.probability import below_zero, log_posterior_formula, normalise
from suffice._core.vector import Array, Vector
from suffice._runtime.lazy import compiled

IMPOSSIBLE = -1e6  # least log-probability of a row's class, in place of log 0
MAX_COST = 1e300  # larger costs would overflow when they are added up


@dataclass(frozen=True, eq=False, repr=False)
class Losses(Vector):
    """Sums over rows: weight, log loss, soft error 1 - p(y | x), and error; with costs, weighted by them."""

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
    cost, so that the most probable class is the one of least expected cost. The log loss is reported with these
    weights. Other costs have no such loss; steps are then judged by the soft cost.
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
        """Return the loss that the parameter `costs` of an estimator or a learner means; equal costs if it is None."""
        if costs is None:
            return cls.equal(k)
        matrix = _numbers(costs)
        if matrix.shape != (k, k) or not (matrix >= 0).all() or not np.isfinite(matrix).all():
            raise ValueError(f"{who}: costs must be {k} x {k} numbers of at least 0, got {costs!r}")
        if np.diag(matrix).any() or not matrix.any():
            raise ValueError(f"{who}: costs must be 0 on the diagonal, and not everywhere, got {costs!r}")
        return cls(matrix)

    def __call__(self, log_joint: Array, Y: OneHot) -> tuple[Losses, Array]:
        """Return the losses of rows with scores (n, k) and labels Y, and their class weights W (n, k).

        >>> losses, W = Loss.equal(2)(np.log([[3.0, 1.0]]), OneHot.of(np.array([0, 1]))[1:])
        >>> losses.means()["error"], W
        (1.0, array([[-0.75,  0.75]]))
        """
        losses, W, _ = self.weighed(log_joint, Y)
        return losses, W

    def weighed(self, log_joint: Array, Y: OneHot) -> tuple[Losses, Array, Array]:
        """Return the losses, W, and the posterior P (n, k) of the rows."""
        shifted = below_zero(log_joint)
        P = np.exp(shifted)
        log_total, W = np.log(normalise(P)), np.empty_like(P)
        weight, log_loss, soft, error = _weigh(shifted, log_total, P, Y.codes, Y.weight, self.matrix, W)
        return Losses(weight, log_loss, soft, error), W, P

    def formula(self, ops: Arithmetic[E], scores: Sequence[E], y: E, weight: E) -> tuple[list[E], list[E]]:
        """Return W (k,) and the losses as formulas of the scores (k,), the number y of the class and the weight."""
        k = len(self.matrix)
        log_p = ops.keep(log_posterior_formula(ops, scores))
        paid = [ops.times(ops.pick(y, self.matrix[:, c]), ops.exp(log_p[c])) for c in range(k)]
        paid = ops.keep([ops.times(weight, one) for one in paid])
        (soft,) = ops.keep([ops.add(*paid)])
        own = [ops.pick(y, row) for row in np.eye(k)]
        W = [ops.minus(ops.times(is_own, soft), one) for is_own, one in zip(own, paid, strict=True)]
        truth = ops.add(*(ops.times(is_own, one) for is_own, one in zip(own, log_p, strict=True)))
        price = ops.times(weight, ops.pick(y, self.matrix.sum(axis=1) / max(1, k - 1)))
        log_loss = ops.times(price, ops.minus(ops.number(0.0), ops.greatest([truth, ops.number(IMPOSSIBLE)])))
        (taken,) = ops.keep([ops.choose(scores, np.arange(k))])
        is_taken = (
            ops.times(ops.pick(taken, row), ops.pick(y, cost))
            for row, cost in zip(np.eye(k), self.matrix.T, strict=True)
        )
        return W, [weight, log_loss, soft, ops.times(weight, ops.add(*is_taken))]


@compiled
def _weigh(
    shifted: Array, log_total: Array, P: Array, codes: Array, weight: Array, costs: Array, W: Array
) -> tuple[float, float, float, float]:
    """Compute W (n, k) in place and return the losses; the greatest score is 0, and a row of code -1 has no weight."""
    n, k = P.shape
    price = costs.sum(axis=1) / max(1, k - 1)
    mass, log_loss, soft_error, error = 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        y, w = max(codes[i], 0), weight[i] if codes[i] >= 0 else 0.0
        soft, top = 0.0, k
        for c in range(k):
            cost = w * costs[y, c] * P[i, c]
            W[i, c] = -cost
            soft += cost
            top = min(top, c if shifted[i, c] == 0.0 else k)
        W[i, y] += soft
        mass += w
        log_loss -= w * price[y] * max(shifted[i, y] - log_total[i], IMPOSSIBLE)
        soft_error += soft
        error += w * costs[y, top]
    return mass, log_loss, soft_error, error


def decision_costs(costs: Any, classes: Array, who: str) -> Array:
    """Return the cost of each decision beyond that of the right one, for every true class and decision (k, k).

        risk of c given x = sum_y p(y | x) C[y, c]

    has the same minimum with C[y, c] - C[y, y], which is returned: so right decisions may have any costs. Costs whose
    differences would overflow are scaled down together. In a dict of (true class, decision): cost, other mistakes
    cost 1, and right decisions 0.

    >>> decision_costs([[1.0, 5.0], [2.0, 0.0]], np.array(["a", "b"]), "who")
    array([[0., 4.],
           [2., 0.]])
    """
    k = len(classes)
    if costs is None:
        return 1.0 - np.eye(k)
    matrix = _numbers(_by_pair(costs, classes, who) if isinstance(costs, Mapping) else costs)
    if matrix.shape != (k, k) or not np.isfinite(matrix).all():
        raise ValueError(
            f"{who}: costs must be {k} x {k} finite numbers, a row for each true class, or a dict of (true class, "
            f"decision): cost, got {costs!r}"
        )
    matrix = matrix / max(1.0, abs(matrix).max(initial=0.0) / MAX_COST)
    return np.asarray(matrix - np.diag(matrix)[:, None])


def _numbers(costs: Any) -> Array:
    """Return costs as an array of numbers; an empty one if they are none."""
    try:
        return np.array(costs, dtype=float)
    except (TypeError, ValueError):
        return np.empty(0)


def _by_pair(costs: Mapping[Any, Any], classes: Array, who: str) -> Array:
    """Return costs (k, k) from a dict by pairs of labels."""
    place = {key(label): at for at, label in enumerate(as_keys(classes))}
    matrix = (1.0 - np.eye(len(classes))).astype(object)
    for pair, cost in costs.items():
        if not isinstance(pair, tuple) or len(pair) != 2 or not set(map(key, pair)) <= place.keys():
            raise ValueError(
                f"{who}: costs has {pair!r}, which is not a pair of classes: the classes are {show_all(classes)}"
            )
        matrix[place[key(pair[0])], place[key(pair[1])]] = cost
    return matrix
