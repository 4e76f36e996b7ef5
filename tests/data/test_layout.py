"""Which columns of a table are what, and what people may hand over in the place of rows."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from suffice.data import DataError, Layout, Memory, Named, is_source, source
from suffice.data.layout import answer_columns, located

TABLE = {"id": [1, 2, 3], "a": [0.5, None, 2.0], "b": ["u", "v", None], "y": ["p", "q", "p"], "w": [1.0, 0.0, 2.0]}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_columns_are_told_apart(frame):
    layout = pickle.loads(pickle.dumps(Layout.of("y", "w", None, "id")))  # noqa: S301 - bytes of our own
    batch = layout.batch(frame(TABLE))
    names = batch.X.column_names if isinstance(batch.X, pa.Table) else list(batch.X.columns)
    assert (names, len(batch.X)) == (["a", "b"], 2), "the row of weight zero is left out"
    assert batch.Y.classes.tolist() == ["p"]
    assert batch.Y.weight.tolist() == [1.0, 2.0]
    said = layout.answers(frame(TABLE), Named(lambda X: np.full((len(X), 2), 0.5), ("p(p)", "p(q)")))
    assert list(said) == ["id", "p(p)", "p(q)"]
    assert said["p(q)"].tolist() == [0.5, 0.5, 0.5], "rows of weight zero are predicted as any other"


def test_an_order_of_columns_and_a_choice():
    assert Layout.of("y", None, ["b", "a"], ()).needed(list(TABLE), labels=True) == ["b", "a", "y"]
    assert Layout.of("y", None, ["b"], "id").needed(list(TABLE), labels=False) == ["id", "b"]
    assert Layout.of(None, None, None, ()).features(["a"]) == ["a"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("y", "y", None, ()), "not two of them"),
        (("y", None, ["y"], ()), "not two of them"),
        (("y", None, ["a", "b", "a"], ()), r"columns has \['a'\] more than once"),
        (("y", None, "ab", ()), "a list of names"),
        ((3, None, None, ()), "names of columns, got"),
    ],
)
def test_settings_that_contradict_each_other(given, message):
    with pytest.raises((TypeError, ValueError), match=message):
        Layout.of(*given)


@pytest.mark.parametrize(
    ("layout", "changed", "message"),
    [
        (Layout("z"), {}, r"no column \['z'\]; the columns are \['id'"),
        (Layout("y", columns=("q",)), {}, r"no column \['q'\]"),
        (Layout(), {}, "no labels to learn from: give target="),
        (Layout("y", "w"), {"w": [1.0, -1.0, 1.0]}, "weights in column 'w' must be finite"),
        (Layout("y", "w"), {"w": [1.0, None, 1.0]}, "weights in column 'w' must be finite"),
        (Layout("y", "w"), {"w": ["1", "x", "2"]}, "weights in column 'w' are not numbers"),
        (Layout("y", columns=()), {}, "no column is left for features"),
    ],
)
def test_tables_that_cannot_be_learned_from(layout, changed, message):
    with pytest.raises(DataError, match=f"part 2: .*{message}"), located("part 2"):
        layout.batch(pa.table(TABLE | changed))


def test_answers_and_keys_need_different_names():
    with pytest.raises(ValueError, match="the key 'id' is also the name of an answer"):
        Layout("y", keys=("id",)).answers(pa.table(TABLE), Named(lambda X: np.zeros(len(X)), ("id",)))
    assert list(answer_columns(np.zeros((2, 2)), ())) == ["answer 0", "answer 1"]


def test_rows_in_memory_are_no_source():
    X = np.zeros((2, 1))
    assert source(X, [0, 1]) is None
    assert not is_source(X)
    data = Memory(X, [0, 1])
    assert source(data) is data
    with pytest.raises(ValueError, match="brings its own labels"):
        source(data, y="label")
    assert is_source("rows.parquet")
