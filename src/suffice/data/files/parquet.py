"""Rows in Parquet, CSV, JSON lines and Arrow files, read some at a time."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import numpy as np

from suffice._core.kinds import ColumnContent
from suffice._core.labels import OneHot
from suffice._core.vector import Array
from suffice._runtime.messages import COUNT, check_value, or_else
from suffice._runtime.progress import reading
from suffice._runtime.threads import check_wanted, few_threads, spread_in_order
from suffice.data.base import Batch, Both, Data, R, near
from suffice.data.files.answers import Answers
from suffice.data.files.kept import Worked
from suffice.data.files.rows import FileRows, Files, Piece, TextFormat
from suffice.data.files.values import READ_AS
from suffice.data.layout import Layout, located
from suffice.data.memory import ENTRIES

MOST = 1 << 30  # rows of a batch, which Arrow counts
SEVERAL = 8  # pieces that files are read in, each by one thread; with fewer, threads would wait for the last


class Parquet(Data):
    r"""Rows in Parquet, CSV, JSON lines or Arrow files, of which only some are in memory at a time.

    Only the columns that are needed are read. Rows keep their order: that of the files, which are sorted by their
    paths (a list is read as it is), and that within each file.

    Files may write a column in different ways if one way holds what all of them have without changing a value: a column
    that is empty in one file takes the type of the others, whole numbers and numbers become numbers, categories and
    text become text. Otherwise a DataError names the file.

    Parameters
    ----------
    path : path, pattern, folder, or list of them
        The files: `"rows.parquet"`, `"rows/*.csv"`, `"rows/**/*.parquet"`, or a folder with all that are below it.
        Names that begin with a dot or an underscore are left out. Names of folders (`year=2024`) are columns
        only with `hive`.
    target : str, default=None
        The column with the labels; rows without labels can be predicted, not learned from.
    weight : str, default=None
        The column with the row weights.
    columns : list of str, default=None
        The columns with the features; by default all that are nothing else. The index of a pandas data frame, which
        Parquet and Arrow files hold as columns, is a feature only if it is named here.
    keys : str or list of str, default=()
        Columns that say which row is which: they are no features, and come back with the predictions.
    batch_rows : int, default=None
        Rows in a batch; by default as many as make about two million cells.
    filesystem : one of `pyarrow.fs`, default=None
        Where the files are; None is this machine, or what the beginning of the path says, as in `s3://`.
    format : {"parquet", "csv", "tsv", "json", "ipc"} or one of `pyarrow.dataset`, default=None
        What the files are; None goes by their names.
    verbose : int, default=0
        1 shows how many rows each pass has read.
    hive : bool, default=False
        Whether folders with names such as `year=2024` are columns.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from suffice import GaussianNB
    >>> folder = tempfile.TemporaryDirectory()
    >>> for i, rows in enumerate(["x,y\n1,a\n2,b\n", "x,y\n3,b\n0,a\n"]):
    ...     _ = pathlib.Path(folder.name, f"{i}.csv").write_text(rows)
    >>> model = GaussianNB().fit(Parquet(folder.name, "y"))
    >>> model.predict(Parquet(folder.name, columns=["x"])).to_table()["prediction"].to_pylist()
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
    ) -> None:
        check_value(batch_rows, "Parquet: batch_rows", or_else(None, COUNT))
        self.layout = Layout.of(target, weight, columns, keys)
        self.files = Files.of(path, filesystem, format, target, hive)
        self.files.check_same()
        self.batch_rows, self.verbose = batch_rows, verbose

    def sum(self, f: Callable[[Batch], R]) -> R:
        """The sum of f over the batches, added in their order; of many groups of rows each on its own first.

        A thread reads and sums a group by itself, which takes less time than to read for others.
        """
        self.files.check_same()
        pieces = self.files.pieces
        if len(pieces) < SEVERAL:
            return reduce(operator.add, self.each(f))
        schema = self.schema(labels=True)
        with few_threads(len(schema.names)), self._reading(self.files.paths) as seen:
            return reduce(operator.add, spread_in_order(partial(self._summed, f, schema, seen), pieces))

    def _summed(self, f: Callable[[Batch], R], schema: Any, seen: Callable[[int], None], piece: Piece) -> R:
        """Of a piece; about the origins of its first batch where others have the same classes."""

        def each() -> Iterator[R]:
            first: tuple[Array, Callable[[Batch], R]] | None = None
            for rows in self.files.batches_of(piece, schema, self._size(schema)):
                with located(rows.path):
                    batch = self.layout.batch(rows.table)
                    alike = first is not None and np.array_equal(first[0], batch.Y.classes)
                    found = (first[1] if first is not None and alike else f)(batch)
                first = first or (batch.Y.classes, near(f, found))
                yield found
                seen(rows.table.num_rows)
                check_wanted()

        return reduce(operator.add, each())

    def each(self, f: Callable[[Batch], R]) -> Iterator[R]:
        """f of every batch, in order; several are worked on at the same time."""
        self.files.check_same()
        schema = self.schema(labels=True)
        with few_threads(len(schema.names)):
            yield from spread_in_order(partial(_asked, f, self.layout), self._read(self.files.paths, schema))

    def map(
        self, features: Callable[[Any], Any] | None = None, labels: Callable[[OneHot], OneHot] | None = None
    ) -> Worked:
        """The same rows with a function applied as they are read; `persist` keeps what it makes of few of them."""
        return Worked(self, Both(features, labels), features)

    def read_as(self, holds: Mapping[str, ColumnContent]) -> Parquet:
        """The same rows, with columns of text files read as what they hold in a model."""
        kinds = {name: READ_AS[content] for name, content in holds.items() if content in READ_AS}
        if not kinds or not isinstance(self.files.format, TextFormat):
            return self
        self.files.check_same()
        other = copy.copy(self)
        other.files = replace(self.files, learned=kinds)
        other.files.check_same()
        return other

    def without_labels(self) -> Parquet:
        """The same rows, all of one class: labels are not read."""
        other = copy.copy(self)
        other.layout = self.layout.without_labels()
        return other

    def transform(self, f: Callable[[Any], Any]) -> Answers:
        """What f says of every row: nothing is read until it is asked for."""
        return Answers(self, f)

    def count(self) -> int:
        """The number of rows; without weights it stands in the files."""
        return self.files.count() if self.layout.weight is None else super().count()

    def expected(self) -> int | None:
        """How many rows there are at most, where that is known at once."""
        return self.files.count() if self.files.streams else None

    def fingerprint(self) -> dict[str, Any]:
        """The files with their sizes and times of change, and which columns are what."""
        return {"files": self.files.stamps(), "layout": repr(self.layout)}

    def empty_frame(self) -> Any:
        """A table without rows."""
        return self.layout.rows(self.schema(labels=False).empty_table())

    def schema(self, labels: bool) -> Any:
        """What the columns hold that are needed for learning, or for predicting."""
        with located(self.files.paths[0]):
            names = self.files.names(self.layout.named)
            self.layout.check(names, self.layout.keys)
            needed = self.layout.needed(names, labels)
        return self.files.schema(needed, alone=self.layout.columns is None)

    def answers(self, f: Callable[[Any], Any], path: str) -> Iterator[Any]:
        """f of every batch of a file, in order, where f takes a table of keys and features."""
        self.files.check_same(path)
        schema = self.schema(labels=False)
        with few_threads(len(schema.names)):
            yield from spread_in_order(partial(_said, f), self._read([path], schema))

    def _size(self, schema: Any) -> int:
        """The rows of a batch."""
        return min(self.batch_rows or max(1, ENTRIES // max(1, len(schema.names))), MOST)

    def _reading(self, paths: Sequence[str]) -> AbstractContextManager[Callable[[int], None]]:
        """The display of rows that are read."""
        total = self.files.count() if self.verbose and self.files.streams else None
        return reading(self.files.paths[0] if len(paths) == 1 else f"{len(paths)} files", total, self.verbose)

    def _read(self, paths: Sequence[str], schema: Any) -> Iterator[FileRows]:
        with self._reading(paths) as seen:
            for path in paths:
                for rows in self.files.batches(path, schema, self._size(schema)):
                    yield rows
                    seen(rows.table.num_rows)


def _asked(f: Callable[[Batch], R], layout: Layout, rows: FileRows) -> R:
    with located(rows.path):
        return f(layout.batch(rows.table))


def _said(f: Callable[[Any], Any], rows: FileRows) -> Any:
    with located(rows.path):
        return f(rows.table)
