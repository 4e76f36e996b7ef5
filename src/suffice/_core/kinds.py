"""The vocabulary of columns: what they hold, what they are read as, and why they are left out."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import narwhals as nw


class Word(StrEnum):
    """A word of the vocabulary, which is equal to plain text, and shown and stored as such."""

    __repr__ = str.__repr__


class ColumnContent(Word):
    """The content of a column. `ColumnContent(words)` also takes the words of older files.

    >>> ColumnContent("boolean"), ColumnContent("numbers and text") is ColumnContent.MIXED
    ('booleans', True)
    """

    NUMBERS = "numbers"
    WHOLE_NUMBERS = "whole numbers"
    BOOLEANS = "booleans"
    TEXT = "text"
    TEXT_LIKE_NUMBERS = "text like numbers"
    TEXT_LIKE_DATES = "text like dates"
    CATEGORIES = "categories"
    DATES = "dates"
    DURATIONS = "durations"
    TIMES_OF_DAY = "times of day"
    TIMES = "times"  # only in older files: durations or times of day
    EMPTY = "no values"
    MIXED = "values of several types"  # or of another type; words such as "numbers and text" say more

    @classmethod
    def _missing_(cls, value: Any) -> ColumnContent:
        return cls.BOOLEANS if value in ("boolean", "truth values") else cls.MIXED


CLOCKED = frozenset({ColumnContent.DURATIONS, ColumnContent.TIMES_OF_DAY, ColumnContent.TIMES})
TEMPORAL = CLOCKED | {ColumnContent.DATES}
NUMERIC = TEMPORAL | {ColumnContent.NUMBERS, ColumnContent.WHOLE_NUMBERS}
TEXTUAL = frozenset({ColumnContent.TEXT, ColumnContent.TEXT_LIKE_NUMBERS, ColumnContent.TEXT_LIKE_DATES})
TEMPORAL_TYPES = (
    (nw.Date, ColumnContent.DATES),
    (nw.Datetime, ColumnContent.DATES),
    (nw.Duration, ColumnContent.DURATIONS),
    (nw.Time, ColumnContent.TIMES_OF_DAY),
)


def temporal(dtype: Any) -> ColumnContent | None:
    """The content of a column of dates or times, by its type in narwhals; None for other types."""
    return next((content for one, content in TEMPORAL_TYPES if dtype == one), None)


class ColumnScale(Word):
    """The scale of a column, numbers or categories, by its type or its values."""

    NUMBER = "number"
    CATEGORY = "category"
    NOTHING = "nothing"  # all values are missing, and the type does not decide


class ReadAs(Word):
    """What a model reads a column as."""

    BINS = "bins"
    GAUSSIAN = "gaussian"
    CATEGORY = "category"
    DROP = "drop"


class Block:
    """Names of the blocks of columns of a table. Columns of the kept blocks are never treated as identifiers."""

    BINS = "bins"
    BINS_KEPT = "bins, kept"
    GAUSSIAN = "gaussian"
    CATEGORY = "category"
    CATEGORY_KEPT = "category, kept"
    MISSING = "missing"  # which entries are missing


BINNED = (Block.BINS, Block.BINS_KEPT)
CATEGORICAL = (Block.CATEGORY, Block.CATEGORY_KEPT)


class LeftOut(Word):
    """Why a column is left out. `LeftOut(words)` also takes the sentences of older files."""

    CONSTANT = "constant"
    ROUNDED = "rounded"
    EMPTY = "missing"
    NUMBERS_ROWS = "numbers the rows"
    NAMES_ROWS = "names the rows"
    RARE = "rare"
    GIVEN = "given"
    ENCODER = "encoder"
    UNHELPFUL = "unhelpful"

    @property
    def may_change(self) -> bool:
        """True if further rows may bring the column back, as it has only been constant so far."""
        return self in (LeftOut.CONSTANT, LeftOut.ROUNDED, LeftOut.EMPTY)

    @property
    def sentence(self) -> str:
        """The reason as a sentence for people."""
        return SENTENCES[self]

    @classmethod
    def _missing_(cls, value: Any) -> LeftOut:
        known = {sentence: reason for reason, sentence in SENTENCES.items()}
        return known.get(value, cls.NAMES_ROWS)  # whose sentence had a number in it


SENTENCES = {
    LeftOut.CONSTANT: "left out: it has one value only",
    LeftOut.ROUNDED: "left out: it has one value only, to double precision",
    LeftOut.EMPTY: "left out: it has no values",
    LeftOut.NUMBERS_ROWS: "left out: an identifier, it numbers the rows",
    LeftOut.NAMES_ROWS: "left out: an identifier, nearly every row has its own value",
    LeftOut.RARE: "left out: every value has fewer than min_frequency rows",
    LeftOut.GIVEN: "left out, as `columns` says",
    LeftOut.ENCODER: "left out, as in the fit of the encoder",
    LeftOut.UNHELPFUL: "left out: with it, rows left out are not predicted better",
}
