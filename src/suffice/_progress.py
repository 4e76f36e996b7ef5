"""Progress on standard error: a bar, or lines where `rich` is not installed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec


@contextmanager
def reading(
    what: str, total: int | None = None, wanted: object = 1, unit: str = "rows"
) -> Iterator[Callable[[int], None]]:
    """A function to call, from any thread, with the number of rows that were read further; for engines."""
    done = 0

    def seen(count: int) -> None:
        nonlocal done
        done += count
        if wanted:
            print(f"{what}: {done:,}{f' of {total:,}' if total else ''} {unit}", file=sys.stderr)

    yield seen


@contextmanager
def progress(who: str, total: int, wanted: bool) -> Iterator[Callable[[str], None]]:
    """A function to call at every step with what there is to say of it."""
    if not wanted:
        yield lambda _: None
        return
    if find_spec("rich") is None:
        steps = iter(range(1, sys.maxsize))
        yield lambda said: print(f"{who} {next(steps)}/{total} {said}", file=sys.stderr)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(who, total=total)
        yield lambda said: bar.update(task, advance=1, description=f"{who}: {said}" if said else who)
