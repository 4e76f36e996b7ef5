"""What sums tell of single columns, for people to look at: counts, means, standard deviations, and typical values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from suffice._core.features import Features
from suffice._core.vector import Array

# The quantiles of a normal class that stand for its rows.
QUANTILES = (np.arange(9) + 0.5) / 9


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

    @classmethod
    def of_moments(cls, count: Array, mean: Array, spread: Array) -> Summary:
        """From the number, mean and standard deviation of the entries of each class (k,)."""
        known = np.where(count > 0, mean, np.nan), np.where(count > 0, spread, np.nan)
        values = mean[:, None] + spread[:, None] * ndtri(QUANTILES)
        table = np.kron(np.diag(np.maximum(count, 0.0)), np.full((1, len(QUANTILES)), 1 / len(QUANTILES)))
        return cls(count, *known, values.ravel(), table, False)

    @classmethod
    def of_totals(cls, count: Array, total: Array) -> Summary:
        """From the number and the sum of the entries of each class (k,), which are at least 0."""
        mean = np.divide(total, count, out=np.zeros(len(total)), where=count != 0)
        unknown = np.full(len(mean), np.nan)
        values = np.append(0.0, 2 * mean)
        table = np.column_stack([count / 2, np.diag(count / 2)])
        return cls(count, np.where(count > 0, mean, np.nan), unknown, values, table, False)

    @classmethod
    def of_values(cls, values: Array, table: Array) -> Summary:
        """From numbers (m,) and how often each class has them (k, m)."""
        count = table.sum(axis=1)
        share = np.where(count[:, None] > 0, table / np.where(count > 0, count, 1.0)[:, None], np.nan)
        # About their middle, so that large numbers keep their digits.
        centre = float(values.mean()) if len(values) else 0.0
        mean = share @ (values - centre)
        spread = np.sqrt((share * (values - centre - mean[:, None]) ** 2).sum(axis=1))
        return cls(count, mean + centre, spread, values, table, True)

    def reach(self, wide: float) -> list[float]:
        """Return mean +- wide standard deviations of every class, if classes stand for normal ones."""
        if self.counted or self.mean is None or self.spread is None:
            return []
        ends = np.concatenate([self.mean - wide * self.spread, self.mean + wide * self.spread])
        found: list[float] = ends[np.isfinite(ends)].tolist()
        return found

    @property
    def weight(self) -> Array:
        """The weight of each value (m,), whatever the class."""
        return np.asarray(self.table.sum(axis=0))


class Overview(Mapping[Any, Summary]):
    """The summaries of all columns, by name or number; each is made when it is first needed."""

    def __init__(self, columns: Mapping[Any, Callable[[], Summary]] = {}) -> None:
        self.columns = columns

    @classmethod
    def each(cls, features: Features, of: Callable[[int], Summary]) -> Overview:
        """Return the overview of all features, from a function of their numbers."""
        return cls({key: lambda j=j: of(j) for j, key in enumerate(features.keys)})  # type: ignore[misc]

    def __getitem__(self, key: Any) -> Summary:
        return self.columns[key]()

    def __contains__(self, key: object) -> bool:
        return key in self.columns

    def __iter__(self) -> Iterator[Any]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def rename(self, names: Mapping[Any, Any]) -> Overview:
        """Return the overview with other names for some columns."""
        return Overview({names.get(key, key): column for key, column in self.columns.items()})

    def without(self, keys: Collection[Any]) -> Overview:
        """Return the overview of all columns except some."""
        return Overview({key: column for key, column in self.columns.items() if key not in keys})
