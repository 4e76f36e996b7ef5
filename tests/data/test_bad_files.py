"""Files that cannot be learned from are named, and predictions are written whole or not at all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.fs as fs
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose

from suffice import GaussianNB
from suffice.data import DataError, Files
from suffice.data.base import rows_in
from tests.data.test_parquet import FEATURES, FRAME, TABLE, in_memory, spread

BAD = "part-1.parquet"  # the file with something wrong


def renamed(table):
    return table.rename_columns(["a", "b", "d", "label"])


def replaced(name, values):
    return lambda table: table.set_column(table.column_names.index(name), name, values(len(table)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (renamed, "there is no column 'c', which other files have"),
        (lambda table: table.append_column("more", pa.nulls(len(table))), "a column 'more', which .*part-0.* does not"),
        (replaced("b", lambda n: pa.array(["x"] * n)), "column 'b' holds string here and double in the files before"),
        (replaced("label", lambda n: pa.array([1] * n)), "column 'label' holds int64 here and .*string in the files"),
    ],
    ids=["lost column", "further column", "other type", "other labels"],
)
def test_a_file_that_is_unlike_the_others_is_named(tmp_path, change, message):
    folder = spread(tmp_path / "rows")
    pq.write_table(change(pq.read_table(folder / BAD)), folder / BAD)
    with pytest.raises(DataError, match=f"{BAD}: .*{message}"):
        GaussianNB().fit(Files(folder, "label"))


@pytest.mark.parametrize("keep", [0, 4, 0.5, 0.9, -20])
def test_a_truncated_file_is_named(tmp_path, keep):
    folder = spread(tmp_path / "rows")
    whole = (folder / BAD).read_bytes()
    (folder / BAD).write_bytes(whole[: int(keep * len(whole)) if isinstance(keep, float) else keep])
    with pytest.raises(DataError, match=BAD):
        GaussianNB().fit(Files(folder, "label"))


def test_damaged_pages_are_named(tmp_path):
    folder = spread(tmp_path / "rows")
    whole = bytearray((folder / BAD).read_bytes())
    whole[4:200] = bytes(196)  # the footer is as it was
    (folder / BAD).write_bytes(whole)
    model = in_memory()
    with pytest.raises(DataError, match=BAD):
        GaussianNB().fit(Files(folder, "label"))
    with pytest.raises(DataError, match=BAD):
        model.predict(Files(folder, columns=FEATURES)).write(tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["rows"], "nothing is written, and nothing is left behind"


@pytest.mark.parametrize("count", [2, 10])
def test_a_file_that_changes_between_two_passes_is_named(tmp_path, count):
    data = Files(spread(tmp_path, count=count), "label")
    data.sum(rows_in)
    pq.write_table(TABLE.slice(0, 3), tmp_path / "part-1.parquet")
    with pytest.raises(DataError, match=r"part-1\.parquet: the file has changed"):
        data.sum(rows_in)
    assert Files(tmp_path, "label").sum(rows_in) > 0
    (tmp_path / "part-0.parquet").unlink()
    with pytest.raises(DataError, match=r"part-0\.parquet: the file has changed, or is gone"):
        GaussianNB().fit(data)


@pytest.mark.parametrize("keep", [0.3, 0.9])
def test_a_truncated_file_among_many_is_named(tmp_path, keep):
    folder = spread(tmp_path, count=10)
    path = folder / "part-7.parquet"
    path.write_bytes(path.read_bytes()[: int(keep * path.stat().st_size)])
    with pytest.raises(DataError, match=r"part-7\.parquet"):
        GaussianNB().fit(Files(folder, "label"))


def test_text_that_is_no_table_is_named(tmp_path):
    for name, text, message in [
        ("empty.csv", "", " is empty"),
        ("lines.csv", "x,y\n1,a\n2\n", ".* line 3 has 1 value and the header 2 names"),
        ("twice.csv", "x,x,y\n1,2,a\n", ", line 1: more than one column is called x"),
    ]:
        (tmp_path / name).write_text(text)
        with pytest.raises(DataError, match=f"{name}{message}"):
            GaussianNB().fit(Files(tmp_path / name, "y"))


def test_columns_of_one_name_are_named(tmp_path):
    pq.write_table(pa.Table.from_arrays([pa.array([1.0])] * 3, ["x", "x", "y"]), tmp_path / "twice.parquet")
    with pytest.raises(DataError, match=r"twice\.parquet: several columns are called 'x'"):
        GaussianNB().fit(Files(tmp_path / "twice.parquet", "y"))


def test_a_csv_column_that_turns_out_to_hold_something_else(tmp_path):
    lines = ["x,y", *(f"{i},{'ab'[i % 2]}" for i in range(700_000)), "nine,a"]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    with pytest.raises(DataError, match=r"rows\.csv, line 700002, column 'x': 'nine' is not a number"):
        GaussianNB().fit(Files(tmp_path / "rows.csv", "y"))


def test_files_that_are_not_there(tmp_path):
    (tmp_path / "empty").mkdir()
    for given in (tmp_path / "none.parquet", tmp_path / "*.parquet", tmp_path / "empty", tmp_path / "none" / "*.csv"):
        with pytest.raises(DataError, match=r"no such file or folder|no file matches"):
            Files(given)
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(
        DataError, match=r"pipe.csv: not a regular file but a pipe or a device: write the rows to a file"
    ):
        Files(tmp_path / "pipe.csv")
    with pytest.raises(TypeError, match="a path, a pattern, a folder or a list"):
        Files([3])
    with pytest.raises(TypeError, match="a path, a pattern, a folder or a list"):
        Files([])


def test_a_folder_that_cannot_be_read(tmp_path):
    class Closed(fs.FileSystemHandler):
        def get_file_info_selector(self, selector):
            raise PermissionError(13, "Permission denied", selector.base_dir)

        def get_file_info(self, paths):
            return [fs.FileInfo(path, fs.FileType.Directory) for path in paths]

        def get_type_name(self):
            return "closed"

    for name in fs.FileSystemHandler.__abstractmethods__ - set(vars(Closed)):
        setattr(Closed, name, None)
    Closed.__abstractmethods__ = frozenset()
    with pytest.raises(DataError, match=r"rows: .*[Pp]ermission"):
        Files("rows", "y", filesystem=fs.PyFileSystem(Closed()))


def test_columns_that_are_not_there(tmp_path):
    folder = spread(tmp_path / "rows")
    with pytest.raises(DataError, match=r"part-0.parquet: there is no column \['z'\]; the columns are \['a'"):
        GaussianNB().fit(Files(folder, "z"))
    with pytest.raises(DataError, match=r"there is no column \['id'\]"):
        GaussianNB().fit(Files(folder, "label", keys="id"))
    with pytest.raises(DataError, match="no labels to learn from: give target="):
        GaussianNB().fit(Files(folder))


def test_files_without_rows_are_as_no_files(tmp_path):
    folder = spread(tmp_path / "rows")
    pq.write_table(TABLE.slice(0, 0), folder / "part-0a.parquet")
    data = Files(folder, "label")
    expected = in_memory().predict_proba(FRAME[FEATURES])
    assert_allclose(np.asarray(GaussianNB().fit(data).predict_proba(data)), expected)
    pq.write_table(TABLE.slice(0, 0), tmp_path / "none.parquet")
    with pytest.raises(ValueError, match="no rows"):
        GaussianNB().fit(Files(tmp_path / "none.parquet", "label"))
    assert len(GaussianNB().fit(data).predict(Files(tmp_path / "none.parquet", "label")).to_table()) == 0


# Writing


def test_predictions_are_written_file_by_file(tmp_path):
    folder = spread(tmp_path / "rows")
    data = Files(folder, "label")
    answer = in_memory().predict_proba(data)
    out = answer.write(tmp_path / "deep" / "out")
    assert sorted(path.name for path in out.iterdir()) == [f"part-0000{i}.parquet" for i in range(4)]
    assert_allclose(pd.read_parquet(out).to_numpy(), np.asarray(answer))
    with pytest.raises(FileExistsError, match="overwrite=True"):
        answer.write(out)
    in_memory().predict(data).write(out, overwrite=True)
    assert pd.read_parquet(out).columns.tolist() == ["prediction"]
    assert [path.name for path in out.parent.iterdir()] == ["out"]


def test_an_error_leaves_what_was_there(tmp_path):
    folder = spread(tmp_path / "rows")
    out = in_memory().predict(Files(folder, "label")).write(tmp_path / "out")
    pq.write_table(pq.read_table(folder / BAD).set_column(1, "b", pa.array(["x"] * 75)), folder / BAD)
    with pytest.raises(DataError, match=BAD):
        in_memory().predict_proba(Files(folder, "label")).write(out, overwrite=True)
    assert pd.read_parquet(out).columns.tolist() == ["prediction"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "rows"]


def test_what_is_read_is_not_replaced(tmp_path, monkeypatch):
    (tmp_path / "deep").mkdir()
    folder = spread(tmp_path / "deep" / "rows")
    (tmp_path / "link").symlink_to(folder)
    answer = in_memory().predict(Files(folder, "label"))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.parquet")}
    for goal in (folder, tmp_path / "deep", tmp_path / "link"):
        with pytest.raises(ValueError, match="has rows that are read"):
            answer.write(goal, overwrite=True)
    with pytest.raises(FileExistsError, match="is a file"):
        answer.write(folder / BAD, overwrite=True)
    (here := tmp_path / "here").mkdir()
    monkeypatch.chdir(here)
    for goal in (".", "../here"):
        with pytest.raises(ValueError, match="is the folder this process works in"):
            answer.write(goal, overwrite=True)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.parquet")} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deep", "here", "link"]


def test_a_folder_comes_back_if_another_cannot_take_its_place(tmp_path, monkeypatch):
    answer = in_memory().predict(Files(spread(tmp_path / "rows"), "label"))
    out = answer.write(tmp_path / "out")
    rename = Path.rename

    def fails(self, goal):
        if self.name.endswith(".partial"):
            raise OSError("no")
        return rename(self, goal)

    monkeypatch.setattr(Path, "rename", fails)
    with pytest.raises(OSError, match="no"):
        answer.write(out, overwrite=True)
    assert len(pd.read_parquet(out)) == len(FRAME)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "rows"]


SLOW = """
import sys, time
import numpy as np
from suffice.data import Files

class Slow:
    def __call__(self, X):
        time.sleep(0.05)
        return np.zeros(len(X))

print("begun", flush=True)
Files(sys.argv[1], "label", batch_rows=2).transform(Slow()).write(sys.argv[2])
"""


def test_a_killed_process_leaves_nothing_half_written(tmp_path):
    folder = spread(tmp_path / "rows")
    command = [sys.executable, "-c", SLOW, str(folder), str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begun\n"
        end = time.monotonic() + 60
        while not list(tmp_path.glob(".out-*/part-00000.parquet")) and time.monotonic() < end:
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert not (tmp_path / "out").exists()
    assert list(tmp_path.glob(".out-*/part-00000.parquet")), "it was killed while it wrote"
    assert len(in_memory().predict(Files(folder, "label")).write(tmp_path / "out").name) > 0


def test_an_address_that_cannot_be_read():
    with pytest.raises(DataError, match=r"^http://x/t.csv: this address cannot be read .* give a path on"):
        GaussianNB().fit("http://x/t.csv", y="y")
