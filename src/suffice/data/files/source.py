"""Rows in Parquet, CSV, JSON lines and Arrow files, read some at a time."""

from __future__ import annotations

import copy
import operator
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial, reduce
from pathlib import Path
from typing import Any

import numpy as np

from suffice._core.kinds import ColumnContent
from suffice._core.labels import OneHot, guessed_index
from suffice._core.vector import Array
from suffice._runtime.atomic_file import check_local
from suffice._runtime.messages import COUNT, check_value, emit, or_else
from suffice._runtime.progress import reading
from suffice._runtime.system import optional
from suffice._runtime.threads import check_wanted, few_threads, spread_in_order
from suffice.data.base import Batch, Both, Data, R, near
from suffice.data.files.cache import ChangedFiles
from suffice.data.files.listing import TEXT_FORMATS, FileList, FileRows, Piece
from suffice.data.files.reading import Reading
from suffice.data.files.values import FILE_KINDS
from suffice.data.layout import Layout, located, warn_once
from suffice.data.memory import ENTRIES

pa = optional("pyarrow", "cli")
pq = optional("pyarrow.parquet", "cli")


MAX_BATCH_ROWS = 1 << 30  # Arrow counts them in 32 bits
MIN_PIECES = 8  # of files that are read by one thread a piece; with fewer, threads would wait for the last


class Files(Data):
    r"""Rows in Parquet, CSV, JSON lines or Arrow files, of which only some are in memory at a time.

    Only the columns that are needed are read. Rows keep their order: that of the files, which are sorted by their
    paths (a list is read as it is), and that within each file.

    Files may write a column in different ways if one way holds what all of them have without changing a value: a column
    that is empty in one file takes the type of the others, whole numbers and numbers become numbers, categories and
    text become text. Otherwise a DataError names the file.

    Parameters
    ----------
    path : path, pattern, folder, or list of them
        The files: `"rows.parquet"`, `"rows/*.csv"`, `"rows/**/*.parquet"`, or a folder with all files below it.
        Names that begin with a dot or an underscore are left out.
    target : str, default=None
        The column with the labels. Rows without a label are left out of sums, with a warning; without a target, rows
        can be predicted, not learned from.
    weight : str, default=None
        The column with the row weights.
    columns : list of str, default=None
        The columns with the features; by default all other columns. The index of a pandas data frame, which
        files may hold as a column, is a feature only if it is named here.
    keys : str or list of str, default=()
        Columns that identify rows: they are returned with the predictions, and are not features.
    batch_rows : int, default=None
        Rows in a batch; by default as many as have about two million cells.
    filesystem : one of `pyarrow.fs`, default=None
        Where the files are; None is this machine, or the one that the path begins with, as in `s3://`.
    format : {"parquet", "csv", "json", "ipc"} or one of `pyarrow.dataset`, default=None
        The format of the files; None goes by their names, or by their content if a name does not tell.
    verbose : int, default=0
        1 shows how many rows each pass has read.
    hive : bool, default=False
        Read folders with names such as `year=2024` as columns.
    na : list of str, default=()
        Text that marks missing values, as the usual marks do.
    decimal : {".", ","}, default=None
        The decimal point of text files; None: a point, or a comma if all values of a column have one.
    separator : str, default=None
        The separator of values in text files; None is the most frequent one of the first line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from suffice import GaussianNB
    >>> folder = tempfile.TemporaryDirectory()
    >>> for i, rows in enumerate(["x,y\n1,a\n2,b\n", "x,y\n3,b\n0,a\n"]):
    ...     _ = pathlib.Path(folder.name, f"{i}.csv").write_text(rows)
    >>> model = GaussianNB().fit(Files(folder.name, "y"))
    >>> model.predict(Files(folder.name, columns=["x"])).to_table()["prediction"].to_pylist()
    ['a', 'b', 'b', 'a']
    >>> folder.cleanup()
    """

    def __init__(
        self,
        path: Any,
        target: str | None = None,
        weight: str | None = None,
        columns: Sequence[str] | None = None,
        keys: str | Sequence[str] = (),
        batch_rows: int | None = None,
        filesystem: Any = None,
        format: Any = None,  # noqa: A002 - as pyarrow calls it
        verbose: int = 0,
        hive: bool = False,
        na: Sequence[str] = (),
        decimal: str | None = None,
        separator: str | None = None,
    ) -> None:
        check_value(batch_rows, "Files: batch_rows", or_else(None, COUNT))
        self.layout = Layout.of(target, weight, columns, keys)
        self.files = FileList.of(path, filesystem, format, self.layout, hive, Reading(tuple(na), decimal, separator))
        self.files.check_same()
        self.batch_rows, self.verbose = batch_rows, verbose
        self._warned: list[bool] = []  # not empty once it was said that rows have no label; all copies share it
        self._index: list[bool] = []  # likewise, that a column that is left out looks like an index

    def sum(self, f: Callable[[Batch], R]) -> R:
        """The sum of f over the batches, added in order.

        Files with many row groups are divided into pieces. A thread reads and sums a piece by itself, which is faster
        than reading for other threads.
        """
        self.files.check_same()
        pieces = self.files.pieces
        if len(pieces) < MIN_PIECES:
            return reduce(operator.add, self.each(f))
        schema = self.schema(labels=True)
        with few_threads(len(schema.names)), self._reading(self.files.paths) as advance:
            left_out: list[int] = []
            piece = partial(self._sum_piece, f, schema, advance, left_out)
            total = reduce(operator.add, spread_in_order(piece, pieces))
        warn_once(sum(left_out), self._warned)
        return total

    def _sum_piece(
        self,
        f: Callable[[Batch], R],
        schema: Any,
        advance: Callable[[int], None],
        left_out: list[int],
        piece: Piece,
    ) -> R:
        """The sum of a piece, about the origins of its first batch where later ones have the same classes."""

        def each() -> Iterator[R]:
            first: tuple[Array, Callable[[Batch], R]] | None = None
            for rows in self.files.batches_of(piece, schema, self._size(schema)):
                with located(rows.path):
                    batch = self.layout.batch(rows.table)
                    same = first is not None and np.array_equal(first[0], batch.Y.classes)
                    found = (first[1] if first is not None and same else f)(batch)
                first = first or (batch.Y.classes, near(f, found))
                left_out.append(batch.Y.unlabelled)
                yield found
                advance(rows.table.num_rows)
                check_wanted()

        return reduce(operator.add, each())

    def each(self, f: Callable[[Batch], R]) -> Iterator[R]:
        """f of every batch, in order; several are worked on at the same time."""
        self.files.check_same()
        schema, left_out = self.schema(labels=True), list[int]()
        with few_threads(len(schema.names)):
            of_batch = partial(_of_batch, f, self.layout, left_out)
            yield from spread_in_order(of_batch, self._read(self.files.paths, schema))
        warn_once(sum(left_out), self._warned)

    def map(
        self, features: Callable[[Any], Any] | None = None, labels: Callable[[OneHot], OneHot] | None = None
    ) -> ChangedFiles:
        """The same rows with a function applied as they are read; `persist` caches the results if they are few."""
        return ChangedFiles(self, Both(features, labels), features)

    def read_as(self, holds: Mapping[str, ColumnContent], notations: Mapping[str, str]) -> Files:
        """The same rows, with columns of text files read as a model has learned them."""
        kinds = {name: FILE_KINDS[content] for name, content in holds.items() if content in FILE_KINDS}
        if not kinds or self.files.format not in TEXT_FORMATS:
            return self
        self.files.check_same()
        other = copy.copy(self)
        how = replace(self.files.reading, written=dict(notations))
        other.files = replace(self.files, learned=kinds, reading=how)
        other.files.check_same()
        return other

    def without_labels(self) -> Files:
        """The same rows, all of one class: labels are not read."""
        other = copy.copy(self)
        other.layout = self.layout.without_labels()
        return other

    def transform(self, f: Callable[[Any], Any]) -> Answers:
        """f of every row; nothing is read until the answers are used."""
        return Answers(self, f)

    def count(self) -> int:
        """The number of rows; without weights it is read from the metadata of the files."""
        return self.files.count() if self.layout.weight is None else super().count()

    def expected(self) -> int | None:
        """The greatest possible number of rows, if it is known without reading; else None."""
        return self.files.count() if self.files.streams or self.files.dialects else None

    def fingerprint(self) -> dict[str, Any]:
        """The files with their sizes and times of change, and the layout."""
        return {"files": self.files.stamps(), "layout": repr(self.layout)}

    def empty_frame(self) -> Any:
        """A table without rows."""
        return self.layout.rows(self.schema(labels=False).empty_table())

    def schema(self, labels: bool) -> Any:
        """The types of the columns needed for learning (`labels`), or for predicting."""
        with located(self.files.paths[0]):
            names = self.files.names(self.layout.named)
            self.layout.check(names, self.layout.keys)
            needed = self.layout.needed(names, labels)
            if labels and self.layout.columns is None and not self._index:
                self._index += [True]
                emit(guessed_index(self.files.guessed(self.layout.named)))
        return self.files.schema(needed, alone=self.layout.columns is None)

    def answers(self, f: Callable[[Any], Any], path: str) -> Iterator[Any]:
        """f of the tables of keys and features of a file, in order."""
        self.files.check_same(path)
        schema = self.schema(labels=False)
        with few_threads(len(schema.names)):
            yield from spread_in_order(partial(_of_table, f), self._read([path], schema))

    def _size(self, schema: Any) -> int:
        """The number of rows of a batch."""
        return min(self.batch_rows or max(1, ENTRIES // max(1, len(schema.names))), MAX_BATCH_ROWS)

    def _reading(self, paths: Sequence[str]) -> AbstractContextManager[Callable[[int], None]]:
        """A display of the number of rows read."""
        total = self.files.count() if self.verbose and self.files.streams else None
        return reading(self.files.paths[0] if len(paths) == 1 else f"{len(paths)} files", total, self.verbose)

    def _read(self, paths: Sequence[str], schema: Any) -> Iterator[FileRows]:
        with self._reading(paths) as advance:
            for path in paths:
                for rows in self.files.batches(path, schema, self._size(schema)):
                    yield rows
                    advance(rows.table.num_rows)


def _of_batch(f: Callable[[Batch], R], layout: Layout, left_out: list[int], rows: FileRows) -> R:
    with located(rows.path):
        batch = layout.batch(rows.table)
        left_out.append(batch.Y.unlabelled)
        return f(batch)


def _of_table(f: Callable[[Any], Any], rows: FileRows) -> Any:
    with located(rows.path):
        return f(rows.table)


class Answers:
    """f of the rows of files, in their order, with the keys in front; computed when used.

    `np.asarray` gives the answers without the keys.
    """

    def __init__(self, data: Files, f: Callable[[Any], Any]) -> None:
        self.data, self.f = data, f

    def __repr__(self) -> str:
        files = self.data.files.paths
        where = files[0] if len(files) == 1 else f"{len(files)} files"
        return f"<answers for the rows of {where}: .write(folder), .to_table(), .to_pandas() or .batches() reads them>"

    @property
    def column_names(self) -> list[str]:
        """The names of the keys and of the answers."""
        return list(self._table(self.data.schema(labels=False).empty_table()).column_names)

    def batches(self) -> Iterator[Any]:
        """Tables of some rows each, in order."""
        for path in self.data.files.paths:
            yield from self._tables(path)

    def to_table(self) -> Any:
        """All rows as a `pyarrow.Table`."""
        return pa.concat_tables(self.batches(), promote_options="default")

    def to_pandas(self) -> Any:
        """All rows as a data frame of pandas."""
        return self.to_table().to_pandas()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        each = [one for path in self.data.files.paths for one in self.data.answers(self._values, path)]
        return np.asarray(np.concatenate(each), dtype=dtype)

    def write(self, folder: str | os.PathLike[str], overwrite: bool = False) -> Path:
        """Write all rows as Parquet files to a new folder, one for each file read: all of them, or none.

        They are written to a hidden folder beside it, which is renamed when it is complete. A process that is killed
        leaves the hidden folder behind, and the target unchanged.

        Parameters
        ----------
        folder : path
            A folder on this machine that does not exist yet.
        overwrite : bool, default=False
            Replace an existing folder, with all files in it; never one with files that are read.
        """
        check_local(folder)
        goal = Path(os.path.realpath(folder))
        if goal.exists():
            self._check_replaced(goal, overwrite)
        goal.parent.mkdir(parents=True, exist_ok=True)
        aside = _beside(goal, "partial")
        try:
            for i, path in enumerate(self.data.files.paths):
                self._write(path, aside / f"part-{i:05d}.parquet")
            _replace(aside, goal)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        return goal

    def _check_replaced(self, goal: Path, overwrite: bool) -> None:
        """An error unless the existing target may be replaced: it is a folder, and not in use."""
        if not goal.is_dir():
            raise FileExistsError(f"{goal} is a file: choose the name of a folder")
        if not overwrite:
            raise FileExistsError(f"{goal} exists: choose another folder, or give overwrite=True to replace it")
        read = next((path for path in self.data.files.local if Path(path).is_relative_to(goal)), None)
        if read is not None:
            raise ValueError(f"{goal} has rows that are read, as {read}: choose another folder")
        if Path.cwd().is_relative_to(goal):
            raise ValueError(f"{goal} is the folder this process works in, or above it: choose another folder")

    def _tables(self, path: str) -> Iterator[Any]:
        return self.data.answers(self._table, path)

    def _table(self, rows: Any) -> Any:
        return pa.table(self.data.layout.answers(rows, self.f))

    def _values(self, rows: Any) -> Array:
        return np.asarray(self.f(self.data.layout.rows(rows)))

    def _write(self, path: str, part: Path) -> None:
        tables = self._tables(path)
        first = next(tables)
        repeated = [field.name for field in first.schema if not pa.types.is_floating(field.type)]
        with part.open("wb") as file:
            with pq.ParquetWriter(file, first.schema, use_dictionary=repeated) as writer:
                writer.write_table(first)
                for table in tables:
                    writer.write_table(table)
            file.flush()
            os.fsync(file.fileno())


def _replace(aside: Path, goal: Path) -> None:
    """Rename a complete folder to its target, replacing the folder that is there."""
    if not goal.exists():
        aside.rename(goal)
        return
    old = _beside(goal, "old")
    goal.rename(old / goal.name)
    try:
        aside.rename(goal)
    except OSError:
        (old / goal.name).rename(goal)
        raise
    finally:
        shutil.rmtree(old)


def _beside(goal: Path, what: str) -> Path:
    """A new hidden folder beside another, and so on the same disk."""
    made = goal.parent / f".{goal.name}-{secrets.token_hex(6)}.{what}"
    made.mkdir()
    return made
