"""Naive Bayes: for numbers, categories, counts, and tables with columns of every kind."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, cast

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from suffice._core.features import CategoricalFeatures
from suffice._core.kinds import Block, ReadAs
from suffice._core.vector import Array
from suffice._estimator.classifier import Classifier
from suffice._estimator.explaining import Columns, column_note
from suffice._estimator.fitting import TABLES
from suffice._runtime.messages import NOT_NEGATIVE, NUMBER, Notice, PoorFitWarning, check, emit, one_of, or_else
from suffice.encoders import Binary, Categories, NonNegative, Numbers
from suffice.encoders.table import Table
from suffice.learners import Fit
from suffice.models import (
    Bernoulli,
    Binned,
    Categorical,
    Counts,
    DiagonalGaussian,
    Multinomial,
    Poisson,
    Presences,
    Statistics,
    TiedDiagonalGaussian,
    Totals,
    Words,
)
from suffice.models.base import ColumnSummary
from suffice.models.compose.blocks import AnyDensity, Product
from suffice.models.tables.binned import AT_LEAST_TWO, STRATEGIES
from suffice.models.tables.categorical import LOG_ZERO, Informative, Pooled
from suffice.persistence import export
from suffice.priors.settings import dirichlet_prior, gamma_prior, gaussian_prior, plain_prior, table_prior

__all__ = ["BernoulliNB", "CategoricalNB", "GaussianNB", "MultinomialNB", "NaiveBayes", "PoissonNB"]


@dataclass(eq=False, repr=False)
class GaussianNB(Classifier):
    """Naive Bayes for numbers: every feature is normal within each class, independent of the others.

        p(y | x) ~ p(y) prod_j N(x_j; mean_yj, var_yj)

    With `tied=True` the classes share the variance of each feature, and the decision is linear. A missing value (NaN)
    leaves its feature out for that row, in learning and prediction. Sparse input stays sparse.

    Parameters
    ----------
    prior : "default", GaussianPrior or None, default="default"
        The default does not move the means, and adds 30 pseudo-rows to the variances: they vary about the class means
        as new rows do, plus 3/10 of the variance of all rows. None is maximum likelihood.
    learner, class_prior, class_weight
        As in every `Classifier`.
    tied : bool, default=False
        True if the classes share their variances.

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

    prior: Any = "default"
    learner: Any = None
    class_prior: Any = None
    class_weight: Any = None
    tied: bool = False

    _accepts: ClassVar = ("allow_nan", "sparse")

    def _model(self) -> DiagonalGaussian | TiedDiagonalGaussian:
        model = TiedDiagonalGaussian if self.tied else DiagonalGaussian
        encoder = Numbers(missing=True, who=type(self).__name__, sparse=True)
        return model(gaussian_prior(self.prior), class_prior=self.class_prior, encoder=encoder)

    to_sklearn = export.gaussian_nb

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


@dataclass(eq=False, repr=False)
class CategoricalNB(Classifier):
    """Naive Bayes for categories: strings, integers, booleans, categorical columns of data frames, also floats.

        p(y | x) ~ p(y) prod_j p(x_j | y),     p(x_j = v | y) = (n_jv,y + a) / (n_j,y + r_j a)

    where n_jv,y is the number of rows of class y with value v in column j. Every distinct value is a category. A
    missing value, or one that was never learned, leaves its feature out for that row. Put measurements and dates, of
    which each value has few rows, in bins first (`suffice.features.Bins`); a warning says so.

    Parameters
    ----------
    prior : "default", Dirichlet or None, default="default"
        Pseudo-counts a. The default is Laplace's rule, 1 for each category; None is maximum likelihood.
    learner, class_prior, class_weight
        As in every `Classifier`.
    categories : None, list of d arrays or dict of column: array, default=None
        All categories of a column, by its name or number; they stay without rows, also after merging and forgetting.
        Learning refuses other values in such a column, prediction ignores them. None, also for a single column: the
        values that rows have.

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

    prior: Any = "default"
    learner: Any = None
    class_prior: Any = None
    class_weight: Any = None
    categories: Any = None

    _accepts: ClassVar = ("categorical", "allow_nan")
    statistics_: Statistics[Counts] = field(init=False)

    def _model(self) -> Categorical:
        encoder = Categories.declare(self.categories, who=type(self).__name__)
        return Categorical(dirichlet_prior(self.prior), class_prior=self.class_prior, encoder=encoder)

    to_sklearn = export.categorical_nb

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
        return self._by_feature(_with_infinity(self.parameters_.log_probability.T))

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


class _Counting(Classifier):
    """Naive Bayes for counts: takes sparse input, and has log p(y) by scikit-learn's name."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on the blobs of scikit-learn's checks, which are not counts
        return tags

    @property
    def class_log_prior_(self) -> Array:
        """log p(y) (k,)."""
        return self._class_log_prob()

    @property
    def feature_count_(self) -> Array:
        """The sum of each feature over the rows of each class (k, d); of `BernoulliNB`, of the rows that have it."""
        check_is_fitted(self)
        # The sums of entries come last, after the numbers of entries of a model that has them.
        return np.array(self.statistics_.sums.leaves()[-1])


@dataclass(eq=False, repr=False)
class MultinomialNB(_Counting):
    """Multinomial naive Bayes for word counts, dense or sparse: the words of a row, given how many there are.

        p(y | x) ~ p(y) prod_j p(j | y)^x_j,     p(j | y) = (n_j,y + a) / sum_l (n_l,y + a)

    where n_j,y is the count of word j in the rows of class y. Counts may be any numbers of at least 0. A missing count
    (NaN) is refused, as a row of unknown length has no probability here; `PoissonNB` takes it.

    Parameters
    ----------
    prior : "default", Dirichlet or None, default="default"
        Pseudo-counts a. The default is Laplace's rule, 1 for each word; None is maximum likelihood.
    learner, class_prior
        As in every `Classifier`.

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

    prior: Any = "default"
    learner: Any = None
    class_prior: Any = None

    _accepts: ClassVar = ("sparse", "positive_only")
    statistics_: Statistics[Words] = field(init=False)
    class_weight = None  # as in scikit-learn: rows can be weighted
    _decides: ClassVar = False  # as in scikit-learn, whose checks of it use negative numbers

    def _model(self) -> Multinomial:
        encoder = NonNegative(who=type(self).__name__)
        return Multinomial(plain_prior(self.prior, type(self).__name__), class_prior=self.class_prior, encoder=encoder)

    to_sklearn = export.multinomial_nb

    @property
    def feature_log_prob_(self) -> Array:
        """log p(j | y) of each word (k, d)."""
        return _with_infinity(self.parameters_.log_probability)


@dataclass(eq=False, repr=False)
class BernoulliNB(_Counting):
    """Bernoulli naive Bayes for features that are present or absent, dense or sparse; absence counts as well.

        p(y | x) ~ p(y) prod_j p_yj^x_j (1 - p_yj)^(1 - x_j),     p_yj = (n_j,y + a) / (n_y + 2 a)

    where n_j,y is the number of rows of class y with feature j. A missing entry (NaN) leaves its feature out for that
    row, in learning and prediction.

    Parameters
    ----------
    binarize : float or None, default=0.0
        A feature is present if its number is greater; None: numbers are 0 and 1 already.
    prior : "default", Dirichlet or None, default="default"
        Pseudo-counts a of 1 and of 0. The default is Laplace's rule, 1 each; None is maximum likelihood.
    learner, class_prior, class_weight
        As in every `Classifier`.

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

    binarize: float | None = 0.0
    prior: Any = "default"
    learner: Any = None
    class_prior: Any = None
    class_weight: Any = None

    _accepts: ClassVar = ("sparse", "allow_nan")
    statistics_: Statistics[Presences] = field(init=False)

    def _model(self) -> Bernoulli:
        check(self, binarize=or_else(None, NUMBER))
        encoder = Binary(missing=True, who=type(self).__name__, threshold=self.binarize)
        return Bernoulli(plain_prior(self.prior, type(self).__name__), class_prior=self.class_prior, encoder=encoder)

    to_sklearn = export.bernoulli_nb

    @property
    def feature_log_prob_(self) -> Array:
        """log p(x_j = 1 | y) of each feature (k, d)."""
        return _with_infinity(self.parameters_.present)


@dataclass(eq=False, repr=False)
class PoissonNB(_Counting):
    """Naive Bayes for event counts, dense or sparse: every count is Poisson within each class.

        p(y | x) ~ p(y) prod_j rate_yj^x_j exp(-rate_yj),     rate_yj = (n_j,y + m rate_j) / (n_y + m)

    where n_j,y is the sum of column j over the n_y rows of class y. Unlike in `MultinomialNB` the total of a row is
    informative. A missing entry (NaN) leaves its feature out for that row, in learning and prediction.

    Parameters
    ----------
    prior : "default", GammaPrior or None, default="default"
        The default shrinks towards the rate of all rows with a weight m of 1 row; None is maximum likelihood.
    learner, class_prior
        As in every `Classifier`.

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

    prior: Any = "default"
    learner: Any = None
    class_prior: Any = None

    _accepts: ClassVar = ("sparse", "allow_nan", "positive_only")
    statistics_: Statistics[Totals] = field(init=False)
    class_weight = None  # as in scikit-learn: rows can be weighted
    _decides: ClassVar = False  # as in scikit-learn, whose checks of it use negative numbers

    def _model(self) -> Poisson:
        encoder = NonNegative(missing=True, who=type(self).__name__)
        return Poisson(gamma_prior(self.prior), class_prior=self.class_prior, encoder=encoder)

    @property
    def rate_(self) -> Array:
        """The rate of each feature in each class (k, d)."""
        return np.array(self.parameters_.rate)


def _with_infinity(log_p: Array) -> Array:
    """Log-probabilities with -inf for log 0."""
    return np.where(log_p <= LOG_ZERO, -np.inf, log_p)


@dataclass(eq=False, repr=False)
class NaiveBayes(Classifier):
    """Naive Bayes for mixed tables: numbers, dates, text, categories and truth values, with missing entries.

        p(y | x) ~ p(y) prod_j p(x_j | y)

    A column of numbers or dates is binned (or normal within each class), any other column has a table of categories. A
    missing entry, or a category that was never learned, leaves its column out for that row. Columns that are constant,
    and identifiers, are ignored. `columns_` has a note on each.

    Bins, rare categories and ignored columns are functions of the sums: after fitting in pieces, merging or forgetting
    they are those of all rows in the model (a column that has had more than 4,096 values keeps the coarser grid on
    which they were counted). The first rows decide what a column is read as; if it is empty there, set `columns`. With
    20 rows or more, text with a value of its own in 9 of 10 rows, and distinct whole numbers in a short range, are
    identifiers, unless `columns` says what to read them as; dates never are.

    Parameters
    ----------
    columns : dict of column: kind, default=None
        What to read a column as, instead of what its type suggests: "bins", "gaussian", "category" or "drop". Columns
        of an array go by their numbers.
    numeric : {"bins", "gaussian"}, default="bins"
        What to read numbers and dates as, unless `columns` says it.
    n_bins, strategy, spikes
        The bins of a column, as in `suffice.features.Bins`.
    min_frequency : float, default=2
        Categories with fewer rows share a cell, "(rare)"; categories that were never learned do not belong to it.
    missing : {"ignore", "indicator"}, default="ignore"
        "indicator" also uses whether an entry is missing, in columns where that depends on the class.
    prior : "default", Dirichlet or None, default="default"
        Pseudo-counts of the tables. The default shrinks the table of a class towards that of all classes, in each
        column with the weight of greatest evidence: `Dirichlet("evidence", base="marginal")`.
    numeric_prior : "default", GaussianPrior or None, default="default"
        The prior of normal columns, as in `GaussianNB`.
    learner : learner of `suffice.learners`, default=None
        How to learn; None is the closed form. `DiscriminativeFrequency` needs all columns in bins or categories.
        Calibration pays off with some thousand rows; with fewer rows it overfits 32 cells a column: use `n_bins=8` or
        `strategy="mdl"`, and compare by cross-validation.
    class_prior, class_weight
        As in every `Classifier`.

    Attributes
    ----------
    classes_ : array of shape (k,)
    columns_ : Columns
        A note on every column; it prints as a table.
    class_prior_, class_count_ : array of shape (k,)
    statistics_ : Parts
        The sums of each block of columns.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"age": [23, 31, None, 58], "job": ["cook", "clerk", "clerk", None]})
    >>> model = NaiveBayes().fit(X, ["no", "no", "yes", "yes"])
    >>> model.predict(pd.DataFrame({"age": [25.0, None], "job": [None, "clerk"]}))
    array(['no', 'yes'], dtype='<U3')
    """

    columns: Any = None
    numeric: str = "bins"
    n_bins: int = 32
    strategy: str = "quantile"
    spikes: bool = True
    min_frequency: float = 2.0
    missing: str = "ignore"
    prior: Any = "default"
    numeric_prior: Any = "default"
    learner: Any = None
    class_prior: Any = None
    class_weight: Any = None

    _accepts: ClassVar = TABLES

    def _model(self) -> Product:
        check(self, numeric=one_of(ReadAs.BINS, ReadAs.GAUSSIAN), missing=one_of("ignore", "indicator"))
        check(self, min_frequency=NOT_NEGATIVE, strategy=one_of(*STRATEGIES), n_bins=AT_LEAST_TWO)
        encoder = Table.of(self.columns, self.numeric, self.missing == "indicator", type(self).__name__)
        return Product.of(self._parts(encoder), class_prior=self.class_prior, encoder=encoder)

    def _parts(self, encoder: Table) -> dict[str, AnyDensity]:
        """The models of all kinds of columns."""
        table = table_prior(self.prior)
        bins = Binned(table, strategy=self.strategy, n_bins=self.n_bins, spikes=self.spikes)
        words = Pooled(table, min_frequency=self.min_frequency)
        parts: dict[str, AnyDensity] = {
            Block.BINS: bins,
            Block.BINS_KEPT: replace(bins, identifiers=False),
            Block.CATEGORY: words,
            Block.CATEGORY_KEPT: replace(words, identifiers=False),
            Block.MISSING: Informative(table),
        }
        if ReadAs.GAUSSIAN in {self.numeric, *(kind for _, kind in encoder.columns)}:
            parts[Block.GAUSSIAN] = DiagonalGaussian(gaussian_prior(self.numeric_prior))
        return parts

    def _warn(self, fit: Fit) -> None:
        super()._warn(fit)
        if not any(summary.takes_part for summary in self._column_summaries(fit)):
            message = f"{type(self).__name__}: every column is left out, so that only the classes' shares are learned"
            emit([Notice(f"{message}; see columns_, and say in `columns` what to read them as", PoorFitWarning)])

    @property
    def columns_(self) -> Columns:
        """A note on every column; it prints as a table."""
        roles = cast(Table, self._encoder).roles or ()
        summaries = self._column_summaries(self._fit_result())
        return Columns([column_note(*pair) for pair in zip(roles, summaries, strict=True)])

    def _column_summaries(self, fit: Fit) -> tuple[ColumnSummary, ...]:
        return fit.model.column_summaries(self._weighed(self.statistics_))
