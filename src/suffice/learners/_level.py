"""The class shares at which the probabilities of a calibrated model count: what other shares are compared with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from suffice._labels import positions
from suffice._posterior import log_posterior, posterior
from suffice._vector import Array
from suffice.data import Batch, Data
from suffice.learners._fit import Fit
from suffice.models import AnyModel, AnyStatistics
from suffice.models._base import Classed

PASSES = 8  # over the rows, at most
NEAR, THERE = 1e-3, 1e-6  # of a share: one more step will do, and none
LONGEST = 1.0  # of a step, in log-odds


@dataclass(frozen=True)
class Shifted:
    """Sums over rows of P and of P (1 - P) (2, k), for the posterior P with `a` (k,) added to the scores."""

    model: AnyModel  # resolved
    theta: object
    classes: Array
    a: Array

    def __call__(self, batch: Batch) -> Array:
        Y = batch.Y.onto(self.classes)
        P = posterior(self.model.log_joint(batch.X, self.theta) + self.a)
        weight = np.where(Y.codes >= 0, Y.weight, 0.0)
        return np.stack([weight @ P, weight @ (P * (1.0 - P))])


def levelled(fit: Fit, data: Data) -> Fit:
    """A fit that knows the shares q (k,) at which its probabilities count, learned from rows of shares s.

        mean_i P_iy (s_y / q_y) / sum_c P_ic (s_c / q_c) = s_y

    So the rows learned are found to have their own shares. Where P is right on average, as where calibration has
    settled, q = s, whatever p(y) has become; where P is 0 or 1, so that nothing tells q, a pull of one row keeps it
    there. Models without class probabilities stay as they are.
    """
    if not isinstance(fit.model, Classed):
        return fit
    mass = fit.statistics.mass
    there = mass > 0
    share, pull = mass / mass.sum(), 1.0 / mass.sum()
    a, k = np.zeros(len(mass)), max(2, int(there.sum()))
    for _ in range(PASSES):
        found, slope = data.sum(Shifted(fit.model, fit.parameters, fit.statistics.domain.classes, a)) / mass.sum()
        gap = np.where(there, share - found - pull * a, 0.0)
        if np.abs(gap).max() <= THERE:
            break
        a = a + np.clip((k - 1) / k * gap / (slope + pull), -LONGEST, LONGEST)  # about Newton's step if k = 2
        if np.abs(gap).max() <= NEAR:
            break
    with np.errstate(divide="ignore"):
        return replace(fit, level=log_posterior((np.log(share) - a)[None])[0])


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
    return np.asarray(now + np.where(known & np.isfinite(beside[at]), beside[at], 0.0))
