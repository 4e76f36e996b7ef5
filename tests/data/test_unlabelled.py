"""Rows without labels, wherever they are: sums that need none, as those of the shares of the classes."""

from __future__ import annotations

import sqlite3

import numpy as np
import pytest
from dask import array, config
from numpy.testing import assert_allclose

from suffice import GaussianNB, NaiveBayes
from suffice.data import SQL, Dask
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
