"""Where the rows are does not matter, and what travels to them is small."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits

from suffice.learners import ClosedForm, RiskCalibration
from suffice.testing import PickledPartitions
from tests.zoo import ENGINES, every

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::suffice.NoTangentPlaneWarning"),
]


def calibrated(entry):
    return isinstance(entry.prototype._learner(), RiskCalibration)


def few_passes(entry):
    return (not entry.out_of_sample and calibrated(entry)) or isinstance(entry.prototype._learner(), ClosedForm)


@every(few_passes)
def test_every_engine_answers_the_same(entry):
    same_answers(entry, ENGINES, 1e-8 if calibrated(entry) else entry.tolerance)


@every(lambda entry: not few_passes(entry) and not entry.out_of_sample)
def test_iterative_learners_do_not_see_partitions(entry):
    same_answers(entry, {"lazy-7": ENGINES["lazy-7"]}, entry.tolerance)


def same_answers(entry, engines, tolerance):
    """One fit in memory is what all engines are held against."""
    X, y = entry.draw(3)
    ours = entry.estimator().fit(X, y)
    expected, decided = ours.predict_proba(X), ours.predict(X)
    for name, make in engines.items():
        data, order = make(X, y)
        theirs = entry.estimator().fit(data)
        assert_allclose(theirs.predict_proba(X), expected, rtol=0, atol=tolerance, err_msg=name)
        answer, labels = (collected(ask(data)) for ask in (theirs.predict_proba, theirs.predict))
        assert_allclose(answer, expected[order], rtol=0, atol=tolerance, err_msg=name)
        first, second = np.sort(expected[order], axis=1)[:, :-3:-1].T
        clear = first - second > 10 * tolerance
        assert clear.any()
        assert (labels == decided[order])[clear].all(), name


def collected(answer):
    return answer.collect() if hasattr(answer, "collect") else np.asarray(answer)


@every(lambda entry: not entry.out_of_sample)
def test_little_travels_to_the_rows(entry):
    """No more than parameters, and the resolved model: its domain, its encoder and what `resolve` has fixed."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:400, 17:47], y[:400]
    noisy = X + np.random.default_rng(0).normal(size=X.shape)  # so that there are parameters without a prior too
    rows = X.astype(int).astype(str) if entry.categories else X if entry.counts else noisy
    data = PickledPartitions([(rows, y)])
    estimator = entry.estimator()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = estimator.fit(data)._fit_result()
        estimator.predict(data)
    most = len(pickle.dumps(fit.parameters)) + len(pickle.dumps(fit.model)) + 4096
    assert max(size for _, size in data.sent) <= most
    assert len(data.sent) >= 2
