"""What an estimator may ask of a learner."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from suffice.data import Batch, Data
from suffice.models import Model, Statistics


@dataclass(frozen=True)
class Observed:
    """S(X, Y) of a batch: what a data set is asked for first."""

    model: Model[Any, Any]

    def __call__(self, batch: Batch) -> Statistics:
        s: Statistics = self.model.statistics(batch.X, batch.Y)
        return s


@dataclass(frozen=True)
class Fit:
    """What learning returns: the resolved model, its parameters, the statistics behind them, and how it went."""

    model: Model[Any, Any]
    parameters: Any
    statistics: Statistics
    history: dict[str, list[float]] = field(default_factory=dict)
    n_iter: int = 1
    converged: bool = True


class Learner(Protocol):
    """A way from data to parameters that knows no particular model."""

    def learn(self, model: Model[Any, Any], data: Data) -> Fit:
        """Learn the parameters of a model."""
        ...
