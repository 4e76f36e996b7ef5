"""The bytes of a file, and its text as UTF-8."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from suffice._runtime.atomic_file import check_local
from suffice.data.files.reading import TableError

GZIP = b"\x1f\x8b"
CHUNK = 1 << 22  # bytes read at a time
MAX_UNPACKED, MAX_RATIO = 1 << 25, 100  # gzip may unpack to this many bytes, or this many times its size
OTHER_FORMATS = {  # first bytes of files that are not tables
    b"PK\x03\x04": "a workbook or a zip archive: save the sheet as CSV, or unpack it",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook: save the sheet as CSV",
    b"%PDF": "a PDF file",
    b"SQLite format 3": "an SQLite database: export the table as CSV",
    b"\x89HDF": "an HDF5 file: save the table as Parquet or CSV",
    b"BZh": "compressed by bzip2: unpack it, or compress it by gzip",
    b"\xfd7zXZ": "compressed by xz: unpack it, or compress it by gzip",
    b"\x28\xb5\x2f\xfd": "compressed by zstd: unpack it, or compress it by gzip",
}


@dataclass(frozen=True)
class TextFile:
    """A text file: how to open it, its encoding, the number of quotes, notes, and whether it has apostrophes."""

    path: str
    open: Callable[[], Any]  # an input stream of Arrow, of bytes that are not compressed
    encoding: str = "utf-8"
    quotes: int = 0
    notes: tuple[str, ...] = ()
    apostrophes: bool = False

    def stream(self) -> Any:
        """The text as UTF-8, for Arrow."""
        if self.encoding == "utf-8":
            return self.open()
        return pa.transcoding_input_stream(self.open(), self.encoding, "utf-8")

    def lines(self) -> io.TextIOWrapper:
        """The text, for Python."""
        encoding = "utf-8-sig" if self.encoding == "utf-8" else self.encoding
        return io.TextIOWrapper(self.open(), encoding=encoding, newline="")


def file_bytes(path: str) -> bytes:
    """The bytes of a file, unpacked if it is compressed by gzip."""
    check_local(path, "read", TableError)
    file = Path(path)
    if not file.exists():
        raise TableError(f"there is no file {path}")
    if file.is_dir():
        raise TableError(f"{path} is a folder, not a file that can be read: name the table in it")
    if not os.access(file, os.R_OK):
        raise TableError(f"{path} is not a file that can be read: you have no right to")
    try:
        data = file.read_bytes()
        data = _unpacked(path, data) if data.startswith(GZIP) else data
    except (OSError, EOFError, zlib.error) as error:
        raise TableError(f"{path} cannot be read as a table: {error}") from error
    if not data.strip():
        raise TableError(f"{path} is empty")
    return data


def _unpacked(path: str, data: bytes) -> bytes:
    """The content of gzip; TableError if it is too large for its size, before memory is full of it."""
    most = max(MAX_UNPACKED, MAX_RATIO * len(data))
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        found = file.read(most + 1)
    if len(found) > most:
        raise TableError(
            f"{path} unpacks to more than {most >> 20:,} MB, over {MAX_RATIO} times its size: if it can be trusted, "
            "unpack it first (gunzip)"
        )
    return found


def text_file(path: str, open_file: Callable[[], Any]) -> TextFile:
    """A text file of UTF-8, UTF-16 or Windows-1252 (which includes Latin-1); TableError if it is not text.

    All bytes are read once, some at a time.
    """
    with open_file() as stream:
        head = stream.read(CHUNK)
    for begin, what in OTHER_FORMATS.items():
        if head.startswith(begin):
            raise TableError(f"{path} cannot be read as a table: it is {what}")
    wide = _utf16(head)
    if wide is not None:
        return _decoded(path, open_file, wide, (f"{path} is UTF-16, not UTF-8, and is read as that",))
    return _decoded(path, open_file, "utf-8", ())


def _decoded(path: str, open_file: Callable[[], Any], encoding: str, notes: tuple[str, ...]) -> TextFile:
    """A text file of an encoding, or of a western one where it is not UTF-8."""
    decoder, quotes, line, some, marks = codecs.getincrementaldecoder(encoding)(), 0, 1, False, False
    with open_file() as stream:
        while True:
            data = stream.read(CHUNK)
            try:
                text = decoder.decode(data, not data)
            except UnicodeDecodeError as error:
                if encoding == "utf-8":
                    at = line + error.object[: error.start].count(b"\n")
                    note = "is not UTF-8; it is read as Windows-1252 (Latin-1): save it as UTF-8 if letters look wrong"
                    return _decoded(path, open_file, "cp1252", (f"{path}, line {at}: the file {note}",))
                if encoding == "cp1252":
                    return _decoded(path, open_file, "latin-1", notes)
                raise TableError(f"{path} looks like UTF-16 but is not: save it as UTF-8") from error
            if "\0" in text:
                at = line + text[: text.index("\0")].count("\n")
                raise TableError(
                    f"{path} cannot be read as a table: line {at} has a NUL byte, so it is not a text file"
                )
            quotes, line = quotes + text.count('"'), line + text.count("\n")
            marks = marks or "'" in text
            some = some or bool(text.strip("\ufeff \t\r\n"))
            if not data:
                break
    if not some:
        raise TableError(f"{path} is empty")
    return TextFile(path, open_file, encoding, quotes, notes, marks)


def _utf16(data: bytes) -> str | None:
    """The kind of UTF-16 of a text, by its mark or by zeros in every other byte; None for other encodings."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    head = data[:200]
    for order, zeros in (("utf-16-le", 1), ("utf-16-be", 0)):
        if len(head) >= 4 and head[zeros::2].count(0) > 0.9 * len(head[zeros::2]) and 0 not in head[1 - zeros :: 2]:
            return order
    return None
