"""Naive Bayes for counts and text."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from suffice._check import NUMBER, check, or_else
from suffice._classifier import Classifier
from suffice._vector import Array
from suffice.encoders import Binary, NonNegative
from suffice.files import export
from suffice.models import Bernoulli, Multinomial, Poisson, Presences, Statistics, Totals, Words
from suffice.models.categorical import LOG_ZERO
from suffice.priors import gamma_prior, plain_prior


class _Counting(Classifier):
    """What these share: sparse input, and log p(y) by the name that scikit-learn gives it."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        encoder = self._model().encoder
        tags.classifier_tags.poor_score = True  # on the blobs of scikit-learn's checks, which are no counts
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = bool(getattr(encoder, "missing", False))
        tags.input_tags.positive_only = isinstance(encoder, NonNegative)
        return tags

    @property
    def class_log_prior_(self) -> Array:
        """log p(y) (k,)."""
        return self._class_log_prob()


class _NotNegative(_Counting):
    """Counts alone: as in scikit-learn, neither class weights, for which rows can be weighted, nor decisions."""

    class_weight = None

    @property
    def decision_function(self) -> Any:
        """Not there: scikit-learn asks it of negative rows."""
        raise AttributeError(f"{type(self).__name__} has no decision_function; predict_log_proba has the log-odds")


class MultinomialNB(_NotNegative):
    """Naive Bayes for counts of words, dense or sparse: which words a row has, given how many.

        p(y | x) ~ p(y) prod_j p(j | y)^x_j,     p(j | y) = (n_j,y + a) / sum_l (n_l,y + a)

    where n_j,y is how often word j stands in the rows of class y. Counts may be any numbers of at least 0. A missing
    count (NaN) is refused, as a row of unknown length has no probability here; `PoissonNB` takes it.

    Parameters
    ----------
    prior : "default", Dirichlet or None, default="default"
        Pseudo-counts a. The default is Laplace's rule, 1 a word; None is maximum likelihood.
    learner : learner of `suffice.learners`, default=None
        How to learn; None is the closed form.
    class_prior : None, "uniform", array of shape (k,), dict or Dirichlet, default=None
        Given class probabilities; None takes the classes' shares of the rows, a Dirichlet prior smooths those.

    Attributes
    ----------
    classes_ : array of shape (k,)
    feature_log_prob_, feature_count_ : array of shape (k, d)
        log p(j | y), and n_j,y.
    class_log_prior_, class_prior_, class_count_ : array of shape (k,)
    statistics_ : Words

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> words = CountVectorizer()
    >>> X = words.fit_transform(["cheap pills", "cheap cheap loans", "see you at lunch", "lunch at noon"])
    >>> model = MultinomialNB().fit(X, ["spam", "spam", "ham", "ham"])
    >>> model.predict(words.transform(["pills at lunch", "cheap lunch"]))
    array(['ham', 'spam'], dtype='<U4')

    References
    ----------
    McCallum, Nigam: A comparison of event models for naive Bayes text classification. AAAI workshop, 1998.
    """

    statistics_: Statistics[Words]

    def __init__(self, prior: Any = "default", learner: Any = None, class_prior: Any = None) -> None:
        self.prior = prior
        self.learner = learner
        self.class_prior = class_prior

    def _model(self) -> Multinomial:
        encoder = NonNegative(who=type(self).__name__)
        return Multinomial(plain_prior(self.prior, type(self).__name__), class_prior=self.class_prior, encoder=encoder)

    def to_sklearn(self) -> Any:
        """scikit-learn's `MultinomialNB` with the same probabilities."""
        return export.multinomial_nb(self)

    @property
    def feature_log_prob_(self) -> Array:
        """log p(j | y) of each word (k, d)."""
        return _with_infinity(self.parameters_.log_probability)

    @property
    def feature_count_(self) -> Array:
        """How often each word stands in the rows of each class (k, d)."""
        check_is_fitted(self)
        return self.statistics_.sums.table.copy()


class BernoulliNB(_Counting):
    """Naive Bayes for features that are there or not, dense or sparse: also what is not there counts.

        p(y | x) ~ p(y) prod_j p_yj^x_j (1 - p_yj)^(1 - x_j),     p_yj = (n_j,y + a) / (n_y + 2 a)

    where n_j,y is the number of rows of class y with feature j. A missing entry (NaN) leaves its feature out for that
    row, in learning and in predicting.

    Parameters
    ----------
    binarize : float or None, default=0.0
        A feature is there where its number is above this; None: numbers are 0 and 1 already.
    prior : "default", Dirichlet or None, default="default"
        Pseudo-counts a of 1 and of 0. The default is Laplace's rule, 1 each; None is maximum likelihood.
    learner : learner of `suffice.learners`, default=None
        How to learn; None is the closed form.
    class_prior : None, "uniform", array of shape (k,), dict or Dirichlet, default=None
        Given class probabilities; None takes the classes' shares of the rows, a Dirichlet prior smooths those.
    class_weight : None, "balanced" or dict, default=None
        Weights by class that multiply the rows' weights.

    Attributes
    ----------
    classes_ : array of shape (k,)
    feature_log_prob_, feature_count_ : array of shape (k, d)
        log p_yj, and n_j,y.
    class_log_prior_, class_prior_, class_count_ : array of shape (k,)
    statistics_ : Presences

    Examples
    --------
    >>> model = BernoulliNB().fit([[1, 0], [2, 1], [0, 1], [0, 3]], ["a", "a", "b", "b"])
    >>> model.predict([[1, 1], [0, 0]])
    array(['a', 'b'], dtype='<U1')

    References
    ----------
    McCallum, Nigam: A comparison of event models for naive Bayes text classification. AAAI workshop, 1998.
    """

    statistics_: Statistics[Presences]

    def __init__(
        self,
        binarize: float | None = 0.0,
        prior: Any = "default",
        learner: Any = None,
        class_prior: Any = None,
        class_weight: Any = None,
    ) -> None:
        self.binarize = binarize
        self.prior = prior
        self.learner = learner
        self.class_prior = class_prior
        self.class_weight = class_weight

    def _model(self) -> Bernoulli:
        check(self, binarize=or_else(None, NUMBER))
        encoder = Binary(missing=True, who=type(self).__name__, threshold=self.binarize)
        return Bernoulli(plain_prior(self.prior, type(self).__name__), class_prior=self.class_prior, encoder=encoder)

    def to_sklearn(self) -> Any:
        """scikit-learn's `BernoulliNB` with the same probabilities; it takes no missing values."""
        return export.bernoulli_nb(self)

    @property
    def feature_log_prob_(self) -> Array:
        """log p(x_j = 1 | y) of each feature (k, d)."""
        return _with_infinity(self.parameters_.present)

    @property
    def feature_count_(self) -> Array:
        """The weight of the rows of each class that have each feature (k, d)."""
        check_is_fitted(self)
        return self.statistics_.sums.total.copy()


class PoissonNB(_NotNegative):
    """Naive Bayes for counts of events, dense or sparse: every count is Poisson within each class.

        p(y | x) ~ p(y) prod_j rate_yj^x_j exp(-rate_yj),     rate_yj = (n_j,y + m rate_j) / (n_y + m)

    where n_j,y is the sum of column j over the rows of class y. Unlike in `MultinomialNB` the length of a row tells of
    its class. A missing entry (NaN) leaves its feature out for that row, in learning and in predicting.

    Parameters
    ----------
    prior : "default", GammaPrior or None, default="default"
        The default shrinks towards the rate of all rows with the weight m of 1 row; None is maximum likelihood.
    learner : learner of `suffice.learners`, default=None
        How to learn; None is the closed form.
    class_prior : None, "uniform", array of shape (k,), dict or Dirichlet, default=None
        Given class probabilities; None takes the classes' shares of the rows, a Dirichlet prior smooths those.

    Attributes
    ----------
    classes_ : array of shape (k,)
    rate_, feature_count_ : array of shape (k, d)
        Rates, and the sums n_j,y.
    class_log_prior_, class_prior_, class_count_ : array of shape (k,)
    statistics_ : Totals

    Examples
    --------
    >>> model = PoissonNB(prior=None).fit([[1], [3], [7], [9]], ["few", "few", "many", "many"])
    >>> model.rate_.ravel(), model.predict([[4]])
    (array([2., 8.]), array(['few'], dtype='<U4'))
    """

    statistics_: Statistics[Totals]

    def __init__(self, prior: Any = "default", learner: Any = None, class_prior: Any = None) -> None:
        self.prior = prior
        self.learner = learner
        self.class_prior = class_prior

    def _model(self) -> Poisson:
        encoder = NonNegative(missing=True, who=type(self).__name__)
        return Poisson(gamma_prior(self.prior), class_prior=self.class_prior, encoder=encoder)

    @property
    def rate_(self) -> Array:
        """The rate of each feature in each class (k, d)."""
        return np.array(self.parameters_.rate)

    @property
    def feature_count_(self) -> Array:
        """The sum of each feature over the rows of each class (k, d)."""
        check_is_fitted(self)
        return self.statistics_.sums.total.copy()


def _with_infinity(log_p: Array) -> Array:
    """Log-probabilities with -inf for log 0."""
    return np.where(log_p <= LOG_ZERO, -np.inf, log_p)
