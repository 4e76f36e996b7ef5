"""Arrays as the bytes of .npy files, and back, without pickle."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
from numpy.lib import format as npy

from suffice._vector import Array
from suffice.files._error import ModelFileError

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
