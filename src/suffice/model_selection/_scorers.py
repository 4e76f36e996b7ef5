"""Scores that are taken often, without checking labels once more that were checked when the rows were read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from suffice._labels import positions
from suffice._vector import Array


def quick(scorer: Any, estimator: Any, scoring: Any) -> Any:
    """A scorer of scikit-learn's, or one that gives the same numbers in less time."""
    own = scoring is None and type(estimator).score is ClassifierMixin.score
    if own or (isinstance(scoring, str) and scoring == "accuracy"):
        return accuracy
    return NegativeLogLoss(scorer) if isinstance(scoring, str) and scoring == "neg_log_loss" else scorer


def accuracy(fit: Any, X: Any, y: Array, sample_weight: Any = None) -> float:
    """The share of rows whose label (n,) is predicted."""
    return float(np.average(fit.predict(X) == y, weights=sample_weight))


@dataclass(frozen=True)
class NegativeLogLoss:
    """The mean of log p(y_i | x_i), with probabilities between eps and 1 - eps, as scikit-learn has it.

    What that refuses, rows that lack a class or have one that was not learned, is left to `scorer`, its own.
    """

    scorer: Any

    def __call__(self, fit: Any, X: Any, y: Array, sample_weight: Any = None) -> float:
        p = fit.predict_proba(X)  # (n, k)
        at, k = positions(y, fit.classes_), p.shape[1]
        if (at < 0).any() or not np.bincount(at, minlength=k).all() or not np.isfinite(p.sum()):
            given = {} if sample_weight is None else {"sample_weight": sample_weight}
            return float(self.scorer(fit, X, y, **given))
        eps = np.finfo(p.dtype).eps
        own = p[np.arange(len(at)), at] if k > 2 else np.where(at == 1, p[:, 1], 1 - p[:, 1])  # as it has two classes
        own = np.clip(own, eps, 1 - eps)
        return float(np.average(np.log(own), weights=sample_weight))
