"""What classifiers whose experts are weighed share: weights are carried along, and learned anew from rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from suffice._check import is_number
from suffice._classifier import Classifier
from suffice._columns import TakesTables
from suffice._notice import Notice, emit
from suffice._refit import all_or_nothing
from suffice.data import Data
from suffice.encoders import Encoder
from suffice.encoders.views import Views
from suffice.learners import ExpertWeights, Fit, Learner, Observed, StaleWarning
from suffice.models import Statistics
from suffice.models.experts import Experts

STALE = (
    "rows have come or gone since the weights of the experts were learned, or none came that could teach them. "
    "recalibrate(X, y) learns them anew, of rows that count now; with weights= given, none are learned"
)


def _weighs(estimator: ExpertClassifier) -> bool:
    """Whether the learner learns weights; else there is nothing to learn anew."""
    if estimator.weights is not None or not isinstance(estimator._learner(), ExpertWeights):
        raise AttributeError("the weights of the experts are learned by learner=ExpertWeights(), if none are given")
    return True


class ExpertClassifier(TakesTables, Classifier):
    """A classifier around `Experts`; a subclass says which, with `weights` as a setting."""

    _may_differ: ClassVar[tuple[str, ...]] = ("columns", "encoder", "n_trees", "random_state", "weights")

    weights: Any
    encoder: Any

    _carried: Mapping[str, float] | None  # the weights that were learned last
    _told: bool = True  # whether it was said that they are stale

    def _prepared(self) -> Experts:
        model = cast(Experts, super()._prepared())
        known = self._given() if self._given() is not None else getattr(self, "_carried", None)
        return model.weighed(known)

    def _given(self) -> Mapping[str, float] | None:
        given = self.weights
        if given is None:
            return None
        if not isinstance(given, Mapping) or not all(is_number(w) and w >= 0 for w in given.values()):
            who = type(self).__name__
            raise ValueError(f"{who}: weights must be None or a dict of expert: number of at least 0, got {given!r}")
        return given

    def _shared(self) -> Views | None:
        """What another fit has prepared, which the setting `encoder` gives; None: it is prepared by the first rows."""
        if self.encoder is None:
            return None
        if not isinstance(self.encoder, Views) or not self.encoder.ready:
            raise ValueError(f"encoder must be None or the encoder_ of a fitted classifier, got {self.encoder!r}")
        who = type(self).__name__
        if self.encoder.who != who:
            raise ValueError(f"encoder must be the encoder_ of a fitted {who}, got that of a {self.encoder.who}")
        return self.encoder

    @property
    def encoder_(self) -> Encoder:
        """What the first rows have prepared, for other fits that are to be merged with this one."""
        check_is_fitted(self)
        return self._encoder

    def _is_of_sums(self) -> bool:
        return False  # nor are weights, trees and pairs

    def _default_learner(self) -> Learner:
        return ExpertWeights()

    def _read(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> Data:
        if reset:
            self._carried = None
        return super()._read(X, y, sample_weight, reset)

    def _adopt(self, s: Statistics[Any], learned: Fit | None = None) -> Self:
        if learned is not None:
            self._carried = cast(Experts, learned.model).weights
        return super()._adopt(s, learned)

    def _close(self, s: Statistics[Any], data: Data | None = None) -> Fit:
        fit = super()._close(s, data)
        if data is not None or self.weights is not None or not isinstance(self._learner(), ExpertWeights):
            return fit
        return replace(fit, warnings=(*fit.warnings, Notice(f"{type(self).__name__}: {STALE}", StaleWarning)))

    def _say(self, fit: Fit) -> None:
        """All but that weights are stale, which is said when they are next used: they may be learned anew before."""
        super()._say(replace(fit, warnings=tuple(n for n in fit.warnings if n.category is not StaleWarning)))
        self._told = False

    def _fit_result(self) -> Fit:
        fit = super()._fit_result()
        if not self._told:
            self._told = True
            emit(notice for notice in fit.warnings if notice.category is StaleWarning)
        return fit

    def _take_in(self, data: Data, s: Statistics[Any]) -> None:
        """The first rows that come with two classes weigh the experts."""
        if self.weights is None and self._carried is None and np.count_nonzero(s.mass) > 1:
            self._weigh(data)

    def _weigh(self, data: Data) -> None:
        """Learn the weights of rows that count now."""
        self._carried = None
        self._adopt(self.statistics_, self._close(self.statistics_, data))
        self._say(self._fit_result())

    @available_if(_weighs)
    def recalibrate(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the weights of the experts anew, of rows that count now; everything else stays as it is.

        Parameters
        ----------
        X, y, sample_weight
            Rows among those that were learned, as in `fit`: all, or a sample of them, but no others. What cannot have
            been learned is refused.
        """
        check_is_fitted(self)
        with all_or_nothing(self):
            data = self._encoded(X, y, sample_weight, reset=False)
            why = self.statistics_.lacks(data.sum(Observed(self._prepared())))
            if why is not None:
                raise ValueError(f"{type(self).__name__}: recalibrate takes rows that were learned, but {why}")
            self._weigh(data)
        return self

    @property
    def weights_(self) -> dict[str, float]:
        """How much each expert counts, by its name; "classes" is log p(y)."""
        model = cast(Experts, self._fit_result().model)
        return dict(model.weights or zip(model.experts(), model.first_weights().tolist(), strict=True))

    @property
    def stale_(self) -> bool:
        """Whether rows have come or gone since the weights were learned."""
        return any(notice.category is StaleWarning for notice in self._fit_result().warnings)
