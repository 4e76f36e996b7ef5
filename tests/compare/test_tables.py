"""Scores in tables of any library: the columns are the methods."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from suffice.compare import friedman, holm, tukey_hsd

SCORES = {"svm": [0.9, 0.8, 0.7, 0.9], "tree": [0.6, 0.6, 0.5, 0.7], "chance": [0.5, 0.4, 0.5, 0.4]}
KINDS = [pd.DataFrame, pl.DataFrame, pa.table]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("test", [partial(friedman, higher_is_better=True), holm, tukey_hsd])
def test_methods_are_called_after_their_columns(kind, test):
    expected, got = test(SCORES), test(kind(SCORES))
    assert got.averages == expected.averages
    assert got.p_value == expected.p_value if hasattr(expected, "p_value") else got.groups == expected.groups
    assert list(test(kind(SCORES), names=["a", "b", "c"]).averages) == ["a", "b", "c"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_score_is_refused(kind):
    with pytest.raises(ValueError, match="the scores of tree must be finite, but row 1 is nan"):
        friedman(kind({**SCORES, "tree": [0.6, None, 0.5, 0.7]}), higher_is_better=True)


def test_columns_of_the_same_name_are_refused():
    with pytest.raises(ValueError, match="names must differ from each other"):
        friedman(pd.DataFrame(np.column_stack(list(SCORES.values())), columns=["a", "b", "a"]), higher_is_better=True)
