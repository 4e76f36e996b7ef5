"""One file gives one model, whether a command or Python reads it."""

import gzip
import io
import json
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

from suffice import NaiveBayes, TabularClassifier, load
from suffice.compare.race.table import read_table
from suffice.data import SQL, DataError, Files, Memory
from suffice.data.files.reading import TableError
from suffice.data.files.table import read
from suffice.persistence import digest
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


def typed(write, **change):
    """The rows in a file with types, with some columns changed."""
    frame = pd.DataFrame({"price": PRICE, "day": DAY, "word": WORD, "label": LABEL}).assign(**change)
    file = io.BytesIO()
    write(frame, file)
    return file.getvalue()


TEXT_DAYS = [f"{day:02d}/03/2024" for day in DAY]
MESSY |= {
    "Parquet, dates and money as text": typed(
        pd.DataFrame.to_parquet, day=TEXT_DAYS, price=[f"${price:.2f}" for price in PRICE]
    ),
    "Parquet, spaces and marks": typed(pd.DataFrame.to_parquet, word=[f" {word} " for word in WORD]),
    "Parquet, infinite numbers": typed(pd.DataFrame.to_parquet, price=np.where(DAY == 3, np.inf, PRICE)),
    "Parquet, an index": typed(lambda frame, file: frame.set_index("day").to_parquet(file)),
    "Parquet, labels with spaces": typed(pd.DataFrame.to_parquet, label=[f"{label} " for label in LABEL]),
    "Arrow": typed(pd.DataFrame.to_feather, day=pd.to_datetime(TEXT_DAYS, format="%d/%m/%Y")),
    "a name that tells nothing": PLAIN.encode(),
}
NAMES = {
    "compressed": "t.csv.gz",
    "tabs": "t.tsv",
    "JSON lines": "t.jsonl",
    "Arrow": "t.arrow",
    "a name that tells nothing": "t.txt",
    **{name: "t.parquet" for name in MESSY if name.startswith("Parquet")},
}


@pytest.mark.filterwarnings("default:the column '' looks like the index of a data frame")
@pytest.mark.parametrize("what", MESSY)
def test_a_command_and_python_learn_the_same(call, tmp_path, what):  # noqa: F811 - the fixture
    path = NAMES.get(what, "t.csv")
    (tmp_path / path).write_bytes(MESSY[what])
    call("fit", path, "--target", "label", "--model", "nb", "--out", "m.suffice")
    call("predict", "m.suffice", path, "--proba", "--out", "p.parquet")
    with pytest.warns(UserWarning, match="looks like the index") if what == "an index" else nullcontext():
        ours = NaiveBayes().fit(path, y="label")
    theirs = load("m.suffice")
    assert str(ours.columns_) == str(theirs.columns_)
    assert ours.classes_.tolist() == theirs.classes_.tolist()
    assert digest(ours.statistics_) == digest(theirs.statistics_)
    for one, name in ((ours, "ours.suffice"), (theirs, "theirs.suffice")):
        one.save(name)
    assert Path("ours.suffice").read_bytes() == Path("theirs.suffice").read_bytes()
    said = pd.read_parquet("p.parquet")
    for model in (ours, theirs):
        assert model.predict(path).to_table()["prediction"].to_pylist() == said["prediction"].tolist()
        p = np.asarray(model.predict_proba(path))
        assert np.array_equal(p, said[[f"p({label})" for label in model.classes_]].to_numpy())
        assert model.score(path, "label") > 0.7
    assert (ours + theirs).class_count_.sum() == 2 * N
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
    assert Files(path, "y").count() == 2


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
    labels = "a" * 60, "b" * 60  # so that the block of the last line is not the first
    lines = ["x,y", *(f"{i},{labels[i % 2]}" for i in range(100_000)), f"nine,{labels[0]}"]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    said = "t.csv, line 100002, column 'x': 'nine' is not a number"
    with pytest.raises(DataError, match=said):
        NaiveBayes().fit(tmp_path / "t.csv", y="y")
    assert said in call("fit", "t.csv", "--target", "y", "-o", "m.suffice", code=2)
    other = Files(tmp_path / "t.csv", columns=["y"])  # which does not read it
    assert other.count() == 100_001


def test_later_blocks_settle_what_the_first_cannot(tmp_path):
    first = [f"{i},,01/0{1 + i % 9}/2024,{'ab'[i % 2]}" for i in range(250_000)]
    (tmp_path / "t.csv").write_text("\n".join(["n,late,day,y", *first, "0.5,7,31/12/2024,a", "1,8,01/02/2024,b"]))
    data = Files(tmp_path / "t.csv", "y")
    assert {one.name: str(one.type) for one in data.schema(labels=True)} == {
        "n": "double",
        "late": "int64",
        "day": "timestamp[us]",
        "y": "string",
    }


def test_files_are_read_as_the_first_one(tmp_path):
    (tmp_path / "a.csv").write_text("day,x,y\n31/12/2024,1,a\n01/02/2024,2,b\n")
    (tmp_path / "b.csv").write_text("day;x;y\n03/04/2024;1,5;a\n")  # which does not say what is the month
    table = pa.concat_tables(rows.table for rows in _rows(Files(tmp_path, "y")))
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
        data = Files(tmp_path / "**" / f"*.{kind}", "y", hive=True)
        table = pa.concat_tables(rows.table for rows in _rows(data))
        assert table["year"].to_pylist() == [2023, 2023, 2024, 2024]
        assert table["town"].to_pylist() == ["Bonn"] * 4
        assert NaiveBayes().fit(data).feature_names_in_.tolist() == ["x", "year", "town"]
        assert len(np.asarray(NaiveBayes().fit(data).predict_proba(data))) == 4


def test_folders_as_columns_give_the_model_of_one_table(call, tmp_path):  # noqa: F811 - the fixture
    lines = PLAIN.splitlines()
    years = [2023 + (i % 3 > 0) for i in range(N)]
    ordered = [[line for line, own in zip(lines[1:], years, strict=True) if own == year] for year in (2023, 2024)]
    for year, rows in zip((2023, 2024), ordered, strict=True):
        (tmp_path / f"year={year}").mkdir()
        (tmp_path / f"year={year}" / "t.csv").write_text("\n".join([lines[0], *rows]) + "\n")
    whole = [f"{lines[0]},year", *(f"{row},{2023 + i}" for i, rows in enumerate(ordered) for row in rows)]
    (tmp_path / "one.csv").write_text("\n".join(whole) + "\n")
    call("fit", "one.csv", "--target", "label", "--model", "nb", "--out", "m.suffice")
    ours, theirs = NaiveBayes().fit(Files(tmp_path / "year=*" / "*.csv", "label", hive=True)), load("m.suffice")
    assert str(ours.columns_) == str(theirs.columns_)
    assert digest(ours.statistics_) == digest(theirs.statistics_)
    p = np.asarray(ours.predict_proba(Files(tmp_path / "year=*" / "*.csv", "label", hive=True)))
    assert np.array_equal(p, np.asarray(theirs.predict_proba("one.csv")))


def test_codes_with_leading_zeros_stay_text(tmp_path):
    """They are no numbers with decimal commas, which no value has."""
    codes = ["007", "07", "7", "12"] * 40
    lines = [f"{code},{'a' if code == '007' else 'b'}" for code in codes]
    (tmp_path / "codes.csv").write_text("\n".join(["code,label", *lines]) + "\n")
    model = NaiveBayes().fit(str(tmp_path / "codes.csv"), y="label")
    assert model.columns_["code"].kind == "category"
    assert model.score(str(tmp_path / "codes.csv"), y="label") == 1.0


def written_dates(n=120):
    """Columns of text, and labels, which dates and amounts decide."""
    rng = np.random.default_rng(1)
    day, price = rng.integers(0, 300, n), rng.normal(2000, 800, n)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(day, unit="D")
    gone = rng.random(n) < 0.1
    columns = {
        "iso": [f"{one:%Y-%m-%d}" for one in days],
        "zoned": [f"{one:%Y-%m-%dT%H:%M}+02:00" for one in days],
        "dots": [f"{one.day}.{one.month}.{one.year}" for one in days],
        "month_first": [f"{one:%m/%d/%Y}" for one in days],
        "clock": [f"{8 + d % 9:02d}:{d % 60:02d}" for d in day],
        "dollars": [f"${one:,.2f}" for one in price],
        "euros": [f"{one:,.2f} €".translate(SWAPPED) for one in price],
        "share": [f"{one:.1f}%" for one in price / 100],
        "unclear": [f"{1 + d % 9:02d}/{1 + d % 7:02d}/2024" for d in day],
        "soon": [f"{one:%Y-%m-%d}" if i else "soon" for i, one in enumerate(days)],
        "word": [("u", "v")[d % 2] for d in day],
    }
    frame = pd.DataFrame({name: np.where(gone, None, values) for name, values in columns.items()})
    return frame, np.where(day + price / 10 + rng.normal(0, 40, n) > 350, "hi", "lo")


FRAMES = {
    "pandas": lambda frame: frame,
    "pandas strings": lambda frame: frame.convert_dtypes(),
    "polars": lambda frame: pl.from_pandas(frame),
    "arrow": lambda frame: pa.Table.from_pandas(frame),
    "arrays": lambda frame: frame.to_numpy(),
}


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("estimator", [NaiveBayes(), TabularClassifier(n_trees=4, random_state=0)])
def test_text_of_a_frame_is_read_as_in_its_files(tmp_path, library, estimator):
    frame, y = written_dates()
    table = frame.assign(label=y)
    table.to_parquet(tmp_path / "t.parquet")
    table.to_csv(tmp_path / "t.csv", index=False)
    theirs = [clone(estimator).fit(tmp_path / name, y="label") for name in ("t.parquet", "t.csv")]
    ours = clone(estimator).fit(FRAMES[library](frame), y)
    p = ours.predict_proba(FRAMES[library](frame))
    for model, path in zip(theirs, ("t.parquet", "t.csv"), strict=True):
        assert np.array_equal(np.asarray(model.predict_proba(tmp_path / path)), p)
        if library == "arrays":  # without names
            assert [one[1:] for one in ours.columns_.values()] == [one[1:] for one in model.columns_.values()]
            continue
        assert str(ours.columns_) == str(model.columns_)
        for rows in (FRAMES[library](frame), tmp_path / "t.parquet", tmp_path / "t.csv"):
            assert np.array_equal(np.asarray(model.predict_proba(rows)), p)
            assert np.array_equal(np.asarray(ours.predict_proba(rows)), p)
    if library == "pandas":
        columns = ours.columns_
        dates, numbers = ("iso", "zoned", "dots", "month_first"), ("dollars", "euros", "share")
        assert {columns[name].holds for name in dates} == {"dates"}
        assert {columns[name].holds for name in numbers} == {"numbers"}
        assert columns["clock"].holds == "times of day"
        assert {columns[name].holds for name in ("unclear", "soon")} == {"text like dates"}
        notes = {name: columns[name].note.rpartition("; written as ")[2] for name in ("dots", "month_first", *numbers)}
        assert list(notes.values()) == ["dd.mm.yyyy", "mm/dd/yyyy", "$1,234.50", "1.234,50 €", "12.5%"]
        assert "written as" not in columns["iso"].note


def test_dates_and_text_of_dates_learn_from_each_other(tmp_path):
    frame, y = written_dates()
    text = frame[["dots", "word"]]
    dates = text.assign(dots=pd.to_datetime(text["dots"], format="%d.%m.%Y"))
    of_text, of_dates = NaiveBayes().fit(text, y), NaiveBayes().fit(dates, y)
    p = of_text.predict_proba(text)
    for model in (of_text, of_dates):
        for rows in (text, dates):
            assert np.array_equal(model.predict_proba(rows), p)
    assert np.array_equal((of_text + of_dates).predict_proba(text), (of_dates + of_text).predict_proba(dates))
    assert np.array_equal((of_text + of_dates).statistics_.mass, 2 * of_text.statistics_.mass)
    pieces = NaiveBayes().partial_fit(text[:60], y[:60]).partial_fit(dates[60:], y[60:])
    assert np.array_equal(pieces.predict_proba(text), p)
    few = NaiveBayes().fit(text[:60], y[:60])
    assert np.array_equal(of_text.forget(dates[60:], y[60:]).predict_proba(text), few.predict_proba(text))
    few.save(tmp_path / "m.suffice")
    again = load(tmp_path / "m.suffice")
    unclear = pd.DataFrame({"dots": ["1.2.2024", "?", ""], "word": ["u", "v", None]})
    assert np.array_equal(again.predict_proba(unclear), few.predict_proba(unclear))
    unclear.to_csv(tmp_path / "t.csv", index=False)
    assert np.array_equal(np.asarray(again.predict_proba(tmp_path / "t.csv")), few.predict_proba(unclear))


def test_text_that_is_not_as_it_was_learned_is_refused(tmp_path):
    frame, y = written_dates()
    model = NaiveBayes().fit(frame[["month_first"]], y)
    wrong = pd.DataFrame({"month_first": ["01/02/2024", "13/02/2024"], "label": ["hi", "lo"]})
    said = "column 'month_first' held dates in the first rows, and now holds '13/02/2024': .* as mm/dd/yyyy"
    with pytest.raises(ValueError, match=said):
        model.predict(wrong[["month_first"]])
    with pytest.raises(ValueError, match=said):
        model.partial_fit(wrong[["month_first"]], wrong["label"])
    wrong.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"t\.parquet: " + said):
        model.partial_fit(tmp_path / "t.parquet", "label")
    learned = NaiveBayes().fit(pd.DataFrame({"day": pd.to_datetime(["2024-01-01", "2024-02-01"])}), ["a", "b"])
    with pytest.raises(ValueError, match="now holds '01/02/2024': correct it, or write all values in one way, as yyyy"):
        learned.predict(pd.DataFrame({"day": ["01/02/2024"]}))


def test_a_later_value_that_is_not_a_date_is_refused(tmp_path):
    day = np.array(["2024-01-01", "2024-02-01"], dtype=object)[np.arange(200) % 2]
    day[-1] = "soon"
    frame = pd.DataFrame({"day": day, "label": np.arange(200) % 2})
    frame.to_parquet(tmp_path / "t.parquet")
    said = "column 'day' held dates in the first rows, and now holds 'soon'"
    with pytest.raises(DataError, match=r"t\.parquet: " + said):
        NaiveBayes().fit(Files(tmp_path / "t.parquet", "label", batch_rows=50))
    with pytest.raises(ValueError, match=said):
        NaiveBayes().fit(Memory(frame, target="label", batch_size=50))
    assert NaiveBayes().fit(Memory(frame, target="label")).columns_["day"].holds == "text like dates"


def test_text_is_text_in_a_database():
    duckdb = pytest.importorskip("duckdb")
    frame, y = written_dates()
    connection = duckdb.connect()
    connection.register("rows", frame.assign(label=y))
    model = NaiveBayes().fit(SQL(connection, "rows", target="label"))
    columns = model.columns_
    assert {columns[name].holds for name in ("iso", "dots", "month_first", "unclear")} == {"text like dates"}
    assert {columns[name].holds for name in ("dollars", "euros", "share")} == {"text like numbers"}
    assert columns["word"].holds == "text"
    assert columns["iso"].kind == "category"
