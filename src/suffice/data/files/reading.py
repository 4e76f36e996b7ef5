"""Settings of the reader of files, its errors, and the table with notes that it returns."""

from __future__ import annotations

import difflib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from suffice._core.labels import is_index
from suffice._runtime.messages import join_words
from suffice.data.layout import DataError
from suffice.data.notations import MISSING


class TableError(DataError):
    """A table cannot be used as it is; the message says what to do."""


@dataclass(frozen=True)
class Reading:
    """Settings of the reader of a file.

    Parameters
    ----------
    na : tuple of str
        Texts that mark missing values, in addition to the usual ones (`MISSING`).
    decimal : {".", ","} or None
        The decimal point; None: a point, or a comma if all values of a column have one.
    separator : str or None
        The separator of values; None: the most frequent one of the first line.
    categorical : tuple of str
        Columns to read as text, whatever they look like.
    drop : tuple of str
        Columns to leave out.
    written : mapping of column: str
        The ways in which columns are written, if known, as "dd.mm.yyyy" or "1.234,5".
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
        """All texts that mark missing values."""
        return (*MISSING, *self.na)


@dataclass(frozen=True, eq=False)
class FileTable:
    """A table that was read: its file, its columns, and a note on every decision of the reader.

    `kept` has the columns to keep unchanged: the text of a text file, else its types. `written` has the ways of the
    columns that are not written plainly.
    """

    path: str
    table: pa.Table
    notes: tuple[str, ...] = ()
    kept: pa.Table = field(default_factory=lambda: pa.table({}))
    written: Mapping[str, str] = field(default_factory=dict)


def nearest(name: str, names: Iterable[object]) -> str:
    """A guess at the intended name as a sentence, or "".

    >>> nearest("lable", ["label", "age"])
    " Did you mean 'label'?"
    """
    lower = {str(known).lower(): str(known) for known in names}
    near = difflib.get_close_matches(name.strip().lower(), lower, 1)
    return f" Did you mean {lower[near[0]]!r}?" if near else ""


def counted(n: int | str, what: str) -> str:
    """A number and a noun, in the plural unless it is 1.

    >>> counted(1, "fold"), counted(1234, "fold"), counted("0.5", "point")
    ('1 fold', '1,234 folds', '0.5 points')
    """
    number = f"{n:,}" if isinstance(n, int) else n
    return f"{number} {what}" + "s" * (number != "1")


def check_columns(known: list[str], names: Iterable[str]) -> None:
    """TableError unless a table has columns of these names."""
    for name in names:
        if name not in known:
            columns = join_words(known, 30, show_end=True)
            raise TableError(f"there is no column {name!r}.{nearest(name, known)} The columns are: {columns}")


def index_columns(schema: pa.Schema, named: Collection[str | None] = ()) -> list[str]:
    """The columns of a file that are the index of a pandas data frame, except those that are named.

    They identify rows, so they are features only if they are named. A file says which they are, or their names do. An
    index that counts the rows is not a column of a file that says so.

    >>> import pandas as pd, pyarrow as pa
    >>> index_columns(pa.Schema.from_pandas(pd.DataFrame({"a": [1]}, index=pd.Index(["u"], name="id"))))
    ['id']
    >>> index_columns(pa.schema({"": pa.int64(), "a": pa.int64()})), index_columns(pa.schema({"": pa.string()}))
    ([''], [])
    """
    try:
        found = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    except ValueError:
        found = None
    levels = found.get("index_columns") if isinstance(found, dict) else None
    said = levels if isinstance(levels, list) else []
    index = [one.name for one in schema if one.name in said or (pa.types.is_integer(one.type) and is_index(one.name))]
    return [name for name in index if name not in named]


def index_notes(index: Sequence[str]) -> tuple[str, ...]:
    """The note on an index that is left out, if there is one.

    >>> index_notes(["id"]), index_notes([])
    (("'id' is the index of a data frame, left out",), ())
    """
    are = "is" if len(index) == 1 else "are"
    return (f"{join_words(map(repr, index))} {are} the index of a data frame, left out",) if index else ()
