"""Moments: the count, the sum and the sum of squares of each class, about an origin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array, issparse

from suffice._core.features import Domain, Features, by_rows
from suffice._core.labels import OneHot, some_of_each
from suffice._core.vector import Array
from suffice._runtime.lazy import compiled, in_any_order
from suffice.data.queries import DatabaseRows
from suffice.models.overview import Overview, Summary
from suffice.models.statistics import Sums, grouped

NEGLIGIBLE = 2.0**-70  # of the greatest weight: what weighs less is far below the rounding of the sum
COLUMNS, PRODUCT_ENTRIES = 64, 1 << 16  # of a product that is squared and added up while it is near


def gram(Z: Array, weight: Array | None = None) -> Array:
    """sum_i w_i z_i z_i' (d, d) of rows Z (n, d) and signed weights (n,); NumPy knows a square, and does half the work.

    Positive and negative weights are summed apart, as squares of sqrt|w| z.

    >>> gram(np.array([[1.0, 2.0], [3.0, 0.0]]), np.array([1.0, -1.0]))
    array([[-8.,  2.],
           [ 2.,  4.]])
    """
    with np.errstate(over="ignore", invalid="ignore"):  # a model refuses what overflows
        if weight is None:
            return np.asarray(Z.T @ Z)
        size = np.abs(weight)
        some = size > NEGLIGIBLE * size.max(initial=0.0)
        total = np.zeros((Z.shape[1], Z.shape[1]))
        for sign, rows in ((1.0, np.flatnonzero(some & (weight > 0))), (-1.0, np.flatnonzero(some & (weight < 0)))):
            if len(rows):
                part = Z[rows] if len(rows) < len(Z) else Z.copy()
                part *= np.sqrt(size[rows])[:, None]
                total += sign * (part.T @ part)
        return total


def squared_lengths(gap: Array, upper: Array, at: Array | None = None) -> Array:
    """|z' U - a|^2 (n,) of rows (n, d), an upper triangular U (d, d) and a point a (d,), by default zero.

    Some columns at a time, without the zeros below them.

    >>> squared_lengths(np.array([[1.0, 2.0]]), np.array([[1.0, 3.0], [0.0, 2.0]]))
    array([50.])
    """
    n, d = gap.shape
    out, size = np.zeros(n, dtype=gap.dtype), max(8 * COLUMNS, PRODUCT_ENTRIES // max(1, d))
    for rows in (slice(i, i + size) for i in range(0, n, size)):
        for first in range(0, d, COLUMNS):
            last = first + COLUMNS
            white = gap[rows, :last] @ upper[:last, first:last]
            if at is not None:
                white -= at[first:last]
            out[rows] += np.einsum("ij,ij->i", white, white)
    return out


ROWS_UNCOMPENSATED = 64  # rows that are summed without compensation for rounding
ROWS_OF_COLUMN = 1024  # rows of a column that are summed at a time
MAX_CLASSES_DENSE = 4  # with more classes, it is faster to gather the rows of each


@compiled
def class_moments(X: Array, origin: Array, labels: Array, weight: Array) -> tuple[Array, Array, Array]:
    """Sums of weight, weight (x - o) and weight (x - o)^2 over the entries of each class that are not missing: (k, d).

    The sums of a few rows at a time are added up with compensation, so that a value repeated in a million rows leaves
    no variance behind. Entries are tested one by one only where some are missing.
    """
    n, d = X.shape
    k = origin.shape[0]
    sums, lost, part, mass = np.zeros((3, k, d)), np.zeros((3, k, d)), np.zeros((3, k, d)), np.zeros(k)
    for begin in range(0, n, ROWS_UNCOMPENSATED):
        end = min(n, begin + ROWS_UNCOMPENSATED)
        part[:], mass[:] = 0.0, 0.0
        for i in range(begin, end):
            c, w = labels[i], weight[i]
            if c >= 0:
                mass[c] += w
                for j in range(d):
                    x = X[i, j] - origin[c, j]
                    part[1, c, j] += w * x
                    part[2, c, j] += w * x * x
        if np.isnan(part).any():
            _moments_there(X[begin:end], origin, labels[begin:end], weight[begin:end], part)
        else:
            for c in range(k):
                part[0, c] = mass[c]
        _add_exactly(part, sums, lost)
    return sums[0], sums[1], sums[2]


@compiled
def column_moments(columns: Array, origin: Array, labels: Array, weight: Array) -> tuple[Array, Array, Array]:
    """`class_moments` of contiguous columns (d, n), some rows at a time.

    Each class is summed over all rows, with weight zero for rows of other classes, or, if there are many classes, over
    its own entries, copied side by side.
    """
    d, n = columns.shape
    k = origin.shape[0]
    sums, lost, part = np.zeros((3, k, d)), np.zeros((3, k, d)), np.zeros((3, k, d))
    order, near, end = np.empty(ROWS_OF_COLUMN, np.uint32), np.empty(ROWS_OF_COLUMN), np.empty(k + 1, np.int64)
    own = np.empty((k if k <= MAX_CLASSES_DENSE else 1, ROWS_OF_COLUMN))
    for start in range(0, n, ROWS_OF_COLUMN):
        stop = min(n, start + ROWS_OF_COLUMN)
        if k <= MAX_CLASSES_DENSE:
            by_weight(labels[start:stop], weight[start:stop], own)
        else:
            by_class(labels[start:stop], weight[start:stop], order, own[0], end)
        for j in range(d):
            x = columns[j, start:stop]
            if k > MAX_CLASSES_DENSE:
                for i in range(end[k]):
                    near[i] = x[order[i]]
            for c in range(k):
                if k <= MAX_CLASSES_DENSE:
                    part[0, c, j], part[1, c, j], part[2, c, j] = three_moments(x, own[c, : len(x)], origin[c, j])
                else:
                    at = slice(end[c], end[c + 1])
                    part[0, c, j], part[1, c, j], part[2, c, j] = three_moments(near[at], own[0, at], origin[c, j])
        if np.isnan(part).any():
            _moments_there(columns[:, start:stop].T, origin, labels[start:stop], weight[start:stop], part)
        _add_exactly(part, sums, lost)
    return sums[0], sums[1], sums[2]


@compiled
def by_weight(labels: Array, weight: Array, own: Array) -> None:
    """Write weights by class (k, n) to `own`: zero in all classes except the row's."""
    own[:, : len(labels)] = 0.0
    for i in range(len(labels)):
        if labels[i] >= 0:
            own[labels[i], i] = weight[i]


@compiled
def by_class(labels: Array, weight: Array, order: Array, own: Array, end: Array) -> None:
    """Write the rows that have a class, sorted by class, their weights, and the bounds of classes (k + 1,)."""
    end[:] = 0
    for i in range(len(labels)):
        end[labels[i] + 1] += labels[i] >= 0
    for c in range(1, len(end)):
        end[c] += end[c - 1]
    for i in range(len(labels)):
        if labels[i] >= 0:
            at = end[labels[i]]
            order[at], own[at] = i, weight[i]
            end[labels[i]] += 1
    for c in range(len(end) - 1, 0, -1):
        end[c] = end[c - 1]
    end[0] = 0


@in_any_order
def three_moments(x: Array, w: Array, origin: float) -> tuple[float, float, float]:
    """sum_i w_i, sum_i w_i (x_i - o) and sum_i w_i (x_i - o)^2."""
    count, first, second = 0.0, 0.0, 0.0
    for i in range(len(x)):
        gap = x[i] - origin
        count += w[i]
        first += w[i] * gap
        second += w[i] * gap * gap
    return count, first, second


@compiled
def _add_exactly(part: Array, sums: Array, lost: Array) -> None:
    """Add to sums (3, k, d) by Kahan summation: `lost` is what rounding has lost."""
    for m in range(part.shape[0]):
        for c in range(part.shape[1]):
            for j in range(part.shape[2]):
                term = part[m, c, j] - lost[m, c, j]
                total = sums[m, c, j] + term
                lost[m, c, j] = (total - sums[m, c, j]) - term
                sums[m, c, j] = total


@compiled
def _moments_there(X: Array, origin: Array, labels: Array, weight: Array, sums: Array) -> None:
    """Write the sums of `class_moments` to (3, k, d), testing every entry."""
    sums[:] = 0.0
    for i in range(len(X)):
        c, w = labels[i], weight[i]
        if c >= 0:
            for j in range(X.shape[1]):
                x = X[i, j] - origin[c, j]
                if x == x:
                    sums[0, c, j] += w
                    sums[1, c, j] += w * x
                    sums[2, c, j] += w * x * x


@compiled
def class_rows(X: Array, origin: Array, labels: Array, weight: Array) -> tuple[Array, Array, Array]:
    """Rows x - o sorted by class, their weights, and the bounds of classes (k + 1,)."""
    n, d = X.shape
    k = origin.shape[0]
    begin = np.zeros(k + 1, np.int64)
    for i in range(n):
        if labels[i] >= 0:
            begin[labels[i] + 1] += 1
    for c in range(k):
        begin[c + 1] += begin[c]
    Z, own, at = np.empty((begin[k], d)), np.empty(begin[k]), begin.copy()
    for i in range(n):
        c = labels[i]
        if c >= 0:
            for j in range(d):
                Z[at[c], j] = X[i, j] - origin[c, j]
            own[at[c]] = weight[i]
            at[c] += 1
    return Z, own, begin


@compiled
def weighted_moments(X: Array, origin: Array, W: Array) -> tuple[Array, Array, Array]:
    """`class_moments` for signed weights of every row in every class (n, k)."""
    n, d = X.shape
    k = W.shape[1]
    mass, count, first, second = np.zeros(k), np.zeros((k, d)), np.zeros((k, d)), np.zeros((k, d))
    for i in range(n):
        if np.isnan(X[i].sum()):
            for c in range(k):
                w = W[i, c]
                for j in range(d):
                    x = X[i, j] - origin[c, j]
                    if x == x:
                        count[c, j] += w
                        first[c, j] += w * x
                        second[c, j] += w * x * x
            continue
        for c in range(k):
            w = W[i, c]
            mass[c] += w
            for j in range(d):
                x = X[i, j] - origin[c, j]
                first[c, j] += w * x
                second[c, j] += w * x * x
    for c in range(k):
        count[c] += mass[c]
    return count, first, second


def sparse_moments(X: csr_array, W: OneHot | Array, origin: Array) -> tuple[Array, Array, Array]:
    """Counts, sums of x - o and of (x - o)^2 (k, d), of rows X (n, d) in which a stored NaN is a missing entry.

    Stored entries are summed about the origin as dense ones are. The zeros have the weight z that is left of their
    class, and add -z o and z o^2; where every row has an entry there are none, whatever rounding says.
    """
    if isinstance(W, OneHot):
        sums, entries = _class_moments(X.data, X.indices, X.indptr, origin, W.codes, W.weight)
        mass, rows = W.mass(), np.bincount(W.codes[W.codes >= 0], minlength=len(W.classes))
    else:
        sums, entries = _weighted_moments(X.data, X.indices, X.indptr, origin, np.ascontiguousarray(W))
        mass, rows = W.sum(axis=0), np.array([X.shape[0]])
    stored, first, second, missing = sums
    zeros = np.where(entries == rows[:, None], 0.0, mass[:, None] - stored - missing)
    return mass[:, None] - missing, first - zeros * origin, second + zeros * origin**2


@compiled
def _class_moments(
    data: Array, indices: Array, indptr: Array, origin: Array, labels: Array, weight: Array
) -> tuple[Array, Array]:
    """Sums of weight, of weight (x - o), of weight (x - o)^2 and of missing weight (4, k, d), and numbers of entries.

    Compensated, as those of dense rows are.
    """
    k, d = origin.shape
    sums, lost = np.zeros((4, k, d)), np.zeros((3, k, d))
    entries = np.zeros((k, d))
    terms = np.empty(3)
    for i in range(len(labels)):
        c = labels[i]
        if c < 0:
            continue
        for t in range(indptr[i], indptr[i + 1]):
            j = indices[t]
            entries[c, j] += 1
            x = data[t] - origin[c, j]
            if np.isnan(x):
                sums[3, c, j] += weight[i]
                continue
            terms[0] = weight[i]
            terms[1] = weight[i] * x
            terms[2] = terms[1] * x
            for m in range(3):
                term = terms[m] - lost[m, c, j]
                total = sums[m, c, j] + term
                lost[m, c, j] = (total - sums[m, c, j]) - term
                sums[m, c, j] = total
    return sums, entries


@compiled
def _weighted_moments(data: Array, indices: Array, indptr: Array, origin: Array, W: Array) -> tuple[Array, Array]:
    """`_class_moments` for signed weights of every row in every class (n, k); numbers of entries are (1, d)."""
    k, d = origin.shape
    sums, entries = np.zeros((4, k, d)), np.zeros((1, d))
    for i in range(W.shape[0]):
        for t in range(indptr[i], indptr[i + 1]):
            entries[0, indices[t]] += 1
        for c in range(k):
            w = W[i, c]
            for t in range(indptr[i], indptr[i + 1]):
                j = indices[t]
                x = data[t] - origin[c, j]
                if np.isnan(x):
                    sums[3, c, j] += w
                else:
                    sums[0, c, j] += w
                    sums[1, c, j] += w * x
                    sums[2, c, j] += w * x * x
    return sums, entries


ROUNDING = 1e-12  # a spread below this share of the sum of squares about the origin counts as none
LOST = 1e-9  # a spread this far below zero, relative to the largest sums that it comes from, is not rounding
NOISE = 8 * float(np.finfo(float).eps)  # rounding of a spread, relative to the largest sums that it comes from
VAGUE = 1e-6  # a spread whose rounding is above this share of it is not known well enough
NOTHING = 1e-12  # rounding below this share of the spread of all classes changes nothing
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
    by class otherwise. Sums about an origin near the data keep the digits that raw moments lose. When rows are taken
    back, the sums become smaller and their rounding does not: `reach` remembers how large they have been. It is a power
    of two, times the factors that the sums were multiplied by, so that it tells an order of magnitude and no value.

    >>> s = moments(np.array([[1.0], [3.0], [8.0]]), OneHot.of(np.array([0, 0, 1])))
    >>> s.mean() + s.origin
    array([[2.],
           [8.]])
    """

    fixed: ClassVar[tuple[str, ...]] = ("origin", "reach")
    counts: ClassVar = ("count",)

    origin: Annotated[Array, "k d"]
    count: Annotated[Array, "k d|k 1"]  # one column for full covariances
    first: Annotated[Array, "k d"]
    second: Annotated[Array, "k d|k d d"]
    # bounds the squares in all sums that these come from; None: they bound these
    reach: Annotated[Array | None, "k d"] = None

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

    def reached(self) -> Array:
        """How large the sums of squares have been (k, d)."""
        return abs(diagonal(self.second)) if self.reach is None else self.reach

    def noise(self) -> Array:
        """The rounding that the sums of squares about the means may have (k, d)."""
        return NOISE * self.reached()

    def left_over(self) -> Array:
        """The rounding that is left of larger sums (k, d)."""
        return np.zeros(self.first.shape) if self.reach is None else self.noise()

    def nothing(self) -> Array:
        """The spread that counts as none (k, d)."""
        return np.maximum(ROUNDING * diagonal(self.second), self.left_over())

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

    def map(self, f: Callable[..., Any], *others: Self) -> Self:
        out = super().map(f, *others)  # with others, `align` has bounded what they come to
        return out if others or self.reach is None else replace(out, reach=abs(f(self.reach)))

    def align(self, other: Any) -> tuple[Any, Any]:
        if not isinstance(other, Moments):  # sums of rows with missing entries
            return other.lifted(self).align(other)  # type: ignore[no-any-return]
        a, b = self, other
        if not (a.origin is b.origin or np.array_equal(a.origin, b.origin)):
            heavier = abs(a.count) >= abs(b.count)  # whose origin is nearer to the whole
            origin = np.where(heavier, a.origin, b.origin)
            a, b = a.about(origin), b.about(origin)
        known = [one.reach for one in (a, b) if one.reach is not None]
        if not known:
            return a, b
        reach = _larger(known, abs(diagonal(a.second)) + abs(diagonal(b.second)))
        return replace(a, reach=reach), replace(b, reach=reach)

    def select_classes(self, which: Array) -> Self:
        return replace(super().select_classes(which), origin=self.origin[which])

    def regroup(self, group: Array, size: int) -> Self:
        """Classes added up to groups, each about the origin of its heaviest class; some at a time, to save memory."""
        if np.array_equal(np.sort(group[group >= 0]), np.arange(size)):  # one class each: nothing to add
            return self.select_classes(np.argsort(np.where(group >= 0, group, size), kind="stable")[:size])
        origin, d = np.zeros((size, self.first.shape[1])), self.first.shape[1]
        known = []
        for g in np.unique(group[group >= 0]):
            members = np.flatnonzero(group == g)
            heaviest = members[np.argmax(abs(self.count[members]), axis=0)]
            origin[g] = self.origin[np.broadcast_to(heaviest, d), np.arange(d)]
        kept = np.flatnonzero(group >= 0)
        some = max(1, ENTRIES // max(1, self.second[:1].size))
        out = replace(self.map(lambda value: np.zeros((size, *value.shape[1:]))), origin=origin)
        for at in (kept[i : i + some] for i in range(0, len(kept), some)):
            part = self.select_classes(at).about(origin[group[at]])
            out = out.map(lambda total, value, to=group[at]: total + grouped(value, to, size), part)
            known += [] if part.reach is None else [grouped(part.reach, group[at], size)]
        return replace(out, reach=_larger(known, abs(diagonal(out.second)))) if known else out

    def about(self, o: Array) -> Self:
        """The same moments about other origins (d,) or (k, d), exactly: mass may be zero or negative."""
        o = np.broadcast_to(o, self.origin.shape)
        shift = self.origin - o
        if not shift.any():
            return replace(self, origin=o)
        cross = self.square(self.first, shift)
        cross = cross + cross.swapaxes(1, 2) if self.full else 2 * cross
        square = (self.count[:, :, None] if self.full else self.count) * self.square(shift, shift)
        known = [] if self.reach is None else [self.reach]
        reach = _larger(known, abs(diagonal(self.second)) + abs(diagonal(square)))
        second = self.second + cross + square
        return replace(self, origin=o, first=self.first + self.count * shift, second=second, reach=reach)

    def subtract(self, gone: Self) -> Self:
        first = replace(self, reach=_larger([], abs(diagonal(self.second)))) if self.reach is None else self
        return super(Moments, first).subtract(gone)

    def impossible(self, before: Self, domain: Domain, mass: Array) -> str | None:
        return self.why_not_contained(before, domain, mass) or self._lost(before, domain)

    def why_not_contained(self, before: Self, domain: Domain, mass: Array) -> str | None:
        over = self.count > mass[:, None] * (1 + 1e-6)
        if (self.count < 0).any() or over.any():
            where = _called((self.count < 0) | over, domain)
            return f"{where} would keep more or fewer values than rows: {NOT_LEARNED}"
        unit = np.sqrt(self.reached())  # the size of the sums, and so of their rounding
        inverse = ratio(1.0, unit)
        scatter = self.scatter() * self.square(inverse, inverse)
        off = ~(diagonal(scatter) >= -LOST)  # which it is too if the rows had squares beyond the range of numbers
        if scatter.ndim == 3 and not off.any():  # a direction between the axes may be lost as well
            off |= np.linalg.eigvalsh(scatter)[:, :1] < -LOST
        off |= (self.count == 0) & (abs(self.first) > LOST * unit * np.sqrt(before.count))
        if off.any():
            return f"{_called(off, domain)} would have a negative variance: {NOT_LEARNED}"
        return None

    def _lost(self, before: Self, domain: Domain) -> str | None:
        """Which variance would have too few correct digits, after rows were taken from the sums `before`; None if none.

        One that may be zero up to rounding is taken for zero (`settled`) where it is so exactly, where rounding is
        nothing beside the spread of all classes, and where a single row of weight 1 is left.
        """
        whole, had = self.diagonals().total(), before.diagonals().total()
        left, spread = diagonal(self.scatter()), whole.scatter()
        none = abs(left) <= self.noise()
        vague = np.where(none, self.noise() > NOTHING * spread, self.noise() > VAGUE * abs(left))
        vague &= (left != 0) & ~_single(self, before)
        vague |= (whole.noise() > VAGUE * abs(spread)) & (spread != 0) & ~_single(whole, had)
        vague &= (self.count > 0) & (had.scatter() > ROUNDING * had.second)  # a constant column stays so
        if vague.any():
            return (
                f"{_called(vague, domain)} would lose its variance to rounding, as the rows forgotten vary far more "
                "than the others: fit the others again"
            )
        return None

    def recentred(self, from_sums: bool = False) -> Self:
        """About origins near the means, on a grid as coarse as the spreads: never a row, and no trace of one.

        An origin that is near enough stays, unless it is taken again: then a spread that is only rounding becomes zero.
        """
        mean, scatter = self.mean(), diagonal(self.scatter())
        none = (abs(scatter) <= self.noise()) & from_sums
        spread = np.sqrt(np.maximum(ratio(np.where(none, 0.0, scatter), self.count), 0.0))
        fresh = on_grid(mean + self.origin, spread)
        if not from_sums:
            fresh = np.where(abs(mean) > 4 * spread, fresh, self.origin)
        moved = self.about(np.where(self.count > 0, fresh, 0.0 if from_sums else self.origin))
        if not none.any():
            return moved
        some = none[:, :, None] | none[:, None, :] if self.full else none
        return replace(moved, second=np.where(some, moved.square(moved.first, moved.mean()), moved.second))

    def overview(self, domain: Domain, mass: Array) -> Overview:  # noqa: ARG002 - columns have counts of their own
        mean, variance = self.mean() + self.origin, ratio(diagonal(self.scatter()), self.count)
        count, spread = np.broadcast_to(self.count, mean.shape), np.sqrt(np.maximum(variance, 0.0))
        return Overview.each(domain.features, lambda j: Summary.of_moments(count[:, j], mean[:, j], spread[:, j]))

    def pruned(self, features: Features) -> tuple[Features, Self]:
        """Sums of nothing are exactly zero."""
        some = self.count != 0
        second = np.where(some[:, :, None] if self.full else some, self.second, 0.0)
        reach = None if self.reach is None else np.where(some, self.reach, 0.0)
        return features, replace(self, first=np.where(some, self.first, 0.0), second=second, reach=reach)


def _called(where: Array, domain: Domain) -> str:
    c, j = np.argwhere(where)[0]
    return f"{domain.label(int(c))}, {domain.name(int(j))},"


def _single(left: Moments, before: Moments) -> Array:
    """Where one row of weight 1 is left of rows with whole weights."""
    return np.asarray((left.count == 1) & (before.count == np.rint(before.count)))


def _larger(known: list[Array], size: Array) -> Array:
    """The least power of two that is not below a size (k, d), unless the sums were known to have a greater reach."""
    mantissa, exponent = np.frexp(size)
    power = np.ldexp(1.0 * (mantissa != 0), exponent - (mantissa == 0.5))
    return np.asarray(np.max([power, *known], axis=0))


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
        return Moments(origin, *column_moments(X.T, origin, W.codes, W.weight))
    X = by_rows(X)
    if isinstance(W, OneHot):
        return _of_labels(X, W, origin, full)
    if full:
        return _of_weights(X, W, origin)
    count, first, second = weighted_moments(X, origin, np.ascontiguousarray(W))
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
        return Moments(origin, *class_moments(X, origin, Y.codes, Y.weight))
    k, d = origin.shape
    first, second = np.zeros((k, d)), np.zeros((k, d, d))
    Z, weight, begin = class_rows(X, origin, Y.codes, Y.weight)
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

    So it is not a value itself, and differences to it are exact. Where there is no spread, it shares some leading
    digits with the value.
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


# Origins are on a grid of this number of parts of a column's range.
ORIGIN_PARTS = 32


def about(rows: DatabaseRows, origin: Array | None) -> Array:
    """Origins (k, d) that are given, or near the mean of each class, on a coarse grid: never a row."""
    if origin is not None:
        return origin
    mean, width = rows.means_and_widths()
    return on_grid(mean, width / ORIGIN_PARTS)


def moments_asked(rows: DatabaseRows, origin: Array | None) -> Moments:
    """Moments of each column."""
    return Moments(*rows.powers(about(rows, origin)))
