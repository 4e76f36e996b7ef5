"""Logistic regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice._core.vector import Array
from suffice._estimator.classifier import Classifier
from suffice._runtime.messages import check, one_of
from suffice.encoders import Numbers
from suffice.learners import Newton
from suffice.models import Contests, Softmax, TiedDiagonalGaussian
from suffice.models.compose.contests import MULTI_CLASS
from suffice.persistence import export
from suffice.priors import Dirichlet
from suffice.priors.settings import gaussian_prior

__all__ = ["LogisticRegression"]


@dataclass(eq=False, repr=False)
class LogisticRegression(Classifier):
    """Logistic regression: linear log-odds by penalised maximum likelihood, or by any other learner.

        p(y | x) = softmax_y(coef_y'x + intercept_y)

    By default `Newton` minimises the log loss plus 1/2 l2 sum_j (sd_j w_j)^2. With `learner=ClosedForm()` the
    parameters are those of independent normal features with one variance over the classes, in one read of the data,

        coef_yj = mean_yj / var_j,     intercept_y = log p(y) - 1/2 sum_j mean_yj^2 / var_j

    and the predictions those of `GaussianNB(tied=True)`; then fitting in pieces, merging and forgetting are exact.

    Parameters
    ----------
    prior : "default", GaussianPrior or None, default="default"
        For `ClosedForm`, and the learners that start from it; the default is that of `GaussianNB`, None is maximum
        likelihood. `Newton` does not use it: its penalty is its `l2`.
    learner : learner of `suffice.learners`, default=None
        How to learn; None is `Newton()`.
    class_prior : None, "uniform", array of shape (k,), dict or Dirichlet, default=None
        Given class probabilities, for `ClosedForm`, `RiskCalibration` and `TM`; None takes the classes' shares of the
        rows.
    class_weight
        As in every `Classifier`.
    multi_class : {"softmax", "ovo", "ovr"}, default="softmax"
        How to treat more than two classes: jointly; every pair, with coupled probabilities; each against the rest.

    Attributes
    ----------
    classes_ : array of shape (k,)
    coef_ : array of shape (1, d) if there are two classes, else (k, d), or one row a pair with "ovo"
    intercept_ : array of shape (1,), (k,), or one a pair
    class_count_ : array of shape (k,)
    history_, n_iter_, converged_
        The course of learning.
    statistics_ : Moments

    Examples
    --------
    >>> from suffice.learners import ClosedForm
    >>> X, y = [[0.0], [2.0], [8.0], [10.0]], [0, 0, 1, 1]
    >>> LogisticRegression(prior=None, learner=ClosedForm()).fit(X, y).coef_
    array([[8.]])
    >>> LogisticRegression().fit(X, y).coef_.round(3)
    array([[0.247]])

    References
    ----------
    Perez, Echegoyen, Santafe: Risk-based calibration for probabilistic classifiers, VI-A.
    """

    prior: Any = "default"
    learner: Any = None
    class_prior: Any = None
    class_weight: Any = None
    multi_class: str = "softmax"

    def _model(self) -> Softmax | Contests[Any]:
        check(self, multi_class=one_of("softmax", *MULTI_CLASS))
        learner = self._learner()
        if self.class_prior is not None and not isinstance(self.class_prior, Dirichlet) and learner.needed():
            raise ValueError(
                f"class_prior has no effect under {type(learner).__name__}, which finds the intercepts itself: use "
                "learner=ClosedForm(), RiskCalibration() or TM(), or class_weight"
            )
        gaussian = TiedDiagonalGaussian(gaussian_prior(self.prior), class_prior=self.class_prior)
        model = Softmax(gaussian, encoder=Numbers(who=type(self).__name__))
        if self.multi_class == "softmax":
            return model
        if self.class_prior is not None:
            raise ValueError(f"class_prior goes with multi_class='softmax', not with {self.multi_class!r}")
        if gaussian.prior.differs:
            raise ValueError(f"a prior by class goes with multi_class='softmax', not with {self.multi_class!r}")
        return Contests.of(model, MULTI_CLASS[self.multi_class])

    def _default_learner(self) -> Newton:
        return Newton()

    to_sklearn = export.logistic_regression

    @property
    def coef_(self) -> Array:
        """The weight of each feature in the log-odds (two classes, or each pair) or the score of each class."""
        return self._log_odds(0)

    @property
    def intercept_(self) -> Array:
        """The constant of the log-odds, or of the score of each class."""
        return self._log_odds(1)

    def _log_odds(self, which: int) -> Array:
        theta = self.parameters_
        each = theta if isinstance(theta, tuple) else (theta,)
        return np.concatenate([np.asarray(linear.log_odds()[which]) for linear in each])
