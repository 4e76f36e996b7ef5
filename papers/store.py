"""Results on disk: one line a result, so that a run that was killed goes on where it was."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple


class Task(NamedTuple):
    """One result to get: a method on a split of a data set, for a table."""

    table: str
    dataset: str
    method: str
    split: int


class Store:
    """A folder with `results.jsonl`, what was measured, `times.jsonl`, how long it took, and `runs.jsonl`, when.

    Every result has the key of what it depends on: one whose key has changed is stale, and its new line goes to the
    end. Times and runs are apart because they are never the same twice. A line that was cut short is dropped on
    opening, and a result without its line is measured again.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.results = self.folder / "results.jsonl"
        self.times = self.folder / "times.jsonl"
        self.log = self.folder / "runs.jsonl"
        for path in (self.results, self.times, self.log):
            _mend(path)

    def read(self) -> dict[Task, dict[str, Any]]:
        """Every result by its task."""
        return {task: {k: v for k, v in row.items() if k != "key"} for task, row in _lines(self.results)}

    def read_keys(self) -> dict[Task, str]:
        """The key of every result."""
        return {task: row.get("key", "") for task, row in _lines(self.results)}

    def read_times(self) -> dict[Task, dict[str, Any]]:
        """Seconds by task."""
        return dict(_lines(self.times))

    def measured(self) -> dict[Task, dict[str, Any]]:
        """Every result with its `seconds`, for tables of times."""
        times = self.read_times()
        return {task: {**result, "seconds": times.get(task, {})} for task, result in self.read().items()}

    def append(self, task: Task, key: str, result: dict[str, Any], times: dict[str, float]) -> None:
        """Add a result; its times go first, so that a result never lacks them."""
        for path, line in ((self.times, times), (self.results, {"key": key, **result})):
            _write(path, {**task._asdict(), **line})

    def begin(self, versions: Mapping[str, str]) -> None:
        """Note the day, and the versions of what a run measures with."""
        _write(self.log, {"day": date.today().isoformat(), "versions": dict(versions)})

    def runs(self) -> str:
        """A sentence on when results were measured, and with which versions."""
        if not self.log.exists():
            return ""
        days: dict[str, list[str]] = {}
        for line in self.log.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            words = ", ".join(f"{name} {version}" for name, version in row["versions"].items())
            days.setdefault(words, []).append(row["day"])
        each = [f"{_days(found)} with {words}" for words, found in days.items()]
        return f"Measured {'; '.join(each)}." if each else ""


def _days(found: list[str]) -> str:
    first, last = min(found), max(found)
    return f"on {first}" if first == last else f"from {first} to {last}"


def _write(path: Path, line: Mapping[str, Any]) -> None:
    """Add a line that outlives a crash."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line, sort_keys=False) + "\n")
        file.flush()
        os.fsync(file.fileno())


def _lines(path: Path) -> Iterator[tuple[Task, dict[str, Any]]]:
    if not path.exists():
        return
    with path.open(encoding="utf-8") as file:
        for line in file:
            with suppress(ValueError, KeyError, AttributeError, TypeError):  # a damaged line is measured again
                row = json.loads(line)
                yield Task(*(row.pop(field) for field in Task._fields)), row


def _mend(path: Path) -> None:
    """Drop a last line that was cut short."""
    if not path.exists():
        return
    text = path.read_bytes()
    whole = text[: text.rfind(b"\n") + 1]
    if whole != text:
        with path.open("r+b") as file:
            file.truncate(len(whole))
