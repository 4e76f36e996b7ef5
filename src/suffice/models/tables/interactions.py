"""Interactions: what pairs of columns add to the tables of single columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Self, cast

import numpy as np

from suffice._core.features import Domain, Encoded, Features
from suffice._core.vector import Array
from suffice.encoders.pairs import PairFeatures, Pairs
from suffice.models.base import Attempt, Classed, ColumnSummary, Removable
from suffice.models.statistics import Statistics, rest
from suffice.models.tables.categorical import ColumnTables, Counts, Own, Tables, by_feature, moved
from suffice.models.tables.nested import MIN_LEFT, UNSEEN
from suffice.models.terms import Additive, Map, Nomogram, NoNomogramError
from suffice.priors.evidence import TABLE_WEIGHTS, greatest, table_evidence


@dataclass(frozen=True, eq=False)
class Margins:
    """The places of the cells of pairs, and the prior's pseudo-counts: for each column, one row of the marginal."""

    owner: Annotated[Array, "int c"]  # the pair of each cell
    sides: tuple[Array, Array]  # (cells,) the cell of the first and of the second column, each numbered through
    pairs: tuple[Array, Array]  # (cells of a column,) the pair of each of these
    pseudo: tuple[Array, Array]  # (cells of a column,)
    weight: Annotated[Array, "nonneg p"]  # A of each pair

    @classmethod
    def of(cls, features: PairFeatures, table: Array) -> Margins:
        """Margins with the A of greatest evidence in 1, 2, ..., 256 for each pair, from counts (k, cells)."""
        table = np.maximum(table, 0.0)
        owner = np.repeat(np.arange(features.width), features.sizes)
        lengths = np.array(features.sides, dtype=int).reshape(-1, 2)
        code = np.arange(len(owner)) - features.starts[owner]
        begins = np.cumsum(lengths, axis=0) - lengths
        wide = lengths[owner, 1]
        sides = begins[owner, 0] + code // wide, begins[owner, 1] + code % wide
        pairs = tuple(np.repeat(np.arange(len(lengths)), lengths[:, side]) for side in (0, 1))
        seen = table.sum(axis=0) + UNSEEN
        sums = [np.bincount(side, seen, int(n)) for side, n in zip(sides, lengths.sum(axis=0), strict=True)]
        pseudo = tuple(one / np.bincount(pair, one)[pair] for one, pair in zip(sums, pairs, strict=True))
        even = cls(owner, sides, cast(Any, pairs), cast(Any, pseudo), np.ones(features.width))
        base, _ = even.expected(table, by_feature(features.starts, table))
        return replace(even, weight=TABLE_WEIGHTS[greatest(table_evidence(table, base, owner, TABLE_WEIGHTS))])

    def expected(self, table: Array, total: Array) -> tuple[Array, list[Array]]:
        """p_i p_j of each cell (k, cells), and the counts of the single columns (k, cells of them)."""
        product, margins = np.ones(table.shape), []
        for side, pair, pseudo in zip(self.sides, self.pairs, self.pseudo, strict=True):
            counts = moved(table, side, len(pair))
            product = product * ((counts + pseudo) / (total[:, pair] + 1.0))[:, side]
            margins.append(counts)
        return product, margins


@dataclass(frozen=True, eq=False)
class Interactions(ColumnTables, Classed[Counts, Tables], Removable[Counts, Tables], Additive[Counts, Tables]):
    """What a pair of columns says about the class beyond its two columns, in coarse cells.

        term_ij(x, c) = log p(x_i, x_j | c) - log p(x_i | c) - log p(x_j | c)
        p(u, v | c) = (n_c(u, v) + A p(u | c) p(v | c)) / (n_c + A),     p(u | c) = (n_c(u) + share) / (n_c + 1)

    A is the weight of greatest evidence for each pair; in a cell with few rows the columns are nearly independent, and
    the term is about 0. It is not a density but a ratio of densities, meant as an expert beside the tables of the
    columns; an entry without a code adds nothing.
    """

    of_table: ClassVar[bool] = True

    margins: Margins | None = None  # once resolved

    def of_columns(self, features: Features, at: Array, names: Array) -> Self:  # noqa: ARG002 - no settings by column
        """The model itself."""
        return self

    def resolve(self, s: Statistics[Counts]) -> Self:
        return replace(self, domain=s.domain, margins=Margins.of(_of(s.domain), s.sums.table))

    def _margins(self) -> Margins:
        if self.margins is None:
            raise ValueError("the pairs have no weights yet: resolve the model first")
        return self.margins

    def attempt(self, s: Statistics[Counts]) -> Attempt[Counts, Tables]:
        """The map of a pair is valid if no smoothed count is negative."""
        m, starts = self._margins(), _of(s.domain).starts
        total = by_feature(starts, s.sums.table)
        with np.errstate(invalid="ignore", divide="ignore"):
            base, _ = m.expected(s.sums.table, total)
            weight = m.weight[m.owner]
            p = (s.sums.table + weight * base) / (total[:, m.owner] + weight)
            terms = np.where((p > 0) & (base > 0), np.log(p) - np.log(base), np.nan)
        bad = by_feature(starts, np.isnan(terms).astype(float)) > 0
        valid = replace(s, mass=s.mass > 0, sums=Counts(~bad[:, m.owner]))
        return Attempt(Tables(s.domain, self.class_log_prob(s), np.nan_to_num(terms).T.copy()), valid)

    def log_joint(self, X: Encoded, theta: Tables) -> Array:
        return theta.class_log_prob + self.log_density(X, theta)

    def _own_without(self, X: Encoded, own: Own, s: Statistics[Counts]) -> Array:
        m, features = self._margins(), _of(s.domain)
        codes = features.read(X)
        there = codes >= 0
        cell, y = np.where(there, codes + features.starts[:-1], 0), own.codes[:, None]
        total = by_feature(features.starts, s.sums.table)
        _, margins = m.expected(s.sums.table, total)
        of = total[own.codes]
        base = np.ones(codes.shape)
        for counts, side, pseudo in zip(margins, m.sides, m.pseudo, strict=True):
            at = side[cell]
            inside = np.maximum(rest(counts[y, at] + pseudo[at], own.weight), MIN_LEFT)
            base = base * inside / np.maximum(rest(of + 1.0, own.weight), MIN_LEFT)
        inside = np.maximum(rest(s.sums.table[y, cell] + m.weight * base, own.weight), MIN_LEFT)
        p = inside / np.maximum(rest(of + m.weight, own.weight), MIN_LEFT)
        return np.asarray(np.where(there, np.log(p) - np.log(base), 0.0))

    def density_nomogram(self, theta: Tables) -> Nomogram:
        """Return the terms as a nomogram: a table of two columns for each pair."""
        if not isinstance(self.encoder, Pairs):
            raise NoNomogramError("the cells of pairs are those of an encoder Pairs: give the model that made the rows")
        features, readings = _of(theta.domain), self.encoder.coarse.readings()
        names, k = cast(Array, features.names), len(theta.class_log_prob)
        each = zip(names, self.encoder.chosen, features.sides, features.starts, strict=False)
        maps = (
            Map((a, b), (readings[i], readings[j]), theta.log_probability[at : at + r * q].reshape(r, q, k))
            for (a, b), (i, j), (r, q), at in each
        )
        return Nomogram(np.zeros(k), tuple(maps))

    def column_summaries(self, s: Statistics[Any]) -> tuple[ColumnSummary, ...]:
        return tuple(ColumnSummary(f"a map with {b}") for _, b in cast(Array, s.domain.names))


def _of(domain: Domain) -> PairFeatures:
    if not isinstance(domain.features, PairFeatures):
        raise TypeError("interactions are over pairs of columns: encode them with suffice.encoders.pairs.Pairs")
    return domain.features
