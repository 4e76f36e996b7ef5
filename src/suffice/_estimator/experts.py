"""The base of classifiers that weigh experts: weights are carried over, and learned again from rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, cast

from sklearn.utils.validation import check_is_fitted

from suffice._estimator.classifier import Classifier
from suffice._estimator.fitting import TABLES
from suffice._runtime.messages import is_number
from suffice.data import Data
from suffice.encoders import Encoder
from suffice.encoders.views import Views
from suffice.learners import ExpertWeights, Fit, Learner
from suffice.models import AnyStatistics
from suffice.models.compose.experts import Experts


class ExpertClassifier(Classifier):
    """A classifier around `Experts`. A subclass builds them, and has the settings `weights` and `encoder`."""

    _accepts: ClassVar[tuple[str, ...]] = TABLES
    _may_differ: ClassVar[tuple[str, ...]] = ("columns", "encoder", "n_trees", "random_state", "weights")

    weights: Any
    encoder: Any

    _carried: Mapping[str, float] | None = None  # the last learned weights
    _limits: Mapping[str, float] | None = None  # and limits of scores

    def _bound_model(self) -> Experts:
        model = cast(Experts, super()._bound_model())
        given = self._given_weights()
        return model.weighed(self._carried, self._limits) if given is None else model.weighed(given)

    def _given_weights(self) -> Mapping[str, float] | None:
        given = self.weights
        if given is None:
            return None
        if not isinstance(given, Mapping) or not all(is_number(w) and w >= 0 for w in given.values()):
            who = type(self).__name__
            raise ValueError(f"{who}: weights must be None or a dict of expert: number of at least 0, got {given!r}")
        return given

    def _given_encoder(self) -> Views | None:
        """The encoder of another fit, from the setting `encoder`; None if the first rows are to prepare one."""
        if self.encoder is None:
            return None
        if not isinstance(self.encoder, Views) or not self.encoder.ready:
            raise ValueError(f"encoder must be None or the encoder_ of a fitted classifier, got {self.encoder!r}")
        who = type(self).__name__
        if self.encoder.who != who:
            raise ValueError(f"encoder must be the encoder_ of a fitted {who}, got that of a {self.encoder.who}")
        return self.encoder

    def _sum(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple[Data, AnyStatistics]:
        given = self._given_encoder()
        if given is not None and not reset:  # it may know categories that no row had so far
            self._encoder = self._encoder.united(given)
        return super()._sum(X, y, sample_weight, reset)

    def __getstate__(self) -> dict[str, Any]:
        """The state to store, in which the setting `encoder` knows no category that no row in the model has."""
        state = dict(super().__getstate__())
        return state | {"encoder": self._encoder} if self.encoder is not None and hasattr(self, "_encoder") else state

    @property
    def encoder_(self) -> Encoder:
        """The encoder that the first rows have prepared, for other fits that are to be merged with this one."""
        check_is_fitted(self)
        return self._encoder

    def _is_of_sums(self) -> bool:
        return False  # weights, trees and pairs are not

    def _default_learner(self) -> Learner:
        return ExpertWeights()

    def _calibrates(self) -> bool:
        """True if weights are learned, which the sums do not determine, or if the learner calibrates."""
        weighs = self.weights is None and isinstance(self._learner(), ExpertWeights)
        return weighs or super()._calibrates()

    def _carry(self, fit: Fit | None) -> None:
        model = None if fit is None else cast(Experts, fit.model)
        self._carried, self._limits = (None, None) if model is None else (model.weights, model.limits)
        super()._carry(fit)

    def _carries(self) -> bool:
        return self._carried is not None

    @property
    def weights_(self) -> dict[str, float]:
        """The weight of each expert, by its name; "classes" is log p(y)."""
        model = cast(Experts, self._fit_result().model)
        return dict(model.weights or zip(model.experts(), model.first_weights().tolist(), strict=True))
