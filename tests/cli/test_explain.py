"""suffice explain: the page that Python writes, and messages."""

from __future__ import annotations

import json
import re

import numpy as np
import pyarrow.csv as pcsv
import pytest
from sklearn.datasets import load_iris

import suffice
from suffice.report import explain

from .conftest import shop


@pytest.mark.parametrize("kind", ["nb", "additive", "tabular"])
def test_the_page_is_that_of_python(files, call, kind):
    call("fit", "a.csv", "--target", "back", "--model", kind, "--out", "m.suffice")
    assert "page: page.html" in call("explain", "m.suffice", "--page", "page.html")
    assert (files / "page.html").read_text(encoding="utf-8") == explain(suffice.load("m.suffice"))
    assert ("no sliders" in (files / "page.html").read_text()) == (kind == "tabular")


def test_rows_of_a_file_can_be_set(files, call):
    call("fit", "a.csv", "--target", "back", "--model", "nb", "--out", "m.suffice")
    said = call("explain", "m.suffice", "--page", "page.html", "--rows", "new.csv")
    assert "page: page.html" in said
    html = (files / "page.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="nomogram-data">(.*?)</script>', html).group(1))
    assert len(data["rows"]) == 20
    ages = [None if row == "NaN" else row for row in (row[0] for row in data["rows"])]
    assert ages == pcsv.read_csv("new.csv")["age"].to_pylist()[:20]


def test_a_model_of_an_array_has_a_page(tmp_path, call):
    X, y = load_iris(return_X_y=True)
    suffice.GaussianNB().fit(X, y).save(tmp_path / "iris.suffice")
    call("explain", "iris.suffice", "--page", "iris.html")
    assert "GaussianNB learned from 150 rows" in (tmp_path / "iris.html").read_text()


def test_messages(files, call):
    call("fit", "a.csv", "--target", "back", "--model", "nb", "--out", "m.suffice")
    before = (files / "m.suffice").read_bytes()
    assert "m.suffice is read by this command and would be replaced" in call(
        "explain", "m.suffice", "--page", "m.suffice", code=2
    )
    assert (files / "m.suffice").read_bytes() == before
    assert "Missing option '--page'" in call("explain", "m.suffice", code=2)
    assert "none.suffice" in call("explain", "none.suffice", "--page", "page.html", code=2)
    assert "a.csv" in call("explain", "a.csv", "--page", "page.html", code=2)
    (files / "few.csv").write_text("age,town\n3,Rome\n")
    assert "has no column 'visits'" in call("explain", "m.suffice", "--page", "page.html", "--rows", "few.csv", code=2)
    assert not (files / "page.html").exists()
    assert "--page must name a file, got '-'" in call("explain", "m.suffice", "--page", "-", code=2)
    assert "there is no folder deep" in call("explain", "m.suffice", "--page", "deep/page.html", code=2)
    assert not (files / "deep").exists()
    assert np.isfinite(suffice.load("m.suffice").class_prior_).all()


def named(n, seed=0):
    """Rows with a name each, which a model leaves out."""
    return shop(n, seed, name=[f"C{seed}{i:05}" for i in range(n)])


def test_columns_that_take_no_part_are_not_missed_and_not_noted(files, call):
    pcsv.write_csv(named(200), "named.csv")
    pcsv.write_csv(named(40, 1), "others.csv")
    (files / "few.csv").write_text("age,town\n3,Rome\n")
    call("fit", "named.csv", "--target", "back", "--model", "nb", "--out", "m.suffice")
    said = call("explain", "m.suffice", "--page", "page.html", "--rows", "few.csv", code=2)
    assert "few.csv has no column 'visits', which the model has learned from. The file has: age, town" in said
    assert "never learned" not in call("explain", "m.suffice", "--page", "page.html", "--rows", "others.csv")
    assert "never learned" not in call("predict", "m.suffice", "others.csv", "--out", "o.csv")
    page = (files / "page.html").read_text(encoding="utf-8")
    assert not re.findall(r"C[01]\d{5}", page)
