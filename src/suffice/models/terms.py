"""A fitted model as a short list of terms that anything can add up: tables, maps, slopes and squares of columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Self, cast

import narwhals as nw
import numpy as np
from scipy.sparse import issparse

from suffice._core.features import CategoricalFeatures, Encoded, Features, Rows
from suffice._core.formula import Arithmetic, Arrays, Choices, E, Intervals, Reading
from suffice._core.labels import OneHot, show, show_all
from suffice._core.vector import Array
from suffice.encoders.table import Column
from suffice.models.base import Ability, D, T
from suffice.models.statistics import B, Statistics

HALVES = np.array([-0.5, 0.5])  # of log-odds, for the scores of two classes


@dataclass(frozen=True, eq=False)
class Terms:
    """log p(x, y) = base + sum_t values_t, up to a term that is the same for all classes.

    >>> column = Terms(np.zeros(2), ("u",), np.array([[[1.0], [2.0]]]))
    >>> (column + 0.5 * column).gathered().values
    array([[[1.5],
            [3. ]]])
    """

    base: Array  # (k,) or (n, k): class probabilities, determinants, normalisers
    keys: tuple[Any, ...]  # (m,) what each term is of: the name or number of a column, a pair of these, or a block
    values: Array  # (n, k, m)

    def __rmul__(self, weight: float) -> Self:
        return replace(self, base=weight * self.base, values=weight * self.values)

    def __add__(self, other: Terms) -> Terms:
        values = np.concatenate([self.values, other.values], axis=2)
        return Terms(self.base + other.base, self.keys + other.keys, values)

    def called(self, keys: Sequence[Any]) -> Self:
        """The same terms under other keys (m,)."""
        return replace(self, keys=tuple(keys))

    def gathered(self, order: Sequence[Any] = ()) -> Self:
        """Terms of the same key added up; keys in a given order, others after these as they come."""
        there = set(self.keys)
        wanted = dict.fromkeys((*(key for key in order if key in there), *self.keys))
        place = {key: at for at, key in enumerate(wanted)}
        values = np.zeros((*self.values.shape[:2], len(place)))
        for at, key in enumerate(self.keys):
            values[:, :, place[key]] += self.values[:, :, at]
        return replace(self, keys=tuple(wanted), values=values)


def keys_of(model: Any) -> tuple[Any, ...]:
    """What the columns of a resolved model are called: names, or numbers."""
    return cast(Features, model.domain.features).keys


def whole(X: Rows) -> Array:
    """Rows (n, d) as an array, also if they are sparse."""
    return np.asarray(X.toarray() if issparse(X) else X)


class Explained(Ability, Generic[T]):
    """Has log p(x, y) as a sum of terms by column, so that it can say why."""

    words = "terms by column"

    @abstractmethod
    def terms(self, X: Encoded, theta: T) -> Terms:
        """`log_joint` as a sum, up to what all classes share; a column that a row lacks adds nothing."""


class ExplainedDensity(Explained[D]):
    """Has log p(x | y) as a sum of terms by column."""

    @abstractmethod
    def density_terms(self, X: Encoded, theta: D) -> Terms:
        """`log_density` as a sum, up to what all classes share."""

    def terms(self, X: Encoded, theta: D) -> Terms:
        found = self.density_terms(X, theta)
        return replace(found, base=found.base + theta.class_log_prob)


class Additive(ExplainedDensity[D], Generic[B, D]):
    """Has a log density that is a sum over its columns: each can be looked at, and weighed, on its own.

        log p(x | c) = sum_j term_j(x, c),     tempered by w:  sum_j w_j term_j(x, c)

    A column that a row lacks has the term 0.
    """

    words = "a term for each column (tables have them)"

    @abstractmethod
    def log_density_by_column(self, X: Encoded, theta: D) -> Array:
        """The terms of each row, class and column (n, k, d)."""

    @abstractmethod
    def log_density_by_column_without(self, X: Encoded, Y: OneHot | Array, theta: D, s: Statistics[B]) -> Array:
        """The same by the parameters of all other rows (n, k, d); see `Removable`."""

    @abstractmethod
    def tempered(self, theta: D, weight: Array) -> D:
        """The parameters whose terms are those of theta times a weight a column (d,); no longer a density."""

    def density_terms(self, X: Encoded, theta: D) -> Terms:
        values = self.log_density_by_column(X, theta)
        return Terms(np.zeros(values.shape[1]), keys_of(self), values)


class NoNomogramError(ValueError):
    """A model is no sum of terms of single columns, pairs of these, or a few together; the message says why."""


@dataclass(frozen=True, eq=False)
class Term(ABC):
    """What some columns add to the scores of the classes. It is 0 where an entry of them is missing or unknown."""

    columns: tuple[Any, ...]  # names or numbers

    kind: ClassVar[str]
    numbers: ClassVar[tuple[str, ...]]  # what it is made of, except for the cells of columns
    weighed: ClassVar[tuple[str, ...]]  # of these, what a weight multiplies
    optional: ClassVar[bool] = True  # whether an entry may be missing

    @property
    def key(self) -> Any:
        """What contributions call it: the column, or a pair of them."""
        return self.columns[0] if len(self.columns) == 1 else self.columns

    def __rmul__(self, weight: float) -> Self:
        return replace(self, **{name: weight * getattr(self, name) for name in self.weighed})

    def over(self, columns: Sequence[Any]) -> Self:
        """The same of columns that are called otherwise."""
        return replace(self, columns=tuple(columns))

    def readings(self) -> dict[Any, Reading | None]:
        """How each column is read: in cells, or as the number that it is (None)."""
        return dict.fromkeys(self.columns)

    @abstractmethod
    def formula(self, ops: Arithmetic[E], *columns: Any) -> list[E]:
        """What it adds to each class (k,), as a formula of its columns."""

    def value(self, *entries: Array) -> Array:
        """What it adds to each class (n, k), from the entries (n,) of each of its columns."""
        each = (np.broadcast_to(one, len(entries[0])) for one in self.formula(Arrays(), *entries))
        return np.stack(list(each), axis=1)


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
    """values (r, q, k) of the cells that the entries of two columns are in."""

    kind, numbers, weighed = "map", ("values",), ("values",)

    sides: tuple[Reading, Reading]
    values: Array

    def formula(self, ops: Arithmetic[E], *columns: Any) -> list[E]:
        cell = ops.cells(self.sides, columns)
        return [ops.pick(cell, of_class.ravel()) for of_class in np.moveaxis(self.values, 2, 0)]

    def readings(self) -> dict[Any, Reading | None]:
        return dict(zip(self.columns, self.sides, strict=True))


@dataclass(frozen=True, eq=False)
class Gap(Term):
    """values (2, k): where an entry is there, and where it is missing."""

    kind, numbers, weighed = "gap", ("values",), ("values",)

    values: Array

    def formula(self, ops: Arithmetic[E], *columns: Any) -> list[E]:
        return [ops.gap(columns[0], there, gone) for there, gone in self.values.T.tolist()]

    def readings(self) -> dict[Any, Reading | None]:
        return {}


@dataclass(frozen=True, eq=False)
class Slope(Term):
    """coef_c (x - centre) + constant_c, for a number x."""

    kind, numbers, weighed = "slope", ("centre", "coef", "constant"), ("coef", "constant")

    centre: float
    coef: Array  # (k,)
    constant: Array  # (k,)

    def formula(self, ops: Arithmetic[E], *columns: Any) -> list[E]:
        return [ops.or_zero(one) for one in self._lines(ops, columns[0])]

    def _lines(self, ops: Arithmetic[E], column: Any) -> list[E]:
        x = ops.plus(ops.read(column), ops.number(-self.centre))
        pairs = zip(self.coef.tolist(), self.constant.tolist(), strict=True)
        return [ops.plus(ops.times(ops.number(coef), x), ops.number(constant)) for coef, constant in pairs]


@dataclass(frozen=True, eq=False)
class Needed(Slope):
    """A `Slope` of a column that no row may lack, as all columns' slopes would be others without it."""

    optional = False

    def formula(self, ops: Arithmetic[E], *columns: Any) -> list[E]:
        return self._lines(ops, columns[0])


@dataclass(frozen=True, eq=False)
class Square(Term):
    """constant_c - 1/2 precision_c ((x - origin_c) - mean_c)^2, for a number x."""

    kind, numbers = "square", ("origin", "mean", "precision", "constant")
    weighed = ("precision", "constant")

    origin: Array  # (k,)
    mean: Array  # (k,)
    precision: Array  # (k,)
    constant: Array  # (k,)

    def formula(self, ops: Arithmetic[E], *columns: Any) -> list[E]:
        x = ops.read(columns[0])
        found = []
        for origin, mean, precision, constant in np.stack([getattr(self, name) for name in self.numbers], 1).tolist():
            gap = gap_of(ops, x, origin, mean)
            square = ops.times(ops.number(-0.5 * precision), ops.times(gap, gap))
            found.append(ops.or_zero(ops.plus(ops.number(constant), square)))
        return found


@dataclass(frozen=True, eq=False)
class Form(Term):
    """-1/2 (x - mean_c)_j [precision_c (x - mean_c)]_j, a term for each of d numbers x; none may be missing."""

    kind, numbers, weighed = "form", ("origin", "mean", "precision"), ("precision",)
    optional = False

    origin: Array  # (k, d)
    mean: Array  # (k, d)
    precision: Array  # (k, d, d)

    def formula(self, ops: Arithmetic[E], *columns: Any) -> list[E]:
        return [self._of_class(c, ops, columns) for c in range(len(self.mean))]

    def _of_class(self, c: int, ops: Arithmetic[E], columns: Sequence[Any]) -> E:
        """-1/2 |L'gap|^2 with precision = L L', a sum of squares: no digits are lost where columns go together."""
        used = np.flatnonzero(self.precision[c].any(axis=1))
        at = zip(used.tolist(), self.origin[c, used].tolist(), self.mean[c, used].tolist(), strict=True)
        gaps = ops.keep([gap_of(ops, ops.read(columns[j]), origin, mean) for j, origin, mean in at])
        lower = np.linalg.cholesky(self.precision[c][np.ix_(used, used)])
        each = enumerate(lower.T.tolist())
        white = [ops.add(*(ops.times(ops.number(row[i]), gaps[i]) for i in range(j, len(gaps)))) for j, row in each]
        squares = [ops.times(one, one) for one in ops.keep(white)]
        return ops.times(ops.number(-0.5), ops.add(*squares))

    def parts(self, rows: Array) -> Array:
        """What each column adds (n, k, d), in rows (n, d)."""
        gap = (rows[:, None, :] - self.origin) - self.mean  # (n, k, d)
        return np.asarray(-0.5 * gap * np.einsum("cjl,ncl->ncj", self.precision, gap))


@dataclass(frozen=True, eq=False)
class Constant(Term):
    """The same for every row: what is taken out of a term, so that its mean is 0, and is in the base instead."""

    kind, numbers, weighed = "level", ("values",), ("values",)

    values: Array  # (k,)

    def formula(self, ops: Arithmetic[E], *columns: Any) -> list[E]:  # noqa: ARG002 - the same for every entry
        return [ops.number(value) for value in self.values.tolist()]

    def readings(self) -> dict[Any, Reading | None]:
        return {}


@dataclass(frozen=True, eq=False)
class Nomogram:
    """A classifier as a sum: score_c(x) = base_c + sum_t term_t(x, c), with p(c | x) the softmax of the scores.

    It holds numbers only: no row is needed to draw it, and no library to evaluate it.

    >>> half = Cells(("age",), Intervals(np.array([-np.inf, 40.0])), np.array([[0.0, 1.0], [0.0, -1.0]]))
    >>> both = Nomogram(np.zeros(2), (half,)) + 0.5 * Nomogram(np.ones(2), (half,))
    >>> both.base, len(both.terms)
    (array([0.5, 0.5]), 2)
    """

    base: Array  # (k,)
    terms: tuple[Term, ...]

    def __add__(self, other: Nomogram) -> Nomogram:
        return Nomogram(self.base + other.base, self.terms + other.terms)

    def __rmul__(self, weight: float) -> Self:
        return replace(self, base=weight * self.base, terms=tuple(weight * term for term in self.terms))

    def called(self, names: Mapping[Any, Any]) -> Self:
        """The same with other names of some columns."""
        terms = (term.over([names.get(column, column) for column in term.columns]) for term in self.terms)
        return replace(self, terms=tuple(terms))

    def shifted(self, shifts: Mapping[Any, Array]) -> Self:
        """With a number for each class (k,) added to the terms of some keys, and taken from the base."""
        keys = [(key if isinstance(key, tuple) else (key,), shift) for key, shift in shifts.items()]
        levels = tuple(Constant(columns, shift) for columns, shift in keys)
        return replace(self, base=self.base - sum(level.values for level in levels), terms=self.terms + levels)

    def formula(self, ops: Arithmetic[E]) -> list[E]:
        """log p(x, y) (k,), up to a number a row, as formulas of the columns that count, by their names or numbers."""
        each = [term.formula(ops, *term.columns) for term in self.terms]
        return [ops.add(ops.number(base), *of_class) for base, *of_class in zip(self.base.tolist(), *each, strict=True)]

    def scores(self, rows: Mapping[Any, Array]) -> Array:
        """log p(x, y) (n, k), up to a number a row, from the entries (n,) of every column that counts.

        Entries are as in the rows learned: dates, durations and times as such, or as the numbers that they are read as.
        """
        given = self._entries(rows)
        each = (term.value(*(given[column] for column in term.columns)) for term in self.terms)
        return np.asarray(self.base + sum(each))

    def _entries(self, rows: Mapping[Any, Any]) -> dict[Any, Array]:
        """The entries of every column as terms take them: numbers, or what categories are."""
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


class HasFormula(Ability, Generic[T]):
    """Has scores that can be written as formulas of the columns, so that a database can compute them."""

    words = "scores that can be written as formulas of the columns"

    @abstractmethod
    def formula(self, ops: Arithmetic[E], theta: T) -> list[E]:
        """`log_joint` (k,), up to what all classes share; NoNomogramError if these parameters have no formula."""


class HasNomogram(HasFormula[T]):
    """Has scores that are a sum of terms of a few known forms, so that a page can draw and evaluate them."""

    words = "scores that are a sum of terms by column"

    @abstractmethod
    def nomogram(self, theta: T) -> Nomogram:
        """`log_joint` as a sum, up to what all classes share; NoNomogramError if these parameters have none."""

    def formula(self, ops: Arithmetic[E], theta: T) -> list[E]:
        return self.nomogram(theta).formula(ops)


class NomogramDensity(HasNomogram[D]):
    """Has log p(x | y) as a sum of terms of a few known forms."""

    @abstractmethod
    def density_nomogram(self, theta: D) -> Nomogram:
        """`log_density` as a sum, up to what all classes share; NoNomogramError if these parameters have none."""

    def nomogram(self, theta: D) -> Nomogram:
        found = self.density_nomogram(theta)
        return replace(found, base=found.base + theta.class_log_prob)


class NomogramView(NomogramDensity[D]):
    """The same of rows that its own encoder has made of the columns of a table."""


def gap_of(ops: Arithmetic[E], x: E, origin: float, mean: float) -> E:
    """(x - origin) - mean."""
    return ops.plus(ops.plus(x, ops.number(-origin)), ops.number(-mean))


def _entries(values: Any, column: Any, numbers: bool) -> Array:
    """A column (n,) of an array or of a data frame, as numbers or as what its values are."""
    series = nw.from_native(values, series_only=True, pass_through=True)
    of = Column(series if isinstance(series, nw.Series) else np.asarray(values), f"column {column!r}")
    return of.numbers() if numbers else of.categories()


def tables(features: CategoricalFeatures, keys: Sequence[Any], values: Array) -> Nomogram:
    """A term for each column from the tables of all columns side by side (cells, k); one of a single cell is left out
    where it says the same of all classes.
    """
    found = []
    for j, table in enumerate(np.split(values, features.starts[1:-1])):
        if len(table) > 1 or (table != table[:, :1]).any():
            found.append(Cells((keys[j],), features.reading(j), table))
    return Nomogram(np.zeros(values.shape[1]), tuple(found))


def by_column(keys: Sequence[Any], term: Callable[[int], Term | None], k: int) -> Nomogram:
    """A term for each column, by its number; None is left out."""
    each = (term(j) for j in range(len(keys)))
    return Nomogram(np.zeros(k), tuple(one for one in each if one is not None))


def above(threshold: float) -> Intervals:
    """Two cells: numbers up to a threshold, and those above it."""
    return Intervals(np.array([-np.inf, np.nextafter(threshold, np.inf)]))
