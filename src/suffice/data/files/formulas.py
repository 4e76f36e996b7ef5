"""Text that spreadsheets read as formulas: written with a quote in front, and read without it."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

QUOTE = "'"
FORMULA = r"(?s)^'*[=+\-@\t\r\n]."  # a sign alone is not a formula, but a common label
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
    if not pc.any(pc.starts_with(text, QUOTE)).as_py():  # most text: a fast test
        return text
    rest = pc.utf8_slice_codeunits(text, 1)
    return pc.if_else(pc.and_(pc.starts_with(text, QUOTE), _computes(rest)), rest, text)


def _computes(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """True where a spreadsheet would read text as a formula, quotes before it aside."""
    return pc.and_not(pc.match_substring_regex(text, FORMULA), pc.match_substring_regex(text, NUMBER))
