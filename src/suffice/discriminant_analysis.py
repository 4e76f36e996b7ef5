"""Discriminant analysis: Gaussian classes with full covariances."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice._classifier import Classifier
from suffice._vector import Array
from suffice.encoders import Numbers
from suffice.models import FullGaussian, TiedFullGaussian
from suffice.models.linear import Linear
from suffice.priors import gaussian_prior


class _DiscriminantAnalysis(Classifier):
    """What the quadratic and the linear form share."""

    _family: type[FullGaussian] | type[TiedFullGaussian]

    def __init__(
        self, prior: Any = "default", learner: Any = None, class_prior: Any = None, class_weight: Any = None
    ) -> None:
        self.prior = prior
        self.learner = learner
        self.class_prior = class_prior
        self.class_weight = class_weight

    def _model(self) -> FullGaussian | TiedFullGaussian:
        encoder = Numbers(who=type(self).__name__)
        return self._family(gaussian_prior(self.prior), class_prior=self.class_prior, encoder=encoder)

    @property
    def means_(self) -> Array:
        """The mean of each class (k, d)."""
        theta = self.parameters_
        return np.asarray(theta.mean + theta.origin)

    @property
    def priors_(self) -> Array:
        """The probability of each class (k,)."""
        return self.class_prior_


class QuadraticDiscriminantAnalysis(_DiscriminantAnalysis):
    """Every class is normal with a covariance of its own; the decision is quadratic.

        p(y | x) ~ p(y) |cov_y|^(-1/2) exp(-1/2 (x - mean_y)' cov_y^-1 (x - mean_y))

    The default prior keeps every covariance regular, also that of a class with fewer rows than features.

    Parameters
    ----------
    prior : "default", GaussianPrior or None, default="default"
        The default leaves the means as they are and adds to the covariances the weight of 30 rows of independent
        features that vary as new rows do about the means of their classes, and by 3/10 of the variance of all rows;
        None is maximum likelihood, which refuses a class whose covariance is singular.
    learner : learner of `suffice.learners`, default=None
        How to learn; None is the closed form.
    class_prior : None, "uniform", array of shape (k,), dict or Dirichlet, default=None
        Given class probabilities; None takes the classes' shares of the rows, a Dirichlet prior smooths those.
    class_weight : None, "balanced" or dict, default=None
        Weights by class that multiply the rows' weights.

    Attributes
    ----------
    classes_ : array of shape (k,)
    means_ : array of shape (k, d)
    covariance_ : array of shape (k, d, d)
    priors_, class_prior_, class_count_ : array of shape (k,)
    statistics_ : Moments

    Examples
    --------
    >>> X = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [5.0, 7.0], [7.0, 5.0], [8.0, 8.0]]
    >>> QuadraticDiscriminantAnalysis().fit(X, [0, 0, 0, 1, 1, 1]).predict([[2.0, 2.0], [6.0, 5.0]])
    array([0, 1])

    References
    ----------
    Perez, Echegoyen, Santafe: Risk-based calibration for probabilistic classifiers, II-C.
    """

    _family = FullGaussian

    @property
    def covariance_(self) -> Array:
        """The covariance of each class (k, d, d)."""
        return np.asarray(self.parameters_.covariance)


class LinearDiscriminantAnalysis(_DiscriminantAnalysis):
    """The classes are normal with one covariance, pooled within them; the decision is linear.

        p(y | x) = softmax_y(coef_y'x + intercept_y),   coef_y = cov^-1 mean_y

    Parameters
    ----------
    prior : "default", GaussianPrior or None, default="default"
        The default leaves the means as they are and adds to the covariance the weight of 30 rows of independent
        features that vary as new rows do about the means of their classes, and by 3/10 of the variance of all rows;
        None is maximum likelihood, which refuses a singular covariance.
    learner : learner of `suffice.learners`, default=None
        How to learn; None is the closed form.
    class_prior : None, "uniform", array of shape (k,), dict or Dirichlet, default=None
        Given class probabilities; None takes the classes' shares of the rows, a Dirichlet prior smooths those.
    class_weight : None, "balanced" or dict, default=None
        Weights by class that multiply the rows' weights.

    Attributes
    ----------
    classes_ : array of shape (k,)
    means_ : array of shape (k, d)
    covariance_ : array of shape (d, d)
    coef_ : array of shape (1, d) if there are two classes, else (k, d)
    intercept_ : array of shape (1,) or (k,)
    priors_, class_prior_, class_count_ : array of shape (k,)
    statistics_ : Moments

    Examples
    --------
    >>> X = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [5.0, 7.0], [7.0, 5.0], [8.0, 8.0]]
    >>> LinearDiscriminantAnalysis().fit(X, [0, 0, 0, 1, 1, 1]).predict([[2.0, 2.0], [6.0, 5.0]])
    array([0, 1])

    References
    ----------
    Hastie, Tibshirani, Friedman: The Elements of Statistical Learning, 4.3.
    """

    _family = TiedFullGaussian

    @property
    def covariance_(self) -> Array:
        """The covariance within the classes (d, d)."""
        return np.asarray(self.parameters_.covariance[0])

    @property
    def coef_(self) -> Array:
        """The weight of each feature in the log-odds (two classes) or the score of each class."""
        return Linear.of(self.parameters_).log_odds()[0]

    @property
    def intercept_(self) -> Array:
        """What the weighted features are added to."""
        return Linear.of(self.parameters_).log_odds()[1]
