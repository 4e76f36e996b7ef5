"""Logistic regression."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice import _input
from suffice._classifier import Classifier
from suffice._vector import Array
from suffice.models import DiagonalGaussian, Softmax
from suffice.priors import gaussian_prior


class LogisticRegression(Classifier):
    """Linear log-odds, in closed form: the linear view of independent features with one variance over the classes.

        p(y | x) = softmax_y(coef_y'x + intercept_y)
        coef_yj = mean_yj / var_j,     intercept_y = log p(y) - 1/2 sum_j mean_yj^2 / var_j

    Its predictions are those of `GaussianNB(tied=True)`.

    Parameters
    ----------
    prior : "default", GaussianPrior or None, default="default"
        The default shrinks towards the mean and variance of all rows with the weight of 10 rows; None is maximum
        likelihood.
    learner : learner of `suffice.learners`, default=None
        How to learn; None is the closed form.
    class_prior : None, array of shape (k,), dict or Dirichlet, default=None
        Given class probabilities; None takes the classes' shares of the rows, a Dirichlet prior smooths those.
    class_weight : None, "balanced" or dict, default=None
        Weights by class that multiply the rows' weights.

    Attributes
    ----------
    classes_ : array of shape (k,)
    coef_ : array of shape (1, d) if there are two classes, else (k, d)
    intercept_ : array of shape (1,) or (k,)
    class_count_ : array of shape (k,)
    statistics_ : Moments

    Examples
    --------
    >>> model = LogisticRegression(prior=None).fit([[0.0], [2.0], [8.0], [10.0]], [0, 0, 1, 1])
    >>> model.coef_, model.intercept_
    (array([[8.]]), array([-40.]))

    References
    ----------
    Perez, Echegoyen, Santafe: Risk-based calibration for probabilistic classifiers, VI-A; the printed coefficients
    have a logarithm too many.
    """

    def __init__(
        self, prior: Any = "default", learner: Any = None, class_prior: Any = None, class_weight: Any = None
    ) -> None:
        self.prior = prior
        self.learner = learner
        self.class_prior = class_prior
        self.class_weight = class_weight

    def _model(self) -> Softmax:
        return Softmax(DiagonalGaussian(True, gaussian_prior(self.prior), self.class_prior, self._names()))

    def _encode(self, X: Any) -> Array:
        return _input.numbers(X, type(self).__name__)

    @property
    def coef_(self) -> Array:
        """The weight of each feature in the log-odds (two classes) or the score of each class."""
        return np.asarray(self.parameters_.log_odds()[0])

    @property
    def intercept_(self) -> Array:
        """What the weighted features are added to."""
        return np.asarray(self.parameters_.log_odds()[1])
