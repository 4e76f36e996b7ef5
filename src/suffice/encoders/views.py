"""The same rows in several views: blocks of a table, and further blocks that are made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self, cast

import numpy as np

from suffice._core.features import Encoded, Features
from suffice._core.kinds import BINNED, Block, ColumnContent
from suffice._core.vector import Array, Vector
from suffice._runtime.threads import spread
from suffice.data import Batch, Data
from suffice.encoders.base import Encoder
from suffice.encoders.table import BlockFeatures, BlockValues, Table

NUMERIC_BLOCKS = (*BINNED, Block.GAUSSIAN)  # of a table
HUGE = 1e140  # a spread beyond which squares are no numbers
FEW = 10  # columns that any table counts as, at least
ROUNDING = 1e-12  # a spread below this share of the mean counts as none


@dataclass(frozen=True)
class Views(Encoder):
    """Rows of a table with further blocks, each made of the table's by an encoder of its own.

    Parameters
    ----------
    inner : Table
        Reads the columns.
    views : tuple of (name, Encoder)
        What makes a further block of the rows that `inner` has read. One that finds nothing to make it of is left out.
    apart : bool
        Whether each column of the table is to be weighed by itself: a matter for the model, fixed with the views.

    Examples
    --------
    >>> from suffice.data import Memory
    >>> X = np.array([[1.0, "u"], [2.0, "v"], [60.0, None]], dtype=object)
    >>> encoder = Views(Table(), (("normal", Clip(1.0)),)).prepare(Memory(X, [0, 1, 1]))
    >>> encoder(X).values.parts["normal"].round(1).tolist()
    [[1.0], [2.0], [48.6]]
    """

    inner: Table = field(default_factory=Table)
    views: tuple[tuple[str, Encoder], ...] = ()
    apart: bool = False
    ready: bool = False

    @property
    def who(self) -> str:
        """Whom messages speak of."""
        return self.inner.who

    def prepare(self, data: Data) -> Self:
        if self.ready:
            return self
        inner = self.inner.prepare(data)
        rows = data.map(inner).persist()
        views = tuple((name, view.prepare(rows)) for name, view in self.views)
        kept = tuple((name, view) for name, view in views if getattr(view, "useful", True))
        spread(lambda one: one[1].work_ahead(), kept)
        return replace(self, inner=inner, views=kept, ready=True)

    def view(self, name: str) -> Any:
        """The encoder of a block."""
        return dict(self.views)[name]

    def holding(self) -> Mapping[Any, ColumnContent]:
        return self.inner.holding()

    def within(self, name: str) -> Encoder | None:
        return dict(self.views).get(name)

    def inputs(self, features: Features) -> Features:
        return Features(features.width, features.names)

    def check(self, other: Encoder) -> None:
        if not isinstance(other, Views):
            return super().check(other)
        self.inner.check(other.inner)
        mine, theirs = dict(self.views), dict(other.views)
        if list(mine) != list(theirs):
            raise ValueError(
                f"the rows are seen in different ways, which do not add up: {_listed(mine)} here, {_listed(theirs)} "
                "there: fit one, and the others with encoder=first.encoder_"
            )
        for name, view in mine.items():
            view.check(theirs[name])
        return None

    def united(self, other: Encoder) -> Self:
        self.check(other)
        theirs = dict(cast(Views, other).views)
        return replace(self, views=tuple((name, view.united(theirs[name])) for name, view in self.views))

    def pruned(self, before: Features, after: Features) -> Self:
        return replace(self, views=tuple((name, view.pruned(before, after)) for name, view in self.views))

    def __call__(self, X: Any) -> Encoded:
        """Rows in all blocks; those that have them already stay as they are."""
        return X if isinstance(X, Encoded) and isinstance(X.features, ViewFeatures) else self.encode(X)

    def encode(self, X: Any) -> Encoded:
        if not self.ready:
            raise ValueError("rows are seen once the encoder is prepared: prepare it first")
        rows = replace(self.inner(X))  # what views keep with rows goes with these
        blocks = cast(BlockFeatures, rows.features)
        seen = {name: view(rows) for name, view in self.views}
        values: Mapping[str, Any] = cast(Any, rows.values).parts
        parts = {**blocks.parts, **{name: one.features for name, one in seen.items()}}
        every = np.arange(blocks.width)
        at = {**blocks.at, **{name: getattr(view, "at", every) for name, view in self.views}}
        features = ViewFeatures(blocks.width, blocks.names, parts, at, made=frozenset(seen))
        both: Any = BlockValues({**values, **{name: one.values for name, one in seen.items()}})
        return Encoded(features, both)


def _listed(views: Mapping[str, Encoder]) -> str:
    return " and ".join(["columns", *views])


@dataclass(frozen=True)
class AsRead(Encoder):
    """Rows that an encoder has read already, as they are: what a view can be made of."""

    def encode(self, X: Any) -> Encoded:
        raise TypeError(f"a view is made of encoded rows, got a {type(X).__name__}")


@dataclass(frozen=True, eq=False)
class ViewFeatures(BlockFeatures):
    """The columns of a table in blocks of which some are made of the others."""

    made: frozenset[str] = frozenset()

    def identity(self, values: Any) -> Array:
        """That of the columns alone."""
        columns = {name: part for name, part in self.parts.items() if name not in self.made}
        return BlockFeatures(self.width, parts=columns).identity(values)


def numbers(X: Encoded) -> tuple[Array, Array, Array | None]:
    """The numeric columns of the rows of a table (n, m), where they stand in it (m,), and their names."""
    blocks, values = cast(BlockFeatures, X.features), cast(Any, X.values)
    which = [name for name in blocks.parts if name in NUMERIC_BLOCKS]
    if not which:
        return np.empty((len(X), 0)), np.empty(0, dtype=int), None
    at = np.concatenate([blocks.at[name] for name in which])
    each = [values.parts[name] for name in which]
    wide = (each[0] if len(each) == 1 else np.column_stack(each)).astype(np.float64, copy=False)
    keys = np.empty(len(at), dtype=object)
    keys[:] = [key for name in which for key in blocks.keys_of(name)]
    return wide, at, keys


@dataclass(frozen=True, eq=False, repr=False)
class _Spread(Vector):
    """Of the numeric columns `at`: the weight of their entries, and sums of gaps and squared gaps from a centre."""

    fixed: ClassVar = ("at",)

    at: Array
    count: Array
    first: Array
    second: Array

    def mean(self, sums: Array) -> Array:
        """A sum by entry."""
        return np.asarray(sums / np.where(self.count > 0, self.count, 1.0))


@dataclass(frozen=True)
class _SpreadAbout:
    centre: Array | None = None

    def __call__(self, batch: Batch) -> _Spread:
        x, at, _ = numbers(batch.X)
        w, absent = batch.Y.weight, np.isnan(x)
        with np.errstate(over="ignore", invalid="ignore"):
            gap = x if self.centre is None else x - self.centre
            if not absent.any():
                return _Spread(at, np.full(len(at), w.sum()), w @ gap, w @ (gap * gap))
            gap = np.where(absent, 0.0, gap)
            return _Spread(at, w @ ~absent, w @ gap, w @ (gap * gap))


class Range(NamedTuple):
    """Of a numeric column: its number in the table and among the numeric ones, its mean and standard deviation."""

    at: int
    of: int
    centre: float
    spread: float


@dataclass(frozen=True)
class Clip(Encoder):
    """The numeric columns of a table that vary, without far-away values or gaps: fit for a normal density.

        x <- min(max(x, mean - limit sd), mean + limit sd),     missing entries at the mean

    Mean and standard deviation are those of the first rows.

    Parameters
    ----------
    limit : float
        Standard deviations.
    most : int
        Columns, beyond which none are given: the cost of a covariance grows with their cube.
    least : float
        Rows a column, below which none are given; at least 10 times as many rows in any case.
    """

    limit: float = 6.0
    most: int | None = None
    least: float = 0.0
    ranges: tuple[Range, ...] | None = None  # once prepared

    def prepare(self, data: Data) -> Self:
        if self.ranges is not None:
            return self
        with np.errstate(over="ignore", invalid="ignore"):
            rough = data.sum(_SpreadAbout())
            about = rough.mean(rough.first)
            exact = data.sum(_SpreadAbout(about))
            centre, spread = about + exact.mean(exact.first), np.sqrt(exact.mean(exact.second))
            sound = (spread > abs(centre) * ROUNDING) & (spread > 1.0 / HUGE) & (spread < HUGE)
            use = np.flatnonzero(sound & np.isfinite(centre))
        rows = exact.count.max(initial=0.0)
        if rows < self.least * max(FEW, len(use)) or (self.most is not None and len(use) > self.most):
            use = use[:0]
        found = zip(*(values.tolist() for values in (exact.at[use], use, centre[use], spread[use])), strict=True)
        return replace(self, ranges=tuple(Range(*one) for one in found))

    @property
    def at(self) -> Array:
        """The columns (m,)."""
        return np.array([one.at for one in self.ranges or ()], dtype=int)

    @property
    def useful(self) -> bool:
        """Whether there are columns to clip."""
        return bool(self.ranges)

    def check(self, other: Encoder) -> None:
        if self != other:
            raise ValueError(
                "far-away values were cut off in different ways, which do not add up: fit the others with "
                "encoder=first.encoder_"
            )

    def __call__(self, X: Any) -> Encoded:
        """The rows of a table, encoded, as clipped numbers (n, m)."""
        return self.encode(X)

    def encode(self, X: Any) -> Encoded:
        if not self.ranges:
            raise ValueError("values are clipped once the encoder is prepared: prepare it first")
        _, of, centre, spread = (np.array(part) for part in zip(*self.ranges, strict=True))
        x, _, names = numbers(X)
        x = x if len(of) == x.shape[1] else x[:, of]
        reach = self.limit * spread
        clipped = np.clip(x, centre - reach, centre + reach)
        np.copyto(clipped, centre, where=np.isnan(x))
        return Encoded(Features(len(of), None if names is None else names[of]), clipped)
