"""A fit warns once of each thing, and of the line that called it."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pytest
from sklearn.datasets import load_digits

from suffice import (
    CategoricalNB,
    GaussianNB,
    LinearBayes,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MinimumErrorMPM,
    QuadraticDiscriminantAnalysis,
    QuasiBayes,
)
from suffice.learners import TM, GradientDescent, Newton, RiskCalibration
from tests.samples import IRIS

DIGITS = load_digits(return_X_y=True)
TWO = IRIS[0][50:], IRIS[1][50:]

CALLS = {
    "pairs": lambda: LogisticRegression(multi_class="ovo", learner=RiskCalibration(max_iter=3)).fit(*DIGITS),
    "rests": lambda: LogisticRegression(multi_class="ovr", learner=RiskCalibration(max_iter=3)).fit(*DIGITS),
    "planes": lambda: QuasiBayes().fit(*DIGITS),
    "planes-of-rests": lambda: LinearBayes(multi_class="ovr").fit(*DIGITS),
    "constant": lambda: GaussianNB().fit(*DIGITS),
    "constant-later": lambda: LinearDiscriminantAnalysis().partial_fit(*DIGITS).predict(DIGITS[0][:1]),
    "measurements": lambda: CategoricalNB().fit(*IRIS),
    "measurements-later": lambda: CategoricalNB().partial_fit(*IRIS).predict(IRIS[0]),
    "measurements-calibrated": lambda: CategoricalNB(learner=RiskCalibration()).fit(*IRIS),
    "dates": lambda: CategoricalNB().fit(np.arange(100).astype("M8[D]")[:, None], np.arange(100) % 2),
    "newton": lambda: LogisticRegression(learner=Newton(max_iter=2)).fit(*IRIS),
    "calibration": lambda: GaussianNB(learner=RiskCalibration(max_iter=3)).fit(*IRIS),
    "batches": lambda: GaussianNB(learner=RiskCalibration(max_iter=3, batch_size=50)).fit(*IRIS),
    "rising": lambda: GaussianNB(learner=RiskCalibration(5.0)).fit(*IRIS),
    "gradient": lambda: QuadraticDiscriminantAnalysis(learner=GradientDescent(max_iter=3)).fit(*IRIS),
    "tm": lambda: GaussianNB(learner=TM(max_iter=3)).fit(*IRIS),
    "no-plane": lambda: MinimumErrorMPM(class_prior=[0.99, 0.01]).fit(*TWO),
    "no-plane-later": lambda: MinimumErrorMPM(class_prior=[0.99, 0.01]).partial_fit(*TWO).predict(TWO[0]),
}


@pytest.mark.parametrize("name", CALLS)
def test_one_warning_of_each_kind_that_points_at_the_caller(name):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        CALLS[name]()
    assert caught
    times = Counter(w.category.__name__ for w in caught)
    assert max(times.values()) == 1, dict(times)
    assert {w.filename for w in caught} == {__file__}


@pytest.mark.parametrize(
    "column",
    [
        np.arange(500) % 100,  # whole numbers may be codes
        np.arange(500) % 30 + 0.5,  # few values
        np.arange(500) % 50 + 0.5,  # ten rows each
        (np.arange(500) % 100).astype(str),
    ],
    ids=["whole", "few", "repeated", "text"],
)
def test_categories_are_not_taken_for_measurements(column):
    CategoricalNB().fit(column[:, None], np.arange(500) // 250)  # a warning is an error here
