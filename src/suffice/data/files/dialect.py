"""The dialect of a text file: found in one pass of bounded memory, then used for every block."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

import pyarrow as pa
import pyarrow.compute as pc

from suffice.data.files.encoding import TextFile
from suffice.data.files.forms import (
    BARE,
    COMMAS,
    FORMS,
    LABEL,
    LIKE_A_NUMBER,
    PLAIN,
    first_with,
    fits,
    looks_like,
    shows,
)
from suffice.data.files.reading import Reading, TableError
from suffice.data.files.text import Header, TextBlock, blocks, header_note, header_of, line_of, ragged, with_quoted
from suffice.data.files.values import (
    NOTHING,
    TEXT,
    TYPES,
    WORDS,
    Where,
    as_learned,
    finite,
    first_unlike,
    infinite_note,
    kind_of,
    nearly_note,
    plain,
    unmarked,
)
from suffice.data.notations import KEY, NOTATIONS, settled

BLOCKS = (1 << 22, 1 << 26, 1 << 30)  # bytes read at a time; the later ones are for files with longer lines
MAX_EXACT = float(1 << 53)  # doubles hold every whole number below it


@dataclass(frozen=True)
class Dialect:
    """How a text file is written: its header, the block size, and the form of each column.

    `forms` has a name of `FORMS` for each column, "text", or "nothing" for a column without values.
    """

    header: Header
    block: int
    rows: int
    missing: tuple[str, ...]
    forms: Mapping[str, str]
    decimal: str | None = None
    whole: frozenset[str] = frozenset()  # columns of whole numbers
    spaces: frozenset[str] = frozenset()  # columns with spaces around their values
    learned: Mapping[str, str] = field(default_factory=dict)
    changed: Mapping[str, str] = field(default_factory=dict)  # errors of columns that change their kind
    notes: tuple[str, ...] = ()

    @property
    def schema(self) -> pa.Schema:
        """The types of the columns as they are read, with their notations."""
        return pa.schema([self._field(name) for name in self.header.names])

    @property
    def written(self) -> dict[str, str]:
        """The notations of the columns that are not written plainly."""
        return {name: form for name, form in self.forms.items() if form in NOTATIONS}

    def check(self, names: Collection[str]) -> None:
        """TableError if one of these columns changes its kind."""
        wrong = next((self.changed[name] for name in names if name in self.changed), None)
        if wrong is not None:
            raise TableError(wrong)

    def with_label_column(self, name: str | None) -> Dialect:
        """The dialect with a column of labels: whole numbers and booleans as such, other labels as text."""
        form = self.forms.get(name or "", TEXT)
        if name is None or form in ("whole", "boolean", TEXT, NOTHING):
            return self
        form = LABEL if form == "number" and name in self.whole else TEXT
        return replace(self, forms={**self.forms, name: form})

    def tables(self, file: TextFile, names: Collection[str] | None = None) -> Iterator[pa.Table]:
        """The rows of the file, block by block."""
        names = [name for name in self.header.names if names is None or name in names]
        if not self.rows:
            return
        self.check(names)
        direct = {
            name: PLAIN[form]
            for name in names
            if (form := self.forms[name]) in PLAIN
            and not any(name in other for other in (self.spaces, self.learned, self.header.quoted))
        }
        for block in blocks(file, self.header, self.block, names, direct, self.missing, self.decimal):
            columns = [self._read(file, name, block) for name in names]
            yield pa.table(columns, pa.schema([self._field(name) for name in names]))

    def _read(self, file: TextFile, name: str, block: TextBlock) -> pa.ChunkedArray:
        column, form = block.columns[name], self.forms[name]
        if pa.types.is_string(column.type):
            column = unmarked(column, self.missing)
            if form != TEXT and column.null_count == len(column):
                column = pa.chunked_array([pa.nulls(len(column), self._type(name))])
            elif form != TEXT:
                column = fits(column, form, self.decimal)
        column = finite(plain(column))
        if name in self.learned:
            return as_learned(name, column, self.learned[name], place(file, self.header, block.first))
        return column.cast(self._type(name))

    def _field(self, name: str) -> pa.Field:
        written = self.written.get(name)
        return pa.field(name, self._type(name), metadata=None if written is None else {KEY: written.encode()})

    def _type(self, name: str) -> pa.DataType:
        form = self.forms[name]
        if name in self.learned:
            return TYPES[self.learned[name]]
        if form in (TEXT, NOTHING):
            return pa.string() if form == TEXT else pa.null()
        return plain(pa.chunked_array([], FORMS[form])).type


def place(file: TextFile, header: Header, before: int = 0) -> Where:
    """A function that gives the place of a row in messages; `before` is the number of rows before the first."""
    return lambda row: f"{file.path}, line {line_of(file, header, before + row)}"


@dataclass
class ColumnScan:
    """The forms that the values of a column allow so far, and facts for notes."""

    name: str
    decimal: str | None
    forms: list[str]
    notation: str | None = None  # of the values, if it is known
    text: bool = False  # text, whatever the values look like
    shown: set[str] = field(default_factory=set)  # notations of numbers, as a value excludes all others
    known: int = 0  # values that are not missing
    strange: int = 0  # values that are not numbers
    first_strange: tuple[int, str] | None = None  # row and value
    comma: str | None = None  # the first value with one
    like: set[str | None] | None = None  # advice that fits all values
    whole: bool = True
    spaces: bool = False
    infinite: int = 0
    changed: str | None = None

    def add(self, block: TextBlock, missing: Collection[str]) -> None:
        """Scan the values of one more block."""
        raw = block.columns[self.name]
        column = unmarked(raw, missing)
        self.spaces |= not self.spaces and bool(pc.any(pc.not_equal(pc.utf8_trim_whitespace(raw), raw)).as_py())
        if column.null_count == len(column):
            return
        self.known += len(column) - column.null_count
        if self.text:
            return
        read = {form: fits(column, form, self.decimal) for form in self.forms}
        self.forms = [form for form, values in read.items() if values is not None]
        self.shown |= {form for form in self.forms if shows(column, form, self.decimal)}
        number = read.get("number")
        if number is not None:
            self.infinite += pc.sum(pc.is_inf(number)).as_py() or 0
            near = pc.and_(pc.equal(pc.floor(number), number), pc.less(pc.abs(number), MAX_EXACT))
            self.whole = self.whole and bool(pc.all(near).as_py())
        else:
            self._collect_notes(column, block.first)

    def _collect_notes(self, column: pa.ChunkedArray, first: int) -> None:
        """Collect facts for the notes on a column that is not plain numbers."""
        self.whole = False
        if self.comma is None and COMMAS in self.forms:
            self.comma = first_with(column, ",")
        look = looks_like(column)
        self.like = ({look} if self.like is None else self.like) & {look}
        strange = pc.fill_null(pc.invert(pc.match_substring_regex(column, LIKE_A_NUMBER)), False)
        count = pc.sum(strange).as_py()
        self.strange += count
        if count and self.first_strange is None:
            row = pc.index(strange, True).as_py()
            self.first_strange = first + row, column[row].as_py()

    @property
    def form(self) -> str:
        """The form of all values so far."""
        if not self.known and not self.text:
            return NOTHING
        if self.notation is not None:
            kind = FORMS[self.notation]
            return next((form for form in (self.notation, *PLAIN) if form in self.forms and FORMS[form] == kind), TEXT)
        plain_form = next((form for form in PLAIN if form in self.forms), None)
        if plain_form is not None:
            return plain_form
        notation = settled([one for one in self.forms if one in NOTATIONS and self._shows(one)])
        if notation is not None:
            return notation
        # Codes such as 007 fit numbers with decimal commas, too: these need a comma to show.
        commas = COMMAS in self.forms and (self.comma is not None or self.decimal is not None)
        return COMMAS if commas else TEXT

    def _shows(self, notation: str) -> bool:
        """False if the values are numbers in other notations as well, maybe different ones."""
        return NOTATIONS[notation].point is None or notation in self.shown

    @property
    def kind(self) -> str:
        """The kind of the column."""
        form = self.form
        return form if form in (TEXT, NOTHING) else str(kind_of(pa.chunked_array([], FORMS[form])))

    def notes(self, where: Where) -> list[str]:
        """Notes on decisions of the reader."""
        if self.text:
            return []
        if self.form in NOTATIONS:
            return [f"{self.name!r} is read as {NOTATIONS[self.form].words}"]
        if self.form == COMMAS and self.decimal is None:
            return [f"{self.name!r} has decimal commas, as in {self.comma!r}, and is read as numbers"]
        if self.form == TEXT:
            like = next(iter(self.like or ()), None)
            if like is not None:
                return [f"{self.name!r} is read as text, but {like}"]
            return nearly_note(self.name, self.known, self.strange, self.first_strange, where)
        return infinite_note(self.name, self.infinite)


def find_dialect(file: TextFile, how: Reading, learned: Mapping[str, str]) -> Dialect:
    """Find the dialect of a file: one pass over its text, in which each column keeps the forms that all its values fit.

    The first block with values decides the kind of a column. Later blocks may decide its form: the order of day and
    month, or whether numbers are whole.
    """
    header = header_of(file, how)
    notes = (*file.notes, *header_note(file.path, header.names))
    if not header.has_rows:
        return Dialect(header, BLOCKS[0], 0, how.missing, dict.fromkeys(header.names, NOTHING), notes=notes)
    why: str | None = None
    for size in BLOCKS:
        try:
            header = with_quoted(file, header, size)
            rows, scans = _scan(file, header, size, how, learned)
        except pa.ArrowInvalid as error:
            why = ragged(file, header)
            if why:
                break
            why = str(error).splitlines()[0]
            continue
        return _dialect(file, header, size, rows, scans, how, learned, notes)
    raise TableError(
        f"{file.path} cannot be read as a table: {why}. The separator is {header.separator!r}; "
        "give another by --separator (separator= in Python)"
    )


def _dialect(
    file: TextFile,
    header: Header,
    size: int,
    rows: int,
    scans: Mapping[str, ColumnScan],
    how: Reading,
    learned: Mapping[str, str],
    notes: tuple[str, ...],
) -> Dialect:
    where = place(file, header)
    forms = dict.fromkeys(header.names, TEXT) | {name: one.form for name, one in scans.items()}
    found = [note for name, one in scans.items() if name not in how.written for note in one.notes(where)]
    found += [f"{name!r} is read without the quote before formulas" for name in header.names if name in header.quoted]
    return Dialect(
        header,
        size,
        rows,
        how.missing,
        forms,
        how.decimal,
        frozenset(name for name, one in scans.items() if one.whole),
        frozenset(name for name, one in scans.items() if one.spaces),
        {name: kind for name, kind in learned.items() if name in scans},
        {name: one.changed for name, one in scans.items() if one.changed is not None},
        (*notes, *found),
    )


def _scan(
    file: TextFile, header: Header, size: int, how: Reading, learned: Mapping[str, str]
) -> tuple[int, dict[str, ColumnScan]]:
    """Read all rows once: their number, and a scan of each column."""
    scans, rows = {name: _new_scan(name, header, how, learned) for name in header.names if name not in how.drop}, 0
    for block in blocks(file, header, size, header.names):
        for name, one in scans.items():
            kind, forms = one.kind, one.forms
            one.add(block, how.missing)
            fixed = block.first and kind not in (TEXT, NOTHING) and name not in learned
            if one.changed is None and (one.kind == TEXT if one.notation is not None else fixed and one.kind != kind):
                one.changed = _kind_error(file, header, block, one, kind, forms, how)
        rows = block.first + block.rows
    return rows, scans


def _new_scan(name: str, header: Header, how: Reading, learned: Mapping[str, str]) -> ColumnScan:
    if name in how.categorical or learned.get(name) == TEXT:
        return ColumnScan(name, how.decimal, [], text=True)
    notation = how.written.get(name)
    forms = [*PLAIN, *NOTATIONS, COMMAS] if notation is None else [*PLAIN, notation]
    if name in header.strings and name not in learned:
        forms = [form for form in forms if form not in BARE]
    return ColumnScan(name, how.decimal, forms, notation)


def _kind_error(
    file: TextFile, header: Header, block: TextBlock, one: ColumnScan, kind: str, forms: list[str], how: Reading
) -> str:
    """The error of the first value that does not fit the rows before it, with its place."""
    column = unmarked(block.columns[one.name], how.missing)
    forms = [form for form in forms if str(kind_of(pa.chunked_array([], FORMS[form]))) == kind]
    forms = forms if one.notation is None else [one.notation]
    row = first_unlike(column, lambda rows: any(fits(rows, form, how.decimal) is not None for form in forms))
    found = f"{place(file, header, block.first)(row)}, column {one.name!r}: {column[row].as_py()!r}"
    if one.notation is not None:
        learned = f"{NOTATIONS[one.notation].words}, as which the model has learned the column"
        return f"{found} is not of {learned}: write all values in that notation"
    return f"{found} is not a {WORDS[kind]}, as the rows before have: correct it, or write it as a missing value"
