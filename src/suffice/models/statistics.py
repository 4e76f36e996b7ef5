"""Statistics: sums over rows, by class, that know their domain."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Generic, Self, TypeVar, cast

import numpy as np

from suffice._core.features import Domain, Features
from suffice._core.labels import OneHot, positions, show, show_all, unite
from suffice._core.vector import Array, Vector
from suffice._runtime.messages import Notice
from suffice.models.overview import Overview

B = TypeVar("B", bound="Sums")
# Sums of weights may be off by this share of a weight.
ROUNDING = 1e-9
# A remainder of less than this share of a sum of weights has lost half of its digits: about the root of the precision.
FAINT_SHARE = 5e-8


@dataclass(frozen=True, eq=False, repr=False)
class Sums(Vector, ABC):
    """The sums of a block of features: a vector whose leaves have the class as their first axis."""

    counts: ClassVar[tuple[str, ...]] = ()  # the fields that are sums of weights alone

    def onto(self, old: Domain, new: Domain) -> Self:
        """Return the sums on a larger domain, with zeros for new classes and categories."""
        return self.regroup(positions(old.classes, new.classes), len(new.classes))

    @abstractmethod
    def impossible(self, before: Self, domain: Domain, mass: Array) -> str | None:
        """Return why no data can have these sums, after rows were taken from the sums `before`; None if some can."""

    def why_not_contained(self, before: Self, domain: Domain, mass: Array) -> str | None:
        """Return why the rows taken from the sums `before` cannot have been part of them; None if they can.

        Unlike `impossible`, it accepts sums that have few correct digits left.
        """
        return self.impossible(before, domain, mass)

    def regroup(self, group: Array, size: int) -> Self:
        """Add up classes to groups: class c to `group[c]`, or to none where that is -1."""
        return self.map(lambda value: grouped(value, group, size))

    def select_classes(self, which: Array) -> Self:
        """Return the sums of some classes (m,), in any order; a class may occur more than once."""
        return self.map(lambda value: value[which])

    @property
    def shared(self) -> bool:
        """True if the rows of all classes together decide how those of each are summed, as on a common grid."""
        return False

    def subtract(self, gone: Self) -> Self:
        """Subtract sums of the same domain, with counts of exactly zero where nothing is left."""
        a, b = self.align(gone)
        exact: dict[str, Array] = {name: remainder(getattr(a, name), getattr(b, name)) for name in self.counts}
        zero = dict.fromkeys(self.counts, 0.0)  # these are not subtracted twice
        return replace(replace(a, **zero).map(operator.sub, replace(b, **zero)), **exact)

    def faint(self, gone: Self) -> Array:
        """Return the classes (k,) in which subtracting other sums would leave a weight that rounding hides."""
        pairs = ((getattr(self, name), getattr(gone, name)) for name in self.counts)
        return np.asarray(np.logical_or.reduce([faint(*pair) for pair in pairs]))

    def pruned(self, features: Features) -> tuple[Features, Self]:
        """Return features and sums without the categories and patterns that no row has any more."""
        return features, self

    def recentred(self, from_sums: bool = False) -> Self:  # noqa: ARG002 - most have no origin
        """Move the sums to a suitable origin; `from_sums`: chosen from these alone, so that no forgotten row shows.

        ValueError if nothing can be added to sums of this form.
        """
        return self

    def why_not_movable(self, domain: Domain, mass: Array) -> str | None:  # noqa: ARG002 - most can be moved
        """Return why no learner can change these sums step by step; None if one can."""
        return None

    def iterations(self) -> tuple[list[float], bool]:
        """Return the log posterior step by step, and whether it has converged, if these sums are the result of EM."""
        return [], True

    def notices(self) -> tuple[Notice, ...]:
        """Return what people should know of these sums."""
        return ()

    def overview(self, domain: Domain, mass: Array) -> Overview:  # noqa: ARG002 - unless they tell of columns
        """Return what these sums tell of single columns, for people to look at; by default nothing."""
        return Overview()


class DividedSums(Sums):
    """Sums in parts, by some key; every part has `Sums` of its own."""

    parts: Mapping[Any, Any]

    def each(self, f: Callable[[Any, Any], Any]) -> Self:
        """Return the sums with f(key, sums) for every part."""
        found: Self = replace(cast(Any, self), parts={key: f(key, part) for key, part in self.parts.items()})
        return found

    def regroup(self, group: Array, size: int) -> Self:
        return self.each(lambda _, part: part.regroup(group, size))

    def select_classes(self, which: Array) -> Self:
        return self.each(lambda _, part: part.select_classes(which))

    @property
    def shared(self) -> bool:
        return any(part.shared for part in self.parts.values())

    def subtract(self, gone: Self) -> Self:
        return self.each(lambda key, part: part.subtract(gone.parts[key]))

    def faint(self, gone: Self) -> Array:
        return np.asarray(np.logical_or.reduce([part.faint(gone.parts[key]) for key, part in self.parts.items()]))

    def recentred(self, from_sums: bool = False) -> Self:
        return self.each(lambda _, part: part.recentred(from_sums))


@dataclass(frozen=True, eq=False, repr=False)
class Statistics(Vector, Generic[B]):
    """The mass of each class, and the sums of the features that a model needs.

        mass_c = sum_i W_ic,     sums = sum_i sum_c W_ic T_c(x_i)

    Adding two unites their domains: a class or category that one of them lacks is zero there.
    """

    domain: Domain
    mass: Annotated[Array, "k"]  # total weight of each class
    sums: B

    def align(self, other: Self) -> tuple[Self, Self]:
        domain = self.domain | other.domain
        a, b = self.onto(domain), other.onto(domain)
        first, second = a.sums.align(b.sums)
        return replace(a, sums=first), replace(b, sums=second)

    def onto(self, domain: Domain) -> Self:
        """Return the sums on a larger domain."""
        if domain is self.domain:
            return self
        if np.array_equal(domain.classes, self.domain.classes) and domain.features.same(self.domain.features):
            return replace(self, domain=domain)
        at, size = positions(self.domain.classes, domain.classes), len(domain.classes)
        return replace(self, domain=domain, mass=grouped(self.mass, at, size), sums=self.sums.onto(self.domain, domain))

    def with_classes(self, classes: Array) -> Self:
        """Return the sums with a longer list of classes."""
        if classes is self.domain.classes:
            return self
        return self.onto(replace(self.domain, classes=classes))

    def by_class(self, weight: Array) -> Self:
        """Multiply every class by a weight (k,), as if its rows had had that weight."""
        return self.map(lambda value: value * weight.reshape(-1, *[1] * (value.ndim - 1)))

    def regroup(self, group: Array, classes: Array) -> Self:
        """Add up classes to other classes: class c to `classes[group[c]]`, or to none where that is -1."""
        mass = grouped(self.mass, group, len(classes))
        return replace(
            self, domain=replace(self.domain, classes=classes), mass=mass, sums=self.sums.regroup(group, len(classes))
        )

    def select_classes(self, which: Array, domain: Domain) -> Self:
        """Return the sums of some classes (m,), under the names of a domain of the same features."""
        return replace(self, domain=domain, mass=self.mass[which], sums=self.sums.select_classes(which))

    def without(self, gone: Self) -> Self:
        """Subtract the sums of rows that were part of these; ValueError if they cannot have been."""
        strange = self._never_learned(gone)
        if strange:
            raise ValueError(f"{strange}, so their rows cannot be forgotten")
        before, gone = self.align(gone)
        after = before._less(gone)
        if not after.mass.any():
            raise ValueError("no rows would be left; fit again instead of forgetting everything")
        light = np.flatnonzero(faint(before.mass, gone.mass) | before.sums.faint(gone.sums))
        if len(light):
            raise ValueError(
                f"{self.label(int(light[0]))} would lose its weights to rounding, as the rows forgotten weigh far more "
                "than the others: fit the others again"
            )
        why = after._too_few() or after.sums.impossible(before.sums, after.domain, after.mass)
        if why is not None:
            raise ValueError(why)
        return after._pruned(before)

    def _never_learned(self, part: Self) -> str:
        """A sentence that names the classes of `part` that these statistics lack; empty if there are none."""
        strange = part.domain.classes[positions(part.domain.classes, self.domain.classes, "class labels") < 0]
        return f"the classes {show_all(strange)} were never learned" if len(strange) else ""

    def _less(self, gone: Self) -> Self:
        """These statistics less others that are aligned with them."""
        return replace(self, mass=remainder(self.mass, gone.mass), sums=self.sums.subtract(gone.sums))

    def _too_few(self) -> str | None:
        """Why no data can have these masses; None if none is negative."""
        short = self.domain.classes[self.mass < 0]
        why = f"the classes {show_all(short)} would keep less than no rows: these rows were not all learned"
        return why if len(short) else None

    def lacks(self, part: Self) -> str | None:
        """Return why the rows of the statistics `part` cannot be among those of these; None if they can."""
        if strange := self._never_learned(part):
            return strange
        before, gone = self.align(part)
        after = before._less(gone)
        return after._too_few() or after.sums.why_not_contained(before.sums, after.domain, after.mass)

    def decayed(self, factor: float, declared: Array) -> Self:
        """Multiply the weight of every row by a factor; if it is 0, only the declared classes stay."""
        if factor:
            return factor * self
        nothing = (0.0 * self)._pruned(self)
        return nothing.with_classes(unite(nothing.domain.classes, declared))

    def seen(self) -> Self:
        """Remove the classes that no row has, and the categories that only they had."""
        return self._pruned(replace(self, mass=np.ones(len(self.mass))))

    def _pruned(self, before: Self) -> Self:
        """Remove the classes that had mass before and have none now, and the categories that only they had."""
        keep = (self.mass > 0) | (before.mass == 0)
        at = np.where(keep, np.cumsum(keep) - 1, -1)
        kept = self if keep.all() else self.regroup(at, self.domain.classes[keep])
        features, sums = kept.sums.pruned(kept.domain.features)
        domain = kept.domain if features is kept.domain.features else replace(kept.domain, features=features)
        return replace(kept, domain=domain, sums=sums)

    def recentred(self, from_sums: bool = False) -> Self:
        """Move the sums to a suitable origin; `from_sums`: chosen from these alone, so that no forgotten row shows."""
        return replace(self, sums=self.sums.recentred(from_sums))

    def overview(self) -> Overview:
        """Return what the sums tell of single columns, for people to look at."""
        return self.sums.overview(self.domain, self.mass)

    def label(self, c: int) -> str:
        """Return the name of a class in messages."""
        return self.domain.label(c)

    def __repr__(self) -> str:
        share = zip(self.domain.classes, self.mass.tolist(), strict=True)
        classes = [f"{c if isinstance(c, str) else show(c)}: {m:g}" for c, m in share]
        listed = ", ".join(classes if len(classes) <= 6 else [*classes[:5], "..."])
        d, k = self.domain.width, len(classes)
        return (
            f"{type(self.sums).__name__} of {d} feature{'s' * (d != 1)}, mass {self.mass.sum():g} "
            f"in {k} class{'es' * (k != 1)}: {listed}"
        )


def remainder(before: Array, gone: Array) -> Array:
    """Subtract weights, with zero where rounding hides the remainder; whole numbers are exact as they are.

    Each is compared with its own size: the weight of a small class is not the rounding of that of a large one.
    """
    at, had, rest, exact = _taken(before, gone)
    left = np.array(np.broadcast_to(before, np.broadcast(before, gone).shape), dtype=float, order="C")
    left.ravel()[at] = np.where(exact | (abs(rest) > FAINT_SHARE * abs(had)), rest, 0.0)
    return left


def faint(before: Array, gone: Array) -> Array:
    """Return the classes (k,) in which subtracting weights leaves more than rounding, but with too few digits."""
    at, had, rest, exact = _taken(before, gone)
    hidden = ~exact & (abs(rest) > ROUNDING * abs(had)) & (abs(rest) <= FAINT_SHARE * abs(had))
    found = np.zeros(len(before), dtype=bool)
    found[at[hidden] // max(1, np.broadcast(before, gone).size // max(1, len(before)))] = True
    return found


def _taken(before: Array, gone: Array) -> tuple[Array, Array, Array, Array]:
    """Where weights are subtracted: their places, what was there and is left, and whether both were whole numbers.

    All are flat, as one row has few of many words.
    """
    before, gone = np.broadcast_arrays(before, gone)
    at = np.flatnonzero(gone.ravel() != 0)
    had, lost = before.ravel()[at], gone.ravel()[at]
    return at, had, had - lost, (had == np.rint(had)) & (lost == np.rint(lost))


def rest(had: Array, gone: Array) -> Array:
    """Subtract the weight of one row from weights that include it, with zero where only rounding is left.

    >>> rest(np.array([3.0, 0.1 + 0.2]), np.array([1.0, 0.3]))
    array([2., 0.])
    """
    left = had - gone
    return np.asarray(np.where(left > ROUNDING * gone, left, 0.0))


def weighing(W: OneHot | Array) -> Array:
    """Return a mask of the rows (n,) that have a weight in some class.

    >>> weighing(np.array([[0.0, 0.0], [1.0, -1.0]]))
    array([False,  True])
    """
    return np.asarray((W.codes >= 0) & (W.weight != 0) if isinstance(W, OneHot) else (W != 0).any(axis=1))


def grouped(value: Array, group: Array, size: int) -> Array:
    """Sum the rows of `value` (k, ...) by group (k,): (size, ...); a row of group -1 is left out."""
    rows = np.zeros((size, *value.shape[1:]))
    kept = np.flatnonzero(group >= 0)
    # If no two rows are added, assignment is many times as fast.
    if len(np.unique(group[kept])) == len(kept):
        rows[group[kept]] = value if len(kept) == len(group) else value[kept]
    else:
        np.add.at(rows, group[kept], value[kept])
    return rows
