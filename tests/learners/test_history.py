"""What a learner tells about its way: passes that count, the model at their end, and whether that was the end."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from suffice import (
    CategoricalNB,
    FisherDiscriminant,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
)
from suffice.learners import GradientDescent, Newton, RiskCalibration
from tests.samples import IRIS, WINE, binned, loss

DIGITS = load_digits(return_X_y=True)
SLOPES = np.random.default_rng(0).normal(size=(3, 200))
FACTORS = np.random.default_rng(1).normal(size=(30, 3))
WIDE = FACTORS @ SLOPES + 0.1 * np.random.default_rng(2).normal(size=(30, 200)), (FACTORS[:, 0] > 0).astype(int)

# all with an adaptive rate, so that some passes are taken back
TAKEN_BACK = {
    "nb-rc-digits": (GaussianNB(learner=RiskCalibration()), DIGITS),
    "nb-rc-last": (GaussianNB(learner=RiskCalibration(stop=None)), IRIS),
    "lda-rc": (LinearDiscriminantAnalysis(learner=RiskCalibration()), IRIS),
    "nb-rc-wine": (GaussianNB(learner=RiskCalibration()), WINE),
    "nb-gd": (GaussianNB(learner=GradientDescent("adaptive")), IRIS),
    "logistic-gd": (LogisticRegression(learner=GradientDescent("adaptive")), IRIS),
    "newton-wide": (LogisticRegression(learner=Newton(l2=1e-3)), WIDE),
}
some = pytest.mark.parametrize("name", TAKEN_BACK)


@some
@pytest.mark.filterwarnings("ignore")
def test_the_history_is_of_accepted_passes_and_ends_with_the_model(name):
    estimator, data = TAKEN_BACK[name]
    model = estimator.fit(*data)
    history = model.history_
    assert max(np.diff(history["objective"])) <= 0, "passes that were taken back are among them"
    assert history["log_loss"][-1] == pytest.approx(loss(model, *data), rel=1e-9)


@some
@pytest.mark.filterwarnings("ignore")
def test_all_passes_are_told_besides(name):
    estimator, data = TAKEN_BACK[name]
    model = estimator.fit(*data)
    accepted = model.passes_["accepted"]
    assert len(accepted) == model.n_iter_
    assert "gd" not in name or not all(accepted)
    for key, values in model.history_.items():
        assert values == [value for value, ok in zip(model.passes_[key], accepted, strict=True) if ok]


PAIRS = {
    "ovo": LogisticRegression(multi_class="ovo"),
    "ovr": LogisticRegression(multi_class="ovr"),
    "ovo-rc": LogisticRegression(multi_class="ovo", learner=RiskCalibration()),
    "planes-rc": FisherDiscriminant(learner=RiskCalibration(anchor=0)),
}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.filterwarnings("ignore")
def test_pairs_have_a_history(name):
    model = PAIRS[name].fit(*IRIS)
    each = list(model.history_.values()) if isinstance(model.history_, dict) else list(model.history_)
    assert each
    assert all(len(entries) for entries in each)


@pytest.mark.parametrize("kind", [LogisticRegression, CategoricalNB])
@pytest.mark.filterwarnings("ignore")
def test_gradient_descent_on_many_classes_has_not_converged_after_a_step(kind):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(50), 20)
    X = rng.normal(size=(50, 2))[y] + rng.normal(size=(1000, 2))
    X = binned(X) if kind is CategoricalNB else X
    model = kind(learner=GradientDescent()).fit(X, y)
    further = kind(learner=GradientDescent("adaptive", tol=0.0, max_iter=200)).fit(X, y)
    assert not model.converged_ or loss(model, X, y) < loss(further, X, y) + 0.01


@pytest.mark.parametrize("kind", [GaussianNB, LogisticRegression])
def test_calibration_that_still_falls_says_so(kind):
    silent, falling = {}, 0
    for max_iter in range(4, 15):
        learner = RiskCalibration(max_iter=max_iter)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = kind(learner=learner).fit(*IRIS)
        least = np.minimum.accumulate(model.history_["objective"])
        fall = least[-2] - least[-1]
        if model.n_iter_ < max_iter or fall <= learner.tol:
            continue
        falling += 1
        if model.converged_ or not any(issubclass(w.category, ConvergenceWarning) for w in caught):
            silent[max_iter] = fall
    assert falling
    assert not silent, f"falls by more than {learner.tol} in the last of so many passes: {silent}"


def test_calibration_that_cannot_fall_has_settled():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 3
    X[:, 0] += 2 * y
    model = GaussianNB(learner=RiskCalibration()).fit(X, y)  # without a warning
    assert model.converged_
    assert model.n_iter_ < 30
