"""Packages that only some of the functions need."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def optional(module: str, extra: str) -> Any:
    """A module of a package that is installed with an extra, or an error that says how."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ImportError(f'this needs {module.partition(".")[0]}: pip install "suffice[{extra}]"') from error
