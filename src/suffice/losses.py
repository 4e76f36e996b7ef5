"""Losses: what a posterior costs on labelled rows, and the class weights W by which a learner answers it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice._arithmetic import Arithmetic, E
from suffice._compiled import compiled
from suffice._labels import OneHot, as_keys, key, show_all
from suffice._posterior import said_log_posterior
from suffice._vector import Array, Vector

IMPOSSIBLE = -1e6  # log-probability by which a row counts whose class was given probability zero
LARGE = 1e300  # costs up to here can be added up


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
        W, mass, log_loss, soft, wrong = _weighed(log_joint, Y.codes, Y.weight, self.matrix, IMPOSSIBLE)
        return Losses(mass, log_loss, soft, wrong), W

    def said(self, say: Arithmetic[E], scores: Sequence[E], y: E, weight: E) -> tuple[list[E], list[E]]:
        """The same as formulas of the scores (k,), the number y of the class and the weight: W (k,), and the losses."""
        k = len(self.matrix)
        log_p = say.keep(said_log_posterior(say, scores))
        paid = [say.times(say.pick(y, self.matrix[:, c]), say.exp(log_p[c])) for c in range(k)]
        paid = say.keep([say.times(weight, one) for one in paid])
        (soft,) = say.keep([say.add(*paid)])
        own = [say.pick(y, row) for row in np.eye(k)]
        W = [say.minus(say.times(is_own, soft), one) for is_own, one in zip(own, paid, strict=True)]
        truth = say.add(*(say.times(is_own, one) for is_own, one in zip(own, log_p, strict=True)))
        price = say.times(weight, say.pick(y, self.matrix.sum(axis=1) / max(1, k - 1)))
        log_loss = say.times(price, say.minus(say.number(0.0), say.greatest([truth, say.number(IMPOSSIBLE)])))
        (taken,) = say.keep([say.choose(scores, np.arange(k))])
        is_taken = (
            say.times(say.pick(taken, row), say.pick(y, cost))
            for row, cost in zip(np.eye(k), self.matrix.T, strict=True)
        )
        return W, [weight, log_loss, soft, say.times(weight, say.add(*is_taken))]


@compiled
def _weighed(
    log_joint: Array, codes: Array, weight: Array, costs: Array, least: float
) -> tuple[Array, float, float, float, float]:
    """Class weights W (n, k) of rows with scores (n, k), and the sums of their weight, log loss, soft cost and cost.

    The log loss of a row counts by the mean cost of its class. A row whose class is unknown (-1) has no weight, one
    that is impossible, or infinitely far, in every class favours none.
    """
    n, k = log_joint.shape
    W, p, price = np.zeros((n, k)), np.empty(k), costs.sum(axis=1) / max(1, k - 1)
    mass, log_loss, soft, wrong = 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        y, w = codes[i], weight[i]
        if y < 0:
            continue
        best = 0
        for c in range(1, k):
            if log_joint[i, c] > log_joint[i, best] or np.isnan(log_joint[i, c]):
                best = c
        top, total = log_joint[i, best], 0.0
        for c in range(k):
            p[c] = np.exp(log_joint[i, c] - top) if np.isfinite(top) else 1.0
            total += p[c]
        cost = 0.0
        for c in range(k):
            W[i, c] = -w * costs[y, c] * p[c] / total
            cost -= W[i, c]
        W[i, y] += cost
        truth = (log_joint[i, y] - top if np.isfinite(top) else 0.0) - np.log(total)
        mass += w
        log_loss -= w * price[y] * max(truth, least)
        soft += cost
        wrong += w * costs[y, best]
    return W, mass, log_loss, soft, wrong


def decision_costs(costs: Any, classes: Array, who: str) -> Array:
    """What a decision costs beyond the right one, for every true class and decision (k, k).

        risk of c given x = sum_y p(y | x) C[y, c]

    is least where it is least with C[y, c] - C[y, y], which is what is given back: so costs of right decisions may be
    any numbers. Costs so large that differences would be infinite are scaled down together. A dict of (true class,
    decision): cost leaves 1 for other mistakes, and 0 for being right.

    >>> decision_costs([[1.0, 5.0], [2.0, 0.0]], np.array(["a", "b"]), "who")
    array([[0., 4.],
           [2., 0.]])
    """
    k = len(classes)
    if costs is None:
        return 1.0 - np.eye(k)
    matrix = _by_pair(costs, classes, who) if isinstance(costs, Mapping) else costs
    try:
        matrix = np.array(matrix, dtype=float)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.shape != (k, k) or not np.isfinite(matrix).all():
        raise ValueError(
            f"{who}: costs must be {k} x {k} finite numbers, a row for each true class, or a dict of (true class, "
            f"decision): cost, got {costs!r}"
        )
    matrix = matrix / max(1.0, abs(matrix).max(initial=0.0) / LARGE)
    return np.asarray(matrix - np.diag(matrix)[:, None])


def _by_pair(costs: Mapping[Any, Any], classes: Array, who: str) -> Array:
    """Costs (k, k) by pairs of labels."""
    place = {key(label): at for at, label in enumerate(as_keys(classes))}
    matrix = (1.0 - np.eye(len(classes))).astype(object)
    for pair, cost in costs.items():
        if not isinstance(pair, tuple) or len(pair) != 2 or not set(map(key, pair)) <= place.keys():
            raise ValueError(
                f"{who}: costs has {pair!r}, which is no pair of classes: the classes are {show_all(classes)}"
            )
        matrix[place[key(pair[0])], place[key(pair[1])]] = cost
    return matrix
