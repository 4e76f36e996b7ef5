"""Many classes by two at a time: what the pairs say together are probabilities."""

from __future__ import annotations

import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits

from suffice import LogisticRegression
from suffice.learners import ClosedForm, RiskCalibration
from tests.samples import IRIS, WINE, loss

DIGITS = load_digits(return_X_y=True)


@pytest.mark.filterwarnings("ignore")
def test_pairs_are_sure_of_what_they_know():
    X, y = DIGITS[0][:600], DIGITS[1][:600]
    model = LogisticRegression(multi_class="ovo").fit(X, y)
    p = model.predict_proba(X)
    assert_allclose(p.sum(axis=1), 1)
    assert model.score(X, y) == 1
    assert p.max() > 0.5, "no class is ever more probable than 2/k: these are shares of votes"
    assert loss(model, X, y) < 0.2


@pytest.mark.parametrize(("data", "most"), [(IRIS, 0.2), (WINE, 0.1)], ids=["iris", "wine"])
@pytest.mark.parametrize("learner", [None, ClosedForm()], ids=["newton", "closed"])
def test_pairs_tell_probabilities_as_all_at_once_do(data, most, learner):
    together = LogisticRegression(learner=learner).fit(*data)
    pairs = LogisticRegression(learner=learner, multi_class="ovo").fit(*data)
    assert loss(pairs, *data) < most
    assert loss(pairs, *data) == pytest.approx(loss(together, *data), abs=0.05)


def test_contests_whose_statistics_do_not_fit_are_refused(monkeypatch):
    monkeypatch.setattr("suffice.models.compose.contests.free_memory", lambda: 1e3)
    learner = RiskCalibration(max_iter=2)
    with pytest.raises(MemoryError, match=r"3 pairs of classes would keep about .* use multi_class='ovr'"):
        LogisticRegression(multi_class="ovo", learner=learner).fit(*IRIS)
    LogisticRegression(multi_class="ovo", learner=ClosedForm()).fit(*IRIS)  # which keeps statistics by class
