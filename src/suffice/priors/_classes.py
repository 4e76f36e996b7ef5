"""Class probabilities: given, or taken from the rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from suffice._labels import by_label, show_all
from suffice._vector import Array
from suffice.priors._dirichlet import Dirichlet


def log_class_prior(mass: Array, classes: Array, class_prior: Any) -> Array:
    """The logarithm of each class probability: given, or the share of its mass (smoothed by a Dirichlet prior).

    Masses are those of one set of rows (k,), or of several (n, k).

    >>> log_class_prior(np.array([1.0, 3.0]), np.array(["a", "b"]), None).round(2)
    array([-1.39, -0.29])
    """
    if class_prior is None or isinstance(class_prior, Dirichlet):
        if class_prior is not None:
            mass = mass + _smoothing(class_prior, len(classes))
        probability = mass / mass.sum(axis=-1, keepdims=True)
    else:
        probability = np.broadcast_to(_given(class_prior, classes), mass.shape)
    return np.asarray(np.log(probability, out=np.full(mass.shape, -np.inf), where=probability > 0))


def _smoothing(prior: Dirichlet, k: int) -> Array:
    """The pseudo-count of each class."""
    plain = Dirichlet(prior.weight, prior.per)
    if isinstance(prior.weight, str) or repr(plain) != repr(prior):
        raise ValueError(f"class_prior takes Dirichlet(weight, per) with a number and no more, got {prior!r}")
    return plain.cell(np.asarray(k))


def _given(class_prior: Any, classes: Array) -> Array:
    if isinstance(class_prior, Mapping):
        return _by_class(class_prior, classes)
    if isinstance(class_prior, str):
        if class_prior != "uniform":
            raise ValueError(f"class_prior must be 'uniform', None, probabilities, or a Dirichlet, got {class_prior!r}")
        return np.full(len(classes), 1.0 / max(1, len(classes)))
    p = np.asarray(class_prior, dtype=float)
    if p.shape != classes.shape:
        raise ValueError(f"class_prior has {p.size} entries, but there are {len(classes)} classes: {show_all(classes)}")
    return _probabilities(p)


def _by_class(class_prior: Mapping[Any, Any], classes: Array) -> Array:
    """The probability of each class; those of classes that are still to come are left out of the whole."""
    found, to_come = by_label(class_prior, classes)
    missing = [label for label, p in zip(classes, found, strict=True) if p is None]
    if missing:
        raise ValueError(f"class_prior has no probability for the classes {show_all(missing)}")
    _probabilities(np.asarray(list(class_prior.values()), dtype=float))
    p = np.asarray(found, dtype=float)
    if not to_come:
        return p
    if not p.any():
        raise ValueError(f"class_prior is 0 for all classes that have come so far: {show_all(classes)}")
    return np.asarray(p / p.sum())


def _probabilities(p: Array) -> Array:
    if not (p >= 0).all() or not np.isclose(p.sum(), 1.0):
        raise ValueError(f"class_prior must be probabilities that sum to 1, got {p.tolist()}")
    return p
