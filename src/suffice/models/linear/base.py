"""Linear scores: what Gaussians with one covariance, and logistic regression, have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from suffice._core.features import Domain
from suffice._core.vector import Array
from suffice.models.compiled import linear as _kernels
from suffice.models.gaussian.base import Normal
from suffice.models.terms import Needed, Nomogram

FEW = 8  # classes up to which a product needs no linear algebra


@dataclass(frozen=True, eq=False)
class Linear:
    """Parameters of log p(y | x) = coef_y'(x - o) + intercept_y + const: coef (k, d), intercept (k,), o (d,).

    `source` are the Gaussian parameters that these are a view of, where they are one.
    """

    domain: Domain
    origin: Annotated[Array, "d"]
    coef: Annotated[Array, "k d"]
    intercept: Annotated[Array, "k"]
    source: Normal | None = None

    @classmethod
    def of(cls, theta: Normal) -> Linear:
        """The linear view of Gaussians with one covariance: coef = cov^-1 m, intercept = log p - m' cov^-1 m / 2."""
        origin = theta.origin[np.argmax(theta.class_log_prob)]
        mean = theta.mean + (theta.origin - origin)
        coef = theta.solve(mean)
        return cls(theta.domain, origin, coef, theta.class_log_prob - 0.5 * (mean * coef).sum(axis=1), theta)

    def log_odds(self) -> tuple[Array, Array]:
        """Coefficients and intercepts of x itself: of the second class against the first (1, ...) if there are two,
        else of each class against the mean of all (k, ...), which does not depend on the origin.
        """
        at_zero = self.intercept - self.coef @ self.origin
        if len(at_zero) == 2:
            return self.coef[1:] - self.coef[:1], at_zero[1:] - at_zero[:1]
        return self.coef - self.coef.mean(axis=0), at_zero - at_zero[np.isfinite(at_zero)].mean()

    def nomogram(self, keys: Sequence[Any], centre: Array) -> Nomogram:
        """Return the scores as slopes of columns about a centre (d,)."""
        return Nomogram(self.scores(centre[None])[0], (Needed(tuple(keys), centre, self.coef, 0.0 * self.coef),))

    def scores(self, X: Array) -> Array:
        """Scores (n, k) of rows (n, d)."""
        if len(self.coef) <= FEW:
            coef = np.ascontiguousarray(self.coef)
            return np.asarray(_kernels.linear_scores(X, self.origin, coef, self.intercept, 0))
        return np.asarray((X - self.origin) @ self.coef.T + self.intercept)
