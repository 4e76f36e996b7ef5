"""Naive Bayes for numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Tags

from suffice._classifier import Classifier
from suffice._vector import Array
from suffice.encoders import Numbers
from suffice.files import export
from suffice.models import DiagonalGaussian, TiedDiagonalGaussian
from suffice.priors import gaussian_prior


class GaussianNB(Classifier):
    """Naive Bayes for numbers: every feature is normal within each class, independent of the others.

        p(y | x) ~ p(y) prod_j N(x_j; mean_yj, var_yj)

    With `tied=True` a feature has one variance, pooled within the classes, and the decision is linear. A missing
    value (NaN) leaves its feature out for that row, in learning and in predicting. Sparse input is summed as it is.

    Parameters
    ----------
    prior : "default", GaussianPrior or None, default="default"
        The default leaves the means as they are and adds to the variances the weight of 30 rows that vary as new rows
        do about the means of their classes, and by 3/10 of the variance of all rows; None is maximum likelihood.
    learner : learner of `suffice.learners`, default=None
        How to learn; None is the closed form.
    class_prior : None, "uniform", array of shape (k,), dict or Dirichlet, default=None
        Given class probabilities; None takes the classes' shares of the rows, a Dirichlet prior smooths those.
    class_weight : None, "balanced" or dict, default=None
        Weights by class that multiply the rows' weights.
    tied : bool, default=False
        Whether the classes share their variances.

    Attributes
    ----------
    classes_ : array of shape (k,)
    theta_, var_ : array of shape (k, d)
        Means and variances.
    class_prior_, class_count_ : array of shape (k,)
    statistics_ : Moments

    Examples
    --------
    >>> model = GaussianNB(prior=None).fit([[0.0], [2.0], [7.0], [9.0]], ["low", "low", "high", "high"])
    >>> model.theta_.ravel(), model.predict([[3.0]])
    (array([8., 1.]), array(['low'], dtype='<U4'))

    References
    ----------
    Perez, Echegoyen, Santafe: Risk-based calibration for probabilistic classifiers, VI-A and appendix B.
    """

    def __init__(
        self,
        prior: Any = "default",
        learner: Any = None,
        class_prior: Any = None,
        class_weight: Any = None,
        tied: bool = False,
    ) -> None:
        self.prior = prior
        self.learner = learner
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.tied = tied

    def _model(self) -> DiagonalGaussian | TiedDiagonalGaussian:
        model = TiedDiagonalGaussian if self.tied else DiagonalGaussian
        encoder = Numbers(missing=True, who=type(self).__name__, sparse=True)
        return model(gaussian_prior(self.prior), class_prior=self.class_prior, encoder=encoder)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def to_sklearn(self) -> Any:
        """scikit-learn's `GaussianNB` with the same probabilities; it takes no missing values."""
        return export.gaussian_nb(self)

    @property
    def theta_(self) -> Array:
        """The mean of each class (k, d)."""
        theta = self.parameters_
        return np.asarray(theta.mean + theta.origin)

    @property
    def var_(self) -> Array:
        """The variance of each class (k, d)."""
        theta = self.parameters_
        return np.broadcast_to(theta.variance, theta.mean.shape).copy()
