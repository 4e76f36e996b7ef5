"""Files that are there already: what is kept, and what is replaced."""

from __future__ import annotations

from pathlib import Path

import pyarrow.csv as pcsv
import pytest

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
    assert f"there is a file both.csv already: choose another {words[-1]}, or say --force to replace it" in said
    assert other.read_bytes() == before
    call(*words, "both.csv", "--force")
    assert other.read_bytes() != before


def test_a_model_in_its_own_place_and_a_page_are_replaced(model, call):
    call("update", "m.suffice", "b.csv", "--out", "./m.suffice")
    assert "rows 300" in call("inspect", "m.suffice")
    for _ in range(2):
        call(*COMPARE, "--report", "page.html")
    assert "cannot be both the --report and the --csv" in call(*COMPARE, "--report", "x", "--csv", "./x", code=2)
