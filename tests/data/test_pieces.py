"""Groups of rows of files, each read and summed by one thread."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal

from suffice import GaussianNB
from suffice.data import DataError, Files
from suffice.data.base import rows_in
from suffice.data.files import cache
from suffice.data.files import listing as _files
from tests.data.test_parquet import FEATURES, FRAME, TABLE, X, in_memory, spread


@pytest.fixture
def unkept(monkeypatch):
    """Rows are read again in every pass, as many are."""
    monkeypatch.setattr(cache, "MAX_MEMORY", 0)


@pytest.mark.usefixtures("unkept")
@pytest.mark.parametrize("count", [1, 3, 12])
@pytest.mark.parametrize("size", [7, 64, 1000])
def test_groups_of_rows_add_up_to_all_rows(tmp_path, monkeypatch, count, size):
    monkeypatch.setattr(_files, "PIECE_ROWS", 40)
    folder = spread(tmp_path, count=count, write=lambda table, path: pq.write_table(table, path, row_group_size=size))
    data = Files(folder, "label", batch_rows=16)
    pieces = data.files.pieces
    assert list(dict.fromkeys(piece.path for piece in pieces)) == list(data.files.paths)
    for path in data.files.paths:
        groups = [group for piece in pieces if piece.path == path for group in piece.groups]
        assert groups == list(range(pq.ParquetFile(path).metadata.num_row_groups))
    together = GaussianNB().fit(data)
    assert_allclose(together.predict_proba(FRAME[FEATURES]), in_memory().predict_proba(FRAME[FEATURES]), rtol=1e-10)
    assert data.sum(rows_in) == len(X)


@pytest.mark.usefixtures("unkept")
def test_batches_of_some_classes_have_the_sums_of_all(tmp_path):
    frame = FRAME.sort_values("label").reset_index(drop=True)  # most files hold one class
    frame.loc[frame.index % 7 == 0, "b"] = np.nan
    folder = spread(tmp_path, pa.Table.from_pandas(frame, preserve_index=False), count=10)
    found = GaussianNB().fit(Files(folder, "label", batch_rows=9))
    assert_allclose(found.predict_proba(FRAME[FEATURES]), in_memory(frame).predict_proba(FRAME[FEATURES]), rtol=1e-10)


@pytest.mark.usefixtures("unkept")
def test_files_without_rows_among_many(tmp_path):
    spread(tmp_path, count=10)
    pq.write_table(TABLE.slice(0, 0), tmp_path / "part-00.parquet")
    found = GaussianNB().fit(Files(tmp_path, "label"))
    assert_allclose(found.predict_proba(FRAME[FEATURES]), in_memory().predict_proba(FRAME[FEATURES]), rtol=1e-10)


def test_groups_of_rows_are_shown_as_they_are_read(tmp_path, capsys):
    Files(spread(tmp_path, count=10), "label", verbose=1).sum(rows_in)
    assert "300" in capsys.readouterr().err


@pytest.mark.usefixtures("unkept")
def test_threads_and_batches_change_no_sum(tmp_path):
    folder = spread(tmp_path, count=10)
    with parallel_config(n_jobs=1):
        alone = GaussianNB().fit(Files(folder, "label", batch_rows=16))
    both = GaussianNB().fit(Files(folder, "label", batch_rows=16))
    assert_array_equal(alone.predict_proba(FRAME[FEATURES]), both.predict_proba(FRAME[FEATURES]))


def test_a_column_that_is_recorded_later_keeps_its_digits(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "MAX_MEMORY", 0)
    rng = np.random.default_rng(0)
    n = 5000
    label = rng.integers(2, size=n)
    late = np.where(np.arange(n) % (n // 10) < 400, np.nan, 1.7e9 + rng.normal(size=n) + 3 * label)
    frame = pd.DataFrame({"a": rng.normal(size=n), "late": late, "label": np.array(["no", "yes"])[label]})
    folder = spread(tmp_path, pa.Table.from_pandas(frame, preserve_index=False), count=10)
    found = GaussianNB(prior=None).fit(Files(folder, "label", batch_rows=100))
    values = [late[(label == c) & ~np.isnan(late)] - 1.7e9 for c in range(2)]
    assert_allclose(found.var_[:, 1], [own.var() for own in values], rtol=1e-9)


def test_an_interrupted_pass_does_not_wait_for_whole_groups(tmp_path):
    seen = []

    def f(batch):
        seen.append(len(batch.Y))
        if len(seen) > 3:
            raise ValueError("enough")
        return 0

    with pytest.raises(DataError, match="enough"):
        Files(spread(tmp_path, count=10), "label", batch_rows=1).sum(f)
    assert len(seen) < 20


def test_labels_that_are_lists_are_refused_by_name(tmp_path):
    pq.write_table(pa.table({"x": [1.0, 2.0], "y": [["a"], ["b"]]}), tmp_path / "rows.parquet")
    with pytest.raises(DataError, match=r"rows\.parquet: column 'y' holds List.*labels are single values"):
        GaussianNB().fit(Files(tmp_path, "y"))


def test_a_batch_of_more_rows_than_there_can_be(tmp_path):
    found = GaussianNB().fit(Files(spread(tmp_path, count=10), "label", batch_rows=2**70))
    assert_allclose(found.predict_proba(FRAME[FEATURES]), in_memory().predict_proba(FRAME[FEATURES]), rtol=1e-10)


def test_answers_of_a_file_that_has_changed_are_refused(tmp_path):
    data = Files(spread(tmp_path), "label")
    answers = GaussianNB().fit(data).predict_proba(data)
    pq.write_table(TABLE.slice(0, 3), tmp_path / "part-1.parquet")
    with pytest.raises(DataError, match=r"part-1\.parquet: the file has changed"):
        answers.to_table()
