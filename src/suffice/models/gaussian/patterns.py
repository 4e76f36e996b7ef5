"""Rows with missing entries under whole covariances: summed by which entries are missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

from suffice._core.features import Domain, Features
from suffice._core.labels import OneHot
from suffice._core.vector import Array
from suffice.models.gaussian.moments import Moments, diagonal, moments, ratio
from suffice.models.overview import Overview
from suffice.models.statistics import Sums
from suffice.models.terms import Nomogram, Terms

# More patterns of missing entries than this are not summed apart.
LIMIT = 256
TOO_MANY = (
    "the rows have more than {limit} patterns of missing entries, too many to keep their sums apart: such rows are "
    "learned by fit, all at once, and cannot be added to, merged or forgotten. Impute the missing values, or use "
    "GaussianNB"
)
Pattern: TypeAlias = tuple[int, ...]  # the columns that are missing, in order; () is a complete row


@dataclass(frozen=True, eq=False, repr=False)
class Patterns(Sums):
    """Moments by pattern of missing entries, each of the columns that its rows have.

        parts[m] = sum of W_ic T_c(x_i without the columns m) over the rows that lack exactly these

    A row that has no entry at all is in the mass of its class only. More than 256 patterns become `Entries`.

    >>> s = by_pattern(np.array([[1.0, 5.0], [3.0, np.nan], [8.0, np.nan]]), OneHot.of(np.array([0, 0, 1])))
    >>> {pattern: part.count.ravel().tolist() for pattern, part in s.parts.items()}
    {(): [1.0, 0.0], (1,): [1.0, 1.0]}
    """

    fixed: ClassVar = ("width",)

    width: int
    parts: dict[Pattern, Moments]

    def align(self, other: Any) -> tuple[Any, Any]:
        other = self.lifted(other)
        if not isinstance(other, Patterns) or _too_many({**self.parts, **other.parts}):
            return Entries(self.entries()).align(other)
        return super().align(other)

    def lifted(self, other: Any) -> Any:
        """Sums in which no entry was missing, in this form."""
        return Patterns(self.width, {(): other}) if isinstance(other, Moments) else other

    def entries(self) -> Moments:
        """The moments of each column over the entries that are there (k, d)."""
        each = [_widened(part, observed(pattern, self.width), self.width) for pattern, part in self.parts.items()]
        return sum(each[1:], each[0])

    def regroup(self, group: Array, size: int) -> Self:
        return replace(self, parts={pattern: part.regroup(group, size) for pattern, part in self.parts.items()})

    def select_classes(self, which: Array) -> Self:
        return replace(self, parts={pattern: part.select_classes(which) for pattern, part in self.parts.items()})

    def subtract(self, gone: Self) -> Self:
        return replace(
            self, parts={pattern: part.subtract(gone.parts[pattern]) for pattern, part in self.parts.items()}
        )

    def faint(self, gone: Self) -> Array:
        return np.asarray(
            np.logical_or.reduce([part.faint(gone.parts[pattern]) for pattern, part in self.parts.items()])
        )

    def recentred(self, from_sums: bool = False) -> Self:
        return replace(self, parts={pattern: part.recentred(from_sums) for pattern, part in self.parts.items()})

    def pruned(self, features: Features) -> tuple[Features, Any]:
        """Sums without patterns of no rows, unless no row has any value; those of complete rows alone are moments."""
        each = {pattern: part.pruned(features)[1] for pattern, part in self.parts.items()}
        kept = {pattern: part for pattern, part in each.items() if part.count.any()}
        return features, kept[()] if kept.keys() == {()} else replace(self, parts=kept or each)

    def impossible(self, before: Self, domain: Domain, mass: Array) -> str | None:
        return self.why_not_contained(before, domain, mass) or self.entries().impossible(before.entries(), domain, mass)

    def why_not_contained(self, before: Self, domain: Domain, mass: Array) -> str | None:
        for pattern, part in self.parts.items():
            why = part.why_not_contained(before.parts[pattern], some_of(domain, observed(pattern, self.width)), mass)
            if why is not None:
                return why
        return self.entries().why_not_contained(before.entries(), domain, mass)

    def overview(self, domain: Domain, mass: Array) -> Overview:
        return self.entries().overview(domain, mass)

    def why_not_movable(self, domain: Domain, mass: Array) -> str | None:
        return _holes(self.entries(), domain, mass)


@dataclass(frozen=True, eq=False, repr=False)
class Entries(Sums):
    """What is left of rows with more patterns of missing entries than are kept apart: the moments of each column.

    It is where learning begins, which then has to read the rows again.
    """

    columns: Moments  # (k, d) over the entries that are there

    def align(self, other: Any) -> tuple[Any, Any]:
        return super().align(self.lifted(other))

    def lifted(self, other: Any) -> Entries:
        """Any sums of rows with or without missing entries, in this form."""
        if isinstance(other, Entries):
            return other
        return Entries(
            _widened(other, np.arange(other.first.shape[1]), other.first.shape[1])
            if isinstance(other, Moments)
            else other.entries()
        )

    def entries(self) -> Moments:
        """The moments of each column over the entries that are there (k, d)."""
        return self.columns

    def regroup(self, group: Array, size: int) -> Self:
        return replace(self, columns=self.columns.regroup(group, size))

    def select_classes(self, which: Array) -> Self:
        return replace(self, columns=self.columns.select_classes(which))

    def recentred(self, from_sums: bool = False) -> Self:  # noqa: ARG002 - as all sums are asked
        raise ValueError(TOO_MANY.format(limit=LIMIT))

    def impossible(self, before: Self, domain: Domain, mass: Array) -> str | None:  # noqa: ARG002 - as above
        return TOO_MANY.format(limit=LIMIT)

    def overview(self, domain: Domain, mass: Array) -> Overview:
        return self.entries().overview(domain, mass)

    def why_not_movable(self, domain: Domain, mass: Array) -> str | None:
        return _holes(self.columns, domain, mass)


def _too_many(parts: Mapping[Pattern, object]) -> bool:
    return len(parts.keys() - {()}) > LIMIT


def _holes(entries: Moments, domain: Domain, mass: Array) -> str:
    which = np.flatnonzero((entries.count < mass[:, None]).any(axis=0))
    return f"{domain.features.listed(which)} {'has' if len(which) == 1 else 'have'} missing values"


def _widened(s: Moments, at: Array, width: int) -> Moments:
    """Diagonal moments of all columns (k, width) from whole ones of the columns `at`."""

    def wide(value: Array) -> Array:
        out = np.zeros((len(s.first), width))
        out[:, at] = value
        return out

    reach = None if s.reach is None else wide(s.reach)
    return Moments(wide(s.origin), wide(s.count), wide(s.first), wide(diagonal(s.second)), reach)


def observed(pattern: Pattern, width: int) -> Array:
    """The numbers of the columns that rows of a pattern have."""
    return np.delete(np.arange(width), pattern)


def columns_of(s: Moments, which: Array) -> Moments:
    """Whole moments of some columns: those of the marginal distributions."""
    return Moments(s.origin[:, which], s.count, s.first[:, which], s.second[:, which][:, :, which])


def some_of(domain: Domain, which: Array) -> Domain:
    """The domain of some columns, which messages call what they are called in the whole."""
    return replace(domain, features=Some(len(which), None, domain.features, which))


@dataclass(frozen=True, eq=False)
class Some(Features):
    """Some columns of others."""

    whole: Features | None = None
    which: Array | None = None

    def name(self, feature: int) -> str:
        if self.whole is None or self.which is None:
            return super().name(feature)
        return self.whole.name(int(self.which[feature]))


def complete(X: Array) -> bool:
    """Whether no entry of finite numbers (n, d) is missing, in one fast pass."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(X.sum())) or not np.isnan(X).any()


def groups(holes: Array) -> Iterator[tuple[Array, Array]]:
    """The rows (n_p,) of each pattern among rows (n, d) of what is missing, and the columns that these have."""
    if not len(holes):
        return
    packed = np.ascontiguousarray(np.packbits(holes, axis=1))  # in columns, if the rows were
    _, first, inverse = np.unique(
        packed.view(np.dtype((np.void, packed.shape[1]))).ravel(), return_index=True, return_inverse=True
    )
    order = np.argsort(inverse, kind="stable")
    for at, rows in zip(first, np.split(order, np.cumsum(np.bincount(inverse))[:-1]), strict=True):
        yield rows, np.flatnonzero(~holes[at])


def terms_by_pattern(values: Array, keys: Sequence[Any], whole: Nomogram, some: Callable[[Array], Nomogram]) -> Terms:
    """Return the terms of rows (n, d): `whole` for complete ones, else `some` of the columns (m,) that a row has."""
    if complete(values):
        found = whole.evaluate(values, keys)
        return replace(found, base=np.tile(found.base, (len(values), 1)))
    (n, d), k = values.shape, len(whole.base)
    base, terms = np.zeros((n, k)), np.zeros((n, k, d))
    for rows, has in groups(np.isnan(values)):
        nomogram = whole if len(has) == d else some(has)
        found = nomogram.evaluate(values[rows][:, has], [keys[j] for j in has])
        base[rows], terms[np.ix_(rows, np.arange(k), has)] = found.base, found.values
    return Terms(base, tuple(keys), terms)


def by_pattern(X: Array, W: OneHot | Array, origin: Array | None = None) -> Any:
    """S(X, W) with whole matrices, by pattern if entries of rows X (n, d) are NaN: Moments, Patterns or Entries."""
    if complete(X):
        return moments(X, W, True, origin)
    found = [(rows, kept) for rows, kept in groups(np.isnan(X)) if len(kept)]
    width = X.shape[1]
    rows_of = {tuple(np.delete(np.arange(width), kept).tolist()): rows for rows, kept in found}
    if _too_many(rows_of):
        return Entries(moments(X, W, False, origin))
    parts = {}
    for pattern, rows in rows_of.items():
        kept = observed(pattern, width)
        parts[pattern] = moments(X[rows][:, kept], W[rows], True, None if origin is None else origin[:, kept])
    return Patterns(width, parts or {(): moments(X[:0], W[:0], True, origin)})


def guessed(sums: Any) -> Moments:
    """Moments of complete rows as they are; else whole ones to begin with, of columns without correlations."""
    return sums if isinstance(sums, Moments) else _uncorrelated(sums.entries())


def _uncorrelated(s: Moments) -> Moments:
    """Whole moments from those of each column; one of which a class has no entry is as in all classes together."""
    total = s.total()
    whole = ratio(total.scatter(), total.count)
    known = s.count > 0
    s = s.about(np.where(known, s.origin, total.origin))  # no entry, no origin near any
    mean = np.where(known, s.mean(), total.mean())
    variance = np.where(known, ratio(s.scatter(), s.count), whole)
    count = s.count.max(axis=1, keepdims=True, initial=0.0)
    first = count * mean
    second = first[:, :, None] * mean[:, None, :]
    at = np.arange(s.first.shape[1])
    second[:, at, at] += count * np.maximum(variance, 0.0)
    return Moments(s.origin, count, first, second)
