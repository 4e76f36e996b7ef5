"""Threads: of linear algebra, many only where products are large; of compiled loops, as many as there are cores."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

from joblib import cpu_count
from threadpoolctl import ThreadpoolController

A = TypeVar("A")
B = TypeVar("B")

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


def workers() -> int:
    """The cores that this process may use, at most OMP_NUM_THREADS if that is set, as joblib does for its workers."""
    given = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return max(1, min(cpu_count(), int(given))) if given.isdigit() else int(cpu_count())


def spread(f: Callable[[A], B], items: Iterable[A]) -> list[B]:
    """f of every item, in their order, by as many threads as there are workers; for compiled loops."""
    items = list(items)
    if len(items) < 2 or (count := workers()) == 1:
        return [f(item) for item in items]
    with ThreadPoolExecutor(min(count, len(items))) as pool:
        return list(pool.map(f, items))
