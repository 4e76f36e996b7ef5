"""The settings `prior` and `class_prior` of estimators: what their values mean, and warnings about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from suffice._core.labels import by_label, check_keys, show_all
from suffice._core.vector import Array
from suffice._runtime.messages import Notice
from suffice.priors.dirichlet import Dirichlet, GammaPrior
from suffice.priors.gaussian import FLAT, GaussianPrior


def log_class_prior(mass: Array, classes: Array, class_prior: Any) -> Array:
    """Return the log-probability of each class: given, or from the masses (smoothed by a Dirichlet prior).

    The masses are of one set of rows (k,), or of several (n, k).

    >>> log_class_prior(np.array([1.0, 3.0]), np.array(["a", "b"]), None).round(2)
    array([-1.39, -0.29])
    """
    if class_prior is None or isinstance(class_prior, Dirichlet):
        if class_prior is not None:
            plain = Dirichlet(class_prior.weight, class_prior.per)
            if isinstance(class_prior.weight, str) or repr(plain) != repr(class_prior):
                allowed = "Dirichlet(weight, per) with a number as weight, and no more"
                raise ValueError(f"class_prior takes {allowed}, got {class_prior!r}")
            mass = mass + plain.cell(np.asarray(len(classes)))
        probability = mass / mass.sum(axis=-1, keepdims=True)
    else:
        probability = np.broadcast_to(_given(class_prior, classes), mass.shape)
    return np.asarray(np.log(probability, out=np.full(mass.shape, -np.inf), where=probability > 0))


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
    """Return the probability of each class, scaled to sum to 1 if some classes have not come yet."""
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


P = TypeVar("P")


def dirichlet_prior(prior: Any) -> Dirichlet | None:
    """Return the prior that the parameter `prior` of an estimator for categories means."""
    return Dirichlet() if _is_default(prior) else _typed(prior, Dirichlet)


def plain_prior(prior: Any, who: str) -> Dirichlet | None:
    """Return the prior for counts of words, which have the same pseudo-count for all words."""
    found = dirichlet_prior(prior)
    if found is not None and (found.weight == "evidence" or found.base != "uniform" or found.columns or found.classes):
        raise ValueError(
            f"{who} takes one pseudo-count for all words, Dirichlet(weight) or Dirichlet(weight, per), got {found!r}"
        )
    return found


def table_prior(prior: Any) -> Dirichlet | None:
    """Return the prior for tables of any columns; the default suits tables in which many cells have few rows."""
    return Dirichlet("evidence", base="marginal") if _is_default(prior) else dirichlet_prior(prior)


def gaussian_prior(prior: Any) -> GaussianPrior:
    """Return the prior that the parameter `prior` of an estimator for numbers means."""
    return GaussianPrior() if _is_default(prior) else _typed(prior, GaussianPrior) or FLAT


def gamma_prior(prior: Any) -> GammaPrior | None:
    """Return the prior that the parameter `prior` of an estimator for counts means."""
    return GammaPrior() if _is_default(prior) else _typed(prior, GammaPrior)


def check_classes(prior: Any, classes: Array) -> None:
    """Raise ValueError if a prior names a class that no row has."""
    for called, given in getattr(prior, "by_class", {}).items():
        check_keys(called, given, classes)


def outweighed(rows: float, total: float, count: Callable[[], int], called: str) -> tuple[Notice, ...]:
    """Return a notice if the weights of all rows together count for less than the prior's rows.

    Rows are counted only if their total weight is small.
    """
    if total >= rows or total >= (n := count()) / 2:  # if the rows are few, the weights are not to blame
        return ()
    what = f"{called} sums to {total:.3g}, but the prior counts for {rows:g} rows: little but the prior is learned"
    advice = f"Weight 1 is one row: scale {called} to sum to the number of rows, {n}, or give a lighter prior"
    return (Notice(f"{what}. {advice}"),)


def _is_default(prior: Any) -> bool:
    return isinstance(prior, str) and prior == "default"


def _typed(prior: Any, kind: type[P]) -> P | None:
    if prior is not None and not isinstance(prior, kind):
        raise ValueError(f"prior must be 'default', None or a {kind.__name__}, got {prior!r}")
    return prior
