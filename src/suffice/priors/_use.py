"""What the settings of estimators mean, and what is said of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from suffice._labels import check_keys
from suffice._notice import Notice
from suffice._vector import Array
from suffice.priors._dirichlet import Dirichlet
from suffice.priors._gamma import GammaPrior
from suffice.priors._gaussian import FLAT, GaussianPrior

P = TypeVar("P")


def dirichlet_prior(prior: Any) -> Dirichlet | None:
    """What the parameter `prior` of an estimator for categories means."""
    return Dirichlet() if _is_default(prior) else _typed(prior, Dirichlet)


def plain_prior(prior: Any, who: str) -> Dirichlet | None:
    """What `prior` means for words, of which all begin with the same pseudo-count."""
    found = dirichlet_prior(prior)
    if found is not None and (found.weight == "evidence" or found.base != "uniform" or found.columns or found.classes):
        raise ValueError(
            f"{who} takes one pseudo-count for all words, Dirichlet(weight) or Dirichlet(weight, per), got {found!r}"
        )
    return found


def table_prior(prior: Any) -> Dirichlet | None:
    """What the parameter `prior` of an estimator for tables of any columns means: many cells have few rows there."""
    return Dirichlet("evidence", base="marginal") if _is_default(prior) else dirichlet_prior(prior)


def gaussian_prior(prior: Any) -> GaussianPrior:
    """What the parameter `prior` of an estimator for numbers means."""
    return GaussianPrior() if _is_default(prior) else _typed(prior, GaussianPrior) or FLAT


def gamma_prior(prior: Any) -> GammaPrior | None:
    """What the parameter `prior` of an estimator for counts means."""
    return GammaPrior() if _is_default(prior) else _typed(prior, GammaPrior)


def check_classes(prior: Any, classes: Array) -> None:
    """ValueError if a prior speaks of a class that no row has."""
    for called, given in getattr(prior, "by_class", {}).items():
        check_keys(called, given, classes)


def outweighed(rows: float, total: float, count: Callable[[], int], called: str) -> tuple[Notice, ...]:
    """A notice if rows have been given weights so small that all of them together count for less than a prior's.

    They are counted only if their total weight is small.
    """
    if total >= rows or total >= (n := count()) / 2:  # few rows are not the fault of the weights
        return ()
    said = f"{called} sums to {total:.3g}, but the prior counts for {rows:g} rows: little but the prior is learned"
    advice = f"Weight 1 is one row: scale {called} to sum to the number of rows, {n}, or give a lighter prior"
    return (Notice(f"{said}. {advice}"),)


def _is_default(prior: Any) -> bool:
    return isinstance(prior, str) and prior == "default"


def _typed(prior: Any, kind: type[P]) -> P | None:
    if prior is not None and not isinstance(prior, kind):
        raise ValueError(f"prior must be 'default', None or a {kind.__name__}, got {prior!r}")
    return prior
