"""Values as JSON and arrays: what a model is made of, in the order in which it can be made again."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from suffice._labels import show
from suffice._vector import Array
from suffice.files._error import ModelFileError
from suffice.files._hints import attributes
from suffice.files._registry import FUNCTIONS, classes, warning_classes

HUGE = 2**64  # beyond which a whole number is no setting of a model
MOMENTS: dict[str, Any] = {
    "date": datetime.date,
    "datetime": datetime.datetime,
    "time": datetime.time,
}
KEYS = (str, int, float, bool, type(None), np.generic, *MOMENTS.values())
REQUESTS = "_metadata_request"  # where scikit-learn keeps them, as objects of its own
KEY_DEEP = 3  # tuples in tuples


def is_key(v: Any, depth: int = 0) -> bool:
    """Whether a value may be a key in a file: plain, or a tuple of such.

    >>> is_key("a"), is_key((1, None)), is_key(frozenset())
    (True, True, False)
    """
    if type(v) is tuple:
        return depth < KEY_DEEP and all(is_key(one, depth + 1) for one in v)
    return isinstance(v, KEYS)


class Writer:
    """Turns values into JSON; arrays, and objects that may be shared, go to lists that are referred to by number.

    None, truth values, text, whole and finite numbers are themselves, and so are lists. All else is an object of one
    key that says what it is: {"tuple": [...]}, {"dict": [[key, value], ...]}, {"array": 3}, {"object": 7}, ...
    An object refers to objects before it only: so nothing can be part of itself.
    """

    def __init__(self, known: Mapping[str, type] | None = None) -> None:
        self.arrays: list[Array] = []
        self.objects: list[dict[str, Any]] = []
        self._known: dict[int, dict[str, int]] = {}
        self._kept: list[Any] = []  # what was numbered, so that no other value takes its identity
        self._names = {cls: name for name, cls in (classes() if known is None else known).items()}
        self._others = {id(f): {"function": name} for name, f in FUNCTIONS.items()}
        self._others |= {id(cls): {"warning": name} for name, cls in warning_classes().items()}

    def value(self, v: Any, where: str) -> Any:
        """The JSON of a value; `where` is how messages call it."""
        if v is None or type(v) in (bool, str):
            return v
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
        raise ModelFileError(f"{where} cannot be saved: {_stranger(v)}")

    def items(self, values: Any, where: str) -> list[Any]:
        """The JSON of several values."""
        return [self.value(v, f"{where}[{i}]") for i, v in enumerate(values)]

    def named(self, values: Mapping[str, Any], where: str) -> dict[str, Any]:
        """The JSON of values by name."""
        return {name: self.value(v, f"{where}.{name}") for name, v in values.items()}

    def _once(self, v: Any, where: str, write: Callable[[Any, str], dict[str, int]]) -> dict[str, int]:
        if id(v) not in self._known:
            self._known[id(v)] = write(v, where)
            self._kept.append(v)
        return self._known[id(v)]

    def _array(self, v: Array, where: str) -> dict[str, int]:
        if v.dtype.kind == "O":
            items = self.items(v.ravel().tolist(), where)
            return self._add({"is": "objects", "shape": list(v.shape), "items": items})
        if v.dtype.kind not in "biufUMm" or type(v) is not np.ndarray:
            raise ModelFileError(f"{where} cannot be saved: arrays of the type {v.dtype} have no place in a model file")
        self.arrays.append(v)
        return {"array": len(self.arrays) - 1}

    def _object(self, v: Any, where: str) -> dict[str, int]:
        name = self._names[type(v)]
        if isinstance(v, BaseEstimator):
            settings = v.get_params(deep=False)
            state = {key: value for key, value in vars(v).items() if key not in settings}
            kind: Any = type(v)
            if REQUESTS in state:
                raise ModelFileError(
                    f"{where} cannot be saved with requests of metadata (set_fit_request and the like): "
                    "fit it without, and set them again when it is loaded"
                )
            strange = state.keys() - attributes(kind).keys()
            if strange:
                raise ModelFileError(f"{where} has the attributes {sorted(strange)}, which its class does not declare")
            at = where if where != "the model" else type(v).__name__
            parts = {"settings": self.named(settings, at), "state": self.named(state, at)}
            return self._add({"is": name, **parts})
        names = [f.name for f in fields(v)] if is_dataclass(v) else v._fields
        return self._add({"is": name, "fields": self.named({key: getattr(v, key) for key in names}, where)})

    def _add(self, node: dict[str, Any]) -> dict[str, int]:
        self.objects.append(node)
        return {"object": len(self.objects) - 1}

    def _int(self, v: int, where: str) -> int:
        if abs(v) >= HUGE:
            raise ModelFileError(f"{where} cannot be saved: it is beyond 64 bits")
        return v

    def _float(self, v: float, where: str) -> Any:  # noqa: ARG002 - as all of them
        return v if math.isfinite(v) else {"float": repr(v)}

    def _dict(self, v: dict[Any, Any], where: str) -> dict[str, Any]:
        return {"dict": [[self._key(k, f"a key of {where}"), self.value(x, f"{where}[{k!r}]")] for k, x in v.items()]}

    def _set(self, v: frozenset[Any], where: str) -> dict[str, Any]:
        return {"frozenset": [self._key(one, f"an element of {where}") for one in sorted(v, key=repr)]}

    def _key(self, v: Any, where: str) -> Any:
        if not is_key(v):
            raise ModelFileError(
                f"{where} cannot be saved: only text, numbers, dates and tuples of such, got {show(v)}"
            )
        return self.value(v, where)


def _moment(name: str) -> Callable[[Writer, Any, str], Any]:
    return lambda writer, v, where: {name: v.isoformat()}  # noqa: ARG005 - as all of them


_PLAIN: dict[type, Callable[[Writer, Any, str], Any]] = {
    int: Writer._int,
    float: Writer._float,
    list: Writer.items,
    tuple: lambda writer, v, where: {"tuple": writer.items(v, where)},
    dict: Writer._dict,
    frozenset: Writer._set,
    **{kind: _moment(name) for name, kind in MOMENTS.items()},
}


def _stranger(v: Any) -> str:
    """Why a value has no place in a model file."""
    if isinstance(v, np.random.RandomState | np.random.Generator):
        return "a generator of random numbers has a state of its own. Give a whole number as random_state"
    if callable(v) and not isinstance(v, type):
        return f"a function cannot be read back without running code from the file, got {show(v)}"
    kind = type(v)
    return (
        f"a {kind.__module__}.{kind.__qualname__} is not of this library. Model files hold its own estimators, "
        "learners, models and priors, plain values and NumPy arrays"
    )
