"""The interpretable classifier for tables: shapes of columns and pairs that add up."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias, cast

import numpy as np
from scipy.stats import chi2
from sklearn.metrics import log_loss
from sklearn.utils.validation import check_is_fitted

from suffice._core.features import CategoricalFeatures, Features
from suffice._core.kinds import BINNED, CATEGORICAL, Block, ReadAs
from suffice._core.labels import show
from suffice._core.probability import posterior
from suffice._core.vector import Array, Vector
from suffice._estimator.experts import ExpertClassifier
from suffice._estimator.explaining import Columns, Contributions, column_note
from suffice._runtime.messages import NOT_NEGATIVE, check, is_number, is_whole, one_of
from suffice.additive.shapes import PAIRS, Names, Shapes, about_the_mean, edited_terms, shapes_of, shifts_to_mean_zero
from suffice.data import Batch, Data
from suffice.encoders import Encoder
from suffice.encoders.pairs import Coarse, Pairs
from suffice.encoders.table import BlockFeatures, Table
from suffice.encoders.views import Views
from suffice.learners import ExpertWeights, Fit, Observed
from suffice.models import AnyStatistics, Binning, Nomogram, Statistics
from suffice.models.base import Weighable
from suffice.models.compose.blocks import statistics_of
from suffice.models.compose.experts import Experts
from suffice.models.tables.binned import RISING
from suffice.models.tables.categorical import RARE, Informative, Pool, Pooled, pooled, sums_by_code
from suffice.models.tables.interactions import Interactions
from suffice.models.tables.nested import Nested, check_two
from suffice.priors import Dirichlet

CELLS_PER_COLUMN = 6
MAX_COLUMNS = 64  # tested in pairs: the most important ones
MAX_ROWS = 20_000
LEVEL = 0.05  # probability of choosing any pair if there is no interaction
EXTRA_VARIANCE = 0.5  # added to every cell, so that a single odd row is not significant
LEAST_SQUARES_STEPS = 5


def coarse_cells(s: AnyStatistics) -> Coarse:
    """Coarse cells of each column for pairs: of equal weight, or the most frequent categories and the rest."""
    blocks = cast(BlockFeatures, s.domain.features)
    parts: dict[str, CategoricalFeatures] = {}
    for name in blocks.parts:
        if name in BINNED:
            parts[name] = Binning(n_bins=CELLS_PER_COLUMN).features(statistics_of(s, name))
        elif name in CATEGORICAL:
            own = statistics_of(s, name)
            features = cast(CategoricalFeatures, own.domain.features)
            rows = np.split(own.sums.table.sum(axis=0), features.starts[1:-1])
            pools = [_most_frequent(*column) for column in zip(features.categories, rows, strict=True)]
            parts[name] = pooled(features, pools)
    return Coarse(parts, {name: blocks.at[name] for name in parts})


def _most_frequent(categories: Array, rows: Array) -> Pool:
    """A cell for each of the most frequent categories, and one for the others."""
    if len(categories) <= CELLS_PER_COLUMN:
        return Pool(categories, np.arange(len(categories)))
    kept = np.sort(np.argsort(-rows, kind="stable")[: CELLS_PER_COLUMN - 1])
    cell = np.full(len(categories), CELLS_PER_COLUMN - 1)
    cell[kept] = np.arange(CELLS_PER_COLUMN - 1)
    return Pool(np.append(categories[kept].astype(object), RARE), cell)


@dataclass(frozen=True, eq=False, repr=False)
class Residuals(Vector):
    """Sums over rows of Y - P and of its variance P (1 - P), by class and cell of every pair (k, cells)."""

    fixed: ClassVar = ("sides",)

    sides: Array  # (pairs, 2) the number of cells of each column
    gap: Array
    variance: Array

    def clarity(self) -> Array:
        """-log of the p-value of each pair (pairs,).

            sum_cells g^2 / (v + 1/2) ~ c chi^2(m / c),     c = k / (k - 1),
            m = (r - 1)(q - 1) / (r q) sum_cells v / (v + 1/2)

        for r x q cells and k classes, where g is the gap after removing effects of the single columns. The gaps of the
        classes sum to zero, so that the sum varies c times as much as m independent terms.
        """
        ends, found = np.cumsum(self.sides.prod(axis=1)), []
        for end, sides in zip(ends, self.sides, strict=True):
            cells = slice(end - sides[0] * sides[1], end)
            found.append(_minus_log_p(*(one[:, cells].reshape(-1, *sides) for one in (self.gap, self.variance))))
        return np.array(found)


def _minus_log_p(gap: Array, variance: Array) -> float:
    """-log of the p-value of a pair having no effect beyond its two columns, from its gap and variance (k, r, q)."""
    r, q = gap.shape[1:]
    # The effects of single columns, variance (a_u + b_v), are removed by alternating weighted least squares.
    rows, columns = (np.maximum(variance.sum(axis=axis, keepdims=True), 1e-300) for axis in (2, 1))
    for _ in range(LEAST_SQUARES_STEPS):
        gap = gap - variance * (gap.sum(axis=2, keepdims=True) / rows)
        gap = gap - variance * (gap.sum(axis=1, keepdims=True) / columns)
    chance = (r - 1) * (q - 1) / (r * q) * float((variance / (variance + EXTRA_VARIANCE)).sum())
    if chance <= 0:
        return 0.0
    spread = len(gap) / max(1, len(gap) - 1)
    return float(-chi2.logsf((gap**2 / (variance + EXTRA_VARIANCE)).sum() / spread, chance / spread))


class TestedColumns(NamedTuple):
    """Columns to test in pairs: their places among those with coarse cells, and their numbers of cells."""

    places: Array
    sizes: Array

    def pairs(self) -> list[tuple[int, int]]:
        """All pairs, by their places among these columns."""
        return [(i, j) for i in range(len(self.places)) for j in range(i)]


@dataclass(frozen=True)
class Residual:
    """`Residuals` of a batch, from leave-one-out predictions."""

    fit: Fit
    coarse: Coarse
    tested: TestedColumns

    def __call__(self, batch: Batch) -> Residuals:
        model = cast(Weighable[Any, Any], self.fit.model)
        s = cast(AnyStatistics, self.fit.statistics if self.fit.moved is None else self.fit.moved)
        Y = batch.Y.onto(s.domain.classes)
        rows = np.flatnonzero(Y.codes >= 0)
        X, Y = batch.X[rows], Y[rows]
        P = np.nan_to_num(posterior(model.log_joint_without(X, Y, self.fit.parameters, s)))
        W = np.concatenate([Y.matrix().toarray() - Y.weight[:, None] * P, Y.weight[:, None] * P * (1.0 - P)], axis=1)
        codes, sizes = self.coarse.codes(X)[:, self.tested.places], self.tested.sizes
        tables = [np.zeros((W.shape[1], 0))]
        for i in range(1, codes.shape[1]):
            both = (codes[:, i, None] >= 0) & (codes[:, :i] >= 0)
            pair = np.where(both, codes[:, i, None] * sizes[:i] + codes[:, :i], -1).astype(np.int32)
            tables.append(sums_by_code(pair, np.append(0, np.cumsum(sizes[i] * sizes[:i])), W))
        gap, variance = np.split(np.concatenate(tables, axis=1), 2)
        return Residuals(np.array([(sizes[i], sizes[j]) for i, j in self.tested.pairs()]), gap, variance)


Chosen: TypeAlias = list[tuple[int, int]]  # pairs by the numbers of the table's columns


def clearest(fit: Fit, data: Data, coarse: Coarse, among: list[int], most: int, test: bool) -> Chosen:
    """The most significant pairs of columns, by the numbers of the table's columns.

    `test`: only pairs that are significant at a level of 0.05 after Bonferroni's correction.
    """
    columns = coarse.columns
    places = np.array([p for p, j in enumerate(columns) if j in among and coarse.sizes[p] > 1], dtype=int)
    if len(places) < 2:
        return []
    tested = TestedColumns(places, coarse.sizes[places])
    rows = data.count()
    some = data if rows <= MAX_ROWS else data.sample(MAX_ROWS / rows)
    found = some.sum(Residual(replace(fit, history={}, passes={}), coarse, tested)).clarity()
    clear = np.log(len(found) / LEVEL) if test else -np.inf
    order = [at for at in np.argsort(-found, kind="stable") if found[at] > clear][:most]
    pairs = [tested.pairs()[at] for at in order]
    named = (sorted((int(columns[places[i]]), int(columns[places[j]]))) for i, j in pairs)
    return [(first, second) for first, second in named]


def check_cells(coarse: Coarse, chosen: Chosen, names: list[Any]) -> None:
    """ValueError if a pair has a column with a single cell."""
    size = dict(zip(coarse.columns.tolist(), coarse.sizes.tolist(), strict=True))
    for j in (j for both in chosen for j in both):
        if size.get(j, 0) < 2:
            raise ValueError(
                f"AdditiveTables: pairs has {show(names[j])}, which has a single cell: leave that pair out"
            )


MAX_AUTO_PAIRS = 20


@dataclass(frozen=True, eq=False)
class AdditiveExperts(Experts):
    """Experts that are columns or pairs of columns, each with an initial weight of 1/2."""

    def first_weights(self) -> Array:
        return np.array([1.0, *(0.5 for _ in self.experts()[1:])])


class Edited(NamedTuple):
    """A classifier with shapes edited by hand, and its mean log loss on the given rows; None without rows."""

    model: AdditiveTables
    log_loss: float | None


@dataclass(eq=False, repr=False)
class AdditiveTables(ExpertClassifier):
    """An interpretable classifier: a shape for each column, and maps for a few pairs, add up to the log-odds.

        score_c(x) = w_0 log p(c) + sum_j w_j log p(x_j | c) + sum_ij w_ij log p(x_i, x_j | c) / (p(x_i | c) p(x_j | c))

    Numeric columns use nested bins, which are smoothed towards the coarser bins around them (`suffice.models.Nested`);
    other columns have a table of categories. The weights of columns and pairs, of at least 0, minimise the
    leave-one-out log loss, which is convex. A missing entry, or a category that was never learned, leaves its column
    out for that row.

    Tables are sums over rows, so that fits can be merged and rows forgotten. The first rows choose the pairs and their
    coarse cells: fits can be merged if they share them (`encoder=first.encoder_`). Weights are carried over, and are
    stale (`stale_`) until `recalibrate(X, y)` learns them again. A category that only forgotten rows had is also
    forgotten in pairs; the choice of pairs, and the bounds of their numeric cells, stay.

    Parameters
    ----------
    resolutions : tuple of int, default=(4, 16, 64)
        The approximate number of cells of a numeric column, from the coarsest level to the finest, which shapes show.
        A frequent value is a cell of its own.
    pairs : "auto", int, list of (column, column) or None, default="auto"
        The pairs with maps, of about 6 x 6 cells at most (frequent values have additional cells). "auto": at most 20
        pairs that say significantly more about the class than their columns, by a score test on leave-one-out
        predictions, corrected for the number of pairs; an int: the number of pairs, the most significant first; None or
        0: no pairs.
    monotone : dict of column: 1 or -1, default=None
        Numeric columns along which the probability of the second of two classes may only rise (1) or fall (-1). Such a
        column is in no pair.
    columns : dict of column: kind, default=None
        What to read a column as, instead of what its type suggests: "bins", "category" or "drop".
    min_frequency : float, default=2
        Categories with fewer rows share a cell, "(rare)".
    missing : {"ignore", "indicator"}, default="ignore"
        "indicator" also uses whether an entry is missing, in columns where that depends on the class.
    encoder : encoder, default=None
        The `encoder_` of another fit, with its pairs and cells, so that the two can be merged; `columns`, `missing` and
        `pairs` then have no effect. None: the first rows choose them.
    weights : dict of expert: float, default=None
        Given weights, by the names of `weights_`; None learns them.
    learner : learner of `suffice.learners`, default=None
        How to learn; None is `ExpertWeights()`. With `ClosedForm()` all weights are 1/2.
    class_prior, class_weight
        As in every `Classifier`.

    Attributes
    ----------
    classes_ : array of shape (k,)
    columns_ : Columns
        A note on every column; it prints as a table.
    shapes_ : Shapes
        The contribution of every column and pair to the log-odds, cell by cell, the most important first;
        `suffice.plotting.ShapesDisplay` plots them.
    weights_ : dict of expert: float
    stale_ : bool
        True if rows have come or gone since the weights were learned; `recalibrate` learns them again.
    pairs_ : list of (column, column)
    encoder_ : encoder
        The pairs and cells, for fits that are to be merged: `AdditiveTables(encoder=first.encoder_)`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = AdditiveTables(pairs=1).fit(X, y)
    >>> next(iter(model.shapes_.values()))
    Shape of worst perimeter: 64 cells, -2.41 to +1.97

    References
    ----------
    Lou, Caruana, Gehrke, Hooker: Accurate intelligible models with pairwise interactions. KDD 2013,
    doi:10.1145/2487575.2487579.
    """

    resolutions: Any = (4, 16, 64)
    pairs: Any = "auto"
    monotone: Any = None
    columns: Any = None
    min_frequency: float = 2.0
    missing: str = "ignore"
    encoder: Any = None
    weights: Any = None
    learner: Any = None
    class_prior: Any = None
    class_weight: Any = None

    _may_differ: ClassVar[tuple[str, ...]] = (*ExpertClassifier._may_differ, "columns", "missing", "pairs")
    _by_hand: bool = field(default=False, init=False)

    # The model

    def _model(self) -> Experts:
        check(self, missing=one_of("ignore", "indicator"), min_frequency=NOT_NEGATIVE, resolutions=RISING)
        for column, kind in self.columns.items() if isinstance(self.columns, Mapping) else ():
            if kind == ReadAs.GAUSSIAN:
                allowed = '"bins", "category" or "drop"'
                raise ValueError(f"AdditiveTables: columns[{show(column)}] must be {allowed}, got {kind!r}")
        encoder = Views(Table.of(self.columns, ReadAs.BINS, self.missing == "indicator", type(self).__name__))
        tables = Dirichlet("evidence", base="marginal")
        *coarser, finest = self.resolutions
        bins = Nested(n_bins=finest, coarser=tuple(coarser), monotone=self._directions())
        words = Pooled(tables, min_frequency=self.min_frequency)
        parts = {
            Block.BINS: bins,
            Block.BINS_KEPT: replace(bins, identifiers=False),
            Block.CATEGORY: words,
            Block.CATEGORY_KEPT: replace(words, identifiers=False),
            Block.MISSING: Informative(tables),
            PAIRS: Interactions(),
        }
        return AdditiveExperts(parts, frozenset(parts), class_prior=self.class_prior, encoder=encoder)

    def _directions(self) -> tuple[tuple[Any, int], ...]:
        given = {} if self.monotone is None else self.monotone
        if not isinstance(given, Mapping) or not all(is_number(sign) and sign in (1, -1) for sign in given.values()):
            raise ValueError(f"AdditiveTables: monotone must be None or a dict of column: 1 or -1, got {given!r}")
        return tuple((column, int(sign)) for column, sign in given.items())

    def _store(self, s: Statistics[Any], fit: Fit | None = None) -> None:
        if self.monotone:
            check_two(s.domain.classes)
        super()._store(s, fit)

    # Pairs

    def _new_encoder(self, data: Data) -> tuple[Encoder, Data]:
        given = self._given_encoder()
        if given is not None:
            self._check_directions(given)
            return given, data
        views = cast(Views, self._model().encoder)
        table = views.inner.prepare(data)
        read = data.map(table).persist()
        return self._with_pairs(replace(views, inner=table).prepare(read), read), read

    def _check_directions(self, encoder: Views) -> None:
        """ValueError if a monotone column is in a pair of a given encoder."""
        alone = {self._numeric(encoder.inner, column): column for column, _ in self._directions()}
        for both in getattr(dict(encoder.views).get(PAIRS), "chosen", ()):
            for j in alone.keys() & set(both):
                raise ValueError(
                    f"AdditiveTables: monotone has {show(alone[j])}, which is in a pair of the `encoder` given: fit "
                    "the first classifier with the same `monotone`"
                )

    def _with_pairs(self, encoder: Views, data: Data) -> Views:
        """The encoder with the pairs that the first rows choose, after learning the columns without pairs."""
        table = encoder.inner
        alone = {self._numeric(table, column) for column, _ in self._directions()}
        given = self._pairs_given(table, alone)
        if not given:
            return encoder
        rows = data.map(encoder).persist()
        weights = self._given_weights()
        if weights is not None:
            weights = {name: w for name, w in weights.items() if not name.startswith(f"{PAIRS}: ")}
        model = replace(self._model(), encoder=encoder).weighed(weights)
        s = rows.sum(Observed(model))
        if len(s.domain.classes) < 2:
            return encoder
        coarse = coarse_cells(s)
        chosen = given if isinstance(given, list) else self._clearest(model, s, rows, coarse, alone, given)
        check_cells(coarse, chosen, [role.name for role in table.roles or ()])
        if not chosen:
            return encoder
        pairs = Pairs.of(coarse, tuple(chosen), [role.name for role in table.roles or ()])
        return replace(encoder, views=((PAIRS, pairs),))

    def _clearest(self, model: Any, s: Any, rows: Data, coarse: Coarse, alone: set[int], most: int) -> Chosen:
        """Return the most significant pairs, at most `most`; columns in `alone` (monotone) are excluded."""
        learner = self._learner()
        fit: Fit = (learner if learner.exact else ExpertWeights()).solve(model, s, rows)
        blocks = cast(BlockFeatures, s.domain.features)
        places = (
            shape.place for shape in self._shapes(fit, None, Names()).values() if shape.place.block in coarse.parts
        )
        columns = (int(blocks.at[place.block][place.column]) for place in places)
        among = [j for j in columns if j not in alone][:MAX_COLUMNS]
        return clearest(fit, rows, coarse, among, most, test=self.pairs == "auto")

    def _numeric(self, table: Table, column: Any) -> int:
        """The number of a column that must be numeric."""
        roles = table.roles or ()
        j = _index(table, column, "monotone")
        if roles[j].kind != ReadAs.BINS:
            raise ValueError(
                f"AdditiveTables: monotone has {show(column)}, which holds {roles[j].holds} and is read as "
                f"{roles[j].kind}: only numbers can rise or fall. Leave it out, or convert the column"
            )
        return j

    def _pairs_given(self, table: Table, alone: set[int]) -> Chosen | int:
        """The given pairs of columns by number, or the greatest number of pairs to choose."""
        given = self.pairs
        if isinstance(given, str) and given == "auto":
            return MAX_AUTO_PAIRS
        if given is None or is_whole(given) or (isinstance(given, int) and given == 0):
            return int(given or 0)
        if not isinstance(given, list | tuple) or not all(isinstance(p, list | tuple) and len(p) == 2 for p in given):
            raise ValueError(
                'AdditiveTables: pairs must be "auto", a whole number of at least 0, a list of (column, column) or '
                f"None, got {given!r}"
            )
        return list(dict.fromkeys(self._pair(table, pair, alone) for pair in given))

    def _pair(self, table: Table, pair: Any, alone: set[int]) -> tuple[int, int]:
        i, j = (_index(table, column, "pairs") for column in pair)
        roles = table.roles or ()
        if i == j or {i, j} & alone or ReadAs.DROP in (roles[i].kind, roles[j].kind):
            why = "twice the same column" if i == j else "a column that is monotone or left out"
            raise ValueError(f"AdditiveTables: pairs has {pair!r}, {why}: a map needs two other columns")
        return min(i, j), max(i, j)

    @property
    def pairs_(self) -> list[tuple[Any, Any]]:
        """The pairs of columns with maps."""
        check_is_fitted(self)
        pairs = self._pairs_encoder()
        return [] if pairs is None else cast(Array, pairs.features.names).tolist()

    def _pairs_encoder(self) -> Pairs | None:
        return cast(Pairs | None, dict(cast(Views, self._encoder).views).get(PAIRS))

    # Fitted attributes

    @property
    def columns_(self) -> Columns:
        """A note on every column; it prints as a table."""
        fit, roles = self._fit_result(), cast(Views, self._encoder).inner.roles or ()
        summaries = fit.model.column_summaries(self._weighed(self.statistics_))
        return Columns([column_note(*pair) for pair in zip(roles, summaries, strict=True)])

    @property
    def shapes_(self) -> Shapes:
        """The contribution of every column and pair to the log-odds, cell by cell."""
        fit, roles = self._fit_result(), cast(Views, self._encoder).inner.roles or ()
        return self._shapes(fit, self._pairs_encoder(), Names.of(roles, self.statistics_))

    def _shapes(self, fit: Fit, pairs: Pairs | None, names: Names) -> Shapes:
        s = cast(Statistics[Any], fit.statistics if fit.moved is None else fit.moved)
        return shapes_of(cast(Experts, fit.model), fit.parameters, s, pairs, names)

    def contributions(self, X: Any) -> Contributions:
        """The contribution of every column and pair to the log-probability of each class, for each row.

        As in every classifier, except that each term has mean 0 over the learned rows, as in `shapes_`.
        """
        return about_the_mean(super().contributions(X), self.shapes_)

    def nomogram(self) -> Nomogram:
        """The classifier as a sum of terms, as in every classifier, each with mean 0 over the learned rows."""
        nomogram: Nomogram = super().nomogram()
        return nomogram.shift(shifts_to_mean_zero(self.shapes_))

    # Editing

    def edited(self, changes: Mapping[Any, Any], X: Any = None, y: Any = None) -> Edited:
        """A copy with edited shapes, and its log loss on some rows.

        Parameters
        ----------
        changes : dict of key: values
            By the keys of `shapes_`: new values of all cells, or a dict of cell (its number or name): value, for a
            pair of (cell, cell): value. Values are those of `Shape.values`. The shapes of the copy are centred again,
            and its `shapes_.base` changes accordingly, so that the sums are as given.
        X, y : rows and labels, default=None
            Rows to compute the log loss on.

        Returns
        -------
        Edited
            The copy, which predicts but no longer learns, and its mean log loss.
        """
        if (X is None) != (y is None):
            raise ValueError("edited needs both X and y for the log loss, or neither")
        fit, twin = self._fit_result(), copy.copy(self)
        model, theta = edited_terms(cast(Experts, fit.model), fit.parameters, self.shapes_, changes)
        twin._learned, twin._by_hand = replace(fit, model=model, parameters=theta), True
        loss = None if X is None else float(log_loss(y, twin.predict_proba(X), labels=twin.classes_))
        return Edited(twin, loss)

    def _refuse_edited(self) -> None:
        if self._by_hand:
            raise ValueError(
                "these shapes were edited, so that rows can neither be added nor removed: use the original classifier, "
                "or fit again"
            )

    def _read(self, X: Any, y: Any, sample_weight: Any, reset: bool, once: bool = False) -> Data:
        if not reset:
            self._refuse_edited()
        self._by_hand = False
        return super()._read(X, y, sample_weight, reset, once)

    def merge(self, other: Self) -> Self:
        """Add another fitted classifier with the same settings, as if its rows had been learned here."""
        for one in (self, other):
            if isinstance(one, AdditiveTables):
                one._refuse_edited()
        return cast(Self, super().merge(other))

    def loo_log_proba(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """log p(y | x_i) (n, k) of learned rows, each from the model fitted on all other rows."""
        self._refuse_edited()
        return np.asarray(super().loo_log_proba(X, y, sample_weight))


def _index(table: Table, column: Any, called: str) -> int:
    """The number of a column that a setting gives by its name or its number."""
    names = None if table.names is None else np.array(table.names, dtype=object)
    return Features(len(table.roles or ()), names).index(column, f"AdditiveTables: {called}")
