"""What a value holds, in a few words that are the same in every process: to tell whether two are alike."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from copyreg import dispatch_table
from dataclasses import fields, is_dataclass
from enum import StrEnum
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from suffice._runtime.arrays import Array

CLOSE = 1e-6  # of numbers that were computed on another machine
PLAIN = (str, bytes, int, type(None))  # truth values are whole numbers


class Content(NamedTuple):
    """A digest of all that is exact (types, names, shapes, text, whole numbers), and two numbers for each float array.

    >>> Content.of({"a": [1, "u"]}).alike(Content.of({"a": [1, "u"]}))
    True
    >>> Content.of(np.array([0.1, 0.3])).alike(Content.of(np.array([0.3, 0.1])))
    False
    """

    digest: str
    numbers: tuple[float, ...]

    @classmethod
    def of(cls, value: Any) -> Content:
        """Of a value made of plain ones, arrays, dataclasses, functions of modules, and whatever can be pickled."""
        taken = _Taken()
        taken.add(value)
        return cls(taken.hash.hexdigest(), tuple(taken.numbers))

    def alike(self, other: Content) -> bool:
        """Whether two values are the same, except for the rounding of what is computed from the same numbers."""
        if self.digest != other.digest or len(self.numbers) != len(other.numbers):
            return False
        ours, theirs = (np.array(c.numbers).reshape(-1, 2) for c in (self, other))
        return bool((abs(ours - theirs) <= CLOSE * np.maximum(ours[:, :1], theirs[:, :1])).all())


class _Taken:
    """Takes values in, one after another."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self.numbers: list[float] = []

    def add(self, value: Any) -> None:
        take = next((take for kind, take in _KINDS.items() if isinstance(value, kind)), _Taken.other)
        take(self, value)

    def word(self, *words: object) -> None:
        """Something exact, and what comes before it apart from what comes after."""
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
        """The sum of the sizes of numbers, and one in which each has its own weight; exactly what is not finite."""
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
        """What a module or a class calls by its name, and whose method it is."""
        self.word("named", value.__module__, value.__qualname__)
        owner = getattr(value, "__self__", None)
        if owner is not None and not isinstance(owner, ModuleType):
            self.add(owner)

    def other(self, value: Any) -> None:
        """A dataclass by its fields, anything else by what pickle would write of it."""
        if is_dataclass(value):
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


_KINDS: dict[Any, Callable[[_Taken, Any], None]] = {
    StrEnum: lambda taken, value: taken.word("str", value.value),  # a file has plain text in its place
    PLAIN: lambda taken, value: taken.word(type(value).__name__, value),
    float: lambda taken, value: taken.floats(value),
    (np.ndarray, np.generic): lambda taken, value: taken.array(np.asarray(value)),
    (tuple, list): _Taken.several,
    Mapping: _Taken.mapping,
    (set, frozenset): _Taken.unordered,
    (type, FunctionType, BuiltinFunctionType, MethodType): _Taken.named,
}
