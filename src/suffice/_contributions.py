"""What every column has to do with an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from suffice._vector import Array
from suffice.models import Terms

IMPOSSIBLE = -1e6  # a term below this rules its class out, and is no part of means over classes
SHOWN = 10  # terms of a row that are printed


@dataclass(frozen=True, eq=False)
class Contributions:
    """What every column, or pair of columns, adds to the log-probability of each class, row by row.

        log p(y | x_i) = base_y + sum_t terms_iyt + a number that all classes of row i share

    Terms are what is added beyond the mean over the classes, and so is the base, since what all classes share says
    nothing of them: with two classes terms_i1t - terms_i0t is what term t adds to the log-odds. A column that a row
    lacks adds nothing where the model leaves it out; trees, and tables of what is missing, take that for a value.

    Parameters
    ----------
    names : list
        Of the terms (m,): names of columns, or their numbers where they have none; "a & b" for a pair.
    classes : array of shape (k,)
    base : array of shape (k,), or (n, k) where it differs by row
        What does not depend on single columns: class probabilities, determinants, normalisers.
    terms : array of shape (n, k, m)
    """

    names: list[Any]
    classes: Array
    base: Array
    terms: Array

    @classmethod
    def of(cls, found: Terms, classes: Array) -> Contributions:
        """From the terms of a model."""
        return cls(
            [name_of(key) for key in found.keys], classes, beyond_mean(found.base, -1), beyond_mean(found.values, 1)
        )

    @property
    def log_joint(self) -> Array:
        """base + the sum of the terms (n, k): log p(x, y), up to a number a row."""
        return np.asarray(self.base + self.terms.sum(axis=2))

    @property
    def importances(self) -> dict[Any, float]:
        """The mean size of each term, over rows and classes, the greatest first; infinite if it rules a class out."""
        possible = self.terms > IMPOSSIBLE
        size = np.where(possible, abs(self.terms), 0.0).sum(axis=(0, 1)) / np.maximum(1, possible.sum(axis=(0, 1)))
        others = np.atleast_2d(self.base)[:, :, None] > IMPOSSIBLE  # classes that are not ruled out anyway
        size[(~possible & others & possible.any(axis=1, keepdims=True)).any(axis=(0, 1))] = np.inf
        return {self.names[at]: float(size[at]) for at in np.argsort(-size, kind="stable")}

    def row(self, i: int, y: Any = None) -> dict[Any, float]:
        """What each term of row i says for a class against the mean of the others, the greatest first.

        With two classes these are terms of the log-odds of that class. `y`: a class; None is the most probable one.
        """
        c = int(np.argmax(self.log_joint[i])) if y is None else self._place(y)
        against = _against(self.terms[[i]], np.array([c]))[0]
        return {self.names[at]: float(against[at]) for at in np.argsort(-abs(against), kind="stable")}

    def against_others(self, y: Array) -> Array:
        """What each term says for one class of each row, of labels y (n,), against the mean of the others (n, m)."""
        labels, at = np.unique(y, return_inverse=True)
        return _against(self.terms, np.array([self._place(one) for one in labels], dtype=int)[at])

    def _place(self, y: Any) -> int:
        found = np.flatnonzero(self.classes == y)
        if not len(found):
            raise ValueError(f"there is no class {y!r}: the classes are {self.classes.tolist()}")
        return int(found[0])

    def called(self, names: Mapping[Any, Any]) -> Contributions:
        """The same with other names of some columns."""
        return replace(self, names=[names.get(name, name) for name in self.names])

    def __len__(self) -> int:
        return len(self.terms)

    def __repr__(self) -> str:
        n, k, m = self.terms.shape
        lines = [f"Contributions of {m} terms to {k} classes, for {n} row{'s' * (n != 1)}" + "; row 0:" * bool(n)]
        if n:
            c = int(np.argmax(self.log_joint[0]))
            lines.append(f"  class {self.classes[c]} against the others")
            lines += [f"  {value:+9.3f}  {name}" for name, value in list(self.row(0).items())[:SHOWN]]
            lines += [f"  {'...':>9}"] * (m > SHOWN)
            base = _against(np.atleast_2d(self.base)[:1, :, None], np.array([c]))[0, 0]
            lines.append(f"  {base:+9.3f}  (base)")
        return "\n".join(lines)


def name_of(key: Any) -> Any:
    """What a term is called: by its column, or "a & b" for a pair."""
    return " & ".join(map(str, key)) if isinstance(key, tuple) else key


def beyond_mean(values: Array, axis: int) -> Array:
    """Values less their mean over the classes along an axis; classes that are ruled out have no part in the mean."""
    possible = values > IMPOSSIBLE
    total = np.where(possible, values, 0.0).sum(axis=axis, keepdims=True)
    return np.asarray(values - total / np.maximum(1, possible.sum(axis=axis, keepdims=True)))


def _against(values: Array, c: Array) -> Array:
    """Values (n, k, m) of a class of each row (n,) less the mean of the other classes (n, m)."""
    rows = np.arange(len(c))
    own, others = values[rows, c], values.copy()
    others[rows, c] = -np.inf
    possible = others > IMPOSSIBLE
    mean = np.where(possible, others, 0.0).sum(axis=1) / np.maximum(1, possible.sum(axis=1))
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(possible.any(axis=1), own - mean, np.inf if values.shape[1] > 1 else 0.0))
