"""Sums by query: the sums that the rows of a database offer, and how a function of batches uses them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from suffice._core.features import Features
from suffice._core.formula import Arithmetic, Reading
from suffice._core.vector import Array


class Power(NamedTuple):
    """Sums of weights, of x - o and of its squares by class; squares are matrices (k, d, d) or diagonals (k, d)."""

    origin: Array  # (k, d)
    weight: Array  # (k, d), or (k, 1) with matrices
    first: Array  # (k, d)
    second: Array


class DatabaseRows(Protocol):
    """The rows of a table in a database, with their class weights; only sums come back.

    Once encoded, columns are numbers or categories; `block` are those of a block of a mixed table.
    """

    classes: Array  # (k,)

    @property
    def features(self) -> Features:
        """The columns, by name."""

    def holding(self) -> list[tuple[str, str]]:
        """The `ColumnScale` and the content of each column."""

    def encoded(self, encoder: Any) -> DatabaseRows:
        """The same rows as an encoder reads them, by its `sql_columns(rows)`."""

    def divided(self, features: Any) -> DatabaseRows:
        """The same rows in the blocks of a mixed table, `BlockFeatures`."""

    def check_numbers(self, missing: bool, who: str, least: float = -np.inf) -> None:
        """DataError unless all columns hold finite numbers of at least `least`; `missing` ones may be allowed."""

    def relabelled(self, labels: Callable[[Any], Any]) -> DatabaseRows:
        """The same rows after a change of their labels; TypeError if SQL cannot express it."""

    def onto(self, classes: Array) -> DatabaseRows:
        """The same rows with other classes; rows of classes that are not among these do not count."""

    def block(self, name: str) -> DatabaseRows:
        """The columns of a block."""

    def weighed(self, formulas: Callable[[Arithmetic[Any], Any, Any], tuple[list[Any], list[Any]]]) -> DatabaseRows:
        """The same rows with other class weights.

        `formulas(ops, y, weight)` gives the weights (k,), and some numbers whose sums are in `totals`.
        """

    def count(self) -> int:
        """The number of rows, whatever their weights."""

    def mass(self) -> Array:
        """The weight of each class (k,)."""

    def totals(self) -> Array:
        """The sums of the further numbers of `weighed`."""

    def correct_weight(self, formula: Callable[[Arithmetic[Any]], Any], classes: Array) -> tuple[float, float]:
        """The weight of all rows, and of those whose class is predicted by a formula, as its number in `classes`.

        DataError if the formula has no value for some rows.
        """

    def means_and_widths(self) -> tuple[Array, Array]:
        """The mean of each column by class, and the width of its range (k, d); 0 where a class has no entry."""

    def powers(self, origin: Array) -> Power:
        """Moments of each column (k, d) about given origins (k, d)."""

    def patterns(self, origin: Array, limit: int) -> dict[tuple[int, ...], Power] | None:
        """Full moments by pattern of missing entries; None if there are more than `limit` patterns."""

    def counts(self) -> list[tuple[Array, Array]]:
        """For each column of categories, its values (v,), and their weights by class (k, v)."""

    def cells(self, most: int) -> list[tuple[Array, int, Array]]:
        """For each column of numbers: a number (m,) of each cell of the grid, its shift, and weights by class (k, m).

        The shift is the smallest with at most `most` cells, or one with a few times as many.
        """

    def cell_weights(self, readings: Sequence[Reading]) -> list[Array]:
        """For each column, the weights by class of its cells (k, r)."""
        return self.joint_weights([((reading,), (j,)) for j, reading in enumerate(readings)])

    @abstractmethod
    def joint_weights(self, groups: Sequence[tuple[Sequence[Reading], Sequence[int]]]) -> list[Array]:
        """For each group of columns, by their numbers, the weights by class of its joint cells (k, cells)."""


def queried(f: Any, rows: DatabaseRows) -> Any:
    """The sum of f over all rows, by query; TypeError if f has none."""
    query = getattr(f, "query", None)
    if query is None:
        name = getattr(f, "__name__", type(f).__name__)
        raise TypeError(
            f"this cannot be learned in a database ({name} has no query): tables, normal densities, planes and "
            "NaiveBayes can, with learner=ClosedForm() or RiskCalibration(); or take the rows into memory"
        )
    return query(rows)


def changed(change: Any, rows: DatabaseRows) -> DatabaseRows:
    """The rows after a change of each batch; TypeError if SQL cannot express it."""
    columns = getattr(change, "sql_columns", None)
    if columns is None:
        raise TypeError(
            f"{type(change).__name__} changes or draws single rows, which SQL cannot do here: use a "
            "learner without minibatches, samples or splits, or take the rows into memory"
        )
    found: DatabaseRows = columns(rows)
    return found
