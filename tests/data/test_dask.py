"""Dask: what comes back, what stays on the workers, and what is said of bad partitions and bad settings."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import time
from decimal import Decimal

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from suffice import GaussianNB, NaiveBayes
from suffice.data import Dask, DataError
from suffice.encoders import Numbers
from suffice.learners import Observed, RiskCalibration
from suffice.model_selection import cross_validate
from suffice.models import DiagonalGaussian
from suffice.testing import check_engine
from tests.data.engines import computed, dask_client, dask_frame
from tests.data.test_scale import TARGET, mixed


def numbers(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    return pd.DataFrame(rng.normal(size=(n, 3)) + y[:, None], columns=list("abc")).assign(**{TARGET: y})


def parted(parts, meta=None):
    """A data frame of these partitions, as they are."""
    lazy = [dask.delayed(part, traverse=False) for part in parts]
    return dd.from_delayed(lazy, meta=parts[0].iloc[:0] if meta is None else meta, verify_meta=False)


def frames(parts):
    tables = [pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(y=y) for X, y in parts]
    return Dask(parted(tables), target="y")


def arrays(parts):
    X, y = (da.concatenate([da.from_array(part[i], chunks=-1) for part in parts]) for i in (0, 1))
    return Dask(X, y)


@pytest.mark.parametrize(("make", "collect"), [(frames, computed), (arrays, np.asarray)], ids=["frames", "arrays"])
def test_the_laws_of_engines(make, collect):
    with dask.config.set(scheduler="synchronous"):
        check_engine(make, collect, counts=[3])


def test_answers_are_lazy_and_keep_keys_and_divisions():
    frame = numbers().assign(id=np.arange(60) * 7)
    rows = dd.from_pandas(frame, npartitions=4)
    model = GaussianNB().fit(Dask(rows, TARGET, keys="id"))
    answer = model.predict_proba(Dask(rows, TARGET, keys="id"))
    assert isinstance(answer, dd.DataFrame)
    assert answer.divisions == rows.divisions
    assert list(answer.columns) == ["id", "p(0)", "p(1)", "p(2)"]
    got = answer.compute()
    assert got.dtypes.to_dict() == answer.dtypes.to_dict()
    assert got["id"].tolist() == frame["id"].tolist()
    assert got.index.tolist() == frame.index.tolist()
    expected = GaussianNB().fit(frame[list("abc")], frame[TARGET]).predict_proba(frame[list("abc")])
    assert_allclose(got.to_numpy()[:, 1:], expected, atol=1e-12)


def test_tables_and_arrays_are_learned_from_by_name():
    frame = numbers().assign(w=np.arange(60) % 3)
    rows, X, y = dd.from_pandas(frame, npartitions=3), frame[list("abc")], frame[TARGET]
    expected = GaussianNB().fit(X, y, sample_weight=frame["w"]).predict_proba(X)
    model = GaussianNB().fit(rows, y=TARGET, sample_weight="w")
    assert_allclose(model.predict_proba(rows[list("abc")]).compute(), expected, atol=1e-12)
    blocks = da.from_array(X.to_numpy(), chunks=(25, 2))  # of columns, too
    by_array = [da.from_array(frame[name].to_numpy(), chunks=11) for name in (TARGET, "w")]
    for model in (GaussianNB().fit(Dask(blocks, *by_array)), GaussianNB().fit(blocks, *by_array)):
        answer, labels = model.predict_proba(blocks), model.predict(blocks)
        assert answer.chunks == ((25, 25, 10), (3,))
        assert_allclose(answer.compute(), expected, atol=1e-12)
        assert (labels.compute() == expected.argmax(axis=1)).all()


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of dask itself
def test_partitions_that_dask_joins_when_few_columns_are_read(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(240, 16)), columns=[f"x{j}" for j in range(16)])
    frame = frame.assign(w=rng.choice([0.5, 1.0, 2.0], 240), y=np.tile(["u", "v"], 120))
    for i in range(12):
        frame.iloc[20 * i : 20 * i + 20].to_parquet(tmp_path / f"part{i:02d}.parquet", index=False)
    rows = dd.read_parquet(tmp_path)
    found = GaussianNB().fit(Dask(rows, target="y", weight="w", columns=["x0", "x1"]))
    expected = GaussianNB().fit(frame[["x0", "x1"]], frame["y"], sample_weight=frame["w"])
    assert_allclose(found.predict_proba(frame[["x0", "x1"]]), expected.predict_proba(frame[["x0", "x1"]]), rtol=1e-10)
    assert len(found.predict(Dask(rows, columns=["x0", "x1"])).compute()) == 240


def test_types_may_differ_between_partitions_as_they_do_in_memory():
    """Whole numbers with and without missing ones, unknown categories, truth values, decimals, nothing at all."""
    first = pd.DataFrame(
        {
            "whole": [1, 2, 3, 4],
            "day": pd.to_datetime(["2024-01-01", "2024-02-01", "2024-03-01", "2024-04-01"]),
            "kind": pd.Categorical(["u", "v", "u", "v"]),
            "yes": [True, False, True, False],
            "cost": [Decimal("1.5"), Decimal("2.5"), Decimal("1.0"), Decimal("3.0")],
            "often": [0.5, 0.25, 1.0, 2.0],
            TARGET: ["a", "b", "a", "b"],
        }
    )
    second = pd.DataFrame(
        {
            "whole": [1.0, np.nan, 5.0, 2.0],
            "day": pd.to_datetime(["2024-01-05", None, "2024-03-07", "2024-04-02"]),
            "kind": pd.Categorical(["w", None, "u", "w"]),
            "yes": np.array([True, None, False, None], dtype=object),
            "cost": [None, Decimal("2.0"), None, Decimal("3.5")],
            "often": np.array([None] * 4, dtype=object),
            TARGET: ["b", "a", "a", "b"],
        }
    )
    whole = pd.concat([first.astype({"kind": object}), second.astype({"kind": object})], ignore_index=True)
    X = whole.drop(columns=TARGET)
    with dask.config.set({"dataframe.convert-string": False}):  # else dask makes text of truth values and decimals
        rows = parted([first, second, first.iloc[:0]])
    expected = NaiveBayes().fit(X, whole[TARGET]).predict_proba(X)
    model = NaiveBayes().fit(rows, y=TARGET)
    assert_allclose(model.predict_proba(rows.drop(columns=TARGET)).compute(), expected, atol=1e-10)


BAD = {
    "text": (lambda part: part.assign(b="x"), "column 'b' holds text here, but numbers by the types"),
    "column": (lambda part: part.drop(columns="b"), r"there is no column \['b'\]"),
    "infinite": (lambda part: part.assign(b=np.inf), "infin"),
}


@pytest.mark.parametrize(("spoil", "message"), BAD.values(), ids=BAD.keys())
@pytest.mark.parametrize("client", [False, True], ids=["threads", "client"])
def test_a_bad_partition_is_named(spoil, message, client):
    frame = numbers()
    rows = parted([frame[:20], frame[20:40], spoil(frame[40:])])
    model = GaussianNB()
    with pytest.raises(DataError, match=rf"^partition 2: .*{message}") as caught:
        model.fit(Dask(rows, TARGET, client=dask_client() if client else None))
    assert caught.value.__cause__ is None
    assert not hasattr(model, "statistics_")


@dask.delayed(pure=False)
def unreadable():
    raise OSError("the disk is gone")


def test_a_partition_that_dask_cannot_read_is_named():
    frame = numbers()
    parts = [dask.delayed(frame[:30], traverse=False), unreadable()]
    rows = dd.from_delayed(parts, meta=frame.iloc[:0], verify_meta=False)
    with pytest.raises(DataError, match=r"^partition 1: OSError: the disk is gone$"):
        GaussianNB().fit(Dask(rows, TARGET, client=dask_client()))


def test_a_bad_partition_is_named_when_predicting():
    frame = numbers()
    X = frame[list("abc")]
    model = GaussianNB().fit(X, frame[TARGET])
    with pytest.raises(DataError, match=r"^partition 1: column 'b' holds text here"):
        model.predict(parted([X[:30], X[30:].assign(b="x")])).compute()


class Killing(Dask):
    """A worker is killed before a pass in the middle."""

    passes, victim = 0, None

    def sum(self, f):
        Killing.passes += 1
        if Killing.passes == 6:
            os.kill(Killing.victim, signal.SIGKILL)
        return super().sum(f)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_survives_the_death_of_a_worker():
    frame, client = mixed(400), dask_client()
    X, y = frame.drop(columns=TARGET), frame[TARGET]
    model = NaiveBayes(learner=RiskCalibration(0.1, max_iter=8, stop=None))
    expected = model.fit(X, y).predict_proba(X)
    Killing.passes, Killing.victim = 0, next(iter(client.run(os.getpid).values()))
    learned = model.fit(Killing(dask_frame(frame, [100, 200, 300]), TARGET, client=client))
    assert Killing.passes > 6
    assert_allclose(learned.predict_proba(X), expected, rtol=0, atol=1e-8)
    client.wait_for_workers(2, timeout=60)
    assert Killing.victim not in client.run(os.getpid).values()


def tasks(client):
    found = client.run_on_scheduler(lambda dask_scheduler: [str(key) for key in dask_scheduler.tasks])
    return {key for key in found if key.startswith("suffice")}


def test_encoded_partitions_stay_on_the_workers_until_they_are_not_needed():
    client, encoder = dask_client(), Numbers()
    before = tasks(client)
    kept = Dask(dask_frame(numbers()), TARGET, client=client).map(encoder).persist()
    assert kept.map(encoder).persist()._cache is kept._cache, "encoded rows are not kept twice"
    kept.sum(Observed(DiagonalGaussian()))
    assert sum(key.startswith("suffice_keep") for key in tasks(client) - before) == 3
    del kept
    gc.collect()
    end = time.monotonic() + 20
    while tasks(client) - before and time.monotonic() < end:
        time.sleep(0.05)
    assert not tasks(client) - before


def test_what_comes_back_does_not_grow_with_the_rows(monkeypatch):
    client, sizes = dask_client(), []
    gather = type(client)._gather

    async def measured(self, futures, *args, **kwargs):
        got = await gather(self, futures, *args, **kwargs)
        sizes.append(len(pickle.dumps(got)))
        return got

    monkeypatch.setattr(type(client), "_gather", measured)
    most = []
    for n in (90, 2700):
        GaussianNB(learner=RiskCalibration(0.1, max_iter=3, stop=None)).fit(
            Dask(dask_frame(numbers(n), [n // 4, n // 2]), TARGET, client=client)
        )
        most.append(max(sizes))
        sizes.clear()
    assert abs(most[1] - most[0]) < 64
    assert most[1] < 8 * 2700


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_pieces_are_partitions_or_parts_of_them():
    frame = numbers()
    data = Dask(dask_frame(frame, [10, 25, 40]), TARGET).map(Numbers())
    with dask.config.set(scheduler="synchronous"):
        assert sorted(piece.count() for piece in data.pieces(4, 0)) == [10, 15, 15, 20]
        assert len(data.pieces(2, 0)) == 2
        assert sum(piece.count() for piece in data.pieces(9, 0)) == 60
        learner = RiskCalibration(batch_size=20, max_iter=3, random_state=0)
        assert GaussianNB(learner=learner).fit(data).score(frame[list("abc")], frame[TARGET]) > 0.6


def test_partitions_are_counted_where_that_is_wanted(capsys):
    for client in (None, dask_client()):
        with dask.config.set(scheduler="synchronous"):
            assert Dask(dask_frame(numbers()), TARGET, client=client, verbose=1).count() == 60
        assert "partitions" in capsys.readouterr().err


def test_what_needs_rows_in_memory_says_so():
    rows = dask_frame(numbers())
    honest = GaussianNB(learner=RiskCalibration(0.1, out_of_sample=True))
    with dask.config.set(scheduler="synchronous"):
        model = GaussianNB().fit(rows, y=TARGET)
        for ask in (
            lambda: honest.fit(rows, y=TARGET),
            lambda: model.loo_log_proba(rows, TARGET),
            lambda: cross_validate(GaussianNB(), rows, TARGET),
        ):
            with pytest.raises(TypeError, match="rows in memory"):
                ask()


def test_what_is_no_table_of_dask_is_refused():
    rows, X = dask_frame(numbers()), da.zeros((4, 2), chunks=2)
    for make, error, message in [
        (lambda: Dask(rows["a"]), TypeError, "a dask data frame or a dask array, got a Series"),
        (lambda: Dask(X, "label"), TypeError, "target is a dask array, got a str"),
        (lambda: Dask(X, keys="id"), TypeError, "the rows are an array"),
        (lambda: Dask(X, da.zeros(3)), ValueError, "there are 4 rows, but 3"),
        (lambda: Dask(X[:, 0]), ValueError, r"an array \(n, d\)"),
        (lambda: Dask(rows, "y"), ValueError, r"no column \['y'\]"),
        (lambda: GaussianNB().fit(Dask(rows)), ValueError, "no labels to learn from: give target="),
        (lambda: GaussianNB().fit(Dask(X)), ValueError, "no labels to learn from: give target="),
        (lambda: GaussianNB().fit(rows, y=[1, 2]), TypeError, "y is the name of a column"),
        (lambda: GaussianNB().fit(rows, y=rows["a"]), TypeError, "y is the name of a column, got a Series"),
    ]:
        with pytest.raises(error, match=message):
            make()
