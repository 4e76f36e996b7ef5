"""Labels: sorted lists of them, how two lists unite, and labels as class weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d

from suffice._vector import Array


def kind(value: Any) -> str:
    """What a value is, in words: values of one kind can be compared, others cannot."""
    if isinstance(value, int | float | np.number | np.bool_):
        return "numbers"
    return "strings" if isinstance(value, str) else f"{type(value).__name__} values"


def missing(value: Any) -> bool:
    """Whether a value says that there is none."""
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return value is None or type(value).__name__ in ("NAType", "NaTType")  # those of pandas


def _family(values: Array) -> str:
    if values.dtype.kind == "O":
        return kind(values[0])
    return {"U": "strings", "T": "strings"}.get(
        values.dtype.kind, "numbers" if values.dtype.kind in "biuf" else "dates"
    )


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
        raise ValueError(f"{what} are {_family(a)} here and {_family(b)} there; use one kind throughout")
    return np.union1d(a, b)


def positions(part: Array, whole: Array, what: str = "labels") -> Array:
    """Where each entry of `part` stands in the sorted array `whole`; -1 where it does not.

    >>> positions(np.array([3, 5]), np.array([1, 3, 4])).tolist()
    [1, -1]
    """
    if part is whole:
        return np.arange(len(part))
    if not len(part) or not len(whole):
        return np.full(len(part), -1)
    if _family(part) != _family(whole):
        raise ValueError(f"{what} are {_family(part)} here and {_family(whole)} in what was learned")
    at = np.searchsorted(whole, part)
    at[at == len(whole)] = 0
    return np.where(whole[at] == part, at, -1)


def check_labels(y: Any) -> Array:
    """Labels as a flat array (n,); the one place where it is checked that they are labels."""
    y = column_or_1d(y, warn=True)
    if len(y):
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
    return np.asarray(y)


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
        """Labels `y` (n,) and their weights, checked; rows of weight zero make no class."""
        y = check_labels(y)
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
        if np.array_equal(classes, self.classes):
            return OneHot(classes, self.codes, self.weight)
        at = np.append(positions(self.classes, classes, "class labels"), -1)
        return OneHot(classes, at[self.codes], self.weight)

    def mass(self) -> Array:
        """The weight of each class (k,)."""
        known = self.codes >= 0
        return np.bincount(self.codes[known], self.weight[known], len(self.classes))

    def matrix(self) -> sparse.csr_array:
        """The sparse matrix (n, k)."""
        known = self.codes >= 0
        starts = np.concatenate([[0], np.cumsum(known)])
        shape = (len(self), len(self.classes))
        return sparse.csr_array((self.weight[known], self.codes[known], starts), shape=shape)
