"""Sums that a database can be asked for."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Generic

import numpy as np

from suffice._core.features import Domain, Features
from suffice._core.vector import Array
from suffice.data.queries import DatabaseRows
from suffice.models.base import Ability, AnyModel
from suffice.models.gaussian.moments import Moments, on_grid
from suffice.models.gaussian.patterns import LIMIT, Entries, Patterns
from suffice.models.statistics import B, Statistics

# Origins are on a grid of this number of parts of a column's range.
ORIGIN_PARTS = 32


class SqlSummable(Ability, Generic[B]):
    """Has sums that a database can be asked for: counts by value or cell, and moments."""

    words = "sums that a database can be asked for (tables, normal densities, planes and NaiveBayes have them)"

    @abstractmethod
    def sql_statistics(self, rows: DatabaseRows, features: Features | None) -> tuple[Features, B]:
        """S(X, W) of encoded rows, and what features these have; with features that are known already, of those."""


def summed(model: AnyModel, rows: DatabaseRows) -> Statistics[Any]:
    """S(X, W) of the rows of a database; TypeError for a model whose sums have no query."""
    if not isinstance(model, SqlSummable):
        raise TypeError(f"{model.display_name} cannot be learned in a database, as it lacks {SqlSummable.words}")
    if model.domain is not None:
        rows = rows.onto(model.domain.classes)
        sums = model.sql_statistics(rows, model.domain.features)[1]
        return Statistics(model.domain, rows.mass(), sums)  # which comes with the sums
    features, sums = model.sql_statistics(rows, None)
    model.encoder.admit(features)
    return Statistics(Domain(rows.classes, features), rows.mass(), sums)


def about(rows: DatabaseRows, origin: Array | None) -> Array:
    """Origins (k, d) that are given, or near the mean of each class, on a coarse grid: never a row."""
    if origin is not None:
        return origin
    mean, width = rows.means_and_widths()
    return on_grid(mean, width / ORIGIN_PARTS)


def moments_asked(rows: DatabaseRows, origin: Array | None) -> Moments:
    """Moments of each column."""
    return Moments(*rows.powers(about(rows, origin)))


def patterns_asked(rows: DatabaseRows, origin: Array | None) -> Any:
    """Whole moments, by pattern where entries are missing: Moments, Patterns or Entries."""
    at = about(rows, origin)
    found = rows.patterns(at, LIMIT)
    if found is None:
        return Entries(Moments(*rows.powers(at)))
    parts = {pattern: Moments(*part) for pattern, part in found.items()}
    if not parts:
        k, d = at.shape
        parts = {(): Moments(at, np.zeros((k, 1)), np.zeros((k, d)), np.zeros((k, d, d)))}
    return parts[()] if parts.keys() == {()} else Patterns(at.shape[1], parts)
