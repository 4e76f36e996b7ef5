"""What is refused is called by its name and leaves the model as it was; a warning does not drown what it says."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from suffice import (
    ConstantColumnWarning,
    FisherDiscriminant,
    GaussianNB,
    GaussianPrior,
    KernelMPM,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    QuadraticDiscriminantAnalysis,
)
from suffice.data import Memory
from suffice.encoders import Numbers
from suffice.features import FSCL, RBF
from suffice.learners import ClosedForm, GradientDescent
from tests.samples import IRIS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = np.arange(40) % 2
NARROW = RNG.normal(size=(40, 2))

BAD = {
    "one-class": (NARROW, np.zeros(40)),
    "negative-weights": (NARROW, Y, -np.ones(40)),
    "no-weight": (NARROW, Y, np.zeros(40)),
    "too-many-rows": (RNG.normal(size=(400, 2)), np.arange(400) % 2),
}


@pytest.mark.parametrize("name", BAD)
def test_a_refused_refit_leaves_the_kernel_machine(name):
    model = KernelMPM(max_memory=1e6).fit(X, Y)
    before = model.predict_proba(X)
    with pytest.raises((ValueError, MemoryError)):
        model.fit(*BAD[name])
    assert model.n_features_in_ == 3
    assert_array_equal(model.predict_proba(X), before)


def test_a_refused_refit_leaves_the_names_of_the_kernel_machine():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = KernelMPM().fit(frame, Y)
    with pytest.raises(ValueError, match="one class"):
        model.fit(frame.rename(columns={"a": "z"}), np.zeros(40))
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("model", [FSCL(5, epochs=2, random_state=0), RBF(5, random_state=0)], ids=["fscl", "rbf"])
def test_a_refused_refit_leaves_the_centres(model):
    before = model.fit(X).transform(X)
    with pytest.raises(ValueError, match="ask for at most 1"):
        model.fit(np.zeros((4, 2)))
    assert model.n_features_in_ == 3
    assert_array_equal(model.transform(X), before)


@pytest.mark.parametrize("kind", [QuadraticDiscriminantAnalysis, LinearDiscriminantAnalysis])
@pytest.mark.parametrize("weight", [10.0, 100.0])
def test_a_prior_covariance_that_is_none_is_to_blame(kind, weight):
    prior = GaussianPrior(cov_weight=weight, covariance=[[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match=r"GaussianPrior.*covariance.*positive") as refused:
        kind(prior=prior).fit(NARROW, Y)
    assert "class" not in str(refused.value)


@pytest.mark.parametrize("kind", [LogisticRegression, KernelMPM])
@pytest.mark.parametrize("where", ["fit", "predict"])
def test_nan_is_not_a_reason_to_leave(kind, where):
    holes = np.where(X > 1, np.nan, X)
    with pytest.raises(ValueError, match="NaN") as refused:
        kind().fit(holes, Y) if where == "fit" else kind().fit(X, Y).predict(holes)
    assert "HistGradientBoosting" not in str(refused.value)
    assert "sklearn.ensemble" not in str(refused.value)


@pytest.mark.parametrize("named", [False, True], ids=["numbers", "names"])
@pytest.mark.parametrize("kind", [GaussianNB, FisherDiscriminant])
def test_constant_columns_are_counted_when_they_are_many(kind, named):
    wide = np.column_stack([X, np.ones((40, 300))])
    wide = pd.DataFrame(wide, columns=[f"f{j}" for j in range(303)]) if named else wide
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kind().fit(wide, Y)
    (text,) = [str(w.message) for w in caught if w.category is ConstantColumnWarning]
    listed = re.findall(r"'f\d+'" if named else r"column \d+", text)
    assert len(listed) <= 12, f"{len(listed)} columns in {len(text)} characters"
    assert re.search(r"\b(300|29\d)\b", text), text  # all of them, or those that are not listed


@pytest.mark.parametrize(
    ("covariance", "least"),
    [(0.0, "variance is 0"), ([1.0, 0.0], "variance is 0"), ([[1.0, 1.0], [1.0, 1.0]], "eigenvalue is")],
)
@pytest.mark.parametrize("weight", [0.0, 10.0])
def test_a_prior_covariance_that_is_singular_is_refused(covariance, least, weight):
    with pytest.raises(ValueError, match=f"GaussianPrior: covariance must be positive definite, but its least {least}"):
        QuadraticDiscriminantAnalysis(prior=GaussianPrior(cov_weight=weight, covariance=covariance)).fit(NARROW, Y)


def test_a_prior_covariance_of_any_units_is_taken():
    units = np.array([1e-9, 1e9])
    prior = GaussianPrior(covariance=np.outer(units, units) * [[1.0, 0.5], [0.5, 1.0]])
    assert QuadraticDiscriminantAnalysis(prior=prior).fit(NARROW * units, Y).score(NARROW * units, Y) > 0.4


HOLES = pd.DataFrame(X, columns=["a", "b", "c"]).assign(b=np.nan)


@pytest.mark.parametrize("model", [KernelMPM(), FSCL(5), RBF(5), LogisticRegression()], ids=lambda m: type(m).__name__)
def test_columns_with_holes_are_called_by_name(model):
    who = type(model).__name__
    said = f"Input X contains NaN, in column 'b': {who} takes no missing values. Impute them, .*use NaiveBayes"
    with pytest.raises(ValueError, match=said):
        model.fit(HOLES, Y)
    with pytest.raises(ValueError, match=f"Input X contains infinity, in column 1: {who} takes finite numbers"):
        model.fit(np.where(np.arange(3) == 1, np.inf, X), Y)
    model.fit(X, Y)
    ask = model.predict if hasattr(model, "predict") else model.transform
    with pytest.raises(ValueError, match="Input X contains NaN, in column 1"):
        ask(HOLES.to_numpy())


def test_numbers_that_overflow_in_their_sum_are_finite():
    big = np.where(X > 0, 1e308, -1e308)
    assert FSCL(2, epochs=1, random_state=0).fit(big / 1e154).n_features_in_ == 3
    assert Numbers()(np.abs(big)).values.max() == 1e308


@pytest.mark.parametrize("learner", [None, ClosedForm()])
@pytest.mark.parametrize("multi_class", ["softmax", "ovr"])
def test_slopes_have_no_class_probabilities(learner, multi_class):
    model = LogisticRegression(learner=learner, multi_class=multi_class)
    assert not hasattr(model, "class_prior_")
    assert not hasattr(model.fit(X, Y), "class_prior_")
    with pytest.raises(AttributeError, match=r"this LogisticRegression has no class probabilities.*class_count_"):
        _ = model.class_prior_


def test_labels_of_a_data_set_are_one_a_row():
    for labels in (np.column_stack([Y, Y]), [[0, 1]] * 40):
        with pytest.raises(ValueError, match=r"y should be a 1d array, got an array of shape \(40, 2\) instead"):
            Memory(X, labels)
    with pytest.raises(ValueError, match=r"there are 20 labels, but weights of shape \(40,\)"):
        Memory(X, Y[:20], weight=np.ones(40))


def test_dates_are_no_numbers():
    day = pd.Timestamp("2024-01-01")
    frame = pd.DataFrame({"joined": [day, pd.NaT, day, day], "plan": list("abab"), "age": [1.0, 2.0, 3.0, 4.0]})
    for kind in (GaussianNB, QuadraticDiscriminantAnalysis):
        with pytest.raises(ValueError, match=r"columns \['plan'\] are text.*columns \['joined'\] hold dates") as told:
            kind().fit(frame, [0, 1, 0, 1])
        assert kind.__name__ in str(told.value)
        with pytest.raises(ValueError, match="X holds dates or durations: turn them into numbers"):
            kind().fit(frame[["joined"]].to_numpy(), [0, 1, 0, 1])


@pytest.mark.parametrize("zone", ["America/New_York", "Etc/GMT+3", "UTC"])
def test_dates_with_a_time_zone_are_no_numbers(zone):
    joined = pd.Series(pd.to_datetime(["2024-01-01", None, "2024-01-03", "2024-01-04"])).dt.tz_localize(zone)
    for frame in (pd.DataFrame({"joined": joined}), pd.DataFrame({"joined": joined, "age": 1.5})):
        with pytest.raises(ValueError, match=r"columns \['joined'\] hold dates"):
            GaussianNB().fit(frame, [0, 1, 0, 1])


def test_dates_of_arrow_are_no_numbers():
    days = pa.table({"joined": pa.array([0, 86_400_000, 0, None], pa.date64())})
    with pytest.raises(ValueError, match=r"columns \['joined'\] hold dates"):
        GaussianNB().fit(days, [0, 1, 0, 1])


def test_labels_that_are_all_missing():
    for y in ([None, None], np.array([np.nan, np.nan])):
        with pytest.raises(ValueError, match="Input y contains NaN or None only: no row has a label"):
            GaussianNB().fit([[0.0], [1.0]], y)


@pytest.mark.parametrize("learner", [None, GradientDescent()])
def test_class_probabilities_that_would_have_no_effect_are_refused(learner):
    with pytest.raises(ValueError, match="class_prior has no effect under"):
        LogisticRegression(learner=learner, class_prior=[0.2, 0.3, 0.5]).fit(*IRIS)
