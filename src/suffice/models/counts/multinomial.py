"""Naive Bayes over counts of words: one table of words for each class."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar, Self

import numpy as np
from scipy.special import gammaln, log_softmax

from suffice._core.features import Domain, Encoded, Features
from suffice._core.labels import OneHot
from suffice._core.vector import Array
from suffice.data.queries import DatabaseRows
from suffice.encoders import Encoder, NonNegative
from suffice.models.base import Attempt, Density, Joint, Natural, Samplable, Tabular
from suffice.models.counts.totals import by_class, compact, log_factorials, negative
from suffice.models.natural import LogTables, project_log
from suffice.models.overview import Overview, Summary
from suffice.models.queries import SqlSummable, moments_asked
from suffice.models.statistics import Statistics, Sums
from suffice.models.tables.categorical import LOG_ZERO
from suffice.models.terms import Needed, Nomogram, NomogramDensity, keys_of
from suffice.priors import Dirichlet


@dataclass(frozen=True, eq=False, repr=False)
class Words(Sums):
    """How often each word stands in the rows of each class.

        table_cj = sum_i W_ic x_ij

    >>> X = NonNegative()([[2, 0], [1, 1], [0, 3]])
    >>> Multinomial().statistics(X, OneHot.of(np.array([0, 0, 1]))).sums.table
    array([[3., 1.],
           [0., 3.]])
    """

    counts: ClassVar = ("table",)

    table: Annotated[Array, "k d"]

    def impossible(self, before: Words, domain: Domain, mass: Array) -> str | None:  # noqa: ARG002 - sums are exact
        return negative(self.table, domain)

    def overview(self, domain: Domain, mass: Array) -> Overview:
        return Overview.each(domain.features, lambda j: Summary.of_totals(mass, self.table[:, j]))


@dataclass(frozen=True, eq=False)
class WordProbabilities:
    """Parameters: log p(y) (k,), and log p(word j | y) (k, d)."""

    domain: Domain
    class_log_prob: Annotated[Array, "inf k"]
    log_probability: Annotated[Array, "inf k d"]


@dataclass(frozen=True, eq=False)
class Multinomial(
    Density[Words, WordProbabilities],
    Joint[Words, WordProbabilities],
    Natural[Words, WordProbabilities, LogTables],
    NomogramDensity[WordProbabilities],
    Samplable[WordProbabilities],
    SqlSummable[Words],
    Tabular,
):
    """p(x | y) = |x|! prod_j p_yj^x_j / x_j!, the words of a row given how many there are.

        p_yj = (table_yj + a) / sum_l (table_yl + a)

    with a pseudo-words of the prior. Counts need not be whole numbers. A missing count has no meaning here, as the
    length of the row would be unknown. Under maximum likelihood a word that a class never had has probability zero.
    """

    prior: Dirichlet | None = None
    encoder: Encoder = field(default=NonNegative(), kw_only=True)
    length: float = field(default=1.0, kw_only=True)  # the mean of the rows' sums

    def resolve(self, s: Statistics[Words]) -> Self:
        return replace(self, domain=s.domain, length=float(s.sums.table.sum() / (s.mass.sum() or 1.0)))

    def sums(self, X: Encoded, W: OneHot | Array, domain: Domain) -> Words:
        return Words(by_class(W, domain.features.read(X)))

    def sql_statistics(self, rows: DatabaseRows, features: Features | None) -> tuple[Features, Words]:
        sums = moments_asked(rows, np.zeros((len(rows.classes), rows.features.width)))
        return features or rows.features, Words(sums.first)

    @property
    def statistics_key(self) -> object | None:
        return Words

    def _smoothed(self, s: Statistics[Words]) -> Array:
        """The counts with the prior's added (k, d)."""
        if self.prior is None:
            return s.sums.table
        return np.asarray(s.sums.table + self.prior.cell(np.asarray(s.domain.width)))

    def attempt(self, s: Statistics[Words]) -> Attempt[Words, WordProbabilities]:
        """A count is valid where it is not negative with the prior's, if all of its class are positive together."""
        counts = self._smoothed(s)
        least, total = counts.min(initial=np.inf), counts.sum(axis=1, keepdims=True)
        ok = np.broadcast_to(total > 0, counts.shape) if least >= 0 else (counts >= 0) & (total > 0)
        valid = replace(s, mass=s.mass > 0, sums=Words(ok))
        if least > 0:
            log_p = np.log(counts, out=None if counts is s.sums.table else counts)  # memory costs more than arithmetic
            log_p -= np.log(total)
        else:
            p = np.where(total > 0, counts / np.where(total > 0, total, 1.0), 1.0 / max(1, counts.shape[1]))
            log_p = np.log(p, out=np.full(p.shape, LOG_ZERO), where=p > 0)
        return Attempt(WordProbabilities(s.domain, self.class_log_prob(s), log_p), valid)

    def log_likelihood(self, target: Statistics[Words], best: WordProbabilities, theta: WordProbabilities) -> float:
        """log p(X, Y), and of the prior's pseudo-words."""
        seen = np.isfinite(best.class_log_prob)
        classes = target.mass.sum() * np.exp(best.class_log_prob[seen]) @ theta.class_log_prob[seen]
        return float((self._smoothed(target) * theta.log_probability).sum() + classes)

    def _frame(self) -> tuple[Domain, float]:
        """The domain, and the unit of counts in natural parameters: the root of the mean length of a row."""
        if self.domain is None:
            raise ValueError("a model has natural parameters once it is resolved")
        return self.domain, max(self.length, 1e-300) ** 0.5

    def natural(self, theta: WordProbabilities) -> LogTables:
        """The logarithms, for counts in their unit."""
        return LogTables(theta.class_log_prob, self._frame()[1] * theta.log_probability.T)

    def from_natural(self, eta: LogTables) -> WordProbabilities:
        """exp(eta_yj / unit) / sum_l exp(eta_yl / unit)."""
        domain, unit = self._frame()
        return WordProbabilities(domain, eta.intercept, log_softmax(eta.cells.T / unit, axis=1))

    def gradient(self, s: Statistics[Words], eta: LogTables) -> LogTables:
        """Minus the gradient of the log loss, from S(X, Y - P): words less what as many words would be on average."""
        p = np.exp(self.from_natural(eta).log_probability)
        excess = s.sums.table - s.sums.table.sum(axis=1, keepdims=True) * p
        return LogTables(s.mass * (not self.classes_given), excess.T / self._frame()[1])

    def feasible(self, eta: LogTables, start: LogTables) -> LogTables:
        """Class probabilities on the simplex; words are free, as `from_natural` normalises them."""
        intercept = start.intercept if self.classes_given else project_log(eta.intercept[None])[0]
        return replace(eta, intercept=intercept)

    def log_joint(self, X: Encoded, theta: WordProbabilities) -> Array:
        """Without the factorials, which are the same for all classes."""
        return theta.class_log_prob + self._words(X, theta)

    def log_density(self, X: Encoded, theta: WordProbabilities) -> Array:
        values = theta.domain.features.read(X)
        length = np.asarray(values.sum(axis=1), dtype=float)
        orders: Array = gammaln(length + 1.0) - log_factorials(values)
        return self._words(X, theta) + orders[:, None]

    def density_nomogram(self, theta: WordProbabilities) -> Nomogram:
        """x_j log p_yj, a slope for each word."""
        slopes = theta.log_probability
        return Nomogram(np.zeros(len(slopes)), (Needed(keys_of(self), np.zeros(len(slopes.T)), slopes, 0.0 * slopes),))

    def sample(self, codes: Array, theta: WordProbabilities, rng: np.random.Generator) -> Encoded:
        """Words of texts whose lengths, which the model does not tell, are Poisson numbers of the mean learned."""
        p = np.exp(theta.log_probability)
        length = rng.poisson(self.length, len(codes))
        return Encoded(theta.domain.features, rng.multinomial(length, (p / p.sum(axis=1, keepdims=True))[codes]) * 1.0)

    def _words(self, X: Encoded, theta: WordProbabilities) -> Array:
        """sum_j x_ij log p_yj (n, k)."""
        values, columns = compact(theta.domain.features.read(X))
        return np.asarray(values @ theta.log_probability[:, columns].T)
