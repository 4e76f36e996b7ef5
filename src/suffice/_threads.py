"""Threads of linear algebra: many of them only where products are large."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

SMALL = 128  # columns below which threads wait for each other longer than they work, above all beside other processes


class _Limit:
    """One thread as long as anybody in this process asks for it; what was there before comes back with the last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._limit: Any = None

    def enter(self) -> None:
        with self._lock:
            if not self._users:
                self._limit = _controller().limit(limits=1, user_api="blas")
            self._users += 1

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                self._limit.restore_original_limits()


_LIMIT = _Limit()


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def few_threads(columns: int) -> Iterator[None]:
    """One thread of linear algebra for products of so few columns."""
    if columns >= SMALL:
        yield
        return
    _LIMIT.enter()
    try:
        yield
    finally:
        _LIMIT.leave()
