"""Rows with missing entries under whole covariances: summed by which entries are missing, and completed by EM.

Rows of a class c have x ~ N(mean, cov), with precision cov^-1. Of a row that lacks the columns m and has the columns o,

    E[x_m] = mean_m + B (x_o - mean_o),   B = -precision_mm^-1 precision_mo,   cov[x_m | x_o] = precision_mm^-1

The expected statistics of all rows (E) lead to parameters in closed form (M), and these to other expectations. Each
step raises the log-likelihood of the observed entries, with the prior of the covariances its log posterior,

    log p(X_o, Y) = E[log p(X, Y)] + 1/2 sum_i (|m_i| log 2 pi e - log |precision_mm|)

where the second term is the entropy of what is missing; `Completed.history` is its course. The prior of the means has
no part in it: covariances are about the means of the rows, under a prior as without one. Once all has settled, at means
v, the mean of a class is that of the greatest log posterior under m1 pseudo-rows at mean0. With the number of rows that
are known of as a matrix, N = sum_i (1 - precision_mm^-1 precision) (d, d), it is

    mean = (N + m1)^-1 (N v + m1 mean0)

For complete rows N is their number n, and all is as it is without EM.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from suffice._core.features import Domain, Features
from suffice._core.labels import OneHot
from suffice._core.vector import Array, Vector
from suffice._runtime.messages import Notice
from suffice.data.queries import DatabaseRows
from suffice.models.base import DegenerateError, Read
from suffice.models.gaussian.moments import NOISE, Moments, about, diagonal, moments, ratio
from suffice.models.overview import Overview
from suffice.models.statistics import DividedSums, Statistics, Sums
from suffice.models.terms import Nomogram, Terms

if TYPE_CHECKING:
    from suffice.models.gaussian.full import Full, _FullGaussian

# More patterns of missing entries than this are not summed apart.
LIMIT = 256
TOO_MANY = (
    "the rows have more than {limit} patterns of missing entries, too many to keep their sums apart: such rows are "
    "learned by fit, all at once, and cannot be added to, merged or forgotten. Impute the missing values, or use "
    "GaussianNB"
)
Pattern: TypeAlias = tuple[int, ...]  # the columns that are missing, in order; () is a complete row


@dataclass(frozen=True, eq=False, repr=False)
class Patterns(DividedSums):
    """Moments by pattern of missing entries, each of the columns that its rows have.

        parts[m] = sum of W_ic T_c(x_i without the columns m) over the rows that lack exactly these

    A row that has no entry at all is in the mass of its class only. More than 256 patterns become `Entries`.

    >>> s = by_pattern(np.array([[1.0, 5.0], [3.0, np.nan], [8.0, np.nan]]), OneHot.of(np.array([0, 0, 1])))
    >>> {pattern: part.count.ravel().tolist() for pattern, part in s.parts.items()}
    {(): [1.0, 0.0], (1,): [1.0, 1.0]}
    """

    fixed: ClassVar = ("width",)

    width: int
    parts: dict[Pattern, Moments]

    def align(self, other: Any) -> tuple[Any, Any]:
        other = self.lifted(other)
        if not isinstance(other, Patterns) or _too_many({**self.parts, **other.parts}):
            return Entries(self.entries()).align(other)
        return super().align(other)

    def lifted(self, other: Any) -> Any:
        """Sums in which no entry was missing, in this form."""
        return Patterns(self.width, {(): other}) if isinstance(other, Moments) else other

    def entries(self) -> Moments:
        """The moments of each column over the entries that are there (k, d)."""
        each = [_widened(part, observed(pattern, self.width), self.width) for pattern, part in self.parts.items()]
        return sum(each[1:], each[0])

    def pruned(self, features: Features) -> tuple[Features, Any]:
        """Sums without patterns of no rows, unless no row has any value; those of complete rows alone are moments."""
        each = {pattern: part.pruned(features)[1] for pattern, part in self.parts.items()}
        kept = {pattern: part for pattern, part in each.items() if part.count.any()}
        return features, kept[()] if kept.keys() == {()} else replace(self, parts=kept or each)

    def impossible(self, before: Self, domain: Domain, mass: Array) -> str | None:
        return self.why_not_contained(before, domain, mass) or self.entries().impossible(before.entries(), domain, mass)

    def why_not_contained(self, before: Self, domain: Domain, mass: Array) -> str | None:
        for pattern, part in self.parts.items():
            why = part.why_not_contained(before.parts[pattern], some_of(domain, observed(pattern, self.width)), mass)
            if why is not None:
                return why
        return self.entries().why_not_contained(before.entries(), domain, mass)

    def overview(self, domain: Domain, mass: Array) -> Overview:
        return self.entries().overview(domain, mass)

    def why_not_movable(self, domain: Domain, mass: Array) -> str | None:
        return _holes(self.entries(), domain, mass)


@dataclass(frozen=True, eq=False, repr=False)
class Entries(Sums):
    """What is left of rows with more patterns of missing entries than are kept apart: the moments of each column.

    It is where learning begins, which then has to read the rows again.
    """

    columns: Moments  # (k, d) over the entries that are there

    def align(self, other: Any) -> tuple[Any, Any]:
        return super().align(self.lifted(other))

    def lifted(self, other: Any) -> Entries:
        """Any sums of rows with or without missing entries, in this form."""
        if isinstance(other, Entries):
            return other
        return Entries(
            _widened(other, np.arange(other.first.shape[1]), other.first.shape[1])
            if isinstance(other, Moments)
            else other.entries()
        )

    def entries(self) -> Moments:
        """The moments of each column over the entries that are there (k, d)."""
        return self.columns

    def regroup(self, group: Array, size: int) -> Self:
        return replace(self, columns=self.columns.regroup(group, size))

    def select_classes(self, which: Array) -> Self:
        return replace(self, columns=self.columns.select_classes(which))

    def recentred(self, from_sums: bool = False) -> Self:  # noqa: ARG002 - as all sums are asked
        raise ValueError(TOO_MANY.format(limit=LIMIT))

    def impossible(self, before: Self, domain: Domain, mass: Array) -> str | None:  # noqa: ARG002 - as above
        return TOO_MANY.format(limit=LIMIT)

    def overview(self, domain: Domain, mass: Array) -> Overview:
        return self.entries().overview(domain, mass)

    def why_not_movable(self, domain: Domain, mass: Array) -> str | None:
        return _holes(self.columns, domain, mass)


def _too_many(parts: Mapping[Pattern, object]) -> bool:
    return len(parts.keys() - {()}) > LIMIT


def _holes(entries: Moments, domain: Domain, mass: Array) -> str:
    which = np.flatnonzero((entries.count < mass[:, None]).any(axis=0))
    return f"{domain.features.listed(which)} {'has' if len(which) == 1 else 'have'} missing values"


def _widened(s: Moments, at: Array, width: int) -> Moments:
    """Diagonal moments of all columns (k, width) from whole ones of the columns `at`."""

    def wide(value: Array) -> Array:
        out = np.zeros((len(s.first), width))
        out[:, at] = value
        return out

    reach = None if s.reach is None else wide(s.reach)
    return Moments(wide(s.origin), wide(s.count), wide(s.first), wide(diagonal(s.second)), reach)


def observed(pattern: Pattern, width: int) -> Array:
    """The numbers of the columns that rows of a pattern have."""
    return np.delete(np.arange(width), pattern)


def columns_of(s: Moments, which: Array) -> Moments:
    """Whole moments of some columns: those of the marginal distributions."""
    return Moments(s.origin[:, which], s.count, s.first[:, which], s.second[:, which][:, :, which])


def some_of(domain: Domain, which: Array) -> Domain:
    """The domain of some columns, which messages call what they are called in the whole."""
    return replace(domain, features=Some(len(which), None, domain.features, which))


@dataclass(frozen=True, eq=False)
class Some(Features):
    """Some columns of others."""

    whole: Features | None = None
    which: Array | None = None

    def name(self, feature: int) -> str:
        if self.whole is None or self.which is None:
            return super().name(feature)
        return self.whole.name(int(self.which[feature]))


def complete(X: Array) -> bool:
    """Whether no entry of finite numbers (n, d) is missing, in one fast pass."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(X.sum())) or not np.isnan(X).any()


def groups(holes: Array) -> Iterator[tuple[Array, Array]]:
    """The rows (n_p,) of each pattern among rows (n, d) of what is missing, and the columns that these have."""
    if not len(holes):
        return
    packed = np.ascontiguousarray(np.packbits(holes, axis=1))  # in columns, if the rows were
    _, first, inverse = np.unique(
        packed.view(np.dtype((np.void, packed.shape[1]))).ravel(), return_index=True, return_inverse=True
    )
    order = np.argsort(inverse, kind="stable")
    for at, rows in zip(first, np.split(order, np.cumsum(np.bincount(inverse))[:-1]), strict=True):
        yield rows, np.flatnonzero(~holes[at])


def terms_by_pattern(values: Array, keys: Sequence[Any], whole: Nomogram, some: Callable[[Array], Nomogram]) -> Terms:
    """Return the terms of rows (n, d): `whole` for complete ones, else `some` of the columns (m,) that a row has."""
    if complete(values):
        found = whole.evaluate(values, keys)
        return replace(found, base=np.tile(found.base, (len(values), 1)))
    (n, d), k = values.shape, len(whole.base)
    base, terms = np.zeros((n, k)), np.zeros((n, k, d))
    for rows, has in groups(np.isnan(values)):
        nomogram = whole if len(has) == d else some(has)
        found = nomogram.evaluate(values[rows][:, has], [keys[j] for j in has])
        base[rows], terms[np.ix_(rows, np.arange(k), has)] = found.base, found.values
    return Terms(base, tuple(keys), terms)


def by_pattern(X: Array, W: OneHot | Array, origin: Array | None = None) -> Any:
    """S(X, W) with whole matrices, of rows X (n, d): plain Moments, or Patterns (else Entries) if entries are NaN."""
    if complete(X):
        return moments(X, W, True, origin)
    found = [(rows, kept) for rows, kept in groups(np.isnan(X)) if len(kept)]
    width = X.shape[1]
    rows_of = {tuple(np.delete(np.arange(width), kept).tolist()): rows for rows, kept in found}
    if _too_many(rows_of):
        return Entries(moments(X, W, False, origin))
    parts = {}
    for pattern, rows in rows_of.items():
        kept = observed(pattern, width)
        parts[pattern] = moments(X[rows][:, kept], W[rows], True, None if origin is None else origin[:, kept])
    return Patterns(width, parts or {(): moments(X[:0], W[:0], True, origin)})


def patterns_asked(rows: DatabaseRows, origin: Array | None) -> Any:
    """Whole moments, by pattern where entries are missing: Moments, Patterns or Entries."""
    at = about(rows, origin)
    found = rows.patterns(at, LIMIT)
    if found is None:
        return Entries(Moments(*rows.powers(at)))
    parts = {pattern: Moments(*part) for pattern, part in found.items()}
    if not parts:
        k, d = at.shape
        parts = {(): Moments(at, np.zeros((k, 1)), np.zeros((k, d)), np.zeros((k, d, d)))}
    return parts[()] if parts.keys() == {()} else Patterns(at.shape[1], parts)


def guessed(sums: Any) -> Moments:
    """Moments of complete rows as they are; else whole ones to begin with, of columns without correlations."""
    return sums if isinstance(sums, Moments) else _uncorrelated(sums.entries())


def _uncorrelated(s: Moments) -> Moments:
    """Whole moments from those of each column; one of which a class has no entry is as in all classes together."""
    total = s.total()
    whole = ratio(total.scatter(), total.count)
    known = s.count > 0
    s = s.about(np.where(known, s.origin, total.origin))  # no entry, no origin near any
    mean = np.where(known, s.mean(), total.mean())
    variance = np.where(known, ratio(s.scatter(), s.count), whole)
    count = s.count.max(axis=1, keepdims=True, initial=0.0)
    first = count * mean
    second = first[:, :, None] * mean[:, None, :]
    at = np.arange(s.first.shape[1])
    second[:, at, at] += count * np.maximum(variance, 0.0)
    return Moments(s.origin, count, first, second)


MAX_ITER = 1000
LOG_2PI = float(np.log(2 * np.pi))
# The other columns must leave at least this share of a column's variance unexplained.
MIN_UNEXPLAINED = 1e-9
# A change below the first number is rounding if none of the last steps, of this number, had a smaller one.
MAX_ROUNDING_CHANGE, STALLED_STEPS = 1e-8, 20
# EM has converged if a step changes the expected moments by less, in standard deviations and rows.
CONVERGED_CHANGE = 1e-13


@dataclass(frozen=True, eq=False, repr=False)
class Completed(Moments):
    """Moments that the rows are expected to have with all their entries, and how EM has come to them."""

    fixed: ClassVar[tuple[str, ...]] = ("origin", "reach", "history", "converged")

    history: tuple[float, ...] = ()  # the log posterior of the observed entries, up to a constant, step by step
    converged: bool = True

    def iterations(self) -> tuple[list[float], bool]:
        return list(self.history), self.converged

    def notices(self) -> tuple[Notice, ...]:
        if self.converged:
            return ()
        said = f"EM for the missing values had not settled after {len(self.history)} steps"
        return (Notice(f"{said}; take more rows, leave columns out, or give a stronger prior", ConvergenceWarning),)


@dataclass(frozen=True, eq=False, repr=False)
class Expected(Vector):
    """Expected sums of the complete rows under some parameters (the E step)."""

    moments: Moments
    doubt: Array  # (k, d, d) sum of the covariances of the missing entries, given the others
    log_det: Array  # (k,) sum of log |precision_mm|


@dataclass(frozen=True, eq=False)
class StandInRows:
    """Weighted vectors that stand for rows: the rows themselves, or as few as have the same sums.

    A unit is what has one class and lacks the same entries. A vector of its scatter (`moves` 0) is about the mean.
    """

    values: Array  # (r, d) about the origins, 0 where missing
    weight: Array  # (r,)
    moves: Array  # (r,) 1 for what a mean is subtracted from and counts, 0 for scatter
    unit: Array  # (r,) which unit each belongs to
    codes: Array  # (u,) the class of each unit
    holes: Array  # (u, d) what it lacks
    count: Array  # (u,) its weight

    @classmethod
    def of(cls, X: Array, codes: Array, weight: Array, origin: Array) -> StandInRows:
        """Rows X (n, d) of classes (n,), each a unit of its own."""
        holes = np.isnan(X)
        values = np.where(holes, 0.0, X - origin[codes])
        return cls(values, weight, np.ones(len(X)), np.arange(len(X)), codes, holes, weight)

    @classmethod
    def standing_for(cls, s: Patterns, origin: Array) -> StandInRows:
        """A vector at the mean of each unit, and vectors whose squares add up to its scatter."""
        units = [
            _vectors(part, origin[:, observed(pattern, s.width)], int(c), pattern, s.width)
            for pattern, part in s.parts.items()
            for c in np.flatnonzero(part.count[:, 0])
        ]
        if not units:
            raise DegenerateError("no row has any value: there is nothing to learn from")
        sizes = [len(one.values) for one in units]
        unit = np.repeat(np.arange(len(units)), sizes)
        values, weight, moves, _, codes, holes, count = (
            np.concatenate(parts) for parts in zip(*map(_fields, units), strict=True)
        )
        return cls(values, weight, moves, unit, codes, holes, count)


def _fields(rows: StandInRows) -> tuple[Array, ...]:
    return tuple(vars(rows).values())


def _vectors(part: Moments, origin: Array, c: int, pattern: Pattern, width: int) -> StandInRows:
    s = part.about(origin)
    has, count = observed(pattern, width), s.count[c]
    scatter = s.scatter()[c]
    size = np.sqrt(np.maximum(np.diag(scatter), 0.0) if part.reach is None else part.reach[c])  # so units do not matter
    roots, axes = np.linalg.eigh(scatter * np.outer(ratio(1.0, size), ratio(1.0, size)))
    some = roots > len(roots) * (np.finfo(float).eps if part.reach is None else NOISE) * max(
        1.0, roots.max(initial=0.0)
    )
    values = np.zeros((1 + some.sum(), width))
    values[0, has] = s.mean()[c]
    values[1:, has] = (size[:, None] * axes[:, some] * np.sqrt(roots[some])).T
    first = np.arange(len(values)) == 0
    holes = np.ones((1, width), dtype=bool)
    holes[:, has] = False
    return StandInRows(values, np.where(first, count, 1.0), first * 1.0, 0 * first, np.array([c]), holes, count)


def expected(rows: StandInRows, theta: Full) -> Expected:
    """What the rows are expected to sum to, about the origins."""
    k, d = theta.mean.shape
    precision = _precision(theta)
    codes, holes = rows.codes[rows.unit], rows.holes & (np.diagonal(precision, axis1=1, axis2=2) > 0)[rows.codes]
    Z = rows.values - np.where(rows.holes[rows.unit], 0.0, rows.moves[:, None] * theta.mean[codes])
    members = [np.flatnonzero(codes == c) for c in range(k)]
    pull = np.empty_like(Z)
    for c, which in enumerate(members):
        pull[which] = Z[which] @ precision[c]
    doubt, log_det = np.zeros((k, d, d)), np.zeros(k)
    many = holes.sum(axis=1)
    for m in np.unique(many[many > 0]):  # all units that lack as many entries at once
        units, which = np.flatnonzero(many == m), np.flatnonzero(many[rows.unit] == m)
        lacks = np.nonzero(holes[units])[1].reshape(len(units), m)
        block = rows.codes[units][:, None, None], lacks[:, :, None], lacks[:, None, :]
        rest = np.linalg.inv(precision[block])
        own = np.searchsorted(units, rows.unit[which])
        at = which[:, None], lacks[own]
        Z[at] = -(rest[own] @ pull[at][:, :, None])[:, :, 0]
        np.add.at(doubt, block, rows.count[units][:, None, None] * rest)
        log_det -= np.bincount(rows.codes[units], rows.count[units] * np.linalg.slogdet(rest)[1], k)
    count = np.bincount(rows.codes, rows.count, k)[:, None]
    first, second = np.zeros((k, d)), doubt.copy()
    for c, which in enumerate(members):
        weighted = Z[which] * rows.weight[which, None]
        first[c], second[c] = rows.moves[which] @ weighted, second[c] + weighted.T @ Z[which]
    cross = first[:, :, None] * theta.mean[:, None, :]
    second += cross + cross.swapaxes(1, 2) + count[:, :, None] * theta.mean[:, :, None] * theta.mean[:, None, :]
    return Expected(Moments(theta.origin, count, first + count * theta.mean, second), doubt, log_det)


def _precision(theta: Full) -> Array:
    """The inverse of each covariance (k, d, d); zeros for a column left out."""
    precision = theta.whiten @ theta.whiten.swapaxes(1, 2)
    return np.broadcast_to(precision, (len(theta.mean), *precision.shape[1:]))


@dataclass(frozen=True)
class Expect:
    """`expected` of a batch, as a value that travels to where the rows are."""

    domain: Domain
    theta: Full

    def __call__(self, batch: Any) -> Statistics[Any]:
        Y = batch.Y.onto(self.domain.classes)
        X = np.asarray(self.domain.features.read(batch.X), dtype=float)
        which = np.flatnonzero((Y.codes >= 0) & ~np.isnan(X).all(axis=1))
        rows = StandInRows.of(X[which], Y.codes[which], Y.weight[which], self.theta.origin)
        got: Any = expected(rows, self.theta)
        return Statistics(self.domain, Y.mass(), got)


@dataclass(frozen=True, eq=False)
class SettledEM:
    """Where EM has come to: expected statistics, and what is uncertain about them."""

    statistics: Statistics[Moments]
    doubt: Array  # (k, d, d)
    precision: Array  # (k, d, d)

    def shrunk(self, weight: float, centre: Array | None) -> Statistics[Moments]:
        """The statistics whose means, with `weight` pseudo-rows at `centre`, are those of the greatest log posterior.

        The scatter stays. A column of which a class has no entry takes the mean that the prior has.
        """
        sums = self.statistics.sums
        if not weight or centre is None:
            return self.statistics
        known = sums.count[:, :, None] * np.eye(sums.first.shape[1]) - self.doubt @ self.precision  # N
        at = np.broadcast_to(centre - sums.origin, sums.first.shape)
        right = (known @ sums.mean()[:, :, None])[:, :, 0] + weight * at
        some = sums.count[:, 0] > 0
        mean = at.copy()
        mean[some] = np.linalg.solve(known[some] + weight * np.eye(known.shape[1]), right[some][:, :, None])[:, :, 0]
        first = np.where(some[:, None], (sums.count + weight) * mean - weight * at, 0.0)
        second = sums.scatter() + sums.square(first, ratio(first, sums.count))
        return replace(self.statistics, sums=replace(sums, first=first, second=second))


def run_em(model: _FullGaussian, s: Statistics[Any], read: Read | None = None) -> SettledEM:
    """Expected statistics at the parameters that they lead to, for a resolved model without a prior of the means.

    `read` sums a function over the rows, which more patterns than are kept apart need.
    """
    begun: Statistics[Moments] = replace(s, sums=guessed(s.sums))
    if isinstance(s.sums, Patterns):
        rows = StandInRows.standing_for(s.sums, begun.sums.origin)
        return _EM(model, partial(expected, rows), _unit(begun.sums)).run(begun)
    if read is None:
        raise ValueError(TOO_MANY.format(limit=LIMIT))
    return _EM(model, lambda theta: read(Expect(s.domain, theta)).sums, _unit(begun.sums)).run(begun)


def _unit(s: Moments) -> Array:
    """One over the standard deviation of each column (d,)."""
    total = s.total()
    return ratio(1.0, np.sqrt(ratio(diagonal(total.scatter()), total.count)[0]))


def _ended(sizes: list[float]) -> bool:
    """Whether the last change is none, or but rounding: small, and no smaller than those of some time ago."""
    stalled = len(sizes) > STALLED_STEPS and min(sizes[-STALLED_STEPS:]) >= min(sizes)
    return sizes[-1] <= CONVERGED_CHANGE or (stalled and sizes[-1] <= MAX_ROUNDING_CHANGE)


class _Step(NamedTuple):
    """From statistics to those that are expected under their parameters."""

    begun: Statistics[Moments]
    theta: Full
    got: Expected
    ended: Statistics[Moments]
    best: Full  # the parameters of these
    value: float  # the log posterior of theta


@dataclass(frozen=True, eq=False)
class _EM:
    """Steps until nothing changes, with leaps along the way (SQUAREM) that are taken back where the value falls.

    References
    ----------
    Dempster, Laird, Rubin: Maximum likelihood from incomplete data via the EM algorithm (1977). Little, Rubin:
    Statistical analysis with missing data, 11.2. Varadhan, Roland: Simple and globally convergent methods for
    accelerating the convergence of any EM algorithm (2008), doi:10.1111/j.1467-9469.2007.00585.x.
    """

    model: _FullGaussian
    expect: Callable[[Full], Expected]
    unit: Array  # (d,)

    def run(self, begun: Statistics[Moments]) -> SettledEM:
        """From statistics to begin with to those that EM does not change."""
        at = self._step(begun, self.model.parameters(begun))
        history, sizes = [at.value], [self._size(at)]
        while not (settled := _ended(sizes)) and len(history) < MAX_ITER:
            after = self._step(at.ended, at.best)
            history.append(after.value)
            if self._size(after) <= CONVERGED_CHANGE:
                at = after
            else:
                at = self._leap(at, after) or self._step(after.ended, after.best)
                history.append(at.value)
            sizes.append(self._size(at))
        sums = Completed(**vars(at.got.moments), history=tuple(history), converged=settled)
        return SettledEM(replace(at.ended, sums=sums), at.got.doubt, _precision(at.theta))

    def _step(self, s: Statistics[Moments], theta: Full) -> _Step:
        got = self.expect(theta)
        ended = replace(s, sums=got.moments)
        best = self.model.parameters(ended)
        self._check_bounded(ended, best)
        lacking = float(np.einsum("kij,kij->", _precision(theta), got.doubt))
        entropy = 0.5 * (lacking * (1.0 + LOG_2PI) - float(got.log_det.sum()))
        return _Step(s, theta, got, ended, best, self.model.log_likelihood(ended, best, theta) + entropy)

    def _check_bounded(self, s: Statistics[Moments], theta: Full) -> None:
        """DegenerateError if a covariance becomes singular, where the likelihood has no greatest value."""
        inside = diagonal(theta.covariance) * diagonal(_precision(theta)[: len(theta.covariance)])
        if inside.max() < 1.0 / MIN_UNEXPLAINED:
            return
        c, j = np.unravel_index(np.argmax(inside), inside.shape)
        who = "the classes together have" if len(inside) < len(s.mass) else f"{s.label(int(c))} has"
        raise DegenerateError(
            f"{who} too few entries: {s.domain.name(int(j))} comes to follow from the other columns, where the "
            f"likelihood grows without end. Use prior='default', take more rows, or leave columns out"
        )

    def _leap(self, one: _Step, two: _Step) -> _Step | None:
        """From where two steps lead to beyond, if that is higher."""
        r = one.ended.sums - one.begun.sums
        v = (two.ended.sums - two.begun.sums) - r
        size = self._norm(v)
        length = self._norm(r) / size if size > 0 else 1.0
        if length <= 1.0:
            return None
        far = replace(one.begun, sums=one.begun.sums + 2.0 * length * r + length**2 * v)
        got = self.model.attempt(far)
        if got.problem is not None:
            return None
        there = self._step(far, got.parameters)
        return there if there.value >= two.value else None

    def _norm(self, s: Moments) -> float:
        first, second = s.first * self.unit, s.second * np.outer(self.unit, self.unit)
        return float(np.sqrt((first**2).sum() + (second**2).sum()))

    def _size(self, step: _Step) -> float:
        """The greatest change of a mean or a mean square, in standard deviations."""
        change, count = step.ended.sums - step.begun.sums, step.ended.sums.count
        first = ratio(change.first, count) * self.unit
        second = ratio(change.second, count[:, :, None]) * np.outer(self.unit, self.unit)
        return float(max(abs(first).max(), abs(second).max()))
