"""Data sets in memory: checked like arrays, and with labels and weights of their own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose

from suffice import (
    CategoricalNB,
    FisherDiscriminant,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    QuadraticDiscriminantAnalysis,
)
from suffice.data import Memory

X = np.random.default_rng(0).normal(size=(200, 2))
Y = np.arange(200) % 2


def test_data_sets_are_checked_like_arrays():
    tables = CategoricalNB().fit(Memory(np.array([["a"], ["b"], ["c"]]), np.array([0, 1, 1]), weight=[1, 1, 0]))
    assert tables.categories_[0].tolist() == ["a", "b"]
    for weight in ([-1.0] * 200, [np.nan] * 200):
        with pytest.raises(ValueError, match="weights must be finite numbers of at least 0"):
            Memory(X, Y, weight=weight)
    with pytest.raises(ValueError, match="Input y contains NaN"):
        Memory(X, np.full(200, np.nan))
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = GaussianNB().fit(Memory(frame, Y))
    assert model.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="the feature names differ: the same names in another order"):
        model.partial_fit(Memory(frame[["b", "a"]], Y))
    assert not hasattr(model.fit(Memory(X, Y)), "feature_names_in_")


def test_data_sets_bring_their_labels():
    with pytest.raises(ValueError, match="a data set brings its own labels and weights"):
        GaussianNB().fit(Memory(X, Y), Y)
    with pytest.raises(ValueError, match="X has 200 rows, but there are 20 labels"):
        Memory(X, Y[:20])


# Labels and weights


@pytest.mark.parametrize("kind", [GaussianNB, QuadraticDiscriminantAnalysis, LogisticRegression, FisherDiscriminant])
def test_continuous_labels_are_refused_as_for_arrays(kind):
    with pytest.raises(ValueError, match="continuous"):
        kind().fit(Memory(X[:12], X[:12, 0] + 0.5))


def test_continuous_labels_of_a_piece_are_refused():
    with pytest.raises(ValueError, match="continuous"):
        GaussianNB().partial_fit(Memory(X[:12], X[:12, 0] + 0.5))


NAMED = pd.DataFrame({"names": X[:, 0], "parts": X[:, 1]})


@pytest.mark.parametrize("kind", [GaussianNB, CategoricalNB, LinearDiscriminantAnalysis, FisherDiscriminant])
def test_a_frame_is_no_data_set_whatever_its_columns_are_called(kind):
    frame = NAMED.round() if kind is CategoricalNB else NAMED
    model = kind().fit(frame, Y)
    assert model.feature_names_in_.tolist() == ["names", "parts"]
    plain = kind().fit(frame.to_numpy(), Y)
    assert_allclose(model.predict_proba(frame), plain.predict_proba(frame.to_numpy()))


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba", "decision_function"])
@pytest.mark.parametrize("labelled", [False, True], ids=["without", "with"])
def test_a_data_set_can_be_predicted(method, labelled):
    model = GaussianNB().fit(X, Y)
    data = Memory(X, Y, batch_size=30) if labelled else Memory(X, batch_size=30)
    assert_allclose(getattr(model, method)(data), getattr(model, method)(X))


def test_text_and_categories_can_be_predicted():
    table = np.where(X > 0, "u", "v")
    model = CategoricalNB().fit(Memory(table, np.where(Y, "yes", "no")))
    assert model.predict(Memory(table)).tolist() == model.predict(table).tolist()


def test_learning_without_labels_is_refused():
    with pytest.raises(ValueError, match="label"):
        GaussianNB().fit(Memory(X))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_labels_and_weights_are_columns_of_a_frame(frame):
    weight = np.random.default_rng(1).integers(0, 3, size=200).astype(float)
    table = frame({"a": X[:, 0], "label": Y, "b": X[:, 1], "w": weight})
    model = GaussianNB().fit(Memory(table, target="label", weight="w"))
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert_allclose(model.class_count_, np.bincount(Y, weight))
    assert_allclose(model.theta_, GaussianNB().fit(X, Y, sample_weight=weight).theta_)
    assert_allclose(GaussianNB().fit(Memory(table[["a", "b", "label"]], target="label")).class_count_, [100, 100])


def test_rows_of_weight_zero_have_answers():
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "y": [0, 1, 0, 1], "w": [1, 0, 1, 1]})
    model = GaussianNB().fit(frame[["x"]], frame["y"])
    assert_allclose(model.predict_proba(Memory(frame, target="y", weight="w")), model.predict_proba(frame[["x"]]))


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="'lable'"):
        Memory(NAMED.assign(label=Y), target="lable")
