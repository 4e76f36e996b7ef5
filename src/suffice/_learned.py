"""What a fitted classifier says of itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from suffice._deciding import Deciding
from suffice._explaining import Explaining
from suffice._generative import Generative
from suffice._leaving import Leaving
from suffice._querying import Querying
from suffice._showing import Showing
from suffice._vector import Array
from suffice.files import Savable


class Learned(Savable, Leaving, Explaining, Deciding, Generative, Querying, Showing):
    """Parameters, statistics, classes, and how learning went."""

    @property
    def classes_(self) -> Array:
        """Class labels (k,), sorted."""
        check_is_fitted(self)
        return self.statistics_.domain.classes

    @property
    def parameters_(self) -> Any:
        """The parameters of the model."""
        return self._fit_result().parameters

    @property
    def moved_statistics_(self) -> Any:
        """The statistics behind the parameters: those of the data, unless the learner has moved them.

        Where values are missing under whole covariances, those that complete rows are expected to have.
        A tuple of those of every contest where classes went two at a time.
        """
        fit = self._fit_result()
        return self.statistics_ if fit.moved is None else fit.moved

    @property
    def n_iter_(self) -> int:
        """Iterations: passes over the data besides the one that sums them; 1 for the closed form, or steps of EM."""
        return self._fit_result().n_iter

    @property
    def history_(self) -> dict[str, list[float]]:
        """Log loss, soft error and error, the objective and the rate after every step that was kept.

        The first is the initial model. Where classes go two at a time it is the mean over contests. Of EM, for missing
        values under whole covariances, it is the log posterior of the values that are there.
        """
        return self._fit_result().history

    @property
    def passes_(self) -> dict[str, list[float]]:
        """The same of every pass over the data, with `accepted`: whether its step was kept or taken back."""
        return self._fit_result().passes

    @property
    def converged_(self) -> bool:
        """Whether learning came to its end by itself."""
        return self._fit_result().converged

    @property
    def class_count_(self) -> Array:
        """The weight of each class (k,): that of its rows."""
        check_is_fitted(self)
        return self.statistics_.mass.copy()

    @property
    def class_prior_(self) -> Array:
        """The probability of each class (k,)."""
        return np.exp(self._class_log_prob())

    def _class_log_prob(self) -> Array:
        found = getattr(self.parameters_, "class_log_prob", None)
        if found is None:
            raise AttributeError(
                f"this {type(self).__name__} has no class probabilities: its parameters are those of p(y | x) alone. "
                "The classes' shares of the rows are class_count_ / class_count_.sum()"
            )
        return np.asarray(found)
