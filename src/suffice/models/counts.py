"""Naive Bayes over counts of words and events: multinomial, Bernoulli and Poisson."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Self, cast

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.special import gammaln, log_softmax

from suffice._core.features import Domain, Encoded, Features, Rows
from suffice._core.formula import Intervals
from suffice._core.labels import OneHot
from suffice._core.vector import Array, Vector
from suffice._runtime.lazy import compiled
from suffice.data.queries import DatabaseRows
from suffice.encoders import Binary, Encoder, NonNegative
from suffice.models.base import Attempt, Density, Joint, Natural, Samplable, SqlSummable, Tabular
from suffice.models.gaussian.moments import moments_asked, ratio
from suffice.models.natural import LogTables, project_log
from suffice.models.overview import Overview, Summary
from suffice.models.statistics import Statistics, Sums
from suffice.models.tables.categorical import LOG_ZERO
from suffice.models.terms import Cells, Needed, Nomogram, NomogramDensity, Slope, Terms, keys_of, read_dense
from suffice.priors import Dirichlet, GammaPrior

# Sparse rows are scored on the columns that they have entries in if these are this many times fewer than all columns.
SPARSE_RATIO = 4


def by_class(W: OneHot | Array, X: Rows) -> Array:
    """Return W'X (k, d), dense, for class weights W and rows X.

    >>> by_class(np.array([[1.0, -1.0], [2.0, 0.0]]), csr_array([[0.0, 3.0], [1.0, 0.0]]))
    array([[ 2.,  3.],
           [ 0., -3.]])
    """
    if not isinstance(W, OneHot):
        return np.ascontiguousarray(W.T @ X, dtype=float)
    if issparse(X):
        sums = sparse_class_sums(X.data, X.indices, X.indptr, X.shape[1], W.codes, W.weight, len(W.classes))
        return np.asarray(sums)
    return np.ascontiguousarray(W.matrix().T @ X, dtype=float)


@compiled
def sparse_class_sums(
    data: Array, indices: Array, indptr: Array, d: int, labels: Array, weight: Array, k: int
) -> Array:
    """sum_i weight[i] x_ij over the rows of each class (k, d), for sparse rows in CSR form."""
    out = np.zeros((k, d))
    for i in range(len(labels)):
        c = labels[i]
        if c >= 0:
            for t in range(indptr[i], indptr[i + 1]):
                out[c, indices[t]] += weight[i] * data[t]
    return out


def known(X: Rows) -> tuple[Rows, Rows | None]:
    """Return rows with 0 in place of NaN, and rows with 1 there and 0 elsewhere, or None if nothing is missing.

    >>> [part.tolist() for part in known(np.array([[2.0, np.nan]]))]
    [[[2.0, 0.0]], [[0.0, 1.0]]]
    """
    stored = X.data if issparse(X) else X
    # The numbers themselves are finite, so that their sum finds a NaN in one fast pass.
    if not np.isnan(stored.sum()):
        return X, None
    holes = np.isnan(stored)
    there, gone = np.where(holes, 0.0, stored), holes.astype(float)
    if not issparse(X):
        return there, gone
    parts = (csr_array((part, X.indices, X.indptr), shape=X.shape) for part in (there, gone))
    return next(parts), next(parts)


def compact(X: Rows) -> tuple[Rows, Any]:
    """Return sparse rows on the columns that they have entries in, and these columns; all of them if that saves little.

    So scoring a few rows does not touch the parameters of all words.
    """
    if not issparse(X) or SPARSE_RATIO * X.nnz > X.shape[1]:
        return X, slice(None)
    columns, at = np.unique(X.indices, return_inverse=True)
    return csr_array((X.data, at, X.indptr), shape=(X.shape[0], len(columns))), columns


def log_factorials(X: Rows) -> Array:
    """sum_j log x_ij! of every row (n,)."""
    if issparse(X):
        X = csr_array((gammaln(X.data + 1.0), X.indices, X.indptr), shape=X.shape)
        return np.asarray(X.sum(axis=1))
    return np.asarray(gammaln(X + 1.0).sum(axis=1))


# Sums of the same weights in another order differ by less than this share.
SUM_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False, repr=False)
class Totals(Sums):
    """Sums of weights, and of weights times numbers, over the entries that are there.

        count_cj = sum_i W_ic 1(x_ij is there),     total_cj = sum_i W_ic x_ij

    Where nothing is missing all columns have the same count, which is then kept once for each class (k, 1).
    """

    counts: ClassVar = ("count", "total")

    count: Annotated[Array, "k d|k 1"]
    total: Annotated[Array, "k d"]

    @classmethod
    def of(cls, X: Array, W: OneHot | Array) -> Self:
        """S(X, W) for rows X (n, d), dense or sparse, and signed class weights W (n, k)."""
        there, holes = known(X)
        count = np.asarray(W.mass() if isinstance(W, OneHot) else W.sum(axis=0))[:, None]
        if holes is not None:
            mass, count = count, count - by_class(W, holes)
            count = np.where(abs(count) > SUM_ROUNDING * abs(mass), count, 0.0)
        return cls(count, by_class(W, there))

    def impossible(self, before: Self, domain: Domain, mass: Array) -> str | None:  # noqa: ARG002 - sums are exact
        over = (self.count < 0) | (self.count > mass[:, None] * (1 + 1e-6))
        if over.any():
            c, j = np.argwhere(over)[0].tolist()
            where = f"{domain.label(c)}, {domain.name(j)},"
            return f"{where} would keep more or fewer values than rows: these rows were not all learned"
        return negative(self.total, domain)

    def overview(self, domain: Domain, mass: Array) -> Overview:  # noqa: ARG002 - columns have counts of their own
        count = np.broadcast_to(self.count, self.total.shape)
        return Overview.each(domain.features, lambda j: Summary.of_totals(count[:, j], self.total[:, j]))

    def pruned(self, features: Features) -> tuple[Features, Self]:
        """With one count for each class again, where no missing entry is left."""
        if self.count.shape[1] > 1 and (self.count == self.count[:, :1]).all():
            return features, replace(self, count=self.count[:, :1].copy())
        return features, self


def negative(total: Array, domain: Domain) -> str | None:
    """Return why no data can have these totals (k, d); None if none is below zero."""
    if not total.size or total.min() >= 0:
        return None
    c, j = np.argwhere(total < 0)[0].tolist()
    return f"{domain.label(c)} would keep less than nothing in {domain.name(j)}: these rows were not all learned"


@dataclass(frozen=True, eq=False, repr=False)
class Words(Sums):
    """The number of times that each word occurs in the rows of each class.

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

    with a pseudo-words of the prior. Counts need not be whole numbers. None may be missing, as the length of the row
    would be unknown. Under maximum likelihood a word that a class never had has probability zero.
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
        """A smoothed count is valid where it is not negative and those of its class have a positive sum."""
        counts = self._smoothed(s)
        least, total = counts.min(initial=np.inf), counts.sum(axis=1, keepdims=True)
        ok = np.broadcast_to(total > 0, counts.shape) if least >= 0 else (counts >= 0) & (total > 0)
        valid = replace(s, mass=s.mass > 0, sums=Words(ok))
        if least > 0:
            # Smoothed counts are a copy, which is overwritten: memory costs more than arithmetic.
            log_p = np.log(counts, out=None if counts is s.sums.table else counts)
            log_p -= np.log(total)
        else:
            p = np.where(total > 0, counts / np.where(total > 0, total, 1.0), 1.0 / max(1, counts.shape[1]))
            log_p = _log(p)
        return Attempt(WordProbabilities(s.domain, self.class_log_prob(s), log_p), valid)

    def log_likelihood(self, target: Statistics[Words], best: WordProbabilities, theta: WordProbabilities) -> float:
        """log p(X, Y), and of the prior's pseudo-words."""
        words = float((self._smoothed(target) * theta.log_probability).sum())
        return words + self.class_log_likelihood(target, best, theta)

    @property
    def _unit(self) -> float:
        """The unit of counts in natural parameters: the root of the mean length of a row."""
        return float(max(self.length, 1e-300) ** 0.5)

    def natural(self, theta: WordProbabilities) -> LogTables:
        """The logarithms, for counts in their unit."""
        return LogTables(theta.class_log_prob, self._unit * theta.log_probability.T)

    def from_natural(self, eta: LogTables) -> WordProbabilities:
        """exp(eta_yj / unit) / sum_l exp(eta_yl / unit)."""
        log_p = log_softmax(eta.cells.T / self._unit, axis=1)
        return WordProbabilities(self.resolved_domain, eta.intercept, log_p)

    def gradient(self, s: Statistics[Words], eta: LogTables) -> LogTables:
        """Minus the gradient of the log loss, from S(X, Y - P): words less their expected number at the same length."""
        p = np.exp(self.from_natural(eta).log_probability)
        excess = s.sums.table - s.sums.table.sum(axis=1, keepdims=True) * p
        return LogTables(s.mass * (not self.classes_given), excess.T / self._unit)

    def feasible(self, eta: LogTables, start: LogTables) -> LogTables:
        """Class probabilities on the simplex; words are free, as `from_natural` normalises them."""
        intercept = start.intercept if self.classes_given else project_log(eta.intercept[None])[0]
        return replace(eta, intercept=intercept)

    def log_relative(self, X: Encoded, theta: WordProbabilities) -> Array:
        """sum_j x_ij log p_yj (n, k), without the factorials, which are the same for all classes."""
        values, columns = compact(theta.domain.features.read(X))
        return np.asarray(values @ theta.log_probability[:, columns].T)

    def log_density(self, X: Encoded, theta: WordProbabilities) -> Array:
        values = theta.domain.features.read(X)
        length = np.asarray(values.sum(axis=1), dtype=float)
        orders: Array = gammaln(length + 1.0) - log_factorials(values)
        return self.log_relative(X, theta) + orders[:, None]

    def density_nomogram(self, theta: WordProbabilities) -> Nomogram:
        """x_j log p_yj, a slope for each word."""
        slopes = theta.log_probability
        return Nomogram(np.zeros(len(slopes)), (Needed(keys_of(self), np.zeros(len(slopes.T)), slopes, 0.0 * slopes),))

    def sample(self, codes: Array, theta: WordProbabilities, rng: np.random.Generator) -> Encoded:
        """Words of texts with Poisson lengths of the learned mean: the model has no distribution of lengths."""
        p = np.exp(theta.log_probability)
        length = rng.poisson(self.length, len(codes))
        return Encoded(theta.domain.features, rng.multinomial(length, (p / p.sum(axis=1, keepdims=True))[codes]) * 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class Presences(Totals):
    """The number of rows of each class that have a feature, and of those in which it is not missing.

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
    """Parameters: log p(y) (k,), and log p(x_j = 1 | y), log p(x_j = 0 | y) (k, d), with LOG_ZERO for log 0."""

    domain: Domain
    class_log_prob: Annotated[Array, "inf k"]
    present: Annotated[Array, "inf k d"]
    absent: Annotated[Array, "inf k d"]
    # log p(x | y) of a row of zeros, except for the features that every row of the class has
    nothing: Annotated[Array, "inf k"]
    always: Annotated[Array, "k"]  # how many these are

    @classmethod
    def of(cls, domain: Domain, class_log_prob: Array, present: Array, absent: Array) -> Chances:
        """Return the parameters with the sums over features that the score of every row starts from."""
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
    """p(x | y) = prod_j p_yj^x_j (1 - p_yj)^(1 - x_j), for features that are present (1) or absent (0).

        p_yj = (total_yj + a) / (count_yj + 2 a)

    It is `Categorical` for columns of two categories, of which sparse rows list only the ones. A missing entry leaves
    its factor out.
    """

    prior: Dirichlet | None = None
    encoder: Encoder = field(default=Binary(missing=True), kw_only=True)

    def sums(self, X: Encoded, W: OneHot | Array, domain: Domain) -> Presences:
        return Presences.of(domain.features.read(X), W)

    @property
    def statistics_key(self) -> object | None:
        return Presences

    def _smoothed(self, s: Statistics[Presences]) -> tuple[Array, Array]:
        """The numbers of rows with and without each feature, with the prior's (k, d), (k, d)."""
        return s.sums.total + self._pseudo, (s.sums.count + self._pseudo) - s.sums.total

    @property
    def _pseudo(self) -> Array | float:
        return 0.0 if self.prior is None else self.prior.cell(np.asarray(2))

    def attempt(self, s: Statistics[Presences]) -> Attempt[Presences, Chances]:
        """A feature of a class is valid where neither of its smoothed counts is negative and one is positive."""
        have, lack = self._smoothed(s)
        if min(have.min(initial=1.0), lack.min(initial=1.0)) > 0:
            # As under every prior, all counts are positive. They are overwritten, as memory costs more than arithmetic,
            # and divided before the logarithm: the rounding of log(both) would add up over 200,000 words.
            ok = np.broadcast_to(True, have.shape)
            both = s.sums.count + 2 * self._pseudo
            for part in (have, lack):
                part /= both
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
        features = float((have * theta.present).sum() + (lack * theta.absent).sum())
        return features + self.class_log_likelihood(target, best, theta)

    def natural(self, theta: Chances) -> LogTables:
        """The logarithms of p(1) and of p(0) (2 d, k)."""
        return LogTables(theta.class_log_prob, np.concatenate([theta.present.T, theta.absent.T]))

    def from_natural(self, eta: LogTables) -> Chances:
        """Probabilities, normalised or not."""
        present, absent = np.split(eta.cells, 2)
        return Chances.of(self.resolved_domain, eta.intercept, present.T, absent.T)

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
        """log p of a row of zeros, changed by the features that are present or missing (n, k)."""
        values, columns = compact(theta.domain.features.read(X))
        there, holes = known(values)
        present, absent = theta.present[:, columns], theta.absent[:, columns]
        always = absent <= LOG_ZERO
        # Without log 0, which would otherwise be added and taken away again, and cost all digits.
        finite = np.where(always, 0.0, absent)
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
    """log p, with LOG_ZERO for log 0."""
    return np.log(p, out=np.full(p.shape, LOG_ZERO), where=p > 0)


# Gradient descent keeps rates below exp(700), so that they stay numbers.
MAX_LOG_RATE = 700.0


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
    rate: Annotated[Array, "nonneg k d"]
    log_rate: Annotated[Array, "inf k d"]
    expected: Annotated[Array, "nonneg k"]  # the sum of a class's rates


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
    overall: Annotated[Array | None, "nonneg d"] = field(default=None, kw_only=True)  # the rate of all rows

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
        """A rate is valid where it is not negative and has rows; a class without any rows has rates of zero."""
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
        events = float((total * theta.log_rate).sum() - (count * theta.rate).sum())
        return events + self.class_log_likelihood(target, best, theta)

    @property
    def _sd(self) -> Array:
        """The standard deviation of a count at the rate of all rows (d,)."""
        return np.sqrt(cast(Array, self.overall))

    def natural(self, theta: Rates) -> LogRates:
        """Of counts in units of their standard deviation."""
        return LogRates(theta.class_log_prob, theta.log_rate * self._sd)

    def from_natural(self, eta: LogRates) -> Rates:
        """The inverse of `natural`."""
        rate = np.where(self._sd > 0, np.exp(eta.log_rate * ratio(1.0, self._sd)), 0.0)
        return self._rates(self.resolved_domain, eta.intercept, rate)

    def gradient(self, s: Statistics[Totals], eta: LogRates) -> LogRates:
        """Minus the gradient of the log loss, from S(X, Y - P): totals less what the rates expect."""
        rate = self.from_natural(eta).rate
        excess = (s.sums.total - s.sums.count * rate) * ratio(1.0, self._sd)
        return LogRates(s.mass * (not self.classes_given), excess)

    def feasible(self, eta: LogRates, start: LogRates) -> LogRates:
        """Class probabilities on the simplex; rates only need to be numbers."""
        intercept = start.intercept if self.classes_given else project_log(eta.intercept[None])[0]
        return LogRates(intercept, np.minimum(eta.log_rate, MAX_LOG_RATE * self._sd))

    def log_relative(self, X: Encoded, theta: Rates) -> Array:
        """sum_j x_ij log rate_yj - rate_yj over the entries that are there (n, k), without the factorials."""
        values, columns = compact(theta.domain.features.read(X))
        there, holes = known(values)
        out = there @ theta.log_rate[:, columns].T - theta.expected
        return np.asarray(out if holes is None else out + holes @ theta.rate[:, columns].T)

    def log_density(self, X: Encoded, theta: Rates) -> Array:
        return self.log_relative(X, theta) - log_factorials(known(theta.domain.features.read(X))[0])[:, None]

    def density_nomogram(self, theta: Rates) -> Nomogram:
        """x_j log rate_yj - rate_yj, a slope for each feature."""
        slopes = Slope(keys_of(self), np.zeros(len(theta.rate.T)), theta.log_rate, -theta.rate)
        return Nomogram(np.zeros(len(theta.rate)), (slopes,))

    def sample(self, codes: Array, theta: Rates, rng: np.random.Generator) -> Encoded:
        return Encoded(theta.domain.features, rng.poisson(theta.rate[codes]).astype(float))
