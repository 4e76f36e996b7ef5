"""Labels of every kind, in messages and as keys of settings."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import suffice
from suffice import (
    CategoricalNB,
    DegenerateError,
    FisherDiscriminant,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    ModelClassifier,
    QuadraticDiscriminantAnalysis,
)
from suffice.models import DiagonalGaussian

X = np.random.default_rng(0).normal(size=(20, 2))
CONSTANT = np.where(np.arange(20)[:, None] % 2, X, [1.0, 0.0] + X * [0.0, 1.0])  # in the first class
TEXT = pd.Series(["ill", "well"] * 10)  # an array of objects to NumPy
DATES = np.array(["2024-01-01", "2024-02-01"] * 10, dtype="datetime64[ns]")

# (what it is called, a call with labels y that is refused)
REFUSED = {
    "no-variance": (DegenerateError, lambda y: GaussianNB(prior=None).fit(CONSTANT, y)),
    "singular": (DegenerateError, lambda y: QuadraticDiscriminantAnalysis(prior=None).fit(CONSTANT, y)),
    "no-values": (DegenerateError, lambda y: GaussianNB(prior=None).fit(np.where(CONSTANT == 1, np.nan, CONSTANT), y)),
    "forget-nb": (ValueError, lambda y: GaussianNB().fit(X, y).forget(9 * X[:18:2], y[:18:2])),
    "forget-qda": (ValueError, lambda y: QuadraticDiscriminantAnalysis().fit(X, y).forget(9 * X[:18:2], y[:18:2])),
    "forget-counts": (ValueError, lambda y: CategoricalNB().fit(X.round(), y).forget(0 * X[:10:2], y[:10:2])),
    "equal-means": (DegenerateError, lambda y: FisherDiscriminant().fit(np.repeat(X[::2], 2, axis=0), y)),
}
MORE = {
    "one-class": (ValueError, lambda y: GaussianNB().fit(X[::2], y[::2])),
    "too-many": (ValueError, lambda y: GaussianNB().fit(X, y).forget(np.tile(X[::2], (2, 1)), np.tile(y[::2], 2))),
    "never-learned": (ValueError, lambda y: GaussianNB().partial_fit(X[1::2], y[1::2]).forget(X[:1], y[:1])),
    "not-declared": (ValueError, lambda y: GaussianNB().partial_fit(X, y, classes=y[1:2])),
    "no-probability": (ValueError, lambda y: GaussianNB(class_prior={y[1]: 1.0}).fit(X, y)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_messages_call_labels_of_pandas_by_name(name):
    error, call = REFUSED[name]
    with pytest.raises(error, match="class 'ill'"):
        call(TEXT)


@pytest.mark.parametrize("name", REFUSED | MORE)
def test_messages_call_dates_by_name(name):
    error, call = (REFUSED | MORE)[name]
    with pytest.raises(error) as refused:
        call(DATES)
    assert "2024" in str(refused.value)
    assert "170406720" not in str(refused.value)


def test_statistics_call_dates_by_name():
    text = repr(GaussianNB().fit(X, DATES).statistics_)
    assert "2024-01-01" in text
    assert "170406720" not in text


KEYS = {
    "days-datetime64": ("D", np.datetime64),
    "days-timestamp": ("D", pd.Timestamp),
    "nanoseconds-datetime64": ("ns", np.datetime64),
    "nanoseconds-timestamp": ("ns", pd.Timestamp),
    "nanoseconds-date": ("ns", datetime.date.fromisoformat),
    "nanoseconds-datetime": ("ns", datetime.datetime.fromisoformat),
    "seconds-date": ("s", datetime.date.fromisoformat),
}


@pytest.mark.parametrize("setting", ["class_prior", "class_weight"])
@pytest.mark.parametrize("key", KEYS)
def test_dates_are_keys_of_settings(setting, key):
    unit, of = KEYS[key]
    given = {of("2024-01-01"): 0.9, of("2024-02-01"): 0.1}
    model = GaussianNB(**{setting: given}).fit(X, DATES.astype(f"datetime64[{unit}]"))
    assert_allclose(model.class_prior_, [0.9, 0.1])


KINDS = [GaussianNB, LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, CategoricalNB, LogisticRegression]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "given", [{"ill": 2, "wel": 1}, {"ill": 2, "well": 1, "dead": 1}, {0: 2, 1: 1}], ids=["typo", "more", "other"]
)
def test_a_weight_of_no_class_is_refused(kind, given):
    strange = next(key for key in given if key not in ("ill", "well"))
    with pytest.raises(ValueError, match=f"class_weight.*{strange!r}"):
        kind(class_weight=given).fit(X, TEXT)


@pytest.mark.parametrize("kind", [*KINDS[:4], FisherDiscriminant])
def test_a_probability_of_no_class_is_refused(kind):
    with pytest.raises(ValueError, match=r"class_prior.*'dead'"):
        kind(class_prior={"ill": 0.5, "well": 0.4, "dead": 0.1}).fit(X, TEXT)
    with pytest.raises(ValueError, match=r"class_prior.*'dead'"):
        kind(class_prior={"ill": 0.5, "well": 0.5, "dead": 0.0}).fit(X, TEXT)


@pytest.mark.parametrize("setting", ["class_prior", "class_weight"])
@pytest.mark.parametrize("kind", KINDS[:4])
def test_pieces_may_lack_classes_that_settings_speak_of(kind, setting):
    y = np.repeat(["dead", "ill", "well"], [6, 6, 8])
    model = kind(**{setting: {"ill": 0.5, "well": 0.3, "dead": 0.2}})
    model.partial_fit(X[6:], y[6:])
    assert_allclose(model.class_prior_.sum(), 1)
    if setting == "class_prior":
        assert_allclose(model.class_prior_, [0.5 / 0.8, 0.3 / 0.8])
    model.partial_fit(X[:6], y[:6])
    whole = kind(**{setting: {"ill": 0.5, "well": 0.3, "dead": 0.2}}).fit(X, y)
    assert_allclose(model.predict_proba(X), whole.predict_proba(X))


def test_planes_take_probabilities_of_classes_that_are_to_come():
    given = {"ill": 0.5, "well": 0.4, "dead": 0.1}
    model = FisherDiscriminant(class_prior=given).partial_fit(X, TEXT)
    assert_allclose(model.class_prior_, [5 / 9, 4 / 9])


def test_one_model_of_ones_own_names_its_keys():
    with pytest.raises(ValueError, match=r"class_prior has \['dead'\], which no row is labelled"):
        ModelClassifier(DiagonalGaussian(class_prior={"ill": 0.5, "well": 0.4, "dead": 0.1})).fit(X, TEXT)


@pytest.mark.parametrize("kind", [">i8", ">U6", "T"])
def test_labels_of_foreign_types_can_be_saved(kind, tmp_path):
    y = np.tile(["1", "2"], 25).astype(np.dtypes.StringDType() if kind == "T" else kind)
    X = np.random.default_rng(0).normal(size=(50, 2))
    model = GaussianNB().fit(X, y)
    model.save(tmp_path / "m.suffice")
    again = suffice.load(tmp_path / "m.suffice").predict(X)
    assert again.tolist() == model.predict(X).tolist()
    assert set(again.tolist()) == set(y.tolist())
