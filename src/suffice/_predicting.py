"""What a fitted classifier says of rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, cast

import narwhals as nw
import numpy as np
from sklearn.utils.metaestimators import available_if

from suffice._answers import Answer, Asked, JointDensity, MostProbable, Single, log_odds, single_log_posterior
from suffice._posterior import log_posterior, posterior
from suffice._vector import Array
from suffice.data import Memory, Named, as_learned
from suffice.encoders._base import frame_of
from suffice.learners import Fit
from suffice.models import Density, Model


def _has_density(estimator: Predicting) -> bool:
    """Whether the model says how probable features are; else there is no log p(x, y)."""
    if not isinstance(estimator._model(), Density):
        raise AttributeError(
            f"{type(estimator).__name__} learns p(y | x) alone, so that log p(x, y) is unknown: use predict_log_proba, "
            "or a classifier with a density (naive Bayes, discriminant analysis)"
        )
    return True


class Predicting:
    """Labels, probabilities and densities of rows; numbers are float32 where the features are."""

    @property
    @abstractmethod
    def classes_(self) -> Array:
        """Class labels (k,), sorted."""

    @abstractmethod
    def _model(self) -> Model[Any, Any]: ...

    @abstractmethod
    def _fit_result(self) -> Fit: ...

    @abstractmethod
    def _check_rows(self, X: Any) -> None: ...

    @abstractmethod
    def _features(self, X: Any, reset: bool) -> Any: ...

    def _map(self, X: Any, f: Callable[[Any], Array], names: Sequence[str]) -> Any:
        """f of every row, in the form in which the rows are; of tables, in columns of these names."""
        data = as_learned(self, X)
        if data is not None:
            return data.transform(Named(f, tuple(names)))
        self._check_rows(X)
        rows = Memory(X)
        if rows.several():  # batches are encoded where they are answered, never all rows at once
            self._features(rows.first(), reset=False)
            return rows.transform(f)
        return Memory(self._features(X, reset=False)).transform(f)

    def _measure(self, X: Any, f: Callable[[Any], Array], names: Sequence[str]) -> Any:
        """Numbers for every row, of the precision of the rows."""
        return self._map(X, Single(f) if single_precision(X) else f, names)

    def _by_class(self, called: str) -> list[str]:
        """A name for each class, in the place of the dots."""
        return [called.replace("...", str(label)) for label in self.classes_.tolist()]

    def _odds(self) -> list[str]:
        return ["log odds"] if len(self.classes_) == 2 else self._by_class("log p(...)")

    def _asked(self, answer: Answer) -> Asked:
        fit = self._fit_result()
        return Asked(fit.model, fit.parameters, answer)

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithm of the class probabilities (n, k), with no floor."""
        return self._measure(
            X, self._asked(single_log_posterior if single_precision(X) else log_posterior), self._by_class("log p(...)")
        )

    def predict_proba(self, X: Any) -> Any:
        """Class probabilities (n, k), in the order of `classes_`."""
        return self._measure(X, self._asked(posterior), self._by_class("p(...)"))

    @available_if(_has_density)
    def predict_joint_log_proba(self, X: Any) -> Any:
        """Log p(x, y) (n, k): how probable features and class are together.

            log p(x, y) = log p(y) + log p(x | y),     log p(x) = logsumexp_y log p(x, y)

        For numbers it is the logarithm of a density, which depends on their units. A row with a small log p(x) is
        unlike all that was learned.
        """
        fit = self._fit_result()
        return self._measure(
            X, JointDensity(cast(Density[Any, Any], fit.model), fit.parameters), self._by_class("log p(x, ...)")
        )

    def predict(self, X: Any) -> Any:
        """The most probable class of each row (n,)."""
        return self._map(X, self._asked(self._choice()), ["prediction"])

    def _choice(self) -> Answer:
        """By which a class is chosen."""
        return MostProbable(self.classes_)

    def decision_function(self, X: Any) -> Any:
        """The log-odds of the second class (n,) if there are two, else the log-probability of each class (n, k)."""
        return self._measure(X, self._asked(log_odds), self._odds())


def single_precision(X: Any) -> bool:
    """Whether features are all float32.

    >>> single_precision(np.zeros((2, 2), dtype=np.float32)), single_precision([[1.0]])
    (True, False)
    """
    dtype = getattr(X, "dtype", None)
    if dtype is not None:
        return bool(dtype == np.float32)
    frame = frame_of(X)
    return frame is not None and len(frame.columns) > 0 and set(frame.schema.dtypes()) == {nw.Float32()}
