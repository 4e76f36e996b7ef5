"""Naive Bayes for categories."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from suffice._classifier import Classifier
from suffice._domain import CategoricalFeatures
from suffice._vector import Array
from suffice.encoders import Categories
from suffice.files import export
from suffice.models import Categorical, Counts, Statistics
from suffice.models.categorical import LOG_ZERO
from suffice.priors import dirichlet_prior


class CategoricalNB(Classifier):
    """Naive Bayes for categories of any kind: strings, integers, booleans, data frame categoricals, also floats.

        p(y | x) ~ p(y) prod_j p(x_j | y),     p(x_j = v | y) = (n_jv,y + a) / (n_j,y + r_j a)

    Every distinct value of a column is a category. A value that is missing, or was never learned, leaves its feature
    out for that row. Columns of measurements or dates, with few rows a value, are better put in bins first
    (`suffice.features.Bins`); there is a warning.

    Parameters
    ----------
    prior : "default", Dirichlet or None, default="default"
        Pseudo-counts a. The default is Laplace's rule, 1 a cell; None is maximum likelihood.
    learner : learner of `suffice.learners`, default=None
        How to learn; None is the closed form.
    class_prior : None, "uniform", array of shape (k,), dict or Dirichlet, default=None
        Given class probabilities; None takes the classes' shares of the rows, a Dirichlet prior smooths those.
    class_weight : None, "balanced" or dict, default=None
        Weights by class that multiply the rows' weights.
    categories : None, list of d arrays or dict of column: array, default=None
        Categories that a column has also without rows, by its name or number: they get cells, also after merging and
        forgetting. Learning refuses other values in such a column, predicting leaves them out. None, also for one
        column: those that rows have.

    Attributes
    ----------
    classes_ : array of shape (k,)
    categories_ : list of d arrays
        The categories of each feature, sorted.
    feature_log_prob_ : list of d arrays of shape (k, r_j)
    category_count_ : list of d arrays of shape (k, r_j)
    class_log_prior_, class_prior_, class_count_ : array of shape (k,)
    statistics_ : Counts

    Examples
    --------
    >>> model = CategoricalNB().fit([["red"], ["red"], ["blue"]], ["ripe", "ripe", "raw"])
    >>> model.predict([["blue"], ["green"]])
    array(['raw', 'ripe'], dtype='<U4')

    References
    ----------
    Perez, Echegoyen, Santafe: Risk-based calibration for probabilistic classifiers, II-C and appendix B.
    """

    statistics_: Statistics[Counts]

    def __init__(
        self,
        prior: Any = "default",
        learner: Any = None,
        class_prior: Any = None,
        class_weight: Any = None,
        categories: Any = None,
    ) -> None:
        self.prior = prior
        self.learner = learner
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.categories = categories

    def _model(self) -> Categorical:
        encoder = Categories.declare(self.categories, who=type(self).__name__)
        return Categorical(dirichlet_prior(self.prior), class_prior=self.class_prior, encoder=encoder)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        return tags

    def to_sklearn(self) -> Any:
        """scikit-learn's `CategoricalNB` behind an `OrdinalEncoder`, with the same probabilities."""
        return export.categorical_nb(self)

    @property
    def categories_(self) -> list[Array]:
        """The categories of each feature."""
        check_is_fitted(self)
        return list(self._features_of().categories)

    @property
    def n_categories_(self) -> Array:
        """The number of categories of each feature (d,)."""
        return np.array([len(c) for c in self.categories_])

    @property
    def feature_log_prob_(self) -> list[Array]:
        """log p(x_j = v | y) of each feature, arrays of shape (k, r_j)."""
        log_p = self.parameters_.log_probability.T
        return self._by_feature(np.where(log_p <= LOG_ZERO, -np.inf, log_p))

    @property
    def category_count_(self) -> list[Array]:
        """The weight of the rows by class and category of each feature, arrays of shape (k, r_j)."""
        check_is_fitted(self)
        return self._by_feature(self.statistics_.sums.table)

    @property
    def class_log_prior_(self) -> Array:
        """log p(y) (k,)."""
        return self._class_log_prob()

    def _by_feature(self, cells: Array) -> list[Array]:
        return np.split(cells, self._features_of().starts[1:-1], axis=1)

    def _features_of(self) -> CategoricalFeatures:
        return cast(CategoricalFeatures, self.statistics_.domain.features)
