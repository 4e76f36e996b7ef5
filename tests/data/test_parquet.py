"""Rows in files: read some at a time, in any format and number of files, as rows in memory are."""

from __future__ import annotations

import datetime
import decimal
import operator
from functools import reduce
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.dataset as ds
import pyarrow.feather as feather
import pyarrow.fs as fs
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from suffice import AdditiveTables, GaussianNB, NaiveBayes
from suffice.data import DataError, Files, Memory
from suffice.data.base import rows_in
from suffice.data.files import cache
from suffice.learners import RiskCalibration
from suffice.testing import check_engine
from tests.data.test_scale import TARGET, mixed

RNG = np.random.default_rng(0)
Y = RNG.integers(2, size=300)
X = RNG.normal(size=(300, 3)) + Y[:, None]
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(label=np.array(["no", "yes"])[Y])
TABLE = pa.Table.from_pandas(FRAME, preserve_index=False)
FEATURES = ["a", "b", "c"]


def spread(folder, table=TABLE, count=4, write=pq.write_table, suffix="parquet"):
    folder = Path(folder)
    folder.mkdir(exist_ok=True)
    size = -(-len(table) // count)
    for i in range(count):
        write(table.slice(i * size, size), folder / f"part-{i}.{suffix}")
    return folder


def in_memory(table=FRAME, estimator=None):
    return (estimator or GaussianNB()).fit(table.drop(columns="label"), table["label"])


# Laws


def test_files_keep_the_laws_of_an_engine(tmp_path):
    made = iter(range(10_000))

    def make(parts):
        folder = tmp_path / str(next(made))
        folder.mkdir()
        for i, (rows, labels) in enumerate(parts):
            columns = {f"x{j}": column for j, column in enumerate(np.asarray(rows).T)}
            pq.write_table(pa.table({**columns, "y": np.asarray(labels)}), folder / f"{i:03d}.parquet")
        return Files(folder, "y", batch_rows=16)

    check_engine(make, counts=[3])


@pytest.mark.parametrize("rows", [1, 7, 64, 1000])
def test_the_size_of_batches_does_not_matter(tmp_path, rows):
    folder = spread(tmp_path / "rows")
    for estimator in (GaussianNB(), NaiveBayes(learner=RiskCalibration(0.1, max_iter=4, stop=None))):
        expected = in_memory(estimator=estimator).predict_proba(FRAME[FEATURES])
        data = Files(folder, "label", batch_rows=rows)
        assert_allclose(np.asarray(estimator.fit(data).predict_proba(data)), expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("estimator", [AdditiveTables(), NaiveBayes(missing="indicator")])
def test_what_samples_rows_learns_the_same(tmp_path, estimator):
    frame = mixed(240, seed=1)
    folder = spread(tmp_path / "rows", pa.Table.from_pandas(frame, preserve_index=False))
    rows = frame.drop(columns=TARGET)
    expected = estimator.fit(rows, frame[TARGET]).predict_proba(rows)
    answer = estimator.fit(str(folder), y=TARGET).predict_proba(Files(folder, TARGET))
    assert_allclose(np.asarray(answer), expected, rtol=0, atol=1e-8)


# Paths


def test_paths_patterns_folders_and_lists(tmp_path):
    folder = spread(tmp_path / "rows")
    (folder / "deep").mkdir()
    pq.write_table(TABLE.slice(0, 10), folder / "deep" / "more.parquet")
    pq.write_table(TABLE, folder / "_hidden.parquet")
    (folder / "README").write_text("no rows")
    first = folder / "part-0.parquet"
    for given, count in [
        (folder, 310),
        (str(folder / "*.parquet"), 300),
        (str(folder / "**" / "*.parquet"), 310),
        (folder / "part-[01].parquet", 150),
        (first, 75),
        ([first, str(folder / "deep")], 85),
    ]:
        assert Files(given, "label").count() == count, given


def test_a_path_is_enough(tmp_path):
    folder = spread(tmp_path / "rows")
    model = GaussianNB().fit(str(folder / "*.parquet"), y="label")
    expected = in_memory()
    spread(tmp_path / "new", TABLE.drop_columns("label"))
    assert_array_equal(np.asarray(model.predict(str(tmp_path / "new"))), expected.predict(FRAME[FEATURES]))
    assert model.feature_names_in_.tolist() == FEATURES
    other = TABLE.select(TABLE.column_names[::-1]).append_column("more", pa.array(["?"] * len(TABLE)))
    spread(tmp_path / "more", other)
    assert_array_equal(np.asarray(model.predict(tmp_path / "more")), expected.predict(FRAME[FEATURES]))
    spread(tmp_path / "less", TABLE.drop_columns(FEATURES[0]))
    with pytest.raises(DataError, match=f"there is no column .'{FEATURES[0]}'."):
        np.asarray(model.predict(tmp_path / "less"))


def test_rows_keep_their_order_and_lists_theirs(tmp_path):
    folder = spread(tmp_path / "rows", pa.table({"x": np.arange(100.0)}))
    files = [folder / f"part-{i}.parquet" for i in (2, 0)]
    answer = Files(files, batch_rows=7).transform(np.asarray)
    assert_array_equal(np.asarray(answer).ravel(), [*range(50, 75), *range(25)])


def test_any_filesystem_of_pyarrow(tmp_path):
    folder = spread(tmp_path / "rows")
    inside = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    assert Files("rows/*.parquet", "label", filesystem=inside).count() == 300
    assert Files(folder.as_uri(), "label").count() == 300
    with pytest.raises(TypeError, match=r"one of pyarrow\.fs"):
        Files("rows", filesystem="s3")


# Formats


@pytest.mark.parametrize(
    ("suffix", "write"),
    [
        ("csv", csv.write_csv),
        ("tsv", lambda table, path: csv.write_csv(table, path, csv.WriteOptions(delimiter="\t"))),
        ("csv.gz", lambda table, path: csv.write_csv(table, pa.CompressedOutputStream(str(path), "gzip"))),
        ("feather", lambda table, path: feather.write_feather(table, str(path))),
        ("arrow", lambda table, path: feather.write_feather(table, str(path), compression="uncompressed")),
    ],
)
def test_text_and_arrow_files(tmp_path, suffix, write):
    folder = spread(tmp_path / "rows", write=write, suffix=suffix)
    data = Files(folder, "label", batch_rows=50)
    expected = in_memory().predict_proba(FRAME[FEATURES])
    assert_allclose(np.asarray(GaussianNB().fit(data).predict_proba(data)), expected, rtol=0, atol=1e-10)


def test_csv_with_quotes_and_missing_values(tmp_path):
    text = 'id,x,word,y\n1,0.5,"a, b",no\n2,,"say ""hi""",yes\n3,2.5,,no\n4,1.0,NA,yes\n'
    (tmp_path / "a.csv").write_text(text)
    (tmp_path / "b.csv").write_text("id,x,word,y\n5,,,no\n")  # nothing but missing values
    data = Files(tmp_path, "y", keys="id")
    first = pa.concat_tables(data.sum(_tables)).to_pydict()
    assert first["x"] == [0.5, None, 2.5, 1.0, None]
    assert first["word"] == ["a, b", 'say "hi"', None, None, None]
    model = NaiveBayes().fit(data)
    assert model.predict(data).to_table()["id"].to_pylist() == [1, 2, 3, 4, 5]


class Tables(list):
    """Tables that add up to a longer one."""

    def __add__(self, other):
        return Tables([*self, *other])


def _tables(batch):
    return Tables([batch.X])


def test_a_format_that_the_name_does_not_tell(tmp_path):
    csv.write_csv(TABLE, tmp_path / "rows.txt")
    assert Files(tmp_path / "rows.txt", "label", format="csv").count() == 300
    semicolons = csv.ParseOptions(delimiter=";")
    csv.write_csv(TABLE, tmp_path / "semi.csv", csv.WriteOptions(delimiter=";"))
    assert Files(tmp_path / "semi.csv", "label", format=ds.CsvFileFormat(semicolons)).count() == 300
    for name in ("rows.txt", "rows.dat", "rows"):
        csv.write_csv(TABLE, tmp_path / name)
        assert Files(tmp_path / name, "label").count() == 300
    pq.write_table(TABLE, tmp_path / "rows")
    assert Files(tmp_path / "rows", "label").count() == 300
    with pytest.raises(ValueError, match="format must be one of parquet"):
        Files(tmp_path / "rows.txt", format="excel")
    pq.write_table(TABLE, tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match="several formats"):
        Files([tmp_path / "rows.parquet", tmp_path / "semi.csv"])


# Types


def kinds(n=120, seed=2):
    """A table of all types that a column may have, with missing entries."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    day = datetime.date(2024, 1, 1)
    columns = {
        "day": pa.array([day + datetime.timedelta(days=int(v)) for v in rng.integers(60, size=n) + 40 * y]),
        "yes": pa.array(rng.random(n) < 0.3 + 0.4 * y),
        "word": pa.array(np.array(["u", "v", "w"])[(y + rng.integers(2, size=n)) % 3]).dictionary_encode(),
        "price": pa.array([decimal.Decimal(int(v)) / 100 for v in rng.integers(500, size=n) + 200 * y]),
        "small": pa.array(rng.poisson(2 + y).astype(np.int8)),
        "single": pa.array(rng.normal(size=n).astype(np.float32) + y.astype(np.float32)),
        "when": pa.array(np.datetime64("2024-01-01") + rng.integers(10**6, size=n).astype("m8[s]")),
    }
    holed = {name: pc_holes(column, rng.random(n) < 0.1) for name, column in columns.items()}
    return pa.table({**holed, "label": pa.array(y)})


def pc_holes(column, gone):
    return pa.array([None if lost else v for v, lost in zip(column.to_pylist(), gone, strict=True)], column.type)


def test_dates_booleans_categories_decimals_and_whole_numbers_with_nulls(tmp_path):
    table = kinds()
    folder = spread(tmp_path / "rows", table, count=3)
    rows = table.drop_columns("label")
    estimator = NaiveBayes(learner=RiskCalibration(0.1, max_iter=3, stop=None))
    expected = estimator.fit(rows, table["label"].to_numpy()).predict_proba(rows)
    data = Files(folder, "label", batch_rows=32)
    assert_allclose(np.asarray(estimator.fit(data).predict_proba(data)), expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (pa.array([1, 2], pa.int32()), pa.array([1.5, 2.5])),
        (pa.array([1, 2], pa.int8()), pa.array([3, 2**40])),
        (pa.nulls(2), pa.array(["u", "v"])),
        (pa.array(["u", "v"]).dictionary_encode(), pa.array(["u", "w"])),
        (pa.array([1.0, 2.0], pa.float32()), pa.array([1.5, 2.5])),
    ],
)
def test_files_may_write_a_column_in_different_ways_that_agree(tmp_path, first, second):
    for order in ((first, second), (second, first)):
        for i, column in enumerate(order):
            pq.write_table(pa.table({"x": column, "y": [0, 1]}), tmp_path / f"{i}.parquet")
        got = pa.concat_tables(Files(tmp_path, "y").sum(_tables))["x"].to_pylist()
        assert got == [v for column in order for v in column.to_pylist()]


# Weights, keys, columns


def test_weights_count_as_rows_do(tmp_path):
    weight = RNG.integers(0, 3, size=300)
    folder = spread(tmp_path / "rows", TABLE.append_column("w", pa.array(weight)))
    data = Files(folder, "label", weight="w", batch_rows=50)
    expected = GaussianNB().fit(FRAME[FEATURES], FRAME["label"], sample_weight=weight)
    assert_allclose(GaussianNB().fit(data).predict_proba(FRAME[FEATURES]), expected.predict_proba(FRAME[FEATURES]))
    by_name = GaussianNB().fit(str(folder), y="label", sample_weight="w")
    assert_allclose(by_name.predict_proba(FRAME[FEATURES]), expected.predict_proba(FRAME[FEATURES]))


def test_keys_come_back_in_front(tmp_path):
    keyed = TABLE.add_column(1, "id", pa.array(np.arange(300)[::-1]))
    folder = spread(tmp_path / "rows", keyed)
    data = Files(folder, "label", keys="id")
    model = GaussianNB().fit(data)
    answer = model.predict_proba(data)
    assert answer.column_names == ["id", "p(no)", "p(yes)"]
    table = answer.to_pandas()
    assert_array_equal(table["id"], np.arange(300)[::-1])
    assert_allclose(table[["p(no)", "p(yes)"]], np.asarray(answer))
    assert_allclose(np.asarray(answer), in_memory().predict_proba(FRAME[FEATURES]))
    assert sum(len(batch) for batch in answer.batches()) == 300


def test_only_the_columns_that_are_needed_are_read(tmp_path, monkeypatch):
    folder = spread(tmp_path / "rows")
    asked = []
    own = pq.ParquetFile.iter_batches

    def watched(self, *args, columns=None, **kwargs):
        asked.append(columns)
        return own(self, *args, columns=columns, **kwargs)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", watched)
    data = Files(folder, "label", columns=["c", "a"])
    GaussianNB().fit(data).predict(data).to_table()
    assert set(map(tuple, asked)) == {("c", "a", "label"), ("c", "a")}


# What is kept


@pytest.mark.parametrize(("memory", "disk"), [(1 << 26, 1 << 30), (300, 1 << 30), (0, 100), (0, 0)])
def test_what_is_kept_changes_no_answer(tmp_path, monkeypatch, memory, disk):
    monkeypatch.setattr(cache, "MAX_MEMORY", memory)
    monkeypatch.setattr(cache.PrecomputedRows, "disk", disk)
    table = kinds(seed=3)
    folder = spread(tmp_path / "rows", table)
    rows = table.drop_columns("label")
    estimator = NaiveBayes(learner=RiskCalibration(0.1, max_iter=3, stop=None, validation_fraction=None))
    expected = estimator.fit(rows, table["label"].to_numpy()).predict_proba(rows)
    data = Files(folder, "label", batch_rows=20)
    assert_allclose(np.asarray(estimator.fit(data).predict_proba(data)), expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("memory", [500, 1100, 5000])
def test_what_is_beyond_memory_goes_to_disk(tmp_path, monkeypatch, memory):
    monkeypatch.setattr(cache, "MAX_MEMORY", memory)
    monkeypatch.setattr(cache, "CATEGORY_BYTES", 0)
    folder = spread(tmp_path / "rows")
    model = NaiveBayes().fit(str(folder), y="label")._fit_result().model
    data = Files(folder, "label", batch_rows=20).map(model.encoder)
    kept = data.precomputed(model.precompute)
    assert isinstance(kept, cache.PrecomputedRows)
    assert kept.store.in_memory <= memory
    assert (kept.store.written > 0) == (memory < 300 * 4), "three cells and a label a row"
    assert kept.count() == kept.sum(rows_in) == 300


def test_rows_that_are_many_stay_in_their_files(tmp_path, monkeypatch):
    folder = spread(tmp_path / "rows")
    encoder = GaussianNB()._model().encoder
    data = Files(folder, "label").map(encoder)
    assert isinstance(data.persist(), cache.CachedRows)
    monkeypatch.setattr(cache, "MAX_MEMORY", 1000)
    lazy = data.persist()
    assert not isinstance(lazy, cache.CachedRows)
    assert lazy.sum(rows_in) == 300
    parts = [part.sum(rows_in) for part in lazy.split([0.5, 0.5], 1)]
    assert reduce(operator.add, parts) == 300
    memory = Memory(FRAME[FEATURES], FRAME["label"]).map(encoder)
    assert lazy.sample(0.5).sum(rows_in) == len(memory.sample(0.5).X), "the same rows are drawn as in memory"


def test_rows_are_counted_and_known_without_reading_them(tmp_path):
    folder = spread(tmp_path / "rows")
    data = Files(folder, "label")
    assert data.count() == data.map(np.asarray).count() == data.sum(rows_in) == 300
    known = data.fingerprint()
    assert known == Files(folder, "label").fingerprint()
    assert known != Files(folder, "label", columns=["a"]).fingerprint()
    pq.write_table(TABLE.slice(0, 9), folder / "part-1.parquet")
    assert known != data.fingerprint()


def test_a_pass_shows_its_rows(tmp_path, capsys):
    Files(spread(tmp_path / "rows"), "label", verbose=1).sum(rows_in)
    assert "300" in capsys.readouterr().err
