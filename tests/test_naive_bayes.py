"""Naive Bayes: categories that were never learned, or never counted."""

from __future__ import annotations

from numpy.testing import assert_allclose

from suffice import CategoricalNB


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
