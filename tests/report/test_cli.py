"""The command, as a new user meets it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from suffice import __version__
from suffice.cli.app import app
from suffice.compare.race.methods import METHODS
from suffice.compare.race.table import read_table
from tests.commands import run, spoken

FEW = "GaussianNB,LDA + RC,logistic regression"


def call(*words, code=0):
    return spoken(run(app, *words, code=code, SUFFICE_DATA="", COLUMNS="200"))


@pytest.fixture
def table(tmp_path, rng):
    """Numbers, text, missing values, a name for every row, a constant, and labels."""
    y = np.repeat(["good", "bad"], [70, 50])
    columns = {
        "size": rng.normal(size=120) + (y == "bad") * 2.0,
        "colour": np.where(rng.random(120) < 0.2, "red", np.where(y == "bad", "green", "blue")).tolist(),
        "name": [f"row {i}" for i in range(120)],
        "constant": [1] * 120,
        "holes": [None if i % 7 == 0 else float(i % 5) for i in range(120)],
        "label": y.tolist(),
    }
    path = tmp_path / "table.csv"
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join("" if v is None else str(v) for v in row) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_comparison_ends_in_a_verdict(table, tmp_path):
    page, results = tmp_path / "page.html", tmp_path / "folds.csv"
    said = call(
        "compare", table, "--target", "label", "--methods", FEW, "--folds", 5, "--report", page, "--csv", results
    )
    assert "120 rows, 3 columns (2 of numbers, 1 of categories, 5.0% of the values missing)" in said
    assert (
        "the column 'name' is text with 120 different values, as names and numbers of rows are, and is left out" in said
    )
    assert "the column 'constant' has one value only, and is left out" in said
    assert "something has been learned" in said
    text = page.read_text()
    assert text.startswith("<!DOCTYPE html>")
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert len(results.read_text().splitlines()) == 1 + 4 * 5


def test_parquet_and_another_separator(table, tmp_path):
    text = table.read_text()
    semicolons = tmp_path / "semicolons.csv"
    semicolons.write_text(text.replace(",", ";"))
    parquet = tmp_path / "table.parquet"
    rows = [line.split(",") for line in text.splitlines()]
    pq.write_table(pa.table({name: [row[j] for row in rows[1:]] for j, name in enumerate(rows[0])}), parquet)
    expected, same = (read_table(str(path), "label").data for path in (table, semicolons))
    assert same.names == expected.names == ("size", "colour", "holes")
    np.testing.assert_array_equal(same.X, expected.X)
    assert same.y.tolist() == expected.y.tolist()
    typed = read_table(str(parquet), "label").data  # in which all is text, so that the size is like a name
    assert typed.names == ("colour", "holes")
    assert typed.y.tolist() == expected.y.tolist()


def test_dates_and_spans_of_time_count_as_days(tmp_path, rng):
    y = np.repeat(["early", "late"], 40)
    seconds = rng.uniform(0, 1e7, 80) + 1e7 * (y == "late")
    when = np.datetime64("2020-01-01", "us") + (1e6 * seconds).astype("m8[us]")
    frame = pd.DataFrame({"when": when, "took": (1e6 * rng.uniform(0, 1e6, 80)).astype("m8[us]"), "label": y})
    frame.loc[3, "when"] = None
    path = tmp_path / "dates.parquet"
    frame.to_parquet(path)
    data = read_table(str(path), "label").data
    days = (frame["when"] - pd.Timestamp(0)) / pd.Timedelta(days=1)
    np.testing.assert_allclose(data.X, np.column_stack([days, frame["took"] / pd.Timedelta(days=1)]), rtol=1e-12)
    said = call("compare", path, "--target", "label", "--methods", "LDA,decision tree", "--folds", 3)
    assert "'when' holds dates, read as days since 1970" in said
    assert "'took' holds times, read as days" in said
    assert "decision tree has the fewest rows wrong" in said or "LDA has the fewest rows wrong" in said
    assert "something has been learned" in said


@pytest.mark.thorough
def test_processes_do_not_matter(table):
    words = ("compare", table, "--target", "label", "--methods", FEW, "--folds", 3)
    one, two = (call(*words, "--jobs", jobs) for jobs in (1, 2))
    assert one.split("- ")[-4:] == two.split("- ")[-4:]


def test_a_sample_of_the_rows(table):
    words = ("compare", table, "--target", "label", "--methods", "LDA", "--folds", 3, "--sample")
    said = call(*words, 60)
    assert "60 rows, 3 columns" in said
    assert "2 classes: bad: 25, good: 35" in said
    assert "a sample of 60 of 120 rows (seed 0)" in said
    assert "120 rows" in call(*words, 500)


def test_methods_are_explained():
    said = call("compare", "--methods", "help")
    for method in METHODS.values():
        assert method.name in said
        assert method.about in said
    assert "which table?" in call("compare", code=2)


@pytest.mark.parametrize(
    ("content", "words", "message"),
    [
        (None, ("--target", "y"), "there is no file"),
        ("", ("--target", "y"), "is empty"),
        ("a,y\n", ("--target", "y"), "has a header and no rows"),
        ("a,y\n1,u\n2,v\n", (), "which column holds the classes? Say --target with one of: a, y"),
        ("a,label\n1,u\n2,v\n", ("--target", "lable"), "there is no column 'lable'. Did you mean 'label'? The columns"),
        ("a,y\n1,u\n2,u\n", ("--target", "y"), "'y' has one value only, 'u': there is nothing to learn"),
        ("a,y\n1,\n2,\n", ("--target", "y"), "no row has a value in 'y'"),
        ("y\nu\nv\n", ("--target", "y"), "besides 'y' there is no column to learn from"),
        ("a,y\n1,u\n1,v\n", ("--target", "y"), "besides 'y' there is no column to learn from"),
        ("a,y\n1,u\n2,v\n", ("--target", "y"), "fewer than two classes have two rows or more"),
        ("a,a,y\n1,1,u\n2,2,v\n", ("--target", "y"), "more than one column is called a"),
        ("a,y\n1,u\n2\n", ("--target", "y"), "cannot be read as a table"),
        ("a,y\n" + "\n".join(f"{i},{i / 7}" for i in range(50)), ("--target", "y"), "that is a quantity or a name"),
        (
            "a,y\n1,u\n2,v\n",
            ("--target", "y", "--methods", "magic"),
            "there is no method 'magic'. The methods are",
        ),
        ("a,y\n1,u\n2,v\n", ("--target", "y", "--drop", "b"), "there is no column 'b'"),
        ("a,y\n1,u\n2,v\n", ("--target", "y", "--drop", "y"), "both the --target and to be dropped"),
        ("a,y\n1,u\n2,v\n", ("--target", "Y"), "there is no column 'Y'. Did you mean 'y'?"),
        ("a,y\n1,u\n2,v\n", ("--target", "y", "--report", "/proc/none/page.html"), "cannot be written"),
        (b"a,y\n1,\0\n2,v\n", ("--target", "y"), "line 2 has a NUL byte"),
    ],
)
def test_tables_that_cannot_be_used(tmp_path, content, words, message):
    path = tmp_path / "t.csv"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert message in call("compare", path, *words, code=2)


def test_names_from_data_are_text_on_the_page(tmp_path, rng):
    bad = "<script>alert(1)</script>"
    path, page = tmp_path / "t.csv", tmp_path / "p.html"
    rows = [f"{rng.normal() + 3 * (i % 2):.3f},{bad if i % 2 else 'b'}" for i in range(40)]
    path.write_text("\n".join([f"{bad},y", *rows]))
    call("compare", path, "--target", "y", "--methods", "LDA,QDA,Fisher", "--folds", 2, "--report", page)
    assert bad not in page.read_text()
    assert "&lt;script&gt;alert(1)" in page.read_text()


def test_a_class_of_three_rows_and_rows_without_labels(tmp_path, rng):
    path = tmp_path / "t.csv"
    labels = ["a"] * 30 + ["b"] * 30 + ["rare"] * 3 + ["once", "", ""]
    path.write_text("\n".join(["x,y", *(f"{rng.normal():.3f},{label}" for label in labels)]))
    said = call("compare", path, "--target", "y", "--methods", "GaussianNB")
    assert "2 rows have no 'y' and are left out" in said
    assert "the classes once have only one row, and are left out" in said
    assert "3 folds instead of 10: the smallest class has no more rows" in said


def test_what_only_looks_like_data(tmp_path, rng):
    """The numbers of sorted rows, infinities, integers beyond floats, and spaces around labels."""
    path = tmp_path / "t.csv"
    rows = [
        f"{i},{rng.normal():.3f},{'inf' if i == 3 else i % 7},{2**60 + i * i},{'a' if i < 30 else 'b'}{' ' * (i % 2)}"
        for i in range(60)
    ]
    path.write_text("\n".join([",noise,far,big,y", *rows]))
    said = call("compare", path, "--target", "y", "--methods", "LDA,", "--drop", "big", "--folds", 3)
    assert "'' is the index of a data frame, left out" in said
    assert "1 value of 'far' is infinite, and counts as missing" in said
    assert "spaces around the values of 'y' are left out" in said
    assert "2 classes: a: 30, b: 30" in said
    call("compare", path, "--target", "y", "--methods", "LDA", "--folds", 2)  # with the large integers


def test_methods_that_lose_to_chance_do_not_win(tmp_path, rng):
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["x,y", *(f"{rng.normal():.4f},{'a' if i % 10 else 'b'}" for i in range(200))]))
    said = call("compare", path, "--target", "y", "--methods", "decision tree", "--folds", 3)
    assert "No method has fewer of these 200 rows wrong than always taking the most frequent class" in said
    assert "that is wrong on 10.0 %" in said
    assert "fewest rows wrong" not in said
    assert "share the lead" not in said
    assert "decision tree *" in said
    assert "* more rows wrong than by always taking the most frequent class" in said


def test_version():
    assert __version__ in call("--version")
