"""Whether values are of the types that their classes declare."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from functools import cache
from types import NoneType, UnionType
from typing import Any, ClassVar, Protocol, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from sklearn.base import BaseEstimator

from suffice._vector import Array
from suffice.files._registry import is_named_tuple

OUTPUT = "_sklearn_output_config"  # where scikit-learn keeps what set_output was told
EVERY = {"n_features_in_": int, "feature_names_in_": Array, OUTPUT: dict[str, str]}  # what it keeps of any estimator


@cache
def attributes(cls: type) -> dict[str, Any]:
    """What an estimator may have besides its settings, with types: all that its classes annotate."""
    hints = {name: hint for name, hint in get_type_hints(cls).items() if get_origin(hint) is not ClassVar}
    return {name: hint for name, hint in (EVERY | hints).items() if name not in parameters(cls)}


@cache
def parameters(cls: type) -> dict[str, Any]:
    """The parameters of an estimator, with defaults (or `inspect.Parameter.empty`)."""
    found = inspect.signature(cls).parameters.values()
    return {p.name: p.default for p in found}


@cache
def declared(cls: type) -> dict[str, tuple[Any, bool]]:
    """The type of each field of a class of values, and whether it may be left out."""
    hints = get_type_hints(cls)
    if is_named_tuple(cls):
        names: Any = cls
        return {name: (hints[name], name in names._field_defaults) for name in names._fields}
    values: Any = cls
    return {
        f.name: (hints[f.name], f.default is not MISSING or f.default_factory is not MISSING) for f in fields(values)
    }


def suits(value: Any, hint: Any) -> bool:
    """Whether a value is of a declared type, as far as the declaration says.

    >>> suits((1, 2), tuple[int, ...]), suits([1.5], list[float]), suits("1", int | None), suits(True, int)
    (True, True, False, False)
    """
    kind = get_origin(hint) or hint
    args = get_args(hint)
    if kind in (Union, UnionType):
        return any(suits(value, one) for one in args)
    if isinstance(hint, TypeVar):
        return hint.__bound__ is None or suits(value, hint.__bound__)
    for base, check in _CONTAINERS.items():
        if kind is base:
            return check(value, args)
    if kind in _NUMBERS:
        return isinstance(value, _NUMBERS[kind]) and (kind is bool or not isinstance(value, bool | np.bool_))
    if kind is None or kind is NoneType:
        return value is None
    if not isinstance(kind, type) or kind in (Any, object) or Protocol in kind.__mro__:
        return True
    return isinstance(value, kind)


def _mapping(value: Any, args: Sequence[Any]) -> bool:
    if not isinstance(value, Mapping):
        return False
    return not args or all(suits(k, args[0]) and suits(v, args[1]) for k, v in value.items())


def _items(kind: Any) -> Callable[[Any, Sequence[Any]], bool]:
    return lambda value, args: isinstance(value, kind) and all(suits(one, args[0]) for one in value if args)


def _tuple(value: Any, args: Sequence[Any]) -> bool:
    if not isinstance(value, tuple):
        return False
    if not args or args[-1] is Ellipsis:
        return all(suits(one, args[0]) for one in value if args)
    return len(value) == len(args) and all(map(suits, value, args))


_NUMBERS: dict[Any, Any] = {
    bool: (bool, np.bool_),
    int: (int, np.integer),
    float: (int, float, np.integer, np.floating),
}
_CONTAINERS: dict[Any, Callable[[Any, Sequence[Any]], bool]] = {
    Mapping: _mapping,
    dict: _mapping,
    tuple: _tuple,
    list: _items(list),
    frozenset: _items(frozenset),
    type: lambda value, args: isinstance(value, type) and (not args or issubclass(value, args[0])),
    Callable: lambda value, _: callable(value),
}


def is_estimator(cls: type) -> bool:
    """Whether a class has settings and learned attributes, instead of fields."""
    return issubclass(cls, BaseEstimator)
