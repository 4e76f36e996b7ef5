"""Files that are there already: what is kept, and what is replaced."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow.csv as pcsv
import pytest

from suffice.cli import change
from suffice.cli.store import rows_for
from suffice.persistence import digest

from .conftest import shop

COMPARE = ("compare", "a.csv", "--target", "back", "--methods", "LDA", "--folds", 2)


@pytest.mark.parametrize(
    ("words", "output"),
    [
        (("predict", "m.suffice", "new.csv", "--out"), "new.csv"),
        (("update", "m.suffice", "b.csv", "--out"), "b.csv"),
        (("forget", "m.suffice", "a.csv", "--out"), "a.csv"),
        (("recalibrate", "m.suffice", "a.csv", "--out"), "a.csv"),
        (("fit", "a.csv", "--target", "back", "--out"), "a.csv"),
        (("fit", "b.csv", "--like", "m.suffice", "--out"), "m.suffice"),
        (("merge", "m.suffice", "other.suffice", "--out"), "m.suffice"),
        (("explain", "m.suffice", "--rows", "new.csv", "--page"), "new.csv"),
        ((*COMPARE, "--csv"), "a.csv"),
        ((*COMPARE, "--report"), "a.csv"),
    ],
    ids=lambda v: None if isinstance(v, str) else f"{v[0]} {v[-1]}",
)
def test_what_is_read_is_never_replaced(model, call, words, output):
    link = model.parent / "link"
    link.symlink_to(output)
    before = (model.parent / output).read_bytes()
    for name in (output, f"./{output}", "link"):
        said = f"{Path(name)} is read by this command and would be replaced: choose another {words[-1]}"
        assert said in call(*words, name, "--force", code=2)
    assert (model.parent / output).read_bytes() == before


@pytest.mark.parametrize(
    "words",
    [
        ("predict", "m.suffice", "new.csv", "--out"),
        ("update", "m.suffice", "b.csv", "--out"),
        ("forget", "m.suffice", "few.csv", "--out"),
        ("explain", "m.suffice", "--page"),
        (*COMPARE, "--csv"),
        (*COMPARE, "--report"),
    ],
    ids=lambda v: f"{v[0]} {v[-1]}",
)
def test_another_file_is_replaced_only_by_force(model, call, words):
    pcsv.write_csv(shop(300).slice(0, 9), "few.csv")
    other = model.parent / "both.csv"
    before = other.read_bytes()
    said = call(*words, "both.csv", code=2)
    assert f"there is a file both.csv already: choose another {words[-1]}, or give --force to replace it" in said
    assert other.read_bytes() == before
    call(*words, "both.csv", "--force")
    assert other.read_bytes() != before


def test_a_model_in_its_own_place_and_a_page_are_replaced(model, call):
    call("update", "m.suffice", "b.csv", "--out", "./m.suffice")
    assert "rows 300" in call("inspect", "m.suffice")
    for _ in range(2):
        call(*COMPARE, "--report", "page.html")
    assert "cannot be both the --report and the --csv" in call(*COMPARE, "--report", "x", "--csv", "./x", code=2)


@pytest.mark.parametrize("command", ["update", "forget", "recalibrate"])
def test_a_change_by_another_command_in_the_meantime_is_not_lost(files, call, monkeypatch, command):
    """While a command reads its table, another one changes the model."""
    call("fit", "both.csv", "--target", "back", "-m", "nb-calibrated", "-o", "m.suffice")
    changed = []

    def meanwhile(*given, **named):
        if not changed:
            changed.append(True)
            call("update", "m.suffice", "new.csv")
            changed[0] = (files / "m.suffice").read_bytes()
        return rows_for(*given, **named)

    monkeypatch.setattr(change, "rows_for", meanwhile)
    said = call(command, "m.suffice", "a.csv", code=2)
    assert "another process has changed it in the meantime: try again" in said
    assert (files / "m.suffice").read_bytes() == changed[0]
    call("update", "m.suffice", "b.csv")


def test_a_model_that_has_come_in_the_meantime_is_not_replaced(model, call, monkeypatch):
    call("fit", "b.csv", "--like", "m.suffice", "-o", "n.suffice")
    both = model.with_name("both.suffice")

    def meanwhile(*given):
        both.write_text("theirs")
        return digest(*given)

    monkeypatch.setattr(change, "digest", meanwhile)
    assert "another process" in call("merge", "m.suffice", "n.suffice", "-o", "both.suffice", code=2)
    assert both.read_text() == "theirs"


def test_pipes_and_links_as_outputs(model, call):
    folder = model.parent
    os.mkfifo(folder / "pipe.csv")
    call("predict", "m.suffice", "new.csv", "--out", "pipe.csv", "--force", code=2)
    assert (folder / "pipe.csv").is_fifo()
    (folder / "link.csv").symlink_to(folder / "real.csv")
    call("predict", "m.suffice", "new.csv", "--out", "link.csv")
    assert (folder / "link.csv").is_symlink()
    assert (folder / "real.csv").read_text().startswith("prediction\n")


@pytest.mark.parametrize(
    "words",
    [
        ("fit", "a.csv", "--target", "back", "-m", "nb", "--out"),
        ("predict", "m.suffice", "new.csv", "--out"),
        ("update", "m.suffice", "b.csv", "--out"),
        ("merge", "m.suffice", "n.suffice", "--out"),
        ("explain", "m.suffice", "--page"),
        (*COMPARE, "--csv"),
        (*COMPARE, "--report"),
    ],
    ids=lambda v: f"{v[0]} {v[-1]}",
)
def test_an_address_is_no_output(model, call, words):
    there = sorted(model.parent.iterdir())
    assert "'s3://bucket/o.csv' is an address, but files are written on" in call(*words, "s3://bucket/o.csv", code=2)
    assert sorted(model.parent.iterdir()) == there


def test_an_address_is_no_input(model, call):
    for words in (
        ("predict", "m.suffice", "s3://b/t.csv"),
        ("predict", "s3://b/m", "new.csv"),
        ("explain", "s3://b/m", "--page", "p.html"),
        ("fit", "s3://b/t.csv", "--target", "back", "-o", "n"),
        ("compare", "s3://b/t.csv", "--target", "back"),
    ):
        assert "is an address, but files are read on this machine only: give a local path" in call(*words, code=2)
