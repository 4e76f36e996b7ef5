"""Naive Bayes over numbers in nested cells, or with monotone shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, NamedTuple, Self, TypeAlias, cast

import numpy as np

from suffice._core.features import CategoricalFeatures, Encoded, Features
from suffice._core.labels import show_all
from suffice._core.vector import Array
from suffice._runtime.messages import check_value
from suffice.models.base import Attempt
from suffice.models.statistics import Statistics, rest
from suffice.models.tables.binned import RISING, BinFeatures, Binned, Binning, in_cells
from suffice.models.tables.categorical import LOG_ZERO, ColumnTables, Counts, Own, Tables, by_feature, moved
from suffice.models.tables.histogram import ColumnHistogram
from suffice.priors.evidence import TABLE_WEIGHTS, greatest, table_evidence

MIN_LEFT = 1e-12  # rows left in a cell without its only row, so that its logarithm is finite
UNSEEN = 0.5  # rows added to every cell in the shares, so that none is zero
Groups: TypeAlias = Sequence[Array]  # for column j of a level, the cell (r_j,) of each finest cell


class Level(NamedTuple):
    """A division of all columns into m cells, with their parents and pseudo-counts."""

    of: Annotated[Array, "int c"]  # the cell of this level that each finest cell is in
    parent: Annotated[Array, "int m"]  # the cell of the coarser level, or the column, that each is a part of
    pseudo: Annotated[Array, "nonneg m"]  # A times the share of each cell in its parent
    weight: Annotated[Array, "nonneg m"]  # A


@dataclass(frozen=True, eq=False)
class Tree:
    """Levels of cells, coarsest first, by which tables are smoothed: a cell has a share of its parent's probability.

        p(cell | c) = p(parent | c) (n_c(cell) + A share) / (n_c(parent) + A)

    where share is the cell's share of the parent's rows of all classes, n + 1/2 for each finest cell. A column as a
    whole has probability 1. So a cell with few rows of a class is shrunk towards the coarser cell around it; a level
    that leaves a cell whole changes nothing.

    References
    ----------
    Lavine: Some aspects of Polya tree distributions for statistical modelling. Annals of Statistics 20 (1992).
    """

    features: CategoricalFeatures  # the finest cells
    levels: tuple[Level, ...]

    @classmethod
    def of(cls, features: CategoricalFeatures, groups: Sequence[Groups], table: Array) -> Tree:
        """Levels from groups, coarsest first, with the A of greatest evidence in 1, ..., 256 by column and level.

        `groups` (levels, d): the cell of each finest cell, numbered from 0 in every column; `table` (k, cells): the
        counts of the finest cells, which are the last level.
        """
        table = np.maximum(table, 0.0)
        seen = table.sum(axis=0) + UNSEEN
        coarser = np.repeat(np.arange(features.width), features.sizes)  # the parent of each finest cell
        column = np.arange(features.width)  # the column of each parent
        levels = []
        for group in groups:
            of, size = _side_by_side(group)
            parent, owner = np.zeros(size, dtype=int), np.zeros(size, dtype=int)
            parent[of], owner[of] = coarser, column[coarser]
            within = np.bincount(of, seen, size)
            share = within / np.bincount(parent, within)[parent]
            weight = _weights(moved(table, of, size), share, parent, column)[owner]
            levels.append(Level(of, parent, weight * share, weight))
            coarser, column = of, owner
        return cls(features, tuple(levels))

    def _counts(self, table: Array) -> list[tuple[Level, Array, Array]]:
        """Each level with the counts of its cells (k, m) and of their parents (k, parents)."""
        above, out = by_feature(self.features.starts, table), []
        for level in self.levels:
            counts = moved(table, level.of, len(level.parent))
            out.append((level, counts, above))
            above = counts
        return out

    def log_probability(self, table: Array) -> Array:
        """log p(cell | c) (k, cells) from counts of the finest cells (k, cells); NaN where a smoothed count is < 0."""
        out = np.zeros(table.shape)
        with np.errstate(invalid="ignore", divide="ignore"):
            for level, counts, above in self._counts(table):
                inside, whole = counts + level.pseudo, above[:, level.parent] + level.weight
                share = np.where((inside >= 0) & (whole > 0), inside / np.where(whole > 0, whole, 1.0), np.nan)
                out += np.log(share)[:, level.of]
        return out

    def log_prior(self, log_p: Array) -> float:
        """The log prior of tables log p (k, cells): sum of A share log(p(cell) / p(parent))."""
        total, above = 0.0, np.zeros((len(log_p), self.features.width))
        p = np.exp(log_p)
        for level in self.levels:
            inside = np.log(moved(p, level.of, len(level.parent)))
            total += float((level.pseudo * (inside - above[:, level.parent])).sum())
            above = inside
        return total

    def log_probability_without(self, codes: Array, own: Own, table: Array) -> Array:
        """log p(cell of x_ij | y_i) without row i (n, d); 0 where an entry has no code."""
        there = codes >= 0
        cell = np.where(there, codes + self.features.starts[:-1], 0)
        y, out = own.codes[:, None], np.zeros(codes.shape)
        for level, counts, above in self._counts(table):
            at = level.of[cell]
            inside = np.maximum(rest(counts[y, at] + level.pseudo[at], own.weight), MIN_LEFT)
            around = np.maximum(rest(above[y, level.parent[at]] + level.weight[at], own.weight), MIN_LEFT)
            out += np.log(inside / around)
        return np.asarray(np.where(there, out, 0.0))


def _side_by_side(group: Groups) -> tuple[Array, int]:
    """The cells of a level, numbered over all columns, of each finest cell (cells,); and their number."""
    sizes = np.array([int(one.max(initial=-1)) + 1 for one in group], dtype=int)
    begins = np.cumsum(sizes) - sizes
    each = (begin + one for begin, one in zip(begins, group, strict=True))
    return np.concatenate([np.zeros(0, dtype=int), *each]), int(sizes.sum())


def _weights(counts: Array, share: Array, parent: Array, column: Array) -> Array:
    """The A of greatest evidence for each column (d,), from the counts (k, m) of a level's cells."""
    if not len(parent):
        return np.ones(int(column.max(initial=-1)) + 1)
    each = [np.bincount(column, one) for one in table_evidence(counts, share, parent, TABLE_WEIGHTS)]
    return np.asarray(TABLE_WEIGHTS[greatest(np.stack(each))])


@dataclass(frozen=True, eq=False)
class Nested(Binned):
    """A `Binned` whose cells lie in coarser cells, towards which they are smoothed level by level (see `Tree`).

        p(cell | y) = p(coarser cell | y) (n_y(cell) + A share) / (n_y(coarser cell) + A)

    Coarser cells are unions of finer ones, of about equal weight, except for spikes. A is the weight of greatest
    evidence for each column and level, so that many cells do not overfit.

    Parameters
    ----------
    coarser : tuple of int
        The approximate numbers of cells of the coarser levels, in rising order; the finest has `n_bins`.
    monotone : tuple of (column, 1 or -1)
        Columns, by name or number, in which the probability of the second of two classes may only rise (1) or fall
        (-1). Neighbouring cells that violate this are pooled (pool adjacent violators, on smoothed counts), and there
        are no coarser cells.

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
        """The cells, pooled where a monotone column would turn."""
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
        """For each level, the cell that each finest cell is in: (levels, d)."""
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
            column, binning = ColumnHistogram(np.arange(sums.shape[1]), 0, sums), Binning(n_bins=n)
            cut = np.zeros(sums.shape[1], dtype=int)
            cut[binning.cuts(column, binning.spike(column))] = 1
            group = np.cumsum(cut)[group]
            found.append(group)
        return found[::-1]

    def _tree(self) -> Tree:
        if self.tree is None:
            raise ValueError("the cells have no coarser cells yet: resolve the model first")
        return self.tree

    @property
    def prior_rows(self) -> float:
        """The median over columns of the weight of the coarsest level."""
        if self.tree is None or not self.tree.features.width:
            return 0.0
        return float(np.median(self.tree.levels[0].weight))

    def attempt(self, s: Statistics[Counts]) -> Attempt[Counts, Tables]:
        """A table is valid if no smoothed count of any level is negative."""
        tree = self._tree()
        log_p = tree.log_probability(s.sums.table)
        bad = by_feature(tree.features.starts, np.isnan(log_p).astype(float)) > 0
        valid = replace(s, mass=s.mass > 0, sums=Counts(np.repeat(~bad, tree.features.sizes, axis=1)))
        theta = np.maximum(np.where(np.isnan(log_p), LOG_ZERO, log_p), LOG_ZERO)
        return Attempt(Tables(s.domain, self.class_log_prob(s), theta.T.copy()), valid)

    def log_likelihood(self, target: Statistics[Counts], best: Tables, theta: Tables) -> float:
        rows = float((target.sums.table * theta.log_probability.T).sum())
        return rows + self._tree().log_prior(theta.log_probability.T) + self.class_log_likelihood(target, best, theta)

    log_density_without = ColumnTables.log_density_without  # tables alone would ignore the coarser cells

    def _own_without(self, X: Encoded, own: Own, s: Statistics[Counts]) -> Array:
        features = cast(BinFeatures, self.resolved_domain.features)
        return self._tree().log_probability_without(features.read(X), own, s.sums.table)


def monotone_cells(table: Array, way: int) -> Array:
    """The first cells of pools in which the second class's share of smoothed tables (2, r) only rises or falls.

    `way` is 1 or -1. Counts and pseudo-counts add up over a pool. Pooling changes the prior, so it is repeated until
    nothing changes.

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
    """The first cells of pools, in which above / below (r,) never falls.

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
    """ValueError if there are more than two classes, between which no column can rise or fall."""
    if len(classes) > 2:
        raise ValueError(
            f"monotone is for two classes, but there are {len(classes)}, {show_all(classes)}: "
            "leave it out, or learn one class against the others"
        )
