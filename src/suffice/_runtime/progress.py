"""Progress on standard error: one display for passes and rows, with bars, or lines where `rich` is not installed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from threading import RLock
from time import monotonic
from typing import Any

SECONDS_BETWEEN_LINES = 5.0  # about the rows of one pass


@contextmanager
def progress(who: str, total: int, wanted: object) -> Iterator[Callable[[str], None]]:
    """Show the progress of steps; yields a function to call after every step, with a text about it."""
    with _DISPLAY.show(ProgressTask(who, total), wanted) as advance:
        yield lambda text: advance(1, text)


@contextmanager
def reading(
    what: str, total: int | None = None, wanted: object = 1, unit: str = "rows"
) -> Iterator[Callable[[int], None]]:
    """Show the progress of reading; yields a function to call, from any thread, with the number of new rows.

    For engines. Within the display of a learner the rows of a pass are shown below it, until they are read.

    Parameters
    ----------
    what : str
        The name of the source, such as a file.
    total : int, default=None
        The number of rows, if known.
    wanted : int, default=1
        The engine's `verbose`: nothing is shown if 0.
    unit : str, default="rows"
        The unit of counts; an engine that does not know rows may count "partitions".

    Examples
    --------
    >>> with reading("rows.parquet", total=3, wanted=0) as seen:
    ...     seen(2)
    ...     seen(1)
    """
    with _DISPLAY.show(ProgressTask(what, total, unit), wanted) as advance:
        yield lambda count: advance(count, "")


@dataclass
class ProgressTask:
    """A running task and its count."""

    who: str
    total: int | None = None
    unit: str = ""  # of the count; steps have none
    done: int = 0
    text: str = ""
    start: float = field(default_factory=monotonic)

    @property
    def title(self) -> str:
        """The name of the task, and the last text."""
        return f"{self.who}: {self.text}" if self.text else self.who

    def count(self) -> str:
        """The count; of rows with their rate.

        >>> ProgressTask("RC", 64, done=3).count()
        '3/64'
        >>> ProgressTask("a.csv", None, "rows", done=1000, start=monotonic() - 2.0).count()
        '1,000 rows, 500 rows/s'
        """
        if not self.unit:
            return f"{self.done}/{self.total}"
        rate = self.done / max(monotonic() - self.start, 1e-3)
        of = "" if self.total is None else f" of {self.total:,}"
        return f"{self.done:,}{of} {self.unit}, {rate:,.0f} {self.unit}/s"


class Lines:
    """Prints a line for every step; for rows, one every few seconds and one at the end."""

    def __init__(self) -> None:
        self.due: dict[int, float] = {}

    def begin(self, task: ProgressTask) -> None:
        self.due[id(task)] = task.start + SECONDS_BETWEEN_LINES

    def update(self, task: ProgressTask) -> None:
        if not task.unit or monotonic() >= self.due[id(task)]:
            self.due[id(task)] = monotonic() + SECONDS_BETWEEN_LINES
            print(" ".join(part for part in (task.who, task.count(), task.text) if part), file=sys.stderr)

    def end(self, task: ProgressTask, alone: bool) -> None:  # noqa: ARG002 - as in `Bars`
        if task.unit:
            self.due[id(task)] = 0.0
            self.update(task)
        del self.due[id(task)]

    def close(self) -> None:
        self.due.clear()


class Bars:
    """Shows bars of `rich`; those of rows go when they are read, unless they are alone."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[count]}")
        self.bars = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True))
        self.at: dict[int, Any] = {}
        self.bars.start()

    def begin(self, task: ProgressTask) -> None:
        self.at[id(task)] = self.bars.add_task(task.title, total=task.total, count=task.count())

    def update(self, task: ProgressTask) -> None:
        self.bars.update(self.at[id(task)], completed=task.done, description=task.title, count=task.count())

    def end(self, task: ProgressTask, alone: bool) -> None:
        self.update(task)
        at = self.at.pop(id(task))
        if task.unit and not alone:
            self.bars.remove_task(at)

    def close(self) -> None:
        self.bars.stop()


class ProgressDisplay:
    """Shows all running tasks in one place, which the first task opens and the last one closes."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.users = 0
        self.place: Lines | Bars | None = None

    @contextmanager
    def show(self, task: ProgressTask, wanted: object) -> Iterator[Callable[[int, str], None]]:
        """Show a task within the block; yields a function that adds to its count."""
        if not wanted:
            yield lambda by, text: None  # noqa: ARG005 - nothing is shown
            return
        with self.lock:
            if self.place is None:
                self.place = Lines() if find_spec("rich") is None else Bars()
            self.users += 1
            self.place.begin(task)
            place = self.place

        def advance(by: int, text: str) -> None:
            with self.lock:
                task.done += by
                task.text = text or task.text
                place.update(task)

        try:
            yield advance
        finally:
            with self.lock:
                self.users -= 1
                place.end(task, alone=not self.users)
                if not self.users:
                    place.close()
                    self.place = None


_DISPLAY = ProgressDisplay()
