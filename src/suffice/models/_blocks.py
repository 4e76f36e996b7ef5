"""Models of several blocks of columns: sums, resolving and parameters, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np

from suffice._domain import Domain, Encoded, Features
from suffice._labels import OneHot
from suffice._notice import Notice
from suffice._vector import Array
from suffice.data._queries import Queried
from suffice.encoders.blocks import BlockFeatures, BlockValues, block
from suffice.models._base import AnyStatistics, Attempt, Classed, Density
from suffice.models._drawn import DrawnDensity, DrawnView, Nomogram, UndrawableError
from suffice.models._explained import ExplainedDensity, Terms
from suffice.models._queried import Queryable
from suffice.models._statistics import Statistics, Sums

AnyDensity = Density[Any, Any]
V = TypeVar("V")


@dataclass(frozen=True, eq=False, repr=False)
class Parts(Sums):
    """The sums of every block, by its name."""

    parts: Mapping[str, Any]

    def each(self, f: Callable[[str, Any], Any]) -> Self:
        """f of the name and the sums of every block."""
        return replace(self, parts={name: f(name, part) for name, part in self.parts.items()})

    def onto(self, old: Domain, new: Domain) -> Self:
        return self.each(lambda name, part: part.onto(domain_of(old, name), domain_of(new, name)))

    def regroup(self, group: Array, size: int) -> Self:
        return self.each(lambda _, part: part.regroup(group, size))

    def taking(self, which: Array) -> Self:
        return self.each(lambda _, part: part.taking(which))

    @property
    def shared(self) -> bool:
        return any(part.shared for part in self.parts.values())

    def less(self, gone: Self) -> Self:
        return self.each(lambda name, part: part.less(gone.parts[name]))

    def settled(self, anew: bool = False) -> Self:
        return self.each(lambda _, part: part.settled(anew))

    def impossible(self, before: Self, domain: Domain, mass: Array) -> str | None:
        whys = (part.impossible(before.parts[n], domain_of(domain, n), mass) for n, part in self.parts.items())
        return next(filter(None, whys), None)

    def unheard_of(self, before: Self, domain: Domain, mass: Array) -> str | None:
        whys = (part.unheard_of(before.parts[n], domain_of(domain, n), mass) for n, part in self.parts.items())
        return next(filter(None, whys), None)

    def pruned(self, features: Features) -> tuple[Features, Self]:
        blocks = cast(BlockFeatures, features)
        each = {name: part.pruned(blocks.part(name)) for name, part in self.parts.items()}
        left = blocks.with_parts({name: kept for name, (kept, _) in each.items()})
        return left, replace(self, parts={name: sums for name, (_, sums) in each.items()})


@dataclass(frozen=True, eq=False)
class Factors:
    """Parameters: log p(y) (k,), and those of every block."""

    domain: Domain
    class_log_prob: Array
    parts: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Blocks(Classed[Parts, Factors], Queryable[Parts]):
    """Named blocks of columns, each with a density of its own; what they come to together is a subclass's."""

    over: ClassVar[Callable[..., Iterable[Any]]] = map  # how a function goes over the blocks, which do not need another

    parts: Mapping[str, Any]  # models of p(x_b | y), or of a ratio of such; p(y) stands outside of them

    def each(self, f: Callable[[str, AnyDensity], V], features: Features) -> dict[str, V]:
        """f of the name and the model of every block that has columns, by name."""
        there = dict(self.present(features))
        return dict(zip(there, type(self).over(lambda name: f(name, there[name]), there), strict=True))

    def present(self, features: Features) -> Iterator[tuple[str, AnyDensity]]:
        """The blocks that have columns."""
        blocks = cast(BlockFeatures, features)
        return ((name, self.parts[name]) for name in blocks.parts)

    def sums(self, X: Encoded, W: OneHot | Array, domain: Domain) -> Parts:
        each = self.present(domain.features)
        return Parts({name: model.sums(block(X, name), W, domain_of(domain, name)) for name, model in each})

    def asked(self, rows: Queried, features: Features | None) -> tuple[Features, Parts]:
        blocks = cast(BlockFeatures, features or rows.features)
        each = {}
        for name in blocks.at:
            model = self.parts.get(name)
            if not isinstance(model, Queryable) or self.encoder.within(name) is not None:
                raise TypeError(
                    f"{self.called} cannot be learned in a database: its part {name!r} lacks {Queryable.words}"
                )
            each[name] = model.asked(rows.block(name), None if features is None else blocks.part(name))
        found = blocks.with_parts({name: part for name, (part, _) in each.items()})
        return features or found, Parts({name: sums for name, (_, sums) in each.items()})

    def seen(self, X: Encoded) -> Encoded:
        blocks = cast(BlockFeatures, X.features)
        each = {name: model.seen(block(X, name)) for name, model in self.present(blocks)}
        features = blocks.with_parts({name: one.features for name, one in each.items()})
        return Encoded(features, cast(Any, BlockValues({name: one.values for name, one in each.items()})))

    @property
    def kind_of_sums(self) -> object | None:
        kinds = {name: model.kind_of_sums for name, model in self.parts.items()}
        return None if None in kinds.values() else kinds

    def about(self, s: Statistics[Parts]) -> Self:
        near = {name: model.about(part(s, name)) for name, model in self.present(s.domain.features)}
        return replace(self, parts={**self.parts, **near})

    def resolve(self, s: Statistics[Parts]) -> Self:
        blocks = cast(BlockFeatures, s.domain.features)
        parts = self.each(lambda name, _: self._of_block(name, blocks).resolve(part(s, name)), blocks)
        known = {name: model.domain.features for name, model in parts.items() if model.domain is not None}
        return replace(self, domain=replace(s.domain, features=blocks.with_parts(known)), parts=parts)

    def _of_block(self, name: str, blocks: BlockFeatures) -> AnyDensity:
        names, model = blocks.part(name).names, cast(AnyDensity, self.parts[name])
        return model if names is None or self.domain is not None else model.of_columns(blocks, blocks.at[name], names)

    def restrict(self, s: AnyStatistics) -> Statistics[Parts]:
        each = {name: model.restrict(part(s, name)) for name, model in self.present(s.domain.features)}
        features = {name: one.domain.features for name, one in each.items()}
        domain = replace(s.domain, features=cast(BlockFeatures, s.domain.features).with_parts(features))
        return Statistics(domain, s.mass, Parts({name: one.sums for name, one in each.items()}))

    def attempt(self, s: Statistics[Parts]) -> Attempt[Parts, Factors]:
        got = self.each(lambda name, model: model.attempt(part(s, name)), s.domain.features)
        mass = reduce(np.logical_and, (one.valid.mass for one in got.values()))
        valid = replace(s, mass=mass, sums=Parts({name: one.valid.sums for name, one in got.items()}))
        theta = Factors(s.domain, self.class_log_prob(s), {name: one.parameters for name, one in got.items()})
        return Attempt(theta, valid, next((one.problem for one in got.values() if one.problem), None))

    def columns(self) -> tuple[Any, ...]:
        """What the columns of the table are called, in its order: names, or numbers."""
        features = cast(Domain, self.domain).features
        return Features(features.width, features.names).keys

    def terms_of(self, name: str, X: Encoded, theta: Any) -> Terms:
        """The terms of a block by the table's columns; that of the block as a whole if its model has none."""
        blocks, rows = cast(BlockFeatures, cast(Domain, self.domain).features), block(X, name)
        model = replace(self.parts[name], encoder=self.encoder.within(name) or self.parts[name].encoder)
        if not isinstance(model, ExplainedDensity):
            values = model.log_density(rows, theta)
            return Terms(np.zeros(values.shape[1]), (name,), values[:, :, None])
        found = model.density_terms(rows, theta)
        return found if blocks.part(name).names is not None else found.called(blocks.keys_of(name))

    def drawn_of(self, name: str, theta: Any) -> Nomogram:
        """A block as terms of the table's columns; UndrawableError if it sees these in a way of its own."""
        blocks, within = cast(BlockFeatures, cast(Domain, self.domain).features), self.encoder.within(name)
        model = self.parts[name] if within is None else replace(self.parts[name], encoder=within)
        if not isinstance(model, DrawnDensity if within is None else DrawnView):
            raise UndrawableError(
                f"its part {name!r} looks at several columns at a time, so that no column has a term of its own"
            )
        found = model.drawn_density(theta)
        return found if blocks.part(name).names is not None else found.called(dict(enumerate(blocks.keys_of(name))))

    @property
    def prior_rows(self) -> float:
        return max((model.prior_rows for model in self.parts.values()), default=0.0)

    @property
    def called(self) -> str:
        return str(getattr(self.encoder, "who", "a product"))

    def account(self, s: AnyStatistics) -> tuple[str, ...]:
        words: list[list[str]] = [[] for _ in range(s.domain.width)]
        blocks = cast(BlockFeatures, s.domain.features)
        for name, model in self.present(blocks):
            for j, said in zip(blocks.at[name], model.account(part(s, name)), strict=False):  # trees are no columns
                words[j] += [said] * bool(said)
        return tuple("; ".join(said) for said in words)

    def remarks(self) -> tuple[Notice, ...]:
        return tuple(notice for model in self.parts.values() for notice in model.remarks())


def domain_of(domain: Domain, name: str) -> Domain:
    """The domain of a block."""
    return Domain(domain.classes, cast(BlockFeatures, domain.features).part(name))


def part(s: Statistics[Any], name: str) -> Statistics[Any]:
    """The statistics of a block."""
    return Statistics(domain_of(s.domain, name), s.mass, s.sums.parts[name])
