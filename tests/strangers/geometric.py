"""A model: geometric naive Bayes over counts, p(x_j | y) = (1 - q_yj) q_yj^x_j, as a file of the library.

It stands here as it would in `src/suffice/models/`: its sums, its nomogram and its query are declared by the types it
inherits from, and pages, model files and SQL find it by these.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np

from suffice.encoders import Encoder, NonNegative
from suffice.models import Attempt, Density, Nomogram, NomogramDensity, Samplable, SqlSummable, Totals
from suffice.models.gaussian.moments import moments_asked
from suffice.models.terms import Slope, keys_of

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Ratios:
    """log p(y) (k,), and q (k, d), the ratio of the probabilities of x + 1 and of x."""

    class_log_prob: Annotated[Array, "inf k"]
    q: Annotated[Array, "k d"]


@dataclass(frozen=True, eq=False)
class Geometric(Density, NomogramDensity, Samplable, SqlSummable):
    """q_yj = (total_yj + a) / (count_yj + total_yj + a + b): the mode under a Beta(a + 1, b + 1) prior."""

    a: float = 1.0
    b: float = 1.0
    encoder: Encoder = field(default=NonNegative(missing=True), kw_only=True)

    def sums(self, X: Any, W: Any, domain: Any) -> Totals:
        return Totals.of(domain.features.read(X), W)

    def sql_statistics(self, rows: Any, features: Any) -> tuple[Any, Totals]:
        moments = moments_asked(rows, np.zeros((len(rows.classes), rows.features.width)))
        return features or rows.features, Totals(moments.count, moments.first)

    def attempt(self, s: Any) -> Attempt:
        total = s.sums.total + self.a
        whole = s.sums.count + total + self.b
        ok = (total > 0) & (total < whole)
        q = np.divide(total, whole, out=np.full(total.shape, 0.5), where=ok)
        valid = replace(s, mass=s.mass > 0, sums=Totals(ok, ok))
        return Attempt(Ratios(self.class_log_prob(s), q), valid, None if ok.all() else "a ratio is not between 0 and 1")

    def log_density(self, X: Any, theta: Ratios) -> Array:
        values = X.values.toarray() if hasattr(X.values, "toarray") else X.values
        there = ~np.isnan(values)
        return np.where(there, values, 0.0) @ np.log(theta.q).T + there @ np.log1p(-theta.q).T

    def density_nomogram(self, theta: Ratios) -> Nomogram:
        d = theta.q.shape[1]
        slopes = Slope(keys_of(self), np.zeros(d), np.log(theta.q), np.log1p(-theta.q))
        return Nomogram(np.zeros(len(theta.q)), (slopes,))

    def sample(self, codes: Array, theta: Ratios, rng: np.random.Generator) -> Any:
        return self.encoder(rng.geometric(1.0 - theta.q[codes]) - 1.0)
