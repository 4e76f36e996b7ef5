"""The choice of pairs that say more about the class than their columns: a score test from one read of the rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, TypeAlias, cast

import numpy as np
from scipy.stats import chi2

from suffice._core.features import CategoricalFeatures
from suffice._core.kinds import BINNED, CATEGORICAL
from suffice._core.labels import show
from suffice._core.probability import posterior
from suffice._core.vector import Array, Vector
from suffice.data import Batch, Data
from suffice.encoders.pairs import Coarse
from suffice.encoders.table import BlockFeatures
from suffice.learners import Fit
from suffice.models import AnyStatistics, Binning
from suffice.models.base import Weighable
from suffice.models.compose.blocks import part
from suffice.models.tables.categorical import RARE, Pool, pooled, sums_by_code

CELLS_PER_COLUMN = 6
MAX_COLUMNS = 64  # tested in pairs: the most important ones
MAX_ROWS = 20_000
LEVEL = 0.05  # probability of choosing any pair if there is no interaction
EXTRA_VARIANCE = 0.5  # added to every cell, so that a single odd row is not significant
LEAST_SQUARES_STEPS = 5


def coarse_cells(s: AnyStatistics) -> Coarse:
    """Coarse cells of each column for pairs: of equal weight, or the most frequent categories and the rest."""
    blocks = cast(BlockFeatures, s.domain.features)
    parts: dict[str, CategoricalFeatures] = {}
    for name in blocks.parts:
        if name in BINNED:
            parts[name] = Binning(n_bins=CELLS_PER_COLUMN).features(part(s, name))
        elif name in CATEGORICAL:
            parts[name] = _frequent(part(s, name))
    return Coarse(parts, {name: blocks.at[name] for name in parts})


def _frequent(s: AnyStatistics) -> CategoricalFeatures:
    features = cast(CategoricalFeatures, s.domain.features)
    tables = np.split(s.sums.table.sum(axis=0), features.starts[1:-1])
    return pooled(features, [_most_frequent(c, rows) for c, rows in zip(features.categories, tables, strict=True)])


def _most_frequent(categories: Array, rows: Array) -> Pool:
    """A cell for each of the most frequent categories, and one for the others."""
    if len(categories) <= CELLS_PER_COLUMN:
        return Pool(categories, np.arange(len(categories)))
    kept = np.sort(np.argsort(-rows, kind="stable")[: CELLS_PER_COLUMN - 1])
    cell = np.full(len(categories), CELLS_PER_COLUMN - 1)
    cell[kept] = np.arange(CELLS_PER_COLUMN - 1)
    return Pool(np.append(categories[kept].astype(object), RARE), cell)


@dataclass(frozen=True, eq=False, repr=False)
class Residuals(Vector):
    """Sums over rows of Y - P and of its variance P (1 - P), by class and cell of every pair (k, cells)."""

    fixed: ClassVar = ("sides",)

    sides: Array  # (pairs, 2) the number of cells of each column
    gap: Array
    variance: Array

    def clarity(self) -> Array:
        """-log of the p-value of each pair (pairs,).

            sum_cells g^2 / (v + 1/2) ~ c chi^2(m / c),     c = k / (k - 1),
            m = (r - 1)(q - 1) / (r q) sum_cells v / (v + 1/2)

        for r x q cells and k classes, where g is the gap after removing effects of the single columns. The gaps of the
        classes sum to zero, so that the sum varies c times as much as m independent terms.
        """
        return np.array([_clarity(*one) for one in self._each()])

    def _each(self) -> Iterator[tuple[Array, Array]]:
        """Gap and variance of every pair (k, r, q)."""
        ends = np.cumsum(self.sides.prod(axis=1))
        for end, sides in zip(ends, self.sides, strict=True):
            cells = slice(end - sides[0] * sides[1], end)
            yield self.gap[:, cells].reshape(-1, *sides), self.variance[:, cells].reshape(-1, *sides)


def _clarity(gap: Array, variance: Array) -> float:
    gap, r, q = _beyond_columns(gap, variance), *gap.shape[1:]
    chance = (r - 1) * (q - 1) / (r * q) * float((variance / (variance + EXTRA_VARIANCE)).sum())
    if chance <= 0:
        return 0.0
    spread = len(gap) / max(1, len(gap) - 1)
    return float(-chi2.logsf((gap**2 / (variance + EXTRA_VARIANCE)).sum() / spread, chance / spread))


def _beyond_columns(gap: Array, variance: Array) -> Array:
    """The gap (k, r, q) minus variance (a_u + b_v), with a and b by alternating weighted least squares."""
    rows, columns = (np.maximum(variance.sum(axis=axis, keepdims=True), 1e-300) for axis in (2, 1))
    left = gap
    for _ in range(LEAST_SQUARES_STEPS):
        left = left - variance * (left.sum(axis=2, keepdims=True) / rows)
        left = left - variance * (left.sum(axis=1, keepdims=True) / columns)
    return left


class TestedColumns(NamedTuple):
    """Columns to test in pairs: their places among those with coarse cells, and their numbers of cells."""

    places: Array
    sizes: Array

    def pairs(self) -> list[tuple[int, int]]:
        """All pairs, by their places among these columns."""
        return [(i, j) for i in range(len(self.places)) for j in range(i)]


@dataclass(frozen=True)
class Residual:
    """`Residuals` of a batch, from leave-one-out predictions."""

    fit: Fit
    coarse: Coarse
    tested: TestedColumns

    def __call__(self, batch: Batch) -> Residuals:
        model = cast(Weighable[Any, Any], self.fit.model)
        s = cast(AnyStatistics, self.fit.statistics if self.fit.moved is None else self.fit.moved)
        Y = batch.Y.onto(s.domain.classes)
        rows = np.flatnonzero(Y.codes >= 0)
        X, Y = batch.X[rows], Y[rows]
        P = np.nan_to_num(posterior(model.log_joint_without(X, Y, self.fit.parameters, s)))
        W = np.concatenate([Y.matrix().toarray() - Y.weight[:, None] * P, Y.weight[:, None] * P * (1.0 - P)], axis=1)
        codes, sizes = self.coarse.codes(X)[:, self.tested.places], self.tested.sizes
        tables = [np.zeros((W.shape[1], 0))]
        for i in range(1, codes.shape[1]):
            both = (codes[:, i, None] >= 0) & (codes[:, :i] >= 0)
            pair = np.where(both, codes[:, i, None] * sizes[:i] + codes[:, :i], -1).astype(np.int32)
            tables.append(sums_by_code(pair, np.append(0, np.cumsum(sizes[i] * sizes[:i])), W))
        gap, variance = np.split(np.concatenate(tables, axis=1), 2)
        return Residuals(np.array([(sizes[i], sizes[j]) for i, j in self.tested.pairs()]), gap, variance)


Chosen: TypeAlias = list[tuple[int, int]]  # pairs by the numbers of the table's columns


def clearest(fit: Fit, data: Data, coarse: Coarse, among: list[int], most: int, test: bool) -> Chosen:
    """The most significant pairs of columns, by the numbers of the table's columns.

    `test`: only pairs that are significant at a level of 0.05 after Bonferroni's correction.
    """
    columns = coarse.columns
    places = np.array([p for p, j in enumerate(columns) if j in among and coarse.sizes[p] > 1], dtype=int)
    if len(places) < 2:
        return []
    tested = TestedColumns(places, coarse.sizes[places])
    rows = data.count()
    some = data if rows <= MAX_ROWS else data.sample(MAX_ROWS / rows)
    found = some.sum(Residual(replace(fit, history={}, passes={}), coarse, tested)).clarity()
    clear = np.log(len(found) / LEVEL) if test else -np.inf
    order = [at for at in np.argsort(-found, kind="stable") if found[at] > clear][:most]
    pairs = [tested.pairs()[at] for at in order]
    named = (sorted((int(columns[places[i]]), int(columns[places[j]]))) for i, j in pairs)
    return [(first, second) for first, second in named]


def check_cells(coarse: Coarse, chosen: Chosen, names: list[Any]) -> None:
    """ValueError if a pair has a column with a single cell."""
    size = dict(zip(coarse.columns.tolist(), coarse.sizes.tolist(), strict=True))
    for j in (j for both in chosen for j in both):
        if size.get(j, 0) < 2:
            raise ValueError(
                f"AdditiveTables: pairs has {show(names[j])}, which has a single cell: leave that pair out"
            )
