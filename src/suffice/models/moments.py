"""Moments: the mass, the sum and the sum of squares of each class, about an origin."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from suffice._domain import Domain, OneHot, positions
from suffice._vector import Array
from suffice.models import _kernels
from suffice.models._statistics import Statistics, kept_classes, placed

LOST = 1e-9  # a spread this far below zero, relative to the sums it was taken from, is not rounding


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

    count: Array  # (k, d) diagonal, (k, 1) full
    first: Array  # (k, d)
    second: Array  # (k, d) diagonal, (k, d, d) full

    def mean(self) -> Array:
        """The mean of each class about the origin (k, d); 0 where there is no mass."""
        return ratio(self.first, self.count)

    def scatter(self) -> Array:
        """The centred sum of squares of each class, second - count mean mean': (k, d) or (k, d, d)."""
        return self.second - self._square(self.first, self.mean())

    def _square(self, a: Array, b: Array) -> Array:
        return a[:, :, None] * b[:, None, :] if self.second.ndim == 3 else a * b

    def total(self) -> Self:
        """The moments of all rows whatever their class, as one class."""
        domain = replace(self.domain, classes=np.zeros(1, dtype=int))
        return replace(self.map(lambda value: value.sum(axis=0, keepdims=True)), domain=domain)

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
        return replace(self.about(origin(domain)).map(lambda value: placed(value, at, size)), domain=domain)

    def about(self, o: Array) -> Self:
        """The same moments about another origin, exactly: mass may be zero or negative."""
        shift = np.broadcast_to(origin(self.domain) - o, self.first.shape)
        if not shift.any():
            return self
        cross = self._square(self.first, shift)
        full = self.second.ndim == 3
        cross = cross + cross.swapaxes(1, 2) if full else 2 * cross
        square = (self.count[:, :, None] if full else self.count) * self._square(shift, shift)
        domain = replace(self.domain, origin=o)
        return replace(self, domain=domain, first=self.first + self.count * shift, second=self.second + cross + square)

    def impossible(self, size: Self) -> str | None:
        if (self.count < 0).any():
            return f"{self._called(self.count < 0)} would keep less than no values"
        unit = np.sqrt(diagonal(size.second))
        scatter = self.scatter() * ratio(1.0, self._square(unit, unit))
        off = diagonal(scatter) < -LOST
        if scatter.ndim == 3:  # a direction between the axes may be lost as well
            off |= np.linalg.eigvalsh(scatter)[:, :1] < -LOST
        gone = (self.count == 0) & (abs(self.first) > LOST * unit * np.sqrt(size.count))
        return f"{self._called(off | gone)} would lose the variance" if (off | gone).any() else None

    def _called(self, where: Array) -> str:
        c, j = np.argwhere(where)[0]
        return f"class {self.domain.classes[c].item()!r}, {self.domain.name(int(j))},"

    def pruned(self, before: Self) -> Self:
        return kept_classes(self, before)


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
    """An origin (d,) for sums over rows X: the mean of each column, exactly its value where that is one."""
    present = ~np.isnan(X)
    n = present.sum(axis=0)
    low = np.min(X, axis=0, where=present, initial=np.inf)
    high = np.max(X, axis=0, where=present, initial=-np.inf)
    mean = ratio(np.sum(X, axis=0, where=present), n)
    return np.where(n > 0, np.clip(mean, low, high), 0.0)


def origin(domain: Domain) -> Array:
    """The origin (d,) of a domain of moments."""
    return np.zeros(0) if domain.origin is None else domain.origin


def diagonal(second: Array) -> Array:
    """The diagonals (k, d) of sums of squares that are kept whole or as their diagonals."""
    return np.diagonal(second, axis1=1, axis2=2) if second.ndim == 3 else second


def ratio(a: Array | float, b: Array) -> Array:
    """A / b, and 0 where b is 0."""
    a, b = np.broadcast_arrays(a, b)
    return np.divide(a, b, out=np.zeros(a.shape), where=b != 0)
