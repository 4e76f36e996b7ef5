"""Spark: what is cached and for how long, tasks that fail, and what is said of bad partitions and bad settings."""

from __future__ import annotations

import datetime
import gc
import os
import pickle
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from suffice import GaussianNB, NaiveBayes
from suffice.data import DataError, Spark
from suffice.data.spark import ROWS, Add, _row
from suffice.encoders import Numbers
from suffice.learners import Observed, RiskCalibration
from suffice.models import DiagonalGaussian
from suffice.testing import check_engine
from tests.data.engines import arrived, spark_frame, spark_session
from tests.data.test_dask import numbers
from tests.data.test_scale import TARGET, mixed

pytestmark = pytest.mark.spark


def made(parts):
    """An engine with these partitions, as rows and labels."""
    X, y = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(y=y)
    return Spark(spark_frame(frame, np.cumsum([len(part[1]) for part in parts])[:-1]), "y")


def cached():
    return spark_session().sparkContext._jsc.getPersistentRDDs().size()


def test_the_laws_of_engines():
    check_engine(made, arrived, counts=[2])


def test_answers_are_lazy_and_keep_keys():
    frame = numbers().assign(**{"the id.": np.arange(60) * 7, "day": datetime.date(2024, 1, 1)})
    frame = frame.rename(columns={"a": "a.b"})  # which Spark takes for a field of a column
    rows = spark_frame(frame)
    X = frame[["a.b", "b", "c"]]
    data = Spark(rows, TARGET, columns=list(X.columns), keys=["the id.", "day"])
    model = GaussianNB().fit(data)
    answer = model.predict_proba(data)
    assert answer.columns == ["the id.", "day", "p(0)", "p(1)", "p(2)"]
    assert answer.schema["day"].dataType.typeName() == "date"
    table = answer.toArrow()
    assert table["the id."].to_pylist() == frame["the id."].tolist()
    expected = GaussianNB().fit(X, frame[TARGET]).predict_proba(X)
    assert_allclose(np.column_stack([column.to_numpy() for column in table.columns[2:]]), expected, atol=1e-12)
    by_name = GaussianNB().fit(rows.drop("the id.", "day"), y=TARGET)
    assert_allclose(arrived(by_name.predict_proba(rows.drop("the id.", "day", TARGET))), expected, atol=1e-12)


def test_types_are_those_of_the_schema():
    """Whole numbers, truth values and decimals of which some partitions have none, and a column without values."""
    rng, n = np.random.default_rng(0), 40
    frame = pd.DataFrame(
        {
            "whole": pd.array(rng.integers(9, size=n), dtype="Int64"),
            "day": [datetime.date(2024, 1, 1) + datetime.timedelta(int(days)) for days in rng.integers(99, size=n)],
            "yes": pd.array(rng.integers(2, size=n).astype(bool), dtype="boolean"),
            "cost": [Decimal(int(cents)) / 100 for cents in rng.integers(999, size=n)],
            "kind": np.array(["u", "v", "w"], dtype=object)[rng.integers(3, size=n)],
        }
    )
    frame.loc[20:, ["whole", "yes", "cost", "kind"]] = None
    frame = frame.assign(**{TARGET: rng.integers(2, size=n), "w": rng.integers(3, size=n)})
    X = frame.drop(columns=[TARGET, "w"])
    expected = NaiveBayes().fit(X, frame[TARGET], sample_weight=frame["w"]).predict_proba(X)
    rows = spark_frame(frame, [20, 20])
    model = NaiveBayes().fit(rows, y=TARGET, sample_weight="w")
    assert_allclose(arrived(model.predict_proba(rows.drop(TARGET, "w"))), expected, atol=1e-10)


def flaky(batches):
    """The rows of a partition, but not when they are first asked for."""
    from pyspark import TaskContext

    if TaskContext.get().partitionId() == 1 and TaskContext.get().attemptNumber() == 0:
        raise RuntimeError("a task that fails once")
    yield from batches


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_task_that_fails_is_tried_again():
    frame = mixed(90)
    X = frame.drop(columns=TARGET)
    model = NaiveBayes(learner=RiskCalibration(0.1, max_iter=3, stop=None))
    expected = model.fit(X, frame[TARGET]).predict_proba(X)
    rows = spark_frame(frame, [30, 60])
    model.fit(Spark(rows.mapInArrow(flaky, rows.schema), TARGET))
    assert_allclose(model.predict_proba(X), expected, rtol=0, atol=1e-8)


def spoiled(batches):
    from pyspark import TaskContext

    if TaskContext.get().partitionId() == 1:
        raise ValueError("the disk is gone")
    yield from batches


def test_a_bad_partition_is_named(tmp_path):
    frame = numbers()
    infinite = frame.assign(b=np.where(np.arange(60) < 40, frame["b"], np.inf))
    broken = spark_frame(frame, [20, 40])
    frame.to_parquet(tmp_path / "whole.parquet")
    (tmp_path / "part.parquet").write_bytes((tmp_path / "whole.parquet").read_bytes()[:-100])
    for rows, message in [
        (spark_frame(infinite, [20, 40]), "^partition 2: .*infin"),
        (broken.mapInArrow(spoiled, broken.schema), "^a partition: ValueError: the disk is gone$"),
        (spark_session().read.schema(broken.schema).parquet(str(tmp_path)), r"^a partition: .*part\.parquet"),
    ]:
        model = GaussianNB()
        with pytest.raises(DataError, match=message) as caught:
            model.fit(Spark(rows, TARGET))
        assert "\n" not in str(caught.value)
        assert not hasattr(model, "statistics_")


def test_encoded_rows_are_cached_once_and_released():
    gc.collect()
    before, encoder = cached(), Numbers()
    kept = Spark(spark_frame(numbers()), TARGET).map(encoder).persist()
    assert kept.map(encoder).persist()._cache is kept._cache, "encoded rows are not kept twice"
    assert kept.count() == 60
    assert cached() == before + 1
    assert sorted(piece.count() for piece in kept.pieces(3, 0)) == [0, 20, 40]
    assert len(kept.pieces(7, 0)) == 9
    del kept
    gc.collect()
    assert cached() == before


def test_no_rows_have_the_sums_of_no_rows():
    rows = spark_frame(numbers()).filter("a > 1000")
    got = Spark(rows, TARGET).map(Numbers()).sum(Observed(DiagonalGaussian()))
    assert not any(np.any(leaf) for leaf in got.leaves())


class Numbered:
    """One row for each partition: its number."""

    def __call__(self, batches):
        for batch in batches:
            for row in batch.to_pylist():
                yield _row(row["id"], 1, row["id"])


def test_partial_sums_are_added_in_groups():
    """As on a cluster of many cores, where they are not added by one task."""
    frame = spark_session().range(0, 12, 1, 12).mapInArrow(Numbered(), ROWS)
    groups = frame.repartition(3, frame["part"] % 3).mapInArrow(Add(3), ROWS)
    assert sorted((row["part"], row["count"]) for row in groups.collect()) == [(0, 4), (1, 4), (2, 4)]
    (total,) = groups.repartition(1).mapInArrow(Add(1), ROWS).collect()
    assert (total["count"], pickle.loads(total["value"])) == (12, sum(range(12)))  # noqa: S301 - bytes of our own


def test_what_is_no_table_of_spark_is_refused():
    rows = spark_frame(numbers())
    for make, error, message in [
        (lambda: Spark(numbers(), TARGET), TypeError, "of pyspark 4 or later, got a DataFrame"),
        (lambda: Spark(rows, "y"), ValueError, r"no column \['y'\]"),
        (lambda: GaussianNB().fit(Spark(rows)), ValueError, "no labels to learn from: give target="),
        (lambda: GaussianNB().fit(rows, y=[1, 2]), TypeError, "y is the name of a column"),
    ]:
        with pytest.raises(error, match=message):
            make()
    remote = type("DataFrame", (), {"__module__": "pyspark.sql.connect.dataframe"})
    with pytest.raises(TypeError, match="Spark Connect cannot be learned from"):
        GaussianNB().fit(remote(), y=TARGET)


def test_executors_on_this_machine_run_this_python(monkeypatch):
    rows, context = spark_frame(numbers()), spark_session().sparkContext
    monkeypatch.delenv("PYSPARK_PYTHON")
    monkeypatch.setattr(context, "pythonExec", "python3")
    Spark(rows, TARGET)
    assert context.pythonExec == os.environ["PYSPARK_PYTHON"] == sys.executable
