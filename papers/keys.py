"""What a result depends on, as a hash: a result whose key has changed is stale."""

from __future__ import annotations

import hashlib
import inspect
import json
import platform
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
import scipy
import sklearn
from sklearn.base import BaseEstimator

import suffice
from papers import code

PLAIN = (str, bytes, int, float, complex, type(None), type(...), range)


LIBRARY = suffice.__name__


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that results depend on."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"Python": python, "NumPy": np.__version__, "SciPy": scipy.__version__, "scikit-learn": sklearn.__version__}


def key(*settings: Any) -> str:
    """A hash of settings (estimators with all parameters), of the code that they depend on, and of `versions()`.

    Functions of this package count with their code; what is imported from the library counts with the module that
    defines it and every module that this one imports.

    >>> from suffice import GaussianNB
    >>> key(GaussianNB()) == key(GaussianNB()), key(GaussianNB()) == key(GaussianNB(tied=True))
    (True, False)
    """
    text = json.dumps([versions(), described(settings)])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def described(value: Any) -> Any:
    """A value as lists of text, the same in every process.

    >>> described((0.5, {"a": np.arange(2)}))
    ['0.5', [["'a'", ['int64', ['0', '1']]]]]
    """
    if isinstance(value, PLAIN):
        return repr(value)
    if isinstance(value, list | tuple):
        return [described(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(json.dumps(described(item)) for item in value)
    if isinstance(value, Mapping):
        return [[described(name), described(item)] for name, item in value.items()]
    if isinstance(value, np.ndarray | np.generic):
        return [str(value.dtype), described(value.tolist())]
    if isinstance(value, partial):
        return [described(value.func), described(value.args), described(value.keywords)]
    if hasattr(value, "__name__"):  # a function, a class or a module
        return _code(inspect.unwrap(value)) if _ours(value) else _name(value)
    settings = value.get_params(deep=False) if isinstance(value, BaseEstimator) else vars(value)
    return [described(type(value)), described(settings)]


def _home(value: Any) -> str:
    """The package that something was defined in."""
    return str(getattr(value, "__module__", "")).partition(".")[0]


def _ours(value: Any) -> bool:
    """Whether something is code of this package; that of others has a version."""
    return _home(value) == __package__


def _name(value: Any) -> str:
    """The name of something that is not code of this package; what the library defines has the hash of its code too."""
    name = f"{_home(value)}:{getattr(value, '__qualname__', value.__name__)}"
    return f"{name} {code.digest(value.__module__)}" if _home(value) == LIBRARY else name


@cache
def _code(value: Any) -> Any:
    """A function or class of this package: its own code, and all code and constants of the package that it uses."""
    found: list[Any] = []
    seen, todo = set(), [value]
    while todo:
        one = inspect.unwrap(todo.pop())
        if one in seen:
            continue
        seen.add(one)
        found.append(one.__qualname__)
        if isinstance(one, type):
            todo += [part for part in vars(one).values() if _ours(part) and callable(part)]
            todo += [base for base in one.__bases__ if _ours(base)]
            found.append([_name(base) for base in one.__bases__])
        elif isinstance(one, FunctionType):
            names, text = _text(one)
            used = {name: one.__globals__[name] for name in names if name in one.__globals__}
            used |= _of_library(used, names)
            inner = [cell.cell_contents for cell in one.__closure__ or ()]
            found += [text, described([one.__defaults__, one.__kwdefaults__])]
            for thing in (*used.values(), *inner):
                if _ours(thing) and hasattr(thing, "__name__"):
                    todo.append(thing)
                else:
                    found.append(described(thing))
    return found


def _of_library(used: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """What a function takes from modules of the library by their attributes, as `suffice.LinearBayes`."""
    modules = [
        one for one in used.values() if isinstance(one, ModuleType) and one.__name__.partition(".")[0] == LIBRARY
    ]
    return {f"{one.__name__}.{name}": getattr(one, name) for one in modules for name in names if hasattr(one, name)}


def _text(function: FunctionType) -> tuple[list[str], Any]:
    """The names that a function uses, and its instructions and constants without the sentence that describes it."""
    every = list(_nested(function.__code__))
    constants = [c for code in every for c in code.co_consts if not isinstance(c, CodeType) and c != function.__doc__]
    names = [name for code in every for name in code.co_names]
    return list(dict.fromkeys(names)), [[code.co_code.hex() for code in every], described(constants), names]


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)
