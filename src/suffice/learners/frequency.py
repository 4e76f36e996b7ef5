"""The discriminative frequency estimate."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

from suffice.data import Data
from suffice.learners._descent import (
    COUNT,
    NOT_NEGATIVE,
    POSITIVE,
    STOPS,
    Rate,
    Watch,
    check,
    descend,
    one_of,
    recording,
)
from suffice.learners._protocol import Fit, Observed
from suffice.learners.calibration import SLACK, Calibration
from suffice.losses import Costs
from suffice.models import Model


class DiscriminativeFrequency(BaseEstimator):
    """The discriminative frequency estimate (DFE): count a row again by how wrong the classifier is about it.

        s <- s + rate S(X, max(Y - P, 0))

    For tables only. The original goes row by row; this is the batch form that the papers on calibration compare with.
    It only adds, so that the weight of the statistics grows and steps have less and less effect.

    Parameters
    ----------
    rate : float, default=0.1
        Multiplies sums.
    max_iter : int, default=16
        Passes over the data; iteration 1 is the initial model.
    stop : {"log-loss", "soft-error", "best-error", None}, default="log-loss"
        As in `RiskCalibration`.
    tol : float, default=1e-4
        Fall of the log loss in an iteration, per row, at which it has settled.
    verbose : int, default=0
        1 shows progress.

    Examples
    --------
    >>> from suffice import CategoricalNB
    >>> X, y = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"], ["b", "v"]], [0, 0, 0, 1, 1]
    >>> CategoricalNB(learner=DiscriminativeFrequency(stop=None)).fit(X, y).predict(X)
    array([0, 0, 0, 1, 1])

    References
    ----------
    Su, Zhang, Ling, Matwin: Discriminative parameter learning for Bayesian networks. ICML 2008,
    doi:10.1145/1390156.1390284.
    """

    def __init__(
        self,
        rate: float = 0.1,
        max_iter: int = 16,
        stop: str | None = "log-loss",
        tol: float = 1e-4,
        verbose: int = 0,
    ) -> None:
        self.rate = rate
        self.max_iter = max_iter
        self.stop = stop
        self.tol = tol
        self.verbose = verbose

    def learn(self, model: Model[Any, Any], data: Data) -> Fit:
        """Estimate the tables of a model on a data set."""
        check(self, rate=POSITIVE, max_iter=COUNT, stop=one_of(*STOPS), tol=NOT_NEGATIVE)
        whole = data.sum(Observed(model))
        if not hasattr(whole, "table"):
            kind = type(whole).__name__
            raise TypeError(
                f"DiscriminativeFrequency does not fit {type(model).__name__}, whose {kind} have no `table`"
            )
        problem = Calibration(model.resolve(whole), data, whole, Costs.equal(len(whole.mass)), only_adds=True)
        with recording(self) as record:
            watch = Watch(self.stop, self.tol, self.rate, slack=SLACK)
            kept, ended = descend(problem, whole, Rate(self.rate), watch, record)
        return Fit(problem.model, kept.theta, kept.point, record.history, len(record), ended)
