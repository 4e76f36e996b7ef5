"""The default answer for a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from suffice._core.kinds import BINNED, CATEGORICAL, Block, LeftOut, ReadAs
from suffice._core.labels import show_all
from suffice._estimator.columns import Columns, noted
from suffice._estimator.experts import ExpertClassifier
from suffice._runtime.messages import COUNT, Notice, PoorFitWarning, check, emit
from suffice._runtime.random import generator
from suffice.data import Batch, Data
from suffice.encoders import Encoder, TreePartitions
from suffice.encoders.table import BlockFeatures, Table
from suffice.encoders.views import AsRead, Clip, Views
from suffice.learners import Observed
from suffice.models import AnyStatistics, Binned, FullGaussian, Statistics
from suffice.models.base import ColumnSummary
from suffice.models.compose.blocks import AnyDensity, Product, part
from suffice.models.compose.experts import Experts
from suffice.models.gaussian.base import ConstantColumnWarning
from suffice.models.tables.binned import ColumnProbe
from suffice.models.tables.categorical import Leaves, Pooled
from suffice.priors import Dirichlet, GaussianPrior

__all__ = ["TabularClassifier"]

COLUMNS = (*BINNED, *CATEGORICAL)  # blocks with a table for each column
NORMAL = "normal"
TREES = {"random trees": 3, "greedy trees": 15}  # the splits of which a node takes the best
WIDE = 256  # numeric columns, up to which they have a normal density
MOST_ROWS = 8192  # that a tree is grown on
MANY_ROWS, NARROW = 5000, 100  # rows and columns, from which and up to which each column has a weight of its own


class TabularClassifier(ExpertClassifier):
    """The default answer for a table: numbers, dates, text, categories and truth values, with missing entries.

        score_c(x) = w_0 log p(c) + w_1 log N(x; mean_c, cov_c) + sum_f w_f sum_t log p(leaf_ft(x) | c)
                     + sum_j w_j log p(cell of x_j | c)

    Several experts are weighed: the classes' shares; a normal density of the numeric columns by class (from 50 rows and
    5 rows a column on, up to 256 columns; values clipped at 6 standard deviations, missing ones at the mean; scores
    clipped at 8 times their usual size, so that no single row decides); tables over the leaves of two kinds of random
    trees, which divide the rows by all columns (missing entries and categories go their own ways); and a table for each
    column, as in `NaiveBayes`. All are closed forms of sums. The strengths of their priors are chosen by their
    evidence, and the weights by the probability of the labels on rows that were left out, which takes one more read.
    The tables of columns share one weight, or from 5,000 rows on (and up to 100 columns) have one each. Since the
    weights are those of rows that were not learned, the probabilities need no calibration. That holds for rows that are
    independent: where rows are repeated (oversampling, joins), leaving one out leaves its copies in, so drop these or
    give `sample_weight`; a row of weight 2 is left out as a whole. The scores are no density.

    Tables have an entry for each leaf and class. Where there are many classes, leaves have more rows, so that there are
    at most 2^25 of these.

    Statistics add up: fit in pieces, merge, forget rows. Trees, clipping and weights are carried along then: fits add
    up if they share them (`encoder=first.encoder_`); weights are stale (`stale_`) until `recalibrate`.
    A forgotten row is out of all sums, exactly. The trees still know of it: each was grown on at most 8,192 of the
    first rows, its thresholds lie between values of these, and the clipping is by their mean and spread. A column that
    had more than 4,096 numbers keeps the coarser grid they were counted on. Fit again where that matters.

    A column that does not vary, and one that only numbers or names the rows, takes no part; `columns_` says which.

    Parameters
    ----------
    columns : dict of column: kind, default=None
        What to read a column as, instead of what its type says: "category", "drop", or "bins" for numbers. Columns of
        an array go by their numbers.
    n_trees : int, default=100
        Trees, an even number; half of them are greedy.
    encoder : encoder, default=None
        How another fit reads columns, clips and grows trees, its `encoder_`: `columns`, `n_trees` and `random_state`
        have no effect then. None grows trees on the first rows.
    weights : dict of expert: float, default=None
        Weights by the names that `weights_` has; None learns them.
    learner : learner of `suffice.learners`, default=None
        How to learn; None is the closed form, with weights learned: `ExpertWeights()`. With
        `RiskCalibration(out_of_sample=True)` the sums are moved besides, which seldom matters; then nothing adds up.
    class_prior : None, "uniform", array of shape (k,), dict or Dirichlet, default=None
        Given class probabilities; None takes the classes' shares of the rows.
    class_weight : None, "balanced" or dict, default=None
        Weights by class that multiply the rows' weights in all sums; trees and clipping do not see them.
    random_state : int, RandomState or None, default=None
        Draws the trees; an int makes the result repeatable.

    Attributes
    ----------
    classes_ : array of shape (k,)
    weights_ : dict
        How much each expert counts.
    columns_ : Columns
        What became of every column; it prints as a table.
    encoder_ : encoder
        The trees and the clipping, for fits that are to be merged.
    stale_ : bool
        Whether rows have come or gone since the weights were learned.

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

    _silent: dict[int, str]  # why columns take no part, a LeftOut by number

    def __init__(
        self,
        columns: Any = None,
        n_trees: int = 100,
        encoder: Any = None,
        weights: Any = None,
        learner: Any = None,
        class_prior: Any = None,
        class_weight: Any = None,
        random_state: Any = None,
    ) -> None:
        self.columns = columns
        self.n_trees = n_trees
        self.encoder = encoder
        self.weights = weights
        self.learner = learner
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.random_state = random_state

    def _model(self) -> Experts:
        check(self, n_trees=COUNT)
        tables = Dirichlet("evidence", base="marginal")
        normal = GaussianPrior(0.0, "evidence", covariance="within", correlation="evidence", total_share=1e-3)
        bins, words = Binned(tables, n_bins=16), Pooled(tables, min_frequency=2.0)
        parts: dict[str, AnyDensity] = {
            **dict(zip(COLUMNS, (bins, bins, words, words), strict=True)),
            NORMAL: FullGaussian(normal),
            **dict.fromkeys(TREES, Leaves(tables)),
        }
        encoder = self._shared() or self._views()
        return Experts(parts, class_prior=self.class_prior, encoder=encoder, unbounded=frozenset({NORMAL}))

    def _prepared(self) -> Experts:
        apart = cast(Views, self._encoder).apart
        return replace(super()._prepared(), by_column=frozenset(COLUMNS if apart else ()))

    def _views(self) -> Views:
        """How rows are to be seen, once the first of them have prepared it."""
        table = Table.of(
            self.columns, ReadAs.BINS, False, type(self).__name__, (ReadAs.BINS, ReadAs.CATEGORY, ReadAs.DROP)
        )
        rng, each = generator(self.random_state), -(-self.n_trees // len(TREES))
        trees = [
            (name, TreePartitions(AsRead(), each, MOST_ROWS, candidates, 1.0, 2.0, True, _seed(rng), marks=True))
            for name, candidates in TREES.items()
        ]
        return Views(table, ((NORMAL, Clip(most=WIDE, least=5.0)), *trees))

    def _prepare(self, data: Data) -> tuple[Encoder, Data]:
        """Trees and clipping, of the columns that say anything."""
        shared = self._shared()
        if shared is not None:
            return shared, data
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
        apart = len(reasons) <= NARROW and rows.count() >= MANY_ROWS
        return replace(views, inner=table, apart=apart).prepare(rows), rows

    def _take_in(self, data: Data, s: Statistics[Any]) -> None:
        super()._take_in(data, s)
        roles = cast(Views, self._encoder).inner.roles or ()
        still = [roles[j].name for j, why in getattr(self, "_silent", {}).items() if LeftOut(why).may_change]
        if still and s.mass.sum() == self.statistics_.mass.sum():
            said = f"{type(self).__name__}: left out of all further pieces, as the first one has at most one value: "
            emit([Notice(f"{said}{show_all(still)}; begin with rows in which it varies", ConstantColumnWarning)])

    @property
    def columns_(self) -> Columns:
        """What became of every column; it prints as a table."""
        views = cast(Views, self.encoder_)
        clipped = set(views.view(NORMAL).at.tolist()) if NORMAL in dict(views.views) else set()
        silent = {j: LeftOut(why) for j, why in getattr(self, "_silent", {}).items()}
        notes = []
        for j, role in enumerate(views.inner.roles or ()):
            said = "a table, trees and a normal density" if j in clipped else "a table and trees"
            notes.append(noted(role, ColumnSummary(said, silent.get(j))))
        return Columns(notes)


@dataclass(frozen=True)
class UnweightedSums(Observed):
    """S(X, Y) of a batch in which every row counts once, whatever its weight."""

    def __call__(self, batch: Batch) -> AnyStatistics:
        return super().__call__(Batch(batch.X, batch.Y.counted()))

    def with_origin_of(self, few: AnyStatistics) -> UnweightedSums:
        return UnweightedSums(self.model.with_origin_of(few))


def _seed(rng: np.random.RandomState) -> int:
    return int(rng.randint(np.iinfo(np.int32).max))


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
        for j, summary in zip(at, models[name].column_summaries(part(s, name)), strict=True):
            found[j] = summary.left_out
    return found
