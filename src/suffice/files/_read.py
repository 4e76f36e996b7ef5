"""Values from JSON and arrays: the inverse of `_write`, which believes nothing."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from suffice._vector import Array
from suffice.files._arrays import KINDS
from suffice.files._error import ModelFileError
from suffice.files._hints import attributes, declared, is_estimator, parameters, suits
from suffice.files._registry import FUNCTIONS, classes, warning_classes
from suffice.files._sound import check_object
from suffice.files._write import MOMENTS, is_key
from suffice.models._statistics import Sums

DEEP = 32  # lists in lists
LARGE, TIMES = 10**6, 100  # values in all objects, each counted as often as it is a part of one: so many, or so many
# times those that the file says. What visits the parts of every object takes no longer
BLOCK, PLAIN = 1000, 100  # numbers, and plain values, of an array that count as one where it is checked


class Reader:
    """Makes the objects of a file one after another, each from plain values, arrays and the objects before it."""

    def __init__(
        self,
        arrays: list[Array],
        known: Mapping[str, type] | None = None,
        check: Callable[[Any], None] = check_object,
    ) -> None:
        self.arrays = arrays
        self.objects: list[Any] = []
        self._sizes: list[tuple[int, int]] = []  # of each object: its values, and of its arrays what is checked again
        self._size = self._bulk = 0  # of the object that is being made
        self._total = 0
        self._said = sum(1 + array.size // BLOCK for array in arrays)
        self._used: set[tuple[str, int]] = set()
        self._classes, self._warnings = classes() if known is None else dict(known), warning_classes()
        self._check = check
        self._tags: dict[str, Callable[[Any, int], Any]] = {
            "tuple": lambda items, depth: tuple(self._items(items, depth)),
            "frozenset": lambda items, depth: frozenset(map(_key, self._items(items, depth))),
            "dict": self._dict,
            "array": self._array,
            "object": self._object,
            "float": lambda text, _: _NOT_FINITE[text],
            "scalar": lambda parts, _: _scalar(*parts),
            "function": lambda name, _: FUNCTIONS[name],
            "warning": lambda name, _: self._warnings[name],
            **{name: _moment(kind) for name, kind in MOMENTS.items()},
        }

    def add(self, node: Any) -> None:
        """Make the next object."""
        self._size, self._bulk = 1, 0
        made = self._made(_exactly(node, dict, "an object"))
        self._total += self._size + self._bulk
        plain = isinstance(made, np.ndarray) and all(map(is_key, made.flat))
        again = self._bulk if isinstance(made, Sums) else 0  # which statistics check anew
        self._sizes.append((1, made.size // PLAIN) if plain else (self._size, again))
        if self._total > max(LARGE, TIMES * self._said):
            raise ModelFileError("its objects would have far more parts than it holds, as those of no model have")
        self._check(made)
        self.objects.append(made)

    @property
    def values(self) -> int:
        """How many values and numbers the file has."""
        return self._said + sum(array.size for array in self.arrays)

    def check_used(self) -> None:
        """ModelFileError if there is an array or an object that is no part of the model."""
        if len(self._used) < len(self.arrays) + len(self.objects):
            raise ModelFileError("it holds something that is no part of the model")

    def value(self, node: Any, depth: int = 0) -> Any:
        """The value of a piece of JSON."""
        self._size += 1
        self._said += 1
        if depth > DEEP:
            raise ModelFileError(f"lists stand in lists more than {DEEP} deep")
        if isinstance(node, list):
            return self._items(node, depth)
        if not isinstance(node, dict):
            return node
        if len(node) != 1 or next(iter(node)) not in self._tags:
            raise ModelFileError(f"a value of the unknown kind {sorted(node)[:3]}")
        ((tag, content),) = node.items()
        return self._tags[tag](content, depth + 1)

    def _items(self, nodes: Any, depth: int) -> list[Any]:
        return [self.value(node, depth + 1) for node in _exactly(nodes, list, "several values")]

    def _dict(self, pairs: Any, depth: int) -> dict[Any, Any]:
        items = [tuple(self._items(pair, depth)) for pair in _exactly(pairs, list, "a dict")]
        made = {_key(key): value for key, value in items}
        if len(made) < len(items):
            raise ModelFileError("a dict has a key twice")
        return made

    def _object(self, at: Any, depth: int) -> Any:  # noqa: ARG002 - as all of them
        made = self._at(self.objects, at, "object")
        size, bulk = self._sizes[at]
        self._size += size
        self._bulk += bulk
        return made

    def _array(self, at: Any, depth: int) -> Any:  # noqa: ARG002 - as all of them
        made = self._at(self.arrays, at, "array")
        self._bulk += made.size // BLOCK
        return made

    def _at(self, known: list[Any], at: Any, called: str) -> Any:
        if type(at) is not int or not 0 <= at < len(known):
            raise ModelFileError(f"a value refers to {called} {at!r}, which is not there")
        self._used.add((called, at))
        return known[at]

    def _named(self, nodes: Any) -> dict[str, Any]:
        return {name: self.value(node) for name, node in _exactly(nodes, dict, "named values").items()}

    def _made(self, node: dict[str, Any]) -> Any:
        name = node.get("is")
        parts = {key: part for key, part in node.items() if key != "is"}
        if name == "objects":
            return self._objects(**parts)
        if name not in self._classes:
            self._classes = {**classes(everything=True), **self._classes}
        if name not in self._classes:
            raise ModelFileError(f"it holds a {str(name)[:80]!r}, which this version does not know")
        cls = self._classes[name]
        return self._estimator(cls, name, **parts) if is_estimator(cls) else self._record(cls, name, **parts)

    def _record(self, cls: type, name: str, fields: Any) -> Any:
        """A value with named fields."""
        values = self._named(fields)
        hints = declared(cls)
        _check_names(name, values, {key for key, (_, optional) in hints.items() if not optional}, hints)
        _check_types(name, values, {key: hint for key, (hint, _) in hints.items()})
        return cls(**values)

    def _objects(self, shape: list[int], items: list[Any]) -> Array:
        """An array of anything: text of any length, mostly."""
        values = self._items(items, 0)
        made = np.empty(len(values), dtype=object)
        for i, value in enumerate(values):
            made[i] = value
        return made.reshape(tuple(shape))

    def _estimator(self, cls: type, name: str, settings: Any, state: Any) -> Any:
        """An estimator with what it has learned."""
        given, learned = self._named(settings), self._named(state)
        known = parameters(cls)
        needed = {key for key, default in known.items() if default is inspect.Parameter.empty}
        _check_names(name, given, needed, known)
        _check_names(name, learned, set(), attributes(cls))
        _check_types(name, learned, attributes(cls))
        made = cls(**given)
        vars(made).update(learned)
        return made


_NOT_FINITE = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


def _exactly(value: Any, kind: type, called: str) -> Any:
    if type(value) is not kind:
        raise ModelFileError(f"where {called} should stand there is {str(value)[:40]!r}")
    return value


def _key(value: Any) -> Any:
    """A value that is looked up by what it is, which takes as long as it is large."""
    if not is_key(value):
        raise ModelFileError(f"a {type(value).__name__} stands where only plain values may, as a key")
    return value


def _scalar(kind: str, data: str) -> Any:
    dtype = np.dtype(kind)
    if dtype.kind not in KINDS or dtype.hasobject:
        raise ModelFileError(f"a number of the type {dtype}, which no model has")
    if dtype.kind == "U" and dtype.itemsize == 0:  # empty text, which no buffer holds
        return np.str_()
    (value,) = np.frombuffer(bytes.fromhex(data), dtype=dtype)
    return value


def _moment(kind: Any) -> Callable[[Any, int], Any]:
    return lambda text, _: kind.fromisoformat(text)


def _check_names(name: str, got: Mapping[str, Any], needed: set[str], known: Mapping[str, Any]) -> None:
    strange, missing = sorted(got.keys() - known.keys()), sorted(needed - got.keys())
    if strange or missing:
        said = f"it has {strange}, which are unknown" if strange else f"it lacks {missing}"
        raise ModelFileError(f"a {name} of this version does not fit: {said}")


def _check_types(name: str, got: Mapping[str, Any], hints: Mapping[str, Any]) -> None:
    for key, value in got.items():
        if not suits(value, hints[key]):
            raise ModelFileError(f"{key} of a {name} is {type(value).__name__}, not {hints[key]}")
