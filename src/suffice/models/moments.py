"""Moments: the mass, the sum and the sum of squares of each class, about an origin."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from suffice._domain import Domain, OneHot, positions
from suffice._vector import Array
from suffice.models import _kernels
from suffice.models._statistics import Statistics, grouped

LOST = 1e-9  # a spread this far below zero, relative to the sums it was taken from, is not rounding
DIGITS = 1e-12  # what is left of a spread, relative to the sums it was taken from, below which it has no digits left
NOT_LEARNED = "these rows were not all learned"


@dataclass(frozen=True, eq=False, repr=False)
class Moments(Statistics):
    """Sums of weights, of x - o and of its squares, by class, where o is the origin of the domain.

        mass_c = sum_i W_ic,   first_c = sum_i W_ic (x_i - o),   second_c = sum_i W_ic (x_i - o)(x_i - o)'

    `count` is the mass of a block that can be missing on its own: an entry where only the diagonal of `second` is
    kept, the class otherwise. Sums about an origin near the data keep the digits that raw moments lose.

    >>> s = moments(np.array([[1.0], [3.0], [8.0]]), OneHot.of(np.array([0, 0, 1])))
    >>> s
    Moments of 1 feature, mass 3 in 2 classes: 0: 2, 1: 1
    >>> s.mean() + s.domain.origin
    array([[2.],
           [8.]])
    """

    weights: ClassVar = ("mass", "count")

    count: Array  # (k, d) diagonal, (k, 1) full
    first: Array  # (k, d)
    second: Array  # (k, d) diagonal, (k, d, d) full

    def mean(self) -> Array:
        """The mean of each class about the origin (k, d); 0 where there is no mass."""
        return ratio(self.first, self.count)

    def scatter(self, about: Array | None = None) -> Array:
        """The sum of squares of each class about points (k, d), by default its mean: (k, d) or (k, d, d)."""
        if about is None:
            return self.second - self.square(self.first, self.mean())
        centred = self.first - self.count * about
        return self.second - self.square(self.first, about) - self.square(about, centred)

    def square(self, a: Array, b: Array) -> Array:
        """Products a b' of rows (k, d), whole or diagonal as `second` is."""
        return a[:, :, None] * b[:, None, :] if self.second.ndim == 3 else a * b

    def total(self) -> Self:
        """The moments of all rows whatever their class, as one class."""
        return self.regroup(np.zeros(len(self.mass), dtype=int), np.zeros(1, dtype=int))

    def meet(self, other: Self) -> tuple[Self, Self]:
        domain = self.domain | other.domain
        if domain is not self.domain:  # the heavier side's origin is nearer to the whole
            heavier = abs(self.count).sum(axis=0) >= abs(other.count).sum(axis=0)
            domain = replace(domain, origin=np.where(heavier, origin(self.domain), origin(other.domain)))
        return self.onto(domain), other.onto(domain)

    def onto(self, domain: Domain) -> Self:
        if domain is self.domain:
            return self
        at, size = positions(self.domain.classes, domain.classes), len(domain.classes)
        return replace(self.about(origin(domain)).map(lambda value: grouped(value, at, size)), domain=domain)

    def about(self, o: Array) -> Self:
        """The same moments about another origin, exactly: mass may be zero or negative."""
        shift = np.broadcast_to(origin(self.domain) - o, self.first.shape)
        if not shift.any():
            return self
        cross = self.square(self.first, shift)
        full = self.second.ndim == 3
        cross = cross + cross.swapaxes(1, 2) if full else 2 * cross
        square = (self.count[:, :, None] if full else self.count) * self.square(shift, shift)
        domain = replace(self.domain, origin=o)
        return replace(self, domain=domain, first=self.first + self.count * shift, second=self.second + cross + square)

    def impossible(self, before: Self) -> str | None:
        over = self.count > self.mass[:, None] * (1 + 1e-6)
        if (self.count < 0).any() or over.any():
            return f"{self._called((self.count < 0) | over)} would keep more or fewer values than rows: {NOT_LEARNED}"
        unit = np.sqrt(diagonal(before.second))  # the size of the sums, and so of their rounding
        scatter = self.scatter() * ratio(1.0, self.square(unit, unit))
        off = diagonal(scatter) < -LOST
        if scatter.ndim == 3:  # a direction between the axes may be lost as well
            off |= np.linalg.eigvalsh(scatter)[:, :1] < -LOST
        off |= (self.count == 0) & (abs(self.first) > LOST * unit * np.sqrt(before.count))
        if off.any():
            return f"{self._called(off)} would have a negative variance: {NOT_LEARNED}"
        left, size = diagonal(self.total().scatter())[0], diagonal(before.total().second)[0]
        far = (left != 0) & (left < DIGITS * size)
        if far.any():
            where = self.domain.name(int(np.flatnonzero(far)[0]))
            return (
                f"{where} would lose its variance to rounding, so far out are the rows to forget: fit the others anew"
            )
        return None

    def pruned(self, before: Self) -> Self:
        """Sums of nothing are exactly zero."""
        s = super().pruned(before)
        some = s.count != 0
        second = np.where(some[:, :, None] if s.second.ndim == 3 else some, s.second, 0.0)
        return replace(s, first=np.where(some, s.first, 0.0), second=second)

    def _called(self, where: Array) -> str:
        c, j = np.argwhere(where)[0]
        return f"{self.label(int(c))}, {self.domain.name(int(j))},"


def moments(
    X: Array, W: OneHot | Array, full: bool = False, domain: Domain | None = None, names: tuple[str, ...] | None = None
) -> Moments:
    """S(X, W) for rows X (n, d) and signed class weights W (n, k), on a given domain or on one of their own.

    An entry that is NaN takes no part in its sums; whole matrices (`full`) have no use for such rows.
    """
    if domain is None:
        classes = W.classes if isinstance(W, OneHot) else np.arange(W.shape[1])
        domain = Domain(classes, names, centre(X))
    if isinstance(W, OneHot):
        return _of_labels(X, W.onto(domain.classes), domain, full)
    Z = X - origin(domain)
    mass = W.sum(axis=0)
    if full:
        return Moments(domain, mass, mass[:, None], W.T @ Z, np.stack([(Z * w[:, None]).T @ Z for w in W.T]))
    present = ~np.isnan(Z)
    Z = np.where(present, Z, 0.0)
    return Moments(domain, mass, W.T @ present.astype(float), W.T @ Z, W.T @ (Z * Z))


def _of_labels(X: Array, Y: OneHot, domain: Domain, full: bool) -> Moments:
    """S(X, Y) where every row counts for one class: a single pass, and only its own rows for a class's matrix."""
    k, known = len(Y.classes), Y.codes >= 0
    mass = np.bincount(Y.codes[known], Y.weight[known], k)
    count, first, second = _kernels.class_moments(X, origin(domain), Y.codes, Y.weight, k)
    if not full:
        return Moments(domain, mass, count, first, second)
    outer = np.empty((k, X.shape[1], X.shape[1]))
    for c in range(k):
        rows = np.flatnonzero(Y.codes == c)
        Z, weight = X[rows] - origin(domain), Y.weight[rows, None]
        outer[c] = Z.T @ (Z if (weight == 1).all() else Z * weight)
    return Moments(domain, mass, mass[:, None], first, outer)


def centre(X: Array) -> Array:
    """An origin (d,) for sums over rows X: about the median of each column, rounded so that whole numbers stay exact.

    A median, so that a far row does not pull it away from the others; of some rows, for it need not be exact.
    """
    sample = X[:: max(1, len(X) // 256)]
    out = np.zeros(X.shape[1])
    for j, column in enumerate(sample.T):
        values = column[~np.isnan(column)]
        if len(values):
            middle, width = np.median(values), values.max() - values.min()
            grain = 2.0 ** np.floor(np.log2(width / 32)) if 0 < width < np.inf else 0.0
            out[j] = np.rint(middle / grain) * grain if grain else middle
    return out


def origin(domain: Domain) -> Array:
    """The origin (d,) of a domain of moments."""
    return np.zeros(0) if domain.origin is None else domain.origin


def diagonal(second: Array) -> Array:
    """The diagonals (k, d) of sums of squares that are kept whole or as their diagonals."""
    return np.diagonal(second, axis1=1, axis2=2) if second.ndim == 3 else second


def ratio(a: Array | float, b: Array) -> Array:
    """a / b, and 0 where b is 0."""
    a, b = np.broadcast_arrays(a, b)
    return np.divide(a, b, out=np.zeros(a.shape), where=b != 0)
