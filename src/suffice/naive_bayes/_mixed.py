"""Naive Bayes for tables with columns of every kind."""

from __future__ import annotations

from typing import Any, cast

from sklearn.utils import Tags

from suffice._check import NOT_NEGATIVE, check, one_of
from suffice._classifier import Classifier
from suffice._columns import ColumnNote, Columns
from suffice.encoders.columns import CATEGORY
from suffice.encoders.table import ABSENT, BINS, DROP, GAUSSIAN, Role, Table
from suffice.models import Binned, DiagonalGaussian
from suffice.models.pooled import Informative, Pooled
from suffice.models.product import AnyDensity, Product
from suffice.priors import gaussian_prior, table_prior


class NaiveBayes(Classifier):
    """Naive Bayes for tables as they are: numbers, dates, text, categories and truth values, with missing entries.

        p(y | x) ~ p(y) prod_j p(x_j | y)

    A column of numbers or dates is put in bins (or is normal within each class), a column of anything else has a table
    of categories. An entry that is missing, or a category never learned, leaves its column out for that row. A column
    that does not vary, and one that only numbers or names the rows, takes no part. `columns_` says what became of
    each.

    All of this is a function of sums: fitted in pieces, merged, or after forgetting rows, bins and rare categories are
    those of all rows that count.

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
        Categories of fewer rows share a cell.
    missing : {"ignore", "indicator"}, default="ignore"
        Whether it counts, besides, which entries are missing, in those columns where that tells classes apart.
    prior : "default", Dirichlet or None, default="default"
        Pseudo-counts of the tables. The default pulls a class's table towards that of all classes together, in each
        column with the weight that makes the tables most probable: `Dirichlet("evidence", base="marginal")`.
    numeric_prior : "default", GaussianPrior or None, default="default"
        The prior of normal columns, as in `GaussianNB`.
    learner : learner of `suffice.learners`, default=None
        How to learn; None is the closed form. `DiscriminativeFrequency` needs all columns in bins or categories.
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
        encoder = Table.of(self.columns, self.numeric, self.missing == "indicator", type(self).__name__)
        return Product.of(self._parts(encoder), class_prior=self.class_prior, encoder=encoder)

    def _parts(self, encoder: Table) -> dict[str, AnyDensity]:
        """The models of all kinds of columns that there can be."""
        table = table_prior(self.prior)
        parts: dict[str, AnyDensity] = {
            BINS: Binned(table, strategy=self.strategy, n_bins=self.n_bins, spikes=self.spikes),
            GAUSSIAN: DiagonalGaussian(gaussian_prior(self.numeric_prior)),
            CATEGORY: Pooled(table, min_frequency=self.min_frequency),
            ABSENT: Informative(table),
        }
        numeric = {self.numeric, *(kind for _, kind in encoder.columns)}
        return {name: part for name, part in parts.items() if name in (CATEGORY, ABSENT) or name in numeric}

    @property
    def columns_(self) -> Columns:
        """What became of every column, and why; it prints as a table."""
        account = self._fit_result().model.account(self.statistics_)
        roles = cast(Table, self._encoder).roles or ()
        return Columns([_noted(*pair) for pair in zip(roles, account, strict=True)])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags


def _noted(role: Role, said: str) -> ColumnNote:
    if role.kind == DROP:
        return ColumnNote(role.name, role.holds, DROP, "left out, as `columns` says")
    return ColumnNote(role.name, role.holds, role.kind, f"{said}; as `columns` says" if role.given else said)
