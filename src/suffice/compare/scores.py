"""Checks of what tests take: samples, tables of scores, labels and levels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from typing import Any

import narwhals as nw
import numpy as np

from suffice._core.vector import Array
from suffice._runtime.messages import SHARE, check_value

ROUNDING = 1e-13  # relative to the largest score


def level(alpha: float) -> float:
    """Check a level of significance."""
    check_value(alpha, "alpha", SHARE)
    return float(alpha)


def sample(values: Any, called: str, least: int = 2) -> Array:
    """Check a list of finite scores (n,)."""
    array = _numbers(values, called)
    if array.ndim != 1:
        raise ValueError(f"{called} must be a list of scores, got an array of shape {array.shape}")
    if len(array) < least:
        raise ValueError(f"{called} must have at least {least} scores, got {len(array)}")
    _refuse_nan(array, called)
    return array


def paired(a: Any, b: Any, names: Sequence[str]) -> tuple[Array, Array]:
    """Check two samples of the same rows (n,)."""
    a, b = sample(a, f"the scores of {names[0]}"), sample(b, f"the scores of {names[1]}")
    if len(a) != len(b):
        raise ValueError(
            f"{names[0]} has {len(a)} scores and {names[1]} {len(b)}: scores of the same rows come in pairs "
            "(two_sample_t compares those that do not)"
        )
    return a, b


def labels(names: Any, k: int) -> tuple[str, ...]:
    """Return one label for each of k methods: the given ones, or A, B, C, ..."""
    if names is None:
        return tuple(chr(65 + i) if k <= 26 else f"method {i + 1}" for i in range(k))
    if isinstance(names, str) or len(names) != k:
        raise ValueError(f"names must be a list of {k} labels, one for each method, got {names!r}")
    called = tuple(str(name) for name in names)
    if len(set(called)) < k:
        raise ValueError(f"names must differ from each other, got {list(called)}")
    return called


def columns(groups: Any, names: Any) -> tuple[list[Array], tuple[str, ...]]:
    """Return samples of any length, one per method, and their labels; a dict or a data frame has its own."""
    if isinstance(groups, np.ndarray) and groups.ndim == 2:
        raise ValueError(
            "the scores of methods with rows of their own must be a list, one entry for each method: "
            "list(scores.T) for a table whose columns are the methods"
        )
    by_name = _by_name(groups)
    if by_name is not None:
        names = list(by_name) if names is None else names
        groups = by_name.values()
    groups = list(groups) if isinstance(groups, Iterable) else []
    if len(groups) < 2:
        raise ValueError(f"a comparison needs at least 2 methods, got {len(groups)}")
    names = labels(names, len(groups))
    return [sample(s, f"the scores of {name}") for s, name in zip(groups, names, strict=True)], names


def _by_name(scores: Any) -> Mapping[Any, Any] | None:
    """Return scores by method from a dict or the columns of a data frame; None for anything else."""
    if isinstance(scores, Mapping):
        return scores
    try:
        frame = nw.from_native(scores, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"names must differ from each other: {error}") from error
    if not isinstance(frame, nw.DataFrame):
        return None
    return {column.name: column.to_numpy() for column in frame.iter_columns()}


def table(scores: Any, names: Any) -> tuple[Array, tuple[str, ...]]:
    """Return scores (n, k) of k methods on the same n rows, and the labels of the methods."""
    by_name = _by_name(scores)
    if by_name is not None:
        lists, names = columns(by_name, names)
        if len({len(column) for column in lists}) > 1:
            raise ValueError(f"all methods need the same rows, got {[len(column) for column in lists]} scores")
        return np.column_stack(lists), names
    array = _numbers(scores, "scores")
    if array.ndim != 2:
        raise ValueError(f"scores must be a table of rows and methods, got an array of shape {array.shape}")
    n, k = array.shape
    if k < 2 or n < 2:
        raise ValueError(f"a comparison needs at least 2 rows of scores and 2 methods, got {n} rows and {k} methods")
    names = labels(names, k)
    _refuse_nan(array, "scores")
    return array, names


def mean(values: Array) -> float:
    """Return the mean, rounded once, so that it does not depend on the order of the scores."""
    return fsum(values.tolist()) / len(values)


def rounding(*scores: Array) -> float:
    """Return the size below which a value computed from the scores is rounding."""
    return ROUNDING * max(float(np.abs(s).max()) for s in scores)


def without_rounding(value: float, *scores: Array) -> float:
    """Return the value, or 0 if it is not larger than the rounding of the scores."""
    return 0.0 if abs(value) <= rounding(*scores) else float(value)


def _numbers(values: Any, called: str) -> Array:
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{called} must be numbers, with as many in every row: {error}") from error


def _refuse_nan(values: Array, called: str) -> None:
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        where = "row {}" if values.ndim == 1 else "row {}, column {}"
        raise ValueError(
            f"{called} must be finite, but {where.format(*bad[0])} is {values[tuple(bad[0])]}: "
            "leave out the rows that a method has no score for"
        )
