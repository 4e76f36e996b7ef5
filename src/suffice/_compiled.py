"""Inner loops that are compiled when they are first run: importing the library compiles nothing, and stays quick."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """The same function, compiled by numba without the lock of the interpreter, and kept on disk."""

    @cache
    def machine_code() -> Callable[..., Any]:
        from numba import njit

        return cast(Callable[..., Any], njit(cache=True, nogil=True)(function))

    @wraps(function)
    def run(*args: Any) -> Any:
        return machine_code()(*args)

    return cast(F, run)
