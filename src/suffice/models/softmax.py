"""Softmax: logistic regression as the linear view of Gaussians with one diagonal covariance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from suffice._domain import OneHot
from suffice._vector import Array
from suffice.models.gaussian import DiagonalGaussian, Linear
from suffice.models.moments import Moments


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

    def log_joint(self, X: Array, theta: Linear) -> Array:
        return theta.log_joint(X)
