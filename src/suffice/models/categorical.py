"""Naive Bayes over categories: one table of counts for each feature and class."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from suffice._domain import CategoricalFeatures, Domain, Encoded, Features
from suffice._labels import OneHot, positions, show
from suffice._vector import Array
from suffice.encoders import Categories, Encoder
from suffice.models import _kernels
from suffice.models._base import Attempt, Density, Joint, Natural, Tabular
from suffice.models._statistics import Statistics, Sums, grouped
from suffice.models.natural import LogTables, project_log
from suffice.priors import Dirichlet

LOG_ZERO = -1e9  # log of a probability that maximum likelihood puts at zero: below any sum of others, yet a number


@dataclass(frozen=True, eq=False, repr=False)
class Counts(Sums):
    """Sums of weights by class and category: the tables of all features side by side.

    table_(c, j, v) = sum_i W_ic 1(x_ij = v)

    >>> X = Categories()([["u"], ["v"], ["u"]])
    >>> Categorical().statistics(X, OneHot.of(np.array([0, 0, 1]))).sums.table
    array([[1., 1.],
           [1., 0.]])
    """

    counts: ClassVar = ("table",)

    table: Array  # (k, sum of the numbers of categories)

    def onto(self, old: Domain, new: Domain) -> Self:
        at, size = positions(old.classes, new.classes), len(new.classes)
        before, after = _of(old), _of(new)
        table = self.table
        if before is not after:
            table = grouped(table.T, before.cells(after), int(after.starts[-1])).T
        return replace(self, table=grouped(table, at, size))

    def impossible(self, before: Self, domain: Domain, mass: Array) -> str | None:  # noqa: ARG002 - counts are exact
        features = _of(domain)
        if (self.table < 0).any():
            c, cell = np.argwhere(self.table < 0)[0]
            j = int(np.searchsorted(features.starts, cell, side="right")) - 1
            value = show(features.categories[j][cell - features.starts[j]])
            who = f"{domain.label(int(c))} would keep less than no rows with {value} in {domain.name(j)}"
            return f"{who}: these rows were not all learned"
        over = _by_feature(features, self.table) > mass[:, None] * (1 + 1e-6)
        if over.any():
            c, j = np.argwhere(over)[0].tolist()
            who = f"{domain.label(c)} would keep more values than rows in {domain.name(j)}"
            return f"{who}: these rows were not all learned"
        return None

    def pruned(self, features: Features) -> tuple[Features, Self]:
        """Without the categories that no row has any more."""
        if not isinstance(features, CategoricalFeatures):
            raise TypeError("counts are of categories")
        if features.closed:
            return features, self
        seen = (self.table > 0).any(axis=0)
        parts = np.split(seen, features.starts[1:-1])
        categories = tuple(c[keep] for c, keep in zip(features.categories, parts, strict=True))
        return replace(features, categories=categories), replace(self, table=self.table[:, seen])


@dataclass(frozen=True, eq=False)
class Tables:
    """Parameters: log p(y) (k,), and log p(x_j = v | y) for every category of every feature (cells, k)."""

    domain: Domain
    class_log_prob: Array
    log_probability: Array


@dataclass(frozen=True, eq=False)
class Categorical(Density[Counts, Tables], Joint[Counts, Tables], Natural[Counts, Tables, LogTables], Tabular):
    """p(x, y) = p(y) prod_j p(x_j | y), with a table for each p(x_j | y) (rc1, II-C and appendix B).

    An entry without a code (missing, or a category never learned) leaves its feature out of the product. Under
    maximum likelihood a category that a class never had has probability zero.
    """

    prior: Dirichlet | None = None
    encoder: Encoder = field(default=Categories(), kw_only=True)

    def sums(self, X: Encoded, W: OneHot | Array, domain: Domain) -> Counts:
        features = _of(domain)
        codes, at = features.read(X), features.starts
        if isinstance(W, OneHot):
            table = _kernels.table_counts(codes, at, at[-1], W.codes, W.weight, len(W.classes))
        else:
            table = _kernels.table_sums(codes, at, at[-1], np.ascontiguousarray(W))
        return Counts(table.T)

    def _smoothed(self, s: Statistics[Counts]) -> tuple[Array, Array]:
        """The counts with the prior's added (k, cells), and their sum over each feature's table (k, d)."""
        features, table = _of(s.domain), s.sums.table
        sizes = features.sizes
        pseudo = np.zeros(len(sizes)) if self.prior is None else self.prior.cell(sizes)
        counts = table + np.repeat(pseudo, sizes)
        return counts, _by_feature(features, counts)

    def attempt(self, s: Statistics[Counts]) -> Attempt[Counts, Tables]:
        """A table is valid where none of its smoothed counts is negative and their sum is positive."""
        features = _of(s.domain)
        sizes = features.sizes
        counts, total = self._smoothed(s)
        bad = _by_feature(features, (counts < 0).astype(float)) > 0
        valid = replace(s, mass=s.mass > 0, sums=Counts(np.repeat(~bad & (total > 0), sizes, axis=1)))
        empty = np.repeat(total <= 0, sizes, axis=1)  # nothing is known: all categories alike
        p = np.where(
            empty, 1.0 / np.repeat(sizes, sizes), counts / np.repeat(np.where(total > 0, total, 1), sizes, axis=1)
        )
        log_p = np.log(p, out=np.full(p.shape, LOG_ZERO), where=p > 0)
        return Attempt(Tables(s.domain, self.class_log_prob(s), log_p.T.copy()), valid)

    def log_likelihood(self, target: Statistics[Counts], best: Tables, theta: Tables) -> float:
        """log p(X, Y), and of the prior's pseudo-rows."""
        counts, _ = self._smoothed(target)
        return float((counts * theta.log_probability.T).sum()) + self.class_log_likelihood(target, best, theta)

    def natural(self, theta: Tables) -> LogTables:
        """The logarithms themselves."""
        return LogTables(theta.class_log_prob, theta.log_probability)

    def from_natural(self, eta: LogTables) -> Tables:
        """Tables, normalised or not."""
        return Tables(self._resolved(), eta.intercept, eta.cells)

    def gradient(self, s: Statistics[Counts], eta: LogTables) -> LogTables:  # noqa: ARG002 - linear in the logarithms
        """Minus the gradient of the log loss, which is S(X, Y - P) itself."""
        return LogTables(s.mass * (not self.classes_given), s.sums.table.T)

    def feasible(self, eta: LogTables, start: LogTables) -> LogTables:
        """Every table on the simplex, by Euclidean projection of its exponentials."""
        at = _of(self._resolved()).starts
        tables = [project_log(part.T).T for part in np.split(eta.cells, at[1:-1]) if len(part)]
        intercept = start.intercept if self.classes_given else project_log(eta.intercept[None])[0]
        return LogTables(intercept, np.concatenate(tables))

    def _resolved(self) -> Domain:
        if self.domain is None:
            raise ValueError("a model has natural parameters once it is resolved")
        return self.domain

    def log_density(self, X: Encoded, theta: Tables) -> Array:
        features = _of(theta.domain)
        return np.asarray(_kernels.table_log_density(features.read(X), features.starts, theta.log_probability))


def _of(domain: Domain) -> CategoricalFeatures:
    if not isinstance(domain.features, CategoricalFeatures):
        raise TypeError("tables are over categories: encode the columns with suffice.encoders.Categories")
    return domain.features


def _by_feature(features: CategoricalFeatures, cells: Array) -> Array:
    """The sum of each feature's cells (k, cells) -> (k, d), where a feature may have none."""
    sums = np.cumsum(np.pad(cells, ((0, 0), (1, 0))), axis=1)[:, features.starts]
    return np.diff(sums, axis=1)
