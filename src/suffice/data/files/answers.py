"""What a model says of rows in files: made when asked for, and written to files all at once or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice._core.vector import Array
from suffice._runtime.atomic_file import check_local
from suffice._runtime.system import optional
from suffice.data.layout import Layout

if TYPE_CHECKING:
    from suffice.data.files.parquet import Parquet

pa = optional("pyarrow", "cli")
pq = optional("pyarrow.parquet", "cli")


class Answers:
    """What a function says of the rows of some files, in their order, with their keys in front.

    `np.asarray` gives what was said, without the keys.
    """

    def __init__(self, data: Parquet, f: Callable[[Any], Any]) -> None:
        self.data, self.f = data, f

    def __repr__(self) -> str:
        files = self.data.files.paths
        where = files[0] if len(files) == 1 else f"{len(files)} files"
        return f"<answers for the rows of {where}: .write(folder), .to_table(), .to_pandas() or .batches() reads them>"

    @property
    def column_names(self) -> list[str]:
        """The keys, and what the answers are called."""
        return list(self._empty().column_names)

    def batches(self) -> Iterator[Any]:
        """Tables of some rows each, in order."""
        for path in self.data.files.paths:
            yield from self._of(path)

    def to_table(self) -> Any:
        """All rows as a `pyarrow.Table`."""
        return pa.concat_tables(self.batches(), promote_options="default")

    def to_pandas(self) -> Any:
        """All rows as a data frame of pandas."""
        return self.to_table().to_pandas()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        f = partial(_features, self.f, self.data.layout)
        each = [one for path in self.data.files.paths for one in self.data.answers(f, path)]
        return np.asarray(np.concatenate(each), dtype=dtype)

    def write(self, folder: str | os.PathLike[str], overwrite: bool = False) -> Path:
        """All rows as Parquet files in a new folder, one for each file read: all of them, or none.

        They are written to a hidden folder beside it, which takes the name when it is complete. A process that is
        killed leaves that folder behind, and the goal as it was.

        Parameters
        ----------
        folder : path
            A folder on this machine that does not exist yet.
        overwrite : bool, default=False
            Whether a folder that exists is replaced, with all that is in it; never one with files that are read.
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
            _put(aside, goal)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        return goal

    def _check_replaced(self, goal: Path, overwrite: bool) -> None:
        """An error unless what exists may go: a folder, and not one that is needed."""
        if not goal.is_dir():
            raise FileExistsError(f"{goal} is a file: choose the name of a folder")
        if not overwrite:
            raise FileExistsError(f"{goal} exists: choose another folder, or give overwrite=True to replace it")
        read = next((path for path in self.data.files.local if Path(path).is_relative_to(goal)), None)
        if read is not None:
            raise ValueError(f"{goal} has rows that are read, as {read}: choose another folder")
        if Path.cwd().is_relative_to(goal):
            raise ValueError(f"{goal} is the folder this process works in, or above it: choose another folder")

    def _of(self, path: str) -> Iterator[Any]:
        return self.data.answers(partial(_table, self.f, self.data.layout), path)

    def _empty(self) -> Any:
        return _table(self.f, self.data.layout, self.data.schema(labels=False).empty_table())

    def _write(self, path: str, part: Path) -> None:
        tables = self._of(path)
        first = next(tables)
        repeated = [field.name for field in first.schema if not pa.types.is_floating(field.type)]
        with part.open("wb") as file:
            with pq.ParquetWriter(file, first.schema, use_dictionary=repeated) as writer:
                writer.write_table(first)
                for table in tables:
                    writer.write_table(table)
            file.flush()
            os.fsync(file.fileno())


def _put(aside: Path, goal: Path) -> None:
    """A complete folder in the place of another, or of nothing."""
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
    """A new hidden folder beside another, on the same disk."""
    made = goal.parent / f".{goal.name}-{secrets.token_hex(6)}.{what}"
    made.mkdir()
    return made


def _table(f: Callable[[Any], Any], layout: Layout, rows: Any) -> Any:
    return pa.table(layout.answered(rows, f))


def _features(f: Callable[[Any], Any], layout: Layout, rows: Any) -> Array:
    return np.asarray(f(layout.rows(rows)))
