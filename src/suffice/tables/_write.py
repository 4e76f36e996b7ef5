"""Writing a table to a file, at once or not at all."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

from suffice._replacing import replacing
from suffice.tables._base import TableError

BATCH = 1 << 16  # rows that are written at a time


def write_text(table: pa.Table, file: BinaryIO, separator: str = ",") -> None:
    """Write rows as text, in UTF-8, quoted where needed; what is missing is empty."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    rows = csv.writer(text, delimiter=separator, lineterminator="\n")
    rows.writerow(table.column_names)
    for batch in table.to_batches(max_chunksize=BATCH):
        rows.writerows(zip(*(column.to_pylist() for column in batch.columns), strict=True))
    text.flush()
    text.detach()  # which leaves the file open


WRITERS: dict[str, Callable[[pa.Table, BinaryIO], Any]] = {
    ".csv": write_text,
    ".tsv": lambda table, file: write_text(table, file, "\t"),
    ".parquet": pq.write_table,
    ".arrow": feather.write_feather,
    ".feather": feather.write_feather,
}


def check_suffix(path: Path) -> None:
    """TableError unless the end of a file's name says what to write."""
    if path.suffix.lower() not in WRITERS:
        raise TableError(f"{path} must end in {', '.join(WRITERS)}, which says what kind of table to write")


def write(path: Path, table: pa.Table) -> None:
    """Write a table as what the end of the file's name says: CSV, TSV, Parquet or Arrow."""
    check_suffix(path)
    with replacing(path, "the table") as file:
        WRITERS[path.suffix.lower()](table, file)
