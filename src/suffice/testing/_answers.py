"""The laws of what a model answers besides a class: why, and what rows of its own look like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from suffice._core.labels import OneHot
from suffice._core.probability import log_posterior
from suffice._core.vector import Array
from suffice.models import Density, Explained, Penalised, Samplable

ROWS = 10_000  # that are drawn
FAR = 5.0  # standard deviations of what learning a sample gains by chance
HELD = 3.0  # times the number of sums, that a prior may cost


def answers_are_sums_of_terms(case: Any) -> None:
    """The base and the terms of all columns sum to log_joint, up to a number that the classes of a row share."""
    found = case.resolved.terms(case.all, case.theta)
    k = len(case.labels.classes)
    shape = (len(case.y), k, len(found.keys))
    case.trial.holds(found.values.shape == shape, "the values of terms(X, theta) are (n, k, m), for m keys")
    law = "base + the sum of values of terms(X, theta) is log_joint, up to a number a row"
    case.trial.same(log_posterior(found.base + found.values.sum(axis=2)), case.log_p(case.theta), law)


def a_sample_leads_back(case: Any) -> None:
    """Rows drawn from parameters and learned are told no better by what was learned than by those, except for chance.

    Twice the gain of the greatest likelihood is chi-squared, with a degree of freedom for each parameter; a sampler
    that is off gains by every row. What a penalty or a prior holds back may lose.
    """
    m, k = case.resolved, len(case.labels.classes)
    Y = OneHot(case.labels.classes, case.rng.integers(k, size=ROWS), np.ones(ROWS))
    X = m.sample(Y.codes, case.theta, case.rng)
    case.trial.holds(len(X) == ROWS, "sample(codes, theta, rng) gives a row for each class number")
    s = m.statistics(X, Y)
    learned, free = m.parameters(s), sum(np.size(leaf) for leaf in s.leaves())
    gain = _own(m.log_density(X, learned), Y.codes) - _own(m.log_density(X, case.theta), Y.codes)
    gains = f"a sample of {ROWS} rows, learned, gains {gain:.4g} in log p(x | y), for {free} sums"
    law = f"{gains}: it is not drawn from p(x | y)"
    case.trial.holds(gain <= 0.5 * free + FAR * np.sqrt(0.5 * free) + FAR, law)
    if not isinstance(m, Penalised):
        case.trial.holds(gain >= -HELD * free - FAR, law)


def _own(log_density: Array, codes: Array) -> float:
    return float(log_density[np.arange(len(codes)), codes].sum())


def samples_are_densities(case: Any) -> None:
    """What can be drawn from is a density."""
    case.trial.holds(isinstance(case.model, Density), "a model that is `Samplable` is a `Density`")


LAWS: list[tuple[type, Callable[[Any], None]]] = [
    (Explained, answers_are_sums_of_terms),
    (Samplable, samples_are_densities),
    (Samplable, a_sample_leads_back),
]
