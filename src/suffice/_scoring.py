"""How many rows of a data set get their own label: a sum like any other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from suffice._arithmetic import Arithmetic, E
from suffice._labels import check_family
from suffice._vector import Array, Vector
from suffice.data import Batch
from suffice.data._queries import Queried


@dataclass(frozen=True, eq=False, repr=False)
class Share(Vector):
    """The weight of some rows, and of those among them that are right."""

    mass: float
    right: float


@dataclass(frozen=True)
class Hits:
    """Which rows of a batch get their own label."""

    f: Callable[[Any], Array]  # labels of rows
    classes: Array  # that were learned

    def __call__(self, batch: Batch) -> Share:
        Y = batch.Y
        check_family(Y.classes, self.classes, "class labels")
        right = self.f(batch.X) == Y.classes[Y.codes]
        return Share(float(Y.weight.sum()), float(Y.weight @ right))

    def query(self, rows: Queried) -> Share:
        """The same of the rows of a database."""
        check_family(rows.classes, self.classes, "class labels")
        return Share(*rows.agreeing(self.said, self.classes))

    def said(self, say: Arithmetic[E]) -> E:
        """The number of the class that a row gets, as a formula of the columns."""
        f: Any = self.f
        numbers = replace(f, answer=replace(f.answer, classes=np.arange(len(self.classes))))
        found: list[E] = numbers.formulas(say, ())
        return found[0]
