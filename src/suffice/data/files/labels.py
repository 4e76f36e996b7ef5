"""Labels of a table: whole numbers and truth values as such, all else as text, the way that the file writes it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from suffice._core.vector import Array
from suffice._runtime.messages import join_words
from suffice.data.files.sheet import TableError
from suffice.data.files.values import NOTHING, TEXT, as_text, kind_of
from suffice.data.files.ways import cast

EXACT = float(1 << 53)  # up to which a double has every whole number
WORDS = {"b": "a truth value", "i": "a whole number", "u": "a whole number", "f": "a number", "M": "a date"}


def plain_type(labels: pa.ChunkedArray) -> bool:
    """Whether labels are of a type that any file of the same classes has: whole numbers, truth values, text."""
    of = labels.type
    return pa.types.is_integer(of) or pa.types.is_boolean(of) or kind_of(labels) in (TEXT, NOTHING, None)


def whole_numbers(labels: pa.ChunkedArray) -> bool:
    """Whether labels as text are whole numbers, such as 1 or 1.0, that can be told apart as numbers."""
    numbers = cast(labels)
    return numbers is not None and _whole(numbers)


def labels_of(column: pa.ChunkedArray) -> Array:
    """Labels (n,): whole numbers and truth values as such, all else as text.

    >>> labels_of(pa.chunked_array([[1.0, 2.0]])).tolist(), labels_of(pa.chunked_array([[1.0, 2.5]])).tolist()
    ([1, 2], ['1', '2.5'])
    """
    if pa.types.is_floating(column.type) and _whole(column):
        column = column.cast(pa.int64())
    if pa.types.is_integer(column.type) or pa.types.is_boolean(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    return np.asarray(as_text(column).to_numpy(zero_copy_only=False), dtype=str)


def labels_like(column: pa.ChunkedArray, classes: Array, path: str) -> Array:
    """Labels of the kind of a model's classes (k,); TableError, with the first that is not, if they are of another."""
    labels, kind = labels_of(column), classes.dtype.kind
    if kind in "UO":
        return labels.astype(str)
    if (kind in "iu" and labels.dtype.kind in "iu") or kind == labels.dtype.kind == "b":
        return labels
    if kind in "fM":
        try:
            return labels.astype(classes.dtype)
        except ValueError:
            pass
    strange = next((one for one in np.unique(labels) if not _is(str(one), kind)), labels[0])
    raise TableError(
        f"{path}: the label {str(strange)!r} is not {WORDS.get(kind, 'one')}, but the model has learned "
        f"{join_words(classes.tolist(), 5)}: write the labels the same way"
    )


def _whole(numbers: pa.ChunkedArray) -> bool:
    """Whether all numbers are whole, and none so great that others might have become it."""
    if pa.types.is_integer(numbers.type):
        return True
    return bool(pc.all(pc.and_(pc.equal(pc.floor(numbers), numbers), pc.less(pc.abs(numbers), EXACT))).as_py())


def _is(text: str, kind: str) -> bool:
    """Whether a text is of a kind of NumPy's."""
    to = {"b": pa.bool_(), "i": pa.int64(), "u": pa.uint64(), "M": pa.timestamp("us")}.get(kind, pa.float64())
    return cast(pa.chunked_array([[text]]), to) is not None
