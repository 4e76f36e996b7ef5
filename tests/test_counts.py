"""What learning costs: reads of the data, factorisations, warnings."""

from __future__ import annotations

import warnings
from collections import Counter

import pytest
from sklearn.datasets import load_digits

from suffice import LogisticRegression, QuadraticDiscriminantAnalysis
from suffice.learners import RiskCalibration
from suffice.models.gaussian import full
from suffice.testing import PickledPartitions

X, Y = load_digits(return_X_y=True)


def fitted(estimator, data):
    """The estimator, and how many warnings there were of each category."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        estimator.fit(data)
    return estimator, Counter(warning.category for warning in said)


@pytest.mark.parametrize("scheme", ["ovo", "ovr"])
def test_contests_share_their_reads(scheme):
    learner = RiskCalibration()
    data = PickledPartitions([(X, Y)])
    _, said = fitted(LogisticRegression(multi_class=scheme, learner=learner), data)
    assert 2 < len(data.sent) <= learner.max_iter + 1
    assert max(said.values()) == 1


class Counting:
    def __init__(self, real):
        self.real, self.calls = real, Counter()

    def __getattr__(self, name):
        self.calls[name] += 1
        return getattr(self.real, name)


@pytest.mark.parametrize("anchor", [0.0, 0.1])
def test_a_step_factors_every_covariance_once(monkeypatch, anchor):
    totals = []
    for steps in (4, 5):
        counting = Counting(full.lapack if not totals else full.lapack.real)
        monkeypatch.setattr(full, "lapack", counting)
        learner = RiskCalibration(0.1, max_iter=1 + steps, stop=None, anchor=anchor)
        estimator, said = fitted(QuadraticDiscriminantAnalysis(learner=learner), PickledPartitions([(X, Y)]))
        assert estimator.n_iter_ == 1 + steps
        assert max(said.values()) == 1
        totals.append(counting.calls["dpotrf"])
    assert totals[1] - totals[0] == 10  # classes
    assert totals[1] <= 10 * (1 + 5 + 1)  # the start, the steps, and what the anchor holds to
