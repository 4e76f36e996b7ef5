"""Loops that are compiled, and properties that are computed, when they are first needed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import update_wrapper
from threading import Lock
from typing import Any, Generic, Self, TypeVar, cast, overload

import numpy.typing as npt

Array = npt.NDArray[Any]
F = TypeVar("F", bound=Callable[..., Any])
_LOCK = [Lock()]


def _replace_lock() -> None:
    """Replace the lock in a forked process, which lacks the thread that may hold it."""
    _LOCK[0] = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_replace_lock)


def _numba() -> Any:
    """Import numba; an import that Ctrl-C interrupts leaves no partial modules behind."""
    before = set(sys.modules)
    try:
        import numba
    except BaseException:
        for name in set(sys.modules) - before:
            if name.partition(".")[0] == "numba":
                del sys.modules[name]
        raise
    return numba


class Compiled:
    """A function that numba compiles when it, or a compiled function that uses it, is first called."""

    def __init__(self, function: Callable[..., Any], fast: frozenset[str] = frozenset()) -> None:
        update_wrapper(self, function)
        self._function, self._fast, self._code = function, fast, cast(Callable[..., Any] | None, None)

    def machine_code(self) -> Callable[..., Any]:
        """The compiled function, which releases the GIL and is cached on disk."""
        if self._code is None:
            with _LOCK[0]:  # one thread compiles it
                if self._code is None:
                    njit = _numba().njit
                    make = njit(cache=True, nogil=True, fastmath=set(self._fast))
                    self._code = cast(Callable[..., Any], make(self._function))
        return self._code

    def __call__(self, *args: Any) -> Any:
        try:
            return self.machine_code()(*args)
        except SystemError as error:  # Python's form of Ctrl-C while machine code runs
            if isinstance(error.__cause__, KeyboardInterrupt):
                raise KeyboardInterrupt from None
            raise

    @property
    def _numba_type_(self) -> Any:
        """The type of this function for numba, if a compiled function uses it."""
        return _numba().types.Dispatcher(self.machine_code())


def compiled(function: F) -> F:
    """Compile a function by numba, without the GIL, cached on disk."""
    return cast(F, Compiled(function))


def in_any_order(function: F) -> F:
    """`compiled`, with sums in whatever order is fastest; compiled functions that it calls keep their order."""
    return cast(F, Compiled(function, frozenset(("reassoc", "contract"))))


T = TypeVar("T")


class cached_property(Generic[T]):  # noqa: N801 - as it is used
    """`functools.cached_property` without the lock that it has in Python 3.11, one for all instances.

    A process that is forked while a thread holds that lock would wait for it forever. Two threads may compute the
    property at the same time.
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.function, self.name, self.__doc__ = function, function.__name__, function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> T | Self:
        if instance is None:
            return self
        found = instance.__dict__[self.name] = self.function(instance)
        return found
