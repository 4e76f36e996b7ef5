"""Canonical variates: the few directions in which tied Gaussian classes differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice._core.features import Features
from suffice._core.vector import Array
from suffice.encoders import Encoder
from suffice.models.gaussian.full import Full
from suffice.models.gaussian.moments import ratio

# A class mean that is this near to the centre, as a share of the farthest one's distance, is on neither side.
MIN_DISTANCE_SHARE = 1e-9


@dataclass(frozen=True, eq=False)
class Canonical:
    """Directions V (d, m), m = min(k - 1, d), and how much of the variance between the classes each explains (m,).

        B V = W V diag(lambda),   V'W V = I,   B = sum_y p(y) (mean_y - centre)(mean_y - centre)'

    for the covariance W within the classes and centre = sum_y p(y) mean_y; the greatest lambda comes first. In these
    coordinates the classes have unit covariance, and all else that tells them apart is gone. The last class whose mean
    is not at the centre is on the positive side.
    """

    origin: Array  # (d,)
    centre: Array  # (d,) about the origin
    scalings: Array  # (d, m)
    explained: Array  # (m,)

    @classmethod
    def of(cls, theta: Full) -> Canonical:
        """From parameters with one covariance, whatever has learned them.

        With cov^-1 = U U' and A = sqrt(p(y)) (mean_y - centre)'U (k, d), V = U R for the right singular vectors R of A.
        """
        p = np.exp(theta.class_log_prob)
        origin = theta.origin[np.argmax(p)]
        mean = theta.mean + (theta.origin - origin)
        centre = p @ mean / p.sum()
        white = (mean - centre) @ theta.whiten[0]
        _, size, right = np.linalg.svd(np.sqrt(p)[:, None] * white, full_matrices=False)
        m = min(len(p) - 1, mean.shape[1])
        scalings = theta.whiten[0] @ right[:m].T
        variance = size[:m] ** 2
        return cls(origin, centre, scalings * _signs((mean - centre) @ scalings), ratio(variance, variance.sum()))

    def scores(self, X: Array, m: int) -> Array:
        """Rows (n, d) in the first m coordinates; summed about the centre, so that offsets cost no digits."""
        directions = self.scalings[:, :m]
        near = ((X - self.origin) - self.centre) @ directions
        return np.asarray(near + (self.origin + self.centre) @ directions)


def _signs(scores: Array) -> Array:
    """What makes the last class of each column (k, m) that is not at the centre positive (m,)."""
    size = abs(scores)
    off = size > MIN_DISTANCE_SHARE * size.max(axis=0)
    last = len(scores) - 1 - np.argmax(off[::-1], axis=0)
    return np.where(scores[last, np.arange(scores.shape[1])] < 0, -1.0, 1.0)


@dataclass(frozen=True)
class Scored:
    """Canonical scores of features as they come, as a value that travels to where the rows are."""

    encoder: Encoder
    features: Features
    canonical: Canonical
    m: int

    def __call__(self, X: Any) -> Array:
        return self.canonical.scores(self.features.read(self.encoder(X)), self.m)
