"""Why a model says what it says: log p(x, y) as a sum of terms, each of a column, a pair of columns or a block."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, cast

import numpy as np
from scipy.sparse import issparse

from suffice._domain import Encoded, Features, Rows
from suffice._labels import OneHot
from suffice._vector import Array
from suffice.models._base import Ability, D, T
from suffice.models._statistics import B, Statistics

HALVES = np.array([-0.5, 0.5])  # of log-odds, for the scores of two classes


@dataclass(frozen=True, eq=False)
class Terms:
    """log p(x, y) = base + sum_t values_t, up to a term that is the same for all classes.

    >>> column = Terms(np.zeros(2), ("u",), np.array([[[1.0], [2.0]]]))
    >>> (column + 0.5 * column).gathered().values
    array([[[1.5],
            [3. ]]])
    """

    base: Array  # (k,) or (n, k): class probabilities, determinants, normalisers
    keys: tuple[Any, ...]  # (m,) what each term is of: the name or number of a column, a pair of these, or a block
    values: Array  # (n, k, m)

    def __rmul__(self, weight: float) -> Self:
        return replace(self, base=weight * self.base, values=weight * self.values)

    def __add__(self, other: Terms) -> Terms:
        values = np.concatenate([self.values, other.values], axis=2)
        return Terms(self.base + other.base, self.keys + other.keys, values)

    def called(self, keys: Sequence[Any]) -> Self:
        """The same terms under other keys (m,)."""
        return replace(self, keys=tuple(keys))

    def gathered(self, order: Sequence[Any] = ()) -> Self:
        """Terms of the same key added up; keys in a given order, others after these as they come."""
        there = set(self.keys)
        wanted = dict.fromkeys((*(key for key in order if key in there), *self.keys))
        place = {key: at for at, key in enumerate(wanted)}
        values = np.zeros((*self.values.shape[:2], len(place)))
        for at, key in enumerate(self.keys):
            values[:, :, place[key]] += self.values[:, :, at]
        return replace(self, keys=tuple(wanted), values=values)


def keys_of(model: Any) -> tuple[Any, ...]:
    """What the columns of a resolved model are called: names, or numbers."""
    return cast(Features, model.domain.features).keys


def whole(X: Rows) -> Array:
    """Rows (n, d) as an array, also if they are sparse."""
    return np.asarray(X.toarray() if issparse(X) else X)


class Explained(Ability, Generic[T]):
    """Has log p(x, y) as a sum of terms by column, so that it can say why."""

    words = "terms by column"

    @abstractmethod
    def terms(self, X: Encoded, theta: T) -> Terms:
        """`log_joint` as a sum, up to what all classes share; a column that a row lacks adds nothing."""


class ExplainedDensity(Explained[D]):
    """Has log p(x | y) as a sum of terms by column."""

    @abstractmethod
    def density_terms(self, X: Encoded, theta: D) -> Terms:
        """`log_density` as a sum, up to what all classes share."""

    def terms(self, X: Encoded, theta: D) -> Terms:
        found = self.density_terms(X, theta)
        return replace(found, base=found.base + theta.class_log_prob)


class Additive(ExplainedDensity[D], Generic[B, D]):
    """Has a log density that is a sum over its columns: each can be looked at, and weighed, on its own.

        log p(x | c) = sum_j term_j(x, c),     tempered by w:  sum_j w_j term_j(x, c)

    A column that a row lacks has the term 0.
    """

    words = "a term for each column (tables have them)"

    @abstractmethod
    def log_density_by_column(self, X: Encoded, theta: D) -> Array:
        """The terms of each row, class and column (n, k, d)."""

    @abstractmethod
    def log_density_by_column_without(self, X: Encoded, Y: OneHot | Array, theta: D, s: Statistics[B]) -> Array:
        """The same by the parameters of all other rows (n, k, d); see `Removable`."""

    @abstractmethod
    def tempered(self, theta: D, weight: Array) -> D:
        """The parameters whose terms are those of theta times a weight a column (d,); no longer a density."""

    def density_terms(self, X: Encoded, theta: D) -> Terms:
        values = self.log_density_by_column(X, theta)
        return Terms(np.zeros(values.shape[1]), keys_of(self), values)
