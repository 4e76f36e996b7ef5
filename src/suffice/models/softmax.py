"""Softmax: logistic regression, as the linear view of Gaussians with one diagonal covariance and in its own right."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from suffice._domain import Domain, OneHot
from suffice._vector import Array
from suffice.models.gaussian import DiagonalGaussian, Linear
from suffice.models.moments import Moments, origin, ratio
from suffice.models.natural import Slopes

LARGE = 30.0  # by how much a class without probability is below all others, so that slopes can still begin


@dataclass(frozen=True, eq=False)
class Softmax:
    """p(y | x) = softmax_y(coef_y'x + intercept_y), in closed form from tied moments (rc1 VI-A, corrected).

        coef_yj = mean_yj / var_j,     intercept_y = log p(y) - 1/2 sum_j mean_yj^2 / var_j

    The print has log(mean)/var and another sign of the constant; this form equals tied naive Bayes exactly.
    """

    gaussian: DiagonalGaussian

    def statistics(self, X: Array, W: OneHot | Array) -> Moments:
        return self.gaussian.statistics(X, W)

    def resolve(self, s: Moments) -> Self:
        return replace(self, gaussian=self.gaussian.resolve(s))

    def valid(self, s: Moments) -> Moments:
        return self.gaussian.valid(s)

    def parameters(self, s: Moments) -> Linear:
        return Linear.of(self.gaussian.parameters(s))

    def log_likelihood(self, target: Moments, s: Moments) -> float:
        """Of the Gaussians behind the view."""
        return self.gaussian.log_likelihood(target, s)

    def log_joint(self, X: Array, theta: Linear) -> Array:
        return theta.log_joint(X)

    def natural(self, theta: Linear) -> Slopes:
        """Slopes of standardised features, less their mean over the classes, which changes nothing."""
        centre, spread = self.gaussian.standard(theta.domain)
        intercept, coef = theta.intercept + theta.coef @ centre, theta.coef * spread
        possible = np.isfinite(intercept)
        intercept = np.where(possible, intercept, intercept[possible].min() - LARGE)
        return Slopes(intercept - intercept.mean(), coef - coef.mean(axis=0))

    def from_natural(self, eta: Slopes, domain: Domain) -> Linear:
        """The inverse of `natural`, but for that mean."""
        centre, spread = self.gaussian.standard(domain)
        coef = eta.coef * ratio(1.0, spread)
        return Linear(domain, coef, eta.intercept - coef @ centre)

    def zero(self, s: Moments) -> Slopes:
        """All classes alike."""
        return Slopes(np.zeros(len(s.mass)), np.zeros(s.first.shape))

    def gradient(self, s: Moments, eta: Slopes) -> Slopes:  # noqa: ARG002 - the scores are linear in the slopes
        """Minus the gradient of the log loss: S(X, Y - P) of standardised features."""
        centre, spread = self.gaussian.standard(s.domain)
        return Slopes(s.mass, s.about(centre + origin(s.domain)).first * ratio(1.0, spread))

    def feasible(self, eta: Slopes, start: Slopes) -> Slopes:  # noqa: ARG002 - as all models are asked
        """Every slope will do."""
        return eta

    def penalised(self, eta: Slopes) -> Slopes:
        """What an l2 penalty weighs: the slopes of standardised features, without the intercept.

        With two classes the penalty is that of the one vector of log-odds, as elsewhere: 1/2 |w|^2 = sum_y |w_y|^2.
        """
        return Slopes(np.zeros_like(eta.intercept), (2.0 if len(eta.coef) == 2 else 1.0) * eta.coef)

    def design(self, X: Array, domain: Domain) -> Array:
        """Standardised features with a leading column of ones (n, d + 1)."""
        centre, spread = self.gaussian.standard(domain)
        Z = (X - (centre + origin(domain))) * ratio(1.0, spread)
        return np.column_stack([np.ones(len(X)), Z])
