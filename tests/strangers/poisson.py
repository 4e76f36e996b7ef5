"""A model: naive Bayes over counts, p(x_j | y) = Poisson(rate_yj), and its estimator."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln

from suffice import ModelClassifier
from suffice.data import OneHot
from suffice.models import Attempt, Density, Sums


@dataclass(frozen=True, eq=False, repr=False)
class Totals(Sums):
    counts: ClassVar = ("total",)
    total: Any  # (k, d)

    def onto(self, old, new):
        return self.regroup(np.searchsorted(new.classes, old.classes), len(new.classes))

    def impossible(self, before, domain, mass):
        return "a total would be negative: these rows were not all learned" if (self.total < 0).any() else None


@dataclass(frozen=True, eq=False)
class Rates:
    class_log_prob: Any  # (k,)
    rate: Any  # (k, d)


@dataclass(frozen=True, eq=False)
class Poisson(Density):
    """rate_yj = (total_yj + alpha) / (mass_y + beta): the mean under a Gamma(alpha + 1, beta) prior's mode."""

    alpha: float = 1.0
    beta: float = 1.0

    def sums(self, X, W, domain):
        weights = W.matrix() if isinstance(W, OneHot) else W
        return Totals(weights.T @ domain.features.read(X))

    def attempt(self, s):
        total, mass = s.sums.total + self.alpha, s.mass[:, None] + self.beta
        ok = (total > 0) & (mass > 0)
        rate = np.divide(total, mass, out=np.ones(total.shape), where=ok)
        valid = replace(s, mass=s.mass > 0, sums=Totals(ok))
        return Attempt(Rates(self.class_log_prob(s), rate), valid, None if ok.all() else "a rate would be negative")

    def log_density(self, X, theta):
        return X.values @ np.log(theta.rate).T - theta.rate.sum(axis=1) - gammaln(X.values + 1).sum(axis=1)[:, None]


class PoissonNB(ModelClassifier):
    def __init__(self, alpha=1.0, beta=1.0, learner=None, class_weight=None):
        self.alpha, self.beta, self.learner, self.class_weight = alpha, beta, learner, class_weight

    def _model(self):
        return Poisson(self.alpha, self.beta)
