"""What sums know of single columns, for people to look at: counts, means, standard deviations, and typical values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, cast

import numpy as np
from scipy.special import ndtri

from suffice._core.features import CategoricalFeatures, Domain
from suffice._core.kinds import Block
from suffice._core.vector import Array
from suffice.encoders.table import BlockFeatures
from suffice.models.compose.blocks import Parts, domain_of
from suffice.models.counts.bernoulli import Presences
from suffice.models.counts.multinomial import Words
from suffice.models.counts.totals import Totals
from suffice.models.gaussian.moments import Moments, diagonal, ratio
from suffice.models.gaussian.patterns import Entries, Patterns
from suffice.models.statistics import Statistics
from suffice.models.tables.categorical import Counts
from suffice.models.tables.histogram import Histogram

SHARES = (np.arange(9) + 0.5) / 9  # of a normal class that lie below the numbers that stand for it


@dataclass(frozen=True, eq=False)
class Summary:
    """A column, by class: how many entries, their mean and standard deviation, and values with their weights.

    The values are those that were counted; where only moments were summed, they stand for normal classes, and where
    only totals were, for their means. `mean` and `spread` are NaN where they are unknown, and None for categories.
    """

    count: Array  # (k,)
    mean: Array | None  # (k,)
    spread: Array | None  # (k,)
    values: Array  # (m,)
    table: Array  # (k, m)
    counted: bool  # whether the values are those of rows

    def reach(self, wide: float) -> list[float]:
        """So many standard deviations to both sides of the mean of every class, where classes stand for normal ones."""
        if self.counted or self.mean is None or self.spread is None:
            return []
        ends = np.concatenate([self.mean - wide * self.spread, self.mean + wide * self.spread])
        found: list[float] = ends[np.isfinite(ends)].tolist()
        return found

    @property
    def weight(self) -> Array:
        """The weight of each value (m,), whatever the class."""
        return np.asarray(self.table.sum(axis=0))


Column = Callable[[], Summary]


class Overview(Mapping[Any, Summary]):
    """The summaries of all columns, by name or number; each is made when it is asked for."""

    def __init__(self, columns: Mapping[Any, Column]) -> None:
        self._columns = columns

    def __getitem__(self, key: Any) -> Summary:
        return self._columns[key]()

    def __contains__(self, key: object) -> bool:
        return key in self._columns

    def __iter__(self) -> Iterator[Any]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def called(self, names: Mapping[Any, Any]) -> Overview:
        """The same with other names of some columns."""
        return Overview({names.get(key, key): column for key, column in self._columns.items()})

    def without(self, keys: Collection[Any]) -> Overview:
        """Of all columns but some."""
        return Overview({key: column for key, column in self._columns.items() if key not in keys})


def overview(s: Statistics[Any]) -> Overview:
    """What statistics know of their columns."""
    return Overview(_columns(s.sums, s.domain, s.mass))


@singledispatch
def _columns(sums: Any, domain: Domain, mass: Array) -> dict[Any, Column]:  # noqa: ARG001 - of sums not known here
    """The columns of some sums, by key."""
    return {}


@_columns.register
def _of_parts(sums: Parts, domain: Domain, mass: Array) -> dict[Any, Column]:
    blocks = cast(BlockFeatures, domain.features)
    made = {Block.MISSING, *getattr(blocks, "made", ())}
    found: dict[Any, Column] = {}
    for name, part in sums.parts.items():
        each = {} if name in made else _columns(part, domain_of(domain, name), mass)
        keys = blocks.part(name).keys
        found |= {blocks.keys_of(name)[keys.index(key)]: column for key, column in each.items()}
    order = {key: at for at, key in enumerate(range(blocks.width) if blocks.names is None else blocks.names)}
    return dict(sorted(found.items(), key=lambda item: order.get(item[0], len(order))))


def _each(domain: Domain, of: Callable[[int], Summary]) -> dict[Any, Column]:
    return {key: lambda j=j: of(j) for j, key in enumerate(domain.features.keys)}  # type: ignore[misc]


@_columns.register
def _of_moments(sums: Moments, domain: Domain, mass: Array) -> dict[Any, Column]:  # noqa: ARG001
    mean, variance = sums.mean() + sums.origin, ratio(diagonal(sums.scatter()), sums.count)
    count, spread = np.broadcast_to(sums.count, mean.shape), np.sqrt(np.maximum(variance, 0.0))
    return _each(domain, lambda j: _normal(count[:, j], mean[:, j], spread[:, j]))


def _normal(count: Array, mean: Array, spread: Array) -> Summary:
    known = np.where(count > 0, mean, np.nan), np.where(count > 0, spread, np.nan)
    values = mean[:, None] + spread[:, None] * ndtri(SHARES)
    table = np.kron(np.diag(np.maximum(count, 0.0)), np.full((1, len(SHARES)), 1 / len(SHARES)))
    return Summary(count, *known, values.ravel(), table, False)


@_columns.register(Patterns)
@_columns.register(Entries)
def _of_patterns(sums: Patterns | Entries, domain: Domain, mass: Array) -> dict[Any, Column]:
    return _of_moments(sums.entries(), domain, mass)


@_columns.register
def _of_histogram(sums: Histogram, domain: Domain, mass: Array) -> dict[Any, Column]:  # noqa: ARG001
    return _each(domain, lambda j: _of_values(sums.column(j).value, sums.column(j).table))


def _of_values(values: Array, table: Array) -> Summary:
    count = table.sum(axis=1)
    share = np.where(count[:, None] > 0, table / np.where(count > 0, count, 1.0)[:, None], np.nan)
    centre = float(values.mean()) if len(values) else 0.0  # so that large numbers keep their digits
    mean = share @ (values - centre)
    spread = np.sqrt((share * (values - centre - mean[:, None]) ** 2).sum(axis=1))
    return Summary(count, mean + centre, spread, values, table, True)


@_columns.register
def _of_counts(sums: Counts, domain: Domain, mass: Array) -> dict[Any, Column]:  # noqa: ARG001
    features = cast(CategoricalFeatures, domain.features)
    starts = features.starts

    def column(j: int) -> Summary:
        table = sums.table[:, starts[j] : starts[j + 1]]
        return Summary(table.sum(axis=1), None, None, features.categories[j], table, True)

    return _each(domain, column)


@_columns.register
def _of_presences(sums: Presences, domain: Domain, mass: Array) -> dict[Any, Column]:  # noqa: ARG001
    count = np.broadcast_to(sums.count, sums.total.shape)
    zero_one = np.array([0.0, 1.0])
    tables = np.stack([count - sums.total, sums.total])
    return _each(domain, lambda j: _of_values(zero_one, tables[:, :, j].T))


@_columns.register
def _of_totals(sums: Totals, domain: Domain, mass: Array) -> dict[Any, Column]:  # noqa: ARG001
    return _each(domain, lambda j: _of_mean(np.broadcast_to(sums.count, sums.total.shape)[:, j], sums.total[:, j]))


@_columns.register
def _of_words(sums: Words, domain: Domain, mass: Array) -> dict[Any, Column]:
    return _each(domain, lambda j: _of_mean(mass, sums.table[:, j]))


def _of_mean(count: Array, total: Array) -> Summary:
    mean = ratio(total, count)
    unknown = np.full(len(mean), np.nan)
    values = np.append(0.0, 2 * mean)
    table = np.column_stack([count / 2, np.diag(count / 2)])
    return Summary(count, np.where(count > 0, mean, np.nan), unknown, values, table, False)
