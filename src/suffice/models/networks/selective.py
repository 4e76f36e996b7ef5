"""Selective k-dependence: the number of parents and of columns, by the leave-one-out log loss."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import logsumexp

from suffice._core.kinds import LeftOut
from suffice._core.labels import Reweigh
from suffice._core.vector import Array, Vector
from suffice.data import Batch, Data
from suffice.models.base import AnyStatistics
from suffice.models.networks.families import Families, Graph
from suffice.models.networks.network import Network
from suffice.models.networks.structure import Found, KDependence, connected, k_parents, strengths

MAX_NUMBERS = 1 << 22  # of rows, classes, columns and orders at a time
MIN_GAIN = 1e-4  # share by which the loss must be lower than that of fewer parents or columns
LOWEST = -1e4  # the score of an impossible class


@dataclass(frozen=True)
class FamilySums:
    """S(X, Y) of a network, from the rows of a table."""

    model: Network

    def __call__(self, batch: Batch) -> AnyStatistics:
        return self.model.statistics(self.model.encoder(batch.X), batch.Y)


@dataclass(frozen=True, eq=False, repr=False)
class LossSums(Vector):
    """The leave-one-out log loss by the number of columns, from none to all, and of parents (m + 1, k + 1)."""

    losses: Array


@dataclass(frozen=True)
class LossWithout:
    """`LossSums` of a batch."""

    model: Network  # resolved
    s: AnyStatistics
    order: Array  # (m,) the columns, the most relevant first
    labels: Reweigh

    def __call__(self, batch: Batch) -> LossSums:
        Y = self.labels(batch.Y).onto(self.s.domain.classes)
        known = np.flatnonzero(Y.codes >= 0)
        X, Y = self.model.encoder(batch.X[known]), Y[known]
        shape = len(self.s.mass), len(self.order), self.model.orders
        out = np.zeros((shape[1] + 1, shape[2]))
        size = max(1, MAX_NUMBERS // int(np.prod(shape)))
        for some in (slice(i, i + size) for i in range(0, len(Y), size)):
            out += self._losses(X[some], Y[some])
        return LossSums(out)

    def _losses(self, X: Any, Y: Any) -> Array:
        terms = self.model.orders_without(X, Y, self.s)[:, :, self.order]
        classes = self.model.class_log_prob_without(Y, self.s)[:, :, None, None]
        start = np.broadcast_to(np.maximum(classes, LOWEST), (*terms.shape[:2], 1, terms.shape[3]))
        scores = np.cumsum(np.concatenate([start, terms], axis=2), axis=2)
        own = scores[np.arange(len(scores)), Y.codes]
        return np.asarray(np.einsum("i,imo->mo", Y.weight, logsumexp(scores, axis=1) - own))


@dataclass(frozen=True)
class SelectiveDependence(KDependence):
    """`KDependence` of at most k parents; the numbers of parents and of columns lose least on rows left out.

    One read of the rows sums all families, and one more measures every number of parents and columns.
    """

    def connected(self, found: Found, rows: Data, families: Families) -> Graph:
        strength = strengths(found, rows)
        parents = k_parents(found, strength, self.k)
        graph = connected(found, parents, strength)
        order = np.argsort(-found.relevance, kind="stable")
        model = Network(encoder=replace(families, known=graph))
        labels = Reweigh(found.classes, found.weight)
        s = rows.sum(FamilySums(model)).by_class(found.weight)
        losses = rows.sum(LossWithout(model.resolve(s), s, order, labels)).losses
        m, k = least(losses)
        kept = np.sort(order[:m])
        place = {j: at for at, j in enumerate(kept.tolist())}
        chosen = tuple(tuple(place[i] for i in parents[j][:k]) for j in kept)
        gone = tuple((graph.columns[j], str(LeftOut.UNHELPFUL)) for j in range(len(order)) if j not in place)
        edges = np.array([strength[j, i] for j in kept for i in parents[j][:k]])
        return replace(
            graph,
            columns=tuple(graph.columns[j] for j in kept),
            parents=chosen,
            relevance=found.relevance[kept],
            strength=edges,
            left_out=tuple(sorted((*graph.left_out, *gone))),
        )


def least(losses: Array) -> tuple[int, int]:
    """The numbers of columns, at least 1, and of parents of least loss (m + 1, k + 1); of nearly equal ones the fewest.

    >>> least(np.array([[9.0, 9.0], [5.0, 5.0], [4.0, 3.0], [4.0, 3.0]]))
    (2, 1)
    """
    some = losses[1:]
    close = some <= some.min() + MIN_GAIN * abs(some.min())
    k = int(np.argmax(close.any(axis=0)))
    return int(np.argmax(close[:, k])) + 1, k
