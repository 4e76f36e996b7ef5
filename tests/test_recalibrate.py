"""Calibration of the first rows, and again; what fails leaves everything as it was."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose

from suffice import AdditiveTables, GaussianNB, LogisticRegression, QuadraticDiscriminantAnalysis
from suffice.learners import ClosedForm, Newton, StaleWarning
from tests.strangers.averaged import AveragedCalibration
from tests.test_carried import IRIS, RC, WINE, pytestmark, quiet, said  # noqa: F401 - the same warnings are let pass
from tests.test_laws import assert_same_sums, same

# The first rows


def test_the_first_rows_of_two_classes_are_calibrated():
    X, y = IRIS
    first = np.arange(150) % 2 == 0
    model = GaussianNB(learner=RC).partial_fit(X[first], y[first])
    assert said(lambda: model.predict(X)) == []
    same(model, GaussianNB(learner=RC).fit(X[first], y[first]), X, 1e-12)
    assert not model.stale_
    assert model.n_iter_ == 16


@pytest.mark.parametrize("estimator", [GaussianNB(learner=RC), LogisticRegression()], ids=repr)
def test_the_closed_form_stands_in_until_there_are_two_classes(estimator):
    X, y = IRIS
    model = copy.copy(estimator)
    for c in range(3):
        model.partial_fit(X[y == c], y[y == c])
    closed = copy.copy(estimator).set_params(learner=ClosedForm()).fit(X, y)
    with pytest.warns(StaleWarning, match="no rows came that it could learn from, so that the closed form stands in"):
        assert_allclose(model.predict_proba(X), closed.predict_proba(X), atol=1e-9)
    same(model.recalibrate(X, y), copy.copy(estimator).fit(X, y), X, 1e-9)


@quiet
def test_pieces_too_small_to_calibrate_are_summed():
    X, y = IRIS
    model = QuadraticDiscriminantAnalysis(prior=None, learner=RC)
    for rows in np.array_split(np.random.default_rng(0).permutation(150), 50):
        model.partial_fit(X[rows], y[rows])
    same(model.recalibrate(X, y), QuadraticDiscriminantAnalysis(prior=None, learner=RC).fit(X, y), X, 1e-6)


@quiet
@pytest.mark.parametrize("learner", [RC, Newton()], ids=repr)
def test_declared_classes_have_no_probability_until_they_come(learner):
    X, y = IRIS
    first = y < 2
    model = LogisticRegression(learner=learner).partial_fit(X[first], y[first], classes=[0, 1, 2])
    assert not model.stale_
    assert model.predict_proba(X).shape == (150, 3)
    assert model.predict_proba(X[first])[:, 2].max() < 1e-3
    model.partial_fit(X[~first], y[~first])
    with pytest.warns(StaleWarning, match=r"the classes \[2\] have come"):
        assert (model.predict(X[~first]) == 2).mean() > 0.8


# Learning again


@quiet
def test_a_sample_moves_all_statistics():
    X, y = WINE
    model = GaussianNB(learner=RC).fit(X, y).partial_fit(X, y)
    sample = GaussianNB(learner=RC).fit(X, y)
    model.recalibrate(X, y)  # half of what counts
    assert not model.stale_
    assert_same_sums(model.moved_statistics_, 2.0 * sample.moved_statistics_, 1e6, 1e-9)
    model.forget(X, y)
    assert_same_sums(model.moved_statistics_, sample.moved_statistics_, 1e6, 1e-9)


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        (slice(0, 150), np.where(IRIS[1] == 2, 3, IRIS[1]), r"the classes \[3\] were never learned"),
        (slice(0, 100), IRIS[1], r"there are none of the classes \[2\]"),
    ],
)
def test_rows_that_cannot_teach_are_refused(rows, labels, message):
    model = LogisticRegression().fit(*IRIS)
    coef = model.coef_
    with pytest.raises(ValueError, match=message):
        model.recalibrate(IRIS[0][rows], labels[rows])
    assert_allclose(model.coef_, coef)
    assert not model.stale_


def test_there_is_nothing_to_learn_anew_in_a_closed_form():
    assert not hasattr(GaussianNB(), "recalibrate")
    assert not GaussianNB().fit(*IRIS).stale_
    with pytest.raises(AttributeError):
        GaussianNB().fit(*IRIS).recalibrate  # noqa: B018 - asking is refused


@quiet
def test_experts_under_calibration_keep_their_weights():
    X, y = WINE
    model = AdditiveTables(pairs=None, learner=RC).fit(X, y)
    weights, before = model.weights_, model.predict_proba(X)
    model.forget(X[:20], y[:20]).partial_fit(X[:20], y[:20])
    assert model.weights_ == weights
    assert_allclose(model.predict_proba(X), before, atol=1e-9)


def test_a_declared_class_that_came_late_is_not_forgotten_by_merging():
    X, y = IRIS
    first = y < 2
    late, other = (LogisticRegression().partial_fit(X[first], y[first], classes=[0, 1, 2]) for _ in range(2))
    both = late.partial_fit(X[~first], y[~first]) + other
    with pytest.warns(StaleWarning, match=r"the classes \[2\] have come"):
        assert (both.predict(X[~first]) == 2).mean() > 0.8


# What fails leaves everything as it was


@pytest.mark.parametrize("learner", [RC, Newton()], ids=repr)
def test_a_merge_that_is_killed_changes_nothing(learner, monkeypatch):
    X, y = IRIS
    a, b = (LogisticRegression(learner=learner).fit(X[i::2], y[i::2]) for i in range(2))
    before, stands = a.predict_proba(X), dict(a.__dict__)

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(LogisticRegression, "_store", killed)
    with pytest.raises(KeyboardInterrupt):
        a.merge(b)
    with pytest.raises(KeyboardInterrupt):
        a.recalibrate(X[::2], y[::2])
    assert a.__dict__ == stands
    assert_allclose(a.predict_proba(X), before, rtol=0, atol=0)


def test_a_learner_that_says_nothing_of_other_rows_cannot_be_added():
    model = GaussianNB(learner=AveragedCalibration()).fit(*IRIS)
    for name in ("partial_fit", "merge", "forget"):
        assert not hasattr(model, name)
    with pytest.raises(AttributeError, match="fits by AveragedCalibration cannot be updated or merged"):
        model + model


def test_rows_are_not_left_out_of_what_is_calibrated():
    for model in (GaussianNB(learner=RC), LogisticRegression()):
        assert not hasattr(model, "loo_log_proba")
        assert not model._is_of_sums()
