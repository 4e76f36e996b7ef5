"""Experts: overlapping views of a row, each with a weight."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Self, cast

import numpy as np

from suffice._core.features import Encoded
from suffice._core.labels import OneHot
from suffice._core.vector import Array
from suffice._runtime.threads import spread
from suffice.encoders.table import BlockFeatures, block
from suffice.models.base import AnyStatistics, Weighable
from suffice.models.compose.blocks import AnyDensity, Blocks, Factors, Parts, statistics_of
from suffice.models.statistics import Statistics
from suffice.models.terms import HasNomogram, Nomogram, Terms

# The name of the weight of log p(y).
CLASSES = "classes"


@dataclass(frozen=True, eq=False)
class Experts(Blocks, Weighable[Parts, Factors], HasNomogram[Factors]):
    """score_y(x) = w_0 log p(y) + sum_b w_b log p_b(x | y), where blocks b may see the same columns in several ways.

    It is not a density, as blocks overlap and weights differ from 1: p(y | x) is the softmax of the scores. The weights
    are those of the least log loss on rows left out (`suffice.learners.ExpertWeights`).

    Parameters
    ----------
    parts : mapping of name: Density
        The models of the blocks; weights can be learned if all are `Removable`.
    by_column : frozenset of names
        Blocks in which every column has a weight of its own; their models must be `Additive`.
    unbounded : frozenset of names
        Blocks whose scores have no bounds, such as those of a normal density.
    limits : mapping of name: float
        Their scores, about the mean over the classes, are clipped to +-limit; None: not known yet.
    weights : mapping of name: float
        w, by the names of `experts`; None: not known yet. They are those for the classes' shares of the rows: where
        class probabilities are given, log p(y) shifts from the one to the other with weight 1.
    """

    over: ClassVar = spread  # blocks of as many tables as rows have trees, each of them work for a thread

    by_column: frozenset[str] = frozenset()
    weights: Mapping[str, float] | None = field(default=None, kw_only=True)
    unbounded: frozenset[str] = field(default=frozenset(), kw_only=True)
    limits: Mapping[str, float] | None = field(default=None, kw_only=True)
    # log of given class probabilities less the rows' own
    shift: Annotated[Array | None, "k"] = field(default=None, kw_only=True)

    def experts(self) -> list[str]:
        """Return the name of every weight, that of log p(y) first; in a block by column, with the column's name."""
        found = [CLASSES]
        for name, _ in self._present():
            columns = self._features().part(name)
            found += [f"{name}: {columns.name(j)}" for j in range(columns.width)] if name in self.by_column else [name]
        return found

    def first_weights(self) -> Array:
        """Return 1 for the classes, and 0.5 / sqrt(m) for an expert of m columns or trees, which are correlated."""
        found = [1.0]
        for name, _ in self._present():
            width = self._features().part(name).width
            found += [0.5 / np.sqrt(width)] * (width if name in self.by_column else 1)
        return np.array(found)

    def weighed(self, weights: Mapping[str, float] | None, limits: Mapping[str, float] | None = None) -> Self:
        return replace(self, weights=weights, limits=limits)

    def resolve(self, s: Statistics[Parts]) -> Self:
        resolved = super().resolve(s)
        if self.weights is not None and not set(resolved.experts()) <= set(self.weights):
            raise ValueError(
                f"weights must have a number of at least 0 for each of {resolved.experts()}, got {self.weights!r}"
            )
        if not self.classes_given:
            return replace(resolved, shift=None)
        with np.errstate(invalid="ignore"):
            shift = self.class_log_prob(s) - replace(self, class_prior=None).class_log_prob(s)
        return replace(resolved, shift=np.where(np.isfinite(shift), shift, 0.0))

    def reweighed(self, theta: Factors, class_log_prob: Array) -> tuple[Self, Factors]:
        """The weight of log p(y) is for the rows' own shares, from which the scores shift to the given ones."""
        model, moved = super().reweighed(theta, class_log_prob)
        own = theta.class_log_prob - (0.0 if self.shift is None else self.shift)
        with np.errstate(invalid="ignore"):
            shift = class_log_prob - own
        return replace(model, shift=np.where(np.isfinite(shift), shift, 0.0)), moved

    def scores_without(self, X: Encoded, Y: OneHot | Array, theta: Factors, s: AnyStatistics) -> Array:
        own = replace(self, class_prior=None) if self.classes_given else self  # weights are for the shares of the rows

        def of_block(name: str, model: Any) -> Array:
            rows = block(X, name), Y, theta.parts[name], statistics_of(s, name)
            if name in self.by_column:
                return cast(Array, model.log_density_by_column_without(*rows))
            return self._bounded(name, model.log_density_without(*rows))[:, :, None]

        each = self.each(of_block, self._features())
        return np.concatenate([own.class_log_prob_without(Y, s)[:, :, None], *each.values()], axis=2)

    def log_joint(self, X: Encoded, theta: Factors) -> Array:
        first, weights = self._weights()
        scores = np.tile(self._of_classes(first, theta), (len(X), 1))
        for (name, model), weight in zip(self._present(), weights, strict=True):
            known = theta.parts[name]
            if name in self.by_column:
                scores += model.log_density(block(X, name), cast(Any, model).tempered(known, weight))
            elif weight[0] != 0.0:
                scores += weight[0] * self._bounded(name, model.log_density(block(X, name), known))
            else:  # a wrong kind of column is an error even if its block does not count
                self._features().part(name).check_kinds(block(X, name).features)
        return scores

    def _bounded(self, name: str, scores: Array) -> Array:
        """Scores of a block (n, k), clipped if they have a limit."""
        if self.limits is None or name not in self.limits:
            return scores
        finite = np.isfinite(scores)
        mean = np.mean(scores, axis=1, keepdims=True, where=finite)
        return np.where(finite, np.clip(scores - mean, -self.limits[name], self.limits[name]), scores)

    def _of_classes(self, weight: float, theta: Factors) -> Array:
        """w_0 log p(y), shifted to given class probabilities (k,)."""
        shift = 0.0 if self.shift is None else self.shift
        with np.errstate(invalid="ignore"):
            out = weight * (theta.class_log_prob - shift) + shift
        return np.where(np.isfinite(theta.class_log_prob), out, -np.inf)

    def terms(self, X: Encoded, theta: Factors) -> Terms:
        """Those of all experts times their weights, added up by column."""
        first = self._of_classes(self._weights()[0], theta)
        found = Terms(first, (), np.zeros((len(X), len(first), 0)))
        for name, weight, known in self._counting(theta):
            found = found + weight * self._bounded_terms(name, self.terms_of(name, X, known))
        return found.gather(self.columns())

    def nomogram(self, theta: Factors) -> Nomogram:
        """The terms of all experts times their weights."""
        found = Nomogram(self._of_classes(self._weights()[0], theta), ())
        for name, weight, known in self._counting(theta):
            found = found + weight * self.nomogram_of(name, known)
        return found

    def _counting(self, theta: Factors) -> Iterator[tuple[str, float, Any]]:
        """The blocks that count: name, weight and parameters, in which the weights of single columns are."""
        for (name, model), weight in zip(self._present(), self._weights()[1], strict=True):
            if name in self.by_column:
                yield name, 1.0, cast(Any, model).tempered(theta.parts[name], weight)
            elif weight[0] != 0.0:
                yield name, weight[0], theta.parts[name]

    def _bounded_terms(self, name: str, found: Terms) -> Terms:
        """Terms whose sum is the clipped score: those of a row and class that is clipped shrink by one factor."""
        if self.limits is None or name not in self.limits:
            return found
        total = found.base + found.values.sum(axis=2)
        total = total - total.mean(axis=1, keepdims=True)
        clipped = self._bounded(name, total)
        over = abs(clipped) < abs(total)
        if not over.any():
            return found
        factor = np.where(over, clipped / np.where(over, total, 1.0), 1.0)
        base = np.broadcast_to(found.base, total.shape)
        base, values = (part - part.mean(axis=1, keepdims=True) for part in (base, found.values))
        return replace(found, base=factor * base, values=factor[:, :, None] * values)

    def log_joint_without(self, X: Encoded, Y: OneHot | Array, theta: Factors, s: Statistics[Parts]) -> Array:
        """The score of each row for every class (n, k), by the parameters of all other rows."""
        with np.errstate(invalid="ignore"):
            scores = self.scores_without(X, Y, theta, s) @ self._known_weights()
        return np.asarray(scores if self.shift is None else scores + self.shift)

    def _weights(self) -> tuple[float, Sequence[Array]]:
        """The weight of log p(y), and those of every block."""
        weights, widths = self._known_weights(), []
        for name, _ in self._present():
            columns = self._features().part(name)
            widths.append(columns.width if name in self.by_column else 1)
        return float(weights[0]), np.split(weights[1:], np.cumsum(widths)[:-1])

    def _known_weights(self) -> Array:
        return self.first_weights() if self.weights is None else np.array([self.weights[e] for e in self.experts()])

    def _present(self) -> Iterator[tuple[str, AnyDensity]]:
        return self.present(self._features())

    def _features(self) -> BlockFeatures:
        return cast(BlockFeatures, self.resolved_domain.features)
