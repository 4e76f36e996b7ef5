"""A fitted model as a sum of terms by column: tables, maps, slopes and squares that anything can add up.

A model gives its terms once, as a `Nomogram`. Pages draw it, SQL writes it as a formula, and `contributions` evaluate
it on rows (`Terms`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Self, cast

import narwhals as nw
import numpy as np
from scipy.sparse import issparse

from suffice._core.features import CategoricalFeatures, Encoded, Features
from suffice._core.formula import Arithmetic, Arrays, Choices, E, Reading
from suffice._core.labels import OneHot, show, show_all
from suffice._core.vector import Array
from suffice._runtime.lazy import cached_property
from suffice.encoders.table import Column
from suffice.models.base import Ability, D, T
from suffice.models.statistics import B, Statistics

# The scores of two classes that have given log-odds: half of them each, with opposite signs.
HALVES = np.array([-0.5, 0.5])
CACHED_ENTRIES = 1 << 15


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms of some rows: log p(x, y) = base + sum_t values_t, up to a term that is the same for all classes.

    >>> column = Terms(np.zeros(2), ("u",), np.array([[[1.0], [2.0]]]))
    >>> (column + 0.5 * column).gather().values
    array([[[1.5],
            [3. ]]])
    """

    base: Array  # (k,) or (n, k): class probabilities, determinants, normalisers
    keys: tuple[Any, ...]  # (m,) the name or number of a column, a pair of these, or the name of a block
    values: Array  # (n, k, m)

    def __rmul__(self, weight: float) -> Self:
        return replace(self, base=weight * self.base, values=weight * self.values)

    def __add__(self, other: Terms) -> Terms:
        values = np.concatenate([self.values, other.values], axis=2)
        return Terms(self.base + other.base, self.keys + other.keys, values)

    def gather(self, order: Sequence[Any] = ()) -> Self:
        """Add up the terms of each key. Keys come in the given order, and all others after them."""
        there = set(self.keys)
        wanted = dict.fromkeys((*(key for key in order if key in there), *self.keys))
        place = {key: at for at, key in enumerate(wanted)}
        values = np.zeros((*self.values.shape[:2], len(place)))
        for at, key in enumerate(self.keys):
            values[:, :, place[key]] += self.values[:, :, at]
        return replace(self, keys=tuple(wanted), values=values)


def keys_of(model: Any) -> tuple[Any, ...]:
    """Return the names or numbers of the columns of a resolved model."""
    return cast(Features, model.domain.features).keys


def read_dense(model: Any, X: Encoded) -> Array:
    """Return the rows (n, d) as a resolved model reads them, as an array even if they are sparse."""
    rows = model.domain.features.read(X)
    return np.asarray(rows.toarray() if issparse(rows) else rows)


class NoNomogramError(ValueError):
    """A model is not a sum of terms of single columns, pairs of them, or a few together; the message says why."""


@dataclass(frozen=True, eq=False)
class Term(ABC):
    """A part of the scores of the classes, of some columns; 0 where an entry is missing or unknown."""

    columns: tuple[Any, ...]  # names or numbers

    kind: ClassVar[str]
    numbers: ClassVar[tuple[str, ...]]  # its fields, except for the cells of columns
    weighed: ClassVar[tuple[str, ...]]  # those of these fields that a weight multiplies
    optional: ClassVar[bool] = True  # whether an entry may be missing

    @property
    def key(self) -> Any:
        """The column, or the pair of columns, that contributions are listed under."""
        return self.columns[0] if len(self.columns) == 1 else self.columns

    def __rmul__(self, weight: float) -> Self:
        return replace(self, **{name: weight * getattr(self, name) for name in self.weighed})

    def readings(self) -> dict[Any, Reading | None]:
        """Return how each column is read: in cells, or as the number that it is (None)."""
        return dict.fromkeys(self.columns)

    @abstractmethod
    def formula(self, ops: Arithmetic[E], *columns: Any) -> list[E]:
        """Return the score of each class (k,) as a formula of its columns."""

    def value(self, *entries: Array) -> Array:
        """Return the score of each class (n, k), from the entries (n,) of each of its columns."""
        each = (np.broadcast_to(one, len(entries[0])) for one in self.formula(Arrays(), *entries))
        return np.stack(list(each), axis=1)

    @property
    def part_keys(self) -> tuple[Any, ...]:
        """The keys (m,) of its `parts`."""
        return (self.key,)

    def parts(self, rows: Array) -> Array:
        """Return the score of each class by part (n, k, m), from rows (n, columns) of entries."""
        return self.value(*rows.T)[:, :, None]

    def split(self) -> tuple[Term, ...]:
        """Return a term for each part, if parts can be separated; without those that are 0 for all classes."""
        return (self,)


@dataclass(frozen=True, eq=False)
class Cells(Term):
    """values (r, k) of the cell that an entry is in."""

    kind, numbers, weighed = "cells", ("values",), ("values",)

    reading: Reading
    values: Array

    def formula(self, ops: Arithmetic[E], *columns: Any) -> list[E]:
        cell = ops.cell(self.reading, columns[0])
        return [ops.pick(cell, of_class) for of_class in self.values.T]

    def readings(self) -> dict[Any, Reading | None]:
        return {self.columns[0]: self.reading}


@dataclass(frozen=True, eq=False)
class Map(Term):
    """values (r, q, ..., k) of the cells that the entries of two or more columns are in."""

    kind, numbers, weighed = "map", ("values",), ("values",)

    sides: tuple[Reading, ...]
    values: Array

    def formula(self, ops: Arithmetic[E], *columns: Any) -> list[E]:
        cell = ops.cells(self.sides, columns)
        return [ops.pick(cell, of_class.ravel()) for of_class in np.moveaxis(self.values, -1, 0)]

    def readings(self) -> dict[Any, Reading | None]:
        return dict(zip(self.columns, self.sides, strict=True))


@dataclass(frozen=True, eq=False)
class Gap(Term):
    """values (2, k): for an entry that is there, and for a missing one."""

    kind, numbers, weighed = "gap", ("values",), ("values",)

    values: Array

    def formula(self, ops: Arithmetic[E], *columns: Any) -> list[E]:
        return [ops.gap(columns[0], there, gone) for there, gone in self.values.T.tolist()]

    def readings(self) -> dict[Any, Reading | None]:
        return {}


@dataclass(frozen=True, eq=False)
class Curves(Term):
    """Terms of the same form for m columns of numbers: `score` of x, from the numbers of a class and column.

    Arrays have the column as their last axis, which is left out if the term is of a single column.
    """

    @staticmethod
    @abstractmethod
    def score(ops: Arithmetic[E], x: E, *numbers: Any) -> E:
        """Return the score of entries x; `numbers` are the fields of the same name."""

    @property
    def part_keys(self) -> tuple[Any, ...]:
        return self.columns

    def formula(self, ops: Arithmetic[E], *columns: Any) -> list[E]:
        entries = [ops.read(column) for column in columns]
        found = []
        for of_class in zip(*(each.tolist() for each in self._numbers()), strict=True):
            each = zip(entries, *of_class, strict=True)
            found.append(ops.add(*(self.score(ops, x, *numbers) for x, *numbers in each)))
        return found

    def parts(self, rows: Array) -> Array:
        return np.asarray(self.score(Arrays(), rows[:, None, :], *self._numbers()))

    def _numbers(self) -> list[Array]:
        """The numbers of every class and column, each (k, m)."""
        each = np.broadcast_arrays(*(getattr(self, name) for name in self.numbers))
        return [one if one.ndim == 2 else one[:, None] for one in each]

    def split(self) -> tuple[Term, ...]:
        weighed = np.stack([getattr(self, name) for name in self.weighed])
        if weighed.ndim == 2:
            return (self,)
        numbers = [getattr(self, name) for name in self.numbers]
        counting = np.flatnonzero(weighed.any(axis=(0, 1))).tolist()
        return tuple(type(self)((self.columns[j],), *(one[..., j] for one in numbers)) for j in counting)


@dataclass(frozen=True, eq=False)
class Slope(Curves):
    """coef_c (x - centre) + constant_c, for a number x."""

    kind, numbers, weighed = "slope", ("centre", "coef", "constant"), ("coef", "constant")

    centre: Any  # a number, or (m,)
    coef: Array  # (k,) or (k, m)
    constant: Array  # (k,) or (k, m)

    @staticmethod
    def score(ops: Arithmetic[E], x: E, *numbers: Any) -> E:
        return ops.or_zero(Needed.score(ops, x, *numbers))


@dataclass(frozen=True, eq=False)
class Needed(Slope):
    """A `Slope` of a column that every row must have, as without it the slopes of all other columns would differ."""

    optional = False

    @staticmethod
    def score(ops: Arithmetic[E], x: E, *numbers: Any) -> E:
        centre, coef, constant = numbers
        slope = ops.times(ops.number(coef), ops.plus(x, ops.number(-centre)))
        return ops.plus(slope, ops.number(constant)) if np.any(constant) else slope


@dataclass(frozen=True, eq=False)
class Square(Curves):
    """constant_c - 1/2 precision_c ((x - origin_c) - mean_c)^2, for a number x."""

    kind, numbers = "square", ("origin", "mean", "precision", "constant")
    weighed = ("precision", "constant")

    origin: Array  # (k,) or (k, m)
    mean: Array  # (k,) or (k, m)
    precision: Array  # (k,) or (k, m)
    constant: Array  # (k,) or (k, m)

    @staticmethod
    def score(ops: Arithmetic[E], x: E, *numbers: Any) -> E:
        origin, mean, precision, constant = numbers
        gap = gap_of(ops, x, origin, mean)
        square = ops.times(ops.number(-0.5 * precision), ops.times(gap, gap))
        return ops.or_zero(ops.plus(ops.number(constant), square))


@dataclass(frozen=True, eq=False)
class Form(Term):
    """-1/2 (x - mean_c)_j [precision_c (x - mean_c)]_j, a part for each of d numbers x; none may be missing."""

    kind, numbers, weighed = "form", ("origin", "mean", "precision"), ("precision",)
    optional = False

    origin: Array  # (k, d)
    mean: Array  # (k, d)
    precision: Array  # (k, d, d)

    @property
    def part_keys(self) -> tuple[Any, ...]:
        return self.columns

    def formula(self, ops: Arithmetic[E], *columns: Any) -> list[E]:
        return [self._of_class(c, ops, columns) for c in range(len(self.mean))]

    def _of_class(self, c: int, ops: Arithmetic[E], columns: Sequence[Any]) -> E:
        """-1/2 |L'gap|^2 with precision = L L'."""
        # A sum of squares loses no digits where columns are nearly collinear; the sum of all products would.
        used = np.flatnonzero(self.precision[c].any(axis=1))
        at = zip(used.tolist(), self.origin[c, used].tolist(), self.mean[c, used].tolist(), strict=True)
        gaps = ops.keep([gap_of(ops, ops.read(columns[j]), origin, mean) for j, origin, mean in at])
        lower = np.linalg.cholesky(self.precision[c][np.ix_(used, used)])
        each = enumerate(lower.T.tolist())
        white = [ops.add(*(ops.times(ops.number(row[i]), gaps[i]) for i in range(j, len(gaps)))) for j, row in each]
        squares = [ops.times(one, one) for one in ops.keep(white)]
        return ops.times(ops.number(-0.5), ops.add(*squares))

    def parts(self, rows: Array) -> Array:
        gap = rows[:, None, :] - self.origin  # (n, k, d)
        gap -= self.mean
        pull = (gap.swapaxes(0, 1) @ self.precision).swapaxes(0, 1)
        gap *= -0.5
        gap *= pull
        return np.asarray(gap)


@dataclass(frozen=True, eq=False)
class Constant(Term):
    """The same number for every row, added to a term so that its mean is 0, and taken from the base."""

    kind, numbers, weighed = "level", ("values",), ("values",)

    values: Array  # (k,)

    def formula(self, ops: Arithmetic[E], *columns: Any) -> list[E]:  # noqa: ARG002 - the same for every entry
        return [ops.number(value) for value in self.values.tolist()]

    def readings(self) -> dict[Any, Reading | None]:
        return {}


@dataclass(frozen=True, eq=False)
class Nomogram:
    """A classifier as a sum: score_c(x) = base_c + sum_t term_t(x, c), with p(c | x) the softmax of the scores.

    It holds numbers only: drawing it needs no rows, and evaluating it no library.

    >>> from suffice._core.formula import Intervals
    >>> half = Cells(("age",), Intervals(np.array([-np.inf, 40.0])), np.array([[0.0, 1.0], [0.0, -1.0]]))
    >>> both = Nomogram(np.zeros(2), (half,)) + 0.5 * Nomogram(np.ones(2), (half,))
    >>> both.base, len(both.terms)
    (array([0.5, 0.5]), 2)
    """

    base: Array  # (k,)
    groups: tuple[Term, ...]  # as the model gives them: a slope or a square may be of many columns at once

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """The terms by column, or by pair of columns; those that are 0 for all classes are left out."""
        return tuple(term for group in self.groups for term in group.split())

    def __add__(self, other: Nomogram) -> Nomogram:
        return Nomogram(self.base + other.base, self.groups + other.groups)

    def __rmul__(self, weight: float) -> Nomogram:
        return Nomogram(weight * self.base, tuple(weight * group for group in self.groups))

    def rename(self, names: Mapping[Any, Any]) -> Nomogram:
        """Return the nomogram with other names for some columns."""
        each = ((group, tuple(names.get(column, column) for column in group.columns)) for group in self.groups)
        return Nomogram(self.base, tuple(replace(group, columns=columns) for group, columns in each))

    def shift(self, shifts: Mapping[Any, Array]) -> Nomogram:
        """Add numbers by class (k,) to the terms of some keys, and take them from the base."""
        keys = [(key if isinstance(key, tuple) else (key,), shift) for key, shift in shifts.items()]
        levels = tuple(Constant(columns, shift) for columns, shift in keys)
        return Nomogram(self.base - sum(level.values for level in levels), self.groups + levels)

    def formula(self, ops: Arithmetic[E]) -> list[E]:
        """Return log p(x, y) (k,), up to a number a row, as formulas of the columns by their names or numbers."""
        each = [term.formula(ops, *term.columns) for term in self.terms]
        return [ops.add(ops.number(base), *of_class) for base, *of_class in zip(self.base.tolist(), *each, strict=True)]

    def evaluate(self, rows: Array, keys: Sequence[Any]) -> Terms:
        """Return the terms of rows (n, d), whose columns have these keys (d,); a column without a term has zeros."""
        column = {key: j for j, key in enumerate(keys)}
        all_keys = dict.fromkeys((*keys, *(key for group in self.groups for key in group.part_keys)))
        place = {key: at for at, key in enumerate(all_keys)}
        values = np.zeros((len(rows), len(self.base), len(place)))
        # As many rows at a time as keep what is between a row and its terms in the cache.
        size = max(1, CACHED_ENTRIES // max(1, values[:1].size))
        for group in self.groups:
            read = _index([column[key] for key in group.columns], len(keys))
            at = _index([place[key] for key in group.part_keys], len(place))
            for some in (slice(start, start + size) for start in range(0, len(rows), size)):
                values[some, :, at] += group.parts(rows[some, read])
        return Terms(self.base, tuple(place), values)

    def scores(self, rows: Mapping[Any, Array]) -> Array:
        """Return log p(x, y) (n, k), up to a number a row, from the entries (n,) of every column that counts.

        Entries are as in the rows learned: dates, durations and times as such, or as the numbers that they are read as.
        """
        given = self._entries(rows)
        each = (term.value(*(given[column] for column in term.columns)) for term in self.terms)
        return np.asarray(self.base + sum(each))

    def _entries(self, rows: Mapping[Any, Any]) -> dict[Any, Array]:
        """The entries of every column as terms read them: numbers, or categories."""
        absent = [column for column in self.columns if column not in rows]
        if absent:
            raise ValueError(
                f"scores needs the entries of every column that counts; there are none of {show_all(absent)}"
            )
        read = [pair for term in self.terms for pair in term.readings().items()]
        listed = {column for column, reading in read if isinstance(reading, Choices)}
        numbers = {column for column, _ in read} - listed
        found = {column: _entries(rows[column], column, column in numbers) for column in self.columns}
        for column in (column for term in self.terms if not term.optional for column in term.columns):
            if (holes := np.flatnonzero(np.isnan(found[column]))).size:
                raise ValueError(
                    f"row {holes[0]} has no number in column {show(column)}, and without it all others would count "
                    "otherwise than they do here: ask predict_proba for such rows, or leave them out"
                )
        return found

    @property
    def columns(self) -> list[Any]:
        """The columns that count, in the order of the terms."""
        return list(dict.fromkeys(column for term in self.terms for column in term.columns))

    @property
    def size(self) -> int:
        """How many numbers its terms hold."""
        return sum(np.asarray(getattr(term, name)).size for term in self.terms for name in term.weighed)


def gap_of(ops: Arithmetic[E], x: E, origin: float, mean: float) -> E:
    """Return (x - origin) - mean: the origin is near x, so that the first difference is exact to the last digits."""
    return ops.plus(ops.plus(x, ops.number(-origin)), ops.number(-mean))


def _index(at: list[int], size: int) -> Any:
    """Positions as an index into an axis of this size: a slice, which makes no copy, if they are all of it."""
    return slice(None) if at == list(range(size)) else at


def _entries(values: Any, column: Any, numbers: bool) -> Array:
    """A column (n,) of an array or of a data frame, as numbers or as categories."""
    series = nw.from_native(values, series_only=True, pass_through=True)
    of = Column(series if isinstance(series, nw.Series) else np.asarray(values), f"column {column!r}")
    return of.read().numbers() if numbers else of.categories()


def tables(features: CategoricalFeatures, keys: Sequence[Any], values: Array) -> Nomogram:
    """Return a term for each column from the tables of all columns side by side (cells, k).

    A table of a single cell is left out if its values are the same for all classes.
    """
    found = []
    for j, table in enumerate(np.split(values, features.starts[1:-1])):
        if len(table) > 1 or (table != table[:, :1]).any():
            found.append(Cells((keys[j],), features.reading(j), table))
    return Nomogram(np.zeros(values.shape[1]), tuple(found))


class HasFormula(Ability, Generic[T]):
    """Has scores that can be written as formulas of the columns, so that a database can compute them."""

    words = "scores that can be written as formulas of the columns"

    @abstractmethod
    def formula(self, ops: Arithmetic[E], theta: T) -> list[E]:
        """`log_joint` (k,), up to what all classes share; NoNomogramError if these parameters have no formula."""


class HasNomogram(HasFormula[T]):
    """Has log p(x, y) as a sum of terms by column: `contributions`, `nomogram`, `to_sql` and the page follow from it.

    A model whose terms depend on what a row lacks, or on several columns at a time, writes `terms` again.
    """

    words = "scores that are a sum of terms by column"

    @abstractmethod
    def nomogram(self, theta: T) -> Nomogram:
        """`log_joint` as a sum, up to what all classes share; NoNomogramError if these parameters have none."""

    def terms(self, X: Encoded, theta: T) -> Terms:
        """The terms of each row; a column that a row lacks adds nothing."""
        return self.nomogram(theta).evaluate(read_dense(self, X), keys_of(self))

    def formula(self, ops: Arithmetic[E], theta: T) -> list[E]:
        return self.nomogram(theta).formula(ops)


class NomogramDensity(HasNomogram[D]):
    """Has log p(x | y) as a sum of terms by column."""

    of_table: ClassVar[bool] = False  # whether its terms are of the table's columns even if its rows are a view of them

    @abstractmethod
    def density_nomogram(self, theta: D) -> Nomogram:
        """`log_density` as a sum, up to what all classes share; NoNomogramError if these parameters have none."""

    def density_terms(self, X: Encoded, theta: D) -> Terms:
        """The terms of log p(x | y) of each row."""
        return self.density_nomogram(theta).evaluate(read_dense(self, X), keys_of(self))

    def nomogram(self, theta: D) -> Nomogram:
        found = self.density_nomogram(theta)
        return replace(found, base=found.base + theta.class_log_prob)

    def terms(self, X: Encoded, theta: D) -> Terms:
        found = self.density_terms(X, theta)
        return replace(found, base=found.base + theta.class_log_prob)


class Additive(NomogramDensity[D], Generic[B, D]):
    """Has a log density that is a sum over its columns, each of which can have a weight of its own.

        log p(x | c) = sum_j term_j(x, c),     tempered by w:  sum_j w_j term_j(x, c)

    A column that a row lacks has the term 0.
    """

    words = "a term for each column (tables have them)"

    @abstractmethod
    def log_density_by_column(self, X: Encoded, theta: D) -> Array:
        """The terms of each row, class and column (n, k, d)."""

    @abstractmethod
    def log_density_by_column_without(self, X: Encoded, Y: OneHot | Array, theta: D, s: Statistics[B]) -> Array:
        """The terms (n, k, d) by the parameters of all other rows; see `Removable`."""

    @abstractmethod
    def tempered(self, theta: D, weight: Array) -> D:
        """Return parameters whose term of column j is multiplied by weight[j] (d,); the result is not normalised."""

    def density_terms(self, X: Encoded, theta: D) -> Terms:
        # Rows are codes of cells already: looking these up takes no reading of entries.
        values = self.log_density_by_column(X, theta)
        return Terms(np.zeros(values.shape[1]), keys_of(self), values)
