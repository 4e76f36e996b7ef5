"""The domain of statistics: classes and features, and rows that are encoded as such features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from scipy.sparse import csr_array, issparse

from suffice._core.formula import Choices, Reading
from suffice._core.labels import check_family, positions, show, show_all, unite
from suffice._core.vector import Array
from suffice._runtime.lazy import cached_property
from suffice._runtime.messages import join_words
from suffice._runtime.random import digest, row_keys

Rows: TypeAlias = Any  # (n, d): an array or, where an encoder lets it through, a scipy.sparse.csr_array


@dataclass(frozen=True, eq=False)
class Features:
    """The columns of a block of statistics: their number, and their names (d,) if they have any.

    `a | b` are the features of a sum over both; a subclass whose columns have categories unites these.
    """

    width: int
    names: Array | None = None

    def name(self, feature: int) -> str:
        """A feature in messages: its name, or its number."""
        return f"column {feature}" if self.names is None else f"column {self.names[feature]!r}"

    @property
    def keys(self) -> tuple[Any, ...]:
        """The keys of the columns (d,) in settings and results: names, or numbers."""
        return tuple(range(self.width)) if self.names is None else tuple(self.names.tolist())

    def listed(self, which: Array) -> str:
        """Several features (m,), by their numbers, in messages; of a long list only the first."""
        return join_words(self.name(int(j)) for j in which)

    def index(self, column: Any, called: str) -> int:
        """The number of a column that a setting names or numbers."""
        named = np.flatnonzero(np.empty(0) if self.names is None else self.names == column)
        if len(named):
            return int(named[0])
        if isinstance(column, int | np.integer) and not isinstance(column, bool) and 0 <= column < self.width:
            return int(column)
        numbers = f"0 to {self.width - 1}"
        there = numbers if self.names is None else f"{show_all(self.names)}, or by number {numbers}"
        raise ValueError(f"{called} has {show(column)}, which is not a column: the columns are {there}")

    def __or__(self, other: Features) -> Self:
        self.check(other)
        return self if self.names is not None or other.names is None else replace(self, names=other.names)

    def same(self, other: Features) -> bool:
        """True if sums over these features are also sums over the others."""
        return self is other or (type(self) is type(other) is Features and self.width == other.width)

    def check(self, other: Features) -> None:
        """ValueError unless the other columns are the same ones."""
        if self.width != other.width:
            raise ValueError(
                f"the features differ: {self.width} here, {other.width} there. Only sums over the same columns can be "
                "added; for text, use the same vocabulary"
            )
        a, b = self.names, other.names
        if a is not b and a is not None and b is not None and not np.array_equal(a, b):
            raise ValueError(f"the feature names differ: {difference(a.tolist(), b.tolist())}")

    def stored(self, X: Encoded) -> Array:
        """The values of rows of these features, in row or column order."""
        if X.features is not self:
            self.check(X.features)
        return X.values

    def read(self, X: Encoded) -> Array:
        """The values of rows in terms of these features, in row order."""
        rows: Array = by_rows(self.stored(X))
        return rows

    def check_kinds(self, other: Features) -> None:
        """ValueError if the values of a column are of another kind than these."""

    def absent(self, X: Encoded) -> Array:
        """True where an entry is missing or unknown to these features (n, d); (n, 0) for sparse rows without any."""
        values: Rows = self.read(X)
        if issparse(values) and not np.isnan(values.data).any():
            return np.zeros((len(X), 0), dtype=bool)
        return np.asarray(np.isnan(values.toarray() if issparse(values) else values))

    def blank(self, values: Array, which: Array) -> Array:
        """Values (n, d) with every entry of the columns `which` (d,) missing."""
        return np.where(which, np.nan, values)

    def identity(self, values: Array) -> Array:
        """Numbers (n, d) that are equal for equal rows, even if categories have different codes in other batches."""
        return values

    @property
    def ordered(self) -> Array:
        """True for features whose values have an order (d,)."""
        return np.ones(self.width, dtype=bool)

    def comparable(self, values: Array) -> Array:
        """Numbers (n, d) to compare rows of different batches; NaN for missing entries, and 0 without a sign."""
        wide = np.asarray(values, dtype=np.float64) + 0.0
        wide[np.isnan(wide)] = np.nan  # NaNs may have different bits
        return wide


def difference(a: list[str], b: list[str], here: str = "here", there: str = "there") -> str:
    """The difference of two lists of names, in words."""
    mine, other = [n for n in a if n not in b], [n for n in b if n not in a]
    return f"only {here} {mine}, only {there} {other}" if mine or other else "the same names in another order"


@dataclass(frozen=True, eq=False)
class CategoricalFeatures(Features):
    """Columns of categories, each with its sorted list.

    >>> a = CategoricalFeatures(1, categories=(np.array(["u"]),))
    >>> (a | CategoricalFeatures(1, categories=(np.array(["v"]),))).categories
    (array(['u', 'v'], dtype='<U1'),)
    """

    closed: ClassVar[bool] = False  # whether a category stays without rows

    categories: tuple[Array, ...] = ()
    declared: tuple[Array, ...] = ()  # categories of each column that stay without rows; () for none

    def seen(self, some: Array) -> Self:
        """These features with only the categories that `some` (cells,) is true for, and the declared ones."""
        parts = np.split(some, self.starts[1:-1])
        if self.declared:
            pairs = zip(self.categories, self.declared, parts, strict=True)
            parts = [keep | (positions(own, kept) >= 0) for own, kept, keep in pairs]
        return replace(self, categories=tuple(c[keep] for c, keep in zip(self.categories, parts, strict=True)))

    @property
    def sizes(self) -> Array:
        """The number of categories of each feature (d,)."""
        return np.array([len(c) for c in self.categories], dtype=np.intp)

    @property
    def starts(self) -> Array:
        """The first cell of each feature in the concatenated tables, and the end of the last (d + 1,)."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    def __or__(self, other: Features) -> Self:
        both = super().__or__(other)
        if not isinstance(other, CategoricalFeatures) or other.categories is self.categories:
            return both
        pairs = enumerate(zip(self.categories, other.categories, strict=True))
        united = tuple(unite(a, b, f"the values of {self.name(j)}") for j, (a, b) in pairs)
        if all(a is b for a, b in zip(united, self.categories, strict=True)):
            return both
        return replace(both, categories=united)

    def same(self, other: Features) -> bool:
        if self is other:
            return True
        if not isinstance(other, CategoricalFeatures) or self.width != other.width:
            return False
        return all(np.array_equal(a, b) for a, b in zip(self.categories, other.categories, strict=True))

    def named_after(self, seen: Features) -> Self:  # noqa: ARG002 - most cells are not named after values
        """The same cells without the names of values that other features lack."""
        return self

    def agrees(self, other: Features) -> bool:
        """True if sums over these features are also sums over the others, whichever values were forgotten."""
        return self.same(other)

    def joined(self, other: Features) -> Self:  # noqa: ARG002 - most know all their values
        """The same cells with all values of either features, which agree."""
        return self

    def reading(self, j: int) -> Reading:
        """The rule by which an entry of feature j gets its cell."""
        return Choices(self.categories[j], np.arange(len(self.categories[j])))

    def check_kinds(self, other: Features) -> None:
        """ValueError if the values of a column are of another kind than these, such as text instead of numbers."""
        for j, values in enumerate(other.categories if isinstance(other, CategoricalFeatures) else ()):
            check_family(values, self.categories[j], f"the values of {self.name(j)}")

    def places(self, j: int, values: Array) -> Array:
        """The cell of feature j for each of some distinct values; -1 for unknown ones."""
        return positions(values, self.categories[j], f"the values of {self.name(j)}")

    def cells(self, other: CategoricalFeatures) -> Array:
        """The index of each of these cells in the tables of features with more categories, or wider cells."""
        pairs = zip(other.starts, (other.places(j, values) for j, values in enumerate(self.categories)), strict=False)
        return np.concatenate([np.where(at < 0, -1, start + at) for start, at in pairs])

    def read(self, X: Encoded) -> Array:
        """Codes (n, d) of rows; -1 for an unknown category."""
        values = super().read(X)
        if X.features is self or not isinstance(X.features, CategoricalFeatures):
            return values
        places = [np.append(-1, self.places(j, own)) for j, own in enumerate(X.features.categories)]
        begins = np.cumsum([1, *map(len, places[:-1])])  # the first place of each feature is for missing entries
        return np.asarray(np.concatenate(places).astype(np.int32)[values + begins])

    def own_cells(self, X: Encoded) -> tuple[Array, Array, Array | None]:
        """Codes (n, d) in the rows' own category lists, the offsets of those lists (d + 1,), and a map from their
        cells to ours (-1: unknown; None: identical lists).

        A sum over many rows then looks up each category once, not each row.
        """
        own = X.features
        if own is self or type(own) is not CategoricalFeatures:
            return self.read(X), self.starts, None
        self.check(own)
        return X.values, own.starts, own.cells(self)

    def absent(self, X: Encoded) -> Array:
        return np.asarray(self.read(X) < 0)

    def blank(self, values: Array, which: Array) -> Array:
        return np.where(which, np.int32(-1), values)

    def identity(self, values: Array) -> Array:
        """A number for each category that does not depend on the other categories."""
        digests = [np.append([digest(v) for v in _plain(column)], 0).astype(np.int64) for column in self.categories]
        return np.column_stack([of[codes] for of, codes in zip(digests, values.T, strict=True)])

    @property
    def ordered(self) -> Array:
        return np.zeros(self.width, dtype=bool)

    def comparable(self, values: Array) -> Array:
        digests = (self.identity(values) >> 10).astype(np.float64)  # 53 bits are exact in a float
        return np.where(values < 0, np.nan, digests)


def _plain(values: Array) -> list[Any]:
    """Values in a form that is written equally for equal values of columns of different types."""
    if values.dtype.kind == "M":
        return [str(np.datetime_as_string(v, unit="auto")) for v in values]
    listed: list[Any] = (values.astype("m8[ns]") if values.dtype.kind == "m" else values).tolist()
    return [int(v) if isinstance(v, bool) or (isinstance(v, float) and v.is_integer()) else v for v in listed]


@dataclass(frozen=True, eq=False)
class Encoded:
    """Rows as a model takes them: values (n, d), numbers or codes, and their features.

    Values are an array, or a `scipy.sparse.csr_array` without duplicates where the encoder lets sparse input through.
    """

    features: Features
    values: Array

    def __len__(self) -> int:
        return int(self.values.shape[0])

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return (len(self), self.features.width)

    @cached_property
    def comparable(self) -> Array:
        """Numbers (n, d) to compare rows of different batches."""
        return np.ascontiguousarray(self.features.comparable(self.values))

    @cached_property
    def keys(self) -> Array:
        """64 random bits for every row (n,), equal for equal rows of different batches."""
        return row_keys(self.comparable)

    def __getstate__(self) -> dict[str, Any]:  # cached properties do not travel
        return {"features": self.features, "values": self.values}

    def by_rows(self) -> Encoded:
        """These rows with their values in row order, for loops over rows."""
        values = by_rows(self.values)
        return self if values is self.values else replace(self, values=values)

    def __getitem__(self, rows: Any) -> Encoded:
        if issparse(self.values):
            return Encoded(self.features, _sparse_rows(self.values, rows))
        return Encoded(self.features, self.values[rows])


def by_rows(values: Any) -> Any:
    """An array (n, d) in row order; anything else unchanged."""
    return np.ascontiguousarray(values) if isinstance(values, np.ndarray) and values.flags.f_contiguous else values


def _sparse_rows(values: csr_array, rows: Any) -> csr_array:
    """Rows of a sparse array. A slice without steps is one piece of it, which is much faster than single rows."""
    which = rows[0] if isinstance(rows, tuple) else rows
    if not isinstance(which, slice) or which.step not in (None, 1):
        return values[which]
    first, last, _ = which.indices(values.shape[0])
    at = values.indptr[first : max(first, last) + 1]
    stored = slice(at[0], at[-1])
    return csr_array((values.data[stored], values.indices[stored], at - at[0]), shape=(len(at) - 1, values.shape[1]))


@dataclass(frozen=True, eq=False)
class Domain:
    """The classes (k,) and the features that statistics are about; `a | b` unites both.

    >>> (Domain(np.array([0, 1]), Features(2)) | Domain(np.array([1, 2]), Features(2))).classes
    array([0, 1, 2])
    """

    classes: Array
    features: Features

    @property
    def width(self) -> int:
        """The number of features."""
        return self.features.width

    @property
    def names(self) -> Array | None:
        """The names of the features (d,), if they have any."""
        return self.features.names

    def name(self, feature: int) -> str:
        """A feature in messages."""
        return self.features.name(feature)

    def label(self, c: int) -> str:
        """A class in messages."""
        return f"class {show(self.classes[c])}"

    def __or__(self, other: Domain) -> Domain:
        if self is other:
            return self
        classes, features = unite(self.classes, other.classes, "class labels"), self.features | other.features
        if classes is self.classes and features is self.features:
            return self
        return replace(self, classes=classes, features=features)
