"""Naive Bayes: categories that were never learned or never counted, and values that are missing or odd."""

from __future__ import annotations

import numpy as np
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
