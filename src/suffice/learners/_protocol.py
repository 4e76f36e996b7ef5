"""What an estimator may ask of a learner, and what learners ask of a batch and of a model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from suffice._vector import Array, Vector
from suffice.data import Batch, Data
from suffice.losses import Costs, Losses
from suffice.models import Model, Statistics


@dataclass(frozen=True)
class Observed:
    """S(X, Y) of a batch: what a data set is asked for first."""

    model: Model[Any, Any]

    def __call__(self, batch: Batch) -> Statistics:
        s: Statistics = self.model.statistics(batch.X, batch.Y)
        return s


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Vector):
    """The losses of a model on some rows and the direction S(X, W) that answers them, from one pass."""

    losses: Losses
    direction: Statistics


@dataclass(frozen=True)
class Evaluate:
    """Losses and direction of a batch; all that travels to where the rows are."""

    model: Model[Any, Any]  # resolved
    theta: Any
    classes: Array
    loss: Costs
    only_adds: bool = False  # whether negative weights are dropped

    def __call__(self, batch: Batch) -> Evaluation:
        losses, W = self.loss(self.model.log_joint(batch.X, self.theta), batch.Y.onto(self.classes))
        return Evaluation(losses, self.model.statistics(batch.X, W.clip(min=0) if self.only_adds else W))


@dataclass(frozen=True)
class Fit:
    """What learning returns: the resolved model, its parameters, the statistics behind them, and how it went."""

    model: Any
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


def require(thing: Any, learner: Any, *names: str) -> None:
    """TypeError, in one sentence, unless a model (or its statistics) has the methods that a learner asks for."""
    missing = [name for name in names if not hasattr(thing, name)]
    if missing:
        raise TypeError(
            f"{type(learner).__name__} does not fit {type(thing).__name__}, which has no `{missing[0]}`; "
            "ClosedForm() and RiskCalibration(anchor=0) fit every model"
        )
