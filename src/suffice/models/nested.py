"""Naive Bayes over numbers in cells within coarser cells, or with shapes that only rise or fall."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self, cast

import numpy as np

from suffice._check import check_value
from suffice._domain import Domain, Encoded, Features
from suffice._labels import OneHot, show_all
from suffice._vector import Array
from suffice.models._base import Attempt
from suffice.models._statistics import Statistics
from suffice.models._tables import by_feature
from suffice.models.binned import Binned, in_cells
from suffice.models.categorical import LOG_ZERO, Counts, Tables
from suffice.models.cells import RISING, BinFeatures, Binning
from suffice.models.histogram import Column
from suffice.models.tree import Groups, Tree
from suffice.models.without import Own


@dataclass(frozen=True, eq=False)
class Nested(Binned):
    """A `Binned` whose cells lie in coarser cells, towards which they are smoothed level by level (see `Tree`).

        p(cell | y) = p(coarser cell | y) (n_y(cell) + A share) / (n_y(coarser cell) + A)

    Coarser cells are unions of finer ones, of about equal weight, spikes apart. A is the weight of greatest evidence
    for each column and level, so that many cells do no harm where few are known to differ.

    Parameters
    ----------
    coarser : tuple of int
        About how many cells the coarser levels have, in rising order; the finest has `n_bins`.
    monotone : tuple of (column, 1 or -1)
        Columns, by name or number, with which the second of two classes may only become more probable (1) or less
        (-1). Neighbouring cells that say otherwise are pooled (pool adjacent violators, on counts with the prior's
        added), and there are no coarser cells.

    Examples
    --------
    >>> from suffice import ModelClassifier
    >>> X, y = np.arange(64.0)[:, None], np.arange(64) // 8 % 2
    >>> model = ModelClassifier(Nested(n_bins=16, coarser=(4,), identifiers=False)).fit(X, y)
    >>> model.predict_proba([[3.0], [11.0]]).round(2)
    array([[0.94, 0.06],
           [0.06, 0.94]])
    """

    n_bins: int = 64
    coarser: tuple[int, ...] = (4, 16)
    monotone: tuple[tuple[Any, int], ...] = ()
    tree: Tree | None = field(default=None, kw_only=True)  # once resolved

    def resolve(self, s: Statistics[Any]) -> Self:
        check_value((*self.coarser, self.n_bins), "Nested: coarser and n_bins", RISING)
        features, extent = s.domain.features, self._extent(s)
        if not isinstance(features, BinFeatures):
            features = self._pooled(s, self.binning.features(s))
            s = Statistics(replace(s.domain, features=features), s.mass, in_cells(s.sums, features))
        tree = Tree.of(features, self._groups(features, s.sums.table), s.sums.table)
        return replace(self, domain=replace(s.domain, features=features), extent=extent, tree=tree)

    def of_columns(self, features: Features, at: Array, names: Array) -> Self:
        name = dict(zip(at.tolist(), names.tolist(), strict=True))
        found = ((features.index(column, "monotone"), way) for column, way in self.monotone)
        own = tuple((name[j], way) for j, way in found if j in name)
        return replace(super().of_columns(features, at, names), monotone=own)

    def _ways(self, features: Features) -> dict[int, int]:
        return {features.index(column, "monotone"): way for column, way in self.monotone}

    def _pooled(self, s: Statistics[Any], cells: BinFeatures) -> BinFeatures:
        """The cells, with those pooled that would let a monotone column turn."""
        if not self.monotone:
            return cells
        if len(s.domain.classes) < 2:
            raise ValueError("monotone is for two classes, but there is one")
        check_two(s.domain.classes)
        bounds, table = list(cells.categories), in_cells(s.sums, cells).table
        for j, way in self._ways(s.domain.features).items():
            part = table[:, cells.starts[j] : cells.starts[j + 1]]
            bounds[j] = bounds[j][monotone_cells(part, way)]
        return BinFeatures(cells.width, cells.names, tuple(bounds))

    def _groups(self, features: BinFeatures, table: Array) -> list[Groups]:
        """Of each level, the cell that each finest cell is in: (levels, d)."""
        whole = self._ways(features)
        groups: list[list[Array]] = [[] for _ in range(len(self.coarser) + 1)]
        for j, part in enumerate(np.split(table, features.starts[1:-1], axis=1)):
            each = self._unions(part) if j not in whole else [np.zeros(part.shape[1], dtype=int)] * len(self.coarser)
            for level, group in zip(groups, [*each, np.arange(part.shape[1])], strict=True):
                level.append(group)
        return cast(list[Groups], groups)

    def _unions(self, table: Array) -> list[Array]:
        """The coarser cells that each cell of a column is in, coarsest first, from its table (k, r)."""
        group, found = np.arange(table.shape[1]), []
        for n in reversed(self.coarser):
            sums = np.stack([np.bincount(group, row) for row in table])
            column, binning = Column(np.arange(sums.shape[1]), 0, sums), Binning(n_bins=n)
            cut = np.zeros(sums.shape[1], dtype=int)
            cut[binning.cuts(column, binning.spike(column))] = 1
            group = np.cumsum(cut)[group]
            found.append(group)
        return found[::-1]

    def _tree(self) -> Tree:
        if self.tree is None:
            raise ValueError("cells have coarser cells once the model is resolved")
        return self.tree

    @property
    def prior_rows(self) -> float:
        """In most columns, of the coarsest cells."""
        if self.tree is None or not self.tree.features.width:
            return 0.0
        return float(np.median(self.tree.levels[0].weight))

    def attempt(self, s: Statistics[Counts]) -> Attempt[Counts, Tables]:
        """A table is valid where no smoothed count of any level is negative."""
        tree = self._tree()
        log_p = tree.log_probability(s.sums.table)
        bad = by_feature(tree.features.starts, np.isnan(log_p).astype(float)) > 0
        valid = replace(s, mass=s.mass > 0, sums=Counts(np.repeat(~bad, tree.features.sizes, axis=1)))
        theta = np.maximum(np.where(np.isnan(log_p), LOG_ZERO, log_p), LOG_ZERO)
        return Attempt(Tables(s.domain, self.class_log_prob(s), theta.T.copy()), valid)

    def log_likelihood(self, target: Statistics[Counts], best: Tables, theta: Tables) -> float:
        rows = float((target.sums.table * theta.log_probability.T).sum())
        return rows + self._tree().log_prior(theta.log_probability.T) + self.class_log_likelihood(target, best, theta)

    def log_density_without(self, X: Encoded, Y: OneHot | Array, theta: Tables, s: Statistics[Counts]) -> Array:
        return np.asarray(self.log_density_by_column_without(X, Y, theta, s).sum(axis=2))

    def _own_without(self, X: Encoded, own: Own, s: Statistics[Counts]) -> Array:
        features = cast(BinFeatures, cast(Domain, self.domain).features)
        return self._tree().log_probability_without(features.read(X), own, s.sums.table)


def monotone_cells(table: Array, way: int) -> Array:
    """Which cells begin a pooled one, so that smoothed tables (2, r) rise (1) or fall (-1) in the second class's share.

    Counts and pseudo-counts add up over the cells that are pooled; as pooling changes the prior it goes on until
    nothing turns.

    >>> monotone_cells(np.array([[30.0, 10.0, 30.0], [10.0, 30.0, 20.0]]), 1)
    array([0, 1])
    """
    first = np.arange(table.shape[1])
    while True:
        counts = np.add.reduceat(table, first, axis=1)
        cells = BinFeatures(1, None, (first.astype(float),))
        smoothed = counts + Tree.of(cells, [[np.arange(len(first))]], counts).levels[0].pseudo
        kept = pool_violators(*smoothed[::way])
        if len(kept) == len(first):
            return first
        first = first[kept]


def pool_violators(below: Array, above: Array) -> Array:
    """Where cells begin that are pooled until above / below (r,) never falls.

    >>> pool_violators(np.array([4.0, 1.0, 2.0, 1.0]), np.array([1.0, 3.0, 1.0, 9.0]))
    array([0, 1, 3])
    """
    pools: list[tuple[int, float, float]] = []
    for at, (low, high) in enumerate(zip(below.tolist(), above.tolist(), strict=True)):
        start, a, b = at, low, high
        while pools and pools[-1][2] * a > b * pools[-1][1]:
            start, before, ahead = pools.pop()
            a, b = a + before, b + ahead
        pools.append((start, a, b))
    return np.array([start for start, _, _ in pools], dtype=int)


def check_two(classes: Array) -> None:
    """ValueError if there are more classes than a column can rise or fall between."""
    if len(classes) > 2:
        raise ValueError(
            f"monotone is for two classes, but there are {len(classes)}, {show_all(classes)}: "
            "leave it out, or learn one class against the others"
        )
