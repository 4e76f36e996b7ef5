"""Results that outlast a stopped run: one JSON object a line, appended as they are measured."""

import fcntl
import json
import os
from pathlib import Path


class Kept:
    """Lines by their keys, in a file that several runs may append to; the last line of a key counts.

    A line is written at once, under a lock, and one that a stopped machine cut short is passed over in reading.
    """

    def __init__(self, path, keys):
        self.path, self.keys = Path(path), tuple(keys)

    def read(self):
        """Every result by its key."""
        found = {}
        if self.path.exists():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                row = self._row(line)
                if row is not None:
                    found[tuple(row[key] for key in self.keys)] = row
        return found

    def add(self, row):
        """Append a result; it is on the disk when this returns."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0, os.SEEK_END)
            cut = False
            if file.tell():
                file.seek(-1, os.SEEK_END)
                cut = file.read(1) != b"\n"
            file.write(b"\n" * cut + json.dumps(row).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def _row(self, line):
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            return None
        return row if isinstance(row, dict) and all(key in row for key in self.keys) else None
