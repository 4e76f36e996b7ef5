"""What is typed wrong, saved wrong or does not fit: a sentence, an exit code, and nothing half-written."""

from __future__ import annotations

from datetime import time, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv
import pytest

import suffice
from suffice.cli.app import app
from suffice.compare.race.run import choose
from suffice.data.files.write import write as write_table
from suffice.persistence import load_noted

from .conftest import shop


@pytest.mark.parametrize(
    ("content", "words", "message"),
    [
        (None, ("--target", "y"), "there is no file t.csv"),
        (b"", ("--target", "y"), "t.csv is empty"),
        (b"a,y\n", ("--target", "y"), "t.csv has a header and no rows"),
        (b"a,y\n1,u\n2,v\n", (), "which column holds the classes? Say --target with one of: a, y"),
        (b"a,label\n1,u\n2,v\n", ("--target", "lable"), "there is no column 'lable'. Did you mean 'label'?"),
        (b"5.1,u\n1,u\n2,v\n", ("--target", "y"), "looks like a row, not like names of columns"),
        (b"a,y\n1,u\n2,v\n", ("--target", "y", "--separator", ";"), "is --separator ',' meant?"),
        (b"a,y\n1,u\n2\n", ("--target", "y"), "t.csv cannot be read as a table: line 3 has 1 value and the header 2"),
        (b"a,y\n1,u\n2,v\n", ("--target", "y", "--drop", "y"), "'y' is both the --target and to be dropped"),
        (b"a,y\n1,u\n2,v\n", ("--target", "y", "--decimal", "x"), "the decimal point is '.' or ','"),
        (b"a,y\n1,u\n2,v\n", ("--target", "y", "--model", "nbb"), "there is no model 'nbb'. Did you mean 'nb'?"),
        (b"a,y\n1,u\n2,u\n", ("--target", "y"), "'y' has one value only, 'u': there is nothing to learn"),
        (
            b"a,y\n,u\n,v\n",
            ("--target", "y"),
            "besides 'y' there is no column to learn from; the column 'a' has",
        ),
        (
            b"a,y\nu,u\nv,v\n",
            ("--target", "y", "-m", "lda"),
            "besides 'y' there is no column to learn from; this model",
        ),
        (b"y\nu\nv\n", ("--target", "y"), "besides 'y' there is no column to learn from"),
        (b"PK\x03\x04", ("--target", "y"), "it is a workbook or a zip archive"),
    ],
)
def test_tables_that_nothing_can_be_learned_from(tmp_path, call, content, words, message):
    if content is not None:
        (tmp_path / "t.csv").write_bytes(content)
    assert message in call("fit", "t.csv", *words, "--out", "m.suffice", code=2)
    assert not (tmp_path / "m.suffice").exists()


def test_text_that_is_not_utf8_is_learned_from_with_a_note(tmp_path, call):
    rows = "".join(f"{'Zürich' if i % 2 else 'Genève'},{i % 3},{'ja' if i % 2 else 'non'}\n" for i in range(30))
    for name, encoding, words in (
        ("a", "latin-1", "the file is not UTF-8; it is read as Windows-1252"),
        ("b", "utf-16", "b.csv is UTF-16, not UTF-8, and is read as that"),
    ):
        (tmp_path / f"{name}.csv").write_bytes(f"town,n,y\n{rows}".encode(encoding))
        said = call("fit", f"{name}.csv", "--target", "y", "--model", "nb", "--out", f"{name}.suffice")
        assert words in said
    call("predict", "a.suffice", "b.csv", "--out", "out.csv")
    assert (tmp_path / "out.csv").read_text().split("\n")[1:3] == ["non", "ja"]


def test_rows_that_are_like_those_learned_but_not_quite(model, call):
    plain = call("predict", "m.suffice", "new.csv")
    new = shop(40, 1)
    pcsv.write_csv(new.select(["back", "visits", "town", "age"]), "order.csv")
    assert call("predict", "m.suffice", "order.csv") == plain
    pcsv.write_csv(new.append_column("id", pa.array(range(40))), "more.csv")
    assert call("predict", "m.suffice", "more.csv").startswith("note: more.csv: the model does not know 'id', left out")
    pcsv.write_csv(new.drop_columns(["back"]), "unlabelled.csv")
    assert call("predict", "m.suffice", "unlabelled.csv") == plain
    towns = ["Atlantis", "Avalon", *new["town"].to_pylist()[2:]]
    pcsv.write_csv(new.set_column(1, "town", pa.array(towns)), "towns.csv")
    said = call("predict", "m.suffice", "towns.csv")
    assert "2 values of 'town' never learned ('Atlantis', 'Avalon'): the column says nothing there" in said


def test_a_column_too_few_or_of_another_kind(model, call):
    new = shop(40, 1)
    pcsv.write_csv(new.drop_columns(["age", "town"]), "few.csv")
    said = "few.csv has no column 'age', 'town', which the model has learned from. The file has: visits, back"
    for words in (("predict",), ("evaluate",), ("update",), ("forget",)):
        assert said in call(*words, "m.suffice", "few.csv", code=2)
    pcsv.write_csv(new.rename_columns(["Age", "town", "visits", "back"]), "renamed.csv")
    assert "no column 'age', which the model has learned from. Did you mean 'Age'?" in call(
        "predict", "m.suffice", "renamed.csv", code=2
    )
    text = (model.parent / "new.csv").read_text().splitlines()
    text[3] = f"old,{text[3].split(',', 1)[1]}"
    (model.parent / "old.csv").write_text("\n".join(text))
    said = call("predict", "m.suffice", "old.csv", code=2)
    assert "old.csv, line 4, column 'age': 'old' is not a number, as the model has learned" in said
    call("predict", "m.suffice", "old.csv", "--na", "old")


def test_a_column_that_says_nothing_need_not_be_there(files, call):
    table = shop(160, number=pa.array(range(160)), same=pa.array(["x"] * 160))
    pcsv.write_csv(table, "wide.csv")
    said = call("fit", "wide.csv", "--target", "back", "--out", "m.suffice")
    assert "columns that say nothing: 'number' (left out" in said
    call("predict", "m.suffice", "new.csv")
    call("evaluate", "m.suffice", "new.csv")
    assert "no column 'number', 'same', which the model has learned from" in call(
        "update", "m.suffice", "new.csv", code=2
    )


def test_a_model_that_is_no_better_than_chance_is_written_and_said_to_be_so(tmp_path, call):
    rows = "".join(f"{i},1,{i % 2}\n" for i in range(40))
    (tmp_path / "t.csv").write_text(f"id,x,y\n{rows}")
    assert "no column tells rows apart" in call("fit", "t.csv", "--target", "y", "--out", "m.suffice", code=1)
    assert (tmp_path / "m.suffice").exists()


def test_separators_and_decimal_commas_of_new_rows_are_noticed(model, call):
    plain = call("predict", "m.suffice", "new.csv")
    text = (model.parent / "new.csv").read_text().replace('"', "").replace(",", ";").replace(".", ",")
    (model.parent / "commas.csv").write_text(text)
    said = call("predict", "m.suffice", "commas.csv")
    assert "'age' has decimal commas" in said
    assert said.endswith(plain)
    assert call("predict", "m.suffice", "commas.csv", "--decimal", ",", "--separator", ";") == plain


@pytest.mark.parametrize(("learned", "what"), [(time(10, 30), "a time"), (timedelta(hours=3), "a span of time")])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_text_that_is_no_time_is_named_with_its_place(tmp_path, call, learned, what, suffix):
    def write(name, values):
        write_table(tmp_path / name, pa.table({"t": values, "x": [1, 2, 4] * 20, "y": ["a", "b", "b"] * 20}))

    write("t.parquet", [learned, learned, None] * 20)
    call("fit", "t.parquet", "--target", "y", "-m", "nb", "-o", "m.suffice")
    write(f"bad.{suffix}", ["?"] * 7 + ["soon"] + ["?"] * 52)
    said = call("predict", "m.suffice", f"bad.{suffix}", code=2)
    assert f"{'line 9' if suffix == 'csv' else 'row 8'}, column 't': 'soon' is not {what}, as the model has" in said
    write(f"none.{suffix}", ["?"] * 60)
    call("predict", "m.suffice", f"none.{suffix}")


@pytest.mark.parametrize("words", [("predict", "new.csv"), ("evaluate", "new.csv"), ("inspect",), ("update", "b.csv")])
def test_model_files_that_are_none(files, call, words):
    command, *rest = words
    assert "there is no file none.suffice: `suffice fit` makes one" in call(command, "none.suffice", *rest, code=2)
    assert "cannot load 'a.csv': it is not a model file" in call(command, "a.csv", *rest, code=2)
    assert "it is a folder" in call(command, ".", *rest, code=2)


@pytest.mark.parametrize(
    ("notes", "message"),
    [
        ([], "its notes are not those of the command"),
        ({"columns": ["age"]}, "its notes are not those of the command"),
        ({"columns": {"age": "colour"}}, "its notes are not those of the command"),
        ({"target": 3}, "its notes are not those of the command"),
        ({"columns": {"age": "number"}}, "its notes speak of other columns than its model"),
    ],
)
def test_notes_of_a_model_file_that_are_not_ours(model, call, notes, message):
    suffice.save(suffice.load(model), model, notes={"command": notes})
    assert message in call("inspect", "m.suffice", code=2)


def test_notes_of_a_later_version(model, call):
    noted = load_noted(model)
    suffice.save(noted.model, model, notes={"command": {**noted.notes["command"], "colour": "red"}, "other": 1})
    call("predict", "m.suffice", "new.csv")


def test_a_model_is_not_replaced_by_accident(model, call):
    before = model.read_bytes()
    words = ("fit", "b.csv", "--target", "back", "--model", "nb", "--out", "m.suffice")
    assert "there is a file m.suffice already: choose another --out, or give --force" in call(*words, code=2)
    assert model.read_bytes() == before
    call(*words, "--force")
    assert model.read_bytes() != before


def test_predictions_do_not_replace_what_they_come_from(model, call):
    assert "new.csv is read by this command and would be replaced" in call(
        "predict", "m.suffice", "new.csv", "--out", "./new.csv", code=2
    )
    assert "must end in .csv, .tsv, .parquet" in call("predict", "m.suffice", "new.csv", "--out", "out.xlsx", code=2)
    assert "there is no column 'id'" in call("predict", "m.suffice", "new.csv", "--keep", "id", code=2)
    assert "cannot be written" in call("predict", "m.suffice", "new.csv", "--out", "/proc/none/out.csv", code=2)
    pcsv.write_csv(shop(20, prediction=pa.array(range(20))), "p.csv")
    said = call("predict", "m.suffice", "p.csv", "--keep", "prediction", code=2)
    assert "'prediction' is a column of the result already" in said


def test_models_that_do_not_add_up(model, call):
    call("fit", "b.csv", "--target", "back", "--model", "lda", "--out", "lda.suffice")
    call("fit", "b.csv", "--target", "town", "--model", "nb", "--out", "town.suffice")
    call("fit", "b.csv", "--target", "back", "--model", "tabular", "--out", "t.suffice")
    call("fit", "a.csv", "--target", "back", "--model", "tabular", "--out", "u.suffice")
    for other, why in (
        ("lda", "have different columns: only one has ['town']"),
        ("town", "have different targets: 'back' and 'town'"),
        ("t", "cannot be merged"),
    ):
        assert why in call("merge", "m.suffice", f"{other}.suffice", "-o", "x.suffice", code=2)
    said = call("merge", "t.suffice", "u.suffice", "-o", "x.suffice", code=2)
    assert "`suffice fit TABLE --like t.suffice --out u.suffice --force`" in said
    assert "encoder" not in said
    assert "its rows would count twice" in call("merge", "m.suffice", "./m.suffice", "-o", "x.suffice", code=2)
    assert "merge takes two models or more" in call("merge", "m.suffice", "-o", "x.suffice", code=2)
    assert not (model.parent / "x.suffice").exists()


@pytest.mark.parametrize("kind", ["nb", "nb-calibrated", "gaussian-nb", "lda", "additive", "tabular"])
def test_a_copy_is_merged_only_by_force(files, call, kind):
    call("fit", "a.csv", "--target", "back", "--model", kind, "--out", "m.suffice")
    call("fit", "b.csv", "--like", "m.suffice", "--out", "b.suffice")
    noted = load_noted("m.suffice")
    other = {**noted.notes["command"], "history": ["saved again"]}
    suffice.save(noted.model, "copy.suffice", notes={"command": other})
    words = ("merge", "m.suffice", "b.suffice", "copy.suffice", "--out", "x.suffice")
    assert "m.suffice and copy.suffice are the same model twice: their sums are equal" in call(*words, code=2)
    assert not (files / "x.suffice").exists()
    call(*words, "--force")
    assert "rows 460" in call("inspect", "x.suffice")
    call("merge", "m.suffice", "b.suffice", "--out", "y.suffice")


def test_a_table_that_is_learned_twice_is_noted(model, call):
    said = "if these are the same rows, they count twice now"
    assert f"the model has learned a.csv before (fit on a.csv: 160 rows): {said}" in call(
        "update", "m.suffice", "a.csv", "--out", "twice.suffice"
    )
    assert said not in call("update", "m.suffice", "b.csv")
    call("recalibrate", "m.suffice", "both.csv", "--out", "r.suffice", code=2)
    call("fit", "new.csv", "--like", "m.suffice", "--out", "n.suffice")
    call("merge", "m.suffice", "n.suffice", "--out", "merged.suffice")
    assert said in call("update", "merged.suffice", "b.csv", "--out", "x.suffice")
    call("forget", "m.suffice", "b.csv")
    assert said not in call("update", "m.suffice", "b.csv")


def test_rows_that_were_never_learned_are_not_forgotten(model, call):
    before = model.read_bytes()
    pcsv.write_csv(shop(10, 3).set_column(1, "town", pa.array(["Atlantis"] * 10)), "never.csv")
    call("forget", "m.suffice", "never.csv", code=2)
    assert model.read_bytes() == before
    assert sorted(path.name for path in model.parent.iterdir() if path.name.startswith(".")) == []


def test_no_explanation_where_there_is_none(model, call, monkeypatch):
    call("fit", "a.csv", "--target", "back", "--model", "lda", "--out", "lda.suffice")
    monkeypatch.setattr(suffice.LinearDiscriminantAnalysis, "contributions", property(_lacking), raising=False)
    said = call("predict", "lda.suffice", "new.csv", "--explain", code=2)
    assert "cannot say what each column adds: leave --explain out" in said


def _lacking(self):
    raise AttributeError("contributions")


def test_columns_by_commas(files, call):
    table = shop(60, id=pa.array(range(60)), **{"a,b": pa.array(["x", "y"] * 30)})
    pcsv.write_csv(table, "t.csv")
    words = ("fit", "t.csv", "--target", "back", "--model", "nb", "--force", "--out", "m.suffice")
    call(*words, "--drop", "id, age", "--drop", '"a,b"', "--categorical", "town,visits")
    said = call("inspect", "m.suffice")
    assert "left out id, age, a,b" in said
    assert "visits text" in said
    assert "there is no column 'idd'. Did you mean 'id'?" in call(*words, "--drop", "age,idd", code=2)


def test_the_last_of_many_columns_is_named(tmp_path, call):
    for n, shown in ((29, ", c28, y"), (31, ", c28, ..., y (32 in all)")):
        names = [*(f"c{j}" for j in range(n)), "y"]
        (tmp_path / "t.csv").write_text("\n".join([",".join(names), ",".join("1" * len(names))]))
        assert call("fit", "t.csv", "--out", "m.suffice", code=2).endswith(shown)


def test_a_fault_of_ours_is_a_sentence(model, call, monkeypatch):
    def fails(*args, **kwargs):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("suffice.cli.inspect.load", fails)
    said = call("inspect", "m.suffice", code=1)
    assert "suffice failed because of a bug: ZeroDivisionError: by zero. Set SUFFICE_TRACEBACK=1 to see where" in said


def test_words_that_are_no_options(call):
    assert "Usage" in call("fit", code=2)
    assert "No such option" in call("fit", "t.csv", "--targt", "y", code=2)
    assert "No such command" in call("fitt", code=2)


@pytest.mark.parametrize(
    "command", ["fit", "predict", "evaluate", "inspect", "merge", "update", "forget", "recalibrate"]
)
def test_help_has_examples(call, command):
    said = call(command, "--help")
    assert "Examples:" in said
    assert f"suffice {command} " in said
    assert all(len(line) <= 80 for line in call.stdout.splitlines())


def test_classes_of_one_row_are_no_part_of_a_choice():
    table = shop(30)
    y = np.array(["yes", "no"] * 14 + ["once", "never"])
    found = choose(table.drop_columns(["back"]), y, {}, 0, 0.0, lambda _: None)
    assert found.found.rows == 28
    alone = choose(table.drop_columns(["back"]).slice(0, 2), np.array(["a", "b"]), {}, 0, 0.0, lambda _: None)
    assert alone.best is None


def test_the_page_on_the_command_line_has_commands_as_they_are(call):
    page = Path(__file__).parents[2] / "docs" / "command-line.md"
    typed = [line.removeprefix("$ suffice ") for line in page.read_text().splitlines() if line.startswith("$ suffice ")]
    assert {line.split()[0] for line in typed} >= {command.callback.__name__ for command in app.registered_commands}
    for line in typed:
        call(*line.partition(" |")[0].split(), "--help")  # an option that does not exist is an error even then


def test_what_a_model_cannot_do_is_said_with_its_reason(model, call):
    before = model.read_bytes()
    said = call("recalibrate", "m.suffice", "a.csv", code=2)
    with pytest.raises(AttributeError) as refused:
        suffice.load(model).recalibrate  # noqa: B018
    assert " ".join(str(refused.value.__cause__).split()) in said
    assert "has no attribute" not in said
    assert model.read_bytes() == before
