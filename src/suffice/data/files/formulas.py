"""Text that spreadsheets read as formulas: written with a quote in front, and read without it."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

QUOTE = "'"
FORMULA = r"(?s)^'*[=+\-@\t\r\n\x{FF0B}\x{FF0D}\x{FF1D}\x{FF20}]."  # or full width; a sign alone is a common label
NUMBER = r"^'*[-+][\d.,]*\d[\d.,]*([eE][-+]?\d+)?$"


def quoted(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """Text with a quote before formulas, such as =1+1, and before formulas that have a quote already.

    >>> quoted(pa.chunked_array([["=1+1", "-1.5", "-", "a=b", "'@x", None]])).to_pylist()
    ["'=1+1", '-1.5', '-', 'a=b', "''@x", None]
    """
    needs = _computes(text)
    if not pc.any(needs).as_py():
        return text
    return pc.if_else(needs, pc.binary_join_element_wise(QUOTE, text, ""), text)


def unquoted(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """The inverse of `quoted`.

    >>> unquoted(pa.chunked_array([["'=1+1", "-1.5", "'twas", "''@x", None]])).to_pylist()
    ['=1+1', '-1.5', "'twas", "'@x", None]
    """
    if not has_quoted(text):
        return text
    return pc.if_else(_quotes(text), pc.utf8_slice_codeunits(text, 1), text)


def has_quoted(text: pa.ChunkedArray) -> bool:
    """True if `unquoted` would change text."""
    some = pc.any(pc.starts_with(text, QUOTE)).as_py()  # most text has none: a fast test
    return bool(some and pc.any(_quotes(text)).as_py())


def has_bare(text: pa.ChunkedArray) -> bool:
    """True if a formula has no quote: `quoted` has not written text, and two values may be one if `unquoted` reads it.

    >>> has_bare(pa.chunked_array([["'-x", "-x"]])), has_bare(pa.chunked_array([["'-x", "x", "-1.5"]]))
    (True, False)
    """
    return bool(pc.any(pc.and_not(_computes(text), pc.starts_with(text, QUOTE))).as_py())


def _quotes(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """True where text is a formula with a quote in front."""
    return pc.and_(pc.starts_with(text, QUOTE), _computes(text))


def _computes(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """True where a spreadsheet would read text as a formula, quotes before it aside."""
    return pc.and_not(pc.match_substring_regex(text, FORMULA), pc.match_substring_regex(text, NUMBER))
