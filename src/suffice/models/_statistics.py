"""Statistics: sums over rows, by class, that know their domain."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from suffice._domain import Domain, positions
from suffice._vector import Array, Vector

EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False, repr=False)
class Statistics(Vector):
    """A vector of sums by class; the first axis of every field is the class."""

    weights: ClassVar[tuple[str, ...]] = ("mass",)  # the fields that are sums of weights alone

    domain: Domain
    mass: Array  # (k,) total weight of each class

    @abstractmethod
    def onto(self, domain: Domain) -> Self:
        """The same sums on a larger domain: zeros for new classes and categories, and re-based on its origin."""

    @abstractmethod
    def impossible(self, before: Self) -> str | None:
        """Why no rows can have these sums, which are what is left of others on the same domain; None if some can."""

    def meet(self, other: Self) -> tuple[Self, Self]:
        domain = self.domain | other.domain
        return self.onto(domain), other.onto(domain)

    def by_class(self, weight: Array) -> Self:
        """Every class times its own weight (k,): what the sums would be had its rows been weighted so."""
        return self.map(lambda value: value * weight.reshape(-1, *[1] * (value.ndim - 1)))

    def regroup(self, group: Array, classes: Array) -> Self:
        """Classes added up to other classes: class c to `classes[group[c]]`, or to none where that is -1."""
        sums = self.map(lambda value: grouped(value, group, len(classes)))
        return replace(sums, domain=replace(self.domain, classes=classes))

    def pruned(self, before: Self) -> Self:
        """These sums without the classes that had mass before and have none now."""
        keep = (self.mass > 0) | (before.mass == 0)
        return self.regroup(np.where(keep, np.cumsum(keep) - 1, -1), self.domain.classes[keep])

    def without(self, gone: Self) -> Self:
        """These sums less those of rows that were part of them; ValueError if they cannot have been."""
        strange = gone.domain.classes[positions(gone.domain.classes, self.domain.classes, "class labels") < 0]
        if len(strange):
            raise ValueError(f"the classes {strange.tolist()} were never learned, so their rows cannot be forgotten")
        before, gone = self.meet(gone)
        exact: dict[str, Any] = {name: _remainder(getattr(before, name), getattr(gone, name)) for name in self.weights}
        after = replace(before - gone, **exact)
        if (after.mass < 0).any():
            short = after.domain.classes[after.mass < 0].tolist()
            raise ValueError(f"the classes {short} would keep less than no rows: these rows were not all learned")
        if not after.mass.any():
            raise ValueError("no rows would be left; fit anew instead of forgetting everything")
        why = after.impossible(before)
        if why is not None:
            raise ValueError(why)
        return after.pruned(before)

    def label(self, c: int) -> str:
        """How messages call a class."""
        return f"class {self.domain.classes[c].item()!r}"

    def __repr__(self) -> str:
        share = zip(self.domain.classes.tolist(), self.mass.tolist(), strict=True)
        classes = [f"{c}: {m:g}" for c, m in share]
        listed = ", ".join(classes if len(classes) <= 6 else [*classes[:5], "..."])
        d, k = self.domain.width, len(classes)
        return (
            f"{type(self).__name__} of {d} feature{'s' * (d != 1)}, mass {self.mass.sum():g} "
            f"in {k} class{'es' * (k != 1)}: {listed}"
        )


def _remainder(before: Array, gone: Array) -> Array:
    """Weights less weights, with zero where only rounding is left; whole numbers are exact as they are."""
    left = before - gone
    if (before == np.rint(before)).all() and (gone == np.rint(gone)).all():
        return left
    rounding = np.maximum(8 * EPS * before, 1e-9 * abs(left).max(initial=0.0))
    return np.where(abs(left) <= rounding, 0.0, left)


def grouped(value: Array, group: Array, size: int) -> Array:
    """The sums of the rows of `value` (k, ...) by group (k,): (size, ...); a row of group -1 is left out."""
    rows = np.zeros((size, *value.shape[1:]))
    np.add.at(rows, group[group >= 0], value[group >= 0])
    return rows
