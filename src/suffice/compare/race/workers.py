"""Processes that do one task at a time and can be killed in the middle of it."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import FrameType
from typing import Any, Self

Opened = Callable[[Any], Any]  # performs a task
FAILED, READY, NEVER = "failed", "ready", float("inf")


@dataclass(eq=False)
class _Worker:
    """A process, the pipe to it, its task, and the task's seconds and deadline, which is set once it is ready."""

    process: Any
    line: Connection
    ready: bool = False
    task: Any = None
    seconds: float = 0.0
    until: float = NEVER

    def start(self) -> None:
        """Start the clock of the task."""
        self.until = time.monotonic() + self.seconds


@dataclass(eq=False)
class Workers:
    """Processes that each open their data once and then perform tasks.

    Processes are forked from a server without threads (`warm_up`). A task that exceeds its time is killed with its
    process, and another process replaces it. When this process ends, for whatever reason, so do they.

    Parameters
    ----------
    count : int
        The number of processes.
    opening : callable that can be pickled, without arguments
        Called first in each process; returns the function that performs a task.
    """

    count: int
    opening: Callable[[], Opened]
    _workers: list[_Worker] = field(default_factory=list)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            _end(worker)
        self._workers.clear()

    @property
    def busy(self) -> int:
        """The number of processes with a task."""
        return sum(worker.task is not None for worker in self._workers)

    @property
    def ready(self) -> bool:
        """True if any process has opened its data, or none is running."""
        return not self._workers or any(worker.ready for worker in self._workers)

    @property
    def free(self) -> int:
        """The number of tasks that can be started."""
        return self.count - self.busy

    def start(self, task: Any, seconds: float) -> None:
        """Start a task that may take this many seconds."""
        worker = next((one for one in self._workers if one.task is None), None)
        if worker is None:
            worker = self._add()
        worker.task, worker.seconds = task, seconds
        if worker.ready:
            worker.start()
        worker.line.send(task)

    def wait(self, seconds: float) -> list[tuple[Any, Any]]:
        """Return the tasks that end within this time, with their results; None for a task that took too long."""
        working = [worker for worker in self._workers if worker.task is not None]
        first = min([worker.until for worker in working], default=NEVER) - time.monotonic()
        ready = wait([worker.line for worker in working], max(0.0, min(seconds, first))) if working else []
        received = [self._receive(worker) for worker in working if worker.line in ready]
        late = [worker for worker in working if worker.task is not None and time.monotonic() >= worker.until]
        return [one for one in received if one is not None] + [self._kill(worker, None) for worker in late]

    def drop(self) -> list[tuple[Any, Any]]:
        """Kill all tasks under way, and return them without results."""
        return [self._kill(worker, None) for worker in list(self._workers) if worker.task is not None]

    def _add(self) -> _Worker:
        here, there = multiprocessing.Pipe()
        process = context().Process(target=_serve, args=(there, self.opening), daemon=True)
        with delay_signals("SIGINT", "SIGTERM", "SIGHUP"):  # an interrupted start makes the new process print errors
            process.start()
        there.close()
        self._workers.append(_Worker(process, here))
        return self._workers[-1]

    def _receive(self, worker: _Worker) -> tuple[Any, Any] | None:
        """Return the task and its result; None if the process only reports that it is ready."""
        try:
            received = worker.line.recv()
        except (EOFError, OSError):
            worker.process.join(1)
            code = worker.process.exitcode
            why = f"code {code}"
            if code is not None and code < 0:
                why = f"{signal.Signals(-code).name}: perhaps there was not enough memory"
            return self._kill(worker, {FAILED: f"its process ended by itself ({why})"})
        if not worker.ready:
            worker.ready = True
            worker.start()
            return None
        task, worker.task, worker.until = worker.task, None, NEVER
        return task, received

    def _kill(self, worker: _Worker, result: Any) -> tuple[Any, Any]:
        self._workers.remove(worker)
        _end(worker)
        return worker.task, result


def context() -> Any:
    """Return the start method for processes: a server without threads if the system has one."""
    ways = multiprocessing.get_all_start_methods()
    return multiprocessing.get_context("forkserver" if "forkserver" in ways else "spawn")


@contextmanager
def delay_signals(*names: str) -> Iterator[None]:
    """Delay signals of these names until the end; masks are not enough, since any thread may receive one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.signal(number, lambda n, _: came.append(n)) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in came[:1]:
            signal.raise_signal(number)


def warm_up(preload: Iterable[str]) -> None:
    """Start the server of processes and let it import these modules while this process does something else.

    Neither it nor its processes receive Ctrl-C: they are ended by the process that started them.
    """
    if "forkserver" in multiprocessing.get_all_start_methods():
        from multiprocessing import forkserver, resource_tracker

        context().set_forkserver_preload(list(preload))
        resource_tracker.ensure_running()  # started later, it would unblock Ctrl-C again
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # inherited by the server
        try:
            forkserver.ensure_running()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def scratch() -> Iterator[Path]:
    """Yield a temporary folder for a copy of the rows, which is deleted even after SIGTERM or SIGHUP."""
    with tempfile.TemporaryDirectory(prefix="suffice-") as name:
        known = [getattr(signal, one) for one in ("SIGTERM", "SIGHUP") if hasattr(signal, one)]
        alone = threading.current_thread() is threading.main_thread()  # only the main thread may set handlers
        ours = [number for number in known if alone and signal.getsignal(number) == signal.SIG_DFL]

        def end(number: int, _: FrameType | None) -> None:
            for worker in multiprocessing.active_children():
                worker.kill()  # it needs the rows
            shutil.rmtree(name, ignore_errors=True)
            os._exit(128 + number)  # an exception might be swallowed

        for number in ours:
            signal.signal(number, end)
        try:
            yield Path(name)
        finally:
            for number in ours:
                signal.signal(number, signal.SIG_DFL)


def _end(worker: _Worker) -> None:
    worker.line.close()
    worker.process.kill()
    worker.process.join()


def _serve(line: Connection, opening: Callable[[], Opened]) -> None:
    """Run a worker: open the data once, then perform tasks until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when it ends
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    work = opening()
    line.send(READY)
    while True:
        try:
            task = line.recv()
            line.send(work(task))
        except (EOFError, BrokenPipeError):
            return


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)
