"""What a classifier has learned from rows beyond their sums: carried along as these change, and learned anew."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self, cast

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from suffice._labels import Reweigh, show_all
from suffice._learned import Learned
from suffice._notice import StaleWarning, emit
from suffice._refit import all_or_nothing
from suffice.data import Data
from suffice.learners import Fit, Observed
from suffice.models import AnyModel, AnyStatistics, DegenerateError

ROUNDING = 1e-9  # of a weight


def _takes_rows(estimator: Carrying) -> bool:
    """Whether there is something to learn anew; else AttributeError."""
    if not estimator._calibrates():
        raise AttributeError(
            f"{type(estimator).__name__} has nothing to learn anew: all that it learns here is a function of the sums, "
            "which partial_fit, merge and forget keep as they should be"
        )
    return True


class Carrying(Learned):
    """A classifier whose learner may learn more from rows than their sums."""

    statistics_: AnyStatistics
    _learned: Fit | None  # for the rows that count now
    _before: Fit | None = None  # what was learned from rows last, and is carried along
    _told: bool = True  # whether it was said that it is stale
    _shifted: bool = False  # whether class probabilities were exchanged after learning

    @abstractmethod
    def _prepared(self) -> AnyModel: ...

    @abstractmethod
    def _weighs_classes(self) -> bool: ...

    @abstractmethod
    def _encoded(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> Data: ...

    @abstractmethod
    def _adopt(self, s: AnyStatistics, learned: Fit | None = None) -> Self: ...

    def _calibrates(self) -> bool:
        """Whether something is learned that the sums do not tell."""
        return not hasattr(self._learner(), "close")

    def _close(self, s: AnyStatistics, data: Data | None = None) -> Fit:
        """Parameters from statistics; with rows of these, learned from them where it takes rows."""
        model, learner, fit = self._prepared(), self._learner(), None
        if data is not None and self._weighs_classes():
            data = data.map(labels=Reweigh(s.domain.classes, self._class_weights(s)))
        s = self._weighed(s)
        if not self._calibrates() or (data is not None and hasattr(learner, "close")):
            fit = learner.close(model, s, *(() if data is None else (data,)))
        elif data is None:
            fit = learner.carry(model, s, self._before)
        else:
            fit = self._calibrated(model, s, data)
        return cast(Fit, fit)

    def _weighed(self, s: AnyStatistics) -> AnyStatistics:
        """Statistics with the weights of the classes."""
        return s.by_class(self._class_weights(s)) if self._weighs_classes() else s

    def _united(self, other: Self) -> Fit | None:
        """What this and another classifier have learned from rows, for the rows of both."""
        if not hasattr(self._learner(), "unite"):
            return self._before
        pairs = ((one._before, one._weighed(one.statistics_)) for one in (self, other))
        both: Fit | None = self._learner().unite(self._prepared(), *pairs)
        return both

    def _calibrated(self, model: AnyModel, s: AnyStatistics, data: Data) -> Fit:
        """What rows teach that are all those of s, or some."""
        classes = s.domain.classes
        fit: Fit = self._learner().learn(model, data.map(labels=Reweigh(classes, np.ones(len(classes)))))
        if np.allclose(fit.statistics.mass, s.mass, rtol=ROUNDING, atol=0):
            return fit
        part: Fit = self._learner().carry(model, s, fit)
        return replace(part, warnings=(*fit.warnings, *part.warnings))

    def _fit_result(self) -> Fit:
        """Parameters are taken from the statistics when they are first needed: pieces may be too few to have any."""
        check_is_fitted(self)
        if self._learned is None:
            self._learned = self._close(self.statistics_)
            self._say(self._learned)
        if not self._told:
            self._told = True
            emit(notice for notice in self._learned.warnings if notice.category is StaleWarning)
        return self._learned

    def _say(self, fit: Fit) -> None:
        """Emit what learning has to say; that it is stale when it is next used: it may be learned anew before."""
        fresh = _fresh(fit).warnings
        emit(fresh)
        self._told = len(fresh) == len(fit.warnings)

    def _keep(self, fit: Fit | None) -> None:
        """Keep what has to be carried along of a fit that was learned from rows, and no more; None: nothing."""
        self._before = None if hasattr(self._learner(), "close") else fit

    def _keeps(self) -> bool:
        """Whether there is something to be carried along."""
        return self._before is not None

    def _take_in(self, data: Data, s: AnyStatistics) -> None:
        """The first rows that come with two classes, and of which sums s parameters can be had, are learned from."""
        if self._keeps() or not self._calibrates() or np.count_nonzero(s.mass) < 2:
            return
        try:
            fit = self._close(self.statistics_, data)
        except DegenerateError:  # too few
            return
        self._keep(fit)
        self._say(fit)
        self._adopt(self.statistics_, fit)

    @available_if(_takes_rows)
    def recalibrate(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn anew what is no function of the sums, of rows that count now; everything else stays as it is.

        With all these rows the result is that of `fit` on them. Of a sample, what statistics are moved by is scaled up
        to all rows.

        Parameters
        ----------
        X, y, sample_weight
            Rows among those that were learned, as in `fit`: all, or a sample with rows of every class, but no others.
            What cannot have been learned is refused. So is a copy by `shift_priors`, unless it learns weights of
            experts: what is learned from rows at shares that are not theirs makes up for the difference.
        """
        check_is_fitted(self)
        if self._shifted and not hasattr(self._learner(), "close"):
            raise ValueError(
                f"{type(self).__name__}: this copy has shifted class probabilities, which calibration would undo: "
                "recalibrate the original, then call shift_priors again"
            )
        with all_or_nothing(self):
            self._keep(None)
            data = self._encoded(X, y, sample_weight, reset=False)
            rows = data.sum(Observed(self._prepared()))
            why = self.statistics_.lacks(rows) or _none_of(self.statistics_, rows)
            if why is not None:
                raise ValueError(f"{type(self).__name__}: recalibrate takes rows that were learned, but {why}")
            fit = _fresh(self._close(self.statistics_, data))
            self._adopt(self.statistics_, fit)
            self._keep(fit)
            self._say(fit)
        return self

    def _summary(self) -> dict[str, str]:
        rows = super()._summary()
        if self._learned is None and self._calibrates() and self._keeps():
            rows["stale"] = "what is no function of the sums is that of earlier rows: recalibrate(X, y) learns it anew"
        return rows

    @property
    def stale_(self) -> bool:
        """Whether rows have come or gone since that was learned which is no function of the sums."""
        return any(notice.category is StaleWarning for notice in self._fit_result().warnings)


def _fresh(fit: Fit) -> Fit:
    """Without the notice that it is stale."""
    return replace(fit, warnings=tuple(n for n in fit.warnings if n.category is not StaleWarning))


def _none_of(whole: AnyStatistics, part: AnyStatistics) -> str | None:
    """Which classes of the whole have no rows in a part of it; None if all have."""
    without = whole.domain.classes[(whole.mass > 0) & (part.with_classes(whole.domain.classes).mass == 0)]
    return f"there are none of the classes {show_all(without)}" if len(without) else None
