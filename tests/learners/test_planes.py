"""Calibration as it comes works for every classifier, planes among them."""

from __future__ import annotations

import pytest

from suffice import (
    DesignedDiscriminant,
    FisherDiscriminant,
    LinearBayes,
    MinimaxProbabilityMachine,
    MinimumErrorMPM,
    QuasiBayes,
    ScatterDiscriminant,
)
from suffice.learners import RiskCalibration
from tests.oracles import Ratio
from tests.samples import IRIS, loss

PLANES = [
    FisherDiscriminant(),
    ScatterDiscriminant(),
    MinimaxProbabilityMachine(),
    MinimumErrorMPM(),
    QuasiBayes(),
    LinearBayes(),
    DesignedDiscriminant(Ratio()),
]


@pytest.mark.parametrize("plane", PLANES, ids=lambda plane: type(plane).__name__)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.filterwarnings("ignore")
def test_calibration_needs_no_settings_for_planes(plane, classes):
    X, y = IRIS[0][150 - 50 * classes :], IRIS[1][150 - 50 * classes :]
    closed = loss(plane.set_params(learner=None).fit(X, y), X, y)
    model = plane.set_params(learner=RiskCalibration()).fit(X, y)
    assert model.score(X, y) > 0.95
    assert loss(model, X, y) < closed
