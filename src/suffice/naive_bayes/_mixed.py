"""Naive Bayes for tables with columns of every kind."""

from __future__ import annotations

from typing import Any, cast

from sklearn.utils import Tags

from suffice._check import NOT_NEGATIVE, check, one_of
from suffice._classifier import Classifier
from suffice._columns import ColumnNote, Columns
from suffice.encoders.columns import CATEGORY
from suffice.encoders.table import ABSENT, BINS, DROP, GAUSSIAN, Role, Table
from suffice.models import DiagonalGaussian
from suffice.models.pooled import Informative, Pooled
from suffice.models.product import AnyDensity, Product
from suffice.priors import dirichlet_prior, gaussian_prior


class NaiveBayes(Classifier):
    """Naive Bayes for tables."""

    def __init__(
        self,
        columns: Any = None,
        numeric: str = "bins",
        min_frequency: float = 1.0,
        missing: str = "ignore",
        prior: Any = "default",
        learner: Any = None,
        class_prior: Any = None,
        class_weight: Any = None,
    ) -> None:
        self.columns = columns
        self.numeric = numeric
        self.min_frequency = min_frequency
        self.missing = missing
        self.prior = prior
        self.learner = learner
        self.class_prior = class_prior
        self.class_weight = class_weight

    def _model(self) -> Product:
        check(self, numeric=one_of(BINS, GAUSSIAN), missing=one_of("ignore", "indicator"), min_frequency=NOT_NEGATIVE)
        encoder = Table.of(self.columns, self.numeric, self.missing == "indicator", type(self).__name__)
        table = dirichlet_prior(self.prior)
        parts: dict[str, AnyDensity] = {
            BINS: DiagonalGaussian(gaussian_prior("default")),
            GAUSSIAN: DiagonalGaussian(gaussian_prior("default")),
            CATEGORY: Pooled(table, self.min_frequency),
            ABSENT: Informative(table),
        }
        return Product.of(parts, class_prior=self.class_prior, encoder=encoder)

    @property
    def columns_(self) -> Columns:
        """What became of every column, and why; it prints as a table."""
        fit = self._fit_result()
        roles = cast(Table, self._encoder).roles or ()
        return Columns([_noted(*pair) for pair in zip(roles, fit.model.account(self.statistics_), strict=True)])

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
