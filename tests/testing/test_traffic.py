"""What a fit moves is that of the formulas of docs/growing.md, whatever the number of rows."""

import numpy as np
import pytest

from suffice import (
    CategoricalNB,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MultinomialNB,
    QuadraticDiscriminantAnalysis,
)
from suffice.learners import RiskCalibration
from suffice.testing import PickledPartitions, traffic

K, D = 3, 40
RNG = np.random.default_rng(0)
Y = np.arange(3000) % K
NUMBERS = RNG.normal(size=(3000, D)) + Y[:, None]
CODES = RNG.integers(6, size=(3000, D)).astype(str)
MODELS = {  # with the numbers that come back
    "GaussianNB": (GaussianNB(), NUMBERS, K * (3 * D + 1)),
    "LDA": (LinearDiscriminantAnalysis(), NUMBERS, K * (D * D + 2 * D + 1)),
    "QDA": (QuadraticDiscriminantAnalysis(), NUMBERS, K * (D * D + 2 * D + 1)),
    "CategoricalNB": (CategoricalNB(), CODES, K * 6 * D),
    "MultinomialNB": (MultinomialNB(), abs(NUMBERS), K * D),
    "calibrated": (GaussianNB(learner=RiskCalibration(0.1, 3, stop=None)), NUMBERS, K * (3 * D + 1)),
    "Newton": (LogisticRegression(), NUMBERS, (K * (D + 1)) ** 2 + K * (D + 1)),
}


@pytest.mark.parametrize(("model", "X", "numbers"), MODELS.values(), ids=MODELS)
def test_bytes_are_those_of_the_statistics(model, X, numbers):
    found = traffic(model, X, Y)
    overhead = 4096 + X.shape[1] * 8 * 25 * (X is CODES)  # classes, and the categories
    assert 8 * numbers <= found.largest.returned <= 8 * numbers + overhead
    few = traffic(model, X[:600], Y[:600])
    assert few.largest.returned == found.largest.returned


def test_it_prints_as_a_table():
    said = str(traffic(GaussianNB(learner=RiskCalibration(0.1, 3, stop=None)), PickledPartitions([(NUMBERS, Y)])))
    lines = said.splitlines()
    assert lines[0].split() == ["pass", "asked", "bytes", "sent", "returned"]
    assert [line.split()[1] for line in lines[1:]] == ["Observed", *["Evaluate"] * 3]
