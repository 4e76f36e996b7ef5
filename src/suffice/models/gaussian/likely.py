"""Scores of normal classes, most of which are too far from a row to matter: those in single precision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice._core.vector import Array
from suffice.models.gaussian.moments import squared_lengths

if TYPE_CHECKING:
    from suffice.models.gaussian.full import Full

UNNOTICED = 70 * float(np.log(2))  # below the greatest score: no sum of probabilities has so many digits
UNIT = float(np.finfo(np.float32).eps) / 2  # rounding of a number in single precision
SAFE = 1.01  # times a bound that is itself rounded
ROWS, COLUMNS, CLASSES = 1024, 64, 4  # below which all classes are scored in no more time
SAMPLE, SHARE = 256, 1 / 3  # of rows that tell whether few classes matter, and of classes that are few

Exact = Callable[[Array, int], Array]  # log p(x, y) (m,) of rows (m, d) and a class


@dataclass(frozen=True, eq=False)
class Rough:
    """Normal classes in single precision, in units of the spreads within classes.

        y_c = a V_c - b_c,     a = (x - centre) / scale (d,),     log p(x, c) = const_c - |y_c|^2 / 2

    Rounding changes y_c by no more than (d + 4) u (|a| |V_c| + |b_c| + |y_c|), with Euclidean norms and u = 2^-24.
    """

    centre: Array  # (d,)
    scale: Array  # (d,)
    whiten: Array  # (k, d, d) V, upper triangular
    at: Array  # (k, d) b
    const: Array  # (k,)

    @classmethod
    def of(cls, theta: Full, const: Array) -> Rough:
        """Of parameters, with the score of each class at its mean (k,)."""
        means = theta.origin + theta.mean
        centre, variance = means.mean(axis=0), np.mean([one.diagonal() for one in theta.covariance], axis=0)
        scale = np.sqrt(np.where(variance > 0, variance, 1.0))
        whiten = scale[:, None] * theta.whiten
        at = np.einsum("kj,kjl->kl", (means - centre) / scale, whiten)
        with np.errstate(over="ignore"):
            return cls(centre, scale, whiten.astype(np.float32), at.astype(np.float32), const)

    def bounds(self, values: Array) -> tuple[Array, Array, Array]:
        """log p(x, y) (n, k), and between which numbers it is."""
        with np.errstate(all="ignore"):  # what overflows has no bounds, and is scored exactly
            a = np.empty(values.shape, dtype=np.float32)
            np.divide(values - self.centre, self.scale, out=a, casting="same_kind")
            length = np.sqrt([squared_lengths(a, V, b) for V, b in zip(self.whiten, self.at, strict=True)]).T
            sizes = np.linalg.norm(self.whiten, axis=(1, 2)), np.linalg.norm(self.at, axis=1)
            rounded = np.linalg.norm(a, axis=1)[:, None] * sizes[0] + sizes[1] + length
            off = SAFE * (values.shape[1] + 4) * UNIT * rounded
            each = length, length + off, np.maximum(length - off, 0.0)
            scores, least, most = (self.const - 0.5 * one.astype(float) ** 2 for one in each)
            return scores, least, most


def likely_scores(values: Array, theta: Full, const: Array, exact: Exact) -> Array:
    """log p(x, y) (n, k) of complete rows; rough where that changes no probability, except for less than 2^-70 of it.

    So it is of classes that are far below another one, and of that one if there is no third.
    """
    n, k = len(values), len(const)
    if n >= ROWS and values.shape[1] >= COLUMNS and k >= CLASSES:
        rough = Rough.of(theta, const)
        if _close(*rough.bounds(values[:: max(1, n // SAMPLE)])[1:]).mean() < SHARE:
            scores, *between = rough.bounds(values)
            close = _close(*between)
            for c in range(k):
                rows = np.flatnonzero(close[:, c])
                scores[rows, c] = exact(values[rows], c)
            return scores
    return np.stack([exact(values, c) for c in range(k)], axis=1)


def _close(least: Array, most: Array) -> Array:
    """Which classes of a row share its probability (n, k), none where one has it all, by bounds of their scores."""
    enough = (least.max(axis=1) - UNNOTICED)[:, None]
    share = ~(most < enough)
    return np.asarray(share & (share.sum(axis=1) > 1)[:, None])
