"""Processes that do one task at a time and can be ended in the middle of it."""

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

Opened = Callable[[Any], Any]  # does a task
FAILED, READY, NEVER = "failed", "ready", float("inf")


@dataclass(eq=False)
class _Worker:
    """A process, the line to it, what it does, for how long, and until when, which is known once it is ready."""

    process: Any
    line: Connection
    ready: bool = False
    task: Any = None
    seconds: float = 0.0
    until: float = NEVER

    def start(self) -> None:
        """The time of the task begins."""
        self.until = time.monotonic() + self.seconds


@dataclass(eq=False)
class Workers:
    """So many processes, each of which opens what it needs once and then does tasks.

    Processes come from a server that runs no threads (`warm_up`), so that they share none with this one.
    A task that takes longer than it may is ended with its process, and another process takes that place. When this
    process ends, in whatever way, so do they.

    Parameters
    ----------
    count : int
        Processes.
    opening : callable that can be pickled, without arguments
        What a process calls first: it returns the function that does a task.
    """

    count: int
    opening: Callable[[], Opened]
    _crew: list[_Worker] = field(default_factory=list)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._crew:
            _end(worker)
        self._crew.clear()

    @property
    def busy(self) -> int:
        """How many of them have something to do."""
        return sum(worker.task is not None for worker in self._crew)

    @property
    def ready(self) -> bool:
        """Whether any of them has opened what it needs, or has ended."""
        return not self._crew or any(worker.ready for worker in self._crew)

    @property
    def free(self) -> int:
        """How many tasks can be started."""
        return self.count - self.busy

    def start(self, task: Any, seconds: float) -> None:
        """Begin a task, which has so many seconds."""
        worker = next((one for one in self._crew if one.task is None), None)
        if worker is None:
            worker = self._hire()
        worker.task, worker.seconds = task, seconds
        if worker.ready:
            worker.start()
        worker.line.send(task)

    def wait(self, seconds: float) -> list[tuple[Any, Any]]:
        """The tasks that come to an end within that time, with their results; None where one took too long."""
        working = [worker for worker in self._crew if worker.task is not None]
        first = min([worker.until for worker in working], default=NEVER) - time.monotonic()
        ready = wait([worker.line for worker in working], max(0.0, min(seconds, first))) if working else []
        heard = [self._hear(worker) for worker in working if worker.line in ready]
        late = [worker for worker in working if worker.task is not None and time.monotonic() >= worker.until]
        return [one for one in heard if one is not None] + [self._dismiss(worker, None) for worker in late]

    def drop(self) -> list[tuple[Any, Any]]:
        """End what is not done; the tasks, without results."""
        return [self._dismiss(worker, None) for worker in list(self._crew) if worker.task is not None]

    def _hire(self) -> _Worker:
        here, there = multiprocessing.Pipe()
        process = context().Process(target=_serve, args=(there, self.opening), daemon=True)
        with later("SIGINT", "SIGTERM", "SIGHUP"):  # a process that is told half of what it is complains
            process.start()
        there.close()
        self._crew.append(_Worker(process, here))
        return self._crew[-1]

    def _hear(self, worker: _Worker) -> tuple[Any, Any] | None:
        """The task and its result; None where a process only says that it can begin."""
        try:
            said = worker.line.recv()
        except (EOFError, OSError):
            worker.process.join(1)
            return self._dismiss(worker, {FAILED: f"its process ended by itself ({_how(worker.process.exitcode)})"})
        if not worker.ready:
            worker.ready = True
            worker.start()
            return None
        task, worker.task, worker.until = worker.task, None, NEVER
        return task, said

    def _dismiss(self, worker: _Worker, result: Any) -> tuple[Any, Any]:
        self._crew.remove(worker)
        _end(worker)
        return worker.task, result


def context() -> Any:
    """How processes are started: by a server without threads where there can be one."""
    ways = multiprocessing.get_all_start_methods()
    return multiprocessing.get_context("forkserver" if "forkserver" in ways else "spawn")


@contextmanager
def later(*names: str) -> Iterator[None]:
    """Let signals of these names wait until the end; any thread may take one, so that masks are not enough."""
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
    """Let the server of processes import these modules while this process does something else.

    Neither it nor any process that it starts hears of Ctrl-C: whoever started them ends them.
    """
    if "forkserver" in multiprocessing.get_all_start_methods():
        from multiprocessing import forkserver, resource_tracker

        context().set_forkserver_preload(list(preload))
        resource_tracker.ensure_running()  # which would let Ctrl-C through again
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # what is started inherits it
        try:
            forkserver.ensure_running()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder for a copy of the rows, which is deleted in the end, also if that is SIGTERM or SIGHUP."""
    with tempfile.TemporaryDirectory(prefix="suffice-") as name:
        known = [getattr(signal, one) for one in ("SIGTERM", "SIGHUP") if hasattr(signal, one)]
        alone = threading.current_thread() is threading.main_thread()  # no other may have handlers
        ours = [number for number in known if alone and signal.getsignal(number) == signal.SIG_DFL]

        def end(number: int, _: FrameType | None) -> None:
            for worker in multiprocessing.active_children():
                worker.kill()  # who would miss the rows
            shutil.rmtree(name, ignore_errors=True)
            os._exit(128 + number)  # an exception could get lost

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


def _how(code: int | None) -> str:
    if code is None or code >= 0:
        return f"code {code}"
    return f"{signal.Signals(-code).name}: perhaps there was not enough memory"


def _serve(line: Connection, opening: Callable[[], Opened]) -> None:
    """What a process does: open once, then one task after another, until nobody listens."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
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
