"""The real executable: adult from end to end, an interrupt, and a reader that goes away."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
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


@pytest.mark.thorough
@pytest.mark.data
def test_adult_from_end_to_end(tmp_path):
    table = pq.read_table(DATA / "adult.parquet")
    halves = {"a": table.slice(0, 20_000), "b": table.slice(20_000, 20_000), "new": table.slice(40_000)}
    for name, rows in {**halves, "gone": halves["b"].slice(0, 5_000)}.items():
        pcsv.write_csv(rows, tmp_path / f"{name}.csv")
    run("fit", "a.csv", "--target", "target", "--model", "nb", "-o", "a.suffice", cwd=tmp_path)
    run("fit", "b.csv", "--like", "a.suffice", "-o", "b.suffice", cwd=tmp_path)
    run("merge", "a.suffice", "b.suffice", "-o", "ab.suffice", cwd=tmp_path)
    run("forget", "ab.suffice", "gone.csv", cwd=tmp_path)
    run("predict", "ab.suffice", "new.csv", "--proba", "-o", "out.parquet", cwd=tmp_path)
    X, y = table.drop_columns(["target"]), np.asarray(table["target"].to_pylist())
    rows = np.r_[0:20_000, 25_000:40_000]
    model = suffice.NaiveBayes().fit(X.take(rows), y[rows])
    p = model.predict_proba(X.slice(40_000))
    got = pq.read_table(tmp_path / "out.parquet")
    np.testing.assert_allclose(got["p(>50K)"].to_numpy(), p[:, 1], rtol=1e-9)
    assert got["prediction"].to_pylist() == model.predict(X.slice(40_000)).tolist()


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


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="only Linux tells what a process has loaded")
def test_an_interrupt_while_it_is_imported_is_quiet(tmp_path):
    started = subprocess.Popen([*SUFFICE, "--version"], cwd=tmp_path, env=ENVIRONMENT, stderr=subprocess.PIPE)
    while "numpy" not in Path(f"/proc/{started.pid}/maps").read_text():  # which takes a part of a second to import
        time.sleep(0.002)
    started.send_signal(signal.SIGINT)
    _, said = started.communicate(timeout=60)
    assert said == b""
    assert started.returncode == 130


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is always full")
@pytest.mark.parametrize(
    ("words", "unbuffered"),
    # The error comes from a command or from --help, at the first write or, if there is a buffer, at the end.
    [(("predict", "m.suffice", "t.csv"), ""), (("inspect", "m.suffice"), "1"), (("--help",), ""), (("--help",), "1")],
)
def test_an_output_that_is_full_is_named(tmp_path, words, unbuffered):
    (tmp_path / "t.csv").write_text("a\n1\n")
    suffice.NaiveBayes().fit(pa.table({"a": [0.0, 1.0, 5.0, 6.0]}), list("uuvv")).save(tmp_path / "m.suffice")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*SUFFICE, *words],
            cwd=tmp_path,
            env={**ENVIRONMENT, "PYTHONUNBUFFERED": unbuffered},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.stderr.splitlines()[-1] == "standard output: No space left on device"
    assert "Traceback" not in done.stderr
    assert done.returncode in (1, 2)
