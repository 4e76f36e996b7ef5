"""Planes between two classes that are known by their moments."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Self, cast

import numpy as np
from scipy.linalg import lapack

from suffice._core.features import Domain, Encoded, Features
from suffice._core.labels import OneHot
from suffice._core.vector import Array
from suffice._runtime.messages import Notice
from suffice.data.queries import DatabaseRows
from suffice.encoders import Encoder, Numbers
from suffice.models.base import Attempt, DegenerateError, Model, Read
from suffice.models.gaussian.base import check_range, left_out, spread_of
from suffice.models.gaussian.full import FullGaussian
from suffice.models.gaussian.moments import Moments, ratio
from suffice.models.gaussian.patterns import (
    by_pattern,
    columns_of,
    complete,
    groups,
    guessed,
    some_of,
    terms_by_pattern,
)
from suffice.models.planes.pencil import AlikeError, Pencil, Plane, Source, constant
from suffice.models.planes.rules import Designed, Rule, fisher
from suffice.models.queries import SqlSummable, patterns_asked
from suffice.models.statistics import Statistics
from suffice.models.terms import HALVES, HasNomogram, Needed, Nomogram, Terms, keys_of
from suffice.priors import GaussianPrior

# The rows of the covariances' prior if entries are missing: EM needs more than a ridge.
EM_PRIOR_ROWS = 10.0


@dataclass(frozen=True, eq=False)
class TangentPlane(Model[Moments, Plane], HasNomogram[Plane], SqlSummable[Moments]):
    """A plane between two classes as a function of their moments; which plane is the rule's choice."""

    rule: Rule | Designed = fisher
    ridge: float = 1e-6
    origin: Annotated[Array | None, "k d"] = field(default=None, kw_only=True)  # of the sums
    # of all rows; 0 is a feature that does not vary
    spread: Annotated[Array | None, "d"] = field(default=None, kw_only=True)

    encoder: Encoder = field(default=Numbers(missing=True), kw_only=True)

    def sums(self, X: Encoded, W: OneHot | Array, domain: Domain) -> Any:
        """Moments; by pattern where entries are missing."""
        return by_pattern(domain.features.read(X), W, self.origin)

    @property
    def statistics_key(self) -> object | None:
        return by_pattern

    def sql_statistics(self, rows: DatabaseRows, features: Features | None) -> tuple[Features, Any]:
        return features or rows.features, patterns_asked(rows, self.origin)

    def with_origin_of(self, s: Statistics[Any]) -> Self:
        return replace(self, origin=s.sums.origin) if isinstance(s.sums, Moments) else self

    def resolve(self, s: Statistics[Any]) -> Self:
        s = replace(s, sums=guessed(s.sums))
        check_range(s)
        return replace(self, domain=s.domain, origin=s.sums.origin, spread=spread_of(s.sums.diagonals().total()))

    def restrict(self, s: Statistics[Any]) -> Statistics[Moments]:
        """Where entries are missing: the moments that normal classes are expected to have."""
        return s if isinstance(s.sums, Moments) else self._normal(s).restrict(s)

    def revisit(self, s: Statistics[Any], read: Read) -> Statistics[Moments]:
        return s if isinstance(s.sums, Moments) else self._normal(s).revisit(s, read)

    def _normal(self, s: Statistics[Any]) -> FullGaussian:
        """The normal classes under which missing entries are expected to be what they are."""
        unknown = np.argwhere((s.sums.entries().count == 0) & (s.mass > 0)[:, None])
        if len(unknown):
            c, j = unknown[0].tolist()
            raise DegenerateError(
                f"{s.label(c)} has no values in {s.domain.name(j)}: its mean is unknown. Leave the column out"
            )
        return FullGaussian(GaussianPrior(0.0, EM_PRIOR_ROWS)).resolve(s)

    def notices(self) -> tuple[Notice, ...]:
        return () if self.spread is None or self.domain is None else left_out(self.spread, self.domain)

    def _used(self, s: Statistics[Moments]) -> Array:
        return np.ones(s.domain.width, dtype=bool) if self.spread is None else self.spread > 0

    def attempt(self, s: Statistics[Moments]) -> Attempt[Moments, Plane]:
        """A block is a class: one of some mass, whose covariance with the ridge is positive definite."""
        ok = (s.mass > 0) & self._regular(s)
        mask = replace(s.sums, count=ok[:, None], first=ok[:, None], second=ok[:, None, None])
        valid = replace(s, mass=ok, sums=mask)
        try:
            return Attempt(replace(self.rule(self.pencil(s)), source=Source(s)), valid)
        except DegenerateError as error:
            nowhere = np.full(s.domain.width, np.nan)
            none = Plane(s.domain, np.zeros(2), nowhere, nowhere, np.nan, np.nan, nowhere, np.full(2, np.nan), False)
            return Attempt(none, valid, str(error))

    def _regular(self, s: Statistics[Moments]) -> Array:
        total = s.sums.diagonals().total()
        scaled = ratio(s.sums.scatter(), s.sums.count[:, :, None])
        size = ratio(total.scatter(), total.count)[0]
        inverse = np.where(self._used(s), ratio(1.0, np.sqrt(np.maximum(size, 0.0))), 0.0)
        scaled *= np.outer(inverse, inverse)
        at = np.arange(len(inverse))
        scaled[:, at, at] += np.where(inverse > 0, self.ridge, 1.0)
        return np.array([lapack.dpotrf(one.T, lower=1, clean=0, overwrite_a=1)[1] == 0 for one in scaled])

    def pencil(self, s: Statistics[Moments]) -> Pencil:
        """The two classes taken apart: all planes between them follow from it."""
        if len(s.mass) != 2:
            raise DegenerateError(f"a plane tells two classes apart, got {len(s.mass)}")
        for c in range(2):
            if s.mass[c] <= 0:
                raise DegenerateError(f"{s.label(c)} has no rows: its mean and covariance are unknown")
        return Pencil.of(s, self._used(s), self.ridge)

    def attach(self, theta: Plane, s: Statistics[Moments], group: Array) -> Plane:
        return replace(theta, source=Source(s, group))

    def log_joint(self, X: Encoded, theta: Plane) -> Array:
        """The log-odds of the second class; where entries are missing, those of the plane of the other columns."""
        values = theta.domain.features.read(X)
        odds = theta.log_odds(values)
        if not complete(values):
            s = self._behind(theta)
            for rows, has in groups(np.isnan(values)):
                if len(has) < values.shape[1]:
                    odds[rows] = self._without(s, has).log_odds(values[rows][:, has])
        return np.column_stack([np.zeros(len(odds)), odds])

    def nomogram(self, theta: Plane) -> Nomogram:
        return _slopes(theta, self._centre(theta), keys_of(self))

    def terms(self, X: Encoded, theta: Plane) -> Terms:
        """Where entries are missing, those of the plane of the other columns."""
        values = np.asarray(theta.domain.features.read(X), dtype=float)
        centre, keys = self._centre(theta), keys_of(self)
        s = None if complete(values) else self._behind(theta)

        def without(has: Array) -> Nomogram:
            return _slopes(self._without(cast(Any, s), has), centre[has], tuple(keys[j] for j in has))

        return terms_by_pattern(values, keys, self.nomogram(theta), without)

    def _centre(self, theta: Plane) -> Array:
        """The mean of all rows (d,), if the moments are known."""
        return theta.origin if theta.source is None else _mean_of_all(self._behind(theta))

    def _behind(self, theta: Plane) -> Statistics[Moments]:
        if theta.source is None:
            raise ValueError("rows with missing values need a plane that knows the moments it was taken from")
        return theta.source.statistics()

    def _without(self, s: Statistics[Moments], has: Array) -> Plane:
        """The plane of some columns; where these do not tell the classes apart, no plane at all."""
        some = Statistics(some_of(s.domain, has), s.mass, columns_of(s.sums, has))
        model = replace(self, spread=None if self.spread is None else self.spread[has])
        if not model._used(some).any():
            return constant(some)
        try:
            return self.rule(model.pencil(some))
        except AlikeError:
            return constant(some)


def _slopes(plane: Plane, centre: Array, keys: tuple[Any, ...]) -> Nomogram:
    """coef_j (x_j - centre_j) in the log-odds of the second class, half for each class."""
    coef = HALVES[:, None] * plane.coef
    return Nomogram(plane.log_odds(centre[None])[0] * HALVES, (Needed(keys, centre, coef, 0.0 * coef),))


def _mean_of_all(s: Statistics[Moments]) -> Array:
    """The mean of all rows (d,)."""
    total = s.sums.total()
    return np.asarray(total.mean()[0] + total.origin[0])
