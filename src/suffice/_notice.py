"""Notices: what learning has to say, carried along as values and emitted once, at the caller's line."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import sklearn

INSIDE = (str(Path(__file__).parent), str(Path(sklearn.__file__).parent))  # lines that no user wrote


class PoorFitWarning(UserWarning):
    """A classifier does worse than always saying the most frequent class."""


class StaleWarning(UserWarning):
    """Something was learned from other rows than those that count now."""


class Notice(NamedTuple):
    """A warning that has not been emitted yet."""

    message: str
    category: type[Warning] = UserWarning


def emit(notices: Iterable[Notice]) -> None:
    """Warn of each, once, at the first line outside of this package on the way here."""
    for notice in dict.fromkeys(notices):
        warnings.warn(notice.message, notice.category, stacklevel=_level())


def _level() -> int:
    """How many calls up the first line is that is the user's."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(INSIDE):
        level, frame = level + 1, frame.f_back
    return level
