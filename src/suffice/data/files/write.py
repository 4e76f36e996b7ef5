"""Write a table to a file, completely or not at all."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

from suffice._runtime.atomic_file import replacing
from suffice.data.files.formulas import quoted
from suffice.data.files.reading import TableError
from suffice.data.files.values import TEXT, kind_of, plain

BATCH_ROWS = 1 << 16


def write_text(table: pa.Table, file: BinaryIO, separator: str = ",", raw: bool = False) -> None:
    """Write rows as text, in UTF-8; missing values are empty.

    Cells and names that a spreadsheet would read as formulas get a quote in front, unless `raw`.
    """
    if not raw:
        names = quoted(pa.chunked_array([table.column_names], pa.string())).to_pylist()
        table = pa.Table.from_arrays([_quoted(column) for column in table.columns], names)
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    rows = csv.writer(text, delimiter=separator, lineterminator="\n")
    rows.writerow(table.column_names)
    for batch in table.to_batches(max_chunksize=BATCH_ROWS):
        rows.writerows(zip(*(column.to_pylist() for column in batch.columns), strict=True))
    text.flush()
    text.detach()  # leaves the file open


def _quoted(column: pa.ChunkedArray) -> pa.ChunkedArray:
    text = plain(column)
    return quoted(text) if kind_of(text) == TEXT else column


WRITERS: dict[str, Callable[[pa.Table, BinaryIO, bool], Any]] = {
    ".csv": lambda table, file, raw: write_text(table, file, ",", raw),
    ".tsv": lambda table, file, raw: write_text(table, file, "\t", raw),
    ".parquet": lambda table, file, _: pq.write_table(table, file),
    ".arrow": lambda table, file, _: feather.write_feather(table, file),
    ".feather": lambda table, file, _: feather.write_feather(table, file),
}


def check_suffix(path: Path) -> None:
    """TableError unless the suffix of a file has a writer."""
    if path.suffix.lower() not in WRITERS:
        raise TableError(f"{path} must end in {', '.join(WRITERS)}, which says what kind of table to write")


def write(path: Path, table: pa.Table, raw: bool = False) -> None:
    """Write a table in the format of the file's suffix: CSV or TSV (see `write_text`), Parquet or Arrow."""
    check_suffix(path)
    with replacing(path, "the table") as file:
        WRITERS[path.suffix.lower()](table, file, raw)
