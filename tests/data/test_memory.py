"""Data sets in memory: checked like arrays, and with labels and weights of their own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from suffice import CategoricalNB, GaussianNB
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
        Memory(X, np.where(Y, np.nan, 0.0))
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
