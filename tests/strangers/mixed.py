"""A model of blocks: a full Gaussian over some columns times tables over the others, each block a model of its own."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np

from suffice.encoders import Domain, Encoded, Encoder, Features
from suffice.models import Attempt, Categorical, Density, FullGaussian, Statistics, Sums


@dataclass(frozen=True, eq=False)
class BlockFeatures(Features):
    parts: Mapping[str, Features] = field(default_factory=dict)

    def __or__(self, other):
        return replace(super().__or__(other), parts={name: self.parts[name] | other.parts[name] for name in self.parts})


@dataclass(frozen=True)
class Blocks(Encoder):
    """Columns of an array by block; every block has its own encoder. Codes and numbers stand side by side."""

    parts: Mapping[str, tuple[Encoder, list[int]]]

    def encode(self, X):
        each = {name: encoder(np.asarray(X)[:, columns]) for name, (encoder, columns) in self.parts.items()}
        values = np.column_stack([one.values for one in each.values()]).astype(float)
        return Encoded(BlockFeatures(values.shape[1], parts={name: one.features for name, one in each.items()}), values)


def blocks(X):
    """The rows of each block."""
    at, out = 0, {}
    for name, features in X.features.parts.items():
        values = X.values[:, at : at + features.width]
        out[name] = Encoded(features, values if type(features) is Features else values.astype(np.int32))
        at += features.width
    return out


@dataclass(frozen=True, eq=False, repr=False)
class BlockSums(Sums):
    parts: Mapping[str, Sums]

    def each(self, f):
        return BlockSums({name: f(name, part) for name, part in self.parts.items()})

    def onto(self, old, new):
        return self.each(lambda name, part: part.onto(block(old, name), block(new, name)))

    def regroup(self, group, size):
        return self.each(lambda _, part: part.regroup(group, size))

    def subtract(self, gone):
        return self.each(lambda name, part: part.subtract(gone.parts[name]))

    def impossible(self, before, domain, mass):
        why = (part.impossible(before.parts[n], block(domain, n), mass) for n, part in self.parts.items())
        return next(filter(None, why), None)


def block(domain, name):
    return Domain(domain.classes, domain.features.parts[name])


@dataclass(frozen=True, eq=False)
class Joined:
    class_log_prob: Any
    parts: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Product(Density):
    """p(x, y) = p(y) prod_b p(x_b | y)."""

    parts: Mapping[str, Density]

    def sums(self, X, W, domain):
        rows = blocks(X)
        return BlockSums({name: model.sums(rows[name], W, block(domain, name)) for name, model in self.parts.items()})

    def of(self, s, name):
        return Statistics(block(s.domain, name), s.mass, s.sums.parts[name])

    def resolve(self, s):
        parts = {name: model.resolve(self.of(s, name)) for name, model in self.parts.items()}
        return replace(self, domain=s.domain, parts=parts)

    def attempt(self, s):
        got = {name: model.attempt(self.of(s, name)) for name, model in self.parts.items()}
        mass = reduce(np.logical_and, (one.valid.mass for one in got.values()))
        valid = replace(s, mass=mass, sums=BlockSums({name: one.valid.sums for name, one in got.items()}))
        theta = Joined(self.class_log_prob(s), {name: one.parameters for name, one in got.items()})
        return Attempt(theta, valid, next((one.problem for one in got.values() if one.problem), None))

    def log_density(self, X, theta):
        rows = blocks(X)
        return sum(model.log_density(rows[name], theta.parts[name]) for name, model in self.parts.items())


def mixed(numbers, categories):
    """The product for columns of an array by their places."""
    parts = {"numbers": FullGaussian(), "tables": Categorical()}
    columns = {"numbers": numbers, "tables": categories}
    encoder = Blocks({name: (model.encoder, columns[name]) for name, model in parts.items()})
    return Product(parts, encoder=encoder)
