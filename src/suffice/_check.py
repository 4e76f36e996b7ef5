"""Settings: what they may be, and how it is said that one is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Rule(NamedTuple):
    """What a setting may be: a test, and the words for it."""

    test: Callable[[Any], bool]
    words: str


def is_number(value: Any) -> bool:
    """Whether a value is a finite number (True and False are none)."""
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return number and bool(np.isfinite(value))


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number of at least 1."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value > 0)


NUMBER = Rule(is_number, "a finite number")
POSITIVE = Rule(lambda v: is_number(v) and v > 0, "a positive number")
NOT_NEGATIVE = Rule(lambda v: is_number(v) and v >= 0, "a finite number of at least 0")
SHARE = Rule(lambda v: is_number(v) and 0 < v < 1, "a number between 0 and 1")
FRACTION = Rule(lambda v: is_number(v) and 0 <= v <= 1, "a number from 0 to 1")
COUNT = Rule(is_whole, "a whole number of at least 1")


def one_of(*values: Any) -> Rule:
    """A setting that has one of some values."""
    return Rule(lambda v: any(_is(v, value) for value in values), f"one of {values}")


def or_else(value: Any, rule: Rule) -> Rule:
    """A setting that may have a special value besides."""
    return Rule(lambda v: _is(v, value) or rule.test(v), f"{value!r} or {rule.words}")


def _is(given: Any, value: Any) -> bool:
    return given is value or (isinstance(given, str) and given == value)


def check(owner: Any, **allowed: Rule) -> None:
    """ValueError unless each named setting of its owner passes; the words say what is allowed."""
    for name, rule in allowed.items():
        check_value(getattr(owner, name), f"{type(owner).__name__}: {name}", rule)


def check_value(value: Any, called: str, rule: Rule) -> None:
    """ValueError unless a value passes."""
    if not rule.test(value):
        raise ValueError(f"{called} must be {rule.words}, got {value!r}")
