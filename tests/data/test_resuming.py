"""A fit that is killed where the rows are elsewhere goes on, and rows that are others are refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from suffice import CheckpointError, NaiveBayes
from suffice._core.labels import OneHot
from suffice.data import SQL, Batch
from suffice.data.fingerprint import row_digests
from suffice.learners import RiskCalibration
from tests.data.engines import every_engine
from tests.data.test_scale import CLUSTERS, TARGET, mixed

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
FRAME = mixed()
MODEL = NaiveBayes(learner=RiskCalibration(0.1, max_iter=3, stop=None))


def goes_on(make, frame, folder, monkeypatch):
    """`make(frame)` is a data set; a warning is an error, as everywhere in these tests."""
    X, data = frame.drop(columns=TARGET), make(frame)
    whole = MODEL.fit(data).predict_proba(X)
    kind, left = type(data), [4]
    read = kind.sum

    def mortal(self, f):
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        return read(self, f)

    with monkeypatch.context() as patch:
        patch.setattr(kind, "sum", mortal)
        with pytest.raises(KeyboardInterrupt):
            MODEL.fit(make(frame), checkpoint=folder)
    before = {path.name: path.stat().st_mtime_ns for path in folder.glob("*.answer")}
    assert before
    assert_allclose(MODEL.fit(make(frame), checkpoint=folder).predict_proba(X), whole, rtol=0, atol=1e-10)
    assert {path.name: path.stat().st_mtime_ns for path in folder.glob("*.answer")}.items() > before.items()
    for other, said in [
        (frame.assign(age=frame["age"].where(np.arange(90) != 7, 41.25)), "values was .* and is"),
        (frame.assign(colour=frame["colour"].where(np.arange(90) != 7, "pink")), "values was .* and is"),
        (frame[:-1], "rows was 90 and is 89"),
    ]:
        with pytest.raises(CheckpointError, match=f"is of other rows: {said}"):
            MODEL.fit(make(other), checkpoint=folder)


@every_engine(lambda name: name in CLUSTERS)
def test_a_cluster_goes_on_where_it_was(engine, tmp_path, monkeypatch):
    goes_on(lambda frame: engine(frame, TARGET)[0], FRAME, tmp_path, monkeypatch)


def test_a_database_goes_on_where_it_was(db, tmp_path, monkeypatch):
    def make(frame):
        db.load(frame, "t")
        return SQL(db.connection, "t", target=TARGET)

    frame = FRAME[["age", "since", "colour", TARGET]]
    goes_on(make, frame, tmp_path, monkeypatch)
    make(frame)
    with pytest.raises(CheckpointError, match=r"is of other rows: layout was .*, values was"):
        MODEL.fit(SQL(db.connection, "t", target=TARGET, columns=["age", "colour"]), checkpoint=tmp_path)


def labels(n):
    return OneHot.of(np.array(["u", "v"])[np.arange(n) % 2], np.arange(1.0, n + 1))


KINDS = {
    "pandas": (["age", "colour"], lambda X: X),
    "arrow": (["age", "colour"], lambda X: pa.Table.from_pandas(X, preserve_index=False)),
    "numbers": (["age"], lambda X: X[["age"]].fillna(0.0).to_numpy()),
    "words": (["colour"], lambda X: X[["colour"]].fillna("").to_numpy().astype(str)),
    "sparse": (["age"], lambda X: csr_array(X[["age"]].fillna(0.0).to_numpy())),
}


@pytest.mark.parametrize(("columns", "kind"), KINDS.values(), ids=KINDS)
def test_digests_of_rows_add_up_in_any_order(columns, kind):
    X, Y = FRAME.drop(columns=TARGET), labels(90)
    whole = row_digests(Batch(kind(X), Y))
    assert whole[0] == 90
    rows = np.random.default_rng(0).permutation(90)
    cut = [row_digests(Batch(kind(X.iloc[part]), Y[part])) for part in (rows[:20], rows[:0], rows[20:])]
    assert_array_equal(sum(cut[1:], cut[0]), whole)
    for column in columns:
        turned = X.assign(**{column: X[column].to_numpy()[::-1]})
        assert (row_digests(Batch(kind(turned), Y)) != whole).any()
    for other in (OneHot(Y.classes, Y.codes[::-1], Y.weight), OneHot(Y.classes, Y.codes, Y.weight[::-1])):
        assert (row_digests(Batch(kind(X), other)) != whole).any()


def test_digests_know_the_names_of_columns():
    X, Y = pd.DataFrame({"a": [1.0, 2.0]}), labels(2)
    assert (row_digests(Batch(X, Y)) != row_digests(Batch(X.set_axis(["b"], axis=1), Y))).any()
