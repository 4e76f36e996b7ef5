"""The file itself: a zip archive that is written as a whole or not at all, and read with limits."""

from __future__ import annotations

import hashlib
import io
import math
import os
import re
import stat
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy

from suffice._core.vector import Array
from suffice._runtime.atomic_file import ANY, replacing


class ModelFileError(ValueError):
    """A model file cannot be read or written; the message says why, and what to do."""


class IncompleteError(ModelFileError):
    """A file ends before it should."""


class CheckpointError(ValueError):
    """A fit cannot go on from a checkpoint; the message says why, and how to begin again."""


KINDS = "biufUMm"  # truth values, numbers, text, dates and spans of time
READ_HEADER: dict[Any, Any] = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def to_bytes(array: Array) -> bytes:
    """An array as a .npy file."""
    out = io.BytesIO()
    npy.write_array(out, array, allow_pickle=False)
    return out.getvalue()


def from_bytes(data: bytes, where: str) -> Array:
    """The array of a .npy file; of exactly the bytes that its header promises, and of no other than plain numbers."""
    file = io.BytesIO(data)
    shape, by_columns, dtype = READ_HEADER[npy.read_magic(file)](file)
    if dtype.kind not in KINDS or dtype.hasobject or dtype.fields is not None or dtype.subdtype is not None:
        raise ModelFileError(f"{where} holds values of the type {dtype}, which no model has")
    if not dtype.isnative:
        raise ModelFileError(f"{where} has its bytes in another order than this machine")
    left = len(data) - file.tell()
    if any(n < 0 for n in shape) or math.prod(shape) * dtype.itemsize != left:
        raise ModelFileError(f"{where} says that it has the shape {shape}, but it has {left} bytes")
    flat = np.frombuffer(bytearray(data[file.tell() :]), dtype=dtype, count=math.prod(shape))
    return flat.reshape(shape, order="F" if by_columns else "C")


DOCUMENT = "model.json"
NAME = re.compile(r"arrays/(0|[1-9][0-9]{0,6})\.npy")
MARK = b"suffice model, sha256 "  # of all that stands before it; the digest follows, and then nothing
DIGEST = 64
DAY = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip archive knows: equal models are equal files
BLOCK = 1 << 20
MEMBERS = 1_000_000
ROOM, TIMES = 1 << 25, 100  # bytes a file may unpack to: so many, or so many times its own
TEXT_ROOM, TEXT_TIMES = 1 << 24, 20  # and its document


def write(
    path: str | os.PathLike[str], members: Mapping[str, bytes], called: str = "the model", seen: str | None = ANY
) -> None:
    """Replace a file by an archive of members, at once; see `replacing`."""
    with replacing(path, called, seen) as file:
        _fill(file, members)


def _fill(file: BinaryIO, members: Mapping[str, bytes]) -> None:
    """Write the archive and its digest; without compression where it would be taken for a bomb."""
    for method in (ZIP_DEFLATED, ZIP_STORED):
        file.seek(0)
        file.truncate()
        with ZipFile(file, "w", method) as archive:
            archive.comment = MARK + b"0" * DIGEST
            for name, data in members.items():
                entry = ZipInfo(name, DAY)
                entry.compress_type, entry.external_attr = method, 0o644 << 16
                archive.writestr(entry, data, compresslevel=1)
        size = file.seek(0, os.SEEK_END)
        if _allowed(size, sum(map(len, members.values())), len(members[DOCUMENT])):
            break
    digest = _digest(file, size - DIGEST)
    file.seek(size - DIGEST)
    file.write(digest)


def _allowed(size: int, total: int, text: int) -> bool:
    return total <= max(ROOM, TIMES * size) and text <= max(TEXT_ROOM, TEXT_TIMES * size)


def _digest(file: BinaryIO, size: int) -> bytes:
    """SHA-256 of the first bytes of a file."""
    found = hashlib.sha256()
    file.seek(0)
    while size > 0:
        block = file.read(min(BLOCK, size))
        if not block:
            break
        found.update(block)
        size -= len(block)
    return found.hexdigest().encode()


def read(file: BinaryIO) -> dict[str, bytes]:
    """The members of an archive, if it is whole and every one is what `write` may have written."""
    size = file.seek(0, os.SEEK_END)
    tail = len(MARK) + DIGEST
    file.seek(max(0, size - tail))
    end = file.read(tail)
    if not end.startswith(MARK):
        raise IncompleteError("it is no model file, or its end is missing")
    if _digest(file, size - DIGEST) != end[-DIGEST:]:
        raise ModelFileError("it was altered or damaged after it was saved")
    with ZipFile(file) as archive:
        entries = archive.infolist()
        _check(entries, size)
        return dict(_contents(archive, entries))


def _check(entries: list[ZipInfo], size: int) -> None:
    """Names, kinds and sizes, before anything is unpacked."""
    names = [entry.filename for entry in entries]
    if len(names) > MEMBERS or len(set(names)) < len(names) or names.count(DOCUMENT) != 1:
        raise ModelFileError(f"it must have one {DOCUMENT}, and no member twice")
    for entry in entries:
        if entry.filename != DOCUMENT and not NAME.fullmatch(entry.filename):
            raise ModelFileError(f"it has a member {entry.filename[:80]!r}, which no model file has")
        if entry.flag_bits & 1 or entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise ModelFileError(f"its member {entry.filename} is encrypted, or packed in an unknown way")
        mode = entry.external_attr >> 16
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            raise ModelFileError(f"its member {entry.filename} is no file")
    text = next(entry.file_size for entry in entries if entry.filename == DOCUMENT)
    if not _allowed(size, sum(entry.file_size for entry in entries), text):
        raise ModelFileError("it unpacks to far more than it holds, as no model file does")


def _contents(archive: ZipFile, entries: list[ZipInfo]) -> Iterator[tuple[str, bytes]]:
    for entry in entries:
        with archive.open(entry) as member:
            data = member.read(entry.file_size + 1)
        if len(data) != entry.file_size:
            raise ModelFileError(f"its member {entry.filename} has not the size that it says")
        yield entry.filename, data
