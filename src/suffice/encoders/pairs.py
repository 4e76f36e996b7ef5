"""Pairs of columns, each encoded as one column: the coarse cell of the pair that a row is in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, cast

import numpy as np

from suffice._core.features import CategoricalFeatures, Encoded, Features
from suffice._core.formula import Reading
from suffice._core.vector import Array
from suffice.encoders.base import Encoder, object_array
from suffice.encoders.table import BlockFeatures, block


@dataclass(frozen=True, eq=False)
class PairFeatures(CategoricalFeatures):
    """Pairs of columns, each as one column: cell u of the first and cell v of the second (of r) make u r + v."""

    closed: ClassVar[bool] = True

    sides: tuple[tuple[int, int], ...] = ()  # the numbers of cells of the two columns of each pair


@dataclass(frozen=True, eq=False)
class Coarse:
    """Coarse cells of the columns of a table, block by block."""

    parts: Mapping[str, CategoricalFeatures] = field(default_factory=dict)  # the cells of each block's columns
    at: Mapping[str, Array] = field(default_factory=dict)  # the columns of each block

    @property
    def columns(self) -> Array:
        """The columns of the table that have cells (m,)."""
        return np.concatenate([np.zeros(0, dtype=int), *(self.at[name] for name in self.parts)])

    @property
    def sizes(self) -> Array:
        """The number of cells of each of them (m,)."""
        return np.concatenate([np.zeros(0, dtype=int), *(part.sizes for part in self.parts.values())])

    @property
    def categories(self) -> list[Array]:
        """The cells of each of them: lower bounds, or names."""
        return [cells for part in self.parts.values() for cells in part.categories]

    def readings(self) -> dict[int, Reading]:
        """For each of them, how an entry finds its cell."""
        each = (part.reading(j) for part in self.parts.values() for j in range(part.width))
        return dict(zip(self.columns.tolist(), each, strict=True))

    def codes(self, X: Encoded) -> Array:
        """The cell of each row in each of them (n, m), -1 if it is in none."""
        there = [name for name in self.parts if name in cast(BlockFeatures, X.features).parts]
        each = [self.parts[name].read(block(X, name)) for name in there]
        return np.column_stack([np.zeros((len(X), 0), dtype=np.int32), *each])

    def agrees(self, other: Coarse) -> bool:
        """True if these are the same cells, whichever categories each has forgotten."""
        if self.parts.keys() != other.parts.keys():
            return False
        return all(part.agrees(other.parts[name]) for name, part in self.parts.items())

    def joined(self, other: Coarse) -> Coarse:
        """The same cells, with the categories of both."""
        return replace(self, parts={name: part.joined(other.parts[name]) for name, part in self.parts.items()})

    def pruned(self, features: BlockFeatures) -> Coarse:
        """The same cells without the categories that the features lack."""
        return replace(self, parts={name: part.named_after(features.parts[name]) for name, part in self.parts.items()})


@dataclass(frozen=True, eq=False)
class Pairs(Encoder):
    """Rows of a table as the cells of pairs of its columns: codes (n, m), -1 where one of the two is missing."""

    coarse: Coarse  # the cells of single columns
    chosen: tuple[tuple[int, int], ...]  # the pairs, by the numbers of the table's columns
    features: PairFeatures  # the pairs as features; see `of`

    @classmethod
    def of(cls, coarse: Coarse, chosen: tuple[tuple[int, int], ...], names: Sequence[Any]) -> Pairs:
        """Pairs of columns with names (d,), or numbers."""
        size = dict(zip(coarse.columns.tolist(), coarse.sizes.tolist(), strict=True))
        sides = tuple((size[i], size[j]) for i, j in chosen)
        called = object_array([(names[i], names[j]) for i, j in chosen])
        cells = tuple(np.arange(a * b) for a, b in sides)
        return cls(coarse, chosen, PairFeatures(len(chosen), called, cells, sides=sides))

    @property
    def at(self) -> Array:
        """The first column of each pair (m,)."""
        return np.array([i for i, _ in self.chosen], dtype=int)

    def check(self, other: Encoder) -> None:
        if not isinstance(other, Pairs) or self.chosen != other.chosen or not self.coarse.agrees(other.coarse):
            raise ValueError(
                "different pairs of columns were chosen, whose sums do not add up: fit one, and the others with "
                "encoder=first.encoder_, or all with pairs=None"
            )

    def united(self, other: Encoder) -> Pairs:
        self.check(other)
        return replace(self, coarse=self.coarse.joined(cast(Pairs, other).coarse))

    def pruned(self, features: Features) -> Pairs:
        return replace(self, coarse=self.coarse.pruned(cast(BlockFeatures, features)))

    def __call__(self, X: Any) -> Encoded:
        """The rows of a table, encoded, as cells of pairs (n, m)."""
        return self.encode(X)

    def encode(self, X: Any) -> Encoded:
        codes = self.coarse.codes(X)
        place = {column: at for at, column in enumerate(self.coarse.columns.tolist())}
        out = np.full((len(X), len(self.chosen)), -1, dtype=np.int32)
        for m, (i, j) in enumerate(self.chosen):
            u, v = codes[:, place[i]], codes[:, place[j]]
            out[:, m] = np.where((u >= 0) & (v >= 0), u * self.features.sides[m][1] + v, -1)
        return Encoded(self.features, out)
