"""Fingerprints of values, the same in every process, to compare values up to rounding."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from copyreg import dispatch_table
from dataclasses import fields, is_dataclass
from enum import StrEnum
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from suffice._runtime.lazy import Array

CLOSE = 1e-6  # relative difference of numbers computed on different machines
PLAIN = (str, bytes, int, type(None))  # booleans are ints


class Content(NamedTuple):
    """A digest of the exact parts (types, names, shapes, text, integers), and two numbers for each float array.

    >>> Content.of({"a": [1, "u"]}).alike(Content.of({"a": [1, "u"]}))
    True
    >>> Content.of(np.array([0.1, 0.3])).alike(Content.of(np.array([0.3, 0.1])))
    False
    """

    digest: str
    numbers: tuple[float, ...]

    @classmethod
    def of(cls, value: Any) -> Content:
        """The content of a value of plain values, arrays, dataclasses, functions of modules, and picklable objects."""
        digest = _Digest()
        digest.add(value)
        return cls(digest.hash.hexdigest(), tuple(digest.numbers))

    def alike(self, other: Content) -> bool:
        """True if two values are equal, up to the rounding of numbers."""
        if self.digest != other.digest or len(self.numbers) != len(other.numbers):
            return False
        ours, theirs = (np.array(c.numbers).reshape(-1, 2) for c in (self, other))
        return bool((abs(ours - theirs) <= CLOSE * np.maximum(ours[:, :1], theirs[:, :1])).all())


class _Digest:
    """Digests values one after another."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self.numbers: list[float] = []

    def add(self, value: Any) -> None:
        add = next((add for kind, add in _KINDS.items() if isinstance(value, kind)), _Digest.other)
        add(self, value)

    def word(self, *words: object) -> None:
        """Add exact values, each preceded by its length, so that they cannot run into each other."""
        for word in words:
            text = word if isinstance(word, bytes) else repr(word).encode("utf-8", "surrogatepass")
            self.hash.update(b"%d:" % len(text) + text)

    def several(self, values: Any) -> None:
        self.word(type(values).__qualname__, len(values))
        for value in values:
            self.add(value)

    def mapping(self, values: Mapping[Any, Any]) -> None:
        self.word("mapping", len(values))
        for pair in values.items():
            self.several(pair)

    def unordered(self, values: Any) -> None:
        self.word("set", *sorted(Content.of(value) for value in values))

    def array(self, value: Array) -> None:
        self.word("array", value.dtype.str, value.shape)
        if value.dtype.kind in "OT":
            for one in value.ravel().tolist():
                self.add(one)
        elif value.dtype.kind in "fc":
            self.floats(value)
        else:
            self.word(np.ascontiguousarray(value).tobytes())

    def floats(self, value: Any) -> None:
        """Add the sum of absolute values and a weighted sum; infinities and NaN are exact."""
        flat = np.ravel(value)
        if flat.dtype.kind == "c":
            flat = flat.view(flat.real.dtype)
        finite = np.isfinite(flat)
        if not finite.all():
            self.word(np.packbits(finite).tobytes(), str(flat[~finite].tolist()))
            flat = np.where(finite, flat, 0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            found = float(abs(flat).sum(dtype=float)), float(np.cos(np.arange(len(flat))) @ flat)
        self.numbers += found if np.isfinite(found).all() else (1.0, 0.0)

    def named(self, value: Any) -> None:
        """Add a function or class by its qualified name, and the object that a method is bound to."""
        self.word("named", value.__module__, value.__qualname__)
        owner = getattr(value, "__self__", None)
        if owner is not None and not isinstance(owner, ModuleType):
            self.add(owner)

    def other(self, value: Any) -> None:
        """Add a dataclass by its fields, any other object (estimators too) by what pickle would write."""
        if is_dataclass(value) and not hasattr(value, "get_params"):
            self.named(type(value))
            for one in fields(value):
                self.word(one.name)
                self.add(getattr(value, one.name))
            return
        written = dispatch_table.get(type(value))
        parts: Any = value.__reduce_ex__(4) if written is None else written(value)
        self.word("made")
        self.add(parts if isinstance(parts, str) else [None if hasattr(p, "__next__") else p for p in parts])
        for items in () if isinstance(parts, str) else parts[3:5]:
            self.several(list(items or ()))


_KINDS: dict[Any, Callable[[_Digest, Any], None]] = {
    StrEnum: lambda digest, value: digest.word("str", value.value),  # files store plain text
    PLAIN: lambda digest, value: digest.word(type(value).__name__, value),
    float: lambda digest, value: digest.floats(value),
    (np.ndarray, np.generic): lambda digest, value: digest.array(np.asarray(value)),
    (tuple, list): _Digest.several,
    Mapping: _Digest.mapping,
    (set, frozenset): _Digest.unordered,
    (type, FunctionType, BuiltinFunctionType, MethodType): _Digest.named,
}
