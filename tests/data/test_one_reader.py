"""One file gives one model, whether a command or Python reads it."""

import gzip
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from suffice import NaiveBayes, load
from suffice.compare.race.table import read_table
from suffice.data import DataError, Parquet
from suffice.data.files.sheet import TableError
from suffice.data.files.table import read
from tests.cli.conftest import call  # noqa: F401 - a fixture

RNG = np.random.default_rng(0)
N = 300
PRICE, DAY, WORD = RNG.normal(10, 3, N), RNG.integers(1, 28, N), RNG.choice(["?", "a", "b"], N)
LABEL = np.where(PRICE + RNG.normal(size=N) > 10, "hi", "lo")


COMMAS, SWAPPED = str.maketrans(".", ","), str.maketrans(".,", ",.")


def text(separator=",", price="{:.2f}", day="{:02d}/03/2024", word="{}", label="{}", extra=None, points=None, scale=1):
    """The rows as text, each value written in its own way."""
    names = ["price", "day", "word", "label"]
    rows = [
        [price.format(scale * p).translate(points or {}), day.format(d), word.format(w), label.format(y)]
        for p, d, w, y in zip(PRICE, DAY, WORD, LABEL, strict=True)
    ]
    if extra is not None:
        names, rows = [extra[0], *names], [[extra[1](i), *row] for i, row in enumerate(rows)]
    return "\n".join(separator.join(row) for row in [names, *rows]) + "\n"


def objects(**change):
    """The rows as JSON lines, with changes of the values by column."""
    columns = {"price": np.round(PRICE, 2), "day": DAY, "word": WORD, "label": LABEL}
    changed = {
        name: [change.get(name, lambda v: v)(one) for one in values.tolist()] for name, values in columns.items()
    }
    return "".join(json.dumps({name: changed[name][i] for name in changed}) + "\n" for i in range(N))


PLAIN = text()
MESSY = {
    "two readers": PLAIN.encode(),
    "semicolons, decimal commas": text(";", points=COMMAS, day="{:02d}.03.2024").encode(),
    "tabs": text("\t").encode(),
    "byte order mark": PLAIN.encode("utf-8-sig"),
    "UTF-16": PLAIN.encode("utf-16"),
    "Latin-1": text(word="ä{}").replace("ä?", "?").encode("latin-1"),
    "quoted newlines": text(word='"{}\nx"').replace('"?\nx"', "?").encode(),
    "a column of mixed kinds": text(word="{}", extra=("code", lambda i: ("x1", "7", "2024-01-01")[i % 3])).encode(),
    "zip codes": text(extra=("zip", lambda i: f"0{1000 + i % 5}")).encode(),
    "spaces": text(", ", word=" {}").encode(),
    "month first": text(day="03/{:02d}/2024").encode(),
    "whole labels": text(label="{}").replace(",hi", ",1.0").replace(",lo", ",2.0").encode(),
    "labels that are numbers": text(label="{}").replace(",hi", ",0.5").replace(",lo", ",1.5").encode(),
    "an index": text(extra=("", str)).encode(),
    "money": text(price="${:.2f}").encode(),
    "compressed": gzip.compress(PLAIN.encode(), mtime=0),
    "formulas": text(word="'={}").replace("'=?", "?").encode(),
    "dollars with thousands": text(";", price="${:,.2f}", scale=1000).encode(),
    "euros with thousands": text(";", price="{:,.2f} €", scale=1000, points=SWAPPED).encode(),
    "percentages": text(price="{:.1f}%").encode(),
    "percentages with commas": text(";", price="{:.1f}%", points=COMMAS).encode(),
    "truth values": text(extra=("yes", lambda i: ("true", "false")[i % 2])).encode(),
    "times of day": text(extra=("at", lambda i: f"{8 + i % 9:02d}:{i % 60:02d}")).encode(),
    "an empty column": text(extra=("none", lambda _: "")).encode(),
    "JSON lines": objects(
        day=lambda day: f"{day:02d}/03/2024", word=lambda word: None if word == "?" else word
    ).encode(),
}
NAMES = {"compressed": "t.csv.gz", "tabs": "t.tsv", "JSON lines": "t.jsonl"}


@pytest.mark.parametrize("what", MESSY)
def test_a_command_and_python_learn_the_same(call, tmp_path, what):  # noqa: F811 - the fixture
    path = NAMES.get(what, "t.csv")
    (tmp_path / path).write_bytes(MESSY[what])
    call("fit", path, "--target", "label", "--model", "nb", "--out", "m.suffice")
    call("predict", "m.suffice", path, "--proba", "--out", "p.parquet")
    theirs, ours = load("m.suffice"), NaiveBayes().fit(path, y="label")
    assert str(ours.columns_) == str(theirs.columns_)
    assert ours.classes_.tolist() == theirs.classes_.tolist()
    said = pd.read_parquet("p.parquet")
    for model in (ours, theirs):
        assert model.predict(path).to_table()["prediction"].to_pylist() == said["prediction"].tolist()
        p = np.asarray(model.predict_proba(path))
        assert np.array_equal(p, said[[f"p({label})" for label in model.classes_]].to_numpy())
        assert model.score(path, "label") > 0.7
    assert (ours + theirs).class_count_.sum() == 2 * N
    ours.save("ours.suffice")
    call("fit", "--like", "ours.suffice", path, "--target", "label", "--out", "like.suffice")
    like = load("like.suffice").columns_
    assert [one.note for one in like.values()] == [one.note for one in ours.columns_.values()]


def test_a_comparison_reads_the_same_table(call, tmp_path):  # noqa: F811 - the fixture
    (tmp_path / "t.csv").write_bytes(MESSY["euros with thousands"])
    (tmp_path / "t.jsonl").write_bytes(MESSY["JSON lines"])
    for path, price in {"t.csv": np.round(1000 * PRICE, 2), "t.jsonl": np.round(PRICE, 2)}.items():
        data = read_table(path, "label").data
        assert np.array_equal(data.X[:, 0], price)
        assert np.array_equal(data.X[:, 1], 19782.0 + DAY)  # days since 1970
        assert data.y.tolist() == LABEL.tolist()


def test_json_lines(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"zip": "0123", "x": 1, "on": true, "y": "a"}\n\n{"x": 2.5, "y": "b", "zip": "7", "more": null}\n')
    table = read(str(path)).table
    assert table.to_pydict() == {
        "zip": ["0123", "7"],
        "x": [1.0, 2.5],
        "on": [True, None],
        "y": ["a", "b"],
        "more": [None, None],
    }
    assert str(table["zip"].type) == "string"  # digits in quotes are not numbers
    assert Parquet(path, "y").count() == 2


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"x": 1}\n\n[2]\n', r"t\.jsonl, line 3: not an object of JSON"),
        ('{"x": 1}\n{"x": 2\n', r"t\.jsonl, line 2: not an object of JSON"),
        ('{"x": 1}\n{"x": [2]}\n', r"t\.jsonl, line 2, column 'x': holds list values"),
        ('{\n"x": 1\n}\n', r"t\.jsonl is JSON, but not one object per line"),
        ('[{"x": 1}]\n', r"t\.jsonl is JSON, but not one object per line"),
        ("{}\n", r"t\.jsonl has no columns"),
    ],
)
def test_json_that_is_not_a_table(tmp_path, content, said):
    (tmp_path / "t.jsonl").write_text(content)
    with pytest.raises(TableError, match=said):
        read(str(tmp_path / "t.jsonl"))
    with pytest.raises(DataError, match=said):
        NaiveBayes().fit(tmp_path / "t.jsonl", y="x")


def test_a_column_of_json_that_changes_its_kind_is_an_error_with_its_place(tmp_path):
    lines = [json.dumps({"x": i, "y": "ab"[i % 2]}) for i in range(40_000)]
    (tmp_path / "t.jsonl").write_text("\n".join(["", *lines, '{"x": true, "y": "a"}']))
    with pytest.raises(DataError, match=r"t\.jsonl, line 40002, column 'x': 'true' is not a number"):
        NaiveBayes().fit(tmp_path / "t.jsonl", y="y")


def test_what_the_columns_of_the_two_readers_hold(tmp_path):
    (tmp_path / "t.csv").write_text(PLAIN)
    columns = NaiveBayes().fit(tmp_path / "t.csv", y="label").columns_
    assert [columns[name].holds for name in ("price", "day", "word")] == ["numbers", "dates", "text"]
    assert columns["word"].note.startswith("2 cells")


def test_a_column_that_changes_its_kind_is_an_error_with_its_place(call, tmp_path):  # noqa: F811 - the fixture
    lines = ["x,y", *(f"{i},{'ab'[i % 2]}" for i in range(700_000)), "nine,a"]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    said = "t.csv, line 700002, column 'x': 'nine' is not a number"
    with pytest.raises(DataError, match=said):
        NaiveBayes().fit(tmp_path / "t.csv", y="y")
    assert said in call("fit", "t.csv", "--target", "y", "-o", "m.suffice", code=2)
    other = Parquet(tmp_path / "t.csv", columns=["y"])  # which does not read it
    assert other.count() == 700_001


def test_later_blocks_settle_what_the_first_cannot(tmp_path):
    first = [f"{i},,01/0{1 + i % 9}/2024,{'ab'[i % 2]}" for i in range(250_000)]
    (tmp_path / "t.csv").write_text("\n".join(["n,late,day,y", *first, "0.5,7,31/12/2024,a", "1,8,01/02/2024,b"]))
    data = Parquet(tmp_path / "t.csv", "y")
    assert {one.name: str(one.type) for one in data.schema(labels=True)} == {
        "n": "double",
        "late": "int64",
        "day": "timestamp[us]",
        "y": "string",
    }


def test_files_are_read_as_the_first_one(tmp_path):
    (tmp_path / "a.csv").write_text("day,x,y\n31/12/2024,1,a\n01/02/2024,2,b\n")
    (tmp_path / "b.csv").write_text("day;x;y\n03/04/2024;1,5;a\n")  # which does not say what is the month
    table = pa.concat_tables(rows.table for rows in _rows(Parquet(tmp_path, "y")))
    assert [day.month for day in table["day"].to_pylist()] == [12, 2, 4]
    assert table["x"].to_pylist() == [1.0, 2.0, 1.5]
    (tmp_path / "c.csv").write_text("day,x,y\n12/31/2024,1,a\n")
    with pytest.raises(DataError, match=r"c\.csv, line 2, column 'day': '12/31/2024' is not of dates \(dd/mm/yyyy\)"):
        NaiveBayes().fit(tmp_path, y="y")


def _rows(data):
    schema = data.schema(labels=True)
    return [rows for path in data.files.paths for rows in data.files.batches(path, schema, 100)]


def test_dates_that_were_learned_are_read_as_dates(tmp_path):
    (tmp_path / "t.csv").write_text(PLAIN)
    (tmp_path / "iso.csv").write_text(text(day="2024-03-{:02d}"))
    (tmp_path / "none.csv").write_text(PLAIN.splitlines()[0] + "\n10.5,,a,hi\n")
    model = NaiveBayes().fit(tmp_path / "t.csv", y="label")
    same = np.asarray(model.predict_proba(tmp_path / "t.csv"))
    assert np.array_equal(np.asarray(model.predict_proba(tmp_path / "iso.csv")), same)
    assert np.asarray(model.predict_proba(tmp_path / "none.csv")).shape == (1, 2)


def test_folders_are_columns_if_that_is_asked_for(tmp_path):
    for year in (2023, 2024):
        folder = tmp_path / f"year={year}" / "town=Bonn"
        folder.mkdir(parents=True)
        (folder / "t.csv").write_text(f"x,y\n{year / 2},a\n1.5,b\n")
        pd.DataFrame({"x": [year / 2, 1.5], "y": ["a", "b"]}).to_parquet(folder / "t.parquet")
    assert NaiveBayes().fit(tmp_path / "**" / "*.csv", y="y").feature_names_in_.tolist() == ["x"]
    for kind in ("csv", "parquet"):
        data = Parquet(tmp_path / "**" / f"*.{kind}", "y", hive=True)
        table = pa.concat_tables(rows.table for rows in _rows(data))
        assert table["year"].to_pylist() == [2023, 2023, 2024, 2024]
        assert table["town"].to_pylist() == ["Bonn"] * 4
        assert NaiveBayes().fit(data).feature_names_in_.tolist() == ["x", "year", "town"]
        assert len(np.asarray(NaiveBayes().fit(data).predict_proba(data))) == 4


def test_codes_with_leading_zeros_stay_text(tmp_path):
    """They are no numbers with decimal commas, which no value has."""
    codes = ["007", "07", "7", "12"] * 40
    lines = [f"{code},{'a' if code == '007' else 'b'}" for code in codes]
    (tmp_path / "codes.csv").write_text("\n".join(["code,label", *lines]) + "\n")
    model = NaiveBayes().fit(str(tmp_path / "codes.csv"), y="label")
    assert model.columns_["code"].kind == "category"
    assert model.score(str(tmp_path / "codes.csv"), y="label") == 1.0
