"""Planes between two classes that are known by their moments."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from scipy.linalg import lapack

from suffice._domain import Domain, Encoded
from suffice._labels import OneHot
from suffice._notice import Notice
from suffice._vector import Array
from suffice.models._base import Attempt, DegenerateError, Model
from suffice.models._statistics import Statistics
from suffice.models.gaussian import check_range, left_out, spread_of
from suffice.models.moments import Moments, diagonal, moments, ratio
from suffice.models.pencil import Pencil, Plane
from suffice.models.rules import Rule, fisher


@dataclass(frozen=True, eq=False)
class TangentPlane(Model[Moments, Plane]):
    """A plane between two classes as a function of their moments; which plane is the rule's choice."""

    rule: Rule = fisher
    ridge: float = 1e-6
    origin: Array | None = field(default=None, kw_only=True)  # (k, d) of the sums
    spread: Array | None = field(default=None, kw_only=True)  # (d,) of all rows; 0 is a feature that does not vary

    def sums(self, X: Encoded, W: OneHot | Array, domain: Domain) -> Moments:
        return moments(domain.features.read(X), W, True, self.origin)

    def resolve(self, s: Statistics[Moments]) -> Self:
        check_range(s)
        return replace(self, domain=s.domain, origin=s.sums.origin, spread=spread_of(s.sums))

    def remarks(self) -> tuple[Notice, ...]:
        return () if self.spread is None or self.domain is None else left_out(self.spread, self.domain)

    def _used(self, s: Statistics[Moments]) -> Array:
        return np.ones(s.domain.width, dtype=bool) if self.spread is None else self.spread > 0

    def attempt(self, s: Statistics[Moments]) -> Attempt[Moments, Plane]:
        """A block is a class: one of some mass, whose covariance with the ridge is positive definite."""
        ok = (s.mass > 0) & self._regular(s)
        mask = replace(s.sums, count=ok[:, None], first=ok[:, None], second=ok[:, None, None])
        valid = replace(s, mass=ok, sums=mask)
        try:
            return Attempt(self.rule(self.pencil(s)), valid)
        except DegenerateError as error:
            nowhere = np.full(s.domain.width, np.nan)
            none = Plane(s.domain, np.zeros(2), nowhere, nowhere, np.nan, np.nan, nowhere, np.full(2, np.nan), False)
            return Attempt(none, valid, str(error))

    def _regular(self, s: Statistics[Moments]) -> Array:
        total = s.sums.total()
        covariance = ratio(s.sums.scatter(), s.sums.count[:, :, None])
        size = ratio(diagonal(total.scatter()), total.count)[0]
        inverse = np.where(self._used(s), ratio(1.0, np.sqrt(np.maximum(size, 0.0))), 0.0)
        scaled = covariance * np.outer(inverse, inverse)
        at = np.arange(len(inverse))
        scaled[:, at, at] += np.where(inverse > 0, self.ridge, 1.0)
        return np.array([lapack.dpotrf(one, lower=1)[1] == 0 for one in scaled])

    def pencil(self, s: Statistics[Moments]) -> Pencil:
        """The two classes taken apart: all planes between them follow from it."""
        if len(s.mass) != 2:
            raise DegenerateError(f"a plane tells two classes apart, got {len(s.mass)}")
        for c in range(2):
            if s.mass[c] <= 0:
                raise DegenerateError(f"{s.label(c)} has no rows: its mean and covariance are unknown")
        return Pencil.of(s, self._used(s), self.ridge)

    def log_joint(self, X: Encoded, theta: Plane) -> Array:
        odds = (theta.domain.features.read(X) - theta.origin) @ theta.coef + theta.intercept
        return np.column_stack([np.zeros(len(odds)), odds])
