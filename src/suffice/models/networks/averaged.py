"""Averaged one-dependence estimators: as many networks as columns, each with one column as everybody's parent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from scipy.special import logsumexp

from suffice._core.features import Encoded, Features
from suffice._core.labels import OneHot
from suffice._core.vector import Array
from suffice.encoders.base import Encoder
from suffice.encoders.table import BlockFeatures, block
from suffice.encoders.views import Views
from suffice.models.base import ClassPrior
from suffice.models.compose.blocks import AnyDensity, Factors, Parts
from suffice.models.compose.experts import Experts
from suffice.models.networks.families import Families
from suffice.models.networks.network import Network
from suffice.models.statistics import Statistics
from suffice.models.terms import Nomogram, NoNomogramError, Terms

TOGETHER = "all columns"  # the only term of an average
AVERAGED = "networks are averaged, so that no column has a term of its own: ExpertWeights gives each a weight"


def views_of(families: Families) -> tuple[tuple[str, Encoder], ...]:
    """For each column of a graph without edges, the view of all families in which it is the parent of all others."""
    graph = families.graph
    names = [(families.inner.roles or ())[j].name for j in graph.columns]
    found = []
    for i, name in enumerate(names):
        parents = tuple(() if j == i else (i,) for j in range(len(names)))
        strength = np.zeros(max(0, len(names) - 1))
        found.append((f"given {name}", replace(families, known=replace(graph, parents=parents, strength=strength))))
    return tuple(found)


@dataclass(frozen=True, eq=False)
class OneDependence(Experts):
    """Networks of the same columns, one for each parent of all others: their average, or a weight for each.

    score_y(x) = log p(y) + log sum_i p_i(x | y) / m,     or     w_0 log p(y) + sum_i w_i log p_i(x | y)
    """

    @classmethod
    def of(cls, encoder: Views, network: Network, class_prior: ClassPrior) -> OneDependence:
        """The networks of all views of a table."""
        one = replace(network, class_prior="uniform")
        return cls({name: one for name, _ in encoder.views}, class_prior=class_prior, encoder=encoder)

    def present(self, features: Features) -> Iterator[tuple[str, AnyDensity]]:
        """The networks; the columns of the table alone are none."""
        there = cast(BlockFeatures, features).parts
        return ((name, model) for name, model in self.parts.items() if name in there)

    def first_weights(self) -> Array:
        """Return 1 for the classes, and the same share of 1 for each network."""
        m = len(self.experts()) - 1
        return np.append(1.0, np.full(m, 1.0 / max(1, m)))

    def log_joint(self, X: Encoded, theta: Factors) -> Array:
        if self.weights is not None:
            return super().log_joint(X, theta)
        each = [model.log_density(block(X, name), theta.parts[name]) for name, model in self._present()]
        return np.asarray(theta.class_log_prob + _mean(np.stack(each, axis=2)))

    def log_joint_without(self, X: Encoded, Y: OneHot | Array, theta: Factors, s: Statistics[Parts]) -> Array:
        if self.weights is not None:
            return super().log_joint_without(X, Y, theta, s)
        scores = self.scores_without(X, Y, theta, s)
        return np.asarray(self.class_log_prob_without(Y, s) + _mean(scores[:, :, 1:]))

    def terms(self, X: Encoded, theta: Factors) -> Terms:
        if self.weights is not None:
            return super().terms(X, theta)
        together = self.log_joint(X, theta) - theta.class_log_prob
        return Terms(theta.class_log_prob, (TOGETHER,), together[:, :, None])

    def nomogram(self, theta: Factors) -> Nomogram:
        if self.weights is None:
            raise NoNomogramError(AVERAGED)
        return super().nomogram(theta)

    def sql_statistics(self, rows: Any, features: Features | None) -> Any:  # noqa: ARG002
        raise TypeError(f"{self.display_name} cannot be learned in a database: take the rows into memory")


def _mean(scores: Array) -> Array:
    """log of the mean of the exponentials over the last axis."""
    return np.asarray(logsumexp(scores, axis=2) - np.log(scores.shape[2]))
