"""Rows without labels, wherever they are: sums that need none, as those of the shares of the classes."""

from __future__ import annotations

import sqlite3
import warnings

import numpy as np
import pytest
from dask import array, config
from numpy.testing import assert_allclose, assert_array_equal

from suffice import GaussianNB, NaiveBayes
from suffice.data import SQL, Dask
from tests.data import engines
from tests.data.databases import database
from tests.data.engines import every_engine
from tests.data.test_scale import TARGET, mixed

FRAME = mixed(150, seed=1)
NEW = FRAME[(FRAME[TARGET] != "one") | (np.arange(150) % 4 == 0)].reset_index(drop=True)
ROWS = NEW.drop(columns=TARGET)


@pytest.fixture(scope="module")
def model():
    return NaiveBayes(numeric="gaussian").fit(FRAME.drop(columns=TARGET), FRAME[TARGET])


@every_engine(lambda name: name != "memory")
def test_shares_of_classes_need_no_labels(engine, model):
    want = model.estimate_priors(ROWS)
    assert want[0] < model.class_prior_[0] - 0.1
    gaps = NEW.assign(**{TARGET: NEW[TARGET].where(np.arange(len(NEW)) % 2 == 0, None)})
    for frame, target in ((ROWS, None), (gaps, TARGET)):
        data, collect = engine(frame, target)
        found = model.estimate_priors(data)
        assert_allclose(found, want, atol=1e-8)
        answer = model.shift_priors(found).predict_proba(data)
        assert_allclose(collect(answer), model.shift_priors(want).predict_proba(ROWS), atol=1e-8)


def test_shares_of_rows_in_arrays_of_dask():
    X = ROWS[["age"]].fillna(40.0).to_numpy()
    model = GaussianNB().fit(FRAME[["age"]].fillna(40.0).to_numpy(), FRAME[TARGET])
    weight = np.arange(len(X)) % 3
    data = Dask(array.from_array(X, chunks=(40, 1)), weight=array.from_array(weight, chunks=25))
    with config.set(scheduler="synchronous"):
        found = model.estimate_priors(data)
    assert_allclose(found, model.estimate_priors(np.repeat(X, weight, axis=0)), atol=1e-8)


def test_a_database_is_not_asked_for_them(model):
    connection = sqlite3.connect(":memory:")
    ROWS[["age", "colour"]].to_sql("new", connection, index=False)
    with pytest.raises(TypeError, match="cannot be summed in a database: take the rows, or the predictions, into"):
        model.estimate_priors(SQL(connection, "new"))


def gaps_in(frame):
    """The rows with every fifth label missing, and those that have one."""
    known = np.arange(len(frame)) % 5 > 0
    return frame.assign(**{TARGET: frame[TARGET].where(known, None)}), frame[known].reset_index(drop=True)


@every_engine()
def test_rows_without_a_label_are_left_out_with_one_warning(engine):
    frame, whole = gaps_in(FRAME)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        data, collect = engine(frame, TARGET)
        model = NaiveBayes(numeric="gaussian").fit(data)
    said = [one for one in said if one.category is UserWarning and "label" in str(one.message)]
    assert [str(one.message) for one in said] == ["30 rows have no label, and are left out"]
    assert said[0].filename in (__file__, engines.__file__)  # where a `Memory` is made
    want = NaiveBayes(numeric="gaussian").fit(whole.drop(columns=TARGET), whole[TARGET])
    rows = frame.drop(columns=TARGET)
    assert_allclose(collect(model.predict_proba(data)), want.predict_proba(rows), atol=1e-10)
    assert_allclose(model.class_count_, want.class_count_)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_rows_without_a_label_are_left_out_in_a_database(dialect):
    frame, whole = gaps_in(FRAME[["age", "colour", TARGET]])
    with database(dialect) as db:
        db.load(frame, "t")
        data = SQL(db.connection, "t", target=TARGET)
        with pytest.warns(UserWarning, match="^30 rows have no label, and are left out$") as said:
            model = NaiveBayes(numeric="gaussian").fit(data)
        assert len(said) == 1
    want = NaiveBayes(numeric="gaussian").fit(whole.drop(columns=TARGET), whole[TARGET])
    assert_allclose(model.class_count_, want.class_count_)
    assert_allclose(model.predict_proba(whole.drop(columns=TARGET)), want.predict_proba(whole.drop(columns=TARGET)))


@pytest.mark.parametrize("weight", [None, np.arange(150) % 3])
def test_rows_without_a_label_are_left_out_in_memory(weight):
    frame, whole = gaps_in(FRAME)
    X, rows = frame.drop(columns=TARGET), whole.drop(columns=TARGET)
    some = None if weight is None else weight[frame[TARGET].notna()]
    want = NaiveBayes().fit(rows, whole[TARGET], sample_weight=some)
    for y in (frame[TARGET], frame[TARGET].tolist(), frame[TARGET].to_numpy()):
        with pytest.warns(UserWarning, match="^30 rows have no label, and are left out$") as said:
            model = NaiveBayes().fit(X, y, sample_weight=weight)
        assert (len(said), said[0].filename) == (1, __file__)
        assert_array_equal(model.predict_proba(X), want.predict_proba(X))
        with pytest.warns(UserWarning, match="30 rows have no label"):
            assert model.score(X, y) == want.score(rows, whole[TARGET])
        with pytest.warns(UserWarning, match="30 rows have no label"):
            again = NaiveBayes().partial_fit(X, y, sample_weight=weight)
        assert_array_equal(again.predict_proba(X), want.predict_proba(X))


def test_numbers_as_labels_of_which_some_are_missing():
    X = np.arange(6.0)[:, None]
    for y in ([0, 1, None, 0, 1, 1], np.array([0, 1, np.nan, 0, 1, 1])):
        with pytest.warns(UserWarning, match="^1 row has no label, and is left out$"):
            model = GaussianNB().fit(X, y)
        assert model.classes_.tolist() == [0, 1]
        assert model.class_count_.tolist() == [2, 3]


def test_rows_without_a_label_in_text(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n" + "1,a\n2,?\n3,b\n4,\n" * 20)
    with pytest.warns(UserWarning, match="^40 rows have no label, and are left out$") as said:
        model = GaussianNB().fit(tmp_path / "t.csv", y="y")
    assert (len(said), said[0].filename) == (1, __file__)
    assert model.class_count_.tolist() == [20, 20]
