"""Where statistics live: labels, categories, feature names and the origin of sums, and how two such domains unite."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from suffice._vector import Array


def _family(values: Array) -> str:
    """What an array of labels holds, in words: labels of one family can be compared, others cannot."""
    if values.dtype.kind == "O":
        return _kind(values[0])
    return {"U": "strings", "T": "strings"}.get(
        values.dtype.kind, "numbers" if values.dtype.kind in "biuf" else "dates"
    )


def unite(a: Array, b: Array, what: str = "labels") -> Array:
    """The sorted union of two sorted arrays of labels.

    >>> unite(np.array(["a", "c"]), np.array(["b"])).tolist()
    ['a', 'b', 'c']
    """
    if not len(b) or (len(a) == len(b) and np.array_equal(a, b)):
        return a
    if not len(a):
        return b
    if _family(a) != _family(b):
        raise ValueError(f"{what} are {_family(a)} here and {_family(b)} there; use one kind throughout")
    return np.union1d(a, b)


def positions(part: Array, whole: Array, what: str = "labels") -> Array:
    """Where each entry of `part` stands in the sorted array `whole`; -1 where it does not.

    >>> positions(np.array([3, 5]), np.array([1, 3, 4])).tolist()
    [1, -1]
    """
    if not len(part) or not len(whole):
        return np.full(len(part), -1)
    if _family(part) != _family(whole):
        raise ValueError(f"{what} are {_family(part)} here and {_family(whole)} in what was learned")
    at = np.searchsorted(whole, part)
    at[at == len(whole)] = 0
    return np.where(whole[at] == part, at, -1)


@dataclass(frozen=True, eq=False)
class Domain:
    """The classes (k,), feature names (d,), and either the origin (d,) of sums or the categories of each feature.

    `a | b` unites classes and categories, so that a new one is a row of zeros, and keeps the origin of `a`.

    >>> a = Domain(np.array([0, 1]), origin=np.zeros(2))
    >>> (a | Domain(np.array([1, 2]), origin=np.ones(2))).classes
    array([0, 1, 2])
    """

    classes: Array
    names: tuple[str, ...] | None = None
    origin: Array | None = None
    categories: tuple[Array, ...] | None = None

    def name(self, feature: int) -> str:
        """How messages call a feature: by its name, or by its number."""
        return f"column {feature}" if self.names is None else f"column {self.names[feature]!r}"

    @property
    def width(self) -> int:
        """The number of features."""
        return len(self.origin if self.origin is not None else self.categories or ())

    def __or__(self, other: Domain) -> Domain:
        if self is other:
            return self
        if self.width != other.width:
            raise ValueError(f"the features differ: {self.width} here, {other.width} there")
        if self.names is not None and other.names is not None and self.names != other.names:
            raise ValueError(f"the feature names differ: {_difference(self.names, other.names)}")
        categories = None
        if self.categories is not None and other.categories is not None:
            pairs = enumerate(zip(self.categories, other.categories, strict=True))
            categories = tuple(unite(a, b, f"the values of {self.name(j)}") for j, (a, b) in pairs)
        return Domain(
            unite(self.classes, other.classes, "class labels"), self.names or other.names, self.origin, categories
        )


def _difference(a: tuple[str, ...], b: tuple[str, ...]) -> str:
    here, there = [n for n in a if n not in b], [n for n in b if n not in a]
    return f"only here {here}, only there {there}" if here or there else "the same names in another order"


@dataclass(frozen=True, eq=False)
class OneHot:
    """A matrix (n, k) with `weight[i]` in column `codes[i]` of row i and zeros elsewhere: labels as class weights.

    >>> OneHot.of(np.array(["b", "a", "b"])).matrix().toarray()
    array([[0., 1.],
           [1., 0.],
           [0., 1.]])
    """

    classes: Array  # (k,) sorted
    codes: Array  # (n,) in -1..k-1; -1 is a row without a class
    weight: Array  # (n,)

    @classmethod
    def of(cls, y: Any, weight: Any = None) -> OneHot:
        """Labels `y` (n,) and their weights; rows of weight zero make no class."""
        y = np.asarray(y)
        weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
        classes, codes = np.unique(y[weight != 0], return_inverse=True)
        full = np.full(len(y), -1)
        full[weight != 0] = codes
        return cls(classes, full, weight)

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Any) -> OneHot:
        return OneHot(self.classes, self.codes[rows], self.weight[rows])

    def onto(self, classes: Array) -> OneHot:
        """The same labels as columns of another list of classes; a label that is not in it becomes a row of zeros."""
        if classes is self.classes:
            return self
        at = np.append(positions(self.classes, classes, "class labels"), -1)
        return OneHot(classes, at[self.codes], self.weight)

    def matrix(self) -> sparse.csr_array:
        """The sparse matrix (n, k)."""
        known = self.codes >= 0
        starts = np.concatenate([[0], np.cumsum(known)])
        shape = (len(self), len(self.classes))
        return sparse.csr_array((self.weight[known], self.codes[known], starts), shape=shape)


@dataclass(frozen=True, eq=False)
class Coded:
    """A table of categories: the sorted distinct values of each column, and each entry's place among them.

    An entry that is missing, or is none of the categories, has code -1 and takes no part in sums and densities.
    """

    categories: tuple[Array, ...]
    codes: Array  # (n, d)

    @classmethod
    def of(cls, columns: Iterable[Array], names: tuple[str, ...] | None = None) -> Coded:
        """Encode columns; every distinct value of a column is a category.

        >>> Coded.of([np.array(["u", "v", "u"]), np.array([1.5, np.nan, 0.5])]).codes.tolist()
        [[0, 1], [1, -1], [0, 0]]
        """
        called = Domain(np.empty(0), names).name
        coded = [_encode(np.asarray(column), called(j)) for j, column in enumerate(columns)]
        return cls(tuple(c for c, _ in coded), np.column_stack([codes for _, codes in coded]).astype(np.int32))

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return (len(self.codes), len(self.categories))

    def __getitem__(self, rows: Any) -> Coded:
        return Coded(self.categories, self.codes[rows])

    def onto(self, domain: Domain) -> Coded:
        """The same entries as codes in another domain's categories; those that it lacks become -1."""
        if domain.categories is self.categories or domain.categories is None:
            return self
        places = [
            np.append(-1, positions(own, wanted, f"the values of {domain.name(j)}"))
            for j, (own, wanted) in enumerate(zip(self.categories, domain.categories, strict=True))
        ]
        begins = np.cumsum([1, *map(len, places[:-1])])  # each feature's places follow that of its entries without one
        return Coded(domain.categories, np.concatenate(places).astype(np.int32)[self.codes + begins])


def _encode(column: Array, called: str) -> tuple[Array, Array]:
    """The sorted distinct values of a column (n,), and the place of each entry among them; -1 where it is missing."""
    if column.dtype.kind in "OUT":
        return _encode_objects(column.tolist(), called)
    counted = _count_whole(column) if column.dtype.kind in "iuf" and len(column) else None
    if counted is not None:
        return counted
    if column.dtype.kind == "f" and np.isinf(column).any():
        raise ValueError(f"{called} contains infinity; replace it, or make it a category of its own")
    categories, codes = np.unique(column, return_inverse=True)
    if column.dtype.kind in "fMm" and len(categories):  # NaN and NaT sort to the end
        present = categories[~(np.isnan(categories) if column.dtype.kind == "f" else np.isnat(categories))]
        codes[codes >= len(present)] = -1
        categories = present
    return categories, codes


def _count_whole(column: Array) -> tuple[Array, Array] | None:
    """`_encode` for whole numbers in a small range, by counting instead of sorting; None for others."""
    low, high = column.min().item(), column.max().item()
    if not (-(2**53) < low <= high < 2**53 and high - low < min(65_536, 16 * len(column))):  # NaN is not
        return None
    whole = column.astype(np.int64)
    if not (whole == column).all():
        return None
    present = np.bincount(whole - int(low)) > 0
    categories = (np.flatnonzero(present) + int(low)).astype(column.dtype)
    return categories, (np.cumsum(present) - 1)[whole - int(low)]


def _encode_objects(values: list[Any], called: str) -> tuple[Array, Array]:
    index: dict[Any, int] = {}
    try:
        codes = np.fromiter((index.setdefault(v, len(index)) for v in values), dtype=np.intp, count=len(values))
    except TypeError as error:  # the words are those of Python's own conversions, which scikit-learn looks for
        raise TypeError(f"{called}: a category argument must be a string or a number; got {error}") from error
    present = {value: code for value, code in index.items() if not _missing(value)}
    kinds = {_kind(value) for value in present}
    if len(kinds) > 1:
        raise ValueError(f"{called} mixes {' and '.join(sorted(kinds))}; convert it to one type, for example strings")
    if any(isinstance(value, float | np.floating) and np.isinf(value) for value in present):
        raise ValueError(f"{called} contains infinity; replace it, or make it a category of its own")
    ordered = sorted(present)
    place = np.full(len(index), -1)
    place[[present[value] for value in ordered]] = np.arange(len(ordered))
    categories = np.array(ordered) if kinds == {"numbers"} else np.array(ordered, dtype=object)
    return categories, place[codes]


def _kind(value: Any) -> str:
    if isinstance(value, int | float | np.number | np.bool_):
        return "numbers"
    return "strings" if isinstance(value, str) else f"{type(value).__name__} values"


def _missing(value: Any) -> bool:
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return value is None or type(value).__name__ in ("NAType", "NaTType")  # those of pandas
