"""Compiled inner loops over rows and centres, in one thread: the same result whatever the number of cores."""

from __future__ import annotations

import numpy as np

from suffice._core.vector import Array
from suffice._runtime.lazy import compiled


@compiled
def compete(X: Array, order: Array, rates: Array, centers: Array, wins: Array) -> None:
    """Each row in turn pulls the centre of least wins x distance; `centers` (d, m) and `wins` (m,) change in place."""
    d, m = centers.shape  # by feature, so that the loop over centres is one of vector instructions
    distance = np.empty(m)
    for t in range(len(order)):
        i = order[t]
        distance[:] = 0.0
        for j in range(d):
            x = X[i, j]
            for c in range(m):
                gap = x - centers[j, c]
                distance[c] += gap * gap
        winner, least = 0, np.inf
        for c in range(m):
            handicapped = wins[c] * wins[c] * distance[c]
            if handicapped < least:
                winner, least = c, handicapped
        for j in range(d):
            centers[j, winner] += rates[t] * (X[i, j] - centers[j, winner])
        wins[winner] += 1.0


@compiled
def nearest(X: Array, centers: Array) -> tuple[Array, Array]:
    """The centre (m, d) that each row is nearest to, the first of several, and the squared distance: (n,), (n,)."""
    n, d = X.shape
    m = len(centers)
    label, distance = np.zeros(n, np.int32), np.full(n, np.inf)
    for i in range(n):
        for c in range(m):
            total = 0.0
            for j in range(d):
                gap = X[i, j] - centers[c, j]
                total += gap * gap
            if total < distance[i]:
                label[i], distance[i] = c, total
    return label, distance
