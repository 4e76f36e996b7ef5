"""Naive Bayes over categories: one table of counts for each feature and class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from suffice._domain import Coded, Domain, OneHot, positions
from suffice._vector import Array
from suffice.models import _kernels
from suffice.models._statistics import Statistics, grouped
from suffice.models.natural import LogTables, project_log
from suffice.priors import Dirichlet, log_class_prior

LOG_ZERO = -1e9  # log of a probability that maximum likelihood puts at zero: below any sum of others, yet a number


@dataclass(frozen=True, eq=False, repr=False)
class Counts(Statistics):
    """Sums of weights by class, and by class and category: the tables of all features side by side.

        mass_c = sum_i W_ic,     table_(c, j, v) = sum_i W_ic 1(x_ij = v)

    >>> X = Coded.of([np.array(["u", "v", "u"])])
    >>> Categorical().statistics(X, OneHot.of(np.array([0, 0, 1]))).table
    array([[1., 1.],
           [1., 0.]])
    """

    weights: ClassVar = ("mass", "table")

    table: Array  # (k, sum of the numbers of categories)

    def onto(self, domain: Domain) -> Self:
        if domain is self.domain:
            return self
        at, size = positions(self.domain.classes, domain.classes), len(domain.classes)
        pairs = zip(_categories(self.domain), _categories(domain), strict=True)
        columns = np.concatenate([s + positions(a, b) for s, (a, b) in zip(starts(domain), pairs, strict=False)])
        table = grouped(self.table.T, columns, int(starts(domain)[-1])).T
        return replace(self, domain=domain, mass=grouped(self.mass, at, size), table=grouped(table, at, size))

    def impossible(self, before: Self) -> str | None:  # noqa: ARG002 - counts have no rounding to allow for
        if (self.table < 0).any():
            c, cell = np.argwhere(self.table < 0)[0]
            j = int(np.searchsorted(starts(self.domain), cell, side="right")) - 1
            value = _categories(self.domain)[j].tolist()[cell - starts(self.domain)[j]]
            who = f"{self.label(int(c))} would keep less than no rows with {value!r} in {self.domain.name(j)}"
            return f"{who}: these rows were not all learned"
        over = _by_feature(self.domain, self.table) > self.mass[:, None] * (1 + 1e-6)
        if over.any():
            c, j = np.argwhere(over)[0].tolist()
            who = f"{self.label(c)} would keep more values than rows in {self.domain.name(j)}"
            return f"{who}: these rows were not all learned"
        return None

    def pruned(self, before: Self) -> Self:
        """Categories that no row has any more go as well."""
        s = super().pruned(before)
        seen = (s.table > 0).any(axis=0)
        parts = np.split(seen, starts(s.domain)[1:-1])
        categories = tuple(c[keep] for c, keep in zip(_categories(s.domain), parts, strict=True))
        return replace(s, domain=replace(s.domain, categories=categories), table=s.table[:, seen])


@dataclass(frozen=True, eq=False)
class Tables:
    """Parameters: log p(y) (k,), and log p(x_j = v | y) for every category of every feature (cells, k)."""

    domain: Domain
    log_prior: Array
    log_probability: Array


@dataclass(frozen=True, eq=False)
class Categorical:
    """p(x, y) = p(y) prod_j p(x_j | y), with a table for each p(x_j | y) (rc1, II-C and appendix B).

    An entry without a code (missing, or a category never learned) leaves its feature out of the product. Under
    maximum likelihood a category that a class never had has probability zero.
    """

    prior: Dirichlet | None = None
    class_prior: Any = None
    names: tuple[str, ...] | None = None
    domain: Domain | None = None

    def statistics(self, X: Coded, W: OneHot | Array) -> Counts:
        domain = self.domain
        if domain is None:
            classes = W.classes if isinstance(W, OneHot) else np.arange(W.shape[1])
            domain = Domain(classes, self.names, categories=X.categories)
        codes, at = X.onto(domain).codes, starts(domain)
        if isinstance(W, OneHot):
            W = W.onto(domain.classes)
            mass = np.bincount(W.codes[W.codes >= 0], W.weight[W.codes >= 0], len(W.classes))
            table = _kernels.table_counts(codes, at, at[-1], W.codes, W.weight, len(W.classes))
        else:
            mass, table = W.sum(axis=0), _kernels.table_sums(codes, at, at[-1], np.ascontiguousarray(W))
        return Counts(domain, mass, table.T)

    def resolve(self, s: Counts) -> Self:
        return replace(self, domain=s.domain)

    def valid(self, s: Counts) -> Counts:
        """A table is valid where none of its smoothed counts is negative and their sum is positive."""
        smoothed, total = self._smoothed(s)
        bad = _by_feature(s.domain, (smoothed < 0).astype(float)) > 0
        ok = np.repeat(~bad & (total > 0), _sizes(s.domain), axis=1)
        return replace(s, mass=s.mass > 0, table=ok)

    def _smoothed(self, s: Counts) -> tuple[Array, Array]:
        """The counts with the prior's added (k, cells), and their sum over each feature's table (k, d)."""
        sizes = _sizes(s.domain)
        pseudo = np.zeros(len(sizes)) if self.prior is None else self.prior.cell(sizes)
        counts = s.table + np.repeat(pseudo, sizes)
        return counts, _by_feature(s.domain, counts)

    def parameters(self, s: Counts) -> Tables:
        sizes = _sizes(s.domain)
        counts, total = self._smoothed(s)
        empty = np.repeat(total <= 0, sizes, axis=1)  # nothing is known: all categories alike
        p = np.where(
            empty, 1.0 / np.repeat(sizes, sizes), counts / np.repeat(np.where(total > 0, total, 1), sizes, axis=1)
        )
        log_p = np.log(p, out=np.full(p.shape, LOG_ZERO), where=p > 0)
        return Tables(s.domain, log_class_prior(s.mass, s.domain.classes, self.class_prior), log_p.T.copy())

    def log_likelihood(self, target: Counts, s: Counts) -> float:
        """log p(X, Y), and of the prior's pseudo-rows, under theta(s) for data whose statistics are `target`."""
        theta = self.parameters(s)
        counts, _ = self._smoothed(target)
        log_prior = log_class_prior(target.mass, target.domain.classes, self.class_prior)
        seen = np.isfinite(log_prior)
        classes = target.mass.sum() * np.exp(log_prior[seen]) @ theta.log_prior[seen]
        return float((counts * theta.log_probability.T).sum() + classes)

    def natural(self, theta: Tables) -> LogTables:
        """The logarithms themselves."""
        return LogTables(theta.log_prior, theta.log_probability)

    def from_natural(self, eta: LogTables, domain: Domain) -> Tables:
        """Tables, normalised or not."""
        return Tables(domain, eta.intercept, eta.cells)

    def gradient(self, s: Counts, eta: LogTables) -> LogTables:  # noqa: ARG002 - linear in the logarithms
        """Minus the gradient of the log loss, which is S(X, Y - P) itself."""
        return LogTables(s.mass, s.table.T)

    def feasible(self, eta: LogTables, start: LogTables) -> LogTables:  # noqa: ARG002 - as all models are asked
        """Every table on the simplex, by Euclidean projection of its exponentials."""
        at = starts(self.domain) if self.domain is not None else np.zeros(1, dtype=int)
        tables = [project_log(part.T).T for part in np.split(eta.cells, at[1:-1]) if len(part)]
        return LogTables(project_log(eta.intercept[None])[0], np.concatenate(tables))

    def log_joint(self, X: Coded, theta: Tables) -> Array:
        codes = X.onto(theta.domain).codes
        return theta.log_prior + _kernels.table_log_density(codes, starts(theta.domain), theta.log_probability)


def _categories(domain: Domain) -> tuple[Array, ...]:
    return domain.categories or ()


def _sizes(domain: Domain) -> Array:
    return np.array([len(c) for c in _categories(domain)], dtype=np.intp)


def starts(domain: Domain) -> Array:
    """Where each feature's cells begin in the tables side by side, and where the last ends (d + 1,)."""
    return np.concatenate([[0], np.cumsum(_sizes(domain))])


def _by_feature(domain: Domain, cells: Array) -> Array:
    """The sum of each feature's cells (k, cells) -> (k, d), where a feature may have none."""
    sums = np.cumsum(np.pad(cells, ((0, 0), (1, 0))), axis=1)[:, starts(domain)]
    return np.diff(sums, axis=1)
