"""The machine: free memory, and optional packages."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any


def free_memory() -> float:
    """Free bytes of the machine, or of the control group of this process; caches count as free."""
    free = 4e9
    if Path("/proc/meminfo").exists():
        lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        free = 1024.0 * float(lines["MemAvailable"].split()[0])
    group = Path("/sys/fs/cgroup")
    if (group / "memory.max").exists() and (group / "memory.max").read_text().strip() != "max":
        used = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        current = float((group / "memory.current").read_text()) - float(used.get("inactive_file", 0))
        free = min(free, float((group / "memory.max").read_text()) - current)
    return free


def optional(module: str, extra: str) -> Any:
    """Import a module of a package that an extra installs; ImportError says how to install it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ImportError(
            f'this needs {module.partition(".")[0]}: pip install ".[{extra}]" in the folder of suffice'
        ) from error
