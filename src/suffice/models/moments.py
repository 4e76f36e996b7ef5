"""Moments: the count, the sum and the sum of squares of each class, about an origin."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array, issparse

from suffice._domain import Domain, Features, by_rows
from suffice._labels import OneHot, some_of_each
from suffice._vector import Array
from suffice.models import _moment_kernels as kernels
from suffice.models._products import gram
from suffice.models._sparse import sparse_moments
from suffice.models._statistics import Sums, grouped

LOST = 1e-9  # a spread this far below zero, relative to the sums it was taken from, is not rounding
NOISE = 4 * float(np.finfo(float).eps)  # rounding of a spread, relative to the sums it was taken from
VAGUE = 1e-6  # a spread whose rounding is above this share of it is not known well enough
NOTHING = 1e-12  # a spread below this share of the spread of all classes may as well be none
SAMPLE = 64  # rows of a class that tell where its origin should be
QUANTILES = np.array([0.5, 0.25, 0.75, 0.1, 0.9, 0.0, 1.0])  # the middle, and ranges that tell how wide a class is
ENTRIES = 1 << 18  # of the matrices of classes that are moved at a time
BITS = 32  # that an origin shares with a value that is all there is to go by
NOT_LEARNED = "these rows were not all learned"


@dataclass(frozen=True, eq=False, repr=False)
class Moments(Sums):
    """Sums of weights, of x - o and of its squares, by class, where o is the origin of the class.

        count_c = sum_i W_ic,   first_c = sum_i W_ic (x_i - o_c),   second_c = sum_i W_ic (x_i - o_c)(x_i - o_c)'

    `count` is kept by entry where only the diagonal of `second` is kept, so that an entry can be missing on its own;
    by class otherwise. Sums about an origin near the data keep the digits that raw moments lose.

    >>> s = moments(np.array([[1.0], [3.0], [8.0]]), OneHot.of(np.array([0, 0, 1])))
    >>> s.mean() + s.origin
    array([[2.],
           [8.]])
    """

    fixed: ClassVar[tuple[str, ...]] = ("origin",)
    counts: ClassVar = ("count",)

    origin: Array  # (k, d)
    count: Array  # (k, d) diagonal, (k, 1) full
    first: Array  # (k, d)
    second: Array  # (k, d) diagonal, (k, d, d) full

    @property
    def full(self) -> bool:
        """Whether whole matrices of squares are kept, or their diagonals."""
        return self.second.ndim == 3

    def mean(self) -> Array:
        """The mean of each class about its origin (k, d); 0 where there is no mass."""
        return ratio(self.first, self.count)

    def scatter(self) -> Array:
        """The sum of squares of each class about its mean: (k, d) or (k, d, d)."""
        return self.second - self.square(self.first, self.mean())

    def square(self, a: Array, b: Array) -> Array:
        """Products a b' of rows (k, d), whole or diagonal as `second` is."""
        return a[:, :, None] * b[:, None, :] if self.full else a * b

    def diagonals(self) -> Self:
        """The same without products of different columns."""
        return replace(self, count=np.broadcast_to(self.count, self.first.shape), second=diagonal(self.second))

    def total(self) -> Self:
        """The moments of all rows whatever their class, as one class."""
        if self.second.size > ENTRIES:
            return self.regroup(np.zeros(len(self.first), dtype=int), 1)
        heaviest = np.broadcast_to(np.argmax(abs(self.count), axis=0), self.first.shape[1])
        moved = self.about(self.origin[heaviest, np.arange(len(heaviest))])
        return replace(moved.map(lambda value: value.sum(axis=0, keepdims=True)), origin=moved.origin[:1])

    def align(self, other: Any) -> tuple[Any, Any]:
        if not isinstance(other, Moments):  # sums of rows with missing entries
            return other.lifted(self).align(other)  # type: ignore[no-any-return]
        if self.origin is other.origin or np.array_equal(self.origin, other.origin):
            return self, other
        heavier = abs(self.count) >= abs(other.count)  # whose origin is nearer to the whole
        origin = np.where(heavier, self.origin, other.origin)
        return self.about(origin), other.about(origin)

    def taking(self, which: Array) -> Self:
        return replace(super().taking(which), origin=self.origin[which])

    def regroup(self, group: Array, size: int) -> Self:
        """Classes added up to groups, each about the origin of its heaviest class; some at a time, to save memory."""
        if np.array_equal(np.sort(group[group >= 0]), np.arange(size)):  # one class each: nothing to add
            return self.taking(np.argsort(np.where(group >= 0, group, size), kind="stable")[:size])
        origin, d = np.zeros((size, self.first.shape[1])), self.first.shape[1]
        for g in np.unique(group[group >= 0]):
            members = np.flatnonzero(group == g)
            heaviest = members[np.argmax(abs(self.count[members]), axis=0)]
            origin[g] = self.origin[np.broadcast_to(heaviest, d), np.arange(d)]
        kept = np.flatnonzero(group >= 0)
        some = max(1, ENTRIES // max(1, self.second[:1].size))
        out = replace(self.map(lambda value: np.zeros((size, *value.shape[1:]))), origin=origin)
        for at in (kept[i : i + some] for i in range(0, len(kept), some)):
            part = self.taking(at).about(origin[group[at]])
            out = out.map(lambda total, value, to=group[at]: total + grouped(value, to, size), part)
        return out

    def about(self, o: Array) -> Self:
        """The same moments about other origins (d,) or (k, d), exactly: mass may be zero or negative."""
        o = np.broadcast_to(o, self.origin.shape)
        shift = self.origin - o
        if not shift.any():
            return replace(self, origin=o)
        cross = self.square(self.first, shift)
        cross = cross + cross.swapaxes(1, 2) if self.full else 2 * cross
        square = (self.count[:, :, None] if self.full else self.count) * self.square(shift, shift)
        return replace(self, origin=o, first=self.first + self.count * shift, second=self.second + cross + square)

    def impossible(self, before: Self, domain: Domain, mass: Array) -> str | None:
        return self.unheard_of(before, domain, mass) or self._lost(before, domain)

    def unheard_of(self, before: Self, domain: Domain, mass: Array) -> str | None:
        over = self.count > mass[:, None] * (1 + 1e-6)
        if (self.count < 0).any() or over.any():
            where = _called((self.count < 0) | over, domain)
            return f"{where} would keep more or fewer values than rows: {NOT_LEARNED}"
        unit = np.sqrt(diagonal(before.second))  # the size of the sums, and so of their rounding
        scatter = self.scatter() * ratio(1.0, self.square(unit, unit))
        off = diagonal(scatter) < -LOST
        if scatter.ndim == 3:  # a direction between the axes may be lost as well
            off |= np.linalg.eigvalsh(scatter)[:, :1] < -LOST
        off |= (self.count == 0) & (abs(self.first) > LOST * unit * np.sqrt(before.count))
        if off.any():
            return f"{_called(off, domain)} would have a negative variance: {NOT_LEARNED}"
        return None

    def _lost(self, before: Self, domain: Domain) -> str | None:
        """Which variance would have no correct digits, after rows were taken from the sums `before`; None if none."""
        left, noise = diagonal(self.scatter()), NOISE * diagonal(before.second)
        vague = (left > noise) & (noise > VAGUE * left)
        vague |= (left <= noise) & (left != 0) & (noise > NOTHING * self.diagonals().total().scatter())
        if vague.any():
            where = _called(vague, domain)
            return (
                f"{where} would lose its variance to rounding, as the rows to forget are far from the others: "
                "fit the others anew"
            )
        return None

    def settled(self, anew: bool = False) -> Self:
        """About origins near the means, on a grid as coarse as the spreads: never a row, and no trace of one.

        Unless it is taken anew, an origin that is near enough stays.
        """
        mean = self.mean()
        spread = np.sqrt(np.maximum(ratio(diagonal(self.scatter()), self.count), 0.0))
        fresh = on_grid(mean + self.origin, spread)
        if not anew:
            fresh = np.where(abs(mean) > 4 * spread, fresh, self.origin)
        return self.about(np.where(self.count > 0, fresh, 0.0 if anew else self.origin))

    def pruned(self, features: Features) -> tuple[Features, Self]:
        """Sums of nothing are exactly zero."""
        some = self.count != 0
        second = np.where(some[:, :, None] if self.full else some, self.second, 0.0)
        return features, replace(self, first=np.where(some, self.first, 0.0), second=second)


def _called(where: Array, domain: Domain) -> str:
    c, j = np.argwhere(where)[0]
    return f"{domain.label(int(c))}, {domain.name(int(j))},"


def moments(X: Array, W: OneHot | Array, full: bool = False, origin: Array | None = None) -> Moments:
    """S(X, W) for rows X (n, d) and signed class weights W (n, k), about given origins (k, d) or some of their own.

    An entry that is NaN takes no part in its sums; whole matrices (`full`) have no use for such rows. An origin that is
    NaN is not given.
    """
    k = len(W.classes) if isinstance(W, OneHot) else W.shape[1]
    if origin is None or np.isnan(origin).any():
        own = origins(X, W.codes if isinstance(W, OneHot) else np.zeros(X.shape[0], dtype=int), k)
        origin = own if origin is None else np.where(np.isnan(origin), own, origin)
    if issparse(X):
        return Moments(origin, *sparse_moments(X, W, origin))
    if isinstance(W, OneHot) and not full and not X.flags.c_contiguous and X.flags.f_contiguous:
        return Moments(origin, *kernels.column_moments(X.T, origin, W.codes, W.weight))
    X = by_rows(X)
    if isinstance(W, OneHot):
        return _of_labels(X, W, origin, full)
    if full:
        return _of_weights(X, W, origin)
    count, first, second = kernels.weighted_moments(X, origin, np.ascontiguousarray(W))
    return Moments(origin, count, first, second)


def _of_weights(X: Array, W: Array, origin: Array) -> Moments:
    """S(X, W) with whole matrices, class by class; classes of one origin share the shifted rows."""
    k, d = origin.shape
    first, second = np.empty((k, d)), np.empty((k, d, d))
    Z, at = np.empty(0), None
    for c in range(k):
        if at is None or not np.array_equal(origin[c], origin[at]):
            Z, at = X - origin[c], c
        first[c] = W[:, c] @ Z
        second[c] = gram(Z, W[:, c])
    return Moments(origin, W.sum(axis=0)[:, None], first, second)


def _of_labels(X: Array, Y: OneHot, origin: Array, full: bool) -> Moments:
    """S(X, Y) where every row counts for one class: a single pass, and only its own rows for a class's matrix."""
    if not full:
        return Moments(origin, *kernels.class_moments(X, origin, Y.codes, Y.weight))
    k, d = origin.shape
    first, second = np.zeros((k, d)), np.zeros((k, d, d))
    Z, weight, begin = kernels.class_rows(X, origin, Y.codes, Y.weight)
    with np.errstate(over="ignore", invalid="ignore"):  # a model refuses what overflows
        for c in np.flatnonzero(np.diff(begin)):
            own, w = Z[begin[c] : begin[c + 1]], weight[begin[c] : begin[c + 1]]
            first[c], second[c] = w @ own, gram(own, None if (w == 1).all() else w)
    return Moments(origin, Y.mass()[:, None], first, second)


def origins(X: Array, codes: Array, k: int) -> Array:
    """Origins (k, d) for sums over rows X by class: about the median of some rows of each class, on a coarse grid.

    A median, so that a far row does not pull it away from the others. A class without rows takes that of all.
    """
    rows, begin = some_of_each(codes, k, SAMPLE)
    middle = np.empty((2, k, X.shape[1]))
    if not np.diff(begin).all():
        middle[:] = _middle(X[:: max(1, X.shape[0] // SAMPLE)])[:, None]
    for c in np.flatnonzero(np.diff(begin)):
        sample = X[rows[begin[c] : begin[c + 1]]]
        middle[:, c] = _middle(sample)
        if not issparse(X):
            for j in np.flatnonzero(np.isnan(sample).all(axis=0)):  # a column that is mostly missing
                there = np.flatnonzero((codes == c) & ~np.isnan(X[:, j]))
                middle[:, c, j] = _middle(X[there[:: max(1, len(there) // SAMPLE)], j : j + 1])[:, 0]
    return on_grid(*middle)


def _middle(sample: Array) -> Array:
    """The median of each column, and how fine a grid it needs (2, d): as its middle half is wide; 0 if all are missing.

    Where that half is one value, the middle four fifths decide, else all. So a far-away value has no say: about an
    origin as far away the sums of all other rows would lose their digits.
    """
    if not sample.shape[0]:
        return np.zeros((2, sample.shape[1]))
    if issparse(sample):
        return _middle_of_stored(sample)
    values = np.sort(sample.astype(float), axis=0)  # missing ones last
    known = (~np.isnan(values)).sum(axis=0)
    last, columns = np.maximum(known, 1) - 1, np.arange(values.shape[1])

    at = (QUANTILES[:, None] * last).astype(int)
    middle, *ends = np.where(known > 0, values[at, columns], 0.0)
    spread = np.zeros(len(columns))
    with np.errstate(over="ignore"):
        for low, high, parts in zip(ends[::2], ends[1::2], (8, 16, 32), strict=True):
            spread = np.where(spread > 0, spread, (high - low) / parts)
    return np.stack([middle, spread])


def _middle_of_stored(sample: csr_array) -> Array:
    """`_middle` of sparse rows: zero where most rows have no entry, so that few columns are made dense."""
    out = np.zeros((2, sample.shape[1]))
    entries = np.bincount(sample.indices, minlength=sample.shape[1])
    columns = np.flatnonzero(2 * entries > sample.shape[0])
    if len(columns):
        out[:, columns] = _middle(sample[:, columns].toarray())
    return out


def on_grid(value: Array, spread: Array) -> Array:
    """A point near each value, halfway between points of a grid of powers of two as coarse as the spread allows.

    So it is no value itself, and differences to it are exact. Where there is no spread, it shares some leading digits
    with the value.
    """
    size = np.where((spread > 0) & np.isfinite(spread), spread, abs(value) * 2.0**-BITS)
    with np.errstate(divide="ignore"):
        grain = np.where(size > 0, 2.0 ** np.floor(np.log2(np.where(size > 0, size, 1.0))), 0.0)
    near = (np.floor(ratio(value, grain)) + 0.5) * grain
    near = np.where(near == value, near + grain, near)
    return np.where(np.isfinite(near), near, 0.0)


def diagonal(second: Array) -> Array:
    """The diagonals (k, d) of sums of squares that are kept whole or as their diagonals."""
    return np.diagonal(second, axis1=1, axis2=2) if second.ndim == 3 else second


def ratio(a: Array | float, b: Array) -> Array:
    """a / b, and 0 where b is 0."""
    return np.divide(a, b, out=np.zeros(np.broadcast(a, b).shape), where=b != 0)
