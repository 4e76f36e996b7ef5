"""Columns in named blocks, each read in its own way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from suffice._core.features import Encoded, Features
from suffice._core.vector import Array


@dataclass(frozen=True, eq=False)
class BlockFeatures(Features):
    """The columns of a table in named blocks, each with features of its own; a column may be in none or in several.

    >>> a = BlockFeatures(3, parts={"numbers": Features(2)}, at={"numbers": np.array([0, 2])})
    >>> a.part("numbers").width
    2
    """

    parts: Mapping[str, Features] = field(default_factory=dict)
    at: Mapping[str, Array] = field(default_factory=dict)  # the columns of each block

    def part(self, name: str) -> Features:
        """The features of a block."""
        return self.parts[name]

    def with_parts(self, parts: Mapping[str, Features]) -> Self:
        """The same columns with other features of the blocks."""
        return replace(self, parts=dict(parts))

    def check(self, other: Features) -> None:
        super().check(other)
        if not isinstance(other, BlockFeatures):
            raise ValueError("the columns are in blocks here and not there")
        for j in range(self.width):
            here, there = self._kinds(j), other._kinds(j)
            if here != there:
                raise ValueError(
                    f"{self.name(j)} is read as {here} here and as {there} there: say which in `columns`, or convert it"
                )

    def _kinds(self, j: int) -> str:
        return " and ".join(name for name, at in self.at.items() if j in at) or "nothing"

    def __or__(self, other: Features) -> Self:
        both = super().__or__(other)
        if self is other or not isinstance(other, BlockFeatures):
            return both
        parts = {name: part | other.parts[name] for name, part in self.parts.items()}
        same = all(part is self.parts[name] for name, part in parts.items())
        return both if same else replace(both, parts=parts)

    def same(self, other: Features) -> bool:
        if self is other:
            return True
        if not isinstance(other, BlockFeatures) or self.width != other.width or self.parts.keys() != other.parts.keys():
            return False
        return all(part.same(other.parts[name]) for name, part in self.parts.items())

    def absent(self, X: Encoded) -> Array:
        """Of the features of all blocks side by side."""
        return np.concatenate([part.absent(block(X, name)) for name, part in self.parts.items()], axis=1)

    def blank(self, values: Any, which: Array) -> Any:
        """Of the features of all blocks side by side."""
        each = np.split(which, np.cumsum([part.width for part in self.parts.values()])[:-1])
        pairs = zip(self.parts.items(), each, strict=True)
        return BlockValues({name: part.blank(values.parts[name], own) for (name, part), own in pairs})

    def identity(self, values: Any) -> Array:
        """The identities of all blocks side by side, as the bits of numbers."""
        each = [part.identity(values.parts[name]) for name, part in self.parts.items()]
        wide = [one.astype(np.float64 if one.dtype.kind == "f" else np.int64, copy=False) for one in each]
        bits = [np.ascontiguousarray(one).view(np.int64) for one in wide]
        return bits[0] if len(bits) == 1 else np.column_stack(bits)

    @property
    def ordered(self) -> Array:
        """Of the features of all blocks side by side."""
        return np.concatenate([part.ordered for part in self.parts.values()])

    @property
    def keys(self) -> tuple[Any, ...]:
        """Of the features of all blocks side by side."""
        return tuple(key for name in self.parts for key in self.keys_of(name))

    def keys_of(self, name: str) -> tuple[Any, ...]:
        """Of one block, whose columns go by their numbers in the table where they have no names."""
        part = self.parts[name]
        return part.keys if part.names is not None else tuple(self.at[name].tolist())

    def comparable(self, values: Any) -> Array:
        each = [part.comparable(values.parts[name]) for name, part in self.parts.items()]
        return each[0] if len(each) == 1 else np.column_stack(each)


@dataclass(frozen=True, eq=False)
class BlockValues:
    """The values of some rows, block by block."""

    parts: Mapping[str, Array]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and columns of all blocks."""
        shapes = [values.shape for values in self.parts.values()]
        return shapes[0][0], sum(shape[1] for shape in shapes)

    def __getitem__(self, rows: Any) -> BlockValues:
        return BlockValues({name: values[rows] for name, values in self.parts.items()})


def block(X: Encoded, name: str) -> Encoded:
    """The rows of one block."""
    features: Any = X.features
    values: Any = X.values
    return Encoded(features.part(name), values.parts[name])
