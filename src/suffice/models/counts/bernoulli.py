"""Naive Bayes over what is there or not: one probability for each feature and class."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Self

import numpy as np

from suffice._core.features import Domain, Encoded
from suffice._core.formula import Intervals
from suffice._core.labels import OneHot
from suffice._core.vector import Array
from suffice.encoders import Binary, Encoder
from suffice.models.base import Attempt, Density, Joint, Natural, Samplable, Tabular
from suffice.models.counts.totals import Totals, compact, known
from suffice.models.natural import LogTables, project_log
from suffice.models.overview import Overview, Summary
from suffice.models.statistics import Statistics
from suffice.models.tables.categorical import LOG_ZERO
from suffice.models.terms import Cells, Nomogram, NomogramDensity, Terms, keys_of, read_dense
from suffice.priors import Dirichlet


@dataclass(frozen=True, eq=False, repr=False)
class Presences(Totals):
    """In how many rows of each class a feature is there, and in how many it is known whether it is.

    >>> X = Binary()([[2, 0], [1, 1], [0, 3]])
    >>> Bernoulli().statistics(X, OneHot.of(np.array([0, 0, 1]))).sums.total
    array([[2., 1.],
           [0., 1.]])
    """

    def impossible(self, before: Self, domain: Domain, mass: Array) -> str | None:
        over = self.total > self.count * (1 + 1e-6)
        if over.any():
            c, j = np.argwhere(over)[0].tolist()
            who = f"{domain.label(c)} would keep more rows with {domain.name(j)} than rows"
            return f"{who}: these rows were not all learned"
        return super().impossible(before, domain, mass)

    def overview(self, domain: Domain, mass: Array) -> Overview:  # noqa: ARG002 - features have counts of their own
        tables = np.stack([self.count - self.total, self.total])
        return Overview.each(domain.features, lambda j: Summary.of_values(np.array([0.0, 1.0]), tables[:, :, j].T))


@dataclass(frozen=True, eq=False)
class Chances:
    """Parameters: log p(y) (k,), and log p(x_j = 1 | y), log p(x_j = 0 | y) (k, d); LOG_ZERO stands for log 0."""

    domain: Domain
    class_log_prob: Annotated[Array, "inf k"]
    present: Annotated[Array, "inf k d"]
    absent: Annotated[Array, "inf k d"]
    # log p(x | y) of a row of zeros, except for the features that every row of the class has
    nothing: Annotated[Array, "inf k"]
    always: Annotated[Array, "k"]  # how many these are

    @classmethod
    def of(cls, domain: Domain, class_log_prob: Array, present: Array, absent: Array) -> Chances:
        """With the sums that every row needs."""
        if absent.min(initial=0.0) > LOG_ZERO:
            return cls(domain, class_log_prob, present, absent, absent.sum(axis=1), np.zeros(len(absent)))
        always = absent <= LOG_ZERO
        nothing = np.where(always, 0.0, absent).sum(axis=1)
        return cls(domain, class_log_prob, present, absent, nothing, always.sum(axis=1))


@dataclass(frozen=True, eq=False)
class Bernoulli(
    Density[Presences, Chances],
    Joint[Presences, Chances],
    Natural[Presences, Chances, LogTables],
    NomogramDensity[Chances],
    Samplable[Chances],
    Tabular,
):
    """p(x | y) = prod_j p_yj^x_j (1 - p_yj)^(1 - x_j), for features that are there (1) or not (0).

        p_yj = (total_yj + a) / (count_yj + 2 a)

    It is `Categorical` for columns of two categories, which sparse rows need not spell out. A missing entry leaves its
    factor out.
    """

    prior: Dirichlet | None = None
    encoder: Encoder = field(default=Binary(missing=True), kw_only=True)

    def sums(self, X: Encoded, W: OneHot | Array, domain: Domain) -> Presences:
        return Presences.of(domain.features.read(X), W)

    @property
    def statistics_key(self) -> object | None:
        return Presences

    def _smoothed(self, s: Statistics[Presences]) -> tuple[Array, Array]:
        """How many rows have each feature and how many do not, with the prior's (k, d), (k, d)."""
        return s.sums.total + self._pseudo, (s.sums.count + self._pseudo) - s.sums.total

    @property
    def _pseudo(self) -> Array | float:
        return 0.0 if self.prior is None else self.prior.cell(np.asarray(2))

    def attempt(self, s: Statistics[Presences]) -> Attempt[Presences, Chances]:
        """A feature of a class is valid where neither of its smoothed counts is negative and one is positive."""
        have, lack = self._smoothed(s)
        if min(have.min(initial=1.0), lack.min(initial=1.0)) > 0:  # as under every prior: no case to tell apart
            ok = np.broadcast_to(True, have.shape)
            both = s.sums.count + 2 * self._pseudo
            for part in (have, lack):  # in their own memory, which costs more than arithmetic
                part /= both  # before the logarithm: a rounding of log(both) would be that of 200,000 words
            logs = [np.log(part, out=part) for part in (have, lack)]
        else:
            both = have + lack
            ok = (have >= 0) & (lack >= 0) & (both > 0)
            whole = np.where(both > 0, both, 1.0)
            logs = [_log(np.where(both > 0, part / whole, 0.5)) for part in (have, lack)]
        valid = replace(s, mass=s.mass > 0, sums=Presences(ok, ok))
        return Attempt(Chances.of(s.domain, self.class_log_prob(s), *logs), valid)

    def log_likelihood(self, target: Statistics[Presences], best: Chances, theta: Chances) -> float:
        """log p(X, Y), and of the prior's pseudo-rows."""
        have, lack = self._smoothed(target)
        seen = np.isfinite(best.class_log_prob)
        classes = target.mass.sum() * np.exp(best.class_log_prob[seen]) @ theta.class_log_prob[seen]
        return float((have * theta.present).sum() + (lack * theta.absent).sum() + classes)

    def natural(self, theta: Chances) -> LogTables:
        """The logarithms themselves, of 1 and of 0 (2 d, k)."""
        return LogTables(theta.class_log_prob, np.concatenate([theta.present.T, theta.absent.T]))

    def from_natural(self, eta: LogTables) -> Chances:
        """Probabilities, normalised or not."""
        if self.domain is None:
            raise ValueError("a model has natural parameters once it is resolved")
        present, absent = np.split(eta.cells, 2)
        return Chances.of(self.domain, eta.intercept, present.T, absent.T)

    def gradient(self, s: Statistics[Presences], eta: LogTables) -> LogTables:  # noqa: ARG002 - linear in the logarithms
        """Minus the gradient of the log loss, which is S(X, Y - P) itself."""
        cells = np.concatenate([s.sums.total.T, (s.sums.count - s.sums.total).T])
        return LogTables(s.mass * (not self.classes_given), cells)

    def feasible(self, eta: LogTables, start: LogTables) -> LogTables:
        """The two probabilities of every feature on the simplex, by Euclidean projection of their exponentials."""
        intercept = start.intercept if self.classes_given else project_log(eta.intercept[None])[0]
        pairs = np.stack(np.split(eta.cells, 2), axis=-1)  # (d, k, 2)
        nearest = project_log(pairs.reshape(-1, 2)).reshape(pairs.shape)
        return LogTables(intercept, np.concatenate([nearest[..., 0], nearest[..., 1]]))

    def log_density(self, X: Encoded, theta: Chances) -> Array:
        """Of a row of zeros, and what the features that are there or missing change of it (n, k)."""
        values, columns = compact(theta.domain.features.read(X))
        there, holes = known(values)
        present, absent = theta.present[:, columns], theta.absent[:, columns]
        always = absent <= LOG_ZERO
        finite = np.where(always, 0.0, absent)  # so that no log 0 is added and taken away again
        out = there @ (present - finite).T
        out += theta.nothing
        if holes is not None:
            out -= holes @ finite.T
        if theta.always.any():
            met = there if holes is None else there + holes
            out = out + LOG_ZERO * (theta.always - met @ always.T.astype(float))
        return np.asarray(out)

    def density_nomogram(self, theta: Chances) -> Nomogram:
        """A table of two cells for each feature: absent, present."""
        threshold = getattr(self.encoder, "threshold", None) or 0.0
        cells = Intervals(np.array([-np.inf, np.nextafter(threshold, np.inf)]))
        pairs = np.stack([theta.absent, theta.present])  # (2, k, d)
        each = (Cells((key,), cells, pairs[:, :, j]) for j, key in enumerate(keys_of(self)))
        return Nomogram(np.zeros(len(theta.present)), tuple(each))

    def density_terms(self, X: Encoded, theta: Chances) -> Terms:
        # Encoded rows are 0 or 1 already, whatever threshold the terms of entries have.
        values = read_dense(self, X)[:, None, :]
        terms = np.where(values == 1, theta.present, theta.absent)
        return Terms(np.zeros(len(theta.present)), keys_of(self), np.where(np.isnan(values), 0.0, terms))

    def sample(self, codes: Array, theta: Chances, rng: np.random.Generator) -> Encoded:
        there = rng.random((len(codes), theta.present.shape[1])) < np.exp(theta.present)[codes]
        return Encoded(theta.domain.features, there.astype(float))


def _log(p: Array) -> Array:
    return np.log(p, out=np.full(p.shape, LOG_ZERO), where=p > 0)
