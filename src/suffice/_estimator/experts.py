"""What classifiers whose experts are weighed share: weights are carried along, and learned again from rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, cast

from sklearn.utils.validation import check_is_fitted

from suffice._estimator.classifier import Classifier
from suffice._runtime.messages import is_number
from suffice.encoders import Encoder
from suffice.encoders.views import Views
from suffice.learners import ExpertWeights, Fit, Learner
from suffice.models.compose.experts import Experts


class ExpertClassifier(Classifier):
    """A classifier around `Experts`; a subclass says which, with `weights` as a setting."""

    _takes_tables: ClassVar = True
    _may_differ: ClassVar[tuple[str, ...]] = ("columns", "encoder", "n_trees", "random_state", "weights")

    weights: Any
    encoder: Any

    _carried: Mapping[str, float] | None = None  # the weights that were learned last
    _limits: Mapping[str, float] | None = None  # and the limits of scores

    def _prepared(self) -> Experts:
        model = cast(Experts, super()._prepared())
        given = self._given()
        return model.weighed(self._carried, self._limits) if given is None else model.weighed(given)

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

    def _calibrates(self) -> bool:
        """Weights are learned, unless they are given."""
        weighs = self.weights is None and isinstance(self._learner(), ExpertWeights)
        return weighs or super()._calibrates()

    def _keep(self, fit: Fit | None) -> None:
        model = None if fit is None else cast(Experts, fit.model)
        self._carried, self._limits = (None, None) if model is None else (model.weights, model.limits)
        super()._keep(fit)

    def _keeps(self) -> bool:
        return self._carried is not None

    @property
    def weights_(self) -> dict[str, float]:
        """How much each expert counts, by its name; "classes" is log p(y)."""
        model = cast(Experts, self._fit_result().model)
        return dict(model.weights or zip(model.experts(), model.first_weights().tolist(), strict=True))
