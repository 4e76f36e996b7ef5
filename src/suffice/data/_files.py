"""Files of rows: which ones there are, what their columns hold, and their rows batch by batch."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from suffice._cached import cached_property
from suffice._extras import optional
from suffice._labels import listed, show
from suffice.data._layout import DataError, located

pa = optional("pyarrow", "cli")
dataset = optional("pyarrow.dataset", "cli")
csv = optional("pyarrow.csv", "cli")
fs = optional("pyarrow.fs", "cli")
parquet = optional("pyarrow.parquet", "cli")

SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".arrow": "ipc",
    ".feather": "ipc",
    ".ipc": "ipc",
}
PACKED = (".gz", ".bz2", ".zst", ".lz4")  # of text, read as it is unpacked
ALL: tuple[str, ...] = ("**", "*")  # as a pattern
BLOCK = 1 << 22  # bytes of text, of which the first ones tell what a column holds
NEAR, FAR = 1 << 17, 1 << 20  # bytes of a column read at a time: what a cache holds, what is worth a request
READ_AHEAD = 2  # batches
PIECE = 1 << 18  # rows


class Rows(NamedTuple):
    """Some rows, and the file that they are of."""

    path: str
    table: Any  # pyarrow.Table


class Piece(NamedTuple):
    """Rows of a file that can be read on their own."""

    path: str
    groups: tuple[int, ...]  # of rows, as Parquet has them


def _formats() -> dict[str, Any]:
    options = csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False)
    read = csv.ReadOptions(block_size=BLOCK)
    text = {
        name: dataset.CsvFileFormat(csv.ParseOptions(delimiter=by), convert_options=options, read_options=read)
        for name, by in (("csv", ","), ("tsv", "\t"))
    }
    return {"parquet": dataset.ParquetFileFormat(), "ipc": dataset.IpcFileFormat(), **text}


@contextmanager
def readable(path: str) -> Iterator[None]:
    """What is wrong with a file, as a DataError that names it."""
    try:
        with located(path):
            yield
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"{path}: {error}") from error


@dataclass(frozen=True)
class Files:
    """Files of one format, in order."""

    paths: tuple[str, ...]
    filesystem: Any
    format: Any

    @classmethod
    def of(cls, given: Any, filesystem: Any, kind: Any) -> Files:
        """The files that a path, a pattern, a folder or a list of them stands for."""
        many = list(given) if isinstance(given, list | tuple) else [given]
        wrong = [one for one in many if not isinstance(one, str | os.PathLike)]
        if wrong or not many:
            raise TypeError(f"files are given by a path, a pattern, a folder or a list of them, got {given!r}")
        names = [os.fspath(one) for one in many]
        if filesystem is None and "://" in names[0]:
            with readable(names[0]):
                filesystem = fs.FileSystem.from_uri(names[0].partition("*")[0])[0]
            names = [name.partition("://")[2] for name in names]
        filesystem = fs.LocalFileSystem() if filesystem is None else filesystem
        if not isinstance(filesystem, fs.FileSystem):
            raise TypeError(f"filesystem must be None or one of pyarrow.fs, got {filesystem!r}")
        found = [path for name in names for path in _found(name, filesystem, kind is None)]
        return cls(tuple(found), filesystem, _format(found, kind))

    @cached_property
    def schemas(self) -> dict[str, Any]:
        """The schema of each file, by its path."""
        known = {}
        for path in self.paths:
            with readable(path):
                known[path] = self.format.inspect(path, self.filesystem)
                twice = sorted({name for name in known[path].names if known[path].names.count(name) > 1})
                if twice:
                    raise ValueError(f"several columns are called {listed(map(show, twice))}")
        return known

    def count(self) -> int:
        """The number of rows, as far as possible without reading them."""
        total = 0
        for path in self.paths:
            with readable(path):
                total += self.format.make_fragment(path, self.filesystem).count_rows()
        return total

    @cached_property
    def pieces(self) -> list[Piece]:
        """Pieces of at least `PIECE` rows if a file has as many, in order; none of files without groups of rows."""
        found: list[Piece] = []
        for path in self.paths if self.streams else ():
            with readable(path), self._opened(path) as rows:
                count, first, held = rows.metadata.num_row_groups, 0, 0
                for i in range(count):
                    held += rows.metadata.row_group(i).num_rows
                    if held >= PIECE or i + 1 == count:
                        found.append(Piece(path, tuple(range(first, i + 1))))
                        first, held = i + 1, 0
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
        """DataError if a file, or one of all, is another one than when this was first asked: passes would not agree.

        Of files on this machine; to ask elsewhere may take long.
        """
        if not isinstance(self.filesystem, fs.LocalFileSystem):
            return
        paths = self.paths if path is None else (path,)
        for one, now in zip(paths, self._stamped(paths), strict=True):
            if self._first[one] != now:
                raise DataError(
                    f"{one}: the file has changed, or is gone, since it was first looked at: name the files anew once "
                    "they are complete"
                )

    @property
    def local(self) -> list[str]:
        """The paths of files on this machine, without links."""
        here = isinstance(self.filesystem, fs.LocalFileSystem)
        return [os.path.realpath(path) for path in self.paths] if here else []

    @property
    def names(self) -> list[str]:
        """The columns of the first file."""
        return list(self.schemas[self.paths[0]].names)

    def schema(self, needed: Sequence[str], alone: bool) -> Any:
        """What the needed columns hold in all files; `alone`: whether a file may have no others."""
        types: dict[str, Any] = {}
        for path, own in self.schemas.items():
            with readable(path):
                self._check_columns(own.names, needed, alone)
                for name in needed:
                    types[name] = self._common(name, types.get(name), own.field(name).type)
        return pa.schema(list(types.items()))

    def _check_columns(self, names: Sequence[str], needed: Sequence[str], alone: bool) -> None:
        lost = [name for name in needed if name not in names]
        if lost:
            raise ValueError(f"there is no column {listed(map(show, lost))}, which other files have")
        more = [name for name in names if name not in self.names] if alone else []
        if more:
            raise ValueError(
                f"there is a column {listed(map(show, more))}, which {self.paths[0]} does not have: leave it out, or "
                "give columns= with the names of those to read"
            )

    def _common(self, name: str, known: Any, own: Any) -> Any:
        """The type that holds what two files have in a column without changing a value."""
        if known is None or known.equals(own):
            return own
        a, b = (pa.schema([(name, _plain(one))]) for one in (known, own))
        try:
            return pa.unify_schemas([a, b], promote_options="permissive").field(0).type
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise ValueError(
                f"column {name!r} holds {own} here and {known} in the files before: write it the same way in all of "
                "them, or leave it out"
            ) from error

    def batches(self, path: str, schema: Any, size: int) -> Iterator[Rows]:
        """The rows of a file in order, no more than `size` at a time; at least one batch, which may be empty."""
        return self._tables(path, schema, (self._streamed if self.streams else self._scanned)(path, schema, size))

    def batches_of(self, piece: Piece, schema: Any, size: int) -> Iterator[Rows]:
        """The same of a piece, in the thread that asks for them."""
        return self._tables(piece.path, schema, self._streamed(piece.path, schema, size, piece.groups))

    def _tables(self, path: str, schema: Any, batches: Iterator[Any]) -> Iterator[Rows]:
        with readable(path):
            some = False
            for batch in batches:
                if batch.num_rows:
                    some = True
                    table = pa.Table.from_batches([batch])
                    same = table.schema.equals(schema)
                    yield Rows(path, table if same else table.select(schema.names).cast(schema))
            if not some:
                yield Rows(path, schema.empty_table())

    @property
    def streams(self) -> bool:
        """Whether batches can be read page by page: a whole row group may be larger than memory."""
        return bool(self.format == dataset.ParquetFileFormat())

    @contextmanager
    def _opened(self, path: str) -> Iterator[Any]:
        size = NEAR if isinstance(self.filesystem, fs.LocalFileSystem) else FAR
        with (
            self.filesystem.open_input_file(path) as file,
            parquet.ParquetFile(file, pre_buffer=False, buffer_size=size) as rows,
        ):
            yield rows

    def _streamed(self, path: str, schema: Any, size: int, groups: tuple[int, ...] | None = None) -> Iterator[Any]:
        """Batches of a file, decoded by several threads; of some groups of rows by this one alone."""
        with self._opened(path) as rows:
            yield from rows.iter_batches(size, row_groups=groups, columns=schema.names, use_threads=groups is None)

    def _scanned(self, path: str, schema: Any, size: int) -> Iterator[Any]:
        fragment = self.format.make_fragment(path, self.filesystem)
        ahead = {"batch_readahead": READ_AHEAD, "fragment_readahead": 1}
        yield from fragment.scanner(schema=schema, columns=schema.names, batch_size=size, **ahead).to_batches()


def _plain(kind: Any) -> Any:
    """The type of the values themselves, where they are kept in a dictionary."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _found(name: str, filesystem: Any, by_suffix: bool) -> list[str]:
    """The paths of the files that one path, pattern or folder stands for."""
    with readable(name):
        info = filesystem.get_file_info(name)
        if info.type == fs.FileType.File:
            return [name]
        folder = info.type == fs.FileType.Directory
        base, pattern = (PurePosixPath(name), ALL) if folder else _split(name)
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
    """A pattern as the folder to look in, and what the parts of a path below it have to match."""
    parts = PurePosixPath(name).parts
    first = next((i for i, part in enumerate(parts) if any(letter in part for letter in "*?[")), len(parts))
    return PurePosixPath(*parts[:first]), parts[first:]


def _below(path: str, base: PurePosixPath) -> tuple[str, ...]:
    parts = PurePosixPath(path).parts
    return parts[len(base.parts) :]


def _hidden(parts: Sequence[str]) -> bool:
    return any(part.startswith((".", "_")) for part in parts)


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether the parts of a path match a pattern, in which ** stands for any folders.

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
    return (bare.with_suffix("") if bare.suffix in PACKED else bare).suffix


def _format(paths: Sequence[str], given: Any) -> Any:
    known = _formats()
    if isinstance(given, dataset.FileFormat):
        return given
    if given is not None:
        if given not in known:
            raise ValueError(f"format must be one of {', '.join(known)}, or of pyarrow.dataset, got {given!r}")
        return known[given]
    kinds: dict[str, str] = {}
    for path in paths:
        if _suffix(path) not in SUFFIXES:
            raise DataError(f"{path}: what it holds cannot be told by its name: give format={' or '.join(known)}")
        kinds.setdefault(SUFFIXES[_suffix(path)], path)
    if len(kinds) > 1:
        raise DataError(f"the files are of several formats ({', '.join(kinds.values())}): give those of one")
    return known[next(iter(kinds))]
