"""How an entry of a column finds its cell: by the interval that a number is in, or by what a category is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from suffice._vector import Array


@dataclass(frozen=True, eq=False)
class Intervals:
    """Numbers in cells with lower bounds (r,), the first -inf; NaN is in none.

    >>> Intervals(np.array([-np.inf, 0.0, 2.5])).cells(np.array([-3.0, 0.0, 7.0, np.nan]))
    array([ 0,  1,  2, -1])
    """

    bounds: Array

    @property
    def size(self) -> int:
        """How many cells there are."""
        return len(self.bounds)

    def cells(self, values: Array) -> Array:
        """The cell of each number (n,); -1 for none."""
        values = np.asarray(values, dtype=float)
        return np.where(np.isnan(values), -1, np.searchsorted(self.bounds, values, side="right") - 1)


@dataclass(frozen=True, eq=False)
class Choices:
    """Categories: the values (v,) that there are, and the cell (v,) of each."""

    values: Array
    cell: Array

    @property
    def size(self) -> int:
        """How many cells there are."""
        return int(self.cell.max(initial=-1)) + 1

    def cells(self, values: Array) -> Array:
        """The cell of each value (n,); -1 for one that is not known."""
        known = self.listed()
        return np.array([known.get(value, -1) for value in values], dtype=int)

    def listed(self) -> dict[Any, int]:
        """The cell of each value."""
        return dict(zip(self.values, self.cell.tolist(), strict=True))


Reading: TypeAlias = Intervals | Choices
