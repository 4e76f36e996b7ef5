"""Weights so small that the prior is all that is learned."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier

from suffice import (
    CategoricalNB,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    TabularClassifier,
)
from suffice.data import Memory
from suffice.learners import ClosedForm
from tests.samples import WINE

KINDS = [CategoricalNB, GaussianNB, LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis]
SHARES = np.full(178, 1 / 178)


def warned(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(w.message) for w in caught if "sample_weight" in str(w.message) and "prior" in str(w.message)]


@pytest.mark.parametrize("kind", KINDS)
def test_weights_below_the_prior_are_told(kind):
    X = WINE[0].round() if kind is CategoricalNB else WINE[0]
    assert warned(lambda: kind().fit(X, WINE[1], sample_weight=SHARES)), "learned little but the prior, silently"
    assert not warned(lambda: kind().fit(X, WINE[1], sample_weight=178 * SHARES))
    assert not warned(lambda: kind(prior=None).fit(X[:, :2], WINE[1], sample_weight=SHARES))


def test_boosting_passes_such_weights():
    boosted = AdaBoostClassifier(LinearDiscriminantAnalysis(), n_estimators=3, random_state=0)
    assert warned(lambda: boosted.fit(*WINE))


def test_the_warning_says_what_to_do_at_the_callers_line():
    with pytest.warns(UserWarning, match="sample_weight sums to 1, but the prior counts for 30 rows") as caught:
        GaussianNB().fit(*WINE, sample_weight=SHARES)
    (said,) = caught
    assert "scale sample_weight to sum to the number of rows, 178, or give a lighter prior" in str(said.message)
    assert said.filename == __file__


def test_weights_stay_what_they_are_and_few_rows_are_no_fault_of_theirs():
    assert not warned(lambda: GaussianNB().fit(WINE[0][55:65], WINE[1][55:65], sample_weight=np.ones(10)))
    assert not warned(lambda: GaussianNB().fit(WINE[0][57:62], WINE[1][57:62], sample_weight=np.ones(5)))
    with pytest.warns(UserWarning, match="sample_weight"):
        assert GaussianNB().fit(*WINE, sample_weight=SHARES).class_count_.sum() == pytest.approx(1)


def test_weights_of_a_data_set_are_told_by_their_name():
    with pytest.warns(UserWarning, match="^weight sums to 1, but the prior counts for 30 rows"):
        LinearDiscriminantAnalysis().fit(Memory(*WINE, weight=SHARES))


def test_learners_that_only_begin_at_the_prior_do_not_mind():
    assert warned(lambda: LogisticRegression(learner=ClosedForm()).fit(*WINE, sample_weight=SHARES))
    assert not warned(lambda: LogisticRegression().fit(*WINE, sample_weight=SHARES))


@pytest.mark.parametrize("heavy", [1e300, 1e308])
@pytest.mark.parametrize("kind", [*KINDS, NaiveBayes, TabularClassifier])
def test_weights_beyond_all_bounds_are_refused(kind, heavy):
    X = WINE[0].round() if kind is CategoricalNB else WINE[0]
    with pytest.raises(ValueError, match=r"sum\(sample_weight\) exceeds 1e\+150.*scale it down"):
        kind().fit(X, WINE[1], sample_weight=np.full(178, heavy))
