"""The default classifier for tables."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from suffice._core.kinds import BINNED, CATEGORICAL, Block, LeftOut, ReadAs
from suffice._core.labels import show_all
from suffice._estimator.experts import ExpertClassifier
from suffice._estimator.explaining import Columns, column_note
from suffice._runtime.messages import COUNT, Notice, PoorFitWarning, check, emit
from suffice._runtime.random import generator
from suffice.data import Batch, Data
from suffice.encoders import Encoder, TreePartitions
from suffice.encoders.table import BlockFeatures, Table
from suffice.encoders.views import AsRead, Clip, Views
from suffice.learners import Observed
from suffice.models import AnyStatistics, Binned, FullGaussian, Statistics
from suffice.models.base import ColumnSummary
from suffice.models.compose.blocks import AnyDensity, Product, statistics_of
from suffice.models.compose.experts import Experts
from suffice.models.gaussian.base import ConstantColumnWarning
from suffice.models.tables.binned import ColumnProbe
from suffice.models.tables.categorical import Leaves, Pooled
from suffice.priors import Dirichlet, GaussianPrior

__all__ = ["TabularClassifier"]

COLUMN_TABLES = (*BINNED, *CATEGORICAL)  # blocks with a table for each column
NORMAL = "normal"
TREES = {"random trees": 3, "greedy trees": 15}  # by the number of splits of which a node takes the best
MAX_NORMAL_COLUMNS = 256  # more numeric columns have no normal density
MAX_ROWS_PER_TREE = 8192

# Each column has a weight of its own with this many rows or more, and this many columns or fewer.
MIN_ROWS_FOR_COLUMN_WEIGHTS, MAX_COLUMNS_WITH_WEIGHTS = 5000, 100


@dataclass(eq=False, repr=False)
class TabularClassifier(ExpertClassifier):
    """The default classifier for tables: numbers, dates, text, categories and truth values, with missing entries.

        score_c(x) = w_0 log p(c) + w_1 log N(x; mean_c, cov_c) + sum_f w_f sum_t log p(leaf_ft(x) | c)
                     + sum_j w_j log p(cell of x_j | c)

    It weighs several experts. The class shares. A normal density of the numeric columns by class (with at least 50 rows
    and 5 rows a column, and at most 256 columns; values are clipped at 6 standard deviations, missing ones are the
    mean, and scores are clipped at 8 times their usual size, so that no single row dominates). Tables over the leaves
    of two kinds of random trees, which partition the rows by all columns. A table for each column, as in `NaiveBayes`.
    All are closed forms of sums. The strengths of their priors maximise the evidence. The weights maximise the
    leave-one-out likelihood of the labels, which takes one more read. The tables of columns share one weight, or have
    one each with 5,000 rows or more and at most 100 columns.

    Since the weights are learned from left-out rows, the probabilities need no calibration, if rows are independent.
    Where rows are repeated (oversampling, joins), leaving one out leaves its copies in: drop them, or use
    `sample_weight`; a row of weight 2 is left out as a whole. The scores are not a density. With many classes the trees
    have fewer leaves, so that a table has at most 2^25 entries.

    Statistics add up: fit in pieces, merge, forget rows. Trees, clipping and weights are then carried over: fits can be
    merged if they share them (`encoder=first.encoder_`), and weights are stale (`stale_`) until `recalibrate`. A
    forgotten row is removed exactly from all sums, but not from the trees: each was grown on at most 8,192 of the first
    rows, with thresholds between their values, and the clipping uses their mean and standard deviation. A column that
    had more than 4,096 distinct numbers keeps the coarser grid on which they were counted. Where that matters, fit
    again.

    Columns that are constant, and identifiers, are ignored; `columns_` says which. Class weights multiply all sums;
    trees and clipping do not use them.

    Parameters
    ----------
    columns : dict of column: kind, default=None
        What to read a column as, instead of what its type suggests: "category", "drop", or "bins" for numbers. Columns
        of an array go by their numbers.
    n_trees : int, default=100
        The number of trees, half of them greedy.
    encoder : encoder, default=None
        The `encoder_` of another fit, with its columns, clipping and trees; `columns`, `n_trees` and `random_state`
        then have no effect. None grows trees on the first rows.
    weights : dict of expert: float, default=None
        Weights by the names of `weights_`; None learns them.
    learner : learner of `suffice.learners`, default=None
        How to learn; None is `ExpertWeights()`: the closed form, with learned weights.
        `RiskCalibration(out_of_sample=True)` also moves the sums, which seldom helps; then fits do not add up.
    class_prior, class_weight
        As in every `Classifier`.
    random_state : int, RandomState or None, default=None
        Draws the trees; an int makes the result repeatable.

    Attributes
    ----------
    classes_ : array of shape (k,)
    weights_ : dict
        The weight of each expert.
    columns_ : Columns
        A note on every column; it prints as a table.
    encoder_ : encoder
        The trees and the clipping, for fits that are to be merged.
    stale_ : bool
        True if rows have come or gone since the weights were learned.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"age": [23, 31, None, 58, 44, 61], "job": ["cook", "clerk", "clerk", None, "cook", "clerk"]})
    >>> model = TabularClassifier(random_state=0).fit(X, ["no", "no", "no", "yes", "yes", "yes"])
    >>> model.predict(pd.DataFrame({"age": [25.0, 60.0], "job": [None, "clerk"]}))
    array(['no', 'yes'], dtype='<U3')

    References
    ----------
    Geurts, Ernst, Wehenkel: Extremely randomized trees. Machine Learning 63 (2006), doi:10.1007/s10994-006-6226-1.
    """

    columns: Any = None
    n_trees: int = 100
    encoder: Any = None
    weights: Any = None
    learner: Any = None
    class_prior: Any = None
    class_weight: Any = None
    random_state: Any = None

    _silent: dict[int, str] = field(init=False)  # why columns are ignored: a LeftOut by their numbers

    def _model(self) -> Experts:
        check(self, n_trees=COUNT)
        tables = Dirichlet("evidence", base="marginal")
        normal = GaussianPrior(0.0, "evidence", covariance="within", correlation="evidence", total_share=1e-3)
        bins, words = Binned(tables, n_bins=16), Pooled(tables, min_frequency=2.0)
        parts: dict[str, AnyDensity] = {
            **dict(zip(COLUMN_TABLES, (bins, bins, words, words), strict=True)),
            NORMAL: FullGaussian(normal),
            **dict.fromkeys(TREES, Leaves(tables)),
        }
        encoder = self._given_encoder() or self._views()
        return Experts(parts, class_prior=self.class_prior, encoder=encoder, unbounded=frozenset({NORMAL}))

    def _bound_model(self) -> Experts:
        apart = cast(Views, self._encoder).apart
        return replace(super()._bound_model(), by_column=frozenset(COLUMN_TABLES if apart else ()))

    def _views(self) -> Views:
        """The encoder before the first rows have prepared it."""
        table = Table.of(
            self.columns, ReadAs.BINS, False, type(self).__name__, (ReadAs.BINS, ReadAs.CATEGORY, ReadAs.DROP)
        )
        rng, each = generator(self.random_state), -(-self.n_trees // len(TREES))

        def seed() -> int:
            return int(rng.randint(np.iinfo(np.int32).max))

        trees = [
            (name, TreePartitions(AsRead(), each, MAX_ROWS_PER_TREE, candidates, 1.0, 2.0, True, seed(), marks=True))
            for name, candidates in TREES.items()
        ]
        return Views(table, ((NORMAL, Clip(most=MAX_NORMAL_COLUMNS, least=5.0)), *trees))

    def _new_encoder(self, data: Data) -> tuple[Encoder, Data]:
        """The encoder with the trees and the clipping of the columns that are not ignored."""
        given = self._given_encoder()
        if given is not None:
            return given, data
        views = self._views()
        table = views.inner.prepare(data)
        rows = data.map(table).persist()
        reasons = _reasons(table, rows)
        self._silent = {j: str(why) for j, why in enumerate(reasons) if why is not None}
        if len(self._silent) == len(reasons):
            who = f"{type(self).__name__}: no column tells rows apart"
            emit([Notice(f"{who}; say in `columns` what to read them as", PoorFitWarning)])
            self._silent = {}
        if self._silent:
            table = table.without(self._silent)
            rows = data.map(table).persist()
        apart = len(reasons) <= MAX_COLUMNS_WITH_WEIGHTS and rows.count() >= MIN_ROWS_FOR_COLUMN_WEIGHTS
        return replace(views, inner=table, apart=apart).prepare(rows), rows

    def _calibrate_first(self, data: Data, s: Statistics[Any]) -> None:
        super()._calibrate_first(data, s)
        roles = cast(Views, self._encoder).inner.roles or ()
        still = [roles[j].name for j, why in getattr(self, "_silent", {}).items() if LeftOut(why).may_change]
        if still and s.mass.sum() == self.statistics_.mass.sum():
            message = f"{type(self).__name__}: left out of all further pieces, as the first one has at most one value: "
            emit([Notice(f"{message}{show_all(still)}; begin with rows in which it varies", ConstantColumnWarning)])

    @property
    def columns_(self) -> Columns:
        """A note on every column; it prints as a table."""
        views = cast(Views, self.encoder_)
        clip = cast(Clip | None, views.within(NORMAL))
        clipped = set() if clip is None else set(clip.at.tolist())
        silent = {j: LeftOut(why) for j, why in getattr(self, "_silent", {}).items()}
        notes = []
        for j, role in enumerate(views.inner.roles or ()):
            experts = "a table, trees and a normal density" if j in clipped else "a table and trees"
            notes.append(column_note(role, ColumnSummary(experts, silent.get(j))))
        return Columns(notes)


@dataclass(frozen=True)
class UnweightedSums(Observed):
    """S(X, Y) of a batch in which every row counts once, whatever its weight."""

    def __call__(self, batch: Batch) -> AnyStatistics:
        return super().__call__(Batch(batch.X, batch.Y.unweighted()))

    def with_origin_of(self, few: AnyStatistics) -> UnweightedSums:
        return UnweightedSums(self.model.with_origin_of(few))


def _reasons(table: Table, rows: Data) -> list[LeftOut | None]:
    """Why each column is left out, if it is constant or an identifier; None if it takes part."""
    models: dict[str, AnyDensity] = {
        Block.BINS: ColumnProbe(),
        Block.BINS_KEPT: ColumnProbe(identifiers=False),
        Block.CATEGORY: Pooled(),
        Block.CATEGORY_KEPT: Pooled(identifiers=False),
    }
    s = rows.sum(UnweightedSums(Product.of(models, encoder=table)))
    found: list[LeftOut | None] = [None] * s.domain.width
    for name, at in cast(BlockFeatures, s.domain.features).at.items():
        for j, summary in zip(at, models[name].column_summaries(statistics_of(s, name)), strict=True):
            found[j] = summary.left_out
    return found
