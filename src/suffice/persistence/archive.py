"""The archive: a zip file, written completely or not at all, and read with size limits."""

from __future__ import annotations

import hashlib
import io
import math
import os
import re
import stat
from collections.abc import Mapping
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy

from suffice._core.vector import Array
from suffice._runtime.atomic_file import ANY, replacing


class ModelFileError(ValueError):
    """A model file cannot be read or written. The message says why, and what to do."""


class IncompleteError(ModelFileError):
    """A file ends before it should."""


class CheckpointError(ValueError):
    """A fit cannot continue from a checkpoint. The message says why, and how to begin again."""


KINDS = "biufUMm"  # dtypes: booleans, numbers, text, dates and durations
READ_HEADER: dict[Any, Any] = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def to_bytes(array: Array) -> bytes:
    """Return an array as the bytes of a .npy file."""
    out = io.BytesIO()
    npy.write_array(out, array, allow_pickle=False)
    return out.getvalue()


def from_bytes(data: bytes, where: str) -> Array:
    """Return the array of a .npy file, which must hold plain numbers, and exactly the bytes that its header says."""
    file = io.BytesIO(data)
    shape, by_columns, dtype = READ_HEADER[npy.read_magic(file)](file)
    if dtype.kind not in KINDS or dtype.hasobject or dtype.fields is not None or dtype.subdtype is not None:
        raise ModelFileError(f"{where} holds values of the type {dtype}, which no model has")
    if not dtype.isnative:
        raise ModelFileError(f"{where} has another byte order than this machine")
    left = len(data) - file.tell()
    if any(n < 0 for n in shape) or math.prod(shape) * dtype.itemsize != left:
        raise ModelFileError(f"{where} has the shape {shape} by its header, but it has {left} bytes")
    flat = np.frombuffer(bytearray(data[file.tell() :]), dtype=dtype, count=math.prod(shape))
    return flat.reshape(shape, order="F" if by_columns else "C")


DOCUMENT = "model.json"
NAME = re.compile(r"arrays/(0|[1-9][0-9]{0,6})\.npy")
MARK = b"suffice model, sha256 "  # the file ends with it and the digest of all bytes before the digest
DIGEST = 64
DATE = (1980, 1, 1, 0, 0, 0)  # of every member, so that equal models are equal files
BLOCK = 1 << 20
MAX_MEMBERS = 1_000_000
ROOM, TIMES = 1 << 25, 100  # a file may unpack to ROOM bytes, or TIMES its own size
TEXT_ROOM, TEXT_TIMES = 1 << 24, 20  # the same for its document


def write(
    path: str | os.PathLike[str], members: Mapping[str, bytes], called: str = "the model", seen: str | None = ANY
) -> None:
    """Replace a file by an archive of members, atomically; see `replacing`."""
    with replacing(path, called, seen) as file:
        _fill(file, members)


def _fill(file: BinaryIO, members: Mapping[str, bytes]) -> None:
    """Write the archive and its digest; without compression if `read` would refuse it as a zip bomb."""
    for method in (ZIP_DEFLATED, ZIP_STORED):
        file.seek(0)
        file.truncate()
        with ZipFile(file, "w", method) as archive:
            archive.comment = MARK + b"0" * DIGEST
            for name, data in members.items():
                entry = ZipInfo(name, DATE)
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
    """Return the members of an archive, if it is complete and `write` may have written every one."""
    size = file.seek(0, os.SEEK_END)
    tail = len(MARK) + DIGEST
    file.seek(max(0, size - tail))
    end = file.read(tail)
    if not end.startswith(MARK):
        raise IncompleteError("it is not a model file, or its end is missing")
    if _digest(file, size - DIGEST) != end[-DIGEST:]:
        raise ModelFileError("it was altered or damaged after it was saved")
    with ZipFile(file) as archive:
        entries = archive.infolist()
        _check(entries, size)
        members = {}
        for entry in entries:
            with archive.open(entry) as member:
                data = member.read(entry.file_size + 1)
            if len(data) != entry.file_size:
                raise ModelFileError(f"its member {entry.filename} does not have the size that it says")
            members[entry.filename] = data
        return members


def _check(entries: list[ZipInfo], size: int) -> None:
    """Check names, kinds and sizes before anything is unpacked."""
    names = [entry.filename for entry in entries]
    if len(names) > MAX_MEMBERS or len(set(names)) < len(names) or names.count(DOCUMENT) != 1:
        raise ModelFileError(f"it must have one {DOCUMENT}, and no member twice")
    for entry in entries:
        if entry.filename != DOCUMENT and not NAME.fullmatch(entry.filename):
            raise ModelFileError(f"it has a member {entry.filename[:80]!r}, which no model file has")
        if entry.flag_bits & 1 or entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise ModelFileError(f"its member {entry.filename} is encrypted, or packed in an unknown way")
        mode = entry.external_attr >> 16
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            raise ModelFileError(f"its member {entry.filename} is not a file")
    text = next(entry.file_size for entry in entries if entry.filename == DOCUMENT)
    if not _allowed(size, sum(entry.file_size for entry in entries), text):
        raise ModelFileError("it unpacks to far more bytes than it has, unlike any model file")
