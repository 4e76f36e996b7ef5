"""Packages that only some of the functions need."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any


def free_memory() -> float:
    """Bytes that the machine, or the control group that this process runs in, can give; caches count as free."""
    free = 4e9
    if Path("/proc/meminfo").exists():
        lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        free = 1024.0 * float(lines["MemAvailable"].split()[0])
    group = Path("/sys/fs/cgroup")
    if (group / "memory.max").exists() and (group / "memory.max").read_text().strip() != "max":
        used = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        held = float((group / "memory.current").read_text()) - float(used.get("inactive_file", 0))
        free = min(free, float((group / "memory.max").read_text()) - held)
    return free


def optional(module: str, extra: str) -> Any:
    """A module of a package that is installed with an extra, or an error that says how."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ImportError(
            f'this needs {module.partition(".")[0]}: pip install ".[{extra}]" in the folder of suffice'
        ) from error
