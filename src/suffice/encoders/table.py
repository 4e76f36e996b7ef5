"""Tables as people have them: columns of numbers, dates, text, categories and truth values, with missing entries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self, cast

import numpy as np
from sklearn.utils.validation import check_array

from suffice._core.features import CategoricalFeatures, Encoded, Features, difference
from suffice._core.kinds import TEMPORAL, Block, ColumnContent, ColumnScale, ReadAs
from suffice._core.labels import show, show_all
from suffice._core.vector import Array
from suffice.data import Batch, Data
from suffice.data.memory import table
from suffice.data.queries import DatabaseRows
from suffice.encoders.base import Encoder, frame_of, names_of, side_by_side
from suffice.encoders.blocks import BlockFeatures, BlockValues, block
from suffice.encoders.categories import coded, decoded
from suffice.encoders.columns import DAY, Column
from suffice.encoders.numbers import check_finite

BLOCKS = {ReadAs.BINS: Block.BINS, ReadAs.GAUSSIAN: Block.GAUSSIAN, ReadAs.CATEGORY: Block.CATEGORY}
KEPT_BLOCKS = {**BLOCKS, ReadAs.BINS: Block.BINS_KEPT, ReadAs.CATEGORY: Block.CATEGORY_KEPT}


class Role(NamedTuple):
    """What a column is to a model."""

    name: Any  # its name, or its number
    kind: ReadAs
    holds: str  # what its values are, in words
    given: bool  # whether its kind was given

    @property
    def content(self) -> ColumnContent:
        """What its values are."""
        return ColumnContent(self.holds)

    @property
    def block(self) -> str | None:
        """The block that it belongs to, if any; what was given, and dates, are never taken for identifiers."""
        return (KEPT_BLOCKS if self.given or self.content in TEMPORAL else BLOCKS).get(self.kind)


@dataclass(frozen=True)
class Survey:
    """The kinds of the columns of some rows; of two surveys, the one that has seen values knows better."""

    names: tuple[str, ...] | None
    kinds: tuple[tuple[str, str], ...]  # the ColumnScale of each, and what it holds, in words

    @classmethod
    def of(cls, batch: Batch, who: str) -> Survey:
        """Of the rows of a batch."""
        return cls.of_table(batch.X, who)

    @classmethod
    def of_table(cls, X: Any, who: str) -> Survey:
        """Of the rows of a table."""
        names, columns = columns_of(X, who)
        return cls(names, tuple(column.kind() for column in columns))

    def __add__(self, other: Survey) -> Survey:
        if self.kinds == other.kinds:
            return self
        if len(self.kinds) != len(other.kinds):
            raise ValueError(f"the features differ: {len(self.kinds)} here, {len(other.kinds)} there")
        both = tuple(b if a[0] == ColumnScale.NOTHING else a for a, b in zip(self.kinds, other.kinds, strict=True))
        return replace(self, kinds=both)


@dataclass(frozen=True)
class Surveyed:
    """The survey of a batch."""

    who: str

    def __call__(self, batch: Batch) -> Survey:
        return Survey.of(batch, self.who)

    def query(self, rows: DatabaseRows) -> Survey:
        """The same of the rows of a database."""
        names = rows.features.names
        return Survey(None if names is None else tuple(names.tolist()), tuple(rows.holding()))


def columns_of(X: Any, who: str) -> tuple[tuple[str, ...] | None, list[Column]]:
    """The names of the columns of a table, if it has any, and the columns."""
    frame = frame_of(X)
    if frame is not None:
        names = tuple(names_of(frame).tolist())
        pairs = zip(frame.iter_columns(), names, strict=True)
        return names, [Column(series, f"column {name!r}") for series, name in pairs]
    array = check_array(
        table(X),
        dtype=None,
        ensure_all_finite=False,
        ensure_min_samples=0,
        estimator=who,
        input_name="X",
    )
    return None, [Column(values, f"column {j}") for j, values in enumerate(array.T)]


@dataclass(frozen=True)
class Table(Encoder):
    """Columns in blocks by their kind: "bins" and "gaussian" hold numbers (n, d), "category" codes (n, d).

    A column's kind is that of its type: numbers, dates (in days) and durations are numeric, everything else is a
    category. What is missing is NaN or the code -1.

    Parameters
    ----------
    columns : tuple of (name or number, kind)
        Kinds that are given: "bins", "gaussian", "category" or "drop".
    numeric : {"bins", "gaussian"}
        What a numeric column is unless that is given.
    indicator : bool
        Whether a further block, "missing", says of every column that has missing entries which these are.
    who : str
        Whom messages speak of.

    Examples
    --------
    >>> X = np.array([[1.5, "u"], [None, "v"]], dtype=object)
    >>> from suffice.data import Memory
    >>> encoder = Table().prepare(Memory(X, [0, 1]))
    >>> [(role.name, role.kind) for role in encoder.roles]
    [(0, 'bins'), (1, 'category')]
    >>> encoder(X).values.parts["category"].tolist()
    [[0], [1]]
    """

    columns: tuple[tuple[Any, str], ...] = ()
    numeric: ReadAs = ReadAs.BINS
    indicator: bool = False
    who: str = "This model"
    roles: tuple[Role, ...] | None = None  # once prepared
    names: tuple[str, ...] | None = None

    @classmethod
    def of(
        cls,
        columns: Mapping[Any, str] | None,
        numeric: str,
        indicator: bool,
        who: str,
        kinds: tuple[str, ...] = tuple(ReadAs),
    ) -> Table:
        """From the settings of an estimator, checked."""
        if columns is not None and not isinstance(columns, Mapping):
            raise ValueError(f"{who}: columns must be None or a dict of column: kind, got {columns!r}")
        given = tuple((columns or {}).items())
        for name, kind in given:
            if kind not in kinds:
                raise ValueError(f"{who}: columns[{name!r}] must be one of {kinds}, got {kind!r}")
        return cls(given, ReadAs(numeric), indicator, who)

    def prepare(self, data: Data) -> Self:
        """The encoder with the role of every column, by its type, or by its values where that says nothing."""
        if self.roles is not None:
            return self
        survey = self._survey(data)
        keys: tuple[Any, ...] = survey.names or tuple(range(len(survey.kinds)))
        given = {keys[self._place(name, keys)]: kind for name, kind in self.columns}
        roles = tuple(self._role(key, given.get(key), *found) for key, found in zip(keys, survey.kinds, strict=True))
        if all(role.kind == ReadAs.DROP for role in roles):
            raise ValueError(f"{self.who}: every column is left out by `columns`: nothing remains to learn from")
        return replace(self, roles=roles, names=survey.names)

    def _survey(self, data: Data) -> Survey:
        """The kinds of the columns: by their types alone where these tell all, else from the rows."""
        typed = data.empty_frame()
        survey = None if typed is None else Survey.of_table(typed, self.who)
        if survey is not None and all(kind != ColumnScale.NOTHING for kind, _ in survey.kinds):
            return survey
        return data.sum(Surveyed(self.who))

    def _place(self, name: Any, keys: tuple[Any, ...]) -> int:
        """Where a column stands that is given by its name or its number."""
        if name in keys:
            return keys.index(name)
        if isinstance(name, int | np.integer) and not isinstance(name, bool) and 0 <= name < len(keys):
            return int(name)
        raise ValueError(
            f"{self.who}: `columns` speaks of {show(name)}, which the table does not have; its columns are "
            f"{show_all(keys)}"
        )

    def holding(self) -> Mapping[Any, ColumnContent]:
        return {role.name: role.content for role in self.roles or ()}

    def without(self, columns: Iterable[int]) -> Self:
        """The same, prepared as it is, without some columns, by their numbers."""
        gone = set(columns)
        roles = (role._replace(kind=ReadAs.DROP) if j in gone else role for j, role in enumerate(self.roles or ()))
        return replace(self, roles=tuple(roles))

    def _role(self, key: Any, given: str | None, kind: str, holds: str) -> Role:
        found = self.numeric if kind == ColumnScale.NUMBER else ReadAs.CATEGORY
        return Role(key, ReadAs(given or found), str(holds), given is not None)

    def check(self, other: Encoder) -> None:
        if not isinstance(other, Table):
            return super().check(other)
        return self._layout().check(other._layout())

    def _layout(self) -> BlockFeatures:
        """Which columns are in which block."""
        if self.roles is None:
            raise ValueError("a table is read once its columns are known: prepare the encoder first")
        blocks = [role.block for role in self.roles]
        at: dict[str, Array] = {block: np.flatnonzero([one == block for one in blocks]) for block in READ}
        at = {block: which for block, which in at.items() if len(which)}
        if self.indicator:
            at[Block.MISSING] = np.flatnonzero([one is not None for one in blocks])
        return BlockFeatures(len(blocks), None if self.names is None else _objects(self.names), at=at)

    def encode(self, X: Any) -> Encoded:
        layout = self._layout()
        names, columns = columns_of(X, self.who)
        self._check_columns(names, len(columns))
        for role, column in zip(self.roles or (), columns, strict=True):
            self._check_kind(role, column)
        keys = _objects([role.name for role in self.roles or ()])
        parts = {kind: READ[kind]([columns[j] for j in at], keys[at], self.who) for kind, at in layout.at.items()}
        features = layout.with_parts({kind: part.features for kind, part in parts.items()})
        values: Any = BlockValues({kind: part.values for kind, part in parts.items()})
        return Encoded(features, values)

    def sql_columns(self, rows: DatabaseRows) -> DatabaseRows:
        layout = self._layout()
        if Block.MISSING in layout.at:
            raise TypeError(f"{self.who}: a table of what is missing cannot be asked of a database: fit in memory")
        names = rows.features.names
        self._check_columns(None if names is None else tuple(names.tolist()), rows.features.width)
        divided = rows.divided(layout)
        for name in layout.at:
            if READ[name] is _numbers:
                divided.block(name).check_numbers(True, self.who)
        return divided

    def decode(self, X: Encoded) -> Array:
        """The columns as objects (n, d); None for what is missing or left out. Dates are dates again."""
        out = np.full((len(X), len(self.roles or ())), None, dtype=object)
        for name, at in cast(BlockFeatures, X.features).at.items():
            part = block(X, name)
            numeric = not isinstance(part.features, CategoricalFeatures)
            for j, values in zip(at, part.values.T if numeric else decoded(part), strict=True):
                if name == Block.MISSING:
                    out[values.astype(bool), j] = None
                else:
                    out[:, j] = _written((self.roles or ())[j].content, values) if numeric else values
        return out

    def _check_kind(self, role: Role, column: Column) -> None:
        """ValueError if a column of dates, or one that had no values at first, now holds numbers."""
        times, empty = role.content in TEMPORAL, role.content is ColumnContent.EMPTY
        if role.given or not (times or (empty and role.kind == ReadAs.CATEGORY)):
            return
        kind, holds = column.kind()
        if empty and kind == ColumnScale.NUMBER and holds != ColumnContent.EMPTY:
            raise ValueError(
                f"{column.called} had no values in the first rows, and now holds {holds}: begin with rows that have "
                f"some, or say in `columns` what to read it as"
            )
        if times and holds not in (*TEMPORAL, ColumnContent.EMPTY):
            raise ValueError(f"{column.called} held {role.holds} in the first rows, and now holds {holds}: convert it")

    def _check_columns(self, names: tuple[str, ...] | None, width: int) -> None:
        """ValueError, in scikit-learn's words, unless these are the columns that were learned from."""
        expected = len(self.roles or ())
        if width != expected:
            lost = [name for name in self.names or () if names is not None and name not in names]
            more = [name for name in names or () if self.names is not None and name not in self.names]
            which = f"; there is no {show_all(lost)}" * bool(lost) + f"; {show_all(more)} was not learned" * bool(more)
            raise ValueError(f"X has {width} features, but {self.who} is expecting {expected} features as input{which}")
        if names is not None and self.names is not None and names != self.names:
            raise ValueError(
                "The feature names should match those that were passed during fit: "
                + difference(list(self.names), list(names), "learned", "now")
            )


def _numbers(columns: list[Column], names: Array, who: str) -> Encoded:
    values = side_by_side([column.numbers() for column in columns])
    features = Features(len(columns), names)
    check_finite(values, features, who, missing=True)
    return Encoded(features, values)


def _codes(columns: list[Column], names: Array, who: str) -> Encoded:  # noqa: ARG001 - any value will do
    return coded((column.entries() for column in columns), names)


def _absent(columns: list[Column], names: Array, who: str) -> Encoded:  # noqa: ARG001 - any value will do
    return coded((column.absent() for column in columns), names)


READ: dict[str, Callable[[list[Column], Array, str], Encoded]] = {
    Block.BINS: _numbers,
    Block.BINS_KEPT: _numbers,
    Block.GAUSSIAN: _numbers,
    Block.CATEGORY: _codes,
    Block.CATEGORY_KEPT: _codes,
    Block.MISSING: _absent,
}


def _written(content: ColumnContent, numbers: Array) -> Array:
    """Numbers (n,) as objects: days as dates or spans of time where a column held such, None for NaN."""
    values = numbers
    if content in TEMPORAL:
        spans = np.where(np.isnan(numbers), 0.0, numbers) * DAY
        values = spans + np.datetime64(0, "us") if content is ColumnContent.DATES else spans
    out = np.empty(len(numbers), dtype=object)
    out[:] = [None if gone else value for gone, value in zip(np.isnan(numbers), values, strict=True)]
    return out


def _objects(values: Sequence[Any]) -> Array:
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out
