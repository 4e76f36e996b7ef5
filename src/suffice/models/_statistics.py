"""Statistics: sums over rows, by class, that know their domain."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Self, TypeVar

import numpy as np

from suffice._domain import Domain, positions
from suffice._vector import Array, Vector

ROUNDING = 1e-12  # what is left of a sum, relative to it, when all of it has been taken away again

S = TypeVar("S", bound="Statistics")


@dataclass(frozen=True, eq=False, repr=False)
class Statistics(Vector):
    """A vector of sums by class; the first axis of every field is the class."""

    domain: Domain
    mass: Array  # (k,) total weight of each class

    @abstractmethod
    def onto(self, domain: Domain) -> Self:
        """The same sums on a larger domain: zeros for new classes and categories, and re-based on its origin."""

    @abstractmethod
    def impossible(self, size: Self) -> str | None:
        """Why no rows can have these sums, whose rounding is that of sums of the given size; None if some can."""

    @abstractmethod
    def pruned(self, before: Self) -> Self:
        """These sums without the classes and categories that `before` had and that are empty now."""

    def meet(self, other: Self) -> tuple[Self, Self]:
        domain = self.domain | other.domain
        return self.onto(domain), other.onto(domain)

    def by_class(self, weight: Array) -> Self:
        """Every class times its own weight (k,): what the sums would be had its rows been weighted so."""
        return self.map(lambda value: value * weight.reshape(-1, *[1] * (value.ndim - 1)))

    def without(self, gone: Self) -> Self:
        """These sums less those of rows that were part of them; ValueError if they cannot have been."""
        strange = gone.domain.classes[positions(gone.domain.classes, self.domain.classes, "class labels") < 0]
        if len(strange):
            raise ValueError(f"the classes {strange.tolist()} were never learned, so their rows cannot be forgotten")
        before, gone = self.meet(gone)
        after = before.map(_difference, gone)
        if (after.mass < 0).any():
            short = after.domain.classes[after.mass < 0].tolist()
            raise ValueError(f"the classes {short} would keep less than no rows: these rows were not all learned")
        if not after.mass.any():
            raise ValueError("no rows would be left; fit anew instead of forgetting everything")
        why = after.impossible(before)
        if why is not None:
            raise ValueError(f"{why}: these rows were not all learned")
        return after.pruned(before)

    def __repr__(self) -> str:
        share = zip(self.domain.classes.tolist(), self.mass.tolist(), strict=True)
        classes = [f"{c}: {m:g}" for c, m in share]
        listed = ", ".join(classes if len(classes) <= 6 else [*classes[:5], "..."])
        d, k = self.domain.width, len(classes)
        return (
            f"{type(self).__name__} of {d} feature{'s' * (d != 1)}, mass {self.mass.sum():g} "
            f"in {k} class{'es' * (k != 1)}: {listed}"
        )


def _difference(before: Array, gone: Array) -> Array:
    left = before - gone
    left[abs(left) <= ROUNDING * abs(before)] = 0.0
    return left


def placed(value: Array, at: Array, size: int) -> Array:
    """`value` (k, ...) with its rows at places `at` among `size` rows, the others zero."""
    rows = np.zeros((size, *value.shape[1:]))
    rows[at] = value
    return rows


def kept_classes(s: S, before: S) -> S:
    """`s` without the classes that had mass in `before` and have none now."""
    keep = (s.mass > 0) | (before.mass == 0)
    return replace(s.map(lambda value: value[keep]), domain=replace(s.domain, classes=s.domain.classes[keep]))
