"""The bytes of a file, and text as UTF-8, whatever its encoding was."""

from __future__ import annotations

import gzip
import os
import zlib
from pathlib import Path
from typing import NamedTuple

from suffice.tables._base import TableError

GZIP = b"\x1f\x8b"
OTHERS = {  # how files begin that people take for tables
    b"PK\x03\x04": "a workbook or a zip archive: save the sheet as CSV, or unpack it",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook: save the sheet as CSV",
    b"%PDF": "a PDF file",
    b"SQLite format 3": "an SQLite database: export the table as CSV",
    b"\x89HDF": "an HDF5 file: save the table as Parquet or CSV",
    b"BZh": "compressed by bzip2: unpack it, or compress it by gzip",
    b"\xfd7zXZ": "compressed by xz: unpack it, or compress it by gzip",
    b"\x28\xb5\x2f\xfd": "compressed by zstd: unpack it, or compress it by gzip",
}


class Text(NamedTuple):
    """Text in UTF-8, and what had to be decided about its encoding."""

    data: bytes
    notes: tuple[str, ...] = ()


def file_bytes(path: str) -> bytes:
    """What is in a file, unpacked if it was compressed by gzip."""
    file = Path(path)
    if not file.exists():
        raise TableError(f"there is no file {path}")
    if file.is_dir():
        raise TableError(f"{path} is a folder, not a file that can be read: name the table in it")
    if not os.access(file, os.R_OK):
        raise TableError(f"{path} is not a file that can be read: you have no right to")
    try:
        data = file.read_bytes()
        data = gzip.decompress(data) if data.startswith(GZIP) else data
    except (OSError, EOFError, zlib.error) as error:
        raise TableError(f"{path} cannot be read as a table: {error}") from error
    if not data.strip():
        raise TableError(f"{path} is empty")
    return data


def as_utf8(path: str, data: bytes) -> Text:
    """Text of UTF-8, UTF-16 or Windows-1252 (which Latin-1 is a part of), as UTF-8; TableError if it is no text."""
    for begin, what in OTHERS.items():
        if data.startswith(begin):
            raise TableError(f"{path} cannot be read as a table: it is {what}")
    wide = _utf16(data)
    if wide is not None:
        try:
            text = data.decode(wide)
        except UnicodeDecodeError as error:
            raise TableError(f"{path} looks like UTF-16 but is not: save it as UTF-8") from error
        return Text(text.removeprefix("\ufeff").encode(), (f"{path} is UTF-16, not UTF-8, and is read as that",))
    if 0 in data:
        line = data[: data.index(0)].count(b"\n") + 1
        raise TableError(f"{path} cannot be read as a table: line {line} has a NUL byte, so that it is no text file")
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        said = "is not UTF-8; it is read as Windows-1252 (Latin-1): save it as UTF-8 if letters look wrong"
        return Text(_western(data).encode(), (f"{path}, line {line}: the file {said}",))
    return Text(data.removeprefix(b"\xef\xbb\xbf"))


def _utf16(data: bytes) -> str | None:
    """Which UTF-16 text is in: by its mark, or as every other byte of its beginning is zero; None if in neither."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    head = data[:200]
    for order, of in (("utf-16-le", 1), ("utf-16-be", 0)):
        if len(head) >= 4 and head[of::2].count(0) > 0.9 * len(head[of::2]) and 0 not in head[1 - of :: 2]:
            return order
    return None


def _western(data: bytes) -> str:
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return data.decode("latin-1")
