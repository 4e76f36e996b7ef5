"""The default answer for a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Tags, check_random_state

from suffice._check import COUNT, check
from suffice._expert_classifier import ExpertClassifier
from suffice.encoders import Partitions
from suffice.encoders.table import BINS, Table
from suffice.encoders.views import AsRead, Clip, Views
from suffice.models.experts import Experts
from suffice.models.full import FullGaussian
from suffice.models.leaves import Leaves
from suffice.priors import Dirichlet, GaussianPrior

NORMAL, TREES = "normal", "trees"


class TabularClassifier(ExpertClassifier):
    """TODO."""

    def __init__(
        self,
        columns: Any = None,
        n_trees: int = 100,
        weights: Any = None,
        learner: Any = None,
        class_prior: Any = None,
        class_weight: Any = None,
        random_state: Any = None,
        extra: Any = None,
    ) -> None:
        self.columns = columns
        self.n_trees = n_trees
        self.weights = weights
        self.learner = learner
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.random_state = random_state
        self.extra = extra

    def _model(self) -> Experts:
        check(self, n_trees=COUNT)
        extra = self.extra or {}
        table = Table.of(self.columns, BINS, False, type(self).__name__)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        trees = Partitions(AsRead(), n=self.n_trees, seed=seed, marks=True, **extra.get("trees", {}))
        views = ((NORMAL, Clip(extra.get("limit", 6.0))), (TREES, trees))
        tables = Dirichlet("evidence", base="marginal")
        normal = GaussianPrior(
            mean_weight=0.0, cov_weight="evidence", covariance="within", correlation="evidence", total_share=1e-3
        )
        parts: dict[str, Any] = {NORMAL: FullGaussian(normal), TREES: Leaves(tables)}
        if extra.get("tables"):
            from suffice.models import Binned
            from suffice.models.pooled import Pooled

            b = Binned(tables, n_bins=extra["tables"])
            parts |= {
                "bins": b,
                "bins, kept": b,
                "category": Pooled(tables, min_frequency=2.0),
                "category, kept": Pooled(tables, min_frequency=2.0),
            }
        encoder = Views(table, views, table=bool(extra.get("tables")))
        return Experts(parts, class_prior=self.class_prior, encoder=encoder)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags
