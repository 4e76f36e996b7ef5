"""The real executable: adult from end to end, an interrupt, and a reader that goes away."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
import pytest

import suffice
from tests.conftest import DATA

SUFFICE = (sys.executable, "-m", "suffice")
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "80"}


def run(*words, cwd, code=0):
    done = subprocess.run([*SUFFICE, *words], cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert done.returncode == code, done.stderr
    return done


@pytest.mark.data
def test_adult_from_end_to_end(tmp_path):
    table = pq.read_table(DATA / "adult.parquet")
    halves = {"a": table.slice(0, 20_000), "b": table.slice(20_000, 20_000), "new": table.slice(40_000)}
    for name, rows in {**halves, "gone": halves["b"].slice(0, 5_000)}.items():
        pcsv.write_csv(rows, tmp_path / f"{name}.csv")
    begun, used = time.monotonic(), _processor_seconds()
    run("fit", "a.csv", "--target", "target", "--model", "nb", "-o", "a.suffice", cwd=tmp_path)
    run("fit", "b.csv", "--like", "a.suffice", "-o", "b.suffice", cwd=tmp_path)
    run("merge", "a.suffice", "b.suffice", "-o", "ab.suffice", cwd=tmp_path)
    run("forget", "ab.suffice", "gone.csv", cwd=tmp_path)
    run("predict", "ab.suffice", "new.csv", "--proba", "-o", "out.parquet", cwd=tmp_path)
    print(f"{time.monotonic() - begun:.1f} s, {_processor_seconds() - used:.1f} processor seconds")
    assert _processor_seconds() - used < 20  # which is the time that it takes where nothing else runs
    X, y = table.drop_columns(["target"]), np.asarray(table["target"].to_pylist())
    rows = np.r_[0:20_000, 25_000:40_000]
    model = suffice.NaiveBayes().fit(X.take(rows), y[rows])
    p = model.predict_proba(X.slice(40_000))
    got = pq.read_table(tmp_path / "out.parquet")
    np.testing.assert_allclose(got["p(>50K)"].to_numpy(), p[:, 1], rtol=1e-9)
    assert got["prediction"].to_pylist() == model.predict(X.slice(40_000)).tolist()


def _processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_an_interrupt_leaves_nothing_behind(tmp_path):
    os.mkfifo(tmp_path / "endless.csv")  # of which nothing ever comes
    words = [*SUFFICE, "fit", "endless.csv", "--target", "y", "--out", "m.suffice"]
    started = subprocess.Popen(words, cwd=tmp_path, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    assert "reading endless.csv ..." in started.stderr.readline()
    started.send_signal(signal.SIGINT)
    _, said = started.communicate(timeout=60)
    assert started.returncode == 130
    assert "interrupted: nothing was written" in said
    assert "Traceback" not in said
    assert [path.name for path in tmp_path.iterdir()] == ["endless.csv"]


def test_bad_input_and_a_reader_that_goes_away(tmp_path):
    done = run("predict", "none.suffice", "new.csv", cwd=tmp_path, code=2)
    assert done.stderr == "there is no file none.suffice: `suffice fit` makes one\n"
    assert done.stdout == ""
    rows = "".join(f"{i % 7},{'uv'[i % 2]}\n" for i in range(50))
    (tmp_path / "t.csv").write_text(f"a,y\n{rows * 2000}")
    model = suffice.NaiveBayes().fit(pcsv.read_csv(tmp_path / "t.csv").select(["a"]), list("uv") * 50_000)
    model.save(tmp_path / "m.suffice")
    words = [*SUFFICE, "predict", "m.suffice", "t.csv"]
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(words, cwd=tmp_path, env=ENVIRONMENT, **pipe) as started:
        assert started.stdout.readline() == b"prediction\n"
        started.stdout.close()
        assert b"Traceback" not in started.stderr.read()
    assert started.returncode == 141
