"""Bayesian-network classifiers for tables: trees, k-dependence networks, and graphs of your own."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

from sklearn.utils.validation import check_is_fitted

from suffice._core.kinds import LeftOut, ReadAs
from suffice._estimator.classifier import Classifier
from suffice._estimator.experts import ExpertClassifier
from suffice._estimator.explaining import Columns, column_note
from suffice._estimator.fitting import TABLES
from suffice._runtime.messages import check, one_of
from suffice.data import Data
from suffice.encoders import Encoder
from suffice.encoders.table import Table
from suffice.encoders.views import Views
from suffice.models.base import ColumnSummary
from suffice.models.networks.averaged import OneDependence, views_of
from suffice.models.networks.families import Families, GraphSearch
from suffice.models.networks.network import Network
from suffice.models.networks.selective import SelectiveDependence
from suffice.models.networks.structure import GivenGraph, KDependence, NoEdges, SpanningTree
from suffice.models.tables.binned import AT_LEAST_TWO, STRATEGIES
from suffice.priors import Dirichlet
from suffice.priors.settings import plain_prior, table_prior

__all__ = ["AODE", "BayesNetClassifier", "KDependenceNB", "TreeAugmentedNB"]

MAX_PARENTS = 5
KINDS = (ReadAs.BINS, ReadAs.CATEGORY, ReadAs.DROP)  # what columns are read as


def _table_prior(estimator: Any) -> Dirichlet | None:
    """The prior of tables with parents: single columns and classes have none of their own."""
    prior = table_prior(estimator.prior)
    if prior is not None and (prior.columns or prior.classes):
        plain_prior(prior, type(estimator).__name__)
    return prior


class _Networked(Classifier):
    """A classifier whose model is a network of columns: the first rows decide on its structure."""

    _accepts: ClassVar[tuple[str, ...]] = TABLES
    _may_differ: ClassVar[tuple[str, ...]] = ("columns", "n_bins", "strategy", "structure")

    columns: Any
    n_bins: int
    strategy: str
    structure: Any

    def _model(self) -> Network:
        check(self, strategy=one_of(*STRATEGIES), n_bins=AT_LEAST_TWO)
        given = self.structure
        if isinstance(given, Families):
            encoder = replace(given, inner=replace(given.inner, who=type(self).__name__))
        else:
            table = Table.of(self.columns, ReadAs.BINS, False, type(self).__name__, KINDS)
            encoder = Families(table, self._search())
        return Network(_table_prior(self), class_prior=self.class_prior, encoder=encoder)

    @abstractmethod
    def _search(self) -> GraphSearch:
        """How the structure is chosen."""

    def _new_encoder(self, data: Data) -> tuple[Encoder, Data]:
        encoder = cast(Families, self._model().encoder)
        if encoder.known is not None:
            return encoder, data
        table = encoder.inner.prepare(data)
        rows = data.map(table).persist()
        return encoder.learned(table, rows, self._class_weights), rows

    def _is_of_sums(self) -> bool:
        return False  # the structure is not

    @property
    def structure_(self) -> Families:
        """The structure, with the intervals of numbers; fits that share it can be merged."""
        check_is_fitted(self)
        return cast(Families, self._encoder)

    @property
    def parents_(self) -> dict[Any, list[Any]]:
        """The parents of each column that takes part, beside the class; the first ones count most."""
        families = self.structure_
        names = [role.name for role in families.inner.roles or ()]
        own = [names[j] for j in families.graph.columns]
        return {own[j]: [own[i] for i in up] for j, up in enumerate(families.graph.parents)}

    @property
    def columns_(self) -> Columns:
        """A note on every column; it prints as a table."""
        fit = self._fit_result()
        summaries: tuple[ColumnSummary, ...] = fit.model.column_summaries(self.statistics_)
        roles = self.structure_.inner.roles or ()
        return Columns([column_note(*pair) for pair in zip(roles, summaries, strict=True)])


@dataclass(eq=False, repr=False)
class TreeAugmentedNB(_Networked):
    """Tree-augmented naive Bayes: each column depends on the class and at most one other column.

        p(y | x) ~ p(y) prod_j p(x_j | y, x_parent(j))

    The parents form the tree of greatest sum of I(x_j; x_parent(j) | y) (Chow and Liu), its root the column that tells
    most about the class. Every table is smoothed towards the one without the parent, and that towards the shares of all
    classes together; how much is a matter of evidence. A missing entry, or a category that was never learned, is summed
    out.

    Parameters
    ----------
    n_bins, strategy
        The intervals of a column of numbers or dates, as in `suffice.features.Bins`.
    columns : dict of column: kind, default=None
        What to read a column as, instead of what its type suggests: "bins", "category" or "drop".
    structure : structure, default=None
        The `structure_` of another fit, so that the two can be merged; None: the first rows choose it.
    prior : "default", Dirichlet or None, default="default"
        `Dirichlet(weight, per, base)`: with base="marginal" tables are smoothed as above, with base="uniform" towards
        equal shares. The default is `Dirichlet("evidence", base="marginal")`; None is maximum likelihood.
    learner, class_prior, class_weight
        As in every `Classifier`.

    Attributes
    ----------
    classes_ : array of shape (k,)
    structure_ : structure
        For fits that are to be merged.
    parents_ : dict of column: list of columns
    columns_ : Columns
        A note on every column; it prints as a table.
    class_prior_, class_count_ : array of shape (k,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = TreeAugmentedNB(n_bins=4).fit(X, y)
    >>> model.parents_
    {0: [2], 1: [0], 2: [3], 3: []}

    References
    ----------
    Friedman, Geiger, Goldszmidt: Bayesian network classifiers. Machine Learning 29 (1997),
    doi:10.1023/A:1007465528199.
    """

    n_bins: int = 32
    strategy: str = "mdl"
    columns: Any = None
    structure: Any = None
    prior: Any = "default"
    learner: Any = None
    class_prior: Any = None
    class_weight: Any = None

    def _search(self) -> GraphSearch:
        return SpanningTree(self.n_bins, self.strategy)


@dataclass(eq=False, repr=False)
class KDependenceNB(_Networked):
    """k-dependence Bayes: each column depends on the class and at most k other columns.

        p(y | x) ~ p(y) prod_j p(x_j | y, parents of x_j)

    Columns are put in the order of I(x_j; y), and the parents of a column are the k before it of greatest
    I(x_i; x_j | y) (Sahami). Every table is smoothed towards the one without the last parent, and so on down to the
    shares of all classes together; how much is a matter of evidence. A row that lacks a parent is scored by the table
    without it and without those after it, which approximates the sum over its values.

    Parameters
    ----------
    k : int or "loo", default=2
        The greatest number of parents, at most 5. A table of more than 2^22 numbers has fewer parents. "loo" chooses k,
        and how many of the columns take part, by the exact leave-one-out log loss, in one more read (selective
        k-dependence).
    n_bins, strategy, columns, structure, prior
        As in `TreeAugmentedNB`.
    learner, class_prior, class_weight
        As in every `Classifier`.

    Attributes
    ----------
    classes_ : array of shape (k,)
    structure_ : structure
        For fits that are to be merged.
    parents_ : dict of column: list of columns
    columns_ : Columns
        A note on every column; it prints as a table.
    class_prior_, class_count_ : array of shape (k,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KDependenceNB(n_bins=4).fit(X, y)
    >>> model.parents_
    {0: [2, 3], 1: [0, 3], 2: [3], 3: []}

    References
    ----------
    Sahami: Learning limited dependence Bayesian classifiers. KDD 1996.
    Martinez, Webb, Chen, Zaidi: Scalable learning of Bayesian network classifiers. JMLR 17 (2016).
    """

    k: Any = 2
    n_bins: int = 32
    strategy: str = "mdl"
    columns: Any = None
    structure: Any = None
    prior: Any = "default"
    learner: Any = None
    class_prior: Any = None
    class_weight: Any = None

    def _search(self) -> GraphSearch:
        if self.k == "loo":
            return SelectiveDependence(self.n_bins, self.strategy, k=MAX_PARENTS)
        if isinstance(self.k, bool) or self.k not in range(MAX_PARENTS + 1):
            raise ValueError(
                f'KDependenceNB: k must be a whole number from 0 to {MAX_PARENTS}, or "loo", got {self.k!r}'
            )
        return KDependence(self.n_bins, self.strategy, k=int(self.k))


@dataclass(eq=False, repr=False)
class BayesNetClassifier(_Networked):
    """A Bayesian-network classifier with a graph of your own: each column depends on the class and its parents.

        p(y | x) ~ p(y) prod_j p(x_j | y, parents of x_j)

    Every table is smoothed towards the one without the last parent, and so on. In a tree missing entries are summed
    out; else a row that lacks a parent is scored by the table without it and without those after it, an approximation.

    Parameters
    ----------
    structure : dict of column: list of columns, networkx.DiGraph, or structure
        The parents of columns, by names or numbers, the most important first; a column that is not listed has none but
        the class. A graph has an edge from each parent. The `structure_` of another fit also has its intervals.
    n_bins, strategy, columns, prior
        As in `TreeAugmentedNB`.
    learner, class_prior, class_weight
        As in every `Classifier`.

    Attributes
    ----------
    classes_ : array of shape (k,)
    structure_ : structure
        For fits that are to be merged.
    parents_ : dict of column: list of columns
    columns_ : Columns
        A note on every column; it prints as a table.
    class_prior_, class_count_ : array of shape (k,)

    Examples
    --------
    >>> X = [["rain", "wet"], ["rain", "wet"], ["sun", "dry"], ["sun", "wet"]]
    >>> model = BayesNetClassifier({1: [0]}, prior=None).fit(X, ["in", "in", "out", "in"])
    >>> model.predict([["sun", "dry"], ["rain", None]])
    array(['out', 'in'], dtype='<U3')
    """

    structure: Any = None
    n_bins: int = 32
    strategy: str = "mdl"
    columns: Any = None
    prior: Any = "default"
    learner: Any = None
    class_prior: Any = None
    class_weight: Any = None

    def _search(self) -> GraphSearch:
        given = self.structure
        if hasattr(given, "predecessors"):
            given = {column: list(given.predecessors(column)) for column in given.nodes}
        listed = isinstance(given, Mapping) and all(isinstance(up, list | tuple) for up in given.values())
        if given is not None and not listed:
            raise ValueError(
                "BayesNetClassifier: structure must be a dict of column: list of columns, a networkx.DiGraph or the "
                f"structure_ of another fit, got {given!r}"
            )
        return GivenGraph(self.n_bins, self.strategy, given=tuple((j, tuple(up)) for j, up in (given or {}).items()))


@dataclass(eq=False, repr=False)
class AODE(ExpertClassifier):
    """Averaged one-dependence estimators: a network for each column, in which all others depend on it and the class.

        score_c(x) = w_0 log p(c) + sum_i w_i log p_i(x | c),     p_i(x | c) = p(x_i | c) prod_j p(x_j | c, x_i)

    The weights, of at least 0, minimise the log loss on rows left out, which is convex. With `learner=ClosedForm()` the
    networks are averaged as in the original: p(x | c) = sum_i p_i(x | c) / m. Tables are smoothed as in
    `TreeAugmentedNB`; a row that lacks x_i is scored by the tables without it. A row in memory takes 4 m^2 bytes
    for m columns.

    Fits can be merged if they share their intervals (`encoder=first.encoder_`). Weights are carried over, and are stale
    (`stale_`) until `recalibrate(X, y)` learns them again.

    Parameters
    ----------
    n_bins, strategy, columns, prior
        As in `TreeAugmentedNB`.
    encoder : encoder, default=None
        The `encoder_` of another fit, with its intervals, so that the two can be merged.
    weights : dict of expert: float, default=None
        Given weights, by the names of `weights_`; None learns them.
    learner : learner of `suffice.learners`, default=None
        How to learn; None is `ExpertWeights()`, and `ClosedForm()` the plain average.
    class_prior, class_weight
        As in every `Classifier`.

    Attributes
    ----------
    classes_ : array of shape (k,)
    weights_ : dict
        The weight of each network, by the column that all others depend on.
    encoder_ : encoder
        For fits that are to be merged.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> AODE().fit(X, y).score(X, y) > 0.9
    True

    References
    ----------
    Webb, Boughton, Wang: Not so naive Bayes: aggregating one-dependence estimators. Machine Learning 58 (2005),
    doi:10.1007/s10994-005-4258-6.
    """

    _may_differ: ClassVar[tuple[str, ...]] = (*ExpertClassifier._may_differ, "n_bins", "strategy")

    n_bins: int = 32
    strategy: str = "mdl"
    columns: Any = None
    encoder: Any = None
    weights: Any = None
    prior: Any = "default"
    learner: Any = None
    class_prior: Any = None
    class_weight: Any = None

    def _model(self) -> OneDependence:
        check(self, strategy=one_of(*STRATEGIES), n_bins=AT_LEAST_TWO)
        table = Table.of(self.columns, ReadAs.BINS, False, type(self).__name__, KINDS)
        encoder = self._given_encoder() or Views(table)
        return OneDependence.of(encoder, Network(_table_prior(self)), self.class_prior)

    def _bound_model(self) -> OneDependence:
        model = cast(OneDependence, super()._bound_model())
        return OneDependence.of(cast(Views, self._encoder), Network(_table_prior(self)), self.class_prior).weighed(
            model.weights, model.limits
        )

    def _new_encoder(self, data: Data) -> tuple[Encoder, Data]:
        given = self._given_encoder()
        if given is not None:
            return given, data
        views = cast(Views, self._model().encoder)
        table = views.inner.prepare(data)
        rows = data.map(table).persist()
        search = NoEdges(self.n_bins, self.strategy)
        families = Families(table, search).learned(table, rows, self._class_weights)
        return replace(views, inner=table, views=views_of(families), ready=True), rows

    @property
    def columns_(self) -> Columns:
        """A note on every column; it prints as a table."""
        views = cast(Views, self.encoder_)
        graph = cast(Families, views.views[0][1]).graph
        found = {j: ColumnSummary("a network, and a part of all others") for j in graph.columns}
        found |= {j: ColumnSummary(left_out=LeftOut(why)) for j, why in graph.left_out}
        roles = enumerate(views.inner.roles or ())
        return Columns([column_note(role, found.get(j, ColumnSummary())) for j, role in roles])
