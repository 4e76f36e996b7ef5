"""A classifier around any model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from suffice._estimator.classifier import Classifier
from suffice.models import Model


class ModelClassifier(Classifier):
    """A classifier around any model of `suffice.models`, or one of your own.

    Parameters
    ----------
    model : Model
        A model that has seen no data yet; its encoder reads the input.
    learner : learner of `suffice.learners`, default=None
        How to learn; None is the closed form.
    class_weight : None, "balanced" or dict, default=None
        Weights by class that multiply the rows' weights.

    Examples
    --------
    >>> from suffice.models import DiagonalGaussian
    >>> ModelClassifier(DiagonalGaussian()).fit([[0.0], [2.0], [7.0], [9.0]], [0, 0, 1, 1]).predict([[3.0]])
    array([0])
    """

    def __init__(self, model: Any = None, learner: Any = None, class_weight: Any = None) -> None:
        self.model = model
        self.learner = learner
        self.class_weight = class_weight

    def _given_class_prior(self, class_prior: dict[Any, float]) -> None:
        self.model = replace(self._model(), class_prior=class_prior)  # type: ignore[call-arg] # a dataclass with it, of whatever kind

    def _model(self) -> Model[Any, Any]:
        if not isinstance(self.model, Model):
            raise ValueError(f"model must be a suffice.models.Model, got {self.model!r}")
        return self.model
