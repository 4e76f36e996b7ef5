"""Threads: batches are spread over the cores; linear algebra uses several threads only for large products."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import FIRST_EXCEPTION, CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache, partial
from itertools import chain, islice
from multiprocessing import parent_process
from typing import Any, Generic, TypeVar

from joblib import cpu_count
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

A = TypeVar("A")
B = TypeVar("B")

MIN_COLUMNS_THREADED = 128  # products of fewer columns are faster in one thread, above all beside other processes


class _Limit:
    """Limits linear algebra to one thread while it has users; the last one restores the former limits."""

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
                _take_over()
                self._limit.restore_original_limits()
                _take_over()


_LIMIT = _Limit()


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def _take_over() -> None:
    """Let this thread set limits: threadpoolctl (3.8) silently ignores all threads but the first that did so."""
    for library in _controller().lib_controllers:
        getattr(library, "clear_controlling_thread", lambda **_: None)(force=True)


@contextmanager
def few_threads(columns: int) -> Iterator[None]:
    """Within the block, linear algebra has one thread, unless there are many columns."""
    if columns >= MIN_COLUMNS_THREADED:
        yield
        return
    _LIMIT.enter()
    try:
        yield
    finally:
        _LIMIT.leave()


def workers() -> int:
    """The number of threads to use, at most the cores that this process may use.

    The `n_jobs` of `joblib.parallel_config`; else OMP_NUM_THREADS, if it is set; else all cores. Inside of other
    parallel work it is 1: in a worker of joblib, in a process of `multiprocessing`, in a task of an engine, and within
    `spread` itself.
    """
    if getattr(_SPREADING, "now", False):
        return 1
    backend, n_jobs = get_active_backend()
    given = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    cores = _cores(cpu_count)
    if n_jobs is not None and not backend.nesting_level:
        count = n_jobs if n_jobs > 0 else cores + 1 + n_jobs
    elif given.isdigit():
        count = int(given)
    else:
        count = 1 if backend.nesting_level or parent_process() is not None else cores
    return int(max(1, min(count, cores)))


@cache
def _cores(count: Callable[[], int]) -> int:
    """The number of cores, cached, as finding out takes longer than a small batch."""
    return int(count())


def spread(f: Callable[[A], B], items: Iterable[A]) -> list[B]:
    """Apply f to every item in parallel threads and return the results in order; f should release the GIL.

    Each thread has one thread of linear algebra. This thread takes part: it runs tasks that no other has started.
    """
    items, count = list(items), workers()
    if count < 2 or len(items) < 2:
        return [f(item) for item in items]
    tasks: list[_Task[B]] = []
    ended, pool = threading.Event(), _pool(count)
    with few_threads(0):
        try:
            tasks += (_Task(pool, ended, f, item) for item in items)
            for task in tasks:
                task.do_here()
            wait([task.future for task in tasks], return_when=FIRST_EXCEPTION)
            if ended.is_set():
                raise _failure(ended, tasks)
            return [task.future.result() for task in tasks]
        finally:
            _end(ended, tasks)


def spread_in_order(f: Callable[[A], B], items: Iterable[A]) -> Iterator[B]:
    """`spread` as an iterator, which holds only a few items and results at a time.

    >>> list(spread_in_order(abs, iter([-3, 2, -1])))
    [3, 2, 1]
    """
    items, count = iter(items), workers()
    first = list(islice(items, 2)) if count > 1 else []
    if len(first) < 2:
        yield from map(f, chain(first, items))
        return
    waiting: deque[_Task[B]] = deque()
    ended, pool = threading.Event(), _pool(count)
    with few_threads(0):
        try:
            for item in chain(first, items):
                waiting.append(_Task(pool, ended, f, item))
                if len(waiting) > count:
                    yield _first(waiting, ended)
            while waiting:
                yield _first(waiting, ended)
        finally:
            _end(ended, waiting)


@contextmanager
def undivided(columns: int) -> Iterator[None]:
    """`few_threads`, and no threads by `spread`, for a task that runs beside others in an engine."""
    before, _SPREADING.now = getattr(_SPREADING, "now", False), True
    try:
        with few_threads(columns):
            yield
    finally:
        _SPREADING.now = before


_SPREADING = threading.local()


class _Task(Generic[B]):
    """A unit of work that is run by a pool thread or, if none has started it, by the waiting caller."""

    def __init__(self, pool: ThreadPoolExecutor, ended: threading.Event, f: Callable[[A], B], item: A) -> None:
        self._work: Callable[[], B] = partial(_undivided, ended, f, item)
        self._ended = ended
        try:  # NumPy's error state is part of the context
            self.future: Future[B] = pool.submit(copy_context().run, self._work)
        except RuntimeError:  # the interpreter is shutting down and starts no threads
            self.future = Future()

    def do_here(self) -> None:
        """Run it in this thread, unless another thread has started it or an error has ended all tasks."""
        if self._ended.is_set() or not self.future.cancel():
            return
        self.future = Future()
        try:
            self.future.set_result(copy_context().run(self._work))
        except Exception as error:
            self.future.set_exception(error)


def _undivided(ended: threading.Event, f: Callable[[A], B], item: A) -> B:
    """Apply f to an item without nested threads, unless all tasks have ended; an error ends all tasks."""
    if ended.is_set():
        raise CancelledError
    before = {name: getattr(_SPREADING, name, None) for name in ("now", "ended")}
    _SPREADING.now, _SPREADING.ended = True, ended
    try:
        return f(item)
    except BaseException:
        ended.set()
        raise
    finally:
        _SPREADING.__dict__.update(before)


def _first(waiting: deque[_Task[B]], ended: threading.Event) -> B:
    """The first result. Its task stays in the list until it is done, so that Ctrl-C waits for it as well."""
    for task in waiting:
        if waiting[0].future.done():
            break
        task.do_here()
    if not ended.is_set():
        wait([waiting[0].future])
    if ended.is_set():
        raise _failure(ended, waiting)
    return waiting.popleft().future.result()


def _failure(ended: threading.Event, tasks: Collection[_Task[Any]]) -> BaseException:
    """The error that ended all tasks: that of the first task with an error other than CancelledError."""
    _end(ended, tasks)
    errors = [task.future.exception() for task in tasks if not task.future.cancelled()]
    found = [error for error in errors if error is not None]
    return next((error for error in found if not isinstance(error, CancelledError)), found[0])


def _end(ended: threading.Event, tasks: Iterable[_Task[Any]]) -> None:
    """Start no more tasks, and wait for running ones."""
    ended.set()
    wait([task.future for task in tasks if not task.future.cancel()])


@cache
def _pool(count: int) -> ThreadPoolExecutor:
    """The other threads, kept for later calls, as starting them takes as long as a small batch."""
    return ThreadPoolExecutor(count - 1, f"suffice-{count}")


def check_wanted() -> None:
    """CancelledError in a thread of `spread` whose result is no longer needed, after an error or Ctrl-C."""
    ended: threading.Event | None = getattr(_SPREADING, "ended", None)
    if ended is not None and ended.is_set():
        raise CancelledError


if hasattr(os, "register_at_fork"):  # a forked process has no other threads, and one of them may hold the lock
    os.register_at_fork(after_in_child=_LIMIT.__init__)  # type: ignore[misc]
    os.register_at_fork(after_in_child=_pool.cache_clear)
