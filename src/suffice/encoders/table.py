"""Tables as people have them: columns of numbers, dates, text, categories and booleans, with missing entries."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, NamedTuple, Self, cast

import narwhals as nw
import numpy as np

from suffice._core.features import CategoricalFeatures, Encoded, Features, difference
from suffice._core.kinds import NUMERIC, TEMPORAL, TEXTUAL, Block, ColumnContent, ColumnScale, ReadAs, temporal
from suffice._core.labels import missing, moment, show, show_all, value_kind
from suffice._core.vector import Array
from suffice.data import Batch, Data
from suffice.data.memory import table
from suffice.data.notations import KEY, MISSING, NOTATIONS, OF_TEXT, PLAIN_SHAPES, content_of, fitting, parsed, settled
from suffice.data.queries import DatabaseRows
from suffice.encoders.base import (
    Encoder,
    as_array,
    check_finite,
    frame_of,
    names_of,
    numbers_of,
    object_array,
    side_by_side,
)
from suffice.encoders.categories import CodedColumn, coded, decoded, entries_of, values_of

DAY = np.timedelta64(86_400_000_000, "us")
TEXTS_LOOKED_AT = 200  # entries of a text column that are tested for being numbers or dates
LOOKS_LIKE = 0.9  # share of these that must parse for the column to be called so


class Column:
    """One column of a data frame or an array (n,), and its name in messages."""

    def __init__(self, values: Any, called: str, notation: str | None = None) -> None:
        self.values, self.called = values, called
        self.dtype = values.dtype
        self.notation = notation  # in which a file had the values as text

    def _by_type(self) -> tuple[ColumnScale, ColumnContent] | None:
        """Its scale and content by the type of its values; None if the type does not tell."""
        dtype = self.dtype
        if isinstance(dtype, np.dtype):
            if dtype.kind in "UT":
                return ColumnScale.CATEGORY, _content_of_text(self.objects())
            return _BY_LETTER.get(dtype.kind)
        if dtype == nw.Boolean:
            return ColumnScale.CATEGORY, ColumnContent.BOOLEANS
        if dtype.is_numeric():
            return ColumnScale.NUMBER, ColumnContent.WHOLE_NUMBERS if dtype.is_integer() else ColumnContent.NUMBERS
        if dtype == nw.String:
            # narwhals also calls an object column of nothing but None a string column.
            values = self.objects()
            return (ColumnScale.CATEGORY, _content_of_text(values)) if any(isinstance(v, str) for v in values) else None
        if dtype in (nw.Categorical, nw.Enum):
            return ColumnScale.CATEGORY, ColumnContent.CATEGORIES
        times = temporal(dtype)
        if times is not None:
            return ColumnScale.NUMBER, times
        if dtype.is_nested() or dtype == nw.Binary:
            raise TypeError(
                f"{self.called} holds {dtype} values, but an entry of a table is one value: make each part a column of "
                "its own, convert it to strings, or leave it out with columns={...: 'drop'}"
            )
        return None

    def kind(self) -> ColumnKind:
        """Its scale and content by its type, or by its values where the type does not tell, and its notations."""
        scale, holds = self._by_type() or self._by_values()
        if holds in TEXTUAL:
            return ColumnKind(scale, holds, self._notations())
        return ColumnKind(scale, holds, () if self.notation is None else (self.notation,))

    def _notations(self) -> tuple[str, ...]:
        """The notations that fit all values; none fits a word without digits, which most text begins with."""
        values = self.objects()
        first = next((value for value in values if isinstance(value, str)), "")
        return fitting(values) if first.strip() in MISSING or any(map(str.isdigit, first)) else ()

    def _by_values(self) -> tuple[ColumnScale, str]:
        present = {_content(v) for v in self.objects() if not missing(v)}
        if not present:
            # NaN is a float: a column of nothing else is one of numbers.
            floats = any(isinstance(v, float) for v in self.objects())
            return ColumnScale.NUMBER if floats else ColumnScale.NOTHING, ColumnContent.EMPTY
        if len(present) == 1 and present <= NUMERIC:
            return ColumnScale.NUMBER, present.pop()
        text = present == {ColumnContent.TEXT}
        return ColumnScale.CATEGORY, _content_of_text(self.objects()) if text else " and ".join(sorted(present))

    def read(self) -> Column:
        """The column with its text as dates, times or numbers, if all of it is in one notation."""
        values = self.objects() if self._has_text() else []
        name = settled(fitting(values))
        return self if name is None else self._in(name, values)

    def _in(self, name: str, values: list[Any]) -> Column:
        """The column with its text in a notation as values."""
        known = {value: parsed(value, name) for value in set(values) if isinstance(value, str)}
        dtype: Any = {ColumnContent.DATES: "M8[us]", ColumnContent.NUMBERS: float}.get(content_of(name), object)
        return Column(np.array([known.get(value) for value in values], dtype=dtype), self.called)

    def read_as(self, role: Role) -> Column:
        """The column as a model reads it: text as dates, times or numbers where these were learned."""
        if role.kind in (ReadAs.CATEGORY, ReadAs.DROP) or role.content not in NUMERIC or not self._has_text():
            return self
        values = self.objects()
        found = fitting(values)
        if found == OF_TEXT:
            return Column(np.full(len(values), None), self.called)  # missing, all of them
        allowed = OF_TEXT if role.notation is None else (*PLAIN_SHAPES, role.notation)
        names = [name for name in found if content_of(name) is role.content and name in allowed]
        name = settled(names)
        if name is None and role.content in TEMPORAL:
            raise ValueError(self._unreadable(values, role))
        return self if name is None else self._in(name, values)

    def _has_text(self) -> bool:
        dtype = self.dtype
        if dtype in (np.dtype(object), nw.Object):
            return any(isinstance(value, str) for value in self.objects())
        return dtype.kind in "UT" if isinstance(dtype, np.dtype) else dtype in (nw.String, nw.Categorical, nw.Enum)

    def _unreadable(self, values: list[Any], role: Role) -> str:
        """The error of text that is to be read as dates or times."""
        names = OF_TEXT if role.notation is None else (*PLAIN_SHAPES, role.notation)
        text = [value for value in values if isinstance(value, str) and value.strip() not in MISSING]
        strange = [value for value in text if all(parsed(value, name) is None for name in names)]
        plain = "hh:mm" if role.content is ColumnContent.TIMES_OF_DAY else "yyyy-mm-dd"
        now = show((strange or text)[0])
        return (
            f"{self.called} held {role.holds} in the first rows, and now holds {now}: correct it, or write all values "
            f"in one way, as {role.notation or plain}"
        )

    def objects(self) -> list[Any]:
        """Its values as Python objects."""
        values = self.values if isinstance(self.values, np.ndarray) else self.values.to_numpy()
        listed: list[Any] = np.asarray(values).astype(object).tolist()
        return listed

    def categories(self) -> Array:
        """Its values (n,), None or NaT where an entry is missing."""
        return self.values if isinstance(self.values, np.ndarray) else values_of(self.values)

    def entries(self) -> Array | CodedColumn:
        """Its values (n,), with their codes if the column is a categorical of pandas."""
        return self.values if isinstance(self.values, np.ndarray) else entries_of(self.values)

    def absent(self) -> Array:
        """True for missing entries (n,)."""
        if not isinstance(self.values, np.ndarray):
            return np.isnan(self.numbers()) if self.dtype.is_float() else np.asarray(self.values.is_null().to_numpy())
        if self.dtype.kind in "fMm":
            return np.isnan(self.values) if self.dtype.kind == "f" else np.isnat(self.values)
        return np.array([missing(v) for v in self.values.tolist()], dtype=bool)

    def numbers(self) -> Array:
        """Its values as numbers (n,), NaN where an entry is missing; dates and durations in days, times in hours."""
        values: Any = self.values
        if not isinstance(values, np.ndarray):
            if isinstance(values.dtype, nw.Datetime) and values.dtype.time_zone is not None:
                values = values.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
            values = numbers_of(values) if values.dtype.is_numeric() else values_of(values)
        if values.dtype.kind in "Mm":
            return _days(values)
        if values.dtype.kind in "biuf":
            return np.asarray(values if values.dtype in (np.float32, np.float64) else values.astype(float))
        return np.array([self._number(v) for v in values.tolist()], dtype=float)

    def _number(self, value: Any) -> float:
        if missing(value):
            return np.nan
        if isinstance(value, datetime.time):
            return value.hour + value.minute / 60 + value.second / 3600
        if isinstance(value, datetime.timedelta | np.timedelta64):
            return float(_days(np.array([value], dtype="m8[us]"))[0])
        day = _moment(value)
        if day is not None:
            return float(_days(np.array([day]))[0])
        try:
            return float(value)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{self.called} is to be read as numbers, but holds {show(value)}: correct it, or read the column as "
                "categories"
            ) from error


_BY_LETTER = {
    "b": (ColumnScale.CATEGORY, ColumnContent.BOOLEANS),
    "i": (ColumnScale.NUMBER, ColumnContent.WHOLE_NUMBERS),
    "u": (ColumnScale.NUMBER, ColumnContent.WHOLE_NUMBERS),
    "f": (ColumnScale.NUMBER, ColumnContent.NUMBERS),
    "M": (ColumnScale.NUMBER, ColumnContent.DATES),
    "m": (ColumnScale.NUMBER, ColumnContent.DURATIONS),
}


def _content(value: Any) -> str:
    """The content of a column that holds this value, in words."""
    if isinstance(value, bool | np.bool_):
        return ColumnContent.BOOLEANS
    if isinstance(value, str):
        return ColumnContent.TEXT
    if isinstance(value, datetime.time):
        return ColumnContent.TIMES_OF_DAY
    if isinstance(value, datetime.timedelta | np.timedelta64):
        return ColumnContent.DURATIONS
    if isinstance(value, Decimal):
        return ColumnContent.NUMBERS
    return value_kind(value) if _moment(value) is None else ColumnContent.DATES


def _moment(value: Any) -> np.datetime64 | None:
    """A date, with or without a time zone, or the start of a period, as a moment in UTC; None for anything else."""
    if hasattr(value, "to_timestamp"):
        value = value.to_timestamp()
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    return moment(value)


def _content_of_text(values: list[Any]) -> ColumnContent:
    """Text, text like numbers or text like dates, by a sample of the values."""
    some = [v for v in values[:: max(1, len(values) // TEXTS_LOOKED_AT)] if isinstance(v, str)]
    likely: dict[ColumnContent, Callable[[str], Any]] = {
        ColumnContent.TEXT_LIKE_NUMBERS: lambda text: float(text.rstrip("%").replace(",", ".")),
        ColumnContent.TEXT_LIKE_DATES: datetime.datetime.fromisoformat,
    }
    for content, parse in likely.items():
        if some and sum(_parses(parse, text.strip()) for text in some) > LOOKS_LIKE * len(some):
            return content
    return ColumnContent.TEXT


def _parses(parse: Callable[[str], Any], text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True


def _days(times: Array) -> Array:
    """Moments (since 1970) and durations in days (n,)."""
    span = times.astype("m8[us]") if times.dtype.kind == "m" else times.astype("M8[us]") - np.datetime64(0, "us")
    return np.where(np.isnat(span), np.nan, span / DAY)


@dataclass(frozen=True, eq=False)
class BlockFeatures(Features):
    """The columns of a table in named blocks, each with its own features; a column may be in none or in several.

    Entries, identities, orders and keys of rows are those of all blocks side by side.

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
        """The same columns with new features of the blocks."""
        return replace(self, parts=dict(parts))

    def check(self, other: Features) -> None:
        super().check(other)
        if not isinstance(other, BlockFeatures):
            raise ValueError("the columns are in blocks here and not there")
        for j in range(self.width):
            here, there = (" and ".join(n for n, at in one.at.items() if j in at) or "nothing" for one in (self, other))
            if here != there:
                raise ValueError(
                    f"{self.name(j)} is read as {here} here and as {there} there: say which in `columns`, or convert it"
                )

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
        return np.concatenate([part.absent(block(X, name)) for name, part in self.parts.items()], axis=1)

    def blank(self, values: Any, which: Array) -> Any:
        each = np.split(which, np.cumsum([part.width for part in self.parts.values()])[:-1])
        pairs = zip(self.parts.items(), each, strict=True)
        return BlockValues({name: part.blank(values.parts[name], own) for (name, part), own in pairs})

    def identity(self, values: Any) -> Array:
        """The identities of all blocks, as the bits of numbers."""
        each = [part.identity(values.parts[name]) for name, part in self.parts.items()]
        wide = [one.astype(np.float64 if one.dtype.kind == "f" else np.int64, copy=False) for one in each]
        bits = [np.ascontiguousarray(one).view(np.int64) for one in wide]
        return bits[0] if len(bits) == 1 else np.column_stack(bits)

    @property
    def ordered(self) -> Array:
        return np.concatenate([part.ordered for part in self.parts.values()])

    @property
    def keys(self) -> tuple[Any, ...]:
        return tuple(key for name in self.parts for key in self.keys_of(name))

    def keys_of(self, name: str) -> tuple[Any, ...]:
        """The keys of one block; columns without names go by their numbers in the table."""
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
        """The number of rows, and of the columns of all blocks."""
        shapes = [values.shape for values in self.parts.values()]
        return shapes[0][0], sum(shape[1] for shape in shapes)

    def __getitem__(self, rows: Any) -> BlockValues:
        return BlockValues({name: values[rows] for name, values in self.parts.items()})


def block(X: Encoded, name: str) -> Encoded:
    """The rows of one block."""
    features: Any = X.features
    values: Any = X.values
    return Encoded(features.part(name), values.parts[name])


BLOCKS = {ReadAs.BINS: Block.BINS, ReadAs.GAUSSIAN: Block.GAUSSIAN, ReadAs.CATEGORY: Block.CATEGORY}
KEPT_BLOCKS = {**BLOCKS, ReadAs.BINS: Block.BINS_KEPT, ReadAs.CATEGORY: Block.CATEGORY_KEPT}


class Role(NamedTuple):
    """The kind that a column is read as, and its content."""

    name: Any  # its name, or its number
    kind: ReadAs
    holds: str  # its content in words
    given: bool  # whether the user gave its kind
    notation: str | None = None  # of values that were read from text, if that was not plain

    @property
    def content(self) -> ColumnContent:
        """The content of its values."""
        return ColumnContent(self.holds)

    @property
    def block(self) -> str | None:
        """Its block, if any. Columns with a given kind, and dates, are never taken for identifiers."""
        return (KEPT_BLOCKS if self.given or self.content in TEMPORAL else BLOCKS).get(self.kind)


class ColumnKind(NamedTuple):
    """What some rows show of a column. `a & b` is what they show together: a decides if it has values."""

    scale: str  # a ColumnScale
    holds: str  # its content in words
    notations: tuple[str, ...] = ()  # that fit all values

    def __and__(self, other: ColumnKind) -> ColumnKind:
        if self.scale == ColumnScale.NOTHING:
            return other
        if other.scale == ColumnScale.NOTHING or not self.notations:
            return self
        both = tuple(name for name in self.notations if name in other.notations)
        # Further rows settle the order of day and month. A column that was settled stays: other text is an error.
        return self if not both and settled(self.notations) else self._replace(notations=both)

    def role(self, name: Any, numeric: ReadAs, given: str | None) -> Role:
        """The role of the column, whose kind may be given; numbers are read as `numeric`."""
        notation, scale, holds = settled(self.notations) if self.notations else None, self.scale, str(self.holds)
        if notation is None and 0 < len(self.notations) < len(OF_TEXT):
            holds = str(ColumnContent.TEXT_LIKE_DATES)  # of which nothing shows what is the day
        if given == ReadAs.CATEGORY:
            notation = None
        elif notation is not None and scale == ColumnScale.CATEGORY:
            scale, holds = ColumnScale.NUMBER, str(content_of(notation))
        kind = given or (numeric if scale == ColumnScale.NUMBER else ReadAs.CATEGORY)
        return Role(name, ReadAs(kind), holds, given is not None, notation if notation in NOTATIONS else None)


@dataclass(frozen=True)
class Survey:
    """The kinds of the columns of some rows. `a + b` takes a column's kind from b where a has seen no values of it."""

    names: tuple[str, ...] | None
    kinds: tuple[ColumnKind, ...]

    @classmethod
    def of(cls, X: Any, who: str) -> Survey:
        """Survey the rows of a table."""
        names, columns = columns_of(X, who)
        return cls(names, tuple(column.kind() for column in columns))

    def __add__(self, other: Survey) -> Survey:
        if self.kinds == other.kinds:
            return self
        if len(self.kinds) != len(other.kinds):
            raise ValueError(f"the features differ: {len(self.kinds)} here, {len(other.kinds)} there")
        return replace(self, kinds=tuple(a & b for a, b in zip(self.kinds, other.kinds, strict=True)))


@dataclass(frozen=True)
class SurveyColumns:
    """The survey of a batch, as a value that can travel to where the rows are."""

    who: str

    def __call__(self, batch: Batch) -> Survey:
        return Survey.of(batch.X, self.who)

    def query(self, rows: DatabaseRows) -> Survey:
        """Survey the rows of a database."""
        names = rows.features.names
        return Survey(
            None if names is None else tuple(names.tolist()), tuple(ColumnKind(*one) for one in rows.holding())
        )


def columns_of(X: Any, who: str) -> tuple[tuple[str, ...] | None, list[Column]]:
    """The columns of a table, and their names if they have any."""
    frame = frame_of(X)
    if frame is not None:
        names, written = tuple(names_of(frame).tolist()), _notations_in(frame.to_native())
        pairs = zip(frame.iter_columns(), names, strict=True)
        return names, [Column(series, f"column {name!r}", written.get(name)) for series, name in pairs]
    return None, [Column(values, f"column {j}") for j, values in enumerate(as_array(table(X), who).T)]


def _notations_in(table: Any) -> dict[str, str]:
    """The notations of columns that were read from text, by name, which an Arrow table keeps with its types."""
    fields = table.schema if hasattr(getattr(table, "schema", None), "metadata") else ()
    named = {field.name: (field.metadata or {}).get(KEY, b"").decode() for field in fields}
    return {name: notation for name, notation in named.items() if notation in NOTATIONS}


@dataclass(frozen=True)
class Table(Encoder):
    """Columns in blocks by their kind: "bins" and "gaussian" hold numbers (n, d), "category" codes (n, d).

    By its type a column of numbers, dates (in days) or durations is numeric, any other is a category. Text is read as
    in files: if all values are dates, times, amounts of a currency or percentages in one notation, it is numeric.
    Missing entries are NaN or the code -1.

    Parameters
    ----------
    columns : tuple of (name or number, kind)
        Given kinds, in place of those by type: "bins", "gaussian", "category" or "drop".
    numeric : {"bins", "gaussian"}
        The kind of numeric columns.
    indicator : bool
        Whether to add a block "missing" that flags the missing entries of every column.
    who : str
        The estimator's name in messages.

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
        """Check the settings of an estimator and make its table of them."""
        if columns is not None and not isinstance(columns, Mapping):
            raise ValueError(f"{who}: columns must be None or a dict of column: kind, got {columns!r}")
        given = tuple((columns or {}).items())
        for name, read_as in given:
            if read_as not in kinds:
                raise ValueError(f"{who}: columns[{name!r}] must be one of {kinds}, got {read_as!r}")
        return cls(given, ReadAs(numeric), indicator, who)

    def prepare(self, data: Data) -> Self:
        """Return the encoder with the role of every column, by its type, or by its values if the type does not tell."""
        if self.roles is not None:
            return self
        # The types of the columns may tell all, without reading a row.
        typed = data.empty_frame()
        survey = None if typed is None else Survey.of(typed, self.who)
        if survey is None or any(kind.scale == ColumnScale.NOTHING for kind in survey.kinds):
            survey = data.sum(SurveyColumns(self.who))
        features = Features(len(survey.kinds), None if survey.names is None else object_array(survey.names))
        given = {features.index(name, f"{self.who}: `columns`"): kind for name, kind in self.columns}
        pairs = enumerate(zip(features.keys, survey.kinds, strict=True))
        roles = [kind.role(key, self.numeric, given.get(j)) for j, (key, kind) in pairs]
        if all(role.kind == ReadAs.DROP for role in roles):
            raise ValueError(f"{self.who}: every column is left out by `columns`: nothing remains to learn from")
        return replace(self, roles=tuple(roles), names=survey.names)

    def holding(self) -> Mapping[Any, ColumnContent]:
        return {role.name: role.content for role in self.roles or ()}

    def notations(self) -> Mapping[Any, str]:
        return {role.name: role.notation for role in self.roles or () if role.notation is not None}

    def without(self, columns: Iterable[int]) -> Self:
        """The prepared encoder without some columns, given by their numbers."""
        gone = set(columns)
        roles = (role._replace(kind=ReadAs.DROP) if j in gone else role for j, role in enumerate(self.roles or ()))
        return replace(self, roles=tuple(roles))

    def check(self, other: Encoder) -> None:
        if not isinstance(other, Table):
            return super().check(other)
        return self._layout().check(other._layout())

    def _layout(self) -> BlockFeatures:
        """The columns of each block, still without features."""
        if self.roles is None:
            raise ValueError("the columns of the table are not known yet: prepare the encoder first")
        blocks = [role.block for role in self.roles]
        at: dict[str, Array] = {block: np.flatnonzero([one == block for one in blocks]) for block in READ}
        at = {block: which for block, which in at.items() if len(which)}
        if self.indicator:
            at[Block.MISSING] = np.flatnonzero([one is not None for one in blocks])
        return BlockFeatures(len(blocks), None if self.names is None else object_array(self.names), at=at)

    def encode(self, X: Any) -> Encoded:
        layout = self._layout()
        names, columns = columns_of(X, self.who)
        self._check_columns(names, len(columns))
        columns = [column.read_as(role) for role, column in zip(self.roles or (), columns, strict=True)]
        for role, column in zip(self.roles or (), columns, strict=True):
            self._check_kind(role, column)
        keys = object_array([role.name for role in self.roles or ()])
        parts = {name: READ[name]([columns[j] for j in at], keys[at], self.who) for name, at in layout.at.items()}
        features = layout.with_parts({name: part.features for name, part in parts.items()})
        values: Any = BlockValues({name: part.values for name, part in parts.items()})
        return Encoded(features, values)

    def sql_columns(self, rows: DatabaseRows) -> DatabaseRows:
        layout = self._layout()
        if Block.MISSING in layout.at:
            raise TypeError(f"{self.who}: tables of missing entries are not available in a database: fit in memory")
        names = rows.features.names
        self._check_columns(None if names is None else tuple(names.tolist()), rows.features.width)
        divided = rows.divided(layout)
        for name in layout.at:
            if READ[name] is _numbers:
                divided.block(name).check_numbers(True, self.who)
        return divided

    def decode(self, X: Encoded) -> Array:
        """The columns as objects (n, d), dates as dates; None for entries that are missing or left out."""
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
        """ValueError if a column of dates, or one that had no values in the first rows, now holds numbers."""
        times, empty = role.content in TEMPORAL, role.content is ColumnContent.EMPTY
        if role.given or not (times or (empty and role.kind == ReadAs.CATEGORY)):
            return
        now = column.kind().role(role.name, self.numeric, None)
        if empty and now.kind != ReadAs.CATEGORY and now.content is not ColumnContent.EMPTY:
            raise ValueError(
                f"{column.called} had no values in the first rows, and now holds {now.holds}: begin with rows that "
                f"have some, or say in `columns` what to read it as"
            )
        if times and now.content not in (*TEMPORAL, ColumnContent.EMPTY):
            raise ValueError(
                f"{column.called} held {role.holds} in the first rows, and now holds {now.holds}: convert it"
            )

    def _check_columns(self, names: tuple[str, ...] | None, width: int) -> None:
        """ValueError, in the words that scikit-learn's checks look for, unless these are the columns learned from."""
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


def _codes(columns: list[Column], names: Array, who: str) -> Encoded:  # noqa: ARG001 - any value is accepted
    return coded((column.entries() for column in columns), names)


READ: dict[str, Callable[[list[Column], Array, str], Encoded]] = {
    Block.BINS: _numbers,
    Block.BINS_KEPT: _numbers,
    Block.GAUSSIAN: _numbers,
    Block.CATEGORY: _codes,
    Block.CATEGORY_KEPT: _codes,
    Block.MISSING: lambda columns, names, _: coded((column.absent() for column in columns), names),
}


def _written(content: ColumnContent, numbers: Array) -> Array:
    """Numbers (n,) as objects: dates, durations or times of day if the column held such, None for NaN."""
    values: Any = numbers
    if content is ColumnContent.TIMES_OF_DAY:  # in hours, as `Column.numbers` has them
        seconds = np.clip(np.where(np.isnan(numbers), 0.0, numbers) * 3600, 0, 86_399).astype(int)
        values = [datetime.time(s // 3600, s // 60 % 60, s % 60) for s in seconds.tolist()]
    elif content in TEMPORAL:
        spans = np.where(np.isnan(numbers), 0.0, numbers) * DAY
        values = spans + np.datetime64(0, "us") if content is ColumnContent.DATES else spans
    return object_array([None if gone else value for gone, value in zip(np.isnan(numbers), values, strict=True)])
