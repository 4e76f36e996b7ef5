"""Columns of categories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import narwhals as nw
import numpy as np
from sklearn.utils.validation import check_array

from suffice._core.features import CategoricalFeatures, Encoded, Features
from suffice._core.labels import kind, missing, moment, positions, show, show_all
from suffice._core.vector import Array
from suffice._runtime.factorize import distinct, smallest
from suffice._runtime.messages import join_words
from suffice.data.memory import table
from suffice.data.queries import DatabaseRows
from suffice.encoders.base import Encoder, frame_of, names_of, refuse_sparse

CALLED = "categories"  # the setting, in messages


@dataclass(frozen=True)
class Categories(Encoder):
    """Every distinct value of a column is a category: codes (n, d) of its place among them, -1 where it is missing.

    Parameters
    ----------
    who : str, default="This model"
        Whom messages speak of.
    declared : tuple of (column, categories), default=()
        Categories that columns, by name or number, have also without rows; such a column learns no others. See
        `declare`.
    width : int, default=None
        How many columns there must be for that.

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
        """From a list of the categories of every column (None: whatever rows have), or a dict of column: categories.

        >>> Categories.declare({0: ["u", "v", "w"]})([["v"], ["u"]]).features.categories[0].tolist()
        ['u', 'v', 'w']
        """
        if categories is None:
            return cls(who)
        if isinstance(categories, str) or not isinstance(categories, Iterable):
            raise ValueError(
                f"{CALLED} must be None, a list of the categories of every column, or a dict of column: categories, "
                f"got {categories!r}"
            )
        by_column = isinstance(categories, Mapping)
        pairs = list(categories.items() if isinstance(categories, Mapping) else enumerate(categories))
        declared = tuple((column, _listed(values, column)) for column, values in pairs if values is not None)
        return cls(who, declared, None if by_column else len(pairs))

    def encode(self, X: Any) -> Encoded:
        return self._with_declared(self._found(X)) if self.declared else self._found(X)

    def decode(self, X: Encoded) -> Array:
        """The categories, in an array of objects; None where an entry has none."""
        return np.column_stack(decoded(X))

    def sql_columns(self, rows: DatabaseRows) -> DatabaseRows:
        if self.declared:
            raise TypeError(f"{self.who}: declared categories cannot be asked of a database: leave categories= out")
        return rows

    def _with_declared(self, found: Encoded) -> Encoded:
        """The same rows with cells for what was declared."""
        features = cast(CategoricalFeatures, found.features)
        known: list[Array] = [np.empty(0)] * features.width
        if self.width is not None and self.width != features.width:
            lists = f"{CALLED} has {self.width} lists, but there are {features.width} columns"
            raise ValueError(f"{lists}: give one for each, or None for those of the rows")
        for column, values in self.declared:
            known[features.index(column, CALLED)] = _encode_objects(list(values), f"{CALLED}[{show(column)}]")[0]
        both = features | replace(features, categories=tuple(known))
        wider = replace(features, categories=both.categories, declared=tuple(known))
        return Encoded(wider, wider.read(found))

    def admit(self, features: Features) -> None:
        """ValueError if a column has a category besides those declared for it."""
        if not isinstance(features, CategoricalFeatures):
            return
        for j, known in enumerate(features.declared):
            found = features.categories[j]
            strange = found[positions(found, known) < 0]
            if len(known) and len(strange):
                raise ValueError(
                    f"{features.name(j)} has the values {show_all(strange)}, which are not among its categories: "
                    f"{CALLED} declares {show_all(known)}. Add them there, or correct the rows"
                )

    def _found(self, X: Any) -> Encoded:
        refuse_sparse(X, self.who)
        frame = frame_of(X)
        if frame is not None:
            return coded((entries_of(column) for column in frame.iter_columns()), names_of(frame))
        array = check_array(
            table(X),
            dtype=None,
            ensure_all_finite=False,
            ensure_min_samples=0,
            estimator=self.who,
            input_name="X",
        )
        categories, codes = _coded(array, Features(array.shape[1]))
        return Encoded(CategoricalFeatures(len(categories), None, tuple(categories)), codes)


def decoded(X: Encoded) -> list[Array]:
    """The columns (n,) of codes, as objects: None for -1."""
    categories = cast(CategoricalFeatures, X.features).categories
    known = [np.concatenate([values.astype(object), np.full(1, None)]) for values in categories]
    return [values[codes] for values, codes in zip(known, X.values.T, strict=True)]


def _listed(values: Any, column: Any) -> tuple[Any, ...]:
    """The categories that a column was declared to have."""
    wrong = isinstance(values, str) or not isinstance(values, Iterable)
    known = () if wrong else tuple(values)
    if not known or any(missing(value) for value in known):
        raise ValueError(f"{CALLED}[{show(column)}] must be a list of values, none of them missing, got {values!r}")
    return known


def values_of(column: nw.Series[Any]) -> Array:
    """The values of a column (n,), None or NaT where they are missing."""
    if column.dtype.is_nested():
        raise TypeError(
            f"column {column.name!r} holds {column.dtype} values, but a category is one value: make each part a column "
            "of its own, or convert the column to strings"
        )
    null = column.is_null().to_numpy()
    if not null.any():
        return np.asarray(column.to_numpy())
    present = np.asarray(column.drop_nulls().to_numpy())
    dates = present.dtype.kind in "Mm"  # these can be missing; whole numbers would not stay whole beside NaN
    values = np.full(len(null), "NaT" if dates else None, dtype=present.dtype if dates else object)
    values[~null] = present
    return values


class NumberedColumn(NamedTuple):
    """A column as different values (m,), and the place of each entry among them (n,), -1 where it is missing."""

    values: Array
    places: Array

    def coded(self, called: str) -> tuple[list[Array], Array]:
        """As `_coded` does it: the sorted list of those values that some entry has, and codes (n, 1)."""
        used = np.bincount(self.places + 1, minlength=len(self.values) + 1)[1:] > 0
        categories, place = _encode(self.values[used], called)
        codes = np.full(len(self.values) + 1, -1, dtype=smallest(len(categories)))  # the last for those missing
        codes[np.flatnonzero(used)] = place
        return [categories], codes[self.places][:, None]


def entries_of(column: nw.Series[Any]) -> Array | NumberedColumn:
    """The values of a column (n,), numbered if it holds them so: what pandas calls categories."""
    held: Any = getattr(column.to_native(), "cat", None) if column.dtype in (nw.Categorical, nw.Enum) else None
    if not hasattr(held, "codes"):
        return values_of(column)
    return NumberedColumn(np.asarray(held.categories), np.asarray(held.codes).astype(np.intp))


def coded(columns: Iterable[Array | NumberedColumn], names: Array | None = None) -> Encoded:
    """Encode columns (n,); every distinct value of a column is a category.

    >>> coded([np.array(["u", "v", "u"]), np.array([1.5, np.nan, 0.5])]).values.tolist()
    [[0, 1], [1, -1], [0, 0]]
    """
    called = Features(0, names)
    parts = [
        column.coded(called.name(j))
        if isinstance(column, NumberedColumn)
        else _coded(np.asarray(column)[:, None], called, j)
        for j, column in enumerate(columns)
    ]
    categories = tuple(own for values, _ in parts for own in values)
    codes = np.column_stack([codes for _, codes in parts]) if parts else np.empty((0, 0), dtype=np.int8)
    return Encoded(CategoricalFeatures(len(parts), names, categories), codes)


def _coded(X: Array, features: Features, first: int = 0) -> tuple[list[Array], Array]:
    """The categories of each column of an array X (n, d) of one type, and codes (n, d); columns count from `first`."""
    found = distinct(X)
    pairs: list[tuple[Array, Array | None]] = []
    whole = X.dtype.kind in "biuf"
    for j, values in enumerate(found.values):
        called = features.name(first + j)
        pairs.append(_encode(X[:, j], called) if values is None else _ordered(values, called, whole))
    many = [j for j, values in enumerate(found.values) if values is None]
    codes = found.renumbered([None if j in many else place for j, (_, place) in enumerate(pairs)])
    size = smallest(max((len(values) for values, _ in pairs), default=0))
    codes = codes.astype(size, copy=False) if not many else codes.astype(np.result_type(size, codes))
    for j in many:
        codes[:, j] = pairs[j][1]
    return [values for values, _ in pairs], codes


def _ordered(values: Array, called: str, numbers: bool) -> tuple[Array, Array | None]:
    """The sorted categories of distinct values (m,), and the place of each among them; None if they are sorted."""
    if numbers and np.isfinite(values).all() and (values[1:] > values[:-1]).all():
        return values, None
    return _encode(values, called)


def _encode(column: Array, called: str) -> tuple[Array, Array]:
    """The sorted distinct values of a column (n,), and the place of each entry among them; -1 where it is missing."""
    if column.dtype.kind in "OUT":
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
    except TypeError as error:  # the words are those of Python's own conversions, which scikit-learn looks for
        raise TypeError(f"{called}: a category argument must be a string or a number; got {error}") from error
    present = {value: code for value, code in index.items() if not missing(value)}
    kinds = {kind(value) for value in present}
    if len(kinds) > 1:
        raise ValueError(
            f"{called} mixes {join_words(sorted(kinds), last=' and ')}; convert it to one type, for example strings"
        )
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
    if kinds == {"numbers"}:
        return np.array(ordered), place[codes]
    categories = np.empty(len(ordered), dtype=object)  # NumPy would take tuples apart
    categories[:] = ordered
    return categories, place[codes]
