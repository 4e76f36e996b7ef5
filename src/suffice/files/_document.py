"""A JSON document and the arrays that it refers to by number, as the members of an archive."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from suffice._vector import Array
from suffice.files._archive import DOCUMENT
from suffice.files._arrays import from_bytes, to_bytes
from suffice.files._error import ModelFileError
from suffice.files._write import HUGE


def to_members(document: Mapping[str, Any], arrays: Sequence[Array]) -> dict[str, bytes]:
    """Members by name."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    members = {DOCUMENT: text.encode("utf-8", "surrogatepass")}
    return members | {_member(i): to_bytes(array) for i, array in enumerate(arrays)}


def from_members(members: Mapping[str, bytes]) -> tuple[Any, list[Array]]:
    """The document, and the arrays in order."""
    document = _parsed(members[DOCUMENT])
    return document, [from_bytes(members[_member(i)], _member(i)) for i in range(len(members) - 1)]


def _member(i: int) -> str:
    return f"arrays/{i}.npy"


def _parsed(data: bytes) -> Any:
    """JSON, with no key twice and no number that is none."""
    return json.loads(
        data.decode("utf-8", "surrogatepass"),
        object_pairs_hook=_without_doubles,
        parse_int=_whole,
        parse_constant=_no_number,
    )


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ModelFileError("its document has a key twice")
    return made


def _whole(digits: str) -> int:
    if len(digits) > 21 or abs(int(digits)) >= HUGE:
        raise ModelFileError("a whole number in it is beyond 64 bits")
    return int(digits)


def _no_number(text: str) -> Any:
    raise ModelFileError(f"its document has {text}, which is no number")
