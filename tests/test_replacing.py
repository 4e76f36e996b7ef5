"""Models, pages and tables are written in one way: whole, through links, and never over pipes or over what is new."""

import errno
import os
from pathlib import Path

import pyarrow as pa
import pytest

from suffice import GaussianNB, ModelFileError, load
from suffice._runtime.atomic_file import mark, replacing
from suffice.compare import critical_difference_figure, nemenyi
from suffice.data import Files
from suffice.data.files import write as table_file
from suffice.report import explain


def model():
    return GaussianNB().fit([[0.0], [1.0], [5.0], [7.0]], [0, 0, 1, 1])


WRITERS = {
    "m.suffice": lambda path: model().save(path),
    "page.html": lambda path: explain(model(), path),
    "table.csv": lambda path: table_file.write(Path(path), pa.table({"a": [1]})),
    "table.parquet": lambda path: table_file.write(Path(path), pa.table({"a": [1]})),
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
    with pytest.raises(FileExistsError, match="was not saved: the path is not a regular file"):
        write(path)
    assert path.is_fifo()


def test_a_full_disk_is_said_with_the_name_of_the_file(target, monkeypatch, tmp_path):
    path, write = target
    path.write_bytes(b"old")

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"was not saved: No space left on device\. The previous file") as caught:
        write(path)
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="only Linux has it")
def test_the_hidden_file_is_no_part_of_a_message():
    with pytest.raises(OSError, match="the table was not saved") as caught:
        table_file.write(Path("/proc/x.csv"), pa.table({"a": [1]}))
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


EVERYWHERE = {
    **WRITERS,
    "answers": lambda path: GaussianNB().fit("rows.csv", y="y").predict("rows.csv").write(path),
    "checkpoint": lambda path: GaussianNB().fit(Files("rows.csv", "y"), checkpoint=path),
    "ranks.png": lambda path: critical_difference_figure(
        nemenyi([[0.1, 0.2], [0.3, 0.2]], higher_is_better=True), path
    ),
}


@pytest.mark.parametrize("scheme", ["s3", "gs", "abfss", "https", "file", "dbfs"])
@pytest.mark.parametrize("name", EVERYWHERE)
def test_an_address_is_no_folder(name, scheme, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("x,y\n1,a\n2,b\n3,b\n0,a\n")
    # a Path has one slash of two left
    with pytest.raises(ValueError, match=rf"'{scheme}://?bucket/a/{name}' is an address, but files are written on"):
        EVERYWHERE[name](f"{scheme}://bucket/a/{name}")
    assert [one.name for one in tmp_path.iterdir()] == ["rows.csv"]


@pytest.mark.parametrize("name", ["C:\\m.suffice", "C:/m.suffice", "a:b", "a:b/m.suffice", "12:30/x", "s3/m.suffice"])
def test_drives_and_colons_are_no_addresses(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path(name).parent.mkdir(exist_ok=True)
    model().save(name)
    assert load(name).classes_.tolist() == [0, 1]


def test_models_of_addresses_are_not_read():
    with pytest.raises(ModelFileError, match="'s3://bucket/m' is an address, but files are read on this machine only"):
        load("s3://bucket/m")
