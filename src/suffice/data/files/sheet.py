"""What is said of tables: errors, notes, and how a file is to be read."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from suffice._runtime.messages import join_words
from suffice.data.layout import DataError

MISSING = ("", "?", "NA", "N/A", "n/a", "#N/A", "null", "NULL", "Null", "NaN", "nan")  # unless told otherwise


class TableError(DataError):
    """A table cannot be used as it is; the message says what to do."""


@dataclass(frozen=True)
class Reading:
    """How a file is to be read.

    Parameters
    ----------
    na : tuple of str
        Texts that mean that a value is missing, besides the usual ones (`MISSING`).
    decimal : {".", ","} or None
        The decimal point; None: a point, or a comma where all of a column's values have one.
    separator : str or None
        What stands between the values of a line; None: what the first line has most of.
    categorical : tuple of str
        Columns to be read as text, whatever they look like.
    drop : tuple of str
        Columns to be left out.
    written : mapping of column: str
        The way in which columns are written, where that is known, as "dd.mm.yyyy" or "1.234,5".
    """

    na: tuple[str, ...] = ()
    decimal: str | None = None
    separator: str | None = None
    categorical: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    written: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.decimal not in (None, ".", ","):
            raise TableError(f"the decimal point is '.' or ',', got {self.decimal!r}")
        if self.separator is not None and (len(self.separator) != 1 or self.separator in '"\r\n'):
            raise TableError(f"the separator is one character such as ',' ';' or a tab, got {self.separator!r}")
        if self.separator is not None and self.separator == self.decimal:
            raise TableError(f"{self.separator!r} cannot be both the separator and the decimal point")

    @property
    def missing(self) -> tuple[str, ...]:
        """All texts that mean that a value is missing."""
        return (*MISSING, *self.na)


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table that was read: its file, its columns, and a sentence for everything that had to be decided.

    `kept` has the columns that are to be kept, as they are in the file: the text of a text file, else its types.
    `written` has the way in which columns are written, if not plainly.
    """

    path: str
    table: pa.Table
    notes: tuple[str, ...] = ()
    kept: pa.Table = field(default_factory=lambda: pa.table({}))
    written: Mapping[str, str] = field(default_factory=dict)


def nearest(name: str, names: Iterable[object]) -> str:
    """A guess at what was meant, as a sentence, or nothing.

    >>> nearest("lable", ["label", "age"])
    " Did you mean 'label'?"
    """
    lower = {str(known).lower(): str(known) for known in names}
    near = difflib.get_close_matches(name.strip().lower(), lower, 1)
    return f" Did you mean {lower[near[0]]!r}?" if near else ""


def counted(n: int | str, what: str) -> str:
    """A number of things.

    >>> counted(1, "fold"), counted(1234, "fold"), counted("0.5", "point")
    ('1 fold', '1,234 folds', '0.5 points')
    """
    number = f"{n:,}" if isinstance(n, int) else n
    return f"{number} {what}" + "s" * (number != "1")


def check_columns(known: list[str], names: Iterable[str]) -> None:
    """TableError unless a table has columns of these names."""
    for name in names:
        if name not in known:
            names = join_words(known, 30, show_end=True)
            raise TableError(f"there is no column {name!r}.{nearest(name, known)} The columns are: {names}")
