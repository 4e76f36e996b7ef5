"""Independent blocks of columns, each with a density of its own: naive Bayes over mixed tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, cast

import numpy as np

from suffice._domain import Domain, Encoded
from suffice._labels import OneHot
from suffice._vector import Array, Vector
from suffice.encoders.blocks import BlockFeatures, BlockValues, block
from suffice.models._base import Density, Joint, Natural, Removable, Tabular
from suffice.models._blocks import AnyDensity, Blocks, Factors, Parts, part
from suffice.models._drawn import DrawnDensity, Nomogram
from suffice.models._explained import ExplainedDensity, Terms
from suffice.models._sampled import Samplable
from suffice.models._statistics import Statistics
from suffice.models.natural import project_log


@dataclass(frozen=True, eq=False, repr=False)
class NaturalFactors(Vector):
    """log p(y) (k,), and the natural parameters of every block, with an intercept that stays as it is."""

    intercept: Array
    parts: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Product(Blocks, Density[Parts, Factors], ExplainedDensity[Factors], DrawnDensity[Factors], Samplable[Factors]):
    """p(x, y) = p(y) prod_b p(x_b | y), where x_b are the columns of block b.

    A block has the abilities of its model; the product has those that all blocks have (`Product.of`).
    """

    @classmethod
    def of(cls, parts: Mapping[str, AnyDensity], **settings: Any) -> Product:
        """The product with all abilities that its blocks have in common."""
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
        each = self.present(cast(Domain, self.domain).features)
        return reduce(np.add, (model.log_volume(block(X, name)) for name, model in each))

    def density_terms(self, X: Encoded, theta: Factors) -> Terms:
        """Those of all blocks, added up by column."""
        each = (self.terms_of(name, X, theta.parts[name]) for name, _ in self.present(theta.domain.features))
        return reduce(add, each).gathered(self.columns())

    def drawn_density(self, theta: Factors) -> Nomogram:
        """The terms of all blocks."""
        each = (self.drawn_of(name, theta.parts[name]) for name, _ in self.present(theta.domain.features))
        return reduce(add, each)

    def sample(self, codes: Array, theta: Factors, rng: np.random.Generator) -> Encoded:
        """Rows of all blocks, each on its own."""
        features, rows = cast(BlockFeatures, theta.domain.features), {}
        for name, model in self.present(features):
            if not isinstance(model, Samplable):
                raise ValueError(f"the block {name!r} is a {model.called}, which has no way to draw rows (`Samplable`)")
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
            cast(Any, model).log_likelihood(part(target, name), best.parts[name], theta.parts[name])
            for name, model in each
        )
        return float(blocks + self.class_log_likelihood(target, best, theta))


class NaturalProduct(JointProduct, Natural[Parts, Factors, NaturalFactors]):
    """A product of blocks with natural parameters, which are those of the blocks side by side."""

    def _each(self, f: Callable[[str, Any], Any]) -> dict[str, Any]:
        if self.domain is None:
            raise ValueError("a model has natural parameters once it is resolved")
        return {name: f(name, model) for name, model in self.present(self.domain.features)}

    def natural(self, theta: Factors) -> NaturalFactors:
        parts = self._each(lambda name, model: model.natural(theta.parts[name]))
        return NaturalFactors(theta.class_log_prob, parts)

    def from_natural(self, eta: NaturalFactors) -> Factors:
        parts = self._each(lambda name, model: model.from_natural(eta.parts[name]))
        return Factors(cast(Domain, self.domain), eta.intercept, parts)

    def gradient(self, s: Statistics[Parts], eta: NaturalFactors) -> NaturalFactors:
        parts = self._each(lambda name, model: model.gradient(part(s, name), eta.parts[name]))
        return NaturalFactors(s.mass * (not self.classes_given), parts)

    def feasible(self, eta: NaturalFactors, start: NaturalFactors) -> NaturalFactors:
        parts = self._each(lambda name, model: model.feasible(eta.parts[name], start.parts[name]))
        return NaturalFactors(start.intercept if self.classes_given else project_log(eta.intercept[None])[0], parts)


class TabularProduct(NaturalProduct, Tabular):
    """A product of tables."""


class RemovableProduct(Product, Removable[Parts, Factors]):
    """A product of blocks of which each can leave a row out."""

    def log_density_without(self, X: Encoded, Y: OneHot | Array, theta: Factors, s: Statistics[Parts]) -> Array:
        """The sum over blocks."""
        each = ((name, cast(Any, model)) for name, model in self.present(theta.domain.features))
        scores = (m.log_density_without(block(X, name), Y, theta.parts[name], part(s, name)) for name, m in each)
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
