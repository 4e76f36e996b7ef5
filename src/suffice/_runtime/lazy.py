"""Worked out when it is first needed: compiled loops and cached properties."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import update_wrapper
from threading import Lock
from typing import Any, Generic, Self, TypeVar, cast, overload

F = TypeVar("F", bound=Callable[..., Any])
_LOCK = [Lock()]


def _renew() -> None:
    """A child has none of the threads that may hold the lock."""
    _LOCK[0] = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


def _numba() -> Any:
    """The compiler; an import that Ctrl-C has cut short leaves nothing behind that later ones would take for whole."""
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
    """A function that numba compiles when it is first called, or called by another one that is compiled."""

    def __init__(self, function: Callable[..., Any], fast: frozenset[str] = frozenset()) -> None:
        update_wrapper(self, function)
        self._function, self._fast, self._code = function, fast, cast(Callable[..., Any] | None, None)

    def machine_code(self) -> Callable[..., Any]:
        """The compiled function, without the lock of the interpreter, kept on disk."""
        if self._code is None:
            with _LOCK[0]:  # threads that come first at the same time compile it once
                if self._code is None:
                    njit = _numba().njit
                    make = njit(cache=True, nogil=True, fastmath=set(self._fast))
                    self._code = cast(Callable[..., Any], make(self._function))
        return self._code

    def __call__(self, *args: Any) -> Any:
        try:
            return self.machine_code()(*args)
        except SystemError as error:  # what Python makes of Ctrl-C while machine code runs
            if isinstance(error.__cause__, KeyboardInterrupt):
                raise KeyboardInterrupt from None
            raise

    @property
    def _numba_type_(self) -> Any:
        """What numba takes this for where a compiled function names it."""
        return _numba().types.Dispatcher(self.machine_code())


def compiled(function: F) -> F:
    """The same function, compiled by numba without the lock of the interpreter, and kept on disk."""
    return cast(F, Compiled(function))


def in_any_order(function: F) -> F:
    """`compiled`, with sums of products added up in whatever order is fastest; a compiled function it calls is not."""
    return cast(F, Compiled(function, frozenset(("reassoc", "contract"))))


T = TypeVar("T")


class cached_property(Generic[T]):  # noqa: N801 - as it is used
    """`functools.cached_property` without the lock that it has in Python 3.11, one for all instances.

    A child that is forked while a thread holds that lock would wait for it forever. Two threads that ask at the same
    time may both work it out.
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
