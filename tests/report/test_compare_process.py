"""The command as a process: on a terminal, in a pipe, interrupted."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time

import numpy as np
import pytest

pytestmark = pytest.mark.thorough  # every test starts a comparison in processes of its own

QUICK = ("LDA", "NaiveBayes")
COMMAND = (sys.executable, "-m", "suffice", "compare")


@pytest.fixture(scope="module")
def noisy(tmp_path_factory):
    """More than a neural network learns in a few seconds."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("tables") / "noisy.csv"
    rows = (f"{','.join(f'{v:.3f}' for v in rng.normal(size=20))},{'uv'[i % 2]}" for i in range(1500))
    path.write_text("\n".join([",".join([*(f"c{j}" for j in range(20)), "y"]), *rows]))
    return path


def environment(**more):
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "80", **more}


def gone(group):
    """Whether every process of a group comes to its end."""
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def test_ctrl_c_keeps_what_was_measured(noisy, tmp_path):
    page, results = tmp_path / "page.html", tmp_path / "folds.csv"
    words = ["--target", "y", "--methods", ",".join([*QUICK, "neural network"]), "--jobs", "1"]
    words += ["--report", str(page), "--csv", str(results)]
    command = [*COMMAND, str(noisy), *words]
    with subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        lines = []
        while not any("LDA" in line for line in lines) or not any("NaiveBayes" in line for line in lines):
            lines.append(process.stderr.readline())
            assert lines[-1], "it ended before anything was measured"
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        said, more = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in said + more
    assert "Interrupted: these are the results so far." in said
    assert "LDA" in said
    measured = [line.split(",")[0] for line in results.read_text().splitlines()]
    assert {"method", "most frequent class", *QUICK} <= set(measured)
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert "and was interrupted" in page.read_text()
    assert gone(process.pid)


def test_lines_in_a_pipe_are_plain_and_fit_80_columns(noisy):
    words = ["--target", "y", "--methods", ",".join(QUICK), "--folds", "2"]
    done = subprocess.run(
        [*COMMAND, str(noisy), *words], env=environment(), capture_output=True, text=True, check=True, timeout=100
    )
    assert "\x1b" not in done.stdout + done.stderr
    # The first comparison on a machine compiles, and says so.
    news = [line for line in done.stderr.splitlines() if "compiling, once" not in line]
    assert re.fullmatch(r" +\d+\.\d s  most frequent class: 50\.\d% of rows wrong, 1 of 2 folds", news[0])
    assert sum("2 of 2 folds" in line for line in news) == 1 + len(QUICK)
    lines = done.stdout.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("method"))
    assert all(len(line) <= 80 for line in lines[start : start + 2 + len(QUICK)])
    assert {line.split()[0] for line in lines[start + 1 : start + 4]} == {"most", *QUICK}


def test_a_table_grows_on_a_terminal(noisy):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    words = ["--target", "y", "--methods", ",".join(QUICK), "--folds", "2"]
    variables = environment(TERM="xterm-256color")
    with subprocess.Popen([*COMMAND, str(noisy), *words], env=variables, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                shown += os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
    os.close(ours)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    assert process.returncode == 0
    assert text.index("method so far") < text.index("of 120 s") < text.index("calib.")
    assert "1/2 folds" in text or "2/2 folds" in text
    assert max(len(line.rstrip()) for line in re.split(r"[\r\n]+", text)) <= 80
    assert "has the fewest rows wrong" in text or "No method has fewer" in text or "share the lead" in text


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_whatever_ends_it_no_copy_of_the_rows_stays(noisy, tmp_path, number):
    words = ["--target", "y", "--methods", "LDA,neural network", "--jobs", "1"]
    variables = environment(TMPDIR=str(tmp_path))
    with subprocess.Popen(
        [*COMMAND, str(noisy), *words], env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        while not list(tmp_path.glob("suffice-*/*.npy")):
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert "Traceback" not in said
    assert not list(tmp_path.glob("suffice-*"))


def test_ctrl_c_while_processes_start_is_quiet(noisy, tmp_path):
    words = ["--target", "y", "--methods", "LDA", "--jobs", "1"]
    variables = environment(TMPDIR=str(tmp_path))  # where the server of processes has its socket
    with subprocess.Popen(
        [*COMMAND, str(noisy), *words],
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        while not list(tmp_path.glob("pymp-*")):
            assert process.poll() is None
            time.sleep(0.01)
        time.sleep(0.15)
        os.killpg(process.pid, signal.SIGINT)
        said, more = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in said + more
    assert gone(process.pid)
