"""Labels are what `fit` has read them as, in every command and in files of every kind."""

import csv
import datetime

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
import pytest

from suffice import GaussianNB, load
from tests.cli.conftest import shop

WAYS = {
    "dates": ("2020-01-01", "2021-01-01"),
    "times": ("12:00:00", "13:30:00"),
    "moments": ("2020-01-01 12:00", "2020-01-02 13:00"),
    "decimal commas": ("0,5", "1,5"),
    "whole numbers with commas": ("1,0", "2,0"),
    "fractions": ("0.50", "1.50"),
    "dates with points": ("31.12.2020", "01.01.2021"),
    "beyond 64 bits": ("9223372036854775808", "9223372036854775809"),
    "text": ("a", "b"),
}


def labelled(first, second, n=120, seed=0):
    table = shop(n, seed)
    return table.set_column(
        3, "back", pa.array([first if one == "no" else second for one in table["back"].to_pylist()])
    )


@pytest.mark.parametrize("way", WAYS)
def test_labels_are_read_alike_by_every_command(tmp_path, call, way):
    first, second = WAYS[way]
    pcsv.write_csv(labelled(first, second), tmp_path / "a.csv")
    pcsv.write_csv(labelled(first, first, 20, 1), tmp_path / "one.csv")  # a single class may look otherwise
    call("fit", "a.csv", "--target", "back", "-m", "nb", "-o", "m.suffice")
    assert load(tmp_path / "m.suffice").classes_.tolist() == sorted([first, second])
    assert "never learned" not in call("evaluate", "m.suffice", "a.csv")
    call("predict", "m.suffice", "a.csv", "-o", "p.csv")
    said = pcsv.read_csv(tmp_path / "p.csv", convert_options=pcsv.ConvertOptions(column_types={"prediction": "string"}))
    assert set(said["prediction"].to_pylist()) == {first, second}
    before = load(tmp_path / "m.suffice").class_count_
    call("update", "m.suffice", "one.csv")
    assert load(tmp_path / "m.suffice").class_count_.sum() == 140
    call("forget", "m.suffice", "one.csv")
    np.testing.assert_array_equal(load(tmp_path / "m.suffice").class_count_, before)


def test_dates_of_parquet_are_those_of_text(tmp_path, call):
    days = datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)
    table = labelled(*days)
    pq.write_table(table, tmp_path / "a.parquet")
    pcsv.write_csv(table, tmp_path / "a.csv")
    for source in ("a.parquet", "a.csv"):
        call("fit", source, "--target", "back", "-m", "nb", "-o", "m.suffice", "--force")
        assert load(tmp_path / "m.suffice").classes_.tolist() == ["2020-01-01", "2021-01-01"]
        for other in ("a.parquet", "a.csv"):
            assert "never learned" not in call("evaluate", "m.suffice", other)


@pytest.mark.parametrize("kind", ["datetime64[D]", float])
def test_classes_of_python_that_are_dates_or_numbers_are_matched(tmp_path, call, kind):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    frame = pd.DataFrame(rng.normal(size=(80, 2)) + y[:, None], columns=["u", "v"])
    labels = np.array([1.0, 2.0])[y] if kind is float else y.astype(kind)
    GaussianNB().fit(frame, labels).save(tmp_path / "m.suffice")
    frame.assign(back=labels).to_csv(tmp_path / "a.csv", index=False)
    assert "never learned" not in call("evaluate", "m.suffice", "a.csv", "--target", "back")


def test_the_label_that_is_of_another_kind_is_named(tmp_path, call):
    pcsv.write_csv(labelled(1, 2), tmp_path / "a.csv")
    call("fit", "a.csv", "--target", "back", "-m", "nb", "-o", "m.suffice")
    table = labelled("1", "2", 20)
    table = table.set_column(3, "back", pa.array([*table["back"].to_pylist()[:-1], "x"]))
    pcsv.write_csv(table, tmp_path / "x.csv")
    assert "the label 'x' is not a whole number, but the model has learned 1, 2" in call(
        "update", "m.suffice", "x.csv", code=2
    )


def test_more_than_a_hundred_classes_are_learned_if_told(tmp_path, call):
    rng = np.random.default_rng(0)
    y = np.arange(360) % 120
    pcsv.write_csv(pa.table({"u": rng.normal(size=360) + 5.0 * y, "y": y}), tmp_path / "a.csv")
    assert "say --many-classes" in call("fit", "a.csv", "--target", "y", "-m", "nb", "-o", "m.suffice", code=2)
    assert "120 classes" in call("fit", "a.csv", "--target", "y", "-m", "nb", "-o", "m.suffice", "--many-classes")


def test_whole_numbers_that_are_one_to_double_precision(tmp_path, call):
    table = labelled("a", "b")
    table = table.append_column("code", pa.array([2**63 - 1 - i for i in range(120)]))
    pcsv.write_csv(table, tmp_path / "a.csv")
    said = call("fit", "a.csv", "--target", "back", "-m", "nb", "-o", "m.suffice")
    assert "120 different whole numbers of 'code' are 1 number to double precision" in said
    assert "'code' (left out: it has one value only, to double precision)" in said


FORMULAS = ["=cmd|' /C calc'!A0", "+1+cmd", "@SUM(A1)", "-x", "'=quoted", "=", "-", "-1.5", "+3", "a=b", "'plain"]
COMPUTED = FORMULAS[:5]  # by a spreadsheet


def test_what_a_spreadsheet_would_compute_is_written_behind_a_quote(tmp_path, call):
    """Labels, kept cells and their names; and the commands read what they have written."""
    n, rng = 24 * len(FORMULAS), np.random.default_rng(0)
    which = np.arange(n) % len(FORMULAS)
    truth = [FORMULAS[i] for i in which]
    table = pa.table({"u": rng.normal(size=n) + 9.0 * which, "=key": truth[::-1], "truth": truth})
    pq.write_table(table, tmp_path / "a.parquet")
    call("fit", "a.parquet", "--target", "truth", "--drop", "=key", "-m", "nb", "-o", "m.suffice")
    words = ("predict", "m.suffice", "a.parquet", "--keep", "u,truth,=key")
    call(*words, "-o", "p.csv")
    call(*words, "-o", "p.tsv")
    call(*words)
    assert (tmp_path / "p.csv").read_text() == call.stdout
    for name, separator in (("p.csv", ","), ("p.tsv", "\t")):
        with (tmp_path / name).open(newline="") as file:
            header, *rows = csv.reader(file, delimiter=separator)
        assert header == ["u", "truth", "'=key", "prediction"]
        safe = {text: "'" + text if text in COMPUTED else text for text in FORMULAS}
        assert [row[1] for row in rows] == [safe[text] for text in truth]
        assert [row[2] for row in rows] == [safe[text] for text in truth[::-1]]
        assert {row[3] for row in rows} <= set(safe.values())
    measured = call("evaluate", "m.suffice", "a.parquet").partition("rows wrong")[2]
    for name in ("p.csv", "p.tsv"):  # nobody notices the quotes
        said = call("evaluate", "m.suffice", name, "--target", "truth")
        assert "never learned" not in said
        assert said.partition("rows wrong")[2] == measured
        call("predict", "m.suffice", name, "--keep", "truth,=key", "-o", "again.csv", "--force")
        assert [row[:2] for row in cells(tmp_path / "again.csv")] == [row[1:3] for row in cells(tmp_path / "p.csv")]
    call(*words, "--raw", "-o", "raw.csv")
    assert [row[1] for row in cells(tmp_path / "raw.csv")] == ["truth", *truth]
    call(*words, "-o", "p.parquet")
    assert pq.read_table(tmp_path / "p.parquet")["truth"].to_pylist() == truth


def cells(path):
    with path.open(newline="") as file:
        return list(csv.reader(file))
