"""Leave-one-out probabilities of the rows that a classifier has learned."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, cast

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, check_consistent_length

from suffice._answers import single_log_posterior
from suffice._labels import OneHot, Reweigh, show, show_all
from suffice._posterior import log_posterior
from suffice._predicting import Predicting, single_precision
from suffice._threads import few_threads
from suffice._vector import Array
from suffice.data import is_source
from suffice.data.memory import by_rows, row_slices
from suffice.models import AnyStatistics
from suffice.models._base import LeaveOneOut

MORE = 1e-9  # share by which a weight may be above that of its class, by rounding
ELSE = "use suffice.model_selection.cross_validate"


def _leaves_out(estimator: Leaving) -> bool:
    """Whether parameters without a row follow from the sums; else AttributeError."""
    name, learner = type(estimator).__name__, estimator._learner()
    if not hasattr(learner, "close"):
        raise AttributeError(f"a row cannot be taken out of what {type(learner).__name__} learns: {ELSE}")
    if not isinstance(estimator._model(), LeaveOneOut):
        raise AttributeError(
            f"this {name} has no leave-one-out probabilities from its sums (tables and normal densities without "
            f"shrinkage or tying have them): {ELSE}"
        )
    return True


class Leaving(Predicting):
    """A classifier whose learned rows can be left out one at a time."""

    statistics_: AnyStatistics

    @abstractmethod
    def _learner(self) -> Any: ...

    @abstractmethod
    def _class_weights(self, s: AnyStatistics) -> Array: ...

    @available_if(_leaves_out)
    def loo_log_proba(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """log p(y | x_i) (n, k) of learned rows, each by a model that has learned all rows but this one.

        It takes one read of the rows and no fit: sums without a row are the sums less the row, and inverses follow by
        rank one. What was chosen from all rows is held as it is: the prior's mean, covariance and weights,
        cells and categories, balanced class weights, and which columns vary. A class that has no other row is
        impossible (-inf), unless `class_prior` is given and the prior knows what such a class looks like.

        Parameters
        ----------
        X, y, sample_weight
            Rows that were learned, as they were given then: all, or some. A row of weight 0 is predicted as any other.
            That they were learned is the caller's to know, except for what is impossible.
        """
        fit = self._fit_result()
        s: Any = fit.statistics if fit.moved is None else fit.moved
        if is_source(X):
            raise TypeError("loo_log_proba takes rows in memory: give arrays or data frames X and y")
        if y is None:
            raise ValueError("loo_log_proba needs the labels y of the rows X, as they were learned")
        self._check_rows(X)
        check_consistent_length(X, y)
        weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        Y = _learned(OneHot.of(y, weight), s, self._class_weights(self.statistics_))
        rows = self._features(by_rows(X), reset=False)
        model = cast(LeaveOneOut[Any, Any], fit.model)
        with few_threads(rows.shape[1]):
            parts = [model.log_joint_without(rows[at], Y[at], fit.parameters, s) for at in row_slices(rows)]
        log_joint = np.concatenate(parts)
        return single_log_posterior(log_joint).astype(np.float32) if single_precision(X) else log_posterior(log_joint)


def _learned(Y: OneHot, s: AnyStatistics, class_weight: Array) -> OneHot:
    """Labels on the learned classes, with what they counted for; ValueError if they cannot have been learned."""
    classes = s.domain.classes
    own = Y.onto(classes)
    strange = np.unique(Y.codes[(Y.codes >= 0) & (own.codes < 0)])
    if len(strange):
        raise ValueError(f"the classes {show_all(Y.classes[strange])} were never learned, so no row of theirs was")
    own = Reweigh(classes, class_weight)(own)
    over = np.flatnonzero((own.codes >= 0) & (own.weight > s.mass[own.codes] * (1 + MORE)))
    if len(over):
        i = int(over[0])
        raise ValueError(
            f"row {i} counts {own.weight[i]:g}, but all learned rows of class {show(classes[own.codes[i]])} together "
            f"{s.mass[own.codes[i]]:g}: it was not learned so. Give the rows and weights that were"
        )
    return own
