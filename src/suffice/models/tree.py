"""Cells within coarser cells: tables smoothed level by level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from suffice._domain import CategoricalFeatures
from suffice._vector import Array
from suffice.models._statistics import rest
from suffice.models._tables import by_feature, moved
from suffice.models.without import Own
from suffice.priors import TABLE_WEIGHTS, greatest, table_evidence

LEAST = 1e-12  # of a row that is left in a cell

UNSEEN = 0.5  # rows that every cell has in the shares, so that none is zero
Groups: TypeAlias = Sequence[Array]  # of a level: the cell (r_j,) that each finest cell of column j belongs to


class Level(NamedTuple):
    """A division of all columns into m cells: where they belong, and their pseudo-counts."""

    of: Array  # (cells,) the cell of this level that each finest cell is in
    parent: Array  # (m,) the cell of the coarser level, or the column, that each is a part of
    pseudo: Array  # (m,) A times the share that each has of its parent
    weight: Array  # (m,) A


@dataclass(frozen=True, eq=False)
class Tree:
    """Levels of cells, coarsest first, by which tables are smoothed: a cell shares its parent's probability.

        p(cell | c) = p(parent | c) (n_c(cell) + A share) / (n_c(parent) + A)

    where share is that of the parent's rows of all classes, (n + 1/2) with the 1/2 for each finest cell. A column as a
    whole has probability 1. So a cell with few rows of a class takes after the coarser cell around it; a level that
    leaves a cell whole changes nothing.

    References
    ----------
    Lavine: Some aspects of Polya tree distributions for statistical modelling. Annals of Statistics 20 (1992).
    """

    features: CategoricalFeatures  # the finest cells
    levels: tuple[Level, ...]

    @classmethod
    def of(cls, features: CategoricalFeatures, groups: Sequence[Groups], table: Array) -> Tree:
        """Levels of given groups, coarsest first, with the A of greatest evidence in 1, 2, ..., 256 a column and level.

        `groups` (levels, d): the cell of each finest cell, numbered from 0 in every column; `table` (k, cells) are the
        counts of the finest cells, which are the last level.
        """
        table = np.maximum(table, 0.0)
        seen = table.sum(axis=0) + UNSEEN
        coarser = np.repeat(np.arange(features.width), features.sizes)  # the cell above of each finest cell
        column = np.arange(features.width)  # the column of each cell above
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
        """Of each level the counts of its cells (k, m), and those of their parents (k, parents)."""
        above, out = by_feature(self.features.starts, table), []
        for level in self.levels:
            counts = moved(table, level.of, len(level.parent))
            out.append((level, counts, above))
            above = counts
        return out

    def log_probability(self, table: Array) -> Array:
        """log p(cell | c) (k, cells) by counts (k, cells) of the finest; NaN where a smoothed count is below 0."""
        out = np.zeros(table.shape)
        with np.errstate(invalid="ignore", divide="ignore"):
            for level, counts, above in self._counts(table):
                out += _log_shares(level, counts, above[:, level.parent])[:, level.of]
        return out

    def log_prior(self, log_p: Array) -> float:
        """What the pseudo-counts say of tables log p (k, cells): sum of A share log(p(cell) / p(parent))."""
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
            inside = np.maximum(rest(counts[y, at] + level.pseudo[at], own.weight), LEAST)
            around = np.maximum(rest(above[y, level.parent[at]] + level.weight[at], own.weight), LEAST)
            out += np.log(inside / around)
        return np.asarray(np.where(there, out, 0.0))


def _log_shares(level: Level, counts: Array, above: Array) -> Array:
    """log of the share that each cell has of its parent (k, m)."""
    left, whole = counts + level.pseudo, above + level.weight
    return np.log(np.where((left >= 0) & (whole > 0), left / np.where(whole > 0, whole, 1.0), np.nan))


def _side_by_side(group: Groups) -> tuple[Array, int]:
    """The cells of a level numbered through all columns, for each finest cell (cells,); and how many there are."""
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
