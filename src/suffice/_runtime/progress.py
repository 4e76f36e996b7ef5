"""Progress on standard error: one display for passes and rows, with bars, or lines where `rich` is not installed."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from threading import RLock
from time import monotonic
from typing import Any

EVERY = 5.0  # seconds between two lines about the rows of one pass


@contextmanager
def progress(who: str, total: int, wanted: object) -> Iterator[Callable[[str], None]]:
    """A function to call at every step with what there is to say of it."""
    with _DISPLAY.shown(ProgressTask(who, total), wanted) as move:
        yield lambda said: move(1, said)


@contextmanager
def reading(
    what: str, total: int | None = None, wanted: object = 1, unit: str = "rows"
) -> Iterator[Callable[[int], None]]:
    """A function to call, from any thread, with the number of rows that were read further; for engines.

    Within the display of a learner the rows of a pass stand below it, and go when they are read.

    Parameters
    ----------
    what : str
        What is read, say the name of a file.
    total : int, default=None
        How many rows there are, where that is known.
    wanted : int, default=1
        The engine's `verbose`: nothing is shown if 0.
    unit : str, default="rows"
        What is counted; an engine that cannot tell rows may count "partitions".

    Examples
    --------
    >>> with reading("rows.parquet", total=3, wanted=0) as seen:
    ...     seen(2)
    ...     seen(1)
    """
    with _DISPLAY.shown(ProgressTask(what, total, unit), wanted) as move:
        yield lambda count: move(count, "")


@dataclass
class ProgressTask:
    """Something that is counted while it lasts."""

    who: str
    total: int | None = None
    unit: str = ""  # of what is counted; steps have none
    done: int = 0
    said: str = ""
    began: float = field(default_factory=monotonic)

    def move(self, by: int, said: str) -> None:
        """Count on."""
        self.done += by
        self.said = said or self.said

    @property
    def title(self) -> str:
        """Who, and what there was to say."""
        return f"{self.who}: {self.said}" if self.said else self.who

    def counted(self) -> str:
        """How far it is; of rows with their rate.

        >>> ProgressTask("RC", 64, done=3).counted()
        '3/64'
        >>> ProgressTask("a.csv", None, "rows", done=1000, began=monotonic() - 2.0).counted()
        '1,000 rows, 500 rows/s'
        """
        if not self.unit:
            return f"{self.done}/{self.total}"
        rate = self.done / max(monotonic() - self.began, 1e-3)
        of = "" if self.total is None else f" of {self.total:,}"
        return f"{self.done:,}{of} {self.unit}, {rate:,.0f} {self.unit}/s"


class Shown(ABC):
    """Where tasks are shown."""

    @abstractmethod
    def begin(self, task: ProgressTask) -> None:
        """Show a task from now on."""

    @abstractmethod
    def moved(self, task: ProgressTask) -> None:
        """Show how far it is."""

    @abstractmethod
    def end(self, task: ProgressTask, alone: bool) -> None:
        """Show that it has ended, and whether it was alone."""

    @abstractmethod
    def close(self) -> None:
        """Show nothing any longer."""


class Lines(Shown):
    """A line for every step, and of rows one now and then and one at the end."""

    def __init__(self) -> None:
        self.due: dict[int, float] = {}

    def begin(self, task: ProgressTask) -> None:
        self.due[id(task)] = task.began + EVERY

    def moved(self, task: ProgressTask) -> None:
        if not task.unit or monotonic() >= self.due[id(task)]:
            self.due[id(task)] = monotonic() + EVERY
            print(" ".join(part for part in (task.who, task.counted(), task.said) if part), file=sys.stderr)

    def end(self, task: ProgressTask, alone: bool) -> None:  # noqa: ARG002 - lines stay
        if task.unit:
            self.due[id(task)] = 0.0
            self.moved(task)
        del self.due[id(task)]

    def close(self) -> None:
        self.due.clear()


class Bars(Shown):
    """Bars of `rich`."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[count]}")
        self.bars = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True))
        self.at: dict[int, Any] = {}
        self.bars.start()

    def begin(self, task: ProgressTask) -> None:
        self.at[id(task)] = self.bars.add_task(task.title, total=task.total, count=task.counted())

    def moved(self, task: ProgressTask) -> None:
        self.bars.update(self.at[id(task)], completed=task.done, description=task.title, count=task.counted())

    def end(self, task: ProgressTask, alone: bool) -> None:
        self.moved(task)
        at = self.at.pop(id(task))
        if task.unit and not alone:
            self.bars.remove_task(at)

    def close(self) -> None:
        self.bars.stop()


class ProgressDisplay:
    """All that is shown at a time, in one place: that of whoever came first, until all have ended."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.users = 0
        self.place: Shown | None = None

    @contextmanager
    def shown(self, task: ProgressTask, wanted: object) -> Iterator[Callable[[int, str], None]]:
        """A function that counts on."""
        if not wanted:
            yield lambda by, said: None  # noqa: ARG005 - nobody looks
            return
        place = self._enter(task)

        def move(by: int, said: str) -> None:
            with self.lock:
                task.move(by, said)
                place.moved(task)

        try:
            yield move
        finally:
            self._leave(task, place)

    def _enter(self, task: ProgressTask) -> Shown:
        with self.lock:
            if self.place is None:
                self.place = Lines() if find_spec("rich") is None else Bars()
            self.users += 1
            self.place.begin(task)
            return self.place

    def _leave(self, task: ProgressTask, place: Shown) -> None:
        with self.lock:
            self.users -= 1
            place.end(task, alone=not self.users)
            if not self.users:
                place.close()
                self.place = None


_DISPLAY = ProgressDisplay()
