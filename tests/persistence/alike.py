"""Whether two objects are the same to the bit, part by part."""

from dataclasses import fields, is_dataclass

import numpy as np
from sklearn.base import BaseEstimator


def difference(a, b, where="model"):
    """Where two objects first differ; None if they are the same to the bit."""
    if type(a) is not type(b):
        return f"{where}: {type(a)} and {type(b)}"
    if isinstance(a, np.ndarray):
        if (a.dtype, a.shape) != (b.dtype, b.shape):
            return f"{where}: {a.dtype}{a.shape} and {b.dtype}{b.shape}"
        if a.dtype == object:
            return _first(zip(a.ravel().tolist(), b.ravel().tolist(), strict=True), where)
        return None if a.tobytes() == b.tobytes() else where
    if isinstance(a, BaseEstimator):
        return difference(*(dict(sorted(vars(one).items())) for one in (a, b)), where)  # files have them by name
    if isinstance(a, dict):
        return f"{where}: keys" if list(a) != list(b) else _first(zip(a.values(), b.values(), strict=True), where, a)
    if isinstance(a, list | tuple):
        return f"{where}: length" if len(a) != len(b) else _first(zip(a, b, strict=True), where)
    if is_dataclass(a) and not isinstance(a, type):
        names = [f.name for f in fields(a)]
        return _first(((getattr(a, name), getattr(b, name)) for name in names), where, names)
    if isinstance(a, float):
        return None if np.float64(a).tobytes() == np.float64(b).tobytes() else where
    return None if a == b else f"{where}: {a!r} and {b!r}"


def _first(pairs, where, names=None):
    called = iter(names) if names is not None else iter(range(10**9))
    return next((d for d in (difference(a, b, f"{where}.{next(called)}") for a, b in pairs) if d), None)


def outputs(model, X):
    """What a model says of rows."""
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.transform(X)
