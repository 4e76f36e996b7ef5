"""Populations that several tests draw from."""

import numpy as np
import pandas as pd

from suffice import LinearDiscriminantAnalysis


def two_normal(n, share, gap=2.0, seed=0, d=1):
    """Rows of two normal classes whose means are `gap` apart."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    return rng.normal(size=(n, d)) + gap / np.sqrt(d) * y[:, None], y


def exact(d, gap=2.0):
    """The estimator that has learned two unit normal classes with means `gap` apart, exactly."""
    corners = np.vstack([np.eye(d), -np.eye(d)]) * np.sqrt(d)  # of mean zero and unit covariance
    rows = np.concatenate([corners, corners + gap / np.sqrt(d)])
    return LinearDiscriminantAnalysis(prior=None).fit(rows, np.repeat([0, 1], 2 * d))


def mixed_table():
    """Numbers, words and dates with missing entries, and labels."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=600)
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, 600) + 100 * y, unit="D")
    frame = pd.DataFrame(
        {"age": rng.normal(40 + 5 * y, 9), "job": rng.choice(["cook", "clerk", "smith"], 600), "day": day, "same": 1}
    )
    frame.loc[rng.random(600) < 0.15 + 0.3 * y, "age"] = np.nan
    return frame, np.where(y == 1, "yes", "no")
