"""Tables over the leaves of random trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from suffice._domain import Encoded
from suffice._labels import OneHot, dense
from suffice._vector import Array
from suffice.encoders.partitions import Partitions
from suffice.encoders.trees import LeafFeatures
from suffice.models import _kernels_without
from suffice.models._drawn import Nomogram, UndrawableError
from suffice.models._explained import Terms
from suffice.models._statistics import Statistics
from suffice.models.categorical import Categorical, Counts, Tables


@dataclass(frozen=True, eq=False)
class Leaves(Categorical):
    """sum_t log p(leaf_t(x) | y): a table for each tree of `suffice.encoders.Partitions`.

    Trees divide the same columns, so that the sum is the score of an expert, not a density. A tree that was grown on a
    row knows its label: without a row, the score is the mean over the trees that have not seen it, times the number of
    trees. Which these are is what the encoder marks (`Partitions(marks=True)`).
    """

    def log_density_without(self, X: Encoded, Y: OneHot | Array, theta: Tables, s: Statistics[Counts]) -> Array:
        """By the trees that have not seen the row, with its weight taken from their counts."""
        features = cast(LeafFeatures, theta.domain.features)
        counts, total = self._smoothed(s)
        rows = features.marked(X), features.starts, dense(Y)
        return np.asarray(_kernels_without.leaves_without(*rows, counts, total, theta.log_probability))

    def density_terms(self, X: Encoded, theta: Tables) -> Terms:
        """By the change of log p(node | y) at every split on a row's way to its leaf, for the column that it is of.

        log p(leaf | y) is the sum over the splits of log p(child | y) - log p(node | y), where p(node | y) is the sum
        over the leaves below of p(leaf | y).
        """
        if not isinstance(self.encoder, Partitions) or self.encoder.trees is None:
            raise ValueError(
                "the splits of leaves are those of an encoder Partitions: give the model that made the rows"
            )
        leaves = cast(LeafFeatures, theta.domain.features).read(X)
        base, values = self.encoder.trees.steps(leaves, theta.log_probability)
        return Terms(base, self.encoder.keys, values)

    def drawn_density(self, theta: Tables) -> Nomogram:  # noqa: ARG002 - whatever the parameters
        raise UndrawableError("trees divide several columns at a time, so that no column has a term of its own")

    def account(self, s: Statistics[Counts]) -> tuple[str, ...]:
        return ("",) * s.domain.width
