"""Models: families of classifiers whose parameters follow from statistics, and abilities that some of them have."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Protocol, Self, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from suffice._core.features import Domain, Encoded, Features
from suffice._core.kinds import LeftOut
from suffice._core.labels import OneHot, dates, dense
from suffice._core.vector import Array, Vector
from suffice._runtime.messages import Notice, join_words
from suffice.data.queries import DatabaseRows
from suffice.encoders import Encoder, Numbers
from suffice.models.statistics import B, Statistics, rest
from suffice.priors import Dirichlet
from suffice.priors.settings import log_class_prior

if TYPE_CHECKING:
    from suffice.models.linear import Design

T = TypeVar("T")
E = TypeVar("E", bound=Vector)  # natural parameters
ClassPrior: TypeAlias = (
    Dirichlet | Mapping[Any, float] | ArrayLike | str | None
)  # by label, in order, or "uniform"; or smoothed


class OfClasses(Protocol):
    """Parameters of a density: they have log p(y)."""

    @property
    def class_log_prob(self) -> Array:
        """log p(y) (k,)."""
        ...


D = TypeVar("D", bound=OfClasses)
# Sums a function of batches over a data set.
Read = Callable[[Callable[[Any], Any]], Any]


class DegenerateError(ValueError):
    """The statistics leave a parameter undefined; the message says which, why and what to do."""


# Messages list this many of the values that have cells of their own.
MAX_VALUES_NAMED = 3


class ColumnSummary(NamedTuple):
    """How a model uses a column.

    >>> ColumnSummary("9 cells", alone=(0.0, 19786.0)).sentence(), ColumnSummary(left_out=LeftOut.CONSTANT).sentence()
    ('9 cells, 0, 19786 on their own', 'left out: it has one value only')
    """

    words: str = ""
    left_out: LeftOut | None = None
    alone: tuple[float, ...] = ()  # numbers that have cells of their own
    more: tuple[str, ...] = ()  # further sentences, of the models of other blocks

    @property
    def takes_part(self) -> bool:
        """True if the model uses the column."""
        return bool(self.words) and self.left_out is None

    def sentence(self, dated: bool = False) -> str:
        """Return the summary as a sentence; `dated`: the numbers are days since 1970."""
        if self.left_out is not None:
            return self.left_out.sentence
        named = self.alone[:MAX_VALUES_NAMED]
        own = join_words(dates(named) if dated else [f"{value:g}" for value in named])
        more = f" and {len(self.alone) - MAX_VALUES_NAMED} more" * (len(self.alone) > MAX_VALUES_NAMED)
        alone = f", {own}{more} on {'their' if len(self.alone) > 1 else 'its'} own" * bool(self.alone)
        return "; ".join([f"{self.words}{alone}", *self.more])

    @classmethod
    def joined(cls, summaries: Sequence[ColumnSummary]) -> ColumnSummary:
        """Join the summaries of several blocks: a column that is left out of one block may count in another."""
        some = [one for one in summaries if one != cls()]
        if len(some) < 2 or all(one.left_out is not None for one in some):
            return some[0] if some else cls()
        first, *others = (one._replace(words=one.sentence(), left_out=None) if one.left_out else one for one in some)
        return first._replace(more=tuple(one.sentence() for one in others))


@dataclass(frozen=True, eq=False)
class Attempt(Generic[B, T]):
    """The parameters that follow from statistics, the blocks that have none, and what is wrong if that matters."""

    parameters: T  # meaningless in the blocks that are not valid
    valid: Statistics[B]  # a mask in the shape of the statistics, true where a block's parameters exist
    problem: str | None = None


@dataclass(frozen=True, eq=False)
class Subproblem:
    """A part of learning that stands on its own: a model of some classes, and the statistics to learn it from."""

    model: AnyModel  # resolved
    whole: AnyStatistics  # restricted
    group: Array | None = None  # (k,) which of its classes each class belongs to, -1 for none; None: all as they are


@dataclass(frozen=True, eq=False)
class Model(ABC, Generic[B, T]):
    """A family of classifiers whose parameters T are a closed-form function of statistics. Pure: nothing is kept.

    `statistics` is linear in the class weights `W`, a OneHot or a signed array (n, k), and additive in the rows.
    Before `resolve`, classes and categories are those of each batch; after it, they are fixed.
    """

    encoder: Encoder = field(default=Numbers(), kw_only=True)
    domain: Domain | None = field(default=None, kw_only=True)

    def statistics(self, X: Encoded, W: OneHot | Array) -> Statistics[B]:
        """S(X, W) = sum_i sum_c W[i, c] T_c(x_i)."""
        domain = self.domain
        if domain is None:
            self.encoder.admit(X.features)
            domain = Domain(W.classes if isinstance(W, OneHot) else np.arange(W.shape[1]), X.features)
        W = W.onto(domain.classes) if isinstance(W, OneHot) else W
        mass = W.mass() if isinstance(W, OneHot) else np.einsum("ic->c", W)  # several times as fast as a sum
        return Statistics(domain, mass, self.sums(X, W, domain))

    def precompute(self, X: Encoded) -> Encoded:
        """Return rows with the work done that `log_joint` and `statistics` of this resolved model would both repeat."""
        return X

    @abstractmethod
    def sums(self, X: Encoded, W: OneHot | Array, domain: Domain) -> B:
        """The sums of the features for weights of the classes of a domain."""

    @property
    def statistics_key(self) -> object | None:
        """Everything except the encoder that the sums depend on before `resolve`; None: unknown.

        Two models with equal keys and equal encoders have the same statistics of the same rows, which then are summed
        once for both. A subclass that overrides `sums` or `statistics` has an unknown key until it gives one.
        """
        return None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if {"sums", "statistics"} & vars(cls).keys() and "statistics_key" not in vars(cls):
            cls.statistics_key = Model.statistics_key  # type: ignore[method-assign]

    def with_origin_of(self, s: Statistics[Any]) -> Self:  # noqa: ARG002 - most sums have no origin
        """Return the model with sums about the origins of s, whose classes are the same: these add up in less time."""
        return self

    def resolve(self, s: Statistics[B]) -> Self:
        """Return the model with everything that depends on the data (domain, prior mean and scale) fixed by S(X, Y)."""
        return replace(self, domain=s.domain)

    def restrict(self, s: Statistics[Any]) -> Statistics[B]:
        """Reduce S, as the model sums it before `resolve`, to what this resolved model needs: its bins of a finer grid.

        resolved.statistics(X, W) = resolved.restrict(model.statistics(X, W)) of complete rows. The statistics of a fit
        stay as they were summed, so that pieces and merged fits lead to what all rows do.
        """
        return s

    def revisit(self, s: Statistics[Any], read: Read) -> Statistics[B]:  # noqa: ARG002 - most need no second read
        """`restrict` if the rows of s can be read again: `read(f)` sums the function f over their batches."""
        return self.restrict(s)

    @abstractmethod
    def attempt(self, s: Statistics[B]) -> Attempt[B, T]:
        """Return theta(s) of restricted statistics under the prior, and where it exists."""

    def parameters(self, s: Statistics[B]) -> T:
        """Return theta(s) under the prior; DegenerateError if there is none."""
        got = self.attempt(s)
        if got.problem is not None:
            raise DegenerateError(got.problem)
        return got.parameters

    @abstractmethod
    def log_joint(self, X: Encoded, theta: T) -> Array:
        """log p(x, y) for every class (n, k), up to a term that is the same for all classes."""

    def log_joint_likely(self, X: Encoded, theta: T) -> Array:
        """`log_joint` for probabilities: rough, though low, for a class of less than 2^-70 of that of another."""
        return self.log_joint(X, theta)

    def notices(self) -> tuple[Notice, ...]:
        """Return what people should know of the data, according to this resolved model."""
        return ()

    @property
    def resolved_domain(self) -> Domain:
        """The domain of a resolved model."""
        if self.domain is None:
            raise ValueError(f"{self.display_name} has no domain before it is resolved: call resolve(s) first")
        return self.domain

    @property
    def display_name(self) -> str:
        """The name of the model in messages."""
        return type(self).__name__

    def column_summaries(self, s: Statistics[Any]) -> tuple[ColumnSummary, ...]:
        """Return how this resolved model uses each feature (d,), from S as it was summed."""
        return (ColumnSummary(),) * s.domain.width

    @property
    def prior_rows(self) -> float:
        """The number of rows that the prior of a resolved model counts for."""
        return 0.0

    @property
    def base_model(self) -> AnyModel:
        """The model that a learner works on: this one, unless classes go two at a time."""
        return self

    def collapse(self, theta: T) -> tuple[AnyModel, Any]:
        """The model and the parameters that answer: these, unless they are a single contest of two classes."""
        return self, theta

    def subproblems(self, s: Statistics[B]) -> Sequence[Subproblem]:
        """Return the parts of learning this resolved model, each with its restricted sums: one, or one a contest."""
        return (Subproblem(self, self.restrict(s)),)

    def attach(self, theta: T, s: Statistics[B], group: Array) -> T:  # noqa: ARG002 - most keep no statistics
        """Return parameters of two groups of classes that refer to the statistics s of all classes."""
        return theta

    def combine(self, parameters: Sequence[object]) -> object:
        """Return the parameters of this resolved model from those of its subproblems."""
        return parameters[0]


@dataclass(frozen=True, eq=False)
class Classed(Model[B, D]):
    """A model with class probabilities p(y): given, or the classes' shares of the mass.

    Its parameters have log p(y) as `class_log_prob` (k,).
    """

    class_prior: ClassPrior = field(default=None, kw_only=True)

    @property
    def classes_given(self) -> bool:
        """True if p(y) is given, and so not learned."""
        return self.class_prior is not None and not isinstance(self.class_prior, Dirichlet)

    def class_log_prob(self, s: Statistics[B]) -> Array:
        """log p(y) (k,): given, or the classes' shares of the mass."""
        return log_class_prior(s.mass, s.domain.classes, self.class_prior)

    def class_log_prob_without(self, Y: OneHot | Array, s: Statistics[B]) -> Array:
        """log p(y) (n, k) with the weight of each row taken from the mass; -inf for a class that has no other row."""
        return log_class_prior(rest(s.mass, dense(Y)), s.domain.classes, self.class_prior)

    def reweighed(self, theta: D, class_log_prob: Array) -> tuple[Self, D]:
        """Return the resolved model and its parameters with other class probabilities, as if these had been given."""
        moved: D = replace(cast(Any, theta), class_log_prob=class_log_prob)
        return replace(self, class_prior=np.exp(class_log_prob)), moved

    def class_log_likelihood(self, target: Statistics[B], best: OfClasses, theta: OfClasses) -> float:
        """log p(Y) under theta of data with the statistics `target`; `best` is theta(target)."""
        seen = np.isfinite(best.class_log_prob)
        return float(target.mass.sum() * np.exp(best.class_log_prob[seen]) @ theta.class_log_prob[seen])


@dataclass(frozen=True, eq=False)
class Density(Classed[B, D]):
    """A model of p(x | y): it writes `log_density`, and log p(x, y) = log p(y) + log p(x | y) is inherited."""

    def of_columns(self, features: Features, at: Array, names: Array) -> Self:  # noqa: ARG002 - most have no such setting
        """Return the model of some columns (m,) of a table; settings by column may use their names or numbers."""
        return self

    @abstractmethod
    def log_density(self, X: Encoded, theta: D) -> Array:
        """log p(x | y) for every class (n, k)."""

    def support(self) -> Encoded | None:
        """A row for each value of a resolved model's only column, over which p(x | y) sums to one; None: all numbers.

        Over all numbers it integrates to one.
        """
        return None

    def log_volume(self, X: Encoded) -> Array:
        """Return the logarithm of the volume that p(x | y) is the probability of (n,): of a bin its width, else 0.

        p(x) divided by it tells common rows from rare ones even if bins have unequal widths.
        """
        return np.zeros(len(X))

    def log_relative(self, X: Encoded, theta: D) -> Array:
        """log p(x | y) for every class (n, k), up to a term that is the same for all classes."""
        return self.log_density(X, theta)

    def log_joint(self, X: Encoded, theta: D) -> Array:
        return theta.class_log_prob + self.log_relative(X, theta)

    def log_joint_density(self, X: Encoded, theta: D) -> Array:
        """log p(x, y) for every class (n, k), with every term: its exponential integrates to one."""
        return theta.class_log_prob + self.log_density(X, theta)


AnyModel: TypeAlias = Model[Any, Any]
AnyStatistics: TypeAlias = Statistics[Any]


class Ability(ABC):
    """Something that only some models can do; a learner names the abilities that it needs."""

    words: ClassVar[str]  # for messages: what a model without it lacks


class Joint(Ability, Generic[B, T]):
    """Has a joint likelihood log p(X, Y | theta) that is a function of the statistics of X and Y."""

    words = "a joint likelihood"

    @abstractmethod
    def log_likelihood(self, target: Statistics[B], best: T, theta: T) -> float:
        """log p(X, Y) under theta, with the prior's pseudo-rows, up to a constant; `best` is theta(target)."""


class Penalised(Joint[B, T]):
    """Has a joint likelihood with a penalty that does not fade as rows grow: theta(s) is where both are greatest."""

    words = "a joint likelihood with a penalty (regularised discriminant analysis has one)"


class Natural(Ability, Generic[B, T, E]):
    """Has natural parameters eta, in which the gradient of the log loss is read off S(X, Y - P)."""

    words = "natural parameters (tables, counts, covariances that are not tied, and LogisticRegression have them)"

    @abstractmethod
    def natural(self, theta: T) -> E:
        """eta of theta."""

    @abstractmethod
    def from_natural(self, eta: E) -> T:
        """theta of eta."""

    @abstractmethod
    def gradient(self, s: Statistics[B], eta: E) -> E:
        """Minus the gradient of the log loss at eta, from s = S(X, Y - P)."""

    @abstractmethod
    def feasible(self, eta: E, start: E) -> E:
        """Return the nearest eta that is allowed; descent began at `start`."""


class Curved(Natural[B, T, E]):
    """Has scores linear in eta, so that the log loss is convex and its curvature a sum over rows."""

    words = "linear scores (LogisticRegression has them)"

    @abstractmethod
    def zero(self, s: Statistics[B]) -> E:
        """eta of all classes alike."""

    @abstractmethod
    def penalised(self, eta: E) -> E:
        """The gradient of the penalty 1/2 <eta, penalised(eta)>, which is linear in eta."""

    @abstractmethod
    def design(self, X: Encoded) -> Design:
        """The columns (n, p) whose weighted sums are the scores."""


class LeaveOneOut(Ability, Generic[B, D]):
    """Can score each row by the parameters of all other rows, from the sums alone; see `Removable`."""

    words = "leave-one-out scores (tables, normal densities without shrinkage, and TabularClassifier have them)"

    @abstractmethod
    def log_joint_without(self, X: Encoded, Y: OneHot | Array, theta: D, s: Statistics[B]) -> Array:
        """`log_joint` of each row (n, k), by the parameters of all other rows."""


class Removable(LeaveOneOut[B, D]):
    """A density that can leave each row out of its own parameters, from the sums alone: leave-one-out in one read.

        log_density_without(X, Y, theta, s)_ic = log p(x_i | c) under theta(s - S(x_i, Y_i))

    `s` are the restricted statistics behind theta, of which the rows X are a part with the weights Y: labels (on the
    classes of s), or an array of signed weights (n, k). Everything that `resolve` and the encoder have fixed stays: the
    prior's mean, covariance and weights, cells, which columns vary. If neither other rows nor a prior determine the
    parameters of a class, its score is -inf. A subclass that changes how parameters follow from sums overrides it.
    """

    @abstractmethod
    def log_density_without(self, X: Encoded, Y: OneHot | Array, theta: D, s: Statistics[B]) -> Array:
        """log p(x | y) of each row for every class (n, k), by the parameters of all other rows."""

    @abstractmethod
    def class_log_prob_without(self, Y: OneHot | Array, s: Statistics[B]) -> Array:
        """log p(y) (n, k) by all other rows; a density has it."""

    def log_joint_without(self, X: Encoded, Y: OneHot | Array, theta: D, s: Statistics[B]) -> Array:
        return self.class_log_prob_without(Y, s) + self.log_density_without(X, Y, theta, s)


class Weighable(LeaveOneOut[B, D]):
    """Has scores that are a weighted sum of those of several experts, each of which can leave a row out."""

    words = "experts to weigh (TabularClassifier and AdditiveTables have them)"

    weights: Mapping[str, float] | None  # by expert
    unbounded: frozenset[str]  # experts whose scores have no bounds of their own

    @abstractmethod
    def experts(self) -> list[str]:
        """Return the names of the experts of a resolved model (m,)."""

    @abstractmethod
    def first_weights(self) -> Array:
        """Weights to begin with (m,), above zero."""

    @abstractmethod
    def weighed(self, weights: Mapping[str, float] | None, limits: Mapping[str, float] | None = None) -> Self:
        """The model with other weights, and with the scores of unbounded experts clipped to +-limit.

        Scores are taken about their mean over the classes.
        """

    @abstractmethod
    def scores_without(self, X: Encoded, Y: OneHot | Array, theta: D, s: Statistics[B]) -> Array:
        """Return the score of every expert for each row and class (n, k, m), by the parameters of all other rows."""


class Tabular(Ability):
    """Has statistics that are tables of counts, to which any counts can be added."""

    words = "tables of counts (CategoricalNB, MultinomialNB and BernoulliNB have them)"


class Samplable(Ability, Generic[D]):
    """Has a density p(x | y) that rows can be drawn from."""

    words = "a density to draw rows from"

    continuous: ClassVar[bool] = False  # whether p(x | y) is a density over all numbers, not a sum over values

    @abstractmethod
    def sample(self, codes: Array, theta: D, rng: np.random.Generator) -> Encoded:
        """A row from p(x | y) for every class number (n,), as this model's encoder would give it."""


class SqlSummable(Ability, Generic[B]):
    """Has sums that a database can be asked for: counts by value or cell, and moments."""

    words = "sums that a database can be asked for (tables, normal densities, planes and NaiveBayes have them)"

    @abstractmethod
    def sql_statistics(self, rows: DatabaseRows, features: Features | None) -> tuple[Features, B]:
        """S(X, W) of encoded rows, and what features these have; with features that are known already, of those."""


def summed(model: AnyModel, rows: DatabaseRows) -> Statistics[Any]:
    """S(X, W) of the rows of a database; TypeError for a model whose sums have no query."""
    if not isinstance(model, SqlSummable):
        raise TypeError(f"{model.display_name} cannot be learned in a database, as it lacks {SqlSummable.words}")
    if model.domain is not None:
        rows = rows.onto(model.domain.classes)
        sums = model.sql_statistics(rows, model.domain.features)[1]
        return Statistics(model.domain, rows.mass(), sums)  # which comes with the sums
    features, sums = model.sql_statistics(rows, None)
    model.encoder.admit(features)
    return Statistics(Domain(rows.classes, features), rows.mass(), sums)


def drawn(log_p: Array, codes: Array, rng: np.random.Generator) -> Array:
    """Draw a cell (n,) from the table of each class number (n,), given logarithms (r, k); -1 if there are no cells.

    >>> drawn(np.log([[1e-300, 1.0], [1.0, 1e-300]]), np.array([0, 1, 1]), np.random.default_rng(0))
    array([1, 0, 0])
    """
    out, u = np.full(len(codes), -1), rng.random(len(codes))
    if not len(log_p):
        return out
    p = np.cumsum(np.exp(log_p - log_p.max(axis=0)), axis=0)
    for c in range(log_p.shape[1]):
        rows = codes == c
        out[rows] = np.searchsorted(p[:, c], u[rows] * p[-1, c], side="right")
    return np.asarray(np.minimum(out, len(log_p) - 1))
