"""Calibration by minibatches: the size of a batch changes the way, not whether there is one."""

from __future__ import annotations

import pytest
from sklearn.datasets import load_digits

from suffice import GaussianNB, LinearDiscriminantAnalysis, LogisticRegression
from suffice.learners import ClosedForm, RiskCalibration
from tests.samples import IRIS, loss

pytestmark = pytest.mark.filterwarnings("ignore")
DIGITS = load_digits(return_X_y=True)


@pytest.mark.parametrize(
    ("kind", "data", "anchor"),
    [
        (GaussianNB, DIGITS, 0),
        (LogisticRegression, DIGITS, 0),
        (LinearDiscriminantAnalysis, DIGITS, 0.1),
        (GaussianNB, IRIS, 0.1),
    ],
    ids=["nb-digits", "logistic-digits", "lda-digits", "nb-iris"],
)
@pytest.mark.parametrize("more", [0, 1000], ids=["all", "above"])
def test_a_batch_of_all_rows_learns(kind, data, anchor, more):
    learner = RiskCalibration(anchor=anchor, batch_size=len(data[1]) + more, random_state=0)
    model, closed = kind(learner=learner).fit(*data), kind(learner=ClosedForm()).fit(*data)
    assert loss(model, *data) < 0.9 * loss(closed, *data)
    assert model.n_iter_ > 2
