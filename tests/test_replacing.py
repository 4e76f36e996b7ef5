"""Models, pages and tables are written in one way: whole, through links, and never over pipes or over what is new."""

import errno
import os
from pathlib import Path

import pyarrow as pa
import pytest

from suffice import GaussianNB, tables
from suffice._replacing import mark, replacing
from suffice.report import explain

MODEL = GaussianNB().fit([[0.0], [1.0], [5.0], [7.0]], [0, 0, 1, 1])
WRITERS = {
    "m.suffice": MODEL.save,
    "page.html": lambda path: explain(MODEL, path),
    "table.csv": lambda path: tables.write(Path(path), pa.table({"a": [1]})),
    "table.parquet": lambda path: tables.write(Path(path), pa.table({"a": [1]})),
}


@pytest.fixture(params=WRITERS)
def target(request, tmp_path):
    return tmp_path / request.param, WRITERS[request.param]


def test_a_link_is_written_through(target, tmp_path):
    path, write = target
    real = tmp_path / f"real{path.suffix}"
    path.symlink_to(real)
    write(path)
    assert path.is_symlink()
    assert real.stat().st_size > 0


@pytest.mark.skipif(os.name != "posix", reason="others have no such files")
def test_a_pipe_is_left_alone(target):
    path, write = target
    os.mkfifo(path)
    with pytest.raises(FileExistsError, match="was not saved: what stands there is no regular file"):
        write(path)
    assert path.is_fifo()


def test_a_full_disk_is_said_with_the_name_of_the_file(target, monkeypatch, tmp_path):
    path, write = target
    path.write_bytes(b"old")

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"was not saved: No space left on device\. What stood there") as caught:
        write(path)
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="only Linux has it")
def test_the_hidden_file_is_no_part_of_a_message():
    with pytest.raises(OSError, match="the table was not saved") as caught:
        tables.write(Path("/proc/x.csv"), pa.table({"a": [1]}))
    assert caught.value.filename == "/proc/x.csv"
    assert "tmp" not in str(caught.value)


def both_write(path, seen):
    with replacing(path, seen=seen) as file:
        file.write(b"mine")
        path.write_bytes(b"theirs")


def test_what_came_in_the_meantime_stays(tmp_path):
    path = tmp_path / "a"
    for there in (None, b"first"):
        if there is not None:
            path.write_bytes(there)
        with pytest.raises(FileExistsError, match="another process has changed it"):
            both_write(path, mark(path))
        assert path.read_bytes() == b"theirs"
    with replacing(path, seen=mark(path)) as file:
        file.write(b"mine")
    assert path.read_bytes() == b"mine"
