"""Files of rows: which files a path names, the types of their columns, and their rows batch by batch."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from suffice._core.labels import show
from suffice._runtime.lazy import cached_property
from suffice._runtime.messages import join_words
from suffice._runtime.system import optional
from suffice.data.files.dialect import Dialect, find_dialect
from suffice.data.files.encoding import TextFile, text_file
from suffice.data.files.reading import Reading, index_columns
from suffice.data.files.values import finite, unmarked
from suffice.data.layout import DataError, Layout, located

pa = optional("pyarrow", "cli")
dataset = optional("pyarrow.dataset", "cli")
fs = optional("pyarrow.fs", "cli")
parquet = optional("pyarrow.parquet", "cli")

SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".jsonl": "csv",
    ".ndjson": "csv",
    ".arrow": "ipc",
    ".feather": "ipc",
    ".ipc": "ipc",
}
FIRST_BYTES = {b"PAR1": "parquet", b"ARROW1": "ipc"}
COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")  # suffixes after that of a text file
ALL_FILES: tuple[str, ...] = ("**", "*")  # the pattern of a folder
LOCAL_BUFFER = 1 << 17  # bytes of a column read at a time, which fit a cache
REMOTE_BUFFER = 1 << 20  # bytes that are worth a request
READ_AHEAD = 2  # batches
PIECE_ROWS = 1 << 18


class FileRows(NamedTuple):
    """Some rows of a file."""

    path: str
    table: Any  # pyarrow.Table


class Piece(NamedTuple):
    """Row groups of a Parquet file."""

    path: str
    groups: tuple[int, ...]


TEXT_FORMATS = ("csv", "json")  # which the reader of text tells apart itself
FORMATS = ("parquet", "ipc", *TEXT_FORMATS)


def _format_of(name: str) -> Any:
    typed = {"parquet": "ParquetFileFormat", "ipc": "IpcFileFormat"}
    return getattr(dataset, typed[name])() if name in typed else name


@contextmanager
def readable(path: str) -> Iterator[None]:
    """Raise errors of a file as a DataError that names it."""
    try:
        with located(path):
            yield
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"{path}: {error}") from error


@dataclass(frozen=True)
class FileList:
    """Files of one format, in order."""

    paths: tuple[str, ...]
    filesystem: Any
    format: Any
    target: str | None = None  # the column of the labels
    keys: tuple[str, ...] = ()  # columns that are returned as they are
    hive: bool = False  # folders such as year=2024 are columns
    reading: Reading = field(default_factory=Reading)
    learned: Mapping[str, str] = field(default_factory=dict)  # kinds of columns of text files, from a model

    @classmethod
    def of(cls, given: Any, filesystem: Any, kind: Any, layout: Layout, hive: bool, reading: Reading) -> FileList:
        """The files that a path, a pattern, a folder or a list of them names."""
        paths = list(given) if isinstance(given, list | tuple) else [given]
        if not paths or not all(isinstance(one, str | os.PathLike) for one in paths):
            raise TypeError(f"files are given by a path, a pattern, a folder or a list of them, got {given!r}")
        names = [os.fspath(one) for one in paths]
        if filesystem is None and "://" in names[0]:
            with readable(names[0]):
                filesystem = _filesystem(names[0])
            names = [name.partition("://")[2] for name in names]
        filesystem = fs.LocalFileSystem() if filesystem is None else filesystem
        if not isinstance(filesystem, fs.FileSystem):
            raise TypeError(f"filesystem must be None or one of pyarrow.fs, got {filesystem!r}")
        found = [path for name in names for path in _found(name, filesystem, kind is None)]
        kind = _format(found, kind, filesystem)
        return cls(tuple(found), filesystem, kind, layout.target, layout.keys, hive, reading)

    @cached_property
    def dialects(self) -> dict[str, tuple[TextFile, Dialect]]:
        """Scans every text file once: the file and its dialect, by path; notations are those of the files before."""
        found: dict[str, tuple[TextFile, Dialect]] = {}
        how = self.reading
        for path in self.paths if self.format in TEXT_FORMATS else ():
            with readable(path):
                file = text_file(path, partial(self.filesystem.open_input_stream, path))
                dialect = find_dialect(file, how, self.learned)
                how = replace(how, written={**dialect.written, **how.written})
                found[path] = file, dialect.with_label_column(self.target)
        return found

    @cached_property
    def folders(self) -> dict[str, dict[str, Any]]:
        """By path, the columns that a file gets from its folders; whole numbers if all values are."""
        named = {
            path: dict(part.split("=", 1) for part in PurePosixPath(path).parts[:-1] if "=" in part)
            if self.hive
            else {}
            for path in self.paths
        }
        text = {name for values in named.values() for name, value in values.items() if not _is_whole(value)}
        return {
            path: {name: pa.scalar(value if name in text else int(value)) for name, value in values.items()}
            for path, values in named.items()
        }

    @cached_property
    def schemas(self) -> dict[str, Any]:
        """The schema of each file, by its path."""
        known = {}
        for path in self.paths:
            with readable(path):
                text = self.dialects.get(path)
                known[path] = self.format.inspect(path, self.filesystem) if text is None else text[1].schema
                for name, one in self.folders[path].items():
                    known[path] = known[path].append(pa.field(name, one.type))
                twice = sorted({name for name in known[path].names if known[path].names.count(name) > 1})
                if twice:
                    raise ValueError(f"several columns are called {join_words(map(show, twice))}")
        return known

    def count(self) -> int:
        """The number of rows, from metadata if possible."""
        total = 0
        for path in self.paths:
            if path in self.dialects:
                total += self.dialects[path][1].rows
                continue
            with readable(path):
                total += self.format.make_fragment(path, self.filesystem).count_rows()
        return total

    @cached_property
    def pieces(self) -> list[Piece]:
        """Pieces of at least `PIECE_ROWS` rows, if a file has as many, in order; none for files without row groups."""
        found: list[Piece] = []
        for path in self.paths if self.streams else ():
            with readable(path), self._opened(path) as rows:
                count, first, rows_held = rows.metadata.num_row_groups, 0, 0
                for i in range(count):
                    rows_held += rows.metadata.row_group(i).num_rows
                    if rows_held >= PIECE_ROWS or i + 1 == count:
                        found.append(Piece(path, tuple(range(first, i + 1))))
                        first, rows_held = i + 1, 0
                if not count:
                    found.append(Piece(path, ()))
        return found

    def stamps(self) -> list[list[Any]]:
        """The path, the size and the time of change of each file."""
        return self._stamped(self.paths)

    def _stamped(self, paths: Sequence[str]) -> list[list[Any]]:
        found = self.filesystem.get_file_info(list(paths))
        return [[one.path, one.size, one.mtime_ns] for one in found]

    @cached_property
    def _first(self) -> dict[str, list[Any]]:
        return dict(zip(self.paths, self.stamps(), strict=True))

    def check_same(self, path: str | None = None) -> None:
        """DataError if a file, or any file, has changed since the first call: passes would not agree.

        Only files on this machine are checked; a request elsewhere may take long.
        """
        if not isinstance(self.filesystem, fs.LocalFileSystem):
            return
        paths = self.paths if path is None else (path,)
        for one, now in zip(paths, self._stamped(paths), strict=True):
            if self._first[one] != now:
                raise DataError(
                    f"{one}: the file has changed, or is gone, since it was first looked at: name the files again once "
                    "they are complete"
                )

    @property
    def local(self) -> list[str]:
        """The paths of files on this machine, with links resolved."""
        here = isinstance(self.filesystem, fs.LocalFileSystem)
        return [os.path.realpath(path) for path in self.paths] if here else []

    def names(self, named: Collection[str]) -> list[str]:
        """The columns of the first file, without an index of pandas unless it is named."""
        return _names(self.schemas[self.paths[0]], named)

    def guessed(self, named: Collection[str]) -> list[str]:
        """The columns of the first file that look like an index of pandas, though the file does not say so."""
        first = self.schemas[self.paths[0]]
        return [] if b"pandas" in (first.metadata or {}) else index_columns(first, named)

    def schema(self, needed: Sequence[str], alone: bool) -> Any:
        """The types of the needed columns in all files; with `alone`, a file may have no others."""
        types: dict[str, Any] = {}
        notes: dict[str, Any] = {}  # metadata of the first file that has some
        for path, own in self.schemas.items():
            with readable(path):
                self._check_columns(_names(own, needed), needed, alone)
                if path in self.dialects:
                    self.dialects[path][1].check(needed)
                for name in needed:
                    types[name] = self._common(name, types.get(name), own.field(name).type)
                    notes[name] = notes.get(name) or own.field(name).metadata
        return pa.schema([pa.field(name, one, metadata=notes[name]) for name, one in types.items()])

    def _check_columns(self, names: Sequence[str], needed: Sequence[str], alone: bool) -> None:
        lost = [name for name in needed if name not in names]
        if lost:
            raise ValueError(f"there is no column {join_words(map(show, lost))}, which other files have")
        more = [name for name in names if name not in self.schemas[self.paths[0]].names] if alone else []
        if more:
            raise ValueError(
                f"there is a column {join_words(map(show, more))}, which {self.paths[0]} does not have: leave it out, "
                "or give columns= with the names of those to read"
            )

    def _common(self, name: str, known: Any, own: Any) -> Any:
        """The type that holds the values of a column of two files unchanged."""
        if known is None or known.equals(own):
            return own
        a, b = (pa.schema([(name, _without_dictionary(one))]) for one in (known, own))
        try:
            return pa.unify_schemas([a, b], promote_options="permissive").field(0).type
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise ValueError(
                f"column {name!r} holds {own} here and {known} in the files before: write it the same way in all of "
                "them, or leave it out"
            ) from error

    def batches(self, path: str, schema: Any, size: int) -> Iterator[FileRows]:
        """The rows of a file in order, at most `size` at a time; at least one batch, which may be empty."""
        read = self._streamed if self.streams else self._texted if path in self.dialects else self._scanned
        return self._tables(path, schema, read(path, self._inside(path, schema), size))

    def _inside(self, path: str, schema: Any) -> Any:
        """The columns in the file itself, without those of its folders."""
        return pa.schema([one for one in schema if one.name not in self.folders[path]])

    def batches_of(self, piece: Piece, schema: Any, size: int) -> Iterator[FileRows]:
        """The rows of a piece, read in the calling thread."""
        return self._tables(
            piece.path, schema, self._streamed(piece.path, self._inside(piece.path, schema), size, piece.groups)
        )

    def _tables(self, path: str, schema: Any, batches: Iterator[Any]) -> Iterator[FileRows]:
        with readable(path):
            some = False
            for batch in batches:
                if batch.num_rows:
                    some = True
                    table = self._cleaned(pa.Table.from_batches([batch]))
                    for name, one in self.folders[path].items():
                        table = table.append_column(name, pa.repeat(one, batch.num_rows))
                    same = table.schema.equals(schema)
                    yield FileRows(path, table if same else table.select(schema.names).cast(schema))
            if not some:
                yield FileRows(path, schema.empty_table())

    def _cleaned(self, table: Any) -> Any:
        """A table with null for missing marks and infinite numbers; text files were cleaned by their dialect."""
        if not isinstance(self.format, dataset.ParquetFileFormat | dataset.IpcFileFormat):
            return table
        for j, name in enumerate(table.column_names):
            column = table.column(j)
            text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
            clean = column if name in self.keys else unmarked(column, self.reading.missing) if text else finite(column)
            table = table if clean is column else table.set_column(j, table.schema.field(j), clean)
        return table

    @property
    def streams(self) -> bool:
        """True if batches can be read page by page: a whole row group may be larger than memory."""
        return isinstance(self.format, dataset.ParquetFileFormat) and self.format == dataset.ParquetFileFormat()

    @contextmanager
    def _opened(self, path: str) -> Iterator[Any]:
        size = LOCAL_BUFFER if isinstance(self.filesystem, fs.LocalFileSystem) else REMOTE_BUFFER
        with (
            self.filesystem.open_input_file(path) as file,
            parquet.ParquetFile(file, pre_buffer=False, buffer_size=size) as rows,
        ):
            yield rows

    def _streamed(self, path: str, schema: Any, size: int, groups: tuple[int, ...] | None = None) -> Iterator[Any]:
        """Batches of a file, decoded by several threads; batches of some row groups in this thread alone."""
        with self._opened(path) as rows:
            yield from rows.iter_batches(size, row_groups=groups, columns=schema.names, use_threads=groups is None)

    def _texted(self, path: str, schema: Any, size: int) -> Iterator[Any]:
        file, dialect = self.dialects[path]
        for table in dialect.tables(file, schema.names):
            yield from table.to_batches(max_chunksize=size)

    def _scanned(self, path: str, schema: Any, size: int) -> Iterator[Any]:
        fragment = self.format.make_fragment(path, self.filesystem)
        ahead = {"batch_readahead": READ_AHEAD, "fragment_readahead": 1}
        yield from fragment.scanner(schema=schema, columns=schema.names, batch_size=size, **ahead).to_batches()


def _filesystem(address: str) -> Any:
    """The filesystem of an address, if pyarrow knows it."""
    try:
        return fs.FileSystem.from_uri(address.partition("*")[0])[0]
    except pa.ArrowInvalid as error:
        raise ValueError(
            f"this address cannot be read ({error}): give a path on this machine, an address of s3://, "
            "gs:// or hdfs://, or filesystem= with one of pyarrow.fs"
        ) from error


def _names(schema: Any, named: Collection[str]) -> list[str]:
    """The columns of a file, without an index of pandas unless it is named."""
    index = set(index_columns(schema, named))
    return [name for name in schema.names if name not in index]


def _is_whole(text: str) -> bool:
    """True for the digits of a whole number without leading zeros."""
    return text.isdecimal() and str(int(text)) == text


def _without_dictionary(kind: Any) -> Any:
    """The type of plain values."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _found(name: str, filesystem: Any, by_suffix: bool) -> list[str]:
    """The paths of the files that a path, a pattern or a folder names."""
    with readable(name):
        info = filesystem.get_file_info(name)
        if info.type == fs.FileType.File:
            return [name]
        if info.type == fs.FileType.Unknown:
            raise ValueError("not a regular file but a pipe or a device: write the rows to a file first")
        folder = info.type == fs.FileType.Directory
        base, pattern = (PurePosixPath(name), ALL_FILES) if folder else _split(name)
        if not pattern:
            raise FileNotFoundError("there is no such file or folder")
        there = filesystem.get_file_info(fs.FileSelector(str(base), allow_not_found=True, recursive=True))
        inside = {one.path: _below(one.path, base) for one in there if one.type == fs.FileType.File}
        found = sorted(path for path, parts in inside.items() if _matches(parts, pattern) and not _hidden(parts))
        if folder and by_suffix:
            found = [path for path in found if _suffix(path) in SUFFIXES]
        if not found:
            raise FileNotFoundError(f"no file matches; looked for {', '.join(SUFFIXES)}" if by_suffix else "no file")
        return found


def _split(name: str) -> tuple[PurePosixPath, tuple[str, ...]]:
    """A pattern as the folder to search, and the patterns of the parts of a path below it."""
    parts = PurePosixPath(name).parts
    first = next((i for i, part in enumerate(parts) if any(letter in part for letter in "*?[")), len(parts))
    return PurePosixPath(*parts[:first]), parts[first:]


def _below(path: str, base: PurePosixPath) -> tuple[str, ...]:
    parts = PurePosixPath(path).parts
    return parts[len(base.parts) :]


def _hidden(parts: Sequence[str]) -> bool:
    return any(part.startswith((".", "_")) for part in parts)


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """True if the parts of a path match a pattern, in which ** matches any folders.

    >>> _matches(("a", "b", "c.csv"), ("**", "*.csv")), _matches(("a", "c.csv"), ("*.csv",))
    (True, False)
    """
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_matches(parts[i:], pattern[1:]) for i in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])


def _suffix(path: str) -> str:
    bare = PurePosixPath(path.lower())
    return (bare.with_suffix("") if bare.suffix in COMPRESSED else bare).suffix


def _format(paths: Sequence[str], given: Any, filesystem: Any) -> Any:
    if isinstance(given, dataset.FileFormat):
        return given
    if given is not None:
        if given not in FORMATS:
            raise ValueError(f"format must be one of {', '.join(FORMATS)}, or of pyarrow.dataset, got {given!r}")
        return _format_of(given)
    kinds: dict[str, str] = {}
    for path in paths:
        kinds.setdefault(SUFFIXES.get(_suffix(path)) or _by_content(path, filesystem), path)
    if len(kinds) > 1:
        raise DataError(f"the files are of several formats ({', '.join(kinds.values())}): give those of one")
    return _format_of(next(iter(kinds)))


def _by_content(path: str, filesystem: Any) -> str:
    """The name of the format of a file whose name does not tell, by its first bytes; text by default."""
    with readable(path), filesystem.open_input_stream(path) as file:
        head = file.read(max(map(len, FIRST_BYTES)))
    return next((kind for begin, kind in FIRST_BYTES.items() if head.startswith(begin)), "csv")
