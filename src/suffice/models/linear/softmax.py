"""Softmax: logistic regression, as the linear view of Gaussians with one diagonal covariance and in its own right."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self, cast

import numpy as np

from suffice._core.features import Domain, Encoded, Features
from suffice._core.labels import OneHot
from suffice._core.vector import Array
from suffice._runtime.messages import Notice
from suffice.data.queries import DatabaseRows
from suffice.models.base import Attempt, Curved, Joint, Model
from suffice.models.gaussian.base import Normal
from suffice.models.gaussian.diagonal import TiedDiagonalGaussian
from suffice.models.gaussian.moments import Moments, ratio
from suffice.models.linear.base import Linear
from suffice.models.linear.design import Design
from suffice.models.natural import Slopes
from suffice.models.queries import SqlSummable
from suffice.models.statistics import Statistics
from suffice.models.terms import HasNomogram, Nomogram, keys_of

LARGE = 30.0  # by how much a class without probability is below all others, so that slopes can still begin


@dataclass(frozen=True, eq=False)
class Softmax(
    Model[Moments, Linear],
    Joint[Moments, Linear],
    Curved[Moments, Linear, Slopes],
    HasNomogram[Linear],
    SqlSummable[Moments],
):
    """p(y | x) = softmax_y(coef_y'x + intercept_y), in closed form from tied moments (rc1 VI-A).

        coef_yj = mean_yj / var_j,     intercept_y = log p(y) - 1/2 sum_j mean_yj^2 / var_j

    This equals tied naive Bayes exactly.
    """

    gaussian: TiedDiagonalGaussian = field(default_factory=TiedDiagonalGaussian)

    def sums(self, X: Encoded, W: OneHot | Array, domain: Domain) -> Moments:
        return self.gaussian.sums(X, W, domain)

    @property
    def statistics_key(self) -> object | None:
        return self.gaussian.statistics_key

    def sql_statistics(self, rows: DatabaseRows, features: Features | None) -> tuple[Features, Moments]:
        return self.gaussian.sql_statistics(rows, features)

    def with_origin_of(self, s: Statistics[Moments]) -> Self:
        return replace(self, gaussian=self.gaussian.with_origin_of(s))

    def resolve(self, s: Statistics[Moments]) -> Self:
        return replace(self, domain=s.domain, gaussian=self.gaussian.resolve(s))

    @property
    def display_name(self) -> str:
        return "LogisticRegression"

    def notices(self) -> tuple[Notice, ...]:
        return self.gaussian.notices()

    @property
    def prior_rows(self) -> float:
        return self.gaussian.prior_rows

    def attempt(self, s: Statistics[Moments]) -> Attempt[Moments, Linear]:
        got = self.gaussian.attempt(s)
        return Attempt(Linear.of(got.parameters), got.valid, got.problem)

    def log_likelihood(self, target: Statistics[Moments], best: Linear, theta: Linear) -> float:
        """Of the Gaussians behind the view."""
        behind = cast(tuple[Normal, Normal], (best.source, theta.source))
        return self.gaussian.log_likelihood(target, *behind)

    def log_joint(self, X: Encoded, theta: Linear) -> Array:
        return theta.scores(theta.domain.features.read(X))

    def nomogram(self, theta: Linear) -> Nomogram:
        """coef_yj (x_j - mean_j), about the mean of all rows, whose scores are the base."""
        return theta.nomogram(keys_of(self), self.gaussian.standard()[0])

    def natural(self, theta: Linear) -> Slopes:
        """Slopes of standardised features, less their mean over the classes, which changes nothing."""
        centre, spread = self.gaussian.standard()
        intercept, coef = theta.intercept + theta.coef @ (centre - theta.origin), theta.coef * spread
        possible = np.isfinite(intercept)
        intercept = np.where(possible, intercept, intercept[possible].min() - LARGE)
        return Slopes(intercept - intercept.mean(), coef - coef.mean(axis=0))

    def from_natural(self, eta: Slopes) -> Linear:
        """The inverse of `natural`, except for that mean."""
        if self.domain is None:
            raise ValueError("a model has natural parameters once it is resolved")
        centre, spread = self.gaussian.standard()
        return Linear(self.domain, centre, eta.coef * ratio(1.0, spread), eta.intercept)

    def zero(self, s: Statistics[Moments]) -> Slopes:
        """All classes alike."""
        return Slopes(np.zeros(len(s.mass)), np.zeros(s.sums.first.shape))

    def gradient(self, s: Statistics[Moments], eta: Slopes) -> Slopes:  # noqa: ARG002 - scores are linear in slopes
        """Minus the gradient of the log loss: S(X, Y - P) of standardised features."""
        centre, spread = self.gaussian.standard()
        return Slopes(s.mass, s.sums.about(centre).first * ratio(1.0, spread))

    def feasible(self, eta: Slopes, start: Slopes) -> Slopes:  # noqa: ARG002 - as all models are asked
        """Every slope will do."""
        return eta

    def penalised(self, eta: Slopes) -> Slopes:
        """What an l2 penalty weighs: the slopes of standardised features, without the intercept.

        With two classes the penalty is that of the one vector of log-odds, as elsewhere: 1/2 |w|^2 = sum_y |w_y|^2.
        """
        return Slopes(np.zeros_like(eta.intercept), (2.0 if len(eta.coef) == 2 else 1.0) * eta.coef)

    def design(self, X: Encoded) -> Design:
        """Standardised features with a leading column of ones (n, d + 1)."""
        centre, spread = self.gaussian.standard()
        return Design(X.features.read(X), centre, ratio(1.0, spread))
