"""Saving replaces a file at once, or leaves it as it was."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import suffice
from suffice import GaussianNB
from suffice.persistence import archive as _archive

SAVER = """
import sys, numpy as np, suffice
rng = np.random.default_rng(int(sys.argv[2]))
X = rng.normal(size=(40, 60))
model = suffice.QuadraticDiscriminantAnalysis().fit(X, np.arange(40) % 2)
while True:
    model.save(sys.argv[1])
"""


def saver(path, seed):
    """Another process that saves a model again and again, until it is killed."""
    found = [str(Path(suffice.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(found)}
    return subprocess.Popen([sys.executable, "-c", SAVER, str(path), str(seed)], env=env)


@pytest.fixture
def model():
    return GaussianNB().fit([[0.0], [1.0], [5.0], [7.0]], [0, 0, 1, 1])


@pytest.mark.thorough
def test_a_kill_at_any_moment_leaves_a_whole_file(model, tmp_path):
    """Another process saves to the file and is halted 40 times: what is there then is what a kill would leave.

    In between it is saved to from here, so that two processes write at once. In the end the other one is killed.
    """
    path, rng = tmp_path / "m.suffice", np.random.default_rng(0)
    process = saver(path, 0)
    try:
        while not path.exists():
            time.sleep(0.001)
        for turn in range(40):
            time.sleep(rng.uniform(0, 0.01))
            process.send_signal(signal.SIGSTOP)
            assert suffice.load(path).n_features_in_ in (1, 60)
            process.send_signal(signal.SIGCONT)
            if turn % 4 == 0:
                model.save(path)
    finally:
        process.kill()
        process.wait()
    assert suffice.load(path).n_features_in_ in (1, 60)
    assert all(p == path or p.name.startswith(".m.suffice.") for p in tmp_path.iterdir())


@pytest.mark.parametrize("where", ["write", "fsync", "replace"])
def test_a_full_disk_leaves_the_old_file(model, tmp_path, monkeypatch, where):
    path = tmp_path / "m.suffice"
    model.save(path)
    before = path.read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    at = {"write": (_archive, "_fill"), "fsync": (os, "fsync"), "replace": (Path, "replace")}
    monkeypatch.setattr(*at[where], full)
    with pytest.raises(OSError, match=r"not saved: No space left on device\. The previous file") as caught:
        model.save(path)
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == str(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m.suffice"]


def test_an_interrupt_leaves_the_old_file(model, tmp_path, monkeypatch):
    path = tmp_path / "m.suffice"
    model.save(path)
    monkeypatch.setattr(_archive, "_fill", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        model.save(path)
    assert [p.name for p in tmp_path.iterdir()] == ["m.suffice"]
    assert suffice.load(path).predict([[6.0]]) == [1]


def test_a_folder_that_is_not_there(model, tmp_path):
    with pytest.raises(FileNotFoundError, match="the model was not saved"):
        model.save(tmp_path / "none" / "m.suffice")
    with pytest.raises(OSError, match="the model was not saved"):
        model.save(tmp_path)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="who may write everywhere is not refused")
def test_a_folder_that_may_not_be_written_to(model, tmp_path):
    tmp_path.chmod(0o555)
    with pytest.raises(PermissionError, match="the model was not saved: Permission denied"):
        model.save(tmp_path / "m.suffice")


def test_permission_is_refused_in_words(model, tmp_path, monkeypatch):
    def denied(*_):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(PermissionError, match="the model was not saved: Permission denied"):
        model.save(tmp_path / "m.suffice")


def test_a_link_is_written_through(model, tmp_path):
    (tmp_path / "to").mkdir()
    (tmp_path / "m.suffice").symlink_to(tmp_path / "to" / "real.suffice")
    model.save(tmp_path / "m.suffice")
    assert (tmp_path / "m.suffice").is_symlink()
    assert suffice.load(tmp_path / "to" / "real.suffice").predict([[6.0]]) == [1]


@pytest.mark.skipif(os.name != "posix", reason="others have no modes")
def test_who_may_read_stays_as_it_was(model, tmp_path):
    path, before = tmp_path / "m.suffice", os.umask(0o027)
    try:
        model.save(path)
        assert path.stat().st_mode & 0o777 == 0o640
        for mode in (0o600, 0o666, 0o400):
            path.chmod(mode)
            model.save(path)
            assert path.stat().st_mode & 0o777 == mode
    finally:
        os.umask(before)
    assert suffice.load(path).predict([[6.0]]) == [1]


@pytest.mark.skipif(os.name != "posix", reason="others have no such files")
def test_what_is_no_regular_file_is_left_alone(model, tmp_path):
    pipe, loop, link = tmp_path / "pipe", tmp_path / "loop", tmp_path / "link"
    os.mkfifo(pipe)
    loop.symlink_to(loop)
    link.symlink_to(pipe)
    for path in (pipe, link, tmp_path):
        with pytest.raises(FileExistsError, match="not saved: the path is not a regular file"):
            model.save(path)
    with pytest.raises(OSError, match="not saved: Too many levels of symbolic links"):
        model.save(loop)
    assert pipe.is_fifo()
    assert loop.is_symlink()
    assert len(list(tmp_path.iterdir())) == 3


def test_names_may_be_as_long_as_the_disk_allows(model, tmp_path):
    for name in ("m" * 255, "ä" * 127):
        model.save(tmp_path / name)
        assert suffice.load(tmp_path / name).predict([[6.0]]) == [1]


def test_a_name_with_a_zero_byte(model, tmp_path):
    for use in (model.save, suffice.load):
        with pytest.raises(suffice.ModelFileError, match="a zero byte in it"):
            use(tmp_path / "m\0.suffice")
