"""The class shares at which the probabilities of a calibrated model count: what other shares are compared with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np

from suffice._labels import positions
from suffice._posterior import log_posterior
from suffice._vector import Array
from suffice.learners._fit import Fit
from suffice.models import AnyModel, AnyStatistics
from suffice.models._base import Classed


def level_at(fit: Fit, residual: Array | None) -> Fit:
    """A fit that knows the shares at which its probabilities count, from the mean of Y - P over its rows (k,).

        q_y = mean_i P_iy

    Rows of which P is right on average are then found to have their own shares, whatever p(y) has become. Where
    calibration has settled, q is the share of the rows; where it has not, it is off by what P is off on average. Models
    without class probabilities stay as they are, and so do fits whose learner has no such sums: of those, p(y) counts.
    """
    if residual is None or not isinstance(fit.model, Classed):
        return fit
    mass = fit.statistics.mass
    found = np.where(mass > 0, np.maximum(mass / mass.sum() - residual, 0.0), 0.0)
    with np.errstate(divide="ignore"):
        return replace(fit, level=np.log(found / found.sum()))


def level_of(fit: Fit) -> Array:
    """log q (k,): what a learner has found, or log p(y) of the closed form, which is a parameter of the model."""
    return np.asarray(fit.parameters.class_log_prob if fit.level is None else fit.level)


def level_for(before: Fit, model: AnyModel, s: AnyStatistics) -> Array | None:
    """The shares for the sums s of rows that count now: those of then, changed as the rows' own have changed.

    Where p(y) is given, rows that come or go do not change it, nor these shares.
    """
    if before.level is None:
        return None
    at = positions(s.domain.classes, before.statistics.domain.classes)
    known = at >= 0
    with np.errstate(divide="ignore", invalid="ignore"):
        then, now = (np.log(one.mass / one.mass.sum()) for one in (before.statistics, s))
        beside = before.level - then
    if cast(Classed[Any, Any], model).classes_given:
        given = cast(Classed[Any, Any], model).class_log_prob(s)
        return np.where(known, before.level[at], given)
    moved = now + np.where(known & np.isfinite(beside[at]), beside[at], 0.0)
    return np.asarray(log_posterior(moved[None])[0])
