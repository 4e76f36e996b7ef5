"""Many classes by two at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if

from suffice._domain import OneHot
from suffice._vector import Array
from suffice.data import Data
from suffice.learners._protocol import Fit, Observed
from suffice.models import Model, Statistics
from suffice.models.voting import SCHEMES, Contest, Voting


@dataclass(frozen=True)
class _Sides:
    """Labels as the sides of a contest; those that take no part become rows without a class."""

    classes: Array
    contest: Contest

    def __call__(self, Y: OneHot) -> OneHot:
        group = np.append(self.contest.group, -1)
        return OneHot(np.array([0, 1]), group[Y.onto(self.classes).codes], Y.weight)


def _light(fit: Fit, s: Statistics) -> Fit:
    """A contest's fit without statistics of its own: those of all contests would be many times those of all rows."""
    return replace(fit, statistics=s)


class TwoAtATime(BaseEstimator):
    """Learn a two-class model for every pair of classes ("ovo", "coupled"), or every class against the rest ("ovr").

    A learner that needs only statistics gets those of each contest from the statistics by class, without another pass
    over the data: those of a pair are two rows of them, those of the rest are the total less a class.
    """

    def __init__(self, learner: Any, scheme: str = "ovo") -> None:
        self.learner = learner
        self.scheme = scheme

    def learn(self, model: Model[Any, Any], data: Data) -> Fit:
        """Learn contest by contest."""
        s = data.sum(Observed(model))
        if len(s.domain.classes) <= 2:
            alone: Fit = self.learner.learn(model, data)  # two classes are one contest
            return alone
        if hasattr(self, "close"):
            fit: Fit = self.close(model, s)
            return fit
        contests = SCHEMES[self.scheme].contests(len(s.domain.classes))
        if getattr(self.learner, "costs", None) is not None:
            raise ValueError(f"classes go two at a time: give costs to the classifier, not to {self.learner!r}")
        fits = [_light(self.learner.learn(model, data.map(labels=_Sides(s.domain.classes, c))), s) for c in contests]
        return self._joined(contests, fits, s)

    @available_if(lambda self: hasattr(self.learner, "close"))
    def close(self, model: Model[Any, Any], s: Statistics) -> Fit:
        """The parameters of every contest, from statistics already summed."""
        if len(s.domain.classes) <= 2:
            alone: Fit = self.learner.close(model, s)
            return alone
        contests = SCHEMES[self.scheme].contests(len(s.domain.classes))
        sides = ((c.group, c.labels(s.domain.classes)) for c in contests)
        fits = [_light(self.learner.close(model, s.regroup(*side)), s) for side in sides]
        return self._joined(contests, fits, s)

    def _joined(self, contests: list[Contest], fits: list[Fit], s: Statistics) -> Fit:
        voting = Voting(self.scheme, tuple(fit.model for fit in fits), tuple(contests))
        return Fit(
            voting,
            tuple(fit.parameters for fit in fits),
            s,
            n_iter=max(fit.n_iter for fit in fits),
            converged=all(fit.converged for fit in fits),
        )
