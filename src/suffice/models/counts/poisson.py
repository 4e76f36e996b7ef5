"""Naive Bayes over counts: one rate for each feature and class."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Self

import numpy as np

from suffice._core.features import Domain, Encoded, Features
from suffice._core.labels import OneHot
from suffice._core.vector import Array, Vector
from suffice.data.queries import DatabaseRows
from suffice.encoders import Encoder, NonNegative
from suffice.models.base import Attempt, Density, Joint, Natural, Samplable
from suffice.models.counts.totals import Totals, compact, known, log_factorials
from suffice.models.gaussian.moments import ratio
from suffice.models.natural import project_log
from suffice.models.queries import SqlSummable, moments_asked
from suffice.models.statistics import Statistics
from suffice.models.tables.categorical import LOG_ZERO
from suffice.models.terms import Nomogram, NomogramDensity, Slope, keys_of
from suffice.priors import GammaPrior

LOG_MOST = 700.0  # of a rate in gradient descent, so that it stays a number


@dataclass(frozen=True, eq=False, repr=False)
class LogRates(Vector):
    """log p(y) (k,), and sd_j log rate_yj (k, d), for counts in units of sd_j, the root of the rate of all rows."""

    intercept: Array
    log_rate: Array


@dataclass(frozen=True, eq=False)
class Rates:
    """Parameters: log p(y) (k,), rates and their logarithms (k, d); a feature of rate 0 in all classes is left out."""

    domain: Domain
    class_log_prob: Annotated[Array, "inf k"]
    rate: Annotated[Array, "k d"]
    log_rate: Annotated[Array, "inf k d"]
    expected: Annotated[Array, "k"]  # the sum of a class's rates


@dataclass(frozen=True, eq=False)
class Poisson(
    Density[Totals, Rates],
    Joint[Totals, Rates],
    Natural[Totals, Rates, LogRates],
    NomogramDensity[Rates],
    Samplable[Rates],
    SqlSummable[Totals],
):
    """p(x | y) = prod_j rate_yj^x_j exp(-rate_yj) / x_j!, for counts of events.

        rate_yj = (total_yj + m rate0_j) / (count_yj + m)

    where the prior is m rows at the rate of all rows (a Gamma prior). A missing entry leaves its factor out. Under
    maximum likelihood a class that never had a feature gives it the probability zero.

    >>> X = NonNegative()([[2, 0], [4, 1], [0, 3]])
    >>> model = Poisson()
    >>> model.parameters(model.statistics(X, OneHot.of(np.array([0, 0, 1])))).rate
    array([[3. , 0.5],
           [0. , 3. ]])
    """

    prior: GammaPrior | None = None
    encoder: Encoder = field(default=NonNegative(missing=True), kw_only=True)
    overall: Annotated[Array | None, "d"] = field(default=None, kw_only=True)  # the rate of all rows

    def sums(self, X: Encoded, W: OneHot | Array, domain: Domain) -> Totals:
        return Totals.of(domain.features.read(X), W)

    @property
    def statistics_key(self) -> object | None:
        return Totals

    def sql_statistics(self, rows: DatabaseRows, features: Features | None) -> tuple[Features, Totals]:
        sums = moments_asked(rows, np.zeros((len(rows.classes), rows.features.width)))
        return features or rows.features, Totals(sums.count, sums.first)

    def resolve(self, s: Statistics[Totals]) -> Self:
        return replace(self, domain=s.domain, overall=ratio(s.sums.total.sum(axis=0), s.sums.count.sum(axis=0)))

    def _smoothed(self, s: Statistics[Totals]) -> tuple[Array, Array]:
        """Totals (k, d) and counts (k, 1) or (k, d), with the prior's rows."""
        if self.prior is None or self.overall is None:
            return s.sums.total, s.sums.count
        weight, rate = self.prior.rows(self.overall)
        return s.sums.total + weight * rate, s.sums.count + weight

    def attempt(self, s: Statistics[Totals]) -> Attempt[Totals, Rates]:
        """A rate is valid where it is not negative and some rows tell of it; no rows at all leave it at zero."""
        total, count = self._smoothed(s)
        rate = total * ratio(1.0, count)
        ok = np.broadcast_to((count > 0) | ((s.mass == 0)[:, None] & (count == 0)), total.shape)
        if total.min(initial=0.0) < 0:
            ok, rate = ok & (total >= 0), np.maximum(rate, 0.0)
        valid = replace(s, mass=s.mass > 0, sums=Totals(ok, ok))
        return Attempt(self._rates(s.domain, self.class_log_prob(s), rate), valid, self._unknown(s, count))

    def _unknown(self, s: Statistics[Totals], count: Array) -> str | None:
        bad = np.argwhere((count <= 0) & ((s.mass != 0) | np.isfinite(self.class_log_prob(s)))[:, None])
        if not len(bad):
            return None
        c, j = bad[0].tolist()
        where = f" in {s.domain.name(j)}" if count.shape[1] > 1 else ""
        return f"{s.label(c)} has no values{where}: its rate is unknown. Use prior='default', or leave the column out"

    def _rates(self, domain: Domain, class_log_prob: Array, rate: Array) -> Rates:
        none = rate <= 0
        log_rate = np.log(np.where(none, 1.0, rate))
        log_rate[none & ~none.all(axis=0)] = LOG_ZERO
        return Rates(domain, class_log_prob, rate, log_rate, rate.sum(axis=1))

    def log_likelihood(self, target: Statistics[Totals], best: Rates, theta: Rates) -> float:
        """log p(X, Y), and of the prior's pseudo-rows, except for the factorials."""
        total, count = self._smoothed(target)
        seen = np.isfinite(best.class_log_prob)
        classes = target.mass.sum() * np.exp(best.class_log_prob[seen]) @ theta.class_log_prob[seen]
        return float((total * theta.log_rate).sum() - (count * theta.rate).sum() + classes)

    def _sd(self) -> tuple[Domain, Array]:
        """The domain, and the standard deviation of a count at the rate of all rows (d,)."""
        if self.domain is None or self.overall is None:
            raise ValueError("a model has natural parameters once it is resolved")
        return self.domain, np.sqrt(self.overall)

    def natural(self, theta: Rates) -> LogRates:
        """Of counts in units of their standard deviation."""
        return LogRates(theta.class_log_prob, theta.log_rate * self._sd()[1])

    def from_natural(self, eta: LogRates) -> Rates:
        """The inverse of `natural`."""
        domain, sd = self._sd()
        return self._rates(domain, eta.intercept, np.where(sd > 0, np.exp(eta.log_rate * ratio(1.0, sd)), 0.0))

    def gradient(self, s: Statistics[Totals], eta: LogRates) -> LogRates:
        """Minus the gradient of the log loss, from S(X, Y - P): totals less what the rates expect."""
        sd = self._sd()[1]
        rate = self.from_natural(eta).rate
        excess = (s.sums.total - s.sums.count * rate) * ratio(1.0, sd)
        return LogRates(s.mass * (not self.classes_given), excess)

    def feasible(self, eta: LogRates, start: LogRates) -> LogRates:
        """Probabilities on the simplex; rates are free, as long as they are numbers."""
        intercept = start.intercept if self.classes_given else project_log(eta.intercept[None])[0]
        return LogRates(intercept, np.minimum(eta.log_rate, LOG_MOST * self._sd()[1]))

    def log_joint(self, X: Encoded, theta: Rates) -> Array:
        """Without the factorials, which are the same for all classes."""
        return theta.class_log_prob + self._counts(X, theta)

    def log_density(self, X: Encoded, theta: Rates) -> Array:
        return self._counts(X, theta) - log_factorials(known(theta.domain.features.read(X))[0])[:, None]

    def density_nomogram(self, theta: Rates) -> Nomogram:
        """x_j log rate_yj - rate_yj, a slope for each feature."""
        slopes = Slope(keys_of(self), np.zeros(len(theta.rate.T)), theta.log_rate, -theta.rate)
        return Nomogram(np.zeros(len(theta.rate)), (slopes,))

    def sample(self, codes: Array, theta: Rates, rng: np.random.Generator) -> Encoded:
        return Encoded(theta.domain.features, rng.poisson(theta.rate[codes]).astype(float))

    def _counts(self, X: Encoded, theta: Rates) -> Array:
        """sum_j x_ij log rate_yj - rate_yj over the entries that are there (n, k)."""
        values, columns = compact(theta.domain.features.read(X))
        there, holes = known(values)
        out = there @ theta.log_rate[:, columns].T - theta.expected
        return np.asarray(out if holes is None else out + holes @ theta.rate[:, columns].T)
