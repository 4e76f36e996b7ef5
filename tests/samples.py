"""Small data that several tests share."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

from suffice import GaussianPrior

IRIS = load_iris(return_X_y=True)
WINE = load_wine(return_X_y=True)
PULLED = GaussianPrior(10, 10, covariance="total")  # a prior that is far from what the rows say
plain = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def binned(X):
    return np.column_stack([np.digitize(c, np.quantile(c, [0.2, 0.4, 0.6, 0.8])) for c in X.T])


def loss(model, X, y):
    """The log loss per row, with no floor under the probabilities."""
    log_p = model.predict_log_proba(X)
    return -log_p[np.arange(len(y)), np.searchsorted(model.classes_, y)].mean()
