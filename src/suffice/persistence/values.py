"""Values as JSON and arrays: `Writer` turns objects into them, and `Reader`, which trusts nothing, makes them again."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from suffice._core.labels import show
from suffice._core.vector import Array
from suffice.models.statistics import Sums
from suffice.persistence.archive import KINDS, ModelFileError
from suffice.persistence.schema import (
    DATES,
    FUNCTIONS,
    attributes,
    check_object,
    classes,
    declared,
    is_estimator,
    is_key,
    parameters,
    suits,
    warning_classes,
)

MAX_INTEGER = 2**64  # whole numbers are below it
REQUESTS = "_metadata_request"  # where scikit-learn keeps its objects for metadata routing


class Writer:
    """Turns values into JSON; arrays, and objects that may be shared, go to lists and are referred to by number.

    None, booleans, text, whole and finite numbers are themselves, and so are lists. Anything else is an object with one
    key, its kind: {"tuple": [...]}, {"dict": [[key, value], ...]}, {"array": 3}, {"object": 7}, ... An object refers to
    objects before it only, so that nothing can be part of itself.
    """

    def __init__(self, known: Mapping[str, type] | None = None) -> None:
        self.arrays: list[Array] = []
        self.objects: list[dict[str, Any]] = []
        self._known: dict[int, dict[str, int]] = {}
        self._alive: list[Any] = []  # keeps numbered values alive, so that no other gets the same id
        self._names = {cls: name for name, cls in (classes() if known is None else known).items()}
        self._others = {id(f): {"function": name} for name, f in FUNCTIONS.items()}
        self._others |= {id(cls): {"warning": name} for name, cls in warning_classes().items()}

    def value(self, v: Any, where: str) -> Any:
        """Return the JSON of a value; messages call it `where`."""
        if v is None or type(v) in (bool, str):
            return v
        if isinstance(v, StrEnum):
            return v.value
        if type(v) is int:
            if abs(v) >= MAX_INTEGER:
                raise ModelFileError(f"{where} cannot be saved: it is beyond 64 bits")
            return v
        if type(v) in _DATE_NAMES:
            return {_DATE_NAMES[type(v)]: v.isoformat()}
        write = _PLAIN.get(type(v))
        if write is not None:
            return write(self, v, where)
        if isinstance(v, np.generic) and v.dtype.kind in "biufUMm":
            return {"scalar": [v.dtype.str, v.tobytes().hex()]}
        if type(v) in self._names:
            return self._once(v, where, self._object)
        if isinstance(v, np.ndarray):
            return self._once(v, where, self._array)
        if id(v) in self._others:
            return self._others[id(v)]
        raise ModelFileError(f"{where} cannot be saved: {_why_not_storable(v)}")

    def items(self, values: Any, where: str) -> list[Any]:
        """Return the JSON of several values."""
        return [self.value(v, f"{where}[{i}]") for i, v in enumerate(values)]

    def named(self, values: Mapping[str, Any], where: str) -> dict[str, Any]:
        """Return the JSON of values by name."""
        return {name: self.value(v, f"{where}.{name}") for name, v in values.items()}

    def _once(self, v: Any, where: str, write: Callable[[Any, str], dict[str, int]]) -> dict[str, int]:
        if id(v) not in self._known:
            self._known[id(v)] = write(v, where)
            self._alive.append(v)
        return self._known[id(v)]

    def _array(self, v: Array, where: str) -> dict[str, int]:
        if v.dtype.kind == "O":
            items = self.items(v.ravel().tolist(), where)
            return self._add({"is": "objects", "shape": list(v.shape), "items": items})
        if v.dtype.kind not in "biufUMm" or type(v) is not np.ndarray:
            raise ModelFileError(f"{where} cannot be saved: model files do not hold arrays of the type {v.dtype}")
        self.arrays.append(v)
        return {"array": len(self.arrays) - 1}

    def _object(self, v: Any, where: str) -> dict[str, int]:
        name = self._names[type(v)]
        if isinstance(v, BaseEstimator):
            held = v.__getstate__()
            settings = {key: held.get(key, value) for key, value in v.get_params(deep=False).items()}
            state = {key: value for key, value in sorted(held.items()) if key not in settings and key in vars(v)}
            kind: Any = type(v)
            if REQUESTS in state:
                raise ModelFileError(
                    f"{where} cannot be saved with requests of metadata (set_fit_request and the like): "
                    "fit without them, and set them again after loading"
                )
            strange = state.keys() - attributes(kind).keys()
            if strange:
                raise ModelFileError(f"{where} has the attributes {sorted(strange)}, which its class does not declare")
            parts = {"settings": self.named(settings, where), "state": self.named(state, where)}
            return self._add({"is": name, **parts})
        names = [f.name for f in fields(v)] if is_dataclass(v) else v._fields
        return self._add({"is": name, "fields": self.named({key: getattr(v, key) for key in names}, where)})

    def _add(self, node: dict[str, Any]) -> dict[str, int]:
        self.objects.append(node)
        return {"object": len(self.objects) - 1}

    def _dict(self, v: dict[Any, Any], where: str) -> dict[str, Any]:
        return {"dict": [[self._key(k, f"a key of {where}"), self.value(x, f"{where}[{k!r}]")] for k, x in v.items()]}

    def _key(self, v: Any, where: str) -> Any:
        if not is_key(v):
            raise ModelFileError(
                f"{where} cannot be saved: only text, numbers, dates and tuples of such, got {show(v)}"
            )
        return self.value(v, where)


_DATE_NAMES = {kind: name for name, kind in DATES.items()}
_PLAIN: dict[type, Callable[[Writer, Any, str], Any]] = {
    float: lambda _, v, where: v if math.isfinite(v) else {"float": repr(v)},  # noqa: ARG005 - the signature of writers
    list: Writer.items,
    tuple: lambda writer, v, where: {"tuple": writer.items(v, where)},
    dict: Writer._dict,
    frozenset: lambda writer, v, where: {
        "frozenset": [writer._key(one, f"an element of {where}") for one in sorted(v, key=repr)]
    },
}


def _why_not_storable(v: Any) -> str:
    """Return why a model file cannot hold a value."""
    if isinstance(v, np.random.RandomState | np.random.Generator):
        return "a generator of random numbers has a state. Give a whole number as random_state"
    if callable(v) and not isinstance(v, type):
        return f"a function cannot be read back without running code from the file, got {show(v)}"
    kind = type(v)
    return (
        f"a {kind.__module__}.{kind.__qualname__} is not of this library. Model files hold its own estimators, "
        "learners, models and priors, plain values and NumPy arrays"
    )


MAX_DEPTH = 32  # of lists in lists
# A short file can describe an enormous object, in which each part is there twice. So values are counted once for each
# object that they are a part of: at most a million, or 100 times the values that the file itself has.
MAX_VALUES, MAX_REPETITION = 10**6, 100
# Checking a block of numbers, or of plain objects, of an array takes about as long as one value.
NUMBERS_PER_VALUE, OBJECTS_PER_VALUE = 1000, 100


class Reader:
    """Makes the objects of a file, each from plain values, arrays and the objects before it."""

    def __init__(
        self,
        arrays: list[Array],
        known: Mapping[str, type] | None = None,
        check: Callable[[Any], None] = check_object,
    ) -> None:
        self.arrays = arrays
        self.objects: list[Any] = []
        self._sizes: list[tuple[int, int]] = []  # of each object: its values, and those of its arrays to check again
        self._size = self._bulk = 0  # the same of the object that is being made
        self._total = 0
        self._in_file = sum(1 + array.size // NUMBERS_PER_VALUE for array in arrays)
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
            **{name: partial(self._moment, kind) for name, kind in DATES.items()},
        }

    def add(self, node: Any) -> None:
        """Make the next object."""
        self._size, self._bulk = 1, 0
        made = self._make(_exactly(node, dict, "an object"))
        self._total += self._size + self._bulk
        plain = isinstance(made, np.ndarray) and all(map(is_key, made.flat))
        again = self._bulk if isinstance(made, Sums) else 0  # statistics check their sums again
        self._sizes.append((1, made.size // OBJECTS_PER_VALUE) if plain else (self._size, again))
        if self._total > max(MAX_VALUES, MAX_REPETITION * self._in_file):
            raise ModelFileError("its objects would have far more parts than it holds, unlike those of any model")
        self._check(made)
        self.objects.append(made)

    @property
    def values(self) -> int:
        """The number of values in the file."""
        return self._in_file + sum(array.size for array in self.arrays)

    def check_used(self) -> None:
        """Raise ModelFileError if an array or an object is not part of the model."""
        if len(self._used) < len(self.arrays) + len(self.objects):
            raise ModelFileError("it holds something that is not part of the model")

    def value(self, node: Any, depth: int = 0) -> Any:
        """Return the value of a piece of JSON."""
        self._size += 1
        self._in_file += 1
        if depth > MAX_DEPTH:
            raise ModelFileError(f"lists stand in lists more than {MAX_DEPTH} deep")
        if isinstance(node, list):
            return self._items(node, depth)
        if not isinstance(node, dict):
            return node
        if len(node) != 1 or next(iter(node)) not in self._tags:
            raise ModelFileError(f"a value of the unknown kind {sorted(node)[:3]}")
        ((tag, content),) = node.items()
        return self._tags[tag](content, depth + 1)

    def _items(self, nodes: Any, depth: int) -> list[Any]:
        return [self.value(node, depth + 1) for node in _exactly(nodes, list, "a list of values")]

    def _dict(self, pairs: Any, depth: int) -> dict[Any, Any]:
        items = [tuple(self._items(pair, depth)) for pair in _exactly(pairs, list, "a dict")]
        made = {_key(key): value for key, value in items}
        if len(made) < len(items):
            raise ModelFileError("a dict has a key twice")
        return made

    def _object(self, at: Any, depth: int) -> Any:  # noqa: ARG002 - the signature of tags
        made = self._at(self.objects, at, "object")
        size, bulk = self._sizes[at]
        self._size += size
        self._bulk += bulk
        return made

    def _array(self, at: Any, depth: int) -> Any:  # noqa: ARG002 - the signature of tags
        made = self._at(self.arrays, at, "array")
        self._bulk += made.size // NUMBERS_PER_VALUE
        return made

    def _moment(self, kind: Any, text: str, depth: int) -> Any:  # noqa: ARG002 - the signature of tags
        return kind.fromisoformat(text)

    def _at(self, known: list[Any], at: Any, called: str) -> Any:
        if type(at) is not int or not 0 <= at < len(known):
            raise ModelFileError(f"a value refers to {called} {at!r}, which does not exist")
        self._used.add((called, at))
        return known[at]

    def _named(self, nodes: Any) -> dict[str, Any]:
        return {name: self.value(node) for name, node in _exactly(nodes, dict, "named values").items()}

    def _make(self, node: dict[str, Any]) -> Any:
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
        """Make a record from its fields."""
        values = self._named(fields)
        hints = declared(cls)
        _check_names(name, values, {key for key, (_, optional) in hints.items() if not optional}, hints)
        for key, value in values.items():
            kind = hints[key][0]
            if isinstance(value, str) and isinstance(kind, type) and issubclass(kind, StrEnum):  # files hold the text
                if value not in tuple(kind):
                    raise ModelFileError(f"one of {[one.value for one in kind]} is expected, got {value[:40]!r}")
                values[key] = kind(value)
        _check_types(name, values, {key: hint for key, (hint, _) in hints.items()})
        return cls(**values)

    def _objects(self, shape: list[int], items: list[Any]) -> Array:
        """Make an array of objects, mostly of text of any length."""
        values = self._items(items, 0)
        made = np.empty(len(values), dtype=object)
        for i, value in enumerate(values):
            made[i] = value
        return made.reshape(tuple(shape))

    def _estimator(self, cls: type, name: str, settings: Any, state: Any) -> Any:
        """Make a fitted estimator."""
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
        raise ModelFileError(f"{called} is expected, got {str(value)[:40]!r}")
    return value


def _key(value: Any) -> Any:
    """Return a value that may be a key. Only plain values may, because hashing others can take long."""
    if not is_key(value):
        raise ModelFileError(f"only plain values may be keys, got a {type(value).__name__}")
    return value


def _scalar(kind: str, data: str) -> Any:
    dtype = np.dtype(kind)
    if dtype.kind not in KINDS or dtype.hasobject:
        raise ModelFileError(f"it holds a number of the type {dtype}, which no model has")
    if dtype.kind == "U" and dtype.itemsize == 0:  # a buffer cannot hold empty text
        return np.str_()
    (value,) = np.frombuffer(bytes.fromhex(data), dtype=dtype)
    return value


def _check_names(name: str, got: Mapping[str, Any], needed: set[str], known: Mapping[str, Any]) -> None:
    strange, missing = sorted(got.keys() - known.keys()), sorted(needed - got.keys())
    if strange or missing:
        why = f"it has {strange}, which are unknown" if strange else f"it lacks {missing}"
        raise ModelFileError(f"a {name} of this version does not fit: {why}")


def _check_types(name: str, got: Mapping[str, Any], hints: Mapping[str, Any]) -> None:
    for key, value in got.items():
        if not suits(value, hints[key]):
            raise ModelFileError(f"{key} of a {name} is {type(value).__name__}, not {hints[key]}")
