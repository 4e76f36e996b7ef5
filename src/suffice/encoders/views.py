"""Several views of the same rows: the blocks of a table, and further blocks computed from them."""

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
from suffice.encoders.base import Encoder, object_array
from suffice.encoders.table import BlockFeatures, BlockValues, Table

NUMERIC_BLOCKS = (*BINNED, Block.GAUSSIAN)
MAX_SPREAD = 1e140  # beyond it, and below its inverse, squares overflow or vanish
MIN_COLUMNS_COUNTED = 10  # a narrower table needs as many rows as one of this width
MIN_RELATIVE_SPREAD = 1e-12  # a smaller share of the mean is rounding


@dataclass(frozen=True)
class Views(Encoder):
    """Rows of a table with further blocks, each computed from the table's blocks by its own encoder.

    Parameters
    ----------
    inner : Table
        Reads the columns.
    views : tuple of (name, Encoder)
        Each makes a further block of the rows that `inner` has read; one that finds no columns to use is dropped.
    apart : bool
        Whether the model weighs each column of the table by itself; it is fixed together with the views.

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
        """The estimator's name in messages."""
        return self.inner.who

    def prepare(self, data: Data) -> Self:
        if self.ready:
            return self
        inner = self.inner.prepare(data)
        rows = data.map(inner).persist()
        prepared = [(name, view.prepare(rows)) for name, view in self.views]
        views = tuple((name, view) for name, view in prepared if getattr(view, "useful", True))
        spread(lambda one: one[1].work_ahead(), views)
        return replace(self, inner=inner, views=views, ready=True)

    def holding(self) -> Mapping[Any, ColumnContent]:
        return self.inner.holding()

    def notations(self) -> Mapping[Any, str]:
        return self.inner.notations()

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
            here, there = (" and ".join(["columns", *views]) for views in (mine, theirs))
            raise ValueError(
                f"the rows are seen in different ways, which do not add up: {here} here, {there} there: fit one, and "
                "the others with encoder=first.encoder_"
            )
        for name, view in mine.items():
            view.check(theirs[name])
        return None

    def united(self, other: Encoder) -> Self:
        self.check(other)
        theirs = dict(cast(Views, other).views)
        return replace(self, views=tuple((name, view.united(theirs[name])) for name, view in self.views))

    def pruned(self, features: Features) -> Self:
        return replace(self, views=tuple((name, view.pruned(features)) for name, view in self.views))

    def __call__(self, X: Any) -> Encoded:
        """Rows in all blocks; rows that have all of them already are returned unchanged."""
        return X if isinstance(X, Encoded) and isinstance(X.features, ViewFeatures) else self.encode(X)

    def encode(self, X: Any) -> Encoded:
        if not self.ready:
            raise ValueError("the views are not known yet: prepare the encoder first")
        # A shallow copy: the keys that views cache with rows are released together with it.
        rows = replace(self.inner(X))
        blocks = cast(BlockFeatures, rows.features)
        seen = {name: view(rows) for name, view in self.views}
        values: Mapping[str, Any] = cast(Any, rows.values).parts
        parts = {**blocks.parts, **{name: one.features for name, one in seen.items()}}
        every = np.arange(blocks.width)
        at = {**blocks.at, **{name: getattr(view, "at", every) for name, view in self.views}}
        features = ViewFeatures(blocks.width, blocks.names, parts, at, made=frozenset(seen))
        both: Any = BlockValues({**values, **{name: one.values for name, one in seen.items()}})
        return Encoded(features, both)


@dataclass(frozen=True)
class AsRead(Encoder):
    """The inner encoder of a view: it takes rows that the table has encoded, and returns them unchanged."""

    def encode(self, X: Any) -> Encoded:
        raise TypeError(f"a view takes encoded rows, got a {type(X).__name__}")


@dataclass(frozen=True, eq=False)
class ViewFeatures(BlockFeatures):
    """The columns of a table in blocks, of which some (`made`) are computed from the others."""

    made: frozenset[str] = frozenset()

    def identity(self, values: Any) -> Array:
        """The identity of the table's own blocks, which determine all others."""
        columns = {name: part for name, part in self.parts.items() if name not in self.made}
        return BlockFeatures(self.width, parts=columns).identity(values)


def _numeric(X: Encoded) -> tuple[Array, Array, Array | None]:
    """The numeric columns of the rows of a table (n, m), their numbers in the table (m,), and their keys."""
    blocks, values = cast(BlockFeatures, X.features), cast(Any, X.values)
    which = [name for name in blocks.parts if name in NUMERIC_BLOCKS]
    if not which:
        return np.empty((len(X), 0)), np.empty(0, dtype=int), None
    at = np.concatenate([blocks.at[name] for name in which])
    each = [values.parts[name] for name in which]
    wide = (each[0] if len(each) == 1 else np.column_stack(each)).astype(np.float64, copy=False)
    return wide, at, object_array([key for name in which for key in blocks.keys_of(name)])


@dataclass(frozen=True, eq=False, repr=False)
class _Spread(Vector):
    """For the numeric columns `at`, the weight of their entries and the sums of gaps and squared gaps from a centre."""

    fixed: ClassVar = ("at",)

    at: Array
    count: Array
    first: Array
    second: Array

    def mean(self, sums: Array) -> Array:
        """Sums divided by the weight of the entries."""
        return np.asarray(sums / np.where(self.count > 0, self.count, 1.0))


@dataclass(frozen=True)
class _SpreadAbout:
    centre: Array | None = None

    def __call__(self, batch: Batch) -> _Spread:
        x, at, _ = _numeric(batch.X)
        w, absent = batch.Y.weight, np.isnan(x)
        with np.errstate(over="ignore", invalid="ignore"):
            gap = x if self.centre is None else x - self.centre
            if not absent.any():
                return _Spread(at, np.full(len(at), w.sum()), w @ gap, w @ (gap * gap))
            gap = np.where(absent, 0.0, gap)
            return _Spread(at, w @ ~absent, w @ gap, w @ (gap * gap))


class Range(NamedTuple):
    """A numeric column: its number in the table and among the numeric ones, its mean and standard deviation."""

    at: int
    of: int
    centre: float
    spread: float


@dataclass(frozen=True)
class Clip(Encoder):
    """The numeric columns of a table that vary, clipped and without gaps, for a normal density.

        x <- min(max(x, mean - limit sd), mean + limit sd),     missing entries at the mean

    Mean and standard deviation are those of the first rows.

    Parameters
    ----------
    limit : float
        The greatest distance from the mean, in standard deviations.
    most : int
        The greatest number of columns; of more, none is used, as the cost of a covariance grows with their cube.
    least : float
        The least number of rows for each column (and for 10 columns, if there are fewer); with less, none is used.
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
            varies = (spread > abs(centre) * MIN_RELATIVE_SPREAD) & (spread > 1.0 / MAX_SPREAD) & (spread < MAX_SPREAD)
            use = np.flatnonzero(varies & np.isfinite(centre))
        rows = exact.count.max(initial=0.0)
        if rows < self.least * max(MIN_COLUMNS_COUNTED, len(use)) or (self.most is not None and len(use) > self.most):
            use = use[:0]
        found = zip(*(values.tolist() for values in (exact.at[use], use, centre[use], spread[use])), strict=True)
        return replace(self, ranges=tuple(Range(*one) for one in found))

    @property
    def at(self) -> Array:
        """The columns (m,)."""
        return np.array([one.at for one in self.ranges or ()], dtype=int)

    @property
    def useful(self) -> bool:
        """True if there are columns to clip."""
        return bool(self.ranges)

    def check(self, other: Encoder) -> None:
        if self != other:
            raise ValueError(
                "the columns were clipped at different values, whose sums do not add up: fit the others with "
                "encoder=first.encoder_"
            )

    def __call__(self, X: Any) -> Encoded:
        """The rows of a table, encoded, as clipped numbers (n, m)."""
        return self.encode(X)

    def encode(self, X: Any) -> Encoded:
        if not self.ranges:
            raise ValueError("the limits of the columns are not known yet: prepare the encoder first")
        _, of, centre, spread = (np.array(part) for part in zip(*self.ranges, strict=True))
        x, _, names = _numeric(X)
        x = x if len(of) == x.shape[1] else x[:, of]
        reach = self.limit * spread
        clipped = np.clip(x, centre - reach, centre + reach)
        np.copyto(clipped, centre, where=np.isnan(x))
        return Encoded(Features(len(of), None if names is None else names[of]), clipped)
