"""Naive Bayes for tables with columns of every kind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from suffice._check import NOT_NEGATIVE, check, one_of
from suffice._classifier import Classifier
from suffice._columns import Columns, TakesTables, noted
from suffice._notice import Notice, PoorFitWarning, emit
from suffice.encoders.columns import CATEGORY
from suffice.encoders.table import ABSENT, BINS, GAUSSIAN, KEPT, Table
from suffice.learners import Fit
from suffice.models import Binned, DiagonalGaussian
from suffice.models._blocks import AnyDensity
from suffice.models.cells import AT_LEAST_TWO
from suffice.models.cuts import STRATEGIES
from suffice.models.pooled import Informative, Pooled
from suffice.models.product import Product
from suffice.priors import gaussian_prior, table_prior


class NaiveBayes(TakesTables, Classifier):
    """Naive Bayes for tables as they are: numbers, dates, text, categories and truth values, with missing entries.

        p(y | x) ~ p(y) prod_j p(x_j | y)

    A column of numbers or dates is put in bins (or is normal within each class), a column of anything else has a table
    of categories. An entry that is missing, or a category never learned, leaves its column out for that row. A column
    that does not vary, and one that only numbers or names the rows, takes no part. `columns_` says what became of
    each.

    Bins, rare categories and what is left out are functions of sums: fitted in pieces, merged, or after forgetting rows
    they are those of all rows that count (a column that has had more than 4,096 values keeps the coarser grid on which
    they were counted). What a column is read as is fixed by the first rows; where it is empty there,
    let `columns` say it. Text of which 9 of 10 rows have their own value, and whole numbers without repeats in a short
    range, are taken for identifiers if there are 20 rows, unless `columns` says what to read them as; dates never are.

    Parameters
    ----------
    columns : dict of column: kind, default=None
        What to read a column as, instead of what its type says: "bins", "gaussian", "category" or "drop". Columns of
        an array go by their numbers.
    numeric : {"bins", "gaussian"}, default="bins"
        What numbers and dates are, unless `columns` says it.
    n_bins, strategy, spikes
        The bins of a column, as in `suffice.features.Bins`.
    min_frequency : float, default=2
        Categories of fewer rows share a cell, "(rare)". One that was never learned is not among them.
    missing : {"ignore", "indicator"}, default="ignore"
        Whether it counts, besides, which entries are missing, in those columns where that tells classes apart.
    prior : "default", Dirichlet or None, default="default"
        Pseudo-counts of the tables. The default pulls a class's table towards that of all classes together, in each
        column with the weight that makes the tables most probable: `Dirichlet("evidence", base="marginal")`.
    numeric_prior : "default", GaussianPrior or None, default="default"
        The prior of normal columns, as in `GaussianNB`.
    learner : learner of `suffice.learners`, default=None
        How to learn; None is the closed form. `DiscriminativeFrequency` needs all columns in bins or categories.
        Calibration pays with some thousand rows; with fewer, 32 cells a column are more than it can tell from chance:
        take `n_bins=8` or `strategy="mdl"`, and compare by cross-validation.
    class_prior : None, "uniform", array of shape (k,), dict or Dirichlet, default=None
        Given class probabilities; None takes the classes' shares of the rows, a Dirichlet prior smooths those.
    class_weight : None, "balanced" or dict, default=None
        Weights by class that multiply the rows' weights.

    Attributes
    ----------
    classes_ : array of shape (k,)
    columns_ : Columns
        What became of every column, and why; it prints as a table.
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

    def __init__(
        self,
        columns: Any = None,
        numeric: str = "bins",
        n_bins: int = 32,
        strategy: str = "quantile",
        spikes: bool = True,
        min_frequency: float = 2.0,
        missing: str = "ignore",
        prior: Any = "default",
        numeric_prior: Any = "default",
        learner: Any = None,
        class_prior: Any = None,
        class_weight: Any = None,
    ) -> None:
        self.columns = columns
        self.numeric = numeric
        self.n_bins = n_bins
        self.strategy = strategy
        self.spikes = spikes
        self.min_frequency = min_frequency
        self.missing = missing
        self.prior = prior
        self.numeric_prior = numeric_prior
        self.learner = learner
        self.class_prior = class_prior
        self.class_weight = class_weight

    def _model(self) -> Product:
        check(self, numeric=one_of(BINS, GAUSSIAN), missing=one_of("ignore", "indicator"), min_frequency=NOT_NEGATIVE)
        check(self, strategy=one_of(*STRATEGIES), n_bins=AT_LEAST_TWO)
        encoder = Table.of(self.columns, self.numeric, self.missing == "indicator", type(self).__name__)
        return Product.of(self._parts(encoder), class_prior=self.class_prior, encoder=encoder)

    def _parts(self, encoder: Table) -> dict[str, AnyDensity]:
        """The models of all kinds of columns that there can be."""
        table = table_prior(self.prior)
        bins = Binned(table, strategy=self.strategy, n_bins=self.n_bins, spikes=self.spikes)
        words = Pooled(table, min_frequency=self.min_frequency)
        parts: dict[str, AnyDensity] = {
            BINS: bins,
            BINS + KEPT: replace(bins, identifiers=False),
            CATEGORY: words,
            CATEGORY + KEPT: replace(words, identifiers=False),
            ABSENT: Informative(table),
        }
        if GAUSSIAN in {self.numeric, *(kind for _, kind in encoder.columns)}:
            parts[GAUSSIAN] = DiagonalGaussian(gaussian_prior(self.numeric_prior))
        return parts

    def _say(self, fit: Fit) -> None:
        super()._say(fit)
        if all(not said or said.startswith("left out") for said in self._account(fit)):
            said = f"{type(self).__name__}: every column is left out, so that only the classes' shares are learned"
            emit([Notice(f"{said}; see columns_, and say in `columns` what to read them as", PoorFitWarning)])

    @property
    def columns_(self) -> Columns:
        """What became of every column, and why; it prints as a table."""
        roles = cast(Table, self._encoder).roles or ()
        return Columns([noted(*pair) for pair in zip(roles, self._account(self._fit_result()), strict=True)])

    def _account(self, fit: Fit) -> tuple[str, ...]:
        s = self.statistics_
        return fit.model.account(s.by_class(self._class_weights(s)) if self._weighs_classes() else s)
