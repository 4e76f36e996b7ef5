"""The rows of a table as a model sums them: a class, a weight and entries. Each sum is a query or two."""

from __future__ import annotations

import datetime
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations_with_replacement
from math import prod
from typing import Any, Self, cast

import numpy as np
from sqlglot import exp as sq

from suffice._core.features import Features
from suffice._core.formula import Arithmetic, Choices, Reading
from suffice._core.kinds import CLOCKED, NUMERIC, ColumnContent, ColumnScale
from suffice._core.labels import OneHot, positions, show_all, unlabelled
from suffice._core.vector import Array
from suffice._runtime.messages import emit
from suffice.data.layout import DataError, no_labels, wrong_weights
from suffice.data.notations import MISSING, content_of, fitting
from suffice.data.queries import Power
from suffice.data.sql._dialects import call
from suffice.data.sql._source import MAX_WIDTH, TableSource, chunks
from suffice.data.sql._writing import (
    QueryWriter,
    SQLTerm,
    case,
    column,
    integer,
    name,
    repeated,
    sql_of,
    with_type,
)

FROM_SQLITE: dict[ColumnContent, Callable[[Any], Any]] = {  # SQLite keeps truth as numbers, and dates as text
    ColumnContent.BOOLEANS: bool,
    ColumnContent.DATES: datetime.datetime.fromisoformat,
}
Formulas = Callable[[Arithmetic[Any], Any, Any], tuple[list[Any], list[Any]]]
Entries = Callable[[QueryWriter], Mapping[str, SQLTerm]]
CLASS, WEIGHT, PART = "class", "weight", "part"
LOSSES = 4  # totals that formulas of other weights give: mass, log loss, soft error and error
LARGEST = float(np.finfo(float).max)
DIGITS = 52  # binary digits after the leading one
MIN_NORMAL = 2.0**-1022  # smaller numbers have fewer digits, and are not truncated
MAX_POWER = 2.0**1023  # the largest power of two
MAX_FETCHED = 16  # cells fetched for each cell that the grid may have; they are merged here


@dataclass(frozen=True, eq=False)
class SQLRows:
    """The rows of a table in a database, with their class weights; only sums come back.

    Once encoded, columns are numbers or categories; `block` are those of a block of a mixed table. Weights from a
    model's posterior use the same formulas as its predictions.
    """

    source: TableSource
    classes: Array
    columns: tuple[str, ...]
    scale: Array | None = None  # (k,) factors of the weights of each class
    formulas: Formulas | None = None  # of class weights that are not those of the labels
    blocks: Any = None  # the features of a mixed table
    contents: Mapping[Any, ColumnContent] | None = None  # of the columns, once an encoder knows them
    known: dict[str, Array] = field(default_factory=dict)  # masses and totals, which are fetched with other sums

    @classmethod
    def of(cls, source: TableSource) -> Self:
        """All rows of a table, with the classes of its labels."""
        return cls(source, source.once("classes", lambda: _classes(source)), tuple(source.columns()))

    # Columns

    @property
    def features(self) -> Features:
        """The columns, by name."""
        return self.blocks or Features(len(self.columns), np.array(self.columns, dtype=object))

    def holding(self) -> list[tuple[str, str]]:
        """The `ColumnScale` and the content of each column."""
        contents = {one: self._content(one) for one in self.columns}
        text = [one for one, content in contents.items() if content is ColumnContent.TEXT]
        ends = {one: [as_text(column(one), f) for f in (sq.Min, sq.Max)] for one in text}
        found = {one: (_scale(content), content) for one, content in contents.items()}
        for some in chunks(text, MAX_WIDTH // 2):
            select = sq.Select(expressions=[end for one in some for end in ends[one]]).from_(self.source.from_table)
            (got,) = self.source.run(select)
            found |= {one: _kind_of_text(*got[2 * j : 2 * j + 2]) for j, one in enumerate(some)}
        return [found[one] for one in self.columns]

    def _content(self, one: str) -> ColumnContent:
        content = self.source.contents[one]
        if content is None:
            raise DataError(f"{self.source.called}: column {one!r} holds no single values: leave it out with columns=")
        return content

    def encoded(self, encoder: Any) -> SQLRows:
        """The same rows as an encoder reads them, by its `sql_columns(rows)`."""
        columns = getattr(encoder, "sql_columns", None)
        if columns is None:
            raise TypeError(f"what {type(encoder).__name__} makes of rows cannot be asked of a database: fit in memory")
        rows: SQLRows = columns(self)
        return replace(rows, contents=encoder.holding())

    def divided(self, features: Any) -> SQLRows:
        """The same rows in the blocks of a mixed table, `BlockFeatures`."""
        return replace(self, blocks=features)

    def relabelled(self, labels: Callable[[Any], Any]) -> SQLRows:
        """The same rows after a change of their labels; TypeError if SQL cannot express it."""
        classes, weight = getattr(labels, "classes", None), getattr(labels, "weight", None)
        if classes is None or weight is None or not np.array_equal(classes, self.classes):
            raise TypeError(f"what {type(labels).__name__} makes of labels cannot be asked of a database")
        return replace(self, scale=weight if self.scale is None else self.scale * weight)

    def onto(self, classes: Array) -> SQLRows:
        """The same rows with other classes; rows of classes that are not among these do not count."""
        if np.array_equal(classes, self.classes):
            return self
        at = positions(classes, self.classes, "class labels")
        scale = None if self.scale is None else np.where(at < 0, 1.0, self.scale[at])
        return replace(self, known={}, classes=classes, scale=scale)

    def block(self, name: str) -> SQLRows:
        """The columns of a block."""
        return replace(self, columns=tuple(self.columns[j] for j in self.blocks.at[name]), blocks=None)

    def weighed(self, formulas: Formulas) -> SQLRows:
        """The same rows with other class weights.

        `formulas(ops, y, weight)` gives the weights (k,), and some numbers whose sums are in `totals`.
        """
        return replace(self, formulas=formulas, known={})

    def check_numbers(self, missing: bool, who: str, least: float = -np.inf) -> None:
        """DataError unless all columns hold finite numbers of at least `least`; `missing` ones may be allowed."""
        text = [one for one in self.columns if self._content(one) not in NUMERIC | {ColumnContent.BOOLEANS}]
        if text:
            raise DataError(f"{self.source.called}: {who} takes numbers, but the columns {show_all(text)} are text")
        key = ("numbers", self.columns, missing, least)
        self.source.once(key, lambda: self._check_values(missing, who, least))

    def _check_values(self, missing: bool, who: str, least: float) -> None:
        """DataError if a number is infinite or below the least, or missing where none may be."""
        source = self.source
        for some in chunks(self.columns, MAX_WIDTH // 2):
            ops = self.writer()
            own = ops.query(source.from_table, {f"x{j}": ops.read(c) for j, c in enumerate(some)}).subquery("numbers")
            low = max(least, -LARGEST)
            wrong = [_outside(column(f"x{j}"), low, LARGEST, source) for j in range(len(some))]
            infinite = [total(case([(one, integer(1))], integer(0))) for one in wrong]
            there = [sq.Count(this=column(f"x{j}")) for j in range(len(some))]
            (got,) = source.run(sq.Select(expressions=[sq.Count(this=sq.Star()), *infinite, *there]).from_(own))
            every, over, present = got[0], got[1 : 1 + len(some)], got[1 + len(some) :]
            far = [c for c, count in zip(some, over, strict=True) if count]
            if far:
                what = "infinity" if least == -np.inf else f"infinity, or numbers below {least:g}"
                raise DataError(f"{source.called}: {who} takes finite numbers, but {show_all(far)} contains {what}")
            holes = [c for c, count in zip(some, present, strict=True) if count < every]
            if holes and not missing:
                raise DataError(
                    f"{source.called}: {who} takes no missing values, but {show_all(holes)} has some: impute them"
                )

    # The rows as a query: class, weight, entries

    def writer(self) -> QueryWriter:
        """A writer of formulas of the columns, by name."""
        names: dict[Any, str] = {key: key for key in self.source.contents}
        names.update(enumerate(self.columns))
        contents = ChainMap(dict(self.contents or {}), cast(Any, self.source.contents))
        return QueryWriter(self.source.dialect, names, contents, self.source.casts)

    def relation(self, entries: Entries) -> Any:
        """SELECT class, weight and entries of every row with a weight; with other weights, once for each class."""
        ops = self.writer()
        y, weight = self._labels(ops)
        if self.formulas is None:
            return self._counting(ops.query(self.source.from_table, {CLASS: y, WEIGHT: weight, **entries(ops)}))
        W, totals = self.formulas(ops, y, weight)
        losses = {f"L{i}": one for i, one in enumerate(totals)}
        own = {CLASS: y, WEIGHT: weight, **{f"W{c}": one for c, one in enumerate(W)}, **losses, **entries(ops)}
        rows = self._counting(ops.query(self.source.from_table, own))
        same = {one.alias: [one.alias] * len(W) for one in rows.expressions[2 + len(W) :]}
        return repeated(rows, CLASS, range(len(W)), {WEIGHT: [f"W{c}" for c in range(len(W))], **same})

    def _labels(self, ops: QueryWriter) -> tuple[SQLTerm, SQLTerm]:
        """The number of each row's class, -1 for other classes, and its weight."""
        layout = self.source.layout
        y = ops.cell(Choices(self.classes, np.arange(len(self.classes))), layout.target)
        weight = ops.number(1.0) if layout.weight is None else ops.read(layout.weight)
        if self.scale is not None:
            weight = ops.times(weight, ops.pick(y, self.scale))
        return y, ops.keep([weight])[0]

    def _counting(self, rows: Any) -> Any:
        """The rows with a weight and one of the classes."""
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
        """The number of rows, whatever their weights."""
        return self.source.count()

    def mass(self) -> Array:
        """The weight of each class (k,)."""
        return self._masses()["mass"]

    def totals(self) -> Array:
        """The sums of the further numbers of `weighed`."""
        return self._masses()["totals"]

    def _masses(self) -> dict[str, Array]:
        """The weight of each class (k,), and the totals of formulas of other weights."""
        if not self.known:
            self._by_class(lambda: self.relation(lambda _: {}), [])
        return self.known

    def _losses(self) -> list[str]:
        return [] if self.formulas is None else [f"L{i}" for i in range(LOSSES)]

    def _by_class(self, relation: Callable[[], Any], sums: Sequence[Any], keys: Sequence[Any] = ()) -> dict[Any, Array]:
        """{key: (k, m)} of sums by class, and by further keys if given; at most `MAX_WIDTH` sums in a query.

        Masses and losses that are not known yet are fetched with them.
        """
        found: dict[Any, list[Array]] = {}
        # Losses are repeated for every class, so that the first class has the totals.
        more = [] if self.known else [total(column(one)) for one in (WEIGHT, *self._losses())]
        k = len(self.classes)
        for part in chunks([*sums, *more], MAX_WIDTH):
            inner = relation().subquery("summed")
            group = [column(CLASS), *(one.copy() for one in keys)]
            select = sq.Select(expressions=[*group, *part]).from_(inner).group_by(*(one.copy() for one in group))
            tables: dict[Any, Array] = {}
            for c, *rest in self.source.run(select):
                own = tables.setdefault(tuple(rest[: len(keys)]), np.zeros((k, len(part))))
                own[int(c)] += np.array(rest[len(keys) :], dtype=float)
            for key, table in tables.items():
                found.setdefault(key, []).append(table)
        whole = {key: np.concatenate(tables, axis=1) for key, tables in found.items()}
        if more:
            extra = sum((table[:, len(sums) :] for table in whole.values()), np.zeros((k, len(more))))
            self.known.update(mass=extra[:, 0], totals=extra[0, 1:])
        return {key: table[:, : len(sums)] for key, table in whole.items()}

    def correct_weight(self, formula: Callable[[Arithmetic[Any]], Any], classes: Array) -> tuple[float, float]:
        """The weight of all rows, and of those whose class is predicted by a formula, as its number in `classes`.

        DataError if the formula has no value for some rows.
        """
        at = positions(classes, self.classes)

        def entries(ops: QueryWriter) -> dict[str, SQLTerm]:
            (predicted,) = ops.keep([formula(ops)])
            return {"predicted": predicted, "x": ops.pick(predicted, at)}

        with self.source.named():
            relation = self.relation(entries).subquery("answered")
        gone = sq.Is(this=column("predicted"), expression=sq.Null())
        same = sq.EQ(this=column("x"), expression=column(CLASS))
        right = case([(gone.copy(), integer(0)), (same, column(WEIGHT))], integer(0))
        sums = [total(column(WEIGHT)), total(right), total(case([(gone, integer(1))], integer(0)))]
        ((mass, hits, lost),) = self.source.run(sq.Select(expressions=sums).from_(relation))
        if lost:
            raise DataError(
                f"{self.source.called}: {int(lost)} rows have missing values, for which this model has no formula in "
                "SQL: impute them, or take the rows into memory"
            )
        return float(mass), float(hits)

    def _numbers(self, ops: QueryWriter) -> dict[str, SQLTerm]:
        """The entries of all columns as numbers."""
        return {f"x{j}": ops.read(one) for j, one in enumerate(self.columns)}

    def means_and_widths(self) -> tuple[Array, Array]:
        """The mean of each column by class, and the width of its range (k, d); 0 where a class has no entry."""
        k, d = len(self.classes), len(self.columns)
        aggregates = [f(this=column(f"x{j}")) for j in range(d) for f in (sq.Avg, sq.Min, sq.Max)]
        found = self._by_class(lambda: self.relation(self._numbers), [_or_zero(one) for one in aggregates])
        if not found:
            return np.zeros((k, d)), np.zeros((k, d))
        mean, low, high = np.moveaxis(found[()].reshape(k, d, 3), 2, 0)
        with np.errstate(over="ignore"):
            return mean, high - low

    def _gaps(self, origin: Array) -> Callable[[], Any]:
        """Class, weight, and x - o of every column, about the origin of the class."""

        def relation() -> Any:
            inner = self.relation(self._numbers).subquery("entries")
            ops = QueryWriter(self.source.dialect, {}, {})
            each = [sq.Alias(this=column(one), alias=name(one)) for one in (CLASS, WEIGHT, *self._losses())]
            for j in range(origin.shape[1]):
                at = ops.pick(SQLTerm(column(CLASS), 0), origin[:, j]).sql
                each.append(sq.Alias(this=sq.Sub(this=column(f"x{j}"), expression=at), alias=name(f"g{j}")))
            return sq.Select(expressions=each).from_(inner)

        return relation

    def powers(self, origin: Array) -> Power:
        """Moments of each column (k, d) about given origins (k, d)."""
        k, d = len(self.classes), origin.shape[1]
        sums = []
        for j in range(d):
            g = column(f"g{j}")
            there = case([(sq.Is(this=g.copy(), expression=sq.Null()), integer(0))], column(WEIGHT))
            first = times(column(WEIGHT), g)
            sums += [total(there), total(first), total(times(first.copy(), g.copy()))]
        found = self._by_class(self._gaps(origin), sums)
        table = found[()] if found else np.zeros((k, 3 * d))
        return Power(origin, *np.moveaxis(table.reshape(k, d, 3), 2, 0))

    def patterns(self, origin: Array, limit: int) -> dict[tuple[int, ...], Power] | None:
        """Full moments by pattern of missing entries; None if there are more than `limit` patterns."""
        d, k = origin.shape[1], len(self.classes)
        absent = [
            case([(sq.Is(this=column(f"g{j}"), expression=sq.Null()), sq.Literal.string("1"))], sq.Literal.string("0"))
            for j in range(d)
        ]
        pattern = absent[0]
        for one in absent[1:]:
            pattern = sq.DPipe(this=pattern, expression=one)
        pairs = list(combinations_with_replacement(range(d), 2))
        sums = [total(column(WEIGHT))]
        sums += [total(times(column(WEIGHT), column(f"g{j}"))) for j in range(d)]
        sums += [total(times(column(WEIGHT), column(f"g{i}"), column(f"g{j}"))) for i, j in pairs]
        found = self._by_class(self._gaps(origin), sums, [pattern])
        if sum("1" in key for (key,) in found) > limit:
            return None
        out: dict[tuple[int, ...], Power] = {}
        for (key,), table in found.items():
            missing = tuple(j for j, mark in enumerate(key) if mark == "1")
            has = np.delete(np.arange(d), missing)
            if not len(has):
                continue
            second = np.zeros((k, d, d))
            i, j = np.array(pairs).T
            second[:, i, j] = second[:, j, i] = table[:, 1 + d :]
            whole = second[:, has][:, :, has]
            out[missing] = Power(origin[:, has], table[:, :1], table[:, 1 : 1 + d][:, has], whole)
        return out

    def _weights_of(self, entry: Callable[[QueryWriter], SQLTerm]) -> tuple[list[Any], Array]:
        """The values of a formula, one for each class that has it (v,), and their weights by class (k, v)."""
        relation = self.relation(lambda ops: {"x": entry(ops)}).subquery("held")
        group = [column("x"), column(CLASS)]
        there = sq.Not(this=sq.Is(this=column("x"), expression=sq.Null()))
        select = sq.Select(expressions=[*group, total(column(WEIGHT))]).from_(relation).where(there)
        got = self.source.run(select.group_by(*(g.copy() for g in group)))
        got = [row for row in got if row[0] == row[0]]  # NaN is missing
        table = np.zeros((len(self.classes), len(got)))
        table[[int(row[1]) for row in got], np.arange(len(got))] = [float(row[2]) for row in got]
        return [row[0] for row in got], table

    def counts(self) -> list[tuple[Array, Array]]:
        """For each column of categories, its values (v,), and their weights by class (k, v)."""
        found = []
        for one in self.columns:
            values, table = self._weights_of(partial(_entry, one))
            convert = FROM_SQLITE.get(self._content(one)) if self.source.dialect.name == "sqlite" else None
            found.append((array_of(values if convert is None else [convert(value) for value in values]), table))
        return found

    def cells(self, most: int) -> list[tuple[Array, int, Array]]:
        """For each column of numbers: a number (m,) of each cell of the grid, its shift, and weights by class (k, m).

        The shift is the smallest with at most `most` cells, or one with a few times as many.
        """
        found = []
        for one, shift in zip(self.columns, self._shifts(most), strict=True):
            values, table = self._weights_of(partial(_truncated_entry, one, shift))
            found.append((np.array([float(value) for value in values]), shift, table))
        return found

    def _shifts(self, most: int) -> list[int]:
        """The least shift of each column with at most `most` cells, or one with up to `MAX_FETCHED` times as many.

        Coarser cells are made of these afterwards, exactly.
        """
        d = len(self.columns)
        low, high = np.zeros(d, dtype=int), np.full(d, DIGITS)
        few = self._distinct(np.zeros(d, dtype=int), np.arange(d)) <= MAX_FETCHED * most
        high[few] = 0
        while (open_ := np.flatnonzero(low < high)).size:
            middle = (low + high) // 2
            count = self._distinct(middle, open_)
            ok, done = count <= MAX_FETCHED * most, (count > most) & (count <= MAX_FETCHED * most)
            high[open_[ok]] = middle[open_[ok]]
            low[open_[done]] = middle[open_[done]]
            low[open_[~ok]] = middle[open_[~ok]] + 1
        return [int(one) for one in high]

    def _distinct(self, shift: Array, which: Array) -> Array:
        """The number of cells of some columns, at a shift each."""

        def entries(ops: QueryWriter) -> dict[str, SQLTerm]:
            return {f"x{j}": truncated(ops, ops.read(self.columns[j]), int(shift[j])) for j in which}

        counts = [sq.Count(this=sq.Distinct(expressions=[column(f"x{j}")])) for j in which]
        (got,) = self.source.run(sq.Select(expressions=counts).from_(self.relation(entries).subquery("cells")))
        return np.array(got, dtype=float)

    def cell_weights(self, readings: Sequence[Reading]) -> list[Array]:
        """For each column, the weights by class of its cells (k, r)."""
        return self.joint_weights([((reading,), (j,)) for j, reading in enumerate(readings)])

    def joint_weights(self, groups: Sequence[tuple[Sequence[Reading], Sequence[int]]]) -> list[Array]:
        """For each group of columns, by their numbers, the weights by class of its joint cells (k, cells)."""
        if len(groups) > MAX_WIDTH:
            return [one for some in chunks(groups, MAX_WIDTH) for one in self.joint_weights(some)]

        def entries(ops: QueryWriter) -> dict[str, SQLTerm]:
            each = ((sides, [self.columns[j] for j in at]) for sides, at in groups)
            return {f"x{i}": ops.cells(sides, columns) for i, (sides, columns) in enumerate(each)}

        found = [np.zeros((len(self.classes), prod(side.size for side in sides))) for sides, _ in groups]
        d, others = len(groups), [] if self.known else [WEIGHT, *self._losses()]
        more = np.zeros((len(self.classes), len(others)))
        for j, cell, c, weight in self.source.run(_by_cell(self.relation(entries), d, others)) if d or others else ():
            if j >= d:
                more[int(c), int(j) - d] = float(weight)
            elif cell >= 0:
                found[int(j)][int(c), int(cell)] += float(weight)
        if not self.known:
            self.known.update(mass=more[:, 0], totals=more[0, 1:])
        return found


# Columns, labels and weights


def as_text(x: Any, f: Any) -> Any:
    """An aggregate of a column as text: of a UUID, some databases have no least value."""
    return f(this=sq.Cast(this=x, to=sq.DataType.build("text")))


def _scale(content: ColumnContent) -> ColumnScale:
    return ColumnScale.NUMBER if content in NUMERIC else ColumnScale.CATEGORY


def _kind_of_text(least: str | None, greatest: str | None) -> tuple[str, str]:
    """The kind of a column of text, which is one of categories; its least and greatest values show if it is like dates.

    Text is not read as dates or numbers in a database: no two databases would read the same.
    """
    if least is None or greatest is None:
        return ColumnScale.NOTHING, ColumnContent.EMPTY
    like = {content_of(name) for name in fitting([least, greatest])} if least.strip() not in MISSING else set()
    if not like:
        return ColumnScale.CATEGORY, ColumnContent.TEXT
    numbers = ColumnContent.NUMBERS in like
    return ColumnScale.CATEGORY, ColumnContent.TEXT_LIKE_NUMBERS if numbers else ColumnContent.TEXT_LIKE_DATES


def _classes(source: TableSource) -> Array:
    """The classes (k,) of the labels; DataError if there is none or a weight is not valid."""
    layout = source.layout
    if layout.target is None:
        raise DataError(no_labels("target= with the name of a column", source.called))
    source.columns()
    label = with_type(column(layout.target), source.casts.get(layout.target))
    contents = [source.contents[one] for one in layout.beside]
    if contents[0] is None or contents[0] in CLOCKED:
        raise DataError(f"{source.called}: column {layout.target!r} holds no labels: these are text, numbers or dates")
    select = sq.Select(expressions=[label.copy(), sq.Count(this=sq.Star())]).from_(source.from_table)
    if layout.weight is not None:
        _check_weights(source, layout.weight)
        select = select.where(sq.NEQ(this=column(layout.weight), expression=sq.Literal.number(0)))
    rows = source.run(select.group_by(label.copy()))
    labels = [value for value, _ in rows if value is not None and value == value]
    if not labels:
        raise DataError(f"{source.called} has no rows with a label and a weight above zero")
    emit(unlabelled(sum(int(count) for value, count in rows if value is None or value != value)))
    return OneHot.of(array_of(labels)).classes


def _check_weights(source: TableSource, weight: str) -> None:
    ops = QueryWriter(source.dialect, {weight: weight}, {})
    own = ops.query(source.from_table, {"w": ops.read(weight)}).subquery("weights")
    wrong = sq.Or(
        this=sq.Is(this=column("w"), expression=sq.Null()), expression=_outside(column("w"), 0.0, LARGEST, source)
    )
    rows = source.run(sq.Select(expressions=[sq.Count(this=sq.Star())]).from_(own).where(wrong))
    if rows[0][0]:
        raise DataError(f"{source.called}: {wrong_weights(weight)}")


# Expressions


def _outside(x: Any, low: float, high: float, source: TableSource) -> Any:
    number = source.dialect.number
    below, above = sq.LT(this=x, expression=number(low)), sq.GT(this=x.copy(), expression=number(high))
    return sq.Paren(this=sq.Or(this=below, expression=above))


def _or_zero(x: Any) -> Any:
    return sq.Coalesce(this=x, expressions=[sq.Literal.number("0e0")])


def total(x: Any) -> Any:
    """SUM of numbers; 0 for no rows, or for missing ones alone."""
    return _or_zero(sq.Sum(this=x))


def times(*factors: Any) -> Any:
    """A product of columns."""
    found = factors[0]
    for one in factors[1:]:
        found = sq.Mul(this=found, expression=one)
    return found


def array_of(values: Sequence[Any]) -> Array:
    """Values from a database as an array: numbers, truth values, dates or objects."""
    if values and all(hasattr(v, "isoformat") for v in values):
        return np.array([np.datetime64(v.replace(tzinfo=None) if hasattr(v, "tzinfo") else v, "us") for v in values])
    kinds = {type(v) for v in values}
    if kinds == {int} and min(values) >= 0 and 2**63 <= max(values) < 2**64:
        return np.array(values, dtype=np.uint64)  # NumPy would round some of them
    if kinds <= {bool} or kinds <= {int} or kinds <= {int, float}:
        return np.array(values)
    if str in kinds and len(kinds) == 1:
        return np.array(values, dtype=object)
    return np.array([float(v) if not isinstance(v, str) else v for v in values])


def _by_cell(relation: Any, d: int, others: Sequence[str]) -> Any:
    """SELECT a number, the cell, the class and the total weight, for each cell of d columns and class.

    After them come the totals of other columns, in a cell 0 each.
    """
    every = d + len(others)
    cells = [*(f"x{j}" for j in range(d)), *([None] * len(others))]
    own: dict[str, list[Any]] = {"cell": cells, CLASS: [CLASS] * every, "own": [*([WEIGHT] * d), *others]}
    group = [column(one) for one in (PART, "cell", CLASS)]
    select = sq.Select(expressions=[*group, total(column("own"))])
    entries = repeated(relation, PART, range(every), own).subquery("coded", copy=False)
    return select.from_(entries, copy=False).group_by(*(one.copy() for one in group))


def _entry(one: str, ops: QueryWriter) -> SQLTerm:
    return ops.entry(one)


def _truncated_entry(one: str, shift: int, ops: QueryWriter) -> SQLTerm:
    return truncated(ops, ops.read(one), shift)


def truncated(ops: QueryWriter, x: SQLTerm, shift: int) -> SQLTerm:
    """x without its last `shift` binary digits: the same number for all numbers of a cell, and in that cell."""
    if not shift:
        return x
    number = ops.dialect.number
    (size,) = ops.keep([SQLTerm(sq.Abs(this=sql_of(x)), x.step)])
    some = sq.GTE(this=sql_of(size), expression=number(MIN_NORMAL))
    exponent = sq.Floor(this=sq.Div(this=sq.Ln(this=sql_of(size)), expression=number(float(np.log(2.0))), typed=True))
    guess = call("POWER", number(2.0), exponent)  # a power of two, which rounding may have put one off
    last = sq.GTE(this=sql_of(size), expression=number(MAX_POWER))
    (power,) = ops.keep([SQLTerm(case([(last, number(MAX_POWER)), (some, guess)], number(1.0)), size.step)])
    half = sq.Paren(this=sq.Mul(this=sql_of(size), expression=number(0.5)))
    below = sq.Mul(this=sql_of(power), expression=number(0.5))
    above = sq.Mul(this=sql_of(power), expression=number(2.0))
    right = case(
        [
            (sq.GT(this=sql_of(power), expression=sql_of(size)), below),
            (sq.GTE(this=half, expression=sql_of(power)), above),
        ],
        sql_of(power),
    )
    (unit,) = ops.keep([SQLTerm(right, power.step)])
    digits = 2.0 ** (DIGITS - shift)
    scaled = sq.Mul(
        this=sq.Paren(this=sq.Div(this=sql_of(size), expression=sql_of(unit), typed=True)), expression=number(digits)
    )
    cut = sq.Div(this=sq.Floor(this=scaled), expression=number(digits), typed=True)
    (found,) = ops.keep([SQLTerm(sq.Mul(this=sq.Paren(this=cut), expression=sql_of(unit)), unit.step)])
    negative = sq.LT(this=sql_of(x), expression=number(0.0))
    tiny = sq.LT(this=sql_of(size), expression=number(MIN_NORMAL))
    return SQLTerm(case([(tiny, sql_of(x)), (negative, sq.Neg(this=sql_of(found)))], sql_of(found)), found.step)
