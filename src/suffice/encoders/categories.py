"""Columns of categories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import narwhals as nw
import numpy as np

from suffice._core.features import CategoricalFeatures, Encoded, Features
from suffice._core.labels import missing, moment, positions, show, show_all, value_kind
from suffice._core.vector import Array
from suffice._runtime.factorize import distinct, smallest
from suffice._runtime.messages import join_words
from suffice.data.memory import table
from suffice.data.queries import DatabaseRows
from suffice.encoders.base import Encoder, as_array, frame_of, names_of, object_array, refuse_sparse

SETTING = "categories"  # its name in messages
KEPT_KINDS = {"numbers", "strings", "dates", "time values", "tuple values"}  # others are categories by their text


@dataclass(frozen=True)
class Categories(Encoder):
    """Every distinct value of a column is a category: codes (n, d), its place among the sorted values, -1 if missing.

    Parameters
    ----------
    who : str, default="This model"
        The estimator's name in messages.
    declared : tuple of (column, categories), default=()
        All categories of some columns, by name or number, whether or not rows have them; see `declare`.
    width : int, default=None
        The number of columns, if categories were declared for every column.

    Examples
    --------
    >>> Categories()([["u", "1"], ["v", "1"], ["u", "0"]]).values.tolist()
    [[0, 1], [1, 1], [0, 0]]
    """

    who: str = "This model"
    declared: tuple[tuple[Any, tuple[Any, ...]], ...] = ()
    width: int | None = None

    @classmethod
    def declare(cls, categories: Any, who: str = "This model") -> Categories:
        """From a list of the categories of every column (None: those of the rows), or a dict of column: categories.

        >>> Categories.declare({0: ["u", "v", "w"]})([["v"], ["u"]]).features.categories[0].tolist()
        ['u', 'v', 'w']
        """
        if categories is None:
            return cls(who)
        if isinstance(categories, str) or not isinstance(categories, Iterable):
            raise ValueError(
                f"{SETTING} must be None, a list of the categories of every column, or a dict of column: categories, "
                f"got {categories!r}"
            )
        by_column = isinstance(categories, Mapping)
        pairs = list(categories.items() if isinstance(categories, Mapping) else enumerate(categories))
        declared = tuple((column, _declared(values, column)) for column, values in pairs if values is not None)
        return cls(who, declared, None if by_column else len(pairs))

    def encode(self, X: Any) -> Encoded:
        return self._with_declared(self._found(X)) if self.declared else self._found(X)

    def decode(self, X: Encoded) -> Array:
        """The categories, in an array of objects; None where an entry has none."""
        return np.column_stack(decoded(X))

    def sql_columns(self, rows: DatabaseRows) -> DatabaseRows:
        if self.declared:
            raise TypeError(f"{self.who}: declared categories are not available in a database: leave categories= out")
        return rows

    def _with_declared(self, found: Encoded) -> Encoded:
        """The same rows with cells for the declared categories."""
        features = cast(CategoricalFeatures, found.features)
        known: list[Array] = [np.empty(0)] * features.width
        if self.width is not None and self.width != features.width:
            lists = f"{SETTING} has {self.width} lists, but there are {features.width} columns"
            raise ValueError(f"{lists}: give one for each, or None for those of the rows")
        for column, values in self.declared:
            known[features.index(column, SETTING)] = _encode_objects(list(values), f"{SETTING}[{show(column)}]")[0]
        both = features | replace(features, categories=tuple(known))
        wider = replace(features, categories=both.categories, declared=tuple(known))
        return Encoded(wider, wider.read(found))

    def admit(self, features: Features) -> None:
        """ValueError if a column has a category that was not declared for it."""
        if not isinstance(features, CategoricalFeatures):
            return
        for j, known in enumerate(features.declared):
            found = features.categories[j]
            undeclared = found[positions(found, known) < 0]
            if len(known) and len(undeclared):
                raise ValueError(
                    f"{features.name(j)} has the values {show_all(undeclared)}, which are not among its categories: "
                    f"{SETTING} declares {show_all(known)}. Add them there, or correct the rows"
                )

    def _found(self, X: Any) -> Encoded:
        refuse_sparse(X, self.who)
        frame = frame_of(X)
        if frame is not None:
            return coded((entries_of(column) for column in frame.iter_columns()), names_of(frame))
        array = as_array(table(X), self.who)
        categories, codes = _coded(array, Features(array.shape[1]))
        return Encoded(CategoricalFeatures(len(categories), None, tuple(categories)), codes)


def decoded(X: Encoded) -> list[Array]:
    """The columns of rows (n,) as objects: the category of each code, None for -1."""
    categories = cast(CategoricalFeatures, X.features).categories
    known = [np.concatenate([values.astype(object), np.full(1, None)]) for values in categories]
    return [values[codes] for values, codes in zip(known, X.values.T, strict=True)]


def _declared(values: Any, column: Any) -> tuple[Any, ...]:
    """The categories declared for a column, checked."""
    known = () if isinstance(values, str) or not isinstance(values, Iterable) else tuple(values)
    if not known or any(missing(value) for value in known):
        raise ValueError(f"{SETTING}[{show(column)}] must be a list of values, none of them missing, got {values!r}")
    return known


def values_of(column: nw.Series[Any]) -> Array:
    """The values of a column (n,), None or NaT where an entry is missing."""
    if column.dtype.is_nested():
        raise TypeError(
            f"column {column.name!r} holds {column.dtype} values, but a category is one value: make each part a column "
            "of its own, or convert the column to strings"
        )
    null = column.is_null().to_numpy()
    if not null.any():
        return np.asarray(column.to_numpy())
    present = np.asarray(column.drop_nulls().to_numpy())
    # Dates have NaT; other types become objects, since whole numbers would not stay whole beside NaN.
    dates = present.dtype.kind in "Mm"
    values = np.full(len(null), "NaT" if dates else None, dtype=present.dtype if dates else object)
    values[~null] = present
    return values


class CodedColumn(NamedTuple):
    """A column as distinct values (m,), and the place of each entry among them (n,), -1 where it is missing."""

    values: Array
    places: Array

    def coded(self, called: str) -> tuple[list[Array], Array]:
        """The sorted values that some entry has, and codes (n, 1), as `_coded` returns them."""
        used = np.bincount(self.places + 1, minlength=len(self.values) + 1)[1:] > 0
        categories, place = _encode(self.values[used], called)
        codes = np.full(len(self.values) + 1, -1, dtype=smallest(len(categories)))  # the last is for missing entries
        codes[np.flatnonzero(used)] = place
        return [categories], codes[self.places][:, None]


def entries_of(column: nw.Series[Any]) -> Array | CodedColumn:
    """The values of a column (n,), with their codes if the column is a categorical of pandas."""
    pandas: Any = getattr(column.to_native(), "cat", None) if column.dtype in (nw.Categorical, nw.Enum) else None
    if not hasattr(pandas, "codes"):
        return values_of(column)
    return CodedColumn(np.asarray(pandas.categories), np.asarray(pandas.codes).astype(np.intp))


def coded(columns: Iterable[Array | CodedColumn], names: Array | None = None) -> Encoded:
    """Encode columns (n,); every distinct value of a column is a category.

    >>> coded([np.array(["u", "v", "u"]), np.array([1.5, np.nan, 0.5])]).values.tolist()
    [[0, 1], [1, -1], [0, 0]]
    """
    called = Features(0, names)
    parts = [
        column.coded(called.name(j))
        if isinstance(column, CodedColumn)
        else _coded(np.asarray(column)[:, None], called, j)
        for j, column in enumerate(columns)
    ]
    categories = tuple(own for values, _ in parts for own in values)
    codes = np.column_stack([codes for _, codes in parts]) if parts else np.empty((0, 0), dtype=np.int8)
    return Encoded(CategoricalFeatures(len(parts), names, categories), codes)


def _coded(X: Array, features: Features, first: int = 0) -> tuple[list[Array], Array]:
    """The categories of each column of an array X (n, d) of one type, and codes (n, d); columns count from `first`."""
    found = distinct(X)
    pairs: list[tuple[Array, Array | None]] = []  # categories, and the place of each value among them
    for j, values in enumerate(found.values):
        if values is None:
            pairs.append(_encode(X[:, j], features.name(first + j)))
        elif X.dtype.kind in "biuf" and np.isfinite(values).all() and (values[1:] > values[:-1]).all():
            pairs.append((values, None))  # sorted already
        else:
            pairs.append(_encode(values, features.name(first + j)))
    many = [j for j, values in enumerate(found.values) if values is None]
    codes = found.renumbered([None if j in many else place for j, (_, place) in enumerate(pairs)])
    size = smallest(max((len(values) for values, _ in pairs), default=0))
    codes = codes.astype(size, copy=False) if not many else codes.astype(np.result_type(size, codes))
    for j in many:
        codes[:, j] = pairs[j][1]
    return [values for values, _ in pairs], codes


def _encode(column: Array, called: str) -> tuple[Array, Array]:
    """The sorted distinct values of a column (n,), and the place of each entry among them, -1 if it is missing."""
    if column.dtype.kind in "OUTc":
        return _encode_objects(column.tolist(), called)
    if column.dtype.kind == "f" and np.isinf(column).any():
        raise ValueError(f"{called} contains infinity; replace it, or make it a category of its own")
    categories, codes = np.unique(column, return_inverse=True)
    if column.dtype.kind in "fMm" and len(categories):  # NaN and NaT sort to the end
        present = categories[~(np.isnan(categories) if column.dtype.kind == "f" else np.isnat(categories))]
        codes[codes >= len(present)] = -1
        categories = present
    return categories, codes


def _encode_objects(values: list[Any], called: str) -> tuple[Array, Array]:
    try:
        index = {value: code for code, value in enumerate(dict.fromkeys(values))}
        codes = np.fromiter(map(index.__getitem__, values), dtype=np.intp, count=len(values))
    except TypeError as error:
        # scikit-learn's checks look for the words of Python's own conversions.
        raise TypeError(f"{called}: a category argument must be a string or a number; got {error}") from error
    present = {value: code for value, code in index.items() if not missing(value)}
    kinds = {value_kind(value) for value in present}
    if len(kinds) > 1:
        raise ValueError(
            f"{called} mixes {join_words(sorted(kinds), last=' and ')}; convert it to one type, for example strings"
        )
    if kinds - KEPT_KINDS:
        return _encode_objects([value if missing(value) else str(value) for value in values], called)
    if kinds == {"dates"}:
        return _encode(np.array([np.datetime64("NaT") if missing(v) else moment(v) for v in values]), called)
    if any(isinstance(value, float | np.floating) and np.isinf(value) for value in present):
        raise ValueError(f"{called} contains infinity; replace it, or make it a category of its own")
    try:
        ordered = sorted(present)
    except TypeError as error:
        raise ValueError(
            f"{called} holds {kinds.pop()} that cannot be put in order ({error}); convert it to strings"
        ) from error
    place = np.full(len(index), -1)
    place[[present[value] for value in ordered]] = np.arange(len(ordered))
    return np.array(ordered) if kinds == {"numbers"} else object_array(ordered), place[codes]
