"""The most memory that a call takes beyond what is there before it, by the counters of Linux."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

SELF = Path("/proc/self")


def beyond(call: Callable[[], Any]) -> tuple[float, Any]:
    """Bytes at the peak of a call beyond those before it, and what it returns; what it returns is among them.

    What earlier calls have freed is given back, and the kernel's high-water mark set back, first.
    """
    ctypes.CDLL(None).malloc_trim(0)
    (SELF / "clear_refs").write_text("5")
    before = _bytes("VmRSS")
    found = call()
    return _bytes("VmHWM") - before, found


def _bytes(name: str) -> float:
    found = re.search(rf"^{name}:\s+(\d+) kB", (SELF / "status").read_text(), re.MULTILINE)
    if found is None:
        raise OSError(f"/proc/self/status has no {name}: memory is measured on Linux alone")
    return 1024.0 * int(found[1])
