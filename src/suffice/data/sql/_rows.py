"""The rows of a table as what is summed sees them: a class, a weight and entries, of which only sums come back."""

from __future__ import annotations

import datetime
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, cast

import numpy as np
from sqlglot import exp as sq

from suffice._core.features import Features
from suffice._core.formula import Arithmetic, Choices, Reading
from suffice._core.kinds import NUMERIC, ColumnContent, ColumnScale
from suffice._core.labels import positions, show_all
from suffice._core.vector import Array
from suffice.data.layout import DataError
from suffice.data.queries import DatabaseRows, Power
from suffice.data.sql import _sums
from suffice.data.sql._source import TableSource
from suffice.data.sql._sums import CLASS, WEIGHT
from suffice.data.sql._writing import QueryWriter, Said, column, name, repeated

CONVERTED: dict[tuple[str, ColumnContent], Callable[[Any], Any]] = {
    ("sqlite", ColumnContent.BOOLEANS): bool,
    ("sqlite", ColumnContent.DATES): datetime.datetime.fromisoformat,
}
Formulas = Callable[[Arithmetic[Any], Any, Any], tuple[list[Any], list[Any]]]


@dataclass(frozen=True, eq=False)
class SQLRows(DatabaseRows):
    """See `DatabaseRows`. What is asked of a resolved model's weights is asked of the same formulas as its answers."""

    source: TableSource
    classes: Array
    columns: tuple[str, ...]
    scale: Array | None = None  # (k,) what the weights of each class are multiplied by
    formulas: Formulas | None = None  # of other class weights than those of the labels
    blocks: Any = None  # the features of a mixed table
    kept: Mapping[Any, ColumnContent] | None = None  # what columns hold, once an encoder has been told
    noted: dict[str, Array] = field(default_factory=dict)  # masses and totals, which come back with other sums

    @classmethod
    def of(cls, source: TableSource) -> Self:
        """All rows of a table, with the classes that its labels are."""
        return cls(source, source.once("classes", lambda: _sums.classes(source)), tuple(source.columns()))

    # What the columns are

    @property
    def features(self) -> Features:
        return self.blocks or Features(len(self.columns), np.array(self.columns, dtype=object))

    def holding(self) -> list[tuple[str, str]]:
        kinds = [self._kind(one) for one in self.columns]
        some = _sums.known(
            self.source, [one for one, kind in zip(self.columns, kinds, strict=True) if kind is ColumnContent.TEXT]
        )
        found: list[tuple[str, str]] = []
        for one, kind in zip(self.columns, kinds, strict=True):
            scale = ColumnScale.NUMBER if kind in NUMERIC else ColumnScale.CATEGORY
            found.append((scale, kind) if some.get(one, True) else (ColumnScale.NOTHING, ColumnContent.EMPTY))
        return found

    def _kind(self, one: str) -> ColumnContent:
        kind = self.source.kinds[one]
        if kind is None:
            raise DataError(f"{self.source.called}: column {one!r} holds no single values: leave it out with columns=")
        return kind

    def encoded(self, encoder: Any) -> SQLRows:
        asked = getattr(encoder, "sql_columns", None)
        if asked is None:
            raise TypeError(f"what {type(encoder).__name__} makes of rows cannot be asked of a database: fit in memory")
        rows: SQLRows = asked(self)
        return replace(rows, kept=encoder.holding())

    def divided(self, features: Any) -> SQLRows:
        return replace(self, blocks=features)

    def relabelled(self, labels: Callable[[Any], Any]) -> SQLRows:
        classes, weight = getattr(labels, "classes", None), getattr(labels, "weight", None)
        if classes is None or weight is None or not np.array_equal(classes, self.classes):
            raise TypeError(f"what {type(labels).__name__} makes of labels cannot be asked of a database")
        return replace(self, scale=weight if self.scale is None else self.scale * weight)

    def onto(self, classes: Array) -> SQLRows:
        if np.array_equal(classes, self.classes):
            return self
        at = positions(classes, self.classes, "class labels")
        scale = None if self.scale is None else np.where(at < 0, 1.0, self.scale[at])
        return replace(self, noted={}, classes=classes, scale=scale)

    def block(self, name: str) -> SQLRows:
        return replace(self, columns=tuple(self.columns[j] for j in self.blocks.at[name]), blocks=None)

    def weighed(self, formulas: Formulas) -> SQLRows:
        return replace(self, formulas=formulas, noted={})

    # The rows as a query: class, weight, entries

    def writer(self) -> QueryWriter:
        """What writes formulas of the columns, by name."""
        names: dict[Any, str] = {key: key for key in self.source.kinds}
        names.update(enumerate(self.columns))
        holding = ChainMap(dict(self.kept or {}), cast(Any, self.source.kinds))
        return QueryWriter(self.source.dialect, names, holding, self.source.casts)

    def relation(self, entries: Callable[[QueryWriter], Mapping[str, Said]]) -> Any:
        """SELECT class, weight and entries of every row that counts; of each class in turn if weights are others."""
        ops = self.writer()
        y, weight = self._labels(ops)
        if self.formulas is None:
            return self._counting(ops.query(self.source.from_table, {CLASS: y, WEIGHT: weight, **entries(ops)}))
        W, others = self.formulas(ops, y, weight)
        besides = {f"L{i}": one for i, one in enumerate(others)}
        own = {CLASS: y, WEIGHT: weight, **{f"W{c}": one for c, one in enumerate(W)}, **besides, **entries(ops)}
        rows = self._counting(ops.query(self.source.from_table, own))
        same = {one.alias: [one.alias] * len(W) for one in rows.expressions[2 + len(W) :]}
        return repeated(rows, CLASS, range(len(W)), {WEIGHT: [f"W{c}" for c in range(len(W))], **same})

    def _labels(self, ops: QueryWriter) -> tuple[Said, Said]:
        """The class of each row, -1 for none of these, and its weight."""
        layout = self.source.layout
        y = ops.cell(Choices(self.classes, np.arange(len(self.classes))), layout.target)
        weight = ops.number(1.0) if layout.weight is None else ops.read(layout.weight)
        if self.scale is not None:
            weight = ops.times(weight, ops.pick(y, self.scale))
        return y, ops.keep([weight])[0]

    def _counting(self, rows: Any) -> Any:
        """Those of some weight and a class of these."""
        inner = rows.subquery("counting", copy=False)
        some = sq.And(
            this=sq.NEQ(this=column(WEIGHT), expression=sq.Literal.number(0)),
            expression=sq.GTE(this=column(CLASS), expression=sq.Literal.number(0)),
        )
        names = [one.alias for one in rows.expressions]
        each = [sq.Alias(this=column(one), alias=name(one)) for one in names]
        return sq.Select(expressions=each).from_(inner).where(some)

    # Sums

    def count(self) -> int:
        return self.source.count()

    def mass(self) -> Array:
        return _sums.noted(self)["mass"]

    def totals(self) -> Array:
        return _sums.noted(self)["totals"]

    def agreeing(self, said: Callable[[Arithmetic[Any]], Any], classes: Array) -> tuple[float, float]:
        return _sums.agreeing(self, said, classes)

    def middles(self) -> tuple[Array, Array]:
        return _sums.middles(self)

    def powers(self, origin: Array) -> Power:
        return _sums.powers(self, origin)

    def patterns(self, origin: Array, limit: int) -> dict[tuple[int, ...], Power] | None:
        return _sums.patterns(self, origin, limit)

    def counts(self) -> list[tuple[Array, Array]]:
        return [_sums.counted(self, one) for one in self.columns]

    def cells(self, most: int) -> list[tuple[Array, int, Array]]:
        return _sums.gridded(self, most)

    def coded(self, readings: Sequence[Reading]) -> list[Array]:
        return _sums.coded(self, readings)

    def as_learned(self, one: str, values: Sequence[Any]) -> list[Any]:
        """Values of a column as memory has them: SQLite keeps truth as numbers, and dates as text."""
        convert = CONVERTED.get((self.source.dialect.name, self._kind(one)))
        return list(values) if convert is None else [convert(value) for value in values]

    def check_numbers(self, missing: bool, who: str, least: float = -np.inf) -> None:
        text = [one for one in self.columns if self._kind(one) not in NUMERIC | {ColumnContent.BOOLEANS}]
        if text:
            raise DataError(f"{self.source.called}: {who} takes numbers, but the columns {show_all(text)} are text")
        known = ("numbers", self.columns, missing, least)
        self.source.once(known, lambda: _sums.check_numbers(self, missing, who, least))
