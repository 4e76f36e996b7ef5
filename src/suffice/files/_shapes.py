"""Whether the parts of an object fit together."""

from __future__ import annotations

from typing import Any


def check_object(made: Any) -> None:
    """ModelFileError unless the parts of an object fit together."""
