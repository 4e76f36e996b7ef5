"""The shapes that arrays have in objects, which hold whatever a file says."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, cast

import numpy as np

from suffice._domain import CategoricalFeatures, Domain
from suffice.files._error import ModelFileError
from suffice.files._registry import class_name

# By class and field: alternatives of sizes. k: classes, d: columns, c: cells of all columns; other letters are free,
# but the same within an object. Finite numbers, unless it begins with i (whole numbers), b (truth values), ~ (numbers
# that may be infinite) or ? (numbers that may be NaN). Where numbers are not finite, LAPACK may never end.
SHAPES: Mapping[str, Mapping[str, str]] = {
    "models.Statistics": {"mass": "k"},
    "models.Moments": {"origin": "k d", "count": "k d|k 1", "first": "k d", "second": "k d|k d d"},
    "models.Totals": {"count": "k d|k 1", "total": "k d"},
    "models.Words": {"table": "k d"},
    "models.Counts": {"table": "k c"},
    "models.Histogram": {"table": "k m"},
    "learners.Fit": {"level": "~k"},
    "models.Tables": {"class_log_prob": "~k", "log_probability": "~c k"},
    "models.WordProbabilities": {"class_log_prob": "~k", "log_probability": "~k d"},
    "models.Chances": {"class_log_prob": "~k", "present": "~k d", "absent": "~k d", "nothing": "~k", "always": "k"},
    "models.Rates": {"class_log_prob": "~k", "rate": "k d", "log_rate": "~k d", "expected": "k"},
    "models.Diagonal": {"class_log_prob": "~k", "origin": "k d", "mean": "k d", "variance": "k d|1 d"},
    "models.Full": {
        "class_log_prob": "~k",
        "origin": "k d",
        "mean": "k d",
        "covariance": "k d d|1 d d",
        "whiten": "k d d|1 d d",
        "log_det": "k|1",
    },
    "models.Linear": {"origin": "d", "coef": "k d", "intercept": "k"},
    "models.Plane": {"class_log_prob": "~k", "origin": "d", "coef": "d", "point": "?d", "distances": "~k"},
    "models.Factors": {"class_log_prob": "~k"},
    "models.Gaussian": {"origin": "k d", "centre": "d", "spread": "d"},
    "models.TangentPlane": {"origin": "k d", "spread": "d"},
    "models.Shrunk": {"amount": "k|1"},
    "models.Categorical": {"believed": "k c|1 c"},
    "models.Binned": {"extent": "?d 2", "single": "bd"},
    "models.Pooled": {"often": "v"},
    "models.Poisson": {"overall": "d"},
    "models.Experts": {"shift": "k"},
    "encoders.Trees": {
        "ordered": "bd",
        "seeds": "it",
        "limits": "it",
        "feature": "in",
        "threshold": "?n",
        "missing_left": "bn",
        "left": "in",
    },
    "features.FSCL": {"cluster_centers_": "m d", "labels_": "in", "counts_": "im"},
    "features.RBF": {"centers_": "m d", "sigma_": "m"},
    "kernel.KernelMPM": {"_rows": "n d", "_root": "n n"},
}
TYPES = {"i": ("i4", "i8", "u8"), "b": ("b1",), "~": ("f8",), "?": ("f8",), "": ("f8",)}


@cache
def _specs(cls: type) -> dict[str, str]:
    """The shapes of a class's fields, with those that it inherits."""
    own = [SHAPES.get(class_name(base), {}) for base in cls.__mro__ if base.__module__.startswith("suffice.")]
    return {name: spec for shapes in reversed(own) for name, spec in shapes.items()}


def sizes(domain: Domain) -> dict[str, int]:
    """How many classes, columns and cells there are."""
    found = {"k": len(domain.classes), "d": domain.width}
    if isinstance(domain.features, CategoricalFeatures):
        found["c"] = int(cast(Any, domain.features).starts[-1])
    return found


def check_arrays(made: Any, known: Mapping[str, int]) -> None:
    """ModelFileError unless the arrays of an object have the shapes that they should have."""
    bound = dict(known)
    cls: Any = type(made)
    for name, spec in _specs(cls).items():
        array = getattr(made, name, None)
        if array is None:
            continue
        kind, shapes = (spec[0], spec[1:]) if spec[0] in "ib~?" else ("", spec)
        fits = [s for s in shapes.split("|") if _bind(array.shape, s.split(), bound)]
        if not fits:
            got, where = array.shape, f"{name} of a {type(made).__name__}"
            raise ModelFileError(f"{where} has the shape {got}, not ({shapes}) with {_said(bound)}")
        if array.dtype.str[1:] not in TYPES[kind]:
            raise ModelFileError(f"{name} of a {type(made).__name__} holds values of the type {array.dtype}")
        if (kind == "~" and np.isnan(array).any()) or (kind == "" and not np.isfinite(array).all()):
            raise ModelFileError(f"{name} of a {type(made).__name__} has NaN in it, or what is not finite")


def _bind(shape: tuple[int, ...], letters: list[str], bound: dict[str, int]) -> bool:
    """Whether a shape is that of some letters; free ones stand for what they are from now on."""
    trial = dict(bound)
    if len(shape) != len(letters):
        return False
    for n, letter in zip(shape, letters, strict=True):
        if n != (int(letter) if letter.isdigit() else trial.setdefault(letter, n)):
            return False
    bound.update(trial)
    return True


def _said(bound: Mapping[str, int]) -> str:
    return ", ".join(f"{letter} = {n}" for letter, n in bound.items())
