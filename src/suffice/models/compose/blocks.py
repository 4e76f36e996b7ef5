"""Models of several blocks of columns; independent blocks are a product."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Annotated, Any, ClassVar, Self, TypeVar, cast

import numpy as np

from suffice._core.features import Domain, Encoded, Features
from suffice._core.kinds import Block
from suffice._core.labels import OneHot
from suffice._core.vector import Array, Vector
from suffice._runtime.messages import Notice
from suffice.data.queries import DatabaseRows
from suffice.encoders.table import BlockFeatures, BlockValues, block
from suffice.models.base import (
    AnyStatistics,
    Attempt,
    Classed,
    ColumnSummary,
    Density,
    Joint,
    Natural,
    Removable,
    Samplable,
    SqlSummable,
    Tabular,
)
from suffice.models.natural import project_log
from suffice.models.overview import Overview, Summary
from suffice.models.statistics import DividedSums, Statistics
from suffice.models.terms import Nomogram, NomogramDensity, NoNomogramError, Terms

AnyDensity = Density[Any, Any]
V = TypeVar("V")


@dataclass(frozen=True, eq=False, repr=False)
class Parts(DividedSums):
    """The sums of every block, by its name."""

    parts: Mapping[str, Any]

    def onto(self, old: Domain, new: Domain) -> Self:
        return self.each(lambda name, part: part.onto(domain_of(old, name), domain_of(new, name)))

    def impossible(self, before: Self, domain: Domain, mass: Array) -> str | None:
        whys = (part.impossible(before.parts[n], domain_of(domain, n), mass) for n, part in self.parts.items())
        return next(filter(None, whys), None)

    def why_not_contained(self, before: Self, domain: Domain, mass: Array) -> str | None:
        whys = (part.why_not_contained(before.parts[n], domain_of(domain, n), mass) for n, part in self.parts.items())
        return next(filter(None, whys), None)

    def overview(self, domain: Domain, mass: Array) -> Overview:
        """In the order of the table's columns; without the blocks that are made of other columns."""
        blocks = cast(BlockFeatures, domain.features)
        made = {Block.MISSING, *getattr(blocks, "made", ())}
        found: dict[Any, Callable[[], Summary]] = {}
        for name, part in self.parts.items():
            if name not in made:
                keys = dict(zip(blocks.part(name).keys, blocks.keys_of(name), strict=True))
                found |= part.overview(domain_of(domain, name), mass).rename(keys).columns
        order = {key: at for at, key in enumerate(range(blocks.width) if blocks.names is None else blocks.names)}
        return Overview(dict(sorted(found.items(), key=lambda item: order.get(item[0], len(order)))))

    def pruned(self, features: Features) -> tuple[Features, Self]:
        blocks = cast(BlockFeatures, features)
        each = {name: part.pruned(blocks.part(name)) for name, part in self.parts.items()}
        left = blocks.with_parts({name: kept for name, (kept, _) in each.items()})
        return left, replace(self, parts={name: sums for name, (_, sums) in each.items()})


@dataclass(frozen=True, eq=False)
class Factors:
    """Parameters: log p(y) (k,), and those of every block."""

    domain: Domain
    class_log_prob: Annotated[Array, "inf k"]
    parts: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Blocks(Classed[Parts, Factors], SqlSummable[Parts]):
    """Named blocks of columns, each with a density of its own; a subclass combines them."""

    over: ClassVar[Callable[..., Iterable[Any]]] = map  # applies a function to the blocks, which are independent

    parts: Mapping[str, Any]  # models of p(x_b | y), or of a ratio of such; p(y) stands outside of them

    def each(self, f: Callable[[str, Any], V], features: Features) -> dict[str, V]:
        """Return f(name, model) of every block that has columns, by name."""
        there = dict(self.present(features))
        return dict(zip(there, type(self).over(lambda name: f(name, there[name]), there), strict=True))

    def present(self, features: Features) -> Iterator[tuple[str, AnyDensity]]:
        """The blocks that have columns."""
        blocks = cast(BlockFeatures, features)
        return ((name, self.parts[name]) for name in blocks.parts)

    def sums(self, X: Encoded, W: OneHot | Array, domain: Domain) -> Parts:
        each = self.present(domain.features)
        return Parts({name: model.sums(block(X, name), W, domain_of(domain, name)) for name, model in each})

    def sql_statistics(self, rows: DatabaseRows, features: Features | None) -> tuple[Features, Parts]:
        blocks = cast(BlockFeatures, features or rows.features)
        each = {}
        for name in blocks.at:
            model = self.parts.get(name)
            if not isinstance(model, SqlSummable) or self.encoder.within(name) is not None:
                raise TypeError(
                    f"{self.display_name} cannot be learned in a database: its part {name!r} lacks {SqlSummable.words}"
                )
            each[name] = model.sql_statistics(rows.block(name), None if features is None else blocks.part(name))
        found = blocks.with_parts({name: part for name, (part, _) in each.items()})
        return features or found, Parts({name: sums for name, (_, sums) in each.items()})

    def precompute(self, X: Encoded) -> Encoded:
        blocks = cast(BlockFeatures, X.features)
        each = {name: model.precompute(block(X, name)) for name, model in self.present(blocks)}
        features = blocks.with_parts({name: one.features for name, one in each.items()})
        return Encoded(features, cast(Any, BlockValues({name: one.values for name, one in each.items()})))

    @property
    def statistics_key(self) -> object | None:
        kinds = {name: model.statistics_key for name, model in self.parts.items()}
        return None if None in kinds.values() else kinds

    def with_origin_of(self, s: Statistics[Parts]) -> Self:
        near = {name: model.with_origin_of(statistics_of(s, name)) for name, model in self.present(s.domain.features)}
        return replace(self, parts={**self.parts, **near})

    def resolve(self, s: Statistics[Parts]) -> Self:
        blocks = cast(BlockFeatures, s.domain.features)
        parts = self.each(lambda name, _: self._of_block(name, blocks).resolve(statistics_of(s, name)), blocks)
        known = {name: model.domain.features for name, model in parts.items() if model.domain is not None}
        return replace(self, domain=replace(s.domain, features=blocks.with_parts(known)), parts=parts)

    def _of_block(self, name: str, blocks: BlockFeatures) -> AnyDensity:
        names, model = blocks.part(name).names, cast(AnyDensity, self.parts[name])
        return model if names is None or self.domain is not None else model.of_columns(blocks, blocks.at[name], names)

    def restrict(self, s: AnyStatistics) -> Statistics[Parts]:
        each = {name: model.restrict(statistics_of(s, name)) for name, model in self.present(s.domain.features)}
        features = {name: one.domain.features for name, one in each.items()}
        domain = replace(s.domain, features=cast(BlockFeatures, s.domain.features).with_parts(features))
        return Statistics(domain, s.mass, Parts({name: one.sums for name, one in each.items()}))

    def attempt(self, s: Statistics[Parts]) -> Attempt[Parts, Factors]:
        got = self.each(lambda name, model: model.attempt(statistics_of(s, name)), s.domain.features)
        mass = reduce(np.logical_and, (one.valid.mass for one in got.values()))
        valid = replace(s, mass=mass, sums=Parts({name: one.valid.sums for name, one in got.items()}))
        theta = Factors(s.domain, self.class_log_prob(s), {name: one.parameters for name, one in got.items()})
        return Attempt(theta, valid, next((one.problem for one in got.values() if one.problem), None))

    def columns(self) -> tuple[Any, ...]:
        """Return the names or numbers of the table's columns, in their order."""
        features = self.resolved_domain.features
        return Features(features.width, features.names).keys

    def terms_of(self, name: str, X: Encoded, theta: Any) -> Terms:
        """The terms of a block by the table's columns, or one of the block as a whole if its model has none."""
        blocks, rows = cast(BlockFeatures, self.resolved_domain.features), block(X, name)
        model = replace(self.parts[name], encoder=self.encoder.within(name) or self.parts[name].encoder)
        if not isinstance(model, NomogramDensity):
            values = model.log_density(rows, theta)
            return Terms(np.zeros(values.shape[1]), (name,), values[:, :, None])
        found = model.density_terms(rows, theta)
        return found if blocks.part(name).names is not None else replace(found, keys=blocks.keys_of(name))

    def nomogram_of(self, name: str, theta: Any) -> Nomogram:
        """A block as terms of the table's columns; NoNomogramError if it sees these in a way of its own."""
        blocks, within = cast(BlockFeatures, self.resolved_domain.features), self.encoder.within(name)
        model = self.parts[name] if within is None else replace(self.parts[name], encoder=within)
        if not isinstance(model, NomogramDensity) or not (within is None or model.of_table):
            raise NoNomogramError(
                f"its part {name!r} looks at several columns at a time, so that no column has a term of its own"
            )
        found = model.density_nomogram(theta)
        return found if blocks.part(name).names is not None else found.rename(dict(enumerate(blocks.keys_of(name))))

    @property
    def prior_rows(self) -> float:
        return max((model.prior_rows for model in self.parts.values()), default=0.0)

    @property
    def display_name(self) -> str:
        return str(getattr(self.encoder, "who", "a product"))

    def column_summaries(self, s: AnyStatistics) -> tuple[ColumnSummary, ...]:
        summaries: list[list[ColumnSummary]] = [[] for _ in range(s.domain.width)]
        blocks = cast(BlockFeatures, s.domain.features)
        for name, model in self.present(blocks):
            # Blocks of trees have more features than columns, and no summaries of them.
            for j, summary in zip(blocks.at[name], model.column_summaries(statistics_of(s, name)), strict=False):
                summaries[j].append(summary)
        return tuple(map(ColumnSummary.joined, summaries))

    def notices(self) -> tuple[Notice, ...]:
        return tuple(notice for model in self.parts.values() for notice in model.notices())


def domain_of(domain: Domain, name: str) -> Domain:
    """The domain of a block."""
    return Domain(domain.classes, cast(BlockFeatures, domain.features).part(name))


def statistics_of(s: Statistics[Any], name: str) -> Statistics[Any]:
    """The statistics of a block."""
    return Statistics(domain_of(s.domain, name), s.mass, s.sums.parts[name])


@dataclass(frozen=True, eq=False, repr=False)
class NaturalFactors(Vector):
    """log p(y) (k,), and the natural parameters of every block, with an intercept that stays as it is."""

    intercept: Array
    parts: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Product(Blocks, Density[Parts, Factors], NomogramDensity[Factors], Samplable[Factors]):
    """p(x, y) = p(y) prod_b p(x_b | y), where x_b are the columns of block b.

    A block has the abilities of its model; the product has those that all blocks have (`Product.of`).
    """

    @classmethod
    def of(cls, parts: Mapping[str, AnyDensity], **settings: Any) -> Product:
        """Return the product with all abilities that its blocks have in common."""
        blocks = {name: replace(model, class_prior="uniform") for name, model in parts.items()}
        shared = {need for need in ABILITIES if all(isinstance(model, need) for model in blocks.values())}
        return next(kind for kind in KINDS if not (ABILITIES - shared) & set(kind.__mro__))(blocks, **settings)

    def log_density(self, X: Encoded, theta: Factors) -> Array:
        each = self.present(theta.domain.features)
        return reduce(np.add, (model.log_density(block(X, name), theta.parts[name]) for name, model in each))

    def log_relative(self, X: Encoded, theta: Factors) -> Array:
        each = self.present(theta.domain.features)
        return reduce(np.add, (model.log_relative(block(X, name), theta.parts[name]) for name, model in each))

    def log_volume(self, X: Encoded) -> Array:
        """The sum over blocks."""
        each = self.present(self.resolved_domain.features)
        return reduce(np.add, (model.log_volume(block(X, name)) for name, model in each))

    def density_terms(self, X: Encoded, theta: Factors) -> Terms:
        """Return the log-density terms of all blocks, summed for each column of the table."""
        each = (self.terms_of(name, X, theta.parts[name]) for name, _ in self.present(theta.domain.features))
        return reduce(add, each).gather(self.columns())

    def density_nomogram(self, theta: Factors) -> Nomogram:
        """The terms of all blocks."""
        each = (self.nomogram_of(name, theta.parts[name]) for name, _ in self.present(theta.domain.features))
        return reduce(add, each)

    def sample(self, codes: Array, theta: Factors, rng: np.random.Generator) -> Encoded:
        """Rows of all blocks, each on its own."""
        features, rows = cast(BlockFeatures, theta.domain.features), {}
        for name, model in self.present(features):
            if not isinstance(model, Samplable):
                raise ValueError(
                    f"the block {name!r} is a {model.display_name}, which has no way to draw rows (`Samplable`)"
                )
            rows[name] = model.sample(codes, theta.parts[name], rng)
        both: Any = BlockValues({name: one.values for name, one in rows.items()})
        return Encoded(features.with_parts({name: one.features for name, one in rows.items()}), both)

    def support(self) -> Encoded | None:
        if self.domain is None or len(self.parts) > 1:
            return None
        ((name, model),) = self.parts.items()
        rows = model.support()
        if rows is None:
            return None
        features = cast(BlockFeatures, self.domain.features).with_parts({name: rows.features})
        return Encoded(features, cast(Any, BlockValues({name: rows.values})))


class JointProduct(Product, Joint[Parts, Factors]):
    """A product of blocks with joint likelihoods."""

    def log_likelihood(self, target: Statistics[Parts], best: Factors, theta: Factors) -> float:
        """The sum over blocks, and that of the classes."""
        each = self.present(target.domain.features)
        blocks = sum(
            cast(Any, model).log_likelihood(statistics_of(target, name), best.parts[name], theta.parts[name])
            for name, model in each
        )
        return float(blocks + self.class_log_likelihood(target, best, theta))


class NaturalProduct(JointProduct, Natural[Parts, Factors, NaturalFactors]):
    """A product of blocks with natural parameters, which are those of the blocks side by side."""

    def natural(self, theta: Factors) -> NaturalFactors:
        parts = self.each(lambda name, model: model.natural(theta.parts[name]), self.resolved_domain.features)
        return NaturalFactors(theta.class_log_prob, parts)

    def from_natural(self, eta: NaturalFactors) -> Factors:
        parts = self.each(lambda name, model: model.from_natural(eta.parts[name]), self.resolved_domain.features)
        return Factors(self.resolved_domain, eta.intercept, parts)

    def gradient(self, s: Statistics[Parts], eta: NaturalFactors) -> NaturalFactors:
        features = s.domain.features
        parts = self.each(lambda name, model: model.gradient(statistics_of(s, name), eta.parts[name]), features)
        return NaturalFactors(s.mass * (not self.classes_given), parts)

    def feasible(self, eta: NaturalFactors, start: NaturalFactors) -> NaturalFactors:
        features = self.resolved_domain.features
        parts = self.each(lambda name, model: model.feasible(eta.parts[name], start.parts[name]), features)
        return NaturalFactors(start.intercept if self.classes_given else project_log(eta.intercept[None])[0], parts)


class TabularProduct(NaturalProduct, Tabular):
    """A product of tables."""


class RemovableProduct(Product, Removable[Parts, Factors]):
    """A product of blocks of which each can leave a row out."""

    def log_density_without(self, X: Encoded, Y: OneHot | Array, theta: Factors, s: Statistics[Parts]) -> Array:
        """The sum over blocks."""
        each = ((name, cast(Any, model)) for name, model in self.present(theta.domain.features))
        scores = (
            m.log_density_without(block(X, name), Y, theta.parts[name], statistics_of(s, name)) for name, m in each
        )
        return reduce(np.add, scores)


class RemovableJointProduct(RemovableProduct, JointProduct):
    """A product of blocks with joint likelihoods of which each can leave a row out."""


class RemovableNaturalProduct(RemovableProduct, NaturalProduct):
    """A product of blocks with natural parameters of which each can leave a row out."""


class RemovableTabularProduct(RemovableProduct, TabularProduct):
    """A product of tables of which each can leave a row out."""


ABILITIES: set[type] = {Joint, Natural, Tabular, Removable}
KINDS: tuple[type[Product], ...] = (  # those of most abilities first
    RemovableTabularProduct,
    TabularProduct,
    RemovableNaturalProduct,
    NaturalProduct,
    RemovableJointProduct,
    JointProduct,
    RemovableProduct,
    Product,
)
