"""Errors and warnings: settings that are refused, fits that are undone, warnings at the caller's line."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn


class SettingRule(NamedTuple):
    """The allowed values of a setting: a test, and its description."""

    test: Callable[[Any], bool]
    words: str


def is_number(value: Any) -> bool:
    """True if a value is a finite number, and not a boolean."""
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return number and bool(np.isfinite(value))


def is_whole(value: Any) -> bool:
    """True if a value is a whole number of at least 1, and not a boolean."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value > 0)


NUMBER = SettingRule(is_number, "a finite number")
POSITIVE = SettingRule(lambda v: is_number(v) and v > 0, "a positive number")
NOT_NEGATIVE = SettingRule(lambda v: is_number(v) and v >= 0, "a finite number of at least 0")
SHARE = SettingRule(lambda v: is_number(v) and 0 < v < 1, "a number between 0 and 1")
FRACTION = SettingRule(lambda v: is_number(v) and 0 <= v <= 1, "a number from 0 to 1")
COUNT = SettingRule(is_whole, "a whole number of at least 1")


def one_of(*values: Any) -> SettingRule:
    """A rule that allows the given values."""
    return SettingRule(lambda v: any(_is(v, value) for value in values), f"one of {values}")


def or_else(value: Any, rule: SettingRule) -> SettingRule:
    """A rule that allows a special value as well."""
    return SettingRule(lambda v: _is(v, value) or rule.test(v), f"{value!r} or {rule.words}")


def _is(given: Any, value: Any) -> bool:
    return given is value or (isinstance(given, str) and given == value)


def check(owner: Any, **allowed: SettingRule) -> None:
    """ValueError unless each named setting of its owner passes its rule."""
    for name, rule in allowed.items():
        check_value(getattr(owner, name), f"{type(owner).__name__}: {name}", rule)


def check_value(value: Any, called: str, rule: SettingRule) -> None:
    """ValueError unless a value passes its rule."""
    if not rule.test(value):
        raise ValueError(f"{called} must be {rule.words}, got {value!r}")


MAX_LISTED = 10  # entries of a list in a message


def join_words(words: Iterable[object], most: int = MAX_LISTED, last: str = ", ", show_end: bool = False) -> str:
    """Write a list in words: at most `most` entries, with `last` before the last one.

    Of a longer list, `show_end` shows the last entry too: among columns, it is often the classes.

    >>> join_words("abc"), join_words("abc", last=" and "), join_words(range(300), 3)
    ('a, b, c', 'a, b and c', '0, 1, 2 and 297 more')
    >>> join_words(range(1, 9), 4, show_end=True)
    '1, 2, 3, ..., 8 (8 in all)'
    """
    texts = [str(word) for word in words]
    if len(texts) <= most:
        return last.join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)
    if show_end:
        return f"{', '.join(texts[: most - 1])}, ..., {texts[-1]} ({len(texts)} in all)"
    return f"{', '.join(texts[:most])} and {len(texts) - most} more"


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """Restore all attributes of an estimator if the block raises an error."""
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        estimator.__dict__ = before
        raise


INSIDE = (str(Path(__file__).parents[1]), str(Path(sklearn.__file__).parent))  # files that are not the user's


class PoorFitWarning(UserWarning):
    """A classifier is worse than always predicting the most frequent class."""


class StaleWarning(UserWarning):
    """Some parameters were learned from other rows than the model holds now."""


class Notice(NamedTuple):
    """A warning that has not been emitted yet."""

    message: str
    category: type[Warning] = UserWarning


def emit(notices: Iterable[Notice]) -> None:
    """Emit each warning once, at the innermost line of the call stack that is outside of this package."""
    for notice in dict.fromkeys(notices):
        warnings.warn(notice.message, notice.category, stacklevel=_level())


def _level() -> int:
    """The number of stack frames up to the first line of the user's code."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(INSIDE):
        level, frame = level + 1, frame.f_back
    return level
