"""The discriminative frequency estimate."""

from __future__ import annotations

from suffice._runtime.messages import COUNT, NOT_NEGATIVE, POSITIVE, check, one_of
from suffice.learners.base import Course, DataViews, Iterative, Outcome
from suffice.learners.descent import Calibration, Place, Rate, descend
from suffice.learners.stopping import RULES, STOPS, Watch
from suffice.losses import Loss
from suffice.models import Tabular
from suffice.models.base import Subproblem


class DiscriminativeFrequency(Iterative):
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

    needs = (Tabular,)

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

    def check(self) -> None:
        """Refuse settings that make no sense."""
        check(self, rate=POSITIVE, max_iter=COUNT, stop=one_of(*STOPS), tol=NOT_NEGATIVE)

    def course(self, share: Subproblem, views: DataViews) -> Course[Outcome]:
        """Estimate the tables of one share."""
        whole = share.whole
        problem = Calibration(share.model, views.data, whole, Loss.equal(len(whole.mass)), only_adds=True)
        place = Place(whole, share.model.parameters(whole))
        watch = Watch(RULES[self.stop](self.tol), self.tol, self.rate)
        return (yield from descend(problem, place, Rate(self.rate), watch, self.max_iter, moves=True))
