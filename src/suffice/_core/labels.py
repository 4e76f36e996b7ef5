"""Labels: sorted arrays and their unions, labels in messages, as keys of settings, and as class weights."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d

from suffice._core.vector import Array
from suffice._runtime.factorize import looked_up, sorted_codes, span, values_of
from suffice._runtime.lazy import cached_property, compiled, in_any_order
from suffice._runtime.messages import Notice, is_number, join_words

MICROSECONDS_PER_DAY = 86_400_000_000
DATE_UNITS = ("D", "m", "s", "us")  # the precisions of written dates, from the coarsest
MAX_ROWS_SORTED = 1000  # fewer labels are sorted as fast as they are hashed
MAX_CLASSES_UNROLLED = 4  # with more classes one loop over the rows is faster than one for each class


def value_kind(value: Any) -> str:
    """The kind of a value, in words: values of one kind can be compared with each other."""
    if isinstance(value, int | float | np.number | np.bool_):
        return "numbers"
    if isinstance(value, str):
        return "strings"
    return f"{type(value).__name__} values" if moment(value) is None else "dates"


def missing(value: Any) -> bool:
    """True if a value is a missing-value marker (None, NaN, NaT, NA)."""
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return value is None or type(value).__name__ in ("NAType", "NaTType")  # pandas' own


def _family(values: Array) -> str:
    if values.dtype.kind == "O":
        return value_kind(values[0])
    return {"U": "strings", "T": "strings", "M": "dates", "m": "durations"}.get(values.dtype.kind, "numbers")


def unite(a: Array, b: Array, what: str = "labels") -> Array:
    """The sorted union of two sorted arrays of labels.

    >>> unite(np.array(["a", "c"]), np.array(["b"])).tolist()
    ['a', 'b', 'c']
    """
    if a is b or not len(b) or (len(a) == len(b) and np.array_equal(a, b)):
        return a
    if not len(a):
        return b
    if _family(a) != _family(b):
        raise ValueError(f"{what} are {_family(a)} here and {_family(b)} there: use one kind throughout")
    return np.union1d(a, b)


def check_family(part: Array, whole: Array, what: str) -> None:
    """ValueError if labels are of another kind than the learned ones."""
    if len(part) and len(whole) and _family(part) != _family(whole):
        raise ValueError(f"{what} are {_family(part)} here and {_family(whole)} in what was learned")


def positions(part: Array, whole: Array, what: str = "labels") -> Array:
    """The index of each entry of `part` in the sorted array `whole`; -1 if it is not there.

    >>> positions(np.array([3, 5]), np.array([1, 3, 4])).tolist()
    [1, -1]
    """
    if part is whole:
        return np.arange(len(part))
    if not len(part) or not len(whole):
        return np.full(len(part), -1)
    check_family(part, whole, what)
    at = np.searchsorted(whole, part)
    at[at == len(whole)] = 0
    return np.where(whole[at] == part, at, -1)


def show(label: Any) -> str:
    """A label as messages show it: a date as people write it, anything else as Python does.

    >>> show(np.datetime64("2024-01-01", "ns")), show(np.str_("ill")), show(np.int64(3))
    ('2024-01-01', "'ill'", '3')
    """
    day = moment(label)
    if day is not None:
        return str(np.datetime_as_string(day, unit="auto"))
    if isinstance(label, np.timedelta64 | datetime.date):
        return str(label)
    return repr(label.item() if isinstance(label, np.generic) else label)


def show_all(labels: Iterable[Any]) -> str:
    """Several labels as messages show them."""
    return f"[{join_words(map(show, labels))}]"


def require_two_classes(who: str, classes: Array) -> None:
    """ValueError if there is only one class."""
    if len(classes) == 1:
        found = f"needs rows of at least two classes, got one class: {show_all(classes)}"
        raise ValueError(f"{who} {found}. partial_fit takes classes one at a time")


def moment(label: Any) -> np.datetime64 | None:
    """A date without a time zone, of any type, as NumPy's; None for anything else."""
    if isinstance(label, datetime.date) and getattr(label, "tzinfo", None) is None:
        label = label.to_datetime64() if hasattr(label, "to_datetime64") else np.datetime64(label)  # keeps nanoseconds
    return label if isinstance(label, np.datetime64) else None


def date(days: float, unit: str = "D") -> str:
    """The date that is a number of days after 1970-01-01."""
    day: Any = np.datetime64(0, "us") + np.timedelta64(round(days * MICROSECONDS_PER_DAY), "us")
    return str(np.datetime_as_string(day, unit=cast(Any, unit)))


def dates(days: Sequence[float]) -> list[str]:
    """Several dates, by days after 1970-01-01, with the time of day if dates alone are not distinct.

    >>> dates([19786.0, 19787.0]), dates([19786.25, 19786.5])
    (['2024-03-04', '2024-03-05'], ['2024-03-04T06:00', '2024-03-04T12:00'])
    """
    each = [[date(day, unit) for day in days] for unit in DATE_UNITS]
    return next((written for written in each if len(set(written)) == len(days)), each[-1])


def key(label: Any) -> Any:
    """A key to look up a label by, which is the same for equal labels of different types and units."""
    day = moment(label)
    if isinstance(label, np.timedelta64 | datetime.timedelta):
        exact: Any = label.to_timedelta64() if hasattr(label, "to_timedelta64") else label  # keeps nanoseconds
        return "duration", int(np.timedelta64(exact, "ns").astype(np.int64))
    return label if day is None else ("date", str(np.datetime_as_string(day, unit="auto")))


def as_keys(classes: Array) -> list[Any]:
    """Class labels as keys of a setting: Python's types, except for dates and durations, which stay.

    >>> as_keys(np.array([0, 1])), as_keys(np.array(["2024-01-01"], dtype="datetime64[ns]"))
    ([0, 1], [np.datetime64('2024-01-01T00:00:00.000000000')])
    """
    return list(classes) if classes.dtype.kind in "mM" else classes.tolist()


def by_label(given: Mapping[Any, Any], classes: Array) -> tuple[list[Any], list[Any]]:
    """The value of a setting for each class, None if it has none, and its keys that are not classes.

    >>> by_label({"a": 2, "c": 5}, np.array(["a", "b"]))
    ([2, None], ['c'])
    """
    values = {key(label): value for label, value in given.items()}
    keys = [key(label) for label in classes]
    own = set(keys)
    return [values.get(one) for one in keys], [label for label in given if key(label) not in own]


def check_keys(called: str, given: Any, classes: Array) -> None:
    """ValueError if a setting by label has a key that is not a class."""
    strange = by_label(given, classes)[1] if isinstance(given, Mapping) else []
    if strange:
        raise ValueError(
            f"{called} has {show_all(strange)}, which no row is labelled: the classes are {show_all(classes)}. "
            "Correct or remove these keys; partial_fit also takes keys of classes that come later"
        )


def class_weights(given: Any, classes: Array, mass: Array) -> Array:
    """The weight of each class (k,) by the setting `class_weight`, given the total weight of its rows (k,)."""
    if given is None:
        return np.ones(len(classes))
    if isinstance(given, str) and given == "balanced":
        present = mass > 0
        return np.where(present, mass.sum() / (present.sum() * np.where(present, mass, 1.0)), 1.0)
    if not isinstance(given, Mapping):
        raise ValueError(f"class_weight must be None, 'balanced' or a dict of label: weight, got {given!r}")
    bad = [f"{show(label)}: {weight!r}" for label, weight in given.items() if not is_number(weight) or weight <= 0]
    if bad:
        raise ValueError(f"class_weight must be positive numbers, got {{{', '.join(bad)}}}")
    return np.array([1.0 if weight is None else float(weight) for weight in by_label(given, classes)[0]])


def known_labels(y: Any) -> tuple[Array, Array | None]:
    """The labels of the rows that have one, still to be checked, and which rows (n,) these are; None: all.

    >>> known_labels([1, None, 2])
    (array([1, 2]), array([ True, False,  True]))
    """
    y = _flat(y)
    known = _known(y)
    if known is None:
        return y, None
    if not known.any():
        raise ValueError("Input y contains NaN or None only: no row has a label")
    part = y[known]
    return np.array(part.tolist()) if y.dtype.kind == "O" else part, known


def _known(y: Array) -> Array | None:
    """Which labels (n,) are not missing; None: all."""
    if y.dtype.kind in "fmM":
        gone = np.isnan(y) if y.dtype.kind == "f" else np.isnat(y)
    elif y.dtype.kind == "O" and (len(y) < MAX_ROWS_SORTED or values_of(y) is None):
        gone = np.array([missing(value) for value in y.tolist()], dtype=bool)
    else:
        return None
    return ~gone if gone.any() else None


def unlabelled(count: int, where: str = "") -> list[Notice]:
    """The warning that rows without a label are left out, if there are any.

    >>> unlabelled(1)[0].message, unlabelled(0)
    ('1 row has no label, and is left out', [])
    """
    have, are = ("row has", "is") if count == 1 else ("rows have", "are")
    return [Notice(f"{count:,} {have} no label{where}, and {are} left out")] * (count > 0)


def is_index(name: str) -> bool:
    """True for the names that pandas gives to an index without a name, where it writes it as a column.

    >>> is_index(""), is_index("Unnamed: 0"), is_index("__index_level_0__"), is_index("index")
    (True, True, True, False)
    """
    return name in ("", "Unnamed: 0") or name.startswith("__index_level_")


def guessed_index(
    index: Sequence[str], done: str = "is left out; name it in columns= to learn from it"
) -> list[Notice]:
    """The warning of a column that looks like an index, if there is one.

    >>> guessed_index(["", "b"])[0].message
    "the column '' looks like the index of a data frame, and is left out; name it in columns= to learn from it"
    """
    message = f"the column {index[0]!r} looks like the index of a data frame, and {done}" if index else ""
    return [Notice(message)] if index else []


def _flat(y: Any) -> Array:
    """Labels as a flat array (n,) of a type that scikit-learn takes."""
    if isinstance(y, list | tuple) and any(missing(value) for value in y):  # NumPy would write NaN as text
        y = np.array(y, dtype=object)
    if isinstance(y, np.ndarray) and y.dtype.kind == "T":  # strings of variable length
        y = y.astype(object)
    if not isinstance(y, np.ndarray) or y.ndim != 1 or y.dtype.kind not in "biuU":
        y = column_or_1d(y, warn=True)
    return np.asarray(y if y.dtype.isnative else y.astype(y.dtype.newbyteorder("=")))


def check_labels(y: Any) -> Array:
    """Labels as a flat array (n,), none of them missing, after all checks of labels."""
    y = _flat(y)
    short = len(y) < MAX_ROWS_SORTED and y.dtype.kind in "biuU"
    if not short and y.dtype.kind in "biu" and 2 * span(y)[1] <= len(y):
        return np.asarray(y)
    values = np.unique(y) if short else values_of(y)
    alike = values is not None and 2 * len(values) <= len(y)
    few = np.repeat(values, 2) if alike and values is not None else y  # enough for all checks below
    holes = [i for i, value in enumerate(few.tolist()) if missing(value)] if y.dtype.kind == "O" else []
    if holes:
        holes = [i for i, value in enumerate(y.tolist()) if missing(value)]
        raise ValueError(f"Input y contains NaN or None: {len(holes)} rows have no label, the first is row {holes[0]}")
    if len(y) and (few is y or y.dtype.kind not in "biu"):
        assert_all_finite(few, input_name="y")
        check_classification_targets(few)
    return np.asarray(y)


def _codes(y: Array) -> tuple[Array, Array]:
    """The sorted distinct labels (k,) of y (n,), and the index of each entry among them, in the smallest type."""
    if len(y) >= MAX_ROWS_SORTED:
        return sorted_codes(y)
    values, codes = np.unique(y, return_inverse=True)
    return values, codes.astype(np.min_scalar_type(-max(1, len(values))))


@dataclass(frozen=True, eq=False)
class OneHot:
    """A matrix (n, k) with `weight[i]` in column `codes[i]` of row i and zeros elsewhere: labels as class weights.

    `stored` and `given` are compact (smallest integers; None for weights of 1); compute with `codes` and `weight`.

    >>> OneHot.of(np.array(["b", "a", "b"])).matrix().toarray()
    array([[0., 1.],
           [1., 0.],
           [0., 1.]])
    """

    classes: Array  # (k,) sorted
    stored: Array  # (n,) codes, integers of any type
    given: Array | None = None  # (n,) weights; None for 1
    unlabelled: int = 0  # rows without a label, which have weight 0 or were left out

    @classmethod
    def of(cls, y: Any, weight: Any = None) -> OneHot:
        """Check labels `y` (n,) and their weights; rows of weight 0 add no class, those without a label get it."""
        y, known = known_labels(y)
        y = check_labels(y)
        if known is None:
            return cls.of_checked(y, weight)
        part = cls.of_checked(y, None if weight is None else np.asarray(weight, dtype=float)[known])
        codes, given = np.full(len(known), -1, part.stored.dtype), np.zeros(len(known))
        codes[known], given[known] = part.stored, part.weight
        return cls(part.classes, codes, given, int((~known).sum()))

    @classmethod
    def of_checked(cls, y: Array, weight: Any = None) -> OneHot:
        """`of` for labels that were checked before."""
        weight = None if weight is None else np.asarray(weight, dtype=float)
        if weight is not None and weight.shape != y.shape:
            raise ValueError(f"there are {len(y)} labels, but weights of shape {weight.shape}: give one for each")
        if weight is None or weight.all():
            return cls(*_codes(y), weight)
        classes, codes = _codes(y[weight != 0])
        full = np.full(len(y), -1, codes.dtype)
        full[weight != 0] = codes
        return cls(classes, full, weight)

    @cached_property
    def codes(self) -> Array:
        """The number of the class of each row (n,); -1 for a row without a class."""
        return self.stored.astype(np.intp, copy=False)

    @cached_property
    def weight(self) -> Array:
        """The weight of each row (n,)."""
        return np.ones(len(self.stored)) if self.given is None else self.given

    @property
    def whole(self) -> bool:
        """True if no row has weight 0."""
        return self.given is None or bool(self.given.all())

    def __len__(self) -> int:
        return len(self.stored)

    def __getitem__(self, rows: Any) -> OneHot:
        return OneHot(self.classes, self.stored[rows], None if self.given is None else self.given[rows])

    def onto(self, classes: Array) -> OneHot:
        """These labels with respect to another list of classes; a label that it lacks becomes a row of zeros."""
        if classes is self.classes:
            return self
        if np.array_equal(classes, self.classes):
            return OneHot(classes, self.stored, self.given)
        at = np.append(positions(self.classes, classes, "class labels"), -1)
        return OneHot(classes, looked_up(at, self.stored), self.given)

    def unweighted(self) -> OneHot:
        """These labels with weight 1 for every row, except for rows of weight 0: for counting rows."""
        return self if self.given is None else replace(self, given=(self.given != 0).astype(float))

    def spaced_rows(self, most: int) -> Array:
        """The numbers of about `most` rows of every class (m,), evenly spaced."""
        return some_of_each(self.stored, len(self.classes), most)[0]

    def mass(self) -> Array:
        """The weight of each class (k,)."""
        return np.asarray(_mass(self.codes, self.weight, len(self.classes)))

    def matrix(self) -> sparse.csr_array:
        """The sparse matrix (n, k)."""
        known = self.codes >= 0
        starts = np.concatenate([[0], np.cumsum(known)])
        shape = (len(self), len(self.classes))
        return sparse.csr_array((self.weight[known], self.codes[known], starts), shape=shape)


def dense(W: OneHot | Array) -> Array:
    """Class weights as an array (n, k)."""
    return np.asarray(W.matrix().toarray()) if isinstance(W, OneHot) else W


@dataclass(frozen=True)
class Reweigh:
    """Multiplies the weights of rows by those of their classes; a value that can travel to where the rows are."""

    classes: Array
    weight: Array  # (k,)

    def __call__(self, Y: OneHot) -> OneHot:
        Y = Y.onto(self.classes)
        return replace(Y, given=Y.weight * self.weight[Y.codes])


@in_any_order
def _mass(codes: Array, weight: Array, k: int) -> Array:
    """sum_i weight_i over the rows of each class (k,); for few classes in vectorised loops."""
    out = np.zeros(k)
    if k <= MAX_CLASSES_UNROLLED:
        for c in range(k):
            total = 0.0
            for i in range(len(codes)):
                total += weight[i] if codes[i] == c else 0.0
            out[c] = total
        return out
    for i in range(len(codes)):
        if codes[i] >= 0:
            out[codes[i]] += weight[i]
    return out


@compiled
def some_of_each(labels: Array, k: int, most: int) -> tuple[Array, Array]:
    """Evenly spaced rows of each class, class after class, and where each class begins (k + 1,).

    Of m rows of a class, those at 0, s, 2 s, ... for a step s = max(1, m // most).
    """
    step, begin, wait = np.zeros(k, np.int64), np.zeros(k + 1, np.int64), np.zeros(k, np.int64)
    for c in labels:
        if c >= 0:
            step[c] += 1
    for c in range(k):
        many = step[c]
        step[c] = max(1, many // most)
        begin[c + 1] = begin[c] + (many + step[c] - 1) // step[c]
    rows, at = np.empty(begin[k], np.int64), begin.copy()
    for i in range(len(labels)):
        c = labels[i]
        if c >= 0:
            if wait[c] == 0:
                rows[at[c]] = i
                at[c] += 1
                wait[c] = step[c]
            wait[c] -= 1
    return rows, begin
