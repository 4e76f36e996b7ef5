"""Columns of one array become a view of it; any others are copied."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from suffice import GaussianNB, NaiveBayes
from suffice.encoders.base import cheap_to_encode, side_by_side

X = np.arange(60.0).reshape(12, 5)
LAID = {
    "rows": X,
    "columns": np.asfortranarray(X),
    "every second row": X[::2],
    "every second column": X[:, ::2],
    "backwards": X[::-1],
    "float32": X.astype(np.float32),
    "one row": X[:1],
    "one column": X[:, 2:3],
    "of a frame": pd.DataFrame(X).to_numpy(),
}


@pytest.mark.parametrize("array", LAID.values(), ids=LAID.keys())
def test_columns_of_one_array_become_a_view_of_it(array):
    found = side_by_side(list(array.T))
    np.testing.assert_array_equal(found, array)
    assert np.shares_memory(found, array)
    assert not found.flags.writeable


@pytest.mark.parametrize(
    "columns",
    [
        [X[:, 0], X[:, 2], X[:, 3]],
        [X[:, 1], X[:, 0]],
        [X[:, 0], X[:, 0]],
        [X[:, 0].copy(), X[:, 1].copy()],
        [X[:, 0], X.astype(np.float32)[:, 1]],
        [X[:, 0], np.ones(12)],
        [X[:6, 0], X[6:, 0]],
    ],
    ids=["a gap", "another order", "one twice", "copies", "two types", "two arrays", "parts of one"],
)
def test_other_columns_are_copied_correctly(columns):
    np.testing.assert_array_equal(side_by_side(columns), np.column_stack(columns))


def test_changing_the_rows_after_a_fit_changes_nothing():
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(300, 3)), rng.integers(2, size=300)
    for model in (NaiveBayes(), GaussianNB()):
        mine = rows.copy()
        before = model.fit(mine, y).predict_proba(rows)
        np.testing.assert_array_equal(mine, rows)
        mine[:] = 7.0
        np.testing.assert_array_equal(model.predict_proba(rows), before)


def test_rows_that_are_cheap_to_encode():
    frame = pd.DataFrame({"a": [1.5, None], "b": pd.Categorical(["u", "v"]), "c": [True, False]})
    assert cheap_to_encode(frame)
    assert cheap_to_encode(pl.DataFrame({"a": [1, None], "b": pl.Series(["u", "v"], dtype=pl.Categorical)}))
    assert not cheap_to_encode(frame.assign(d=["u", "v"]))
    assert not cheap_to_encode(frame.assign(d=pd.to_datetime(["2024-01-01", None])))
    assert not cheap_to_encode(X.astype(object))
