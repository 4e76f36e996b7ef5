"""The interpretable classifier for tables."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self, cast

import numpy as np
from sklearn.metrics import log_loss
from sklearn.utils.validation import check_is_fitted

from suffice._core.features import Features
from suffice._core.kinds import Block, ReadAs
from suffice._core.labels import show
from suffice._core.vector import Array
from suffice._estimator.columns import Columns, noted
from suffice._estimator.experts import ExpertClassifier
from suffice._estimator.explaining import Contributions
from suffice._runtime.messages import NOT_NEGATIVE, check, is_number, is_whole, one_of
from suffice.additive.pairs import MOST, Chosen, check_cells, clearest, coarse_cells
from suffice.additive.shapes import PAIRS, Names, Shapes, about_the_mean, edited_terms, means_taken, shapes_of
from suffice.data import Data
from suffice.encoders import Encoder
from suffice.encoders.pairs import Coarse, Pairs
from suffice.encoders.table import BlockFeatures, Table
from suffice.encoders.views import Views
from suffice.learners import ExpertWeights, Fit, Observed
from suffice.models import Nomogram, Statistics
from suffice.models.compose.experts import Experts
from suffice.models.tables.binned import RISING
from suffice.models.tables.categorical import Informative, Pooled
from suffice.models.tables.interactions import Interactions
from suffice.models.tables.nested import Nested, check_two
from suffice.priors import Dirichlet

AUTO = 20  # pairs, at most, where the rows choose how many


@dataclass(frozen=True, eq=False)
class AdditiveExperts(Experts):
    """Experts of which each is a column or a pair of columns, and counts half to begin with."""

    def first_weights(self) -> Array:
        return np.array([1.0, *(0.5 for _ in self.experts()[1:])])


class Edited(NamedTuple):
    """A classifier with shapes changed by hand, and its mean log loss on the rows given; None without rows."""

    model: AdditiveTables
    log_loss: float | None


class AdditiveTables(ExpertClassifier):
    """A classifier to read: one shape a column, and maps for a few pairs of columns, which add up to the log-odds.

        score_c(x) = w_0 log p(c) + sum_j w_j log p(x_j | c) + sum_ij w_ij log p(x_i, x_j | c) / (p(x_i | c) p(x_j | c))

    Numbers are in cells that lie in coarser cells, towards which they are smoothed (`suffice.models.Nested`);
    everything else is a table of categories. Every column and pair has a weight of at least 0 by leave-one-out log
    loss, which is convex. An entry that is missing, or a category never learned, leaves its column out for that row.

    Tables are sums over rows, so that fits can be merged and rows forgotten. Pairs with their coarse cells are those
    that the first rows have chosen: fits add up if they share them (`encoder=first.encoder_`). Weights are carried
    along, and are stale (`stale_`) until `recalibrate(X, y)` learns them again from rows that count.

    A category that only forgotten rows had is forgotten in pairs as well. Which pairs there are, and the bounds of
    their cells of numbers, stay those of the first rows; the setting `encoder` stays as it was given.

    Parameters
    ----------
    resolutions : tuple of int, default=(4, 16, 64)
        About how many cells a column of numbers has, from the coarsest level to the finest, which is what is shown.
        A value with more than its share of the rows is a cell of its own.
    pairs : "auto", int, list of (column, column) or None, default="auto"
        Which pairs have maps, of about 6 x 6 cells at most (a value that many rows have is a cell besides). "auto":
        those of which the rows, each predicted by all others, show that the columns alone do not tell all, more clearly
        than chance would in so many pairs, at most 20; an int: so many, the clearest; None or 0: no pairs.
    monotone : dict of column: 1 or -1, default=None
        Columns of numbers with which the second of two classes may only become more probable (1) or less (-1). Such a
        column is in no pair.
    columns : dict of column: kind, default=None
        What to read a column as, instead of what its type says: "bins", "category" or "drop".
    min_frequency : float, default=2
        Categories of fewer rows share a cell, "(rare)".
    missing : {"ignore", "indicator"}, default="ignore"
        Whether it counts, besides, which entries are missing, in those columns where that tells classes apart.
    encoder : encoder, default=None
        The pairs and their cells of another fit, its `encoder_`, so that the two can be merged; `columns`, `missing`
        and `pairs` then play no part. None: of the first rows.
    weights : dict of expert: float, default=None
        Given weights, by the names of `weights_`; None: learned.
    learner : learner of `suffice.learners`, default=None
        None is `ExpertWeights()`; with `ClosedForm()` every column counts half.
    class_prior : None, "uniform", array of shape (k,), dict or Dirichlet, default=None
        Given class probabilities; None takes the classes' shares of the rows.
    class_weight : None, "balanced" or dict, default=None
        Weights by class that multiply the rows' weights.

    Attributes
    ----------
    classes_ : array of shape (k,)
    columns_ : Columns
        What became of every column, and why; it prints as a table.
    shapes_ : Shapes
        What every column and pair adds to the log-odds, cell by cell, those that count most first;
        `suffice.plotting.ShapesDisplay` draws them.
    weights_ : dict of expert: float
    stale_ : bool
        Whether rows have come or gone since the weights were learned; `recalibrate` learns them again.
    pairs_ : list of (column, column)
    encoder_ : encoder
        What the first rows have prepared, for fits that are to be merged: `AdditiveTables(encoder=first.encoder_)`.

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

    _may_differ: ClassVar[tuple[str, ...]] = (*ExpertClassifier._may_differ, "columns", "missing", "pairs")
    _by_hand: bool = False

    def __init__(
        self,
        resolutions: Any = (4, 16, 64),
        pairs: Any = "auto",
        monotone: Any = None,
        columns: Any = None,
        min_frequency: float = 2.0,
        missing: str = "ignore",
        encoder: Any = None,
        weights: Any = None,
        learner: Any = None,
        class_prior: Any = None,
        class_weight: Any = None,
    ) -> None:
        self.resolutions = resolutions
        self.pairs = pairs
        self.monotone = monotone
        self.columns = columns
        self.min_frequency = min_frequency
        self.missing = missing
        self.encoder = encoder
        self.weights = weights
        self.learner = learner
        self.class_prior = class_prior
        self.class_weight = class_weight

    # The model

    def _model(self) -> Experts:
        check(self, missing=one_of("ignore", "indicator"), min_frequency=NOT_NEGATIVE, resolutions=RISING)
        encoder = Views(Table.of(self._kinds(), ReadAs.BINS, self.missing == "indicator", type(self).__name__))
        parts = self._parts()
        return AdditiveExperts(parts, frozenset(parts), class_prior=self.class_prior, encoder=encoder)

    def _kinds(self) -> Any:
        for column, kind in self.columns.items() if isinstance(self.columns, Mapping) else ():
            if kind == ReadAs.GAUSSIAN:
                allowed = '"bins", "category" or "drop"'
                raise ValueError(f"AdditiveTables: columns[{show(column)}] must be {allowed}, got {kind!r}")
        return self.columns

    def _parts(self) -> dict[str, Any]:
        tables = Dirichlet("evidence", base="marginal")
        *coarser, finest = self.resolutions
        bins = Nested(n_bins=finest, coarser=tuple(coarser), monotone=self._ways())
        words = Pooled(tables, min_frequency=self.min_frequency)
        return {
            Block.BINS: bins,
            Block.BINS_KEPT: replace(bins, identifiers=False),
            Block.CATEGORY: words,
            Block.CATEGORY_KEPT: replace(words, identifiers=False),
            Block.MISSING: Informative(tables),
            PAIRS: Interactions(),
        }

    def _ways(self) -> tuple[tuple[Any, int], ...]:
        given = {} if self.monotone is None else self.monotone
        if not isinstance(given, Mapping) or not all(is_number(way) and way in (1, -1) for way in given.values()):
            raise ValueError(f"AdditiveTables: monotone must be None or a dict of column: 1 or -1, got {given!r}")
        return tuple((column, int(way)) for column, way in given.items())

    def _adopt(self, s: Statistics[Any], learned: Fit | None = None) -> Self:
        if self.monotone:
            check_two(s.domain.classes)
        return super()._adopt(s, learned)

    # Pairs

    def _prepare(self, data: Data) -> tuple[Encoder, Data]:
        views = self._shared()
        if views is not None:
            self._check_ways(views)
            return views, data
        views = cast(Views, self._model().encoder)
        table = views.inner.prepare(data)
        read = data.map(table).persist()
        return self._with_pairs(replace(views, inner=table).prepare(read), read), read

    def _check_ways(self, encoder: Views) -> None:
        """ValueError if a monotone column is in a pair of a shared encoder."""
        alone = {self._numeric(encoder.inner, column): column for column, _ in self._ways()}
        for both in getattr(dict(encoder.views).get(PAIRS), "chosen", ()):
            for j in alone.keys() & set(both):
                raise ValueError(
                    f"AdditiveTables: monotone has {show(alone[j])}, which is in a pair of the `encoder` given: fit "
                    "the first classifier with the same `monotone`"
                )

    def _with_pairs(self, encoder: Views, data: Data) -> Views:
        """Pairs are chosen by the first rows, once the columns have been learned without them."""
        table = encoder.inner
        alone = {self._numeric(table, column) for column, _ in self._ways()}
        given = self._pairs_given(table, alone)
        if not given:
            return encoder
        rows = data.map(encoder).persist()
        model = replace(self._model(), encoder=encoder).weighed(self._without_pairs())
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

    def _without_pairs(self) -> Mapping[str, float] | None:
        given = self._given()
        return None if given is None else {name: w for name, w in given.items() if not name.startswith(f"{PAIRS}: ")}

    def _clearest(self, model: Any, s: Any, rows: Data, coarse: Coarse, alone: set[int], most: int) -> Chosen:
        """The pairs that say most beyond the columns, without those of some columns."""
        learner = self._learner()
        fit: Fit = (learner if learner.exact else ExpertWeights()).solve(model, s, rows)
        blocks = cast(BlockFeatures, s.domain.features)
        places = (
            shape.place for shape in self._shapes(fit, None, Names()).values() if shape.place.block in coarse.parts
        )
        columns = (int(blocks.at[place.block][place.column]) for place in places)
        among = [j for j in columns if j not in alone][:MOST]
        return clearest(fit, rows, coarse, among, most, test=self.pairs == "auto")

    def _numeric(self, table: Table, column: Any) -> int:
        """The number of a column that has to hold numbers in bins."""
        roles = table.roles or ()
        j = _index(table, column, "monotone")
        if roles[j].kind != ReadAs.BINS:
            raise ValueError(
                f"AdditiveTables: monotone has {show(column)}, which holds {roles[j].holds} and is read as "
                f"{roles[j].kind}: only numbers can rise or fall. Leave it out, or convert the column"
            )
        return j

    def _pairs_given(self, table: Table, alone: set[int]) -> Chosen | int:
        """Pairs of columns by number, or at most how many are to be chosen."""
        given = self.pairs
        if isinstance(given, str) and given == "auto":
            return AUTO
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
            raise ValueError(f"AdditiveTables: pairs has {pair!r}, {why}: a map is of two columns that are neither")
        return min(i, j), max(i, j)

    @property
    def pairs_(self) -> list[tuple[Any, Any]]:
        """The pairs of columns that have maps."""
        check_is_fitted(self)
        pairs = self._pairs_encoder()
        return [] if pairs is None else cast(Array, pairs.features.names).tolist()

    def _pairs_encoder(self) -> Pairs | None:
        return cast(Pairs | None, dict(cast(Views, self._encoder).views).get(PAIRS))

    # What was learned

    @property
    def columns_(self) -> Columns:
        """What became of every column, and why; it prints as a table."""
        fit, roles = self._fit_result(), cast(Views, self._encoder).inner.roles or ()
        s = self.statistics_
        said = fit.model.column_summaries(s.by_class(self._class_weights(s)) if self._weighs_classes() else s)
        return Columns([noted(*pair) for pair in zip(roles, said, strict=True)])

    @property
    def shapes_(self) -> Shapes:
        """What every column and pair adds to the log-odds, cell by cell."""
        fit, roles = self._fit_result(), cast(Views, self._encoder).inner.roles or ()
        return self._shapes(fit, self._pairs_encoder(), Names.of(roles, self.statistics_))

    def _shapes(self, fit: Fit, pairs: Pairs | None, names: Names) -> Shapes:
        s = cast(Statistics[Any], fit.statistics if fit.moved is None else fit.moved)
        return shapes_of(cast(Experts, fit.model), fit.parameters, s, pairs, names)

    def contributions(self, X: Any) -> Contributions:
        """What every column and pair adds to the log-probability of each class, for each row.

        As for every classifier, with the mean of each term over the rows learned in the base, as `shapes_` have it.
        """
        return about_the_mean(super().contributions(X), self.shapes_)

    def nomogram(self) -> Nomogram:
        """The classifier as a sum of terms, as for every classifier, each of mean 0 over the rows learned."""
        drawn: Nomogram = super().nomogram()
        return drawn.shift(means_taken(self.shapes_))

    # By hand

    def edited(self, changes: Mapping[Any, Any], X: Any = None, y: Any = None) -> Edited:
        """A copy with shapes changed by hand, and its log loss on some rows.

        Parameters
        ----------
        changes : dict of key: values
            By the keys of `shapes_`: new values of all cells, or a dict of cell (its number, or what it is called):
            value, for a pair of (cell, cell): value. Values are those of `Shape.values`; the copy's shapes are centred
            again, and its `shapes_.base` takes up what that takes from them, so that the sums are those asked for.
        X, y : rows and labels, default=None
            What to measure the log loss on.

        Returns
        -------
        Edited
            The copy, which predicts but no longer learns, and its mean log loss.
        """
        if (X is None) != (y is None):
            raise ValueError("edited measures the log loss on rows with labels: give both X and y, or neither")
        fit, twin = self._fit_result(), copy.copy(self)
        model, theta = edited_terms(cast(Experts, fit.model), fit.parameters, self.shapes_, changes)
        twin._learned, twin._by_hand = replace(fit, model=model, parameters=theta), True
        loss = None if X is None else float(log_loss(y, twin.predict_proba(X), labels=twin.classes_))
        return Edited(twin, loss)

    def _refuse_by_hand(self) -> None:
        if self._by_hand:
            raise ValueError(
                "these shapes were changed by hand, so that rows can neither be added nor taken back: use the "
                "classifier that was edited, or fit again"
            )

    def _read(self, X: Any, y: Any, sample_weight: Any, reset: bool, once: bool = False) -> Data:
        if not reset:
            self._refuse_by_hand()
        self._by_hand = False
        return super()._read(X, y, sample_weight, reset, once)

    def merge(self, other: Self) -> Self:
        """Add what another fitted classifier of the same settings has learned, as if its rows had been learned here."""
        for one in (self, other):
            if isinstance(one, AdditiveTables):
                one._refuse_by_hand()
        return cast(Self, super().merge(other))

    def loo_log_proba(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Logarithm of the class probabilities (n, k) of rows that were learned, by all other rows."""
        self._refuse_by_hand()
        return np.asarray(super().loo_log_proba(X, y, sample_weight))


def _index(table: Table, column: Any, called: str) -> int:
    """The number of a column that a setting gives by its name or its number."""
    names = None if table.names is None else np.array(table.names, dtype=object)
    return Features(len(table.roles or ()), names).index(column, f"AdditiveTables: {called}")
