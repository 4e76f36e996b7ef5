"""The design of linear scores: standardised columns, multiplied without being written down."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice._core.vector import Array
from suffice.models.compiled import linear as _kernels
from suffice.models.gaussian.moments import gram

CACHED = 1 << 17  # entries of rows that are squared at a time
FEW = 8  # classes up to which products need no linear algebra
NEAR = 2.0**10  # spreads between zero and the centre up to which rows need not be shifted before a product


@dataclass(frozen=True, eq=False)
class Design:
    """D (n, d + 1): a one, then (x - centre) scale, of rows x (n, d) with centre and scale (d,).

    >>> D = Design(np.array([[1.0], [4.0]]), np.array([2.0]), np.array([0.5]))
    >>> D.matrix()
    array([[ 1. , -0.5],
           [ 1. ,  1. ]])
    >>> D.scores(np.array([[0.0, 0.0], [1.0, 2.0]]))
    array([[0., 0.],
           [0., 3.]])
    """

    values: Array  # (n, d)
    centre: Array  # (d,)
    scale: Array  # (d,)

    def __len__(self) -> int:
        return len(self.values)

    def matrix(self) -> Array:
        """D itself (n, d + 1)."""
        return np.asarray(_kernels.standardised(self.values, self.centre, self.scale, np.ones(len(self))))

    def scores(self, slopes: Array) -> Array:
        """Scores (n, k) of slopes (k, d + 1), less that of the first class: what all classes share changes nothing."""
        slopes = slopes - slopes[0]
        coef = np.ascontiguousarray(slopes[:, 1:] * self.scale)
        if len(slopes) <= FEW:
            return np.asarray(_kernels.linear_scores(self.values, self.centre, coef, slopes[:, 0].copy(), 1))
        values, centre = self._near()
        across = coef @ values.T  # twice as fast as its transpose
        across += (slopes[:, 0] - coef @ centre)[:, None]
        return np.asarray(across.T)

    def sums(self, W: Array) -> Array:
        """W'D (k, d + 1) for weights W (n, k) that add up to zero in every row."""
        if W.shape[1] <= FEW:
            sums = _kernels.contrast_sums(self.values, self.centre, W)
        else:
            values, centre = self._near()
            mass = W.sum(axis=0)
            sums = np.column_stack([mass, W.T @ values - np.outer(mass, centre)])
        return np.asarray(sums * np.append(1.0, self.scale))

    def gram(self, weight: Array) -> Array:
        """D' diag(weight) D (d + 1, d + 1) for weights (n,) of at least 0, by so many rows as stay in the cache."""
        width = len(self.centre) + 1
        root, some, total = np.sqrt(weight), max(256, CACHED // width), np.zeros((width, width))
        for rows in (slice(i, i + some) for i in range(0, len(self), some)):
            total += gram(_kernels.standardised(self.values[rows], self.centre, self.scale, root[rows]))
        return total

    def _near(self) -> tuple[Array, Array]:
        """Rows about an origin that costs a product few digits, and where the centre is from there."""
        near = (abs(self.centre * self.scale) <= NEAR).all()
        if near and self.values.dtype == np.float64:
            return self.values, self.centre
        return self.values - self.centre, np.zeros_like(self.centre)
