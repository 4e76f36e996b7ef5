"""Whether two estimators were given the same settings."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from suffice.models import Model


def same_settings(a: BaseEstimator, b: BaseEstimator, but: Collection[str] = ()) -> None:
    """ValueError, with the first setting that differs, unless all are the same, but for some."""
    ours, theirs = a.get_params(), b.get_params()
    for name in sorted((ours.keys() | theirs.keys()) - set(but)):
        x, y = ours.get(name), theirs.get(name)
        if not _alike(x, y):
            raise ValueError(f"the settings differ: {name} is {x!r} here and {y!r} there")


def _alike(x: Any, y: Any) -> bool:
    """Whether two settings are the same; those of an estimator are listed beside it."""
    if isinstance(x, BaseEstimator):
        return type(x) is type(y)
    if isinstance(x, Model):
        return repr(x) == repr(y)
    if isinstance(x, Mapping) and isinstance(y, Mapping):
        return x.keys() == y.keys() and all(_alike(x[key], y[key]) for key in x)
    if isinstance(x, list | tuple) and isinstance(y, list | tuple):
        return len(x) == len(y) and all(map(_alike, x, y))
    return bool(np.array_equal(np.asarray(x, dtype=object), np.asarray(y, dtype=object)))
