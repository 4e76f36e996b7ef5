"""Naive Bayes: categories that were never learned or never counted, and values that are missing or odd."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose

from suffice import CategoricalNB, GaussianNB
from suffice.data import Memory


def test_an_unseen_category_leaves_its_feature_out():
    X, y = [["a", "u"], ["a", "v"], ["b", "v"], ["b", "v"]], [0, 0, 1, 1]
    model = CategoricalNB().fit(X, y)
    alone = CategoricalNB().fit([row[1:] for row in X], y)
    assert_allclose(model.predict_proba([["new", "u"]]), alone.predict_proba([["u"]]))
    assert_allclose(model.predict_proba([["new", "new"]]), [[0.5, 0.5]])


def test_rows_of_weight_zero_make_no_category_and_no_class():
    model = CategoricalNB().fit([["a"], ["b"], ["c"], ["d"]], [0, 1, 1, 2], sample_weight=[1, 1, 0, 0])
    assert model.categories_[0].tolist() == ["a", "b"]
    assert model.classes_.tolist() == [0, 1]


# Values that are missing


NAN = float("nan")


@pytest.mark.parametrize(
    "rows",
    [
        [["a", NAN], ["b", "x"], ["a", "y"], ["b", NAN]],
        [[1.0, "u"], [NAN, "v"], [2.0, "u"], [1.0, "v"]],
        [("a", NAN), ("b", "x"), ("b", "y"), ("a", "y")],
    ],
    ids=["text", "numbers-and-text", "tuples"],
)
def test_nan_in_lists_is_missing(rows):
    y = [0, 1, 0, 1]
    model = CategoricalNB().fit(rows, y)
    assert "nan" not in [str(value) for values in model.categories_ for value in values]
    assert model.n_categories_.tolist() == [2, 2]
    table = np.array(rows, dtype=object)
    assert_allclose(model.predict_proba(rows), CategoricalNB().fit(table, y).predict_proba(table))


def test_lists_keep_the_type_of_each_column():
    model = CategoricalNB().fit([[1, "u", None], [2, "v", True], [NAN, "u", False]], [0, 1, 1])
    assert [c.tolist() for c in model.categories_] == [[1, 2], ["u", "v"], [False, True]]


def test_nan_in_lists_is_missing_in_data_sets():
    rows, y = [["a", NAN], ["b", 1.5], ["a", 2.5], ["b", None]], [0, 1, 0, 1]
    model = CategoricalNB().fit(Memory(rows, y))
    assert [c.tolist() for c in model.categories_] == [["a", "b"], [1.5, 2.5]]
    assert_allclose(model.predict_proba(Memory(rows)), CategoricalNB().fit(rows, y).predict_proba(rows))
    numbers = [[1.0, 2], [2.0, 5], [4.0, 1]]
    assert_allclose(GaussianNB().fit(Memory(numbers, [0, 1, 1])).theta_, GaussianNB().fit(numbers, [0, 1, 1]).theta_)


def test_rows_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="X has rows of different lengths, from 1 to 2"):
        CategoricalNB().fit([["a"], ["b", "c"]], [0, 1])


DAYS = np.array(["2024-01-01", "2024-01-02"] * 3, dtype="datetime64[us]")
HOLE = np.where(np.arange(6) == 5, np.datetime64("NaT", "us"), DAYS)
DAYS_Y = [0, 1, 0, 1, 0, 0]


frames = pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])


@frames
def test_dates_missing_only_where_it_predicts(frame):
    model = CategoricalNB().fit(frame({"day": DAYS}), DAYS_Y)
    p = model.predict_proba(frame({"day": HOLE}))
    assert_allclose(p[:5], model.predict_proba(frame({"day": DAYS}))[:5])
    assert_allclose(p[5], [4 / 6, 2 / 6])


@frames
def test_dates_missing_only_where_it_learns(frame):
    p = CategoricalNB().fit(frame({"day": HOLE}), DAYS_Y).predict_proba(frame({"day": DAYS}))
    first = np.array([0.8 * 4 / (0.8 * 4 + 0.25 * 2), 0.2 * 4 / (0.2 * 4 + 0.75 * 2)] * 3)  # (n + 1) / (n_y + 2)
    assert_allclose(p, np.column_stack([first, 1 - first]))


@frames
@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)], ids=["first", "second"])
def test_dates_missing_in_one_piece(frame, order):
    model = CategoricalNB()
    for days in (HOLE, DAYS)[order]:
        model.partial_fit(frame({"day": days}), DAYS_Y)
    assert_allclose(model.category_count_[0], [[6, 1], [0, 4]])


def tuples():
    X = np.empty((4, 1), dtype=object)
    X[:, 0] = [(1, 2), (3, 4), (1, 2), (3, 4)]
    return X


@pytest.mark.parametrize(
    "X",
    [
        tuples(),
        pd.DataFrame({"pair": [(1, 2), (3, 4), (1, 2), (3, 4)]}),
        pl.DataFrame({"pair": [{"a": 1, "b": 2}, {"a": 3, "b": 4}] * 2}),
    ],
    ids=["tuples", "tuples-pandas", "struct-polars"],
)
def test_values_of_several_parts_are_learned_or_refused(X):
    y = [0, 1, 0, 1]
    try:
        model = CategoricalNB().fit(X, y)
    except (TypeError, ValueError) as refused:
        assert "column" in str(refused)  # noqa: PT017 - either is right
        return
    assert model.n_categories_.tolist() == [2]
    assert model.predict(X).tolist() == y


def test_lists_of_dates_are_the_dates_of_frames():
    model = CategoricalNB().fit(DAYS[:, None], DAYS_Y)
    rows = [[None if np.isnat(day) else day.item()] for day in HOLE]
    assert_allclose(model.predict_proba(np.array(rows, dtype=object)), model.predict_proba(HOLE[:, None]))
    assert_allclose(CategoricalNB().fit(rows, DAYS_Y).category_count_[0], [[3, 0], [0, 2]])
    nat = np.array([[np.datetime64("2024-01-01")], [np.datetime64("NaT")], [np.datetime64("2024-01-02")]], dtype=object)
    assert CategoricalNB().fit(nat, [0, 0, 1]).n_categories_.tolist() == [2]


def test_values_of_several_parts():
    assert CategoricalNB().fit(tuples(), [0, 1, 0, 1]).categories_[0].tolist() == [(1, 2), (3, 4)]
    merged = CategoricalNB().partial_fit(tuples(), [0, 1, 0, 1]).partial_fit(tuples()[1:], [0, 1, 1])
    assert_allclose(merged.category_count_[0], [[2, 1], [1, 3]])
    with pytest.raises(TypeError, match=r"column 'pair' holds .*Struct.*make each part a column of its own"):
        CategoricalNB().fit(pl.DataFrame({"pair": [{"a": 1, "b": 2}, {"a": 3, "b": 4}]}), [0, 1])
    with pytest.raises(TypeError, match=r"column 'l' holds .*List"):
        CategoricalNB().fit(pl.DataFrame({"l": [[1], [2, 3]]}), [0, 1])
    odd = np.empty((2, 1), dtype=object)
    odd[:, 0] = [(1, "a"), ("a", 1)]
    with pytest.raises(ValueError, match="column 0 holds tuple values that cannot be put in order"):
        CategoricalNB().fit(odd, [0, 1])
