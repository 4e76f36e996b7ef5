"""What DuckDB alone does: files with NaN, threads on one connection, and types of its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from suffice import CategoricalNB, GaussianNB, NaiveBayes
from suffice.data import SQL, DataError

duckdb = pytest.importorskip("duckdb")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def connection():
    with duckdb.connect() as found:
        yield found


@pytest.mark.parametrize("estimator", [GaussianNB(), NaiveBayes()], ids=["normal", "bins"])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_nan_of_a_parquet_file_is_missing(tmp_path, connection, estimator, dtype):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    frame = pd.DataFrame({"x": (rng.normal(size=40) + y).astype(dtype), "z": np.arange(40.0)})
    frame.loc[3, "x"], frame.loc[4, "z"] = np.nan, np.inf
    path = str(tmp_path / "rows.parquet")
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"x": frame["x"].to_numpy(), "z": frame["z"].to_numpy(), "y": y}), path)  # NaN stays NaN
    ours = estimator.fit(frame[["x"]], y)
    expected = ours.predict_proba(frame[["x"]])
    rows = connection.execute(ours.to_sql(path)).fetchall()
    assert_allclose(np.array([row[:-1] for row in rows], dtype=float), expected, atol=1e-9)
    connection.read_parquet(path).project("x, y").create_view("seen")
    theirs = estimator.fit(SQL(connection, "seen", target="y"))
    assert_allclose(theirs.predict_proba(frame[["x"]]), expected, atol=1e-9)
    with pytest.raises(DataError, match=r"\['z'\] contains infinity"):
        GaussianNB().fit(connection.read_parquet(path), "y")


def test_threads_share_a_connection(connection):
    y = np.arange(600) % 3
    frame = pd.DataFrame({"a": np.random.default_rng(0).normal(size=600) + y, "label": y})
    connection.register("frame", frame)  # which only this connection knows
    model = GaussianNB().fit(SQL(connection, "frame", target="label"))
    answers = model.predict(SQL(connection, "frame", columns=["a"]))

    def work(i):
        if i % 2:
            return len(answers.fetch()) == 600
        other = GaussianNB().fit(SQL(connection, "frame", target="label"))
        return np.array_equal(other.theta_, model.theta_)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(40)))


def test_relations_in_threads(connection):
    connection.execute("CREATE TABLE t AS SELECT range AS x, range % 2 AS y FROM range(400)")
    each = [SQL(one, target="y") for one in (connection.table("t"), connection.table("t").filter("x >= 200"))]
    with ThreadPoolExecutor(4) as pool:
        means = list(pool.map(lambda i: GaussianNB().fit(each[i % 2]).theta_.mean(), range(20)))
    assert_allclose(means, [199.5, 299.5] * 10)


def test_answers_for_a_relation_become_a_table(connection):
    connection.execute("CREATE TABLE t AS SELECT range AS x, range % 2 AS y FROM range(400)")
    model = GaussianNB().fit(connection.table("t"), y="y")
    made = model.predict(connection.table("t").project("x")).create("answers")
    assert made.count() == 400
    assert connection.execute("SELECT count(*) FROM answers").fetchall() == [(400,)]


def test_rows_that_somebody_else_is_reading_are_not_dropped(connection):
    connection.execute("CREATE TABLE t AS SELECT range AS x, range % 2 AS y FROM range(40)")
    connection.execute("SELECT x FROM t ORDER BY x")
    assert connection.fetchone() == (0,)
    with pytest.raises(DataError, match="unfinished result"):  # as DuckDB answers nobody else meanwhile
        GaussianNB().fit(SQL(connection, "t", target="y"))
    assert len(connection.fetchall()) == 38  # one was read to see whether there is any


# Types


def test_moments_in_nanoseconds_with_a_time_zone(tmp_path, connection):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    when = pd.date_range("2024-01-01", periods=60, freq="37h", tz="UTC")
    y = np.arange(60) // 30
    path = str(tmp_path / "rows.parquet")
    pq.write_table(pa.table({"when": pa.array(when, pa.timestamp("ns", "UTC")), "y": y}), path)
    frame = pd.DataFrame({"when": when.tz_localize(None)})
    data = SQL(connection.read_parquet(path), target="y")
    expected = NaiveBayes().fit(frame, y).predict_proba(frame)
    assert_allclose(np.asarray(NaiveBayes().fit(data).predict_proba(data)), expected, atol=1e-9)


def test_uuids_are_text(connection):
    frame = pd.DataFrame(
        {"id": [f"00000000-0000-0000-0000-00000000000{i % 3}" for i in range(12)], "y": np.arange(12) % 2}
    )
    connection.register("frame", frame)
    connection.execute("CREATE TABLE t AS SELECT id::UUID AS id, id::UUID AS key, y FROM frame")
    data = SQL(connection, "t", target="y", keys="key")
    ours = NaiveBayes().fit(frame[["id"]], frame["y"])
    theirs = NaiveBayes().fit(data)
    assert_allclose(theirs.predict_proba(frame[["id"]]), ours.predict_proba(frame[["id"]]), atol=1e-12)
    found = theirs.predict_proba(data).fetch()
    assert_allclose(np.array([row[1:] for row in found], dtype=float), ours.predict_proba(frame[["id"]]), atol=1e-9)
    assert [str(row[0]) for row in found] == frame["id"].tolist()
    assert not isinstance(found[0][0], str)  # a key stays what it is
    labelled = NaiveBayes().fit(SQL(connection, "t", target="id", columns=["y"]))
    assert labelled.classes_.tolist() == sorted(set(frame["id"]))


def test_times_of_day_are_refused(connection):
    connection.execute("CREATE TABLE t AS SELECT '12:00'::TIME AS at, range % 2 AS y FROM range(4)")
    for estimator in (CategoricalNB(), NaiveBayes()):
        with pytest.raises(TypeError, match="column 'at' holds times or spans of time"):
            estimator.fit(SQL(connection, "t", target="y"))
    with pytest.raises(DataError, match="table 't': column 'at' holds no labels"):
        NaiveBayes().fit(SQL(connection, "t", target="at"))


def test_large_whole_numbers_are_labels(connection):
    connection.execute("CREATE TABLE t AS SELECT range AS x, (range % 2 * (1::UBIGINT << 63)) AS y FROM range(20)")
    data = SQL(connection, "t", target="y")
    assert GaussianNB().fit(data).classes_.tolist() == [0, 2**63]
    assert {row[0] for row in GaussianNB().fit(data).predict(data).fetch()} <= {0, 2**63}


def test_a_result_that_was_read_to_its_last_row_is_in_nobodys_way(connection):
    connection.execute("CREATE TABLE t AS SELECT i + 0.5 AS x, i % 2 AS y FROM range(40) r(i)")
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (40,)
    assert GaussianNB().fit(SQL(connection, "t", target="y")).class_count_.tolist() == [20, 20]
